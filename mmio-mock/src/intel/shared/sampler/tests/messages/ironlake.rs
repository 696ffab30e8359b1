//! Ironlake's messages: each type in each mode, with and without a header.
//!
//! Places of parameters: Mesa 22.3.6 `brw_lower_logical_sends.cpp` (`lower_sampler_logical_send_gfx5`), `brw_vec4_visitor.cpp`;
//! answers: PRM volume 4, 4.8.1.4, 4.8.2, and host arithmetic.

use super::*;
use crate::intel::shared::message::Request as Any;

/// Numbers of `GFX5_SAMPLER_MESSAGE_*`.
mod kind {
    pub const SAMPLE: u32 = 0;
    pub const BIAS: u32 = 1;
    pub const LOD: u32 = 2;
    pub const COMPARE: u32 = 3;
    pub const DERIVS: u32 = 4;
    pub const BIAS_COMPARE: u32 = 5;
    pub const LOD_COMPARE: u32 = 6;
    pub const LD: u32 = 7;
    pub const QUERY: u32 = 9;
    pub const RESINFO: u32 = 10;
    pub const KILLPIX: u32 = 12;
}

const FORMS: [Form; 3] = [Form::Simd4x2, Form::Simd8, Form::Simd16];
const WIDE: [Form; 2] = [Form::Simd8, Form::Simd16];
const HEADER: u32 = 1 << 19;

/// Descriptor: `BRW_SAMPLER_SIMD_MODE_*` in 17:16, type in 15:12, sampler 1, surface 2.
fn desc(kind: u32, form: Form) -> u32 {
    let mode = match form {
        Form::Simd4x2 => 0,
        Form::Simd8 => 1,
        Form::Simd16 => 2,
    };
    mode << 16 | kind << 12 | 1 << 8 | 2
}

fn registers(form: Form) -> usize {
    match form {
        Form::Simd4x2 => 1,
        Form::Simd8 => 4,
        Form::Simd16 => 8,
    }
}

impl Bench {
    fn words(&mut self, desc: u32, payload: &[Grf], w: &mut [Grf]) -> Result<(), UnitFault> {
        let msg = super::super::message(desc, self.mask, payload, w.len());
        let set = crate::intel::r#gen::readers(isa::Verx10::from_times_ten(50))
            .unwrap()
            .messages;
        match set.request((&msg).into()) {
            Ok(Any::Sampler(request)) => self.deliver(&request, desc, payload, w),
            other => panic!("{other:?}"),
        }
    }

    /// A message without a header, the table of samplers being the thread's; the same with one.
    fn ironlake(&mut self, kind: u32, form: Form, parameters: &[Parameter]) -> Vec<[u32; 4]> {
        let body = pack(form, parameters);
        let mut bare = vec![[KEEP; 8]; registers(form)];
        self.ctx.sampler_state_pointer = 0x40;
        self.words(desc(kind, form), &body, &mut bare).unwrap();
        let mut whole = vec![[0, 0, self.header2, 0x40, 0, 0, 0, 0]];
        whole.extend(body);
        let mut w = vec![[KEEP; 8]; registers(form)];
        self.ctx.sampler_state_pointer = 0;
        self.words(HEADER | desc(kind, form), &whole, &mut w)
            .unwrap();
        assert_eq!(w, bare, "type {kind} {form:?}");
        unpack(form, &w)
    }

    /// A message with a header alone.
    fn headed(
        &mut self,
        kind: u32,
        form: Form,
        parameters: &[Parameter],
        w: &mut [Grf],
    ) -> Result<(), UnitFault> {
        let mut whole = vec![[0, 0, self.header2, 0x40, 0, 0, 0, 0]];
        whole.extend(pack(form, parameters));
        self.words(HEADER | desc(kind, form), &whole, w)
    }
}

/// What the sampler must not look at.
fn unused() -> Parameter {
    each(|_| UNUSED)
}

#[test]
fn sample_takes_one_to_four_parameters() {
    let mut bench = Bench::new();
    let state = volume(&mut bench);
    bench.bind(state, sampler(NEAREST, CLAMP));
    let [u, v, r] = [0, 1, 2].map(centre);
    for form in WIDE {
        let sample = kind::SAMPLE;
        check(&bench.ironlake(sample, form, &[u]), |slot| {
            number(place(slot)[0], 0, 0, 0)
        });
        check(&bench.ironlake(sample, form, &[u, v]), |slot| {
            number(place(slot)[0], place(slot)[1], 0, 0)
        });
        let whole = |slot| {
            let [x, y, z] = place(slot);
            number(x, y, z, 0)
        };
        check(&bench.ironlake(sample, form, &[u, v, r]), whole);
        check(&bench.ironlake(sample, form, &[u, v, r, unused()]), whole);
    }
}

