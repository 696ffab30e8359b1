//! The driver's debugger on the model: batches of clients, resets, ends.
//!
//! PRM: volume 4, 3.4.1, 3.5; volume 2 (STATE_SIP). Not covered: captured frames (debug_session_frames.rs).

use crestline_tests::debugged::{Debugged, LONG, triangle, undisturbed};
use crestline_tests::scene::registers::read;
use crestline_tests::scene::{FRAME, Frame, Scene};
use driver::debug::{HaltMatch, HaltedThread, Threads};
use kernel::error::code::{EBUSY, ENXIO};
use kernel::time::Delta;
use mmio_mock::Model;
use regs::gen40::reg;

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

/// A frame whose batch sets a system routine of the client's (crocus sets one at 0), and its thread that has halted.
fn client_routine() -> (Debugged, Frame, HaltedThread) {
    let mut d = Debugged::new();
    // The draw comes again behind it.
    d.scene.commands.clear();
    d.scene.commands.extend([0x6102_0000, 0x0000_1230]);
    let draw = triangle(&mut d.scene, &d.target);
    d.scene.draw(&draw);
    d.session.halt_next();
    let frame = d.scene.submit();
    let thread = d.first();
    (d, frame, thread)
}

/// The address that its batch, which lies at 1 MiB, sets.
fn written(d: &Debugged) -> u32 {
    let mut word = [0; 4];
    d.session.read_memory(0x0010_0004, &mut word).unwrap();
    u32::from_le_bytes(word)
}

#[test]
fn a_system_routine_of_the_client_gives_way_and_comes_back() {
    let (d, frame, thread) = client_routine();
    assert_ne!(written(&d), 0x1230);
    thread.resume().unwrap();
    frame.wait(FRAME).expect("the frame ends");
    d.session.halted().unwrap();
    assert_eq!(written(&d), 0x1230);
    frame.release();
    d.end(&undisturbed());
}

/// Whoever reads a batch of an idle device, as recorders do, reads what the client wrote; nobody asks the session.
#[test]
fn an_idle_device_has_batches_as_clients_wrote_them() {
    let (d, frame, thread) = client_routine();
    // Until then the batch has not run to its end.
    assert!(d.scene.rig.device.wait_idle(LONG).is_err());
    assert_ne!(written(&d), 0x1230);
    thread.resume().unwrap();
    d.scene.rig.device.wait_idle(FRAME).expect("idle");
    assert_eq!(written(&d), 0x1230);
    frame.release();
    d.end(&undisturbed());
}

/// A batch that goes on in another one, which sets a system routine.
#[test]
fn chained_batches_are_followed() {
    const SECOND: u32 = 0x0400_0000;
    let expected = undisturbed();
    let mut scene = Scene::new();
    let target = scene.target(64, 64);
    let draw = triangle(&mut scene, &target);
    scene.draw(&draw);
    let mut rest = std::mem::take(&mut scene.commands);
    rest.splice(0..0, [0x6102_0000, 0x0000_4560]);
    rest.extend([0x0500_0000, 0]);
    let second = scene.rig.object(SECOND, rest.len() * 4, &rest);
    // MI_BATCH_BUFFER_START.
    scene.commands = vec![0x6102_0000, 0x0000_7890, 0x1880_0180, SECOND];
    let session = scene.rig.device.debug().unwrap();
    session.halt_next();
    let frame = scene.submit();
    let threads = session.wait(LONG).unwrap();
    let ours = second.read32(4).unwrap();
    assert_ne!(ours, 0x4560);
    assert_eq!(ours, scene.rig.device.debug_bases().unwrap().system_routine);
    threads[0].resume().unwrap();
    frame.wait(FRAME).expect("the frame ends");
    drop(session);
    assert_eq!(second.read32(4).unwrap(), 0x4560);
    frame.release();
    second.unbind();
    assert!(target.words() == expected);
    drop((second, target, threads));
    scene.finish();
}

