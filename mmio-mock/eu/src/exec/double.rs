//! Instructions with doubles.
//!
//! PRM: ValleyView volume 2 part 2 (add); regions and channel enables of doubles as Mesa 22.3.6 counts on them (`brw_fs.cpp`,
//! `get_fpu_lowered_simd_width`; `brw_fs_generator.cpp`, `brw_reg_from_fs_reg`): a double takes two channels of the instruction, but one channel
//! enable, and the second four doubles have the enables of the first four. Where doubles become narrower, the second of both places
//! is left alone. Not public: denormal doubles, which are kept here; whether `mad` rounds its product, which it does not here.

use crate::decoded::{Decoded, DstKind, Handler, More, Next, Num, Src, SrcKind};
use crate::exec::cmp::compare_floats;
use crate::exec::float::sel_masks;
use crate::exec::{float_condition, illegal};
use crate::grf::{SINK_BASE, ZERO_BASE};
use crate::operand::float_to_int;
use crate::thread::Thread;
use isa::Opcode;
use isa::inst::CondMod;

/// Doubles of an instruction at most.
const N: usize = 8;

type Lanes = [f64; N];

const SIGN: u64 = 1 << 63;
const NAN: u64 = 0x7ff8 << 48;

pub(crate) fn select(d: &Decoded) -> Handler {
    let raw = |s: &Src| s.num == Num::Df && !s.negate && !s.abs;
    let [a, b] = &d.src;
    let plain = d.dst.num == Num::Df
        && !d.saturate
        && d.cond == CondMod::None
        && !d.acc_write
        && raw(a)
        && !matches!(d.dst.kind, DstKind::Acc(..));
    match d.op {
        Opcode::Mov | Opcode::Movi if plain => copy,
        Opcode::Mov | Opcode::Movi => mov,
        Opcode::Sel if d.compare != CondMod::None => minmax,
        Opcode::Sel if plain && raw(b) => choose,
        Opcode::Sel => sel,
        Opcode::Cmp => cmp,
        Opcode::Cmpn => cmpn,
        Opcode::Add => add,
        Opcode::Mul => mul,
        Opcode::Mac => mac,
        Opcode::Mad => mad,
        Opcode::Frc => frc,
        Opcode::Rndu => rndu,
        Opcode::Rndd => rndd,
        Opcode::Rnde => rnde,
        Opcode::Rndz => rndz,
        _ => illegal,
    }
}

/// Channels that are written.
fn mask(t: &Thread, d: &Decoded) -> u16 {
    twice(t.write_mask(d) | !d.lanes) & d.lanes
}

/// Both halves have the enables of the first.
fn twice(mask: u16) -> u16 {
    mask & 0xf | (mask & 0xf) << 4
}

/// The bits of doubles.
fn bits(t: &Thread, s: &Src) -> [u64; N] {
    let at = |low: u32, high: u32| u64::from(high) << 32 | u64::from(low);
    let placed = |table: &[u16; 16]| {
        std::array::from_fn(|i| {
            let dword = table[i] >> 2;
            at(t.regs.dword(dword), t.regs.dword(dword + 1))
        })
    };
    match &s.kind {
        SrcKind::Table(table) => placed(table),
        SrcKind::Indirect(ind) => placed(&ind.resolve(&t.a0, ZERO_BASE)),
        SrcKind::Arf(nr, table) => {
            let image = t.arf_read(*nr);
            std::array::from_fn(|i| {
                let dword = usize::from(table[i] >> 2);
                let part = |n: usize| image.get(dword + n).copied().unwrap_or(0);
                at(part(0), part(1))
            })
        }
        SrcKind::Acc(lanes) => std::array::from_fn(|i| t.acc.float(lanes[i]).to_bits()),
        SrcKind::Null | SrcKind::Vec(_) | SrcKind::Scalar(_) | SrcKind::Imm(_) => [0; N],
    }
}

/// A source of numbers of any kind.
fn source(t: &Thread, s: &Src) -> Lanes {
    match s.num {
        Num::Df => bits(t, s).map(|v| modified(v, s.abs, s.negate)),
        Num::F => t.load_float::<N>(s),
        // CAST: 32 bits at most.
        _ => t.load_int::<N>(s).map(|v| v as f64),
    }
}

fn modified(v: u64, abs: bool, negate: bool) -> f64 {
    let v = if abs { v & !SIGN } else { v };
    f64::from_bits(if negate { v ^ SIGN } else { v })
}