#[test]
fn bias_and_lod_come_behind_the_array_index() {
    let mut bench = Bench::new();
    let state = volume(&mut bench);
    let sampler = sampler(NEAREST, CLAMP).with_mip_mode_filter(NEAREST_LEVEL);
    bench.bind(state, sampler);
    let level = |slot: usize| (slot * 7 % 4) as u32;
    let second = each(|slot| level(slot) as f32);
    let [u, v, r] = [0, 1, 2].map(stepped);
    for form in WIDE {
        let answer = bench.ironlake(kind::BIAS, form, &[u, v, r, unused(), second]);
        check(&answer, |slot| stepped_number(slot, level(slot)));
    }
    let [u, v, r] = [0, 1, 2].map(centre);
    for form in FORMS {
        let answer = bench.ironlake(kind::LOD, form, &[u, v, r, unused(), second]);
        check(&answer, |slot| {
            let [x, y, z] = place(slot).map(|n| n >> level(slot));
            number(x, y, z, level(slot))
        });
        // Left out, the LOD is 0.
        let answer = bench.ironlake(kind::LOD, form, &[u, v, r]);
        check(&answer, |slot| {
            let [x, y, z] = place(slot);
            number(x, y, z, 0)
        });
    }
}

#[test]
fn references_come_before_bias_and_lod() {
    let mut bench = Bench::new();
    let state = map(&mut bench);
    let sampler = sampler(NEAREST, CLAMP)
        .with_shadow_function(2)
        .with_mip_mode_filter(NEAREST_LEVEL);
    bench.bind(state, sampler);
    let [u, v] = [0, 1].map(stepped);
    let flat = |slot: usize, level: u32| {
        let [x, y] = [u, v].map(|at| (f32::from_bits(at[slot]) * (8 >> level) as f32) as u32);
        (x + 8 * y + 64 * level) as f32
    };
    let reference = beside(|slot| flat(slot, 0));
    for form in WIDE {
        let parameters = [u, v, unused(), unused(), reference];
        let answer = bench.ironlake(kind::COMPARE, form, &parameters);
        compared(&answer, |slot| flat(slot, 0), reference);
    }
    let level = |slot: usize| (slot * 3 % 4) as u32;
    let second = each(|slot| level(slot) as f32);
    let texel = |slot: usize| flat(slot, level(slot));
    let reference = beside(texel);
    let parameters = [u, v, unused(), unused(), reference, second];
    let answer = bench.ironlake(kind::BIAS_COMPARE, Form::Simd8, &parameters);
    compared(&answer, texel, reference);
    for form in [Form::Simd8, Form::Simd4x2] {
        let answer = bench.ironlake(kind::LOD_COMPARE, form, &parameters);
        compared(&answer, texel, reference);
    }
}

/// PRM 4.8.1.4: the hardware cannot compute the LOD of a SIMD4x2 message.
#[test]
fn a_comparison_of_two_samples_forces_its_lod_to_zero() {
    let mut bench = Bench::new();
    let state = map(&mut bench);
    bench.bind(state, sampler(NEAREST, CLAMP).with_shadow_function(2));
    let texel = |slot: usize| (place(slot)[0] + 8 * place(slot)[1]) as f32;
    let reference = beside(texel);
    let parameters = [centre(0), centre(1), unused(), unused(), reference];
    let mut w = [[KEEP; 8]];
    let refused = bench.headed(kind::COMPARE, Form::Simd4x2, &parameters, &mut w);
    assert!(matches!(refused, Err(UnitFault::Message { .. })));
    assert_eq!(w, [[KEEP; 8]]);
    bench.header2 = 1 << 16;
    bench
        .headed(kind::COMPARE, Form::Simd4x2, &parameters, &mut w)
        .unwrap();
    compared(&unpack(Form::Simd4x2, &w), texel, reference);
}

