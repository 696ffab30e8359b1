//! Topologies with adjacency, with and without geometry threads.
//!
//! PRM: volume 2 (3D pipeline, geometry shader stage); vertices by OpenGL's tables (ARB_geometry_shader4). Pictures are compared
//! with those of the plain topologies, which live_pipeline_shapes.rs compares with a reference.

use crestline_tests::scene::draw::Draw;
use crestline_tests::scene::surface::Surface;
use crestline_tests::scene::{Scene, kernels};
use fastrand::Rng;

const SIZE: u32 = 64;
const LINELIST: u32 = 2;
const LINESTRIP: u32 = 3;
const TRILIST: u32 = 4;
const TRISTRIP: u32 = 5;
const QUADLIST: u32 = 7;
const LINELIST_ADJ: u32 = 9;
const LINESTRIP_ADJ: u32 = 10;
const TRILIST_ADJ: u32 = 11;
const TRISTRIP_ADJ: u32 = 12;

/// Vertices somewhere on the target, each with a red of its own.
fn vertices(random: &mut Rng, count: usize) -> Vec<[f32; 8]> {
    (0..count)
        .map(|i| {
            let [x, y] = [0; 2].map(|_| random.u32(..SIZE * 16) as f32 / 16.0);
            [x, y, 0.5, 1.0, (i + 1) as f32 * 8.0 / 255.0, 0.0, 0.0, 1.0]
        })
        .collect()
}

/// What a draw counted: vertices, primitives, invocations of GS, primitives out of GS.
type Counts = [u64; 4];

/// The picture of vertices, by their numbers, and what was counted.
fn picture(
    scene: &mut Scene,
    target: &Surface,
    draw: &mut Draw,
    topology: u32,
    all: &[[f32; 8]],
    numbers: &[usize],
) -> (Vec<u32>, Counts) {
    let counts = |scene: &Scene| {
        let s = scene.rig.platform.device().status().statistics;
        [
            s.ia_vertices,
            s.ia_primitives,
            s.gs_invocations,
            s.gs_primitives,
        ]
    };
    target.fill(&[0; 4]);
    let chosen: Vec<_> = numbers.iter().map(|&n| all[n]).collect();
    scene.vertices(draw, &chosen);
    draw.topology(topology, numbers.len() as u32);
    let before = counts(scene);
    scene.commands.push(0x780b_0001);
    scene.draw(draw);
    scene.run();
    let after = counts(scene);
    let counted = std::array::from_fn(|i| after[i] - before[i]);
    (target.words(), counted)
}

/// A topology with adjacency: so many vertices, what is left of them without it.
fn inside(topology: u32, count: usize) -> (u32, Vec<usize>) {
    let n = 0..count;
    match topology {
        LINELIST_ADJ => {
            let whole = count / 4 * 4;
            let middle = n.filter(|&i| i < whole && (i % 4 == 1 || i % 4 == 2));
            (LINELIST, middle.collect())
        }
        LINESTRIP_ADJ if count < 4 => (LINESTRIP, Vec::new()),
        LINESTRIP_ADJ => (LINESTRIP, (1..count - 1).collect()),
        TRILIST_ADJ => {
            let whole = count / 6 * 6;
            (TRILIST, n.filter(|&i| i < whole && i % 2 == 0).collect())
        }
        _ if count < 6 => (TRISTRIP, Vec::new()),
        _ => {
            let whole = count / 2 * 2;
            (TRISTRIP, (0..whole - 1).step_by(2).collect())
        }
    }
}

#[test]
fn without_geometry_threads_only_what_lies_inside_is_drawn() {
    let mut scene = Scene::new();
    let target = scene.target(SIZE, SIZE);
    let mut random = Rng::with_seed(5);
    for topology in LINELIST_ADJ..=TRISTRIP_ADJ {
        for (count, cull) in (0..15).flat_map(|n| [(n, 1), (n, 2), (n, 3)]) {
            let all = vertices(&mut random, count);
            let numbers: Vec<_> = (0..count).collect();
            let (plain, rest) = inside(topology, count);
            let mut draw = Draw::flat(target.state());
            draw.sf.set_cull_mode(cull);
            if topology < TRILIST_ADJ {
                draw.sf_kernel = kernels::sf_flat_line();
                // The captured clip kernel is one for triangles.
                draw.clip.set_clip_mode(4);
            }
            let (got, counted) = picture(&mut scene, &target, &mut draw, topology, &all, &numbers);
            let (want, plainly) = picture(&mut scene, &target, &mut draw, plain, &all, &rest);
            assert!(got == want, "topology {topology} of {count}, cull {cull}");
            assert_eq!(counted[0], count as u64, "all vertices are fetched");
            assert_eq!(counted[1..], plainly[1..], "topology {topology} of {count}");
        }
    }
    drop(target);
    scene.finish();
}