/// Results: accumulator, saturation, flags, destination.
fn finish(t: &mut Thread, d: &Decoded, mask: u16, mut r: Lanes, overflow: u16) -> Next {
    for v in &mut r {
        if v.is_nan() {
            *v = f64::from_bits(NAN);
        }
    }
    if t.acc_wanted(d) {
        t.acc.set_few(d.acc_lane, d.exec, r);
    }
    if d.saturate && matches!(d.dst.num, Num::F | Num::Df) {
        r = r.map(|v| if v > 0.0 { v.min(1.0) } else { 0.0 });
    }
    // What is stored is what flags look at.
    let rounding = t.rounding;
    let stored = match d.dst.num {
        Num::Df => r,
        Num::F => r.map(|v| f64::from(f32::from_bits(rounding.narrow(v)))),
        num => r.map(|v| num.extend(float_to_int(v, num)) as f64),
    };
    match d.cond {
        CondMod::None => {}
        CondMod::O => t.set_flags(d, mask, overflow),
        cond => t.set_flags(d, mask, float_condition(cond, &stored)),
    }
    match d.dst.num {
        Num::Df => store(t, d, mask, &stored.map(f64::to_bits)),
        // CAST: they are single floats.
        Num::F => t.store_raw(&d.dst, mask, &stored.map(|v| (v as f32).to_bits())),
        num => t.store_raw(&d.dst, mask, &r.map(|v| float_to_int(v, num))),
    }
    Next::Seq
}

/// Writes doubles to the channels of a mask.
fn store(t: &mut Thread, d: &Decoded, mask: u16, r: &[u64; N]) {
    let lanes = r.iter().enumerate().filter(|(i, _)| mask >> i & 1 != 0);
    match &d.dst.kind {
        DstKind::Table(table) => {
            for (i, &v) in lanes {
                set(t, table[i], v);
            }
        }
        DstKind::Indirect(ind) => {
            let table = ind.resolve(&t.a0, SINK_BASE);
            for (i, &v) in lanes {
                set(t, table[i], v);
            }
        }
        DstKind::Acc(table, _) => {
            for (i, &v) in lanes {
                t.acc.set_float(table[i], f64::from_bits(v));
            }
        }
        DstKind::Arf(nr, table) if mask != 0 => {
            let mut image = t.arf_read(*nr);
            for (i, &v) in lanes {
                for (n, half) in [v as u32, (v >> 32) as u32].into_iter().enumerate() {
                    if let Some(to) = image.get_mut(usize::from(table[i] >> 2) + n) {
                        *to = half;
                    }
                }
            }
            t.arf_write(*nr, &image);
        }
        DstKind::Null | DstKind::Vec(_) | DstKind::Arf(..) => {}
    }
}

fn set(t: &mut Thread, byte: u16, v: u64) {
    // CAST: both halves.
    t.regs.set_dword(byte >> 2, v as u32);
    t.regs.set_dword((byte >> 2) + 1, (v >> 32) as u32);
}

fn copy(t: &mut Thread, d: &Decoded) -> Next {
    let mask = mask(t, d);
    let r = bits(t, &d.src[0]);
    store(t, d, mask, &r);
    Next::Seq
}

fn choose(t: &mut Thread, d: &Decoded) -> Next {
    let (mask, pred) = selection(t, d);
    let a = bits(t, &d.src[0]);
    let mut r = bits(t, &d.src[1]);
    for i in 0..N {
        if pred >> i & 1 != 0 {
            r[i] = a[i];
        }
    }
    store(t, d, mask, &r);
    Next::Seq
}

/// Channels that are written, and those whose predicate is set.
fn selection(t: &Thread, d: &Decoded) -> (u16, u16) {
    let (mask, pred) = sel_masks(t, d);
    (twice(mask | !d.lanes) & d.lanes, twice(pred))
}

fn sel(t: &mut Thread, d: &Decoded) -> Next {
    let (mask, pred) = selection(t, d);
    let a = source(t, &d.src[0]);
    let mut r = source(t, &d.src[1]);
    for i in 0..N {
        if pred >> i & 1 != 0 {
            r[i] = a[i];
        }
    }
    finish(t, d, mask, r, 0)
}

fn minmax(t: &mut Thread, d: &Decoded) -> Next {
    let mask = mask(t, d);
    let a = source(t, &d.src[0]);
    let mut r = source(t, &d.src[1]);
    let first = compare_floats(d.compare, &a, &r);
    for i in 0..N {
        if first >> i & 1 != 0 {
            r[i] = a[i];
        }
    }
    finish(t, d, mask, r, 0)
}

fn cmp(t: &mut Thread, d: &Decoded) -> Next {
    let [a, b] = [0, 1].map(|i| source(t, &d.src[i]));
    let set = match d.cond {
        CondMod::None | CondMod::R | CondMod::O => 0,
        CondMod::Z => super::bits::<N>(|i| a[i] == b[i]),
        CondMod::Nz => super::bits::<N>(|i| a[i] != b[i]),
        CondMod::G => super::bits::<N>(|i| a[i] > b[i]),
        CondMod::Ge => super::bits::<N>(|i| a[i] >= b[i]),
        CondMod::L => super::bits::<N>(|i| a[i] < b[i]),
        CondMod::Le => super::bits::<N>(|i| a[i] <= b[i]),
        CondMod::U => super::bits::<N>(|i| a[i].is_nan() || b[i].is_nan()),
    };
    compared(t, d, set)
}

