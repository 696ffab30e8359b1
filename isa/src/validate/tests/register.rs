//! Cases of align16, immediates, architecture registers, accumulators, compression.
//!
//! PRM: volume 4, 11.2 to 11.5; Broxton PRM vol6, Accumulator Registers.

use crate::inst::{Compression, Opcode};
use crate::operand::{RegFile, Region, Type};

use super::Cases;
use super::build::{DstExt, InstExt, SrcExt, add, arf, branch, d, darf, g, imm, m, mov, op, send};

use Type::{B, D, F, Q, Ud, Uw, V, Vf, W};

pub(super) fn cases(cases: &mut Cases) {
    natural(cases);
    align16(cases);
    immediates(cases);
    architecture(cases);
    address(cases);
    accumulators(cases);
    accumulators_of_broxton(cases);
    compression(cases);
}

// covers: 11.3.8-01, 11.3.8-02
fn align16(cases: &mut Cases) {
    let plain = mov(8, d(2, F), g(3, F).quad()).align16();
    let stride = mov(8, d(2, F), g(3, F).region(8, 4, 1)).align16();
    cases.add("align16-vertical-stride", 40, plain, stride);
    let two = mov(4, d(2, F), g(3, F).region(2, 4, 1)).align16();
    cases.add("align16-vertical-stride", 75, two, stride);
    let strided = mov(8, d(2, F).stride(2), g(3, F).quad()).align16();
    cases.add("align16-destination-stride", 40, plain, strided);
    let high = mov(4, d(2, F).at(16), g(3, F).quad()).align16();
    let off = mov(4, d(2, F).at(8), g(3, F).quad()).align16();
    cases.add("align16-alignment", 40, high, off);
    let masked = |mask| plain.with(|inst| inst.dst.writemask = mask);
    cases.add("align16-write-mask", 40, masked(1), masked(0));
    let align1 = mov(8, d(2, F), g(3, F));
    let swizzled = align1.with(|inst| inst.src[0].swizzle = [0; 4]);
    cases.add("align1-plain", 40, align1, swizzled);
    let widen = |size| mov(size, d(2, D), g(3, W).quad()).align16();
    cases.add("align16-conversion", 90, widen(8), widen(16));
    // mul(8) r10.0 r11.0 r12.4<0> and a source that lies across two registers.
    let mul = |src| op(Opcode::Mul, 8, d(10, F), &[g(11, F).quad(), src]).align16();
    let replicated = mul(g(12, F).region(0, 4, 1).at(16));
    let across = mul(g(12, F).quad().at(16));
    cases.add("align16-one-source-register", 90, replicated, across);
}

// covers: 10.1-02
fn natural(cases: &mut Cases) {
    let float = |dst, src| mov(4, d(2, F).at(dst), g(3, F).region(4, 4, 1).at(src));
    cases.add("natural-alignment", 40, float(16, 4), float(16, 2));
    cases.add("natural-alignment", 40, float(8, 8), float(6, 8));
    let words = |src| mov(4, d(2, W), g(3, W).region(4, 4, 1).at(src));
    cases.add("natural-alignment", 90, words(6), words(5));
}

// covers: 11.3.5-02
fn immediates(cases: &mut Cases) {
    let one = imm(0x3f80_0000, F);
    let last = add(8, d(2, F), g(3, F), one);
    cases.add(
        "immediate-last-source",
        40,
        last,
        add(8, d(2, F), one, g(3, F)),
    );
    let word = mov(8, d(2, W), imm(0x0002_0002, W));
    let byte = mov(8, d(2, B).stride(2), imm(2, B));
    cases.add("immediate-byte", 40, word, byte);
    let low = mov(8, d(2, W), imm(2, W));
    cases.add("immediate-word-copies", 40, word, low);
    let negated = mov(8, d(2, F), one.neg());
    cases.add("immediate-modifier", 40, mov(8, d(2, F), one), negated);
    let alone = mov(4, d(2, Q), imm(1 << 40, Q));
    let beside = add(4, d(2, Q), g(3, Q).quad(), imm(1 << 40, Q));
    cases.add("immediate-qword", 80, alone, beside);
    let vector = mov(8, d(2, W), imm(0x7654_3210, V));
    let off = mov(8, d(2, W).at(8), imm(0x7654_3210, V));
    cases.add("vector-immediate-alignment", 40, vector, off);
    let dwords = mov(8, d(2, D), imm(0x7654_3210, V));
    cases.add("vector-immediate-word-stride", 40, vector, dwords);
    let floats = mov(4, d(2, F), imm(0x3020_1000, Vf));
    let strided = mov(4, d(2, F).stride(2), imm(0x3020_1000, Vf));
    cases.add("vector-immediate-dword-stride", 40, floats, strided);
}

