//! One element at a time: what an instruction has to give, from the manual's text.
//!
//! PRM: volume 4, 10.3 (float modes), 10.4 (conversions), 11.3.4.5 (accumulator), 14.2.
//! Floats are rustc_apfloat's, integers 128 bits wide. Where the manual leaves a choice (the last
//! unit of a sum, NaN patterns, flags of a result that does not fit), each choice is accepted.

use isa::Opcode;
use isa::inst::CondMod;
use isa::operand::Type;
use rustc_apfloat::ieee::{Double, Quad, Single};
use rustc_apfloat::{Float, FloatConvert, Round, Status, StatusAnd};

/// A source element after its modifiers.
#[derive(Clone, Copy, Debug)]
pub enum Value {
    Int(i128),
    Float(Single),
}

/// Bit patterns that a destination element may hold.
#[derive(Clone, Debug, Default)]
pub struct Want {
    pub bits: Vec<u32>,
    pub nan: bool,
}

impl Want {
    fn one(bits: u32) -> Want {
        Want {
            bits: vec![bits],
            nan: false,
        }
    }

    pub fn accepts(&self, ty: Type, got: u32) -> bool {
        self.bits.contains(&got) || (self.nan && ty == Type::F && is_nan(got))
    }
}

/// What an element gives; `None` is not checked.
#[derive(Clone, Debug, Default)]
pub struct Out {
    pub dst: Option<Want>,
    pub flag: Option<bool>,
    /// Low 32 bits of the accumulator channel, or the float in single precision.
    pub acc: Option<u32>,
}

/// An instruction without its operands' places.
#[derive(Clone, Copy, Debug)]
pub struct Op {
    pub opcode: Opcode,
    pub cond: CondMod,
    pub saturate: bool,
    pub alt: bool,
    pub dst: Type,
    /// Results are rounded to the nearest, as from Sandy Bridge on; before, toward zero.
    pub nearest: bool,
    /// Of two dwords the low word of the second is taken.
    pub second_word: bool,
}

impl Op {
    fn round(self) -> Round {
        if self.nearest {
            Round::NearestTiesToEven
        } else {
            Round::TowardZero
        }
    }
}

fn is_nan(bits: u32) -> bool {
    bits & 0x7fff_ffff > 0x7f80_0000
}

/// PRM 10.2: the value of an element.
pub fn int_of(ty: Type, raw: u32) -> i128 {
    match ty {
        Type::D => i128::from(raw as i32),
        Type::W => i128::from(raw as i16),
        Type::B => i128::from(raw as i8),
        Type::Uw => i128::from(raw as u16),
        Type::Ub => i128::from(raw as u8),
        _ => i128::from(raw),
    }
}

pub fn limits(ty: Type) -> (i128, i128) {
    match ty {
        Type::D => (-(1 << 31), (1 << 31) - 1),
        Type::W => (-(1 << 15), (1 << 15) - 1),
        Type::B => (-128, 127),
        Type::Uw => (0, 0xffff),
        Type::Ub => (0, 0xff),
        _ => (0, 0xffff_ffff),
    }
}

/// The low bits of an integer, as an element of the type.
fn element(ty: Type, v: i128) -> u32 {
    (v & ((1 << (8 * ty.size())) - 1)) as u32
}

fn single(bits: u32) -> Single {
    Single::from_bits(u128::from(bits))
}

fn bits(v: Single) -> u32 {
    v.to_bits() as u32
}

fn double(v: Single) -> Double {
    v.convert(&mut false).value
}

fn quad(v: Single) -> Quad {
    v.convert(&mut false).value
}

/// PRM 10.3.1.2: sign-preserving flush.
fn flush(v: Single) -> Single {
    if v.is_denormal() {
        single(bits(v) & 0x8000_0000)
    } else {
        v
    }
}

