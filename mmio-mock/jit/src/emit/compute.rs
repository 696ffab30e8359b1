//! What each operation computes, eight channels at a time.

use super::{Emitter, Half, ZERO, emit, x, y};
use crate::constants::{
    BELOW_ONE, EXPONENT, MAGNITUDE_64, NAN, NORMAL_64, ONE, ONE_64, SINGLE_64, all,
};
use crate::held::Value;
use eu::stretch::{Condition, Operation, Step};
use iced_x86::code_asm::{xmm0, xmm1, xmm2, xmm3, ymm0, ymm1, ymm2, ymm3, ymm4, ymmword_ptr};

/// Comparisons of `vcmpps`: NaN is unequal and nothing else.
fn comparison(condition: Condition) -> u32 {
    match condition {
        Condition::Equal => 0x00,
        Condition::NotEqual => 0x04,
        Condition::Greater => 0x1e,
        Condition::GreaterOrEqual => 0x1d,
        Condition::Less => 0x11,
        Condition::LessOrEqual => 0x12,
        Condition::Unordered => UNORDERED,
    }
}

const UNORDERED: u32 = 0x03;
const EQUAL: u32 = 0x00;
const NOT_EQUAL: u32 = 0x04;
/// Comparison of doubles: less, NaN is not.
const LESS: u32 = 0x11;
/// Modes of `vroundps`, without the exception of inexact results.
const TO_NEAREST: u32 = 0x08;
const DOWN: u32 = 0x09;
const TO_ZERO: u32 = 0x0b;

impl Emitter {
    /// The result in a register that no value is held in, and whether it has no denormals.
    pub(super) fn compute(&mut self, half: Half<'_>) -> (u8, bool) {
        let step = half.step;
        let clean = !step.operation.gives_bits() || self.held.clean.moved(step, half.number);
        let result = match step.operation {
            Operation::CompareFloats(condition) => {
                let (a, b) = (self.floats(half, 0), self.floats(half, 1));
                let result = self.held.take(Value::Scratch);
                let how = comparison(condition);
                emit!(self, vcmpps(y(result), y(a), y(b), how));
                result
            }
            Operation::CompareFloatsOrNan(condition) => self.compare_or_nan(half, condition),
            Operation::AccumulateProduct { signed } => self.accumulate_product(half, signed),
            Operation::MultiplyHigh { lane, signed } => self.multiply_high(half, lane, signed),
            Operation::Divide { remainder, signed } => self.divide(half, remainder, signed),
            Operation::Bits(of) => self.of_bits(half, of),
            Operation::ToDword { signed: true } => self.floats_to_dwords(half),
            Operation::ToDword { signed: false } => self.floats_to_unsigned(half),
            operation if operation.gives_bits() => self.of_dwords(half),
            Operation::ToFloat { .. } => self.dwords_to_floats(half),
            Operation::Line
            | Operation::Accumulate(_)
            | Operation::Interpolate
            | Operation::Dot(_) => self.of_doubles(half),
            // The accumulator keeps the double, and the float is made of the exact sum.
            Operation::Add if step.accumulator.is_some() && step.truncate => {
                self.keep_double_sums(half);
                self.of_floats(half)
            }
            Operation::Add | Operation::Multiply if step.accumulator.is_some() => {
                self.of_doubles(half)
            }
            Operation::Extended(function) => self.extended(half, function),
            Operation::FloorAndRest { even } => self.floor_and_rest(half, even),
            Operation::SelectFloats => self.select_floats(half),
            _ => self.of_floats(half),
        };
        (result, clean)
    }

    /// With NaN as the second source a comparison holds, but for that of inequality.
    fn compare_or_nan(&mut self, half: Half<'_>, condition: Condition) -> u8 {
        let (a, b) = (self.floats(half, 0), self.floats(half, 1));
        let r = self.held.take(Value::Scratch);
        emit!(
            self,
            vcmpps(y(r), y(a), y(b), comparison(condition)),
            vcmpps(ymm0, y(b), y(b), UNORDERED)
        );
        if condition == Condition::NotEqual {
            emit!(self, vandnps(y(r), ymm0, y(r)));
        } else {
            emit!(self, vorps(y(r), y(r), ymm0));
        }
        r
    }

