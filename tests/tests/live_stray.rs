//! What becomes of requests when a batch writes over the number in the status page.
//!
//! i915 `I915_GEM_HWS_SEQNO`: requests whose number the page has passed count as ended. A store of a batch that no filter has
//! seen, or a blit over the ring, can put any number there.

use crestline_tests::rig::Rig;
use driver::{BatchDesc, Object, Request};
use kernel::error::code::EIO;
use kernel::platform::Platform;
use kernel::time::Delta;

const END: u32 = 0x0a << 23;
const STORE_DWORD: u32 = 0x20 << 23 | 1 << 22 | 2;
const STORE_INDEX: u32 = 0x21 << 23 | 1;
/// Byte offset of the number (`I915_GEM_HWS_SEQNO_ADDR`).
const SEQNO: u32 = 0x40 * 4;
const UNKNOWN: u32 = 0x7fff_0000;
const DATA: u32 = 0x0040_0000;

/// A batch that puts a number into the status page and at which the parser stops.
fn forge(rig: &Rig, number: u32) -> (Object, Request) {
    let batch = rig.object(0x0020_0000, 4096, &[STORE_INDEX, SEQNO, number, UNKNOWN]);
    let request = trusted(rig, &batch);
    (batch, request)
}

/// Submits a batch that may write what the driver keeps for itself. Those of clients may not (`live_guard.rs`), but no part of
/// silicon of these families stops them.
fn trusted(rig: &Rig, batch: &Object) -> Request {
    let desc = BatchDesc {
        object: batch,
        start: 0,
        len: 4096,
    };
    rig.device.submit_trusted(&desc).unwrap()
}

fn pass(rig: &Rig, steps: u32) {
    for _ in 0..steps {
        rig.device.watch();
        rig.platform.clock().relax(Delta::from_millis(100));
    }
}

#[test]
fn a_number_that_was_never_submitted_ends_no_request() {
    for device in ["gm965", "g45", "ironlake"] {
        let rig = Rig::on(device);
        let data = rig.object(DATA, 4096, &[0]);
        let innocent = rig.object(0x0030_0000, 4096, &[STORE_DWORD, 0, DATA, 7, END]);
        let (forged, guilty) = forge(&rig, 0x3000_0000);
        let behind = rig.submit(&innocent);
        pass(&rig, 70);
        assert_eq!(guilty.wait(Delta::ZERO), Err(EIO), "{device}");
        assert_eq!(behind.wait(Delta::ZERO), Ok(()), "{device}");
        assert_eq!(data.read32(0), Ok(7), "{device}");
        assert_eq!(rig.device.reset_count(), 1);
        let later = rig.submit(&innocent);
        assert!(!later.is_complete(), "it is behind the forged number, too");
        pass(&rig, 1);
        assert_eq!(later.wait(Delta::ZERO), Ok(()));
        drop((data, innocent, forged));
        rig.finish_after_fault();
    }
}

#[test]
fn an_engine_at_work_without_a_request_is_reset_and_the_next_request_is_not_blamed() {
    for device in ["gm965", "g45", "ironlake"] {
        let rig = Rig::on(device);
        let data = rig.object(DATA, 4096, &[0]);
        let innocent = rig.object(0x0030_0000, 4096, &[STORE_DWORD, 0, DATA, 7, END]);
        let first = rig.submit(&innocent);
        first.wait(Delta::from_millis(10)).unwrap();
        data.write_dwords(0, &[0]).unwrap();
        // Its own number: the request counts as ended, and the parser stands in it.
        let (forged, guilty) = forge(&rig, first.seqno() + 1);
        pass(&rig, 2);
        assert_eq!(guilty.wait(Delta::ZERO), Ok(()));
        assert_eq!(rig.device.reset_count(), 0);
        pass(&rig, 20);
        assert_eq!(rig.device.reset_count(), 1, "{device}");
        let text = rig.device.error_text().unwrap();
        assert!(text.contains("goes on behind its own number"), "{text}");
        let behind = rig.submit(&innocent);
        assert_eq!(behind.wait(Delta::from_millis(10)), Ok(()), "{device}");
        assert_eq!(data.read32(0), Ok(7));
        pass(&rig, 20);
        assert_eq!(rig.device.reset_count(), 1, "an idle engine is left alone");
        drop((data, innocent, forged));
        rig.finish_after_fault();
    }
}

