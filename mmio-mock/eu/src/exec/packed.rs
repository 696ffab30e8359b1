//! Fast paths of sixteen packed bytes or words: sums and differences of pixels.
//!
//! PRM: volume 4, 14.2.1, 14.2.38, 14.2.39, 14.2.47. Chosen only where words are the whole result; everything
//! else takes the wide path of `int`.

use super::word;
use crate::decoded::{Decoded, DstKind, Handler, Next, Num, Src, SrcKind, Table};
use crate::exec::illegal;
use crate::grf::{BYTES, ZERO_BASE};
use crate::operand::acc_wrap;
use crate::thread::Thread;
use isa::Opcode;
use isa::inst::CondMod;

/// Lanes of an instruction.
const N: usize = 16;

/// Whether the lanes are consecutive elements of one register file.
fn consecutive(t: &Table, size: u8) -> bool {
    let follows = |w: &[u16]| w[1] == w[0].wrapping_add(size.into());
    usize::from(t[N - 1]) < ZERO_BASE * BYTES && t.windows(2).all(follows)
}

fn source(s: &Src) -> bool {
    let size = s.num.size();
    let place = match &s.kind {
        SrcKind::Table(t) => consecutive(t, size),
        SrcKind::Indirect(ind) => {
            let follows = |w: &[i16]| i32::from(w[1]) == i32::from(w[0]) + i32::from(size);
            ind.row.iter().all(|row| *row == ind.row[0]) && ind.rel.windows(2).all(follows)
        }
        SrcKind::Imm(_) => true,
        _ => false,
    };
    place && size < 4 && !s.negate && !s.abs
}

/// Two sources of consecutive elements or an immediate; consecutive words or the accumulator as the result.
pub(crate) fn applies(d: &Decoded) -> bool {
    let result = match &d.dst.kind {
        DstKind::Table(t) => word::packed(t, N),
        DstKind::Acc(lanes, _) => (0u8..).zip(lanes).all(|(i, lane)| *lane == d.acc_at(i)),
        _ => false,
    };
    let whole = usize::from(d.exec) == N && d.acc_lane == 0 && d.acc_word;
    let words = matches!(d.dst.num, Num::Uw | Num::W);
    let plain = !d.saturate && d.cond == CondMod::None;
    result && whole && words && plain && d.src[..2].iter().all(source)
}

pub(crate) fn select(op: Opcode) -> Handler {
    match op {
        Opcode::Add => add,
        Opcode::Shr => shr,
        Opcode::Sad2 => sad2,
        Opcode::Sada2 => sada2,
        _ => illegal,
    }
}

#[inline(always)]
fn load(t: &Thread, s: &Src) -> [i32; N] {
    let size = s.num.size();
    let at = match &s.kind {
        SrcKind::Table(table) => table[0],
        SrcKind::Indirect(ind) => match ind.start(&t.a0, N as i32 * i32::from(size)) {
            Some(at) => at,
            None => return t.load_int::<N>(s).map(|v| v as i32),
        },
        SrcKind::Imm(v) => return std::array::from_fn(|i| s.num.extend(v[i & 7]) as i32),
        _ => return [0; N],
    };
    // Words lie at even places whatever the address register says.
    let at = at & !u16::from(size - 1);
    let low = t.regs.bytes16(at);
    match s.num {
        Num::Ub => low.map(i32::from),
        // CAST: the bits of a signed byte.
        Num::B => low.map(|b| i32::from(b as i8)),
        _ => {
            let high = t.regs.bytes16(at + 16);
            std::array::from_fn(|i| {
                let from = if i < N / 2 { &low } else { &high };
                let at = i % (N / 2) * 2;
                let word = u16::from_le_bytes([from[at], from[at + 1]]);
                s.num.extend(word.into()) as i32
            })
        }
    }
}

/// The accumulator, where the instruction writes it by itself or by name.
#[inline(always)]
fn accumulate(t: &mut Thread, d: &Decoded, r: impl Fn(usize) -> i64) {
    if t.acc_wanted(d) || matches!(d.dst.kind, DstKind::Acc(..)) {
        let low = std::array::from_fn(|i| acc_wrap(r(i), true));
        let high = std::array::from_fn(|i| acc_wrap(r(i + N / 2), true));
        t.acc.write_ints::<8>(d.acc_at(0), 8, &low);
        t.acc.write_ints::<8>(d.acc_at(8), 8, &high);
    }
}

#[inline(always)]
fn binary(t: &mut Thread, d: &Decoded, f: impl Fn(i32, i32) -> i32) -> Next {
    let mask = t.write_mask(d);
    let (mut r, b) = (load(t, &d.src[0]), load(t, &d.src[1]));
    for i in 0..N {
        r[i] = f(r[i], b[i]);
    }
    accumulate(t, d, |i| r[i].into());
    match &d.dst.kind {
        DstKind::Table(to) if mask == 0xffff => {
            let raw =
                std::array::from_fn(|i| (r[2 * i] as u32 & 0xffff) | (r[2 * i + 1] as u32) << 16);
            t.regs.set_vec::<8>(to[0] / 4, 0xff, &raw);
        }
        DstKind::Acc(..) => {}
        _ => t.store_raw(&d.dst, mask, &r.map(|v| v as u32)),
    }
    Next::Seq
}

fn add(t: &mut Thread, d: &Decoded) -> Next {
    binary(t, d, |a, b| a + b)
}

/// Words shift their sixteen bits.
fn shr(t: &mut Thread, d: &Decoded) -> Next {
    binary(t, d, |a, b| (a & 0xffff) >> (b & 31))
}

/// Sums of absolute differences over pairs, added to `c`; only the even channels are written.
#[inline(always)]
fn pairs(t: &mut Thread, d: &Decoded, c: [i64; N / 2]) -> Next {
    let mask = t.write_mask(d) & 0x5555;
    let (a, b) = (load(t, &d.src[0]), load(t, &d.src[1]));
    let mut apart = [0; N];
    for i in 0..N {
        apart[i] = (a[i] - b[i]).abs();
    }
    let mut r = c;
    for i in 0..N / 2 {
        r[i] = r[i].wrapping_add(i64::from(apart[2 * i] + apart[2 * i + 1]));
    }
    accumulate(t, d, |i| if i % 2 == 0 { r[i / 2] } else { 0 });
    match &d.dst.kind {
        DstKind::Table(to) if mask == 0x5555 => {
            let mut raw = t.regs.vec::<8>(to[0] / 4);
            for i in 0..N / 2 {
                raw[i] = raw[i] & !0xffff | r[i] as u32 & 0xffff;
            }
            t.regs.set_vec::<8>(to[0] / 4, 0xff, &raw);
        }
        DstKind::Acc(..) => {}
        _ => {
            let all: [u32; N] = std::array::from_fn(|i| r[i / 2] as u32);
            t.store_raw(&d.dst, mask, &all);
        }
    }
    Next::Seq
}

fn sad2(t: &mut Thread, d: &Decoded) -> Next {
    pairs(t, d, [0; N / 2])
}

fn sada2(t: &mut Thread, d: &Decoded) -> Next {
    let (low, high) = (t.acc.ints(d.acc_at(0)), t.acc.ints(d.acc_at(8)));
    let even = |lanes: &[i64; 8], i: usize| lanes[2 * i % 8];
    let c = std::array::from_fn(|i| even(if i < N / 4 { &low } else { &high }, i));
    pairs(t, d, c)
}
