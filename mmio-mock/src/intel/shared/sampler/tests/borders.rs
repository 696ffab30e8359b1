//! Address control by axis, borders, far coordinates, offsets.

use super::*;

/// Texel number under an address mode, from the words of PRM 4.2.4; `None` is the border.
fn fold(mode: u32, n: i64, size: i64) -> Option<i64> {
    match mode {
        0 => Some(n.rem_euclid(size)),
        1 => {
            let m = n.rem_euclid(2 * size);
            Some(if m < size { m } else { 2 * size - 1 - m })
        }
        2 => Some(n.clamp(0, size - 1)),
        4 => (0..size).contains(&n).then_some(n),
        _ => Some((if n < 0 { -1 - n } else { n }).min(size - 1)),
    }
}

const MODES: [u32; 5] = [0, 1, 2, 4, 5];

fn modes([u, v, r]: [u32; 3]) -> SamplerState {
    sampler(NEAREST, 0)
        .with_tcx_address_control_mode(u)
        .with_tcy_address_control_mode(v)
        .with_tcz_address_control_mode(r)
}

// covers: 4.2.4-01, 4.2.4.1-01, 4.2.4.2-01, 4.2.4.3-01, 4.2.4.4-01, 4.2.4.5-01, 4.7.4-04
#[test]
fn each_axis_has_its_own_mode() {
    let mut bench = Bench::new();
    bench.border = [-7.0, 0.0, 0.0, 0.0];
    let state = surface_2d(f::R32F, 8, 4, Tiling::Linear)
        .with_surface_type(values::surftype::SURFTYPE_3D)
        .with_depth(5);
    bench.fill(state, 0, |x, y, z| {
        ((x + 10 * y + 100 * z) as f32).to_bits()
    });
    let sizes = [8i64, 4, 6];
    for n in 0..125 {
        let chosen = [n / 25, n / 5 % 5, n % 5].map(|i| MODES[i]);
        bench.bind(state, modes(chosen));
        for turn in 0..4i64 {
            // Centres of texels from well before the map to well behind it.
            let texels: [[i64; 3]; 8] = std::array::from_fn(|slot| {
                let n = slot as i64 * 5 + turn * 3;
                [n % 29 - 13, n * 7 % 17 - 9, n * 11 % 23 - 11]
            });
            let points = texels
                .map(|t| std::array::from_fn(|d| ((t[d] as f64 + 0.5) / sizes[d] as f64) as f32));
            for (got, t) in bench.sample8(points).into_iter().zip(texels) {
                let folded: Option<Vec<i64>> =
                    (0..3).map(|d| fold(chosen[d], t[d], sizes[d])).collect();
                let want = folded.map_or(-7.0, |t| (t[0] + 10 * t[1] + 100 * t[2]) as f32);
                assert_eq!(got[0], want, "modes {chosen:?} texel {t:?}");
            }
        }
    }
    let line =
        surface_2d(f::R32F, 8, 1, Tiling::Linear).with_surface_type(values::surftype::SURFTYPE_1D);
    bench.fill(line, 0, |x, _, _| (x as f32).to_bits());
    for mode in MODES {
        bench.bind(line, modes([mode; 3]));
        for texel in -20..20i64 {
            let got = bench.at((texel as f32 + 0.5) / 8.0, 0.0, 0.0)[0];
            let want = fold(mode, texel, 8).map_or(-7.0, |t| t as f32);
            assert_eq!(got, want, "line, mode {mode} texel {texel}");
        }
    }
}

// covers: 4.2.4-04
#[test]
fn thirty_two_wraps_keep_their_texels() {
    let mut bench = Bench::new();
    let state = surface_2d(f::R32F, 64, 64, Tiling::Linear);
    bench.fill(state, 0, |x, y, _| ((x + 100 * y) as f32).to_bits());
    for mode in [0u32, 1] {
        for filter in [NEAREST, LINEAR] {
            bench.bind(
                state,
                modes([mode; 3])
                    .with_min_mode_filter(filter)
                    .with_mag_mode_filter(filter),
            );
            for texel in [
                -32 * 64,
                -31 * 64 + 5,
                31 * 64 + 63,
                32 * 64 - 1,
                17 * 64 + 31,
            ] {
                let got = bench.at((texel as f32 + 0.5) / 64.0, 0.5 / 64.0, 0.0)[0];
                let want = fold(mode, texel, 64).unwrap_or_default();
                assert_eq!(
                    got, want as f32,
                    "mode {mode} filter {filter} texel {texel}"
                );
            }
        }
    }
}

