//! Cases of multiplication, math, three sources, mixed floats, 64-bit operations.
//!
//! PRM: volume 4, 14.2; Broxton PRM vol6, Register Region Restrictions.

use crate::inst::Opcode;
use crate::operand::{RegFile, Type};

use super::Cases;
use super::build::{DstExt, InstExt, SrcExt, add, arf, d, g, imm, m, math, mov, op, three};

use Type::{D, Df, F, Hf, Ud, W};

pub(super) fn cases(cases: &mut Cases) {
    multiply(cases);
    extended_math(cases);
    three_sources(cases);
    mixed(cases);
    double(cases);
}

// covers: 11.3.4.5-15, 14.2-39
fn multiply(cases: &mut Cases) {
    let mul = |dst, first, second| op(Opcode::Mul, 8, d(2, dst), &[first, second]);
    let dwords = mul(D, g(3, D), g(4, D));
    cases.add(
        "multiply-float-destination",
        40,
        dwords,
        mul(F, g(3, D), g(4, D)),
    );
    let acc = arf(0x20, F).region(8, 8, 1);
    let floats = mul(F, g(3, F), g(4, F));
    cases.add("multiply-accumulator", 40, floats, mul(F, acc, g(4, F)));
    let mixed = mul(F, g(3, F), g(4, D));
    cases.add("float-dword-mix", 40, floats, mixed);
    let words = mul(D, g(3, D), g(4, W));
    cases.add("multiply-dword-first", 70, words, mul(D, g(3, W), g(4, D)));
    let signed = mul(D, g(3, D).neg(), g(4, D));
    let unsigned = mul(D, g(3, Ud).neg(), g(4, D));
    cases.add("multiply-negated-unsigned", 40, signed, unsigned);
    let mach = |ty| op(Opcode::Mach, 8, d(2, ty), &[g(3, ty), g(4, ty)]);
    cases.add("multiply-high-types", 40, mach(D), mach(F));
    cases.add(
        "multiply-high-accumulator",
        60,
        mach(D).acc_write(),
        mach(D),
    );
}

fn extended_math(cases: &mut Cases) {
    let inverse = math(1, 8, d(2, F), &[g(3, F)]);
    let reserved = inverse.with(|inst| inst.math = Some(0));
    cases.add("math-function", 60, inverse, reserved);
    let power = |src| math(10, 8, d(2, F), &[g(3, F), src]);
    let two = imm(0x4000_0000, F);
    cases.add("math-grf", 70, power(g(4, F)), power(two));
    cases.add("math-grf", 80, power(two), math(1, 8, d(2, F), &[two]));
    let strided = math(1, 4, d(2, F).stride(2), &[g(3, F).quad()]);
    cases.add("math-destination-stride", 70, inverse, strided);
    let scalar = math(1, 8, d(2, F), &[g(3, F).scalar()]);
    cases.add("math-source-stride", 60, inverse, scalar);
    let negated = math(1, 8, d(2, F), &[g(3, F).neg()]);
    cases.add("math-source-modifier", 60, inverse, negated);
    let divide = |size, src| math(12, size, d(2, D), &[src, g(6, D)]);
    let plain = divide(8, g(4, D));
    cases.add("math-divide-modifier", 70, plain, divide(8, g(4, D).neg()));
    cases.add(
        "math-types",
        60,
        plain,
        math(12, 8, d(2, F), &[g(3, F), g(4, F)]),
    );
    let wide = math(1, 16, d(2, F), &[g(4, F)]);
    cases.add("math-exec-size", 60, inverse, wide);
    cases.add("math-divide-exec-size", 70, plain, divide(16, g(4, D)));
    let align16 = math(1, 8, d(2, F), &[g(3, F).quad()]).align16();
    cases.add("math-align1", 60, inverse, align16);
}

fn three_sources(cases: &mut Cases) {
    let mad = three(Opcode::Mad, 8, F);
    let align1 = mad.with(|inst| inst.access = crate::inst::AccessMode::Align1);
    cases.add("three-source-align16", 70, mad, align1);
    let message = mad.with(|inst| inst.dst = m(2, F));
    cases.add("three-source-files", 60, message, {
        mad.with(|inst| inst.src[1].file = RegFile::Arf)
    });
    let indirect = mad.with(|inst| inst.src[0] = inst.src[0].indirect(0));
    cases.add("three-source-direct", 70, mad, indirect);
    let mixed = mad.with(|inst| inst.src[2].ty = D);
    cases.add("three-source-types", 70, mad, mixed);
    cases.add("three-source-exec-size", 70, mad, three(Opcode::Mad, 16, F));
    let lrp = |ty| three(Opcode::Lrp, 8, ty);
    cases.add("three-source-lerp", 60, lrp(F), lrp(D));
}

