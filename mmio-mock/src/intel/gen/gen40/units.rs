//! VS_STATE, GS_STATE, CLIP_STATE and SF_STATE as plain state of the units.
//!
//! PRM: volume 2 (3DSTATE_PIPELINED_POINTERS and what it points to); codes from genxml gen4.

use mem::{Fault, GpuAddr, Memory};
use regs::gen40::{self as table, ClipViewport, SfViewport};
use zerocopy::{FromBytes, IntoBytes};

use crate::intel::ff::state::{
    ApiMode, Bounds, ClipMode, ClipState, CullMode, DrawState, GsState, PipelineState,
    PositionSpace, SfState, UnitConfig, Viewport, VsState,
};
use crate::intel::shared::context::{StateBases, ThreadContext};
use crate::intel::status::Unit;
use crate::intel::td::KernelState;

/// Scratch space of a thread is 1 KB times at most two to this power.
pub const SCRATCH_POWER: u32 = 11;

// The units in the order of 3DSTATE_PIPELINED_POINTERS and of the binding tables.
const VS: usize = 0;
/// Geometry shader.
pub const GS: usize = 1;
/// Clipper.
pub const CLIP: usize = 2;
const SF: usize = 3;

/// The pointer of a unit; its low bits are no address.
pub const fn pointer(state: &PipelineState, unit: usize) -> u32 {
    state.pointers[unit] & !0x1f
}

/// Whether a unit that can be switched off is on.
const fn enabled(state: &PipelineState, unit: usize) -> bool {
    state.pointers[unit] & 1 == 1
}

/// Reads a state structure at a pointer relative to General State Base Address.
pub fn read<T: FromBytes + IntoBytes>(
    mem: &Memory,
    bases: &StateBases,
    pointer: u32,
) -> Result<T, Fault> {
    mem.read_struct(GpuAddr::from(
        bases.general_state_base.wrapping_add(pointer),
    ))
}

/// Dwords 0 to 4, which VS, GS, CLIP and SF state have in common; `samplers` is the sampler state pointer of those
/// that have one.
fn common(
    dwords: &[u32],
    state: &PipelineState,
    slot: usize,
    unit: Unit,
    samplers: u32,
) -> UnitConfig {
    let s = table::VsState::from_dwords(dwords);
    let scratch_power = s.per_thread_scratch_space();
    // CAST: fields of at most eight bits.
    UnitConfig {
        kernel: KernelState {
            ip: s.kernel_start_pointer(),
            grf_count: (s.grf_register_count() as u8 + 1) * 16,
            alt_float: s.floating_point_mode() != 0,
            single_program_flow: s.single_program_flow(),
            illegal_opcode_exception: s.illegal_opcode_exception_enable(),
            mask_stack_exception: s.mask_stack_exception_enable(),
            software_exception: s.software_exception_enable(),
            high_priority: s.thread_priority() != 0,
            urb_start: s.dispatch_grf_start_register_for_urb_data() as u8,
        },
        context: ThreadContext {
            bases: state.bases,
            binding_table_pointer: state.binding_tables[slot],
            sampler_state_pointer: samplers,
            scratch_base: s.scratch_space_base_pointer(),
            scratch_size: 1024 << scratch_power.min(SCRATCH_POWER),
            ffid: unit.ffid(),
        },
        read_offset: s.vertex_urb_entry_read_offset() as u16,
        read_rows: s.vertex_urb_entry_read_length() as u16,
        constant_offset: s.constant_urb_entry_read_offset() as u16,
        constant_rows: s.constant_urb_entry_read_length() as u16,
        pushed: None,
        urb_entries: s.number_of_urb_entries() as u16,
        // Allocation sizes count 512-bit units less one.
        urb_entry_rows: (s.urb_entry_allocation_size() as u16 + 1) * 2,
        scratch_power,
        statistics: s.statistics_enable(),
        entry_on_request: false,
    }
}

/// Reads the state of all four units.
pub fn units(mem: &Memory, state: &PipelineState) -> Result<DrawState, Fault> {
    Ok(DrawState {
        vs: vs(mem, state)?,
        gs: if enabled(state, GS) {
            Some(gs(mem, state)?)
        } else {
            None
        },
        clip: if enabled(state, CLIP) {
            Some(clip(mem, state)?)
        } else {
            None
        },
        sf: sf(mem, state)?,
        vf_statistics: state.vf_statistics,
        ..DrawState::default()
    })
}

