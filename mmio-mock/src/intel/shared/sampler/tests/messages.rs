//! Every message of PRM 4.8.1.3: type and length, parameters, answer.

mod ironlake;

use super::*;

/// The volume's number at a texel of a level.
fn number(x: u32, y: u32, z: u32, level: u32) -> f32 {
    (x + 10 * y + 100 * z + 1000 * level) as f32
}

/// A volume of 8x8x8 with four levels in which every texel is its own number, a fourth more in each further channel.
fn volume(bench: &mut Bench) -> SurfaceState {
    let state = surface_2d(f::RGBA32F, 8, 8, Tiling::Linear)
        .with_surface_type(values::surftype::SURFTYPE_3D)
        .with_depth(7)
        .with_mip_count_lod(3);
    for level in 0..4 {
        bench.fill4(state, level, |x, y, z| {
            let n = number(x, y, z, level);
            [n, n + 0.25, n + 0.5, n + 0.75]
        });
    }
    state
}

/// The texel of level 0 that a pixel looks at.
fn place(slot: usize) -> [u32; 3] {
    [slot, 3 * slot + 1, 5 * slot + 2].map(|n| n as u32 % 8)
}

fn centre(axis: usize) -> Parameter {
    each(|slot| (place(slot)[axis] as f32 + 0.5) / 8.0)
}

/// All pixels and channels hold the numbers of their texels.
fn check(answer: &[[u32; 4]], texel: impl Fn(usize) -> f32) {
    for (slot, rgba) in answer.iter().enumerate() {
        let want: [f32; 4] = std::array::from_fn(|c| texel(slot) + c as f32 * 0.25);
        assert_eq!(rgba.map(f32::from_bits), want, "pixel {slot}");
    }
}

/// Coordinates in which every subspan steps by a texel of level 0: its LOD is 0.
fn stepped(axis: usize) -> Parameter {
    each(|slot| {
        let (subspan, pixel) = (slot / 4, slot % 4);
        let n = match axis {
            0 => subspan * 2 + pixel % 2,
            1 => 6 - subspan * 2 + pixel / 2,
            _ => 7 - subspan,
        };
        (n as f32 + 0.5) / 8.0
    })
}

/// The number that a pixel with stepped coordinates finds on a level.
fn stepped_number(slot: usize, level: u32) -> f32 {
    let [x, y, z] = [0, 1, 2].map(|axis| {
        let size = (8 >> level) as f32;
        (f32::from_bits(stepped(axis)[slot]) * size) as u32
    });
    number(x, y, z, level)
}

const NEAREST_LEVEL: u32 = values::mipfilter::MIPFILTER_NEAREST;

// covers: 4.8.1.3-03, 4.8.1.3-04, 4.8.1.3-23, 4.8.1.6-01, 4.8.1.6-02, 4.8.1.7-01, 4.8.2.1-03, 4.8.1.3-25, 4.0-04
#[test]
fn sample_takes_one_to_three_coordinates() {
    let mut bench = Bench::new();
    let state = volume(&mut bench);
    bench.bind(state, sampler(NEAREST, CLAMP));
    let [u, v, r] = [0, 1, 2].map(centre);
    let x = |slot| place(slot)[0];
    check(&bench.message((0, 3), Form::Simd16, &[u]), |slot| {
        number(x(slot), 0, 0, 0)
    });
    check(&bench.message((0, 5), Form::Simd16, &[u, v]), |slot| {
        number(x(slot), place(slot)[1], 0, 0)
    });
    let whole = |slot| {
        let [x, y, z] = place(slot);
        number(x, y, z, 0)
    };
    check(&bench.message((0, 7), Form::Simd16, &[u, v, r]), whole);
    let eight = bench.message((0, 4), Form::Simd8, &[u, v, r]);
    check(&eight, whole);
    assert_eq!(eight.len(), 8);
}

// covers: 4.8.1.3-08, 4.8.1.4-02, 4.8.2.2-02
#[test]
fn killpix_appends_a_register() {
    let mut bench = Bench::new();
    let state = volume(&mut bench);
    bench.bind(state, sampler(NEAREST, CLAMP));
    let body = pack(Form::Simd8, &[0, 1, 2].map(centre));
    let mut w = [[KEEP; 8]; 5];
    bench.send(1, &body, &mut w).unwrap();
    check(&unpack(Form::Simd8, &w[..4]), |slot| {
        let [x, y, z] = place(slot);
        number(x, y, z, 0)
    });
    assert_eq!(w[4][0], 0xffff_ffff, "nothing is killed without a key");
    assert_eq!(w[4][1..], [KEEP; 7], "the rest is not written");
}