#[test]
fn gradients_come_in_turn() {
    let mut bench = Bench::new();
    let flat = map(&mut bench);
    let sampler = sampler(NEAREST, CLAMP).with_mip_mode_filter(NEAREST_LEVEL);
    let [u, v, r] = [0, 1, 2].map(centre);
    let level = |slot: usize| (slot * 3 % 4) as u32;
    let long = each(|slot| (1 << level(slot)) as f32 / if slot % 3 == 0 { 8.0 } else { -8.0 });
    let short = each(|_| 0.01);
    bench.bind(flat, sampler);
    // One or two coordinates have two or four gradients; those left out are 0.
    for count in [2, 4, 6] {
        for gradient in 0..count.min(4) {
            let mut parameters = vec![u, v, unused(), unused()];
            parameters.extend(vec![short; count]);
            parameters[4 + gradient] = long;
            for form in [Form::Simd8, Form::Simd4x2] {
                let answer = bench.ironlake(kind::DERIVS, form, &parameters);
                for (slot, rgba) in answer.iter().enumerate() {
                    let [x, y, _] = place(slot).map(|n| n >> level(slot));
                    let want = (x + 8 * y + 64 * level(slot)) as f32;
                    assert_eq!(f32::from_bits(rgba[0]), want, "{form:?} {gradient} {slot}");
                }
            }
        }
    }
    // Of a map of 8 by 2 texels a gradient of an eighth is one texel along u, a quarter of one along v.
    let oblong = surface_2d(f::R32F, 8, 2, Tiling::Linear).with_mip_count_lod(3);
    for level in 0..4 {
        bench.fill(oblong, level, |_, _, _| (level as f32).to_bits());
    }
    bench.bind(oblong, sampler);
    let step = each(|_| 0.5);
    for (gradient, want) in [2.0, 2.0, 0.0, 0.0].into_iter().enumerate() {
        let mut parameters = vec![u, v, unused(), unused()];
        parameters.extend([short; 4]);
        parameters[4 + gradient] = step;
        let answer = bench.ironlake(kind::DERIVS, Form::Simd8, &parameters);
        assert_eq!(f32::from_bits(answer[0][0]), want, "gradient {gradient}");
    }
    let solid = volume(&mut bench);
    bench.bind(solid, sampler);
    for gradient in 0..6 {
        let mut parameters = vec![u, v, r, unused()];
        parameters.extend([short; 6]);
        parameters[4 + gradient] = long;
        for form in [Form::Simd8, Form::Simd4x2] {
            let answer = bench.ironlake(kind::DERIVS, form, &parameters);
            check(&answer, |slot| {
                let [x, y, z] = place(slot).map(|n| n >> level(slot));
                number(x, y, z, level(slot))
            });
        }
    }
}

/// Whole numbers as parameters.
fn whole(value: impl Fn(usize) -> u32) -> Parameter {
    std::array::from_fn(value)
}

#[test]
fn ld_has_its_level_in_fourth_place() {
    let mut bench = Bench::new();
    let state = volume(&mut bench);
    bench.bind(state, sampler(NEAREST, CLAMP));
    let level = |slot: usize| (slot * 3 % 4) as u32;
    let at = |slot: usize, axis: usize| place(slot)[axis] >> level(slot);
    let [x, y, z] = [0, 1, 2].map(|axis| whole(|slot| at(slot, axis)));
    for form in FORMS {
        let answer = bench.ironlake(kind::LD, form, &[x, y, z, whole(level)]);
        check(&answer, |slot| {
            number(at(slot, 0), at(slot, 1), at(slot, 2), level(slot))
        });
        // Level 0 of the edge when nothing else is sent.
        let answer = bench.ironlake(kind::LD, form, &[whole(|slot| place(slot)[0])]);
        check(&answer, |slot| number(place(slot)[0], 0, 0, 0));
    }
    // Offsets of one texel to the right, two up, three to the front.
    bench.header2 = 0x1 << 8 | 0xe << 4 | 0xd;
    let [x, y, z] = [2, 4, 5].map(|n| whole(|_| n));
    for form in FORMS {
        let mut w = vec![[KEEP; 8]; registers(form)];
        bench.headed(kind::LD, form, &[x, y, z], &mut w).unwrap();
        check(&unpack(form, &w), |_| number(3, 2, 2, 0));
    }
}

