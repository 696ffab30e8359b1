//! The map of a frame: which threads made which pixel.
//!
//! Expectations come from the captures' vertex data, from device counters, and from watches on memory.

use std::collections::BTreeSet;

use crestline_cli::capture::Capture;
use crestline_cli::frame_map::{FrameMap, FrameMapError, Origin, VertexId};
use crestline_cli::picture::PictureError;
use crestline_cli::replay::{Options, Session};
use crestline_tests::scenes::{SCENES, capture, options};
use kernel::time::Delta;
use mmio_mock::intel::debug::host::{Go, Rule};
use mmio_mock::intel::status::Unit;

fn map(capture: &Capture) -> FrameMap {
    FrameMap::of(capture, options(capture)).unwrap_or_else(|error| panic!("{error}"))
}

/// Side of the scenes' pictures.
const SIZE: u32 = 256;

/// Where GL puts a vertex of a scene whose vertex shader passes positions on: the viewport is the whole picture.
fn on_screen(map: &FrameMap, capture: &Capture, vertex: VertexId) -> [f64; 2] {
    let draw = &map.draws()[of(map, vertex).0 as usize];
    let inputs = map.inputs(vertex);
    let position = inputs.iter().find(|input| input.element == 0).unwrap();
    let value = position.value(&capture.execs[draw.exec]).unwrap();
    let [x, y, _, w] = value.map(|bits| f64::from(f32::from_bits(bits)));
    let half = f64::from(SIZE) / 2.0;
    [(x / w + 1.0) * half, (y / w + 1.0) * half]
}

/// Draw call and index of a fetched vertex.
fn of(map: &FrameMap, vertex: VertexId) -> (u32, u32) {
    match map.vertex(vertex).unwrap().origin {
        Origin::Fetched { draw, index, .. } => (draw, index),
        Origin::Emitted { .. } | Origin::Point { .. } => panic!("fetched vertices alone"),
    }
}

/// Distance of the centre of a pixel from the nearest edge of a triangle, positive inside.
fn inside(corners: &[[f64; 2]], x: u32, y: u32) -> f64 {
    let [a, b, c] = corners else { panic!("three") };
    let area = (b[0] - a[0]) * (c[1] - a[1]) - (c[0] - a[0]) * (b[1] - a[1]);
    let p = [f64::from(x) + 0.5, f64::from(y) + 0.5];
    let edge = |a: &[f64; 2], b: &[f64; 2]| {
        let (dx, dy) = (b[0] - a[0], b[1] - a[1]);
        area.signum() * (dx * (p[1] - a[1]) - dy * (p[0] - a[0])) / dx.hypot(dy)
    };
    edge(a, b).min(edge(b, c)).min(edge(c, a))
}

#[test]
fn triangles_lie_where_the_vertex_data_put_them() {
    for (scene, triangles) in [("b_flat", 1), ("c_gouraud", 1), ("d_tex_nearest", 2)] {
        let capture = capture(scene);
        let map = map(&capture);
        let last = map.draws().len() as u32 - 1;
        let objects = map.objects().iter().filter(|object| object.draw == last);
        let objects: Vec<_> = objects.copied().collect();
        assert_eq!(objects.len(), triangles, "{scene}");
        let mut lit = 0;
        for object in &objects {
            let corners = object.vertices().iter().copied();
            let corners: Vec<_> = corners.map(|v| on_screen(&map, &capture, v)).collect();
            for (expected, corner) in corners.iter().zip(object.corners()) {
                let [x, y, _] = corner.map(f64::from);
                assert!((expected[0] - x).abs() < 1e-3 && (expected[1] - y).abs() < 1e-3);
            }
            for (x, y) in (0..SIZE).flat_map(|y| (0..SIZE).map(move |x| (x, y))) {
                let distance = inside(&corners, x, y);
                let threads = map.at(x, y);
                let mine = threads
                    .iter()
                    .filter(|thread| map.object(thread.object) == Some(object));
                let mine = mine.count();
                if distance > 0.01 {
                    assert_eq!(mine, 1, "{scene}: {x},{y} is inside by {distance}");
                    assert_eq!(map.object(threads.last().unwrap().object), Some(object));
                    lit += 1;
                } else if distance < -0.01 {
                    assert_eq!(mine, 0, "{scene}: {x},{y} is outside by {distance}");
                }
            }
        }
        assert!(lit > 1000, "{scene}");
    }
}

