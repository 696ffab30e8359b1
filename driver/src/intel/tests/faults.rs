//! Hangs and resets on plain memory: who is to blame, what runs again, who looks.
//!
//! Expected orders are those of i915 `intel_reset.c` and `intel_ring_submission.c`. Not covered: what batches do.
use alloc::vec;
use kernel::sync::{AtomicUsize, Ordering};

use super::*;
use crate::core::client::Client;
use crate::intel::context::{Context, Parameters};
use crate::intel::timeline::Uses;

/// A platform whose reset works; `finish` sets in with the reset when `revive`.
pub(super) fn resettable(revive: bool) -> Arc<Fake> {
    let fake = fake();
    fake.on_config_write(Box::new(move |fake, offset, value| {
        if offset == 0xc0 {
            fake.set_config(0xc0, (value as u8 & 1) * 3);
            if revive {
                fake.on_write(Box::new(finish));
            }
        }
    }));
    fake
}

/// Lets the device store a number, and its parser pass the commands that do so.
pub(crate) fn store_seqno(fake: &Fake, seqno: u32) {
    let at = |at: u32| read_dword(fake, fake.peek(START) + (at & 0x3fff));
    let crumb = [0x1080_0001, 0x100, seqno, 0x0100_0000];
    let is_crumb = |from: &u32| {
        (0..)
            .zip(crumb)
            .all(|(index, word)| at(from + index * 4) == word)
    };
    if let Some(from) = (0..0x4000).step_by(4).find(is_crumb) {
        fake.set(HEAD, (from + 16) & 0x3fff);
    }
    let hws = u64::from(fake.peek(HWS_PGA));
    DmaAllocator::write(fake, hws + 0x100, &seqno.to_le_bytes()).unwrap();
}

fn context(recoverable: bool) -> Arc<Context> {
    let client = Arc::new(Client::default());
    client.identify(42, false, || "glxgears".into());
    let parameters = Parameters {
        recoverable,
        ..Parameters::default()
    };
    Arc::new(Context::new(&client, parameters))
}

fn run(dev: &Device, context: &Arc<Context>, object: &Object) -> Arc<crate::Fence> {
    let uses = Uses {
        objects: vec![object.clone()],
        capture: vec![object.clone()],
        context: Some(Arc::clone(context)),
        image: None,
        ..Uses::default()
    };
    let address = object.address().unwrap();
    dev.engine().submit(&uses, address).unwrap()
}

/// The ring from its start on.
fn ring(fake: &Fake, dwords: u32) -> Vec<u32> {
    let start = fake.peek(START);
    (0..dwords)
        .map(|at| read_dword(fake, start + at * 4))
        .collect()
}

#[test]
fn the_innocent_run_again_and_the_banned_are_skipped() {
    let fake = resettable(false);
    let dev = probe(&fake);
    let object = batch(&dev);
    let (guilty, innocent) = (context(false), context(true));
    let fences = [
        run(&dev, &innocent, &object),
        run(&dev, &guilty, &object),
        run(&dev, &guilty, &object),
        run(&dev, &innocent, &object),
        run(&dev, &guilty, &object),
        run(&dev, &innocent, &object),
    ];
    store_seqno(&fake, 1);
    dev.reset().unwrap();
    let status = || fences.each_ref().map(|fence| fence.status());
    let eio = Some(Err(EIO));
    // The third is banned and the next, so that it need not wait; the fifth waits for its turn.
    assert_eq!(status(), [Some(Ok(())), eio, eio, None, None, None]);
    assert!(guilty.is_banned() && !innocent.is_banned());
    assert_eq!(
        (guilty.reset_stats(), innocent.reset_stats()),
        ((1, 0), (0, 2))
    );
    // 100 dwords, 74 without batch and flushes, 100.
    assert_eq!((fake.peek(HEAD), fake.peek(TAIL)), (0, 274 * 4));
    let words = ring(&fake, 274);
    assert_eq!(words[22..24], [0x1880_0180, 0x1000], "the batch");
    assert_eq!(words[96..100], [0x1080_0001, 0x100, 4, 0x0100_0000]);
    assert_eq!(words[100..104], [0x0200_0000, 0x1080_0001, 0x200, 5]);
    assert_eq!(words[170..174], [0x1080_0001, 0x100, 5, 0x0100_0000]);
    assert_eq!(words[270..], [0x1080_0001, 0x100, 6, 0x0100_0000]);
    store_seqno(&fake, 5);
    dev.timeline().retire();
    assert_eq!(status()[3..], [Some(Ok(())), eio, None]);
    // The ring goes on behind what was replayed.
    run(&dev, &innocent, &object);
    assert_eq!(fake.peek(TAIL), 374 * 4);
    store_seqno(&fake, 7);
    dev.timeline().retire();
    assert_eq!(status()[5], Some(Ok(())));
}

#[test]
fn a_context_that_recovers_goes_on() {
    let fake = resettable(true);
    let dev = probe(&fake);
    let object = batch(&dev);
    let guilty = context(true);
    let fences = [run(&dev, &guilty, &object), run(&dev, &guilty, &object)];
    let told = Arc::new(AtomicUsize::new(0));
    for fence in &fences {
        let told = Arc::clone(&told);
        fence.subscribe(Box::new(move || {
            told.fetch_add(1, Ordering::Relaxed);
        }));
    }
    dev.reset().unwrap();
    assert_eq!(fences[0].status(), Some(Err(EIO)));
    assert_eq!(fences[1].status(), Some(Ok(())));
    assert_eq!(told.load(Ordering::Relaxed), 2);
    assert_eq!(guilty.reset_stats(), (1, 1));
}

