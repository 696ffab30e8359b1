//! Execution: which handler runs an instruction.
//!
//! PRM: volume 4, chapter 14.

pub(crate) mod bits;
mod cmp;
pub(crate) mod copy;
mod dot;
mod double;
pub(crate) mod dword;
mod extended;
mod float;
pub(crate) mod half;
mod int;
mod minmax;
pub(crate) mod packed;
mod round;
mod three;
mod wide;
pub(crate) mod word;

pub(crate) use cmp::compare;
pub(crate) use dot::{line_applies, pairs, planar};
pub(crate) use wide::{both_halves, second_half};

use crate::decoded::{Decoded, DstKind, Handler, Next, Num, SimpleFloat, SrcKind};
use crate::flow;
use crate::r#gen::Rules;
use crate::lower::{ExecType, Mode};
use crate::operand::{any_infinity, float_to_int, may_be_nan, narrow_all};
use crate::rounding::{Rounding, nearest_all};
use crate::thread::Thread;
use isa::inst::CondMod;
use isa::operand::{Addr, RegFile};
use isa::{Inst, Opcode};

/// Opcode zero, and every code with no meaning here.
pub(crate) fn illegal(_: &mut Thread, _: &Decoded) -> Next {
    Next::Illegal
}

fn send(_: &mut Thread, _: &Decoded) -> Next {
    Next::Send
}

/// One bit a lane.
#[inline(always)]
pub(crate) fn bits<const N: usize>(f: impl Fn(usize) -> bool) -> u16 {
    let mut out = 0;
    for i in 0..N {
        out |= u16::from(f(i)) << i;
    }
    out
}

/// Picks the handler; the operands are in place.
pub(crate) fn select(d: &mut Decoded, inst: &Inst, ty: ExecType, mode: Mode, rules: Rules) {
    let wide = inst.exec_size > 8;
    let pick = |narrow: Handler, full: Handler| if wide { full } else { narrow };
    d.run = match inst.opcode {
        _ if ty == ExecType::Double => double::select(d),
        // Time is outside of the thread.
        Opcode::Mov if rules.timestamp && flow::reads_time(d) => flow::time,
        // `movi` differs from `mov` in its restrictions: one register, addressed by channel.
        Opcode::Mov | Opcode::Movi => {
            if copy::applies(d) {
                copy::select(d, wide)
            } else if copy::applies_to_accumulator(d) {
                pick(copy::accumulator::<8>, copy::accumulator::<16>)
            } else if mode == Mode::Fast && copy::applies_to_float(d) {
                pick(copy::to_float::<8>, copy::to_float::<16>)
            } else if ty == ExecType::Float {
                pick(float::mov::<8>, float::mov::<16>)
            } else {
                int::mov
            }
        }
        Opcode::Sel if d.compare != CondMod::None => minmax::select(d, ty, wide),
        Opcode::Sel => {
            if copy::applies_sel(d) {
                pick(copy::sel::<8>, copy::sel::<16>)
            } else if ty == ExecType::Float {
                pick(float::sel::<8>, float::sel::<16>)
            } else {
                int::sel
            }
        }
        Opcode::Cmp | Opcode::Cmpn if ty == ExecType::Float => cmp::select_float(d, wide),
        Opcode::Cmp | Opcode::Cmpn => {
            if mode == Mode::Fast && dword::applies_cmp(d) {
                pick(dword::cmp::<8>, dword::cmp::<16>)
            } else {
                cmp::int
            }
        }
        Opcode::Add | Opcode::Mac if ty == ExecType::Float && rules.rounds => {
            float::select_rounded(d, wide)
        }
        Opcode::Add | Opcode::Mul | Opcode::Mac if ty == ExecType::Float => float::select(d, wide),
        Opcode::Frc | Opcode::Rnde | Opcode::Rndz if rules.whole_rounds => {
            round::select_whole(inst.opcode, wide)
        }
        Opcode::Frc | Opcode::Rndu | Opcode::Rndd | Opcode::Rnde | Opcode::Rndz => {
            round::select(inst.opcode, wide)
        }
        Opcode::Dp4 | Opcode::Dph | Opcode::Dp3 | Opcode::Dp2 => dot::select(d, wide),
        Opcode::Line => dot::select_line(d, wide),
        Opcode::Pln => dot::select_pln(d, wide),
        Opcode::Mad | Opcode::Lrp => three::select(d, wide),
        Opcode::Math => {
            if !rules.modifies_all {
                extended::without_modifiers(d);
            }
            extended::select(d, wide)
        }
        Opcode::F32to16 | Opcode::F16to32 => half::select(inst.opcode, wide),
        Opcode::Bfrev
        | Opcode::Bfe
        | Opcode::Bfi1
        | Opcode::Bfi2
        | Opcode::Cbit
        | Opcode::Fbh
        | Opcode::Fbl
        | Opcode::Addc
        | Opcode::Subb => bits::select(d, wide),
        op @ (Opcode::Not
        | Opcode::And
        | Opcode::Or
        | Opcode::Xor
        | Opcode::Shr
        | Opcode::Shl
        | Opcode::Asr
        | Opcode::Add) => {
            as_integers(d);
            if mode == Mode::Fast && dword::applies(d) {
                dword::select(op, wide)
            } else if mode == Mode::Fast && op == Opcode::Add && word::applies(d) {
                word::add
            } else if mode == Mode::Fast
                && matches!(op, Opcode::Add | Opcode::Shr)
                && packed::applies(d)
            {
                packed::select(op)
            } else {
                int::select(op)
            }
        }
        op @ (Opcode::Mul
        | Opcode::Mac
        | Opcode::Mach
        | Opcode::Avg
        | Opcode::Lzd
        | Opcode::Sad2
        | Opcode::Sada2) => {
            as_integers(d);
            let sums = matches!(op, Opcode::Sad2 | Opcode::Sada2);
            if mode == Mode::Fast && sums && packed::applies(d) {
                packed::select(op)
            } else {
                int::select(op)
            }
        }
        Opcode::Jmpi => {
            // The index is a signed dword even when an immediate came as another type.
            if rules.word_index {
                flow::word_index(d);
            }
            flow::jmpi
        }
        op if rules.paths && flow::paths::has(op) => flow::paths::select(op),
        Opcode::If => flow::r#if,
        Opcode::Iff => flow::iff,
        Opcode::Else => flow::r#else,
        Opcode::Endif => flow::endif,
        Opcode::Do => flow::r#do,
        Opcode::While => flow::r#while,
        Opcode::Break => flow::r#break,
        Opcode::Cont => flow::cont,
        Opcode::Halt => flow::halt,
        Opcode::Wait => {
            d.flag = notification(inst, rules.one_notification);
            flow::wait
        }
        // A `sendc` waits for earlier threads that touch the same pixels: none is left here.
        Opcode::Send | Opcode::Sendc => send,
        Opcode::Nop | Opcode::Nenop => flow::nop,
        Opcode::Msave | Opcode::Mrest => {
            as_integers(d);
            flow::stack::copy
        }
        Opcode::Push => flow::stack::push,
        Opcode::Pop => flow::stack::pop,
        _ => illegal,
    };
}

