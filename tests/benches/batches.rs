//! Empty batches a second through the driver on a device with its own thread.
//!
//! `cargo bench -p crestline-tests --bench batches`; wall time of this machine, one submitting thread.
#![allow(clippy::unwrap_used, reason = "a measurement that fails shall say so")]

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Instant;

use driver::{BatchDesc, Driver, Request, Tiling};
use kernel::platform::Platform;
use kernel::time::Delta;
use mmio_mock::{LivePlatform, ModelPlatform};

/// Batches of one measurement.
const TOTAL: u32 = 10_000;
/// Much longer than any takes.
const LONG: Delta = Delta::from_secs(3600);

fn main() {
    let info = mmio_mock::intel::r#gen::find("gm965").unwrap();
    let live = LivePlatform::new(ModelPlatform::new(info, 16 << 20));
    let device = Driver::probe(Arc::clone(&live) as Arc<dyn Platform>).unwrap();
    let object = device.create_object(4096, Tiling::None, 0).unwrap();
    // MI_BATCH_BUFFER_END.
    object.write_dwords(0, &[0x0500_0000, 0]).unwrap();
    device.bind(&object).unwrap();
    let batch = BatchDesc {
        object: &object,
        start: 0,
        len: 4096,
    };
    for queued in [1, 8, 32] {
        let before = live.activity();
        let begun = Instant::now();
        let mut last: VecDeque<Request> = VecDeque::new();
        for _ in 0..TOTAL {
            if last.len() >= queued
                && let Some(first) = last.pop_front()
            {
                first.wait(LONG).unwrap();
            }
            last.push_back(device.submit(&batch).unwrap());
        }
        for request in last {
            request.wait(LONG).unwrap();
        }
        let rate = f64::from(TOTAL) / begun.elapsed().as_secs_f64();
        let after = live.activity();
        println!(
            "{queued:3} queued: {rate:8.0} batches/s, {} slices, {} naps",
            after.slices - before.slices,
            after.naps - before.naps
        );
    }
}
