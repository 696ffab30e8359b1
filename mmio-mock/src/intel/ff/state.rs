//! State of the 3D pipeline: latched by commands, and plain for the units.
//!
//! PRM: volume 2 (3DSTATE_*).

pub mod geometry;
pub mod setup;
pub mod streams;
pub mod tessellation;
pub mod units;
pub mod vertex;
pub mod windower;

use std::collections::BTreeMap;

use regs::any::CommandId;

use crate::intel::shared::context::StateBases;
use crate::intel::urb::UrbHandle;

pub use geometry::GeometryState;
pub use setup::{ClipperState, SetupState};
pub use tessellation::{DsState, HsState, TeState};
pub use units::{
    ApiMode, Bounds, ClipMode, ClipState, CullMode, DrawState, GsState, PositionSpace, SfState,
    UnitConfig, Viewport, VsState,
};
pub use vertex::{Component, Primitive, VertexElement};
pub use windower::WizState;

/// Vertex buffers that 3DSTATE_VERTEX_BUFFERS can name in the generation that has most.
pub const VERTEX_BUFFERS: usize = 33;
/// Dwords of a VERTEX_ELEMENT_STATE, the same in all generations.
pub const VERTEX_ELEMENT_DWORDS: usize = 2;

/// One latched VERTEX_BUFFER_STATE.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct VertexBuffer {
    /// Whether a command has set it since the last reset.
    pub valid: bool,
    /// Bytes from one vertex to the next.
    pub pitch: u32,
    /// Data advance per instance, not per vertex.
    pub per_instance: bool,
    /// Address of vertex 0.
    pub start: u32,
    /// Address of the last byte, where the generation has one: what lies partly or wholly behind it reads as zero.
    pub end: Option<u32>,
    /// Everything reads as zero.
    pub null: bool,
    /// Instances between two steps of per-instance data.
    pub step_rate: u32,
}

impl VertexBuffer {
    /// Whether so many bytes at an address are data of the buffer; what is not reads as zero.
    #[inline]
    pub fn holds(&self, addr: u32, bytes: u32) -> bool {
        let behind = u64::from(addr) + u64::from(bytes);
        let end = |end: u32| behind <= u64::from(end) + 1;
        !self.null && self.end.is_none_or(end)
    }
}

/// 3DSTATE_INDEX_BUFFER.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct IndexBuffer {
    /// Bytes per index: 1, 2 or 4.
    pub bytes: u32,
    /// Whether an index of all ones cuts the primitive.
    pub cut: bool,
    /// First byte.
    pub start: u32,
    /// Last byte.
    pub end: u32,
}

/// The constant buffer in the URB (CURBE).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Curbe {
    /// Its entry.
    pub handle: UrbHandle,
    /// Rows loaded.
    pub rows: u16,
}

/// Everything that 3DSTATE commands set and a 3DPRIMITIVE uses.
///
/// Words that are kept as written are those of the device's generation: its
/// [`PipelineReader`](super::reader::PipelineReader) makes plain state of them at each 3DPRIMITIVE, and a context's
/// image repeats them.
#[derive(Clone, Debug)]
pub struct PipelineState {
    /// STATE_BASE_ADDRESS.
    pub bases: StateBases,
    /// 3DSTATE_PIPELINED_POINTERS: VS, GS, CLIP, SF, WM, CC, as written (bit 0 enables GS, CLIP).
    pub pointers: [u32; 6],
    /// 3DSTATE_BINDING_TABLE_POINTERS: VS, GS, CLIP, SF, PS.
    pub binding_tables: [u32; 5],
    /// Vertex buffers.
    pub vertex_buffers: [VertexBuffer; VERTEX_BUFFERS],
    /// VERTEX_ELEMENT_STATEs of the last 3DSTATE_VERTEX_ELEMENTS, as written.
    pub vertex_elements: Vec<u32>,
    /// Index buffer.
    pub index_buffer: Option<IndexBuffer>,
    /// PIPELINE_SELECT chose the media pipeline.
    pub media_selected: bool,
    /// 3DSTATE_VF_STATISTICS.
    pub vf_statistics: bool,
    /// 3DSTATE_DRAWING_RECTANGLE as written, header included; empty before the first.
    pub drawing_rectangle: Vec<u32>,
    /// 3DSTATE_DEPTH_BUFFER as written, header included; empty before the first.
    pub depth_buffer: Vec<u32>,
    /// 3DSTATE_CONSTANT_COLOR.
    pub constant_color: [f32; 4],
    /// 3DSTATE_POLY_STIPPLE_PATTERN.
    pub poly_stipple: [u32; 32],
    /// 3DSTATE_POLY_STIPPLE_OFFSET: x, y.
    pub poly_stipple_offset: (u32, u32),
    /// 3DSTATE_LINE_STIPPLE: dwords 1 and 2, as written.
    pub line_stipple: [u32; 2],
    /// 3DSTATE_GLOBAL_DEPTH_OFFSET_CLAMP.
    pub depth_offset_clamp: f32,
    /// INSTPM has CONSTANT_BUFFER Address Offset Disable: pushed constants are relative to no base.
    pub constants_absolute: bool,
    /// CURBE, when a valid CONSTANT_BUFFER was loaded.
    pub curbe: Option<Curbe>,
    /// Commands that are kept as written, headers included, because nothing works with them but the readers.
    pub kept: BTreeMap<CommandId, Vec<u32>>,
}

impl Default for PipelineState {
    fn default() -> Self {
        PipelineState {
            bases: StateBases::default(),
            pointers: [0; 6],
            binding_tables: [0; 5],
            vertex_buffers: [VertexBuffer::default(); VERTEX_BUFFERS],
            vertex_elements: Vec::new(),
            index_buffer: None,
            media_selected: false,
            vf_statistics: false,
            drawing_rectangle: Vec::new(),
            depth_buffer: Vec::new(),
            constant_color: [0.0; 4],
            poly_stipple: [u32::MAX; 32],
            poly_stipple_offset: (0, 0),
            line_stipple: [0; 2],
            depth_offset_clamp: 0.0,
            constants_absolute: false,
            curbe: None,
            kept: BTreeMap::new(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::VertexBuffer;

    /// End Address is that of the last byte (Mesa genX_state_upload.c: `end_offset - 1`).
    #[test]
    fn vertex_data_end_with_their_buffer() {
        let mut buffer = VertexBuffer {
            end: Some(0x101f),
            ..VertexBuffer::default()
        };
        assert!(buffer.holds(0x1010, 16));
        assert!(!buffer.holds(0x1014, 16), "partly behind");
        assert!(!buffer.holds(0x1020, 4));
        assert!(!buffer.holds(u32::MAX, 16));
        buffer.end = Some(u32::MAX);
        assert!(buffer.holds(u32::MAX - 3, 4));
        buffer.null = true;
        assert!(!buffer.holds(0x1010, 4));
        // 965 has no end.
        assert!(VertexBuffer::default().holds(u32::MAX, 16));
    }
}
