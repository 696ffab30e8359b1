//! Volumes, cubes, rows, offsets, gradients and gathers beside the general filters.

use super::lanes::{OTHERS, SHADOW, alike, random_words};
use super::*;
use crate::intel::shared::sampler::address::Mode;
use crate::intel::shared::sampler::lod::MipFilter;
use crate::intel::shared::sampler::state::Filter;
use crate::intel::surface::format::codes as c;
use crate::intel::surface::{Format, SurfaceDesc};

/// Where all parameters are that there may be.
static ORDER: message::Order = message::Order {
    r: 2,
    lod: 4,
    reference: 5,
    sample: 4,
    cube: 3,
    dx: [6, 8, 10],
    dy: [7, 9, 11],
    ..message::Order::COORDINATES
};
/// How many there are.
const PARAMETERS: u8 = 12;

pub(super) const WHOLE: [u32; 3] = [f::BGRA8, f::RGBA8, f::BGRX8];
pub(super) const INTEGERS: [u32; 4] = [
    c::R32G32B32A32_UINT,
    c::R8G8B8A8_SINT,
    c::R16_UINT,
    c::R16G16_SINT,
];
const MODES: [Mode; 6] = [
    Mode::Wrap,
    Mode::Mirror,
    Mode::Clamp,
    Mode::Cube,
    Mode::ClampBorder,
    Mode::MirrorOnce,
];

/// A surface of any kind, whose levels and slices lie as any generation has them.
pub(super) fn random_desc(rng: &mut fastrand::Rng, format: u32) -> SurfaceDesc {
    let kinds = [
        SurfaceKind::OneD,
        SurfaceKind::TwoD,
        SurfaceKind::ThreeD,
        SurfaceKind::Cube,
    ];
    let kind = kinds[rng.usize(..4)];
    let (width, mut height) = (rng.u32(1..=14), rng.u32(1..=14));
    let mut depth = rng.u32(1..=9);
    let cube_array = kind == SurfaceKind::Cube && rng.bool();
    match kind {
        SurfaceKind::OneD => height = 1,
        SurfaceKind::Cube => {
            height = width;
            depth = if cube_array { rng.u32(1..=3) } else { 1 };
        }
        SurfaceKind::TwoD if rng.bool() => depth = 1,
        _ => {}
    }
    let largest = match kind {
        SurfaceKind::ThreeD => width.max(height).max(depth),
        _ => width.max(height),
    };
    let levels = (32 - largest.leading_zeros()).min(rng.u32(1..=4));
    let min_lod = rng.u32(..levels.min(3));
    let tiling = [Tiling::Linear, Tiling::X, Tiling::Y][rng.usize(..3)];
    let state = surface_2d(format, width, height, tiling).with_mip_count_lod(levels - 1);
    let elements = matches!(kind, SurfaceKind::OneD | SurfaceKind::TwoD) && depth > 1;
    SurfaceDesc {
        kind: Ok(kind),
        depth,
        entries: width,
        lod: levels - 1 - min_lod,
        min_lod,
        min_array_element: if elements { rng.u32(..3) } else { 0 },
        cube_faces: 0x3f,
        cube_array,
        faces_as_slices: cube_array || rng.bool(),
        levels_right: rng.bool(),
        ..crate::intel::r#gen::gen40::surface::surface(state.dwords())
    }
}

fn random_sampler(rng: &mut fastrand::Rng, kind: SurfaceKind, blends: bool) -> Sampler {
    let mut filter = || {
        if rng.bool() && blends {
            Filter::Linear
        } else {
            Filter::Nearest
        }
    };
    let (min, mag) = (filter(), filter());
    let mut mode = || match MODES[rng.usize(..6)] {
        Mode::ClampBorder if kind == SurfaceKind::Cube => Mode::Cube,
        mode => mode,
    };
    let modes = [mode(), mode(), mode()];
    Sampler {
        min,
        mag,
        modes,
        cube_override: rng.bool(),
        unnormalized: rng.u32(..12) == 0,
        lod: LodControl {
            bias: rng.f32() - 0.5,
            min: rng.f32() * 1.5,
            max: 13.0,
            base: rng.f32(),
            filter: match rng.u32(..3) {
                0 if blends => MipFilter::Linear,
                1 => MipFilter::Nearest,
                _ => MipFilter::None,
            },
            preclamp: rng.bool(),
            ..LodControl::default()
        },
        shadow: rng.u32(..8),
        border: std::array::from_fn(|_| rng.f32() * 2.0 - 0.5).into(),
        ..Sampler::default()
    }
}

