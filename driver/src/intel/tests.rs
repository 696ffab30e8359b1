//! The driver on plain memory with a stand-in for the command streamer.
//!
//! The stand-in knows registers and breadcrumb by literal numbers from i915, not by the tables. Not covered: what a
//! batch does; that is the device model's business.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "tests")]
extern crate std;
mod faults;
pub(crate) mod gen60;
pub(crate) mod gen70;
mod generations;
mod shares;

use alloc::boxed::Box;
use alloc::string::ToString;
use alloc::sync::Arc;
use alloc::vec::Vec;

use kernel::dma::DmaAllocator;
use kernel::error::code::{EBUSY, EINVAL, EIO, ENODEV, ENOSPC, ETIME};
use kernel::fake::{Access, Fake};
use kernel::io::Io;
use kernel::irq::IrqReturn;
use kernel::platform::Platform;
use kernel::time::{Clock, Delta};
use regs::ids::RegId;

use crate::intel::debug::snapshot::PixelTrigger;
use crate::{BatchDesc, Device, Driver, Object, Tiling};

const TAIL: usize = 0x2030;
const HEAD: usize = 0x2034;
const START: usize = 0x2038;
const CTL: usize = 0x203c;
const HWS_PGA: usize = 0x2080;
const MI_MODE: usize = 0x209c;
const IIR: usize = 0x20a4;
const IMR: usize = 0x20a8;
const IER: usize = 0x20a0;
const EIR: usize = 0x20b0;
const PGTBL_CTL: usize = 0x2020;
const PGTBL_ER: usize = 0x2024;
const INSTPM: usize = 0x20c0;
const GTT: usize = 0x80000;
const WIZ_CTL: usize = 0x7c00;
const WIZ_RDATA: usize = 0x7c08;
/// 128 KiB of GTT keep the tests quick.
const PGTBL_128KB: u32 = 2 << 1;
const ENTRIES: usize = 32768;
const MS: Delta = Delta::from_millis(1);

pub(crate) fn fake() -> Arc<Fake> {
    let fake = Fake::new(0x8086, 0x2a02);
    fake.set(PGTBL_CTL, PGTBL_128KB);
    fake.set(MI_MODE, 0x200);
    for masked in [MI_MODE, INSTPM, 0x2120, 0x21d0] {
        fake.mask(masked);
    }
    for clear in [IIR, EIR, PGTBL_ER] {
        fake.clear_on_one(clear);
    }
    fake
}

/// Reads `len` bytes at a graphics address through the page table entries that the driver wrote.
fn read_graphics(fake: &Fake, address: u32, len: usize) -> Vec<u8> {
    let pte = fake.peek(GTT + (address >> 12) as usize * 4);
    assert_eq!(pte & 1, 1, "no valid entry for {address:#x}");
    let bus = u64::from(pte & 0xffff_f000) | u64::from(pte & 0xf0) << 28;
    let mut bytes = std::vec![0; len];
    DmaAllocator::read(fake, bus + u64::from(address & 0xfff), &mut bytes).unwrap();
    bytes
}

pub(crate) fn read_dword(fake: &Fake, address: u32) -> u32 {
    u32::from_le_bytes(read_graphics(fake, address, 4).try_into().unwrap())
}

/// Finishes what lies before the new tail: the breadcrumb ends in offset, number, interrupt.
pub(crate) fn finish(fake: &Fake, offset: usize, tail: u32) {
    if offset != TAIL || fake.peek(CTL) & 1 == 0 || fake.peek(HEAD) == tail {
        return;
    }
    let at = |back: u32| read_dword(fake, fake.peek(START) + (tail.wrapping_sub(back) & 0x3fff));
    assert_eq!([at(16), at(12)], [0x1080_0001, 0x100]);
    assert_eq!(at(4), 0x0100_0000);
    fake.set(HEAD, tail);
    let hws = u64::from(fake.peek(HWS_PGA));
    DmaAllocator::write(fake, hws + 0x100, &at(8).to_le_bytes()).unwrap();
    fake.set(IIR, fake.peek(IIR) | 2 & !fake.peek(IMR));
    if fake.peek(IIR) & fake.peek(IER) != 0 {
        assert_eq!(fake.interrupt(), Some(IrqReturn::Handled));
    }
}

