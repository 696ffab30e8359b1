//! Address modes, filters, levels, cubes, volumes.

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

/// Colour of a BGRA8 noise texel.
fn colour(x: i64, y: i64) -> [f64; 4] {
    let b = noise(x as u32, y as u32, 0)
        .to_le_bytes()
        .map(|b| f64::from(b) / 255.0);
    [b[2], b[1], b[0], b[3]]
}

fn reference(
    mode: u32,
    linear: bool,
    size: (i64, i64),
    u: f32,
    v: f32,
    border: [f64; 4],
) -> [f64; 4] {
    let texel = |x: i64, y: i64| match (fold(mode, x, size.0), fold(mode, y, size.1)) {
        (Some(x), Some(y)) => colour(x, y),
        _ => border,
    };
    let (x, y) = (f64::from(u) * size.0 as f64, f64::from(v) * size.1 as f64);
    if !linear {
        return texel(x.floor() as i64, y.floor() as i64);
    }
    let (x, y) = (x - 0.5, y - 0.5);
    let (x0, y0) = (x.floor() as i64, y.floor() as i64);
    let (fx, fy) = (x - x.floor(), y - y.floor());
    let mut sum = [0.0; 4];
    for (dx, wx) in [(0, 1.0 - fx), (1, fx)] {
        for (dy, wy) in [(0, 1.0 - fy), (1, fy)] {
            for (sum, c) in sum.iter_mut().zip(texel(x0 + dx, y0 + dy)) {
                *sum += c * wx * wy;
            }
        }
    }
    sum
}

// covers: 4.2.3.1-01, 4.2.3.2-01, 4.2.4.1-01, 4.2.4.2-01, 4.2.4.3-01, 4.2.4.4-01, 4.2.4.5-01, 4.2.3-02
#[test]
fn filters_and_modes_match_the_reference_in_every_tiling() {
    let mut bench = Bench::new();
    bench.border = [0.125, 0.25, 0.5, 0.75];
    let border = bench.border.map(f64::from);
    // Off texel edges, where float rounding could go either way.
    let coords = [
        -2.131f32, -1.0431, -0.217, 0.0137, 0.4571, 0.9713, 1.3391, 2.6173,
    ];
    for tiling in [Tiling::Linear, Tiling::X, Tiling::Y] {
        for (width, height) in [(16u32, 8u32), (37, 21), (1, 1)] {
            let state = surface_2d(f::BGRA8, width, height, tiling);
            bench.fill(state, 0, noise);
            for (filter, mode) in [NEAREST, LINEAR]
                .iter()
                .flat_map(|&f| [0, 1, 2, 4, 5].map(|m| (f, m)))
            {
                bench.bind(state, sampler(filter, mode));
                for turn in 0..8 {
                    let points =
                        std::array::from_fn(|n| [coords[n], coords[(n * 3 + turn) % 8], 0.0]);
                    let got = bench.sample8(points);
                    for (got, [u, v, _]) in got.into_iter().zip(points) {
                        let size = (i64::from(width), i64::from(height));
                        let want = reference(mode, filter == LINEAR, size, u, v, border);
                        close(
                            got,
                            want,
                            &format!(
                                "{tiling:?} {width}x{height} filter {filter} mode {mode} at {u},{v}"
                            ),
                        );
                    }
                }
            }
        }
    }
}

#[test]
fn the_fast_path_gives_what_the_general_one_gives() {
    let mut bench = Bench::new();
    // Minified; magnified, when pixels of a subspan share their texels or only a column of them.
    let steps = [(0.171, -0.093), (0.007, 0.004), (0.0, 0.021), (0.013, 0.0)];
    let formats = [f::BGRA8, f::RGBA8, f::BGRX8];
    for (format, (du, dv)) in formats.iter().flat_map(|&f| steps.map(|s| (f, s))) {
        let state = surface_2d(format, 32, 32, Tiling::Y);
        bench.fill(state, 0, noise);
        let points: [[f32; 3]; 8] = std::array::from_fn(|n| [n as f32 * du, n as f32 * dv, 0.0]);
        let fast = {
            bench.bind(state, sampler(LINEAR, 0));
            bench.sample8(points)
        };
        // A key that nothing matches takes the general path.
        bench.engine.tables.chroma_keys[0] = (0xffff_ffff, 0);
        let keyed = sampler(LINEAR, 0).with_chromakey_enable(true);
        let general = {
            bench.bind(state, keyed);
            bench.sample8(points)
        };
        for (a, b) in fast
            .into_iter()
            .flatten()
            .zip(general.into_iter().flatten())
        {
            assert!((a - b).abs() <= 4.0 * f32::EPSILON, "{du} {dv}: {a} {b}");
        }
    }
}