// covers: 4.1.1-01, 4.2.3.1-01
#[test]
fn texels_reach_from_edge_to_edge() {
    let mut bench = Bench::new();
    let state = surface_2d(f::R32F, 5, 3, Tiling::Linear);
    bench.fill(state, 0, |x, y, _| ((x + 10 * y) as f32).to_bits());
    bench.border = [-1.0; 4];
    bench.bind(state, modes([4; 3]));
    let edge = |n: u32, of: u32| n as f32 / of as f32;
    for x in 0..5 {
        for y in 0..3 {
            let want = (x + 10 * y) as f32;
            // Just inside its four edges.
            for (dx, dy) in [(1e-4, 1e-4), (-1e-4, 1e-4), (1e-4, -1e-4), (-1e-4, -1e-4)] {
                let u = if dx > 0.0 {
                    edge(x, 5) + dx
                } else {
                    edge(x + 1, 5) + dx
                };
                let v = if dy > 0.0 {
                    edge(y, 3) + dy
                } else {
                    edge(y + 1, 3) + dy
                };
                assert_eq!(bench.at(u, v, 0.0)[0], want, "{u} {v}");
            }
        }
    }
    assert_eq!(
        bench.at(0.0, 0.0, 0.0)[0],
        0.0,
        "0 is the first texel's edge"
    );
    assert_eq!(bench.at(1.0, 0.5, 0.0)[0], -1.0, "1 is outside");
    assert_eq!(bench.at(-1e-4, 0.5, 0.0)[0], -1.0);
    assert_eq!(bench.at(0.5, 1.0, 0.0)[0], -1.0);
}

// covers: 4.2.3.2-01, 4.2.3-03, 4.5-01
#[test]
fn linear_weights_texels_by_distance() {
    let mut bench = Bench::new();
    let line =
        surface_2d(f::R32F, 8, 1, Tiling::Linear).with_surface_type(values::surftype::SURFTYPE_1D);
    bench.fill(line, 0, |x, _, _| noise(x, 0, 0) >> 9 | 0x3f80_0000);
    let value =
        |x: u32, y: u32, z: u32| f64::from(f32::from_bits(noise(x, y, z) >> 9 | 0x3f80_0000));
    bench.bind(line, sampler(LINEAR, CLAMP));
    for n in 0..56 {
        let at = n as f64 / 8.0 + 0.0625;
        let (x, part) = (at as u32, at.fract());
        let want = value(x, 0, 0) * (1.0 - part) + value((x + 1).min(7), 0, 0) * part;
        let got = bench.at(((at + 0.5) / 8.0) as f32, 0.0, 0.0)[0];
        assert!((f64::from(got) - want).abs() < 1e-5, "{at}: {got} {want}");
    }
    let solid = surface_2d(f::R32F, 4, 4, Tiling::Linear)
        .with_surface_type(values::surftype::SURFTYPE_3D)
        .with_depth(3);
    bench.fill(solid, 0, |x, y, z| noise(x, y, z) >> 9 | 0x3f80_0000);
    bench.bind(solid, sampler(LINEAR, CLAMP));
    for n in 0..100u32 {
        let at = [n * 7 % 23, n * 5 % 19, n * 3 % 17].map(|k| f64::from(k) / 8.0);
        let mut want = 0.0;
        for corner in 0..8u32 {
            let mut weight = 1.0;
            let t: [u32; 3] = std::array::from_fn(|d| {
                let high = corner >> d & 1;
                weight *= if high == 1 {
                    at[d].fract()
                } else {
                    1.0 - at[d].fract()
                };
                (at[d] as u32 + high).min(3)
            });
            want += weight * value(t[0], t[1], t[2]);
        }
        let [u, v, r] = at.map(|a| ((a + 0.5) / 4.0) as f32);
        let got = bench.at(u, v, r)[0];
        assert!((f64::from(got) - want).abs() < 1e-5, "{at:?}: {got} {want}");
    }
}

