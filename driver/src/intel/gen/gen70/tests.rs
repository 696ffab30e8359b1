//! Literal dwords of i915's sequences (values of `intel_gpu_commands.h`).
//!
//! `PIPE_CONTROL` has its flags in dword 1, as on Sandy Bridge, but for the global GTT in bit 24 (`PIPE_CONTROL_GLOBAL_GTT_IVB`), a flush
//! in bit 7 (`PIPE_CONTROL_FLUSH_ENABLE`) and the state of the media pipeline in bit 16 (`PIPE_CONTROL_MEDIA_STATE_CLEAR`).
use kernel::error::code::ERANGE;

use super::*;

const PLACES: Places = Places {
    status: 0x3000,
    scratch: 0x7000,
};
const STORE: u32 = 1 << 24 | 1 << 20 | 1 << 14;
const WRITE_BACK: u32 = 1 << 12 | 1 << 7 | 1 << 5 | 1;

fn emitted(emit: impl FnOnce(&mut Vec<u32>)) -> Vec<u32> {
    let mut out = Vec::new();
    emit(&mut out);
    out
}

/// `gen7_emit_flush_rcs`, `gen7_stall_cs`, `gen7_emit_breadcrumb_rcs`.
#[test]
fn the_render_engine_stalls_before_it_forgets() {
    let flush = |mode| emitted(|out| (RENDER.emit.flush)(out, mode, 0x7000));
    let write = [0x7a00_0002, STORE | WRITE_BACK, 0x7000, 0];
    assert_eq!(flush(Flush::WriteBack), write);
    let stall = [0x7a00_0002, 1 << 20 | 1 << 1, 0, 0];
    let forgets = 1 << 18 | 1 << 16 | 1 << 11 | 1 << 10 | 1 << 4 | 1 << 3 | 1 << 2;
    let invalidate = [0x7a00_0002, STORE | forgets, 0x7000, 0];
    assert_eq!(flush(Flush::Invalidate), [stall, invalidate].concat());
    let end = emitted(|out| (RENDER.emit.breadcrumb)(out, 0x55, PLACES));
    let expected = [
        0x7a00_0002,
        STORE | WRITE_BACK,
        0x3100,
        0x55,
        0x0100_0000,
        0,
    ];
    assert_eq!(end, expected);
}

/// `gen6_emit_flush_vcs`, `gen6_emit_flush_xcs`, `gen7_emit_breadcrumb_xcs`.
#[test]
fn the_other_engines_store_their_number_again_and_again() {
    const FLUSH: u32 = 0x1300_0001 | 1 << 21 | 1 << 14;
    for (engine, forgets) in [(VIDEO, 1 << 18 | 1 << 7), (BLITTER, 1 << 18)] {
        let flush = |mode| emitted(|out| (engine.emit.flush)(out, mode, 0x7000));
        assert_eq!(flush(Flush::WriteBack), [FLUSH, 0x204, 0, 0]);
        assert_eq!(flush(Flush::Invalidate), [FLUSH | forgets, 0x204, 0, 0]);
        let end = emitted(|out| (engine.emit.breadcrumb)(out, 0x55, PLACES));
        assert_eq!(end.len(), 3 + 32 * 3 + 3 + 2);
        assert_eq!(end[..3], [FLUSH | 1 << 18, 0x104, 0x55]);
        for store in end[3..99].chunks(3) {
            assert_eq!(store, [0x1080_0001, 0x100, 0x55]);
        }
        assert_eq!(end[99..], [0x1300_0001, 0, 0, 0x0100_0000, 0]);
        assert!(engine.emit.reset_offsets.is_none());
    }
}

/// `gen6_emit_bb_start`, `mi_set_context`, `i915_reset_gen7_sol_offsets`.
#[test]
fn contexts_change_without_arbitration() {
    let start = |trusted| emitted(|out| (RENDER.emit.batch_start)(out, 0x10_4000, trusted));
    assert_eq!(start(false), [0x1880_0100, 0x10_4000]);
    assert_eq!(start(true), [0x1880_0000, 0x10_4000]);
    let enter = emitted(|out| (RENDER.emit.set_context)(out, 0x8000, false));
    let flags = 1 << 8 | 1 << 3 | 1 << 2;
    let expected = [0x0400_0000, 0, 0x0c00_0000, 0x8000 | flags, 0, 0x0400_0001];
    assert_eq!(enter, expected);
    let reset = RENDER.emit.reset_offsets.map(emitted);
    let expected = [0x1100_0007, 0x5280, 0, 0x5284, 0, 0x5288, 0, 0x528c, 0, 0];
    assert_eq!(reset.unwrap_or_default(), expected);
}

/// `load_pd_dir`, `switch_mm`.
#[test]
fn each_engine_loads_the_directory_by_commands_of_its_own() {
    let words = emitted(|out| (SPACE.enter)(out, &RENDER, 0x7fe0_0000, PLACES));
    let flush = |mode| emitted(|out| (RENDER.emit.flush)(out, mode, 0x7000));
    let load = [
        [0x1100_0001, 0x2220, u32::MAX],
        [0x1100_0001, 0x2228, 0x7fe0_0000],
        [0x1240_0001, 0x2228, 0x7000],
        [0x1100_0001, 0x20c0, 1 << 25 | 1 << 9],
    ];
    let expected = [
        flush(Flush::WriteBack),
        load.concat(),
        flush(Flush::WriteBack),
        flush(Flush::Invalidate),
    ];
    assert_eq!(words, expected.concat());
}