/// A source element: `abs`, then `negate` (PRM 13.2).
pub fn source(ty: Type, raw: u32, negate: bool, abs: bool) -> Value {
    if ty == Type::F {
        let mut v = bits(flush(single(raw)));
        if abs {
            v &= 0x7fff_ffff;
        }
        if negate {
            v ^= 0x8000_0000;
        }
        return Value::Float(single(v));
    }
    let v = int_of(ty, raw);
    let v = if abs { v.abs() } else { v };
    Value::Int(if negate { -v } else { v })
}

fn float(v: Value) -> Single {
    match v {
        Value::Float(f) => f,
        Value::Int(i) => Single::from_i128_r(i, Round::TowardZero).value,
    }
}

fn int(v: Value) -> i128 {
    match v {
        Value::Int(i) => i,
        Value::Float(f) => i128::from(bits(f)),
    }
}

/// PRM 10.4.1.
fn to_int<F: Float>(v: F, ty: Type) -> u32 {
    let (lo, hi) = limits(ty);
    if v.is_nan() {
        return 0;
    }
    let i = if v.is_infinite() {
        if v.is_negative() { lo } else { hi }
    } else {
        // Saturates at 127 bits.
        v.to_i128_r(127, Round::TowardZero, &mut false).value
    };
    element(ty, i.clamp(lo, hi))
}

/// A float result before it is flushed, clamped and converted.
struct Real {
    /// Rounded toward zero; infinite from 2^128 on.
    value: Single,
    /// More bits of it, for conversions to integers.
    wide: Double,
    /// The next unit is accepted too: the sum does not fit double precision (PRM 10.3.1.2 asks
    /// for one unit in the last place).
    loose: bool,
    overflow: bool,
    exact: bool,
}

impl Real {
    fn exact(value: Single) -> Real {
        Real {
            value,
            wide: double(value),
            loose: false,
            overflow: false,
            exact: true,
        }
    }

    fn new(op: Op, r: StatusAnd<Single>, wide: StatusAnd<Double>) -> Real {
        if op.nearest {
            return Real {
                value: r.value,
                wide: wide.value,
                loose: false,
                overflow: r.value.is_infinite() && wide.value.is_finite(),
                exact: r.status == Status::OK,
            };
        }
        // rustc_apfloat's rounding toward zero ends at the largest number and calls it inexact.
        let limit = Double::from_bits(u128::from(2f64.powi(128).to_bits()));
        let overflow = r.value.is_finite() && wide.value.abs() >= limit;
        let value = if overflow {
            Single::INFINITY.copy_sign(r.value)
        } else {
            r.value
        };
        Real {
            value,
            wide: wide.value,
            loose: wide.status.contains(Status::INEXACT),
            overflow,
            exact: r.status == Status::OK,
        }
    }

    fn candidates(&self) -> Vec<Single> {
        let mut all = vec![self.value];
        if self.loose && self.value.is_finite() {
            let up = bits(self.value) + 1;
            all.push(single(up));
        }
        all
    }
}

fn ordered(cond: CondMod, o: Option<std::cmp::Ordering>) -> bool {
    use std::cmp::Ordering::{Equal, Greater, Less};
    match cond {
        CondMod::Z => o == Some(Equal),
        CondMod::Nz => o != Some(Equal),
        CondMod::G => o == Some(Greater),
        CondMod::Ge => matches!(o, Some(Greater | Equal)),
        CondMod::L => o == Some(Less),
        CondMod::Le => matches!(o, Some(Less | Equal)),
        _ => false,
    }
}

/// `Some` if all are the same.
fn agreed(all: impl IntoIterator<Item = bool>) -> Option<bool> {
    let mut all = all.into_iter();
    let first = all.next()?;
    all.all(|x| x == first).then_some(first)
}

