//! Masks saved, restored, pushed and popped.
//!
//! PRM: volume 4, 11.3.4.7 to 11.3.4.9, 12.4.3, 14.2.26 to 14.2.33 (titles).
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "tests")]

use crate::Thread;
use crate::tests::{arf, arf_src, dst, imm, op, run, scalar, thread};
use isa::Opcode;
use isa::operand::{Src, Type};

const IMASK: (u8, u8) = (0x40, 2);
const LMASK: (u8, u8) = (0x40, 4);
const CMASK: (u8, u8) = (0x40, 6);

fn two(opcode: Opcode, to: (u8, u8), src: Src, count: u32) -> isa::Inst {
    let srcs = [src, imm(Type::Uw, count * 0x1_0001)];
    op(opcode, 1, arf(to.0, to.1, Type::Uw), &srcs)
}

fn masked(imask: u16) -> Thread {
    let mut t = thread();
    let mut masks = t.view().masks;
    masks.imask = imask;
    t.set_masks(masks);
    t
}

/// A thread whose channels are all off still saves and restores its masks.
// covers: 14.2-37
#[test]
fn save_and_restore_ignore_the_masks() {
    let mut t = masked(0);
    t.grf_mut()[3][0] = 0x1234;
    let save = op(
        Opcode::Msave,
        1,
        dst(2, Type::Uw),
        &[arf_src(0x40, 2, Type::Uw), Src::NULL],
    );
    let restore = op(
        Opcode::Mrest,
        1,
        arf(0x40, 2, Type::Uw),
        &[scalar(3, Type::Uw), Src::NULL],
    );
    t.grf_mut()[2][0] = 0xffff_ffff;
    run(&mut t, &[save, restore]);
    assert_eq!(t.grf()[2][0], 0xffff_0000);
    assert_eq!(t.view().masks.imask, 0x1234);
    assert_eq!(t.exec_mask(), 0x1234);
}

// covers: 14.2-42
#[test]
fn push_keeps_the_mask_and_takes_the_new_one() {
    let mut t = masked(0x0ff0);
    t.grf_mut()[3][0] = 0x00f0;
    run(&mut t, &[two(Opcode::Push, IMASK, scalar(3, Type::Uw), 0)]);
    let m = t.view().masks;
    assert_eq!((m.imask, m.imsd, m.ims[0]), (0x00f0, 1, 0x0ff0));
    assert_eq!(t.exec_mask(), 0x00f0);
    run(&mut t, &[two(Opcode::Pop, IMASK, Src::NULL, 1)]);
    let m = t.view().masks;
    assert_eq!((m.imask, m.imsd), (0x0ff0, 0));
}

#[test]
fn push_without_a_source_changes_no_mask() {
    let mut t = masked(0x0ff0);
    run(&mut t, &[two(Opcode::Push, IMASK, Src::NULL, 0); 3]);
    let m = t.view().masks;
    assert_eq!((m.imask, m.imsd), (0x0ff0, 3));
    run(&mut t, &[two(Opcode::Pop, IMASK, Src::NULL, 3)]);
    assert_eq!(t.view().masks.imsd, 0);
}

/// LMask and CMask have their stacks in step.
#[test]
fn loop_masks_are_pushed_together() {
    let mut t = thread();
    t.grf_mut()[3][0] = 0x3;
    run(&mut t, &[two(Opcode::Push, CMASK, scalar(3, Type::Uw), 0)]);
    let m = t.view().masks;
    assert_eq!((m.lmask, m.cmask, m.lmsd, m.imsd), (0xffff, 0x3, 1, 0));
    run(&mut t, &[two(Opcode::Pop, LMASK, Src::NULL, 1)]);
    let m = t.view().masks;
    assert_eq!((m.lmask, m.cmask, m.lmsd), (0xffff, 0xffff, 0));
}

/// PRM 12.4.3: running past either end is an exception when enabled.
// covers: 14.2-42
#[test]
fn both_ends_raise_the_mask_stack_exception() {
    for (opcode, times) in [(Opcode::Push, 17), (Opcode::Pop, 1)] {
        let mut t = Thread::new();
        t.dispatch(&crate::ThreadInit {
            dispatch_mask: 0xffff,
            mask_stack_exception: true,
            sip: 0x800,
            ..crate::ThreadInit::default()
        });
        let code = vec![two(opcode, IMASK, Src::NULL, 1); times];
        run(&mut t, &code);
        assert_eq!(t.ip(), 0x800, "{opcode:?}");
        // Return address: behind the instruction.
        assert_eq!(t.view().control[2], times as u32 * 16);
    }
}

/// The active mask has no stack (PRM 11.3.4.8): the instruction is illegal.
#[test]
fn the_active_mask_has_no_stack() {
    let mut t = thread();
    let mut port = crate::tests::TestPort::new(vec![[0; 4]]);
    let mut cache = crate::KernelCache::new(isa::Verx10::GEN40).unwrap();
    let push = two(Opcode::Push, (0x40, 0), Src::NULL, 1);
    let (stop, _) = crate::tests::run_in(&mut cache, &mut t, &mut port, &[push], 1);
    assert!(matches!(stop, crate::Stop::Illegal(_)));
}
