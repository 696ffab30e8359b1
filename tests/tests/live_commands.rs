//! The driver on the model: commands of the memory interface, the ring, interrupts.
//!
//! PRM volume 1 (MI commands). Command words are written by hand from i915 gt/intel_gpu_commands.h.

use crestline_cli::replay::Session;
use crestline_tests::rig::{Rig, SHORT};
use crestline_tests::scenes::{capture, options};
use driver::{BatchDesc, Driver, Tiling};
use kernel::error::code::{EBUSY, EINVAL, ENODEV, ENOSPC};
use kernel::platform::Platform;
use kernel::time::Clock;
use mmio_mock::Model;
use mmio_mock::ModelPlatform;

/// MI_BATCH_BUFFER_END.
const END: u32 = 0x0a << 23;
/// MI_NOOP.
const NOOP: u32 = 0;
/// MI_USER_INTERRUPT.
const USER_INTERRUPT: u32 = 0x02 << 23;
/// MI_FLUSH.
const FLUSH: u32 = 0x04 << 23;
/// MI_STORE_DWORD_IMM through the GTT, one dword.
const STORE_DWORD: u32 = 0x20 << 23 | 1 << 22 | 2;
/// MI_LOAD_REGISTER_IMM, one register.
const LOAD_REGISTER: u32 = 0x22 << 23 | 1;
/// MI_STORE_REGISTER_MEM through the GTT.
const STORE_REGISTER: u32 = 0x24 << 23 | 1 << 22 | 1;
/// MI_BATCH_BUFFER_START of Gen4: non-secure in the GTT.
const BATCH_START: u32 = 0x31 << 23 | 2 << 6;

const DATA: u32 = 0x0020_0000;

#[test]
fn probe_and_remove() {
    let rig = Rig::new();
    assert_eq!(rig.device.name(), "GM965");
    // 512 MiB of graphics addresses.
    assert_eq!(rig.device.ggtt().entries(), 131_072);
    assert!(rig.device.is_idle());
    rig.finish();
}

#[test]
fn probe_again_after_removal() {
    let info = mmio_mock::intel::r#gen::find("8086:2a02").unwrap();
    let platform = ModelPlatform::new(info, 16 << 20);
    for _ in 0..3 {
        let device = Driver::probe(platform.clone() as std::sync::Arc<dyn Platform>).unwrap();
        let rig = Rig {
            platform: platform.clone(),
            device,
        };
        rig.run(&[NOOP, END]);
        rig.finish();
    }
}

#[test]
fn a_removed_device_does_nothing() {
    let rig = Rig::new();
    let platform = rig.platform.clone();
    let object = rig.object(DATA, 4096, &[END]);
    let device = rig.device.clone();
    rig.device.remove().unwrap();
    let desc = BatchDesc {
        object: &object,
        start: 0,
        len: 8,
    };
    assert_eq!(device.submit(&desc).err(), Some(ENODEV));
    assert_eq!(device.remove().err(), Some(ENODEV));
    assert!(platform.device().idle());
    drop(object);
    assert_eq!(platform.allocated_pages(), 0);
}

#[test]
fn noop_batch() {
    let rig = Rig::new();
    rig.run(&[NOOP, NOOP, NOOP, END]);
    assert_eq!(rig.platform.device().status().activity.batches, 1);
    rig.finish();
}

#[test]
fn store_dword() {
    let rig = Rig::new();
    let data = rig.object(DATA, 4096, &[]);
    rig.run(&[
        STORE_DWORD,
        0,
        DATA + 8,
        0xdead_beef,
        STORE_DWORD,
        0,
        DATA + 4092,
        7,
        END,
        NOOP,
    ]);
    let words: Vec<u32> = (0..1024).map(|i| data.read32(i * 4).unwrap()).collect();
    let mut expected = vec![0; 1024];
    expected[2] = 0xdead_beef;
    expected[1023] = 7;
    assert_eq!(words, expected);
    drop(data);
    rig.finish();
}

