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
    let desc = BatchDesc {
        object: &batch,
        start: 0,
        len: 4096,
    };
    let request = rig.device.submit_trusted(&desc).unwrap();
    (batch, request)
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
        assert!(text.contains("at work without a request"), "{text}");
        let behind = rig.submit(&innocent);
        assert_eq!(behind.wait(Delta::from_millis(10)), Ok(()), "{device}");
        assert_eq!(data.read32(0), Ok(7));
        pass(&rig, 20);
        assert_eq!(rig.device.reset_count(), 1, "an idle engine is left alone");
        drop((data, innocent, forged));
        rig.finish_after_fault();
    }
}
