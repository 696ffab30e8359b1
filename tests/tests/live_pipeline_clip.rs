//! Clip threads with Mesa's captured kernel; the reference needs no clipping.
//!
//! PRM: volume 2, clip stage; volume 4, 3.3.7. The reference works in homogeneous coordinates (scene/raster.rs).

use crestline_tests::scene::Scene;
use crestline_tests::scene::draw::{Draw, element, screen_elements, vertex_buffer};
use crestline_tests::scene::raster::{ClipVertex, sample};
use crestline_tests::scene::surface::{Layout, Surface};
use fastrand::Rng;

const SIZE: u32 = 64;
const CLEAR: u32 = 0xff10_2030;

fn flatten(v: &[ClipVertex]) -> Vec<[f32; 8]> {
    v.iter()
        .map(|v| {
            let p = v.position.map(|x| x as f32);
            let c = v.colour.map(|x| x as f32);
            [p[0], p[1], p[2], p[3], c[0], c[1], c[2], c[3]]
        })
        .collect()
}

/// Compares a picture with the reference; pixels near edges or planes are left out. Returns how
/// many pixels were covered for certain.
fn compare(
    (target, depth): (&Surface, &Surface),
    triangles: &[[ClipVertex; 3]],
    what: &str,
) -> usize {
    let words = target.words();
    let mut covered = 0;
    let mut wrong = Vec::new();
    for y in 0..SIZE {
        for x in 0..SIZE {
            let ndc = [x, y].map(|v| (f64::from(v) + 0.5) / f64::from(SIZE) * 2.0 - 1.0);
            let mut expected = None;
            let mut doubtful = false;
            for triangle in triangles {
                if let Some(s) = sample(triangle, ndc) {
                    doubtful |= s.margin < 0.01;
                    if s.inside {
                        expected = Some((s.colour, s.z));
                    }
                }
            }
            if doubtful {
                continue;
            }
            let word = words[(y * SIZE + x) as usize];
            let good = match expected {
                None => word == CLEAR,
                Some((colour, z)) => {
                    covered += 1;
                    let stored = f64::from(f32::from_bits(depth.word(x, y)));
                    (stored - (z * 0.5 + 0.5)).abs() < 2e-3
                        && [(2, 0), (1, 1), (0, 2)].iter().all(|&(byte, channel)| {
                            let drawn = f64::from(word >> (byte * 8) & 0xff);
                            (drawn - colour[channel] * 255.0).abs() <= 2.0
                        })
                }
            };
            if !good {
                wrong.push((x, y, format!("{word:08x}"), expected));
            }
        }
    }
    assert!(
        wrong.is_empty(),
        "{what}: {} wrong, first {:?}",
        wrong.len(),
        &wrong[..wrong.len().min(4)]
    );
    covered
}

/// A D32_FLOAT buffer; the test lets everything pass, so that it needs no clear.
fn depth_buffer(scene: &mut Scene) -> Surface {
    scene.surface((0, 4), (SIZE, SIZE), Layout::Y)
}

fn vertex(position: [f64; 4], colour: [f64; 3]) -> ClipVertex {
    ClipVertex {
        position,
        colour: [colour[0], colour[1], colour[2], 1.0],
    }
}

const COLOURS: [[f64; 3]; 3] = [[1.0, 0.1, 0.0], [0.0, 0.9, 0.3], [0.2, 0.0, 1.0]];

fn render(
    scene: &mut Scene,
    (target, depth): (&Surface, &Surface),
    triangle: &[ClipVertex],
    topology: u32,
    band: f32,
) {
    target.fill(&CLEAR.to_le_bytes());
    let mut draw = Draw::flat(target.state());
    draw.perspective(SIZE as f32, SIZE as f32);
    draw.depth
        .set_surface_type(1)
        .set_surface_format(1)
        .set_surface_pitch(depth.pitch as u32 - 1)
        .set_surface_base_address(depth.address)
        .set_tiled_surface(true)
        .set_tile_walk(1)
        .set_width(SIZE - 1)
        .set_height(SIZE - 1);
    draw.cc.set_depth_test_enable(true);
    draw.cc.set_depth_buffer_write_enable(true);
    draw.clip.set_guardband_cliptest_enable(band > 0.0);
    draw.clip_viewport
        .set_xmin_clip_guardband(-band)
        .set_xmax_clip_guardband(band)
        .set_ymin_clip_guardband(-band)
        .set_ymax_clip_guardband(band);
    scene.vertices(&mut draw, &flatten(triangle));
    draw.topology(topology, triangle.len() as u32);
    scene.draw(&draw);
    scene.run();
}

