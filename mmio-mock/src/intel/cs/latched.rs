//! What the command streamer asks of a generation: commands that latch state.
//!
//! PRM: volume 1 (MI_LOAD_REGISTER_IMM, MI_SET_CONTEXT), volume 2 (3DSTATE commands, URB_FENCE, CONSTANT_BUFFER). Apart from
//! [`CommandReader`](super::reader::CommandReader) because the first generations share all of them.

use std::fmt::Debug;

use regs::ids::{CommandId, RegId};

use crate::intel::ff::payload::StreamIndices;
use crate::intel::ff::state::{IndexBuffer, PipelineState};
use crate::intel::shared::sampler::state::Tables;
use crate::intel::urb::{Owner, Urb};

/// What the image of a context is made of.
pub struct Saved<'a> {
    /// State of the 3D pipeline.
    pub state: &'a PipelineState,
    /// Sections and entries of the URB.
    pub urb: &'a Urb,
    /// System routine.
    pub sip: u32,
    /// Running indices of the streamed vertex buffers, where there are such.
    pub stream: Option<StreamIndices>,
    /// Running counter of the line stipple.
    pub line_stipple: u32,
    /// Tables of the sampler.
    pub tables: &'a Tables,
    /// State of the media pipeline as its commands were written.
    pub media: &'a [u32],
}

/// MI_LOAD_REGISTER_IMM.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RegisterWrites {
    /// Byte Write Disables, a bit each.
    pub disables: u32,
    /// Register offset and value.
    pub pairs: Vec<(u32, u32)>,
}

/// A section of the URB in a URB_FENCE.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fence {
    /// Whose it is.
    pub owner: Owner,
    /// It is to be changed.
    pub request: bool,
    /// The row behind it.
    pub end: u16,
}

/// A section of the URB with its entries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Entries {
    /// Whose they are.
    pub owner: Owner,
    /// How many.
    pub entries: u16,
    /// Rows of an entry.
    pub rows: u16,
}

/// CONSTANT_BUFFER with a valid buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ConstantBuffer {
    /// Where it begins, relative to General State Base Address or as it is.
    pub start: u32,
    /// Rows of 256 bits.
    pub rows: u16,
}

/// Reads the commands that latch state, and makes those of a context's image; each is given with its header. A method
/// whose command a generation lacks is never called there and has an answer that changes nothing.
pub trait LatchedReader: Debug + Sync {
    /// MI_LOAD_REGISTER_IMM.
    fn register_writes(&self, d: &[u32]) -> RegisterWrites;

    /// Appends a MI_LOAD_REGISTER_IMM of pairs of offset and value.
    fn put_register_writes(&self, pairs: &[u32], out: &mut Vec<u32>);

    /// Registers that belong to a context beside counters and the places of stream output.
    fn context_registers(&self) -> &'static [RegId] {
        &[]
    }

    /// Appends the commands that set the state of the pipelines.
    fn put_state(&self, saved: &Saved<'_>, out: &mut Vec<u32>);

    /// 3DSTATE_BINDING_TABLE_POINTERS: the tables of VS, GS, CLIP, SF and PS that it changes.
    fn binding_tables(&self, d: &[u32], tables: &mut [u32; 5]);

    /// 3DSTATE_INDEX_BUFFER; the error is a reserved format.
    fn index_buffer(&self, d: &[u32]) -> Result<IndexBuffer, u32>;

    /// How many vertex buffers and vertex elements there are.
    fn vertex_limits(&self) -> (usize, usize) {
        (17, 18)
    }

    /// 3DSTATE_LINE_STIPPLE: whether it sets the running counters.
    fn line_stipple_modifies(&self, d: &[u32]) -> bool;

    /// 3DSTATE_CHROMA_KEY: entry of the key table, low and high value.
    fn chroma_key(&self, d: &[u32]) -> (usize, u32, u32);

    /// A command that is kept as written, beside the one of its kind that is in force: what is in force from now on.
    fn kept(&self, _id: CommandId, _old: Option<&Vec<u32>>, d: &[u32]) -> Vec<u32> {
        d.to_vec()
    }

    /// A command that sets one section of the URB: its first row, and its entries. `None` for other commands.
    fn section(&self, _id: CommandId, _d: &[u32]) -> Option<(u16, Entries)> {
        None
    }

    /// Whether there are two palettes with 256 entries and alpha; else there is one with sixteen entries and none.
    fn has_whole_palettes(&self) -> bool {
        false
    }

    /// Dwords of the longest image of a context.
    fn image_dwords(&self) -> usize {
        1024
    }

    /// 3DSTATE_URB: sections one behind the other from row 0 on.
    fn urb(&self, _d: &[u32]) -> Vec<Entries> {
        Vec::new()
    }

    /// URB_FENCE: the sections in the order of their rows.
    fn urb_fence(&self, _d: &[u32]) -> Vec<Fence> {
        Vec::new()
    }

    /// CS_URB_STATE: entries of the command streamer.
    fn cs_urb_state(&self, _d: &[u32]) -> Option<Entries> {
        None
    }

    /// CONSTANT_BUFFER; `None` without a valid buffer.
    fn constant_buffer(&self, _d: &[u32]) -> Option<ConstantBuffer> {
        None
    }

    /// 3DSTATE_CONSTANT_COLOR.
    fn constant_color(&self, _d: &[u32]) -> [f32; 4] {
        [0.0; 4]
    }

    /// 3DSTATE_GLOBAL_DEPTH_OFFSET_CLAMP.
    fn depth_offset_clamp(&self, _d: &[u32]) -> f32 {
        0.0
    }
}
