//! Vertex shader: thread ids and flags in r0, what the snapshot shows.
//!
//! PRM: volume 4, 3.3.5. Not covered: the bit that tells the two vertices of a thread apart (vf.rs).

use super::bench::*;
use crestline_tests::scene::Scene;
use crestline_tests::scene::draw::Draw;
use crestline_tests::scene::grid::header_points;
use crestline_tests::scene::surface::Surface;

/// [`header_points`] with vertices in their order, in which none is met twice.
pub fn sequential(scene: &mut Scene, target: &Surface, count: u32) -> Draw {
    let mut draw = header_points(scene, target, 64);
    draw.topology(1, count);
    draw
}

/// r0.6 and r0.7 of the threads of a frame of eight points.
fn headers(scene: &mut Scene, target: &Surface) -> Vec<[u32; 2]> {
    target.fill(&[0xee; 16]);
    let draw = sequential(scene, target, 8);
    scene.draw(&draw);
    reset_counters(scene);
    scene.run();
    (0..4)
        .map(|thread| {
            let [.., id, flag] = target.bits(thread * 2 + 1, 0);
            [id, flag]
        })
        .collect()
}

// covers: 3.3.5-01, 3.3.1-01, 3.2-04, 3.2-05, 3.2.1-02, 3.2.1-04, 3.2.1-05, 3.3.5.1-R, 3.3.5.2-R
#[test]
fn ids_and_flags_stand_in_r0() {
    let mut scene = Scene::new();
    let target = target(&mut scene);
    write(&scene, VS_STRG_VAL, 2);
    // Control, flags by thread, Snapshot Complete.
    let only = [0, 0, FLAG, 0];
    for (control, flags, completes) in [
        (0b000, [0; 4], false),
        (0b001, [0; 4], true),
        (0b010, [0; 4], false),
        (0b011, only, true),
        (0b100, [FLAG; 4], false),
        (0b101, [FLAG; 4], true),
        (0b110, [FLAG; 4], false),
        (0b111, [FLAG; 4], true),
    ] {
        let control = (VS_CTL, control);
        flagged(&mut scene, control, (flags, completes), |scene| {
            headers(scene, &target)
        });
    }
    finish(scene, target);
}

/// MI_FLUSH with the bit sets the counters to zero; without it, and from frame to frame, they go on.
// covers: 3.2.1-02, 3.2.1-03, 3.2.1-04
#[test]
fn ids_go_on_until_a_flush_resets_them() {
    let mut scene = Scene::new();
    let target = target(&mut scene);
    debug(&scene, true);
    let mut frame = |flush: Option<u32>| {
        let draw = sequential(&mut scene, &target, 4);
        scene.commands.extend(flush);
        scene.draw(&draw);
        scene.run();
        [1, 3].map(|x| target.bits(x, 0)[2])
    };
    assert_eq!(frame(Some(0x0200_0008)), [0, 1]);
    assert_eq!(frame(None), [2, 3]);
    assert_eq!(frame(Some(0x0200_0000)), [4, 5]);
    assert_eq!(frame(Some(0x0200_0008)), [0, 1]);
    assert_eq!(frame(None), [2, 3]);
    finish(scene, target);
}

// covers: 3.3.5-03, 3.2-02, 3.2-03, 3.3.5.1-R, 3.3.5.3-R
#[test]
fn a_snapshot_shows_indices_count_and_kernel() {
    let mut scene = Scene::new();
    let target = target(&mut scene);
    debug(&scene, true);
    // Vertices 10 to 14: the last thread has one alone.
    let mut frame = |control: u32, trigger: u32| {
        let mut draw = sequential(&mut scene, &target, 5);
        draw.primitive.set_start_vertex_location(10);
        write(&scene, VS_STRG_VAL, trigger);
        write(&scene, VS_CTL, control);
        scene.draw(&draw);
        let [kernel, ..] = kernel_pointers(&scene);
        reset_counters(&mut scene);
        scene.run();
        let shown: Vec<u32> = (0..6)
            .map(|mux| show(&scene, VS_CTL, mux, VS_RDATA))
            .collect();
        (shown, kernel)
    };
    for (trigger, first, second, count) in [(0, 10, 11, 2), (1, 12, 13, 2), (2, 14, 0, 1)] {
        let (shown, kernel) = frame(1, trigger);
        assert_ne!(kernel, 0);
        assert_eq!(shown, [first, second, count, kernel, 0, 0], "{trigger}");
    }
    // Complete is not cleared: another trigger changes nothing.
    let (shown, kernel) = frame(COMPLETE | 1, 0);
    assert_eq!(shown, [14, 0, 1, kernel, 0, 0]);
    // A thread that does not come.
    let (shown, _) = frame(1, 3);
    assert_eq!(shown[0], 14);
    // All threads: what stays is the last.
    let (shown, kernel) = frame(1, 0);
    assert_eq!(shown, [10, 11, 2, kernel, 0, 0]);
    let (shown, kernel) = frame(0b100, 0);
    assert_eq!(shown, [14, 0, 1, kernel, 0, 0]);
    finish(scene, target);
}

/// A vertex that VS has shaded, or another unit passed on, has VS's code and VF's number; without VS the code is
/// VF's.
// covers: 3.3.5-02, 3.1-02, 3.3.1-01
#[test]
fn tags_name_vs_or_vf() {
    let mut scene = Scene::new();
    let target = target(&mut scene);
    debug(&scene, true);
    for (enabled, code) in [(true, VS), (false, VF)] {
        let mut draw = sequential(&mut scene, &target, 6);
        if !enabled {
            draw.vs_kernel = None;
        }
        write(&scene, SF_STRG_VAL, 4);
        write(&scene, SF_CTL, 1);
        scene.draw(&draw);
        reset_counters(&mut scene);
        scene.run();
        assert!(complete(&scene, SF_CTL));
        assert_eq!(show(&scene, SF_CTL, 0, SF_RDATA), code | 4);
        assert_eq!(show(&scene, SF_CTL, 1, SF_RDATA), 0);
    }
    finish(scene, target);
}