#[test]
fn registers_go_to_memory() {
    let rig = Rig::new();
    let data = rig.object(DATA, 4096, &[]);
    // NOPID (2094h) takes the number of a NOOP whose bit 22 says so; INSTPM (20C0h) is masked.
    rig.run_trusted(&[
        NOOP | 1 << 22 | 0x1_2345,
        STORE_REGISTER,
        0x2094,
        DATA,
        LOAD_REGISTER,
        0x20c0,
        1 << (16 + 4) | 1 << 4,
        STORE_REGISTER,
        0x20c0,
        DATA + 4,
        LOAD_REGISTER,
        0x20c0,
        1 << (16 + 4),
        STORE_REGISTER,
        0x20c0,
        DATA + 8,
        END,
        NOOP,
    ]);
    assert_eq!(data.read32(0).unwrap() & 0x003f_ffff, 0x1_2345);
    assert_eq!(data.read32(4).unwrap() & 1 << 4, 1 << 4);
    assert_eq!(data.read32(8).unwrap() & 1 << 4, 0);
    drop(data);
    rig.finish();
}

/// A program could else reach what others depend on: debug registers, the ring's head.
#[test]
fn batches_of_clients_write_no_registers() {
    let rig = Rig::new();
    let data = rig.object(DATA, 4096, &[]);
    rig.run(&[
        LOAD_REGISTER,
        0x20c0,
        1 << (16 + 4) | 1 << 4,
        LOAD_REGISTER,
        0x2034,
        u32::MAX,
        STORE_REGISTER,
        0x20c0,
        DATA,
        END,
    ]);
    assert_eq!(data.read32(0).unwrap() & 1 << 4, 0);
    drop(data);
    rig.finish();
}

#[test]
fn statistics_counters_go_to_memory() {
    // Vertex counts of crocus's decode of the batch, see replay_captures.
    let capture = capture("g_gears");
    let mut session = Session::new(options(&capture), capture.buffer_bytes() + 8192).unwrap();
    session.run(&capture.execs[0]).unwrap();
    let device = session.device().clone();
    let address = 0x0100_0000;
    let batch = device.create_object(4096, Tiling::None, 0).unwrap();
    let data = device.create_object(4096, Tiling::None, 0).unwrap();
    device.bind_at(&batch, address).unwrap();
    device.bind_at(&data, address + 4096).unwrap();
    // IA_VERTICES_COUNT and IA_PRIMITIVES_COUNT are 64 bits at 2310h and 2318h.
    let mut words = Vec::new();
    for i in 0..4 {
        words.extend([STORE_REGISTER, 0x2310 + i * 4, address + 4096 + i * 4]);
    }
    words.extend([END, NOOP]);
    batch.write_dwords(0, &words).unwrap();
    let desc = BatchDesc {
        object: &batch,
        start: 0,
        len: words.len() as u32 * 4,
    };
    device.submit(&desc).unwrap().wait(SHORT).unwrap();
    let read: Vec<u32> = (0..4).map(|i| data.read32(i * 4).unwrap()).collect();
    assert_eq!(read, [11_860, 0, 3954, 0]);
    drop((batch, data, device));
    session.finish().unwrap();
}

#[test]
fn batches_chain() {
    let rig = Rig::new();
    let data = rig.object(DATA, 4096, &[]);
    let second = rig.object(0x0030_0000, 4096, &[STORE_DWORD, 0, DATA + 4, 2, END, NOOP]);
    // What stands behind the jump is never reached.
    rig.run(&[
        STORE_DWORD,
        0,
        DATA,
        1,
        BATCH_START,
        0x0030_0000,
        STORE_DWORD,
        0,
        DATA,
        9,
        END,
        NOOP,
    ]);
    assert_eq!(data.read32(0).unwrap(), 1);
    assert_eq!(data.read32(4).unwrap(), 2);
    drop((data, second));
    rig.finish();
}

