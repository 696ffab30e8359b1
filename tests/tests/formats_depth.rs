//! Depth formats: what the pipeline leaves in the buffer, and the sampler reads.
//!
//! PRM: volume 2, 3DSTATE_DEPTH_BUFFER; volume 4 4.7.2.1.1. Expectations are OpenGL's definitions: depth is a UNORM of 16
//! or 24 bits rounded to nearest, or a float; stencil lies above the depth of 24 bits, or in a dword of its own.

use crestline_tests::formats::messages::{DATA, Sender};
use crestline_tests::formats::{Want, field, float};
use crestline_tests::scene::draw::Draw;
use crestline_tests::scene::surface::Layout;
use crestline_tests::scene::{Scene, kernels};
use fastrand::Rng;
use regs::gen40::SurfaceState;
use regs::gen40::values::surface_format as sf;

const POINTS: u32 = 64;
const POINT_LIST: u32 = 1;

/// A depth format: code, bytes of a pixel, bits of depth, lowest bit of stencil, and the texture formats that show depth.
struct Depth {
    code: u32,
    bytes: usize,
    bits: u32,
    stencil: Option<u32>,
    textures: &'static [u32],
    stencil_texture: Option<u32>,
}

const FORMATS: [Depth; 5] = [
    Depth {
        code: sf::D32_FLOAT_S8X24_UINT,
        bytes: 8,
        bits: 32,
        stencil: Some(32),
        textures: &[
            sf::R32_FLOAT_X8X24_TYPELESS,
            sf::L32X32_FLOAT,
            sf::I32X32_FLOAT,
            sf::A32X32_FLOAT,
        ],
        stencil_texture: Some(sf::X32_TYPELESS_G8X24_UINT),
    },
    Depth {
        code: sf::D32_FLOAT,
        bytes: 4,
        bits: 32,
        stencil: None,
        textures: &[sf::R32_FLOAT, sf::L32_FLOAT, sf::I32_FLOAT, sf::A32_FLOAT],
        stencil_texture: None,
    },
    Depth {
        code: sf::D24_UNORM_S8_UINT,
        bytes: 4,
        bits: 24,
        stencil: Some(24),
        textures: &[
            sf::R24_UNORM_X8_TYPELESS,
            sf::L24X8_UNORM,
            sf::I24X8_UNORM,
            sf::A24X8_UNORM,
        ],
        stencil_texture: Some(sf::X24_TYPELESS_G8_UINT),
    },
    Depth {
        code: sf::D24_UNORM_X8_UINT,
        bytes: 4,
        bits: 24,
        stencil: None,
        textures: &[
            sf::R24_UNORM_X8_TYPELESS,
            sf::L24X8_UNORM,
            sf::I24X8_UNORM,
            sf::A24X8_UNORM,
        ],
        stencil_texture: None,
    },
    Depth {
        code: sf::D16_UNORM,
        bytes: 2,
        bits: 16,
        stencil: None,
        textures: &[sf::R16_UNORM, sf::L16_UNORM, sf::I16_UNORM, sf::A16_UNORM],
        stencil_texture: None,
    },
];

fn depths(bits: u32, random: &mut Rng) -> Vec<f32> {
    let steps = ((1u64 << bits.min(24)) - 1) as f32;
    (0..POINTS)
        .map(|i| match i {
            0 => 0.0,
            1 => 1.0,
            2 => 0.5,
            3..24 => random.u32(..steps as u32) as f32 / steps,
            24..40 => (random.u32(..steps as u32) as f32 + 0.5) / steps,
            _ => random.u32(..) as f32 / 2f32.powi(32),
        })
        .collect()
}

