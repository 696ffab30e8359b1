//! The path for all pixels of a message beside the general one.

use super::*;
use crate::intel::surface::format::codes as c;

const MODES: [u32; 4] = [
    values::texture_coordinate_mode::TEXCOORDMODE_WRAP,
    values::texture_coordinate_mode::TEXCOORDMODE_MIRROR,
    values::texture_coordinate_mode::TEXCOORDMODE_CLAMP,
    values::texture_coordinate_mode::TEXCOORDMODE_CUBE,
];
const MIPS: [u32; 3] = [
    values::mipfilter::MIPFILTER_NONE,
    values::mipfilter::MIPFILTER_NEAREST,
    values::mipfilter::MIPFILTER_LINEAR,
];

/// Type, layout, length and parameters: `sample` and `sample_l` of both widths, `sample_b`.
const MESSAGES: [(u16, Form, usize, usize); 5] = [
    (0, Form::Simd16, 5, 2),
    (0, Form::Simd16, 7, 3),
    (0, Form::Simd8, 4, 3),
    (0, Form::Simd16, 9, 4),
    (1, Form::Simd16, 9, 4),
];

/// Formats of four bytes that are blended as whole numbers, with those of the same bytes as numbers.
const WHOLE: [(u32, bool, bool); 4] = [
    (f::BGRA8, true, false),
    (f::RGBA8, false, false),
    (f::BGRX8, true, true),
    (c::R8G8B8X8_UNORM, false, true),
];

/// Formats whose texels become numbers one by one.
pub(super) const OTHERS: [u32; 27] = [
    c::R8G8B8A8_UNORM_SRGB,
    c::B8G8R8A8_UNORM_SRGB,
    c::R8_UNORM,
    c::R8G8_UNORM,
    c::R8_SNORM,
    c::R8G8B8A8_SNORM,
    c::L8_UNORM,
    c::A8_UNORM,
    c::I8_UNORM,
    c::L8A8_UNORM,
    c::B5G6R5_UNORM,
    c::B5G5R5A1_UNORM,
    c::B4G4R4A4_UNORM,
    c::R10G10B10A2_UNORM,
    c::R11G11B10_FLOAT,
    c::R16_UNORM,
    c::R16G16_UNORM,
    c::R16_FLOAT,
    c::R16G16_FLOAT,
    c::R16G16B16A16_FLOAT,
    c::R16G16B16A16_UNORM,
    c::R16G16B16A16_SNORM,
    c::R32_FLOAT,
    c::R32G32_FLOAT,
    c::R32G32B32A32_FLOAT,
    c::L16_UNORM,
    c::I24X8_UNORM,
];

/// Formats that comparisons are for.
pub(super) const SHADOW: [u32; 5] = [
    c::I24X8_UNORM,
    c::L24X8_UNORM,
    c::A24X8_UNORM,
    c::R32_FLOAT,
    c::I16_UNORM,
];

fn random_surface(rng: &mut fastrand::Rng, format: u32) -> SurfaceState {
    let tiling = [Tiling::Linear, Tiling::X, Tiling::Y][rng.usize(..3)];
    let (width, height) = (rng.u32(1..=60), rng.u32(1..=40));
    let levels = (32 - width.max(height).leading_zeros()).min(rng.u32(1..=7));
    let slices = if rng.bool() { 1 } else { rng.u32(2..=3) };
    surface_2d(format, width, height, tiling)
        .with_mip_count_lod(levels - 1)
        .with_depth(slices - 1)
        .with_minimum_array_element(if slices > 2 { rng.u32(0..2) } else { 0 })
        // Not always at the beginning of a page.
        .with_surface_base_address(match tiling {
            Tiling::Linear => DATA + rng.u32(..300) * 16,
            _ => DATA,
        })
}

fn random_sampler(rng: &mut fastrand::Rng, border: bool) -> SamplerState {
    let mut filter = || if rng.bool() { LINEAR } else { NEAREST };
    let (min, mag) = (filter(), filter());
    let mut mode = || match rng.u32(..3) {
        0 if border => BORDER_MODE,
        _ => MODES[rng.usize(..MODES.len())],
    };
    let modes = (mode(), mode());
    sampler(min, modes.0)
        .with_mag_mode_filter(mag)
        .with_tcy_address_control_mode(modes.1)
        .with_mip_mode_filter(MIPS[rng.usize(..3)])
        .with_min_lod(rng.f32() * 2.0)
        .with_lod_preclamp_enable(rng.bool())
        .with_base_mip_level(rng.f32())
        .with_shadow_function(rng.u32(..8))
}