// covers: 11.3.3-01, 11.3.4.1-01, 11.3.4.1-02, 11.3.4.6-05, 11.3.3-03
fn architecture(cases: &mut Cases) {
    let plain = add(8, d(2, F), g(3, F), g(4, F));
    let null = add(8, d(2, F), g(3, F), arf(0, F));
    cases.add("null-source", 40, plain, null);
    let control = |nr| mov(1, d(2, Ud), arf(nr, Ud));
    cases.add("arf-number", 40, control(0x80), control(0xd0));
    cases.add(
        "arf-number",
        40,
        mov(1, d(2, Uw), arf(0x30, Uw)),
        control(0x31),
    );
    let flag = |subnr| mov(1, darf(0x30, Uw).at(subnr), g(3, Uw).scalar());
    cases.add("flag-operand", 40, flag(2), flag(1));
    let message = |nr| mov(8, m(nr, F), g(3, F));
    let register = mov(8, d(2, F), g(3, F));
    cases.add("mrf-generation", 70, register, message(2));
    cases.add("mrf-number", 40, message(15), message(16));
    cases.add("mrf-number", 60, message(23), message(24));
    let source = register.with(|inst| inst.src[0].file = RegFile::Mrf);
    cases.add("mrf-source", 40, register, source);
    let indirect = mov(8, m(2, F).indirect(), g(3, F));
    cases.add(
        "mrf-indirect",
        40,
        mov(8, d(2, F).indirect(), g(3, F)),
        indirect,
    );
}

// covers: 11.3.7-06, 11.3.4.4-06, 11.3.4.4-07, 11.2-11
fn address(cases: &mut Cases) {
    let load = |size| mov(size, darf(0x10, Uw), g(3, Uw));
    cases.add("address-bounds", 40, load(8), load(16));
    let register = mov(8, d(2, F), g(3, F).indirect(0));
    let file = register.with(|inst| inst.src[0].file = RegFile::Arf);
    cases.add("indirect-file", 40, register, file);
    let rows = |size, width, subreg| {
        mov(
            size,
            d(2, W),
            g(0, W)
                .region(Region::VXH, width, u8::from(width > 1))
                .indirect(subreg),
        )
    };
    let direct = rows(8, 1, 0).with(|inst| inst.src[0].addr = g(3, W).addr);
    cases.add("indirect-direct-vxh", 40, rows(8, 1, 0), direct);
    cases.add("indirect-channels", 40, rows(8, 1, 0), rows(16, 1, 0));
    cases.add("indirect-subregisters", 40, rows(8, 4, 6), rows(8, 1, 4));
    // The manual's two examples: a0.2 and a0.3 are a group, a0.3 and a0.4 are none.
    cases.add("indirect-group-alignment", 40, rows(8, 4, 2), rows(8, 4, 3));
    let source = |src| add(8, d(2, W), g(3, W), src);
    let one = source(g(0, W).indirect(0));
    let several = source(g(0, W).region(Region::VXH, 4, 1).indirect(0));
    cases.add("indirect-source-1", 90, one, several);
    cases.add("indirect-simd32", 90, rows(16, 4, 0), rows(32, 4, 0));
}

