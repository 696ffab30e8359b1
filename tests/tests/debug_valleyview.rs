//! Pixels of ValleyView explained through later stages; threads stopped there.
//!
//! Expectations are what the scenes' programs give (`tests/tools/glscenes3.c`): vertex data, and what their shaders compute of these
//! and of gl_TessCoord, in arithmetic of the host. Edges of factors: Direct3D 11 (crate `tess`) and OpenGL 4.0 agree.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use crestline_cli::capture::Capture;
use crestline_cli::debug::Debugger;
use crestline_cli::debug::backend::{HostBackend, RegistersBackend};
use crestline_cli::debug::target::Target;
use crestline_cli::frame_map::{FrameMap, Origin, Patch, VertexId};
use crestline_cli::stages;
use crestline_cli::why;
use crestline_tests::scenes::{capture_file, capture_of, options};
use driver::debug::walk::Unit;
use fastrand::Rng;

const DEVICE: &str = "valleyview";

fn map(scene: &str) -> FrameMap {
    let capture = capture_of(DEVICE, scene);
    FrameMap::of(&capture, options(&capture)).unwrap_or_else(|error| panic!("{scene}: {error}"))
}

/// An attribute of a fetched vertex.
fn attribute(map: &FrameMap, capture: &Capture, vertex: VertexId, element: u32) -> [f64; 4] {
    let Origin::Fetched { draw, .. } = map.vertex(vertex).unwrap().origin else {
        panic!("a vertex of VF");
    };
    let exec = &capture.execs[map.draws()[draw as usize].exec];
    let inputs = map.inputs(vertex);
    let input = inputs.iter().find(|input| input.element == element);
    let bits = input.unwrap().value(exec).unwrap();
    bits.map(|bits| f64::from(f32::from_bits(bits)))
}

fn index(map: &FrameMap, vertex: VertexId) -> u32 {
    match map.vertex(vertex).unwrap().origin {
        Origin::Fetched { index, .. } => index,
        other => panic!("{other:?}"),
    }
}

fn mix(a: f64, b: f64, t: f64) -> f64 {
    a + (b - a) * t
}

/// Factors of a patch as floats: outside, inside.
fn factors(patch: &Patch) -> ([f64; 4], [f64; 2]) {
    let all = patch
        .factors
        .unwrap()
        .map(|bits| f64::from(f32::from_bits(bits)));
    (all[..4].try_into().unwrap(), all[4..].try_into().unwrap())
}

fn close(what: &str, found: &[f64], wanted: &[f64], by: f64) {
    let near = found.iter().zip(wanted).all(|(a, b)| (a - b).abs() <= by);
    assert!(
        near && found.len() == wanted.len(),
        "{what}: {found:?}, wanted {wanted:?}"
    );
}