#[test]
fn a_batch_that_goes_on_behind_its_own_number_is_blamed_and_not_the_request_behind_it() {
    for device in ["gm965", "g45", "ironlake"] {
        let rig = Rig::on(device);
        let data = rig.object(DATA, 4096, &[0]);
        let innocent = rig.object(0x0030_0000, 4096, &[STORE_DWORD, 0, DATA, 7, END]);
        rig.submit(&innocent).wait(Delta::from_millis(10)).unwrap();
        data.write_dwords(0, &[0]).unwrap();
        let (forged, guilty) = forge(&rig, 2);
        let behind = rig.submit(&innocent);
        pass(&rig, 2);
        assert_eq!(guilty.wait(Delta::ZERO), Ok(()), "{device}");
        // Sooner than standing still counts as a hang.
        pass(&rig, 18);
        assert_eq!(rig.device.reset_count(), 1, "{device}");
        let text = rig.device.error_text().unwrap();
        assert!(
            text.contains("request 2 of [i915] goes on behind"),
            "{text}"
        );
        assert_eq!(behind.wait(Delta::from_millis(10)), Ok(()), "{device}");
        assert_eq!(data.read32(0), Ok(7), "{device}");
        drop((data, innocent, forged));
        rig.finish_after_fault();
    }
}

/// MMIO offsets of RING_HEAD and RING_START (i915 `RING_HEAD`, `RING_START` at the render base).
const HEAD: usize = 0x2034;
const START: usize = 0x2038;
const LOAD_REGISTERS: u32 = 0x22 << 23;
const PAGE: u32 = 4096;

/// MMIO offset of the first page table entry (i915 `gen2_gmch`: 512 KiB on the 965, 2 MiB from G45 on).
fn entries(device: &str) -> u32 {
    if device == "gm965" {
        0x8_0000
    } else {
        0x20_0000
    }
}

/// A batch that writes commands over the ring, from a byte offset in it on.
fn over_ring(rig: &Rig, address: u32, at: u32, commands: &[u32]) -> Object {
    let ring = rig.platform.io().read32(START);
    let mut batch = Vec::new();
    for (index, word) in (0..).zip(commands) {
        batch.extend([STORE_DWORD, 0, ring + at + index * 4, *word]);
    }
    batch.push(END);
    rig.object(address, 4096, &batch)
}

/// Where the head of an idle ring stands.
fn ring_head(rig: &Rig) -> u32 {
    rig.platform.io().read32(HEAD) & 0x1f_fffc
}

/// Commands that clear the page table entries of addresses.
fn clear_entries(device: &str, pages: &[u32]) -> Vec<u32> {
    let mut commands = Vec::new();
    for page in pages {
        commands.extend([LOAD_REGISTERS | 1, entries(device) + page / PAGE * 4, 0]);
    }
    commands
}

/// i915 `i915_ggtt_resume` writes all entries anew; without that the ring stays unreachable for good.
#[test]
fn a_reset_brings_the_page_table_back() {
    for device in ["gm965", "g45", "ironlake"] {
        let rig = Rig::on(device);
        let ([data, innocent, nothing], each) = objects(&rig);
        let head = ring_head(&rig);
        // The second request's commands are what the first one's batch puts in their place.
        let ring = rig.platform.io().read32(START);
        let status = rig.platform.io().read32(0x2080);
        let mut pages = vec![DATA, 0x0030_0000, ring, ring + PAGE];
        if device != "gm965" {
            pages.push(status);
        }
        let commands = clear_entries(device, &pages);
        assert!(commands.len() * 4 <= each as usize, "{each}");
        let attack = over_ring(&rig, 0x0020_0000, head + each, &commands);
        trusted(&rig, &attack);
        rig.submit(&nothing);
        pass(&rig, 100);
        assert_eq!(rig.device.reset_count(), 1, "{device}");
        let later = rig.submit(&innocent);
        assert_eq!(later.wait(Delta::from_millis(10)), Ok(()), "{device}");
        assert_eq!(data.read32(0), Ok(7), "{device}");
        assert_eq!(rig.device.reset_count(), 1, "{device}");
        drop((data, innocent, nothing, attack));
        rig.finish_after_fault();
    }
}

