//! Pixel writes: fast path against general path, blending, masks, bounds.
//!
//! PRM: volume 4 5.10.6. Not covered: cache behaviour.
#![allow(clippy::unwrap_used, reason = "tests")]
use super::super::Compare;
use super::super::blend::{Equation, Factor, Function};
use super::super::logic::LogicOp;
use super::super::state::{AlphaReference, AlphaTest};
use super::*;
use crate::intel::surface::state::Use;

const ORIGINS: Origins = [(0, 0), (2, 0), (0, 2), (2, 2)];

/// A 4x4 target of a format; extra bits go into dword 0. Tiling: 0 linear, 2 X, 3 Y.
fn setup(format: u32, extra: u32, tiling: u32) -> (Memory, Surface) {
    let mut mem = Memory::new(1 << 20, 16);
    mem.alloc_mapped(GpuAddr(0x1000), 0x4000).unwrap();
    let d = [
        1 << 29 | format << 18 | extra,
        0x1000,
        3 << 6 | 3 << 19,
        511 << 3 | tiling,
        0,
    ];
    (
        mem,
        crate::intel::r#gen::gen40::surface::resolve(&d, Use::RenderTarget).unwrap(),
    )
}

fn flat(c: [f32; 4]) -> Planes {
    c.map(|v| [v.to_bits(); 16])
}

fn write(mem: &mut Memory, cc: &CcState, t: &Surface, mask: u16, colour: &Planes) -> u16 {
    let block = PixelBlock {
        origins: &ORIGINS,
        mask,
        colour,
        source1: None,
        sample: 0,
    };
    write_block(mem, cc, t, 0, &block).unwrap()
}

fn bytes(mem: &Memory, t: &Surface, x: u32, y: u32) -> [u8; 4] {
    mem.read_array(t.address(x, y, 0, 0)).unwrap()
}

#[test]
fn pixels_land_by_subspan_order() {
    for (format, swap) in [(0x0c7, false), (0x0c0, true)] {
        for tiling in [0, 2, 3] {
            let (mut mem, t) = setup(format, 0, tiling);
            let mut colour = flat([0.2, 0.4, 0.6, 0.8]);
            for (i, r) in colour[0].iter_mut().enumerate() {
                *r = (i as f32 / 255.0).to_bits();
            }
            assert_eq!(
                write(&mut mem, &CcState::default(), &t, 0xffff, &colour),
                0xffff
            );
            // Pixel 7 is subspan 1 lower right: (3, 1); pixel 10 is subspan 2 lower left: (0, 3).
            for (x, y, i) in [(0, 0, 0), (1, 0, 1), (3, 1, 7), (0, 3, 10), (3, 3, 15)] {
                let want = if swap {
                    [153, 102, i, 204]
                } else {
                    [i, 102, 153, 204]
                };
                assert_eq!(bytes(&mem, &t, x, y), want);
            }
        }
    }
}

/// The block path and the path of loose pixels, which goes pixel by pixel, write the same bytes,
/// for all blend factors and functions.
#[test]
fn fast_and_general_path_agree() {
    let mut colour = flat([0.0; 4]);
    let mut seed = 1u32;
    let mut random = || {
        seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        seed
    };
    for round in 0..400u32 {
        for v in colour.iter_mut().flatten() {
            *v = (random() as f32 / 2f32.powi(31) - 0.5).to_bits();
        }
        let mut cc = CcState::default();
        let mut equation = || Equation {
            source: Factor::from_field(random() >> 16 & 31).unwrap_or_default(),
            destination: Factor::from_field(random() >> 16 & 31).unwrap_or_default(),
            function: Function::from_field(random() >> 16 & 7).unwrap_or_default(),
        };
        if round > 20 {
            cc.blend = Some(equation());
            cc.blend_alpha = equation();
        }
        cc.constant = [0.25, 0.5, 0.75, 1.0];
        cc.pre_clamp = round & 1 == 1;
        cc.post_clamp = round & 2 == 2;
        // A full block takes a path of its own.
        let full = if round % 3 == 0 { 0xffff } else { 0 };
        let mask = random() >> 8 | full;
        let format = if round & 4 == 0 { 0x0c7 } else { 0x0c0 };
        let (mut a, t) = setup(format, 1 << 13, 2 + (round >> 3 & 1));
        let noise: Vec<u8> = (0..4096).map(|_| random() as u8).collect();
        a.write_bytes(GpuAddr(0x1000), &noise).unwrap();
        let mut b = a.clone();
        write(&mut a, &cc, &t, mask as u16, &colour);
        let at: Vec<(i32, i32)> = (0..16)
            .map(|i| pixel_position(&ORIGINS, i))
            .map(|(x, y)| (x as i32, y as i32))
            .collect();
        let rgba: Vec<[f32; 4]> = (0..16)
            .map(|i| [0, 1, 2, 3].map(|p: usize| f32::from_bits(colour[p][i])))
            .collect();
        write_pixels(&mut b, &cc, &t, &at, &rgba, (mask & 0xffff) as u64).unwrap();
        let (mut pa, mut pb) = (vec![0; 4096], vec![0; 4096]);
        a.read_bytes(GpuAddr(0x1000), &mut pa).unwrap();
        b.read_bytes(GpuAddr(0x1000), &mut pb).unwrap();
        assert_eq!(pa, pb, "{round} {cc:?}");
    }
}

