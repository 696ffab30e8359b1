//! Pixel shader dispatch: single subspans, partial payloads, scoreboard.
//!
//! PRM: volume 4, 3.3.3.3, 3.3.9.1. Which subspans may lock the depth cache against each other is the model's
//! choice (those of different 8x4 blocks). Not covered: several draws whose threads wait.

use super::bench::*;
use super::stops::{stopping, stops};
use super::wiz::header;
use crestline_tests::scene::draw::Draw;
use crestline_tests::scene::surface::{Layout, Surface};
use crestline_tests::scene::{Scene, kernels};
use regs::gen40::reg;

/// D24_UNORM_X8_UINT.
const D24_X8: u32 = 3;

/// How depth is tested and written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Case {
    /// All in the windower.
    Promoted,
    /// The kernel may kill what passed the test.
    NonPromoted,
    /// All behind the kernel.
    Computed,
}

/// Thread ids of a rectangle's pixels.
fn ids(
    scene: &mut Scene,
    (target, depth): (&Surface, &Surface),
    case: Case,
    (width, height): (u32, u32),
) -> Vec<Vec<u32>> {
    target.fill(&[0xee; 16]);
    depth.fill(&[0; 4]);
    let mut draw = Draw::flat(target.state());
    draw.depth = depth.depth_buffer(D24_X8);
    draw.cc
        .set_depth_test_enable(case != Case::Computed)
        .set_depth_test_function(0)
        .set_depth_buffer_write_enable(true);
    draw.wm
        .set_early_depth_test_enable(case != Case::Computed)
        .set_pixel_shader_kills_pixel(case == Case::NonPromoted);
    if case == Case::Promoted {
        draw.wm_kernel = kernels::wm_debug16();
    } else {
        draw.wm_kernel = kernels::wm_debug_depth16();
        draw.wm
            .set_dispatch_grf_start_register_for_constant_setup_data_0(4);
    }
    let (w, h) = (width as f32, height as f32);
    let corner = |x, y| [x, y, 0.625, 1.0, 0.0, 0.0, 0.0, 0.0];
    scene.vertices(&mut draw, &[corner(w, h), corner(0.0, h), corner(0.0, 0.0)]);
    draw.topology(15, 3);
    scene.draw(&draw);
    reset_counters(scene);
    scene.run();
    // The picture is the same however the threads are cut.
    let z = (0.625f64 * 16_777_215.0).round() as u32;
    for y in 0..64 {
        for x in 0..64 {
            let inside = x < width && y < height;
            assert_eq!(target.bits(x, y)[0] != 0xeeee_eeee, inside, "{x} {y}");
            assert_eq!(
                depth.word(x, y) & 0xff_ffff,
                if inside { z } else { 0 },
                "{x} {y}"
            );
        }
    }
    (0..height)
        .map(|y| (0..width).map(|x| header(target, x, y)[0]).collect())
        .collect()
}

/// One subspan a payload, but for promoted cases.
// covers: 3.3.9-06, 3.3.9.1-R
#[test]
fn single_subspans_are_dispatched() {
    let mut scene = Scene::new();
    let target = target(&mut scene);
    let depth = scene.surface((0, 4), (64, 64), Layout::Y);
    debug(&scene, true);
    for case in [Case::Promoted, Case::NonPromoted, Case::Computed] {
        for single in [false, true] {
            write(&scene, WIZ_CTL, u32::from(single) << 6);
            let found = ids(&mut scene, (&target, &depth), case, (16, 8));
            let side = if single && case != Case::Promoted {
                2
            } else {
                4
            };
            let mut firsts = Vec::new();
            for y in (0..8).step_by(side) {
                for x in (0..16).step_by(side) {
                    let first = found[y][x];
                    let same = |n: usize| found[y + n / side][x + n % side] == first;
                    assert!((0..side * side).all(same), "{case:?} {single} {x} {y}");
                    firsts.push(first);
                }
            }
            firsts.sort_unstable();
            let count = firsts.len() as u32;
            assert_eq!(firsts, (0..count).collect::<Vec<_>>(), "{case:?} {single}");
        }
    }
    drop(depth);
    finish(scene, target);
}

/// Two columns: every 8x4 block has two subspans, half a payload.
// covers: 3.3.3-05, 3.3.3.3-R
#[test]
fn partial_payloads_are_forced_where_depth_could_lock_up() {
    let mut scene = Scene::new();
    let target = target(&mut scene);
    let depth = scene.surface((0, 4), (64, 64), Layout::Y);
    debug(&scene, true);
    for case in [Case::Promoted, Case::NonPromoted, Case::Computed] {
        for disable in [false, true] {
            write(&scene, SVG_WORK_CTL, u32::from(disable) << 1);
            let rows = if case == Case::NonPromoted && !disable {
                4
            } else {
                8
            };
            let found = ids(&mut scene, (&target, &depth), case, (2, 64));
            for (y, row) in found.into_iter().enumerate() {
                assert_eq!(row, [y as u32 / rows; 2], "{case:?} {disable} {y}");
            }
        }
    }
    drop(depth);
    finish(scene, target);
}

/// Three rectangles on one place; the thread of the first waits. The scoreboard holds the others back, so that the
/// last wins; when it is ignored they pass by, and the first writes last.
// covers: 3.3.9-06, 3.3.9.1-R
#[test]
fn the_scoreboard_keeps_the_order_unless_it_is_ignored() {
    let mut scene = Scene::new();
    let target = target(&mut scene);
    for (ignore, meanwhile, last) in [(false, 0.0, 3.0), (true, 3.0, 1.0)] {
        debug(&scene, true);
        write(&scene, TD_CTL, 1 << 2);
        write(&scene, WIZ_STRG_VAL, 9 << 16 | 9);
        // The first occurrence alone.
        write(
            &scene,
            WIZ_CTL,
            1 << 16 | u32::from(ignore) << 5 | 1 << 4 | 0b011,
        );
        stopping(&mut scene, &target, [(8.0, 8.0); 3]);
        let seen = stops(&mut scene, &target, [(9, 9); 3]);
        assert_eq!(seen, [[meanwhile; 3]], "{ignore}");
        for y in 8..12 {
            for x in 8..12 {
                assert_eq!(target.bits(x, y), [f32::to_bits(last); 4], "{ignore}");
            }
        }
    }
    write(&scene, reg::ISC_L1CA_BP_OPC1.offset(), 0);
    finish(scene, target);
}
