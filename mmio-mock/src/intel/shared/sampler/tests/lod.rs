//! Level of detail: gradients, bias, clamps, base level, mip levels.

use super::*;
use crate::intel::shared::sampler::lod::MipFilter;

const LINEAR_LEVEL: u32 = values::mipfilter::MIPFILTER_LINEAR;
const NEAREST_LEVEL: u32 = values::mipfilter::MIPFILTER_NEAREST;

/// Level n of a map holds n everywhere.
fn numbered(bench: &mut Bench, state: SurfaceState, levels: u32) -> SurfaceState {
    let state = state.with_mip_count_lod(levels - 1);
    for level in 0..levels {
        bench.fill(state, level, |_, _, _| (level as f32).to_bits());
    }
    state
}

fn trilinear() -> SamplerState {
    sampler(NEAREST, CLAMP).with_mip_mode_filter(LINEAR_LEVEL)
}

/// Two subspans whose pixels are `dx` and `dy` texels apart.
fn subspans(dx: [f32; 3], dy: [f32; 3], size: [f32; 3]) -> [[f32; 3]; 8] {
    std::array::from_fn(|n| {
        let (x, y) = ((n % 2) as f32, (n % 4 / 2) as f32);
        std::array::from_fn(|d| (dx[d] * x + dy[d] * y) / size[d])
    })
}

fn ideal(dx: [f32; 3], dy: [f32; 3]) -> f64 {
    let length = |d: [f32; 3]| d.map(|v| f64::from(v).powi(2)).iter().sum::<f64>().sqrt();
    length(dx).max(length(dy)).log2()
}

// covers: 4.2.1.1-01, 4.2.1.1-02, 4.2.1-03, 4.2-01
#[test]
fn lod_is_the_logarithm_of_the_longer_gradient() {
    let mut bench = Bench::new();
    let flat = surface_2d(f::R32F, 64, 16, Tiling::Linear);
    let flat = numbered(&mut bench, flat, 7);
    bench.bind(flat, trilinear());
    let gradients = [
        ([3.0, 4.0, 0.0], [1.0, 1.0, 0.0]),
        ([0.5, 0.0, 0.0], [-6.0, 2.5, 0.0]),
        ([-2.0, -2.0, 0.0], [1.9, 1.9, 0.0]),
        ([0.0, 9.0, 0.0], [30.0, 0.25, 0.0]),
        ([0.3, 0.1, 0.0], [0.2, 0.7, 0.0]),
    ];
    for (dx, dy) in gradients {
        let want = ideal(dx, dy).clamp(0.0, 6.0);
        // The third coordinate of a flat map is an index: its differences do not count.
        let points = subspans(dx, dy, [64.0, 16.0, 1.0]);
        for got in bench.sample8(points) {
            assert!((f64::from(got[0]) - want).abs() < 1e-4, "{dx:?} {dy:?}");
        }
    }
    let solid = surface_2d(f::R32F, 32, 16, Tiling::Linear)
        .with_surface_type(values::surftype::SURFTYPE_3D)
        .with_depth(7);
    let solid = numbered(&mut bench, solid, 6);
    bench.bind(solid, trilinear());
    let gradients = [
        ([1.0, 2.0, 2.0], [1.0, 0.0, 0.0]),
        ([0.0, 0.0, 0.5], [2.0, 3.0, 6.0]),
        ([0.0, 0.0, -7.0], [6.0, 0.0, 0.0]),
    ];
    for (dx, dy) in gradients {
        let want = ideal(dx, dy);
        for got in bench.sample8(subspans(dx, dy, [32.0, 16.0, 8.0])) {
            assert!((f64::from(got[0]) - want).abs() < 1e-4, "{dx:?} {dy:?}");
        }
    }
    // A line has one gradient, whatever the index does.
    let line =
        surface_2d(f::R32F, 64, 1, Tiling::Linear).with_surface_type(values::surftype::SURFTYPE_1D);
    let line = numbered(&mut bench, line, 7);
    bench.bind(line, trilinear());
    for got in bench.sample8(subspans(
        [4.0, 50.0, 0.0],
        [2.0, 9.0, 0.0],
        [64.0, 1.0, 1.0],
    )) {
        assert_eq!(got[0], 2.0);
    }
}

