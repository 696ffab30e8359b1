//! Clipper: threads of what must be clipped, vertices that pass unclipped.
//!
//! PRM: volume 4, 3.3.7. The trigger for unclipped vertices is the model's choice (FFID in bits 27:24 of CL_STRG_VAL).
//! Not covered: how wide the running count of a thread is, which the manual does not say.

use super::bench::*;
use crestline_tests::scene::draw::Draw;
use crestline_tests::scene::surface::Surface;
use crestline_tests::scene::{Scene, kernels};

/// Triangles 0 to 4: 1 and 3 cross the right edge of the target, 4 lies outside.
fn places() -> Vec<[f32; 8]> {
    let moved = |n: usize, by: f32| {
        let mut triangle = cell(n);
        for vertex in &mut triangle {
            vertex[0] += by;
        }
        triangle
    };
    [
        cell(0),
        moved(7, 4.0),
        cell(16),
        moved(23, 4.0),
        moved(31, 9.0),
    ]
    .concat()
}

/// A frame of these triangles, with GS or without.
fn frame(scene: &mut Scene, target: &Surface, gs: bool) -> Draw {
    target.fill(&[0xee; 16]);
    let mut draw = Draw::flat(target.state());
    with_clipper(&mut draw);
    if gs {
        with_gs(&mut draw);
    }
    scene.vertices(&mut draw, &places());
    scene.draw(&draw);
    reset_counters(scene);
    draw
}

// covers: 3.3.7-01, 3.3.1-01, 3.2-04, 3.2.1-02, 3.2.1-05, 3.3.7.1-R, 3.3.7.2-R
#[test]
fn ids_and_flags_stand_in_r0() {
    let mut scene = Scene::new();
    let target = target(&mut scene);
    for (control, trigger, flags, completes) in [
        (0b001, 1, [0; 2], true),
        (0b010, 1, [0; 2], false),
        (0b011, 1, [0, FLAG], true),
        (0b011, 2, [0; 2], false),
        (0b100, 1, [FLAG; 2], false),
        (0b111, 1, [FLAG; 2], true),
    ] {
        for on in [true, false] {
            debug(&scene, on);
            write(&scene, CL_STRG_VAL, trigger);
            write(&scene, CL_CTL, control);
            frame(&mut scene, &target, false);
            scene.run();
            // The two that cross; what passes unclipped keeps its colour.
            let headers = [7, 23].map(|cell| {
                let (x, y) = corner(cell);
                let [.., id, flag] = target.bits(x + 5, y + 1);
                [id, flag]
            });
            let expected = if on {
                [[0, flags[0]], [1, flags[1]]]
            } else {
                [[0; 2]; 2]
            };
            assert_eq!(headers, expected, "{control:#b} {on}");
            assert_eq!(inside(&target, 0), [1.0f32.to_bits(); 4]);
            assert_eq!(inside(&target, 16), [17.0f32.to_bits(); 4]);
            assert_eq!(complete(&scene, CL_CTL), on && completes);
        }
    }
    finish(scene, target);
}

/// All mux values, for threads.
// covers: 3.3.7-03, 3.2-02, 3.2-03, 3.3.6-01, 3.3.7.1-R, 3.3.7.3-R
#[test]
fn a_snapshot_shows_tags_counts_and_kernel() {
    let mut scene = Scene::new();
    let target = target(&mut scene);
    debug(&scene, true);
    // Thread 1 clips triangle 3: vertices 9 to 11, or those of GS thread 3. All Threads leaves the last: the same.
    for (gs, control) in [(false, 1), (true, 1), (false, 0b100)] {
        write(&scene, CL_STRG_VAL, 1);
        write(&scene, CL_CTL, control);
        frame(&mut scene, &target, gs);
        let [_, _, kernel, ..] = kernel_pointers(&scene);
        scene.run();
        let shown: Vec<u32> = (0..10)
            .map(|mux| show(&scene, CL_CTL, mux, CL_RDATA))
            .collect();
        let expected = if gs {
            [GS | 3, 0, GS | 3, 1, GS | 3, 2, 3, kernel, 0, 0]
        } else {
            [VF | 9, 0, VF | 0xa, 0, VF | 0xb, 0, 3, kernel, 0, 0]
        };
        assert_eq!(shown, expected, "GS {gs}");
    }
    finish(scene, target);
}

