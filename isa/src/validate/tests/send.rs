//! Cases of sends and messages.
//!
//! PRM: volume 4, 2.6, 6.1, 8.4.2. Descriptors are written as the manual lays them out: response and
//! message length in bits 19:16 and 23:20 on Gen4, 24:20 and 28:25 later.

use crate::inst::{ExDesc, Inst, Opcode, SendDesc};
use crate::operand::{Dst, Src, Type};

use super::Cases;
use super::build::{InstExt, SrcExt, arf, d, g, null, op, send};

use Type::{F, Ud, Uw};

const MATH: u32 = 1;
const SAMPLER: u32 = 2;
const READ: u32 = 4;
const WRITE: u32 = 5;
const URB: u32 = 6;
const END: u32 = 1 << 31;

/// Lengths as Gen4 has them.
fn lengths(message: u32, response: u32) -> u32 {
    message << 20 | response << 16
}

/// Lengths as Gen5 and later have them, with a header.
fn later(message: u32, response: u32) -> u32 {
    message << 25 | response << 20 | 1 << 19
}

fn gen4(dst: Dst, target: u32, desc: u32) -> Inst {
    send(40, dst, g(3, F), target, desc)
}

pub(super) fn cases(cases: &mut Cases) {
    operands(cases);
    lengths_and_ranges(cases);
    end_of_thread(cases);
    descriptors(cases);
    split(cases);
    math(cases);
    urb(cases);
    later_urb(cases);
    data_port(cases);
}

fn to(dst: Dst) -> Dst {
    Dst { ty: Uw, ..dst }
}

fn operands(cases: &mut Cases) {
    let math = gen4(d(2, F), MATH, lengths(1, 1) | 1);
    let indirect = math.with(|inst| inst.src[0] = g(3, F).indirect(0));
    cases.add("send-direct", 40, math, indirect);
    let sample = |src| send(70, d(2, F), src, SAMPLER, later(2, 4));
    cases.add("send-payload-file", 70, sample(g(4, F)), sample(arf(0, F)));
    let flags = math.with(|inst| inst.src[0] = arf(0x30, F));
    let none = math.with(|inst| inst.src[0] = arf(0, F));
    cases.add("send-implied-move", 40, none, flags);
    let off = send(70, d(2, F), g(4, F).at(8).quad(), SAMPLER, later(2, 4));
    cases.add("send-whole-registers", 70, sample(g(4, F)), off);
    cases.add("send-plain", 70, sample(g(4, F)), sample(g(4, F).neg()));
}

// covers: 14.2-51
fn lengths_and_ranges(cases: &mut Cases) {
    let sample = |length, response| gen4(d(2, F), SAMPLER, lengths(length, response));
    cases.add("send-message-length", 40, sample(3, 8), sample(0, 8));
    let wide = |response| send(70, d(2, F), g(4, F), SAMPLER, later(2, response));
    cases.add("send-response-length", 70, wide(16), wide(17));
    cases.add("send-payload-range", 40, sample(14, 8), sample(15, 8));
    let from = |nr| send(70, d(2, F), g(nr, F), SAMPLER, later(2, 4));
    cases.add("send-payload-range", 70, from(126), from(127));
    let into = |nr| gen4(d(nr, F), SAMPLER, lengths(3, 8));
    cases.add("send-response-range", 40, into(120), into(121));
    let write = |dst, response| gen4(dst, READ, lengths(2, response));
    cases.add(
        "send-null-response",
        40,
        write(d(2, F), 1),
        write(null(F), 1),
    );
    cases.add(
        "send-missing-destination",
        40,
        write(d(2, F), 1),
        write(d(2, F), 0),
    );
}

// covers: 14.2-52
fn end_of_thread(cases: &mut Cases) {
    let end = |dst, target, desc| gen4(dst, target, desc | END);
    let urb = end(null(F), URB, lengths(3, 0) | 0xc000);
    cases.add(
        "send-end-destination",
        40,
        urb,
        end(d(2, F), URB, lengths(3, 0) | 0xc000),
    );
    cases.add(
        "send-end-response",
        40,
        urb,
        end(null(F), URB, lengths(3, 1) | 0xc000),
    );
    let register = op(Opcode::Send, 8, null(F), &[g(3, F), arf(0x10, Ud)]).with(|inst| {
        inst.send = Some(SendDesc {
            eot: true,
            mrf: 2,
            ..SendDesc::default()
        });
    });
    cases.add("send-end-descriptor", 40, urb, register);
    cases.add(
        "send-end-target",
        40,
        urb,
        end(null(F), SAMPLER, lengths(3, 0)),
    );
    let late = |nr| {
        send(70, null(F), g(nr, F), URB, later(3, 0)).with(|inst| {
            inst.send = inst.send.map(|send| SendDesc { eot: true, ..send });
        })
    };
    cases.add("send-end-registers", 70, late(112), late(111));
}

