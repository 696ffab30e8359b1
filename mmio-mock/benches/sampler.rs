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

/// Squares of four by four pixels of a picture, each texel so many pixels wide.
fn payloads(magnified: f32) -> Vec<[Grf; 5]> {
    let step = 1.0 / (SIZE as f32 * magnified);
    let place = |n: usize, axis: usize| {
        let pixel = |slot: usize| match axis {
            0 => (slot & 1) + (slot / 4 % 2) * 2,
            _ => (slot >> 1 & 1) + slot / 8 * 2,
        };
        let square = if axis == 0 { n % 64 } else { n / 64 } * 4;
        let at = move |slot: usize| ((square + pixel(slot)) as f32 + 0.5) * step;
        [0, 8].map(|half| std::array::from_fn(|slot| at(half + slot).to_bits()))
    };
    let header = [0, 0, 0, 0x40, 0, 0, 0, 0];
    (0..MESSAGES)
        .map(|n| {
            let ([u0, u1], [v0, v1]) = (place(n, 0), place(n, 1));
            [header, u0, u1, v0, v1]
        })
        .collect()
}

fn measure(name: &str, format: u32, bytes: u32, (filter, mip, mode): (u32, u32, u32), by: f32) {
    let mut mem = Memory::new(16 << 20, 1 << 13);
    mem.alloc_mapped(GpuAddr::from(STATE), 0x1000)
        .expect("pages");
    mem.alloc_mapped(GpuAddr::from(DATA), 8 << 20)
        .expect("pages");
    let levels = if mip == ONE_LEVEL { 0 } else { 8 };
    let surface = SurfaceState::new()
        .with_surface_type(values::surftype::SURFTYPE_2D)
        .with_surface_format(format)
        .with_surface_base_address(DATA)
        .with_width(SIZE - 1)
        .with_height(SIZE - 1)
        .with_surface_pitch(SIZE * bytes * 2 - 1)
        .with_mip_count_lod(levels)
        .with_tiled_surface(true)
        .with_tile_walk(1);
    let sampler = SamplerState::new()
        .with_min_mode_filter(filter)
        .with_mag_mode_filter(filter)
        .with_mip_mode_filter(mip)
        .with_tcx_address_control_mode(mode)
        .with_tcy_address_control_mode(mode)
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
    let control = 1 << 8 | 2;
    let payloads = payloads(by);
    let request = message::sampler(control, 5);
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
    measure("nearest", BGRA8, 4, (NEAREST, ONE_LEVEL, WRAP), 4.0);
    measure("bilinear", BGRA8, 4, (LINEAR, ONE_LEVEL, WRAP), 4.0);
    measure(
        "nearest, mipmaps",
        BGRA8,
        4,
        (NEAREST, TWO_LEVELS, WRAP),
        0.37,
    );
    measure("trilinear", BGRA8, 4, (LINEAR, TWO_LEVELS, WRAP), 0.37);
    measure(
        "bilinear, border",
        BGRA8,
        4,
        (LINEAR, ONE_LEVEL, BORDER),
        4.0,
    );
    measure("bilinear, 16F", RGBA16F, 8, (LINEAR, ONE_LEVEL, WRAP), 4.0);
    measure("bilinear, R8", R8, 1, (LINEAR, ONE_LEVEL, WRAP), 4.0);
}