// covers: 4.8.1.3-05, 4.2.1.5-04, 4.8.1.4-03, 4.2.1.2-01
#[test]
fn sample_b_has_a_bias_for_each_pixel() {
    let mut bench = Bench::new();
    let state = volume(&mut bench);
    let sampler = sampler(NEAREST, CLAMP).with_mip_mode_filter(NEAREST_LEVEL);
    bench.bind(state, sampler);
    let [u, v, r] = [0, 1, 2].map(stepped);
    let level = |slot: usize| (slot * 7 % 4) as u32;
    let bias = each(|slot| level(slot) as f32);
    check(
        &bench.message((0, 9), Form::Simd16, &[u, v, r, bias]),
        |slot| stepped_number(slot, level(slot)),
    );
    // The sampler's own bias is added: one level more, three at most.
    bench.bind(state, sampler.with_texture_lod_bias(1.0));
    check(
        &bench.message((0, 9), Form::Simd16, &[u, v, r, bias]),
        |slot| stepped_number(slot, (level(slot) + 1).min(3)),
    );
    // The ends of the range.
    let bias = each(|slot| if slot % 2 == 0 { -16.0 } else { 15.75 });
    check(
        &bench.message((0, 9), Form::Simd16, &[u, v, r, bias]),
        |slot| stepped_number(slot, if slot % 2 == 0 { 0 } else { 3 }),
    );
}

// covers: 4.8.1.3-09, 4.8.1.3-10, 4.8.1.4-04, 4.2.1.5-05, 4.8.1.8-01
#[test]
fn sample_l_has_a_lod_for_each_pixel() {
    let mut bench = Bench::new();
    let state = volume(&mut bench);
    let sampler = sampler(NEAREST, CLAMP).with_mip_mode_filter(NEAREST_LEVEL);
    bench.bind(state, sampler);
    // Neighbours are far apart, which does not matter.
    let [u, v, r] = [0, 1, 2].map(centre);
    let level = |slot: usize| (slot * 3 % 4) as u32;
    let lod = each(|slot| level(slot) as f32);
    let want = |slot: usize| {
        let [x, y, z] = place(slot).map(|n| n >> level(slot));
        number(x, y, z, level(slot))
    };
    check(&bench.message((1, 9), Form::Simd16, &[u, v, r, lod]), want);
    check(&bench.message((1, 2), Form::Simd4x2, &[u, v, r, lod]), want);
    bench.bind(state, sampler.with_texture_lod_bias(-2.0));
    let answer = bench.message((1, 9), Form::Simd16, &[u, v, r, each(|_| 3.0)]);
    check(&answer, |slot| {
        let [x, y, z] = place(slot).map(|n| n >> 1);
        number(x, y, z, 1)
    });
}

/// 8x8 with four levels; texel (x, y) of level n is x + 8 y + 64 n.
fn map(bench: &mut Bench) -> SurfaceState {
    let state = surface_2d(f::R32F, 8, 8, Tiling::Linear).with_mip_count_lod(3);
    for level in 0..4 {
        bench.fill(state, level, |x, y, _| {
            ((x + 8 * y + 64 * level) as f32).to_bits()
        });
    }
    state
}

/// LESS: 0.0 where the texel is less than the reference.
fn compared(answer: &[[u32; 4]], texel: impl Fn(usize) -> f32, reference: Parameter) {
    let mut seen = [false; 2];
    for (slot, rgba) in answer.iter().enumerate() {
        let less = texel(slot) < f32::from_bits(reference[slot]);
        seen[usize::from(less)] = true;
        let want = if less { 0.0 } else { 1.0 };
        assert_eq!(f32::from_bits(rgba[0]), want, "pixel {slot}");
    }
    assert_eq!(seen, [true; 2], "both results occur");
}

/// A reference next to each pixel's texel, below or above it in turn.
fn beside(texel: impl Fn(usize) -> f32) -> Parameter {
    each(|slot| texel(slot) + if slot % 2 == 0 { 0.5 } else { -0.5 })
}

