//! States of the colour calculator and their viewports as plain state.
//!
//! genxml gen6. Pointers are relative to Dynamic State Base Address. Not modelled: the round-disable function, and dither of
//! alpha to coverage, whose effects no public manual gives.

use mem::{GpuAddr, Memory};
use regs::gen60::{self as table, values::color_clamp_range};
use regs::ids::CommandId;
use zerocopy::FromZeros as _;

use crate::core::fault::UnitFault;
use crate::intel::cc::blend::{Equation, Factor, Function};
use crate::intel::cc::compare::Compare;
use crate::intel::cc::logic::LogicOp;
use crate::intel::cc::state::{
    AlphaReference, AlphaTest, CcError, CcPointers, CcRequest, CcState, ClampRange, DepthState,
    StencilState,
};
use crate::intel::cc::stencil::{Face, Op};
use crate::intel::ff::state::PipelineState;
use crate::intel::shared::context::StateBases;
use crate::intel::shared::dataport::render::PixelBackend;

/// Bytes of a BLEND_STATE_ENTRY, and of a CC_VIEWPORT.
const ENTRY: u32 = 8;

/// Where commands say that the states lie.
pub fn pointers(state: &PipelineState) -> CcPointers {
    let words = |id| state.kept.get(&id).map(Vec::as_slice).unwrap_or_default();
    let cc = words(CommandId::State3dCcStatePointers);
    let cc = table::State3dCcStatePointers::from_dwords(cc);
    let viewports = words(CommandId::State3dViewportStatePointers);
    let viewports = table::State3dViewportStatePointers::from_dwords(viewports);
    CcPointers {
        color_calc: cc.color_calc_state_pointer(),
        blend: cc.pointer_to_blend_state(),
        depth_stencil: cc.pointer_to_depth_stencil_state(),
        viewports: viewports.pointer_to_cc_viewport(),
    }
}

/// What the pixel back end takes from commands: pointers, and the parts of render target writes besides colours (3DSTATE_WM).
pub fn backend(state: &PipelineState) -> PixelBackend {
    let wm = state.kept.get(&CommandId::State3dWm);
    let wm = table::State3dWm::from_dwords(wm.map(Vec::as_slice).unwrap_or_default());
    PixelBackend {
        pointers: pointers(state),
        sample_mask: wm.omask_present_to_rendertarget(),
        source_depth: wm.pixel_shader_computed_depth(),
        ..PixelBackend::default()
    }
}

/// Reads the states with one of the viewports and the entry of one render target.
pub fn read(mem: &Memory, bases: &StateBases, request: &CcRequest) -> Result<CcState, UnitFault> {
    let at = request.pointers.blend.wrapping_add(request.target * ENTRY);
    let at = mem.on_bus(GpuAddr::from(bases.dynamic()).offset(at));
    with_entry(mem, bases, request, (at, mem.read_struct(at)?))
}

/// The same for a draw that starts no threads, such as the clear of a depth buffer: nothing is blended, and drivers leave the
/// pointer of BLEND_STATE as it was with another Dynamic State Base Address (Mesa blorp_genX_exec.h).
pub fn read_without_blending(
    mem: &Memory,
    bases: &StateBases,
    request: &CcRequest,
) -> Result<CcState, UnitFault> {
    let at = mem.on_bus(GpuAddr::from(bases.dynamic()));
    with_entry(
        mem,
        bases,
        request,
        (at, table::BlendStateEntry::new_zeroed()),
    )
}

fn with_entry(
    mem: &Memory,
    bases: &StateBases,
    request: &CcRequest,
    (blend_at, blend): (GpuAddr, table::BlendStateEntry),
) -> Result<CcState, UnitFault> {
    let at = |pointer: u32| mem.on_bus(GpuAddr::from(bases.dynamic()).offset(pointer));
    let pointers = &request.pointers;
    let cc: table::ColorCalcState = mem.read_struct(at(pointers.color_calc))?;
    let depth: table::DepthStencilState = mem.read_struct(at(pointers.depth_stencil))?;
    let mut state = resolve(blend, &cc, &depth).map_err(|e| UnitFault::State {
        unit: "CC",
        addr: blend_at,
        what: e.to_string(),
    })?;
    let viewport = at(pointers.viewports.wrapping_add(request.viewport * ENTRY));
    let v: table::CcViewport = mem.read_struct(viewport)?;
    state.depth_range = Some((v.minimum_depth(), v.maximum_depth()));
    Ok(state)
}

