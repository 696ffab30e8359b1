//! 3DSTATE_VS, GS, CLIP and SF as plain state of the units.
//!
//! genxml gen6. State of units stands in commands; sampler states, viewports and, unless INSTPM says otherwise, constants are
//! relative to Dynamic State Base Address.

use mem::{Fault, GpuAddr, Memory};
use regs::gen60 as table;
use regs::ids::CommandId;
use zerocopy::{FromBytes, IntoBytes};

use crate::intel::ff::state::setup::{
    AttributeSource, ConstantSource, FillMode, OffsetEnables, SWIZZLES, VIEWPORTS,
};
use crate::intel::ff::state::units::StreamState;
use crate::intel::ff::state::{
    ApiMode, Bounds, ClipMode, ClipperState, CullMode, DrawState, GsState, PipelineState,
    SetupState, UnitConfig, Viewport, VsState,
};
use crate::intel::r#gen::gen40::units::SCRATCH_POWER;
use crate::intel::shared::context::ThreadContext;
use crate::intel::status::Unit;
use crate::intel::td::{KernelState, PUSHED, Pushed};

/// The units in the order of the binding tables, of which CLIP and SF have none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Slot {
    /// Vertex shader.
    Vs = 0,
    /// Geometry shader.
    Gs = 1,
    /// Pixel shader.
    Ps = 4,
}

/// Rows of 256 bits in the 128 bytes that entry sizes count.
const ROWS_PER_UNIT: u16 = 4;

/// Registers of a thread (SNB PRM volume 4 part 2, 2.1: every thread has them all).
pub const REGISTERS: u8 = 128;

/// The last command of an id, header included; empty before the first.
pub fn words(state: &PipelineState, id: CommandId) -> &[u32] {
    state.kept.get(&id).map(Vec::as_slice).unwrap_or_default()
}

/// Reads a structure relative to Dynamic State Base Address.
pub fn read<T: FromBytes + IntoBytes>(
    mem: &Memory,
    state: &PipelineState,
    pointer: u32,
) -> Result<T, Fault> {
    mem.read_struct(GpuAddr::from(state.bases.dynamic().wrapping_add(pointer)))
}

/// The sampler states of a unit, relative to Dynamic State Base Address.
pub fn samplers(state: &PipelineState, slot: Slot) -> u32 {
    let c = words(state, CommandId::State3dSamplerStatePointers);
    let c = table::State3dSamplerStatePointers::from_dwords(c);
    match slot {
        Slot::Vs => c.pointer_to_vs_sampler_state(),
        Slot::Gs => c.pointer_to_gs_sampler_state(),
        Slot::Ps => c.pointer_to_ps_sampler_state(),
    }
}

/// The constants that a 3DSTATE_CONSTANT command pushes: its layout is that of 3DSTATE_CONSTANT_VS for every unit.
pub fn pushed(state: &PipelineState, id: CommandId) -> Option<Pushed> {
    let c = table::State3dConstantVs::from_dwords(words(state, id));
    let body = c.constant_body();
    let base = if state.constants_absolute {
        0
    } else {
        state.bases.dynamic()
    };
    let buffers: [(bool, u32, u32); PUSHED] = [
        (
            c.buffer_0_valid(),
            base.wrapping_add(body.pointer_to_constant_buffer_0()),
            body.constant_buffer_0_read_length(),
        ),
        (
            c.buffer_1_valid(),
            body.pointer_to_constant_buffer_1(),
            body.constant_buffer_1_read_length(),
        ),
        (
            c.buffer_2_valid(),
            body.pointer_to_constant_buffer_2(),
            body.constant_buffer_2_read_length(),
        ),
        (
            c.buffer_3_valid(),
            body.pointer_to_constant_buffer_3(),
            body.constant_buffer_3_read_length(),
        ),
    ];
    // Lengths are rows less one (Mesa crocus_state.c `emit_push_constant_packets`).
    let buffers = buffers.map(|(valid, at, rows)| {
        // CAST: a field of five bits.
        let rows = if valid { rows as u16 + 1 } else { 0 };
        (GpuAddr::from(at), rows)
    });
    let any = buffers.iter().any(|(_, rows)| *rows > 0);
    any.then_some(Pushed { buffers })
}