/// Nine patches of four vertices, whose factors their first vertices tell; every triangle of theirs goes through a geometry shader.
#[test]
fn triangles_of_quads_lie_where_the_shaders_put_their_points() {
    let capture = capture_of(DEVICE, "tessquad");
    let map = map("tessquad");
    assert_eq!(map.patches().len(), 9);
    for (number, patch) in (0u32..).zip(map.patches()) {
        assert_eq!(patch.number, number);
        let indices: Vec<_> = patch.vertices.iter().map(|v| index(&map, *v)).collect();
        assert_eq!(indices, [0, 1, 2, 3].map(|k| number * 4 + k));
        // tcs: two invocations a thread.
        assert_eq!(patch.threads.len(), 2);
        let w = attribute(&map, &capture, patch.vertices[0], 1)[3];
        let (outside, inside) = factors(patch);
        let wanted = [2.0 + w, 3.0, 5.0 - w * 0.3, 1.0 + 2.0 * w];
        close("outside", &outside, &wanted, 1e-5);
        close("inside", &inside, &[3.0 + w, 2.5], 1e-5);
    }
    let mut seen = BTreeSet::new();
    let objects = map.objects().iter().filter(|object| {
        let vertex = map.vertex(object.vertices()[0]).unwrap();
        matches!(vertex.origin, Origin::Emitted { .. })
    });
    let mut count = 0;
    for object in objects {
        count += 1;
        for (vertex, corner) in object.vertices().iter().zip(object.corners()) {
            let Origin::Emitted { by, half, number } = map.vertex(*vertex).unwrap().origin else {
                panic!("out of the geometry shader");
            };
            let part = &map.between(by).unwrap().parts[usize::from(half)];
            assert_eq!((part.instance, part.vertices.len()), (0, 3));
            // Vertex i of its triangle is vertex i of the one that it gets.
            let point = part.vertices[number as usize];
            let Origin::Point {
                patch,
                number,
                place,
                ..
            } = map.vertex(point).unwrap().origin
            else {
                panic!("out of the domain shader");
            };
            let patch_id = patch;
            let patch = map.patch(patch).unwrap();
            let [u, v, w] = place.map(|bits| f64::from(f32::from_bits(bits)));
            assert_eq!(w, 0.0, "quads have two coordinates");
            seen.insert((patch_id, number));
            let of = |k: usize, axis: usize| attribute(&map, &capture, patch.vertices[k], 0)[axis];
            let at = |axis| {
                let low = mix(of(0, axis), of(1, axis), u);
                mix(low, mix(of(2, axis), of(3, axis), u), v)
            };
            let bulge = attribute(&map, &capture, patch.vertices[3], 1)[0] * 0.1;
            let position = [at(0), at(1) + bulge * u * (1.0 - u) * 4.0];
            let screen = position.map(|v| (v + 1.0) * 128.0);
            let found = [corner[0], corner[1]].map(f64::from);
            close("corner", &found, &screen, 0.02);
        }
    }
    let (activity, statistics) = map.counted();
    let te = activity.tessellation;
    assert_eq!(
        (te.patches, te.dropped, statistics.hs_invocations),
        (9, 0, 9)
    );
    // All points are corners of triangles, of which each is an object of GS.
    assert_eq!(seen.len() as u64, te.points);
    assert_eq!(statistics.gs_invocations, te.objects);
    // Some have no area.
    assert!(
        count <= te.objects && count * 10 > te.objects * 9,
        "{count}"
    );
    assert_eq!(statistics.gs_primitives, te.objects);
    assert!(statistics.ds_invocations >= te.points);
    let stages = stages::of(activity, statistics);
    let names: Vec<_> = stages.iter().map(|stage| stage.name).collect();
    assert_eq!(
        names,
        ["VF", "VS", "HS", "TE", "DS", "GS", "CLIP", "SF", "PS"]
    );
}

/// Isolines with six segments in each of 6 + w lines; points with the factors that the program sets for itself.
#[test]
fn isolines_and_points_have_the_factors_of_the_program() {
    let capture = capture_of(DEVICE, "tessiso");
    let map = map("tessiso");
    let [lines, points] = map.patches() else {
        panic!("two patches");
    };
    let w = attribute(&map, &capture, lines.vertices[0], 1)[3];
    let (outside, _) = factors(lines);
    close("isolines", &outside[..2], &[6.0 + w, 9.0], 0.0);
    let (outside, inside) = factors(points);
    close("outside", &outside, &[5.5, 7.0, 3.0, 4.0], 0.0);
    close("inside", &inside, &[4.5, 6.0], 0.0);
    // Lines of equal spacing: v = i / 7, u = j / 9; seven lines of nine segments.
    assert_eq!((lines.points, lines.objects), (70, 63));
    let mut seen = BTreeSet::new();
    for object in map.objects() {
        for (vertex, corner) in object.vertices().iter().zip(object.corners()) {
            let Origin::Point { patch, place, .. } = map.vertex(*vertex).unwrap().origin else {
                continue;
            };
            let isolines = patch.0 == 0;
            let patch = map.patch(patch).unwrap();
            let [u, v, _] = place.map(|bits| f64::from(f32::from_bits(bits)));
            let of = |k: usize, axis: usize| attribute(&map, &capture, patch.vertices[k], 0)[axis];
            let along = if isolines { v + 0.05 } else { v };
            let at = |axis| {
                let low = mix(of(0, axis), of(1, axis), u);
                mix(low, mix(of(2, axis), of(3, axis), u), along)
            };
            if isolines {
                let grid = [v * 7.0, u * 9.0];
                close("grid", &grid, &grid.map(f64::round), 1e-3);
                seen.insert(grid.map(|n| n.round() as u32));
            }
            let screen = [at(0), at(1)].map(|v| (v + 1.0) * 128.0);
            let found = [corner[0], corner[1]].map(f64::from);
            close("corner", &found, &screen, 0.02);
        }
    }
    assert_eq!(seen.len(), 70);
}