#[test]
fn vertices_have_the_indices_of_their_draw_calls() {
    // Arrays: the triangles of a list have vertices start, start + 1, ...; two vertices share a thread.
    let capture = capture("k_stencil_scissor");
    let map = map(&capture);
    for (object, first) in map.objects().iter().filter(|o| o.draw >= 2).zip([0, 3, 6]) {
        let draw = &map.draws()[object.draw as usize];
        assert_eq!(draw.words[2], first, "Start Vertex Location");
        let indices: Vec<_> = object.vertices().iter().map(|&v| of(&map, v).1).collect();
        assert_eq!(indices, [first, first + 1, first + 2]);
        let buffer = draw.state.pipeline.vertex_buffers[0];
        let shaders: Vec<_> = object
            .vertices()
            .iter()
            .map(|&v| {
                let inputs = map.inputs(v);
                // Position and colour, four floats each, one behind the other.
                let start = buffer.start + of(&map, v).1 * 32;
                let addresses: Vec<_> = inputs.iter().map(|input| input.address).collect();
                assert_eq!(addresses, [start, start + 16]);
                match map.vertex(v).unwrap().origin {
                    Origin::Fetched { shader, .. } => shader.unwrap(),
                    Origin::Emitted { .. } | Origin::Point { .. } => {
                        panic!("fetched vertices alone")
                    }
                }
            })
            .collect();
        assert_eq!(shaders[0], shaders[1]);
        assert_eq!(shaders[2], shaders[0] + 1);
    }
}

#[test]
fn an_indexed_mesh_names_the_indices_of_its_index_buffer() {
    let capture = capture("g_gears");
    let map = map(&capture);
    let exec = &capture.execs[0];
    let mut shared = 0;
    let mut seen = BTreeSet::new();
    for object in map.objects().iter().filter(|object| object.draw >= 2) {
        let draw = &map.draws()[object.draw as usize];
        // 3DSTATE_INDEX_BUFFER: starting address in dword 1; the gears have 16-bit indices.
        let start = draw.state.words("3DSTATE_INDEX_BUFFER")[1] + draw.words[2] * 2;
        let count = draw.words[1];
        let index = |n: u32| {
            let at = start + n * 2;
            exec.dword(at & !3).unwrap() >> ((at & 2) * 8) & 0xffff
        };
        let found: Vec<_> = object.vertices().iter().map(|&v| of(&map, v).1).collect();
        let triangles = (0..count / 3).map(|n| [index(n * 3), index(n * 3 + 1), index(n * 3 + 2)]);
        let mut triangles = triangles.filter(|triangle| triangle.as_slice() == found);
        assert!(triangles.next().is_some(), "{found:?} is no triangle");
        shared += object
            .vertices()
            .iter()
            .filter(|&&v| !seen.insert(v))
            .count();
    }
    assert!(shared > 500, "the vertex cache has {shared}");
}

#[test]
fn lit_pixels_are_those_that_the_device_counts() {
    for scene in SCENES {
        let capture = capture(scene);
        let map = map(&capture);
        let mut session = Session::new(options(&capture), capture.buffer_bytes()).unwrap();
        for exec in &capture.execs {
            session.run(exec).unwrap();
        }
        let activity = session.report().activity;
        session.finish().unwrap();
        let lit = |mask: u32| u64::from(mask.count_ones());
        let threads: Vec<_> = map.threads().collect();
        // Every scene has one target.
        assert_eq!(threads.len() as u64, activity.threads[Unit::Wiz as usize]);
        let pixels: u64 = threads.iter().map(|(thread, _)| lit(thread.mask)).sum();
        assert_eq!(pixels, activity.pixels, "{scene}");
        let picture = map.picture();
        let places = (0..picture.height).flat_map(|y| (0..picture.width).map(move |x| (x, y)));
        let at: usize = places.map(|(x, y)| map.at(x, y).len()).sum();
        assert_eq!(at as u64, pixels, "{scene}");
        assert_eq!(map.draws().len() as u64, activity.draws);
        let setups = activity.threads[Unit::Sf as usize];
        assert_eq!(map.objects().len() as u64, setups);
        // Outside of the picture there is nothing.
        assert!(map.at(picture.width, 0).is_empty() && map.at(0, picture.height).is_empty());
        assert!(map.at(u32::MAX, u32::MAX).is_empty());
    }
}

/// Address of a pixel of the scenes' targets: X tiles of 512 bytes by 8 rows, 4 bytes a pixel (PRM vol1).
fn address(base: u32, x: u32, y: u32) -> u32 {
    let (bytes, pitch) = (x * 4, SIZE * 4);
    base + y / 8 * 8 * pitch + bytes / 512 * 4096 + y % 8 * 512 + bytes % 512
}

