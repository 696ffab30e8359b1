//! The driver on a device that works on its own thread.
//!
//! What is expected follows from the batches: stores whose values the test chose, and which of them
//! ever end. Nothing here depends on how fast the machine is.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use driver::uapi::{exec, gem, syncobj};
use driver::{BatchDesc, Device, Driver, File, Node, Object, Request, Tiling};
use kernel::platform::Platform;
use kernel::time::Delta;
use mmio_mock::intel::r#gen::DeviceInfo;
use mmio_mock::{LivePlatform, ModelPlatform};

use crate::client::Client;

/// MI_BATCH_BUFFER_END.
const END: u32 = 0x0500_0000;
/// MI_BATCH_BUFFER_START, non-secure in the GTT.
const START: u32 = 0x1880_0180;
/// MI_STORE_DATA_IMM of one dword through the GTT.
const STORE: u32 = 0x1040_0002;
/// An address behind which there is nothing.
const NOWHERE: u32 = 0x1000_0000;

fn live_at(core_mhz: u32) -> (Arc<LivePlatform>, Device) {
    let gm965 = *mmio_mock::intel::r#gen::find("gm965").unwrap();
    let info: &'static DeviceInfo = Box::leak(Box::new(DeviceInfo { core_mhz, ..gm965 }));
    let live = LivePlatform::new(ModelPlatform::new(info, 16 << 20));
    let device = Driver::probe(Arc::clone(&live) as Arc<dyn Platform>).unwrap();
    (live, device)
}

fn live() -> (Arc<LivePlatform>, Device) {
    live_at(500)
}

/// A device with so slow a clock that seconds of it are soon over.
fn slow() -> (Arc<LivePlatform>, Device) {
    live_at(1)
}

fn batch(device: &Device, dwords: &[u32]) -> Object {
    let object = device.create_object(4096, Tiling::None, 0).unwrap();
    object.write_dwords(0, dwords).unwrap();
    device.bind(&object).unwrap();
    object
}