/// A mip chain in which level n has red n/8.
fn levels(bench: &mut Bench, levels: u32) -> SurfaceState {
    let state = surface_2d(f::RGBA32F, 64, 64, Tiling::Linear).with_mip_count_lod(levels - 1);
    for level in 0..levels {
        bench.fill(state, level, |_, _, _| (level as f32 / 8.0).to_bits());
    }
    state
}

/// Eight points a constant step apart in u: `step` texels of level 0 a pixel.
fn row(step: f32) -> [[f32; 3]; 8] {
    std::array::from_fn(|n| {
        let pixel = n / 4 * 2 + n % 2;
        [(pixel as f32 * step) / 64.0, (n % 4 / 2) as f32 * 0.01, 0.0]
    })
}

// covers: 4.2.1-03, 4.2.1.2-01, 4.2.2-03, 4.8.1.2-03, 4.2.1.5-11, 4.2.2-01, 4.2.2-02
#[test]
fn gradients_choose_mip_levels() {
    let mut bench = Bench::new();
    let state = levels(&mut bench, 7);
    let linear = sampler(NEAREST, CLAMP).with_mip_mode_filter(values::mipfilter::MIPFILTER_LINEAR);
    bench.bind(state, linear);
    for step in [1.0f32, 2.0, 3.0, 5.5, 16.0, 500.0] {
        // Trilinear blending of n/8 gives LOD/8.
        let want = step.log2().clamp(0.0, 6.0) / 8.0;
        for got in bench.sample8(row(step)) {
            assert!(
                (got[0] - want).abs() < 1e-5,
                "step {step}: {} for {want}",
                got[0]
            );
        }
    }
    bench.bind(state, linear.with_texture_lod_bias(1.5));
    assert!((bench.sample8(row(2.0))[0][0] - 2.5 / 8.0).abs() < 1e-6);
    bench.bind(
        state,
        linear.with_mip_mode_filter(values::mipfilter::MIPFILTER_NEAREST),
    );
    assert_eq!(
        bench.sample8(row(3.0))[0][0],
        2.0 / 8.0,
        "log2(3) rounds to 2"
    );
    bench.bind(
        state,
        linear.with_mip_mode_filter(values::mipfilter::MIPFILTER_NONE),
    );
    assert_eq!(bench.sample8(row(8.0))[0][0], 0.0);
    // Force LOD to Zero comes before the bias.
    bench.header2 = 1 << 16;
    bench.bind(state, linear.with_texture_lod_bias(2.0));
    assert_eq!(bench.sample8(row(16.0))[0][0], 2.0 / 8.0);
}

// covers: 4.2.1.5-05, 4.8.1.4-04, 4.7.2-59
#[test]
fn given_levels_and_bias() {
    let mut bench = Bench::new();
    let state = levels(&mut bench, 7);
    let linear = sampler(NEAREST, CLAMP).with_mip_mode_filter(values::mipfilter::MIPFILTER_LINEAR);
    bench.bind(state, linear);
    let got = bench.sample_l([[0.5, 0.5, 0.0, 2.25], [0.5, 0.5, 0.0, 9.0]]);
    assert_eq!([got[0][0], got[1][0]], [2.25 / 8.0, 6.0 / 8.0]);
    // sample_b, SIMD16: u, v, r, bias in pairs of registers.
    let points = row(2.0);
    let pair = |p: usize| points.map(|at| at[p].to_bits());
    let bias = [1.0f32, 1.0, 1.0, 1.0, 3.0, 3.0, 3.0, 3.0].map(f32::to_bits);
    let body = [
        pair(0),
        pair(0),
        pair(1),
        pair(1),
        [0; 8],
        [0; 8],
        bias,
        bias,
    ];
    let mut w = [[0; 8]; 8];
    bench.send(0, &body, &mut w).unwrap();
    assert_eq!(f32::from_bits(w[0][0]), 2.0 / 8.0);
    assert_eq!(f32::from_bits(w[1][7]), 4.0 / 8.0);
    // The surface's minimum level is added to given ones.
    bench.bind(state.with_surface_min_lod(2).with_mip_count_lod(3), linear);
    let got = bench.sample_l([[0.5, 0.5, 0.0, 1.0], [0.5, 0.5, 0.0, 9.0]]);
    assert_eq!([got[0][0], got[1][0]], [3.0 / 8.0, 5.0 / 8.0]);
}

