//! G45 and Ironlake on plain memory: where they differ from the 965.
//!
//! Numbers are those of i915: `i915_reg.h`, `gt/intel_gt_regs.h`, `gt/intel_reset.c`, intel-gtt.c.
use std::vec;

use super::*;

const GTT_HIGH: usize = 0x20_0000;
const GTIMR: usize = 0x44014;
const GTIIR: usize = 0x44018;
const GTIER: usize = 0x4401c;
const DEIER: usize = 0x4400c;
const EMR: usize = 0x20b4;
const CACHE_MODE_0: usize = 0x2120;
const CHICKEN2: usize = 0x208c;
const ECOSKPD: usize = 0x21d0;
const VDECCLK_GATE_D: usize = 0x620c;
const ILK_GDSR: usize = 0x1_2ca4;

/// A device whose page tables lie in the upper half of 4 MiB.
fn later(id: u16) -> Arc<Fake> {
    let fake = Fake::new(0x8086, id);
    fake.set_bar(4 << 20);
    fake.set(PGTBL_CTL, PGTBL_128KB);
    fake.set(MI_MODE, 0x200);
    for masked in [MI_MODE, INSTPM, CACHE_MODE_0, CHICKEN2, ECOSKPD] {
        fake.mask(masked);
    }
    for clear in [IIR, GTIIR, EIR, PGTBL_ER] {
        fake.clear_on_one(clear);
    }
    fake
}

fn dword(fake: &Fake, address: u32) -> u32 {
    let entry = fake.peek(GTT_HIGH + (address >> 12) as usize * 4);
    assert_eq!(entry & 1, 1, "no valid entry for {address:#x}");
    let mut bytes = [0; 4];
    let bus = u64::from(entry & 0xffff_f000) + u64::from(address & 0xfff);
    DmaAllocator::read(fake, bus, &mut bytes).unwrap();
    u32::from_le_bytes(bytes)
}

fn store(fake: &Fake, address: u32, value: u32) {
    let entry = fake.peek(GTT_HIGH + (address >> 12) as usize * 4);
    let bus = u64::from(entry & 0xffff_f000) + u64::from(address & 0xfff);
    DmaAllocator::write(fake, bus, &value.to_le_bytes()).unwrap();
}

/// The number of the request that ends at a tail goes to the status page, which HWS_PGA names by a graphics address.
fn seqno(fake: &Fake, tail: u32) {
    let at = |back: u32| dword(fake, fake.peek(START) + (tail.wrapping_sub(back) & 0x3fff));
    assert_eq!([at(16), at(12)], [0x1080_0001, 0x100]);
    assert_eq!(at(4), 0x0100_0000);
    store(fake, fake.peek(HWS_PGA) + 0x100, at(8));
    fake.set(HEAD, tail);
}

/// Writes of registers since the last look, those of page table entries left out.
fn writes(fake: &Fake) -> Vec<Access> {
    let log = fake.take_log().into_iter();
    log.filter(|access| match access {
        Access::Read(..) => false,
        Access::Write(offset, _) => *offset < GTT_HIGH,
        Access::Config(..) => true,
    })
    .collect()
}

#[test]
fn the_status_page_has_a_graphics_address() {
    for id in [0x2a42, 0x2e22, 0x0042, 0x0046] {
        let fake = later(id);
        let dev = probe(&fake);
        let address = fake.peek(HWS_PGA);
        assert_eq!(dword(&fake, address + 0x100), 0, "{id:#x}");
        fake.on_write(Box::new(|fake, offset, tail| {
            if offset == TAIL && fake.peek(CTL) & 1 != 0 && fake.peek(HEAD) != tail {
                seqno(fake, tail);
            }
        }));
        let object = batch(&dev);
        let request = dev.submit(&desc(&object)).unwrap();
        assert_eq!(request.wait(MS), Ok(()), "{id:#x}");
        drop((object, request));
        assert_eq!(dev.remove(), Ok(()));
        assert_eq!(fake.allocations(), 0);
    }
}

/// i915 `i965_irq_postinstall`: errors of page tables, privileges and memory refresh; user interrupts are bits 1
/// and 25 (`I915_BSD_USER_INTERRUPT`).
#[test]
fn gm45_interrupts_like_the_965_for_more_errors() {
    let fake = later(0x2a42);
    let dev = probe(&fake);
    assert_eq!(fake.peek(EMR), !0x3a);
    assert_eq!(fake.peek(IER), 1 << 25 | 1 << 15 | 1 << 1);
    // A page table error is bit 5; its cause is cleared first.
    fake.set(IIR, 1 << 15);
    fake.set(EIR, 1 << 5);
    fake.set(PGTBL_ER, 0x10);
    assert_eq!(fake.interrupt(), Some(IrqReturn::Handled));
    assert_eq!([fake.peek(EIR), fake.peek(PGTBL_ER)], [0, 0]);
    assert!(dev.error_state().is_some());
}