/// A batch that is one jump to itself.
fn endless(device: &Device) -> Object {
    let object = batch(device, &[]);
    let dwords = [START, object.address().unwrap()];
    object.write_dwords(0, &dwords).unwrap();
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

fn client(device: &Device) -> Client {
    Client::new(File::open(device, Node::Render))
}

fn create(client: &Client) -> u32 {
    let mut arg = gem::Create {
        size: 4096,
        ..Default::default()
    };
    client.call(gem::CREATE, &mut arg).unwrap();
    arg.handle
}

/// Submits a batch that stores `value` at the start of `target`.
fn store(client: &Client, target: u32, batch: u32, value: u32, fence: u32) {
    let dwords = [STORE, 0, 0, value, END, 0];
    let bytes: Vec<u8> = dwords.iter().flat_map(|d| d.to_le_bytes()).collect();
    client.pwrite(batch, &bytes);
    let relocation = exec::Relocation {
        target_handle: target,
        offset: 8,
        presumed_offset: u64::MAX,
        ..Default::default()
    };
    let list = [
        exec::Object {
            handle: target,
            flags: exec::OBJECT_WRITE,
            ..Default::default()
        },
        exec::Object {
            handle: batch,
            relocation_count: 1,
            relocs_ptr: client.place(&[relocation]),
            ..Default::default()
        },
    ];
    let signal = exec::Fence {
        handle: fence,
        flags: exec::FENCE_SIGNAL,
    };
    let mut arg = exec::Execbuffer2 {
        buffers_ptr: client.place(&list),
        buffer_count: 2,
        batch_len: 24,
        num_cliprects: 1,
        cliprects_ptr: client.place(&[signal]),
        flags: exec::FENCE_ARRAY,
        ..Default::default()
    };
    client.call(exec::EXECBUFFER2, &mut arg).unwrap();
}

fn wait_object(client: &Client, handle: u32) {
    let mut wait = gem::Wait {
        bo_handle: handle,
        timeout_ns: -1,
        ..Default::default()
    };
    client.call(gem::WAIT, &mut wait).unwrap();
}

fn wait_fence(client: &Client, fence: u32) {
    let mut wait = syncobj::Wait {
        handles: client.place(&[fence]),
        count_handles: 1,
        timeout_nsec: i64::MAX,
        ..Default::default()
    };
    client.call(syncobj::WAIT, &mut wait).unwrap();
}

fn finish(live: &LivePlatform, device: Device) {
    device.remove().unwrap();
    assert_eq!(live.model().allocated_pages(), 0, "pages leak");
}

#[test]
fn many_threads_submit_and_wait_at_once() {
    let (live, device) = live();
    thread::scope(|scope| {
        for number in 0..4u32 {
            let device = &device;
            scope.spawn(move || {
                let client = client(device);
                let (target, batch) = (create(&client), create(&client));
                let mut made = syncobj::Create::default();
                client.call(syncobj::CREATE, &mut made).unwrap();
                for round in 0..200 {
                    let value = number << 16 | round;
                    store(&client, target, batch, value, made.handle);
                    // PREAD waits as well.
                    match round % 3 {
                        0 => wait_object(&client, target),
                        1 => wait_fence(&client, made.handle),
                        _ => {}
                    }
                    let found = client.pread(target, 4);
                    assert_eq!(found, value.to_le_bytes(), "thread {number}");
                }
            });
        }
    });
    assert!(device.error_state().is_none());
    finish(&live, device);
}

#[test]
fn an_endless_batch_is_reset_while_others_wait_and_submit() {
    let (live, device) = slow();
    let hog = endless(&device);
    let hung = submit(&device, &hog);
    thread::scope(|scope| {
        for number in 0..3 {
            let device = &device;
            scope.spawn(move || {
                let client = client(device);
                let (target, batch) = (create(&client), create(&client));
                let mut made = syncobj::Create::default();
                client.call(syncobj::CREATE, &mut made).unwrap();
                // Behind the endless one, or behind the reset.
                store(&client, target, batch, 1, made.handle);
                wait_object(&client, target);
                store(&client, target, batch, 2, made.handle);
                wait_fence(&client, made.handle);
                assert_eq!(client.pread(target, 4), [2, 0, 0, 0], "thread {number}");
            });
        }
    });
    assert_eq!(hung.fence().status(), Some(Err(kernel::error::code::EIO)));
    assert_eq!(device.reset_count(), 1);
    let error = device.take_error_state().unwrap();
    assert!(error.to_string().contains("GPU hang"), "{error}");
    drop(hog);
    finish(&live, device);
}

#[test]
fn a_blocked_device_sleeps_and_is_found() {
    let (live, device) = live();
    let bad = batch(&device, &[START, NOWHERE]);
    let hung = submit(&device, &bad);
    // Nothing can go on once the error interrupt is there.
    while device.error_state().is_none() {
        thread::sleep(Duration::from_millis(1));
    }
    let quiet = live.activity();
    let ended = AtomicBool::new(false);
    thread::scope(|scope| {
        scope.spawn(|| {
            let client = client(&device);
            let (target, batch) = (create(&client), create(&client));
            let mut made = syncobj::Create::default();
            client.call(syncobj::CREATE, &mut made).unwrap();
            store(&client, target, batch, 1, made.handle);
            wait_object(&client, target);
            ended.store(true, Ordering::Release);
        });
        thread::sleep(Duration::from_millis(20));
        // Object, page table entries and tail have been written since, and nothing more.
        let now = live.activity();
        assert!(now.slices - quiet.slices < 100, "{now:?} {quiet:?}");
        assert_eq!(device.reset_count(), 0);
        // Time would pass by itself, but not as fast.
        let hold = live.hold();
        while !ended.load(Ordering::Acquire) {
            hold.run(Delta::from_millis(500));
            thread::sleep(Duration::from_millis(1));
        }
    });
    assert!(device.reset_count() >= 1);
    assert_eq!(hung.fence().status(), Some(Err(kernel::error::code::EIO)));
    drop(bad);
    finish(&live, device);
}

#[test]
fn a_long_batch_that_moves_is_left_alone() {
    let (live, device) = slow();
    let long = batch(&device, &[0; 1024]);
    let address = long.address().unwrap();
    // It stores something each time: a parser that goes round for nothing would be found.
    long.write_dwords(0, &[STORE, 0, address + 64, 0]).unwrap();
    let jump = [START, address];
    long.write_dwords(1022 * 4, &jump).unwrap();
    let request = submit(&device, &long);
    let clock = live.clock();
    let until = clock.now() + Delta::from_secs(12);
    thread::scope(|scope| {
        scope.spawn(|| request.wait(LONG).unwrap());
        scope.spawn(|| {
            let client = client(&device);
            let (target, batch) = (create(&client), create(&client));
            let mut made = syncobj::Create::default();
            client.call(syncobj::CREATE, &mut made).unwrap();
            store(&client, target, batch, 7, made.handle);
            wait_object(&client, target);
            assert_eq!(client.pread(target, 4), [7, 0, 0, 0]);
        });
        while clock.now() < until {
            clock.relax(Delta::from_millis(100));
        }
        assert_eq!(device.reset_count(), 0);
        long.write_dwords(1022 * 4, &[END]).unwrap();
    });
    assert!(device.error_state().is_none());
    drop((request, long));
    finish(&live, device);
}

#[test]
fn drop_while_busy() {
    // The driver first, its device in the middle of a batch.
    let (live, device) = slow();
    let hog = endless(&device);
    let request = submit(&device, &hog);
    drop((hog, device));
    assert!(matches!(request.fence().status(), Some(Err(_))));
    assert_eq!(live.model().allocated_pages(), 0);
    drop(live);
    // The platform's last holder is an object.
    let (live, device) = slow();
    let hog = endless(&device);
    let _request = submit(&device, &hog);
    let model = Arc::clone(live.model());
    drop((live, device));
    drop(hog);
    assert_eq!(model.allocated_pages(), 0);
}

#[test]
fn a_held_device_stands_still() {
    let (live, device) = live();
    let empty = batch(&device, &[END, 0]);
    let hold = live.hold();
    let now = live.clock().now();
    let requests: Vec<_> = (0..10).map(|_| submit(&device, &empty)).collect();
    live.clock().relax(Delta::from_micros(100));
    assert!(requests.iter().all(|request| !request.is_complete()));
    assert_eq!(live.clock().now(), now);
    // Fifty ticks are not enough for so many dwords.
    hold.run(Delta::from_nanos(100));
    assert_eq!(live.clock().now() - now, Delta::from_nanos(100));
    assert!(!requests[9].is_complete());
    drop(hold);
    for request in requests {
        request.wait(LONG).unwrap();
    }
    drop(empty);
    finish(&live, device);
}

const LONG: Delta = Delta::from_secs(3600);
