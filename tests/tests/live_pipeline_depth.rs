//! Depth and stencil: early, late, killed pixels, computed depth, occlusion.
//!
//! PRM: volume 2, windower (early depth test cases) and colour calculator. Expectations are host arithmetic.

use crestline_tests::random::Random;
use crestline_tests::scene::draw::Draw;
use crestline_tests::scene::surface::{Layout, Surface};
use crestline_tests::scene::{Scene, kernels};
use regs::gen40::{ColorCalcState, State3dDepthBuffer};

const SIZE: u32 = 32;
const D32_FLOAT: u32 = 1;
const D24_S8: u32 = 2;
const D24_X8: u32 = 3;
const D16: u32 = 5;

fn depth_surface(scene: &mut Scene, format: u32) -> (Surface, State3dDepthBuffer) {
    let bytes = if format == D16 { 2 } else { 4 };
    let surface = scene.surface((0, bytes), (SIZE, SIZE), Layout::Y);
    let state = surface.depth_buffer(format);
    (surface, state)
}

/// A rectangle of two triangles, clockwise or not, in one colour.
fn quad(x: [f32; 2], y: [f32; 2], z: f32, colour: [f32; 4], clockwise: bool) -> Vec<[f32; 8]> {
    let v = |x, y| [x, y, z, 1.0, colour[0], colour[1], colour[2], colour[3]];
    let (a, b, c, d) = (v(x[0], y[0]), v(x[1], y[0]), v(x[1], y[1]), v(x[0], y[1]));
    if clockwise {
        vec![a, b, c, a, c, d]
    } else {
        vec![a, c, b, a, d, c]
    }
}

fn full(z: f32, colour: [f32; 4]) -> Vec<[f32; 8]> {
    let s = SIZE as f32;
    quad([0.0, s], [0.0, s], z, colour, true)
}

fn compare<T: PartialOrd + Copy>(function: u32, a: T, b: T) -> bool {
    match function {
        0 => true,
        1 => false,
        2 => a < b,
        3 => a == b,
        4 => a <= b,
        5 => a > b,
        6 => a != b,
        _ => a >= b,
    }
}

fn encode(format: u32, z: f32) -> u32 {
    match format {
        D32_FLOAT => z.to_bits(),
        D16 => (f64::from(z) * 65535.0).round() as u32,
        _ => (f64::from(z) * 16_777_215.0).round() as u32,
    }
}

/// How the tests are made.
#[derive(Clone, Copy, Debug, PartialEq)]
enum How {
    /// In the windower.
    Early,
    /// In the windower, written with the colour of the pixels that the kernel leaves.
    Kill,
    /// With the colour, from the depth that the kernel computes.
    Computed,
    /// With the colour; the stencil test is on, too.
    Late,
}

fn set_up(draw: &mut Draw, how: How) {
    let (kernel, start) = match how {
        How::Early => (kernels::wm_flat16(), 2),
        How::Kill => (kernels::wm_kill_depth16(), 4),
        How::Computed => (kernels::wm_depth16(), 4),
        How::Late => (kernels::wm_late_stencil16(), 7),
    };
    draw.wm_kernel = kernel;
    draw.wm
        .set_dispatch_grf_start_register_for_constant_setup_data_0(start)
        .set_pixel_shader_kills_pixel(how == How::Kill)
        .set_pixel_shader_computed_depth(how == How::Computed)
        .set_early_depth_test_enable(how != How::Late);
}

