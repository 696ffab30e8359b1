//! Topologies, coverage, provoking vertices, culling, geometry threads, points.
//!
//! PRM: volume 2 (3D pipeline, strips and fans, windower). The reference rasterises with integers (scene/raster.rs).

use crestline_tests::scene::draw::Draw;
use crestline_tests::scene::raster::covers;
use crestline_tests::scene::surface::Surface;
use crestline_tests::scene::{Scene, kernels};
use fastrand::Rng;

const SIZE: u32 = 64;

/// Red of vertex `i`, so that a flat colour names its vertex.
fn red(i: usize) -> f32 {
    (i as f32 + 1.0) * 8.0 / 255.0
}

/// Vertices in 1/16 pixels to floats, with their own colours.
fn vertices(places: &[[i64; 2]]) -> Vec<[f32; 8]> {
    places
        .iter()
        .enumerate()
        .map(|(i, p)| {
            let [x, y] = p.map(|v| v as f32 / 16.0);
            [x, y, 0.5, 1.0, red(i), 0.0, 0.0, 1.0]
        })
        .collect()
}

/// The picture of flat triangles (vertex numbers, the provoking one), as red of vertex + 1 or 0.
fn paint(places: &[[i64; 2]], triangles: &[([usize; 3], usize)]) -> Vec<usize> {
    let mut picture = vec![0; (SIZE * SIZE) as usize];
    for (corners, provoking) in triangles {
        let v = corners.map(|i| places[i].map(|c| c * 16));
        for y in 0..i64::from(SIZE) {
            for x in 0..i64::from(SIZE) {
                if covers(v, x, y) {
                    picture[(y * i64::from(SIZE) + x) as usize] = provoking + 1;
                }
            }
        }
    }
    picture
}

fn picture(target: &Surface) -> Vec<usize> {
    let reds = target.words().into_iter().map(|w| w >> 16 & 0xff);
    reds.map(|r| {
        assert_eq!(r % 8, 0);
        r as usize / 8
    })
    .collect()
}

fn render(
    scene: &mut Scene,
    target: &Surface,
    draw: &mut Draw,
    topology: u32,
    places: &[[i64; 2]],
) {
    target.fill(&[0; 4]);
    scene.vertices(draw, &vertices(places));
    draw.topology(topology, places.len() as u32);
    scene.draw(draw);
    scene.run();
}

#[test]
fn coverage_of_random_triangles() {
    let mut scene = Scene::new();
    let target = scene.target(SIZE, SIZE);
    let mut random = Rng::with_seed(77);
    for round in 0..150 {
        // Coarse grids make shared corners, edges through pixel centres and slivers likely; the last
        // reaches far beyond the screen on all sides.
        let (range, step) = [(1400, 1), (1400, 8), (400, 8), (1024, 16), (200_000, 1)][round % 5];
        let offset = if range > 10_000 {
            i64::from(range) / 2
        } else {
            100
        };
        let mut place = || {
            let [x, y] = [random.u32(..range), random.u32(..range)].map(i64::from);
            [x / step * step - offset, y / step * step - offset]
        };
        let places: Vec<_> = (0..9).map(|_| place()).collect();
        let mut draw = Draw::flat(target.state());
        render(&mut scene, &target, &mut draw, 4, &places);
        let expected = paint(&places, &[([0, 1, 2], 2), ([3, 4, 5], 5), ([6, 7, 8], 8)]);
        assert_eq!(picture(&target), expected, "round {round} {places:?}");
    }
    drop(target);
    scene.finish();
}

/// A zigzag, and a ring round (32, 32).
fn zigzag(n: usize) -> Vec<[i64; 2]> {
    (0..n)
        .map(|i| {
            let x = 40 + i as i64 * 110;
            [x, if i % 2 == 0 { 130 } else { 800 + i as i64 * 13 }]
        })
        .collect()
}

const RING: [[i64; 2]; 6] = [
    [500, 490],
    [110, 300],
    [420, 60],
    [900, 200],
    [950, 800],
    [300, 930],
];