/// What threads of a unit know besides their registers.
pub fn context(
    state: &PipelineState,
    (slot, unit): (Slot, Unit),
    (scratch_base, scratch_power): (u32, u32),
) -> ThreadContext {
    ThreadContext {
        bases: state.bases,
        // PANIC: slots are indices of the tables.
        binding_table_pointer: state.binding_tables[slot as usize],
        sampler_state_pointer: samplers(state, slot),
        scratch_base,
        scratch_size: 1024 << scratch_power.min(SCRATCH_POWER),
        ffid: unit.ffid(),
    }
}

/// Reads the state of all units before the windower.
pub fn units(mem: &Memory, state: &PipelineState) -> Result<DrawState, Fault> {
    let clip = table::State3dClip::from_dwords(words(state, CommandId::State3dClip));
    Ok(DrawState {
        vs: vs(state),
        gs: gs(state),
        clipper: clipper(mem, state, &clip)?,
        setup: setup(mem, state, clip.maximum_vp_index())?,
        vf_statistics: state.vf_statistics,
        ..DrawState::default()
    })
}

fn vs(state: &PipelineState) -> VsState {
    let s = table::State3dVs::from_dwords(words(state, CommandId::State3dVs));
    let urb = table::State3dUrb::from_dwords(words(state, CommandId::State3dUrb));
    let scratch = (s.scratch_space_base_pointer(), s.per_thread_scratch_space());
    // CAST: fields of at most sixteen bits.
    VsState {
        unit: UnitConfig {
            kernel: KernelState {
                ip: s.kernel_start_pointer(),
                grf_count: REGISTERS,
                alt_float: s.floating_point_mode() != 0,
                illegal_opcode_exception: s.illegal_opcode_exception_enable(),
                software_exception: s.software_exception_enable(),
                urb_start: s.dispatch_grf_start_register_for_urb_data() as u8,
                ..KernelState::default()
            },
            context: context(state, (Slot::Vs, Unit::Vs), scratch),
            read_offset: s.vertex_urb_entry_read_offset() as u16,
            read_rows: s.vertex_urb_entry_read_length() as u16,
            pushed: pushed(state, CommandId::State3dConstantVs),
            urb_entries: urb.vs_number_of_urb_entries() as u16,
            urb_entry_rows: (urb.vs_urb_entry_allocation_size() as u16 + 1) * ROWS_PER_UNIT,
            scratch_power: s.per_thread_scratch_space(),
            statistics: s.statistics_enable(),
            ..UnitConfig::default()
        },
        enable: s.enable(),
        vertex_cache_disable: s.vertex_cache_disable(),
        counts_passing: false,
    }
}

fn gs(state: &PipelineState) -> Option<GsState> {
    let s = table::State3dGs::from_dwords(words(state, CommandId::State3dGs));
    let urb = table::State3dUrb::from_dwords(words(state, CommandId::State3dUrb));
    let scratch = (s.scratch_space_base_pointer(), s.per_thread_scratch_space());
    // CAST: fields of at most ten bits.
    let state = GsState {
        unit: UnitConfig {
            kernel: KernelState {
                ip: s.kernel_start_pointer(),
                grf_count: REGISTERS,
                alt_float: s.floating_point_mode() != 0,
                single_program_flow: s.single_program_flow(),
                illegal_opcode_exception: s.illegal_opcode_exception_enable(),
                mask_stack_exception: s.mask_stack_exception_enable(),
                software_exception: s.software_exception_enable(),
                high_priority: s.thread_priority() != 0,
                urb_start: s.dispatch_grf_start_register_for_urb_data() as u8,
            },
            context: context(state, (Slot::Gs, Unit::Gs), scratch),
            read_offset: s.vertex_urb_entry_read_offset() as u16,
            read_rows: s.vertex_urb_entry_read_length() as u16,
            pushed: pushed(state, CommandId::State3dConstantGs),
            urb_entries: urb.gs_number_of_urb_entries() as u16,
            urb_entry_rows: (urb.gs_urb_entry_allocation_size() as u16 + 1) * ROWS_PER_UNIT,
            scratch_power: s.per_thread_scratch_space(),
            statistics: s.statistics_enable(),
            entry_on_request: true,
            ..UnitConfig::default()
        },
        discard_adjacency: s.discard_adjacency(),
        output_statistics: s.statistics_enable(),
        no_rendering: !s.rendering_enabled(),
        // Mesa gfx6_gs_visitor.cpp: `DISPATCH_MODE_4X1_SINGLE`; the upper half of what is written belongs to nobody.
        channels: 0x0f,
        // Intel's manual of a later part of the same pipeline says so (Kaby Lake, volume 2b, 3D_Prim_Topo_Type).
        converts: true,
        // Mesa crocus_state.c, of the bit in the generation after, which has the same name there.
        reorders_strips: s.reorder_mode() != 0,
        leading_adjacency: true,
        stream: Some(StreamState {
            payload: s.svbi_payload_enable(),
            increment: s
                .svbi_post_increment_enable()
                .then(|| s.svbi_post_increment_value()),
            statistics: s.so_statistics_enable(),
        }),
    };
    s.enable().then_some(state)
}

