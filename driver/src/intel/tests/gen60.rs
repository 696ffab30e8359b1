//! Sandy Bridge on plain memory: registers in the order of i915.
//!
//! Numbers are those of i915: `i915_reg.h`, `gt/intel_gt_regs.h`, `gt/intel_engine_regs.h`, `gt/intel_ring_submission.c`,
//! `gt/intel_reset.c`, `gt/gen6_ppgtt.c`, `intel_uncore.c`.
use std::vec;

use super::*;
use crate::intel::gtt::{Place, Scope};

const GTT_HIGH: usize = 0x20_0000;
const FORCEWAKE: usize = 0xa18c;
const FORCEWAKE_ACK: usize = 0x13_0090;
const THREAD_STATUS: usize = 0x13_805c;
const GTFIFOCTL: usize = 0x12_0008;
const GDRST: usize = 0x941c;
const FENCE: usize = 0x10_0000;
const FLUSH: usize = 0x10_1008;
const BASES: [usize; 3] = [0x2000, 0x1_2000, 0x2_2000];
const GFX_MODE: usize = 0x2520;
const MASKED: [usize; 6] = [0x2120, 0x2084, 0x2090, 0x20d0, GFX_MODE, 0x1_2050];

/// What the device does by itself.
fn answer(fake: &Fake, offset: usize, value: u32) {
    match offset {
        FORCEWAKE => fake.set(FORCEWAKE_ACK, value & 1),
        GDRST => fake.set(GDRST, 0),
        // A synchronous flush is done at once.
        0x20c0 | 0x1_20c0 | 0x2_20c0 => fake.set(offset, fake.peek(offset) & !(1 << 5)),
        _ => {}
    }
}

