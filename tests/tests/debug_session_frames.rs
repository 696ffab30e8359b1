//! The driver's debugger on frames, media threads, beside the model's own.
//!
//! PRM: volume 4, 3.4.1, 3.5, 3.6. The model's debugger (no part has one) is the independent witness: it reads the
//! registers where they are. Not covered: live programs.

use std::cell::RefCell;
use std::collections::BTreeMap;

use crestline_cli::replay::Session;
use crestline_tests::media::{self, OUT, WRITE};
use crestline_tests::rig::{Rig, SHORT};
use crestline_tests::scene::draw::Draw;
use crestline_tests::scene::surface::Surface;
use crestline_tests::scene::{FRAME, Scene, kernels};
use crestline_tests::scenes::{capture, options};
use driver::debug::{HaltMatch, HaltedThread, Registers, Stepped, Threads};
use eu::Thread;
use kernel::time::Delta;
use mmio_mock::Model;
use mmio_mock::intel::debug::host::{Go, Rule, Why};
use mmio_mock::intel::status::Unit;

const LONG: Delta = Delta::from_millis(20);

/// Every thread of a captured frame halts once; the first few of each unit are stepped to their ends.
fn disturbed(scene: &str, stepped: usize) {
    let capture = capture(scene);
    let picture = |debugged: bool| {
        let mut session =
            Session::new(options(&capture), capture.buffer_bytes() + (1 << 20)).unwrap();
        let counts = RefCell::new(BTreeMap::<u8, usize>::new());
        {
            let debugger = debugged.then(|| {
                let debugger = session.device().debug().unwrap();
                debugger.halt_on_match(Some(HaltMatch::default()));
                debugger
            });
            session
                .run_watched(&capture.execs[0], &|| {
                    let Some(debugger) = &debugger else { return };
                    while let Ok(threads) = debugger.wait(Delta::from_micros(200)) {
                        for thread in threads {
                            let mut counts = counts.borrow_mut();
                            let count = counts.entry(thread.ffid).or_default();
                            *count += 1;
                            if *count <= stepped {
                                let (_, left) = debugger.step_many(&thread, 20_000, LONG).unwrap();
                                assert!(left.is_none());
                            } else {
                                thread.resume().unwrap();
                            }
                            if *count == stepped * 4 {
                                // Enough: the others run.
                                debugger.halt_on_match(None);
                            }
                        }
                    }
                })
                .unwrap();
        }
        let picture = session.picture().unwrap();
        session.finish().unwrap();
        (picture, counts.into_inner())
    };
    let (with, counts) = picture(true);
    assert!(with == picture(false).0, "{counts:?}");
    assert!(counts.values().sum::<usize>() >= stepped * 4, "{counts:?}");
}

#[test]
fn gears_do_not_notice() {
    disturbed("g_gears", 12);
}

#[test]
fn a_textured_frame_does_not_notice() {
    disturbed("d_tex_nearest", 8);
}

#[test]
fn depth_does_not_notice() {
    disturbed("e_depth", 8);
}

fn scene() -> (Scene, Surface) {
    let mut scene = Scene::new();
    let target = scene.target(32, 32);
    let mut draw = Draw::flat(target.state());
    draw.perspective(32.0, 32.0);
    scene.vertices(
        &mut draw,
        &[
            [-1.0, -1.0, 0.5, 1.0, 1.0, 0.5, 0.25, 1.0],
            [1.0, -1.0, 0.5, 1.0, 0.5, 1.0, 1.0, 1.0],
            [-1.0, 1.0, 0.5, 1.0, 1.0, 0.25, 1.0, 1.0],
        ],
    );
    draw.topology(4, 3);
    scene.draw(&draw);
    (scene, target)
}