#[test]
fn blending_over() {
    let over = Equation {
        source: Factor::SourceAlpha,
        destination: Factor::InverseSourceAlpha,
        function: Function::Add,
    };
    let cc = CcState {
        blend: Some(over),
        blend_alpha: over,
        ..CcState::default()
    };
    let (mut mem, t) = setup(0x0c7, 1 << 13, 2);
    mem.write_u32(t.address(1, 0, 0, 0), 0xff00_00ff).unwrap();
    write(&mut mem, &cc, &t, 2, &flat([0.0, 1.0, 0.0, 0.25]));
    // 0.75 * 255 = 191.25; 0.25 * 255 = 63.75; alpha 0.0625 + 0.75 = 207.19.
    assert_eq!(bytes(&mem, &t, 1, 0), [191, 64, 0, 207]);
    // The target's own switch turns blending off.
    let (mut mem, t) = setup(0x0c7, 0, 2);
    write(&mut mem, &cc, &t, 2, &flat([0.0, 1.0, 0.0, 0.25]));
    assert_eq!(bytes(&mem, &t, 1, 0), [0, 255, 0, 64]);
}

#[test]
fn dual_source_factor() {
    let e = Equation {
        source: Factor::One,
        destination: Factor::Source1Colour,
        function: Function::Add,
    };
    let cc = CcState {
        blend: Some(e),
        blend_alpha: e,
        ..CcState::default()
    };
    let (mut mem, t) = setup(0x0c7, 1 << 13, 2);
    mem.write_u32(t.address(0, 0, 0, 0), 0xffff_ffff).unwrap();
    let (c, c1) = (flat([0.2, 0.0, 0.0, 0.0]), flat([0.4, 0.6, 0.0, 1.0]));
    let block = PixelBlock {
        origins: &ORIGINS,
        mask: 1,
        colour: &c,
        source1: Some(&c1),
        sample: 0,
    };
    write_block(&mut mem, &cc, &t, 0, &block).unwrap();
    assert_eq!(bytes(&mem, &t, 0, 0), [153, 153, 0, 255]);
}

#[test]
fn channel_masks_keep_the_rest() {
    // Write disables A R G B = 1010b: alpha and green off.
    let (mut mem, t) = setup(0x0c7, 0b1010 << 14, 2);
    mem.write_u32(t.address(0, 0, 0, 0), 0x4433_2211).unwrap();
    write(&mut mem, &CcState::default(), &t, 1, &flat([1.0; 4]));
    assert_eq!(bytes(&mem, &t, 0, 0), [255, 0x22, 255, 0x44]);
    // 565: only blue.
    let (mut mem, t) = setup(0x100, 0b1110 << 14, 0);
    mem.write_u16(t.address(0, 0, 0, 0), 0xabc0).unwrap();
    write(
        &mut mem,
        &CcState::default(),
        &t,
        1,
        &flat([0.0, 0.0, 1.0, 0.0]),
    );
    assert_eq!(mem.read_u16(t.address(0, 0, 0, 0)).unwrap(), 0xabdf);
}

#[test]
fn logic_ops_work_on_stored_bits() {
    let cc = CcState {
        logic_op: Some(LogicOp::Xor),
        ..CcState::default()
    };
    let (mut mem, t) = setup(0x0c7, 0, 2);
    mem.write_u32(t.address(0, 0, 0, 0), 0x0f0f_0f0f).unwrap();
    write(&mut mem, &cc, &t, 1, &flat([1.0, 0.0, 1.0, 0.0]));
    assert_eq!(bytes(&mem, &t, 0, 0), [0xf0, 0x0f, 0xf0, 0x0f]);
}

