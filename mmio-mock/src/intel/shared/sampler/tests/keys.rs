//! Chroma keys, shadow comparison, gamma, return formats, errata.

use super::*;
use crate::intel::shared::sampler::gamma::Gamma;

const KILL: bool = false;
const REPLACE: bool = true;

/// Sampler with key number `index`.
fn keyed(filter: u32, index: u32, replace: bool) -> SamplerState {
    let mut state = sampler(filter, CLAMP);
    // Enable in bit 25, index in 24:23, mode in 22.
    state.0[3] |= 1 << 25 | index << 23 | u32::from(replace) << 22;
    state
}

/// Kill mask of eight pixels at the centres of eight texels, plus `shift` of a texel.
fn killed(bench: &mut Bench, shift: f32) -> u32 {
    let u: Grf = std::array::from_fn(|n| ((n as f32 + 0.5 + shift) / 8.0).to_bits());
    let mut w = [[KEEP; 8]; 5];
    bench.send(1, &[u, [0; 8], [0; 8]], &mut w).unwrap();
    assert_eq!(w[4][0] | 0xff, 0xffff_ffff);
    !w[4][0]
}

/// Eight BGRA8 texels in a row.
fn row(bench: &mut Bench, format: u32, texels: [u32; 8]) -> SurfaceState {
    let state = surface_2d(format, 8, 1, Tiling::Linear);
    bench.fill(state, 0, |x, _, _| texels[x as usize]);
    state
}

// covers: 4.3.1-01, 4.3.1-02, 4.7.3-35, 4.7.3-34, 4.7.5-04
#[test]
fn a_key_holds_inclusive_ranges_of_all_four_channels() {
    let mut bench = Bench::new();
    let low = 0x1020_3040;
    let high = 0x5060_7080;
    // At both ends, and one past each end of a channel.
    let texels = [
        low,
        high,
        0x0f40_5060,
        0x3040_5081,
        0x3061_5060,
        0x301f_5060,
        0x3040_7160,
        0x3040_5060,
    ];
    let state = row(&mut bench, f::BGRA8, texels);
    for index in 0..4 {
        bench.engine.tables.chroma_keys = [(0xffff_ffff, 0); 4];
        bench.engine.tables.chroma_keys[index as usize] = (low, high);
        for used in 0..4 {
            bench.bind(state, keyed(NEAREST, used, KILL));
            let want = if used == index { 0x83 } else { 0 };
            assert_eq!(killed(&mut bench, 0.0), want, "key {index} used {used}");
        }
    }
    // One past each end, channel by channel.
    for shift in [0, 8, 16, 24] {
        let texels = [
            low,
            low - (1 << shift),
            low + (1 << shift),
            high,
            high + (1 << shift),
            high - (1 << shift),
            low,
            high,
        ];
        let state = row(&mut bench, f::BGRA8, texels);
        bench.engine.tables.chroma_keys[0] = (low, high);
        bench.bind(state, keyed(NEAREST, 0, KILL));
        assert_eq!(killed(&mut bench, 0.0), 0b1110_1101, "channel {shift}");
    }
    // Without the enable nothing happens.
    bench.bind(state, sampler(NEAREST, CLAMP));
    assert_eq!(killed(&mut bench, 0.0), 0);
}

// covers: 4.3.1.2-01, 4.7.3-36, 4.3.1.2-03, 4.8.2.2-02, 4.8.1.4-02
#[test]
fn any_contributing_texel_kills() {
    let mut bench = Bench::new();
    let mut texels = [0xffff_ffff; 8];
    texels[3] = 0xff00_ff00;
    let state = row(&mut bench, f::BGRA8, texels);
    bench.engine.tables.chroma_keys[0] = (0xff00_ff00, 0xff00_ff00);
    bench.bind(state, keyed(LINEAR, 0, KILL));
    // A quarter to the right: texels n and n + 1.
    assert_eq!(killed(&mut bench, 0.25), 0b1100);
    assert_eq!(killed(&mut bench, -0.25), 0b11000);
    bench.bind(state, keyed(NEAREST, 0, KILL));
    assert_eq!(killed(&mut bench, 0.25), 0b1000);
    // The colour is the texel's all the same, and other messages do not tell.
    let got = bench.at(3.5 / 8.0, 0.0, 0.0);
    assert_eq!(got, [0.0, 1.0, 0.0, 1.0]);
    // A sampler that the message does not name kills nothing.
    bench.bind(state, sampler(NEAREST, CLAMP));
    let other = keyed(NEAREST, 0, KILL);
    let at = GpuAddr::from(STATE + 0x840);
    bench.mem.write_dwords(at, other.dwords()).unwrap();
    assert_eq!(killed(&mut bench, 0.0), 0);
}