/// i915 `gen5_gt_irq_postinstall`, `ilk_irq_handler`.
#[test]
fn ironlake_interrupts_through_its_own_registers_under_a_switch() {
    let fake = later(0x0046);
    let dev = probe(&fake);
    assert_eq!(fake.peek(GTIER), 1 << 5 | 1);
    // Unmasked with the start of the engines.
    assert_eq!(fake.peek(GTIMR), !(1 << 5 | 1));
    assert_eq!(fake.peek(DEIER), 1 << 31);
    assert_eq!(fake.peek(EMR), 0, "errors do not interrupt");
    fake.take_log();
    assert_eq!(fake.interrupt(), Some(IrqReturn::None));
    let switch = |on: u32| Access::Write(DEIER, on << 31);
    assert_eq!(writes(&fake), [switch(0), switch(1)]);
    fake.set(GTIIR, 1);
    assert_eq!(fake.interrupt(), Some(IrqReturn::Handled));
    let acknowledged = Access::Write(GTIIR, 1);
    assert_eq!(writes(&fake), [switch(0), acknowledged, switch(1)]);
    drop(dev);
    assert_eq!([fake.peek(GTIER), fake.peek(DEIER)], [0, 0]);
}

/// i915 `intel_workarounds.c`: names there.
#[test]
fn workarounds_are_those_of_the_part() {
    for (id, cache, chicken, eco) in [
        (0x2a42, 0x100, 0, 0x10),
        (0x2e22, 0x100, 0, 0x10),
        (0x0042, 0x100, 0x4000, 0),
    ] {
        let fake = later(id);
        fake.set(CACHE_MODE_0, 1);
        let _dev = probe(&fake);
        let set =
            [CACHE_MODE_0, CHICKEN2, ECOSKPD, MI_MODE].map(|offset| fake.peek(offset) & 0x7fff);
        assert_eq!(set[..3], [cache, chicken, eco], "{id:#x}");
        assert_eq!(set[3] & 0x40, 0x40, "{id:#x}");
    }
}

/// i915 `g4x_do_reset`.
#[test]
fn g45_resets_media_then_render() {
    let fake = later(0x2e22);
    let dev = probe(&fake);
    fake.set(VDECCLK_GATE_D, 0x20);
    // The enable bit falls when the domain is done.
    fake.on_config_write(Box::new(|fake, offset, value| {
        if offset == 0xc0 {
            fake.set_config(0xc0, value as u8 & !1);
        }
    }));
    fake.take_log();
    dev.reset().unwrap();
    let seen = writes(&fake).into_iter().filter(|access| {
        matches!(
            access,
            Access::Config(0xc0, _) | Access::Write(VDECCLK_GATE_D, _)
        )
    });
    let expected = vec![
        Access::Write(VDECCLK_GATE_D, 0x30),
        Access::Config(0xc0, 3 << 2 | 1),
        Access::Config(0xc0, 1 << 2 | 1),
        Access::Config(0xc0, 0),
        Access::Write(VDECCLK_GATE_D, 0x20),
    ];
    assert_eq!(seen.collect::<Vec<_>>(), expected);
}

/// i915 `ilk_do_reset`.
#[test]
fn ironlake_resets_render_then_media_by_a_register() {
    let fake = later(0x0042);
    let dev = probe(&fake);
    fake.on_write(Box::new(|fake, offset, value| {
        if offset == ILK_GDSR {
            fake.set(ILK_GDSR, value & !1);
        }
    }));
    fake.take_log();
    dev.reset().unwrap();
    let seen = writes(&fake)
        .into_iter()
        .filter(|access| matches!(access, Access::Config(..) | Access::Write(ILK_GDSR, _)));
    let expected = [1 << 1 | 1, 3 << 1 | 1, 0].map(|value| Access::Write(ILK_GDSR, value));
    assert_eq!(seen.collect::<Vec<_>>(), expected);
}

/// A domain that stays in reset wedges the device.
#[test]
fn a_reset_that_does_not_end_is_told() {
    for id in [0x2a42, 0x0046] {
        let fake = later(id);
        let dev = probe(&fake);
        // Both enable bits stay as they were written.
        assert!(dev.reset().is_err(), "{id:#x}");
        let object = batch(&dev);
        assert_eq!(dev.submit(&desc(&object)).err(), Some(EIO), "{id:#x}");
        assert_eq!(fake.peek(ILK_GDSR), 0);
        assert_eq!(fake.peek(VDECCLK_GATE_D), 0);
    }
}