#[test]
fn clamps() {
    let snorm_add = Equation {
        function: Function::Add,
        ..Equation::default()
    };
    let mut cc = CcState {
        blend: Some(snorm_add),
        blend_alpha: snorm_add,
        ..CcState::default()
    };
    // R16G16B16A16_FLOAT: 3.0 + 0.5 without clamps, 1.0 + 0.5 with the source clamped, 1.0 post.
    for (pre, post, want) in [(false, false, 3.5), (true, false, 1.5), (true, true, 1.0)] {
        cc.pre_clamp = pre;
        cc.post_clamp = post;
        let (mut mem, t) = setup(0x084, 1 << 13, 0);
        mem.write_u64(t.address(0, 0, 0, 0), 0x3800_3800_3800_3800)
            .unwrap();
        write(&mut mem, &cc, &t, 1, &flat([3.0; 4]));
        let h = mem.read_u16(t.address(0, 0, 0, 0)).unwrap();
        assert_eq!(num::f16_to_f32(h), want);
    }
}

/// What a shader writes to a target of single precision is what is read (piglit isinf-and-isnan on a real part), with the clamps
/// on that Mesa's crocus_state.c sets.
#[test]
fn targets_of_single_precision_keep_what_is_no_number() {
    let cc = CcState {
        clamp_range: ClampRange::TargetFormat,
        pre_clamp: true,
        post_clamp: true,
        ..CcState::default()
    };
    let colour = [f32::NAN, f32::INFINITY, f32::NEG_INFINITY, 2.0];
    let (mut mem, t) = setup(0x000, 0, 0);
    write(&mut mem, &cc, &t, 0xf, &flat(colour));
    let mut pixel = [0; 16];
    mem.read_bytes(t.address(0, 0, 0, 0), &mut pixel).unwrap();
    let value = |i: usize| f32::from_le_bytes(pixel[i * 4..][..4].try_into().unwrap());
    assert!(value(0).is_nan());
    assert_eq!([1, 2, 3].map(value), colour[1..]);
}

/// The clamp before blending is one of the constant colour, too: piglit's `fbo-blending-snorm` and
/// `arb_color_buffer_float-render GL_RGBA8_SNORM`, which a Sandy Bridge passes, expect 0.75 of a constant 1.5 and a colour of 0.75.
#[test]
fn constants_are_clamped_before_blending() {
    let by_constant = |source| Equation {
        source,
        destination: Factor::Zero,
        function: Function::Add,
    };
    // R8G8B8A8_SNORM: 0.75 of 127 is 95; 1 - -1 is 2, of which the clamp after blending leaves 1; a quarter of it is 64.
    for (source, constant, colour, want) in [
        (Factor::ConstantColour, 1.5, 0.75, 95),
        (Factor::ConstantColour, -3.0, 0.75, -95i8),
        (Factor::InverseConstantColour, -3.0, 0.25, 64),
    ] {
        let equation = by_constant(source);
        let cc = CcState {
            blend: Some(equation),
            blend_alpha: equation,
            constant: [constant; 4],
            pre_clamp: true,
            post_clamp: true,
            clamp_range: ClampRange::TargetFormat,
            ..CcState::default()
        };
        let (mut mem, _) = setup(0x0c9, 0, 0);
        let words = [
            1 << 29 | 0x0c9 << 18,
            0x1000,
            3 << 6 | 3 << 19,
            511 << 3,
            0,
            0,
        ];
        let readers = crate::intel::r#gen::readers(isa::Verx10::from_times_ten(60)).unwrap();
        let t = Surface::resolve(&readers.functions.surface(&words), Use::RenderTarget).unwrap();
        write(&mut mem, &cc, &t, 1, &flat([colour; 4]));
        assert_eq!(bytes(&mem, &t, 0, 0).map(|b| b as i8), [want; 4]);
    }
}