// covers: 4.3.1.2-02, 4.7.3-36
#[test]
fn black_replaces_texels_before_the_filter() {
    let mut bench = Bench::new();
    let mut texels = [0xffff_ffff; 8];
    texels[3] = 0xff80_8080;
    let state = row(&mut bench, f::BGRA8, texels);
    bench.engine.tables.chroma_keys[1] = (0xff80_8080, 0xff80_8080);
    bench.bind(state, keyed(LINEAR, 1, REPLACE));
    assert_eq!(bench.at(3.5 / 8.0, 0.0, 0.0), [0.0; 4]);
    // A quarter of black and three of white.
    close(bench.at(4.25 / 8.0, 0.0, 0.0), [0.75; 4], "beside");
    assert_eq!(killed(&mut bench, 0.25), 0, "nothing is killed");
}

// covers: 4.7.5-05, 4.7.5-06
#[test]
fn narrow_and_absent_channels() {
    let mut bench = Bench::new();
    // Every value of five and six bits, widened by its own upper bits, is a key of its own.
    for n in 0..32u32 {
        let texels = std::array::from_fn(|x| ((n + x as u32) & 31) << 11);
        let state = row(&mut bench, f::B5G6R5, texels);
        let wide = n << 3 | n >> 2;
        bench.engine.tables.chroma_keys[0] = (wide << 16, 0xff00_0000 | wide << 16);
        bench.bind(state, keyed(NEAREST, 0, KILL));
        assert_eq!(killed(&mut bench, 0.0), 1, "red {n}");
    }
    for n in 0..64u32 {
        let texels = std::array::from_fn(|x| ((n + x as u32) & 63) << 5);
        let state = row(&mut bench, f::B5G6R5, texels);
        let wide = n << 2 | n >> 4;
        bench.engine.tables.chroma_keys[0] = (wide << 8, 0xff00_0000 | wide << 8);
        bench.bind(state, keyed(NEAREST, 0, KILL));
        assert_eq!(killed(&mut bench, 0.0), 1, "green {n}");
    }
    // B4G4R4A4: nibbles become bytes of two.
    let texels = std::array::from_fn(|x| (x as u32) << 12 | 0x123);
    let state = row(&mut bench, 0x104, texels);
    bench.engine.tables.chroma_keys[0] = (0x5511_2233, 0x5511_2233);
    bench.bind(state, keyed(NEAREST, 0, KILL));
    assert_eq!(killed(&mut bench, 0.0), 1 << 5);
    // L8 has no alpha: a full range there takes it out of the comparison.
    let state = row(&mut bench, f::L8, std::array::from_fn(|x| x as u32));
    bench.engine.tables.chroma_keys[0] = (0x0006_0606, 0xff06_0606);
    bench.bind(state, keyed(NEAREST, 0, KILL));
    assert_eq!(killed(&mut bench, 0.0), 1 << 6);
}

