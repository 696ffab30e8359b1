//! Nanoseconds that the sampler takes for a message of sixteen pixels.
//!
//! `once`: looked up for that message alone; `ready`: resolved before, as for the threads of a wave.
#![allow(clippy::expect_used, reason = "a measuring program")]

use std::hint::black_box;
use std::time::Instant;

use eu::port::FloatMode;
use eu::{Grf, Message, ThreadId};
use mem::{GpuAddr, Memory};
use mmio_mock::intel::r#gen::gen40::{functions::Reader, message};
use mmio_mock::intel::shared::sampler::SamplingEngine;
use mmio_mock::intel::shared::{StateBases, ThreadContext};
use regs::gen40::{SamplerState, SurfaceState, values};

const STATE: u32 = 0x1_0000;
const DATA: u32 = 0x10_0000;
/// Texels of level 0 across and down.
const SIZE: u32 = 256;
/// Messages of a round, and rounds of which the best counts.
const MESSAGES: usize = 4096;
const ROUNDS: usize = 50;

const NEAREST: u32 = values::mapfilter::MAPFILTER_NEAREST;
const LINEAR: u32 = values::mapfilter::MAPFILTER_LINEAR;
const BGRA8: u32 = 0x0c0;
const RGBA16F: u32 = 0x088;
const R8: u32 = 0x140;
const WRAP: u32 = values::texture_coordinate_mode::TEXCOORDMODE_WRAP;
const CUBE: u32 = values::texture_coordinate_mode::TEXCOORDMODE_CUBE;
const BORDER: u32 = values::texture_coordinate_mode::TEXCOORDMODE_CLAMP_BORDER;
const TWO_LEVELS: u32 = values::mipfilter::MIPFILTER_LINEAR;
const ONE_LEVEL: u32 = values::mipfilter::MIPFILTER_NONE;

fn message_of(control: u16, payload: &[Grf]) -> Message<'_> {
    Message {
        thread: ThreadId::default(),
        sfid: 2,
        function_control: control,
        desc: control.into(),
        response_length: 8,
        eot: false,
        exec_mask: 0xffff,
        exec_size: 16,
        payload,
        ip: 0,
        float_mode: FloatMode::Ieee,
    }
}

/// What a message is, beside a plain sample of a map of two dimensions.
#[derive(Clone, Copy, PartialEq)]
enum Kind {
    Plain,
    /// Of a volume of 32 slices, which change from pixel to pixel.
    Volume,
    /// Of a cube, across two of its edges.
    Cube,
    /// With texel offsets.
    Offset,
    /// A fetch by integer address.
    Fetch,
}

impl Kind {
    /// Type of the message.
    fn control(self) -> u16 {
        let kind = if self == Kind::Fetch { 3 } else { 0 };
        kind << 14 | 1 << 8 | 2
    }

    /// Coordinates of a pixel for those in a plane from 0 to 1.
    fn place(self, [u, v]: [f32; 2]) -> Vec<u32> {
        let floats = |all: &[f32]| all.iter().map(|c| c.to_bits()).collect();
        match self {
            Kind::Plain | Kind::Offset => floats(&[u, v]),
            Kind::Volume => floats(&[u, v, u * 0.7 + v * 0.2]),
            Kind::Cube => floats(&[u * 3.0 - 0.5, 1.0, v * 3.0 - 0.5]),
            // CAST: texels of a map.
            Kind::Fetch => [u, v]
                .map(|c| (c * SIZE as f32) as u32)
                .into_iter()
                .collect(),
        }
    }
}

/// Squares of four by four pixels of a picture, each texel so many pixels wide.
fn payloads(kind: Kind, magnified: f32) -> Vec<Vec<Grf>> {
    let step = 1.0 / (SIZE as f32 * magnified);
    let pixel = |n: usize, slot: usize| {
        let column = n % 64 * 4 + (slot & 1) + (slot / 4 % 2) * 2;
        let row = n / 64 * 4 + (slot >> 1 & 1) + slot / 8 * 2;
        kind.place([column, row].map(|at| (at as f32 + 0.5) * step))
    };
    let offsets = if kind == Kind::Offset { 0x2f0 } else { 0 };
    let header = [0, 0, offsets, 0x40, 0, 0, 0, 0];
    (0..MESSAGES)
        .map(|n| {
            let pixels: Vec<Vec<u32>> = (0..16).map(|slot| pixel(n, slot)).collect();
            let mut payload = vec![header];
            let of = |parameter: usize, half: usize| {
                std::array::from_fn(|slot| pixels[half + slot][parameter])
            };
            let parameters = 0..pixels[0].len();
            payload.extend(parameters.flat_map(|n| [of(n, 0), of(n, 8)]));
            payload
        })
        .collect()
}