fn mixed(cases: &mut Cases) {
    let sum = |size, dst, first| add(size, dst, first, g(6, Hf));
    let legal = sum(8, d(2, F), g(4, F));
    let indirect = sum(8, d(2, F), g(4, F).indirect(0));
    cases.add("mixed-float-indirect", 90, legal, indirect);
    cases.add(
        "mixed-float-exec-size",
        90,
        legal,
        sum(16, d(2, F), g(4, F)),
    );
    let packed = sum(8, d(2, Hf).at(16), g(4, F));
    cases.add(
        "mixed-float-packed-exec-size",
        90,
        packed,
        sum(16, d(2, Hf), g(4, F)),
    );
    let off = sum(8, d(2, Hf).at(8), g(4, F));
    cases.add("mixed-float-packed-alignment", 90, packed, off);
    let vectors = |size, stride| {
        let sources = [g(4, F).quad(), g(6, Hf).region(stride, 4, 1)];
        op(Opcode::Add, size, d(2, F), &sources).align16()
    };
    cases.add(
        "mixed-float-align16-stride",
        90,
        vectors(8, 4),
        vectors(8, 0),
    );
    cases.add(
        "mixed-float-align16-exec-size",
        90,
        vectors(8, 4),
        vectors(16, 4),
    );
    let accumulated = vectors(8, 4).with(|inst| inst.opcode = Opcode::Mac);
    cases.add(
        "mixed-float-align16-accumulator",
        90,
        vectors(8, 4),
        accumulated,
    );
    let inverse = |src| math(1, 8, d(2, F), &[src]);
    // math with r6.0<8;4,2>:hf is the manual's example.
    let strided = inverse(g(6, Hf).region(8, 4, 2));
    cases.add("mixed-float-math-stride", 90, strided, inverse(g(6, Hf)));
    let acc = |subnr| arf(0x20, F).quad().at(subnr);
    let half = |dst, src| add(4, dst, src, g(6, F).quad());
    let wide = half(d(2, Hf).stride(2), acc(0));
    cases.add(
        "mixed-float-accumulator-offset",
        90,
        wide,
        half(d(2, Hf), acc(16)),
    );
    // mac(8) r3<2>:hf is the manual's example.
    let mac = |stride| {
        op(
            Opcode::Mac,
            8,
            d(3, Hf).stride(stride),
            &[g(4, F), g(5, Hf)],
        )
    };
    cases.add("mixed-float-accumulator-stride", 90, mac(2), mac(1));
}

fn double(cases: &mut Cases) {
    let vectors = |size| mov(size, d(2, Df), g(4, F).quad()).align16();
    cases.add("double-align16-exec-size", 80, vectors(2), vectors(4));
    // The manual's examples: mov(4) r10.0:df r11.0<16;8,2>:f, mov(4) r10.0<2>:f r11.0<4;4,1>:df and
    // mul(4) r10.0<2>:d r11.0<8;4,2>:d r12.0<8;4,2>:d.
    let widen = |src| mov(4, d(10, Df), src);
    let strided = widen(g(11, F).region(8, 4, 2));
    cases.add_low_power("double-stride", 90, strided, widen(g(11, F).quad()));
    let narrow = mov(4, d(10, F).stride(2), g(11, Df).quad());
    cases.add_low_power("double-stride", 90, narrow, widen(g(11, F).quad()));
    let source = |nr| g(nr, D).region(8, 4, 2);
    let mul = op(
        Opcode::Mul,
        4,
        d(10, D).stride(2),
        &[source(11), source(12)],
    );
    let packed = op(
        Opcode::Mul,
        4,
        d(10, D),
        &[g(11, D).quad(), g(12, D).quad()],
    );
    cases.add_low_power("double-stride", 90, mul, packed);
    let copy = |src| mov(4, d(10, Df), src);
    let plain = copy(g(11, Df).quad());
    let rows = copy(g(11, Df).region(4, 2, 1));
    cases.add_low_power("double-vertical-stride", 90, plain, rows);
    let scalar = mov(4, d(10, Df), g(11, Df).scalar().at(8));
    let off = mov(2, d(10, Df), g(11, Df).region(2, 2, 1).at(8));
    cases.add_low_power("double-offset", 90, scalar, off);
    let indirect = copy(g(11, Df).quad().indirect(0));
    cases.add_low_power("double-indirect", 90, plain, indirect);
    let acc = add(4, d(10, Df), arf(0x20, Df).quad(), g(12, Df).quad());
    let sum = add(4, d(10, Df), g(11, Df).quad(), g(12, Df).quad());
    cases.add_low_power("double-arf", 90, sum, acc);
    let unchecked = sum.with(|inst| inst.no_dd_chk = true);
    cases.add_low_power("double-dependency-control", 90, sum, unchecked);
}
