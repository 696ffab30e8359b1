//! Fast paths of integer instructions whose operands are all dwords.
//!
//! PRM: volume 4, 14.2. Chosen only where a 32-bit result is the whole result; everything else
//! takes the wide path of `int`.

use crate::decoded::{Decoded, DstKind, Handler, Next, Num, Src, SrcKind};
use crate::exec::cmp::finish;
use crate::exec::{bits, illegal, plain};
use crate::thread::Thread;
use isa::Opcode;
use isa::inst::CondMod;

fn dword(n: Num) -> bool {
    matches!(n, Num::Ud | Num::D)
}

fn fast_src(s: &Src) -> bool {
    dword(s.num) && plain(s)
}

/// `and or xor not shl shr asr` and plain `add`: two dwords in, 32 bits out.
pub(crate) fn applies(d: &Decoded) -> bool {
    let negated_add = |s: &Src| {
        d.op == Opcode::Add && dword(s.num) && !s.abs && !matches!(s.kind, SrcKind::Acc(_))
    };
    let used = if d.op == Opcode::Not { 1 } else { 2 };
    let srcs = d.src[..used].iter().all(|s| fast_src(s) || negated_add(s));
    let cond = matches!(d.cond, CondMod::None | CondMod::Z | CondMod::Nz);
    let dst = dword(d.dst.num) && !matches!(d.dst.kind, DstKind::Acc(..));
    // Of these `add` alone knows the accumulator, and of that the lanes of dwords: one of null registers computes in words.
    let alone = !d.acc_write || d.op == Opcode::Add && !d.acc_word;
    srcs && cond && dst && alone && !d.saturate
}

/// `cmp` of two dwords of the same signedness.
pub(crate) fn applies_cmp(d: &Decoded) -> bool {
    d.src[..2].iter().all(fast_src) && (d.src[0].num == d.src[1].num)
}

pub(crate) fn select(op: Opcode, wide: bool) -> Handler {
    match (op, wide) {
        (Opcode::Not, false) => not::<8>,
        (Opcode::Not, true) => not::<16>,
        (Opcode::And, false) => and::<8>,
        (Opcode::And, true) => and::<16>,
        (Opcode::Or, false) => or::<8>,
        (Opcode::Or, true) => or::<16>,
        (Opcode::Xor, false) => xor::<8>,
        (Opcode::Xor, true) => xor::<16>,
        (Opcode::Shl, false) => shl::<8>,
        (Opcode::Shl, true) => shl::<16>,
        (Opcode::Shr, false) => shr::<8>,
        (Opcode::Shr, true) => shr::<16>,
        (Opcode::Asr, false) => asr::<8>,
        (Opcode::Asr, true) => asr::<16>,
        (Opcode::Add, false) => add::<8>,
        (Opcode::Add, true) => add::<16>,
        _ => illegal,
    }
}

#[inline(always)]
fn binary<const N: usize>(t: &mut Thread, d: &Decoded, f: impl Fn(u32, u32) -> u32) -> Next {
    let mask = t.write_mask(d);
    let mut r = t.load_raw::<N>(&d.src[0]);
    let b = t.load_raw::<N>(&d.src[1]);
    for i in 0..N {
        r[i] = f(r[i], b[i]);
    }
    store(t, d, mask, &r)
}

/// Flags and destination.
#[inline(always)]
fn store<const N: usize>(t: &mut Thread, d: &Decoded, mask: u16, r: &[u32; N]) -> Next {
    match d.cond {
        CondMod::Z => t.set_flags(d, mask, bits::<N>(|i| r[i] == 0)),
        CondMod::Nz => t.set_flags(d, mask, bits::<N>(|i| r[i] != 0)),
        _ => {}
    }
    t.store_raw(&d.dst, mask, r);
    Next::Seq
}

fn not<const N: usize>(t: &mut Thread, d: &Decoded) -> Next {
    binary::<N>(t, d, |a, _| !a)
}

