//! ValleyView on plain memory: registers in the order of i915.
//!
//! Numbers are those of i915: `i915_reg.h`, `gt/intel_gt_regs.h`, `gt/intel_engine_regs.h`, `gt/intel_ring_submission.c`, `gt/intel_workarounds.c`,
//! `intel_uncore.c`, `i915_irq.c`.
mod errors;

use std::vec;

use super::*;
use crate::intel::gtt::Place;

const GTT_HIGH: usize = 0x20_0000;
const FORCEWAKE: [usize; 2] = [0x13_00b0, 0x13_00b8];
const FORCEWAKE_ACK: [usize; 2] = [0x13_00b4, 0x13_00bc];
const GTFIFOCTL: usize = 0x12_0008;
const GDRST: usize = 0x941c;
const BASES: [usize; 3] = [0x2000, 0x1_2000, 0x2_2000];
const STATUS: [usize; 3] = [0x4080, 0x4180, 0x4280];
const GFX_MODE: usize = 0x29c;
const MASKED: [usize; 6] = [0x2090, 0x7000, 0x7004, 0x7008, 0xe100, 0xe4f4];

/// What the device does by itself.
fn answer(fake: &Fake, offset: usize, value: u32) {
    match offset {
        GDRST => fake.set(GDRST, 0),
        // A synchronous flush is done at once.
        0x20c0 | 0x1_20c0 | 0x2_20c0 => fake.set(offset, fake.peek(offset) & !(1 << 5)),
        _ => {
            for (request, ack) in FORCEWAKE.into_iter().zip(FORCEWAKE_ACK) {
                if offset == request {
                    fake.set(ack, value & 1);
                }
            }
        }
    }
}

pub(crate) fn device() -> Arc<Fake> {
    let fake = Fake::new(0x8086, 0x0f31);
    // 128 KiB of the GTT are in the BAR, which keeps the tests quick.
    fake.set_bar((GTT_HIGH + ENTRIES * 4) as u64);
    fake.set_config(0x51, 2);
    fake.set(GTFIFOCTL, 0x3f);
    for base in BASES {
        fake.set(base + 0x9c, 0x200);
        for masked in [0x9c, 0xc0, GFX_MODE] {
            fake.mask(base + masked);
        }
    }
    for masked in MASKED {
        fake.mask(masked);
    }
    for clear in [0x4_4018, 0x4_4028] {
        fake.clear_on_one(clear);
    }
    fake.on_write(Box::new(answer));
    fake
}

fn entry(fake: &Fake, address: u32) -> u32 {
    fake.peek(GTT_HIGH + (address >> 12) as usize * 4)
}

fn bus(entry: u32) -> u64 {
    assert_eq!(entry & 1, 1, "valid");
    u64::from(entry & 0xffff_f000) | u64::from(entry & 0xff0) << 28
}

fn read(fake: &Fake, at: u64) -> u32 {
    let mut bytes = [0; 4];
    DmaAllocator::read(fake, at, &mut bytes).unwrap();
    u32::from_le_bytes(bytes)
}

/// The dword at an address of the global GTT.
pub(crate) fn dword(fake: &Fake, address: u32) -> u32 {
    read(fake, bus(entry(fake, address)) + u64::from(address & 0xfff))
}

/// The entry of an address of the global GTT.
pub(crate) fn global_entry(fake: &Fake, address: u32) -> u32 {
    entry(fake, address)
}

/// The entry of an address in the process space, through the directory of the render engine.
pub(crate) fn process_entry(fake: &Fake, address: u32) -> u32 {
    let first = (fake.peek(0x2228) >> 16) as usize * 64;
    let table = bus(fake.peek(GTT_HIGH + first + (address >> 22) as usize * 4));
    read(fake, table + u64::from(address >> 12 & 0x3ff) * 4)
}

/// Ends every request up to the tail of an engine, which has its number where the breadcrumb wants it.
fn complete(fake: &Fake, engine: usize, number: u32) {
    let page = fake.peek(STATUS[engine]);
    let at = bus(entry(fake, page)) + 0x100;
    DmaAllocator::write(fake, at, &number.to_le_bytes()).unwrap();
    fake.set(BASES[engine] + 0x34, fake.peek(BASES[engine] + 0x30));
}

/// The same as soon as the tail of a ring moves: breadcrumbs end in number, interrupt, no-operation on the render engine, and in
/// number, three dwords of a flush, interrupt, no-operation on the others.
pub(crate) fn finish(fake: &Fake, offset: usize, value: u32) {
    answer(fake, offset, value);
    let Some(engine) = BASES.into_iter().position(|base| base + 0x30 == offset) else {
        return;
    };
    let base = BASES[engine];
    if fake.peek(base + 0x3c) & 1 == 0 || fake.peek(base + 0x34) == value {
        return;
    }
    let back = if engine == 0 { 12 } else { 24 };
    let ring = fake.peek(base + 0x38);
    let number = dword(fake, ring + (value.wrapping_sub(back) & 0x3fff));
    complete(fake, engine, number);
}