// covers: 4.7.5-07
#[test]
fn signed_channels_have_keys_of_sign_and_magnitude() {
    let mut bench = Bench::new();
    // R8G8_SNORM: red -3, -2 .. 4, green 0.
    let texels = std::array::from_fn(|x| (x as u32).wrapping_sub(3) & 0xff);
    let state = row(&mut bench, 0x107, texels);
    // Red from -2 to 1; absent channels from -127 to 127.
    bench.engine.tables.chroma_keys[0] = (0xff82_ffff, 0x7f01_7f7f);
    bench.bind(state, keyed(NEAREST, 0, KILL));
    assert_eq!(killed(&mut bench, 0.0), 0b0001_1110);
    // R5G5_SNORM_B6_UNORM counts as signed throughout: blue 63 is 127, never negative.
    let state = row(
        &mut bench,
        0x119,
        std::array::from_fn(|x| if x < 4 { 63 << 10 } else { 0 }),
    );
    bench.engine.tables.chroma_keys[0] = (0xff00_007f, 0x7f00_007f);
    bench.bind(state, keyed(NEAREST, 0, KILL));
    assert_eq!(killed(&mut bench, 0.0), 0b1111);
}

/// YCRCB_NORMAL: Y0 Cb Y1 Cr from the lowest byte up.
fn video(bench: &mut Bench, pairs: [[u32; 4]; 4]) -> SurfaceState {
    let state = surface_2d(0x182, 8, 1, Tiling::Linear);
    for (n, [y0, cb, y1, cr]) in pairs.into_iter().enumerate() {
        let word = y0 | cb << 8 | y1 << 16 | cr << 24;
        let at = GpuAddr::from(DATA + n as u32 * 4);
        bench.mem.write_u32(at, word).unwrap();
    }
    state
}

// covers: 4.7.5-08, 4.7.3-37, 4.7.5-04
#[test]
fn keys_of_video_surfaces() {
    let mut bench = Bench::new();
    let pairs = [
        [0x50, 0x20, 0x50, 0x40],
        [0x50, 0x40, 0x50, 0x80],
        [0x50, 0x40, 0x50, 0x80],
        [0x50, 0x60, 0x60, 0x80],
    ];
    let state = video(&mut bench, pairs);
    // A Cr Y Cb. Texel 1 lies between chroma 40h, 20h and 80h, 40h: 60h, 30h.
    bench.engine.tables.chroma_keys[0] = (0x0060_5030, 0xff60_5030);
    bench.bind(state, keyed(NEAREST, 0, KILL));
    assert_eq!(killed(&mut bench, 0.0), 1 << 1);
    // Texels with chroma of their own, and those between equals.
    bench.engine.tables.chroma_keys[0] = (0x0080_5040, 0xff80_5040);
    bench.bind(state, keyed(NEAREST, 0, KILL));
    assert_eq!(killed(&mut bench, 0.0), 0b1_1100);
    bench.engine.tables.chroma_keys[0] = (0x0080_5050, 0xff80_5050);
    bench.bind(state, keyed(NEAREST, 0, KILL));
    assert_eq!(killed(&mut bench, 0.0), 1 << 5);
    // Black of video.
    bench.engine.tables.chroma_keys[0] = (0, 0xffff_ffff);
    bench.bind(state, keyed(NEAREST, 0, REPLACE));
    let got = bench.at(0.5, 0.0, 0.0).map(|v| v * 255.0);
    close(got, [128.0, 16.0, 128.0, 0.0], "Cr Y Cb A");
}