/// The register, or subregister of the one, that `wait` names as destination or source; past n1 when the operand is no notification register.
fn notification(inst: &Inst, one: bool) -> u8 {
    let of = |file, addr| match (file, addr) {
        (RegFile::Arf, Addr::Direct { nr, subnr }) if nr >> 4 == 9 => Some(if one {
            (nr & 0xf) * 8 + subnr / 4
        } else {
            nr & 0xf
        }),
        _ => None,
    };
    of(inst.src[0].file, inst.src[0].addr)
        .or_else(|| of(inst.dst.file, inst.dst.addr))
        .unwrap_or(u8::MAX)
}

/// Integer-only instructions take float operands as bits.
fn as_integers(d: &mut Decoded) {
    for s in &mut d.src {
        if s.num == Num::F {
            s.num = Num::Ud;
        }
    }
    if d.dst.num == Num::F && d.op != Opcode::Add && d.op != Opcode::Mul && d.op != Opcode::Mac {
        d.dst.num = Num::Ud;
    }
}

/// Float results: accumulator, saturation, flags, destination.
#[inline(always)]
pub(crate) fn finish_float<const N: usize>(
    t: &mut Thread,
    d: &Decoded,
    mask: u16,
    r: [f64; N],
) -> Next {
    finish_sum(t, d, mask, (r, r))
}