/// Texture coordinates in all four directions, magnified, minified and far outside; some that are no numbers.
fn random_coordinates(rng: &mut fastrand::Rng) -> [Parameter; 2] {
    let step = [0.001, 0.02, 0.3, 7.0][rng.usize(..4)];
    let [a, b, c, d] = std::array::from_fn(|_| (rng.f32() - 0.5) * step);
    let [u, v] = std::array::from_fn(|_| (rng.f32() - 0.5) * 4.0);
    let mut strange = || rng.u32(..200) == 0;
    let place = |slot: usize| ((slot & 1) as f32, (slot >> 1 & 1) as f32, (slot / 4) as f32);
    let mut along = |from: f32, dx: f32, dy: f32| {
        std::array::from_fn(|slot| {
            let (x, y, subspan) = place(slot);
            let value = from + dx * x + dy * y + (dx - dy) * 2.0 * subspan;
            if strange() { f32::NAN } else { value }.to_bits()
        })
    };
    [along(u, a, b), along(v, c, d)]
}

impl Bench {
    /// A bench whose pages lie in the order of their addresses, or the other way round.
    pub(super) fn with_pages(backwards: bool) -> Self {
        let mut bench = Bench::new();
        if backwards {
            let pages = 0x10_0000 / 0x1000;
            for page in (0..pages).rev() {
                let at = GpuAddr::from(DATA + page * 0x1000);
                bench.mem.alloc_mapped(at, 0x1000).unwrap();
            }
        }
        bench
    }

    /// What a message gets from the path that looks all pages up before.
    pub(super) fn resolved(
        &self,
        request: &SamplerRequest,
        msg: &Message<'_>,
        w: &mut [Grf],
    ) -> Option<u32> {
        let ready = self.engine.ready(request, msg, &self.mem, &self.ctx);
        let ready = ready.expect("it has been served before");
        assert!(ready.pages.is_some());
        ready.serve(msg, &self.mem, w)
    }

    /// What a message gets from the general filters, of a surface of a format.
    pub(super) fn general(
        &self,
        request: &SamplerRequest,
        msg: &Message<'_>,
        format: Option<u32>,
        w: &mut [Grf],
    ) {
        let header = request.header;
        let request = Request::decode(request, msg, 0).unwrap();
        let params = Params::new(msg, request.shape, header);
        let (_, surface, encoded) = &self.engine.surfaces[0];
        let mut surface = surface.clone();
        if let Some(format) = format {
            surface.format = crate::intel::surface::Format::layout(format).unwrap();
        }
        let sampler = &self.engine.samplers[0].1;
        let tables = &self.engine.tables;
        let mut job = Job::new(&request, &params, (&surface, tables), sampler, &self.mem);
        job.convert(encoded.then(|| Curve::new(Gamma::Linear, surface.format)));
        job.run(request.shape.active(msg.exec_mask), w).unwrap();
    }
}

/// Whether words are the same, or both some NaN.
pub(super) fn alike(a: u32, b: u32) -> bool {
    a == b || f32::from_bits(a).is_nan() && f32::from_bits(b).is_nan()
}

/// A message that any of the paths may serve.
struct Case {
    surface: SurfaceState,
    sampler: SamplerState,
    request: SamplerRequest,
    payload: Vec<Grf>,
    mask: u16,
    form: Form,
}

impl Case {
    fn new(rng: &mut fastrand::Rng, format: u32, compares: bool, border: bool) -> Case {
        let surface = random_surface(rng, format);
        let sampler = random_sampler(rng, border);
        let coordinates = random_coordinates(rng);
        let (kind, form, _, count) = MESSAGES[rng.usize(..MESSAGES.len())];
        let slice = each(|slot| (slot / 4) as f32 * 0.7);
        let lod = each(|slot| (slot as f32 - 5.0) * 0.4);
        let all = [coordinates[0], coordinates[1], slice, lod];
        let mut payload = vec![[0, 0, rng.u32(..4) << 12, 0x40, 0, 0, 0, 0]];
        payload.extend(pack(form, &all[..count]));
        let control = kind << 14 | 1 << 8 | 2;
        let mut request = crate::intel::r#gen::gen40::message::sampler(control, payload.len());
        let reference = message::Order {
            reference: 0,
            ..*request.order
        };
        if compares {
            // The first coordinate is the reference as well.
            request.order = Box::leak(Box::new(reference));
            request.shape = request.shape.map(|shape| message::Shape {
                op: match shape.op {
                    Op::SampleLod => Op::SampleLodCompare,
                    Op::SampleBias => Op::SampleBiasCompare,
                    _ => Op::SampleCompare,
                },
                ..shape
            });
        }
        Case {
            surface,
            sampler,
            request,
            payload,
            mask: if rng.bool() { 0xffff } else { rng.u16(1..) },
            form,
        }
    }