fn cmpn(t: &mut Thread, d: &Decoded) -> Next {
    let [a, b] = [0, 1].map(|i| source(t, &d.src[i]));
    let set = compare_floats(d.cond, &a, &b);
    compared(t, d, set)
}

/// Flags, and all ones where the comparison is true.
fn compared(t: &mut Thread, d: &Decoded, set: u16) -> Next {
    let mask = mask(t, d);
    t.set_flags(d, mask, set);
    let ones = std::array::from_fn(|i| 0u64.wrapping_sub(u64::from(set >> i) & 1));
    if d.dst.num == Num::Df {
        store(t, d, mask, &ones);
    } else {
        // CAST: ones or zeros.
        t.store_raw(&d.dst, mask, &ones.map(|v| v as u32));
    }
    Next::Seq
}

/// An operation with one source.
fn unary(t: &mut Thread, d: &Decoded, f: impl Fn(f64) -> f64) -> Next {
    let mask = mask(t, d);
    let r = source(t, &d.src[0]).map(f);
    finish(t, d, mask, r, 0)
}

fn mov(t: &mut Thread, d: &Decoded) -> Next {
    unary(t, d, |v| v)
}

fn frc(t: &mut Thread, d: &Decoded) -> Next {
    // Below one, as that of a single float is.
    const BELOW_ONE: f64 = f64::from_bits((1023 << 52) - 1);
    unary(t, d, |v| match v - v.floor() {
        1.0 => BELOW_ONE,
        fraction => fraction,
    })
}

fn rndu(t: &mut Thread, d: &Decoded) -> Next {
    unary(t, d, f64::ceil)
}

fn rndd(t: &mut Thread, d: &Decoded) -> Next {
    unary(t, d, f64::floor)
}

fn rnde(t: &mut Thread, d: &Decoded) -> Next {
    unary(t, d, f64::round_ties_even)
}

fn rndz(t: &mut Thread, d: &Decoded) -> Next {
    unary(t, d, f64::trunc)
}

/// An operation of finite numbers whose result may be too large.
fn computed(
    t: &mut Thread,
    d: &Decoded,
    sources: [&Lanes; 3],
    f: impl Fn(f64, f64, f64) -> f64,
) -> Next {
    let mask = mask(t, d);
    let [a, b, c] = sources;
    let r: Lanes = std::array::from_fn(|i| f(a[i], b[i], c[i]));
    let finite = |i: usize| a[i].is_finite() && b[i].is_finite() && c[i].is_finite();
    let overflow = super::bits::<N>(|i| r[i].is_infinite() && finite(i));
    finish(t, d, mask, r, overflow)
}

fn add(t: &mut Thread, d: &Decoded) -> Next {
    let [a, b] = [0, 1].map(|i| source(t, &d.src[i]));
    let rounding = t.rounding;
    computed(t, d, [&a, &b, &[0.0; N]], |a, b, _| rounding.sum(a, b))
}

fn mul(t: &mut Thread, d: &Decoded) -> Next {
    let [a, b] = [0, 1].map(|i| source(t, &d.src[i]));
    let rounding = t.rounding;
    computed(t, d, [&a, &b, &[0.0; N]], |a, b, _| rounding.product(a, b))
}

fn mac(t: &mut Thread, d: &Decoded) -> Next {
    let [a, b] = [0, 1].map(|i| source(t, &d.src[i]));
    let c = t.acc.floats::<N>(d.acc_lane);
    let rounding = t.rounding;
    let fused = |a, b, c| rounding.product_and_sum(a, b, c);
    computed(t, d, [&a, &b, &c], fused)
}

/// Source 1 times source 2, and source 0.
fn mad(t: &mut Thread, d: &Decoded) -> Next {
    let More::Third(third) = &d.more else {
        return Next::Illegal;
    };
    let [a, b] = [0, 1].map(|i| source(t, &d.src[i]));
    let flat = t.grf().as_flattened();
    // Past r127 there is nothing to read.
    let part = |at: usize| flat.get(at).copied().map_or(0, u64::from);
    let c = std::array::from_fn(|i| {
        let dword = third.dword(2 * i);
        modified(part(dword) | part(dword + 1) << 32, third.abs, third.negate)
    });
    let rounding = t.rounding;
    let fused = |a, b, c| rounding.product_and_sum(b, c, a);
    computed(t, d, [&a, &b, &c], fused)
}