fn finish_float(op: Op, r: &Real) -> Out {
    let mut want = Want::default();
    let mut flags = Vec::new();
    let mut settled = true;
    for (i, c) in r.candidates().into_iter().enumerate() {
        let mut v = c;
        if op.alt && v.is_infinite() {
            v = Single::largest().copy_sign(v);
        }
        v = flush(v);
        if op.saturate && op.dst == Type::F {
            if v.is_nan() || v.is_negative() || v.is_zero() {
                want.bits.push(0x8000_0000 & bits(v));
                v = Single::ZERO;
            } else if v > single(0x3f80_0000) {
                v = single(0x3f80_0000);
            }
            // Flags of NaN: before or after it becomes zero is not written down.
            settled &= !c.is_nan();
        }
        flags.push(match op.cond {
            // The next unit of the largest number overflows.
            CondMod::O => r.overflow || (i > 0 && c.is_infinite()),
            CondMod::U => v.is_nan(),
            cond => ordered(cond, v.partial_cmp(&Single::ZERO)),
        });
        if op.dst == Type::F {
            want.nan |= v.is_nan();
            want.bits.push(bits(v));
        } else {
            let i = to_int(v, op.dst);
            want.bits.push(i);
            // Sandy Bridge converts what it has rounded (as results have the execution type first).
            if !c.is_infinite() && !op.nearest {
                want.bits.push(to_int(r.wide, op.dst));
            }
            // The next unit of the accumulator's mantissa, where the sum does not fit it.
            if r.loose && r.wide.is_finite() {
                let up = Double::from_bits(r.wide.to_bits() + 1);
                want.bits.push(to_int(up, op.dst));
            }
            // Of the result in its format (Kaby Lake's volume 7, "Assigning Conditional Flags"; Mesa 22.3.6
            // brw_fs_cmod_propagation.cpp).
            if !matches!(op.cond, CondMod::O | CondMod::U)
                && let Some(flag) = flags.last_mut()
            {
                *flag = ordered(op.cond, Some(int_of(op.dst, i).cmp(&0)));
            }
        }
    }
    let normal = r.value.is_zero() || r.value.is_normal();
    Out {
        dst: Some(want),
        flag: agreed(flags).filter(|_| settled && !matches!(op.cond, CondMod::None | CondMod::R)),
        acc: (r.exact && !r.loose && normal).then(|| bits(r.value)),
    }
}

fn finish_int(op: Op, v: i128) -> Out {
    let acc = Some(v as u32);
    if op.dst == Type::F {
        let mut f = Single::from_i128_r(v, op.round()).value;
        let mut before = f;
        if op.saturate {
            f = if f.is_negative() { Single::ZERO } else { f };
            f = if f > single(0x3f80_0000) {
                single(0x3f80_0000)
            } else {
                f
            };
            before = f;
        }
        let flag = match op.cond {
            CondMod::None | CondMod::R | CondMod::O | CondMod::U => None,
            c => agreed([
                ordered(c, before.partial_cmp(&Single::ZERO)),
                ordered(c, Some(v.cmp(&0))),
            ]),
        };
        return Out {
            dst: Some(Want::one(bits(f))),
            flag,
            acc,
        };
    }
    let (lo, hi) = limits(op.dst);
    let stored = if op.saturate { v.clamp(lo, hi) } else { v };
    let dst = element(op.dst, stored);
    let flag = match op.cond {
        CondMod::None | CondMod::R | CondMod::U => None,
        CondMod::O => Some(!(lo..=hi).contains(&v)),
        // Conditional modifiers look at what is stored, saturated and in its format (Mesa 22.3.6
        // brw_fs_cmod_propagation.cpp).
        c => Some(ordered(c, Some(int_of(op.dst, dst).cmp(&0)))),
    };
    Out {
        dst: Some(Want::one(dst)),
        flag,
        acc,
    }
}

/// Flags of the stored value: logic instructions.
fn finish_logic(op: Op, v: i128) -> Out {
    let stored = int_of(op.dst, element(op.dst, v));
    Out {
        acc: None,
        ..finish_int(op, stored)
    }
}

/// `a + b`.
fn add(op: Op, a: Single, b: Single) -> Real {
    let (x, y) = (double(a), double(b));
    let round = op.round();
    let mut r = Real::new(op, a.add_r(b, round), x.add_r(y, round));
    r.loose = !op.nearest
        && x.add_r(y, Round::NearestTiesToEven)
            .status
            .contains(Status::INEXACT);
    r
}