/// From a pixel through the geometry shader, DS and HS to the vertex buffer, as the command prints it.
#[test]
fn a_pixel_of_a_tessellated_quad_leads_to_its_control_points() {
    let capture = capture_of(DEVICE, "tessquad");
    let map = map("tessquad");
    let mut random = Rng::with_seed(5);
    let mut asked = 0;
    for _ in 0..40 {
        let pixel = (random.u16(..256), random.u16(..256));
        let threads = map.at(pixel.0.into(), pixel.1.into());
        let Some(object) = threads.last().and_then(|thread| map.object(thread.object)) else {
            continue;
        };
        let first = map.vertex(object.vertices()[0]).unwrap();
        if !matches!(first.origin, Origin::Emitted { .. }) || asked == 3 {
            continue;
        }
        asked += 1;
        let why = why::why(&capture, &options(&capture), pixel).unwrap();
        let walk = &why.walk;
        assert!(walk.setup.vertices.iter().all(|tag| tag.unit == Unit::Gs));
        let emitter = walk.emitters.values().next().unwrap();
        assert_eq!((walk.emitters.len(), walk.patches.len()), (1, 1));
        let tag = walk.setup.vertices[0];
        let part = &emitter.parts[usize::from(tag.half)];
        assert!(part.inputs.iter().all(|tag| tag.unit == Unit::Ds));
        let (_, patch) = walk.patches.first_key_value().unwrap();
        let indices: Vec<_> = patch
            .inputs
            .iter()
            .map(|tag| walk.vertices[&tag.number].index.unwrap())
            .collect();
        assert_eq!(indices, [0, 1, 2, 3].map(|k| patch.number * 4 + k));
        for tag in &patch.inputs {
            let inputs = &why.inputs[&tag.number];
            assert_eq!(inputs.len(), 2, "position and colour");
        }
        let text = why.to_string();
        let wanted = [
            format!("vertex {} of GS thread {}\n", tag.relative, tag.number),
            format!(", object {}, instance 0: kernel 0x", part.object),
            format!(" of patch {} at (", patch.number),
            format!("patch {} of 4 vertices: HS threads ", patch.number),
            "factors: outside ".to_owned(),
            format!(", index {}: VS thread ", patch.number * 4),
            "R32G32B32A32_FLOAT at 0x".to_owned(),
            "weights of the second and third vertex: ".to_owned(),
        ];
        for wanted in wanted {
            assert!(text.contains(&wanted), "{wanted}\n{text}");
        }
        let json = why.to_json();
        assert_eq!(json["patches"][0]["number"], patch.number);
        assert_eq!(json["points"].as_array().unwrap().len(), walk.points.len());
        assert_eq!(json["emitters"][0]["parts"][0]["instance"], 0);
    }
    assert_eq!(asked, 3);
}

/// The scene draws 8x8 points; gl_PrimitiveIDIn is the number of the point.
#[test]
fn objects_of_a_geometry_shader_are_its_points() {
    let map = map("geom");
    let mut seen = BTreeSet::new();
    for object in map.objects() {
        for vertex in object.vertices() {
            let Origin::Emitted { by, half, .. } = map.vertex(*vertex).unwrap().origin else {
                continue;
            };
            let part = &map.between(by).unwrap().parts[usize::from(half)];
            assert_eq!(part.object, index(&map, part.vertices[0]));
            seen.insert(part.object);
        }
    }
    assert_eq!(seen, (0..64).collect());
}

fn recorded(name: &str) -> Capture {
    let file = format!("data/captures/recorded/{name}.crest");
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join(file);
    Capture::load(&file).unwrap_or_else(|error| panic!("{error}"))
}

/// Six invocations turn one triangle by a sixth of a circle each, and make it smaller.
#[test]
fn instances_of_a_geometry_shader_are_its_invocations() {
    let capture = recorded("gsinst");
    let map = FrameMap::of(&capture, options(&capture)).unwrap();
    let mut seen = BTreeSet::new();
    for object in map.objects() {
        for (vertex, corner) in object.vertices().iter().zip(object.corners()) {
            let Origin::Emitted { by, half, number } = map.vertex(*vertex).unwrap().origin else {
                continue;
            };
            let part = &map.between(by).unwrap().parts[usize::from(half)];
            assert_eq!(part.object, 0);
            let position = attribute(&map, &capture, part.vertices[number as usize], 0);
            let n = f64::from(part.instance);
            let (sin, cos) = (std::f64::consts::FRAC_PI_3 * n).sin_cos();
            let [x, y, ..] = position.map(|v| v * (1.0 - 0.08 * n));
            let screen = [x * cos - y * sin, x * sin + y * cos].map(|v| (v + 1.0) * 128.0);
            close(
                "corner",
                &[corner[0].into(), corner[1].into()],
                &screen,
                0.02,
            );
            seen.insert(part.instance);
        }
    }
    assert_eq!(seen, (0..6).collect());
    let (_, statistics) = map.counted();
    assert_eq!(
        (statistics.gs_invocations, statistics.gs_primitives),
        (6, 6)
    );
}