fn probe(fake: &Arc<Fake>) -> Device {
    Driver::probe(fake.clone()).unwrap()
}

fn batch(dev: &Device) -> Object {
    let object = dev.create_object(4096, Tiling::None, 0).unwrap();
    object.write_dwords(0, &[0x0500_0000, 0]).unwrap();
    dev.bind(&object).unwrap();
    object
}

fn desc(object: &Object) -> BatchDesc<'_> {
    BatchDesc {
        object,
        start: 0,
        len: 8,
    }
}

fn valid_entries(fake: &Fake) -> usize {
    (0..ENTRIES)
        .filter(|index| fake.peek(GTT + index * 4) != 0)
        .count()
}

#[test]
fn probe_and_remove_leave_nothing_behind() {
    let fake = fake();
    for index in 0..ENTRIES {
        fake.set(GTT + index * 4, 0xdead_0001);
    }
    let dev = probe(&fake);
    assert_eq!(dev.name(), "GM965");
    assert!(fake.has_handler());
    // Ring and scratch page.
    assert_eq!(valid_entries(&fake), 5);
    assert_eq!(fake.peek(CTL), 0x3001);
    assert!(dev.is_idle());
    let object = batch(&dev);
    assert_eq!(valid_entries(&fake), 6);
    dev.remove().unwrap();
    assert_eq!(valid_entries(&fake), 0);
    assert_eq!(fake.peek(CTL), 0);
    assert_eq!(fake.peek(IMR), u32::MAX);
    assert_eq!(fake.peek(IER), 0);
    assert_eq!(fake.peek(HWS_PGA), 0x1fff_f000);
    assert_ne!(fake.peek(MI_MODE) & 0x100, 0);
    assert!(!fake.has_handler());
    fake.take_log();
    drop(object);
    assert_eq!(fake.take_log(), [], "a dead device is not touched");
    assert_eq!(fake.allocations(), 0);
}

#[test]
fn a_request_keeps_its_batch_but_not_its_device() {
    let fake = fake();
    let dev = probe(&fake);
    let object = batch(&dev);
    let request = dev.submit(&desc(&object)).unwrap();
    drop(object);
    assert_eq!(fake.peek(GTT + 4) & 1, 1, "the batch may still run");
    let hws = u64::from(fake.peek(HWS_PGA));
    DmaAllocator::write(&*fake, hws + 0x100, &1u32.to_le_bytes()).unwrap();
    assert!(request.is_complete());
    assert_eq!(fake.peek(GTT + 4), 0);

    let object = batch(&dev);
    let hung = dev.submit(&desc(&object)).unwrap();
    drop(object);
    dev.remove().unwrap();
    assert_eq!(fake.allocations(), 0);
    assert_eq!(hung.wait(MS), Err(ENODEV));
    assert_eq!(request.wait(MS), Ok(()));
}

#[test]
fn dropping_the_device_removes_it() {
    let fake = fake();
    drop(probe(&fake));
    assert!(!fake.has_handler());
    assert_eq!(valid_entries(&fake), 0);
    assert_eq!(fake.allocations(), 0);
}

#[test]
fn unknown_devices_and_dead_page_tables_are_refused() {
    assert_eq!(Driver::probe(Fake::new(0x8086, 0x27a2)).err(), Some(ENODEV));
    assert_eq!(Driver::probe(Fake::new(0x10de, 0x2a02)).err(), Some(ENODEV));
    let fake = fake();
    fake.on_write(Box::new(|fake, offset, _| {
        if offset == PGTBL_CTL {
            fake.set(PGTBL_CTL, PGTBL_128KB);
        }
    }));
    assert_eq!(Driver::probe(fake.clone()).err(), Some(EIO));
    assert_eq!(fake.allocations(), 0);
    assert!(!fake.has_handler());
}