/// What no coordinate or LOD of these maps is.
const UNUSED: f32 = 1e6;

// covers: 4.8.1.3-13, 4.8.1.3-06, 4.8.1.4-06
#[test]
fn sample_c_has_the_reference_in_fourth_place() {
    let mut bench = Bench::new();
    let state = map(&mut bench);
    bench.bind(state, sampler(NEAREST, CLAMP).with_shadow_function(2));
    let texel = |slot: usize| (place(slot)[0] + 8 * place(slot)[1]) as f32;
    let reference = beside(texel);
    let parameters = [centre(0), centre(1), each(|_| UNUSED), reference];
    compared(
        &bench.message((2, 9), Form::Simd16, &parameters),
        texel,
        reference,
    );
    bench.header2 = 1 << 16;
    compared(
        &bench.message((0, 2), Form::Simd4x2, &parameters),
        texel,
        reference,
    );
}

// covers: 4.8.1.3-07, 4.8.1.4-11
#[test]
fn sample_b_c_has_bias_and_reference() {
    let mut bench = Bench::new();
    let state = map(&mut bench);
    let sampler = sampler(NEAREST, CLAMP)
        .with_shadow_function(2)
        .with_mip_mode_filter(NEAREST_LEVEL);
    bench.bind(state, sampler);
    let level = |slot: usize| (slot * 3 % 4) as u32;
    let texel = |slot: usize| {
        let [x, y] = [0, 1]
            .map(|axis| (f32::from_bits(stepped(axis)[slot]) * (8 >> level(slot)) as f32) as u32);
        (x + 8 * y + 64 * level(slot)) as f32
    };
    let reference = beside(texel);
    let parameters = [
        stepped(0),
        stepped(1),
        each(|_| UNUSED),
        each(|slot| level(slot) as f32),
        reference,
    ];
    compared(
        &bench.message((0, 6), Form::Simd8, &parameters),
        texel,
        reference,
    );
}

// covers: 4.8.1.3-11, 4.8.1.3-12, 4.8.1.4-12, 4.8.1.4-07, 4.8.1.8-01
#[test]
fn sample_l_c_has_lod_and_reference() {
    let mut bench = Bench::new();
    let state = map(&mut bench);
    let sampler = sampler(NEAREST, CLAMP)
        .with_shadow_function(2)
        .with_mip_mode_filter(NEAREST_LEVEL);
    bench.bind(state, sampler);
    for lods in [[0, 1, 2, 3], [0; 4], [3, 0, 1, 2]] {
        let level = |slot: usize| lods[slot % 4];
        let texel = |slot: usize| {
            let [x, y, _] = place(slot).map(|n| n >> level(slot));
            (x + 8 * y + 64 * level(slot)) as f32
        };
        let reference = beside(texel);
        let parameters = [
            centre(0),
            centre(1),
            each(|_| UNUSED),
            each(|slot| level(slot) as f32),
            reference,
        ];
        for (kind, form) in [((1, 6), Form::Simd8), ((1, 3), Form::Simd4x2)] {
            compared(&bench.message(kind, form, &parameters), texel, reference);
        }
    }
}

// covers: 4.8.1.3-14, 4.8.1.3-15, 4.8.1.3-16, 4.8.1.4-14
#[test]
fn sample_g_has_gradients_for_each_pixel() {
    let mut bench = Bench::new();
    let flat = map(&mut bench);
    let sampler = sampler(NEAREST, CLAMP).with_mip_mode_filter(NEAREST_LEVEL);
    let [u, v, r] = [0, 1, 2].map(centre);
    // Two to the n texels: level n, in any one of the gradients, with either sign.
    let level = |slot: usize| (slot * 3 % 4) as u32;
    let long = each(|slot| (1 << level(slot)) as f32 / if slot % 3 == 0 { 8.0 } else { -8.0 });
    let short = each(|_| 0.01);
    bench.bind(flat, sampler);
    for gradient in 0..4 {
        let mut parameters = vec![u, v, short, short, short, short];
        parameters[2 + gradient] = long;
        let answer = bench.message((2, 7), Form::Simd8, &parameters);
        for (slot, rgba) in answer.iter().enumerate() {
            let [x, y, _] = place(slot).map(|n| n >> level(slot));
            let want = (x + 8 * y + 64 * level(slot)) as f32;
            assert_eq!(f32::from_bits(rgba[0]), want, "gradient {gradient} {slot}");
        }
    }
    let solid = volume(&mut bench);
    bench.bind(solid, sampler);
    for gradient in 0..6 {
        let mut parameters = vec![u, v, r];
        parameters.extend([short; 6]);
        parameters[3 + gradient] = long;
        let want = |slot: usize| {
            let [x, y, z] = place(slot).map(|n| n >> level(slot));
            number(x, y, z, level(slot))
        };
        check(&bench.message((2, 10), Form::Simd8, &parameters), want);
        check(&bench.message((2, 4), Form::Simd4x2, &parameters), want);
    }
}