fn viewports(state: &PipelineState) -> table::State3dViewportStatePointers {
    let c = words(state, CommandId::State3dViewportStatePointers);
    table::State3dViewportStatePointers::from_dwords(c)
}

/// Reads as many of an array's structures as viewports can be chosen, `bytes` apart.
pub fn array<T: FromBytes + IntoBytes, V: Copy + Default>(
    (mem, state): (&Memory, &PipelineState),
    (pointer, bytes): (u32, u32),
    maximum: u32,
    of: impl Fn(T) -> V,
) -> Result<[V; VIEWPORTS], Fault> {
    let mut all = [V::default(); VIEWPORTS];
    for (n, to) in (0..=maximum).zip(&mut all) {
        *to = of(read(mem, state, pointer.wrapping_add(n * bytes))?);
    }
    Ok(all)
}

fn clipper(
    mem: &Memory,
    state: &PipelineState,
    s: &table::State3dClip,
) -> Result<ClipperState, Fault> {
    let guardbands = if s.clip_enable() && s.guardband_clip_test_enable() {
        let at = (viewports(state).pointer_to_clip_viewport(), 16);
        let bounds = |v: table::ClipViewport| Bounds {
            x: (v.xmin_clip_guardband(), v.xmax_clip_guardband()),
            y: (v.ymin_clip_guardband(), v.ymax_clip_guardband()),
        };
        Some(array((mem, state), at, s.maximum_vp_index(), bounds)?)
    } else {
        None
    };
    // CAST: fields of eight bits.
    Ok(ClipperState {
        enable: s.clip_enable(),
        mode: match s.clip_mode() {
            3 => ClipMode::RejectAll,
            4 => ClipMode::AcceptAll,
            _ => ClipMode::Normal,
        },
        api: if s.api_mode() == 0 {
            ApiMode::OpenGl
        } else {
            ApiMode::Direct3d
        },
        test_xy: s.viewport_xy_clip_test_enable(),
        test_z: s.viewport_z_clip_test_enable(),
        guardbands,
        clip_distances: s.user_clip_distance_clip_test_enable_bitmask() as u8,
        cull_distances: s.user_clip_distance_cull_test_enable_bitmask() as u8,
        divide_disable: s.perspective_divide_disable(),
        maximum_viewport: s.maximum_vp_index(),
        force_zero_array_index: s.force_zero_rta_index_enable(),
        point_width: (s.minimum_point_width(), s.maximum_point_width()),
        statistics: s.statistics_enable(),
    })
}

/// Fill Mode.
const fn fill(code: u32) -> FillMode {
    match code {
        1 => FillMode::Wireframe,
        2 => FillMode::Point,
        _ => FillMode::Solid,
    }
}

fn source(s: table::SfOutputAttributeDetail) -> AttributeSource {
    let overrides = [
        s.component_override_x(),
        s.component_override_y(),
        s.component_override_z(),
        s.component_override_w(),
    ];
    // CAST: a field of five bits.
    AttributeSource {
        source: s.source_attribute() as u8,
        facing: s.swizzle_select() & 1 != 0,
        replicate_w: s.swizzle_select() & 2 != 0,
        constant: match s.constant_source() {
            0 => ConstantSource::Zeros,
            1 => ConstantSource::ZeroZeroZeroOne,
            2 => ConstantSource::Ones,
            _ => ConstantSource::PrimitiveId,
        },
        overrides: (0..)
            .zip(overrides)
            .fold(0, |all, (i, on)| all | u8::from(on) << i),
    }
}

