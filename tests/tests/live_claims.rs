//! An object that two engines use: the request that waited comes first.
//!
//! i915 takes the fences of objects when a submission comes (`eb_move_to_gpu`, `i915_request_await_object`), and those that come
//! later wait for it.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::client::Client;
use crestline_tests::rig::Rig;
use driver::uapi::{drm, exec, gem};
use driver::{File, Node};
use kernel::error::Result;
use kernel::error::code::EINTR;

const NOOP: u32 = 0;
const END: u32 = 0x0a << 23;
const STORE_DWORD: u32 = 0x20 << 23 | 1 << 22 | 2;
/// I915_EXEC_*.
const RENDER: u64 = 1;
const BSD: u64 = 2;
const DATA: u32 = 0x100_0000;
/// Submissions of the greedy one, which are far from ending with the first of them.
const MOST: usize = 40;

fn object(client: &Client, dwords: &[u32]) -> u32 {
    let mut create = gem::Create {
        size: (dwords.len() as u64 * 4).max(4096),
        ..Default::default()
    };
    client.call(gem::CREATE, &mut create).unwrap();
    let bytes: Vec<u8> = dwords.iter().flat_map(|d| d.to_le_bytes()).collect();
    if !bytes.is_empty() {
        client.pwrite(create.handle, &bytes);
    }
    create.handle
}

/// Submits a batch at an address that uses an object at [`DATA`].
fn submit(client: &Client, ring: u64, (data, write): (u32, u64), batch: (u32, u32)) -> Result<i32> {
    let objects = [(data, DATA, write), (batch.0, batch.1, 0)];
    let list = objects.map(|(handle, address, flags)| exec::Object {
        handle,
        offset: address.into(),
        flags: exec::OBJECT_PINNED | flags,
        ..Default::default()
    });
    let mut arg = exec::Execbuffer2 {
        buffers_ptr: client.place(&list),
        buffer_count: list.len() as u32,
        flags: ring | exec::NO_RELOC,
        ..Default::default()
    };
    client.call(exec::EXECBUFFER2_WR, &mut arg)
}

fn long(value: u32) -> Vec<u32> {
    let mut words = vec![NOOP; 1 << 20];
    words.extend([STORE_DWORD, 0, DATA, value, END, NOOP]);
    words
}

/// The name of an object for other files, and its handle in one of them.
fn shared(owner: &Client, handle: u32, other: &Client) -> u32 {
    let mut flink = drm::GemFlink { handle, name: 0 };
    owner.call(drm::GEM_FLINK, &mut flink).unwrap();
    let mut open = drm::GemOpen {
        name: flink.name,
        ..Default::default()
    };
    other.call(drm::GEM_OPEN, &mut open).unwrap();
    open.handle
}

#[test]
fn who_waits_for_a_shared_object_comes_before_later_users_of_it() {
    for device in ["g45", "ironlake"] {
        for (greedy_ring, ring) in [(BSD, RENDER), (RENDER, BSD)] {
            let rig = Rig::on(device);
            let open = || Client::new(File::open(&rig.device, Node::Primary));
            let (greedy, patient) = (open(), open());
            let data = object(&greedy, &[]);
            let of_patient = shared(&greedy, data, &patient);
            let slow = object(&greedy, &long(1));
            let quick = object(&patient, &[END]);
            // Two, so that one is under way whenever another has ended.
            for _ in 0..2 {
                submit(
                    &greedy,
                    greedy_ring,
                    (data, exec::OBJECT_WRITE),
                    (slow, 0x30_0000),
                )
                .unwrap();
            }
            // From now on it submits, as long as it need not wait.
            greedy.interrupt();
            let again = Arc::new(AtomicUsize::new(0));
            let tries = Arc::new(AtomicUsize::new(0));
            let (count, tried) = (Arc::clone(&again), Arc::clone(&tries));
            patient.meanwhile(Some(Box::new(move || {
                if count.load(Ordering::Relaxed) >= MOST {
                    return;
                }
                let used = (data, exec::OBJECT_WRITE);
                match submit(&greedy, greedy_ring, used, (slow, 0x30_0000)) {
                    Ok(_) => count.fetch_add(1, Ordering::Relaxed),
                    Err(error) => {
                        assert_eq!(error, EINTR);
                        tried.fetch_add(1, Ordering::Relaxed)
                    }
                };
            })));
            submit(&patient, ring, (of_patient, 0), (quick, 0x40_0000)).unwrap();
            patient.meanwhile(None);
            let case = (device, greedy_ring);
            let again = again.load(Ordering::Relaxed);
            assert!(again <= 1, "{case:?}: {again} came before it");
            assert!(tries.load(Ordering::Relaxed) > 0, "{case:?}");
            rig.device.wait_idle(crestline_tests::rig::SHORT).unwrap();
            drop(patient);
            rig.finish();
        }
    }
}
