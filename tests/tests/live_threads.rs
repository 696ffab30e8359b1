//! The driver on a device that works on its own thread.
//!
//! No PRM chapter. What is expected follows from the batches: stores whose values the test chose, and which of them
//! ever end. Nothing here depends on how fast the machine is.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "tests")]

use std::sync::Arc;
use std::time::Instant;

use driver::{BatchDesc, Device, Driver, Object, Request, Tiling};
use kernel::platform::Platform;
use kernel::time::Delta;
use mmio_mock::{LivePlatform, ModelPlatform};

const END: u32 = 0x0500_0000;

fn live() -> (Arc<LivePlatform>, Device) {
    let info = mmio_mock::r#gen::find("gm965").unwrap();
    let live = LivePlatform::new(ModelPlatform::new(info, 16 << 20));
    let device = Driver::probe(Arc::clone(&live) as Arc<dyn Platform>).unwrap();
    (live, device)
}

fn batch(device: &Device, dwords: &[u32]) -> Object {
    let object = device.create_object(4096, Tiling::None, 0).unwrap();
    object.write_dwords(0, dwords).unwrap();
    device.bind(&object).unwrap();
    object
}

fn submit(device: &Device, object: &Object) -> Request {
    let desc = BatchDesc {
        object,
        start: 0,
        len: 4096,
    };
    device.submit(&desc).unwrap()
}

const LONG: Delta = Delta::from_secs(3600);

/// Prints the rate; `cargo test --release -p crestline-tests --test live_threads -- --ignored --nocapture`.
#[test]
#[ignore = "a measurement"]
fn rate_of_empty_batches() {
    let (live, device) = live();
    let empty = batch(&device, &[END, 0]);
    for queued in [1, 8, 32] {
        let total = 10_000;
        let begun = Instant::now();
        let before = live.activity();
        let mut last = std::collections::VecDeque::new();
        for _ in 0..total {
            if last.len() >= queued {
                let first: Request = last.pop_front().unwrap();
                first.wait(LONG).unwrap();
            }
            last.push_back(submit(&device, &empty));
        }
        for request in last {
            request.wait(LONG).unwrap();
        }
        let seconds = begun.elapsed().as_secs_f64();
        let after = live.activity();
        println!(
            "{queued:3} queued: {:8.0} batches/s, {} slices, {} naps",
            f64::from(total) / seconds,
            after.slices - before.slices,
            after.naps - before.naps
        );
    }
    drop(empty);
    device.remove().unwrap();
    assert_eq!(live.model().allocated_pages(), 0);
}