    /// The predicate chooses between floats.
    fn select_floats(&mut self, half: Half<'_>) -> u8 {
        let (a, b) = (self.floats(half, 0), self.floats(half, 1));
        self.held.keep(a);
        self.held.keep(b);
        let r = self.held.take(Value::Scratch);
        if let Some(predicate) = half.step.predicate {
            self.held.keep(r);
            let chosen = self.predicate(predicate, half.first() & 15);
            emit!(self, vblendvps(y(r), y(b), y(a), y(chosen)));
        }
        self.finish_float(half.step, r, true);
        r
    }

    /// Floors; the bits of channels where another rounding is one more are taken.
    fn floor_and_rest(&mut self, half: Half<'_>, even: bool) -> u8 {
        let a = self.floats(half, 0);
        let r = self.held.take(Value::Scratch);
        emit!(self, vroundps(y(r), y(a), DOWN));
        if even {
            let limit = self.constant(all(0.5f32.to_bits()));
            emit!(
                self,
                vmovups(ymm1, ymmword_ptr(limit)),
                // An odd floor has a half behind the point of its half.
                vmulps(ymm0, y(r), ymm1),
                vroundps(ymm4, ymm0, DOWN),
                vcmpps(ymm4, ymm4, ymm0, NOT_EQUAL),
                vsubps(ymm0, y(a), y(r)),
                vcmpps(ymm3, ymm0, ymm1, EQUAL),
                vandps(ymm4, ymm4, ymm3),
                vcmpps(ymm0, ymm1, ymm0, LESS),
                vorps(ymm0, ymm0, ymm4)
            );
        } else {
            emit!(
                self,
                vcmpps(ymm0, y(a), y(ZERO), LESS),
                vcmpps(ymm1, y(a), y(r), NOT_EQUAL),
                vandps(ymm0, ymm0, ymm1)
            );
        }
        self.take_bits(half, 0, true);
        self.finish_float(half.step, r, true);
        r
    }

    fn of_floats(&mut self, half: Half<'_>) -> u8 {
        let step = half.step;
        let a = self.floats(half, 0);
        let two = matches!(
            step.operation,
            Operation::SelectFloat(_)
                | Operation::Add
                | Operation::Multiply
                | Operation::MultiplyAdd
        );
        let b = if two { self.floats(half, 1) } else { ZERO };
        let c = if step.operation == Operation::MultiplyAdd {
            self.floats(half, 2)
        } else {
            ZERO
        };
        let r = self.held.take(Value::Scratch);
        let adds = step.operation == Operation::Add;
        match step.operation {
            Operation::Add | Operation::Multiply if step.truncate => {
                self.truncated(adds, (a, b), r);
                if step.saturate {
                    self.finish_float(step, r, true);
                }
                return r;
            }
            Operation::Add => emit!(self, vaddps(y(r), y(a), y(b))),
            Operation::Multiply => emit!(self, vmulps(y(r), y(a), y(b))),
            Operation::MultiplyAdd => {
                emit!(self, vmovaps(y(r), y(a)), vfmadd231ps(y(r), y(b), y(c)));
            }
            Operation::SelectFloat(condition) => self.select_float(condition, (a, b), r),
            Operation::Floor => emit!(self, vroundps(y(r), y(a), DOWN)),
            Operation::NearestWhole => {
                emit!(self, vroundps(y(r), y(a), TO_NEAREST));
            }
            Operation::Truncate => emit!(self, vroundps(y(r), y(a), TO_ZERO)),
            Operation::Inverse => {
                let one = self.constant(ONE);
                emit!(
                    self,
                    vmovups(ymm0, ymmword_ptr(one)),
                    vdivps(y(r), ymm0, y(a))
                );
            }
            Operation::SquareRoot => emit!(self, vsqrtps(y(r), y(a))),
            Operation::InverseRoot => self.inverse_root(a, r),
            Operation::Fraction => {
                let below = self.constant(BELOW_ONE);
                emit!(
                    self,
                    vroundps(y(r), y(a), DOWN),
                    vsubps(y(r), y(a), y(r)),
                    vmovups(ymm0, ymmword_ptr(below)),
                    // Of a NaN and a number the second source is the minimum.
                    vminps(y(r), ymm0, y(r))
                );
            }
            _ => emit!(self, vmovaps(y(r), y(a))),
        }
        // A NaN that is moved keeps its bits.
        if step.operation == Operation::Move && !step.saturate {
            return r;
        }
        let exact = matches!(
            step.operation,
            Operation::SelectFloat(_)
                | Operation::Move
                | Operation::Floor
                | Operation::NearestWhole
                | Operation::Truncate
        );
        self.finish_float(step, r, exact || step.truncate);
        r
    }

