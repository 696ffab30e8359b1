//! Cases of types, conversions, execution sizes, regions, spans.
//!
//! PRM: volume 4, 10.2, 11.3; Broxton PRM vol6, Register Region Restrictions.

use crate::inst::{CondMod, Opcode};
use crate::operand::Type;

use super::Cases;
use super::build::{DstExt, InstExt, SrcExt, add, d, g, mov, op, three};

use Type::{B, D, Df, F, Hf, Q, V, W};

pub(super) fn cases(cases: &mut Cases) {
    types(cases);
    conversions(cases);
    execution(cases);
    regions(cases);
    spans(cases);
}

// covers: 14.2-02
fn types(cases: &mut Cases) {
    let plain = mov(8, d(2, F), g(3, F));
    let plane = op(Opcode::Pln, 8, d(2, F), &[g(3, F).scalar(), g(4, F)]);
    cases.add("opcode-of-generation", 40, plain, plane);
    let illegal = op(Opcode::Illegal, 1, d(0, F), &[]);
    cases.add("illegal-opcode", 40, plain, illegal);
    let reserved = plain.with(|inst| inst.reserved[0] = 1 << 29);
    cases.add("reserved-bits", 40, plain, reserved);
    let double = mov(4, d(2, Df), g(3, Df).quad());
    cases.add("type-of-generation", 60, plain, double);
    cases.add(
        "vector-type-is-immediate",
        40,
        plain,
        mov(8, d(2, W), g(3, V)),
    );
    let floats = add(8, d(2, F), g(3, F), g(4, F));
    let mixed = add(8, d(2, F), g(3, F), g(4, D));
    cases.add("float-integer-mix", 60, floats, mixed);
    let words = add(8, d(2, F), g(3, F), g(4, W));
    cases.add("float-dword-mix", 40, words, mixed);
}

// covers: 11.3.10-04
fn conversions(cases: &mut Cases) {
    let raw = mov(8, d(2, B), g(3, B));
    cases.add("packed-byte-destination", 40, raw, mov(8, d(2, B), g(3, W)));
    // The manual's example: mov (8) r10.1<2>:b r11<8;8,1>:w.
    let odd = mov(8, d(10, B).at(1).stride(2), g(11, W));
    let two = mov(8, d(10, B).at(2).stride(4), g(11, D));
    cases.add("destination-alignment", 45, odd, two);
    let narrow = mov(8, d(2, W).stride(2), g(3, D));
    cases.add("destination-stride", 40, narrow, mov(8, d(2, W), g(3, D)));
    let off = mov(8, d(2, W).stride(2).at(2), g(3, D));
    cases.add("destination-alignment", 40, narrow, off);
    let byte = mov(8, d(10, B).stride(2), g(11, W));
    cases.add("destination-alignment", 40, byte, odd);
    let quads = mov(4, d(2, Q), g(3, D).quad());
    let bytes = mov(4, d(2, Q), g(3, B).quad());
    cases.add("byte-qword-conversion", 80, quads, bytes);
    let doubles = mov(4, d(2, Df), g(3, F).quad());
    let halves = mov(4, d(2, Df), g(3, Hf).quad());
    cases.add("half-qword-conversion", 80, doubles, halves);
    let half = mov(8, d(2, Hf).stride(2), g(3, D));
    cases.add("half-integer-stride", 80, half, mov(8, d(2, Hf), g(3, D)));
    let off = mov(8, d(2, Hf).stride(2).at(2), g(3, W));
    cases.add("half-integer-alignment", 80, half, off);
    // add(8) r10.1<2>:hf of f and hf is the manual's example.
    let odd = add(8, d(10, Hf).stride(2).at(2), g(3, F), g(4, Hf));
    let packed = add(8, d(10, Hf).at(8), g(3, F), g(4, Hf));
    cases.add("half-word-position", 90, odd, packed);
}