#[test]
fn batch_at_an_offset() {
    let rig = Rig::new();
    let data = rig.object(DATA, 4096, &[]);
    // The first dword would stop the command streamer.
    let mut words = vec![0xffff_ffff; 16];
    words.extend([STORE_DWORD, 0, DATA, 5, END, NOOP]);
    let batch = rig.object(0x0010_0000, 4096, &words);
    let desc = BatchDesc {
        object: &batch,
        start: 64,
        len: 24,
    };
    rig.device.submit(&desc).unwrap().wait(SHORT).unwrap();
    assert_eq!(data.read32(0).unwrap(), 5);
    drop((data, batch));
    rig.finish();
}

#[test]
fn the_ring_wraps_over_many_submissions() {
    let rig = Rig::new();
    let data = rig.object(DATA, 4096, &[]);
    // The ring has 16 KiB: 2000 requests of at least 32 bytes go round it several times.
    let batches: Vec<_> = (0..4u32)
        .map(|i| {
            let words = [STORE_DWORD, 0, DATA + i * 4, i + 1, FLUSH, END];
            rig.object(0x0100_0000 + i * 0x1000, 4096, &words)
        })
        .collect();
    let mut last = None;
    for i in 0..2000 {
        let request = rig.submit(&batches[i % 4]);
        if let Some(before) = last.replace(request.seqno()) {
            assert_eq!(request.seqno(), before + 1);
        }
        if i % 100 == 99 {
            request.wait(SHORT).unwrap();
        }
    }
    rig.device.wait_idle(SHORT).unwrap();
    assert_eq!(rig.platform.device().status().activity.batches, 2000);
    for i in 0..4 {
        assert_eq!(data.read32(i * 4).unwrap(), i as u32 + 1);
    }
    drop((data, batches));
    rig.finish();
}

#[test]
fn the_interrupt_signals_the_fence() {
    let rig = Rig::new();
    let batch = rig.object(0x0010_0000, 4096, &[USER_INTERRUPT, END]);
    let request = rig.submit(&batch);
    assert!(request.fence().status().is_none());
    // Nobody looks at the status page here: only the handler can have signalled.
    rig.platform.run(100_000);
    assert_eq!(request.fence().status(), Some(Ok(())));
    drop((batch, request));
    rig.finish();
}

#[test]
fn time_passes_only_on_the_device() {
    let rig = Rig::new();
    let before = rig.platform.now();
    assert_eq!(rig.platform.now(), before);
    rig.run(&[END, NOOP]);
    let spent = rig.platform.now() - before;
    assert!(
        spent > kernel::time::Delta::ZERO && spent < SHORT,
        "{spent}"
    );
    rig.finish();
}

#[test]
fn wrong_arguments_are_refused() {
    let rig = Rig::new();
    let object = rig.object(DATA, 8192, &[END]);
    let submit = |start, len| {
        let object = &object;
        rig.device.submit(&BatchDesc { object, start, len }).err()
    };
    assert_eq!(submit(4, 8), Some(EINVAL));
    assert_eq!(submit(0, 0), Some(EINVAL));
    assert_eq!(submit(8192, 8), Some(EINVAL));
    assert_eq!(submit(0, 8196), Some(EINVAL));
    assert_eq!(submit(!7, u32::MAX), Some(EINVAL));
    let other = rig.device.create_object(4096, Tiling::None, 0).unwrap();
    assert_eq!(rig.device.bind_at(&other, DATA + 4096).err(), Some(ENOSPC));
    assert_eq!(rig.device.bind_at(&other, DATA + 1).err(), Some(EINVAL));
    assert_eq!(rig.device.bind_at(&object, 0).err(), Some(EBUSY));
    let unbound = BatchDesc {
        object: &other,
        start: 0,
        len: 8,
    };
    assert_eq!(rig.device.submit(&unbound).err(), Some(EINVAL));
    assert_eq!(
        rig.device.create_object(0, Tiling::None, 0).err(),
        Some(EINVAL)
    );
    assert_eq!(
        rig.device.create_object(4096, Tiling::X, 100).err(),
        Some(EINVAL)
    );
    drop((object, other));
    rig.finish();
}