fn sources(s: &table::State3dSf) -> [AttributeSource; SWIZZLES] {
    [
        s.attribute_0(),
        s.attribute_1(),
        s.attribute_2(),
        s.attribute_3(),
        s.attribute_4(),
        s.attribute_5(),
        s.attribute_6(),
        s.attribute_7(),
        s.attribute_8(),
        s.attribute_9(),
        s.attribute_10(),
        s.attribute_11(),
        s.attribute_12(),
        s.attribute_13(),
        s.attribute_14(),
        s.attribute_15(),
    ]
    .map(source)
}

/// Attribute WrapShortest Enables: four bits for each of the attributes.
fn wrap_shortest(s: &table::State3dSf) -> [u8; SWIZZLES] {
    [
        s.attribute_0_wrapshortest_enables(),
        s.attribute_1_wrapshortest_enables(),
        s.attribute_2_wrapshortest_enables(),
        s.attribute_3_wrapshortest_enables(),
        s.attribute_4_wrapshortest_enables(),
        s.attribute_5_wrapshortest_enables(),
        s.attribute_6_wrapshortest_enables(),
        s.attribute_7_wrapshortest_enables(),
        s.attribute_8_wrapshortest_enables(),
        s.attribute_9_wrapshortest_enables(),
        s.attribute_10_wrapshortest_enables(),
        s.attribute_11_wrapshortest_enables(),
        s.attribute_12_wrapshortest_enables(),
        s.attribute_13_wrapshortest_enables(),
        s.attribute_14_wrapshortest_enables(),
        s.attribute_15_wrapshortest_enables(),
    ]
    // CAST: fields of four bits.
    .map(|bits| bits as u8)
}

/// 3DSTATE_SF.
pub fn sf(state: &PipelineState) -> table::State3dSf {
    table::State3dSf::from_dwords(words(state, CommandId::State3dSf))
}

fn setup(mem: &Memory, state: &PipelineState, maximum: u32) -> Result<SetupState, Fault> {
    let s = sf(state);
    let viewports = if s.viewport_transform_enable() {
        let at = (viewports(state).pointer_to_sf_viewport(), 32);
        let viewport = |v: table::SfViewport| Viewport {
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
        };
        Some(array((mem, state), at, maximum, viewport)?)
    } else {
        None
    };
    // CAST: fields of six bits.
    Ok(SetupState {
        viewports,
        cull: match s.cull_mode() {
            0 => CullMode::Both,
            2 => CullMode::Front,
            3 => CullMode::Back,
            _ => CullMode::Neither,
        },
        front_counter_clockwise: s.front_winding() != 0,
        fill: [fill(s.frontface_fill_mode()), fill(s.backface_fill_mode())],
        offset: OffsetEnables {
            solid: s.global_depth_offset_enable_solid(),
            wireframe: s.global_depth_offset_enable_wireframe(),
            point: s.global_depth_offset_enable_point(),
        },
        point_width: (s.point_width_source() != 0).then(|| s.point_width()),
        line_width: s.line_width(),
        provoking_line: s.line_strip_list_provoking_vertex_select() & 1,
        provoking_triangle: s.triangle_strip_list_provoking_vertex_select().min(2),
        provoking_fan: s.triangle_fan_provoking_vertex_select().min(2),
        attributes: s.number_of_sf_output_attributes() as u8,
        read_offset: s.vertex_urb_entry_read_offset() as u16,
        sources: s.attribute_swizzle_enable().then(|| sources(&s)),
        swizzles_behind: false,
        sprites: s.point_sprite_texture_coordinate_enable(),
        sprite_origin_lower: s.point_sprite_texture_coordinate_origin() != 0,
        constant: s.constant_interpolation_enable(),
        wrap_shortest: wrap_shortest(&s),
        original_corners_only: false,
    })
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests;
