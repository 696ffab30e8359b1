//! Pathological frames: they end, or hang with an error state and a reset helps.
//!
//! PRM: volume 4, 2.6.11 (errors), 8 (URB). Every test ends with a picture after the reset, or without one.

use crestline_tests::scene::draw::{Draw, places};
use crestline_tests::scene::surface::Surface;
use crestline_tests::scene::{Scene, kernels};
use kernel::time::Delta;

const SIZE: u32 = 16;
const SOON: Delta = Delta::from_millis(2);

fn triangle() -> Vec<[f32; 8]> {
    places(&[[0.0, 0.0], [16.0, 0.0], [0.0, 16.0]])
}

/// Proves that the device still draws.
fn draws(scene: &mut Scene, target: &Surface) {
    target.fill(&[0; 4]);
    let mut draw = Draw::flat(target.state());
    scene.vertices(&mut draw, &triangle());
    scene.draw(&draw);
    scene.run();
    assert_eq!(target.word(2, 2), u32::MAX);
    assert_eq!(target.word(15, 15), 0);
}

/// A frame that must hang, the error state's names, and a frame after the reset.
fn hangs(prepare: impl FnOnce(&mut Draw), names: &[&str]) {
    let mut scene = Scene::new();
    let target = scene.target(SIZE, SIZE);
    let mut draw = Draw::flat(target.state());
    scene.vertices(&mut draw, &triangle());
    prepare(&mut draw);
    scene.draw(&draw);
    let report = scene.hang(SOON);
    for name in names {
        assert!(report.contains(name), "{name} is not in {report}");
    }
    draws(&mut scene, &target);
    drop(target);
    scene.finish_after_fault();
}

#[test]
fn no_entry_for_vertices() {
    hangs(|draw| draw.fences[0] = 0, &["ETIME"]);
}

#[test]
fn two_entries_for_triangles() {
    hangs(|draw| draw.fences = [2, 10, 20, 36, 40], &["ETIME"]);
}

#[test]
fn no_entry_for_setup() {
    hangs(|draw| draw.fences = [32, 40, 50, 51, 60], &["ETIME"]);
}

#[test]
fn no_entry_for_geometry() {
    hangs(
        |draw| {
            draw.fences = [32, 32, 42, 60, 64];
            draw.gs_kernel = Some(kernels::gs_quads());
            draw.topology(7, 4);
            draw.primitive.set_vertex_count_per_instance(4);
        },
        &["ETIME"],
    );
}

/// A GS kernel that needs four entries at a time gets by with one: each is passed on before the next.
/// The clipper's assembler holds three vertices of a polygon, so four are enough and two are not.
#[test]
fn geometry_section_of_a_few_entries() {
    let mut scene = Scene::new();
    let target = scene.target(SIZE, SIZE);
    let mut draw = Draw::flat(target.state());
    draw.gs_kernel = Some(kernels::gs_quads());
    draw.fences = [32, 36, 42, 60, 64];
    let corners = [[0.0, 0.0], [16.0, 0.0], [16.0, 16.0], [0.0, 16.0]];
    let v = places(&corners);
    let many: Vec<_> = v.iter().copied().cycle().take(40).collect();
    scene.vertices(&mut draw, &many);
    draw.topology(7, 40);
    scene.draw(&draw);
    scene.run();
    assert!(target.words().iter().all(|&w| w == u32::MAX));
    drop(target);
    scene.finish();
}

#[test]
fn kernels_that_allocate_and_never_complete() {
    hangs(
        |draw| {
            draw.gs_kernel = Some(kernels::gs_greedy());
            draw.topology(7, 3);
            draw.primitive.set_primitive_topology_type(4);
        },
        &["ETIME"],
    );
}

#[test]
fn kernels_without_end() {
    hangs(|draw| draw.vs_kernel = Some(kernels::endless()), &["ETIME"]);
    hangs(|draw| draw.sf_kernel = kernels::endless(), &["ETIME"]);
    hangs(|draw| draw.wm_kernel = kernels::endless(), &["ETIME"]);
}