/// The commands in the ring of an engine, from its start on.
pub(crate) fn ring(fake: &Fake, engine: usize) -> Vec<u32> {
    let (ring, tail) = (
        fake.peek(BASES[engine] + 0x38),
        fake.peek(BASES[engine] + 0x30),
    );
    (0..tail / 4).map(|at| dword(fake, ring + at * 4)).collect()
}

fn writes(fake: &Fake, wanted: impl Fn(usize) -> bool) -> Vec<(usize, u32)> {
    let log = fake.take_log().into_iter();
    log.filter_map(|access| match access {
        Access::Write(offset, value) if wanted(offset) => Some((offset, value)),
        _ => None,
    })
    .collect()
}

/// `xcs_resume` with `stop_ring`, `set_hwsp`, `set_hwstam`, `flush_cs_tlb`, `set_pp_dir`.
#[test]
fn a_ring_starts_in_the_order_of_i915() {
    let fake = device();
    let dev = probe(&fake);
    assert_eq!(dev.name(), "ValleyView");
    assert_eq!(dev.ggtt().entries(), ENTRIES);
    let log = writes(&fake, |offset| {
        (0x2_2000..0x2_3000).contains(&offset) || offset == STATUS[2]
    });
    let (ring, page, directory) = (
        fake.peek(0x2_2038),
        fake.peek(STATUS[2]),
        fake.peek(0x2_2228),
    );
    assert_eq!(directory & 0xffff, 0, "64 KiB aligned");
    let halt = [(0x2_209c, 1 << 24 | 1 << 8)];
    let stop = [(0x2_2034, 0), (0x2_203c, 0), (0x2_2034, 0), (0x2_2030, 0)];
    let start = [
        (STATUS[2], page),
        (0x2_2098, u32::MAX),
        (0x2_20c0, (1 << 9 | 1 << 5) * 0x1_0001),
        (0x2_2038, ring),
        (0x2_2220, u32::MAX),
        (0x2_2228, directory),
        (0x2_229c, (1 << 9) * 0x1_0001),
        (0x2_2034, 0),
        (0x2_2030, 0),
        (0x2_203c, 0x3001),
        (0x2_209c, 1 << 24),
        // gen6_irq_enable
        (0x2_20a8, !(1 << 22)),
    ];
    assert_eq!(log, [&halt[..], &stop, &stop, &start].concat());
    assert_eq!(STATUS.map(|at| fake.peek(at) != 0), [true; 3]);
    drop(dev);
    assert_eq!(fake.allocations(), 0);
}

/// `gen7_ppgtt_enable`, `vlv_gt_workarounds_init`, `vlv_init_clock_gating`, `rcs_engine_wa_init`, `gen7_ctx_workarounds_init`.
#[test]
fn tables_and_workarounds_are_switched_on() {
    let fake = device();
    for (offset, value) in [
        (0x4090, 0x0000_0412),
        (0xb010, 0x0073_0000),
        (0xb034, 0x0800_0123),
        (0x9030, 0x1),
        (0x9404, u32::MAX),
        (0x940c, 0x2),
        (0x18_2060, u32::MAX),
        (0x20a0, 0x0003_9010),
        (0x7000, 1),
        (0x7008, 1 << 7),
    ] {
        fake.set(offset, value);
    }
    let _dev = probe(&fake);
    assert_eq!(fake.peek(0x1_4090), 3 << 8, "GAC_ECO_BITS");
    assert_eq!(fake.peek(0x4090), 0x40a, "GAM_ECOCHK");
    assert_eq!(fake.peek(0xb010), 0x00d3_0000, "L3SQCREG1");
    assert_eq!(fake.peek(0xb034), 0x123, "L3SQCREG4");
    assert_eq!(fake.peek(0xe4f4), 1, "ROW_CHICKEN2");
    assert_eq!(fake.peek(0x9030), 0x801, "MBCUNIT_CONFIG");
    assert_eq!(fake.peek(0x9404), 1 << 13, "UCGCTL2");
    assert_eq!(fake.peek(0x940c), 1 << 25 | 2, "UCGCTL4");
    assert_eq!(fake.peek(0x18_2060), 1 << 8, "VLV_GUNIT_CLOCK_GATE");
    assert_eq!(fake.peek(0x20c0) & 1 << 7, 1 << 7, "INSTPM");
    assert_eq!(fake.peek(0x2090), 1 << 10, "3D_CHICKEN3");
    assert_eq!(fake.peek(0x20a0), 0x8000, "FF_THREAD_MODE");
    assert_eq!(fake.peek(0xe100), 1 << 15 | 1 << 3, "HALF_SLICE_CHICKEN1");
    assert_eq!(fake.peek(0x229c), 1 << 13 | 1 << 11 | 1 << 9, "RING_MODE");
    assert_eq!([fake.peek(0x1_229c), fake.peek(0x2_229c)], [1 << 9; 2]);
    assert_eq!([fake.peek(0x7000), fake.peek(0x7004)], [0, 1 << 6]);
    assert_eq!(fake.peek(0x7008), 1 << 9, "16x4");
    assert_eq!(fake.peek(0x209c) & 1 << 14, 1 << 14, "MI_MODE");
}