/// `a * b + c`, fused.
fn fma(op: Op, a: Single, b: Single, c: Single) -> Real {
    let (x, y, z) = (double(a), double(b), double(c));
    let round = op.round();
    let mut r = Real::new(op, a.mul_add_r(b, c, round), x.mul_add_r(y, z, round));
    r.loose = !op.nearest
        && r.wide.is_finite()
        && x.mul_add_r(y, z, Round::NearestTiesToEven)
            .status
            .contains(Status::INEXACT);
    // An exact zero of a product and an opposite accumulator; the sign is the sum's.
    r
}

/// cmp and cmpn (PRM 10.3.1.1, 10.3.1.3, 10.3.1.4).
fn compare(op: Op, a: Value, b: Value, float_exec: bool) -> bool {
    if !float_exec {
        return ordered(op.cond, Some(int(a).cmp(&int(b))));
    }
    let (a, b) = (float(a), float(b));
    if op.opcode == Opcode::Cmpn && b.is_nan() {
        return op.cond != CondMod::Nz;
    }
    ordered(op.cond, a.partial_cmp(&b))
}

/// One element; `float_exec` when a source is a float (PRM 11.3.9), `word` when all are narrower
/// than a dword.
pub fn element_of(op: Op, src: [Value; 2], float_exec: bool, dwords: bool, acc: Value) -> Out {
    let [a, b] = src;
    if matches!(op.opcode, Opcode::Cmp | Opcode::Cmpn) {
        let set = compare(op, a, b, float_exec);
        let all = if set { -1 } else { 0 };
        return Out {
            dst: Some(Want::one(element(op.dst, all))),
            flag: Some(set),
            acc: None,
        };
    }
    if float_exec {
        let (x, y) = (float(a), float(b));
        let r = match op.opcode {
            Opcode::Mov => Real::exact(x),
            Opcode::Add => add(op, x, y),
            Opcode::Mul => {
                let round = op.round();
                let mut r = Real::new(op, x.mul_r(y, round), double(x).mul_r(double(y), round));
                // 48 bits fit.
                r.loose = false;
                r
            }
            Opcode::Mac => fma(op, x, y, float(acc)),
            Opcode::Rndd => Real::exact(x.round_to_integral(Round::TowardNegative).value),
            Opcode::Rndu => Real::exact(x.round_to_integral(Round::TowardPositive).value),
            Opcode::Frc => {
                let floor = x.round_to_integral(Round::TowardNegative).value;
                // A fraction is below one whatever its rounding.
                let mut r = add(
                    Op {
                        nearest: false,
                        ..op
                    },
                    x,
                    -floor,
                );
                let near = add(op, x, -floor);
                if op.nearest && near.value < single(0x3f80_0000) {
                    r = near;
                }
                r.loose = false;
                r
            }
            other => panic!("no float {other:?}"),
        };
        let mut out = finish_float(op, &r);
        if op.opcode == Opcode::Mov {
            out.acc = None;
        }
        return out;
    }
    let (x, y) = (int(a), int(b));
    let count = (y & 31) as u32;
    // The low word, but all of what a signed word holds.
    let (first, other) = if op.second_word { (y, x) } else { (x, y) };
    let signed = (-0x8000..0).contains(&first);
    let word = if signed { first } else { first & 0xffff };
    let product = if dwords { word * other } else { x * y };
    match op.opcode {
        Opcode::Mov => Out {
            acc: None,
            ..finish_int(op, x)
        },
        Opcode::Add => finish_int(op, x + y),
        Opcode::Mul => finish_int(op, product),
        Opcode::Mac => finish_int(op, int(acc) + product),
        Opcode::Avg => finish_int(op, (x + y + 1).div_euclid(2)),
        Opcode::Lzd => finish_int(op, i128::from((x as u32).leading_zeros())),
        Opcode::Shl => Out {
            acc: None,
            ..finish_int(op, x << count)
        },
        // Logical: the source is never negative here.
        Opcode::Shr => Out {
            acc: None,
            ..finish_int(op, x / (1 << count))
        },
        Opcode::Asr => Out {
            acc: None,
            ..finish_int(op, x.div_euclid(1 << count))
        },
        Opcode::And => finish_logic(op, x & y),
        Opcode::Or => finish_logic(op, x | y),
        Opcode::Xor => finish_logic(op, x ^ y),
        Opcode::Not => finish_logic(op, -1 - x),
        other => panic!("no integer {other:?}"),
    }
}