// covers: 4.8.1.4-14
#[test]
fn sample_g_of_a_cube_names_the_face() {
    let mut bench = Bench::new();
    let mut state = surface_2d(f::R32F, 8, 8, Tiling::Linear)
        .with_surface_type(values::surftype::SURFTYPE_CUBE)
        .with_mip_count_lod(3);
    state.0[0] |= 0x3f;
    for level in 0..4 {
        bench.fill(state, level, |x, y, z| (number(x, y, z, level)).to_bits());
    }
    let sampler = sampler(NEAREST, CLAMP).with_mip_mode_filter(NEAREST_LEVEL);
    bench.bind(state, sampler);
    // A face is two units wide: a quarter of a unit is a texel.
    let at = |n: u32| (n as f32 + 0.5) / 4.0 - 1.0;
    for face in 0..6 {
        for level in 0..4u32 {
            let step = 0.25 * (1 << level) as f32;
            let parameters = [
                each(|slot| at(place(slot)[0])),
                each(|slot| at(place(slot)[1])),
                each(|_| face as f32),
                each(|_| step),
                each(|_| 0.0),
                each(|_| UNUSED),
                each(|_| 0.0),
                each(|_| step / 2.0),
                each(|_| UNUSED),
            ];
            let answer = bench.message((2, 10), Form::Simd8, &parameters);
            for (slot, rgba) in answer.iter().enumerate() {
                let [x, y, _] = place(slot).map(|n| n >> level);
                let want = number(x, y, face, level);
                assert_eq!(f32::from_bits(rgba[0]), want, "face {face} level {level}");
            }
        }
    }
}

// covers: 4.8.1.3-17, 4.8.1.3-18, 4.8.1.4-15, 4.8.1.1-02
#[test]
fn resinfo_gives_sizes_for_each_pixel() {
    let mut bench = Bench::new();
    let state = surface_2d(f::BGRA8, 40, 12, Tiling::Linear)
        .with_surface_type(values::surftype::SURFTYPE_3D)
        .with_depth(18)
        .with_mip_count_lod(4);
    // A disabled sampler does not matter.
    bench.bind(state, SamplerState::new().with_sampler_disable(true));
    let lod: Parameter = std::array::from_fn(|slot| slot as u32 % 5);
    for (length, form) in [(3, Form::Simd16), (2, Form::Simd4x2)] {
        for (format, float) in [(0u16, true), (2, false)] {
            let header = [0, 0, 0, 0xffff_ffe0, 0, 0, 0, 0];
            let mut payload = vec![header];
            // Where sample_l and ld of SIMD4x2 have their LOD.
            payload.extend(match form {
                Form::Simd4x2 => pack(form, &[[99; 16], [99; 16], [99; 16], lod]),
                _ => pack(form, &[lod]),
            });
            assert_eq!(payload.len(), length);
            let mut w = [[KEEP; 8]; 8];
            bench
                .send_raw(2 << 14 | format << 12 | 2, &payload, &mut w)
                .unwrap();
            for (slot, got) in unpack(form, &w).into_iter().enumerate() {
                let want = [
                    40 >> lod[slot],
                    (12 >> lod[slot]).max(1),
                    19 >> lod[slot],
                    5,
                ];
                let want = if float {
                    want.map(|n: u32| (n as f32).to_bits())
                } else {
                    want
                };
                assert_eq!(got, want, "{form:?} format {format} pixel {slot}");
            }
        }
    }
}