/// A fixed-point target blends with colours and constants of its range without either clamp (ARB_color_buffer_float:
/// "if the color buffer is fixed-point, the components of the source and destination values and blend factors are clamped").
#[test]
fn unorm_targets_blend_in_their_range() {
    let by_constant = Equation {
        source: Factor::ConstantColour,
        destination: Factor::Zero,
        function: Function::Add,
    };
    // B8G8R8A8 takes the fast path, B10G10R10A2 the other: 1.5 * 0.5 and -1 + 1/2, clamped first.
    for (format, half) in [(0x0c0, 128u32), (0x0d1, 512)] {
        for (equation, colour, old) in [
            (by_constant, 1.5, 0),
            (Equation::default(), -1.0, u32::MAX / 2 + 1),
        ] {
            let cc = CcState {
                blend: Some(equation),
                blend_alpha: equation,
                constant: [0.5; 4],
                ..CcState::default()
            };
            let (mut mem, t) = setup(format, 1 << 13, 0);
            mem.write_u32(t.address(0, 0, 0, 0), old).unwrap();
            write(&mut mem, &cc, &t, 1, &flat([colour; 4]));
            let got = mem.read_u32(t.address(0, 0, 0, 0)).unwrap();
            if old == 0 {
                // Blue is lowest.
                assert_eq!(got & (2 * half - 1), half);
            } else {
                assert_eq!(got, old);
            }
        }
    }
}

#[test]
fn integer_targets_take_integers() {
    let (mut mem, t) = setup(0x0ca, 0, 0);
    let colour = [-1i32, 200, -200, 5].map(|v| [v as u32; 16]);
    write(&mut mem, &CcState::default(), &t, 1, &colour);
    assert_eq!(bytes(&mem, &t, 0, 0), [0xff, 127, 0x80, 5]);
}

#[test]
fn dithering_touches_narrow_channels_only() {
    let cc = CcState {
        dither: Some((0, 0)),
        ..CcState::default()
    };
    let (mut mem, t) = setup(0x0c7, 0, 2);
    write(&mut mem, &cc, &t, 0xffff, &flat([0.3; 4]));
    assert_eq!(bytes(&mem, &t, 3, 2), [77; 4], "0.3 * 255 = 76.5 rounded");
    let (mut mem, t) = setup(0x100, 0, 0);
    write(&mut mem, &cc, &t, 0xffff, &flat([0.5; 4]));
    let reds: Vec<u16> = (0..16)
        .map(|i| mem.read_u16(t.address(i % 4, i / 4, 0, 0)).unwrap() >> 11)
        .collect();
    // 15.5 of 31: half of the pixels 15, half 16.
    assert_eq!(reds.iter().filter(|&&r| r == 15).count(), 8);
    assert_eq!(reds.iter().filter(|&&r| r == 16).count(), 8);
}

#[test]
fn bounds_null_and_faults() {
    let (mut mem, t) = setup(0x0c7, 0, 2);
    let far: Origins = [(4, 0), (3, 3), (65534, 65534), (0, 0)];
    let c = flat([1.0; 4]);
    let block = PixelBlock {
        origins: &far,
        mask: 0xffff,
        colour: &c,
        source1: None,
        sample: 0,
    };
    let cc = CcState::default();
    assert_eq!(write_block(&mut mem, &cc, &t, 0, &block).unwrap(), 0xf010);
    let general = CcState {
        logic_op: Some(LogicOp::Copy),
        ..CcState::default()
    };
    assert_eq!(
        write_block(&mut mem, &general, &t, 0, &block).unwrap(),
        0xf010
    );
    let null =
        crate::intel::r#gen::gen40::surface::resolve(&[7 << 29, 0, 0, 2, 0], Use::RenderTarget)
            .unwrap();
    assert_eq!(
        write_block(&mut mem, &cc, &null, 0, &block).unwrap(),
        0xffff
    );
    let mut lost = t.clone();
    lost.geometry.base = GpuAddr(0x8000);
    assert!(matches!(
        write_block(&mut mem, &cc, &lost, 0, &block),
        Err(UnitFault::Memory(Fault { .. }))
    ));
}

#[test]
fn loose_pixels_with_alpha_test() {
    let (mut mem, t) = setup(0x0c7, 0, 2);
    let cc = CcState {
        alpha_test: Some(AlphaTest {
            function: Compare::Greater,
            reference: AlphaReference::Unorm8(127),
        }),
        ..CcState::default()
    };
    let xs = [(0, 0), (1, 0), (-1, 0), (2, 0), (9, 9)];
    let rgba = [[1.0; 4], [0.4; 4], [1.0; 4], [1.0; 4], [1.0; 4]];
    assert_eq!(write_pixels(&mut mem, &cc, &t, &xs, &rgba, !8).unwrap(), 1);
    assert_eq!(bytes(&mem, &t, 0, 0), [255; 4]);
    assert_eq!(bytes(&mem, &t, 2, 0), [0; 4]);
}
