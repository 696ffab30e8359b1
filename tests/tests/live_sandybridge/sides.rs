//! What the clipper does with objects, and when.
//!
//! PRM: volume 2 (clip unit). Counters as i915 has them: CL_INVOCATION_COUNT and CL_PRIMITIVES_COUNT.

use super::{finish, scene};
use crestline_tests::scene::sandybridge::VS_PASS;

/// A list of triangles that end early: the clipper has an object for every three vertices and none for what is left.
// covers: S-0031
#[test]
fn an_object_is_clipped_when_its_last_vertex_is_there() {
    for count in 1..=7 {
        let (mut scene, target, mut draw) = scene([8, 8]);
        // Each triangle is half outside: its corners on the right have no pixels.
        let corner = |n: usize| {
            let [x, y] = [[-1.0, -1.0], [3.0, -1.0], [-1.0, 3.0]][n % 3];
            [x, y, 0.5, 1.0, 1.0, 1.0, 1.0, 1.0]
        };
        let vertices: Vec<[f32; 8]> = (0..count).map(corner).collect();
        scene.vertices_of(&mut draw, &vertices);
        scene.draw_of(&draw);
        scene.run();
        {
            let device = scene.rig.platform.device();
            let statistics = &device.status().statistics;
            assert_eq!(statistics.cl_invocations, count as u64 / 3, "{count}");
        }
        assert_eq!(
            target.lit().len(),
            if count < 3 { 0 } else { 64 },
            "{count}"
        );
        finish(scene, target);
    }
}

/// The same triangle, moved by the vertex shader out of the view or into it: what counts is the entry, not the buffer.
// covers: S-0083
#[test]
fn the_clipper_reads_positions_in_the_entries() {
    for (from, by, pieces) in [(0.0, 4.0, 0), (-4.0, 4.0, 1)] {
        let (mut scene, target, mut draw) = scene([8, 8]);
        let corner = |x: f32, y: f32| [x + from, y, 0.5, 1.0, 1.0, 1.0, 1.0, 1.0];
        let corners = [corner(-1.0, -1.0), corner(1.0, -1.0), corner(-1.0, 1.0)];
        scene.vertices_of(&mut draw, &corners);
        draw.vs_kernel = Some(VS_PASS.replace(
            "mov(8) m3<1>F g1<4>F { align16 1Q };",
            &format!(
                "mov(8) g3<1>F g1<4>F {{ align16 1Q }};\n\
                 add(8) g3<1>.xF g1<4>.xF {by:?}F {{ align16 1Q }};\n\
                 mov(8) m3<1>F g3<4>F {{ align16 1Q }};"
            ),
        ));
        scene.draw_of(&draw);
        scene.run();
        {
            let device = scene.rig.platform.device();
            let statistics = &device.status().statistics;
            assert_eq!(statistics.cl_invocations, 1);
            assert_eq!(statistics.cl_primitives, pieces);
        }
        // Of the 64 centres the eight on the diagonal are outside, and half of the others.
        assert_eq!(target.lit().len() as u64, 28 * pieces);
        finish(scene, target);
    }
}
