//! Line stipple, antialiased lines, diagonal lines against the diamond rule.
//!
//! PRM: volume 2, windower. Expectations from OpenGL 2.1, 3.4 (lines), and areas.

use crestline_tests::scene::draw::Draw;
use crestline_tests::scene::{Scene, kernels};
use fastrand::Rng;
use regs::gen40::State3dLineStipple;

const SIZE: u32 = 64;

/// OpenGL 2.1, 3.4.2: bit (s / repeat) mod 16, s counts pixels and goes on along a strip.
#[test]
fn stipple() {
    let mut scene = Scene::new();
    let target = scene.target(SIZE, SIZE);
    for (pattern, repeat) in [
        (0xf0f1u32, 1u32),
        (0x0a5c, 3),
        (0x8001, 5),
        (0xffff, 7),
        (1, 256),
    ] {
        for strip in [false, true] {
            target.fill(&[0; 4]);
            let mut draw = Draw::flat(target.state());
            draw.sf_kernel = kernels::sf_flat_line();
            draw.wm.set_line_stipple_enable(true);
            let mut stipple = State3dLineStipple::new();
            stipple
                .set_line_stipple_pattern(pattern)
                .set_line_stipple_repeat_count(repeat)
                .set_line_stipple_inverse_repeat_count(1.0 / repeat as f32);
            scene.commands.extend(stipple.dwords());
            let places = [[2.5, 5.5], [40.5, 5.5], [40.5, 47.5]];
            if strip {
                scene.paint(&mut draw, 3, &places);
            } else {
                let list = [places[0], places[1], places[1], places[2]];
                scene.paint(&mut draw, 2, &list);
            }
            let on = |s: u32| pattern >> (s / repeat % 16) & 1 == 1;
            for s in 0..38 {
                let lit = target.word(2 + s, 5) != 0;
                // (40, 5) belongs to the second line.
                assert_eq!(lit, on(s), "{pattern:#x} {repeat} {strip} at {s}");
            }
            for s in 0..42 {
                let lit = target.word(40, 5 + s) != 0;
                let count = if strip { s + 38 } else { s };
                assert_eq!(
                    lit,
                    on(count),
                    "{pattern:#x} {repeat} {strip} at {s} of the second"
                );
            }
        }
    }
    drop(target);
    scene.finish();
}

/// Random lines with ends at pixel corners or anywhere: every pixel lies at most half a pixel from the line in the
/// minor direction, and each step of the major direction has one pixel.
#[test]
fn diagonals() {
    let mut scene = Scene::new();
    let target = scene.target(SIZE, SIZE);
    let mut random = Rng::with_seed(0x11e5);
    for round in 0..200 {
        let mut place = || [random.u32(..992), random.u32(..992)].map(|v| v as f32 / 16.0 + 1.0);
        let (a, b) = (place(), place());
        target.fill(&[0; 4]);
        let mut draw = Draw::flat(target.state());
        draw.sf_kernel = kernels::sf_flat_line();
        scene.paint(&mut draw, 2, &[a, b]);
        let (dx, dy) = (b[0] - a[0], b[1] - a[1]);
        let x_major = dx.abs() >= dy.abs();
        let (major, minor) = if x_major { (0, 1) } else { (1, 0) };
        let mut seen = vec![0; SIZE as usize];
        for y in 0..SIZE {
            for x in 0..SIZE {
                if target.word(x, y) == 0 {
                    continue;
                }
                let p = [x as f32 + 0.5, y as f32 + 0.5];
                seen[[x, y][major] as usize] += 1;
                let t = (p[major] - a[major]) / (b[major] - a[major]);
                let off = (p[minor] - (a[minor] + t * (b[minor] - a[minor]))).abs();
                assert!(
                    off <= 0.5 + 1e-3,
                    "round {round} {a:?} {b:?}: {x}, {y} is {off} off"
                );
            }
        }
        let (low, high) = (a[major].min(b[major]), a[major].max(b[major]));
        for (i, &n) in seen.iter().enumerate() {
            let centre = i as f32 + 0.5;
            let wanted = if centre > low + 0.5 && centre < high - 0.5 {
                1..=1
            } else if centre < low - 0.5 || centre > high + 0.5 {
                0..=0
            } else {
                0..=1
            };
            assert!(
                wanted.contains(&n),
                "round {round} {a:?} {b:?}: {n} pixels at step {i}"
            );
        }
    }
    drop(target);
    scene.finish();
}

/// The alpha of an antialiased line: across it the coverage adds up to its width.
#[test]
fn antialiased() {
    let mut scene = Scene::new();
    let target = scene.target(SIZE, SIZE);
    for width in [1.0f32, 2.0, 3.5, 6.0] {
        for slope in [0.0f32, 0.3, -0.7] {
            target.fill(&[0; 4]);
            let mut draw = Draw::flat(target.state());
            draw.sf_kernel = kernels::sf_flat_line();
            draw.wm_kernel = kernels::wm_aa16();
            draw.sf.set_antialiasing_enable(true).set_line_width(width);
            draw.wm
                .set_dispatch_grf_start_register_for_constant_setup_data_0(3)
                .set_line_antialiasing_region_width(1)
                .set_line_end_cap_antialiasing_region_width(1);
            let at = |x: f32| 32.25 + (x - 32.0) * slope;
            scene.paint(&mut draw, 2, &[[4.0, at(4.0)], [60.0, at(60.0)]]);
            let length = (1.0 + slope * slope).sqrt();
            for x in 16..48 {
                let sum: u32 = (0..SIZE).map(|y| target.word(x, y) >> 24).sum();
                let sum = sum as f32 / 255.0;
                // A column of the line is as high as the line is wide, times the slant.
                let expected = width * length;
                assert!(
                    (sum - expected).abs() < 0.35,
                    "width {width}, slope {slope}, column {x}: {sum} not {expected}"
                );
            }
        }
    }
    drop(target);
    scene.finish();
}