// covers: 4.8.1.2-06
#[test]
fn offsets_move_every_axis_of_every_level() {
    let mut bench = Bench::new();
    let state = surface_2d(f::R32F, 32, 32, Tiling::Linear)
        .with_surface_type(values::surftype::SURFTYPE_3D)
        .with_depth(31)
        .with_surface_pitch(127)
        .with_mip_count_lod(1);
    for level in 0..2 {
        bench.fill(state, level, |x, y, z| {
            ((x + 32 * y + 1024 * z + (level << 15)) as f32).to_bits()
        });
    }
    let nearest_level = values::mipfilter::MIPFILTER_NEAREST;
    bench.bind(
        state,
        sampler(NEAREST, CLAMP).with_mip_mode_filter(nearest_level),
    );
    for n in -8..8i32 {
        let nibble = (n & 0xf) as u32;
        for (axis, shift) in [(0, 8), (1, 4), (2, 0)] {
            bench.header2 = nibble << shift;
            for level in 0..2u32 {
                let size = 32 >> level;
                let mut texel = [8i32; 3];
                let at = texel.map(|t| (t as f32 + 0.5) / size as f32);
                texel[axis] += n;
                let texel = texel.map(|t| t.min(size - 1));
                let want = (texel[0] + 32 * texel[1] + 1024 * texel[2]) as u32 + (level << 15);
                let got = bench.at_lod(at[0], at[1], at[2], level as f32)[0];
                assert_eq!(got, want as f32, "offset {n} of axis {axis} level {level}");
                let parameters = [8, 8, 8, level].map(|n| [n; 16]);
                let got = bench.message((3, 9), Form::Simd16, &parameters)[3][0];
                let inside = 8 + n < size;
                let want = if inside { want as f32 } else { 0.0 };
                assert_eq!(f32::from_bits(got), want, "ld {n} of axis {axis}");
            }
        }
    }
}

// covers: 4.7.3-30, 4.7.4-06, 4.8.1.4-05
#[test]
fn mono_sees_zero_outside_whatever_the_border() {
    let mut bench = Bench::new();
    bench.border = [1.0; 4];
    let state = surface_2d(f::MONO8, 32, 8, Tiling::Linear);
    for byte in 0..8 * 1024 {
        bench
            .mem
            .write_u8(GpuAddr::from(DATA + byte), 0xff)
            .unwrap();
    }
    let mono = sampler(values::mapfilter::MAPFILTER_MONO, BORDER_MODE)
        .with_monochrome_filter_width(4)
        .with_monochrome_filter_height(2);
    bench.bind(state, mono);
    assert_eq!(bench.at_lod(0.5, 0.5, 0.0, 0.0), [1.0; 4], "inside");
    assert_eq!(bench.at_lod(0.0, 0.5, 0.0, 0.0), [0.5; 4], "left edge");
    assert_eq!(bench.at_lod(1.0, 1.0, 0.0, 0.0), [0.25; 4], "corner");
    assert_eq!(bench.at_lod(2.0, 0.5, 0.0, 0.0), [0.0; 4], "outside");
}

// covers: 4.2.3.4-01, 4.2.3.4-02, 4.2.3.4-03, 4.2.3.4-04, 4.7.3-33
#[test]
fn mono_kernels_of_all_sizes() {
    let mut bench = Bench::new();
    let state = surface_2d(f::MONO8, 32, 16, Tiling::Linear);
    let bit = |x: i32, y: i32| {
        (0..32).contains(&x) && (0..16).contains(&y) && noise(x as u32, y as u32, 9) & 4 != 0
    };
    for y in 0..16 {
        for byte in 0..4 {
            let value = (0..8).fold(0u8, |v, n| v | u8::from(bit(byte * 8 + n, y)) << (7 - n));
            let at = GpuAddr::from(DATA + y as u32 * 1024 + byte as u32);
            bench.mem.write_u8(at, value).unwrap();
        }
    }
    for (nu, nv) in (1..8u32).flat_map(|nu| (1..8u32).map(move |nv| (nu, nv))) {
        let mut mono = sampler(values::mapfilter::MAPFILTER_MONO, BORDER_MODE);
        // Height in 31:29, width in 28:26.
        mono.0[3] = nv << 29 | nu << 26;
        bench.bind(state, mono);
        for (u, v) in [(0.4071f32, 0.52f32), (0.03, 0.96), (0.5, 0.5)] {
            let us = f64::from(u) * 32.0 - f64::from(nu) / 2.0;
            let vs = f64::from(v) * 16.0 - f64::from(nv) / 2.0;
            let (bu, bv) = (us - us.floor(), vs - vs.floor());
            let sum = |i0: u32, j0: u32| -> f64 {
                let mut sum = 0;
                for i in i0..i0 + nu {
                    for j in j0..j0 + nv {
                        let (x, y) = (us.floor() as i32 + i as i32, vs.floor() as i32 + j as i32);
                        sum += i32::from(bit(x, y));
                    }
                }
                f64::from(sum)
            };
            let want = ((1.0 - bu) * (1.0 - bv) * sum(0, 0)
                + bu * (1.0 - bv) * sum(1, 0)
                + (1.0 - bu) * bv * sum(0, 1)
                + bu * bv * sum(1, 1))
                / f64::from(nu * nv);
            close(
                bench.at_lod(u, v, 0.0, 0.0),
                [want; 4],
                &format!("{nu}x{nv}"),
            );
        }
    }
}