/// Whatever changes a watched pixel is a thread that the map names for it, in the map's order; what the map names
/// behind the last of them has changed nothing.
#[test]
fn watches_on_memory_name_the_same_threads() {
    let capture = capture("g_gears");
    let map = map(&capture);
    let base = map.draws().last().unwrap().target.unwrap().address;
    let mut state = 0x2545_f491u32;
    let mut next = || {
        state ^= state << 13;
        state ^= state >> 17;
        state ^= state << 5;
        state % SIZE
    };
    let mut changes = 0;
    for _ in 0..12 {
        let (x, y) = (next(), next());
        // While the frame stands, device time passes.
        let options = Options {
            timeout: Delta::from_secs(1_000_000),
            ..options(&capture)
        };
        let mut session = Session::new(options, capture.buffer_bytes()).unwrap();
        let platform = session.platform().clone();
        let rule = Rule::Memory {
            addr: address(base, x, y),
            bytes: 4,
        };
        {
            let mut device = platform.device();
            device.set_debugger(true);
            device.debugger().unwrap().add(rule);
        }
        // The frame stops at each change; somebody beside it notes whose it is and lets it go on.
        let stops = std::thread::scope(|scope| {
            let platform = &platform;
            let (over, ended) = std::sync::mpsc::channel();
            let watcher = scope.spawn(move || {
                let mut stops = Vec::new();
                while ended.try_recv().is_err() {
                    let mut device = platform.device();
                    let host = device.debugger().unwrap();
                    if let Some(stopped) = host.stopped() {
                        stops.push(stopped.thread.map(|(key, ..)| key));
                        host.go(Go::Continue);
                    }
                    drop(device);
                    std::thread::yield_now();
                }
                stops
            });
            let ran: Result<Vec<()>, _> = capture.execs.iter().map(|e| session.run(e)).collect();
            over.send(()).unwrap();
            let stops = watcher.join().unwrap();
            ran.unwrap();
            stops
        });
        platform.device().set_debugger(false);
        assert_eq!(
            session.picture().unwrap().pixel(x, y),
            map.picture().pixel(x, y)
        );
        session.finish().unwrap();
        let threads = map.at(x, y);
        let mut named = threads.iter();
        let mut who = Vec::new();
        for stop in stops {
            let key = stop.expect("threads alone write this target");
            assert_eq!(key.unit, Unit::Wiz);
            assert!(
                named.any(|thread| thread.ordinal == key.ordinal),
                "{x},{y}: {key:?} is not in {threads:?}"
            );
            who.push(key.ordinal);
        }
        changes += who.len();
        assert!(!who.is_empty(), "the clear at least changes {x},{y}");
    }
    assert!(changes >= 12);
}