/// The table of later parts: 1D (width, slices), 2D (width, height, slices), cube (width, height); no slices of one.
// covers: 4.8.1.4-15
#[test]
fn resinfo_counts_the_slices_of_arrays() {
    let mut bench = Bench::new();
    let state = surface_2d(f::BGRA8, 32, 32, Tiling::Linear).with_mip_count_lod(2);
    let line = state
        .with_surface_type(values::surftype::SURFTYPE_1D)
        .with_height(0);
    let cube = state
        .with_surface_type(values::surftype::SURFTYPE_CUBE)
        .with_cube_face_enable_positive_x(true);
    for (state, want) in [
        (state, [16, 16, 0, 3]),
        (state.with_depth(4), [16, 16, 5, 3]),
        (line, [16, 0, 0, 3]),
        (line.with_depth(39), [16, 40, 0, 3]),
        (cube, [16, 16, 0, 3]),
    ] {
        bench.bind(state, SamplerState::new());
        let payload = [[0; 8], [0, 0, 0, 1, 0, 0, 0, 1]];
        let mut w = [[KEEP; 8]];
        bench
            .send_raw(2 << 14 | 2 << 12 | 2, &payload, &mut w)
            .unwrap();
        assert_eq!(w[0][..4], want);
        assert_eq!(w[0][4..], want);
    }
}

// covers: 4.8.1.4-15, 4.7.2-59
#[test]
fn resinfo_counts_from_the_surface_minimum() {
    let mut bench = Bench::new();
    let state = surface_2d(f::BGRA8, 64, 32, Tiling::Linear)
        .with_surface_min_lod(2)
        .with_mip_count_lod(3);
    bench.bind(state, SamplerState::new());
    let payload = [[0; 8], [0, 0, 0, 1, 0, 0, 0, 0x8000_0000]];
    let mut w = [[KEEP; 8]];
    bench
        .send_raw(2 << 14 | 2 << 12 | 2, &payload, &mut w)
        .unwrap();
    assert_eq!(w[0][..4], [64 >> 3, 32 >> 3, 0, 4]);
    // Negative numbers are far outside: no size, and the count that does not depend on the level.
    assert_eq!(w[0][4..], [0, 0, 0, 4]);
}

// covers: 4.8.1.3-19, 4.8.1.3-20, 4.8.1.3-21, 4.8.1.3-22, 4.8.1.3-23, 4.8.1.4-17, 4.8.1.5-03, 4.1.1-02
#[test]
fn ld_takes_whole_numbers() {
    let mut bench = Bench::new();
    let state = volume(&mut bench);
    // The sampler does not matter.
    bench.bind(state, SamplerState::new().with_sampler_disable(true));
    let axis = |axis: usize| -> Parameter { std::array::from_fn(|slot| place(slot)[axis]) };
    let [u, v, r] = [0, 1, 2].map(axis);
    check(&bench.message((3, 3), Form::Simd16, &[u]), |slot| {
        number(place(slot)[0], 0, 0, 0)
    });
    check(&bench.message((3, 5), Form::Simd16, &[u, v]), |slot| {
        number(place(slot)[0], place(slot)[1], 0, 0)
    });
    let whole = |slot| {
        let [x, y, z] = place(slot);
        number(x, y, z, 0)
    };
    check(&bench.message((3, 7), Form::Simd16, &[u, v, r]), whole);
    check(&bench.message((3, 4), Form::Simd8, &[u, v, r]), whole);
    let lod: Parameter = std::array::from_fn(|slot| slot as u32 * 3 % 4);
    let small =
        |axis: usize| -> Parameter { std::array::from_fn(|slot| place(slot)[axis] >> lod[slot]) };
    let parameters = [small(0), small(1), small(2), lod];
    let want = |slot: usize| {
        let [x, y, z] = place(slot).map(|n| n >> lod[slot]);
        number(x, y, z, lod[slot])
    };
    check(&bench.message((3, 9), Form::Simd16, &parameters), want);
    check(&bench.message((3, 2), Form::Simd4x2, &parameters), want);
    // One past each end of the map and its levels, and negative numbers.
    for (axis, value) in [(0, 8), (1, 8), (2, 8), (0, u32::MAX), (1, u32::MAX), (3, 4)] {
        let mut parameters = [[0; 16]; 4];
        parameters[axis] = [value; 16];
        let answer = bench.message((3, 9), Form::Simd16, &parameters);
        assert_eq!(answer, [[0; 4]; 16], "parameter {axis} of {value:#x}");
    }
}