#[test]
fn kernels_of_illegal_instructions() {
    hangs(
        |draw| draw.wm_kernel = vec![0x7f, 0, 0, 0],
        &["illegal instruction", "PS thread"],
    );
    hangs(
        |draw| draw.sf_kernel = vec![0x7f, 0, 0, 0],
        &["illegal instruction", "SF thread"],
    );
}

#[test]
fn targets_that_cannot_be_rendered_to() {
    // A format that is none: the message is refused, its thread ends, nothing is written.
    let mut scene = Scene::new();
    let target = scene.target(SIZE, SIZE);
    let mut draw = Draw::flat(target.state());
    draw.surfaces[0].set_surface_format(0x1ff);
    scene.vertices(&mut draw, &triangle());
    draw.topology(4, 3);
    scene.draw(&draw);
    scene.run();
    assert!(target.words().iter().all(|&w| w == 0));
    let faults = format!("{:?}", scene.rig.platform.device().status().faults());
    assert!(faults.contains("format that no render target has"));
    drop(scene.rig.device.take_error_state());
    draws(&mut scene, &target);
    drop(target);
    scene.finish_after_fault();
    hangs(
        |draw| {
            draw.surfaces[0].set_surface_base_address(0x0700_0000);
        },
        &["PGTBL_ER"],
    );
}

/// Nothing to draw is no error.
#[test]
fn empty_draws() {
    let mut scene = Scene::new();
    let target = scene.target(SIZE, SIZE);
    for (count, instances, topology) in [
        (0, 1, 4),
        (0, u32::MAX, 4),
        (3, 0, 4),
        (2, 1, 4),
        (1, 1, 3),
        (2, 3, 5),
        (3, 1, 8),
    ] {
        let mut draw = Draw::flat(target.state());
        scene.vertices(&mut draw, &triangle());
        draw.topology(topology, count);
        draw.primitive.set_instance_count(instances);
        scene.draw(&draw);
    }
    scene.run();
    assert!(target.words().iter().all(|&w| w == 0));
    draws(&mut scene, &target);
    drop(target);
    scene.finish();
}

/// Positions that are no numbers, or too large for any screen, draw nothing; the frame ends.
#[test]
fn positions_that_are_no_numbers() {
    let mut scene = Scene::new();
    let target = scene.target(SIZE, SIZE);
    for bad in [
        f32::NAN,
        f32::INFINITY,
        f32::NEG_INFINITY,
        3e38,
        -3e38,
        1e20,
    ] {
        for vertex in 0..3 {
            for component in 0..4 {
                for clip in [false, true] {
                    for topology in [4, 3, 1] {
                        let mut v = triangle();
                        v[vertex][component] = bad;
                        let mut draw = Draw::flat(target.state());
                        if clip {
                            for p in &mut v {
                                p[0] /= 16.0;
                                p[1] /= 16.0;
                            }
                            draw.perspective(16.0, 16.0);
                        }
                        if topology == 3 {
                            draw.clip_enable = false;
                            draw.sf_kernel = kernels::sf_flat_line();
                        }
                        if topology == 1 {
                            draw.clip_enable = false;
                            draw.sf_kernel = kernels::sf_point();
                        }
                        scene.vertices(&mut draw, &v);
                        draw.topology(topology, 3);
                        scene.draw(&draw);
                    }
                }
            }
        }
        scene.run();
    }
    draws(&mut scene, &target);
    drop(target);
    scene.finish();
}

/// Four thousand million vertices: the fence times out, the reset stops them.
#[test]
fn counts_without_end() {
    for (count, instances) in [(u32::MAX, 1), (3, u32::MAX), (1, u32::MAX)] {
        let mut scene = Scene::new();
        let target = scene.target(SIZE, SIZE);
        let mut draw = Draw::flat(target.state());
        scene.vertices(&mut draw, &triangle());
        for buffer in &mut draw.vertex_buffers {
            buffer.set_buffer_pitch(0);
        }
        draw.topology(4, count);
        draw.primitive.set_instance_count(instances);
        scene.draw(&draw);
        let report = scene.hang(SOON);
        assert!(report.contains("ETIME"), "{report}");
        draws(&mut scene, &target);
        drop(target);
        scene.finish_after_fault();
    }
}
