//! State that commands latch for the 3D pipeline.
//!
//! PRM: volume 2 (3DSTATE_*); layouts from the tables of `regs`.

use mem::GpuAddr;
use regs::gen40::{
    ClipState, ClipViewport, GsState, SfState, SfViewport, State3dDepthBuffer,
    State3dDrawingRectangle, VertexElementState, VsState,
};
use zerocopy::{FromBytes, IntoBytes};

use crate::shared::context::{StateBases, ThreadContext};
use crate::td::KernelState;
use crate::urb::UrbHandle;

/// Vertex buffers that 3DSTATE_VERTEX_BUFFERS can name (VB index 0..=16).
pub const VERTEX_BUFFERS: usize = 17;
/// Vertex elements of 3DSTATE_VERTEX_ELEMENTS.
pub const VERTEX_ELEMENTS: usize = 18;

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
    /// Instances between two steps of per-instance data.
    pub step_rate: u32,
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
    /// Vertex elements.
    pub vertex_elements: [VertexElementState; VERTEX_ELEMENTS],
    /// How many elements the last command set.
    pub vertex_element_count: usize,
    /// Index buffer.
    pub index_buffer: Option<IndexBuffer>,
    /// PIPELINE_SELECT chose the media pipeline.
    pub media_selected: bool,
    /// 3DSTATE_VF_STATISTICS.
    pub vf_statistics: bool,
    /// 3DSTATE_DRAWING_RECTANGLE.
    pub drawing_rectangle: State3dDrawingRectangle,
    /// 3DSTATE_DEPTH_BUFFER.
    pub depth_buffer: State3dDepthBuffer,
    /// 3DSTATE_CONSTANT_COLOR.
    pub constant_color: [f32; 4],
    /// 3DSTATE_POLY_STIPPLE_PATTERN.
    pub poly_stipple: [u32; 32],
    /// 3DSTATE_POLY_STIPPLE_OFFSET: x, y.
    pub poly_stipple_offset: (u32, u32),
    /// 3DSTATE_LINE_STIPPLE: dwords 1 and 2.
    pub line_stipple: [u32; 2],
    /// 3DSTATE_GLOBAL_DEPTH_OFFSET_CLAMP.
    pub depth_offset_clamp: f32,
    /// CURBE, when a valid CONSTANT_BUFFER was loaded.
    pub curbe: Option<Curbe>,
}

impl Default for PipelineState {
    fn default() -> Self {
        PipelineState {
            bases: StateBases::default(),
            pointers: [0; 6],
            binding_tables: [0; 5],
            vertex_buffers: [VertexBuffer::default(); VERTEX_BUFFERS],
            vertex_elements: [VertexElementState::default(); VERTEX_ELEMENTS],
            vertex_element_count: 0,
            index_buffer: None,
            media_selected: false,
            vf_statistics: false,
            drawing_rectangle: State3dDrawingRectangle::new(),
            depth_buffer: State3dDepthBuffer::default(),
            constant_color: [0.0; 4],
            poly_stipple: [u32::MAX; 32],
            poly_stipple_offset: (0, 0),
            line_stipple: [0; 2],
            depth_offset_clamp: 0.0,
            curbe: None,
        }
    }
}

/// Reads a state structure at a pointer relative to General State Base Address.
pub fn read_state<T: FromBytes + IntoBytes>(
    mem: &mem::Memory,
    bases: &StateBases,
    pointer: u32,
) -> Result<T, mem::Fault> {
    mem.read_struct(GpuAddr(bases.general_state_base.wrapping_add(pointer)))
}

/// A thread-starting unit as dwords 0 to 5 of its state describe it.
#[derive(Clone, Copy, Debug, Default)]
pub struct UnitConfig {
    /// Kernel.
    pub kernel: KernelState,
    /// Shared-function context.
    pub context: ThreadContext,
    /// Vertex URB entry read offset in rows.
    pub read_offset: u16,
    /// Vertex URB entry read length in rows.
    pub read_rows: u16,
    /// Constant URB entry read offset in rows.
    pub constant_offset: u16,
    /// Constant URB entry read length in rows.
    pub constant_rows: u16,
    /// URB entries.
    pub urb_entries: u16,
    /// Rows (256 bits) of one URB entry.
    pub urb_entry_rows: u16,
    /// Sampler count and pointer as r0.3 carries them.
    pub header3: u32,
    /// Statistics enable.
    pub statistics: bool,
}

