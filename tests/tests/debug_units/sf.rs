//! Strips and fans: primitive numbers, culling, range, debug clip rectangle.
//!
//! PRM: volume 4, 3.3.8. The relative counts of vertices 1 and 2 are taken for mux values 3 and 5, where the manual
//! prints vertex 0 again. Not covered: the flag's way into the windower, which is in wiz.rs.

use super::bench::*;
use crestline_tests::scene::draw::Draw;
use crestline_tests::scene::surface::Surface;
use crestline_tests::scene::{Scene, kernels};

/// Five triangles: 1 shows its back, which is culled, 2 has no area. Colours are r0.4 to r0.7 of the setup threads.
fn five(scene: &mut Scene, target: &Surface) -> Draw {
    target.fill(&[0xee; 16]);
    let mut draw = Draw::flat(target.state());
    draw.sf_kernel = kernels::sf_debug_tri();
    // CULLMODE_BACK; front is clockwise.
    draw.sf.set_cull_mode(3).set_front_winding(0);
    let mut triangles: Vec<_> = (0..5).map(cell).collect();
    triangles[1].swap(1, 2);
    triangles[2][1] = triangles[2][0];
    scene.vertices(&mut draw, &triangles.concat());
    scene.draw(&draw);
    reset_counters(scene);
    draw
}

// covers: 3.3.8-01, 3.3.1-01, 3.2-04, 3.2.1-02, 3.2.1-05, 3.3.8.1-R, 3.3.8.2-R
#[test]
fn primitives_have_their_numbers_in_r0() {
    let mut scene = Scene::new();
    let target = target(&mut scene);
    // Control, trigger, flags of primitives 0, 3 and 4, Snapshot Complete.
    for (control, trigger, flags, completes) in [
        (0b001, 3, [0; 3], true),
        (0b010, 3, [0; 3], false),
        (0b011, 3, [0, FLAG, 0], true),
        // Culled ones match too, but have no thread.
        (0b011, 1, [0; 3], true),
        (0b011, 2, [0; 3], true),
        (0b011, 5, [0; 3], false),
        (0b011, 0x0100_0003, [0; 3], false),
        (0b100, 3, [FLAG; 3], false),
        (0b111, 3, [FLAG; 3], true),
    ] {
        for on in [true, false] {
            debug(&scene, on);
            write(&scene, SF_STRG_VAL, trigger);
            write(&scene, SF_CTL, control);
            five(&mut scene, &target);
            scene.run();
            let untouched = [0xeeee_eeee; 4];
            assert_eq!(inside(&target, 1), untouched);
            assert_eq!(inside(&target, 2), untouched);
            for ((cell, number), flag) in [(0, 0), (3, 3), (4, 4)].into_iter().zip(flags) {
                let [.., id, found] = inside(&target, cell);
                let expected = if on { [number, flag] } else { [0, 0] };
                assert_eq!([id, found], expected, "{control:#b} {trigger} {on}");
            }
            assert_eq!(complete(&scene, SF_CTL), on && completes, "{control:#b}");
        }
    }
    finish(scene, target);
}

// covers: 3.3.8-02, 3.2-02, 3.2-03, 3.3.8.1-R, 3.3.8.7-R
#[test]
fn a_snapshot_shows_the_vertices_of_a_primitive() {
    let mut scene = Scene::new();
    let target = target(&mut scene);
    debug(&scene, true);
    for number in 0..5 {
        write(&scene, SF_STRG_VAL, number);
        write(&scene, SF_CTL, 1);
        five(&mut scene, &target);
        let [.., kernel, _] = kernel_pointers(&scene);
        scene.run();
        assert!(complete(&scene, SF_CTL));
        let shown: Vec<u32> = (0..10)
            .map(|mux| show(&scene, SF_CTL, mux, SF_RDATA))
            .collect();
        let tag = |n| VF | (number * 3 + n);
        let expected = [tag(0), 0, tag(1), 0, tag(2), 0, 3, kernel, 0, 0];
        assert_eq!(shown, expected, "culled or not: {number}");
    }
    // All Threads: the last primitive stays.
    write(&scene, SF_STRG_VAL, 0);
    write(&scene, SF_CTL, 0b100);
    five(&mut scene, &target);
    scene.run();
    assert_eq!(show(&scene, SF_CTL, 0, SF_RDATA), VF | 0xc);
    // Lines and points have two vertices and one. A strip shares them: primitive 3 is vertices 3 and 4.
    for (topology, kernel, tags) in [
        (3, kernels::sf_flat_line(), vec![3, 4]),
        (2, kernels::sf_flat_line(), vec![6, 7]),
        (1, kernels::sf_point(), vec![3]),
    ] {
        let mut draw = grid(&mut scene, &target, 5);
        draw.sf_kernel = kernel;
        draw.topology(topology, 15);
        write(&scene, SF_STRG_VAL, 3);
        write(&scene, SF_CTL, 1);
        scene.draw(&draw);
        reset_counters(&mut scene);
        scene.run();
        assert_eq!(show(&scene, SF_CTL, 6, SF_RDATA), tags.len() as u32);
        for vertex in 0..3 {
            let tag = tags.get(vertex).map_or(0, |n| VF | n);
            assert_eq!(show(&scene, SF_CTL, vertex as u32 * 2, SF_RDATA), tag);
        }
    }
    finish(scene, target);
}

