//! 3DSTATE_VS, CLIP, SF and SBE as plain state of the units.
//!
//! genxml gen7. Each stage has commands of its own for its binding table, samplers, constants and entries of the URB; all are kept
//! as written. Viewports of clipper and strips-and-fans are one structure.

pub mod geometry;
pub mod streams;
pub mod tessellation;

use mem::{Fault, GpuAddr, Memory};
use regs::gen70 as table;
use regs::ids::CommandId;

use crate::intel::ff::state::setup::{
    AttributeSource, ConstantSource, FillMode, OffsetEnables, SWIZZLES,
};
use crate::intel::ff::state::{
    ApiMode, Bounds, ClipMode, ClipperState, CullMode, DrawState, PipelineState, SetupState,
    UnitConfig, Viewport, VsState,
};
use crate::intel::r#gen::gen40::units::SCRATCH_POWER;
use crate::intel::r#gen::gen60::units::array;
use crate::intel::r#gen::gen60::units::{REGISTERS, words};
use crate::intel::shared::context::ThreadContext;
use crate::intel::status::Unit;
use crate::intel::td::{KernelState, PUSHED, Pushed};

/// The commands of a stage with threads that every such stage has: they are laid out alike.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Slot {
    /// Whose threads they are for.
    pub unit: Unit,
    /// Its binding table.
    pub binding_table: CommandId,
    /// Its samplers.
    pub samplers: CommandId,
    /// Its constants.
    pub constants: CommandId,
    /// Its entries of the URB; the windower has none.
    pub urb: Option<CommandId>,
}

/// Vertex shader.
pub const VS: Slot = Slot {
    unit: Unit::Vs,
    binding_table: CommandId::State3dBindingTablePointersVs,
    samplers: CommandId::State3dSamplerStatePointersVs,
    constants: CommandId::State3dConstantVs,
    urb: Some(CommandId::State3dUrbVs),
};

/// Hull shader.
pub const HS: Slot = Slot {
    unit: Unit::Hs,
    binding_table: CommandId::State3dBindingTablePointersHs,
    samplers: CommandId::State3dSamplerStatePointersHs,
    constants: CommandId::State3dConstantHs,
    urb: Some(CommandId::State3dUrbHs),
};

/// Domain shader.
pub const DS: Slot = Slot {
    unit: Unit::Ds,
    binding_table: CommandId::State3dBindingTablePointersDs,
    samplers: CommandId::State3dSamplerStatePointersDs,
    constants: CommandId::State3dConstantDs,
    urb: Some(CommandId::State3dUrbDs),
};

/// Geometry shader.
pub const GS: Slot = Slot {
    unit: Unit::Gs,
    binding_table: CommandId::State3dBindingTablePointersGs,
    samplers: CommandId::State3dSamplerStatePointersGs,
    constants: CommandId::State3dConstantGs,
    urb: Some(CommandId::State3dUrbGs),
};

/// Pixel shader.
pub const PS: Slot = Slot {
    unit: Unit::Wiz,
    binding_table: CommandId::State3dBindingTablePointersPs,
    samplers: CommandId::State3dSamplerStatePointersPs,
    constants: CommandId::State3dConstantPs,
    urb: None,
};

/// Rows of 256 bits in the 64 bytes that entry sizes count.
const ROWS_PER_UNIT: u16 = 2;

/// Bytes of a SF_CLIP_VIEWPORT.
const VIEWPORT: u32 = 64;

/// The binding table of a stage, relative to Surface State Base Address.
fn binding_table(state: &PipelineState, slot: &Slot) -> u32 {
    let c = words(state, slot.binding_table);
    table::State3dBindingTablePointersVs::from_dwords(c).pointer_to_vs_binding_table()
}

/// The sampler states of a stage, relative to Dynamic State Base Address.
pub fn samplers(state: &PipelineState, slot: &Slot) -> u32 {
    let c = words(state, slot.samplers);
    table::State3dSamplerStatePointersVs::from_dwords(c).pointer_to_vs_sampler_state()
}

/// Entries of the URB that a stage has, and 256-bit rows of one.
pub fn entries(state: &PipelineState, slot: &Slot) -> (u16, u16) {
    let Some(id) = slot.urb else {
        return (0, 0);
    };
    let (_, entries, rows) = section(words(state, id));
    (entries, rows)
}

/// A 3DSTATE_URB command: the first row, entries, rows of an entry. Starting addresses count 8 KB.
pub fn section(command: &[u32]) -> (u16, u16, u16) {
    let c = table::State3dUrbVs::from_dwords(command);
    // CAST: fields of five, sixteen and nine bits.
    let start = c.vs_urb_starting_address() as u16 * 256;
    let rows = (c.vs_urb_entry_allocation_size() as u16 + 1) * ROWS_PER_UNIT;
    (start, c.vs_number_of_urb_entries() as u16, rows)
}

/// The constants of a stage: four buffers, of which the first is relative to Dynamic State Base Address unless INSTPM says otherwise.
pub fn pushed(state: &PipelineState, slot: &Slot) -> Option<Pushed> {
    let c = table::State3dConstantVs::from_dwords(words(state, slot.constants));
    let body = c.constant_body();
    let base = if state.constants_absolute {
        0
    } else {
        state.bases.dynamic()
    };
    let buffers: [(u32, u32); PUSHED] = [
        (
            base.wrapping_add(body.pointer_to_constant_buffer_0()),
            body.constant_buffer_0_read_length(),
        ),
        (
            body.pointer_to_constant_buffer_1(),
            body.constant_buffer_1_read_length(),
        ),
        (
            body.pointer_to_constant_buffer_2(),
            body.constant_buffer_2_read_length(),
        ),
        (
            body.pointer_to_constant_buffer_3(),
            body.constant_buffer_3_read_length(),
        ),
    ];
    // Rows past the last register are loaded nowhere, so they are not read either.
    let mut room = REGISTERS.into();
    let buffers = buffers.map(|(at, rows)| {
        let rows = rows.min(room);
        room -= rows;
        // CAST: no more than there are registers.
        (GpuAddr::from(at), rows as u16)
    });
    let any = buffers.iter().any(|(_, rows)| *rows > 0);
    any.then_some(Pushed { buffers })
}