/// `__vlv_fw_ranges`, `fw_domains_get_normal`, `fw_domain_put`, `gen6_write32`.
#[test]
fn each_part_is_awake_for_its_own_registers() {
    let fake = device();
    let dev = probe(&fake);
    let io = dev.uncore().io();
    for (register, well) in [
        (0x2074, 0),
        (0x1_2074, 1),
        (0x2_2074, 1),
        (0xb010, 0),
        (0x7100, 0),
    ] {
        fake.take_log();
        io.read32(register);
        let (request, ack) = (FORCEWAKE[well], FORCEWAKE_ACK[well]);
        let value = fake.peek(register);
        let expected = [
            Access::Read(ack, 0),
            Access::Write(request, 0x1_0001),
            Access::Read(ack, 1),
            Access::Read(register, value),
            Access::Write(request, 0x1_0000),
        ];
        assert_eq!(fake.take_log(), expected, "{register:#x}");
    }
    // What lies between those of the parts, and behind them, is not the GT's.
    for register in [0x4080, 0x941c, 0x1_4090, 0x2_4000, 0x4_4018, 0x18_2060] {
        io.read32(register);
        assert_eq!(fake.take_log().len(), 1, "{register:#x}");
    }
    // Both parts for a while.
    {
        let _awake = dev.uncore().awake();
        let log = fake.take_log();
        let expected = [
            Access::Read(FORCEWAKE_ACK[0], 0),
            Access::Write(FORCEWAKE[0], 0x1_0001),
            Access::Read(FORCEWAKE_ACK[1], 0),
            Access::Write(FORCEWAKE[1], 0x1_0001),
            Access::Read(FORCEWAKE_ACK[0], 1),
            Access::Read(FORCEWAKE_ACK[1], 1),
        ];
        assert_eq!(log, expected);
        io.read32(0x2074);
        io.read32(0x2_2074);
        assert_eq!(fake.take_log().len(), 2);
    }
    assert_eq!(
        fake.take_log(),
        FORCEWAKE.map(|request| Access::Write(request, 0x1_0000))
    );
    // The queue is looked at each time (`__gen6_gt_wait_for_fifo`).
    for _ in 0..3 {
        io.write32(0, 0x2358);
    }
    let looks = fake.take_log().into_iter();
    let looks = looks.filter(|access| matches!(access, Access::Read(GTFIFOCTL, _)));
    assert_eq!(looks.count(), 3);
}

/// `valleyview_irq_postinstall`, `valleyview_irq_handler`.
#[test]
fn the_switch_is_off_while_interrupts_are_cleared() {
    let fake = device();
    let dev = probe(&fake);
    let all = 1 << 22 | 1 << 12 | 1;
    assert_eq!([fake.peek(0x4_401c), fake.peek(0x4_4014)], [all, !all]);
    assert_eq!([fake.peek(0x4_4024), fake.peek(0x4_402c)], [!0, 0]);
    assert_eq!(fake.peek(0x4_400c), 1 << 31);
    // Nothing is pending: nothing is written.
    fake.take_log();
    assert_eq!(fake.interrupt(), Some(IrqReturn::None));
    assert_eq!(writes(&fake, |_| true), []);
    let object = batch(&dev);
    let request = dev.submit(&desc(&object)).unwrap();
    complete(&fake, 0, 1);
    for (cause, ended) in [(1 << 22, false), (1 << 12, false), (1, true)] {
        fake.set(0x4_4018, cause);
        fake.take_log();
        assert_eq!(fake.interrupt(), Some(IrqReturn::Handled));
        let expected = [(0x4_400c, 0), (0x4_4018, cause), (0x4_400c, 1 << 31)];
        assert_eq!(writes(&fake, |_| true), expected);
        assert_eq!(request.fence().status().is_some(), ended, "{cause:#x}");
    }
    drop((object, request, dev));
    assert_eq!(BASES.map(|base| fake.peek(base + 0xa8)), [!0; 3]);
    assert_eq!(fake.peek(0x4_400c), 0);
}

