//! Float dp4, dph, dp3, dp2, line and pln.
//!
//! PRM: volume 4, 14.2.10 to 14.2.13, 14.2.21; pln: Sandy Bridge PRM volume 4 part 2, 8.3.53. Sums
//! keep extended precision (10.3.1.2).

use crate::class::{Any, Class, Load, Vector, by_class, class};
use crate::decoded::{Decoded, Handler, Next, Num, Src, SrcKind};
use crate::exec::{finish_float, illegal};
use crate::grf::{BYTES, DWORDS, GRF_COUNT};
use crate::operand::{widen, widen_all};
use crate::region;
use crate::thread::Thread;
use isa::Opcode;

/// Distance of the next register.
const REGISTER: u16 = BYTES as u16;

const DP4: u8 = 0;
const DPH: u8 = 1;
const DP3: u8 = 2;
const DP2: u8 = 3;

pub(crate) fn select(d: &Decoded, wide: bool) -> Handler {
    match d.op {
        Opcode::Dp4 => by_class!(dot, d, wide, DP4),
        Opcode::Dph => by_class!(dot, d, wide, DPH),
        Opcode::Dp3 => by_class!(dot, d, wide, DP3),
        Opcode::Dp2 => by_class!(dot, d, wide, DP2),
        _ => illegal,
    }
}

/// One dot product a group of four channels, in all four of them.
fn dot<const N: usize, A: Load, B: Load, const KIND: u8>(t: &mut Thread, d: &Decoded) -> Next {
    let mask = t.write_mask(d);
    let a = A::get::<N>(t, &d.src[0]);
    let b = B::get::<N>(t, &d.src[1]);
    let mut r = [0.0; N];
    for g in (0..N).step_by(4) {
        let mut sum = a[g] * b[g] + a[g + 1] * b[g + 1];
        if KIND != DP2 {
            sum += a[g + 2] * b[g + 2];
        }
        if KIND == DP4 {
            sum += a[g + 3] * b[g + 3];
        }
        if KIND == DPH {
            sum += b[g + 3];
        }
        r[g..g + 4].fill(sum);
    }
    finish_float(t, d, mask, r)
}

pub(crate) fn select_line(d: &Decoded, wide: bool) -> Handler {
    let vector = class(&d.src[1]) == Class::Vector;
    match (line_applies(&d.src[0]), vector, wide) {
        (true, true, false) => line::<8, Vector>,
        (true, true, true) => line::<16, Vector>,
        (true, false, false) => line::<8, Any>,
        (true, false, true) => line::<16, Any>,
        (false, _, false) => line_any::<8>,
        (false, _, true) => line_any::<16>,
    }
}

/// `p * src1 + q`, p and q being components 0 and 3 of a scalar source 0.
fn line<const N: usize, B: Load>(t: &mut Thread, d: &Decoded) -> Next {
    let mask = t.write_mask(d);
    let s = &d.src[0];
    let mut r = B::get::<N>(t, &d.src[1]);
    if let SrcKind::Scalar(off) = s.kind {
        let p = widen(t.regs.dword(off), s.and, s.xor);
        let q = widen(t.regs.dword(off + 3), s.and, s.xor);
        for v in &mut r {
            *v = p * *v + q;
        }
    }
    finish_float(t, d, mask, r)
}

/// Whether `line` may read its coefficients as two dwords: floats, both inside the GRF.
pub(crate) fn line_applies(s: &Src) -> bool {
    let inside = |off| usize::from(off) + 3 < GRF_COUNT * DWORDS;
    s.fast_float && matches!(s.kind, SrcKind::Scalar(off) if inside(off))
}

/// `line` with any region of source 0: p and q of each group of four channels.
fn line_any<const N: usize>(t: &mut Thread, d: &Decoded) -> Next {
    let mask = t.write_mask(d);
    let s = &d.src[0];
    let mut r = t.load_float::<N>(&d.src[1]);
    let first = t.load_float::<N>(s);
    let fourth = t.load_float::<N>(&behind(s, 3 * u16::from(s.num.size())));
    for i in 0..N {
        r[i] = first[i & !3] * r[i] + fourth[i & !3];
    }
    finish_float(t, d, mask, r)
}

