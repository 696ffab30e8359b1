//! The driver's debugger on the model: halts, registers, steps, breakpoints.
//!
//! PRM: volume 4, 3.4.1, 3.4.4, 3.5, 3.6, 11.3. Not covered: captured frames (debug_session_frames.rs).
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "tests")]

use crestline_tests::scene::draw::Draw;
use crestline_tests::scene::surface::Surface;
use crestline_tests::scene::{FRAME, Scene};
use driver::debug::{DebugSession, HaltMatch, HaltedThread, Stepped, Threads, Which};
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

/// VS, SF and pixel threads of a scene: each is stepped to its end, and the picture is as without.
#[test]
fn every_thread_steps_to_its_end() {
    let scene = |debugged: bool| {
        let mut scene = Scene::new();
        let target = scene.target(64, 64);
        let mut draw = Draw::flat(target.state());
        draw.perspective(64.0, 64.0);
        scene.vertices(
            &mut draw,
            &[
                [-1.0, -1.0, 0.5, 1.0, 1.0, 0.5, 0.25, 1.0],
                [-0.75, -1.0, 0.5, 1.0, 0.5, 1.0, 1.0, 1.0],
                [-1.0, -0.75, 0.5, 1.0, 1.0, 0.25, 1.0, 1.0],
            ],
        );
        draw.topology(4, 3);
        scene.draw(&draw);
        let mut units = Vec::new();
        if debugged {
            let session = scene.rig.device.debug().unwrap();
            session.set_threads(Threads::All);
            let everything = HaltMatch::default();
            session.halt_on_match(Some(everything));
            let frame = scene.submit();
            while let Ok(threads) = session.wait(LONG) {
                for thread in threads {
                    units.push(thread.ffid);
                    let (steps, left) = session.step_many(&thread, 10_000, LONG).unwrap();
                    assert!(steps > 1 && left.is_none(), "{steps} {left:?}");
                }
            }
            frame.wait(FRAME).expect("the frame ends");
            frame.release();
        } else {
            scene.run();
        }
        let words = target.words();
        drop(target);
        scene.finish();
        (words, units)
    };
    let (words, units) = scene(true);
    assert!(words == scene(false).0);
    assert!(words.iter().any(|&w| w != 0));
    for ffid in [2, 5, 6] {
        assert!(units.contains(&ffid), "{units:?}");
    }
}

#[test]
fn breakpoints_stop_again_and_again() {
    let mut d = Debugged::new();
    d.session.set_threads(Threads::All);
    // send, on these parts 31h: at least one in each thread.
    d.session
        .set_opcode_breakpoint(Which::First, Some(0x31))
        .unwrap();
    let frame = d.scene.submit();
    let mut stops = 0;
    while let Ok(threads) = d.session.wait(LONG) {
        for thread in threads {
            assert!(thread.reason.breakpoint && !thread.reason.external_halt);
            let words = thread.instruction().unwrap();
            assert_eq!(words[0] & 0x7f, 0x31);
            stops += 1;
            thread.resume().unwrap();
            assert_eq!(thread.resume(), Err(ENXIO));
        }
    }
    frame.wait(FRAME).expect("the frame ends");
    assert!(stops > 30, "{stops}");
    frame.release();
    d.end(&undisturbed());
}

#[test]
fn a_session_that_ends_lets_everything_go() {
    let mut d = Debugged::new();
    d.session.set_threads(Threads::All);
    d.session.set_end_of_thread_breakpoint(true);
    assert_eq!(d.scene.rig.device.debug().err(), Some(EBUSY));
    let frame = d.scene.submit();
    let thread = d.first();
    assert!(thread.read_registers().is_ok());
    let Debugged {
        scene,
        target,
        session,
    } = d;
    drop(session);
    assert_eq!(thread.read_registers(), Err(ENXIO));
    frame.wait(FRAME).expect("the frame ends");
    for register in [
        reg::TD_CTL.offset(),
        reg::ISC_L1CA_BP_OPC1.offset(),
        reg::INSTPM.offset(),
        reg::EU_ATT.offset(),
    ] {
        assert_eq!(read(&scene, register), 0, "{register:x}");
    }
    frame.release();
    assert!(target.words() == undisturbed());
    // There can be another one.
    drop(scene.rig.device.debug().unwrap());
    drop(target);
    scene.finish();
}

#[test]
fn a_thread_that_never_halts_is_an_error() {
    let mut d = Debugged::new();
    d.session
        .set_address_breakpoint(Which::First, Some(0x0bad_0000))
        .unwrap();
    d.session.set_threads(Threads::All);
    assert!(
        d.session
            .set_address_breakpoint(Which::Second, Some(8))
            .is_err()
    );
    let frame = d.scene.submit();
    assert_eq!(d.session.wait(LONG).err(), Some(ETIMEDOUT));
    frame.wait(FRAME).expect("the frame ends");
    frame.release();
    d.end(&undisturbed());
}

#[test]
fn standing_still_is_no_hang_while_a_thread_is_halted() {
    let mut d = Debugged::new();
    let device = d.scene.rig.device.clone();
    device.set_hang_check_period(Delta::from_millis(1));
    d.session.halt_next();
    let frame = d.scene.submit();
    let pass = |periods: u32| {
        for _ in 0..periods {
            kernel::time::delay(device.uncore().clock(), Delta::from_millis(2));
            device.watch();
        }
    };
    // Nobody has looked yet whether somebody waits.
    pass(30);
    let thread = d.first();
    pass(30);
    assert_eq!(device.reset_count(), 0);
    thread.resume().unwrap();
    frame.wait(FRAME).expect("the frame ends");
    frame.release();
    // It comes back.
    d.session.set_threads(Threads::None);
    let endless = crestline_tests::scene::kernels::endless();
    let mut draw = triangle(&mut d.scene, &d.target);
    draw.wm_kernel = endless;
    d.scene.draw(&draw);
    let frame = d.scene.submit();
    pass(80);
    assert_eq!(device.reset_count(), 1);
    drop(device.take_error_state());
    frame.release();
    let Debugged {
        scene,
        target,
        session,
    } = d;
    drop((session, target, draw, thread, device));
    scene.finish_after_fault();
}

#[test]
fn a_system_routine_of_the_client_gives_way_and_comes_back() {
    let mut d = Debugged::new();
    // STATE_SIP 0, as crocus does; the draw comes again behind it.
    d.scene.commands.clear();
    d.scene.commands.extend([0x6102_0000, 0x0000_1230]);
    let draw = triangle(&mut d.scene, &d.target);
    d.scene.draw(&draw);
    d.session.halt_next();
    let frame = d.scene.submit();
    let thread = d.first();
    let mut word = [0; 4];
    // The batch lies at 1 MiB.
    d.session.read_memory(0x0010_0004, &mut word).unwrap();
    assert_ne!(u32::from_le_bytes(word), 0x1230);
    thread.resume().unwrap();
    frame.wait(FRAME).expect("the frame ends");
    d.session.halted().unwrap();
    d.session.read_memory(0x0010_0004, &mut word).unwrap();
    assert_eq!(u32::from_le_bytes(word), 0x1230);
    frame.release();
    d.end(&undisturbed());
}