/// Draws six cells; which of them arrive.
fn six(scene: &mut Scene, target: &Surface) -> Vec<usize> {
    target.fill(&[0; 16]);
    let draw = grid(scene, target, 6);
    scene.draw(&draw);
    reset_counters(scene);
    scene.run();
    drawn(target, 6)
}

// covers: 3.3.8-03, 3.2.1-05, 3.3.8.1-R, 3.3.8.3-R, 3.3.8.4-R
#[test]
fn a_range_of_primitives_is_left() {
    let mut scene = Scene::new();
    let target = target(&mut scene);
    for (control, min, max, expected) in [
        (1 << 4, 1, 3, 1..4),
        (1 << 4, 0, 0, 0..1),
        (1 << 4, 5, 0x0fff_ffff, 5..6),
        (1 << 4, 6, 9, 0..0),
        (1 << 4, 3, 2, 0..0),
        (0, 1, 3, 0..6),
    ] {
        write(&scene, SF_CTL, control);
        write(&scene, SF_MIN_PR_IND, min);
        write(&scene, SF_MAX_PR_IND, max);
        debug(&scene, true);
        let found = six(&mut scene, &target);
        assert_eq!(found, expected.collect::<Vec<_>>(), "{min} to {max}");
        debug(&scene, false);
        assert_eq!(six(&mut scene, &target).len(), 6);
    }
    finish(scene, target);
}

/// Cull All is not among the bits that the global debug enable gates.
// covers: 3.3.8-05, 3.3.8-01, 3.3.8.1-R
#[test]
fn cull_all_drops_every_primitive() {
    let mut scene = Scene::new();
    let target = target(&mut scene);
    for on in [false, true] {
        debug(&scene, on);
        write(&scene, SF_CTL, 1 << 30);
        assert!(six(&mut scene, &target).is_empty());
        write(&scene, SF_CTL, 0);
        assert_eq!(six(&mut scene, &target).len(), 6);
    }
    // They are counted all the same.
    write(&scene, SF_STRG_VAL, 5);
    write(&scene, SF_CTL, 1 << 30 | 1);
    assert!(six(&mut scene, &target).is_empty());
    assert!(complete(&scene, SF_CTL));
    assert_eq!(show(&scene, SF_CTL, 0, SF_RDATA), VF | 15);
    finish(scene, target);
}

/// The debug rectangle takes the place of the drawing rectangle: pixels of both bounds are inside, and what lies
/// beyond the drawing rectangle is drawn.
// covers: 3.3.8-03, 3.3.8-06, 3.2.1-05, 3.3.8.1-R, 3.3.8.5-R, 3.3.8.6-R
#[test]
fn the_debug_rectangle_replaces_the_drawing_rectangle() {
    let mut scene = Scene::new();
    let target = target(&mut scene);
    for (on, control, min, max, expected) in [
        (true, 1 << 3, (10, 12), (29, 35), (10..=29, 12..=35)),
        (true, 1 << 3, (0, 0), (0, 0), (0..=0, 0..=0)),
        (true, 1 << 3, (7, 3), (63, 3), (7..=63, 3..=3)),
        (false, 1 << 3, (10, 12), (29, 35), (4..=20, 8..=16)),
        (true, 0, (10, 12), (29, 35), (4..=20, 8..=16)),
    ] {
        target.fill(&[0; 16]);
        let mut draw = Draw::flat(target.state());
        draw.rectangle
            .set_clipped_drawing_rectangle_x_min(4)
            .set_clipped_drawing_rectangle_y_min(8)
            .set_clipped_drawing_rectangle_x_max(20)
            .set_clipped_drawing_rectangle_y_max(16);
        let corner = |x, y| [x, y, 0.5, 1.0, 1.0, 1.0, 1.0, 1.0];
        let rectangle = [corner(64.0, 64.0), corner(0.0, 64.0), corner(0.0, 0.0)];
        scene.vertices(&mut draw, &rectangle);
        draw.topology(15, 3);
        debug(&scene, on);
        write(&scene, SF_CTL, control);
        write(&scene, SF_CLIP_RMIN, min.1 << 16 | min.0);
        write(&scene, SF_CLIP_RMAX, max.1 << 16 | max.0);
        scene.draw(&draw);
        scene.run();
        for y in 0..64 {
            for x in 0..64 {
                let lit = target.bits(x, y) != [0; 4];
                let within = expected.0.contains(&x) && expected.1.contains(&y);
                assert_eq!(lit, within, "{x} {y}, {min:?} {max:?} {on} {control}");
            }
        }
    }
    finish(scene, target);
}
