//! Literal dwords of i915's sequences (values of `intel_gpu_commands.h`).
//!
//! `PIPE_CONTROL` has its flags in dword 1: render target flush 1 << 12, depth flush 1 << 0, CS stall 1 << 20, stall at the
//! scoreboard 1 << 1, QW write 1 << 14, TLB 1 << 18, instruction cache 1 << 11, texture 1 << 10, VF 1 << 4, constants 1 << 3,
//! state 1 << 2, DC flush 1 << 5; the global GTT is bit 2 of the address.
use alloc::vec::Vec;

use kernel::error::code::ERANGE;

use super::*;

const PLACES: Places = Places {
    status: 0x3000,
    scratch: 0x7000,
};
const STORE_FIRST: [u32; 12] = [
    0x7a00_0003,
    1 << 20 | 1 << 1,
    0x7004,
    0,
    0,
    0, //
    0x7a00_0003,
    1 << 14,
    0x7004,
    0,
    0,
    0,
];
const WRITE_BACK: [u32; 4] = [0x7a00_0002, 1 << 20 | 1 << 12 | 1, 0x7004, 0];
const INVALIDATE: [u32; 4] = [
    0x7a00_0002,
    1 << 20 | 1 << 18 | 1 << 14 | 1 << 11 | 1 << 10 | 1 << 4 | 1 << 3 | 1 << 2,
    0x7004,
    0,
];

fn emitted(emit: impl FnOnce(&mut Vec<u32>)) -> Vec<u32> {
    let mut out = Vec::new();
    emit(&mut out);
    out
}

/// `gen6_emit_flush_rcs`, `gen6_emit_breadcrumb_rcs`.
#[test]
fn the_render_engine_flushes_with_a_store_first() {
    let flush = |mode| emitted(|out| (RENDER.emit.flush)(out, mode, 0x7000));
    assert_eq!(
        flush(Flush::WriteBack),
        [&STORE_FIRST[..], &WRITE_BACK].concat()
    );
    assert_eq!(
        flush(Flush::Invalidate),
        [&STORE_FIRST[..], &INVALIDATE].concat()
    );
    let end = emitted(|out| (RENDER.emit.breadcrumb)(out, 0x55, PLACES));
    let flags = 1 << 20 | 1 << 14 | 1 << 12 | 1 << 5 | 1;
    let expected = [
        [0x7a00_0002, 1 << 20 | 1 << 1, 0, 0],
        [0x7a00_0002, 1 << 14, 0x7004, 0],
        [0x7a00_0002, flags, 0x3104, 0x55],
    ];
    assert_eq!(end[..12], expected.concat());
    assert_eq!(end[12..], [0x0100_0000, 0]);
}

/// `mi_flush_dw`, `gen6_emit_flush_vcs`, `gen6_emit_flush_xcs`, `gen6_emit_breadcrumb_xcs`.
#[test]
fn the_other_engines_flush_into_their_status_page() {
    const FLUSH: u32 = 0x1300_0001 | 1 << 21 | 1 << 14;
    for (engine, forgets) in [(VIDEO, 1 << 18 | 1 << 7), (BLITTER, 1 << 18)] {
        let flush = |mode| emitted(|out| (engine.emit.flush)(out, mode, 0x7000));
        assert_eq!(flush(Flush::WriteBack), [FLUSH, 0x204, 0, 0]);
        assert_eq!(flush(Flush::Invalidate), [FLUSH | forgets, 0x204, 0, 0]);
        let end = emitted(|out| (engine.emit.breadcrumb)(out, 0x55, PLACES));
        assert_eq!(end, [FLUSH, 0x104, 0x55, 0x0100_0000]);
    }
}

/// `gen6_emit_bb_start`, `mi_set_context`.
#[test]
fn batches_of_users_start_in_the_process_space() {
    let start = |trusted| emitted(|out| (RENDER.emit.batch_start)(out, 0x10_4000, trusted));
    assert_eq!(start(false), [0x1880_0100, 0x10_4000]);
    assert_eq!(start(true), [0x1880_0000, 0x10_4000]);
    let enter = |inhibit| emitted(|out| (RENDER.emit.set_context)(out, 0x8000, inhibit));
    let flags = 1 << 8 | 1 << 3 | 1 << 2;
    assert_eq!(enter(false), [0, 0x0c00_0000, 0x8000 | flags, 0]);
    assert_eq!(enter(true), [0, 0x0c00_0000, 0x8000 | flags | 1, 0]);
}

/// `switch_mm`, `load_pd_dir`.
#[test]
fn each_engine_loads_the_directory_by_commands_of_its_own() {
    let words = emitted(|out| (SPACE.enter)(out, &BLITTER, 0x7fe0_0000, PLACES));
    let flush = |mode| emitted(|out| (BLITTER.emit.flush)(out, mode, 0x7000));
    let load = [
        [0x1100_0001, 0x2_2220, u32::MAX],
        [0x1100_0001, 0x2_2228, 0x7fe0_0000],
        [0x1240_0001, 0x2_2228, 0x7000],
        [0x1100_0001, 0x2_20c0, 1 << 25 | 1 << 9],
    ];
    let expected = [
        flush(Flush::WriteBack),
        load.concat(),
        flush(Flush::WriteBack),
        flush(Flush::Invalidate),
    ];
    assert_eq!(words, expected.concat());
}