/// A patch of sixteen vertices, cut in four by four squares; behind the geometry shader two floats of each vertex are streamed.
#[test]
fn a_pixel_leads_through_all_stages() {
    let capture = recorded("allstages");
    let why = why::why(&capture, &options(&capture), (128, 128)).unwrap();
    let walk = &why.walk;
    let (_, patch) = walk.patches.first_key_value().unwrap();
    assert_eq!(
        (walk.patches.len(), patch.threads.len(), patch.inputs.len()),
        (1, 8, 16)
    );
    assert_eq!(patch.factors, Some([4f32.to_bits(); 6]));
    assert_eq!((patch.points, patch.objects), (25, 32));
    let indices: Vec<_> = patch
        .inputs
        .iter()
        .map(|tag| walk.vertices[&tag.number].index.unwrap())
        .collect();
    assert_eq!(indices, (0..16).collect::<Vec<_>>());
    // Equal spacing: quarters.
    for point in walk.points.values() {
        let [u, v, _] = point.place.map(f32::from_bits);
        assert_eq!([u * 4.0, v * 4.0].map(f32::fract), [0.0; 2]);
    }
    // Triangle after triangle, eight bytes a vertex.
    let offsets: Vec<_> = walk
        .setup
        .vertices
        .iter()
        .map(|tag| {
            let [write] = walk.streamed[tag].as_slice() else {
                panic!("one write");
            };
            assert_eq!((write.dwords, write.stream, write.buffer), (2, 0, 0));
            write.offset
        })
        .collect();
    let first = offsets[0];
    assert_eq!(first % 24, 0);
    assert_eq!(offsets, [first, first + 8, first + 16]);
    let text = why.to_string();
    for wanted in [
        "PATCHLIST16 of 16 vertices",
        " to buffer 0 at offset 0x",
        "factors: outside 4.0, 4.0, 4.0, 4.0, inside 4.0, 4.0; cut into 25 points and 32 objects",
        "HS threads 0, 1, 2, 3, 4, 5, 6, 7, kernel 0x",
    ] {
        assert!(text.contains(wanted), "{wanted}\n{text}");
    }
}

/// What llvmpipe has in the buffer: four floats, three floats, and gl_VertexID with its square less 7.
#[test]
fn stream_output_names_the_vertices_that_it_has_written() {
    let file = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("data/captures/valleyview/xfb/result_triangles.bin");
    let result = fs::read(file).unwrap();
    let word = |at: u32| {
        let bytes = &result[at as usize..][..4];
        u32::from_le_bytes(bytes.try_into().unwrap())
    };
    let map = map("xfb");
    let base = map.streamed()[0].address - map.streamed()[0].offset;
    let (mut dwords, mut strip) = (0, 0);
    for write in map.streamed() {
        assert_eq!((write.stream, write.buffer), (0, 0));
        let index = index(&map, write.vertex);
        let (number, within) = (write.offset / 36, write.offset % 36);
        assert!(within + u32::from(write.dwords) * 4 <= 36, "{write:?}");
        if write.address - write.offset == base {
            // A list: vertices one behind the other.
            assert_eq!(number, index);
            assert_eq!(word(number * 36 + 28), index);
            dwords += u32::from(write.dwords);
        } else {
            // Triangle n of a strip has vertices n to n + 2.
            assert!((number / 3..number / 3 + 3).contains(&index), "{write:?}");
            strip += u32::from(write.dwords);
        }
    }
    assert_eq!((dwords, strip), (24 * 9, 72 * 9));
    let (activity, statistics) = map.counted();
    assert_eq!(activity.streamed, 24 + 72);
    assert_eq!(statistics.so_prims_written, [8 + 24, 0, 0, 0]);
}