// covers: 4.8.1.4-14
#[test]
fn explicit_gradients() {
    let mut bench = Bench::new();
    let state = levels(&mut bench, 7);
    let linear = sampler(NEAREST, CLAMP).with_mip_mode_filter(values::mipfilter::MIPFILTER_LINEAR);
    bench.bind(state, linear);
    let all = |v: f32| [v.to_bits(); 8];
    // u, v, dudx, dvdx, dudy, dvdy: the longer gradient has 4 texels.
    let body = [
        all(0.5),
        all(0.5),
        all(2.0 / 64.0),
        all(0.0),
        all(0.0),
        all(-4.0 / 64.0),
    ];
    let mut w = [[0; 8]; 4];
    bench.send(2, &body, &mut w).unwrap();
    assert_eq!(w[0].map(f32::from_bits), [2.0 / 8.0; 8]);
    // SIMD4x2: nine parameters in three registers.
    let pack = |p: [f32; 8]| p.map(f32::to_bits);
    let body = [
        pack([0.5, 0.5, 0.0, 8.0 / 64.0, 0.5, 0.5, 0.0, 0.0]),
        pack([0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 2.0 / 64.0]),
        pack([0.0; 8]),
    ];
    let mut w = [[0; 8]; 1];
    bench.send(2, &body, &mut w).unwrap();
    assert_eq!(
        [f32::from_bits(w[0][0]), f32::from_bits(w[0][4])],
        [3.0 / 8.0, 1.0 / 8.0]
    );
}

// covers: 4.2.1-04, 4.2.1-05, 4.2.3-01, 4.2.1.4-03
#[test]
fn mag_and_min_filters_change_over_at_the_base_level() {
    let mut bench = Bench::new();
    let state = surface_2d(f::R32F, 2, 1, Tiling::Linear);
    bench.fill(state, 0, |x, _, _| (x as f32).to_bits());
    let mixed = sampler(NEAREST, CLAMP).with_mag_mode_filter(LINEAR);
    bench.bind(state, mixed);
    let spread = |du: f32| std::array::from_fn(|n| [0.6 + du * (n % 2) as f32, 0.5, 0.0]);
    assert!(
        (bench.sample8(spread(0.1))[0][0] - 0.7).abs() < 1e-6,
        "magnified: linear"
    );
    assert_eq!(bench.sample8(spread(2.0))[0][0], 1.0, "minified: nearest");
}

// covers: 4.2.3-01, 4.2.3-03
#[test]
fn volumes_blend_eight_texels() {
    let mut bench = Bench::new();
    let state = surface_2d(f::R32F, 4, 4, Tiling::Linear)
        .with_surface_type(values::surftype::SURFTYPE_3D)
        .with_depth(3);
    // A linear function of the texel centres is reproduced exactly between them.
    bench.fill(state, 0, |x, y, z| {
        (x as f32 + 10.0 * y as f32 + 100.0 * z as f32).to_bits()
    });
    bench.bind(state, sampler(LINEAR, CLAMP));
    let points: [[f32; 3]; 8] = std::array::from_fn(|n| {
        let t = n as f32 / 7.0;
        [
            0.125 + 0.75 * t,
            0.125 + 0.75 * (1.0 - t),
            0.125 + 0.75 * t * t,
        ]
    });
    for (got, [u, v, r]) in bench.sample8(points).into_iter().zip(points) {
        let at = |c: f32| c * 4.0 - 0.5;
        let want = at(u) + 10.0 * at(v) + 100.0 * at(r);
        assert!((got[0] - want).abs() < 1e-3, "{} {want}", got[0]);
    }
    bench.bind(state, sampler(NEAREST, CLAMP));
    assert_eq!(bench.sample8([[0.3, 0.6, 0.9]; 8])[0][0], 321.0);
}

