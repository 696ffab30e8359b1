//! COLOR_CALC_STATE and CC_VIEWPORT as plain state of the colour calculator.
//!
//! PRM: volume 2, windower (COLOR_CALC_STATE; fields from genxml gen4).
//! Not modelled: the round-disable function, whose effect the manual does not give.

use mem::{GpuAddr, Memory};
use regs::gen40::{CcViewport, ColorCalcState, values::color_clamp_range};

use crate::core::fault::UnitFault;
use crate::intel::cc::blend::{Equation, Factor, Function};
use crate::intel::cc::compare::Compare;
use crate::intel::cc::logic::LogicOp;
use crate::intel::cc::state::{
    AlphaReference, AlphaTest, CcError, CcRequest, CcState, ClampRange, DepthState, StencilState,
};
use crate::intel::cc::stencil::{Face, Op};

/// Bytes of a CC_VIEWPORT.
const VIEWPORT: u32 = 8;

/// Reads COLOR_CALC_STATE and one of its viewports.
///
/// Pointers are relative to `general_base`, General State Base Address.
pub fn read(mem: &Memory, general_base: u32, request: &CcRequest) -> Result<CcState, UnitFault> {
    let base = GpuAddr::from(general_base);
    let addr = mem.on_bus(base.offset(request.pointers.color_calc));
    let words: ColorCalcState = mem.read_struct(addr)?;
    let mut state = resolve(words.dwords(), request.constant).map_err(|e| UnitFault::State {
        unit: "CC",
        addr,
        what: e.to_string(),
    })?;
    let at = base
        .offset(state.viewport_offset)
        .offset(request.viewport * VIEWPORT);
    let v: CcViewport = mem.read_struct(at)?;
    state.depth_range = Some((v.minimum_depth(), v.maximum_depth()));
    Ok(state)
}

