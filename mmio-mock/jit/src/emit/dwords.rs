//! Operations with dwords, eight channels at a time, and floats that become such.

use super::{Emitter, Half, ZERO, emit, x, y};
use crate::constants::{COUNT, LOW_WORD, NO_DWORD, NO_UNSIGNED, SCALE_64, SIGN, all};
use crate::held::Value;
use eu::stretch::{Condition, Operation, Step};
use iced_x86::code_asm::{xmm0, xmm1, xmm3, ymm0, ymm1, ymm2, ymm3, ymm4, ymmword_ptr};

/// Comparisons of `vcmpps`: no NaN, and less or equal.
const ORDERED: u32 = 0x07;
const LESS_OR_EQUAL: u32 = 0x12;
/// The even words of `vpblendw`.
const LOW_WORDS: u32 = 0x55;

impl Emitter {
    pub(super) fn of_dwords(&mut self, half: Half<'_>) -> u8 {
        let a = self.dwords(half, 0);
        let one = matches!(
            half.step.operation,
            Operation::Copy | Operation::Not | Operation::Magnitude
        );
        let b = if one { ZERO } else { self.dwords(half, 1) };
        let r = self.held.take(Value::Scratch);
        match half.step.operation {
            Operation::Copy => emit!(self, vmovaps(y(r), y(a))),
            Operation::Select => {
                if let Some(predicate) = half.step.predicate {
                    let chosen = self.predicate(predicate, half.first() & 15);
                    emit!(self, vblendvps(y(r), y(b), y(a), y(chosen)));
                }
            }
            Operation::Not => {
                emit!(self, vpcmpeqd(ymm0, ymm0, ymm0), vpxor(y(r), y(a), ymm0));
            }
            Operation::And => emit!(self, vpand(y(r), y(a), y(b))),
            Operation::Or => emit!(self, vpor(y(r), y(a), y(b))),
            Operation::Xor => emit!(self, vpxor(y(r), y(a), y(b))),
            Operation::AddDwords => {
                self.add_dwords(half.step, (a, b), r);
                self.keep_sums(half, (a, b));
            }
            Operation::MultiplyDwords => {
                emit!(self, vpmulld(y(r), y(a), y(b)));
                self.keep_products(half, (a, b));
            }
            Operation::Magnitude => emit!(self, vpabsd(y(r), y(a))),
            Operation::AddPart { high } => self.add_part(half, (a, b), r, high),
            Operation::SelectDwords { condition, signed } => {
                self.compare_dwords((condition, signed), (a, b), r);
                emit!(self, vblendvps(y(r), y(b), y(a), y(r)));
            }
            Operation::CompareDwords { condition, signed } => {
                self.compare_dwords((condition, signed), (a, b), r);
            }
            _ => self.shift(half.step, (a, b), r),
        }
        r
    }

    pub(super) fn add_dwords(&mut self, step: &Step, (a, b): (u8, u8), r: u8) {
        match (step.sources[0].negate, step.sources[1].negate) {
            (false, false) => emit!(self, vpaddd(y(r), y(a), y(b))),
            (false, true) => emit!(self, vpsubd(y(r), y(a), y(b))),
            (true, false) => emit!(self, vpsubd(y(r), y(b), y(a))),
            (true, true) => emit!(self, vpaddd(y(r), y(a), y(b)), vpsubd(y(r), y(ZERO), y(r))),
        }
    }

    /// A word of each dword is replaced by the low word of a sum.
    fn add_part(&mut self, half: Half<'_>, (a, b): (u8, u8), r: u8, high: bool) {
        self.add_dwords(half.step, (a, b), r);
        self.held.keep(r);
        self.keep_words(half.step, [(half.number, r)]);
        let old = self.dwords(half, 2);
        if high {
            emit!(
                self,
                vpslld(y(r), y(r), 16),
                vpblendw(y(r), y(r), y(old), LOW_WORDS)
            );
        } else {
            emit!(self, vpblendw(y(r), y(old), y(r), LOW_WORDS));
        }
    }

    fn shift(&mut self, step: &Step, (a, b): (u8, u8), r: u8) {
        let count = self.constant(COUNT);
        emit!(self, vpand(ymm0, y(b), ymmword_ptr(count)));
        match step.operation {
            Operation::ShiftLeft => emit!(self, vpsllvd(y(r), y(a), ymm0)),
            Operation::ShiftSigned => emit!(self, vpsravd(y(r), y(a), ymm0)),
            _ => emit!(self, vpsrlvd(y(r), y(a), ymm0)),
        }
    }