// covers: 11.3.4.2-01, 11.3.4.5-02, 11.3.4.5-06, 11.3.4.5-07, 11.3.4.5-08, 11.3.4.5-10, 11.3.4.5-17, 11.5-03
fn accumulators(cases: &mut Cases) {
    let acc = |nr: u8, ty| arf(0x20 | nr, ty).region(8, 8, 1);
    let first = add(8, d(2, F), acc(0, F), g(3, F));
    let second = add(8, d(2, F), g(3, F), acc(0, F));
    cases.add("accumulator-source-first", 40, first, second);
    let negated = add(8, d(2, F), acc(0, F).neg(), g(3, F));
    cases.add("accumulator-source-modifier", 40, first, negated);
    // The manual's example: add (8) acc1:f acc0:f.
    let both = |to: u8| add(8, darf(0x20 | to, F), acc(0, F), g(3, F));
    cases.add("accumulator-same", 40, both(0), both(1));
    let wide = |nr: u8| mov(16, darf(0x20 | nr, F), g(4, F)).compressed();
    cases.add("accumulator-compressed", 40, wide(0), wide(1));
    let write = mov(8, darf(0x20, F), g(3, F));
    cases.add("accumulator-saturate", 40, write, write.saturated());
    let bytes = mov(8, darf(0x20, B).stride(2), g(3, W));
    cases.add("accumulator-byte", 40, write, bytes);
    let quads = mov(4, darf(0x20, Q), g(3, Q).quad());
    cases.add("accumulator-qword", 80, write, quads);
    let half = |subnr| {
        add(
            4,
            d(2, F).at(16),
            acc(0, F).quad().at(subnr),
            g(3, F).quad(),
        )
    };
    cases.add("accumulator-region", 40, half(16), half(0));
    let words = mov(16, darf(0x20, W), g(4, W));
    let floats = mov(16, darf(0x20, F), g(4, F));
    cases.add("accumulator-boundary", 40, words, floats);
}

fn accumulators_of_broxton(cases: &mut Cases) {
    let part = |subnr| mov(4, darf(0x20, F).at(subnr), g(3, F).quad());
    cases.add("accumulator-half", 90, part(16), part(8));
    let straight = add(8, d(2, F), arf(0x20, F).quad(), g(3, F).quad()).align16();
    let swizzled = straight.with(|inst| inst.src[0].swizzle = [1, 0, 2, 3]);
    cases.add("accumulator-swizzle", 90, straight, swizzled);
    let words = |subnr| mov(8, darf(0x20, W).stride(2).at(subnr), g(3, W));
    cases.add("accumulator-odd-word", 90, words(0), words(2));
    let dwords = |size| mov(size, darf(0x20, D), g(4, D));
    cases.add("accumulator-dword-channels", 90, dwords(8), dwords(16));
    let second = |ty| mov(8, darf(0x21, ty), g(4, ty));
    cases.add("accumulator-1-type", 90, second(F), second(W));
    // The manual's example: mov(8) acc2:ud r10:ud.
    let copy = mov(8, darf(0x22, Ud), g(10, Ud));
    cases.add("accumulator-macro", 90, copy, copy.saturated());
}

// covers: 11.5-01, 11.5-02, 11.5-05, 11.2-07
fn compression(cases: &mut Cases) {
    // The manual's example: add (16) r18<1>:f r4<8;8,1>:f r14<8;8,1>:f {Compr}.
    let wide = |nr| add(16, d(18, F), g(nr, F), g(14, F)).compressed();
    let narrow = add(4, d(18, F), g(4, F).quad(), g(14, F).quad()).compressed();
    cases.add("compression-exec-size", 40, wide(4), narrow);
    cases.add("compression-even-register", 40, wide(4), wide(5));
    let pair = |nr| mov(16, d(4, F), g(nr, F));
    cases.add("compression-overlap", 90, pair(4), pair(3));
    let half =
        |size| mov(size, d(2, W), g(3, W)).with(|inst| inst.compression = Compression::SecHalf);
    cases.add("compression-second-half", 40, half(8), half(16));
    let message = send(40, d(2, F), g(3, F), 1, 0x11_0001);
    cases.add("compression-send", 40, message, message.compressed());
    let condition = branch(Opcode::If, 8, 2).predicated();
    cases.add("compression-flow", 40, condition, condition.compressed());
    let fourth = mov(16, m(2, F), g(4, F)).with(|inst| inst.dst.compr4 = true);
    cases.add("compr4-destination", 45, fourth.compressed(), fourth);
}
