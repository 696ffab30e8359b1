//! Pixels of a device without debug registers, explained by the host.
//!
//! Weights, planes and places are those of host arithmetic on what the scenes draw; numbers of threads and vertices are
//! those that the debug registers of other devices show of the same kind of frame.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use crestline_cli::debug::Debugger;
use crestline_cli::debug::backend::{Backend, HostBackend, RegistersBackend};
use crestline_cli::debug::target::Target;
use crestline_cli::frame_map::FrameMap;
use crestline_cli::why::{self, RerunError, Why};
use crestline_tests::scenes::{capture_of, options};
use driver::debug::walk::{Tag, Unit, Walk, WalkError};
use fastrand::Rng;

const DEVICE: &str = "sandybridge";

fn ask(scene: &str, pixel: (u16, u16)) -> Why {
    let capture = capture_of(DEVICE, scene);
    why::why(&capture, &options(&capture), pixel).unwrap_or_else(|error| panic!("{error}"))
}

/// The corners of the triangle of c_gouraud on a target of 256x256 pixels, and the weights of the last two at a pixel.
fn weights(x: f64, y: f64) -> [f64; 2] {
    let [a, b, c] =
        [[-0.8, -0.8], [0.8, -0.7], [0.05, 0.85]].map(|at| at.map(|v| (v + 1.0) * 128.0));
    let from = |p: [f64; 2]| [p[0] - a[0], p[1] - a[1]];
    let ([bx, by], [cx, cy], [px, py]) = (from(b), from(c), from([x + 0.5, y + 0.5]));
    let area = bx * cy - by * cx;
    [(px * cy - py * cx) / area, (bx * py - by * px) / area]
}

#[test]
fn weights_and_planes_of_a_pixel() {
    let mut random = Rng::with_seed(1);
    let mut asked = 0;
    while asked < 12 {
        let (x, y) = (random.u16(..256), random.u16(..256));
        let [u, v] = weights(x.into(), y.into());
        if u < 0.01 || v < 0.01 || u + v > 0.99 {
            continue;
        }
        asked += 1;
        let why = ask("c_gouraud", (x, y));
        let payload = why.payload.as_ref().unwrap();
        let close = |a: f32, b: f64| (f64::from(a) - b).abs() < 1e-5;
        let found = payload.weights[0];
        assert_eq!(
            (payload.weights.len(), found.mode),
            (1, "perspective, pixel")
        );
        assert!(
            close(found.values[0], u) && close(found.values[1], v),
            "{found:?}"
        );
        // Red, green and blue of one corner each.
        let (attribute, value) = payload.values().next().unwrap();
        let value = value.unwrap();
        assert_eq!(attribute.planes[0], [-1.0, -1.0, 1.0]);
        assert_eq!(attribute.planes[1], [1.0, 0.0, 0.0]);
        assert_eq!(attribute.planes[2], [0.0, 1.0, 0.0]);
        let colour = [1.0 - u - v, u, v, 1.0];
        assert!(
            value.iter().zip(colour).all(|(a, b)| close(*a, b)),
            "{value:?}"
        );
        for (shown, wanted) in why.colour.unwrap().into_iter().zip(colour) {
            assert!((f64::from(shown) - wanted * 255.0).abs() <= 0.51, "{x},{y}");
        }
        // The clear is draw 0; nobody but SF sets up; three vertices of two threads.
        let walk = &why.walk;
        assert_eq!(
            (walk.draw, walk.setup.primitive, walk.setup.kernel),
            (1, 1, None)
        );
        let indices: Vec<_> = walk
            .vertices
            .values()
            .map(|v| (v.index, v.thread, v.slot))
            .collect();
        let of = |index, thread, slot| (Some(index), Some(thread), Some(slot));
        assert_eq!(indices, [of(0, 0, 0), of(1, 0, 1), of(2, 1, 0)]);
        assert!(why.to_string().contains("set up by strips-and-fans itself"));
    }
}

/// The scene draws 8x8 points, of each of which the geometry shader makes a square.
#[test]
fn a_pixel_of_a_geometry_shader_leads_to_its_point() {
    let mut random = Rng::with_seed(2);
    let mut emitted = 0;
    for _ in 0..20 {
        let pixel = (random.u16(..256), random.u16(..256));
        let why = ask("geom", pixel);
        let walk = &why.walk;
        if walk.draw == 0 {
            continue;
        }
        emitted += 1;
        let ((unit, _), emitter) = walk.emitters.first_key_value().unwrap();
        assert_eq!(
            (walk.emitters.len(), *unit, emitter.inputs.len()),
            (1, Unit::Gs, 1)
        );
        assert!(walk.setup.vertices.iter().all(|tag| tag.unit == Unit::Gs));
        let vertex = walk.vertices[&emitter.inputs[0].number];
        let index = vertex.index.unwrap();
        // Points are 32 pixels from one another.
        let point = [index % 8, index / 8].map(|n| n * 32 + 16);
        for (at, point) in [pixel.0, pixel.1].into_iter().zip(point) {
            assert!(
                u32::from(at).abs_diff(point) <= 16,
                "{pixel:?}, point {index}"
            );
        }
    }
    assert!(emitted >= 3, "{emitted}");
}