// covers: 4.8.1.5-01
#[test]
fn arrays_choose_the_nearest_slice() {
    let mut bench = Bench::new();
    let state = surface_2d(f::R32F, 4, 4, Tiling::Linear).with_depth(4);
    bench.fill(state, 0, |_, _, z| (z as f32).to_bits());
    bench.bind(state, sampler(LINEAR, CLAMP));
    let indices = [-3.0f32, 0.4, 0.6, 1.5, 2.2, 2.6, 7.0, f32::NAN];
    let got = bench.sample8(indices.map(|r| [0.5, 0.5, r]));
    assert_eq!(got.map(|c| c[0]), [0.0, 0.0, 1.0, 2.0, 2.0, 3.0, 4.0, 0.0]);
}

// covers: 4.1.2-02, 4.2.4.4-01, 4.2.4.6-01
#[test]
fn cube_faces_and_edges() {
    let mut bench = Bench::new();
    let state = surface_2d(f::R32F, 8, 8, Tiling::Linear)
        .with_surface_type(values::surftype::SURFTYPE_CUBE);
    let mut state = SurfaceState(*state.dwords().first_chunk().unwrap());
    state.0[0] |= 0x3f;
    bench.fill(state, 0, |_, _, z| (z as f32).to_bits());
    bench.bind(state, sampler(LINEAR, CLAMP));
    let directions = [
        [1.0, 0.2, 0.3],
        [-1.0, 0.2, 0.3],
        [0.1, 1.0, 0.2],
        [0.1, -1.0, 0.2],
        [0.3, 0.2, 1.0],
        [0.3, 0.2, -1.0],
        [1.0, 0.0, 0.99],
        [0.99, 0.0, 1.0],
    ];
    let got = bench.sample8(directions).map(|c| c[0]);
    assert_eq!(
        got,
        [0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 0.0, 4.0],
        "each within its own face"
    );
    // On the very edge between +X and +Z half of each.
    bench.bind(
        state,
        sampler(LINEAR, values::texture_coordinate_mode::TEXCOORDMODE_CUBE),
    );
    let got = bench.sample8([[1.0, 0.0, 0.999_999]; 8])[0][0];
    assert!((got - 2.0).abs() < 1e-3, "{got}");
    // A disabled face shows the border.
    bench.border = [9.0; 4];
    state.0[0] &= !0x10;
    bench.bind(state, sampler(NEAREST, CLAMP));
    assert_eq!(bench.sample8(directions).map(|c| c[0])[..2], [9.0, 1.0]);
}

// covers: 4.2.3.3-01, 4.2.3.3-02, 4.7.3-14
#[test]
fn anisotropic_follows_the_longer_axis() {
    let mut bench = Bench::new();
    let state = levels(&mut bench, 7);
    let anisotropic = values::mapfilter::MAPFILTER_ANISOTROPIC;
    let aniso = sampler(anisotropic, CLAMP)
        .with_mip_mode_filter(values::mipfilter::MIPFILTER_LINEAR)
        .with_maximum_anisotropy(7);
    bench.bind(state, aniso);
    // 16 texels by 2: ratio 8, LOD of the minor axis 1.
    let points = std::array::from_fn(|n| {
        [
            (n % 2) as f32 * 16.0 / 64.0,
            (n % 4 / 2) as f32 * 2.0 / 64.0,
            0.0,
        ]
    });
    assert!((bench.sample8(points)[0][0] - 1.0 / 8.0).abs() < 1e-5);
    // A limit of 2 raises the LOD to that of 16/2 texels.
    bench.bind(state, aniso.with_maximum_anisotropy(0));
    assert!((bench.sample8(points)[0][0] - 3.0 / 8.0).abs() < 1e-5);
    // sample_l is not anisotropic (PRM 4.7.3).
    assert_eq!(bench.sample_l([[0.5, 0.5, 0.0, 2.0]; 2])[0][0], 2.0 / 8.0);
}

