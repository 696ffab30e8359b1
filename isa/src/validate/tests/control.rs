//! Cases of modifiers by opcode, and of single opcodes.
//!
//! PRM: volume 4, 14.2; Baytrail PRM vol2 part 2.

use crate::inst::{CondMod, Opcode, ThreadCtrl};
use crate::operand::Type;

use super::Cases;
use super::build::{DstExt, InstExt, SrcExt, add, arf, branch, d, darf, g, imm, null, op, three};

use Type::{B, D, F, Hf, Ud, Uw, W};

pub(super) fn cases(cases: &mut Cases) {
    modifiers(cases);
    selection(cases);
    opcodes(cases);
    bits(cases);
    compares(cases);
    flow(cases);
}

fn modifiers(cases: &mut Cases) {
    let reverse = op(Opcode::Bfrev, 8, d(2, Ud), &[g(3, Ud)]);
    let compared = reverse.cond(CondMod::Z);
    cases.add("condition-of-opcode", 70, reverse, compared);
    cases.add("saturate-of-opcode", 70, reverse, reverse.saturated());
    let negated = op(Opcode::Bfrev, 8, d(2, Ud), &[g(3, Ud).neg()]);
    cases.add("source-modifier-of-opcode", 70, reverse, negated);
    let and = |src| op(Opcode::And, 8, d(2, Ud), &[src, g(4, Ud)]);
    let absolute = and(g(3, Ud).abs());
    cases.add("logic-absolute", 80, and(g(3, Ud).neg()), absolute);
    let cmp = op(Opcode::Cmp, 8, d(2, F), &[g(3, F), g(4, F)]);
    cases.add("compare-condition", 40, cmp.cond(CondMod::L), cmp);
    let round = op(Opcode::Rnde, 8, d(2, F), &[g(3, F)]).cond(CondMod::R);
    let sum = add(8, d(2, F), g(3, F), g(4, F)).cond(CondMod::R);
    cases.add("condition-round", 40, round, sum);
}

fn selection(cases: &mut Cases) {
    let sel = op(Opcode::Sel, 8, d(2, F), &[g(3, F), g(4, F)]);
    let minimum = sel.cond(CondMod::L);
    cases.add("select-condition", 40, sel.predicated(), minimum);
    cases.add("select-predicate", 60, minimum, sel);
    cases.add("select-minimum", 60, minimum, sel.cond(CondMod::Z));
}

// covers: 14.2-03, 14.2-06
fn opcodes(cases: &mut Cases) {
    let and = |ty| op(Opcode::And, 8, d(2, ty), &[g(3, ty), g(4, ty)]);
    cases.add("logic-integer", 40, and(Ud), and(F));
    let avg = |ty| op(Opcode::Avg, 8, d(2, ty), &[g(3, ty), g(4, ty)]);
    cases.add("average-types", 40, avg(W), avg(F));
    let wider = op(Opcode::Avg, 8, d(2, D), &[g(3, W), g(4, W)]);
    cases.add("average-types", 40, avg(W), wider);
    let other = op(Opcode::Avg, 8, d(2, W), &[g(3, W), g(4, Uw)]);
    cases.add("average-types", 40, avg(Uw), other);
    let dp4 = |dst, ty| op(Opcode::Dp4, 8, d(2, dst), &[g(3, ty), g(4, ty)]);
    cases.add("float-opcode-sources", 40, dp4(F, F), dp4(F, D));
    cases.add("float-opcode-destination", 40, dp4(F, F), dp4(D, F));
    let small = op(
        Opcode::Dp4,
        2,
        d(2, F),
        &[g(3, F).region(2, 2, 1), g(4, F).region(2, 2, 1)],
    );
    cases.add("dot-product-exec-size", 40, dp4(F, F), small);
    let line = |src| op(Opcode::Line, 8, d(2, F), &[src, g(4, F)]);
    cases.add("line-source", 40, line(g(3, F).scalar()), line(g(3, F)));
    let plane = |size, nr| op(Opcode::Pln, size, d(2, F), &[g(3, F).scalar(), g(nr, F)]);
    cases.add("plane-even-register", 45, plane(8, 4), plane(8, 5));
    cases.add("plane-exec-size", 90, plane(8, 5), {
        op(Opcode::Pln, 4, d(2, F), &[g(3, F).scalar(), g(4, F).quad()])
    });
    let lzd = |ty| op(Opcode::Lzd, 8, d(2, Ud), &[g(3, ty)]);
    cases.add("leading-zeros-types", 40, lzd(D), lzd(F));
    let sad2 = |ty| op(Opcode::Sad2, 8, d(2, Uw), &[g(3, ty), g(4, ty)]);
    cases.add("difference-types", 40, sad2(B), sad2(W));
    let sum = |dst, src| add(8, d(2, dst), g(3, src), g(4, src));
    cases.add("add-types", 70, sum(F, D), sum(D, F));
    let half = |ty| op(Opcode::F32to16, 8, d(2, ty).stride(2), &[g(3, F)]);
    cases.add("half-conversion-types", 75, half(W), half(Hf));
    let source = g(0, W).indirect(0);
    let one = |src| op(Opcode::Movi, 8, d(2, W), &[src]);
    cases.add("indexed-move", 45, one(source), one(g(3, W)));
}

