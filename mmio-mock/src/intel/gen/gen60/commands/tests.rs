//! Words from captures and from i915, and what the reader makes of them.

use mem::GpuAddr;

use super::*;

/// The captured clear, 0x0010b120 (a_clear decode.txt).
#[test]
fn five_bases_with_bounds() {
    let d = [
        0x6101_0008,
        0x0000_0001,
        0x0011_2001,
        0x0011_2001,
        0x0000_0001,
        0x0010_4001,
        0x0000_0001,
        0xffff_f001,
        0x0000_0001,
        0x0000_0001,
    ];
    let c = Reader.state_base_address(&d);
    assert_eq!(c.general_state_base, Some(0));
    assert_eq!(c.surface_state_base, Some(0x11_2000));
    assert_eq!(c.dynamic_state_base, Some(0x11_2000));
    assert_eq!(c.instruction_base, Some(0x10_4000));
    assert!(c.kernels_apart && c.dynamic_apart);
    assert_eq!(c.general_state_upper_bound, Some(0));
    assert_eq!(c.dynamic_state_upper_bound, Some(0xffff_f000));
    let nothing = Reader.state_base_address(&[0x6101_0008, 0, 0, 0, 0, 0, 0, 0, 0, 0]);
    assert_eq!(nothing.dynamic_state_base, None);
}

/// a_clear 0x0010b014: a write of zero to the global address 0x109060; i915 `gen6_emit_breadcrumb_rcs` without it.
#[test]
fn a_flush_stores_where_its_bit_says() {
    let pc = Reader.pipe_control(&[0x7a00_0003, 0x4000, 0x0010_9064, 5, 6]);
    assert_eq!(pc.post_sync, PostSync::Immediate(6 << 32 | 5));
    assert_eq!(pc.space, Some(Chosen::Global));
    assert_eq!(pc.address, GpuAddr(0x10_9060));
    let pc = Reader.pipe_control(&[0x7a00_0002, 1 << 18 | 0x4000, 0x2000, 7]);
    assert_eq!(pc.post_sync, PostSync::Dword(7));
    assert_eq!(pc.space, Some(Chosen::Process));
    assert!(pc.invalidate_translations);
    // 0x0010b03c: caches of state, constants, textures and instructions.
    let pc = Reader.pipe_control(&[0x7a00_0003, 0x0c0c, 0, 0, 0]);
    assert!(pc.invalidate_instructions && pc.flush_writes);
}

/// i915 `gen6_emit_breadcrumb_xcs`: MI_FLUSH_DW | MI_FLUSH_DW_OP_STOREDW | MI_FLUSH_DW_STORE_INDEX, offset | MI_FLUSH_DW_USE_GTT.
#[test]
fn the_blitters_flush_stores_in_the_status_page() {
    let flush = Reader.flush_store(&[0x1300_0001 | 1 << 14 | 1 << 21, 0x100 | 4, 9]);
    assert_eq!(flush.store, PostSync::Dword(9));
    assert!(flush.in_status_page && !flush.invalidate_translations);
    assert_eq!(flush.address, GpuAddr(0x100));
    // MI_INVALIDATE_TLB.
    assert!(
        Reader
            .flush_store(&[0x1300_0001 | 1 << 18, 0, 0])
            .invalidate_translations
    );
}

/// i915 `__gen6_emit_bb_start` with MI_BATCH_NON_SECURE_I965.
#[test]
fn a_batch_of_a_process_has_no_privileges() {
    let start = Reader.batch_start(&[0x1880_0100, 0x1234_5000]);
    assert_eq!(start.space, Chosen::Process);
    assert!(start.non_secure);
    assert_eq!(start.start, GpuAddr(0x1234_5000));
    assert_eq!(Reader.batch_start(&[0x1880_0000, 0]).space, Chosen::Global);
}

/// a_clear 0x0010b160: two buffers, the second of instance data, with pitches 12 and 0.
#[test]
fn vertex_buffers_by_their_index() {
    let d = [
        0x7808_0007,
        0x0000_000c,
        0x0011_2040,
        0x0011_2063,
        0,
        0x0410_0000,
        0x0011_2080,
        0x0011_209f,
        0,
    ];
    let buffers = Reader.vertex_buffers(&d);
    let [(0, first), (1, second)] = buffers[..] else {
        unreachable!("{buffers:?}");
    };
    assert_eq!((first.pitch, first.per_instance), (12, false));
    assert_eq!((first.start, first.end), (0x11_2040, Some(0x11_2063)));
    assert!(second.per_instance && second.pitch == 0);
    let mut out = Vec::new();
    Reader.put_vertex_buffers(&[first, second], &mut out);
    assert_eq!(out, d);
}

/// i915 of Linux 4.9: MI_SEMAPHORE_MBOX | COMPARE | REGISTER | SYNC_RB, seqno - 1.
#[test]
fn semaphores_wait_on_a_register() {
    let wait = Reader.semaphore(&[0x0b00_0001 | 1 << 20 | 1 << 18 | 2 << 16, 41, 0]);
    assert!(wait.compares && wait.in_register && !wait.updates);
    assert_eq!((wait.register, wait.data), (2, 41));
}