    /// The answers of the path for one message, of the one with pages resolved, and of the general filters; each with
    /// what nobody has written.
    fn answers(&self, bench: &mut Bench, format: Option<u32>, what: &str) -> [Vec<Grf>; 3] {
        bench.bind(self.surface, self.sampler);
        let registers = if self.form == Form::Simd16 { 8 } else { 4 };
        let mut answers = [(); 3].map(|()| vec![[KEEP; 8]; registers]);
        let [once, ready, general] = &mut answers;
        let msg = message(1 << 8 | 2, self.mask, &self.payload, registers);
        bench.engine.texels = 0;
        let (mem, ctx) = (&bench.mem, &bench.ctx);
        let served = bench.engine.execute(&self.request, &msg, once, mem, ctx);
        served.unwrap();
        assert_eq!(bench.engine.texels, 0, "{what}: by the general path");
        bench.resolved(&self.request, &msg, ready).unwrap();
        bench.general(&self.request, &msg, format, general);
        answers
    }
}

pub(super) fn random_words(bench: &mut Bench, rng: &mut fastrand::Rng) {
    let words: Vec<u32> = (0..0x10_0000 / 4)
        .map(|_| match rng.u32(..8) {
            // Floats of 32 and 16 bits that are no strange ones.
            0..4 => (rng.f32() * 8.0 - 4.0).to_bits(),
            4 | 5 => rng.u32(..) & 0xbfff_bfff,
            _ => rng.u32(..),
        })
        .collect();
    bench.mem.write_dwords(GpuAddr::from(DATA), &words).unwrap();
}

/// Bytes as whole numbers through the general filters, scaled behind them: what the head of `lanes.rs` says.
#[test]
fn bytes_are_scaled_behind_the_filters() {
    let seed = 7;
    let mut rng = fastrand::Rng::with_seed(seed);
    for backwards in [false, true] {
        let mut bench = Bench::with_pages(backwards);
        random_words(&mut bench, &mut rng);
        for case in 0..1500 {
            let (format, swapped, opaque) = WHOLE[rng.usize(..4)];
            let message = Case::new(&mut rng, format, false, false);
            let what = format!("seed {seed} case {case}");
            let [once, ready, general] =
                message.answers(&mut bench, Some(c::R8G8B8A8_USCALED), &what);
            assert_eq!(once, ready, "{what}");
            // Without the channels that a message masks.
            let masked = message.payload[0][2] >> 12 & 0xf;
            let halves = if message.form == Form::Simd16 { 2 } else { 1 };
            let mut plain = message;
            plain.payload[0][2] = 0;
            let [_, _, whole] = plain.answers(&mut bench, Some(c::R8G8B8A8_USCALED), &what);
            let mut next = 0;
            for channel in 0..4usize {
                if masked >> channel & 1 != 0 {
                    continue;
                }
                let place = if halves == 2 { next } else { channel };
                next += 1;
                let from = if swapped { [2, 1, 0, 3] } else { [0, 1, 2, 3] }[channel];
                for half in 0..halves {
                    for slot in 0..8 {
                        let lit = plain.mask >> (half * 8 + slot) & 1 != 0;
                        let value = f32::from_bits(whole[from * halves + half][slot]) / 255.0;
                        let want = match (lit, channel) {
                            (false, _) => KEEP,
                            (true, 3) if opaque => 1f32.to_bits(),
                            _ => value.to_bits(),
                        };
                        let got = once[place * halves + half][slot];
                        assert_eq!(got, want, "{what} channel {channel} pixel {slot}");
                    }
                }
            }
            drop(general);
        }
    }
}