// covers: 4.4-02, 4.4-03, 4.7.3-18, 4.7.3-19
#[test]
fn comparisons_have_their_results_turned_round() {
    let mut bench = Bench::new();
    let reference = 0.5f32.to_bits();
    // Formats with the value in red, or in alpha alone: R32_FLOAT, I32F, L32F, A32F, R16_UNORM, A16_FLOAT.
    for (format, below, same, above, channel) in [
        (0x0d8, 0x3e80_0000, 0x3f00_0000, 0x3f40_0000, 0),
        (0x0e3, 0x3e80_0000, 0x3f00_0000, 0x3f40_0000, 0),
        (0x0e4, 0x3e80_0000, 0x3f00_0000, 0x3f40_0000, 0),
        (0x0e5, 0x3e80_0000, 0x3f00_0000, 0x3f40_0000, 3),
        (0x117, 0x3400, 0x3800, 0x3a00, 3),
    ] {
        let state = surface_2d(format, 4, 1, Tiling::Linear);
        // (texel op ref) ? 0.0 : 1.0
        let table = [
            [0.0, 0.0, 0.0],
            [1.0, 1.0, 1.0],
            [0.0, 1.0, 1.0],
            [1.0, 0.0, 1.0],
            [0.0, 0.0, 1.0],
            [1.0, 1.0, 0.0],
            [0.0, 1.0, 0.0],
            [1.0, 0.0, 0.0],
        ];
        bench.fill(state, 0, |x, _, _| [below, same, above, above][x as usize]);
        bench.header2 = 1 << 16;
        for (function, row) in (0u32..).zip(table) {
            for filter in [NEAREST, LINEAR] {
                let mut sampler = sampler(filter, CLAMP);
                sampler.0[0] |= function;
                bench.bind(state, sampler);
                for (texel, want) in row.into_iter().enumerate() {
                    let u = ((texel as f32 + 0.5) / 4.0).to_bits();
                    let mut w = [[0; 8]];
                    let body = [u, 0, 0, reference, u, 0, 0, reference];
                    bench.send(0, &[body], &mut w).unwrap();
                    let got = f32::from_bits(w[0][4 + channel]);
                    assert_eq!(got, want, "{format:#x} {function} {texel}");
                }
                if filter == LINEAR {
                    // Results are blended, not texels: a quarter of the first, three of the second.
                    let u = (1.25f32 / 4.0).to_bits();
                    let body = [u, 0, 0, reference, u, 0, 0, reference];
                    let mut w = [[0; 8]];
                    bench.send(0, &[body], &mut w).unwrap();
                    let got = f32::from_bits(w[0][channel]);
                    assert_eq!(got, row[0] * 0.25 + row[1] * 0.75, "{function}");
                }
            }
        }
    }
}

/// IEC 61966-2-1.
fn linear(v: f64) -> f64 {
    if v <= 0.04045 {
        v / 12.92
    } else {
        ((v + 0.055) / 1.055).powf(2.4)
    }
}

// covers: 4.6-02
#[test]
fn gamma_comes_before_the_filter_and_spares_alpha() {
    let mut bench = Bench::new();
    // B8G8R8A8 sRGB and R8G8B8A8 sRGB; the latter's bytes stand the other way round.
    for (format, order) in [(0x0c1, [2, 1, 0]), (0x0c8, [0, 1, 2])] {
        let state = surface_2d(format, 2, 1, Tiling::Linear);
        let texels = [0xff10_4080u32, 0x00f0_c020];
        bench.fill(state, 0, |x, _, _| texels[x as usize]);
        let bytes = texels.map(|t| t.to_le_bytes().map(|b| f64::from(b) / 255.0));
        for weight in [0.0, 0.25, 0.5, 1.0] {
            let mixed: [f64; 4] =
                std::array::from_fn(|n| bytes[0][n] * (1.0 - weight) + bytes[1][n] * weight);
            let [r, g, b] = order.map(|n| mixed[n]);
            let u = (0.25 + weight as f32 / 2.0).min(0.75);
            for mode in [CLAMP, BORDER_MODE] {
                bench.bind(state, sampler(LINEAR, mode));
                bench.engine.quirks.gamma = Gamma::Linear;
                // Each texel for itself, on the fast path and on the general one.
                let [red, green, blue] = order
                    .map(|n| linear(bytes[0][n]) * (1.0 - weight) + linear(bytes[1][n]) * weight);
                let want = [red, green, blue, mixed[3]];
                close(bench.at(u, 0.5, 0.0), want, "linear");
                // Exponent and place that the manual prints.
                bench.engine.quirks.gamma = Gamma::Printed;
                let want = [r, g, b].map(|v: f64| v.powf(1.0 / 2.4));
                let want = [want[0], want[1], want[2], mixed[3]];
                close(bench.at(u, 0.5, 0.0), want, "printed");
            }
        }
        // ld has no filter, yet the same curve.
        bench.engine.quirks.gamma = Gamma::Linear;
        let answer = bench.message((3, 4), Form::Simd8, &[[1; 16], [0; 16], [0; 16]]);
        let [r, g, b] = order.map(|n| linear(bytes[1][n]));
        close(answer[2].map(f32::from_bits), [r, g, b, 0.0], "ld");
    }
    // The plain formats are not converted.
    let state = surface_2d(f::BGRA8, 1, 1, Tiling::Linear);
    bench.fill(state, 0, |_, _, _| 0x3333_3333);
    bench.bind(state, sampler(LINEAR, CLAMP));
    close(bench.at(0.5, 0.5, 0.0), [0.2; 4], "unorm");
}