/// What a walk says of vertices, whichever delivery of one out of the vertex cache it names.
fn shape(walk: &Walk) -> Vec<String> {
    let vertex = |tag: &Tag| match tag.unit {
        Unit::Vf | Unit::Vs => {
            let vertex = walk.vertices[&tag.number];
            format!("{:?} {:?} {:?}", vertex.index, vertex.thread, vertex.slot)
        }
        unit => format!("{unit:?} {} {}", tag.number, tag.relative),
    };
    let setup = &walk.setup;
    let mut out = vec![format!("{} {:?}", setup.primitive, setup.kernel)];
    out.extend(setup.vertices.iter().map(vertex));
    for (key, emitter) in &walk.emitters {
        out.push(format!("{key:?} {}", emitter.kernel));
        out.extend(emitter.inputs.iter().map(vertex));
    }
    out
}

/// On devices that have the registers, both ways to walk say the same.
#[test]
fn the_walk_without_registers_is_that_of_the_registers() {
    let mut random = Rng::with_seed(3);
    for (device, scene) in [
        ("gm965", "g_gears"),
        ("gm965", "e_depth"),
        ("ironlake", "clipdist"),
        ("g45", "interp"),
    ] {
        let capture = capture_of(device, scene);
        let map = FrameMap::of(&capture, options(&capture)).unwrap_or_else(|e| panic!("{e}"));
        for _ in 0..4 {
            let pixel = (random.u16(..256), random.u16(..256));
            let by_registers = why::why(&capture, &options(&capture), pixel).unwrap().walk;
            let mut by_host = map
                .walk::<RerunError>(pixel)
                .unwrap_or_else(|e| panic!("{e}"))
                .walk;
            by_host.runs = by_registers.runs;
            let (numbered, seen) = (shape(&by_host), shape(&by_registers));
            assert_eq!(numbered, seen, "{device}, {scene}, {pixel:?}");
            by_host.setup = by_registers.setup.clone();
            by_host.emitters = by_registers.emitters.clone();
            by_host.vertices = by_registers.vertices.clone();
            assert_eq!(by_host, by_registers, "{device}, {scene}, {pixel:?}");
        }
    }
}

#[test]
fn what_has_no_thread_is_said() {
    let capture = capture_of(DEVICE, "xfb");
    let map = FrameMap::of(&capture, options(&capture)).unwrap();
    let outside = map.walk::<RerunError>((300, 300)).err().unwrap();
    assert!(matches!(outside, WalkError::Unseen { x: 300, y: 300 }));
}

fn debugger(backend: Arc<dyn Backend>) -> Result<Debugger, String> {
    let capture = capture_of(DEVICE, "c_gouraud");
    let options = options(&capture);
    let file = crestline_tests::scenes::capture_file(DEVICE, "c_gouraud");
    let target = Target::capture(file, options).unwrap();
    let interrupt = Arc::new(AtomicBool::new(false));
    Debugger::new(target, backend, options.device, interrupt).map_err(|error| error.to_string())
}

#[test]
fn the_hosts_back_end_serves_and_the_other_says_why_not() {
    let refused = debugger(Arc::new(RegistersBackend::default()))
        .err()
        .unwrap();
    assert!(
        refused.contains("debug registers") && refused.contains("--backend host"),
        "{refused}"
    );
    let mut debugger = debugger(Arc::new(HostBackend::default())).unwrap();
    let mut run = |line: &str| debugger.execute(line).map_err(|error| error.to_string());
    let snapshot = run("snapshot sf 0").unwrap_err();
    assert!(snapshot.contains("no public text"), "{snapshot}");
    run("break pixel 120,121").unwrap();
    run("run").unwrap();
    let stop = run("continue").unwrap();
    assert!(stop.contains("pixel 120,121 is channel 2"), "{stop}");
    // r1.7: lit pixels. Weights of channel 2 are element 2 of r2 and r3, by the triangle's corners.
    let [u, v] = weights(120.0, 121.0);
    run("expect r1.7 = 0xffff").unwrap();
    run(&format!("expect r2.2:f = {u} within 1e-5")).unwrap();
    run(&format!("expect r3.2:f = {v} within 1e-5")).unwrap();
    assert_eq!(run("print emask").unwrap().trim(), "emask = 0x0000ffff");
    // `pln(16) m1`: red.
    run("step").unwrap();
    run(&format!("expect m1.2:f = {} within 1e-5", 1.0 - u - v)).unwrap();
    run("delete all").unwrap();
    run("continue").unwrap();
    run("expect end").unwrap();
    let (code, _) = debugger.conclude();
    assert_eq!(code, 0);
}