/// Moves that alter nothing (PRM 10.3.1.2).
pub fn raw(op: Op, value: u32) -> Out {
    Out {
        dst: Some(Want::one(element(op.dst, i128::from(value)))),
        flag: None,
        acc: None,
    }
}

/// A pair of sad2 or sada2: the result stands in its even channel.
pub fn pair(op: Op, a: [i128; 2], b: [i128; 2], acc: i128) -> Out {
    finish_int(op, acc + (a[0] - b[0]).abs() + (a[1] - b[1]).abs())
}

/// `a * b + c`, rounded once.
pub fn multiply_add(op: Op, a: Value, b: Value, c: Value) -> Out {
    finish_float(op, &fma(op, float(a), float(b), float(c)))
}

/// `p * v + q`: the product is not rounded.
pub fn line(op: Op, p: Value, v: Value, q: Value) -> Out {
    finish_float(op, &fma(op, float(p), float(v), float(q)))
}

/// To the nearest integer, or toward zero: what rnde and rndz give together with the addition that
/// their increment flag asks for. A zero has either sign.
pub fn rounded(v: Value, round: Round) -> Want {
    let r = float(v).round_to_integral(round).value;
    let mut bits = vec![bits(r)];
    if r.is_zero() {
        bits.push(bits[0] ^ 0x8000_0000);
    }
    Want {
        bits,
        nan: r.is_nan(),
    }
}

/// A sum of products, and the largest of them.
#[derive(Clone, Copy, Debug)]
pub struct Sum {
    pub exact: f64,
    pub largest: f64,
}

fn host(v: Quad) -> f64 {
    let d: StatusAnd<Double> = v.convert_r(Round::TowardZero, &mut false);
    f64::from_bits(d.value.to_bits() as u64)
}

/// A dot product in 113 bits.
pub fn dot(terms: &[(Value, Value)]) -> Sum {
    let mut sum = Quad::ZERO;
    let mut largest = 0.0f64;
    for (i, (a, b)) in terms.iter().enumerate() {
        let p = quad(float(*a))
            .mul_r(quad(float(*b)), Round::TowardZero)
            .value;
        sum = if i == 0 {
            p
        } else {
            sum.add_r(p, Round::TowardZero).value
        };
        largest = largest.max(host(p).abs());
    }
    Sum {
        exact: host(sum),
        largest,
    }
}

impl Sum {
    /// Whether a float is within one unit of single precision plus a rounding of the guard bits at
    /// the largest term; an infinity may stand for what left the range on the way (PRM 10.3.1.2).
    pub fn near(&self, got: u32) -> bool {
        let g = f64::from(f32::from_bits(got));
        let max = f64::from(f32::MAX);
        if g.is_nan() || self.exact.is_nan() {
            return g.is_nan() && self.exact.is_nan();
        }
        if self.exact.is_infinite() {
            return g == self.exact;
        }
        if g.is_infinite() {
            return self.largest * 4.0 > max;
        }
        if self.exact.abs() >= 2f64.powi(128) {
            return false;
        }
        let unit = (self.exact.abs() * 2f64.powi(-23)).max(f64::from(f32::MIN_POSITIVE));
        (g - self.exact).abs() <= unit + self.largest * 2f64.powi(-50)
    }
}

/// Whether a float is far from both ends of the range.
pub fn middling(v: Single) -> bool {
    let magnitude = f64::from(f32::from_bits(bits(v))).abs();
    (1e-6..1e6).contains(&magnitude)
}
