//! Blending, logic operations, write masks and dither behind real threads.
//!
//! PRM: volume 2, colour calculator. Expectations are host arithmetic in double precision.

use crestline_tests::scene::Scene;
use crestline_tests::scene::draw::Draw;
use crestline_tests::scene::surface::Layout;
use fastrand::Rng;
use regs::gen40::State3dConstantColor;
use regs::gen40::values::surface_format as sf;

const SIZE: u32 = 8;

fn full(colour: [f32; 4]) -> Vec<[f32; 8]> {
    let s = SIZE as f32;
    [[0.0, 0.0], [s, 0.0], [s, s], [0.0, 0.0], [s, s], [0.0, s]]
        .iter()
        .map(|p| {
            [
                p[0], p[1], 0.5, 1.0, colour[0], colour[1], colour[2], colour[3],
            ]
        })
        .collect()
}

/// R, G, B, A of a B8G8R8A8 word.
fn unpack(word: u32) -> [f64; 4] {
    [16, 8, 0, 24].map(|shift| f64::from(word >> shift & 0xff) / 255.0)
}

const FACTORS: [u32; 15] = [
    1, 2, 3, 4, 5, 6, 7, 8, 0x11, 0x12, 0x13, 0x14, 0x15, 0x17, 0x18,
];

/// A factor of component `c` (3 is alpha).
fn factor(code: u32, c: usize, s: [f64; 4], d: [f64; 4], k: [f64; 4]) -> f64 {
    let base = match code & 0xf {
        1 => return if code == 1 { 1.0 } else { 0.0 },
        2 => s[c],
        3 => s[3],
        4 => d[3],
        5 => d[c],
        6 if c == 3 => 1.0,
        6 => s[3].min(1.0 - d[3]),
        7 => k[c],
        _ => k[3],
    };
    if code & 0x10 == 0 { base } else { 1.0 - base }
}

fn function(code: u32, s: f64, d: f64, fs: f64, fd: f64) -> f64 {
    match code {
        0 => s * fs + d * fd,
        1 => s * fs - d * fd,
        2 => d * fd - s * fs,
        3 => s.min(d),
        _ => s.max(d),
    }
}

#[test]
fn factors_and_functions() {
    let mut scene = Scene::new();
    let target = scene.target(SIZE, SIZE);
    let mut random = Rng::with_seed(0xb1e4d);
    let mut cases = Vec::new();
    for s in FACTORS {
        for d in FACTORS {
            cases.push((s, d, 0, None));
        }
    }
    for f in 1..5 {
        for &s in &FACTORS[..4] {
            cases.push((s, 0x13, f, None));
            cases.push((s, 1, f, Some((FACTORS[f as usize * 2], 5, 4 - f))));
        }
    }
    for (s, d, f, alpha) in cases {
        let mut unit = || random.u32(..256);
        let colour = [unit(), unit(), unit(), unit()].map(|v| f64::from(v) / 255.0);
        let constant = [unit(), unit(), unit(), unit()].map(|v| f64::from(v) / 255.0);
        let old = unit() | unit() << 8 | unit() << 16 | unit() << 24;
        target.fill(&old.to_le_bytes());
        let mut surface = target.state();
        surface.set_color_blend_enable(true);
        let mut draw = Draw::flat(surface);
        draw.cc
            .set_color_buffer_blend_enable(true)
            .set_source_blend_factor(s)
            .set_destination_blend_factor(d)
            .set_color_blend_function(f)
            .set_pre_blend_color_clamp_enable(true)
            .set_post_blend_color_clamp_enable(true);
        if let Some((s, d, f)) = alpha {
            draw.cc
                .set_independent_alpha_blend_enable(true)
                .set_source_alpha_blend_factor(s)
                .set_destination_alpha_blend_factor(d)
                .set_alpha_blend_function(f);
        }
        let mut blend = State3dConstantColor::new();
        let k = constant.map(|v| v as f32);
        blend
            .set_blend_constant_color_red(k[0])
            .set_blend_constant_color_green(k[1])
            .set_blend_constant_color_blue(k[2])
            .set_blend_constant_color_alpha(k[3]);
        scene.commands.extend(blend.dwords());
        scene.vertices(&mut draw, &full(colour.map(|v| v as f32)));
        scene.draw(&draw);
        scene.run();
        let before = unpack(old);
        let drawn = unpack(target.word(3, 3));
        for c in 0..4 {
            let (s, d, f) = if c == 3 {
                alpha.unwrap_or((s, d, f))
            } else {
                (s, d, f)
            };
            let fs = factor(s, c, colour, before, constant);
            let fd = factor(d, c, colour, before, constant);
            let expected = function(f, colour[c], before[c], fs, fd).clamp(0.0, 1.0);
            assert!(
                (drawn[c] - expected).abs() * 255.0 <= 1.01,
                "{s:#x} {d:#x} {f} component {c}: {} not {}, source {colour:?}, target {before:?}",
                drawn[c] * 255.0,
                expected * 255.0
            );
        }
    }
    drop(target);
    scene.finish();
}

