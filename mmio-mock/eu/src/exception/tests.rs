//! External halt: entry, return, and a routine that leaves the status set.
//!
//! PRM: volume 4, 3.4.1.1 (TD_CTL), 3.6, 12.3, 12.4.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "tests")]

use super::{CR0_MASTER, CR1_EXTERNAL_HALT};
use crate::tests::{TestPort, arf, dst, imm, op, run_in};
use crate::{KernelCache, Thread, ThreadInit};
use isa::operand::Type;
use isa::{Inst, Opcode, Verx10};

/// A kernel of one instruction at 0; a routine at 32 that clears the status or not, and returns.
fn code(clear: bool) -> [Inst; 5] {
    let mark = |n, v| op(Opcode::Mov, 1, dst(n, Type::Ud), &[imm(Type::Ud, v)]);
    let cr = |subreg, v| {
        op(
            Opcode::Mov,
            1,
            arf(0x80, subreg, Type::Ud),
            &[imm(Type::Ud, v)],
        )
    };
    [
        mark(1, 5),
        op(Opcode::Nop, 1, isa::operand::Dst::NULL, &[]),
        mark(2, 6),
        if clear { cr(4, 0) } else { mark(3, 7) },
        cr(0, 0),
    ]
}

fn halted(clear: bool, budget: u64) -> Thread {
    let mut t = Thread::new();
    t.dispatch(&ThreadInit {
        dispatch_mask: 0xffff,
        sip: 32,
        ..ThreadInit::default()
    });
    t.external_halt();
    assert_eq!(t.ip(), 32);
    let mut cache = KernelCache::new(Verx10::GEN40).unwrap();
    run_in(
        &mut cache,
        &mut t,
        &mut TestPort::new(Vec::new()),
        &code(clear),
        budget,
    );
    t
}

#[test]
fn the_routine_runs_before_the_kernel() {
    let t = halted(true, 3);
    assert_eq!((t.ip(), t.grf()[1][0], t.grf()[2][0]), (0, 0, 6));
    assert_eq!(t.view().control, [0, 0, 0]);
    let t = halted(true, 4);
    assert_eq!((t.ip(), t.grf()[1][0]), (16, 5));
}

#[test]
fn a_status_left_set_enters_again() {
    let t = halted(false, 3);
    assert_eq!((t.ip(), t.grf()[1][0]), (32, 0));
    assert_eq!(t.view().control, [CR0_MASTER, CR1_EXTERNAL_HALT, 0]);
}
