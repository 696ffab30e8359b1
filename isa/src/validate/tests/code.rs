//! Cases of rules of whole kernels.
//!
//! PRM: volume 4, 2.6.3, 2.6.8, 11.3.4.5, 11.8, 14.2.

use alloc::vec;
use alloc::vec::Vec;

use crate::inst::{Inst, Opcode};
use crate::operand::Type::{self, F, Ud};

use super::build::{DstExt, InstExt, SrcExt, add, branch, d, darf, g, mov, null, send};

/// A rule of kernels with a kernel that keeps it and one that breaks it.
pub(super) struct Case {
    pub(super) rule: &'static str,
    pub(super) version: u8,
    pub(super) legal: Vec<Inst>,
    pub(super) illegal: Vec<Inst>,
}

/// Instructions before a send to the URB that ends the thread.
fn kernel(insts: &[Inst]) -> Vec<Inst> {
    let mut code = insts.to_vec();
    code.push(send(40, null(F), g(1, F), 6, 0x8030_c000));
    code
}

fn case(rule: &'static str, version: u8, legal: &[Inst], illegal: &[Inst]) -> Case {
    let later = |code: Vec<Inst>| -> Vec<Inst> {
        code.into_iter()
            .map(|inst| {
                inst.with(|inst| {
                    if let Some(send) = inst.send.as_mut() {
                        send.eot = version >= 50 && inst.dst == null(F);
                    }
                })
            })
            .collect()
    };
    Case {
        rule,
        version,
        legal: later(kernel(legal)),
        illegal: later(kernel(illegal)),
    }
}

pub(super) fn cases() -> Vec<Case> {
    let mut cases = blocks();
    cases.extend(dependencies());
    cases.extend(hazards());
    cases
}

fn plain() -> Inst {
    mov(8, d(2, F), g(3, F))
}

// covers: 14.1-02, 14.2-26
fn blocks() -> Vec<Case> {
    let begin = |jump| branch(Opcode::If, 8, jump).predicated();
    let end = |size| branch(Opcode::Endif, size, 0);
    let otherwise = branch(Opcode::Else, 8, 3);
    let repeat = |size, jump| branch(Opcode::While, size, jump);
    let head = branch(Opcode::Do, 8, 0).with(|inst| inst.branch = None);
    let leave = branch(Opcode::Break, 8, 2);
    let mut found = vec![
        case(
            "branch-target",
            40,
            &[begin(2), plain(), end(8)],
            &[begin(9), plain(), end(8)],
        ),
        // Halves of instructions are counted, and the middle of one is no target.
        case(
            "branch-target",
            50,
            &[begin(4), plain(), end(8)],
            &[begin(3), plain(), end(8)],
        ),
        case(
            "branch-target",
            80,
            &[begin(32), plain(), end(8)],
            &[begin(2), plain(), end(8)],
        ),
        case(
            "block-nesting",
            40,
            &[begin(2), otherwise, plain(), end(8)],
            &[begin(2), plain()],
        ),
        case("block-nesting", 40, &[plain()], &[otherwise]),
        case(
            "block-nesting",
            40,
            &[head, begin(2), plain(), end(8), repeat(8, -3)],
            &[head, begin(2), plain(), repeat(8, -2), end(8)],
        ),
        case(
            "block-exec-size",
            40,
            &[begin(2), plain(), end(8)],
            &[begin(2), plain(), end(16)],
        ),
        case(
            "loop-break",
            40,
            &[head, leave, repeat(8, -1)],
            &[leave, plain()],
        ),
    ];
    let ends = kernel(&[plain()]);
    let runs = vec![plain()];
    found.push(Case {
        rule: "end-of-thread",
        version: 40,
        legal: ends,
        illegal: runs,
    });
    found
}

fn dependencies() -> Vec<Case> {
    let write = |mask: u8, clear: bool, check: bool| {
        mov(8, d(2, F), g(3, F).quad()).align16().with(|inst| {
            inst.dst.writemask = mask;
            inst.no_dd_clr = clear;
            inst.no_dd_chk = check;
        })
    };
    let read = mov(8, d(5, F), g(2, F));
    let chain = [
        write(1, true, false),
        write(2, true, true),
        write(4, false, true),
        read,
    ];
    let early = [write(1, true, false), read, write(4, false, true)];
    let open = [write(1, true, false), write(2, false, false)];
    let never = [write(1, true, false)];
    let predicated = [write(1, true, false), write(2, false, true).predicated()];
    vec![
        case("dependency-unfinished", 40, &chain, &open),
        case("dependency-unfinished", 40, &chain, &never),
        case("dependency-read", 40, &chain, &early),
        case("dependency-predicate", 70, &chain, &predicated),
    ]
}

// covers: 11.8-03
fn hazards() -> Vec<Case> {
    // The manual's example: mov r3; send r3; mov r2 r3.
    let write = mov(8, d(3, F), g(6, F));
    let math = |nr| send(40, d(nr, F), g(6, F), 1, 0x11_0001);
    let read = |nr: u8, ty: Type| mov(8, d(20, ty), g(nr, ty));
    let acc1 = mov(8, darf(0x21, F), g(6, F));
    let other = add(8, d(7, F), g(8, F), g(9, F));
    vec![
        case(
            "send-write-pending",
            40,
            &[write, read(3, F), math(3), read(3, F)],
            &[write, math(3), read(3, F)],
        ),
        case(
            "send-response-pending",
            40,
            &[math(3), read(3, Ud), math(3), read(3, F)],
            &[math(3), math(3), read(3, F)],
        ),
        case(
            "accumulator-1-repeated",
            40,
            &[acc1, other, acc1],
            &[acc1, acc1],
        ),
        case(
            "accumulator-1-repeated",
            40,
            &[
                acc1.with(|inst| inst.thread_ctrl = crate::inst::ThreadCtrl::Switch),
                acc1,
            ],
            &[acc1, mov(8, darf(0x21, F).stride(1), g(4, F))],
        ),
    ]
}