fn and<const N: usize>(t: &mut Thread, d: &Decoded) -> Next {
    binary::<N>(t, d, |a, b| a & b)
}

fn or<const N: usize>(t: &mut Thread, d: &Decoded) -> Next {
    binary::<N>(t, d, |a, b| a | b)
}

fn xor<const N: usize>(t: &mut Thread, d: &Decoded) -> Next {
    binary::<N>(t, d, |a, b| a ^ b)
}

fn shl<const N: usize>(t: &mut Thread, d: &Decoded) -> Next {
    binary::<N>(t, d, |a, b| a << (b & 31))
}

fn shr<const N: usize>(t: &mut Thread, d: &Decoded) -> Next {
    binary::<N>(t, d, |a, b| a >> (b & 31))
}

fn asr<const N: usize>(t: &mut Thread, d: &Decoded) -> Next {
    if d.src[0].num == Num::D {
        binary::<N>(t, d, |a, b| ((a as i32) >> (b & 31)) as u32)
    } else {
        binary::<N>(t, d, |a, b| a >> (b & 31))
    }
}

/// Lanes with their sign, negated if the operand is.
#[inline(always)]
fn wide<const N: usize>(s: &Src, v: &[u32; N]) -> [i64; N] {
    let signed = if s.num == Num::D { u32::MAX } else { 0 };
    let mut out = [0; N];
    for i in 0..N {
        let high = ((v[i] as i32 >> 31) as u32) & signed;
        out[i] = (u64::from(high) << 32 | u64::from(v[i])) as i64;
    }
    if s.negate {
        for v in &mut out {
            *v = -*v;
        }
    }
    out
}

fn add<const N: usize>(t: &mut Thread, d: &Decoded) -> Next {
    let mask = t.write_mask(d);
    let a = t.load_raw::<N>(&d.src[0]);
    let b = t.load_raw::<N>(&d.src[1]);
    if t.acc_wanted(d) {
        let (x, y) = (wide(&d.src[0], &a), wide(&d.src[1], &b));
        let mut sum = [0; N];
        for i in 0..N {
            sum[i] = x[i] + y[i];
        }
        t.acc.write_ints(d.acc_lane, d.exec, &sum);
    }
    let sign = |s: &Src| 0u32.wrapping_sub(u32::from(s.negate));
    let (na, nb) = (sign(&d.src[0]), sign(&d.src[1]));
    let mut r = [0; N];
    for i in 0..N {
        let x = (a[i] ^ na).wrapping_sub(na);
        let y = (b[i] ^ nb).wrapping_sub(nb);
        r[i] = x.wrapping_add(y);
    }
    store(t, d, mask, &r)
}

pub(crate) fn cmp<const N: usize>(t: &mut Thread, d: &Decoded) -> Next {
    let mask = t.write_mask(d);
    let mut a = t.load_raw::<N>(&d.src[0]);
    let mut b = t.load_raw::<N>(&d.src[1]);
    if d.src[0].num == Num::Ud {
        // Moves unsigned order onto signed order.
        for i in 0..N {
            a[i] ^= 0x8000_0000;
            b[i] ^= 0x8000_0000;
        }
    }
    let (x, y) = (|i: usize| a[i] as i32, |i: usize| b[i] as i32);
    let set = match d.cond {
        CondMod::None | CondMod::R | CondMod::O | CondMod::U => 0,
        CondMod::Z => bits::<N>(|i| x(i) == y(i)),
        CondMod::Nz => bits::<N>(|i| x(i) != y(i)),
        CondMod::G => bits::<N>(|i| x(i) > y(i)),
        CondMod::Ge => bits::<N>(|i| x(i) >= y(i)),
        CondMod::L => bits::<N>(|i| x(i) < y(i)),
        CondMod::Le => bits::<N>(|i| x(i) <= y(i)),
    };
    finish::<N>(t, d, mask, set)
}