#[test]
fn a_ring_that_does_not_start_fails_the_probe_cleanly() {
    let fake = fake();
    fake.on_write(Box::new(|fake, offset, _| {
        if offset == CTL {
            fake.set(CTL, 0);
        }
    }));
    assert_eq!(Driver::probe(fake.clone()).err(), Some(EIO));
    assert_eq!(fake.allocations(), 0);
    assert_eq!(valid_entries(&fake), 0);
    assert!(!fake.has_handler());
}

#[test]
fn requests_complete_through_the_interrupt_and_wrap_the_ring() {
    let fake = fake();
    fake.on_write(Box::new(finish));
    let dev = probe(&fake);
    let object = batch(&dev);
    for number in 1..=200 {
        let request = dev.submit(&desc(&object)).unwrap();
        assert_eq!(request.seqno(), number);
        // Signalled by the interrupt, before anybody waits.
        assert_eq!(request.fence().status(), Some(Ok(())));
        assert_eq!(request.wait(MS), Ok(()));
    }
    assert_eq!(fake.now().as_nanos(), 0);
    assert!(dev.is_idle());
    assert!(dev.error_state().is_none());
    // 200 requests of 400 bytes are more than the 16 KiB ring.
    assert!(fake.peek(TAIL) < 0x4000);
}

#[test]
fn a_lost_interrupt_does_not_lose_the_request() {
    let fake = fake();
    let dev = probe(&fake);
    let object = batch(&dev);
    let request = dev.submit(&desc(&object)).unwrap();
    assert!(!request.is_complete());
    let hws = u64::from(fake.peek(HWS_PGA));
    DmaAllocator::write(&*fake, hws + 0x100, &1u32.to_le_bytes()).unwrap();
    assert_eq!(request.wait(MS), Ok(()));
}

#[test]
fn the_ring_starts_the_batch_where_it_is_bound() {
    let fake = fake();
    let dev = probe(&fake);
    let object = dev.create_object(8192, Tiling::None, 0).unwrap();
    dev.bind_at(&object, 0x10_4000).unwrap();
    dev.submit(&BatchDesc {
        object: &object,
        start: 0x1008,
        len: 16,
    })
    .unwrap();
    assert_eq!(fake.peek(TAIL), 400);
    let start = fake.peek(START);
    let words: Vec<u32> = (0..100)
        .map(|at| read_dword(&fake, start + at * 4))
        .collect();
    // i915 gen4_emit_flush_rcs, gen4_emit_bb_start, gen3_emit_breadcrumb.
    assert_eq!(words[0], 0x0200_0002);
    assert_eq!(words[1], 0x7a00_4002);
    assert_eq!(words[5..17], [0x0200_0000; 12]);
    assert_eq!(words[21..24], [0x0200_0002, 0x1880_0180, 0x10_5008]);
    assert_eq!(words[24..27], [0x0200_0000; 3]);
    assert_eq!(words[27..30], [0x1080_0001, 0x200, 1]);
    assert_eq!(words[96..], [0x1080_0001, 0x100, 1, 0x0100_0000][..]);
}

#[test]
fn bad_batches_are_refused() {
    let fake = fake();
    let dev = probe(&fake);
    let object = dev.create_object(4096, Tiling::None, 0).unwrap();
    let submit = |start, len| {
        dev.submit(&BatchDesc {
            object: &object,
            start,
            len,
        })
        .err()
    };
    assert_eq!(submit(0, 8), Some(EINVAL), "not bound");
    dev.bind(&object).unwrap();
    for (start, len) in [(4, 8), (0, 0), (4096, 8), (0, 4104), (u32::MAX - 7, 8)] {
        assert_eq!(submit(start, len), Some(EINVAL), "{start} {len}");
    }
    let other = probe(&self::fake());
    assert_eq!(other.submit(&desc(&object)).err(), Some(EINVAL));
    assert_eq!(fake.peek(TAIL), 0);
}