// covers: 4.2.3.3-01, 4.2.3.3-03, 4.2.3.3-04, 4.7.3-38
#[test]
fn anisotropic_weights_by_one_lit_texel() {
    let mut bench = Bench::new();
    let state = surface_2d(f::R32F, 64, 1, Tiling::Linear);
    bench.fill(state, 0, |x, _, _| u32::from(x == 32) * 0x3f80_0000);
    let anisotropic = values::mapfilter::MAPFILTER_ANISOTROPIC;
    // Weight of the texel `k` places from the pixel, which is between texels.
    let weights = |bench: &mut Bench, ratio: f32, limit: u32| -> Vec<f32> {
        bench.bind(
            state,
            sampler(anisotropic, CLAMP).with_maximum_anisotropy(limit),
        );
        (-10..10)
            .map(|k| {
                // One texel high, `ratio` texels wide: level 0.
                let points = std::array::from_fn(|n| {
                    let (x, y) = ((n % 2) as f32, (n % 4 / 2) as f32);
                    [((32 - k) as f32 + x * ratio) / 64.0, y, 0.0]
                });
                bench.sample8(points)[0][0]
            })
            .collect()
    };
    for (ratio, ways) in [
        (2.5f32, 4usize),
        (3.0, 4),
        (3.75, 4),
        (4.25, 6),
        (5.0, 6),
        (7.5, 8),
        (10.5, 12),
        (15.5, 16),
    ] {
        let got = weights(&mut bench, ratio, 7);
        assert!((got.iter().sum::<f32>() - 1.0).abs() < 1e-4, "{ratio}");
        let lit: Vec<f32> = got.into_iter().filter(|&w| w > 1e-4).collect();
        assert_eq!(lit.len(), ways, "ways of {ratio}");
        let inner = &lit[1..ways - 1];
        assert!(inner.iter().all(|w| (w - inner[0]).abs() < 1e-4), "{lit:?}");
        let (first, last) = (lit[0], lit[ways - 1]);
        assert!((first - last).abs() < 1e-4 && first < inner[0], "{lit:?}");
    }
    // The limit: 2, 4 .. 16 ways.
    for limit in 0..8u32 {
        let ways = 2 * limit as usize + 2;
        let got = weights(&mut bench, ways as f32, limit);
        let lit = got.iter().filter(|&&w| w > 1e-4).count();
        assert_eq!(lit, ways, "limit {limit}");
    }
}

// covers: 4.2.3.4-03
#[test]
fn mono_counts_the_bits_under_its_box() {
    let mut bench = Bench::new();
    let state = surface_2d(f::MONO8, 32, 8, Tiling::Linear);
    let bit = |x: i32, y: i32| {
        (0..32).contains(&x) && (0..8).contains(&y) && noise(x as u32, y as u32, 7) & 1 == 1
    };
    for y in 0..8 {
        for byte in 0..4 {
            let value = (0..8).fold(0u8, |v, n| v | u8::from(bit(byte * 8 + n, y)) << (7 - n));
            let at = GpuAddr::from(DATA + y as u32 * 1024 + byte as u32);
            bench.mem.write_u8(at, value).unwrap();
        }
    }
    let (nu, nv) = (6u32, 5u32);
    let mono = sampler(values::mapfilter::MAPFILTER_MONO, BORDER_MODE)
        .with_monochrome_filter_width(nu)
        .with_monochrome_filter_height(nv);
    bench.bind(state, mono);
    for (u, v) in [(0.4071f32, 0.52f32), (0.01, 0.97), (0.77, 0.31)] {
        let (us, vs) = (f64::from(u) * 32.0 - 3.0, f64::from(v) * 8.0 - 2.5);
        let (bu, bv) = (us - us.floor(), vs - vs.floor());
        // The four sums of PRM 4.2.3.4.
        let sum = |i0: u32, j0: u32| -> f64 {
            (i0..i0 + nu)
                .flat_map(|i| (j0..j0 + nv).map(move |j| (i, j)))
                .filter(|&(i, j)| bit(us.floor() as i32 + i as i32, vs.floor() as i32 + j as i32))
                .count() as f64
        };
        let want = ((1.0 - bu) * (1.0 - bv) * sum(0, 0)
            + bu * (1.0 - bv) * sum(1, 0)
            + (1.0 - bu) * bv * sum(0, 1)
            + bu * bv * sum(1, 1))
            / f64::from(nu * nv);
        let got = bench.sample_l([[u, v, 0.0, 0.0]; 2])[0];
        close(got, [want; 4], "mono");
    }
}