/// Parameters of sixteen pixels: subspans whose coordinates change a little or much, with strange ones among them.
fn random_parameters(rng: &mut fastrand::Rng, kind: SurfaceKind) -> Vec<Parameter> {
    let step = [0.001, 0.05, 0.4, 3.0][rng.usize(..4)];
    let few = [0.0, -0.0, 1.0, -1.0, 0.5, f32::NAN, f32::INFINITY, -1e30];
    let cube = kind == SurfaceKind::Cube;
    let mut along = || -> Parameter {
        let from = (rng.f32() - 0.5) * if cube { 2.0 } else { 4.0 };
        let [dx, dy] = std::array::from_fn(|_| (rng.f32() - 0.5) * step);
        // Many directions meet edges of a cube.
        let from = if cube && rng.u32(..3) == 0 {
            from.signum()
        } else {
            from
        };
        std::array::from_fn(|slot| {
            let (x, y, subspan) = ((slot & 1) as f32, (slot >> 1 & 1) as f32, (slot / 4) as f32);
            let value = from + dx * x + dy * y + (dx - dy) * 2.0 * subspan;
            if rng.u32(..60) == 0 {
                few[rng.usize(..8)].to_bits()
            } else {
                value.to_bits()
            }
        })
    };
    let mut all = vec![along(), along(), along()];
    let index = each(|slot| slot as f32 * 0.23 - 0.6);
    let lod = each(|slot| (slot as f32 - 5.0) * 0.4);
    let reference = each(|slot| slot as f32 * 0.1 - 0.2);
    all.extend([index, lod, reference]);
    if kind != SurfaceKind::ThreeD {
        all[2] = each(|slot| slot as f32 * 0.7 - 1.0);
    }
    if cube {
        all[2] = along();
    }
    if kind == SurfaceKind::OneD {
        all[1] = each(|slot| slot as f32 * 0.7 - 1.0);
    }
    for _ in 0..6 {
        all.push(along());
    }
    all
}

impl Bench {
    /// Keeps a surface and a sampler as if messages had brought them.
    pub(super) fn keep(&mut self, desc: &SurfaceDesc, sampler: Sampler) {
        self.bind(
            surface_2d(f::RGBA8, 1, 1, Tiling::Linear),
            super::sampler(NEAREST, CLAMP),
        );
        let mut surface = Surface::new(&self.mem, desc, Use::Sampler).unwrap();
        let stored = gamma::stored(surface.format);
        surface.format = stored.unwrap_or(surface.format);
        let at = GpuAddr::from(STATE + 0x200);
        self.engine.surfaces.push((at, surface, stored.is_some()));
        let table = GpuAddr::from(STATE + 0x840);
        self.engine.samplers.push(((table, 1), sampler));
    }
}

fn request(op: Op, simd: Simd) -> SamplerRequest {
    SamplerRequest {
        shape: Some(message::Shape {
            op,
            simd,
            params: PARAMETERS,
        }),
        order: &ORDER,
        header: true,
        surface: 2,
        sampler: 1,
        integer: false,
        indexed: false,
        selects: false,
    }
}

/// `sample` of all parameters.
pub(super) fn plain_request(simd: Simd) -> SamplerRequest {
    request(Op::Sample, simd)
}