// covers: 4.8.1.3-01, 4.8.1.4-08, 4.8.1.1-01
#[test]
fn all_other_lengths_are_refused() {
    let mut bench = Bench::new();
    let state = volume(&mut bench);
    bench.bind(state, sampler(NEAREST, CLAMP));
    bench.header2 = 1 << 16;
    let table: [&[usize]; 4] = [
        &[2, 3, 4, 5, 6, 7, 9],
        &[2, 3, 4, 6, 9],
        &[2, 3, 4, 7, 9, 10],
        &[2, 3, 4, 5, 7, 9],
    ];
    assert_eq!(table.iter().map(|row| row.len()).sum::<usize>(), 24);
    for (kind, lengths) in (0..).zip(table) {
        for length in 1..16 {
            let refused = bench.refuses(kind, length);
            // A volume's texels are no shadow map, which concerns software alone.
            assert_eq!(refused, !lengths.contains(&length), "{kind} {length}");
        }
    }
    // SIMD4x2 has no neighbours to compute a LOD from.
    bench.header2 = 0;
    assert!(bench.refuses(0, 2));
    assert!(!bench.refuses(2, 9));
}

// covers: 4.8-01
#[test]
fn no_message_ends_its_thread() {
    let mut bench = Bench::new();
    let state = volume(&mut bench);
    bench.bind(state, sampler(NEAREST, CLAMP));
    let payload = [[0, 0, 0, 0x40, 0, 0, 0, 0], [0; 8], [0; 8], [0; 8]];
    let send = |bench: &mut Bench, eot: bool| {
        let msg = Message {
            thread: ThreadId::default(),
            sfid: 2,
            function_control: 1 << 8 | 2,
            desc: 0,
            response_length: 4,
            eot,
            exec_mask: 0xff,
            exec_size: 8,
            payload: &payload,
            ip: 0,
            float_mode: FloatMode::Ieee,
        };
        let mut w = [[KEEP; 8]; 4];
        let result = bench.engine.execute(
            &crate::intel::r#gen::gen40::message::sampler(msg.function_control, msg.payload.len()),
            &msg,
            &mut w,
            &bench.mem,
            &bench.ctx,
        );
        (result.is_ok(), w[0][0] == KEEP)
    };
    assert_eq!(send(&mut bench, false), (true, false));
    assert_eq!(send(&mut bench, true), (false, true));
}

// covers: 4.8.1.4-01, 4.2.3-03
#[test]
fn a_buffer_can_only_be_loaded() {
    let mut bench = Bench::new();
    let state = SurfaceState::new()
        .with_surface_type(values::surftype::SURFTYPE_BUFFER)
        .with_surface_format(f::R32F)
        .with_surface_base_address(DATA)
        .with_surface_pitch(3)
        .with_width(31);
    bench.bind(state, sampler(LINEAR, CLAMP));
    bench.header2 = 1 << 16;
    for (kind, length) in [
        (0, 4),
        (1, 4),
        (0, 9),
        (1, 9),
        (2, 9),
        (0, 6),
        (1, 6),
        (2, 7),
    ] {
        assert!(bench.refuses(kind, length), "{kind} {length}");
    }
    assert!(!bench.refuses(3, 4));
    assert!(!bench.refuses(2, 3));
}

// covers: 4.8.1.5-01, 4.8.1.4-01, 4.2.3-02
#[test]
fn coordinates_by_surface_type() {
    let mut bench = Bench::new();
    let ninth = |n: u32| (n as f32 + 0.5) / 8.0;
    // An array of lines: v is the index, r is ignored.
    let line = surface_2d(f::R32F, 8, 1, Tiling::Linear)
        .with_surface_type(values::surftype::SURFTYPE_1D)
        .with_depth(4);
    bench.fill(line, 0, |x, _, z| ((x + 100 * z) as f32).to_bits());
    bench.bind(line, sampler(NEAREST, CLAMP));
    assert_eq!(bench.at(ninth(3), 2.0, UNUSED)[0], 203.0);
    assert_eq!(bench.at(ninth(7), 77.0, 0.0)[0], 407.0, "clamped");
    assert_eq!(bench.at(ninth(7), -5.0, 0.0)[0], 7.0, "clamped");
    // An array of maps: r is the index, v a coordinate.
    let maps = surface_2d(f::R32F, 8, 8, Tiling::Linear).with_depth(4);
    bench.fill(maps, 0, |x, y, z| number(x, y, z, 0).to_bits());
    bench.bind(maps, sampler(NEAREST, CLAMP));
    assert_eq!(bench.at(ninth(3), ninth(5), 2.0)[0], 253.0);
    assert_eq!(bench.at(ninth(3), ninth(5), 77.0)[0], 453.0, "clamped");
    // A volume: r is a coordinate.
    let state = volume(&mut bench);
    bench.bind(state, sampler(NEAREST, CLAMP));
    assert_eq!(bench.at(ninth(3), ninth(5), ninth(6))[0], 653.0);
    assert_eq!(bench.at(ninth(3), ninth(5), 2.0)[0], 753.0, "clamped");
}