fn vs(mem: &Memory, state: &PipelineState) -> Result<VsState, Fault> {
    let s: table::VsState = read(mem, &state.bases, pointer(state, VS))?;
    Ok(VsState {
        unit: common(s.dwords(), state, VS, Unit::Vs, s.sampler_state_pointer()),
        enable: s.enable(),
        vertex_cache_disable: s.vertex_cache_disable(),
        counts_passing: false,
    })
}

fn gs(mem: &Memory, state: &PipelineState) -> Result<GsState, Fault> {
    let s: table::GsState = read(mem, &state.bases, pointer(state, GS))?;
    Ok(GsState {
        unit: common(s.dwords(), state, GS, Unit::Gs, s.sampler_state_pointer()),
        discard_adjacency: s.discard_adjacency(),
        output_statistics: s.gs_output_object_statistics_enable(),
        no_rendering: false,
        channels: 0xff,
        converts: false,
        reorders_strips: false,
        leading_adjacency: false,
        stream: None,
    })
}

fn clip(mem: &Memory, state: &PipelineState) -> Result<ClipState, Fault> {
    let s: table::ClipState = read(mem, &state.bases, pointer(state, CLIP))?;
    let guardband = if s.guardband_cliptest_enable() {
        let band: ClipViewport = read(mem, &state.bases, s.clipper_viewport_state_pointer())?;
        Some(Bounds {
            x: (band.xmin_clip_guardband(), band.xmax_clip_guardband()),
            y: (band.ymin_clip_guardband(), band.ymax_clip_guardband()),
        })
    } else {
        None
    };
    Ok(ClipState {
        unit: common(s.dwords(), state, CLIP, Unit::Clip, 0),
        mode: match s.clip_mode() {
            0 => ClipMode::Normal,
            3 => ClipMode::RejectAll,
            4 => ClipMode::AcceptAll,
            // 1 and 2; the model takes the reserved codes for the same.
            _ => ClipMode::ClipNonRejected,
        },
        space: if s.vertex_position_space() == 0 {
            PositionSpace::Ndc
        } else {
            PositionSpace::Screen
        },
        api: if s.api_mode() == 0 {
            ApiMode::OpenGl
        } else {
            ApiMode::Direct3d
        },
        test_xy: s.viewport_xy_cliptest_enable(),
        test_z: s.viewport_z_cliptest_enable(),
        guardband,
        user_planes: s.userclipdistance_cliptest_enable_bitmask() & 0xff,
        user_must_clip: s.userclipflags_mustclip_enable(),
        screen: Bounds {
            x: (
                s.screen_space_viewport_x_min(),
                s.screen_space_viewport_x_max(),
            ),
            y: (
                s.screen_space_viewport_y_min(),
                s.screen_space_viewport_y_max(),
            ),
        },
    })
}

/// SF_STATE and its viewport, which is only read when something in it is asked for.
pub fn sf_words(
    mem: &Memory,
    state: &PipelineState,
) -> Result<(table::SfState, SfViewport), Fault> {
    let s: table::SfState = read(mem, &state.bases, pointer(state, SF))?;
    let viewport = if s.viewport_transform_enable() || s.scissor_rectangle_enable() {
        read(mem, &state.bases, s.setup_viewport_state_offset())?
    } else {
        SfViewport::default()
    };
    Ok((s, viewport))
}

fn sf(mem: &Memory, state: &PipelineState) -> Result<SfState, Fault> {
    let (s, v) = sf_words(mem, state)?;
    let viewport = s.viewport_transform_enable().then(|| Viewport {
        scale: [
            v.viewport_matrix_element_m00(),
            v.viewport_matrix_element_m11(),
            v.viewport_matrix_element_m22(),
        ],
        offset: [
            v.viewport_matrix_element_m30(),
            v.viewport_matrix_element_m31(),
            v.viewport_matrix_element_m32(),
        ],
    });
    Ok(SfState {
        unit: common(s.dwords(), state, SF, Unit::Sf, 0),
        viewport,
        cull: match s.cull_mode() {
            0 => CullMode::Both,
            2 => CullMode::Front,
            3 => CullMode::Back,
            _ => CullMode::Neither,
        },
        front_counter_clockwise: s.front_winding() != 0,
        sprite_points: s.sprite_point_enable(),
        point_width: (s.point_width_source() != 0).then(|| s.point_width()),
        line_width: s.line_width(),
        provoking_line: s.line_strip_list_provoking_vertex_select() & 1,
        provoking_triangle: s.triangle_strip_list_provoking_vertex_select().min(2),
        provoking_fan: s.triangle_fan_provoking_vertex_select().min(2),
    })
}