/// The second program of the scene draws triangles out of the buffers that the first has written: 36 bytes a vertex.
#[test]
fn inputs_out_of_stream_output_name_the_vertex_that_was_written() {
    let capture = capture_of(DEVICE, "xfb");
    let map = map("xfb");
    let object = map.objects().iter().rfind(|object| {
        let vertices = object.vertices().iter();
        vertices
            .copied()
            .all(|vertex| map.inputs(vertex).len() == 3)
    });
    let object = object.unwrap();
    let corners = object.corners();
    let middle = |axis: usize| corners.iter().map(|corner| corner[axis]).sum::<f32>() / 3.0;
    let pixel = (middle(0) as u16, middle(1) as u16);
    let why = why::why(&capture, &options(&capture), pixel).unwrap();
    let walk = &why.walk;
    assert_eq!(walk.vertices.len(), 3);
    // Three inputs of three vertices.
    assert_eq!(walk.written.len(), 9);
    let mut indices = BTreeSet::new();
    for (address, written) in &walk.written {
        assert!(written.draw < walk.draw);
        let within = address - (written.write.address - written.write.offset);
        let (number, index) = (within / 36, written.index.unwrap());
        assert!((number / 3..number / 3 + 3).contains(&index) || number == index);
        indices.insert(index);
    }
    assert_eq!(indices.len(), 3);
    let text = why.to_string();
    let lines = text
        .matches("written before by stream output, buffer 0 at offset 0x")
        .count();
    assert_eq!(lines, 9, "{text}");
}

fn debugger(scene: &str) -> Debugger {
    let options = options(&capture_of(DEVICE, scene));
    let target = Target::capture(capture_file(DEVICE, scene), options).unwrap();
    let interrupt = Arc::new(AtomicBool::new(false));
    let backend = Arc::new(HostBackend::default());
    Debugger::new(target, backend, options.device, interrupt).unwrap_or_else(|e| panic!("{e}"))
}

fn run(debugger: &mut Debugger, line: &str) -> String {
    debugger
        .execute(line)
        .unwrap_or_else(|error| panic!("{line}: {error}"))
}

/// r0.1 of a hull shader's thread and r1.7 of a domain shader's are the number of the patch, r0.2 bits 22:16 the instance
/// (Mesa brw_vec4_generator.cpp); r1.0 and r1.1 are gl_TessCoord.
#[test]
fn threads_of_a_chosen_patch_and_point_stop() {
    let map = map("tessquad");
    let mut debugger = debugger("tessquad");
    run(&mut debugger, "break patch 4");
    let stop = run(&mut debugger, "run");
    assert!(
        stop.contains("HS thread 8,") && stop.contains("instance 0 of patch 4"),
        "{stop}"
    );
    run(&mut debugger, "expect r0.1 = 4");
    let step = run(&mut debugger, "step");
    assert!(
        step.contains("HS thread 8,") && step.contains("after 1 instruction"),
        "{step}"
    );
    let stop = run(&mut debugger, "continue");
    assert!(
        stop.contains("HS thread 9,") && stop.contains("instance 1 of patch 4"),
        "{stop}"
    );
    run(&mut debugger, "expect r0.1 = 4");
    let instance = run(&mut debugger, "print r0.2");
    let value = u32::from_str_radix(instance.trim().split_once("0x").unwrap().1, 16).unwrap();
    assert_eq!(value >> 16 & 0x7f, 1, "{instance}");
    let stop = run(&mut debugger, "continue");
    assert!(
        stop.contains("DS thread ") && stop.contains(" of patch 4"),
        "{stop}"
    );
    run(&mut debugger, "expect r1.7 = 4");
    run(&mut debugger, "delete all");
    // A point of another patch, whose place the frame's events tell.
    let wanted = (0..u32::MAX)
        .map_while(|n| map.vertex(VertexId(n)))
        .find_map(|vertex| match vertex.origin {
            Origin::Point {
                patch,
                number: 5,
                place,
                slot,
                ..
            } if patch.0 == 6 => Some((place, slot)),
            _ => None,
        });
    let (place, slot) = wanted.unwrap();
    run(&mut debugger, "break point 6 5");
    let stop = run(&mut debugger, "continue");
    assert!(
        stop.contains("DS thread ") && stop.contains("of patch 6"),
        "{stop}"
    );
    for (axis, bits) in place.iter().take(2).enumerate() {
        let register = usize::from(slot) * 4 + axis;
        let value = f32::from_bits(*bits);
        run(
            &mut debugger,
            &format!("expect r1.{register}:f = {value:?} within 1e-7"),
        );
    }
    run(&mut debugger, "step 2");
    run(&mut debugger, "delete all");
    run(&mut debugger, "continue");
    run(&mut debugger, "expect end");
    assert_eq!(debugger.conclude().0, 0);
}

