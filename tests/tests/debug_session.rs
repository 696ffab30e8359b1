//! The driver's debugger on the model: halts, registers, steps, breakpoints.
//!
//! PRM: volume 4, 3.4.1, 3.4.4, 3.5, 3.6, 11.3. Not covered: captured frames (debug_session_frames.rs).

use crestline_tests::debugged::{Debugged, LONG, triangle, undisturbed};
use crestline_tests::scene::draw::Draw;
use crestline_tests::scene::{FRAME, Scene};
use driver::debug::{Exceptions, HaltMatch, Stepped, Threads, Which};
use kernel::error::code::{ENXIO, ETIMEDOUT};

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

/// General state at another base, with an upper bound below the routine: addresses count from there.
#[test]
fn general_state_lies_elsewhere() {
    const BASE: u32 = 0x0200_0000;
    const HEAP: u32 = 0x0080_0000;
    let expected = undisturbed();
    let mut scene = Scene::new();
    let target = scene.target(64, 64);
    let draw = triangle(&mut scene, &target);
    scene.draw(&draw);
    // STATE_BASE_ADDRESS: general and surface state, and the bound of general state.
    let at = scene
        .commands
        .iter()
        .position(|word| *word == 0x6101_0004)
        .unwrap();
    scene.commands[at + 1] = BASE | 1;
    scene.commands[at + 2] = BASE | 1;
    scene.commands[at + 4] = (BASE + HEAP + 0x10_0000) | 1;
    let session = scene.rig.device.debug().unwrap();
    session.halt_on_match(Some(HaltMatch::default()));
    let frame = scene.submit();
    // What the pointers mean lies twice, once where they count from.
    let mut heap = vec![0; 0x8000];
    session.read_memory(HEAP, &mut heap[..4096]).unwrap();
    let mut pages = 1;
    while pages < 8
        && session
            .read_memory(
                HEAP + pages as u32 * 4096,
                &mut heap[pages * 4096..][..4096],
            )
            .is_ok()
    {
        pages += 1;
    }
    let copy = scene.rig.object(BASE + HEAP, heap.len(), &[]);
    copy.write(0, &heap).unwrap();
    let mut units = Vec::new();
    while let Ok(threads) = session.wait(LONG) {
        for thread in threads {
            units.push(thread.ffid);
            assert_eq!(session.instruction_base(), BASE);
            assert!(thread.ip >> 20 == HEAP >> 20, "{thread:?}");
            assert_eq!(thread.instruction().unwrap().len(), 4);
            let (_, left) = session.step_many(&thread, 1000, LONG).unwrap();
            assert!(left.is_none());
        }
    }
    assert!(units.contains(&5) && units.contains(&6), "{units:?}");
    frame.wait(FRAME).expect("the frame ends");
    frame.release();
    copy.unbind();
    assert!(target.words() == expected);
    drop((session, copy, target));
    scene.finish();
}

#[test]
fn an_illegal_instruction_halts_and_is_stepped_over() {
    let mut d = Debugged::new();
    d.scene.commands.clear();
    let mut draw = triangle(&mut d.scene, &d.target);
    // Opcode 0 in front of the kernel; unit state has no exceptions enabled.
    draw.wm_kernel.splice(0..0, [0, 0, 0, 0]);
    d.scene.draw(&draw);
    d.session.override_exceptions(Some(Exceptions {
        illegal_opcode: true,
        ..Exceptions::default()
    }));
    let frame = d.scene.submit();
    let mut halts = 0;
    while let Ok(threads) = d.session.wait(LONG) {
        for thread in threads {
            assert!(thread.reason.illegal_opcode, "{thread:?}");
            assert_eq!(thread.ffid, 6);
            thread.write_ip(thread.ip + 16).unwrap();
            thread.resume().unwrap();
            halts += 1;
        }
    }
    assert!(halts > 10);
    frame.wait(FRAME).expect("the frame ends");
    frame.release();
    d.end(&undisturbed());
}

/// A step leaves breakpoints as they were: one that comes later still stops the thread.
#[test]
fn a_step_takes_no_later_breakpoint_away() {
    let mut d = Debugged::new();
    d.session.set_threads(Threads::All);
    d.session.halt_next();
    let frame = d.scene.submit();
    let thread = d.first();
    let Stepped::Halted(thread) = d.session.step(&thread, LONG).unwrap() else {
        panic!("it ended");
    };
    let next = thread.ip + 16;
    d.session
        .set_address_breakpoint(Which::Second, Some(next))
        .unwrap();
    thread.resume().unwrap();
    let thread = d.first();
    assert_eq!(thread.ip, next);
    assert!(thread.reason.breakpoint);
    d.session
        .set_address_breakpoint(Which::Second, None)
        .unwrap();
    thread.resume().unwrap();
    frame.wait(FRAME).expect("the frame ends");
    frame.release();
    d.end(&undisturbed());
}