/// intel_gtt.h: `GEN6_PTE_VALID`, `GEN6_PTE_UNCACHED`, `GEN6_PTE_CACHE_LLC`, `GEN6_GTT_ADDR_ENCODE`.
#[test]
fn entries_carry_40_address_bits_and_who_caches() {
    let used = |cached| PageUse {
        cached,
        writable: true,
    };
    assert_eq!(pte_encode(0x1234_5000, used(false)), Ok(0x1234_5003));
    assert_eq!(pte_encode(0x1234_5000, used(true)), Ok(0x1234_5005));
    assert_eq!(pte_encode(0xab_8765_4000, used(true)), Ok(0x8765_4ab5));
    assert_eq!(pte_decode(0x8765_4ab5), Some(0xab_8765_4000));
    assert_eq!(pte_decode(0x8765_4ab4), None);
    assert_eq!(pte_encode(1 << 40, used(true)), Err(ERANGE));
    assert_eq!(pte_encode(0x1800, used(true)), Err(ERANGE));
    assert_eq!((SPACE.encode_table)(0xab_8765_4000), Ok(0x8765_4ab1));
}

/// `intel_engines`, `intel_gt_regs.h` (`GT_*_USER_INTERRUPT`), `RING_HWS_PGA_GEN6`, `RING_IMR`, `RING_FAULT_REG`.
#[test]
fn engines_are_those_of_i915() {
    let rows = [
        ("rcs0", 0, 0x2000, 1, 0x4080, 0x20a8, 0x4094),
        ("vcs0", 2, 0x1_2000, 1 << 12, 0x1_4080, 0x1_20a8, 0x4194),
        ("bcs0", 1, 0x2_2000, 1 << 22, 0x2_4080, 0x2_20a8, 0x4294),
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
    }
    assert_eq!(RENDER.status_mask, Some(!1));
    assert_eq!(VIDEO.status_mask, Some(!0));
}

/// i915_reg.h: GTIMR, GEN6_PMIMR, DEIER; intel_gt_regs.h: FORCEWAKE and what goes with it.
#[test]
fn registers_of_interrupts_and_of_forcewake_are_those_of_i915() {
    let bank = |bank: &InterruptBank| [bank.imr, bank.iir, bank.ier];
    assert_eq!(bank(&INTERRUPTS.bank), [0x44014, 0x44018, 0x4401c]);
    let masked: Vec<_> = INTERRUPTS.masked.iter().map(bank).collect();
    assert_eq!(masked, [[0x44024, 0x44028, 0x4402c]]);
    let info = &FORCEWAKE_INFO;
    let wells = info
        .wells
        .iter()
        .map(|well| (well.request, well.acknowledge));
    assert_eq!(wells.collect::<Vec<_>>(), [(0xa18c, 0x13_0090)]);
    assert_eq!(info.threads, Some((0x13_805c, 7)));
    assert_eq!((info.fifo, info.fifo_mask), (0x12_0008, 0x7f));
    assert_eq!(info.fifo_errors, 0x12_0000);
}

/// genxml gen6: STATE_BASE_ADDRESS with the instructions' base in dword 5 and bounds in 6 and 9.
#[test]
fn kernels_are_relative_to_the_base_of_instructions() {
    let command = [
        0x6101_0008,
        0x0010_0001,
        1,
        1,
        1,
        0x0030_0001,
        0x0020_0001,
        1,
        1,
        0x0040_0001,
    ];
    let bases = (state::OPS.bases)(&command);
    assert_eq!(bases.general, Some(0x0010_0000));
    assert_eq!(bases.instructions, Some(0x0030_0000));
    assert_eq!(bases.bounds, [6, 9]);
}

/// genxml gen6: kernel pointers in dword 1, 3DSTATE_VS enabled by bit 0 of dword 5, 3DSTATE_GS by bit 15 of dword 6,
/// 3DSTATE_WM by bit 19 of dword 5 with widths in bits 1:0 and its further pointers in dwords 7 and 8.
#[test]
fn commands_name_the_kernels_of_their_units() {
    let vs: &[u32] = &[0x7810_0004, 0x40, 0, 0, 0, 1];
    let gs: &[u32] = &[0x7811_0005, 0x80, 0, 0, 0, 0, 0];
    let wm: &[u32] = &[0x7814_0007, 0xc0, 0, 0, 0, 1 << 19 | 3, 0, 0x100, 0x140];
    let last = |id| match id {
        id if id == state::OPS.setup[0] => Some(vs),
        id if id == state::OPS.setup[1] => Some(gs),
        _ => Some(wm),
    };
    let found = (state::OPS.kernels)(&last, 0, &|_| None);
    let found: Vec<_> = found.iter().map(|k| (k.unit, k.pointer)).collect();
    assert_eq!(found, [("VS", 0x40), ("PS", 0xc0), ("PS 16", 0x140)]);
}