/// What the model's debugger sees, in the shape of the driver's.
fn seen(thread: &Thread) -> Registers {
    let view = thread.view();
    let m = view.masks;
    let mut mrf: [[u32; 8]; 16] = thread.mrf().try_into().unwrap();
    mrf[0] = [0; 8];
    let [a, b] = [&view.acc[..8], &view.acc[8..]].map(|half| half.try_into().unwrap());
    Registers {
        grf: thread.grf().try_into().unwrap(),
        mrf,
        address: view.address,
        acc: [a, b],
        flags: view.flag,
        masks: driver::debug::Masks {
            current: [m.amask, m.imask, m.lmask, m.cmask],
            stacks: [m.ims, m.lms, m.cms],
            depths: [m.imsd, m.lmsd],
        },
        control: [view.control[0], view.control[1], view.ip],
        state: [0; 3],
        notification: view.notification,
    }
}

/// Without what tells the two apart: exceptions and steps, FFTID's neighbours, the state register.
fn plain(mut registers: Registers) -> Registers {
    registers.control[0] &= 0x7fff;
    registers.control[1] &= 0x7fff;
    registers.state = [0; 3];
    registers
}

/// Registers before each instruction of the first thread of a unit, by the model's debugger.
fn witnessed(unit: Unit) -> Vec<Registers> {
    let (mut scene, target) = scene();
    {
        let mut device = scene.rig.platform.device();
        // Threads are numbered with the global debug enable on, INSTPM bit 4.
        device.write32(0x20c0, 0x0010_0010);
        device.set_debugger(true);
        device.debugger().unwrap().add(Rule::Dispatch(unit));
    }
    let frame = scene.submit();
    let mut out = Vec::new();
    let mut first = None;
    loop {
        let mut device = scene.rig.platform.device();
        device.run(10_000_000);
        let Some(stopped) = device.debugger().unwrap().stopped() else {
            panic!("no thread");
        };
        let Some((key, eu, slot)) = stopped.thread else {
            panic!("no thread");
        };
        if stopped.why == Why::Ended || *first.get_or_insert(key) != key {
            break;
        }
        out.push(seen(device.thread(eu, slot).unwrap()));
        device.debugger().unwrap().go(Go::Step(1));
    }
    scene.rig.platform.device().set_debugger(false);
    frame.wait(FRAME).unwrap();
    frame.release();
    drop(scene.rig.device.take_error_state());
    drop(target);
    scene.finish();
    out
}

/// The same through the system routine.
fn halted(ffid: u8) -> Vec<Registers> {
    let (mut scene, target) = scene();
    let session = scene.rig.device.debug().unwrap();
    session.halt_on_match(Some(HaltMatch::default()));
    let frame = scene.submit();
    let mut out = Vec::new();
    while let Ok(threads) = session.wait(LONG) {
        for thread in threads {
            if thread.ffid != ffid || !out.is_empty() {
                thread.resume().unwrap();
                continue;
            }
            let mut now = thread;
            loop {
                out.push(now.read_registers().unwrap());
                match session.step(&now, LONG).unwrap() {
                    Stepped::Halted(next) => now = next,
                    Stepped::Ended => break,
                }
            }
        }
    }
    frame.wait(FRAME).unwrap();
    frame.release();
    drop((session, target));
    scene.finish();
    out
}

#[test]
fn both_debuggers_see_the_same_registers() {
    for (unit, ffid) in [(Unit::Vs, 2), (Unit::Sf, 5), (Unit::Wiz, 6)] {
        let (there, here) = (witnessed(unit), halted(ffid));
        assert_eq!(there.len(), here.len(), "{unit:?}");
        assert!(here.len() > 2);
        for (n, (there, here)) in there.into_iter().zip(here).enumerate() {
            let (there, here) = (plain(there), plain(here));
            for nr in 0..128 {
                assert_eq!(there.grf[nr], here.grf[nr], "{unit:?} {n} g{nr}");
            }
            assert_eq!(there, here, "{unit:?} {n}");
        }
    }
}

const THREADS: u32 = 24;