#[test]
fn binding_follows_the_chosen_address_and_refuses_overlaps() {
    let fake = fake();
    let dev = probe(&fake);
    let first = dev.create_object(8192, Tiling::None, 0).unwrap();
    let second = dev.create_object(4096, Tiling::None, 0).unwrap();
    assert_eq!(dev.bind_at(&first, 0x10_0000), Ok(0x10_0000));
    assert_eq!(dev.bind_at(&first, 0x20_0000), Err(EBUSY));
    assert_eq!(dev.bind_at(&second, 0x10_1000), Err(ENOSPC));
    assert_eq!(dev.bind_at(&second, 0x10_2004), Err(EINVAL));
    assert_eq!(dev.bind_at(&second, 0xffff_f000), Err(EINVAL));
    assert_eq!(dev.bind_at(&second, 0x10_2000), Ok(0x10_2000));
    first.write(4096, b"page").unwrap();
    assert_eq!(read_graphics(&fake, 0x10_1000, 4), b"page");
    first.unbind();
    assert_eq!(first.address(), None);
    assert_eq!(fake.peek(GTT + 0x100 * 4), 0);
    assert_eq!(fake.peek(GTT + 0x101 * 4), 0);
    assert_eq!(dev.bind_aligned(&first, 0x1_0000), Ok(0x1_0000));
}

#[test]
fn fences_are_written_off_first_and_returned() {
    let fake = fake();
    let dev = probe(&fake);
    assert_eq!(dev.create_object(4096, Tiling::X, 100).err(), Some(EINVAL));
    let object = dev.create_object(0x4_0000, Tiling::X, 1024).unwrap();
    assert_eq!(object.fence(), Err(EINVAL), "not bound");
    dev.bind_at(&object, 0x10_0000).unwrap();
    fake.take_log();
    assert_eq!(object.fence(), Ok(0));
    // i915 i965_write_fence_reg.
    assert_eq!(
        fake.take_log(),
        [
            Access::Write(0x3000, 0),
            Access::Read(0x3000, 0),
            Access::Write(0x3004, 0x0013_f000),
            Access::Write(0x3000, 0x0010_001d),
            Access::Read(0x3000, 0x0010_001d),
        ]
    );
    assert_eq!(object.fence(), Ok(0));
    object.unbind();
    assert_eq!((fake.peek(0x3000), fake.peek(0x3004)), (0, 0));
    assert_eq!(dev.ggtt().fences().used(), 0);
}

#[test]
fn a_hang_times_out_in_virtual_time_and_reset_recovers() {
    let fake = fake();
    // i915_do_reset: status follows enable.
    fake.on_config_write(Box::new(|fake, offset, value| {
        if offset == 0xc0 {
            fake.set_config(0xc0, (value as u8 & 1) * 3);
        }
    }));
    let dev = probe(&fake);
    let object = batch(&dev);
    let request = dev.submit(&desc(&object)).unwrap();
    fake.set(0x2068, 0x7b00_1404);
    fake.set(0x2074, 0x1234);
    let before = fake.now();
    assert_eq!(request.wait(Delta::from_millis(20)), Err(ETIME));
    let waited = (fake.now() - before).as_nanos();
    assert_eq!(waited, 20_010_000, "the timeout and one sample");
    assert!(!dev.is_idle());
    let state = dev.error_state().unwrap();
    assert_eq!(state.register(RegId::Acthd), Some(0x1234));
    assert_eq!((state.completed, state.submitted), (Some(0), 1));
    let text = state.to_string();
    assert!(text.contains("request 1 not done after 20 ms: the engine stands still"));
    assert!(text.contains("IPEHR: 0x7b001404  3DPRIMITIVE"), "{text}");

    fake.take_log();
    dev.reset().unwrap();
    let config: Vec<Access> = fake
        .take_log()
        .into_iter()
        .filter(|access| matches!(access, Access::Config(..)))
        .collect();
    assert_eq!(config, [Access::Config(0xc0, 1), Access::Config(0xc0, 0)]);
    assert_eq!(request.wait(MS), Err(EIO));
    assert_eq!(object.address(), Some(0x1000), "objects stay bound");
    assert!(dev.take_error_state().is_some());

    fake.on_write(Box::new(finish));
    let request = dev.submit(&desc(&object)).unwrap();
    assert_eq!(request.seqno(), 2);
    assert_eq!(request.wait(MS), Ok(()));
    assert!(dev.error_state().is_none());
}