impl UnitConfig {
    /// From the dwords that VS, GS, CLIP and SF state have in common (0 to 4).
    pub fn from_common(dwords: &[u32], bases: &StateBases, binding_table: u32, ffid: u8) -> Self {
        let state = VsState::from_dwords(dwords);
        let scratch_log2 = state.per_thread_scratch_space();
        UnitConfig {
            kernel: KernelState {
                ip: state.kernel_start_pointer(),
                grf_count: (state.grf_register_count() as u8 + 1) * 16,
                alt_float: state.floating_point_mode() != 0,
                single_program_flow: state.single_program_flow(),
                illegal_opcode_exception: state.illegal_opcode_exception_enable(),
                mask_stack_exception: state.mask_stack_exception_enable(),
                software_exception: state.software_exception_enable(),
                high_priority: state.thread_priority() != 0,
                urb_start: state.dispatch_grf_start_register_for_urb_data() as u8,
            },
            context: ThreadContext {
                bases: *bases,
                binding_table_pointer: binding_table,
                sampler_state_pointer: 0,
                scratch_base: state.scratch_space_base_pointer(),
                scratch_size: 1024 << scratch_log2.min(11),
                ffid,
            },
            read_offset: state.vertex_urb_entry_read_offset() as u16,
            read_rows: state.vertex_urb_entry_read_length() as u16,
            constant_offset: state.constant_urb_entry_read_offset() as u16,
            constant_rows: state.constant_urb_entry_read_length() as u16,
            urb_entries: state.number_of_urb_entries() as u16,
            urb_entry_rows: (state.urb_entry_allocation_size() as u16 + 1) * 2,
            header3: scratch_log2 & 0xf,
            statistics: state.statistics_enable(),
        }
    }

    /// Adds the sampler table, which VS, GS and WM state carry.
    #[must_use]
    pub fn with_samplers(mut self, pointer: u32) -> Self {
        self.context.sampler_state_pointer = pointer;
        self.header3 |= pointer & !0x1f;
        self
    }

    /// r0 of a thread of this unit, apart from what the unit itself puts there: sampler pointer
    /// and scratch size in DW3, binding table in DW4, scratch base in DW5.
    pub fn header(&self) -> eu::Grf {
        let mut r0 = [0; 8];
        r0[3] = self.header3;
        r0[4] = self.context.binding_table_pointer;
        r0[5] = self.context.scratch_base & !0x3ff;
        r0
    }

    /// The constants to preload, if the unit reads any.
    pub fn constants(&self, curbe: Option<Curbe>) -> Option<crate::td::UrbRead> {
        if self.constant_rows == 0 {
            return None;
        }
        let curbe = curbe.unwrap_or_default();
        Some(crate::td::UrbRead {
            handle: curbe.handle,
            offset: self.constant_offset,
            rows: self.constant_rows,
        })
    }
}

/// The state of all units for one 3DPRIMITIVE.
#[derive(Clone, Debug, Default)]
pub struct DrawState {
    /// Vertex shader unit and whether its thread is enabled.
    pub vs: UnitConfig,
    /// VS state.
    pub vs_state: VsState,
    /// Geometry shader, when enabled.
    pub gs: Option<(UnitConfig, GsState)>,
    /// Clipper, when enabled.
    pub clip: Option<(UnitConfig, ClipState, ClipViewport)>,
    /// Strips and fans.
    pub sf: UnitConfig,
    /// SF state.
    pub sf_state: SfState,
    /// SF viewport.
    pub sf_viewport: SfViewport,
    /// VF statistics are on (3DSTATE_VF_STATISTICS).
    pub vf_statistics: bool,
}

impl DrawState {
    /// Whether objects that GS puts out are counted.
    pub fn gs_output_statistics(&self) -> bool {
        self.gs
            .as_ref()
            .is_some_and(|(_, state)| state.gs_output_object_statistics_enable())
    }

    /// Reads all unit states that the pointers name.
    pub fn fetch(mem: &mem::Memory, state: &PipelineState) -> Result<Self, mem::Fault> {
        use crate::status::Unit;
        let bases = &state.bases;
        let vs_state: VsState = read_state(mem, bases, state.pointers[0] & !0x1f)?;
        let vs = UnitConfig::from_common(
            vs_state.dwords(),
            bases,
            state.binding_tables[0],
            Unit::Vs.ffid(),
        )
        .with_samplers(vs_state.sampler_state_pointer());
        let gs = if state.pointers[1] & 1 == 1 {
            let gs: GsState = read_state(mem, bases, state.pointers[1] & !0x1f)?;
            let unit = UnitConfig::from_common(
                gs.dwords(),
                bases,
                state.binding_tables[1],
                Unit::Gs.ffid(),
            )
            .with_samplers(gs.sampler_state_pointer());
            Some((unit, gs))
        } else {
            None
        };
        let clip = if state.pointers[2] & 1 == 1 {
            let clip: ClipState = read_state(mem, bases, state.pointers[2] & !0x1f)?;
            let unit = UnitConfig::from_common(
                clip.dwords(),
                bases,
                state.binding_tables[2],
                Unit::Clip.ffid(),
            );
            let viewport = if clip.guardband_cliptest_enable() {
                read_state(mem, bases, clip.clipper_viewport_state_pointer())?
            } else {
                ClipViewport::default()
            };
            Some((unit, clip, viewport))
        } else {
            None
        };
        let sf_state: SfState = read_state(mem, bases, state.pointers[3] & !0x1f)?;
        let sf = UnitConfig::from_common(
            sf_state.dwords(),
            bases,
            state.binding_tables[3],
            Unit::Sf.ffid(),
        );
        let sf_viewport =
            if sf_state.viewport_transform_enable() || sf_state.scissor_rectangle_enable() {
                read_state(mem, bases, sf_state.setup_viewport_state_offset())?
            } else {
                SfViewport::default()
            };
        Ok(DrawState {
            vs,
            vs_state,
            gs,
            clip,
            sf,
            sf_state,
            sf_viewport,
            vf_statistics: state.vf_statistics,
        })
    }
}
