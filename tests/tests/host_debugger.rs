//! The model's own debugger: stops, steps, watches; the frame does not notice.
//!
//! What it says of registers is compared with chapter 3's registers in the driver's debug tests.

use crestline_tests::scene::draw::Draw;
use crestline_tests::scene::surface::Surface;
use crestline_tests::scene::{FRAME, Frame, Scene};
use mmio_mock::Model;
use mmio_mock::intel::debug::host::{Go, Rule, RuleId, Stopped, Subject, ThreadKey, Why};
use mmio_mock::intel::status::Unit;

const SIZE: u32 = 32;

/// Two triangles side by side; the second one's colour comes from its own corners.
fn frame(scene: &mut Scene) -> (Surface, Draw) {
    let target = scene.target(SIZE, SIZE);
    let mut draw = Draw::flat(target.state());
    draw.perspective(SIZE as f32, SIZE as f32);
    let corner = |x: f32, y: f32, red: f32| [x, y, 0.5, 1.0, red, 0.25, 0.5, 1.0];
    let corners = [
        corner(-1.0, -1.0, 1.0),
        corner(0.0, -1.0, 1.0),
        corner(-1.0, 1.0, 1.0),
        corner(1.0, -1.0, 0.5),
        corner(1.0, 1.0, 0.5),
        corner(0.0625, 1.0, 0.5),
    ];
    scene.vertices(&mut draw, &corners);
    scene.draw(&draw);
    (target, draw)
}

fn undisturbed() -> Vec<u32> {
    let mut scene = Scene::new();
    let (target, _) = frame(&mut scene);
    scene.run();
    let words = target.words();
    drop(target);
    scene.finish();
    assert!(words.iter().any(|&w| w != 0));
    words
}

/// A debugger on a frame that has been submitted.
struct Debugged {
    scene: Scene,
    target: Surface,
    rules: Vec<RuleId>,
}

impl Debugged {
    fn new(rules: &[Rule]) -> (Self, Frame) {
        let mut scene = Scene::new();
        let (target, _) = frame(&mut scene);
        let rules = {
            let mut device = scene.rig.platform.device();
            device.set_debugger(true);
            let host = device.debugger().unwrap();
            rules.iter().map(|&rule| host.add(rule)).collect()
        };
        let request = scene.submit();
        let debugged = Debugged {
            scene,
            target,
            rules,
        };
        (debugged, request)
    }

    /// Lets time pass until something stops; `None`: nothing does.
    fn stop(&self) -> Option<Stopped> {
        let mut device = self.scene.rig.platform.device();
        device.run(10_000_000);
        device.debugger().unwrap().stopped()
    }

    fn go(&self, how: Go) -> Option<Stopped> {
        self.scene.rig.platform.device().debugger().unwrap().go(how);
        self.stop()
    }

    fn end(self, request: Frame) -> Vec<u32> {
        request.wait(FRAME).expect("the frame ends");
        request.release();
        self.scene.rig.platform.device().set_debugger(false);
        let words = self.target.words();
        drop(self.scene.rig.device.take_error_state());
        drop(self.target);
        self.scene.finish();
        words
    }
}

#[test]
fn every_unit_stops_at_the_first_instruction_and_steps_to_its_end() {
    let expected = undisturbed();
    for unit in [Unit::Vs, Unit::Sf, Unit::Wiz] {
        let (debugged, request) = Debugged::new(&[Rule::Dispatch(unit)]);
        let mut stopped = debugged.stop();
        let mut threads = 0;
        while let Some(Stopped {
            thread: Some((key, eu, slot)),
            why,
        }) = stopped
        {
            assert_eq!(why, Why::Rule(debugged.rules[0]));
            assert_eq!(
                key,
                ThreadKey {
                    unit,
                    ordinal: threads
                }
            );
            let (start, ip, executed) = {
                let device = debugged.scene.rig.platform.device();
                let info = device.threads();
                let info = info.iter().find(|info| info.key == key).unwrap();
                let ip = device.thread(eu, slot).unwrap().ip();
                (info.kernel, ip, info.instructions)
            };
            assert_eq!((start, 0), (ip, executed), "before the first instruction");
            threads += 1;
            // One by one; then in one go.
            let mut steps = 0;
            stopped = loop {
                let next = debugged.go(if threads % 2 == 0 {
                    Go::Finish
                } else {
                    Go::Step(1)
                });
                let next = next.expect("every way of going on stops again");
                let (of, ..) = next.thread.unwrap();
                assert_eq!(of, key);
                if next.why == Why::Ended {
                    break debugged.go(Go::Continue);
                }
                assert_eq!(next.why, Why::Stepped);
                steps += 1;
                assert!(steps < 1000, "the kernels are short");
            };
        }
        assert!(threads > 1, "{unit:?}");
        assert_eq!(debugged.end(request), expected, "{unit:?}");
    }
}