/// A vertex that lies before the near plane: a clip thread makes a polygon of what is left of the triangle.
#[test]
fn a_clipped_triangle_leads_to_its_vertices_through_the_clip_thread() {
    let mut capture = capture("c_gouraud");
    let whole = map(&capture);
    let last = whole.draws().len() as u32 - 1;
    let object = *whole.objects().iter().find(|o| o.draw == last).unwrap();
    let ids = object.vertices();
    let corners: Vec<_> = ids
        .iter()
        .map(|&v| on_screen(&whole, &capture, v))
        .collect();
    let position = |v: VertexId| whole.inputs(v)[0].address;
    let mut z: Vec<f64> = Vec::new();
    for &v in ids {
        let bits = capture.execs[0].dword(position(v) + 8).unwrap();
        z.push(f32::from_bits(bits).into());
    }
    let exec = &mut capture.execs[0];
    let (buffer, offset) = exec.find(position(ids[0]) + 8).unwrap();
    let at = offset as usize;
    exec.buffers[buffer].data[at..at + 4].copy_from_slice(&(-3.0f32).to_le_bytes());
    z[0] = -3.0;
    let map = map(&capture);
    let objects = map.objects().iter().filter(|object| object.draw == last);
    let objects: Vec<_> = objects.collect();
    // Two corners of three are left, and two cuts: four vertices, two triangles.
    assert_eq!(objects.len(), 2);
    let mut emitted = BTreeSet::new();
    for object in &objects {
        for &v in object.vertices() {
            let Origin::Emitted { by, number, .. } = map.vertex(v).unwrap().origin else {
                panic!("the clip thread writes every vertex anew");
            };
            emitted.insert(number);
            let between = map.between(by).unwrap();
            assert_eq!((between.unit, between.ordinal), (Unit::Clip, 0));
            assert_eq!(between.topology, 4, "3DPRIM_TRILIST");
            let indices: Vec<_> = between.vertices.iter().map(|&v| of(&map, v).1).collect();
            assert_eq!(indices, [0, 1, 2]);
            assert_eq!(map.fetched(v), between.vertices);
        }
    }
    assert_eq!(emitted.into_iter().collect::<Vec<_>>(), [0, 1, 2, 3]);
    // w is 1 everywhere, so that depth is linear on the screen; -1 is the near plane.
    let [a, b, c] = [corners[0], corners[1], corners[2]];
    let area = (b[0] - a[0]) * (c[1] - a[1]) - (c[0] - a[0]) * (b[1] - a[1]);
    let (mut lit, mut cut) = (0, 0);
    for (x, y) in (0..SIZE).flat_map(|y| (0..SIZE).map(move |x| (x, y))) {
        if inside(&corners, x, y) < 0.01 {
            continue;
        }
        let p = [f64::from(x) + 0.5, f64::from(y) + 0.5];
        let part = |u: [f64; 2], v: [f64; 2]| {
            ((u[0] - p[0]) * (v[1] - p[1]) - (v[0] - p[0]) * (u[1] - p[1])) / area
        };
        let depth = part(b, c) * z[0] + part(c, a) * z[1] + part(a, b) * z[2];
        let threads = map.at(x, y);
        let mine = threads
            .iter()
            .filter(|thread| map.object(thread.object).is_some_and(|o| o.draw == last));
        let mine = mine.count();
        if depth > -0.98 {
            assert_eq!(mine, 1, "{x},{y} at {depth}");
            lit += 1;
        } else if depth < -1.02 {
            assert_eq!(mine, 0, "{x},{y} at {depth}");
            cut += 1;
        }
    }
    assert!(lit > 1000 && cut > 500, "{lit} {cut}");
}

/// Quads and line loops become polygons and lines in threads of GS: `glDrawArrays(GL_QUADS, 0, 8)`, and a loop of four
/// vertices from 15 on, which GL closes from the last to the first.
#[test]
fn quads_and_loops_lead_to_their_vertices_through_threads_of_gs() {
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR"));
    let path = root.join("data/captures/live/quads.crest");
    let capture = Capture::load(&path).unwrap();
    let map = map(&capture);
    let quads = map.draws().iter().position(|draw| draw.words[1] == 8);
    let quads = quads.unwrap() as u32;
    let mut found = BTreeSet::new();
    for object in map.objects() {
        for &v in object.vertices() {
            let Origin::Emitted { by, .. } = map.vertex(v).unwrap().origin else {
                continue;
            };
            let between = map.between(by).unwrap();
            assert_eq!(between.unit, Unit::Gs);
            let indices: Vec<_> = between.vertices.iter().map(|&v| of(&map, v).1).collect();
            found.insert((between.ordinal, object.draw - quads, indices));
        }
    }
    let expected: [(u64, u32, &[u32]); 6] = [
        (0, 0, &[0, 1, 2, 3]),
        (1, 0, &[4, 5, 6, 7]),
        (2, 3, &[15, 16]),
        (3, 3, &[16, 17]),
        (4, 3, &[17, 18]),
        (5, 3, &[18, 15]),
    ];
    let found: Vec<_> = found
        .iter()
        .map(|(n, draw, i)| (*n, *draw, i.as_slice()))
        .collect();
    assert_eq!(found, expected);
    // The middle of the first quad.
    let thread = *map.at(58, 64).last().unwrap();
    assert_eq!(map.object(thread.object).unwrap().draw, quads);
}

#[test]
fn a_capture_without_primitives_has_no_map() {
    let mut capture = capture("a_clear");
    capture.execs.truncate(1);
    let exec = &mut capture.execs[0];
    let batch = exec.batch;
    let data = &mut exec.buffers[batch].data;
    // MI_BATCH_BUFFER_END, MI_NOOP.
    data[..8].copy_from_slice(&[0, 0, 0, 0x05, 0, 0, 0, 0]);
    exec.batch_start = 0;
    exec.batch_len = 8;
    let error = FrameMap::of(&capture, options(&capture)).err().unwrap();
    assert!(
        matches!(error, FrameMapError::Picture(PictureError::NoPrimitive)),
        "{error}"
    );
}

#[test]
fn the_same_capture_has_the_same_map() {
    let capture = capture("e_depth");
    let (one, two) = (map(&capture), map(&capture));
    assert!(one.threads().eq(two.threads()));
    assert_eq!(one.objects(), two.objects());
}
