//! f32to16 and f16to32: single floats and half floats.
//!
//! PRM: Ivy Bridge volume 4 part 3, f32to16 and f16to32. A half float is a word, of a destination of dwords the lower one
//! (Mesa 22.3.6 `brw_eu_emit.c`, `brw_F32TO16`). Denormal halves are made and read, denormal singles are zeros; results are rounded as CR0
//! says. NaN becomes the one NaN.

use crate::decoded::{Decoded, Handler, Next, Num};
use crate::exec::{finish_float, illegal};
use crate::operand::may_be_nan;
use crate::rounding::Rounding;
use crate::thread::Thread;
use isa::Opcode;
use isa::inst::CondMod;

/// Bits of the fraction that a single float has beyond a half one.
const CUT: u32 = 13;
/// What is between the exponents of the two: 127 less 15.
const BIAS: u32 = 112;
const NAN: u32 = 0x7e00;
const INFINITY: u32 = 0x7c00;
const LARGEST: u32 = 0x7bff;

pub(crate) fn select(op: Opcode, wide: bool) -> Handler {
    match (op, wide) {
        (Opcode::F32to16, false) => f32to16::<8>,
        (Opcode::F32to16, true) => f32to16::<16>,
        (Opcode::F16to32, false) => f16to32::<8>,
        (Opcode::F16to32, true) => f16to32::<16>,
        _ => illegal,
    }
}

/// Whether what is cut off makes the magnitude the next one: `rest` of `whole`, above a magnitude that is odd or not.
fn up(rounding: Rounding, negative: bool, odd: bool, rest: u32, whole: u32) -> bool {
    match rounding {
        Rounding::Nearest => rest > whole / 2 || rest == whole / 2 && odd,
        Rounding::Up => rest != 0 && !negative,
        Rounding::Down => rest != 0 && negative,
        Rounding::Zero => false,
    }
}

/// A single float, which is no denormal, as a half float.
pub(crate) fn narrow(rounding: Rounding, bits: u32) -> u32 {
    let (sign, magnitude) = (bits >> 16 & 0x8000, bits & 0x7fff_ffff);
    let negative = sign != 0;
    let exponent = magnitude >> 23;
    let half = if magnitude > 0x7f80_0000 {
        return NAN;
    } else if magnitude == 0x7f80_0000 {
        INFINITY
    } else if exponent > BIAS + 30 {
        // Beyond the largest: as far from it as from infinity, or farther.
        let over = up(rounding, negative, true, 1, 2);
        if over { INFINITY } else { LARGEST }
    } else {
        // The fraction with its first bit counts a half float's last place, of denormals the smallest one.
        let denormal = (BIAS + 1).saturating_sub(exponent);
        let cut = CUT + denormal;
        let fraction = magnitude & 0x7f_ffff | if exponent == 0 { 0 } else { 0x80_0000 };
        if cut > 25 {
            u32::from(up(rounding, negative, false, fraction.min(1), 4))
        } else {
            let (kept, rest) = (fraction >> cut, fraction & ((1 << cut) - 1));
            // The first bit of the fraction adds one to the exponent.
            let base = if denormal > 0 {
                0
            } else {
                (exponent - BIAS - 1) << 10
            };
            let kept = base + kept;
            kept + u32::from(up(rounding, negative, kept & 1 != 0, rest, 1 << cut))
        }
    };
    sign | half
}

/// A half float as a single one, exactly.
pub(crate) fn widen(half: u32) -> u32 {
    let (sign, magnitude) = ((half & 0x8000) << 16, half & 0x7fff);
    let bits = if magnitude > INFINITY {
        return 0x7fc0_0000;
    } else if magnitude == INFINITY {
        0x7f80_0000
    } else if magnitude >= 0x400 {
        (magnitude << CUT) + (BIAS << 23)
    } else {
        // CAST: ten bits, and a power of two.
        (magnitude as f32 * (1.0 / 16_777_216.0)).to_bits()
    };
    sign | bits
}

fn f32to16<const N: usize>(t: &mut Thread, d: &Decoded) -> Next {
    let mask = t.write_mask(d);
    let mut v = t.load_float::<N>(&d.src[0]);
    if t.alt && may_be_nan(&v) {
        v = v.map(crate::exec::alt);
    }
    if d.saturate {
        v = v.map(|v| if v > 0.0 { v.min(1.0) } else { 0.0 });
    }
    let rounding = t.rounding;
    // CAST: they are single floats.
    let r = v.map(|v| narrow(rounding, (v as f32).to_bits()));
    if d.cond != CondMod::None {
        let stored = r.map(|half| f64::from(f32::from_bits(widen(half))));
        t.set_flags(d, mask, super::float_condition(d.cond, &stored));
    }
    t.store_raw(&d.dst, mask, &r);
    Next::Seq
}

fn f16to32<const N: usize>(t: &mut Thread, d: &Decoded) -> Next {
    let mask = t.write_mask(d);
    let raw = t.load_raw::<N>(&d.src[0]);
    let (and, xor) = if d.src[0].num == Num::F {
        (u32::MAX, 0)
    } else {
        let and = if d.src[0].abs { 0x7fff } else { 0xffff };
        (and, if d.src[0].negate { 0x8000 } else { 0 })
    };
    let r = raw.map(|half| f64::from(f32::from_bits(widen(half & and & 0xffff ^ xor))));
    finish_float(t, d, mask, r)
}

#[cfg(test)]
mod tests;