#[test]
fn many_threads_stand_at_once() {
    let rig = Rig::new();
    let out = rig.object(OUT, 4096, &[]);
    let session = rig.device.debug().unwrap();
    session.set_threads(Threads::All);
    session.set_end_of_thread_breakpoint(true);
    session.halt_on_match(Some(HaltMatch::default()));
    let (object, request) = media::submit(&rig, WRITE, THREADS, THREADS);
    // All stand before their first instruction.
    while session.wait(LONG).is_ok() {}
    let standing = session.halted().unwrap();
    assert_eq!(standing.len(), THREADS as usize);
    let numbers = |threads: &[HaltedThread]| {
        let mut out: Vec<u32> = threads
            .iter()
            .map(|thread| thread.read_registers().unwrap().grf[1][0])
            .collect();
        out.sort_unstable();
        out
    };
    assert_eq!(numbers(&standing), (0..THREADS).collect::<Vec<_>>());
    // One gets another number, in another order than they came.
    for thread in standing.iter().rev() {
        let mut registers = thread.read_registers().unwrap();
        assert!(thread.reason.external_halt);
        if registers.grf[1][0] == 5 {
            registers.grf[1][0] = 6;
            thread.write_registers(&registers).unwrap();
        }
        thread.resume().unwrap();
    }
    // All of them again, before they end.
    while session.wait(LONG).is_ok() {}
    let standing = session.halted().unwrap();
    assert_eq!(standing.len(), THREADS as usize);
    assert!(standing.iter().all(|thread| thread.reason.breakpoint));
    session.resume_all().unwrap();
    request.wait(SHORT).unwrap();
    for number in 0..THREADS {
        let expected = if number == 5 { 0 } else { number };
        assert_eq!(out.read32(number as usize * 16).unwrap(), expected);
    }
    object.unbind();
    drop((session, standing, out, request, object));
    rig.finish();
}

/// The pixel kernel's first instruction is replaced while a thread stands before it: it gives the first eight of sixteen
/// pixels their red. The picture is the one of the new instruction, in that thread and in all later ones.
#[test]
fn a_changed_instruction_changes_the_picture() {
    let scene = || {
        let mut scene = Scene::new();
        let target = scene.target(64, 64);
        let mut draw = Draw::flat(target.state());
        let corners: Vec<[f32; 8]> = [[0.0, 0.0], [64.0, 0.0], [0.0, 64.0]]
            .iter()
            .map(|[x, y]| [*x, *y, 0.5, 1.0, 1.0, 0.25, 0.5, 1.0])
            .collect();
        scene.vertices(&mut draw, &corners);
        scene.draw(&draw);
        (scene, target)
    };
    let (mut there, target) = scene();
    there.run();
    let before = target.words();
    drop(target);
    there.finish();

    let (mut scene, target) = scene();
    let session = scene.rig.device.debug().unwrap();
    session.halt_on_match(Some(HaltMatch::default()));
    let frame = scene.submit();
    let mut changed = false;
    while let Ok(threads) = session.wait(LONG) {
        for thread in threads {
            if thread.ffid == 6 {
                // Half of the red that it was.
                let mov = "mov (8) m3<1>F 0.5F { align1 };";
                let inst = isa::parse::instruction(isa::Verx10::GEN40, mov).unwrap();
                let words = isa::encode(isa::Verx10::GEN40, &inst).unwrap();
                let old = session.write_instruction(thread.ip, words).unwrap();
                assert_eq!(old.to_vec(), kernels::wm_flat16()[..4]);
                assert_eq!(thread.instruction().unwrap(), words);
                session.halt_on_match(None);
                changed = true;
            }
            thread.resume().unwrap();
        }
    }
    assert!(changed);
    frame.wait(FRAME).unwrap();
    frame.release();
    let words = target.words();
    drop((session, target));
    scene.finish();
    let different: Vec<(u32, u32)> = words
        .iter()
        .copied()
        .zip(before.iter().copied())
        .filter(|(now, then)| now != then)
        .collect();
    for (now, then) in &different {
        assert_eq!((*now, *then), (0xff80_4080, 0xffff_4080));
    }
    // Half of the pixels, and more: threads at the edges have fewer than sixteen.
    let drawn = before.iter().filter(|word| **word != 0).count();
    assert!(different.len() * 2 >= drawn && different.len() < drawn);
}