/// The formula of ARB_texture_query_lod, on a map that other messages sample by a short way.
#[test]
fn a_query_of_the_lod_takes_no_sample() {
    use crate::intel::shared::sampler::message::{Op, Shape};
    let mut bench = Bench::new();
    let state = surface_2d(f::RGBA8, 8, 8, Tiling::Linear).with_mip_count_lod(3);
    for level in 0..4 {
        bench.fill(state, level, |_, _, _| 0xffff_ffff);
    }
    let control = 1 << 8 | 2;
    let mut request = crate::intel::r#gen::gen40::message::sampler(control, 4);
    request.shape = request.shape.map(|shape| Shape {
        op: Op::Lod,
        ..shape
    });
    for (filter, used) in [(trilinear(), 1.5), (sampler(NEAREST, CLAMP), 0.0)] {
        bench.bind(state, filter);
        let apart = 1.5f32.exp2();
        let points = subspans([apart, 0.0, 0.0], [0.0, apart, 0.0], [8.0; 3]);
        let mut payload = vec![[0, 0, 0, 0x40, 0, 0, 0, 0]];
        payload.extend((0..3).map(|axis| points.map(|at| at[axis].to_bits())));
        let mut w = [[0; 8]; 4];
        bench
            .deliver(&request, u32::from(control), &payload, &mut w)
            .unwrap();
        for (got, want) in w.iter().zip([used, 1.5]) {
            for got in got.map(f32::from_bits) {
                assert!((got - want).abs() < 1e-4, "{got} for {want}");
            }
        }
    }
}

// covers: 4.8-03, 4.8-04, 4.8-05, 4.8.2.1-02
#[test]
fn one_lit_pixel_of_a_subspan_is_enough() {
    let mut bench = Bench::new();
    let state = surface_2d(f::R32F, 64, 64, Tiling::Linear);
    let state = numbered(&mut bench, state, 7);
    bench.bind(state, trilinear());
    let four = subspans([4.0, 0.0, 0.0], [0.0, 1.0, 0.0], [64.0; 3]);
    let column = |axis: usize| each(|slot| four[slot % 8][axis]);
    for lit in [1u16, 0x8000, 0x0880, 0x4210] {
        bench.mask = lit;
        let answer = bench.message((0, 5), Form::Simd16, &[column(0), column(1)]);
        for (slot, rgba) in answer.into_iter().enumerate() {
            let written = lit >> slot & 1 != 0;
            let want = if written { 2f32.to_bits() } else { KEEP };
            assert_eq!(rgba[0], want, "mask {lit:#x} pixel {slot}");
        }
        // Eight pixels have the low byte of the mask.
        let parameters = [column(0), column(1), each(|_| 0.0)];
        let answer = bench.message((0, 4), Form::Simd8, &parameters);
        for (slot, rgba) in answer.into_iter().enumerate() {
            let written = lit >> slot & 1 != 0;
            let want = if written { 2f32.to_bits() } else { KEEP };
            assert_eq!(rgba[0], want, "mask {lit:#x} pixel {slot} of 8");
        }
    }
}

// covers: 4.2.1.2-01, 4.2.1.2-02, 4.2.1.5-06, 4.2.1-04, 4.7.3-04, 4.2.1.3-01, 4.2.1.3-02, 4.2.1.4-01, 4.2.1-05
#[test]
fn bias_and_clamps_come_before_the_choice_of_filter() {
    let mut bench = Bench::new();
    // 0 and 1 in turn on level 0, a tenth more on each further level: nearest gives whole steps.
    let state = surface_2d(f::R32F, 8, 8, Tiling::Linear).with_mip_count_lod(3);
    for level in 0..4 {
        bench.fill(state, level, |x, _, _| {
            ((x & 1) as f32 + 0.1 * level as f32).to_bits()
        });
    }
    let mixed = sampler(NEAREST, CLAMP)
        .with_mag_mode_filter(LINEAR)
        .with_lod_preclamp_enable(false);
    // A texel a pixel and on the border of two texels: linear gives the mean.
    let points = |step: f32| subspans([step, 0.0, 0.0], [0.0, step, 0.0], [8.0; 3]);
    let points = |step: f32| points(step).map(|[u, v, r]| [u + 0.5, v + 0.5, r]);
    let first = |bench: &mut Bench, state, sampler, step| {
        bench.bind(state, sampler);
        bench.sample8(points(step))[0][0]
    };
    let (magnified, minified) = (0.5, 0.0);
    assert_eq!(first(&mut bench, state, mixed, 1.0), magnified, "LOD 0");
    assert_eq!(first(&mut bench, state, mixed, 2.0), minified, "LOD 1");
    // The bias moves the change from one to the other.
    let biased = |bias| mixed.with_texture_lod_bias(bias);
    assert_eq!(first(&mut bench, state, biased(0.5), 1.0), minified);
    assert_eq!(first(&mut bench, state, biased(-1.0), 2.0), magnified);
    assert_eq!(first(&mut bench, state, biased(-0.5), 2.0), minified);
    // And the levels too.
    let near = |s: SamplerState| s.with_mip_mode_filter(NEAREST_LEVEL);
    let got = first(&mut bench, state, near(biased(2.0)), 1.0);
    assert!(
        (got - 1.2).abs() < 1e-6 || (got - 0.2).abs() < 1e-6,
        "{got}"
    );
    // The base level.
    let based = |base| mixed.with_base_mip_level(base);
    assert_eq!(first(&mut bench, state, based(1.0), 2.0), magnified);
    assert_eq!(first(&mut bench, state, based(0.5), 2.0), minified);
    assert_eq!(first(&mut bench, state, based(2.0), 4.0), magnified);
    assert_eq!(first(&mut bench, state, based(1.5), 4.0), minified);
    // Clamps count before the choice when they are enabled, fractions included.
    let min = mixed.with_min_lod(0.25);
    assert_eq!(first(&mut bench, state, min, 1.0), magnified);
    let pre = min.with_lod_preclamp_enable(true);
    assert_eq!(first(&mut bench, state, pre, 1.0), minified);
    let max = mixed.with_max_lod(0.0);
    assert_eq!(first(&mut bench, state, max, 4.0), minified);
    let pre = max.with_lod_preclamp_enable(true);
    assert_eq!(first(&mut bench, state, pre, 4.0), magnified);
    let pre = pre.with_max_lod(0.25);
    assert_eq!(first(&mut bench, state, pre, 4.0), minified);
}