/// `gen6_hw_domain_reset`: everything, twice.
#[test]
fn a_reset_is_asked_for_twice_and_starts_all_engines_again() {
    let fake = device();
    let dev = probe(&fake);
    fake.take_log();
    dev.reset().unwrap();
    let log = writes(&fake, |offset| offset == GDRST || offset & 0xfff == 0x3c);
    let found: Vec<_> = log.into_iter().filter(|(_, value)| *value != 0).collect();
    let [render, video, blitter] = BASES.map(|base| (base + 0x3c, 0x3001));
    let expected = [(GDRST, 1), (GDRST, 1), render, blitter, video];
    assert_eq!(found, expected);
}

/// `i915_ggtt_init_fences`: sixteen, as on this part alone of its generation; `i965_write_fence_reg`.
#[test]
fn there_are_sixteen_fences() {
    let fake = device();
    let dev = probe(&fake);
    assert_eq!(dev.ggtt().fences().count(), 16);
    let object = dev.create_object(0x4_0000, Tiling::Y, 1024).unwrap();
    let place = Place {
        fixed: Some(0x10_0000),
        ..Place::default()
    };
    object.bind_user(&place).unwrap();
    fake.take_log();
    assert_eq!(object.fence(), Ok(0));
    let expected = vec![
        (0x10_0000, 0),
        (0x10_0004, 0x0013_f007),
        (0x10_0000, 0x0010_0003),
    ];
    let fences = 0x10_0000..0x10_0080;
    assert_eq!(writes(&fake, |offset| fences.contains(&offset)), expected);
}

/// `eb_parse`: the copy runs with privileges, read-only for the device, and what is behind it without.
#[test]
fn a_request_runs_the_copy_of_its_batch() {
    let fake = device();
    let dev = probe(&fake);
    let object = dev.create_object(4096, Tiling::None, 0).unwrap();
    dev.bind_at(&object, 0x10_4000).unwrap();
    object
        .write_dwords(0, &[0x1100_0001, 0x5280, 7, 0x0500_0000])
        .unwrap();
    let whole = BatchDesc {
        len: 16,
        ..desc(&object)
    };
    dev.submit(&whole).unwrap();
    let words = ring(&fake, 0);
    // Invalidation, directory, two batches, flush, breadcrumb.
    assert_eq!(words.len(), 8 + (4 + 12 + 4 + 8) + 4 + 4 + 6);
    let (first, second) = (words[37], words[39]);
    assert_eq!(words[36..40], [0x1880_0000, first, 0x1880_0100, first + 16]);
    let copied: Vec<u32> = (0..6).map(|at| dword(&fake, first + at * 4)).collect();
    assert_eq!(
        copied,
        [0x1100_0001, 0x5280, 7, 0x0500_0000, 0x0500_0000, 0]
    );
    for entry in [global_entry(&fake, first), process_entry(&fake, first)] {
        assert_eq!(entry & 7, 1, "valid, not writable, not snooped");
    }
    assert_eq!(process_entry(&fake, 0x10_4000) & 7, 3);
    // Something that is forbidden: the copy ends at once, and the batch itself runs without privileges.
    complete(&fake, 0, 1);
    object
        .write_dwords(0, &[0x1100_0001, 0x2030, 7, 0x0500_0000])
        .unwrap();
    dev.submit(&whole).unwrap();
    assert_eq!(dword(&fake, first), 0x0500_0000);
    let behind = [dword(&fake, second), dword(&fake, second + 4)];
    assert_eq!(behind, [0x1880_0100, 0x10_4000]);
    // What cannot be read is refused. The kernel's own is not looked at.
    object.write_dwords(0, &[u32::MAX]).unwrap();
    assert_eq!(dev.submit(&whole).err(), Some(EINVAL));
    dev.submit_trusted(&whole).unwrap();
    let words = ring(&fake, 0);
    assert_eq!(words[words.len() - 12..][..2], [0x1880_0000, 0x10_4000]);
}

/// A copy is used again when the request that had it is over.
#[test]
fn copies_are_used_again() {
    let fake = device();
    fake.on_write(Box::new(finish));
    let dev = probe(&fake);
    let object = batch(&dev);
    dev.submit(&desc(&object)).unwrap().wait(MS).unwrap();
    let allocations = fake.allocations();
    for _ in 0..100 {
        dev.submit(&desc(&object)).unwrap().wait(MS).unwrap();
    }
    assert_eq!(fake.allocations(), allocations);
    drop((object, dev));
    assert_eq!(fake.allocations(), 0);
}

#[test]
fn there_are_no_debug_registers() {
    let dev = probe(&device());
    assert_eq!(dev.debug().err(), Some(ENODEV));
}