#[test]
fn hangs_are_found_while_nobody_waits() {
    let fake = resettable(true);
    let dev = probe(&fake);
    let object = batch(&dev);
    let guilty = context(true);
    let fence = run(&dev, &guilty, &object);
    let next = run(&dev, &context(true), &object);
    let tick = |seconds: u64| {
        for _ in 0..seconds * 10 {
            dev.watch();
            fake.relax(Delta::from_millis(100));
        }
    };
    {
        let suspension = dev.suspend_hang_check();
        tick(60);
        assert_eq!(dev.reset_count(), 0, "a debugger looks at it");
        drop(suspension);
    }
    // Pixels come out, for most of the minute that others wait.
    for pixel in 1..50 {
        fake.set(0x2348, pixel);
        tick(1);
    }
    assert_eq!(dev.reset_count(), 0);
    tick(6);
    assert_eq!(dev.reset_count(), 1);
    assert_eq!(fence.status(), Some(Err(EIO)));
    assert_eq!(next.status(), Some(Ok(())));
    let text = dev.error_text().unwrap();
    assert!(
        text.starts_with("GPU HANG: ecode 4:1:00000000, in glxgears [42]\n"),
        "{text}"
    );
    for line in [
        "Active process (on ring rcs0): glxgears [42]",
        "PCI ID: 0x2a02",
        "  START: 0x07ffb000",
        "  TAIL:  0x00000320 [0x00000190, 0x00000190]",
        "  batch: [0x00000000_00001000, 0x00000000_00002000]",
        "  fence[15] = 00000000",
        "  hung: 1",
        "  Active context: glxgears[42] prio 0, guilty 0 active 0, runtime total 0ns, avg 0ns",
        "rcs0 --- HW Status = 0x00000000 10000000",
        "rcs0 --- batch = 0x00000000 00001000",
        "rcs0 --- user = 0x00000000 00001000",
        "rcs0 --- ring = 0x00000000 07ffb000",
    ] {
        assert!(text.lines().any(|other| other == line), "{line}");
    }
    // 05000000h in base 85, most significant digit first, then zeros to the end of the page.
    let (_, batch) = text
        .split_once("--- batch = 0x00000000 00001000\n")
        .unwrap();
    let batch = batch.lines().next().unwrap();
    let mut value = 0x0500_0000_u32;
    let mut digits = [0; 5];
    for digit in digits.iter_mut().rev() {
        *digit = b'!' + (value % 85) as u8;
        value /= 85;
    }
    assert_eq!(batch.as_bytes()[1..6], digits);
    assert_eq!(batch.len(), 1 + 5 + 1023);
    // Writing to the file makes room.
    assert!(dev.take_error_state().is_some());
    assert_eq!(dev.error_text(), None);
}

#[test]
fn contexts_that_want_no_error_state_get_none() {
    let fake = resettable(true);
    let dev = probe(&fake);
    let object = batch(&dev);
    let quiet = context(true);
    quiet.set_parameters(Parameters {
        no_error_capture: true,
        ..Parameters::default()
    });
    let fence = run(&dev, &quiet, &object);
    for _ in 0..12 {
        dev.watch();
        fake.relax(Delta::from_millis(500));
    }
    assert_eq!(fence.status(), Some(Err(EIO)));
    assert!(dev.error_state().is_none());
}

#[test]
fn a_failed_reset_wedges_the_engine_until_one_succeeds() {
    let fake = fake();
    let dev = probe(&fake);
    let object = batch(&dev);
    let innocent = context(true);
    let lost = [run(&dev, &innocent, &object), run(&dev, &innocent, &object)];
    assert!(dev.reset().is_err());
    assert_eq!(lost.map(|fence| fence.status()), [Some(Err(EIO)); 2]);
    assert_eq!(innocent.reset_stats(), (0, 0), "nobody is to blame");
    assert_eq!(dev.submit(&desc(&object)).err(), Some(EIO));
    fake.on_config_write(Box::new(|fake, offset, value| {
        if offset == 0xc0 {
            fake.set_config(0xc0, (value as u8 & 1) * 3);
        }
    }));
    dev.reset().unwrap();
    fake.on_write(Box::new(finish));
    assert_eq!(dev.submit(&desc(&object)).unwrap().wait(MS), Ok(()));
    assert_eq!(dev.remove(), Ok(()));
}

#[test]
fn a_full_ring_waits_for_as_long_as_it_gets_on() {
    let fake = resettable(true);
    let dev = probe(&fake);
    let object = batch(&dev);
    // 40 requests of 400 bytes are 16000; one more does not fit 16384 less a cache line.
    for _ in 0..40 {
        dev.submit(&desc(&object)).unwrap();
    }
    store_seqno(&fake, 20);
    assert_eq!(dev.submit(&desc(&object)).unwrap().seqno(), 41);
    // Nothing moves any more: the device is reset, all but one run again, and there is room.
    let before = fake.now();
    for _ in 42..61 {
        dev.submit(&desc(&object)).unwrap();
    }
    let request = dev.submit(&desc(&object)).unwrap();
    assert!((fake.now() - before) >= Delta::from_secs(2));
    assert_eq!(request.wait(MS), Ok(()));
    assert_eq!((request.seqno(), dev.reset_count()), (61, 1));
}