/// Mesa does not write the registers of coordinates that a map does not have.
#[test]
fn ld_of_a_map_that_is_no_array_has_no_index() {
    let mut bench = Bench::new();
    let anything = whole(|slot| 0x7f80_0000 + slot as u32);
    let flat = surface_2d(f::R32F, 8, 8, Tiling::Linear);
    bench.fill(flat, 0, |x, y, _| ((x + 8 * y) as f32).to_bits());
    let [x, y] = [0, 1].map(|axis| whole(|slot| place(slot)[axis]));
    let level = whole(|_| 0);
    bench.bind(flat, sampler(NEAREST, CLAMP));
    for form in FORMS {
        let answer = bench.ironlake(kind::LD, form, &[x, y, anything, level]);
        for (slot, rgba) in answer.iter().enumerate() {
            let want = (place(slot)[0] + 8 * place(slot)[1]) as f32;
            assert_eq!(f32::from_bits(rgba[0]), want, "{form:?} {slot}");
        }
    }
    let line = flat
        .with_surface_type(values::surftype::SURFTYPE_1D)
        .with_height(0);
    bench.bind(line, sampler(NEAREST, CLAMP));
    for form in FORMS {
        let answer = bench.ironlake(kind::LD, form, &[x, anything, anything, level]);
        for (slot, rgba) in answer.iter().enumerate() {
            assert_eq!(
                f32::from_bits(rgba[0]),
                place(slot)[0] as f32,
                "{form:?} {slot}"
            );
        }
    }
    // Of an array it counts: there is no second and third slice.
    bench.bind(flat.with_depth(1), sampler(NEAREST, CLAMP));
    let answer = bench.ironlake(kind::LD, Form::Simd16, &[x, y, whole(|_| 2), level]);
    assert!(answer.iter().all(|rgba| rgba[0] == 0));
}

#[test]
fn resinfo_answers_in_whole_numbers() {
    let mut bench = Bench::new();
    let state = volume(&mut bench).with_width(12).with_height(6);
    bench.bind(state, sampler(NEAREST, CLAMP));
    for form in FORMS {
        let level = |slot: usize| slot as u32 % 4;
        let answer = bench.ironlake(kind::RESINFO, form, &[whole(level)]);
        for (slot, got) in answer.into_iter().enumerate() {
            let want = [13, 7, 8].map(|n: u32| n >> level(slot));
            assert_eq!(
                got,
                [want[0], want[1].max(1), want[2], 4],
                "{form:?} {slot}"
            );
        }
    }
}

/// Texels of integer formats come as they are: the descriptor has no format for the answer.
#[test]
fn integers_stay_integers() {
    const R32_SINT: u32 = 0x0d6;
    const R32_UINT: u32 = 0x0d7;
    let mut bench = Bench::new();
    let value = |x: u32, y: u32| 0xffff_ff00u32.wrapping_add(x + 8 * y);
    for format in [R32_SINT, R32_UINT] {
        let state = surface_2d(format, 8, 8, Tiling::Linear);
        bench.fill(state, 0, |x, y, _| value(x, y));
        bench.bind(state, sampler(NEAREST, CLAMP));
        for form in WIDE {
            let texel = [whole(|slot| place(slot)[0]), whole(|slot| place(slot)[1])];
            let point = [centre(0), centre(1)];
            for (kind, parameters) in [(kind::LD, texel), (kind::SAMPLE, point)] {
                let answer = bench.ironlake(kind, form, &parameters);
                for (slot, got) in answer.into_iter().enumerate() {
                    let want = value(place(slot)[0], place(slot)[1]);
                    assert_eq!(got, [want, 0, 0, 1], "{format:#x} type {kind} {slot}");
                }
            }
        }
    }
}

/// Red: what a sample would use; green: before the clamps. Each subspan steps by 2 to the n texels.
#[test]
fn the_lod_can_be_asked_for() {
    let mut bench = Bench::new();
    let state = map(&mut bench);
    let nearest = values::mipfilter::MIPFILTER_NEAREST;
    let linear = values::mipfilter::MIPFILTER_LINEAR;
    let steps = [0.5f32, 3.0, 4.0, 64.0];
    let [u, v] = [0, 1].map(|axis| {
        each(|slot| {
            let (x, y) = (slot % 2, slot / 2 % 2);
            [x, y][axis] as f32 * steps[slot / 4] / 8.0
        })
    });
    let raw = |slot: usize| steps[slot / 4].log2();
    let used = |filter: u32, lod: f32| match filter {
        _ if filter == nearest => (lod + 0.5).floor().clamp(0.0, 3.0),
        _ if filter == linear => lod.clamp(0.0, 3.0),
        _ => 0.0,
    };
    for filter in [values::mipfilter::MIPFILTER_NONE, nearest, linear] {
        bench.bind(state, sampler(NEAREST, CLAMP).with_mip_mode_filter(filter));
        for form in WIDE {
            let answer = bench.ironlake(kind::QUERY, form, &[u, v]);
            for (slot, got) in answer.into_iter().enumerate() {
                let got = got.map(f32::from_bits);
                let lod = raw(slot);
                let want = [used(filter, lod), lod, 0.0, 0.0];
                for (got, want) in got.into_iter().zip(want) {
                    assert!((got - want).abs() < 1e-5, "{form:?} {slot} {got} {want}");
                }
            }
        }
    }
    // The sampler's bias counts.
    let biased = sampler(NEAREST, CLAMP)
        .with_mip_mode_filter(linear)
        .with_texture_lod_bias(-1.0);
    bench.bind(state, biased);
    let answer = bench.ironlake(kind::QUERY, Form::Simd16, &[u, v]);
    let got = answer[8].map(f32::from_bits);
    assert_eq!(got[..2], [1.0, 1.0]);
}