// covers: 4.8.1.4-18, 4.8.1.5-03, 4.7.2-61
#[test]
fn ld_by_surface_type() {
    let mut bench = Bench::new();
    let load = |bench: &mut Bench, state: SurfaceState, at: [u32; 4]| {
        bench.bind(state, SamplerState::new());
        let answer = bench.message((3, 9), Form::Simd16, &at.map(|n| [n; 16]));
        f32::from_bits(answer[9][0])
    };
    let line = surface_2d(f::R32F, 8, 1, Tiling::Linear)
        .with_surface_type(values::surftype::SURFTYPE_1D)
        .with_depth(4);
    bench.fill(line, 0, |x, _, z| (1.0 + (x + 100 * z) as f32).to_bits());
    assert_eq!(load(&mut bench, line, [3, 2, 99, 0]), 204.0);
    assert_eq!(
        load(&mut bench, line, [3, 5, 0, 0]),
        0.0,
        "no sixth element"
    );
    let maps = surface_2d(f::R32F, 8, 8, Tiling::Linear).with_depth(4);
    bench.fill(maps, 0, |x, y, z| (1.0 + number(x, y, z, 0)).to_bits());
    assert_eq!(load(&mut bench, maps, [3, 5, 2, 0]), 254.0);
    assert_eq!(load(&mut bench, maps, [3, 5, 5, 0]), 0.0);
    // A view of elements 2 and 3.
    let view = maps.with_minimum_array_element(2).with_depth(1);
    assert_eq!(load(&mut bench, view, [3, 5, 1, 0]), 354.0);
    assert_eq!(load(&mut bench, view, [3, 5, 2, 0]), 0.0);
    let buffer = SurfaceState::new()
        .with_surface_type(values::surftype::SURFTYPE_BUFFER)
        .with_surface_format(f::R32F)
        .with_surface_base_address(DATA)
        .with_surface_pitch(3)
        .with_width(7);
    let at = GpuAddr::from(DATA + 5 * 4);
    bench.mem.write_u32(at, 5.5f32.to_bits()).unwrap();
    assert_eq!(load(&mut bench, buffer, [5, 99, 99, 77]), 5.5);
    assert_eq!(load(&mut bench, buffer, [8, 0, 0, 0]), 0.0);
}

// covers: 4.8.1.1-02
#[test]
fn integers_come_back_as_integers() {
    let mut bench = Bench::new();
    // R32_UINT and R32_SINT, R8_SINT, R8G8_UINT.
    for (format, kind, stored, want) in [
        (0x0d7, 2u16, 0xffff_fff0u32, [0xffff_fff0, 0, 0, 1]),
        (0x0d6, 3, 0xffff_fff0, [0xffff_fff0, 0, 0, 1]),
        (0x142, 3, 0x80, [0xffff_ff80, 0, 0, 1]),
        (0x109, 2, 0x80ff, [0xff, 0x80, 0, 1]),
    ] {
        let state = surface_2d(format, 4, 4, Tiling::Linear);
        bench.fill(state, 0, |_, _, _| stored);
        bench.bind(state, SamplerState::new());
        let mut payload = vec![[0; 8]];
        payload.extend([[1; 8]; 3]);
        let mut w = [[KEEP; 8]; 4];
        payload[3] = [0; 8];
        bench
            .send_raw(3 << 14 | kind << 12 | 2, &payload, &mut w)
            .unwrap();
        assert_eq!(unpack(Form::Simd8, &w)[3], want, "{format:#x}");
    }
}