// covers: 4.2.1-01, 4.2.1-02
#[test]
fn fourteen_levels_from_8192_to_one() {
    let mut bench = Bench::new();
    // Level 1 below level 0, levels 2 to 13 right of it and below one another.
    let row = 8192 + (1..12).map(|n| 1 << n).sum::<u32>();
    let last = row * 8192 + 4096;
    let mut state = surface_2d(f::L8, 8192, 8192, Tiling::Linear)
        .with_surface_pitch(8191)
        .with_mip_count_lod(13);
    state.0[1] = DATA.wrapping_sub(last);
    bench.mem.write_u8(GpuAddr::from(DATA), 0x33).unwrap();
    bench.bind(
        state,
        sampler(NEAREST, CLAMP).with_mip_mode_filter(NEAREST_LEVEL),
    );
    assert_eq!(bench.at_lod(0.9, 0.9, 0.0, 13.0), [0.2, 0.2, 0.2, 1.0]);
    let sizes = |bench: &mut Bench, state| {
        bench.bind(state, SamplerState::new());
        let lod: Parameter = std::array::from_fn(|slot| slot as u32);
        let mut payload = vec![[0; 8]];
        payload.extend(pack(Form::Simd16, &[lod]));
        let mut w = [[0; 8]; 8];
        bench
            .send_raw(2 << 14 | 2 << 12 | 2, &payload, &mut w)
            .unwrap();
        unpack(Form::Simd16, &w)
    };
    for (lod, got) in sizes(&mut bench, state)[..14].iter().enumerate() {
        assert_eq!(*got, [8192 >> lod, 8192 >> lod, 0, 14]);
    }
    // Any size will do.
    let odd = surface_2d(f::L8, 37, 5, Tiling::Linear).with_mip_count_lod(5);
    let got: Vec<_> = sizes(&mut bench, odd)[..6]
        .iter()
        .map(|s| (s[0], s[1]))
        .collect();
    assert_eq!(got, [(37, 5), (18, 2), (9, 1), (4, 1), (2, 1), (1, 1)]);
    let odd = surface_2d(f::R32F, 37, 5, Tiling::Linear).with_mip_count_lod(5);
    for level in 0..6 {
        bench.fill(odd, level, |x, y, _| ((x + 100 * y) as f32).to_bits());
    }
    bench.bind(
        odd,
        sampler(NEAREST, CLAMP).with_mip_mode_filter(NEAREST_LEVEL),
    );
    for (level, (width, height)) in (0u8..).zip(got) {
        let got = bench.at_lod(0.99, 0.99, 0.0, f32::from(level))[0];
        assert_eq!(got, (width - 1 + 100 * (height - 1)) as f32, "{level}");
    }
}

