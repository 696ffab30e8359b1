//! Scalar flow: jmpi, ip arithmetic, single program flow, halt, stack limits.
//!
//! PRM: volume 4, 12.4.3, 14.2.

use super::{Outside, TestPort, arf, arf_src, dst, imm, op, run_in, scalar, thread};
use crate::{KernelCache, Stop, Thread, ThreadInit};
use isa::inst::{Branch, PredCtrl};
use isa::operand::Type;
use isa::{Inst, Opcode};

fn flow(opcode: Opcode, jump: i32, pop: i32) -> Inst {
    let mut i = Inst::blank(opcode);
    i.exec_size = 8;
    i.branch = Some(Branch {
        jump,
        pop_or_uip: pop,
    });
    i
}

fn mark(nr: u8) -> Inst {
    op(Opcode::Mov, 1, dst(nr, Type::Ud), &[imm(Type::Ud, 1)])
}

fn go(t: &mut Thread, code: &[Inst]) -> Stop<Outside> {
    run_in(
        &mut KernelCache::new(isa::Verx10::GEN40).unwrap(),
        t,
        &mut TestPort::new(Vec::new()),
        code,
        1000,
    )
    .0
}

fn jmpi(src1: isa::operand::Src) -> Inst {
    let ip = arf_src(0xa0, 0, Type::Ud);
    let mut i = op(Opcode::Jmpi, 1, arf(0xa0, 0, Type::Ud), &[ip, src1]);
    i.no_mask = true;
    i
}

#[test]
fn jmpi_counts_from_the_next_instruction() {
    let mut t = thread();
    t.grf_mut()[5][0] = -2i32 as u32;
    // 0 jmpi +1 -> 2; 2 mark r11; 3 jmpi +1 -> 5; 4 jmpi r5 (-2) is the way back.
    let code = [
        jmpi(imm(Type::D, 1)),
        mark(10),
        mark(11),
        jmpi(imm(Type::D, 1)),
        jmpi(imm(Type::D, 1)),
        jmpi(scalar(5, Type::D)),
        mark(12),
    ];
    assert_eq!(go(&mut t, &code), Stop::Fault(Outside(7 * 16)));
    assert_eq!([t.grf()[10][0], t.grf()[11][0], t.grf()[12][0]], [0, 1, 1]);
}

#[test]
fn predicated_jmpi() {
    for (flag, want) in [(0, 1), (1, 0)] {
        let mut t = thread();
        t.set_flag([flag, 0]);
        let mut j = jmpi(imm(Type::D, 1));
        j.pred_ctrl = PredCtrl::Normal;
        go(&mut t, &[j, mark(10)]);
        assert_eq!(t.grf()[10][0], want);
    }
}

/// `add ip ip imm`: bytes, relative to the add itself.
#[test]
fn ip_as_operand() {
    let mut t = thread();
    let mut add = op(
        Opcode::Add,
        1,
        arf(0xa0, 0, Type::Ud),
        &[arf_src(0xa0, 0, Type::Ud), imm(Type::D, 32)],
    );
    add.no_mask = true;
    let code = [mark(9), add, mark(10), mark(11)];
    assert_eq!(go(&mut t, &code), Stop::Fault(Outside(64)));
    assert_eq!([t.grf()[9][0], t.grf()[10][0], t.grf()[11][0]], [1, 0, 1]);
}

fn spf_thread() -> Thread {
    let mut t = Thread::new();
    t.dispatch(&ThreadInit {
        dispatch_mask: 0xffff,
        single_program_flow: true,
        ..ThreadInit::default()
    });
    t
}

#[test]
fn single_program_flow_branches_as_a_scalar() {
    for (flag, want) in [(1, [1, 0]), (0, [0, 1])] {
        let mut t = spf_thread();
        t.set_flag([flag, 0]);
        let mut i = flow(Opcode::If, 2, 0);
        i.pred_ctrl = PredCtrl::Normal;
        let code = [
            i,
            mark(10),
            flow(Opcode::Else, 3, 1),
            mark(11),
            flow(Opcode::Endif, 0, 1),
        ];
        assert_eq!(go(&mut t, &code), Stop::Fault(Outside(80)));
        assert_eq!([t.grf()[10][0], t.grf()[11][0]], want);
        assert_eq!(t.view().masks.imask, 0xffff);
        assert_eq!(t.view().masks.imsd, 0);
    }
}

#[test]
fn single_program_flow_loops() {
    let mut t = spf_thread();
    let count = op(
        Opcode::Add,
        1,
        dst(10, Type::D),
        &[scalar(10, Type::D), imm(Type::D, 1)],
    );
    let mut cmp = op(
        Opcode::Cmp,
        1,
        super::null(Type::D),
        &[scalar(10, Type::D), imm(Type::D, 5)],
    );
    cmp.cond_mod = isa::inst::CondMod::L;
    let mut w = flow(Opcode::While, -2, 0);
    w.pred_ctrl = PredCtrl::Normal;
    let code = [flow(Opcode::Do, 0, 0), count, cmp, w];
    assert_eq!(go(&mut t, &code), Stop::Fault(Outside(64)));
    assert_eq!(t.grf()[10][0], 5);
}

#[test]
fn halt_turns_channels_off_until_the_mask_is_written() {
    let mut t = thread();
    t.set_flag([0x00f0, 0]);
    let mut h = flow(Opcode::Halt, 0, 0);
    h.pred_ctrl = PredCtrl::Normal;
    let one = op(Opcode::Mov, 8, dst(10, Type::Ud), &[imm(Type::Ud, 1)]);
    let mut restore = op(
        Opcode::Mov,
        1,
        arf(0x40, 0, Type::Uw),
        &[arf_src(0x70, 4, Type::Uw)],
    );
    restore.no_mask = true;
    let two = op(Opcode::Mov, 8, dst(11, Type::Ud), &[imm(Type::Ud, 2)]);
    go(&mut t, &[h, one, restore, two]);
    assert_eq!(t.grf()[10], [1, 1, 1, 1, 0, 0, 0, 0]);
    assert_eq!(t.grf()[11], [2; 8]);
}

#[test]
fn mask_stack_overflow_raises_its_exception() {
    let mut t = Thread::new();
    t.dispatch(&ThreadInit {
        dispatch_mask: 0xffff,
        mask_stack_exception: true,
        sip: 0x800,
        ..ThreadInit::default()
    });
    let code = vec![flow(Opcode::If, 1, 0); 20];
    assert_eq!(go(&mut t, &code), Stop::Fault(Outside(0x800)));
    assert_eq!(t.view().control[2], 17 * 16);
    // Without the enable, nothing stops.
    let mut t = thread();
    assert_eq!(go(&mut t, &code), Stop::Fault(Outside(320)));
    // Underflow likewise.
    let mut t = thread();
    let code = [flow(Opcode::Endif, 0, 1)];
    assert_eq!(go(&mut t, &code), Stop::Fault(Outside(16)));
    assert_eq!(t.exec_mask(), 0xffff);
}