/// What a message gets from the path for pixels at once, from the same with pages resolved, and pixel by pixel.
pub(super) fn answers(
    bench: &mut Bench,
    request: &SamplerRequest,
    payload: &[Grf],
    mask: u16,
) -> [Vec<Grf>; 3] {
    let mut answers = [(); 3].map(|()| vec![[KEEP; 8]; 8]);
    let [once, ready, general] = &mut answers;
    let msg = message(0, mask, payload, 8);
    bench.engine.texels = 0;
    let (mem, ctx) = (&bench.mem, &bench.ctx);
    let served = bench.engine.execute(request, &msg, once, mem, ctx);
    served.unwrap();
    assert_eq!(bench.engine.texels, 0, "by the general path");
    let resolved = bench.resolved(request, &msg, ready);
    assert_eq!(
        resolved,
        Some(request.shape.unwrap().active(mask).count_ones())
    );
    bench.general(request, &msg, None, general);
    answers
}

#[test]
fn other_kinds_and_messages_are_those_of_the_general_filters() {
    let seed = 23;
    let mut rng = fastrand::Rng::with_seed(seed);
    let mut seen = [0; 8];
    for backwards in [false, true] {
        let mut bench = Bench::with_pages(backwards);
        random_words(&mut bench, &mut rng);
        for case in 0..6000 {
            let compares = rng.u32(..5) == 0;
            let integer = !compares && rng.u32(..6) == 0;
            let format = match (compares, integer) {
                (true, _) => SHADOW[rng.usize(..SHADOW.len())],
                (_, true) => INTEGERS[rng.usize(..4)],
                _ if rng.bool() => WHOLE[rng.usize(..3)],
                _ => OTHERS[rng.usize(..OTHERS.len())],
            };
            let desc = random_desc(&mut rng, format);
            let kind = desc.kind.unwrap();
            let sampler = random_sampler(&mut rng, kind, !integer);
            let offsets = kind == SurfaceKind::TwoD || rng.bool();
            let op = match rng.u32(..6) {
                _ if compares => [
                    Op::SampleCompare,
                    Op::SampleBiasCompare,
                    Op::SampleLodCompare,
                ][rng.usize(..3)],
                0 if kind != SurfaceKind::Cube => Op::SampleGradients,
                1 if matches!(kind, SurfaceKind::TwoD | SurfaceKind::Cube) => Op::Gather4,
                2 => Op::SampleLod,
                3 => Op::SampleBias,
                _ => Op::Sample,
            };
            let simd = if rng.bool() {
                Simd::Simd16
            } else {
                Simd::Simd8
            };
            let mut header = [0, 0, rng.u32(..4) << 12, 0x40, 0, 0, 0, 0];
            if offsets {
                // Of maps of two dimensions at least one is there.
                header[2] |= rng.u32(..) & 0xfff | 0x100;
            }
            header[2] |= u32::from(rng.u32(..10) == 0) << 16;
            let request = request(op, simd);
            let form = if simd == Simd::Simd16 {
                Form::Simd16
            } else {
                Form::Simd8
            };
            let mut parameters = random_parameters(&mut rng, kind);
            if sampler.unnormalized {
                // Texels instead of maps; those of the nearest filter are often met exactly.
                for value in parameters[..3].iter_mut().flatten() {
                    *value = (f32::from_bits(*value) * 6.0).to_bits();
                    if rng.bool() {
                        *value = f32::from_bits(*value).round().to_bits();
                    }
                }
            }
            let mut payload = vec![header];
            payload.extend(pack(form, &parameters));
            let mask = if rng.bool() { 0xffff } else { rng.u16(1..) };
            bench.keep(&desc, sampler);
            seen[kind as usize] += 1;
            let [once, ready, general] = answers(&mut bench, &request, &payload, mask);
            for (register, ((once, ready), general)) in
                once.iter().zip(&ready).zip(&general).enumerate()
            {
                for slot in 0..8 {
                    let (a, b, want) = (once[slot], ready[slot], general[slot]);
                    assert!(
                        alike(a, b) && alike(a, want),
                        "seed {seed} case {case}: register {register} slot {slot}: {a:#x} {b:#x} for {want:#x}: {op:?} \
                         {:?} {desc:?} {sampler:?} {header:x?}",
                        Format::layout(format)
                    );
                }
            }
        }
    }
    assert!(seen[..4].iter().all(|&seen| seen > 1000), "{seen:?}");
}