/// Decomposition with both conventions of the provoking vertex (OpenGL 2.1 table 2.? as GL_ARB_provoking_vertex
/// prints it for first and last).
#[test]
fn triangles_and_their_provoking_vertices() {
    let mut scene = Scene::new();
    let target = scene.target(SIZE, SIZE);
    for last in [true, false] {
        let pick = |t: [usize; 3]| if last { t[2] } else { t[0] };
        let mut draw = Draw::flat(target.state());
        let select = if last { 2 } else { 0 };
        draw.sf
            .set_triangle_strip_list_provoking_vertex_select(select)
            .set_triangle_fan_provoking_vertex_select(if last { 2 } else { 1 });

        let strip = zigzag(8);
        let triangles: Vec<_> = (0..6).map(|i| [i, i + 1, i + 2]).collect();
        render(&mut scene, &target, &mut draw, 5, &strip);
        let expected: Vec<_> = triangles.iter().map(|&t| (t, pick(t))).collect();
        assert_eq!(
            picture(&target),
            paint(&strip, &expected),
            "strip, last {last}"
        );

        let fan: Vec<_> = (1..5).map(|i| [0, i, i + 1]).collect();
        render(&mut scene, &target, &mut draw, 6, &RING);
        let expected: Vec<_> = fan
            .iter()
            .map(|&t| (t, if last { t[2] } else { t[1] }))
            .collect();
        assert_eq!(
            picture(&target),
            paint(&RING, &expected),
            "fan, last {last}"
        );

        // A polygon's colour is that of vertex 0 in either convention.
        render(&mut scene, &target, &mut draw, 0xe, &RING);
        let expected: Vec<_> = fan.iter().map(|&t| (t, 0)).collect();
        assert_eq!(picture(&target), paint(&RING, &expected), "polygon");
    }
    // RECTLIST: lower right, lower left, upper left.
    let corners = [[700, 810], [120, 810], [120, 300]];
    let mut draw = Draw::flat(target.state());
    render(&mut scene, &target, &mut draw, 0xf, &corners);
    let whole = [[700, 810], [120, 810], [120, 300], [700, 300]];
    let mut expected = paint(&whole, &[([0, 1, 2], 2), ([0, 2, 3], 2)]);
    // Either vertex may provoke: the manual gives no rule for RECTLIST.
    let drawn = picture(&target);
    let colour = *drawn.iter().max().unwrap();
    expected
        .iter_mut()
        .filter(|e| **e != 0)
        .for_each(|e| *e = colour);
    assert_eq!(drawn, expected);
    drop(target);
    scene.finish();
}

// covers: 8.2-02
#[test]
fn quads_by_geometry_threads() {
    let mut scene = Scene::new();
    let target = scene.target(SIZE, SIZE);
    let mut draw = Draw::flat(target.state());
    draw.gs_kernel = Some(kernels::gs_quads());
    draw.gs.set_gs_output_object_statistics_enable(true);
    // Five quads, convex, going round; the last one incomplete.
    let mut places = Vec::new();
    for i in 0..5 {
        let (x, y) = (50 + i % 3 * 330, 70 + i / 3 * 480);
        places.extend([
            [x, y],
            [x + 250, y + 31],
            [x + 270, y + 400],
            [x - 13, y + 330],
        ]);
    }
    places.push([1, 1]);
    places.push([900, 1]);
    let before = scene.rig.platform.device().status().statistics;
    scene.commands.push(0x780b_0001);
    render(&mut scene, &target, &mut draw, 7, &places);
    let expected: Vec<_> = (0..5)
        .flat_map(|q| {
            let [a, b, c, d] = [0, 1, 2, 3].map(|i| q * 4 + i);
            // GL: the last vertex of a quad provokes.
            [([d, a, b], d), ([d, b, c], d)]
        })
        .collect();
    assert_eq!(picture(&target), paint(&places, &expected));
    let after = scene.rig.platform.device().status().statistics;
    assert_eq!(after.ia_primitives - before.ia_primitives, 5);
    assert_eq!(after.gs_primitives - before.gs_primitives, 10);

    // A strip of quads: quad i is vertices 2i, 2i+1, 2i+3, 2i+2, and 2i+3 provokes.
    draw.gs_kernel = Some(kernels::gs_quad_strip());
    let strip: Vec<[i64; 2]> = (0..5)
        .flat_map(|i| [[40 + i * 210, 100 + i * 17], [60 + i * 190, 900 - i * 50]])
        .collect();
    render(&mut scene, &target, &mut draw, 8, &strip);
    let expected: Vec<_> = (0..4)
        .flat_map(|q| {
            let [a, b, c, d] = [0, 1, 3, 2].map(|i| q * 2 + i);
            [([a, b, c], c), ([a, c, d], c)]
        })
        .collect();
    assert_eq!(picture(&target), paint(&strip, &expected));

    // A kernel that emits nothing draws nothing, and frees what it was given.
    draw.gs_kernel = Some(kernels::gs_silent());
    let many: Vec<_> = places.iter().copied().cycle().take(100).collect();
    render(&mut scene, &target, &mut draw, 7, &many);
    assert!(picture(&target).iter().all(|&p| p == 0));
    drop(target);
    scene.finish();
}