/// All functions in all formats, however the test is made; PIPE_CONTROL stores the count.
#[test]
fn functions_and_counts() {
    let mut scene = Scene::new();
    let target = scene.target(SIZE, SIZE);
    let counts = scene.object(4096);
    let counter = counts.address().unwrap();
    for format in [D32_FLOAT, D24_S8, D24_X8, D16] {
        let (surface, state) = depth_surface(&mut scene, format);
        let far = if format == D32_FLOAT {
            0x3f80_0000
        } else {
            u32::MAX
        };
        for how in [How::Early, How::Kill, How::Computed, How::Late] {
            if how == How::Late && format != D24_S8 {
                continue;
            }
            for function in 0..8 {
                target.fill(&[0; 4]);
                surface.fill(&far.to_le_bytes()[..surface.bytes]);
                // Bands of depth 0.25, 0.5, 0.75 and what was there, 1.
                let mut draw = Draw::flat(target.state());
                draw.depth = state;
                draw.cc
                    .set_depth_test_enable(true)
                    .set_depth_buffer_write_enable(true);
                let mut bands = Vec::new();
                for (i, z) in [0.25, 0.5, 0.75].into_iter().enumerate() {
                    let y = [8.0 * i as f32, 8.0 * (i + 1) as f32];
                    bands.extend(quad([0.0, SIZE as f32], y, z, [0.0; 4], true));
                }
                scene.vertices(&mut draw, &bands);
                scene.draw(&draw);
                scene.post_sync(2, counter, 0);

                let mut draw = Draw::flat(target.state());
                set_up(&mut draw, how);
                draw.depth = state;
                draw.cc
                    .set_depth_test_enable(true)
                    .set_depth_buffer_write_enable(true)
                    .set_depth_test_function(function)
                    .set_stencil_test_enable(how == How::Late)
                    .set_statistics_enable(true);
                draw.wm.set_statistics_enable(true);
                // Computed depth comes from alpha; the plane says otherwise.
                let z = if how == How::Computed { 0.9 } else { 0.5 };
                scene.vertices(&mut draw, &full(z, [1.0, 1.0, 1.0, 0.5]));
                scene.draw(&draw);
                scene.post_sync(2, counter + 8, 0);
                scene.run();
                let mut passed = 0;
                for y in 0..SIZE {
                    for x in 0..SIZE {
                        let old: f32 = [0.25, 0.5, 0.75, 1.0][(y / 8) as usize];
                        let pass = compare(function, 0.5, old) && !(how == How::Kill && x % 2 == 1);
                        passed += u32::from(pass);
                        let z = if pass { 0.5 } else { old };
                        let mask = match format {
                            D16 => 0xffff,
                            D32_FLOAT => u32::MAX,
                            _ => 0xff_ffff,
                        };
                        let drawn = (target.word(x, y) & 0xff != 0, surface.word(x, y) & mask);
                        assert_eq!(
                            drawn,
                            (pass, encode(format, z)),
                            "format {format}, {how:?}, function {function} at {x}, {y}"
                        );
                    }
                }
                let counted = counts
                    .read32(8)
                    .unwrap()
                    .wrapping_sub(counts.read32(0).unwrap());
                assert_eq!(
                    counted, passed,
                    "format {format}, {how:?}, function {function}"
                );
            }
        }
        drop(surface);
    }
    drop((target, counts));
    scene.finish();
}

/// State of one face.
#[derive(Clone, Copy, Debug)]
struct Face {
    function: u32,
    ops: [u32; 3],
    reference: u32,
    test_mask: u32,
    write_mask: u32,
}

impl Face {
    fn random(random: &mut Random) -> Self {
        Face {
            function: random.below(8),
            ops: std::array::from_fn(|_| random.below(8)),
            reference: random.below(16),
            test_mask: [0xff, 0x0f, 0x03][random.below(3) as usize],
            write_mask: [0xff, 0xf0, 0x55][random.below(3) as usize],
        }
    }

    /// Whether the test passes, and the stencil afterwards.
    fn apply(&self, old: u32, depth: bool) -> (bool, u32) {
        let test = compare(
            self.function,
            self.reference & self.test_mask,
            old & self.test_mask,
        );
        let op = match (test, depth) {
            (false, _) => self.ops[0],
            (true, false) => self.ops[1],
            (true, true) => self.ops[2],
        };
        let new = match op {
            0 => old,
            1 => 0,
            2 => self.reference,
            3 => (old + 1).min(255),
            4 => old.saturating_sub(1),
            5 => (old + 1) & 0xff,
            6 => old.wrapping_sub(1) & 0xff,
            _ => !old & 0xff,
        };
        (test, old & !self.write_mask | new & self.write_mask)
    }
}