/// The operand `bytes` further on.
fn behind(s: &Src, bytes: u16) -> Src {
    let mut shifted = *s;
    match &mut shifted.kind {
        SrcKind::Table(table) => {
            for b in table.iter_mut() {
                *b = region::advance(*b, bytes);
            }
        }
        SrcKind::Indirect(ind) => ind.imm = ind.imm.wrapping_add(bytes as i16),
        SrcKind::Null
        | SrcKind::Vec(_)
        | SrcKind::Scalar(_)
        | SrcKind::Imm(_)
        | SrcKind::Arf(..)
        | SrcKind::Acc(_) => {}
    }
    shifted
}

/// Source 1 of `pln`: eight channels of u, eight of v behind them, then the same for the second
/// eight channels. The lanes are those of u.
pub(crate) fn pairs(mut s: Src) -> Src {
    match &mut s.kind {
        SrcKind::Table(table) => {
            for b in &mut table[8..] {
                *b = region::advance(*b, REGISTER);
            }
        }
        SrcKind::Indirect(ind) => {
            for r in &mut ind.rel[8..] {
                *r = r.wrapping_add(REGISTER as i16);
            }
        }
        SrcKind::Null
        | SrcKind::Vec(_)
        | SrcKind::Scalar(_)
        | SrcKind::Imm(_)
        | SrcKind::Arf(..)
        | SrcKind::Acc(_) => {}
    }
    s
}

/// The first dword of whole registers of u and v, one after the other, when source 1 has them and source 0 one plane for all
/// channels: what kernels for pixels have.
pub(crate) fn planar(d: &Decoded, wide: bool) -> Option<u16> {
    let (plane, point) = (&d.src[0], &d.src[1]);
    let SrcKind::Table(lanes) = &point.kind else {
        return None;
    };
    let first = lanes[0] >> 2;
    // The second eight channels have their u behind the v of the first.
    let at = |lane: u16| 4 * (first + lane + lane / 8 * 8);
    let channels = if wide { 16 } else { 8 };
    let whole = (0..channels)
        .zip(lanes)
        .all(|(lane, from)| *from == at(lane));
    let inside = usize::from(first + 2 * channels) <= GRF_COUNT * DWORDS;
    (line_applies(plane) && point.num == Num::F && whole && inside).then_some(first)
}

pub(crate) fn select_pln(d: &Decoded, wide: bool) -> Handler {
    match (planar(d, wide).is_some(), wide) {
        (true, false) => pln_planar::<8>,
        (true, true) => pln_planar::<16>,
        (false, false) => pln::<8>,
        (false, true) => pln::<16>,
    }
}

/// [`pln`] where [`planar`] holds.
fn pln_planar<const N: usize>(t: &mut Thread, d: &Decoded) -> Next {
    let mask = t.write_mask(d);
    let (plane, point) = (&d.src[0], &d.src[1]);
    let mut r = [0.0; N];
    if let (SrcKind::Scalar(off), SrcKind::Table(lanes)) = (&plane.kind, &point.kind) {
        let first = lanes[0] >> 2;
        let component = |n| widen(t.regs.dword(off + n), plane.and, plane.xor);
        let [p, q, s] = [0, 1, 3].map(component);
        for half in 0..N / 8 {
            // CAST: two halves at most.
            let at = first + 16 * half as u16;
            let [u, v] =
                [at, at + 8].map(|at| widen_all(t.regs.vec::<8>(at), point.and, point.xor));
            for i in 0..8 {
                r[8 * half + i] = p * u[i] + q * v[i] + s;
            }
        }
    }
    finish_float(t, d, mask, r)
}

/// `p * u + q * v + s`: p, q and s are components 0, 1 and 3 of source 0.
fn pln<const N: usize>(t: &mut Thread, d: &Decoded) -> Next {
    let mask = t.write_mask(d);
    let (plane, point) = (&d.src[0], &d.src[1]);
    let size = u16::from(plane.num.size());
    let p = t.load_float::<N>(plane);
    let q = t.load_float::<N>(&behind(plane, size));
    let s = t.load_float::<N>(&behind(plane, 3 * size));
    let mut r = t.load_float::<N>(point);
    let v = t.load_float::<N>(&behind(point, REGISTER));
    for i in 0..N {
        let group = i & !3;
        r[i] = p[group] * r[i] + q[group] * v[i] + s[group];
    }
    finish_float(t, d, mask, r)
}