#[test]
fn vertices_objects_and_pixels_choose_their_threads() {
    let expected = undisturbed();
    let rules = [
        Rule::Vertex(4),
        Rule::Object(1),
        Rule::Subspan { x: 31, y: 30 },
    ];
    let subject = |debugged: &Debugged, stopped: Option<Stopped>| {
        let (key, ..) = stopped.unwrap().thread.unwrap();
        let infos = debugged.scene.rig.platform.device().threads();
        infos.iter().find(|info| info.key == key).unwrap().subject
    };
    // Vertices 4 and 5 share a thread, if 0 to 3 do in pairs.
    let (debugged, request) = Debugged::new(&rules[..1]);
    let stopped = debugged.stop();
    let at = subject(&debugged, stopped);
    assert_eq!(at, Subject::Vertices([Some(4), Some(5)]));
    assert_eq!(debugged.go(Go::Continue), None);
    assert_eq!(debugged.end(request), expected);
    // The second triangle: setup, then pixels only of it.
    let (debugged, request) = Debugged::new(&rules[1..2]);
    let mut stopped = debugged.stop();
    assert_eq!(subject(&debugged, stopped), Subject::Object(1));
    let mut pixels = 0;
    loop {
        stopped = debugged.go(Go::Continue);
        if stopped.is_none() {
            break;
        }
        assert_eq!(subject(&debugged, stopped), Subject::Pixels(1));
        pixels += 1;
    }
    assert!(pixels > 1);
    assert_eq!(debugged.end(request), expected);
    // A pixel of the second triangle, by any pixel of its subspan.
    let (debugged, request) = Debugged::new(&rules[2..]);
    let stopped = debugged.stop();
    assert_eq!(subject(&debugged, stopped), Subject::Pixels(1));
    assert_eq!(debugged.go(Go::Continue), None, "one thread has it");
    assert_eq!(debugged.end(request), expected);
}

#[test]
fn addresses_and_opcodes_stop_once_each_time_round() {
    let expected = undisturbed();
    let (debugged, request) = Debugged::new(&[Rule::Dispatch(Unit::Sf)]);
    let (_, eu, slot) = debugged.stop().unwrap().thread.unwrap();
    let start = {
        let device = debugged.scene.rig.platform.device();
        device.thread(eu, slot).unwrap().ip()
    };
    assert!(debugged.go(Go::Continue).is_some(), "the other triangle");
    assert_eq!(debugged.go(Go::Continue), None);
    assert_eq!(debugged.end(request), expected);
    // The second instruction of each setup thread; the send that ends it.
    for rule in [Rule::Address(start + 16), Rule::EndOfThread] {
        let (debugged, request) = Debugged::new(&[rule]);
        let mut stops = Vec::new();
        let mut stopped = debugged.stop();
        while let Some(stop) = stopped {
            stops.push(stop.thread.unwrap().0);
            stopped = debugged.go(Go::Continue);
        }
        let setup = stops.iter().filter(|key| key.unit == Unit::Sf).count();
        assert_eq!(setup, 2, "{rule:?}: {stops:?}");
        assert_eq!(debugged.end(request), expected);
    }
}

#[test]
fn watches_stop_after_the_change() {
    let expected = undisturbed();
    // The pixel (20, 28) lies in the second triangle.
    let mut scene = Scene::new();
    let (target, _) = frame(&mut scene);
    let addr = target.address + 28 * target.pitch as u32 + 20 * 4;
    drop(target);
    drop(scene);
    let (debugged, request) = Debugged::new(&[Rule::Memory { addr, bytes: 4 }]);
    let stop = debugged.stop().expect("the pixel is written");
    assert_eq!(stop.why, Why::Rule(debugged.rules[0]));
    assert_eq!(stop.thread.unwrap().0.unit, Unit::Wiz);
    let at = 28 * SIZE as usize + 20;
    assert_eq!(debugged.target.words()[at], expected[at]);
    assert_eq!(debugged.go(Go::Continue), None);
    assert_eq!(debugged.end(request), expected);
}

#[test]
fn a_reset_and_a_debugger_that_leaves_let_go() {
    let expected = undisturbed();
    let (debugged, request) = Debugged::new(&[Rule::Dispatch(Unit::Vs)]);
    assert!(debugged.stop().is_some());
    debugged.scene.rig.platform.device().set_debugger(false);
    request.wait(FRAME).expect("the frame ends");
    assert_eq!(debugged.end(request), expected);
    // A reset ends the thread; the rules stay.
    let (debugged, request) = Debugged::new(&[Rule::Dispatch(Unit::Vs)]);
    assert!(debugged.stop().is_some());
    let mut device = debugged.scene.rig.platform.device();
    device.reset();
    let host = device.debugger().unwrap();
    assert!(host.stopped().is_none());
    assert_eq!(
        host.rules(),
        [(debugged.rules[0], Rule::Dispatch(Unit::Vs))]
    );
    drop(device);
    drop(request);
    drop(debugged);
}