/// Both switches must be on: that of the surface and that of the state.
// covers: 4.7.2-14
#[test]
fn blending_needs_the_surface_too() {
    let mut scene = Scene::new();
    let target = scene.target(SIZE, SIZE);
    for (surface_on, state_on) in [(false, true), (true, false), (true, true)] {
        target.fill(&0x4040_4040u32.to_le_bytes());
        let mut surface = target.state();
        surface.set_color_blend_enable(surface_on);
        let mut draw = Draw::flat(surface);
        draw.cc
            .set_color_buffer_blend_enable(state_on)
            .set_source_blend_factor(1)
            .set_destination_blend_factor(1);
        scene.vertices(&mut draw, &full([32.0 / 255.0; 4]));
        scene.draw(&draw);
        scene.run();
        let expected = if surface_on && state_on {
            0x6060_6060
        } else {
            0x2020_2020
        };
        assert_eq!(target.word(0, 0), expected, "{surface_on} {state_on}");
    }
    drop(target);
    scene.finish();
}

#[test]
fn logic_operations_and_write_masks() {
    let mut scene = Scene::new();
    let target = scene.target(SIZE, SIZE);
    let (source, old) = (0x3c5a_0ff0u32, 0x6699_55ccu32);
    let colour = unpack(source).map(|v| v as f32);
    for op in 0..16u32 {
        for mask in [0u32, 5, 8, 15] {
            target.fill(&old.to_le_bytes());
            let mut surface = target.state();
            surface.set_color_buffer_component_write_disables(mask);
            let mut draw = Draw::flat(surface);
            draw.cc.set_logic_op_enable(true).set_logic_op_function(op);
            scene.vertices(&mut draw, &full(colour));
            scene.draw(&draw);
            scene.run();
            // Bit 2s + d of the code is the result.
            let result = (0..32).fold(0, |out, bit| {
                let index = (source >> bit & 1) * 2 + (old >> bit & 1);
                out | (op >> index & 1) << bit
            });
            // Blue, green, red, alpha.
            let keep = (0..4).fold(0, |keep, c| {
                keep | if mask >> c & 1 == 1 {
                    0xff << (c * 8)
                } else {
                    0
                }
            });
            assert_eq!(
                target.word(5, 6),
                result & !keep | old & keep,
                "op {op}, disables {mask:#x}"
            );
        }
    }
    drop(target);
    scene.finish();
}

/// With dither every pixel is one of the two neighbours of the exact value, and a 4x4 block is right in the mean.
#[test]
fn dither() {
    let mut scene = Scene::new();
    let target = scene.surface((sf::B5G6R5_UNORM, 2), (SIZE, SIZE), Layout::Linear);
    for level in 0..40 {
        let value = level as f32 / 39.0;
        for on in [false, true] {
            let mut draw = Draw::flat(target.state());
            draw.cc.set_color_dither_enable(on);
            scene.vertices(&mut draw, &full([value, value, value, 1.0]));
            scene.draw(&draw);
            scene.run();
            for (shift, max) in [(11, 31.0f32), (5, 63.0), (0, 31.0)] {
                let exact = value * max;
                let mut sum = 0.0;
                for y in 0..4 {
                    for x in 0..4 {
                        let drawn = (target.word(x, y) >> shift & max as u32) as f32;
                        sum += drawn;
                        let far = (drawn - exact).abs();
                        let limit = if on { 1.0 } else { 0.5 };
                        assert!(
                            far <= limit + 1e-3,
                            "{value} dither {on}: {drawn} for {exact}"
                        );
                    }
                }
                let mean = sum / 16.0;
                let limit = if on { 0.1 } else { 0.5 };
                assert!(
                    (mean - exact).abs() <= limit + 1e-3,
                    "{value} {on}: mean {mean} of {exact}"
                );
            }
        }
    }
    drop(target);
    scene.finish();
}