/// Points of random depth through all of the pipeline; each leaves its depth and a stencil value.
#[test]
fn every_depth_format_as_buffer_and_as_texture() {
    let mut scene = Scene::new();
    let target = scene.target(POINTS, 4);
    for depth in &FORMATS {
        for (layout, early) in [
            (Layout::Linear, true),
            (Layout::Y, true),
            (Layout::Y, false),
        ] {
            let mut random = Rng::with_seed(u64::from(depth.code));
            let z = depths(depth.bits, &mut random);
            let surface = scene.surface((0, depth.bytes), (POINTS, 4), layout);
            let old: Vec<Vec<u8>> = (0..POINTS)
                .map(|x| {
                    let pixel: Vec<u8> = (0..depth.bytes).map(|_| random.u32(..) as u8).collect();
                    surface.set(x, 0, &pixel);
                    pixel
                })
                .collect();
            let mut draw = Draw::flat(target.state());
            draw.sf_kernel = kernels::sf_point();
            draw.depth = surface.depth_buffer(depth.code);
            draw.cc
                .set_depth_test_enable(true)
                .set_depth_test_function(0)
                .set_depth_buffer_write_enable(true);
            if !early {
                draw.wm_kernel = kernels::wm_kill_depth16();
                draw.wm
                    .set_dispatch_grf_start_register_for_constant_setup_data_0(4)
                    .set_pixel_shader_kills_pixel(true);
            }
            let written = 0xa5;
            if depth.stencil.is_some() && early {
                // Passing pixels replace the stencil value under a mask of its lower nibble.
                draw.cc
                    .set_stencil_test_enable(true)
                    .set_stencil_buffer_write_enable(true)
                    .set_stencil_test_function(0)
                    .set_stencil_pass_depth_pass_op(2)
                    .set_stencil_reference_value(written)
                    .set_stencil_write_mask(0x0f);
            }
            let vertices: Vec<[f32; 8]> = (0..POINTS)
                .map(|i| [i as f32 + 0.5, 0.5, z[i as usize], 1.0, 1.0, 1.0, 1.0, 1.0])
                .collect();
            scene.vertices(&mut draw, &vertices);
            draw.topology(POINT_LIST, POINTS);
            scene.draw(&draw);
            scene.run();
            let mut memory = Vec::new();
            let mut wanted = Vec::new();
            for x in 0..POINTS {
                let pixel = surface.pixel(x, 0);
                let z = z[x as usize];
                let code = field(&pixel, 0, depth.bits);
                // The kernel of the late test kills odd columns.
                let killed = !early && x % 2 == 1;
                let want = match depth.bits {
                    bits if killed => field(&old[x as usize], 0, bits),
                    32 => u64::from(z.to_bits()),
                    bits => (f64::from(z) * ((1u64 << bits) - 1) as f64).round() as u64,
                };
                assert_eq!(code, want, "format {} {layout:?} {early}: {z}", depth.code);
                let read = match depth.bits {
                    32 => Want::Bits(want as u32),
                    bits => float(want as f64 / ((1u64 << bits) - 1) as f64),
                };
                let stencil = depth.stencil.map_or(0, |low| {
                    let old = field(&old[x as usize], low, 8);
                    let new = if early {
                        old & 0xf0 | u64::from(written) & 0x0f
                    } else {
                        old
                    };
                    assert_eq!(field(&pixel, low, 8), new, "stencil of {}", depth.code);
                    new
                });
                wanted.push((read, stencil as u32));
                memory.extend(pixel);
            }
            as_texture(depth, &memory, &wanted);
        }
    }
    drop(target);
    scene.finish();
}

/// The row of pixels through the sampler.
fn as_texture(depth: &Depth, memory: &[u8], wanted: &[(Want, u32)]) {
    let mut sender = Sender::new();
    sender.load(DATA, memory);
    let mut read = |format: u32, integer: u32| -> Vec<[u32; 4]> {
        let state = SurfaceState::new()
            .with_surface_type(1)
            .with_surface_format(format)
            .with_surface_base_address(DATA)
            .with_width(POINTS - 1)
            .with_surface_pitch(memory.len() as u32 - 1);
        sender.bind(&state);
        (0..POINTS / 16)
            .flat_map(|n| sender.ld(std::array::from_fn(|i| (n * 16 + i as u32, 0)), integer))
            .collect()
    };
    for (n, &format) in depth.textures.iter().enumerate() {
        for (got, (want, _)) in read(format, 0).into_iter().zip(wanted) {
            // Red, luminance, intensity, alpha.
            let lanes = [[1, 0, 0, 0], [1, 1, 1, 0], [1, 1, 1, 1], [0, 0, 0, 1]][n];
            for c in (0..4).filter(|&c| lanes[c] == 1) {
                assert!(want.met(got[c]), "{format:#x}: {:#x} for {want:?}", got[c]);
            }
        }
    }
    if let Some(format) = depth.stencil_texture {
        for (got, (_, stencil)) in read(format, 2).into_iter().zip(wanted) {
            assert_eq!(got, [0, *stencil, 0, 1], "{format:#x}");
        }
    }
}