/// The pseudocode of PRM 4.2.1.5, in its words: filter, level, fraction.
///
/// Pre-clamping is by the sampler's own limits, as the pseudocode of later manuals has it: with MIPCnt among them a map
/// of one level could never be minified.
fn pseudocode(c: &LodControl, computed: f64, bias: f64, given: Option<f64>) -> (bool, f64, f64) {
    let [own, min, max, base, count, surface_min] =
        [c.bias, c.min, c.max, c.base, c.mip_count, c.surface_min].map(f64::from);
    let max_lod = max.min(count) + surface_min;
    let min_lod = min.min(count) + surface_min;
    let mut lod = match given {
        Some(given) => own + given + surface_min,
        None => computed + own + bias,
    };
    if c.preclamp {
        lod = lod.min(max + surface_min);
        lod = lod.max(min + surface_min);
    }
    let mag = lod - base <= 0.0;
    if mag || c.filter == MipFilter::None {
        lod = 0.0;
        lod = lod.min(max_lod.ceil());
        lod = lod.max(min_lod.floor());
        (mag, lod, 0.0)
    } else if c.filter == MipFilter::Nearest {
        lod += 0.5;
        lod = lod.min(max_lod.ceil());
        lod = lod.max(min_lod.floor());
        (mag, lod.floor(), 0.0)
    } else {
        lod = lod.min(max_lod);
        lod = lod.max(min_lod);
        (mag, lod.floor(), lod.fract())
    }
}

// covers: 4.2.1.5-03, 4.2.1.5-04, 4.2.1.5-05, 4.2.1.5-06, 4.2.1.5-07, 4.2.1.5-08, 4.2.1.5-09, 4.2.1.5-10, 4.2.1.5-11, 4.2.2-01, 4.2.2-02, 4.2.2-03, 4.2.2-04, 4.2.1.4-02, 4.2.1.4-03, 4.7.3-07, 4.7.3-21, 4.7.2-48
#[test]
fn levels_follow_the_pseudocode() {
    let mut cases = 0;
    for filter in [MipFilter::None, MipFilter::Nearest, MipFilter::Linear] {
        for n in 0..1u32 << 12 {
            // Bits choose from short lists of limits that cross one another.
            let pick = |shift: u32, list: [f32; 4]| list[(n >> shift & 3) as usize];
            let control = LodControl {
                bias: pick(0, [0.0, -1.25, 0.5, 3.0]),
                min: pick(2, [0.0, 1.5, 2.0, 6.75]),
                max: pick(4, [13.0, 0.0, 3.25, 5.0]),
                base: if n & 1 << 6 == 0 { 0.0 } else { 1.5 },
                filter,
                preclamp: n & 1 << 7 == 0,
                mip_count: pick(8, [13.0, 0.0, 2.0, 6.0]),
                surface_min: pick(10, [0.0, 0.0, 1.0, 4.0]),
            };
            for lod in [-3.0f32, 0.0, 0.25, 0.5, 1.75, 2.5, 4.0, 9.5] {
                for (levels, bias, given) in [
                    (control.computed(lod, 0.0), 0.0, None),
                    (control.computed(lod, 1.25), 1.25, None),
                    (control.given(lod), 0.0, Some(f64::from(lod))),
                ] {
                    let want = pseudocode(&control, f64::from(lod), bias, given);
                    let got = (levels.mag, f64::from(levels.level), f64::from(levels.beta));
                    assert_eq!(got, want, "{control:?} at {lod} {bias} {given:?}");
                    cases += 1;
                }
            }
        }
    }
    assert_eq!(cases, 3 * 4096 * 8 * 3);
}

// covers: 4.2.1.3-03, 4.2.1.3-04, 4.2.1.3-05, 4.7.3-20, 4.7.3-24
#[test]
fn limits_of_the_sampler_bound_the_levels() {
    let mut bench = Bench::new();
    let state = surface_2d(f::R32F, 64, 64, Tiling::Linear);
    let state = numbered(&mut bench, state, 7);
    for (min, max) in [
        (0.0, 13.0),
        (4.5, 13.0),
        (0.0, 2.25),
        (1.5, 3.5),
        (3.0, 3.0),
    ] {
        let limits = trilinear().with_min_lod(min).with_max_lod(max);
        for preclamp in [false, true] {
            bench.bind(state, limits.with_lod_preclamp_enable(preclamp));
            for lod in [0.5f32, 1.0, 2.0, 4.75, 6.0, 12.0] {
                let want = lod.clamp(min, max).min(6.0);
                let got = bench.at_lod(0.5, 0.5, 0.0, lod)[0];
                assert_eq!(got, want, "{min}..{max} at {lod}");
            }
        }
        // Whole levels: up to the next above the maximum, down to the whole part of the minimum.
        bench.bind(
            state,
            limits
                .with_mip_mode_filter(NEAREST_LEVEL)
                .with_lod_preclamp_enable(false),
        );
        assert_eq!(bench.at_lod(0.5, 0.5, 0.0, 12.0)[0], max.ceil().min(6.0));
        assert_eq!(bench.at_lod(0.5, 0.5, 0.0, -5.0)[0], min.floor());
    }
}