#[test]
fn an_error_interrupt_is_captured_and_acknowledged() {
    let fake = fake();
    let dev = probe(&fake);
    fake.set(EIR, 0x10);
    fake.set(PGTBL_ER, 1 << 20);
    fake.set(IIR, 0x8000);
    assert_eq!(fake.interrupt(), Some(IrqReturn::Handled));
    assert_eq!(fake.interrupt(), Some(IrqReturn::None));
    assert_eq!([EIR, PGTBL_ER, IIR].map(|reg| fake.peek(reg)), [0; 3]);
    let state = dev.error_state().unwrap();
    assert_eq!(state.register(RegId::Eir), Some(0x10));
    assert!(state.to_string().contains("Page Table Error"));
    assert!(state.to_string().contains("Command Fetch"));
}

#[test]
fn an_error_that_does_not_clear_is_masked() {
    let fake = fake();
    let dev = probe(&fake);
    fake.on_write(Box::new(|fake, offset, _| {
        if offset == EIR {
            fake.set(EIR, 0x2);
        }
    }));
    fake.set(EIR, 0x2);
    fake.set(IIR, 0x8000);
    fake.interrupt();
    assert_eq!(fake.peek(0x20b4), 0xffff_ffef);
    assert!(dev.error_state().is_some());
}

#[test]
fn the_pixel_snapshot_is_armed_read_and_disarmed() {
    let fake = fake();
    fake.on_write(Box::new(|fake, offset, value| {
        if offset == WIZ_CTL {
            fake.set(WIZ_RDATA, 0x1000 + (value >> 8 & 0xff));
        }
    }));
    let dev = probe(&fake);
    fake.take_log();
    let trigger = PixelTrigger {
        x: 100,
        y: 50,
        instance: Some(2),
        flag_thread: true,
    };
    let snapshot = dev.arm_pixel_snapshot(trigger).unwrap();
    // PRM vol4 3.3.9.1, 3.3.9.2; global debug enable in INSTPM bit 4.
    assert_eq!(
        fake.take_log(),
        [
            Access::Write(INSTPM, 0x0010_0010),
            Access::Write(0x7c04, 0x0032_0064),
            Access::Write(WIZ_CTL, 0x0002_0013),
        ]
    );
    assert!(!snapshot.is_complete());
    assert!(snapshot.read().is_err());
    fake.set(WIZ_CTL, 0x8002_0013);
    let data = snapshot.read().unwrap();
    assert_eq!(
        [data.kernel_pointer, data.subspan_instances, data.primitive],
        [0x1000, 0x1001, 0x1002]
    );
    snapshot.rearm();
    assert!(!snapshot.is_complete());
    snapshot.disarm();
    assert_eq!(fake.peek(WIZ_CTL), 0);
    assert_eq!(fake.peek(INSTPM), 0);
}

#[test]
fn handles_can_go_to_other_threads() {
    fn check<T: Send + Sync + ?Sized>() {}
    check::<Device>();
    check::<Object>();
    check::<crate::Request>();
    check::<crate::ErrorState>();
    check::<dyn Platform>();
    check::<dyn Io>();
}
