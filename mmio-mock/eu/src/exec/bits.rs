//! Bit fields, counts of bits, sums with carry.
//!
//! PRM: ValleyView volume 2 part 2 (addc, bfe, bfi1, bfi2, bfrev); fbh, fbl, cbit and subb as GLSL's `findMSB`, `findLSB`, `bitCount` and
//! `usubBorrow` need them (Mesa 22.3.6 `brw_fs_nir.cpp`). The seed of `bfi2` counts the zeros below the mask, as its comment says.

use crate::decoded::{Decoded, Handler, Num};
use crate::decoded::{More, Next};
use crate::exec::{finish_int_no_acc, illegal, write_acc};
use crate::thread::Thread;
use isa::Opcode;

/// A width or an offset has five bits.
const FIVE: u32 = 31;

pub(crate) fn select(d: &Decoded, wide: bool) -> Handler {
    match (d.op, wide) {
        (Opcode::Bfrev, false) => bfrev::<8>,
        (Opcode::Bfrev, true) => bfrev::<16>,
        (Opcode::Cbit, false) => cbit::<8>,
        (Opcode::Cbit, true) => cbit::<16>,
        (Opcode::Fbl, false) => fbl::<8>,
        (Opcode::Fbl, true) => fbl::<16>,
        (Opcode::Fbh, false) => fbh::<8>,
        (Opcode::Fbh, true) => fbh::<16>,
        (Opcode::Bfi1, false) => bfi1::<8>,
        (Opcode::Bfi1, true) => bfi1::<16>,
        (Opcode::Bfi2, false) => bfi2::<8>,
        (Opcode::Bfi2, true) => bfi2::<16>,
        (Opcode::Bfe, false) => bfe::<8>,
        (Opcode::Bfe, true) => bfe::<16>,
        (Opcode::Addc, _) => addc,
        (Opcode::Subb, _) => subb,
        _ => illegal,
    }
}

/// The highest bit that is one, counted from the top; of a negative number the highest that is zero.
pub(crate) fn high_bit(signed: bool, v: u32) -> u32 {
    // CAST: the sign in all bits.
    let v = if signed {
        v ^ (v as i32 >> 31) as u32
    } else {
        v
    };
    if v == 0 { u32::MAX } else { v.leading_zeros() }
}

/// The lowest bit that is one.
pub(crate) fn low_bit(v: u32) -> u32 {
    if v == 0 { u32::MAX } else { v.trailing_zeros() }
}

/// So many ones from a bit on.
pub(crate) fn mask(width: u32, offset: u32) -> u32 {
    ((1 << (width & FIVE)) - 1) << (offset & FIVE)
}

/// The bits of `value` where the mask has ones, from its lowest one on; elsewhere those of `rest`.
pub(crate) fn insert(mask: u32, value: u32, rest: u32) -> u32 {
    value.wrapping_shl(mask.trailing_zeros()) & mask | rest & !mask
}

/// So many bits of a number from one on, as a number with or without sign; what lies past its end is not there.
pub(crate) fn extract(signed: bool, width: u32, offset: u32, value: u32) -> u32 {
    let (width, offset) = (width & FIVE, offset & FIVE);
    if width == 0 {
        return 0;
    }
    let left = FIVE + 1 - (width + offset).min(FIVE + 1);
    let right = left + offset;
    if signed {
        // CAST: for its sign, and back.
        ((value << left) as i32 >> right) as u32
    } else {
        value << left >> right
    }
}

#[inline(always)]
fn each<const N: usize>(t: &mut Thread, d: &Decoded, f: impl Fn(u32, u32) -> u32) -> Next {
    let mask = t.write_mask(d);
    let mut r = t.load_raw::<N>(&d.src[0]);
    let b = t.load_raw::<N>(&d.src[1]);
    for i in 0..N {
        r[i] = f(r[i], b[i]);
    }
    t.store_raw(&d.dst, mask, &r);
    Next::Seq
}

fn bfrev<const N: usize>(t: &mut Thread, d: &Decoded) -> Next {
    each::<N>(t, d, |a, _| a.reverse_bits())
}

fn cbit<const N: usize>(t: &mut Thread, d: &Decoded) -> Next {
    each::<N>(t, d, |a, _| a.count_ones())
}

fn fbl<const N: usize>(t: &mut Thread, d: &Decoded) -> Next {
    each::<N>(t, d, |a, _| low_bit(a))
}

fn fbh<const N: usize>(t: &mut Thread, d: &Decoded) -> Next {
    let signed = d.src[0].num == Num::D;
    each::<N>(t, d, |a, _| high_bit(signed, a))
}

fn bfi1<const N: usize>(t: &mut Thread, d: &Decoded) -> Next {
    each::<N>(t, d, mask)
}

/// All three sources.
#[inline(always)]
fn three<const N: usize>(t: &mut Thread, d: &Decoded, f: impl Fn(u32, u32, u32) -> u32) -> Next {
    let More::Third(third) = &d.more else {
        return Next::Illegal;
    };
    let mask = t.write_mask(d);
    let mut r = t.load_raw::<N>(&d.src[0]);
    let b = t.load_raw::<N>(&d.src[1]);
    let c = t.third::<N>(third);
    for i in 0..N {
        r[i] = f(r[i], b[i], c[i]);
    }
    t.store_raw(&d.dst, mask, &r);
    Next::Seq
}

fn bfi2<const N: usize>(t: &mut Thread, d: &Decoded) -> Next {
    three::<N>(t, d, insert)
}

fn bfe<const N: usize>(t: &mut Thread, d: &Decoded) -> Next {
    let signed = d.src[0].num == Num::D;
    three::<N>(t, d, |width, offset, value| {
        extract(signed, width, offset, value)
    })
}

/// The sum, or the difference, and what is carried or borrowed, which the accumulator keeps.
fn carried(t: &mut Thread, d: &Decoded, f: impl Fn(u32, u32) -> (u32, bool)) -> Next {
    let mask = t.write_mask(d);
    let a = t.load_raw::<16>(&d.src[0]);
    let b = t.load_raw::<16>(&d.src[1]);
    let (mut r, mut carries) = ([0; 16], [0; 16]);
    for i in 0..16 {
        let (low, carry) = f(a[i], b[i]);
        (r[i], carries[i]) = (i64::from(low), i64::from(carry));
    }
    if t.acc_wanted(d) {
        write_acc(t, d, &carries);
    }
    finish_int_no_acc(t, d, mask, &r)
}

fn addc(t: &mut Thread, d: &Decoded) -> Next {
    carried(t, d, u32::overflowing_add)
}

fn subb(t: &mut Thread, d: &Decoded) -> Next {
    carried(t, d, u32::overflowing_sub)
}
