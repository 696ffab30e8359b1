//! The driver's debugger on the model: halts, registers, steps, breakpoints.
//!
//! PRM: volume 4, 3.4.1, 3.4.4, 3.5, 3.6, 11.3. Not covered: captured frames (debug_session_frames.rs).
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "tests")]

use crestline_tests::scene::draw::Draw;
use crestline_tests::scene::surface::Surface;
use crestline_tests::scene::{FRAME, Scene};
use driver::debug::{DebugSession, HaltedThread, Stepped, Threads, Which};
use kernel::error::code::{EBUSY, ENXIO, ETIMEDOUT};
use kernel::time::Delta;
use regs::gen40::reg;

const LONG: Delta = Delta::from_millis(20);

fn read(scene: &Scene, offset: u32) -> u32 {
    scene.rig.platform.device().read32(offset)
}

fn triangle(scene: &mut Scene, target: &Surface) -> Draw {
    let mut draw = Draw::flat(target.state());
    let corners: Vec<[f32; 8]> = [[0.0, 0.0], [64.0, 0.0], [0.0, 64.0]]
        .iter()
        .map(|[x, y]| [*x, *y, 0.5, 1.0, 0.75, 0.25, 0.5, 1.0])
        .collect();
    scene.vertices(&mut draw, &corners);
    draw
}

/// The picture that nobody disturbs.
fn undisturbed() -> Vec<u32> {
    let mut scene = Scene::new();
    let target = scene.target(64, 64);
    let draw = triangle(&mut scene, &target);
    scene.draw(&draw);
    scene.run();
    let words = target.words();
    drop(target);
    scene.finish();
    words
}

struct Debugged {
    scene: Scene,
    target: Surface,
    session: DebugSession,
}

impl Debugged {
    fn new() -> Self {
        let mut scene = Scene::new();
        let target = scene.target(64, 64);
        let draw = triangle(&mut scene, &target);
        scene.draw(&draw);
        let session = scene.rig.device.debug().unwrap();
        Debugged {
            scene,
            target,
            session,
        }
    }

    fn first(&self) -> HaltedThread {
        let mut threads = self.session.wait(LONG).unwrap();
        assert_eq!(threads.len(), 1);
        threads.remove(0)
    }

    fn end(self, words: &[u32]) {
        assert!(self.target.words() == words);
        drop(self.session);
        drop(self.target);
        self.scene.finish();
    }
}

#[test]
fn the_first_thread_halts_steps_and_goes_on() {
    let mut d = Debugged::new();
    d.session.halt_next();
    let frame = d.scene.submit();
    let thread = d.first();
    // The setup thread of the only triangle.
    assert_eq!(thread.ffid, 5, "{thread:?}");
    assert!(thread.reason.external_halt);
    let registers = thread.read_registers().unwrap();
    assert_eq!(registers.ip(), thread.ip);
    let mut now = thread;
    let mut steps = 0;
    loop {
        match d.session.step(&now, LONG).unwrap() {
            Stepped::Halted(next) => {
                assert!(next.reason.breakpoint);
                assert_ne!(next.number, now.number);
                assert_eq!(now.read_registers(), Err(ENXIO), "it has gone on");
                now = next;
            }
            Stepped::Ended => break,
        }
        steps += 1;
    }
    assert!(steps > 3, "{steps}");
    frame.wait(FRAME).expect("the frame ends");
    frame.release();
    d.end(&undisturbed());
}