/// The same where the accumulator keeps other doubles than those that the destination's floats are made of.
#[inline(always)]
pub(crate) fn finish_sum<const N: usize>(
    t: &mut Thread,
    d: &Decoded,
    mask: u16,
    (kept, r): ([f64; N], [f64; N]),
) -> Next {
    match d.simple_float {
        SimpleFloat::Vec(off) => {
            if let Some(raw) = narrow_all(&r)
                && !(t.alt && any_infinity(&raw))
            {
                float_acc(t, d, kept);
                t.regs.set_vec(off, mask, &raw);
                return Next::Seq;
            }
        }
        SimpleFloat::Null => {
            if !may_be_nan(&r) {
                float_acc(t, d, kept);
                return Next::Seq;
            }
        }
        SimpleFloat::No => {}
        SimpleFloat::Round(off) => {
            if t.rounding == Rounding::Nearest
                && let Some(raw) = nearest_all(&r)
                && !(t.alt && any_infinity(&raw))
            {
                float_acc(t, d, kept);
                t.regs.set_vec(off, mask, &raw);
                return Next::Seq;
            }
        }
    }
    finish_sum_any(t, d, mask, (&kept, r))
}

/// Implicit accumulator update.
#[inline(always)]
fn float_acc<const N: usize>(t: &mut Thread, d: &Decoded, r: [f64; N]) {
    if t.acc_wanted(d) {
        if d.exec >= 8 {
            t.acc.set_floats(d.acc_lane, &r);
        } else {
            t.acc.set_few(d.acc_lane, d.exec, r);
        }
    }
}

/// The general form of `finish_sum`.
#[inline(never)]
fn finish_sum_any<const N: usize>(
    t: &mut Thread,
    d: &Decoded,
    mask: u16,
    (kept, r): (&[f64; N], [f64; N]),
) -> Next {
    // Which payload a host operation keeps depends on the compiler: one NaN for all.
    let mut nan = false;
    for v in &r {
        nan |= v.is_nan();
    }
    let kept = if nan { one_nan(*kept) } else { *kept };
    float_acc(t, d, kept);
    let r = match d.dst.kind {
        DstKind::Acc(..) => kept,
        _ if nan => one_nan(r),
        _ => r,
    };
    // By value: the lanes stay in registers on the common path.
    let r = if t.alt || d.special {
        finish_special(t, d, mask, r)
    } else {
        r
    };
    t.store_float(&d.dst, mask, &r);
    Next::Seq
}

#[cold]
#[inline(never)]
fn one_nan<const N: usize>(r: [f64; N]) -> [f64; N] {
    r.map(|v| {
        if v.is_nan() {
            f64::from_bits(0x7ff8 << 48)
        } else {
            v
        }
    })
}

/// 2^128.
const OVERFLOW: f64 = f64::from_bits(0x47f0 << 48);
/// What is nearer to 2^128 than to the largest single float, or as near.
const OVERFLOW_NEAREST: f64 = f64::from_bits(0x47ef_ffff_f000_0000);

/// ALT mode, saturation and flags of a float result.
#[inline(never)]
fn finish_special<const N: usize>(
    t: &mut Thread,
    d: &Decoded,
    mask: u16,
    mut r: [f64; N],
) -> [f64; N] {
    // Below 2^128 truncation ends at the largest number.
    let limit = if d.dst.round && t.rounding == Rounding::Nearest {
        OVERFLOW_NEAREST
    } else {
        OVERFLOW
    };
    let overflow = bits::<N>(|i| r[i].is_finite() && r[i].abs() >= limit);
    if t.alt {
        for v in &mut r {
            *v = alt(*v);
        }
    }
    if d.saturate && d.dst.num == Num::F && !matches!(d.dst.kind, DstKind::Acc(..)) {
        for v in &mut r {
            // NaN saturates to 0.
            *v = if *v > 0.0 { v.min(1.0) } else { 0.0 };
        }
    }
    if matches!(d.cond, CondMod::None | CondMod::R) {
        return r;
    }
    let small = f64::from(f32::MIN_POSITIVE);
    let v: [f64; N] = std::array::from_fn(|i| match d.dst.num {
        Num::F if r[i].abs() < small => 0.0,
        Num::F => r[i],
        // Flags are those of what is stored: see `finish_int_no_acc`.
        num if d.dst.round => {
            let single = f32::from_bits(t.rounding.narrow(r[i]));
            num.extend(float_to_int(f64::from(single), num)) as f64
        }
        num => num.extend(float_to_int(r[i], num)) as f64,
    });
    let v = |i: usize| v[i];
    let set = match d.cond {
        CondMod::None | CondMod::R => return r,
        CondMod::Z => bits::<N>(|i| v(i) == 0.0),
        CondMod::Nz => bits::<N>(|i| v(i) != 0.0),
        CondMod::G => bits::<N>(|i| v(i) > 0.0),
        CondMod::Ge => bits::<N>(|i| v(i) >= 0.0),
        CondMod::L => bits::<N>(|i| v(i) < 0.0),
        CondMod::Le => bits::<N>(|i| v(i) <= 0.0),
        CondMod::O => overflow,
        CondMod::U => bits::<N>(|i| r[i].is_nan()),
    };
    t.set_flags(d, mask, set);
    r
}