/// Random states of both faces, tested early and late, against the definition of the operations.
#[test]
fn stencil_of_both_faces() {
    let mut scene = Scene::new();
    let target = scene.target(SIZE, SIZE);
    let (surface, state) = depth_surface(&mut scene, D24_S8);
    let mut random = Random(0x57e9_c11e);
    let start: Vec<u32> = (0..SIZE)
        .map(|x| [0, 1, 254, 255, 3, 7, 128, 16][x as usize % 8])
        .collect();
    for round in 0..80 {
        let how = if round % 2 == 0 {
            How::Early
        } else {
            How::Late
        };
        let double = round % 5 != 0;
        let [front, back] = [Face::random(&mut random), Face::random(&mut random)];
        target.fill(&[0; 4]);
        for y in 0..SIZE {
            for x in 0..SIZE {
                let z = encode(D24_S8, if y % 2 == 0 { 0.25 } else { 0.75 });
                surface.set(x, y, &(start[x as usize] << 24 | z).to_le_bytes());
            }
        }
        let mut draw = Draw::flat(target.state());
        set_up(&mut draw, how);
        draw.depth = state;
        draw.cc
            .set_depth_test_enable(true)
            .set_depth_buffer_write_enable(true)
            .set_depth_test_function(2)
            .set_stencil_test_enable(true)
            .set_stencil_buffer_write_enable(true)
            .set_double_sided_stencil_enable(double)
            .set_stencil_test_function(front.function)
            .set_stencil_fail_op(front.ops[0])
            .set_stencil_pass_depth_fail_op(front.ops[1])
            .set_stencil_pass_depth_pass_op(front.ops[2])
            .set_stencil_reference_value(front.reference)
            .set_stencil_test_mask(front.test_mask)
            .set_stencil_write_mask(front.write_mask)
            .set_backface_stencil_test_function(back.function)
            .set_backface_stencil_fail_op(back.ops[0])
            .set_backface_stencil_pass_depth_fail_op(back.ops[1])
            .set_backface_stencil_pass_depth_pass_op(back.ops[2])
            .set_backface_stencil_reference_value(back.reference)
            .set_backface_stencil_test_mask(back.test_mask)
            .set_backface_stencil_write_mask(back.write_mask);
        // Upper half clockwise (the front), lower half not.
        let s = SIZE as f32;
        let mut both = quad([0.0, s], [0.0, s / 2.0], 0.5, [1.0; 4], true);
        both.extend(quad([0.0, s], [s / 2.0, s], 0.5, [1.0; 4], false));
        scene.vertices(&mut draw, &both);
        scene.draw(&draw);
        scene.run();
        for y in 0..SIZE {
            let face = if y >= SIZE / 2 && double { back } else { front };
            for x in 0..SIZE {
                let old = if y % 2 == 0 { 0.25 } else { 0.75 };
                let depth = 0.5 < old;
                let (test, stencil) = face.apply(start[x as usize], depth);
                let pass = test && depth;
                let z = encode(D24_S8, if pass { 0.5 } else { old });
                let drawn = (target.word(x, y) != 0, surface.word(x, y));
                assert_eq!(
                    drawn,
                    (pass, stencil << 24 | z),
                    "round {round} {how:?} at {x}, {y}: {face:?}"
                );
            }
        }
    }
    drop((target, surface));
    scene.finish();
}

/// Killed pixels without a depth buffer, and the alpha test in both of its formats.
#[test]
fn kill_and_alpha_test() {
    let mut scene = Scene::new();
    let target = scene.target(SIZE, SIZE);
    let mut draw = Draw::flat(target.state());
    draw.wm_kernel = kernels::wm_kill16();
    draw.wm.set_pixel_shader_kills_pixel(true);
    scene.vertices(&mut draw, &full(0.5, [1.0; 4]));
    scene.draw(&draw);
    scene.run();
    let columns: Vec<bool> = target.words().iter().map(|&w| w != 0).collect();
    let expected: Vec<bool> = (0..SIZE * SIZE).map(|i| i % 2 == 0).collect();
    assert_eq!(columns, expected);
    for function in 0..8 {
        for format in 0..2 {
            for alpha in [0.25f32, 0.5, 0.75] {
                target.fill(&[0; 4]);
                let mut draw = Draw::flat(target.state());
                draw.cc
                    .set_alpha_test_enable(true)
                    .set_alpha_test_function(function)
                    .set_alpha_test_format(format);
                if format == 0 {
                    // 0.5 rounds to 128.
                    draw.cc.set_alpha_reference_value_as_unorm8(128);
                } else {
                    draw.cc.set_alpha_reference_value_as_float32(0.5);
                }
                scene.vertices(&mut draw, &full(0.5, [1.0, 1.0, 1.0, alpha]));
                scene.draw(&draw);
                scene.run();
                let pass = compare(function, alpha, 0.5);
                let what = format!("function {function}, format {format}, alpha {alpha}");
                assert!(target.words().iter().all(|&w| (w != 0) == pass), "{what}");
            }
        }
    }
    drop(target);
    scene.finish();
}