/// intel_gtt.h: `GEN6_PTE_VALID`, `BYT_PTE_WRITEABLE`, `BYT_PTE_SNOOPED_BY_CPU_CACHES`, `GEN6_GTT_ADDR_ENCODE`.
#[test]
fn entries_say_who_writes_and_who_looks_into_caches() {
    let entry = |page, cached, writable| pte_encode(page, PageUse { cached, writable });
    assert_eq!(entry(0x1234_5000, false, true), Ok(0x1234_5003));
    assert_eq!(entry(0x1234_5000, true, true), Ok(0x1234_5007));
    assert_eq!(entry(0x1234_5000, false, false), Ok(0x1234_5001));
    assert_eq!(entry(0xab_8765_4000, true, false), Ok(0x8765_4ab5));
    assert_eq!((GTT.decode)(0x8765_4ab5), Some(0xab_8765_4000));
    assert_eq!(entry(1 << 40, true, true), Err(ERANGE));
}

/// `intel_engines`, `GT_*_USER_INTERRUPT`, `RENDER_HWS_PGA_GEN7` and its like, `RING_IMR`, `RING_FAULT_REG`.
#[test]
fn engines_are_those_of_i915() {
    let rows = [
        ("rcs0", 0, 0x2000, 1, 0x4080, 0x20a8, 0x4094),
        ("vcs0", 2, 0x1_2000, 1 << 12, 0x4180, 0x1_20a8, 0x4194),
        ("bcs0", 1, 0x2_2000, 1 << 22, 0x4280, 0x2_20a8, 0x4294),
    ];
    for (row, engine) in rows.into_iter().zip([RENDER, VIDEO, BLITTER]) {
        let found = (
            engine.name,
            engine.class,
            0x2000 + engine.base,
            engine.user_interrupt,
            engine.status_register,
            engine.interrupt_mask.unwrap_or_default(),
            engine.fault.unwrap_or_default(),
        );
        assert_eq!(found, row);
        assert!(engine.checks.is_some());
    }
}

/// i915_reg.h: GTIMR, GEN6_PMIMR, VLV_MASTER_IER; intel_gt_regs.h: FORCEWAKE_VLV and what goes with it.
#[test]
fn registers_of_interrupts_and_of_forcewake_are_those_of_i915() {
    let bank = |bank: &InterruptBank| [bank.imr, bank.iir, bank.ier];
    assert_eq!(bank(&INTERRUPTS.bank), [0x44014, 0x44018, 0x4401c]);
    let masked: Vec<_> = INTERRUPTS.masked.iter().map(bank).collect();
    assert_eq!(masked, [[0x44024, 0x44028, 0x4402c]]);
    let master = INTERRUPTS
        .master
        .map(|master| (master.place, master.enable));
    assert_eq!(master, Some((Switch::Register(0x4400c), 1 << 31)));
    let info = &FORCEWAKE_INFO;
    let wells = info
        .wells
        .iter()
        .map(|well| [well.request, well.acknowledge]);
    let expected = [[0x13_00b0, 0x13_00b4], [0x13_00b8, 0x13_00bc]];
    assert_eq!(wells.collect::<Vec<_>>(), expected);
    assert_eq!((info.fifo, info.fifo_mask), (0x12_0008, 0x7f));
    assert!(info.ranges.is_sorted_by(|a, b| a.end <= b.first));
}

/// genxml gen7: kernel pointers in dword 1 but 3DSTATE_HS's in dword 3; enabled by bit 0 of dword 5 (VS, DS, GS), bit 31 of dword 2 (HS) and
/// bit 29 of 3DSTATE_WM's dword 1; widths in bits 2:0 of 3DSTATE_PS's dword 4, further pointers in dwords 6 and 7.
#[test]
fn commands_name_the_kernels_of_their_units() {
    let vs: &[u32] = &[0x7810_0004, 0x40, 0, 0, 0, 1];
    let hs: &[u32] = &[0x781b_0005, 0, 1 << 31, 0x80, 0, 0, 0];
    let ds: &[u32] = &[0x781d_0004, 0xc0, 0, 0, 0, 1];
    let gs: &[u32] = &[0x7811_0005, 0x100, 0, 0, 0, 0, 0];
    let wm: &[u32] = &[0x7814_0001, 1 << 29, 0];
    let ps: &[u32] = &[0x7820_0006, 0x140, 0, 0, 3, 0, 0, 0x180];
    let bases: &[u32] = &[0x6101_0008, 1, 1, 0x0010_0001, 1, 1, 1, 1, 1, 1];
    let load: &[u32] = &[0x7002_0002, 0, 64, 0x40];
    let walker: &[u32] = &[0x7105_0009, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0];
    let ids = state::OPS
        .setup
        .iter()
        .zip([vs, hs, ds, gs, wm, ps, bases, load, walker]);
    let all: alloc::collections::BTreeMap<_, _> = ids.map(|(id, words)| (*id, words)).collect();
    let last = |id| all.get(&id).copied();
    let dword = |at| (at == 0x0010_0060).then_some(0x1c0);
    let found = (state::OPS.kernels)(&last, 0, &dword);
    let found: Vec<_> = found.iter().map(|k| (k.unit, k.pointer)).collect();
    let expected = [
        ("VS", 0x40),
        ("HS", 0x80),
        ("DS", 0xc0),
        ("PS", 0x140),
        ("PS 16", 0x180),
        ("CS", 0x1c0),
    ];
    assert_eq!(found, expected);
    let bases = (state::OPS.bases)(bases);
    assert_eq!((bases.general, bases.instructions), (Some(0), Some(0)));
}