#[test]
fn a_geometry_shaders_thread_stops_by_its_object() {
    let mut debugger = debugger("geom");
    run(&mut debugger, "break geometry 37 0");
    let stop = run(&mut debugger, "run");
    assert!(
        stop.contains("GS thread ") && stop.contains("instance 0 of object 37"),
        "{stop}"
    );
    run(&mut debugger, "step");
    run(&mut debugger, "finish");
    run(&mut debugger, "continue");
    run(&mut debugger, "expect end");
    // There is no such object, and nothing else stops.
    run(&mut debugger, "delete all");
    run(&mut debugger, "break geometry 64");
    let end = run(&mut debugger, "run");
    assert!(end.contains("the frame has ended"), "{end}");
    assert_eq!(debugger.conclude().0, 0);
}

/// The second dispatch has 8x16 groups of 128 invocations. r0.1, r0.6 and r0.7 are gl_WorkGroupID (Mesa brw_fs.cpp).
#[test]
fn a_compute_shaders_thread_stops_by_group_and_invocation() {
    let mut debugger = debugger("compute");
    run(&mut debugger, "break invocation 3,9,0 45");
    let stop = run(&mut debugger, "run");
    let (_, channel) = stop.split_once("invocation 45 is channel ").unwrap();
    let mut numbers = channel.split_whitespace();
    let channel: u32 = numbers.next().unwrap().parse().unwrap();
    let width: u32 = numbers.nth(1).unwrap().parse().unwrap();
    assert_eq!(channel, 45 % width, "{stop}");
    let thread = format!("thread {} of group 3,9,0", 45 / width);
    assert!(stop.contains(&thread), "{thread} in {stop}");
    run(&mut debugger, "expect r0.1 = 3");
    run(&mut debugger, "expect r0.6 = 9");
    run(&mut debugger, "expect r0.7 = 0");
    let step = run(&mut debugger, "step 3");
    assert!(
        step.contains("after 3 instructions") && step.contains(&thread),
        "{step}"
    );
    run(&mut debugger, "delete all");
    // By group and thread.
    run(&mut debugger, "break group 4,9,0 1");
    let stop = run(&mut debugger, "continue");
    assert!(stop.contains("thread 1 of group 4,9,0"), "{stop}");
    run(&mut debugger, "expect r0.1 = 4");
    run(&mut debugger, "delete all");
    run(&mut debugger, "continue");
    run(&mut debugger, "expect end");
    assert_eq!(debugger.conclude().0, 0);
}

#[test]
fn what_cannot_be_stopped_is_said() {
    let mut debugger = debugger("tessquad");
    let mut refused = |line: &str| debugger.execute(line).unwrap_err().to_string();
    for (line, wanted) in [
        ("break point 1 70000", "there is no point 70000"),
        ("break geometry 1 300", "there is no instance 300"),
        ("break pach 1", "patch"),
        ("snapshot vs 0", "no public text"),
    ] {
        let text = refused(line);
        assert!(text.contains(wanted), "{line}: {text}");
    }
    let options = options(&capture_of(DEVICE, "tessquad"));
    let target = Target::capture(capture_file(DEVICE, "tessquad"), options).unwrap();
    let backend = Arc::new(RegistersBackend::default());
    let interrupt = Arc::new(AtomicBool::new(false));
    let refused = Debugger::new(target, backend, options.device, interrupt)
        .err()
        .unwrap();
    let text = refused.to_string().to_lowercase();
    assert!(
        text.contains("valleyview") && text.contains("debug registers"),
        "{text}"
    );
    let capture = capture_of("sandybridge", "c_gouraud");
    let target = Target::capture(
        capture_file("sandybridge", "c_gouraud"),
        crestline_tests::scenes::options(&capture),
    )
    .unwrap();
    let backend = Arc::new(HostBackend::default());
    let interrupt = Arc::new(AtomicBool::new(false));
    let device = crestline_tests::scenes::options(&capture).device;
    let mut debugger =
        Debugger::new(target, backend, device, interrupt).unwrap_or_else(|e| panic!("{e}"));
    let text = debugger.execute("break patch 0").unwrap_err().to_string();
    assert!(text.contains("numbers no patches"), "{text}");
}