/// Objects of the tests below: something to write, a batch that writes 7 there, one that does nothing; and how many bytes a
/// request takes in the ring.
fn objects(rig: &Rig) -> ([Object; 3], u32) {
    let data = rig.object(DATA, 4096, &[0]);
    let innocent = rig.object(0x0030_0000, 4096, &[STORE_DWORD, 0, DATA, 7, END]);
    let nothing = rig.object(0x0050_0000, 4096, &[END]);
    let before = ring_head(rig);
    rig.submit(&nothing).wait(Delta::from_millis(10)).unwrap();
    let each = ring_head(rig) - before;
    ([data, innocent, nothing], each)
}

/// Which batch has written over a request in the ring cannot be told, so the request runs again.
#[test]
fn a_request_whose_commands_were_written_over_runs_again() {
    for device in ["gm965", "g45", "ironlake"] {
        for word in [UNKNOWN, 0] {
            let rig = Rig::on(device);
            let ([data, innocent, nothing], each) = objects(&rig);
            let commands = vec![word; each as usize / 4];
            let attack = over_ring(&rig, 0x0020_0000, ring_head(&rig) + each, &commands);
            let guilty = trusted(&rig, &attack);
            let victim = rig.submit(&innocent);
            pass(&rig, 60);
            assert_eq!(guilty.wait(Delta::ZERO), Ok(()), "{device}");
            assert_eq!(victim.wait(Delta::ZERO), Ok(()), "{device} {word:#x}");
            assert_eq!(data.read32(0), Ok(7), "{device} {word:#x}");
            assert_eq!(rig.device.reset_count(), 1, "{device} {word:#x}");
            drop((data, innocent, nothing, attack));
            rig.finish_after_fault();
        }
    }
}

/// One that does so to itself is ended when it has done so again, with nothing before it.
#[test]
fn a_request_that_writes_over_its_own_commands_is_ended_in_the_end() {
    for (device, resets) in [("gm965", 2), ("g45", 3), ("ironlake", 3)] {
        for word in [UNKNOWN, 0] {
            let rig = Rig::on(device);
            let ([data, innocent, nothing], each) = objects(&rig);
            // Where it is now, and where a reset puts it.
            let ring = rig.platform.io().read32(START);
            let mut batch = Vec::new();
            for at in [ring_head(&rig), 0] {
                for index in 0..each / 4 {
                    batch.extend([STORE_DWORD, 0, ring + at + index * 4, word]);
                }
            }
            batch.push(END);
            let attack = rig.object(0x0020_0000, 4096, &batch);
            let guilty = trusted(&rig, &attack);
            // The number of a request behind it would stand for a number that never comes.
            let behind = (word == UNKNOWN).then(|| rig.submit(&innocent));
            pass(&rig, 120);
            let behind = behind.unwrap_or_else(|| rig.submit(&innocent));
            pass(&rig, 1);
            assert_eq!(guilty.wait(Delta::ZERO), Err(EIO), "{device} {word:#x}");
            assert_eq!(behind.wait(Delta::ZERO), Ok(()), "{device} {word:#x}");
            assert_eq!(data.read32(0), Ok(7), "{device} {word:#x}");
            assert_eq!(rig.device.reset_count(), resets, "{device} {word:#x}");
            drop((data, innocent, nothing, attack));
            rig.finish_after_fault();
        }
    }
}