/// Front winding, cull modes, and the order of strips: all triangles of a strip face one way.
#[test]
fn culling() {
    let mut scene = Scene::new();
    let target = scene.target(SIZE, SIZE);
    // Clockwise as seen, y downwards: right, down, left.
    let clockwise = [[100, 100], [900, 150], [500, 900]];
    let counter = [[100, 100], [500, 900], [900, 150]];
    let strip = zigzag(8);
    // 0 up, 1 down, 2 up and right: the screen order 0, 2, 1 is clockwise, so 0, 1, 2 is counter-clockwise.
    for winding in [0, 1] {
        for mode in 0..4 {
            let mut draw = Draw::flat(target.state());
            draw.sf.set_cull_mode(mode).set_front_winding(winding);
            for (places, topology, is_clockwise) in [
                (&clockwise[..], 4, true),
                (&counter[..], 4, false),
                (&strip[..], 5, false),
            ] {
                render(&mut scene, &target, &mut draw, topology, places);
                let front = is_clockwise == (winding == 0);
                let visible = match mode {
                    0 => false,
                    1 => true,
                    2 => !front,
                    _ => front,
                };
                let triangles: Vec<_> = (0..places.len() - 2)
                    .map(|i| ([i, i + 1, i + 2], i + 2))
                    .collect();
                let expected = if visible {
                    paint(places, &triangles)
                } else {
                    vec![0; (SIZE * SIZE) as usize]
                };
                assert_eq!(
                    picture(&target),
                    expected,
                    "winding {winding}, mode {mode}, {places:?}"
                );
            }
        }
    }
    drop(target);
    scene.finish();
}

/// Points are squares round their vertex: of the state's width, or of the vertex header's.
#[test]
fn points() {
    let mut scene = Scene::new();
    let target = scene.target(SIZE, SIZE);
    for (width, from_vertex) in [
        (1.0, false),
        (4.0, false),
        (7.5, false),
        (3.0, true),
        (9.125, true),
    ] {
        let mut draw = Draw::flat(target.state());
        draw.sf_kernel = kernels::sf_point();
        draw.sf
            .set_point_width(if from_vertex { 20.0 } else { width })
            .set_point_width_source(u32::from(!from_vertex));
        let centres = [[20.5, 30.5], [50.0, 10.25]];
        let v = centres.map(|c| [c[0], c[1], 0.5, 1.0, red(0), 0.0, 0.0, 1.0]);
        scene.vertices(&mut draw, &v);
        if from_vertex {
            // U8.3 in bits 18:8 of the header's fourth dword.
            let header = scene.state(64, &[0, 0, 0, ((width * 8.0) as u32) << 8]);
            draw.vertex_buffers
                .push(crestline_tests::scene::draw::vertex_buffer(1, header, 0));
            let f4 = regs::gen40::values::surface_format::R32G32B32A32_FLOAT;
            draw.elements[0] = crestline_tests::scene::draw::element(1, 0, f4, 0, [1; 4]);
        }
        draw.topology(1, 2);
        target.fill(&[0; 4]);
        scene.draw(&draw);
        scene.run();
        let half = width / 2.0;
        for y in 0..SIZE {
            for x in 0..SIZE {
                let [px, py] = [x, y].map(|v| v as f32 + 0.5);
                // The upper and left sides belong to the square.
                let inside = centres.iter().any(|c| {
                    px >= c[0] - half && px < c[0] + half && py >= c[1] - half && py < c[1] + half
                });
                assert_eq!(target.word(x, y) != 0, inside, "width {width} at {x}, {y}");
            }
        }
    }
    drop(target);
    scene.finish();
}