/// SF sees the clipper's thread and running count, or the tag of whoever made a vertex that passed.
// covers: 3.3.7-01, 3.1-02, 3.3.8-02
#[test]
fn vertices_out_of_the_clipper_have_its_tag() {
    let mut scene = Scene::new();
    let target = target(&mut scene);
    debug(&scene, true);
    // Primitive of SF: triangles 0 to 3, for 4 is rejected.
    for (number, tags) in [
        (0, [[VF, 0], [VF | 1, 0], [VF | 2, 0]]),
        (1, [[CLIP, 0], [CLIP, 1], [CLIP, 2]]),
        (2, [[VF | 6, 0], [VF | 7, 0], [VF | 8, 0]]),
        (3, [[CLIP | 1, 0], [CLIP | 1, 1], [CLIP | 1, 2]]),
    ] {
        write(&scene, SF_STRG_VAL, number);
        write(&scene, SF_CTL, 1);
        frame(&mut scene, &target, false);
        scene.run();
        assert!(complete(&scene, SF_CTL), "{number}");
        for (mux, tag) in (0..).zip(tags.concat()) {
            assert_eq!(show(&scene, SF_CTL, mux, SF_RDATA), tag, "{number} {mux}");
        }
    }
    write(&scene, SF_STRG_VAL, 4);
    write(&scene, SF_CTL, 1);
    frame(&mut scene, &target, false);
    scene.run();
    assert!(!complete(&scene, SF_CTL), "a rejected triangle");
    finish(scene, target);
}

/// What passes unclipped is trapped by the tag of one of its vertices.
// covers: 3.3.7-02, 3.3.7-03, 3.3.7.2-R
#[test]
fn unclipped_vertices_are_trapped_by_their_tag() {
    let mut scene = Scene::new();
    let target = target(&mut scene);
    debug(&scene, true);
    for (gs, ffid, number, hit) in [
        (false, 1, 0, Some([0, 1, 2])),
        (false, 1, 7, Some([6, 7, 8])),
        // Clipped, rejected, never there, another unit's.
        (false, 1, 4, None),
        (false, 1, 13, None),
        (false, 1, 15, None),
        (false, 2, 7, None),
        (true, 3, 2, Some([2, 2, 2])),
        (true, 3, 1, None),
    ] {
        for on in [true, false] {
            debug(&scene, on);
            write(&scene, CL_STRG_VAL, ffid << 24 | number);
            write(&scene, CL_CTL, 0b011);
            frame(&mut scene, &target, gs);
            let [_, _, kernel, ..] = kernel_pointers(&scene);
            scene.run();
            assert_eq!(
                complete(&scene, CL_CTL),
                on && hit.is_some(),
                "{gs} {number}"
            );
            let (x, y) = corner(7);
            assert_eq!(target.bits(x + 5, y + 1)[3], 0, "no thread is flagged");
            let Some(tags) = hit.filter(|_| on) else {
                continue;
            };
            for (vertex, tag) in (0..).zip(tags) {
                let relative = if gs { vertex } else { 0 };
                assert_eq!(show(&scene, CL_CTL, vertex * 2, CL_RDATA), ffid << 28 | tag);
                assert_eq!(show(&scene, CL_CTL, vertex * 2 + 1, CL_RDATA), relative);
            }
            assert_eq!(show(&scene, CL_CTL, 6, CL_RDATA), 3);
            assert_eq!(show(&scene, CL_CTL, 7, CL_RDATA), kernel);
        }
    }
    // A line and a point.
    for (topology, kernel, count) in [(2, kernels::sf_flat_line(), 2), (1, kernels::sf_point(), 1)]
    {
        debug(&scene, true);
        let mut draw = grid(&mut scene, &target, 2);
        with_clipper(&mut draw);
        draw.sf_kernel = kernel;
        draw.topology(topology, 4);
        write(&scene, CL_STRG_VAL, 1 << 24 | 2);
        write(&scene, CL_CTL, 1);
        scene.draw(&draw);
        reset_counters(&mut scene);
        scene.run();
        let shown: Vec<u32> = (0..7)
            .map(|mux| show(&scene, CL_CTL, mux, CL_RDATA))
            .collect();
        let second = if count == 2 { VF | 3 } else { 0 };
        assert_eq!(shown, [VF | 2, 0, second, 0, 0, 0, count]);
    }
    finish(scene, target);
}