    fn compare_dwords(&mut self, (condition, signed): (Condition, bool), (a, b): (u8, u8), r: u8) {
        let (mut a, mut b) = (a, b);
        let order = !matches!(condition, Condition::Equal | Condition::NotEqual);
        if order && !signed {
            let sign = self.constant(SIGN);
            emit!(
                self,
                vpxor(ymm2, y(a), ymmword_ptr(sign)),
                vpxor(ymm3, y(b), ymmword_ptr(sign))
            );
            (a, b) = (2, 3);
        }
        let inverted = match condition {
            Condition::Equal | Condition::NotEqual => {
                emit!(self, vpcmpeqd(y(r), y(a), y(b)));
                condition == Condition::NotEqual
            }
            Condition::Greater | Condition::LessOrEqual => {
                emit!(self, vpcmpgtd(y(r), y(a), y(b)));
                condition == Condition::LessOrEqual
            }
            Condition::Less | Condition::GreaterOrEqual => {
                emit!(self, vpcmpgtd(y(r), y(b), y(a)));
                condition == Condition::GreaterOrEqual
            }
            Condition::Unordered => {
                emit!(self, vpxor(y(r), y(r), y(r)));
                false
            }
        };
        if inverted {
            emit!(self, vpcmpeqd(ymm0, ymm0, ymm0), vpxor(y(r), y(r), ymm0));
        }
    }

    /// The host gives 8000_0000h for what is no signed dword.
    pub(super) fn floats_to_dwords(&mut self, half: Half<'_>) -> u8 {
        let a = self.floats(half, 0);
        let r = self.held.take(Value::Scratch);
        let above = self.constant(NO_DWORD);
        emit!(
            self,
            vcvttps2dq(y(r), y(a)),
            vmovups(ymm0, ymmword_ptr(above)),
            vcmpps(ymm0, ymm0, y(a), LESS_OR_EQUAL),
            vpxor(y(r), y(r), ymm0),
            vcmpps(ymm0, y(a), y(a), ORDERED),
            vpand(y(r), y(r), ymm0)
        );
        r
    }

    /// The same of unsigned ones: from 2^31 on with the highest bit apart.
    pub(super) fn floats_to_unsigned(&mut self, half: Half<'_>) -> u8 {
        let a = self.floats(half, 0);
        let r = self.held.take(Value::Scratch);
        let [limit, beyond, sign] = [NO_DWORD, NO_UNSIGNED, SIGN].map(|c| self.constant(c));
        emit!(
            self,
            // Of a NaN and a number the second source is the maximum.
            vmaxps(ymm0, y(a), y(ZERO)),
            vmovups(ymm1, ymmword_ptr(limit)),
            vcmpps(ymm2, ymm1, ymm0, LESS_OR_EQUAL),
            vandps(ymm1, ymm1, ymm2),
            vsubps(ymm1, ymm0, ymm1),
            vcvttps2dq(y(r), ymm1),
            vandps(ymm2, ymm2, ymmword_ptr(sign)),
            vpxor(y(r), y(r), ymm2),
            vmovups(ymm1, ymmword_ptr(beyond)),
            vcmpps(ymm1, ymm1, ymm0, LESS_OR_EQUAL),
            vpor(y(r), y(r), ymm1)
        );
        r
    }

    pub(super) fn dwords_to_floats(&mut self, half: Half<'_>) -> u8 {
        let a = self.dwords(half, 0);
        let r = self.held.take(Value::Scratch);
        if half.step.operation == (Operation::ToFloat { signed: false }) {
            self.unsigned_to_floats(half.step, a, r);
        } else if half.step.truncate {
            emit!(
                self,
                vcvtdq2pd(ymm2, x(a)),
                vextracti128(xmm3, y(a), 1),
                vcvtdq2pd(ymm3, xmm3)
            );
            self.join_truncated(r);
        } else {
            emit!(self, vcvtdq2ps(y(r), y(a)));
        }
        if half.step.sources[0].negate {
            // Nothing has no sign.
            emit!(self, vsubps(y(r), y(ZERO), y(r)));
        }
        r
    }

    /// Unsigned dwords: by their words, whose sum is rounded once, or as doubles.
    fn unsigned_to_floats(&mut self, step: &Step, a: u8, r: u8) {
        let word = self.constant(LOW_WORD);
        emit!(
            self,
            vpand(ymm0, y(a), ymmword_ptr(word)),
            vpsrld(ymm1, y(a), 16)
        );
        if step.truncate {
            let scale = self.constant(SCALE_64);
            for (low, high, to) in [(ymm0, ymm1, ymm2), (ymm0, ymm1, ymm3)] {
                if to == ymm3 {
                    emit!(
                        self,
                        vextracti128(xmm0, low, 1),
                        vextracti128(xmm1, high, 1)
                    );
                }
                emit!(
                    self,
                    vcvtdq2pd(to, xmm1),
                    vmulpd(to, to, ymmword_ptr(scale)),
                    vcvtdq2pd(ymm4, xmm0),
                    vaddpd(to, to, ymm4)
                );
            }
            self.join_truncated(r);
        } else {
            let scale = self.constant(all(65_536f32.to_bits()));
            emit!(
                self,
                vcvtdq2ps(ymm0, ymm0),
                vcvtdq2ps(ymm1, ymm1),
                vmulps(ymm1, ymm1, ymmword_ptr(scale)),
                vaddps(y(r), ymm1, ymm0)
            );
        }
    }
}