    /// What a float result still needs: the one NaN, no denormals unless it has none, the range from 0 to 1.
    pub(super) fn finish_float(&mut self, step: &Step, r: u8, flushed: bool) {
        if step.saturate {
            // Of a NaN and a number the second source is the maximum, of two zeros, too.
            let one = self.constant(ONE);
            emit!(
                self,
                vmaxps(y(r), y(r), y(ZERO)),
                vminps(y(r), y(r), ymmword_ptr(one))
            );
        } else if flushed {
            let nan = self.constant(NAN);
            emit!(
                self,
                vcmpps(ymm0, y(r), y(r), UNORDERED),
                vblendvps(y(r), y(r), ymmword_ptr(nan), ymm0)
            );
        } else {
            // Bits to clear are found for both at once: all of a NaN, and all but the sign of what has no exponent.
            let [nan, exponent] = [NAN, EXPONENT].map(|c| self.constant(c));
            emit!(
                self,
                vandps(ymm1, y(r), ymmword_ptr(exponent)),
                vcmpps(ymm0, y(r), y(r), UNORDERED),
                vpcmpeqd(ymm1, ymm1, y(ZERO)),
                vpsrld(ymm1, ymm1, 1),
                vorps(ymm1, ymm1, ymm0),
                vandps(ymm0, ymm0, ymmword_ptr(nan)),
                vandnps(y(r), ymm1, y(r)),
                vorps(y(r), y(r), ymm0)
            );
            return;
        }
        if !flushed {
            self.flush(r, 0);
        }
    }

    /// Root and quotient in double precision.
    fn inverse_root(&mut self, a: u8, r: u8) {
        let one = self.constant(ONE_64);
        emit!(
            self,
            vextractf128(xmm3, y(a), 1),
            vcvtps2pd(ymm2, x(a)),
            vcvtps2pd(ymm3, xmm3),
            vsqrtpd(ymm2, ymm2),
            vsqrtpd(ymm3, ymm3),
            vmovupd(ymm0, ymmword_ptr(one)),
            vdivpd(ymm2, ymm0, ymm2),
            vdivpd(ymm3, ymm0, ymm3),
            vcvtpd2ps(xmm2, ymm2),
            vcvtpd2ps(xmm3, ymm3),
            vinsertf128(y(r), ymm2, xmm3, 1)
        );
    }

    /// As `cmpn` compares: with NaN the first source is taken, the second being NaN.
    fn select_float(&mut self, condition: Condition, (a, b): (u8, u8), r: u8) {
        let how = comparison(condition);
        emit!(
            self,
            vcmpps(ymm0, y(a), y(b), how),
            vcmpps(ymm1, y(b), y(b), UNORDERED)
        );
        if condition == Condition::NotEqual {
            emit!(self, vandnps(ymm0, ymm1, ymm0));
        } else {
            emit!(self, vorps(ymm0, ymm0, ymm1));
        }
        emit!(self, vblendvps(y(r), y(b), y(a), ymm0));
    }

    /// Two sources as doubles: the upper four in `ymm0` and `ymm1`, the lower four in `ymm2` and `ymm4`.
    pub(super) fn as_doubles(&mut self, (a, b): (u8, u8)) {
        // The upper four first: `a` and `b` may be the registers that the lower four come to.
        emit!(
            self,
            vextractf128(xmm0, y(a), 1),
            vcvtps2pd(ymm0, xmm0),
            vextractf128(xmm1, y(b), 1),
            vcvtps2pd(ymm1, xmm1),
            vcvtps2pd(ymm2, x(a)),
            vcvtps2pd(ymm4, x(b))
        );
    }

    /// The doubles in `ymm2` and `ymm3` as single floats, truncated: below the smallest normal one they are zeros.
    pub(super) fn join_truncated(&mut self, r: u8) {
        let [magnitude, normal, single] =
            [MAGNITUDE_64, NORMAL_64, SINGLE_64].map(|c| self.constant(c));
        for part in [2, 3] {
            emit!(
                self,
                vandpd(ymm0, y(part), ymmword_ptr(magnitude)),
                vcmppd(ymm0, ymm0, ymmword_ptr(normal), LESS),
                vpsrlq(ymm0, ymm0, 1),
                vandnpd(y(part), ymm0, y(part)),
                vandpd(y(part), y(part), ymmword_ptr(single)),
                vcvtpd2ps(x(part), y(part))
            );
        }
        emit!(self, vinsertf128(y(r), ymm2, xmm3, 1));
    }
}