/// Which of the results are as a condition of numbers says.
pub(crate) fn float_condition<const N: usize>(cond: CondMod, v: &[f64; N]) -> u16 {
    match cond {
        CondMod::None | CondMod::R | CondMod::O => 0,
        CondMod::Z => bits::<N>(|i| v[i] == 0.0),
        CondMod::Nz => bits::<N>(|i| v[i] != 0.0),
        CondMod::G => bits::<N>(|i| v[i] > 0.0),
        CondMod::Ge => bits::<N>(|i| v[i] >= 0.0),
        CondMod::L => bits::<N>(|i| v[i] < 0.0),
        CondMod::Le => bits::<N>(|i| v[i] <= 0.0),
        CondMod::U => bits::<N>(|i| v[i].is_nan()),
    }
}

/// ALT mode: infinities become the largest numbers, and no NaN leaves the unit (PRM 10.3.2).
pub(crate) fn alt(v: f64) -> f64 {
    if v.is_nan() {
        0.0
    } else {
        v.clamp(-f64::from(f32::MAX), f64::from(f32::MAX))
    }
}

/// Integer results: accumulator, flags, destination.
#[inline]
pub(crate) fn finish_int(t: &mut Thread, d: &Decoded, mask: u16, r: &[i64; 16]) -> Next {
    if t.acc_wanted(d) {
        write_acc(t, d, r);
    }
    finish_int_no_acc(t, d, mask, r)
}

/// Implicit accumulator update of all channels.
pub(crate) fn write_acc(t: &mut Thread, d: &Decoded, r: &[i64; 16]) {
    let n = usize::from(d.exec);
    for (i, &v) in r.iter().enumerate().take(n) {
        t.acc
            .set_int(d.acc_at(i as u8), crate::operand::acc_wrap(v, d.acc_word));
    }
}

/// The value as the destination type holds it.
pub(crate) fn settle(d: &Decoded, v: i64) -> i64 {
    let n = d.dst.num;
    let bits = 8 * u32::from(n.size().min(4));
    n.extend(v as u32 & (u32::MAX >> (32 - bits)))
}

/// Integer results: flags and destination.
///
/// The volume does not say which number the flags of 11.7 look at. Kaby Lake's does (volume 7, "Assigning Conditional
/// Flags"): whether the final result is zero after all clamping, normalising and format conversion. Mesa's compiler for
/// every part since Gen4 counts on it (brw_fs_cmod_propagation.cpp): an instruction stores its result and sets flags by
/// what it has stored, saturated (as tried on parts), narrower, or an integer made of a float. `cmp` alone looks at the
/// whole difference.
#[inline]
pub(crate) fn finish_int_no_acc(t: &mut Thread, d: &Decoded, mask: u16, r: &[i64; 16]) -> Next {
    if d.cond != CondMod::None {
        let (lo, hi) = d.dst.num.range();
        // What an accumulator keeps is wider than its type.
        let whole = d.dst.num == Num::F || matches!(d.dst.kind, DstKind::Acc(..));
        let v = |i: usize| match (d.saturate, d.dst.num) {
            (true, Num::F) => r[i].clamp(0, 1),
            (true, _) => r[i].clamp(lo, hi),
            (false, _) if whole => r[i],
            (false, _) => settle(d, r[i]),
        };
        let set = match d.cond {
            CondMod::None | CondMod::R | CondMod::U => 0,
            CondMod::Z => bits::<16>(|i| v(i) == 0),
            CondMod::Nz => bits::<16>(|i| v(i) != 0),
            CondMod::G => bits::<16>(|i| v(i) > 0),
            CondMod::Ge => bits::<16>(|i| v(i) >= 0),
            CondMod::L => bits::<16>(|i| v(i) < 0),
            CondMod::Le => bits::<16>(|i| v(i) <= 0),
            CondMod::O => bits::<16>(|i| d.dst.num != Num::F && !(lo..=hi).contains(&r[i])),
        };
        t.set_flags(d, mask, set);
    }
    t.store_int::<16>(d, mask, r);
    Next::Seq
}

/// Whether an operand can be read as raw bits by the fast paths.
pub(crate) fn plain(s: &crate::decoded::Src) -> bool {
    !s.negate && !s.abs && !matches!(s.kind, SrcKind::Acc(_))
}

#[cfg(test)]
mod tests;