/// The vertices across the edges of a strip's triangles, in the order of table 2.X1 of ARB_geometry_shader4, numbered from 0.
const ACROSS: [(usize, &[usize]); 4] = [
    (6, &[1, 5, 3]),
    (8, &[1, 6, 3, 0, 5, 7]),
    (10, &[1, 6, 3, 0, 5, 8, 2, 9, 7]),
    (12, &[1, 6, 3, 0, 5, 8, 2, 10, 7, 4, 9, 11]),
];

#[test]
fn geometry_threads_get_the_vertices_across_edges() {
    let mut scene = Scene::new();
    let target = scene.target(SIZE, SIZE);
    let mut random = Rng::with_seed(6);
    let lists = [(6, &[1, 3, 5][..]), (13, &[1, 3, 5, 7, 9, 11][..])];
    let cases = lists.into_iter().map(|case| (TRILIST_ADJ, case));
    for (topology, (count, across)) in cases.chain(ACROSS.map(|case| (TRISTRIP_ADJ, case))) {
        for count in [count, count + 1] {
            let all = vertices(&mut random, count);
            let numbers: Vec<_> = (0..count).collect();
            let mut draw = Draw::flat(target.state());
            // As in a polygon, the first vertex gives the colour.
            draw.sf.set_triangle_strip_list_provoking_vertex_select(0);
            draw.gs.set_grf_register_count(1);
            draw.gs.set_gs_output_object_statistics_enable(true);
            let (want, _) = picture(&mut scene, &target, &mut draw, TRILIST, &all, across);
            draw.gs_kernel = Some(kernels::gs_across());
            let (got, counted) = picture(&mut scene, &target, &mut draw, topology, &all, &numbers);
            assert!(got == want, "topology {topology} of {count}");
            let triangles = across.len() as u64 / 3;
            assert_eq!(counted[1], triangles, "topology {topology} of {count}");
            assert_eq!(counted[3], triangles, "topology {topology} of {count}");
        }
    }
    // Four vertices of a line and what is beside it.
    let all = vertices(&mut random, 9);
    let mut draw = Draw::flat(target.state());
    draw.gs_kernel = Some(kernels::gs_quads());
    let numbers: Vec<_> = (0..9).collect();
    let list: Vec<_> = (0..8).collect();
    let strip: Vec<_> = (0..6).flat_map(|i| i..i + 4).collect();
    for (topology, quads) in [(LINELIST_ADJ, list), (LINESTRIP_ADJ, strip)] {
        let (want, _) = picture(&mut scene, &target, &mut draw, QUADLIST, &all, &quads);
        let (got, _) = picture(&mut scene, &target, &mut draw, topology, &all, &numbers);
        assert!(got == want, "topology {topology}");
    }
    drop(target);
    scene.finish();
}

/// Discard Adjacency: kernels get objects as those of the plain topologies.
#[test]
fn geometry_threads_can_do_without() {
    let mut scene = Scene::new();
    let target = scene.target(SIZE, SIZE);
    let mut random = Rng::with_seed(7);
    for topology in [TRILIST_ADJ, TRISTRIP_ADJ] {
        for count in [5, 6, 12, 13] {
            let all = vertices(&mut random, count);
            let numbers: Vec<_> = (0..count).collect();
            let (plain, rest) = inside(topology, count);
            let mut draw = Draw::flat(target.state());
            draw.gs_kernel = Some(kernels::gs_triangle());
            let (want, plainly) = picture(&mut scene, &target, &mut draw, plain, &all, &rest);
            draw.gs.set_discard_adjacency(true);
            let (got, counted) = picture(&mut scene, &target, &mut draw, topology, &all, &numbers);
            assert!(got == want, "topology {topology} of {count}");
            assert_eq!(counted[1..], plainly[1..], "topology {topology} of {count}");
        }
    }
    drop(target);
    scene.finish();
}
