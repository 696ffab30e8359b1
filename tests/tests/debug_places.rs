//! The debugger on devices with more threads than attention bits.
//!
//! PRM: volume 4, 3.4.1, 3.5; the numbers of EUs and threads are Mesa's (`intel_device_info.c`). Not covered: threads that
//! had begun before the session.

use std::collections::BTreeSet;

use crestline_tests::media::{self, BATCH, OUT, WRITE_LATER};
use crestline_tests::rig::{Rig, SHORT};
use driver::BatchDesc;
use driver::debug::{HaltMatch, ThreadUnit};
use kernel::error::code::EINVAL;
use kernel::time::Delta;
use ringbuf::media::Media as _;

/// Device time in which threads halt.
const LONG: Delta = Delta::from_millis(20);

/// More threads than any device holds at once.
const THREADS: u32 = 100;

/// All threads of a batch halt, and none goes on before no further one comes. How many stood at once.
fn stand(device: &str, version: u8, (limit, mask): (Option<u8>, Option<u16>)) -> usize {
    let rig = Rig::on(device);
    let (dwords, commands) = media::build(version, WRITE_LATER, THREADS, |batch, _| {
        for number in 0..THREADS {
            batch.object(media::ops(version), 0, &[number]).unwrap();
        }
    });
    let out = rig.object(OUT, 4096, &[]);
    let batch = rig.object(BATCH, dwords.len() * 4, &dwords);
    let session = rig.device.debug().unwrap();
    if limit.is_some() {
        session.limit_threads(limit).unwrap();
        session.restrict_threads(ThreadUnit::Ts, mask).unwrap();
    }
    session.halt_on_match(Some(HaltMatch::default()));
    let request = rig
        .device
        .submit(&BatchDesc {
            object: &batch,
            start: 0,
            len: commands,
        })
        .unwrap();
    let mut most = 0;
    let mut numbers = BTreeSet::new();
    loop {
        while session.wait(LONG).is_ok() {}
        let halted = session.halted().unwrap();
        if halted.is_empty() {
            break;
        }
        most = most.max(halted.len());
        let places: BTreeSet<_> = halted.iter().map(|thread| thread.place).collect();
        assert_eq!(places.len(), halted.len(), "{device}");
        for thread in halted {
            let registers = thread.read_registers().unwrap();
            assert!(numbers.insert(registers.grf[1][0]), "{device} {thread:?}");
            // sr0.0: the thread's slot and EU (PRM vol4 11.3.4.11).
            let place = (registers.state[0] as u8, (registers.state[0] >> 8) as u8);
            assert_eq!(place, (thread.place.slot, thread.place.eu), "{device}");
            thread.resume().unwrap();
        }
    }
    request.wait(SHORT).expect("the batch ends");
    assert_eq!(rig.device.reset_count(), 0, "{device}");
    assert_eq!(
        numbers.into_iter().collect::<Vec<_>>(),
        (0..THREADS).collect::<Vec<_>>()
    );
    for number in 0..THREADS {
        assert_eq!(
            out.read32(number as usize * 16).unwrap(),
            number,
            "{device}"
        );
    }
    drop((session, request, batch, out));
    rig.finish();
    most
}

#[test]
fn every_thread_is_seen_and_is_itself() {
    for (device, version) in [("gm965", 40), ("g45", 45), ("ironlake", 50)] {
        // EU_ATT has 32 bits, eight EUs with four threads each (3.5.2).
        assert_eq!(stand(device, version, (None, None)), 32, "{device}");
        assert_eq!(
            stand(device, version, (Some(2), Some(0x0703))),
            4,
            "{device}"
        );
        assert_eq!(
            stand(device, version, (Some(7), Some(0x00f0))),
            16,
            "{device}"
        );
    }
}

#[test]
fn a_unit_keeps_an_eu() {
    for device in ["gm965", "g45", "ironlake"] {
        let rig = Rig::on(device);
        let session = rig.device.debug().unwrap();
        for mask in [0, 0x0300, 0xff00] {
            let answer = session.restrict_threads(ThreadUnit::Wiz, Some(mask));
            assert_eq!(answer, Err(EINVAL), "{device} {mask:#x}");
        }
        assert_eq!(session.limit_threads(Some(8)), Err(EINVAL));
        drop(session);
        rig.finish();
    }
}
