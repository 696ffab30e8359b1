//! Raw mov and sel: bits move unchanged; and integers that become floats.
//!
//! PRM: volume 4, 10.3.1.2, 14.2.25, 14.2.40.

use crate::decoded::{Decoded, DstKind, Handler, Next, Num, SrcKind};
use crate::exec::float::{self, sel_masks};
use crate::exec::plain;
use crate::thread::Thread;
use isa::inst::CondMod;

fn same_kind(a: Num, b: Num) -> bool {
    a.size() == b.size() && (a == Num::F) == (b == Num::F)
}

/// Same type, no modifiers, nothing to compute.
pub(crate) fn applies(d: &Decoded) -> bool {
    let s = &d.src[0];
    let alone = !d.saturate && d.cond == CondMod::None && !d.acc_write;
    plain(s) && same_kind(s.num, d.dst.num) && alone
}

/// A float out of the accumulator, with nothing to compute.
pub(crate) fn applies_to_accumulator(d: &Decoded) -> bool {
    let s = &d.src[0];
    let alone = !d.saturate && d.cond == CondMod::None && !d.acc_write;
    let bare = matches!(s.kind, SrcKind::Acc(_)) && !s.negate && !s.abs;
    bare && alone && s.num == Num::F && d.dst.num == Num::F
}

/// A dword that becomes a float, with nothing else to compute.
pub(crate) fn applies_to_float(d: &Decoded) -> bool {
    let s = &d.src[0];
    let alone = !d.saturate && d.cond == CondMod::None && !d.acc_write;
    let kinds = matches!(s.num, Num::D | Num::Ud) && d.dst.num == Num::F;
    plain(s) && kinds && alone && matches!(d.dst.kind, DstKind::Vec(_))
}

/// The same for both sources of `sel`.
pub(crate) fn applies_sel(d: &Decoded) -> bool {
    applies(d) && plain(&d.src[1]) && same_kind(d.src[1].num, d.dst.num)
}

pub(crate) fn select(d: &Decoded, wide: bool) -> Handler {
    match (&d.src[0].kind, &d.dst.kind) {
        (_, DstKind::Vec(_)) if d.lanes == 1 => mov1,
        (SrcKind::Table(_), DstKind::Vec(_)) if !wide && d.dst.num.size() == 4 => gather,
        _ if wide => mov::<16>,
        _ => mov::<8>,
    }
}

/// Scattered dwords to a vector, one by one: no wide load waits for narrow stores.
fn gather(t: &mut Thread, d: &Decoded) -> Next {
    let mask = t.write_mask(d);
    if let (SrcKind::Table(from), DstKind::Vec(to)) = (&d.src[0].kind, &d.dst.kind) {
        let mut lanes = [0; 8];
        for (v, o) in lanes.iter_mut().zip(from) {
            *v = t.regs.dword(o >> 2);
        }
        for (i, v) in lanes.into_iter().enumerate() {
            if mask >> i & 1 != 0 {
                t.regs.set_dword(to + i as u16, v);
            }
        }
    }
    Next::Seq
}

fn mov<const N: usize>(t: &mut Thread, d: &Decoded) -> Next {
    let mask = t.write_mask(d);
    let raw = t.load_raw::<N>(&d.src[0]);
    t.store_raw(&d.dst, mask, &raw);
    Next::Seq
}

/// What the accumulator holds: a float has more digits than the destination, an integer goes on as bits.
pub(crate) fn accumulator<const N: usize>(t: &mut Thread, d: &Decoded) -> Next {
    let holds_float = match &d.src[0].kind {
        SrcKind::Acc(lanes) => lanes.iter().take(N).any(|lane| t.acc.holds_float(*lane)),
        _ => true,
    };
    if holds_float {
        return float::mov::<N>(t, d);
    }
    mov::<N>(t, d)
}

/// Integers of 32 bits are doubles exactly, so that there is one rounding.
pub(crate) fn to_float<const N: usize>(t: &mut Thread, d: &Decoded) -> Next {
    let mask = t.write_mask(d);
    let raw = t.load_raw::<N>(&d.src[0]);
    let mut r = [0.0; N];
    if d.src[0].num == Num::D {
        for i in 0..N {
            r[i] = f64::from(raw[i] as i32);
        }
    } else {
        for i in 0..N {
            r[i] = f64::from(raw[i]);
        }
    }
    t.store_float(&d.dst, mask, &r);
    Next::Seq
}

fn mov1(t: &mut Thread, d: &Decoded) -> Next {
    let mask = t.write_mask(d);
    let raw = t.load_raw::<1>(&d.src[0]);
    t.store_raw(&d.dst, mask, &raw);
    Next::Seq
}

pub(crate) fn sel<const N: usize>(t: &mut Thread, d: &Decoded) -> Next {
    let (mask, pred) = sel_masks(t, d);
    let a = t.load_raw::<N>(&d.src[0]);
    let mut r = t.load_raw::<N>(&d.src[1]);
    for i in 0..N {
        let pick = 0u32.wrapping_sub(u32::from(pred >> i) & 1);
        r[i] = (r[i] & !pick) | (a[i] & pick);
    }
    t.store_raw(&d.dst, mask, &r);
    Next::Seq
}
