//! Texels by integer address, all pixels at once, beside those pixel by pixel.

use super::lanes::{OTHERS, random_words};
use super::spatial::{INTEGERS, WHOLE, random_desc};
use super::*;
use crate::intel::surface::SurfaceDesc;
use crate::intel::surface::desc::ControlDesc;
use crate::intel::surface::mip::Align;

/// Where the parameters are that there may be.
static ORDER: message::Order = message::Order {
    lod: 3,
    sample: 4,
    control: 5,
    ..message::Order::COORDINATES
};

/// Buffers and samples besides the kinds that samplers know.
fn random_any(rng: &mut fastrand::Rng, format: u32) -> SurfaceDesc {
    let desc = random_desc(rng, format);
    match rng.u32(..7) {
        0 => SurfaceDesc {
            kind: Ok(SurfaceKind::Buffer),
            entries: rng.u32(1..300),
            pitch: 16 * rng.u32(1..3),
            tiling: Tiling::Linear,
            base: desc.base.offset(rng.u32(..64) * 16),
            ..desc
        },
        1 => SurfaceDesc {
            kind: Ok(SurfaceKind::TwoD),
            samples: 4,
            width: desc.width,
            tiling: Tiling::Y,
            ..desc
        },
        2 => SurfaceDesc {
            kind: Ok(SurfaceKind::TwoD),
            samples: [4, 8][rng.usize(..2)],
            sample_slices: true,
            depth: desc.depth.min(3),
            align: Align {
                gap: None,
                ..desc.align
            },
            array: rng.bool(),
            control: rng.bool().then_some(ControlDesc {
                base: desc.base,
                pitch: 128,
            }),
            clear: [true, false, rng.bool(), rng.bool()],
            tiling: Tiling::Y,
            ..desc
        },
        _ => desc,
    }
}

#[test]
fn fetches_are_those_of_single_pixels() {
    let seed = 31;
    let mut rng = fastrand::Rng::with_seed(seed);
    for backwards in [false, true] {
        let mut bench = Bench::with_pages(backwards);
        random_words(&mut bench, &mut rng);
        for case in 0..4000 {
            let format = match rng.u32(..3) {
                0 => INTEGERS[rng.usize(..INTEGERS.len())],
                1 => WHOLE[rng.usize(..WHOLE.len())],
                _ => OTHERS[rng.usize(..OTHERS.len())],
            };
            let desc = random_any(&mut rng, format);
            let simd = [Simd::Simd16, Simd::Simd8][rng.usize(..2)];
            let op = match desc.samples {
                ..=1 => Op::Ld,
                _ => [Op::Ld, Op::LdSample, Op::LdSlice][rng.usize(..3)],
            };
            let request = SamplerRequest {
                shape: Some(message::Shape {
                    op,
                    simd,
                    params: 6,
                }),
                order: &ORDER,
                header: true,
                surface: 2,
                sampler: 1,
                integer: false,
                indexed: rng.bool(),
                selects: false,
            };
            // Some lie outside of the map, near and far.
            let mut number = |most: u32| -> Parameter {
                std::array::from_fn(|_| match rng.u32(..16) {
                    0 => rng.u32(..),
                    1 => rng.u32(..4).wrapping_neg(),
                    _ => rng.u32(..most),
                })
            };
            let wide = if desc.kind == Ok(SurfaceKind::Buffer) {
                310
            } else {
                15
            };
            let parameters = [
                number(wide),
                number(15),
                number(9),
                number(4),
                number(9),
                std::array::from_fn(|_| match rng.u32(..4) {
                    0 => 0xff,
                    1 => u32::MAX,
                    _ => rng.u32(..),
                }),
            ];
            let form = match simd {
                Simd::Simd16 => Form::Simd16,
                _ => Form::Simd8,
            };
            let offsets = if rng.bool() { rng.u32(..) & 0xfff } else { 0 };
            let mut payload = vec![[0, 0, rng.u32(..4) << 12 | offsets, 0x40, 0, 0, 0, 0]];
            payload.extend(pack(form, &parameters));
            let mask = if rng.bool() { 0xffff } else { rng.u16(1..) };
            bench.keep(&desc, Sampler::default());
            assert!(bench.engine.fetch(0).is_some(), "{desc:?}");
            let mut answers = [(); 3].map(|()| vec![[KEEP; 8]; 8]);
            let [once, ready, alone] = &mut answers;
            let msg = message(0, mask, &payload, 8);
            let (mem, ctx) = (&bench.mem, &bench.ctx);
            bench
                .engine
                .execute(&request, &msg, once, mem, ctx)
                .unwrap();
            let served = bench.engine.ready(&request, &msg, mem, ctx).unwrap();
            let pixels = served.serve(&msg, mem, ready);
            let active = request.shape.unwrap().active(mask);
            assert_eq!(pixels, Some(active.count_ones()));
            let decoded = Request::decode(&request, &msg, 0).unwrap();
            let params = Params::new(&msg, decoded.shape, true);
            let job = bench.engine.unfiltered(0, (&decoded, &params));
            job.run(mem, active, alone).unwrap();
            let what = format!("seed {seed} case {case}: {desc:?} {parameters:x?}");
            assert_eq!(once, alone, "{what}");
            assert_eq!(ready, alone, "{what}");
        }
    }
}

/// The levels that a draw has to look at begin with the least one.
#[test]
fn the_range_of_a_surface_has_the_levels_behind_the_least_one() {
    let mut bench = Bench::new();
    let state = surface_2d(f::RGBA8, 16, 16, Tiling::Linear);
    let desc = SurfaceDesc {
        kind: Ok(SurfaceKind::ThreeD),
        depth: 16,
        lod: 0,
        min_lod: 1,
        ..crate::intel::r#gen::gen40::surface::surface(state.dwords())
    };
    bench.keep(&desc, Sampler::default());
    let range = bench.engine.range(GpuAddr::from(STATE + 0x200)).unwrap();
    // Level 1 lies below sixteen slices of sixteen rows, two of its eight slices side by side.
    assert!(range.bytes >= (16 * 16 + 4 * 8) * 1024, "{range:?}");
}