#[test]
fn other_formats_and_borders_are_those_of_the_general_filters() {
    let seed = 11;
    let mut rng = fastrand::Rng::with_seed(seed);
    for backwards in [false, true] {
        let mut bench = Bench::with_pages(backwards);
        random_words(&mut bench, &mut rng);
        for case in 0..3000 {
            bench.border = std::array::from_fn(|_| rng.f32() * 2.0 - 0.5);
            let compares = rng.u32(..4) == 0;
            let whole = !compares && rng.u32(..4) == 0;
            let format = match (compares, whole) {
                (true, _) => SHADOW[rng.usize(..SHADOW.len())],
                (_, true) => WHOLE[rng.usize(..4)].0,
                _ => OTHERS[rng.usize(..OTHERS.len())],
            };
            let mut message = Case::new(&mut rng, format, compares, true);
            if whole {
                message.sampler = message.sampler.with_tcx_address_control_mode(BORDER_MODE);
            }
            let what = format!(
                "seed {seed} case {case}: {format:#x} {:?} {:?}",
                message.surface, message.sampler
            );
            let [once, ready, general] = message.answers(&mut bench, None, &what);
            // Alpha of sRGB is scaled behind the filters, as are bytes.
            let rounded = matches!(format, c::R8G8B8A8_UNORM_SRGB | c::B8G8R8A8_UNORM_SRGB);
            for (register, ((once, ready), general)) in
                once.iter().zip(&ready).zip(&general).enumerate()
            {
                for slot in 0..8 {
                    let (a, b, want) = (once[slot], ready[slot], general[slot]);
                    let near = (f32::from_bits(a) - f32::from_bits(want)).abs() < 1e-6;
                    assert!(
                        alike(a, b) && (alike(a, want) || rounded && near),
                        "{what} register {register} slot {slot}: {a:#x} {b:#x} for {want:#x}"
                    );
                }
            }
        }
    }
}

/// A page that is not there matters to the pixels that would read it.
#[test]
fn pages_that_are_not_there_fail_where_they_are_read() {
    let mut bench = Bench::new();
    let state = surface_2d(f::RGBA8, 64, 64, Tiling::Linear)
        .with_surface_base_address(DATA + 0x10_0000 - 0x8000);
    bench.bind(state, sampler(NEAREST, CLAMP));
    let rows = each(|slot| if slot < 9 { 0.1 } else { 0.9 });
    let mut payload = vec![[0, 0, 0, 0x40, 0, 0, 0, 0]];
    payload.extend(pack(Form::Simd16, &[each(|_| 0.5), rows]));
    let request = crate::intel::r#gen::gen40::message::sampler(1 << 8 | 2, payload.len());
    let mut once = [[KEEP; 8]; 8];
    let msg = message(0, 0x1ff, &payload, 8);
    let (mem, ctx) = (&bench.mem, &bench.ctx);
    bench
        .engine
        .execute(&request, &msg, &mut once, mem, ctx)
        .unwrap();
    let mut w = [[KEEP; 8]; 8];
    assert_eq!(bench.resolved(&request, &msg, &mut w), Some(9));
    assert_eq!(w, once);
    let mut w = [[KEEP; 8]; 8];
    let msg = message(0, 0x3ff, &payload, 8);
    assert_eq!(bench.resolved(&request, &msg, &mut w), None);
    assert_eq!(w, [[KEEP; 8]; 8], "nothing has been written");
}

/// A texel in memory that is not there is the general path's fault, and nothing has been written before it.
#[test]
fn texels_that_cannot_be_read_are_faults_of_their_addresses() {
    let mut bench = Bench::new();
    let state = surface_2d(f::RGBA8, 64, 64, Tiling::Linear)
        .with_surface_base_address(DATA + 0x10_0000 - 0x8000);
    bench.bind(state, sampler(NEAREST, CLAMP));
    let mut w = [[KEEP; 8]; 8];
    let rows = each(|slot| if slot < 9 { 0.1 } else { 0.9 });
    let body = pack(Form::Simd16, &[each(|_| 0.5), rows]);
    let fault = bench.send(0, &body, &mut w).unwrap_err();
    let at = DATA + 0x10_0000 - 0x8000 + 57 * 1024 + 32 * 4;
    assert!(
        fault.to_string().contains(&format!("{at:#010x}")),
        "{fault}"
    );
    // Pixels that are off ask for nothing.
    bench.mask = 0x1ff;
    bench.send(0, &body, &mut w).unwrap();
}