/// PRM 4.8.2: SIMD16 drops channels that the header masks, the other modes leave them alone.
#[test]
fn headers_mask_channels() {
    let mut bench = Bench::new();
    let state = volume(&mut bench);
    bench.bind(state, sampler(NEAREST, CLAMP));
    let [u, v, r] = [0, 1, 2].map(centre);
    // Green and alpha are not asked for.
    bench.header2 = 0xa << 12;
    let texel = |slot: usize| {
        let [x, y, z] = place(slot);
        number(x, y, z, 0)
    };
    let mut w = [[KEEP; 8]; 8];
    bench
        .headed(kind::SAMPLE, Form::Simd16, &[u, v, r], &mut w)
        .unwrap();
    for (slot, rgba) in unpack(Form::Simd16, &w).into_iter().enumerate() {
        let [red, blue, ..] = rgba.map(f32::from_bits);
        assert_eq!((red, blue), (texel(slot), texel(slot) + 0.5), "{slot}");
        assert_eq!(rgba[2..], [KEEP; 2]);
    }
    let mut w = [[KEEP; 8]; 4];
    bench
        .headed(kind::SAMPLE, Form::Simd8, &[u, v, r], &mut w)
        .unwrap();
    for (slot, rgba) in unpack(Form::Simd8, &w).into_iter().enumerate() {
        let (red, blue) = (f32::from_bits(rgba[0]), f32::from_bits(rgba[2]));
        assert_eq!((red, blue), (texel(slot), texel(slot) + 0.5), "{slot}");
        assert_eq!((rgba[1], rgba[3]), (KEEP, KEEP));
    }
}

/// PRM 4.8.2.2: the fifth register of SIMD8 sample+killpix.
#[test]
fn killed_pixels_are_told_in_a_fifth_register() {
    let mut bench = Bench::new();
    let state = surface_2d(f::BGRA8, 8, 8, Tiling::Linear);
    bench.fill(state, 0, |x, _, _| if x % 2 == 1 { 0x0102_0304 } else { 0 });
    let mut keyed = sampler(NEAREST, CLAMP);
    // Enabled, key 0, a match kills.
    keyed.0[3] |= 1 << 25;
    bench.engine.tables.chroma_keys[0] = (0x0102_0304, 0x0102_0304);
    bench.bind(state, keyed);
    let mut w = [[KEEP; 8]; 5];
    let parameters = [centre(0), centre(1)];
    bench
        .headed(kind::KILLPIX, Form::Simd8, &parameters, &mut w)
        .unwrap();
    // Pixel n looks at column n.
    assert_eq!(
        w[4],
        [0xffff_ff55, KEEP, KEEP, KEEP, KEEP, KEEP, KEEP, KEEP]
    );
}

#[test]
fn broken_messages_are_refused() {
    let mut bench = Bench::new();
    let state = volume(&mut bench);
    bench.bind(state, sampler(NEAREST, CLAMP));
    let mut w = [[KEEP; 8]; 8];
    let mut refused = |desc: u32, length: usize| {
        let payload = vec![[0; 8]; length];
        let sent = bench.words(desc, &payload, &mut w);
        matches!(sent, Err(UnitFault::Message { .. }))
    };
    // Too long, half a parameter, nothing, and a type that Sandybridge brought.
    assert!(refused(desc(kind::SAMPLE, Form::Simd8), 5));
    assert!(refused(desc(kind::SAMPLE, Form::Simd16), 3));
    assert!(refused(desc(kind::SAMPLE, Form::Simd8), 0));
    assert!(refused(HEADER | desc(kind::SAMPLE, Form::Simd8), 0));
    assert!(refused(HEADER | desc(kind::SAMPLE, Form::Simd8), 1));
    assert!(refused(desc(8, Form::Simd8), 3));
    assert!(!refused(desc(kind::SAMPLE, Form::Simd8), 4));
}