/// What threads of a stage know besides their registers.
pub fn context(
    state: &PipelineState,
    slot: &Slot,
    (scratch_base, scratch_power): (u32, u32),
) -> ThreadContext {
    ThreadContext {
        bases: state.bases,
        binding_table_pointer: binding_table(state, slot),
        sampler_state_pointer: samplers(state, slot),
        scratch_base,
        scratch_size: 1024 << scratch_power.min(SCRATCH_POWER),
        ffid: slot.unit.ffid(),
    }
}

/// Reads the state of all units before the windower.
pub fn units(mem: &Memory, state: &PipelineState) -> Result<DrawState, Fault> {
    let clip = table::State3dClip::from_dwords(words(state, CommandId::State3dClip));
    Ok(DrawState {
        vs: vs(state),
        hs: tessellation::hs(
            words(state, CommandId::State3dHs),
            words(state, CommandId::State3dUrbHs),
            |scratch| context(state, &HS, scratch),
            pushed(state, &HS),
        ),
        te: tessellation::te(words(state, CommandId::State3dTe)),
        ds: tessellation::ds(
            words(state, CommandId::State3dDs),
            words(state, CommandId::State3dUrbDs),
            |scratch| context(state, &DS, scratch),
            pushed(state, &DS),
        ),
        geometry: geometry::geometry(
            words(state, CommandId::State3dGs),
            words(state, CommandId::State3dUrbGs),
            |scratch| context(state, &GS, scratch),
            pushed(state, &GS),
        ),
        streams: streams::takes_part(words(state, CommandId::State3dStreamout)),
        clipper: clipper(mem, state, &clip)?,
        setup: setup(mem, state, clip.maximum_vp_index())?,
        vf_statistics: state.vf_statistics,
        ..DrawState::default()
    })
}

fn vs(state: &PipelineState) -> VsState {
    let s = table::State3dVs::from_dwords(words(state, CommandId::State3dVs));
    let scratch = (s.scratch_space_base_pointer(), s.per_thread_scratch_space());
    let (urb_entries, urb_entry_rows) = entries(state, &VS);
    // CAST: fields of at most six bits.
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
            context: context(state, &VS, scratch),
            read_offset: s.vertex_urb_entry_read_offset() as u16,
            read_rows: s.vertex_urb_entry_read_length() as u16,
            pushed: pushed(state, &VS),
            urb_entries,
            urb_entry_rows,
            scratch_power: s.per_thread_scratch_space(),
            statistics: s.statistics_enable(),
            ..UnitConfig::default()
        },
        enable: s.enable(),
        vertex_cache_disable: s.vertex_cache_disable(),
        counts_passing: true,
    }
}

/// 3DSTATE_VIEWPORT_STATE_POINTERS_SF_CLIP.
fn viewports(state: &PipelineState) -> u32 {
    let c = words(state, CommandId::State3dViewportStatePointersSfClip);
    table::State3dViewportStatePointersSfClip::from_dwords(c).sf_clip_viewport_pointer()
}

fn clipper(
    mem: &Memory,
    state: &PipelineState,
    s: &table::State3dClip,
) -> Result<ClipperState, Fault> {
    let guardbands = if s.clip_enable() && s.guardband_clip_test_enable() {
        let bounds = |v: table::SfClipViewport| Bounds {
            x: (v.x_min_clip_guardband(), v.x_max_clip_guardband()),
            y: (v.y_min_clip_guardband(), v.y_max_clip_guardband()),
        };
        let at = (viewports(state), VIEWPORT);
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

fn sources(s: &table::State3dSbe) -> [AttributeSource; SWIZZLES] {
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
fn wrap_shortest(s: &table::State3dSbe) -> [u8; SWIZZLES] {
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

/// 3DSTATE_SBE.
pub fn sbe(state: &PipelineState) -> table::State3dSbe {
    table::State3dSbe::from_dwords(words(state, CommandId::State3dSbe))
}

fn setup(mem: &Memory, state: &PipelineState, maximum: u32) -> Result<SetupState, Fault> {
    let s = sf(state);
    let sbe = sbe(state);
    let viewports = if s.viewport_transform_enable() {
        let viewport = |v: table::SfClipViewport| Viewport {
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
        let at = (viewports(state), VIEWPORT);
        Some(array((mem, state), at, maximum, viewport)?)
    } else {
        None
    };
    let ps = table::State3dPs::from_dwords(words(state, CommandId::State3dPs));
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
        // Threads get none when 3DSTATE_PS says so.
        attributes: if ps.attribute_enable() {
            sbe.number_of_sf_output_attributes() as u8
        } else {
            0
        },
        read_offset: sbe.vertex_urb_entry_read_offset() as u16,
        sources: sbe.attribute_swizzle_enable().then(|| sources(&sbe)),
        swizzles_behind: sbe.attribute_swizzle_enable()
            && sbe.attribute_swizzle_control_mode() != 0,
        sprites: sbe.point_sprite_texture_coordinate_enable(),
        sprite_origin_lower: sbe.point_sprite_texture_coordinate_origin() != 0,
        constant: sbe.constant_interpolation_enable(),
        wrap_shortest: wrap_shortest(&sbe),
        // 3DSTATE_SF, fill modes.
        original_corners_only: true,
    })
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests;