// covers: 11.3.10-03
fn execution(cases: &mut Cases) {
    let plain = mov(8, d(2, F), g(3, F));
    cases.add("exec-size", 40, plain, mov(32, d(2, W), g(4, W)));
    let words = mov(32, d(2, W), g(4, W));
    cases.add("exec-size-bytes", 90, words, mov(32, d(2, F), g(4, F)));
    let compared = words.cond(CondMod::Z);
    cases.add("simd32-condition", 70, words, compared);
    let ternary = three(Opcode::Mad, 8, F).cond(CondMod::Z);
    let wide = three(Opcode::Mad, 32, F).cond(CondMod::Z);
    cases.add("simd32-ternary-condition", 80, ternary, wide);
    let quarter = |number| mov(16, d(2, F), g(4, F)).with(|inst| inst.qtr_ctrl = number);
    cases.add("quarter-alignment", 60, quarter(2), quarter(1));
    let nibble = mov(4, d(2, F), g(3, F).quad()).with(|inst| inst.nib_ctrl = true);
    let wide = plain.with(|inst| inst.nib_ctrl = true);
    cases.add("nibble-exec-size", 70, nibble, wide);
    let predicated = plain.predicated();
    let second = predicated.with(|inst| inst.flag_reg = 1);
    cases.add("flag-register", 40, predicated, second);
    let whole = words.predicated();
    let half = whole.with(|inst| inst.flag_subreg = 1);
    cases.add("flag-subregister-simd32", 70, whole, half);
}

// covers: 11.3.10-02
fn regions(cases: &mut Cases) {
    let plain = mov(8, d(2, F), g(3, F));
    let region = |v, w, h| mov(8, d(2, F), g(3, F).region(v, w, h));
    let narrow = mov(4, d(2, F), g(3, F));
    cases.add("region-exec-size-width", 40, plain, narrow);
    cases.add("region-one-row", 40, plain, region(4, 8, 1));
    cases.add("region-one-column", 40, region(1, 1, 0), region(1, 1, 1));
    let scalar = mov(1, d(2, F), g(3, F).scalar());
    let one = mov(1, d(2, F), g(3, F).region(1, 1, 0));
    cases.add("region-one-channel", 40, scalar, one);
    cases.add("region-no-stride", 40, region(0, 1, 0), region(0, 2, 0));
    let two_rows = mov(8, d(2, F), g(3, F).quad().at(16));
    let crosses = mov(8, d(2, F), g(3, F).at(16));
    cases.add("region-row-crosses-register", 80, two_rows, crosses);
    let broadcast = mov(8, d(2, F).stride(0), g(3, F));
    cases.add("destination-stride-zero", 40, plain, broadcast);
}

// covers: 11.3.10-01, 11.3.2-04
fn spans(cases: &mut Cases) {
    let plain = mov(8, d(2, F), g(3, F));
    let three = mov(8, d(2, F), g(3, F).region(16, 4, 2));
    cases.add("source-two-registers", 40, plain, three);
    let strided = mov(8, d(2, F).stride(4), g(3, F));
    cases.add("destination-two-registers", 40, plain, strided);
    let wide = mov(16, d(2, F), g(4, F));
    cases.add("destination-one-register", 40, wide.compressed(), wide);
    let halves = |subnr| mov(4, d(2, F).at(subnr), g(4, F).region(8, 2, 1));
    cases.add("destination-oword-split", 80, halves(8), halves(12));
    let even = mov(4, d(2, F).stride(4), g(4, F).quad());
    let uneven = mov(4, d(2, F).at(20), g(4, F).quad());
    cases.add("destination-even-split", 80, even, uneven);
    let strided = |src| mov(8, d(2, F).stride(2), src);
    let same = strided(g(4, F).region(8, 4, 2));
    let late = strided(g(4, F).region(2, 2, 1).at(24));
    cases.add("destination-register-source", 70, same, late);
    let two = |src| add(8, d(2, F).stride(2), src, g(6, F).region(8, 4, 2));
    let equal = two(g(4, F).region(8, 4, 2));
    cases.add("source-offsets", 70, equal, two(g(4, F).quad().at(16)));
    let scalar = strided(g(4, F).scalar());
    cases.add(
        "source-spans-with-destination",
        70,
        scalar,
        strided(g(4, F)),
    );
    // Packed words to packed doublewords are the other exception.
    let words = mov(16, d(2, D), g(4, W));
    cases.add("source-spans-with-destination", 70, words, strided(g(4, F)));
    let last = mov(8, d(127, F), g(127, F));
    cases.add("grf-range", 40, last, mov(8, d(2, F), g(128, F)));
    let pair = |nr| mov(16, d(2, F), g(nr, F));
    cases.add("grf-range", 90, pair(126), pair(127));
}