/// A plane's name and how a vertex moves behind it, by so much.
type Outside = (&'static str, fn([f64; 4], f64) -> [f64; 4]);

/// Every subset of the vertices behind the near plane, beyond far, beyond each side, with negative w.
#[test]
fn all_combinations_of_planes() {
    let mut scene = Scene::new();
    let target = scene.target(SIZE, SIZE);
    let depth = depth_buffer(&mut scene);
    let inside = [
        [-0.7, -0.6, 0.1, 1.0],
        [0.8, -0.5, -0.3, 1.2],
        [0.1, 0.9, 0.4, 1.5],
    ];
    let outside: [Outside; 7] = [
        ("near", |p, k| [p[0], p[1], -p[3] * (1.2 + k), p[3]]),
        ("far", |p, k| [p[0], p[1], p[3] * (1.3 + k), p[3]]),
        ("left", |p, k| [-p[3] * (1.5 + k), p[1], p[2], p[3]]),
        ("right", |p, k| [p[3] * (9.0 + k), p[1], p[2], p[3]]),
        ("top", |p, k| [p[0], p[3] * (1.7 + k), p[2], p[3]]),
        ("bottom", |p, k| [p[0], -p[3] * (40.0 + k), p[2], p[3]]),
        ("behind the eye", |p, k| [p[0], p[1], -0.9 - k, -0.4 - k]),
    ];
    let mut covered = 0;
    for (what, f) in outside {
        for subset in 0..8 {
            let triangle: [ClipVertex; 3] = std::array::from_fn(|i| {
                let p = if subset >> i & 1 == 1 {
                    f(inside[i], i as f64 * 0.3)
                } else {
                    inside[i]
                };
                vertex(p, COLOURS[i])
            });
            for band in [0.0, 4.0] {
                render(&mut scene, (&target, &depth), &triangle, 4, band);
                covered += compare(
                    (&target, &depth),
                    &[triangle],
                    &format!("{what}, vertices {subset:03b}, guard band {band}"),
                );
            }
        }
    }
    assert!(covered > 20_000, "{covered}");
    drop((target, depth));
    scene.finish();
}

// covers: 8.2-02
#[test]
fn random_triangles() {
    let mut scene = Scene::new();
    let target = scene.target(SIZE, SIZE);
    let depth = depth_buffer(&mut scene);
    let mut random = Rng::with_seed(0x00c1_1b5e);
    let mut unit = move || f64::from(random.u32(..)) / f64::from(u32::MAX) * 2.0 - 1.0;
    let mut covered = 0;
    for round in 0..150 {
        // f32 values, so that both sides see the same.
        let triangle: [ClipVertex; 3] = std::array::from_fn(|i| {
            let w = unit() * 1.5 + 0.6;
            let p = [unit() * 3.0, unit() * 3.0, unit() * 1.5, w].map(|v| f64::from(v as f32));
            vertex(p, COLOURS[i])
        });
        // A triangle that is seen edge on is all margin.
        render(
            &mut scene,
            (&target, &depth),
            &triangle,
            4,
            if round % 2 == 0 { 2.0 } else { 0.0 },
        );
        covered += compare(
            (&target, &depth),
            &[triangle],
            &format!("round {round} {triangle:?}"),
        );
    }
    assert!(covered > 30_000, "{covered}");
    drop((target, depth));
    scene.finish();
}

/// Clipped triangles of strips (the odd ones arrive reversed), fans and polygons.
#[test]
fn strips_fans_and_polygons() {
    let mut scene = Scene::new();
    let target = scene.target(SIZE, SIZE);
    let depth = depth_buffer(&mut scene);
    let strip = [
        [-1.6, -0.8, 0.0, 1.0],
        [-0.9, 0.9, 0.2, 1.0],
        [-0.3, -0.9, -1.4, 1.0],
        [0.2, 0.7, 0.1, 1.1],
        [0.9, -0.7, -0.5, 1.0],
        [2.5, 1.5, 0.5, 1.0],
    ];
    let strip: Vec<_> = strip
        .iter()
        .enumerate()
        .map(|(i, &p)| vertex(p, COLOURS[i % 3]))
        .collect();
    render(&mut scene, (&target, &depth), &strip, 5, 0.0);
    let triangles: Vec<[ClipVertex; 3]> = strip.windows(3).map(|w| [w[0], w[1], w[2]]).collect();
    assert!(compare((&target, &depth), &triangles, "strip") > 800);
    let fan = [
        [0.1, 0.0, -0.2, 1.0],
        [-1.8, -1.7, 0.0, 1.0],
        [1.3, -2.0, -1.8, 1.0],
        [1.9, 1.1, 0.3, 1.0],
        [-0.5, 1.8, 0.1, 1.2],
    ];
    let fan: Vec<_> = fan
        .iter()
        .enumerate()
        .map(|(i, &p)| vertex(p, COLOURS[i % 3]))
        .collect();
    let triangles: Vec<[ClipVertex; 3]> =
        fan[1..].windows(2).map(|w| [fan[0], w[0], w[1]]).collect();
    for (topology, what) in [(6, "fan"), (0xe, "polygon")] {
        render(&mut scene, (&target, &depth), &fan, topology, 0.0);
        assert!(compare((&target, &depth), &triangles, what) > 1500);
    }
    drop((target, depth));
    scene.finish();
}

/// Trivial accept and reject, and the modes that do without the test.
#[test]
fn modes_and_counts() {
    let mut scene = Scene::new();
    let target = scene.target(SIZE, SIZE);
    let depth = depth_buffer(&mut scene);
    let near = [
        [-0.5, -0.5, 0.0, 1.0],
        [0.5, -0.5, 0.0, 1.0],
        [0.0, 0.5, 0.0, 1.0],
    ];
    let visible: Vec<_> = near.iter().map(|&p| vertex(p, COLOURS[1])).collect();
    let mut all = visible.clone();
    // One wholly to the left, one that crosses the near plane.
    all.extend(
        near.iter()
            .map(|&p| vertex([p[0] - 3.0, p[1], p[2], p[3]], COLOURS[0])),
    );
    all.extend(
        near.iter()
            .zip([-2.0, 0.0, 0.0])
            .map(|(&p, z)| vertex([p[0], p[1], z, p[3]], COLOURS[2])),
    );
    // Mode, invocations, primitives: clipped, the crossing triangle is a quad, a fan of two.
    for (mode, invocations, primitives) in [(0, 3, 3), (3, 3, 0), (4, 3, 3)] {
        let statistics = scene.rig.platform.device().status().statistics;
        target.fill(&CLEAR.to_le_bytes());
        let mut draw = Draw::flat(target.state());
        draw.perspective(SIZE as f32, SIZE as f32);
        draw.clip
            .set_clip_mode(mode)
            .set_clipper_statistics_enable(true);
        scene.vertices(&mut draw, &flatten(&all));
        scene.draw(&draw);
        scene.run();
        let after = scene.rig.platform.device().status().statistics;
        assert_eq!(
            after.cl_invocations - statistics.cl_invocations,
            invocations,
            "mode {mode}"
        );
        let made = after.cl_primitives - statistics.cl_primitives;
        assert_eq!(made, primitives, "mode {mode}");
        let drawn = target.words().iter().filter(|&&w| w != CLEAR).count();
        assert_eq!(drawn > 0, mode != 3);
    }
    drop((target, depth));
    scene.finish();
}

/// User clip flags of the vertex header: all outside one plane rejects, some outside it needs a thread only if the
/// state says so.
#[test]
fn user_clip_flags() {
    let mut scene = Scene::new();
    let target = scene.target(SIZE, SIZE);
    let depth = depth_buffer(&mut scene);
    // Flags of the three vertices, mask, must-clip; drawn?, threads.
    for (flags, mask, must, drawn, threads) in [
        ([1u32, 1, 1], 0xff, true, false, 0),
        ([1, 1, 1], 0xfe, true, true, 0),
        ([3, 6, 2], 0x3f, false, false, 0),
        ([1, 2, 4], 0x3f, false, true, 0),
        ([0, 0, 0], 0xff, true, true, 0),
        ([0, 0x40, 0], 0x40, true, true, 1),
    ] {
        target.fill(&CLEAR.to_le_bytes());
        let mut draw = Draw::flat(target.state());
        draw.perspective(SIZE as f32, SIZE as f32);
        draw.vs_kernel = None;
        draw.elements = screen_elements();
        let f4 = regs::gen40::values::surface_format::R32G32B32A32_FLOAT;
        draw.elements[0] = element(1, 0, f4, 0, [1; 4]);
        draw.clip
            .set_userclipdistance_cliptest_enable_bitmask(mask)
            .set_userclipflags_mustclip_enable(must);
        let corners = [
            [-0.5, -0.5, 0.1, 1.0],
            [0.5, -0.5, 0.1, 1.0],
            [0.0, 0.6, 0.1, 1.0],
        ];
        let v: Vec<_> = corners.iter().map(|&p| vertex(p, COLOURS[0])).collect();
        scene.vertices(&mut draw, &flatten(&v));
        let headers: Vec<u32> = flags.iter().flat_map(|&f| [0, 0, 0, f]).collect();
        let at = scene.state(64, &headers);
        draw.vertex_buffers.push(vertex_buffer(1, at, 16));
        let unit = mmio_mock::intel::status::Unit::Clip as usize;
        let before = scene.rig.platform.device().status().activity.threads[unit];
        scene.draw(&draw);
        scene.run();
        let after = scene.rig.platform.device().status().activity.threads[unit];
        assert_eq!(after - before, threads, "{flags:?} {mask:#x} {must}");
        let any = target.words().iter().any(|&w| w != CLEAR);
        assert_eq!(any, drawn, "{flags:?} {mask:#x} {must}");
    }
    drop((target, depth));
    scene.finish();
}