fn bits(cases: &mut Cases) {
    let carry = |ty| op(Opcode::Addc, 8, d(2, ty), &[g(3, ty), g(4, ty)]);
    let legal = carry(Ud).acc_write();
    cases.add("carry-types", 70, legal, carry(D).acc_write());
    cases.add("carry-accumulator", 70, legal, carry(Ud));
    let into = legal.with(|inst| inst.dst = darf(0x20, Ud));
    cases.add("carry-accumulator", 70, legal, into);
    let field = |ty| three(Opcode::Bfe, 8, ty);
    cases.add("bit-field-types", 70, field(D), field(F));
    let mask = op(Opcode::Bfi1, 8, d(2, Ud), &[g(3, Ud), g(4, Ud)]);
    cases.add("bit-field-accumulator", 70, mask, mask.acc_write());
    let count = |ty| op(Opcode::Cbit, 8, d(2, Ud), &[g(3, ty)]);
    cases.add("bit-count-types", 70, count(Ud), count(F));
}

fn compares(cases: &mut Cases) {
    let cmp = |dst| op(Opcode::Cmp, 8, dst, &[g(3, F), g(4, F)]).cond(CondMod::L);
    cases.add("compare-accumulator", 40, cmp(null(F)), cmp(darf(0x20, F)));
    let switched = cmp(null(F)).with(|inst| inst.thread_ctrl = ThreadCtrl::Switch);
    cases.add("compare-null-switch", 70, switched, cmp(null(F)));
    let csel = three(Opcode::Csel, 8, F);
    cases.add("select-compare", 80, csel.cond(CondMod::Ge), csel);
}

// covers: 11.3.4.12-04, 14.2-29, 14.2-30, 14.2-14
fn flow(cases: &mut Cases) {
    let condition = branch(Opcode::If, 8, 32).predicated();
    cases.add("flow-align1", 90, condition, condition.align16());
    let ip = |ty| arf(0xa0, ty);
    let jump =
        op(Opcode::Jmpi, 1, darf(0xa0, Ud), &[ip(Ud), imm(2, D)]).with(|inst| inst.no_mask = true);
    let other = jump.with(|inst| inst.dst = d(2, Ud));
    cases.add("flow-jump-ip", 40, jump, other);
    cases.add(
        "flow-jump-no-mask",
        40,
        jump,
        jump.with(|inst| inst.no_mask = false),
    );
    let otherwise = branch(Opcode::Else, 8, 2);
    cases.add(
        "flow-block-predicate",
        40,
        otherwise,
        otherwise.predicated(),
    );
    let head = branch(Opcode::Do, 8, 0).with(|inst| inst.branch = None);
    cases.add("flow-block-predicate", 40, head, head.predicated());
    let pops = |count| {
        otherwise.with(|inst| {
            inst.branch = inst.branch.map(|branch| crate::inst::Branch {
                pop_or_uip: count,
                ..branch
            });
        })
    };
    cases.add("flow-pop-count", 40, pops(15), pops(16));
    let brd = branch(Opcode::Brd, 8, 2).with(|inst| inst.thread_ctrl = ThreadCtrl::Switch);
    let still = branch(Opcode::Brd, 8, 2);
    cases.add("flow-branch-switch", 70, brd, still);
    cases.add(
        "flow-branch-null",
        70,
        brd,
        brd.with(|inst| inst.dst = d(2, D)),
    );
    let wait = |nr| op(Opcode::Wait, 1, darf(nr, Ud), &[arf(nr, Ud)]);
    cases.add("wait-register", 40, wait(0x91), wait(0x80));
    cases.add("wait-exec-size", 40, wait(0x91), wait(0x91).predicated());
}