/// Resolves COLOR_CALC_STATE. Reserved encodings of switched-off functions are let pass.
pub fn resolve(words: &[u32], constant: [f32; 4]) -> Result<CcState, CcError> {
    let s = ColorCalcState::from_dwords(words);
    let factor = |which, raw| Factor::from_field(raw).ok_or(CcError::Factor { which, raw });
    let function = |which, raw| Function::from_field(raw).ok_or(CcError::Function { which, raw });
    let blend = if s.color_buffer_blend_enable() {
        Some(Equation {
            source: factor("source", s.source_blend_factor())?,
            destination: factor("destination", s.destination_blend_factor())?,
            function: function("colour", s.color_blend_function())?,
        })
    } else {
        None
    };
    let blend_alpha = match blend {
        Some(_) if s.independent_alpha_blend_enable() => Equation {
            source: factor("source alpha", s.source_alpha_blend_factor())?,
            destination: factor("destination alpha", s.destination_alpha_blend_factor())?,
            function: function("alpha", s.alpha_blend_function())?,
        },
        Some(colour) => colour,
        None => Equation::default(),
    };
    let clamps = s.pre_blend_color_clamp_enable() || s.post_blend_color_clamp_enable();
    let clamp_range = match s.color_clamp_range() {
        color_clamp_range::COLORCLAMP_UNORM => ClampRange::Unorm,
        color_clamp_range::COLORCLAMP_SNORM => ClampRange::Snorm,
        color_clamp_range::COLORCLAMP_RTFORMAT => ClampRange::TargetFormat,
        raw if clamps => return Err(CcError::ClampRange(raw)),
        _ => ClampRange::Unorm,
    };
    let reference = if s.alpha_test_format() == 0 {
        // The UNORM8 lies in the low byte.
        AlphaReference::Unorm8(s.alpha_reference_value_as_unorm8() as u8)
    } else {
        AlphaReference::Float(s.alpha_reference_value_as_float32())
    };
    Ok(CcState {
        alpha_test: s.alpha_test_enable().then(|| AlphaTest {
            function: Compare::from_field(s.alpha_test_function()),
            reference,
        }),
        blend,
        blend_alpha,
        constant,
        logic_op: s
            .logic_op_enable()
            .then(|| LogicOp::from_field(s.logic_op_function())),
        dither: s
            .color_dither_enable()
            .then(|| (s.x_dither_offset(), s.y_dither_offset())),
        pre_clamp: s.pre_blend_color_clamp_enable(),
        post_clamp: s.post_blend_color_clamp_enable(),
        clamp_range,
        depth: DepthState {
            test: s.depth_test_enable(),
            write: s.depth_buffer_write_enable(),
            function: Compare::from_field(s.depth_test_function()),
        },
        stencil: StencilState {
            test: s.stencil_test_enable(),
            write: s.stencil_buffer_write_enable(),
            double_sided: s.double_sided_stencil_enable(),
            front: Face {
                function: Compare::from_field(s.stencil_test_function()),
                fail: Op::from_field(s.stencil_fail_op()),
                depth_fail: Op::from_field(s.stencil_pass_depth_fail_op()),
                pass: Op::from_field(s.stencil_pass_depth_pass_op()),
                reference: s.stencil_reference_value() as u8,
                test_mask: s.stencil_test_mask() as u8,
                write_mask: s.stencil_write_mask() as u8,
            },
            back: Face {
                function: Compare::from_field(s.backface_stencil_test_function()),
                fail: Op::from_field(s.backface_stencil_fail_op()),
                depth_fail: Op::from_field(s.backface_stencil_pass_depth_fail_op()),
                pass: Op::from_field(s.backface_stencil_pass_depth_pass_op()),
                reference: s.backface_stencil_reference_value() as u8,
                test_mask: s.backface_stencil_test_mask() as u8,
                write_mask: s.backface_stencil_write_mask() as u8,
            },
        },
        depth_range: None,
        statistics: s.statistics_enable(),
        viewport_offset: s.cc_viewport_state_pointer(),
        write_disables: 0,
        alpha_to_coverage: false,
        alpha_to_one: false,
    })
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]
    use super::*;

    /// Hand-assembled from the bit positions of genxml.
    #[test]
    fn fields_land_where_genxml_says() {
        let mut d = [0u32; 8];
        d[0] = 1 << 31 | 2 << 28 | 7 << 25 | 1 << 18 | 1 << 15 | 4 << 12;
        d[1] = 0x11 << 24 | 0x22 << 16 | 0x33 << 8 | 0x44;
        d[2] = 1 | 1 << 15 | 4 << 12 | 1 << 11 | 0x55 << 24 | 0x66 << 16;
        d[3] = 1 << 15 | 1 << 12 | 1 << 11 | 5 << 8;
        d[5] = 1 << 31 | 6 << 16 | 1 << 15;
        d[6] = 3 << 24 | 19 << 19 | 2 << 29 | 1 << 17 | 2 << 15 | 1 << 1 | 2 << 2;
        d[7] = 0x3f00_0000;
        let s = resolve(&d, [0.0; 4]).unwrap();
        assert!(s.stencil.test && s.stencil.write && s.stencil.double_sided);
        let f = s.stencil.front;
        assert_eq!((f.function, f.fail), (Compare::Less, Op::Invert));
        assert_eq!((f.reference, f.test_mask, f.write_mask), (0x11, 0x22, 0x33));
        let b = s.stencil.back;
        assert_eq!((b.function, b.reference), (Compare::LessEqual, 0x44));
        assert_eq!((b.test_mask, b.write_mask), (0x55, 0x66));
        assert!(s.depth.test && s.depth.write);
        assert_eq!(s.depth.function, Compare::LessEqual);
        assert_eq!(s.logic_op, Some(LogicOp::Xor));
        assert_eq!(s.dither, Some((1, 2)));
        let blend = s.blend.unwrap();
        assert_eq!(blend.source, Factor::SourceAlpha);
        assert_eq!(blend.destination, Factor::InverseSourceAlpha);
        assert_eq!(blend.function, Function::ReverseSubtract);
        assert_eq!(s.blend_alpha, blend);
        let alpha = s.alpha_test.unwrap();
        assert_eq!(alpha.function, Compare::Greater);
        assert_eq!(alpha.reference, AlphaReference::Float(0.5));
        assert!(s.pre_clamp && !s.post_clamp && s.statistics);
        assert_eq!(s.clamp_range, ClampRange::TargetFormat);
    }

    #[test]
    fn reserved_encodings_matter_only_when_used() {
        let mut d = [0u32; 8];
        d[6] = 11 << 24;
        assert!(resolve(&d, [0.0; 4]).is_ok());
        d[3] = 1 << 12;
        let e = resolve(&d, [0.0; 4]).unwrap_err();
        assert_eq!(e.to_string(), "source blend factor 11 is reserved");
    }
}