pub(crate) fn device() -> Arc<Fake> {
    let fake = Fake::new(0x8086, 0x0126);
    // 128 KiB of the GTT are in the BAR, which keeps the tests quick.
    fake.set_bar((GTT_HIGH + ENTRIES * 4) as u64);
    fake.set_config(0x51, 2);
    fake.set(GTFIFOCTL, 0x3f);
    for base in BASES {
        fake.set(base + 0x9c, 0x200);
        fake.mask(base + 0x9c);
        fake.mask(base + 0xc0);
    }
    for masked in MASKED {
        fake.mask(masked);
    }
    for clear in [0x4_4018, 0x4_4028, 0x4_4008] {
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

/// The dword at an address of the global GTT.
fn dword(fake: &Fake, address: u32) -> u32 {
    read(fake, bus(entry(fake, address)) + u64::from(address & 0xfff))
}

fn read(fake: &Fake, at: u64) -> u32 {
    let mut bytes = [0; 4];
    DmaAllocator::read(fake, at, &mut bytes).unwrap();
    u32::from_le_bytes(bytes)
}

/// The entry of an address of the global GTT.
pub(crate) fn global_entry(fake: &Fake, address: u32) -> u32 {
    entry(fake, address)
}

/// The entry of an address in the process space, through the directory that an engine was given.
pub(crate) fn process_entry(fake: &Fake, base: usize, address: u32) -> u32 {
    // The directory's entries are entries of the GTT from this byte on.
    let first = (fake.peek(base + 0x228) >> 16) as usize * 64;
    let table = bus(fake.peek(GTT_HIGH + first + (address >> 22) as usize * 4));
    read(fake, table + u64::from(address >> 12 & 0x3ff) * 4)
}

/// Ends every request up to the tail of an engine, which has its number where the breadcrumb wants it.
fn complete(fake: &Fake, base: usize, number: u32) {
    let page = fake.peek(base + 0x2080);
    let at = bus(entry(fake, page)) + 0x100;
    DmaAllocator::write(fake, at, &number.to_le_bytes()).unwrap();
    fake.set(base + 0x34, fake.peek(base + 0x30));
}

/// The same as soon as the tail of a ring moves: the render engine's breadcrumb ends in number, interrupt, no-operation, that
/// of the others in number and interrupt.
pub(crate) fn finish(fake: &Fake, offset: usize, value: u32) {
    answer(fake, offset, value);
    let Some(base) = BASES.into_iter().find(|base| base + 0x30 == offset) else {
        return;
    };
    if fake.peek(base + 0x3c) & 1 == 0 || fake.peek(base + 0x34) == value {
        return;
    }
    let back = if base == BASES[0] { 12 } else { 8 };
    let ring = fake.peek(base + 0x38);
    let number = dword(fake, ring + (value.wrapping_sub(back) & 0x3fff));
    complete(fake, base, number);
}

fn accesses(fake: &Fake, wanted: impl Fn(usize) -> bool) -> Vec<Access> {
    let log = fake.take_log().into_iter();
    log.filter(|access| match access {
        Access::Read(offset, _) | Access::Write(offset, _) => wanted(*offset),
        Access::Config(..) => true,
    })
    .collect()
}

fn writes(fake: &Fake, wanted: impl Fn(usize) -> bool) -> Vec<(usize, u32)> {
    let writes = accesses(fake, wanted).into_iter();
    writes
        .filter_map(|access| match access {
            Access::Write(offset, value) => Some((offset, value)),
            _ => None,
        })
        .collect()
}

/// `xcs_resume` with `stop_ring`, `set_hwsp`, `set_hwstam`, `flush_cs_tlb`, `set_pp_dir`.
#[test]
fn a_ring_starts_in_the_order_of_i915() {
    let fake = device();
    let dev = probe(&fake);
    assert_eq!(dev.name(), "Sandybridge");
    assert_eq!(dev.ggtt().entries(), ENTRIES);
    let log = writes(&fake, |offset| {
        (0x2_2000..0x2_3000).contains(&offset) || offset == 0x2_4080
    });
    let ring = fake.peek(0x2_2038);
    let page = fake.peek(0x2_4080);
    let directory = fake.peek(0x2_2228);
    assert_eq!(directory & 0xffff, 0, "64 KiB aligned");
    let stop = [(0x2_2034, 0), (0x2_203c, 0), (0x2_2034, 0), (0x2_2030, 0)];
    let start = [
        (0x2_4080, page),
        (0x2_2098, u32::MAX),
        (0x2_20c0, (1 << 9 | 1 << 5) * 0x1_0001),
        (0x2_2038, ring),
        (0x2_2220, u32::MAX),
        (0x2_2228, directory),
        (0x2_2034, 0),
        (0x2_2030, 0),
        (0x2_203c, 0x3001),
        (0x2_209c, 1 << 24),
        // gen6_irq_enable
        (0x2_20a8, !(1 << 22)),
    ];
    // Before a start the parser is told to stand still, and the ring is stopped twice (`reset_prepare`, `xcs_resume`).
    let halt = [(0x2_209c, 1 << 24 | 1 << 8)];
    assert_eq!(log, [&halt[..], &stop, &stop, &start].concat());
    drop(dev);
    assert_eq!(fake.allocations(), 0);
}

/// `gen6_ppgtt_enable`, `rcs_engine_wa_init`, `gen6_ctx_workarounds_init`.
#[test]
fn tables_and_workarounds_are_switched_on() {
    let fake = device();
    fake.set(0x2120, 1 << 5 | 1);
    fake.set(0x20d0, 1 << 7);
    let _dev = probe(&fake);
    assert_eq!(fake.peek(0x1_4090), 1 << 13 | 3 << 8);
    assert_eq!(fake.peek(0x2_4000), 1 << 8);
    assert_eq!(fake.peek(0x4090), 1 << 10 | 3 << 3);
    assert_eq!(fake.peek(GFX_MODE), 1 << 13 | 1 << 9);
    assert_eq!(fake.peek(0x20c0) & 1 << 7, 1 << 7, "INSTPM");
    assert_eq!(fake.peek(0x209c) & (1 << 14 | 1 << 6), 1 << 14 | 1 << 6);
    assert_eq!([fake.peek(0x2084), fake.peek(0x2090)], [1 << 10, 0x22]);
    assert_eq!(fake.peek(0x20d0), 1 << 9, "16x4");
    assert_eq!(fake.peek(0x2120), 0);
}

/// `fw_domains_get_with_thread_status`, `fw_domain_put`, `gen6_write32`.
#[test]
fn reads_wake_the_gt_and_writes_wait_for_room() {
    let fake = device();
    let dev = probe(&fake);
    let io = dev.uncore().io();
    fake.take_log();
    io.read32(0x2074);
    let expected = [
        Access::Read(FORCEWAKE_ACK, 0),
        Access::Write(FORCEWAKE, 0x1_0001),
        Access::Read(FORCEWAKE_ACK, 1),
        Access::Read(THREAD_STATUS, 0),
        Access::Read(0x2074, 0),
        Access::Write(FORCEWAKE, 0x1_0000),
    ];
    assert_eq!(fake.take_log(), expected);
    // One request for several reads.
    {
        let _awake = dev.uncore().awake();
        let _again = dev.uncore().awake();
        fake.take_log();
        io.read32(0x2074);
        assert_eq!(fake.take_log(), [Access::Read(0x2074, 0)]);
    }
    assert_eq!(fake.take_log(), [Access::Write(FORCEWAKE, 0x1_0000)]);
    // Registers from 40000h on are not the GT's.
    io.read32(0x4_4018);
    io.write32(0, 0x4_401c);
    assert_eq!(fake.take_log().len(), 2);
    // The queue is looked at again when only the reserved entries are left of those that were seen.
    for _ in 0..2 * (63 - 20) {
        io.write32(0, 0x2358);
    }
    let looks = accesses(&fake, |offset| offset == GTFIFOCTL);
    assert_eq!(looks.len(), 2, "63 - 20 entries at a time");
    // Without room the write goes out after a while.
    fake.set(GTFIFOCTL, 20);
    let before = fake.now();
    for _ in 0..64 {
        io.write32(7, 0x2358);
    }
    assert!((fake.now() - before).as_nanos() >= 10_000_000);
    assert_eq!(fake.peek(0x2358), 7);
}

#[test]
fn a_gt_that_does_not_answer_is_lived_with() {
    let fake = device();
    fake.on_write(Box::new(|fake, offset, value| {
        if offset != FORCEWAKE {
            answer(fake, offset, value);
        }
    }));
    let dev = probe(&fake);
    // Three acknowledgements are waited for, 50 ms each.
    let waited = fake.now().as_nanos();
    assert!((150_000_000..200_000_000).contains(&waited), "{waited}");
    assert_eq!(dev.uncore().io().read32(0x2520), fake.peek(GFX_MODE));
}

/// `gen6_bsd_submit_request`.
#[test]
fn the_video_engine_is_kept_awake_while_its_tail_moves() {
    let fake = device();
    let dev = probe(&fake);
    let engine = &dev.engines()[2];
    fake.take_log();
    (engine.info().tell)(engine.registers(), ringbuf::tail::Tail::START);
    let expected = [
        (0x1_2050, 1 << 16 | 1),
        (0x1_2198, 0),
        (0x1_219c, 0),
        (0x1_2030, 0),
        (0x1_2050, 1 << 16),
    ];
    assert_eq!(writes(&fake, |offset| offset >> 12 == 0x12), expected);
    // It sleeps on: the tail is written nevertheless.
    fake.set(0x1_2050, 1 << 3);
    let before = fake.now();
    (engine.info().tell)(engine.registers(), ringbuf::tail::Tail::START);
    assert!((fake.now() - before).as_nanos() >= 1_000_000);
}

/// `gen6_hw_domain_reset`: everything, twice.
#[test]
fn a_reset_is_asked_for_twice_and_starts_all_engines_again() {
    let fake = device();
    let dev = probe(&fake);
    fake.take_log();
    dev.reset().unwrap();
    let log = writes(&fake, |offset| offset == GDRST || offset & 0xfff == 0x3c);
    let starts = |base: usize| (base + 0x3c, 0x3001);
    let found: Vec<_> = log.into_iter().filter(|(_, value)| *value != 0).collect();
    let [render, video, blitter] = BASES.map(starts);
    let expected = [(GDRST, 1), (GDRST, 1), render, blitter, video];
    assert_eq!(found, expected);
    assert_eq!(fake.peek(GFX_MODE) & 1 << 9, 1 << 9);
    // A domain that stays in reset wedges the device.
    fake.on_write(Box::new(|fake, offset, value| {
        if offset != GDRST {
            answer(fake, offset, value);
        }
    }));
    assert!(dev.reset().is_err());
    let object = batch(&dev);
    assert_eq!(dev.submit(&desc(&object)).err(), Some(EIO));
}

/// `gen5_gt_irq_postinstall`, `gen6_irq_enable`, `gen6_gt_irq_handler`.
#[test]
fn each_engine_interrupts_for_itself() {
    let fake = device();
    let dev = probe(&fake);
    let all = 1 << 22 | 1 << 12 | 1;
    assert_eq!([fake.peek(0x4_401c), fake.peek(0x4_4014)], [all, !all]);
    assert_eq!([fake.peek(0x4_4024), fake.peek(0x4_402c)], [!0, 0]);
    assert_eq!(fake.peek(0x4_400c), 1 << 31);
    let masks = BASES.map(|base| fake.peek(base + 0xa8));
    assert_eq!(masks, [!1, !(1 << 12), !(1 << 22)]);
    let object = batch(&dev);
    let request = dev.submit(&desc(&object)).unwrap();
    complete(&fake, 0x2000, 1);
    for (cause, ended) in [(1 << 22, false), (1 << 12, false), (1, true)] {
        fake.set(0x4_4018, cause);
        assert_eq!(fake.interrupt(), Some(IrqReturn::Handled));
        assert_eq!(request.fence().status().is_some(), ended, "{cause:#x}");
    }
    drop((object, request, dev));
    assert_eq!(BASES.map(|base| fake.peek(base + 0xa8)), [!0; 3]);
}

/// `gen6_ppgtt.c`: objects of users are in the process space, what the driver keeps is in the global GTT alone.
#[test]
fn the_driver_keeps_its_own_out_of_the_process_space() {
    let fake = device();
    let dev = probe(&fake);
    for base in BASES {
        let own = [fake.peek(base + 0x38), fake.peek(base + 0x2080)];
        for address in own {
            assert_eq!(entry(&fake, address) & 7, 5, "valid, LLC");
            assert_eq!(process_entry(&fake, base, address), 0);
        }
    }
    let object = dev.create_object(8192, Tiling::None, 0).unwrap();
    let place = Place {
        fixed: Some(0x40_0000),
        ..Place::default()
    };
    let flushes = |fake: &Fake| writes(fake, |offset| offset == FLUSH).len();
    flushes(&fake);
    object.bind_user(&place).unwrap();
    assert_eq!(flushes(&fake), 1, "a table has come");
    assert_eq!(entry(&fake, 0x40_1000), 0);
    let inside = process_entry(&fake, 0x2000, 0x40_1000);
    assert_eq!(bus(inside), object.dma_address().unwrap() + 0x1000);
    assert_eq!(dev.ggtt().page(0x401), Some(bus(inside)));
    // EXEC_OBJECT_NEEDS_GTT.
    object.make_global().unwrap();
    assert_eq!(entry(&fake, 0x40_1000), inside);
    assert_eq!(flushes(&fake), 1);
    object.unbind();
    assert_eq!(entry(&fake, 0x40_1000), 0);
    assert_eq!(process_entry(&fake, 0x2000, 0x40_1000), 0);
    // What the kernel binds for its own batches is in both.
    dev.bind_at(&object, 0x60_0000).unwrap();
    assert_eq!(
        entry(&fake, 0x60_0000),
        process_entry(&fake, 0x2000, 0x60_0000)
    );
    assert_eq!(Scope::default(), Scope::Process);
    drop((object, dev));
    assert_eq!(fake.allocations(), 0);
}

/// `i965_write_fence_reg` with `GEN6_FENCE_PITCH_SHIFT`.
#[test]
fn fences_have_their_pitch_in_the_upper_half() {
    let fake = device();
    let dev = probe(&fake);
    assert_eq!(dev.ggtt().fences().count(), 16);
    let object = dev.create_object(0x4_0000, Tiling::X, 1024).unwrap();
    let place = Place {
        fixed: Some(0x10_0000),
        ..Place::default()
    };
    object.bind_user(&place).unwrap();
    fake.take_log();
    assert_eq!(object.fence(), Ok(0));
    assert_eq!(entry(&fake, 0x10_0000) & 1, 1, "the aperture is global");
    let expected = vec![(FENCE, 0), (FENCE + 4, 0x0013_f007), (FENCE, 0x0010_0001)];
    let fences = FENCE..FENCE + 0x80;
    assert_eq!(writes(&fake, |offset| fences.contains(&offset)), expected);
}

/// `engine_record_registers`, `gt_record_global_regs`, `error_print_engine`.
#[test]
fn error_states_have_what_the_generation_adds() {
    let fake = device();
    let dev = probe(&fake);
    for (offset, value) in [
        (0x40a0, 0x12),
        (0x40b0, 0x34),
        (0x2050, 0x56),
        (0x4094, 0x78),
        (0x2518, 0x7fe0_0000),
    ] {
        fake.set(offset, value);
    }
    let text = dev.capture("test").text().to_string();
    for line in [
        "GPU HANG: ecode 6:0:",
        "IER: 0x80000000\n",
        "ERROR: 0x00000012\n",
        "DONE_REG: 0x00000034\n",
        "rcs0 command stream:\n",
        "  RC PSMI: 0x00000056\n",
        "  FAULT_REG: 0x00000078\n",
        "  GFX_MODE: 0x00002200\n",
        "  PP_DIR_BASE: 0x7fe00000\n",
    ] {
        assert!(text.contains(line), "{line} in {text}");
    }
    let page = alloc::format!("  HWS:   0x{:08x}\n", fake.peek(0x4080));
    assert!(text.contains(&page), "{text}");
}

#[test]
fn there_are_no_debug_registers() {
    let dev = probe(&device());
    assert_eq!(dev.debug().err(), Some(ENODEV));
    assert_eq!(dev.debug_bases().err(), Some(ENODEV));
}

/// `ring_request_alloc`, `switch_context`, `gen6_emit_bb_start`, `gen6_emit_breadcrumb_rcs`.
#[test]
fn a_request_is_what_i915_emits() {
    let fake = device();
    let dev = probe(&fake);
    let object = dev.create_object(4096, Tiling::None, 0).unwrap();
    dev.bind_at(&object, 0x10_4000).unwrap();
    dev.submit(&desc(&object)).unwrap();
    let (ring, tail) = (fake.peek(0x2038), fake.peek(0x2030));
    let words: Vec<u32> = (0..tail / 4)
        .map(|at| dword(&fake, ring + at * 4))
        .collect();
    // Invalidation, directory, batch, flush, breadcrumb.
    assert_eq!(words.len(), 16 + (16 + 12 + 16 + 16) + 2 + 16 + 14);
    assert_eq!(words[12..14], [0x7a00_0002, 0x0014_4c1c]);
    assert_eq!(words[32..35], [0x1100_0001, 0x2220, u32::MAX]);
    assert_eq!(words[76..78], [0x1880_0100, 0x10_4000]);
    let page = fake.peek(0x4080);
    let end = [0x7a00_0002, 0x0010_5021, page + 0x104, 1, 0x0100_0000, 0];
    assert_eq!(words[words.len() - 6..], end);
}