/// Sprite points: s and t run over the square.
#[test]
fn sprites() {
    let mut scene = Scene::new();
    let target = scene.target(SIZE, SIZE);
    let mut draw = Draw::flat(target.state());
    draw.sf_kernel = kernels::sf_sprite();
    draw.wm_kernel = kernels::captured("wm c_gouraud");
    draw.sf.set_point_width(16.0).set_sprite_point_enable(true);
    scene.vertices(&mut draw, &[[32.0, 24.0, 0.5, 1.0, 0.0, 0.0, 0.0, 1.0]]);
    draw.topology(1, 1);
    scene.draw(&draw);
    scene.run();
    for y in 16..32 {
        for x in 24..40 {
            let word = target.word(x, y);
            let s = (x as f32 + 0.5 - 24.0) / 16.0 * 255.0;
            let t = (y as f32 + 0.5 - 16.0) / 16.0 * 255.0;
            let (r, g) = ((word >> 16 & 0xff) as f32, (word >> 8 & 0xff) as f32);
            assert!(
                (r - s).abs() <= 1.0 && (g - t).abs() <= 1.0,
                "{x} {y}: {word:08x}, {s} {t}"
            );
            assert_eq!(word >> 24, 255);
        }
    }
    assert_eq!(target.words().iter().filter(|&&w| w != 0).count(), 256);
    drop(target);
    scene.finish();
}

/// Horizontal, vertical and diagonal lines, strips and loops; flat colours; wide lines.
#[test]
fn lines() {
    let mut scene = Scene::new();
    let target = scene.target(SIZE, SIZE);
    let mut draw = Draw::flat(target.state());
    draw.sf_kernel = kernels::sf_flat_line();
    // Along pixel centres: the last pixel of each line is left out.
    let square = [[8, 8], [40, 8], [40, 30], [8, 30]].map(|p| p.map(|v| v * 16 + 8));
    let mut expect = |topology: u32, segments: &[(usize, usize)], first: bool| {
        draw.sf
            .set_line_strip_list_provoking_vertex_select(u32::from(!first));
        render(&mut scene, &target, &mut draw, topology, &square);
        let mut expected = vec![0; (SIZE * SIZE) as usize];
        for &(a, b) in segments {
            let [p, q] = [a, b].map(|i| square[i].map(|v| v / 16));
            let steps = (q[0] - p[0]).abs().max((q[1] - p[1]).abs());
            for s in 0..steps {
                let x = p[0] + (q[0] - p[0]).signum() * s;
                let y = p[1] + (q[1] - p[1]).signum() * s;
                expected[(y * i64::from(SIZE) + x) as usize] = if first { a } else { b } + 1;
            }
        }
        let drawn = picture(&target);
        let wrong: Vec<_> = (0..drawn.len())
            .filter(|&i| drawn[i] != expected[i])
            .map(|i| (i % 64, i / 64, drawn[i], expected[i]))
            .collect();
        assert!(
            wrong.is_empty(),
            "topology {topology}, first {first}: {wrong:?}"
        );
    };
    for first in [false, true] {
        expect(2, &[(0, 1), (2, 3)], first);
        expect(3, &[(0, 1), (1, 2), (2, 3)], first);
        expect(0x10, &[(0, 1), (1, 2), (2, 3), (3, 0)], first);
    }
    // Width 5: two pixels on either side of an x-major line.
    draw.sf.set_line_width(5.0);
    target.fill(&[0; 4]);
    scene.vertices(
        &mut draw,
        &vertices(&[[8 * 16 + 8, 20 * 16 + 8], [40 * 16 + 8, 20 * 16 + 8]]),
    );
    draw.topology(2, 2);
    scene.draw(&draw);
    scene.run();
    for y in 0..SIZE {
        for x in 0..SIZE {
            let inside = (8..40).contains(&x) && (18..=22).contains(&y);
            assert_eq!(target.word(x, y) != 0, inside, "wide line at {x}, {y}");
        }
    }
    drop(target);
    scene.finish();
}
