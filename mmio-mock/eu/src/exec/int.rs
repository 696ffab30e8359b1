//! Integer instructions in 64-bit lanes: all types, accumulator, saturation, flags.
//!
//! PRM: volume 4, 10.4, 11.3.4.5, 14.2.

use crate::decoded::{Decoded, Handler, Next};
use crate::exec::float::sel_masks;
use crate::exec::{finish_int, finish_int_no_acc, illegal, settle, write_acc};
use crate::thread::Thread;
use isa::Opcode;

type Lanes = [i64; 16];

pub(crate) fn select(op: Opcode) -> Handler {
    match op {
        Opcode::Not => not,
        Opcode::And => and,
        Opcode::Or => or,
        Opcode::Xor => xor,
        Opcode::Shr => shr,
        Opcode::Shl => shl,
        Opcode::Asr => asr,
        Opcode::Add => add,
        Opcode::Mul => mul,
        Opcode::Mac => mac,
        Opcode::Mach => mach,
        Opcode::Avg => avg,
        Opcode::Lzd => lzd,
        Opcode::Sad2 => sad2,
        Opcode::Sada2 => sada2,
        _ => illegal,
    }
}

fn sources(t: &Thread, d: &Decoded) -> (Lanes, Lanes) {
    (t.load_int(&d.src[0]), t.load_int(&d.src[1]))
}

fn binary(t: &mut Thread, d: &Decoded, f: impl Fn(i64, i64) -> i64) -> Next {
    let mask = t.write_mask(d);
    let (mut r, b) = sources(t, d);
    for i in 0..16 {
        r[i] = f(r[i], b[i]);
    }
    finish_int(t, d, mask, &r)
}

pub(crate) fn mov(t: &mut Thread, d: &Decoded) -> Next {
    binary(t, d, |a, _| a)
}

pub(crate) fn sel(t: &mut Thread, d: &Decoded) -> Next {
    let (mask, pred) = sel_masks(t, d);
    let (a, mut r) = sources(t, d);
    for i in 0..16 {
        if pred >> i & 1 != 0 {
            r[i] = a[i];
        }
    }
    finish_int(t, d, mask, &r)
}

/// The bits of a value at the width the instruction computes in.
fn unsigned(d: &Decoded, v: i64) -> i64 {
    if d.acc_word {
        v & 0xffff
    } else {
        v & 0xffff_ffff
    }
}

/// The complement of an unsigned source has the source's width, that of a signed one extends.
fn not(t: &mut Thread, d: &Decoded) -> Next {
    let width = match d.src[0].num.range() {
        (0, hi) => hi,
        _ => -1,
    };
    binary(t, d, |a, _| settle(d, !a & width))
}

fn and(t: &mut Thread, d: &Decoded) -> Next {
    binary(t, d, |a, b| settle(d, a & b))
}

fn or(t: &mut Thread, d: &Decoded) -> Next {
    binary(t, d, |a, b| settle(d, a | b))
}

fn xor(t: &mut Thread, d: &Decoded) -> Next {
    binary(t, d, |a, b| settle(d, a ^ b))
}

/// Shift counts use the low five bits.
fn shl(t: &mut Thread, d: &Decoded) -> Next {
    binary(t, d, |a, b| a << (b & 31))
}

fn shr(t: &mut Thread, d: &Decoded) -> Next {
    binary(t, d, |a, b| unsigned(d, a) >> (b & 31))
}

fn asr(t: &mut Thread, d: &Decoded) -> Next {
    binary(t, d, |a, b| a >> (b & 31))
}

fn add(t: &mut Thread, d: &Decoded) -> Next {
    binary(t, d, i64::wrapping_add)
}

/// Whether both sources are dwords: then `mul` takes the low half of source 0 and `mach` what is left of it
/// (PRM 11.3.4.5, 14.2.25).
fn two_dwords(d: &Decoded) -> bool {
    d.src[..2].iter().all(|s| s.num.size() == 4)
}

/// What `mul` takes of a dword: its low word, and of a number that a signed word holds the whole.
///
/// The manual does not say what sign the low word has. Drivers count on both: Mesa 22.3.6 leaves `mach` out where source 0 is a
/// constant of a signed word (brw_vec4_nir.cpp, `const_src_fits_in_16_bits`) and where it is one of an unsigned word
/// (brw_fs.cpp, `lower_mul_dword_inst`). The sum of `mul` and `mach` is the same either way.
fn low(a: i64) -> i64 {
    if (-0x8000..0).contains(&a) {
        a
    } else {
        a & 0xffff
    }
}

fn product(d: &Decoded, a: i64, b: i64) -> i64 {
    if two_dwords(d) {
        low(a).wrapping_mul(b)
    } else {
        a.wrapping_mul(b)
    }
}

fn mul(t: &mut Thread, d: &Decoded) -> Next {
    binary(t, d, |a, b| product(d, a, b))
}

fn acc(t: &Thread, d: &Decoded) -> Lanes {
    std::array::from_fn(|i| t.acc.int(d.acc_at(i as u8)))
}

fn mac(t: &mut Thread, d: &Decoded) -> Next {
    let mask = t.write_mask(d);
    let (mut r, b) = sources(t, d);
    let c = acc(t, d);
    for i in 0..16 {
        r[i] = c[i].wrapping_add(product(d, r[i], b[i]));
    }
    finish_int(t, d, mask, &r)
}

fn mach(t: &mut Thread, d: &Decoded) -> Next {
    let mask = t.write_mask(d);
    let (mut r, b) = sources(t, d);
    let c = acc(t, d);
    for i in 0..16 {
        let high = r[i].wrapping_sub(low(r[i])).wrapping_mul(b[i]);
        r[i] = c[i].wrapping_add(high);
    }
    if t.acc_wanted(d) {
        write_acc(t, d, &r);
    }
    let r = r.map(|v| settle(d, v >> 32));
    finish_int_no_acc(t, d, mask, &r)
}

fn avg(t: &mut Thread, d: &Decoded) -> Next {
    binary(t, d, |a, b| a.wrapping_add(b).wrapping_add(1) >> 1)
}

fn lzd(t: &mut Thread, d: &Decoded) -> Next {
    binary(t, d, |a, _| i64::from((a as u32).leading_zeros()))
}

/// Sums of absolute differences over pairs; only the even channels are written.
fn pairs(t: &mut Thread, d: &Decoded, c: &Lanes) -> Next {
    let mask = t.write_mask(d) & 0x5555;
    let (a, b) = sources(t, d);
    let mut r = [0; 16];
    for i in (0..16).step_by(2) {
        let distance = |i: usize| a[i].wrapping_sub(b[i]).wrapping_abs();
        r[i] = c[i].wrapping_add(distance(i)).wrapping_add(distance(i + 1));
    }
    finish_int(t, d, mask, &r)
}

fn sad2(t: &mut Thread, d: &Decoded) -> Next {
    pairs(t, d, &[0; 16])
}

fn sada2(t: &mut Thread, d: &Decoded) -> Next {
    let c = acc(t, d);
    pairs(t, d, &c)
}