/// After a session the next batch has the client's routine again.
#[test]
fn the_routine_of_the_client_is_set_again() {
    let mut d = Debugged::new();
    d.scene.commands.splice(0..0, [0x6102_0000, 0x0000_4560]);
    d.scene.run();
    let Debugged {
        mut scene,
        target,
        session,
    } = d;
    drop(session);
    let draw = triangle(&mut scene, &target);
    scene.draw(&draw);
    // INSTPM: base addresses latch.
    scene
        .rig
        .platform
        .device()
        .write32(reg::INSTPM.offset(), 0x0010_0010);
    scene.run();
    assert_eq!(
        scene.rig.device.debug_bases().unwrap().system_routine,
        0x4560
    );
    scene
        .rig
        .platform
        .device()
        .write32(reg::INSTPM.offset(), 0x0010_0000);
    drop(target);
    scene.finish();
}

#[test]
fn a_reset_takes_halted_threads_away() {
    let mut d = Debugged::new();
    d.session.halt_next();
    let frame = d.scene.submit();
    let thread = d.first();
    d.scene.rig.device.reset().unwrap();
    assert!(d.session.halted().unwrap().is_empty());
    assert_eq!(thread.resume(), Err(ENXIO));
    assert!(frame.wait(FRAME).is_err());
    frame.release();
    // The next frame is as good as the first, and can be halted.
    let draw = triangle(&mut d.scene, &d.target);
    d.scene.draw(&draw);
    d.session.halt_next();
    let frame = d.scene.submit();
    d.first().resume().unwrap();
    frame.wait(FRAME).expect("the frame ends");
    frame.release();
    drop((thread, draw));
    d.end(&undisturbed());
}

#[test]
fn a_device_that_goes_ends_the_session() {
    let mut d = Debugged::new();
    d.session.halt_next();
    let frame = d.scene.submit();
    let thread = d.first();
    let Debugged {
        scene,
        target,
        session,
    } = d;
    let device = scene.rig.device.clone();
    device.remove().unwrap();
    assert!(session.wait(LONG).is_err());
    assert!(
        thread.read_registers().is_ok(),
        "the save area is still there"
    );
    assert!(frame.wait(LONG).is_err());
    frame.release();
    drop((session, target, thread));
    drop(scene);
}

/// A session that ends while a thread is anywhere in the routine leaves nobody behind.
#[test]
fn a_session_may_end_at_any_time() {
    let expected = undisturbed();
    for ticks in (0..3000).step_by(170) {
        let mut d = Debugged::new();
        d.session.halt_on_match(Some(HaltMatch::default()));
        let frame = d.scene.submit();
        d.scene.rig.platform.run(ticks);
        let Debugged {
            scene,
            target,
            session,
        } = d;
        drop(session);
        frame.wait(FRAME).expect("the frame ends");
        frame.release();
        assert!(target.words() == expected, "{ticks}");
        drop(target);
        scene.finish();
    }
}

/// Early steppings take the routine's messages only with a bit of SVG_WORK_CTL, which the session sets and clears.
#[test]
fn early_steppings_have_sessions_too() {
    let early = mmio_mock::intel::r#gen::DEVICES
        .iter()
        .find(|d| d.stateless_gated);
    let mut scene = Scene::on(early.unwrap().name);
    let target = scene.target(64, 64);
    let draw = triangle(&mut scene, &target);
    scene.draw(&draw);
    let session = scene.rig.device.debug().unwrap();
    session.halt_next();
    let frame = scene.submit();
    let thread = session.wait(LONG).unwrap().remove(0);
    session.step_many(&thread, 1000, LONG).unwrap();
    frame.wait(FRAME).expect("the frame ends");
    assert_eq!(read(&scene, reg::SVG_WORK_CTL.offset()), 1 << 4);
    drop((session, thread));
    assert_eq!(read(&scene, reg::SVG_WORK_CTL.offset()), 0);
    frame.release();
    assert!(target.words() == undisturbed());
    drop(target);
    scene.finish();
}
