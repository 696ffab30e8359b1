//! A device in step with its client: the same requests, the same events.

use std::time::Duration;

use kernel::time::Delta;
use mmio_mock::Model;
use mmio_mock::intel::trace::Trace;
use node::{Node, Options};

use crate::support::frame::{Frame, Party};

/// Bytes of trace text that are kept.
const TEXT: usize = 8 << 20;

/// Files that are opened and closed, frames, a batch that hangs and is reset; the trace, the time at the end.
fn run(delays: bool) -> (String, (u64, u64), u64) {
    let node = Node::start(&Options {
        memory: 128 << 20,
        deterministic: true,
        hang_check: Some(Delta::from_millis(4)),
        ..Options::new(mmio_mock::intel::r#gen::find("gm965").unwrap())
    })
    .unwrap();
    let name = node.environment()[0].1.to_str().unwrap().to_owned();
    node.first()
        .platform()
        .device()
        .set_trace(Trace::with_limit(TEXT));
    let pause = |millis| {
        if delays {
            std::thread::sleep(Duration::from_millis(millis));
        }
    };
    let frame = Frame::read("b_flat");
    // What it had makes room for the next, at the moment at which it closes.
    for _ in 0..3 {
        let party = Party::new(&name);
        party.load(&frame);
    }
    let party = Party::new(&name);
    let first = party.draw(&frame);
    pause(30);
    assert_eq!(party.draw(&frame), first);
    let hangs = party.create(4096);
    party.write(hangs, &0x7fff_0000_u32.to_le_bytes());
    party.run(hangs);
    pause(130);
    assert_eq!(party.wait(hangs, -1), 0);
    assert_eq!(node.first().device().reset_count(), 1);
    assert_eq!(Party::new(&name).draw(&frame), first);
    drop(party);
    assert!(node.quiesce(Duration::from_secs(20)));
    let device = node.first().platform().device();
    let trace = device.event_log();
    (trace.text().to_owned(), trace.digest(), device.nanos())
}

#[test]
fn the_same_requests_make_the_same_trace_however_long_the_host_takes() {
    let first = run(false);
    assert!(first.0.lines().count() > 100, "{}", first.0);
    for delays in [false, true, true, false] {
        let now = run(delays);
        assert_eq!(now.1, first.1);
        assert_eq!(now.2, first.2, "time at the end");
        assert!(now.0 == first.0);
    }
}

#[test]
fn a_client_that_only_asks_whether_the_device_is_busy_sees_it_get_on() {
    use driver::uapi::gem;
    use zerocopy::{FromZeros as _, IntoBytes as _};
    let node = Node::start(&Options {
        memory: 64 << 20,
        deterministic: true,
        ..Options::new(mmio_mock::intel::r#gen::find("gm965").unwrap())
    })
    .unwrap();
    let name = node.environment()[0].1.to_str().unwrap().to_owned();
    let party = Party::new(&name);
    // No command of the device: with the driver's own hang check, after seconds of device time.
    let batch = party.create(4096);
    party.write(batch, &0x7fff_0000_u32.to_le_bytes());
    party.run(batch);
    let mut asked = 0;
    loop {
        let mut arg = gem::Busy {
            handle: batch,
            ..gem::Busy::new_zeroed()
        };
        assert_eq!(party.ask(gem::BUSY.0, arg.as_mut_bytes()), 0);
        if arg.busy == 0 {
            break;
        }
        asked += 1;
        assert!(asked < 1_000_000);
    }
    assert_eq!(node.first().device().reset_count(), 1);
}
