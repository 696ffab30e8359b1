//! Geometry shader: ids and flags in r0, tags of what goes in and comes out.
//!
//! PRM: volume 4, 3.3.6. Not covered: more than ten bits of vertices out of one thread.

use super::bench::*;
use crestline_tests::scene::surface::Surface;
use crestline_tests::scene::{Scene, kernels};

/// r0.6 and r0.7 of the GS threads of four triangles.
fn headers(scene: &mut Scene, target: &Surface) -> Vec<[u32; 2]> {
    target.fill(&[0xee; 16]);
    let mut draw = grid(scene, target, 4);
    with_gs(&mut draw);
    scene.draw(&draw);
    reset_counters(scene);
    scene.run();
    (0..4)
        .map(|cell| {
            let [.., id, flag] = inside(target, cell);
            [id, flag]
        })
        .collect()
}

// covers: 3.3.6-02, 3.3.1-01, 3.2-04, 3.2.1-02, 3.2.1-05, 3.3.6.1-R, 3.3.6.2-R
#[test]
fn ids_and_flags_stand_in_r0() {
    let mut scene = Scene::new();
    let target = target(&mut scene);
    for (control, trigger, flags, completes) in [
        (0b001, 1, [0; 4], true),
        (0b010, 1, [0; 4], false),
        (0b011, 1, [0, FLAG, 0, 0], true),
        (0b011, 3, [0, 0, 0, FLAG], true),
        // Of the 28 bits of the trigger thread ids have 24.
        (0b011, 0x0100_0001, [0; 4], false),
        (0b100, 1, [FLAG; 4], false),
        (0b111, 1, [FLAG; 4], true),
    ] {
        write(&scene, GS_STRG_VAL, trigger);
        let control = (GS_CTL, control);
        flagged(&mut scene, control, (flags, completes), |scene| {
            headers(scene, &target)
        });
    }
    finish(scene, target);
}

/// Triangle 1 of a list: sequence numbers 3 to 5, out of VF.
// covers: 3.3.6-03, 3.2-02, 3.2-03, 3.3.6.1-R, 3.3.6.3-R
#[test]
fn a_snapshot_shows_tags_count_and_kernel() {
    let mut scene = Scene::new();
    let target = target(&mut scene);
    debug(&scene, true);
    for (control, first) in [(1, 3), (0b100, 9)] {
        let mut draw = grid(&mut scene, &target, 4);
        with_gs(&mut draw);
        write(&scene, GS_STRG_VAL, 1);
        write(&scene, GS_CTL, control);
        scene.draw(&draw);
        let [_, kernel, ..] = kernel_pointers(&scene);
        reset_counters(&mut scene);
        scene.run();
        let shown: Vec<u32> = (0..16)
            .map(|mux| show(&scene, GS_CTL, mux, GS_RDATA))
            .collect();
        let tag = |n| VF | (first + n);
        let mut expected = [0; 16];
        for n in 0..3u32 {
            expected[n as usize * 2] = tag(n);
        }
        expected[12] = 3;
        expected[13] = kernel;
        assert_eq!(shown, expected, "{control:#b}");
    }
    finish(scene, target);
}

/// Points, lines, triangles, quads, lines and triangles with their neighbours.
// covers: 3.3.6-03
#[test]
fn the_count_is_that_of_the_topology() {
    let mut scene = Scene::new();
    let target = target(&mut scene);
    debug(&scene, true);
    for (topology, count) in [(1, 1), (2, 2), (4, 3), (7, 4), (9, 4), (11, 6)] {
        let mut draw = grid(&mut scene, &target, 4);
        draw.gs_kernel = Some(kernels::gs_silent());
        draw.topology(topology, 12);
        write(&scene, GS_STRG_VAL, 1);
        write(&scene, GS_CTL, 1);
        scene.draw(&draw);
        reset_counters(&mut scene);
        scene.run();
        assert!(complete(&scene, GS_CTL));
        assert_eq!(show(&scene, GS_CTL, 12, GS_RDATA), count);
        for vertex in 0..6 {
            let tag = if vertex < count {
                VF | (count + vertex)
            } else {
                0
            };
            assert_eq!(
                show(&scene, GS_CTL, vertex * 2, GS_RDATA),
                tag,
                "{topology}"
            );
        }
    }
    finish(scene, target);
}

/// SF sees the thread and the number of a vertex within it; a quad out of one thread comes as a fan of two triangles.
// covers: 3.3.6-01, 3.1-02, 3.3.8-02
#[test]
fn vertices_out_of_gs_have_its_tag() {
    let mut scene = Scene::new();
    let target = target(&mut scene);
    debug(&scene, true);
    for (quads, number, thread, relative) in [
        (false, 0, 0, [0, 1, 2]),
        (false, 2, 2, [0, 1, 2]),
        (true, 2, 1, [0, 1, 2]),
        (true, 3, 1, [0, 2, 3]),
    ] {
        let mut draw = grid(&mut scene, &target, 4);
        with_gs(&mut draw);
        if quads {
            draw.gs_kernel = Some(kernels::gs_quads());
            draw.topology(7, 12);
        }
        write(&scene, SF_STRG_VAL, number);
        write(&scene, SF_CTL, 1);
        scene.draw(&draw);
        reset_counters(&mut scene);
        scene.run();
        assert!(complete(&scene, SF_CTL), "{quads} {number}");
        for (vertex, relative) in (0..).zip(relative) {
            assert_eq!(show(&scene, SF_CTL, vertex * 2, SF_RDATA), GS | thread);
            assert_eq!(show(&scene, SF_CTL, vertex * 2 + 1, SF_RDATA), relative);
        }
    }
    finish(scene, target);
}