/// Constant, slope and clamp of the depth offset of polygons.
#[test]
fn depth_offset() {
    let mut scene = Scene::new();
    let target = scene.target(SIZE, SIZE);
    let (surface, state) = depth_surface(&mut scene, D24_X8);
    // Constant in units of the format, scale of the larger slope, clamp.
    for (constant, scale, clamp) in [
        (8.0f32, 0.0f32, 0.0f32),
        (0.0, 2.0, 0.0),
        (-100.0, 1.0, 0.0),
        (0.0, 4.0, 0.01),
    ] {
        surface.fill(&u32::MAX.to_le_bytes());
        let mut draw = Draw::flat(target.state());
        draw.depth = state;
        draw.cc
            .set_depth_test_enable(true)
            .set_depth_buffer_write_enable(true);
        draw.wm
            .set_global_depth_offset_enable(true)
            .set_global_depth_offset_constant(constant)
            .set_global_depth_offset_scale(scale);
        // z grows by 1/64 a pixel to the right and 1/128 downwards.
        let s = SIZE as f32;
        let v = |x: f32, y: f32| [x, y, x / 64.0 + y / 128.0, 1.0, 1.0, 1.0, 1.0, 1.0];
        let corners = [
            v(0.0, 0.0),
            v(s, 0.0),
            v(s, s),
            v(0.0, 0.0),
            v(s, s),
            v(0.0, s),
        ];
        scene.vertices(&mut draw, &corners);
        // 3DSTATE_GLOBAL_DEPTH_OFFSET_CLAMP.
        let mut command = regs::gen40::State3dGlobalDepthOffsetClamp::new();
        command.set_global_depth_offset_clamp(clamp);
        scene.commands.extend(command.dwords());
        scene.draw(&draw);
        scene.run();
        let unit = 1.0 / 16_777_215.0;
        let mut offset = f64::from(constant) * unit + f64::from(scale) / 64.0;
        if clamp > 0.0 {
            offset = offset.min(f64::from(clamp));
        }
        for y in 0..SIZE {
            for x in 0..SIZE {
                let z = (f64::from(x) + 0.5) / 64.0 + (f64::from(y) + 0.5) / 128.0 + offset;
                let expected = (z.clamp(0.0, 1.0) / unit).round();
                let drawn = f64::from(surface.word(x, y) & 0xff_ffff);
                assert!(
                    (drawn - expected).abs() <= 4.0,
                    "{constant} {scale} {clamp} at {x}, {y}: {drawn} {expected}"
                );
            }
        }
    }
    drop((target, surface));
    scene.finish();
}

/// 3DSTATE_DEPTH_BUFFER was never sent, which leaves zeros: a format of eight bytes in a pitch of one. That is nothing
/// to a draw without depth and stencil, as those of the X driver are, and a fault to one that tests.
#[test]
fn a_depth_buffer_counts_when_something_uses_it() {
    let mut scene = Scene::new();
    let target = scene.target(SIZE, SIZE);
    let mut draw = Draw::flat(target.state());
    draw.depth = State3dDepthBuffer::new();
    scene.vertices(&mut draw, &full(0.5, [1.0, 0.0, 0.0, 1.0]));
    scene.draw(&draw);
    scene.run();
    assert_eq!(target.lit().len(), (SIZE * SIZE) as usize);
    target.fill(&[0; 4]);
    for on in 0..3 {
        draw.cc = ColorCalcState::new();
        match on {
            0 => draw.cc.set_depth_test_enable(true),
            1 => draw.cc.set_depth_buffer_write_enable(true),
            _ => draw.cc.set_stencil_test_enable(true),
        };
        scene.vertices(&mut draw, &full(0.5, [1.0, 0.0, 0.0, 1.0]));
        scene.draw(&draw);
        let state = scene.hang(crestline_tests::scene::FRAME);
        assert!(target.lit().is_empty(), "{state}");
    }
    drop(target);
    scene.finish_after_fault();
}