// covers: 11.3.4.4-08
fn descriptors(cases: &mut Cases) {
    let register = |src: Src| {
        op(Opcode::Send, 8, d(2, F), &[g(3, F), src]).with(|inst| {
            inst.send = Some(SendDesc {
                mrf: 2,
                ..SendDesc::default()
            });
        })
    };
    let legal = register(arf(0x10, Ud));
    cases.add(
        "send-descriptor-register",
        40,
        legal,
        register(arf(0x10, Ud).at(4)),
    );
    cases.add(
        "message-target",
        40,
        gen4(d(2, F), MATH, lengths(1, 1) | 1),
        gen4(d(2, F), 9, lengths(1, 1)),
    );
    let far = |nr| send(80, d(nr, F), g(120, F), SAMPLER, later(6, 4));
    cases.add("send-last-register", 80, far(2), far(124));
}

fn splits(first: u8, second: Src, ex_desc: ExDesc) -> Inst {
    op(Opcode::Sends, 8, d(2, F), &[g(first, F), second]).with(|inst| {
        inst.send = Some(SendDesc {
            imm: Some(later(2, 1)),
            sfid: 10,
            ex_desc,
            ..SendDesc::default()
        });
    })
}

fn split(cases: &mut Cases) {
    let two = ExDesc::Imm(2 << 6);
    let legal = splits(4, g(6, F), two);
    cases.add("send-split-file", 90, legal, splits(4, arf(0x30, F), two));
    cases.add("send-split-overlap", 90, legal, splits(4, g(5, F), two));
    cases.add(
        "send-split-range",
        90,
        splits(4, g(126, F), two),
        splits(4, g(127, F), two),
    );
    let register = |word| splits(4, g(6, F), ExDesc::Reg(word));
    cases.add("send-extended-register", 90, register(2), register(1));
}

fn math(cases: &mut Cases) {
    let message =
        |length, response, function| gen4(d(2, F), MATH, lengths(length, response) | function);
    let inverse = message(1, 1, 1);
    cases.add("math-message-function", 40, inverse, message(1, 1, 9));
    cases.add(
        "math-message-length",
        40,
        message(2, 1, 10),
        message(1, 1, 10),
    );
    cases.add(
        "math-message-response",
        40,
        message(1, 2, 8),
        message(1, 1, 8),
    );
    let wide = inverse.with(|inst| inst.exec_size = 16);
    cases.add("math-message-exec-size", 40, inverse, wide);
}

fn urb(cases: &mut Cases) {
    let write =
        |dst, length, response, control| gen4(dst, URB, lengths(length, response) | control);
    let plain = write(null(F), 3, 0, 0xc000);
    cases.add("urb-opcode", 40, plain, write(null(F), 3, 0, 0xc001));
    cases.add("urb-swizzle", 40, plain, write(null(F), 3, 0, 0xcc00));
    let allocate = write(d(2, F), 3, 1, 0xe000);
    let ends = gen4(null(F), URB, END | lengths(3, 0) | 0xe000);
    cases.add("urb-allocate-end", 40, allocate, ends);
    cases.add(
        "urb-allocate-response",
        40,
        allocate,
        write(null(F), 3, 0, 0xe000),
    );
    let interleave = |length| write(null(F), length, 0, 0xc400);
    cases.add("urb-interleave-length", 40, interleave(3), interleave(2));
    let transpose = |length, offset: u32| write(null(F), length, 0, 0x4800 | offset << 4);
    cases.add("urb-transpose", 40, transpose(4, 4), transpose(3, 4));
    cases.add("urb-transpose", 40, transpose(7, 2), transpose(4, 1));
}

fn later_urb(cases: &mut Cases) {
    let urb = |version, dst, desc| send(version, dst, g(4, F), URB, desc);
    let header = later(3, 0) | 0xc000;
    let none = header & !(1 << 19);
    cases.add(
        "urb-header",
        50,
        urb(50, null(F), header),
        urb(50, null(F), none),
    );
    let sync = urb(50, d(2, F), later(1, 1) | 0x2001);
    let used = urb(50, d(2, F), later(1, 1) | 0x4001);
    cases.add("urb-sync-fields", 50, sync, used);
    let two = urb(50, d(2, F), later(1, 2) | 0x2001);
    cases.add("urb-sync-response", 50, sync, two);
    let read = |response| urb(80, d(2, F), later(1, response) | 8);
    cases.add("urb-read-response", 80, read(2), read(0));
}

fn data_port(cases: &mut Cases) {
    let write =
        |dst, length, response, control| gen4(to(dst), WRITE, lengths(length, response) | control);
    // Render target write, SIMD16, last render target.
    let target = write(null(F), 10, 0, 0x4800);
    cases.add(
        "data-port-write-response",
        40,
        target,
        write(d(2, F), 10, 1, 0x4800),
    );
    cases.add(
        "data-port-write-type",
        40,
        target,
        write(null(F), 10, 0, 0x5000),
    );
    let read = |control| gen4(d(2, F), READ, lengths(2, 1) | control);
    cases.add("data-port-target-cache", 40, read(0x8000), read(0xc000));
}