/// EXT_texture_sRGB converts texels; TEXTURE_BORDER_COLOR is linear. What piglit's texwrap wants of GL_CLAMP, and a
/// G41 gives: `linear(texel) * weight + border * (1 - weight)`.
#[test]
fn border_colours_of_srgb_formats_are_linear() {
    let mut bench = Bench::new();
    bench.border = [0.1, 0.9, 0.5, 0.8];
    // B8G8R8A8, BC1 and R8G8B8A8.
    for (format, texel, [r, g, b, a]) in [
        (0x0c1, 0xff10_4080u32, [0x10, 0x40, 0x80, 0xff]),
        (0x18b, 0xffff_ffff, [0xff; 4]),
        (0x0c8, 0x00f0_c020, [0x20, 0xc0, 0xf0, 0x00]),
    ] {
        let state = surface_2d(format, 4, 4, Tiling::Linear);
        bench.fill(state, 0, |_, _, _| texel);
        if format == 0x18b {
            // White, and every index names it.
            bench
                .mem
                .write_dwords(GpuAddr::from(DATA), &[!0, 0])
                .unwrap();
        }
        bench.bind(state, sampler(LINEAR, BORDER_MODE));
        let light = [r, g, b].map(|byte| linear(f64::from(byte) / 255.0));
        let texel = [light[0], light[1], light[2], f64::from(a) / 255.0];
        let border = [0.1, 0.9, 0.5, 0.8];
        for (u, weight) in [(0.5, 1.0), (0.0, 0.5), (-0.0625, 0.25), (-0.5, 0.0)] {
            let want = std::array::from_fn(|n| texel[n] * weight + border[n] * (1.0 - weight));
            close(bench.at(u, 0.5, 0.0), want, "border");
        }
    }
}

// covers: 4.7.2-06, 4.7.2-07
#[test]
fn narrow_returns_are_for_simd8_and_simd16() {
    let mut bench = Bench::new();
    let plain = surface_2d(f::BGRA8, 1, 1, Tiling::Linear);
    bench.fill(plain, 0, |_, _, _| 0x0001_7fff);
    let exact = [1.0f32, 127.0, 255.0, 0.0].map(|v| v / 255.0);
    let narrow = exact.map(|v| ((f64::from(v) * 16384.0).round() / 16384.0) as f32);
    assert_ne!(exact, narrow);
    let reorder = |[r, g, b, a]: [f32; 4]| [r, g, b, a];
    for bit in 0..2u32 {
        let mut state = plain;
        state.0[0] |= bit << 27;
        bench.bind(state, sampler(NEAREST, CLAMP));
        let want = reorder(if bit == 0 { exact } else { narrow });
        let half = each(|_| 0.5);
        let eight = bench.message((0, 4), Form::Simd8, &[half; 3]);
        let sixteen = bench.message((0, 7), Form::Simd16, &[half; 3]);
        assert_eq!(eight[5].map(f32::from_bits), want);
        assert_eq!(sixteen[13].map(f32::from_bits), want);
        let two = bench.message((1, 2), Form::Simd4x2, &[half, half, half, each(|_| 0.0)]);
        close(two[1].map(f32::from_bits), exact.map(f64::from), "4x2");
        assert_ne!(two[1].map(f32::from_bits), narrow);
    }
}