// covers: 4.7.2-47, 4.7.2-48, 4.7.2-59, 4.2.1.5-03
#[test]
fn limits_of_the_surface_bound_the_levels() {
    let mut bench = Bench::new();
    let state = surface_2d(f::R32F, 64, 64, Tiling::Linear);
    let state = numbered(&mut bench, state, 7);
    for (first, count) in [(0u32, 0u32), (0, 3), (2, 0), (2, 3), (3, 3)] {
        let view = state.with_surface_min_lod(first).with_mip_count_lod(count);
        let (low, high) = (first as f32, (first + count) as f32);
        for (filter, step) in [(NEAREST_LEVEL, 1.0), (LINEAR_LEVEL, 0.25)] {
            bench.bind(view, sampler(NEAREST, CLAMP).with_mip_mode_filter(filter));
            // sample_l counts from the first level.
            for n in 0..8 {
                let lod = n as f32 * step;
                let got = bench.at_lod(0.5, 0.5, 0.0, lod)[0];
                assert_eq!(got, (lod + low).min(high), "{first} {count} {filter} {lod}");
            }
        }
        // sample computes the LOD of the whole map.
        bench.bind(view, trilinear());
        for (step, lod) in [(1.0f32, 0.0f32), (4.0, 2.0), (8.0, 3.0), (32.0, 5.0)] {
            let points = subspans([step, 0.0, 0.0], [0.0; 3], [64.0; 3]);
            assert_eq!(bench.sample8(points)[0][0], lod.clamp(low, high));
        }
        // ld does not leave the view.
        for lod in 0..6u32 {
            let parameters = [[0; 16], [0; 16], [0; 16], [lod; 16]];
            let got = bench.message((3, 9), Form::Simd16, &parameters)[0][0];
            let want = if lod <= count { low + lod as f32 } else { 0.0 };
            assert_eq!(f32::from_bits(got), want, "ld {first} {count} {lod}");
        }
    }
}

// covers: 4.8.1.2-03, 4.7.3-15, 4.7.3-14
#[test]
fn force_lod_to_zero_replaces_the_computed_lod_alone() {
    let mut bench = Bench::new();
    let state = surface_2d(f::R32F, 64, 64, Tiling::Linear);
    let state = numbered(&mut bench, state, 7);
    bench.header2 = 1 << 16;
    let sixteen = subspans([16.0, 0.0, 0.0], [0.0, 16.0, 0.0], [64.0; 3]);
    bench.bind(state, trilinear());
    assert_eq!(bench.sample8(sixteen)[0][0], 0.0);
    bench.bind(state, trilinear().with_texture_lod_bias(1.5));
    assert_eq!(bench.sample8(sixteen)[0][0], 1.5, "bias");
    bench.bind(state, trilinear().with_min_lod(2.0));
    assert_eq!(bench.sample8(sixteen)[0][0], 2.0, "clamps");
    bench.bind(state, trilinear());
    assert_eq!(bench.at_lod(0.5, 0.5, 0.0, 3.0)[0], 3.0, "sample_l's LOD");
    let [u, v] = [0, 1].map(|axis| each(|slot| sixteen[slot % 8][axis]));
    let bias = each(|_| 2.0);
    let answer = bench.message((0, 9), Form::Simd16, &[u, v, each(|_| 0.0), bias]);
    assert_eq!(f32::from_bits(answer[7][0]), 2.0, "sample_b's bias");
    // Anisotropy stays on: 8 texels wide along u, a stripe of 16 texels shows in the neighbour's place.
    let stripes = surface_2d(f::R32F, 64, 64, Tiling::Linear);
    bench.fill(stripes, 0, |x, _, _| ((x >> 2 & 1) as f32).to_bits());
    let points = subspans([8.0, 0.0, 0.0], [0.0, 1.0, 0.0], [64.0; 3])
        .map(|[u, v, r]| [u + 18.0 / 64.0, v + 0.5, r]);
    let anisotropic = values::mapfilter::MAPFILTER_ANISOTROPIC;
    bench.bind(
        stripes,
        sampler(anisotropic, CLAMP).with_maximum_anisotropy(7),
    );
    let got = bench.sample8(points)[0][0];
    assert!((got - 0.5).abs() < 0.05, "eight texels in a row: {got}");
    let linear = bench.at_lod(18.0 / 64.0, 0.5, 0.0, 0.0)[0];
    assert_eq!(linear, 0.0, "sample_l sees the middle of its stripe");
}
