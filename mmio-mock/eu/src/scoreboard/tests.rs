//! Dependency control: what it leaves waiting, and what it lets pass.
//!
//! PRM: volume 4, 2.6.11, 11.8, 13.2.2. Expectations are the meanings of the four codes.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "tests")]

use crate::tests::{TestPort, dst, imm, op, run_in, scalar, send, thread, vec8};
use crate::{Delivery, KernelCache, Stop};
use isa::operand::{Src, Type};
use isa::{Inst, Opcode, Verx10};

const UD: Type = Type::Ud;

/// `mov` of a number to a whole register.
fn set(nr: u8, value: u32) -> Inst {
    op(Opcode::Mov, 8, dst(nr, UD), &[imm(UD, value)])
}

fn clr(mut i: Inst) -> Inst {
    i.no_dd_clr = true;
    i
}

fn chk(mut i: Inst) -> Inst {
    i.no_dd_chk = true;
    i
}

/// Where the thread hangs; `None` when every instruction is issued.
fn hangs(code: &[Inst]) -> Option<u32> {
    hangs_with(Delivery::Done, code)
}

fn hangs_with(answer: Delivery, code: &[Inst]) -> Option<u32> {
    let mut t = thread();
    let mut port = TestPort::new(Vec::new());
    port.answer = answer;
    let mut cache = KernelCache::new(Verx10::from_times_ten(40)).unwrap();
    let (stop, _) = run_in(&mut cache, &mut t, &mut port, code, code.len() as u64);
    match stop {
        Stop::Hung(_) => Some(t.ip() / 16),
        Stop::Budget => None,
        other => panic!("{other:?}"),
    }
}

/// The use that compilers make of it: parts of a register, one after another without waiting.
// covers: 11.8-02, 13.2.2-02, 13.4-02
#[test]
fn a_chain_that_the_last_instruction_closes() {
    let read = op(Opcode::Mov, 8, dst(10, UD), &[vec8(4, UD)]);
    let code = [clr(set(4, 1)), chk(clr(set(4, 2))), chk(set(4, 3)), read];
    assert_eq!(hangs(&code), None);
}

// covers: 11.8-02
#[test]
fn a_register_that_nothing_clears_is_never_read() {
    let read = op(Opcode::Mov, 1, dst(10, UD), &[scalar(4, UD)]);
    assert_eq!(hangs(&[clr(set(4, 1)), set(5, 0), read]), Some(2));
    // A source is checked whatever the dependency control says of the destination.
    assert_eq!(hangs(&[clr(set(4, 1)), chk(read)]), Some(1));
}

// covers: 11.8-02
#[test]
fn a_register_that_nothing_clears_is_written_only_without_the_check() {
    assert_eq!(hangs(&[clr(set(4, 1)), set(4, 2)]), Some(1));
    assert_eq!(hangs(&[clr(set(4, 1)), chk(set(4, 2)), set(4, 3)]), None);
}

/// Dependencies go by register, not by channel: the second half of one is as taken as the first.
// covers: 11.8-02
#[test]
fn dependencies_are_those_of_whole_registers() {
    let half = clr(op(Opcode::Mov, 4, dst(4, UD), &[imm(UD, 1)]));
    let mut other = op(Opcode::Mov, 1, dst(10, UD), &[scalar(4, UD)]);
    other.src[0].addr = isa::operand::Addr::Direct { nr: 4, subnr: 16 };
    assert_eq!(hangs(&[half, other]), Some(1));
    // Sixteen channels of dwords are two registers.
    let wide = clr(op(Opcode::Mov, 16, dst(4, UD), &[imm(UD, 1)]));
    for (nr, hung) in [(4, Some(1)), (5, Some(1)), (6, None)] {
        let read = op(Opcode::Mov, 1, dst(10, UD), &[scalar(nr, UD)]);
        assert_eq!(hangs(&[wide, read]), hung, "r{nr}");
    }
}

/// On 965 and GM965 a send does not look at its destination.
// covers: 11.8-03
#[test]
fn a_send_does_not_check_its_destination() {
    let ask = send(dst(4, UD), Src::NULL, 1, Some(0x0911_0000));
    let read = op(Opcode::Mov, 1, dst(10, UD), &[scalar(4, UD)]);
    assert_eq!(hangs(&[clr(set(4, 1)), ask, read]), None);
    // Its source is another matter.
    let from = send(dst(6, UD), vec8(4, UD), 1, Some(0x0911_0000));
    assert_eq!(hangs(&[clr(set(4, 1)), from]), Some(1));
}

/// 2.6.11: registers of a dropped message wait as well, all of them.
// covers: 11.8-02
#[test]
fn registers_of_a_dropped_message_wait() {
    let ask = send(dst(4, UD), Src::NULL, 1, Some(0x0912_0000));
    for (nr, hung) in [(3, None), (4, Some(1)), (5, Some(1)), (6, None)] {
        let read = op(Opcode::Mov, 1, dst(10, UD), &[scalar(nr, UD)]);
        assert_eq!(hangs_with(Delivery::Dropped, &[ask, read]), hung, "r{nr}");
    }
}