// covers: 4.8.1.4-21
#[test]
fn erratum_of_ld_without_alpha() {
    let mut bench = Bench::new();
    // B8G8R8X8, L8, B5G6R5, R16_UNORM, B8G8R8A8: colours of eight bits and no alpha are the first two.
    for (format, zero) in [
        (f::BGRX8, true),
        (f::L8, true),
        (f::B5G6R5, false),
        (0x10a, false),
        (f::BGRA8, false),
    ] {
        let state = surface_2d(format, 4, 4, Tiling::Linear);
        bench.fill(state, 0, |_, _, _| 0xffff_ffff);
        bench.bind(state, sampler(NEAREST, CLAMP));
        for on in [false, true] {
            bench.engine.quirks.ld_without_alpha = on;
            let answer = bench.message((3, 4), Form::Simd8, &[[1; 16]; 3].map(|_| [0; 16]));
            let want = if on && zero { 0.0 } else { 1.0 };
            assert_eq!(f32::from_bits(answer[0][3]), want, "{format:#x} {on}");
            assert_eq!(bench.at(0.5, 0.5, 0.0)[3], 1.0, "sample is not concerned");
        }
    }
}

// covers: 4.8.1.4-10
#[test]
fn erratum_of_comparisons_with_nan() {
    let mut bench = Bench::new();
    bench.header2 = 1 << 16;
    // A16_FLOAT and I16_FLOAT; texel >= ref is true for infinity alone.
    for (format, concerned) in [(0x117, true), (0x115, false)] {
        let state = surface_2d(format, 1, 1, Tiling::Linear);
        bench.fill(state, 0, |_, _, _| 0x7e00);
        bench.bind(state, sampler(NEAREST, CLAMP).with_shadow_function(7));
        for on in [false, true] {
            bench.engine.quirks.compare_nan = on;
            let zero = each(|_| 0.0);
            let answer = bench.message((0, 2), Form::Simd4x2, &[zero, zero, zero, each(|_| 1e9)]);
            let want = if on && concerned { 0.0 } else { 1.0 };
            assert_eq!(f32::from_bits(answer[0][3]), want, "{format:#x} {on}");
        }
    }
}

// covers: 4.7.2-63, 4.7.2-61
#[test]
fn erratum_of_the_first_element_under_comparison() {
    let mut bench = Bench::new();
    let state = surface_2d(f::R32F, 4, 4, Tiling::Linear).with_depth(3);
    bench.fill(state, 0, |_, _, z| (z as f32).to_bits());
    let view = state.with_minimum_array_element(2).with_depth(0);
    bench.header2 = 1 << 16;
    bench.bind(view, sampler(NEAREST, CLAMP).with_shadow_function(3));
    for on in [false, true] {
        bench.engine.quirks.compare_first_element = on;
        let zero = each(|_| 0.0);
        let reference = each(|_| if on { 0.0 } else { 2.0 });
        let answer = bench.message((0, 2), Form::Simd4x2, &[zero, zero, zero, reference]);
        assert_eq!(f32::from_bits(answer[0][0]), 0.0, "equal to element {on}");
        assert_eq!(bench.at(0.5, 0.5, 0.0)[0], 2.0, "sample is not concerned");
    }
}

// covers: 4.3-03
#[test]
fn palette_formats_look_their_colour_up() {
    let mut bench = Bench::new();
    bench.engine.tables.palettes.entries[0] =
        std::array::from_fn(|n| 0x0010_2000 * (n as u32 & 15) + 0xff - (n as u32 & 15));
    // P4A4 and A4P4: the channel named first lies lowest (Mesa isl_format_layout.csv).
    for (format, index, alpha) in [(0x147, 0, 4), (0x148, 4, 0)] {
        let state = surface_2d(format, 16, 1, Tiling::Linear);
        bench.fill(state, 0, |x, _, _| x << index | (15 - x) << alpha);
        bench.bind(state, sampler(NEAREST, CLAMP));
        for n in 0..16u32 {
            let rgb = 0x0010_2000 * n + 0xff - n;
            let want = [rgb >> 16, rgb >> 8, rgb].map(|v| f64::from(v & 0xff) / 255.0);
            let want = [want[0], want[1], want[2], f64::from(15 - n) / 15.0];
            close(bench.at((n as f32 + 0.5) / 16.0, 0.0, 0.0), want, "palette");
        }
    }
}