fn measure(
    (name, kind): (&str, Kind),
    (format, bytes): (u32, u32),
    (filter, mip, mode): (u32, u32, u32),
    by: f32,
) {
    let mut mem = Memory::new(32 << 20, 1 << 14);
    mem.alloc_mapped(GpuAddr::from(STATE), 0x1000)
        .expect("pages");
    mem.alloc_mapped(GpuAddr::from(DATA), 24 << 20)
        .expect("pages");
    let levels = if mip == ONE_LEVEL { 0 } else { 8 };
    let (surface_type, depth) = match kind {
        Kind::Volume => (values::surftype::SURFTYPE_3D, 32),
        Kind::Cube => (values::surftype::SURFTYPE_CUBE, 1),
        _ => (values::surftype::SURFTYPE_2D, 1),
    };
    let mut surface = SurfaceState::new()
        .with_surface_type(surface_type)
        .with_depth(depth - 1)
        .with_surface_format(format)
        .with_surface_base_address(DATA)
        .with_width(SIZE - 1)
        .with_height(SIZE - 1)
        .with_surface_pitch(SIZE * bytes * 2 - 1)
        .with_mip_count_lod(levels)
        .with_tiled_surface(true)
        .with_tile_walk(1);
    if kind == Kind::Cube {
        // All faces.
        surface.0[0] |= 0x3f;
    }
    let sampler = SamplerState::new()
        .with_min_mode_filter(filter)
        .with_mag_mode_filter(filter)
        .with_mip_mode_filter(mip)
        .with_tcx_address_control_mode(mode)
        .with_tcy_address_control_mode(mode)
        .with_tcz_address_control_mode(mode)
        .with_max_lod(13.0)
        .with_lod_preclamp_enable(true)
        .with_border_color_pointer(0x100);
    let mut write = |at: u32, dwords: &[u32]| {
        mem.write_dwords(GpuAddr::from(at), dwords).expect("mapped");
    };
    write(STATE + 0x48, &[0x200]);
    write(STATE + 0x200, surface.dwords());
    write(STATE + 0x850, sampler.dwords());
    let noise: Vec<u32> = (0..1 << 20)
        .map(|n: u32| n.wrapping_mul(0x9e37_79b1) & 0x3bff_3bff)
        .collect();
    write(DATA, &noise);
    let ctx = ThreadContext {
        bases: StateBases {
            general_state_base: STATE + 0x800,
            surface_state_base: STATE,
            ..StateBases::default()
        },
        binding_table_pointer: 0x40,
        ..ThreadContext::default()
    };
    let mut engine = SamplingEngine::new(&Reader);
    let control = kind.control();
    let payloads = payloads(kind, by);
    let request = message::sampler(control, payloads[0].len());
    let mut response = [[0; 8]; 8];
    let mut once = f64::INFINITY;
    let mut ready = f64::INFINITY;
    for _ in 0..ROUNDS {
        let start = Instant::now();
        for payload in &payloads {
            let msg = message_of(control, payload);
            let served = engine.execute(&request, &msg, &mut response, &mem, &ctx);
            served.expect("served");
            black_box(&mut response);
        }
        once = once.min(start.elapsed().as_nanos() as f64);
        let first = message_of(control, &payloads[0]);
        let Some(resolved) = engine.ready(&request, &first, &mem, &ctx) else {
            continue;
        };
        let start = Instant::now();
        for payload in &payloads {
            let msg = message_of(control, payload);
            resolved
                .serve(&msg, &mem, &mut response)
                .expect("texels are there");
            black_box(&mut response);
        }
        ready = ready.min(start.elapsed().as_nanos() as f64);
    }
    let each = |time: f64| time / MESSAGES as f64;
    println!(
        "{name:<24} once {:>7.1}   ready {:>7.1}",
        each(once),
        each(ready)
    );
}

fn main() {
    let nearest = (NEAREST, ONE_LEVEL, WRAP);
    let bilinear = (LINEAR, ONE_LEVEL, WRAP);
    let border = (LINEAR, ONE_LEVEL, BORDER);
    let trilinear = (LINEAR, TWO_LEVELS, WRAP);
    let seamless = (LINEAR, ONE_LEVEL, CUBE);
    let plain = |name| (name, Kind::Plain);
    measure(plain("nearest"), (BGRA8, 4), nearest, 4.0);
    measure(plain("bilinear"), (BGRA8, 4), bilinear, 4.0);
    let two = (NEAREST, TWO_LEVELS, WRAP);
    measure(plain("nearest, mipmaps"), (BGRA8, 4), two, 0.37);
    measure(plain("trilinear"), (BGRA8, 4), trilinear, 0.37);
    measure(plain("bilinear, border"), (BGRA8, 4), border, 4.0);
    measure(plain("bilinear, 16F"), (RGBA16F, 8), bilinear, 4.0);
    measure(plain("bilinear, R8"), (R8, 1), bilinear, 4.0);
    measure(
        ("offsets, bilinear", Kind::Offset),
        (BGRA8, 4),
        bilinear,
        4.0,
    );
    measure(("volume, nearest", Kind::Volume), (BGRA8, 4), nearest, 4.0);
    measure(("volume, linear", Kind::Volume), (BGRA8, 4), bilinear, 4.0);
    let name = "volume, two levels";
    measure((name, Kind::Volume), (BGRA8, 4), trilinear, 0.37);
    measure(("cube, nearest", Kind::Cube), (BGRA8, 4), nearest, 4.0);
    measure(("cube, seamless", Kind::Cube), (BGRA8, 4), seamless, 4.0);
    measure(("fetch", Kind::Fetch), (BGRA8, 4), nearest, 4.0);
    measure(("fetch, 16F", Kind::Fetch), (RGBA16F, 8), nearest, 4.0);
}