/// Resolves the structures. Reserved encodings of switched-off functions are let pass.
fn resolve(
    b: table::BlendStateEntry,
    cc: &table::ColorCalcState,
    d: &table::DepthStencilState,
) -> Result<CcState, CcError> {
    let factor = |which, raw| Factor::from_field(raw).ok_or(CcError::Factor { which, raw });
    let function = |which, raw| Function::from_field(raw).ok_or(CcError::Function { which, raw });
    let blend = if b.color_buffer_blend_enable() {
        Some(Equation {
            source: factor("source", b.source_blend_factor())?,
            destination: factor("destination", b.destination_blend_factor())?,
            function: function("colour", b.color_blend_function())?,
        })
    } else {
        None
    };
    let blend_alpha = match blend {
        Some(_) if b.independent_alpha_blend_enable() => Equation {
            source: factor("source alpha", b.source_alpha_blend_factor())?,
            destination: factor("destination alpha", b.destination_alpha_blend_factor())?,
            function: function("alpha", b.alpha_blend_function())?,
        },
        Some(colour) => colour,
        None => Equation::default(),
    };
    let clamps = b.pre_blend_color_clamp_enable() || b.post_blend_color_clamp_enable();
    let clamp_range = match b.color_clamp_range() {
        color_clamp_range::COLORCLAMP_UNORM => ClampRange::Unorm,
        color_clamp_range::COLORCLAMP_SNORM => ClampRange::Snorm,
        color_clamp_range::COLORCLAMP_RTFORMAT => ClampRange::TargetFormat,
        raw if clamps => return Err(CcError::ClampRange(raw)),
        _ => ClampRange::Unorm,
    };
    let reference = if cc.alpha_test_format() == 0 {
        // CAST: the UNORM8 lies in the low byte.
        AlphaReference::Unorm8(cc.alpha_reference_value_as_unorm8() as u8)
    } else {
        AlphaReference::Float(cc.alpha_reference_value_as_float32())
    };
    let disables = [
        b.write_disable_red(),
        b.write_disable_green(),
        b.write_disable_blue(),
        b.write_disable_alpha(),
    ];
    Ok(CcState {
        alpha_test: b.alpha_test_enable().then(|| AlphaTest {
            function: Compare::from_field(b.alpha_test_function()),
            reference,
        }),
        blend,
        blend_alpha,
        constant: [
            cc.blend_constant_color_red(),
            cc.blend_constant_color_green(),
            cc.blend_constant_color_blue(),
            cc.blend_constant_color_alpha(),
        ],
        logic_op: b
            .logic_op_enable()
            .then(|| LogicOp::from_field(b.logic_op_function())),
        dither: b
            .color_dither_enable()
            .then(|| (b.x_dither_offset(), b.y_dither_offset())),
        pre_clamp: b.pre_blend_color_clamp_enable(),
        post_clamp: b.post_blend_color_clamp_enable(),
        clamp_range,
        depth: DepthState {
            test: d.depth_test_enable(),
            write: d.depth_buffer_write_enable(),
            function: Compare::from_field(d.depth_test_function()),
        },
        stencil: stencil(cc, d),
        depth_range: None,
        // 3DSTATE_WM counts.
        statistics: false,
        viewport_offset: 0,
        write_disables: (0..)
            .zip(disables)
            .fold(0, |mask, (bit, off)| mask | u32::from(off) << bit),
        alpha_to_coverage: b.alphatocoverage_enable(),
        alpha_to_one: b.alphatoone_enable(),
    })
}

fn stencil(cc: &table::ColorCalcState, d: &table::DepthStencilState) -> StencilState {
    // CAST: fields of eight bits.
    StencilState {
        test: d.stencil_test_enable(),
        write: d.stencil_buffer_write_enable(),
        double_sided: d.double_sided_stencil_enable(),
        front: Face {
            function: Compare::from_field(d.stencil_test_function()),
            fail: Op::from_field(d.stencil_fail_op()),
            depth_fail: Op::from_field(d.stencil_pass_depth_fail_op()),
            pass: Op::from_field(d.stencil_pass_depth_pass_op()),
            reference: cc.stencil_reference_value() as u8,
            test_mask: d.stencil_test_mask() as u8,
            write_mask: d.stencil_write_mask() as u8,
        },
        back: Face {
            function: Compare::from_field(d.backface_stencil_test_function()),
            fail: Op::from_field(d.backface_stencil_fail_op()),
            depth_fail: Op::from_field(d.backface_stencil_pass_depth_fail_op()),
            pass: Op::from_field(d.backface_stencil_pass_depth_pass_op()),
            reference: cc.backface_stencil_reference_value() as u8,
            test_mask: d.backface_stencil_test_mask() as u8,
            write_mask: d.backface_stencil_write_mask() as u8,
        },
    }
}
