//! What is computed in double precision, and the accumulator.

use super::{Emitter, Half, ZERO, emit, x, y};
use crate::constants::{NAN_64, ONE_64};
use crate::held::Value;
use eu::stretch::{Channels, Dot, Operation, Place, Step};
use iced_x86::code_asm::{
    byte_ptr, dword_ptr, qword_ptr, r9, rdi, rsi, xmm0, xmm1, xmm2, xmm3, ymm0, ymm1, ymm2, ymm3,
    ymm4, ymmword_ptr,
};
use std::mem::offset_of;

/// Comparison of doubles: one is NaN.
const UNORDERED: u32 = 0x03;
/// The first byte behind the accumulator's lanes: whether eights of them are floats.
pub(super) const KINDS: i32 = 256;
/// Where the place of the accumulators is in the channels.
pub(super) const ACCUMULATOR: i32 = offset_of!(Channels<'_>, accumulator) as i32;

impl Emitter {
    /// Source `n` as doubles: those of four channels in each of two registers.
    fn pair(&mut self, half: Half<'_>, n: usize) -> [u8; 2] {
        let from = self.floats(half, n);
        let low = self.held.take(Value::Scratch);
        let high = self.held.take(Value::Scratch);
        emit!(
            self,
            vcvtps2pd(y(low), x(from)),
            vextractf128(xmm0, y(from), 1),
            vcvtps2pd(y(high), xmm0)
        );
        [low, high]
    }

    /// The sources as doubles.
    fn pairs<const N: usize>(&mut self, half: Half<'_>) -> [[u8; 2]; N] {
        let mut pairs = [[ZERO; 2]; N];
        for n in 0..N {
            for register in pairs.iter().take(n).flatten() {
                self.held.keep(*register);
            }
            pairs[n] = self.pair(half, n);
        }
        pairs
    }

    /// Dwords from a scalar on as doubles of all channels.
    fn terms<const N: usize>(&mut self, step: &Step, dwords: [u16; N]) -> [u8; N] {
        let Place::Scalar(first) = step.sources[0].place else {
            self.spoilt = true;
            return [ZERO; N];
        };
        dwords.map(|n| {
            let term = self.held.take(Value::Scratch);
            let at = 4 * (i32::from(first) + i32::from(n));
            emit!(self, vbroadcastss(y(term), dword_ptr(rdi + at)));
            self.flush(term, 0);
            let modified = self.modified(term, step.sources[0], 2);
            emit!(self, vcvtps2pd(y(term), x(modified)));
            term
        })
    }

    /// Sums in `ymm2` and `ymm3`.
    fn double_sums(&mut self, half: Half<'_>) {
        let [a, b] = self.pairs(half);
        emit!(
            self,
            vaddpd(ymm2, y(a[0]), y(b[0])),
            vaddpd(ymm3, y(a[1]), y(b[1]))
        );
    }

    /// Puts sums into the accumulator.
    pub(super) fn keep_double_sums(&mut self, half: Half<'_>) {
        self.double_sums(half);
        self.keep_doubles(half);
    }

    pub(super) fn of_doubles(&mut self, half: Half<'_>) -> u8 {
        match half.step.operation {
            Operation::Add => self.double_sums(half),
            Operation::Multiply => {
                let [a, b] = self.pairs(half);
                for part in [0, 1] {
                    emit!(
                        self,
                        vmulpd(
                            y(2 + part),
                            y(a[usize::from(part)]),
                            y(b[usize::from(part)])
                        )
                    );
                }
            }
            Operation::Accumulate(lane) => {
                let [a, b] = self.pairs(half);
                let at = 8 * (i32::from(lane) + 8 * i32::from(half.number));
                emit!(
                    self,
                    mov(r9, qword_ptr(rsi + ACCUMULATOR)),
                    vmulpd(ymm2, y(a[0]), y(b[0])),
                    vmulpd(ymm3, y(a[1]), y(b[1])),
                    vaddpd(ymm2, ymm2, ymmword_ptr(r9 + at)),
                    vaddpd(ymm3, ymm3, ymmword_ptr(r9 + at + 32))
                );
            }
            Operation::Line => {
                let [p, q] = self.terms(half.step, [0, 3]);
                let from = self.floats(half, 1);
                emit!(
                    self,
                    vextractf128(xmm0, y(from), 1),
                    vcvtps2pd(ymm2, x(from)),
                    vcvtps2pd(ymm3, xmm0),
                    vmulpd(ymm2, ymm2, y(p)),
                    vmulpd(ymm3, ymm3, y(p)),
                    vaddpd(ymm2, ymm2, y(q)),
                    vaddpd(ymm3, ymm3, y(q))
                );
            }
            Operation::Interpolate => {
                let [a, b, c] = self.pairs(half);
                let one = self.constant(ONE_64);
                emit!(self, vmovupd(ymm0, ymmword_ptr(one)));
                for part in [0, 1] {
                    let n = usize::from(part);
                    emit!(
                        self,
                        vsubpd(y(2 + part), ymm0, y(a[n])),
                        vmulpd(y(2 + part), y(2 + part), y(c[n])),
                        vmulpd(ymm1, y(a[n]), y(b[n])),
                        vaddpd(y(2 + part), ymm1, y(2 + part))
                    );
                }
            }
            Operation::Dot(dot) => {
                let [a, b] = self.pairs(half);
                self.dot(dot, a, b);
            }
            _ => self.spoilt = true,
        }
        self.finish_doubles(half)
    }

    fn dot(&mut self, dot: Dot, a: [u8; 2], b: [u8; 2]) {
        for part in [0, 1] {
            let n = usize::from(part);
            emit!(
                self,
                vmulpd(y(2 + part), y(a[n]), y(b[n])),
                vpermpd(ymm0, y(2 + part), 0x00),
                vpermpd(ymm1, y(2 + part), 0x55),
                vaddpd(ymm0, ymm0, ymm1)
            );
            if dot != Dot::Two {
                emit!(
                    self,
                    vpermpd(ymm1, y(2 + part), 0xaa),
                    vaddpd(ymm0, ymm0, ymm1)
                );
            }
            match dot {
                Dot::Four => emit!(self, vpermpd(ymm1, y(2 + part), 0xff)),
                Dot::Homogeneous => emit!(self, vpermpd(ymm1, y(b[n]), 0xff)),
                Dot::Three | Dot::Two => {}
            }
            if matches!(dot, Dot::Four | Dot::Homogeneous) {
                emit!(self, vaddpd(ymm0, ymm0, ymm1));
            }
            emit!(self, vmovapd(y(2 + part), ymm0));
        }
    }

    /// What the doubles in `ymm2` and `ymm3` leave in the accumulator.
    fn keep_doubles(&mut self, half: Half<'_>) {
        if let Some(lane) = half.step.accumulator {
            let nan = self.constant(NAN_64);
            let lane = i32::from(lane) + 8 * i32::from(half.number);
            emit!(self, mov(r9, qword_ptr(rsi + ACCUMULATOR)));
            for part in [2, 3] {
                let at = 8 * lane + 32 * (i32::from(part) - 2);
                emit!(
                    self,
                    vcmppd(ymm0, y(part), y(part), UNORDERED),
                    vblendvpd(y(part), y(part), ymmword_ptr(nan), ymm0),
                    vmovupd(ymmword_ptr(r9 + at), y(part))
                );
            }
            emit!(self, mov(byte_ptr(r9 + KINDS + lane / 8), 1));
        }
    }

    /// The same, and their single floats.
    fn finish_doubles(&mut self, half: Half<'_>) -> u8 {
        let step = half.step;
        self.keep_doubles(half);
        let r = self.held.take(Value::Scratch);
        if step.destination.is_none() {
            return r;
        }
        if step.truncate {
            self.join_truncated(r);
        } else {
            emit!(
                self,
                vcvtpd2ps(xmm2, ymm2),
                vcvtpd2ps(xmm3, ymm3),
                vinsertf128(y(r), ymm2, xmm3, 1)
            );
        }
        self.finish_float(step, r, step.truncate);
        r
    }

    /// The whole sums of dwords, where they go into the accumulator.
    pub(super) fn keep_sums(&mut self, half: Half<'_>, (a, b): (u8, u8)) {
        let step = half.step;
        let Some(lane) = step.accumulator else {
            return;
        };
        let lane = i32::from(lane) + 8 * i32::from(half.number);
        emit!(self, mov(r9, qword_ptr(rsi + ACCUMULATOR)));
        for part in [0, 1] {
            for (source, (from, into)) in [(a, 0), (b, 1)].into_iter().enumerate() {
                let mut low = x(from);
                if part == 1 {
                    emit!(self, vextracti128(x(into), y(from), 1));
                    low = x(into);
                }
                if step.signed[source] {
                    emit!(self, vpmovsxdq(y(into), low));
                } else {
                    emit!(self, vpmovzxdq(y(into), low));
                }
            }
            if step.sources[0].negate {
                emit!(self, vpsubq(ymm0, y(ZERO), ymm0));
            }
            if step.sources[1].negate {
                emit!(self, vpsubq(ymm0, ymm0, ymm1));
            } else {
                emit!(self, vpaddq(ymm0, ymm0, ymm1));
            }
            emit!(self, vmovdqu(ymmword_ptr(r9 + 8 * lane + 32 * part), ymm0));
        }
        emit!(self, mov(byte_ptr(r9 + KINDS + lane / 8), 0));
    }

    /// The same of words, whose halves by their numbers are sixteen lanes behind one another.
    pub(super) fn keep_words<const N: usize>(&mut self, step: &Step, sums: [(u16, u8); N]) {
        let Some(lane) = step.accumulator.map(i32::from) else {
            return;
        };
        emit!(self, mov(r9, qword_ptr(rsi + ACCUMULATOR)));
        for (number, sum) in sums {
            let number = i32::from(number);
            let at = 8 * (lane + 16 * number);
            emit!(
                self,
                vpmovsxdq(ymm0, x(sum)),
                vextracti128(xmm1, y(sum), 1),
                vpmovsxdq(ymm1, xmm1),
                vmovdqu(ymmword_ptr(r9 + at), ymm0),
                vmovdqu(ymmword_ptr(r9 + at + 32), ymm1),
                mov(byte_ptr(r9 + KINDS + (lane / 8 + 2 * number) % 4), 0)
            );
        }
    }

    /// Both halves of a plane equation.
    pub(super) fn plane(&mut self, step: &Step) {
        let Place::Vector(point) = step.sources[1].place else {
            self.spoilt = true;
            return;
        };
        let terms = self.terms(step, [0, 1, 3]);
        for number in 0..if step.wide { 2 } else { 1 } {
            let half = Half { step, number };
            for term in terms {
                self.held.keep(term);
            }
            let first = point + 16 * number;
            let [u, v] = [first, first + 8].map(|at| self.floats_at(at));
            let u = self.modified(u, step.sources[1], 2);
            let v = self.modified(v, step.sources[1], 3);
            let [p, q, s] = terms;
            emit!(
                self,
                vextractf128(xmm0, y(u), 1),
                vextractf128(xmm1, y(v), 1),
                vcvtps2pd(ymm2, x(u)),
                vcvtps2pd(ymm4, x(v)),
                vcvtps2pd(ymm0, xmm0),
                vcvtps2pd(ymm1, xmm1),
                vmulpd(ymm2, ymm2, y(p)),
                vmulpd(ymm4, ymm4, y(q)),
                vmulpd(ymm0, ymm0, y(p)),
                vmulpd(ymm1, ymm1, y(q)),
                vaddpd(ymm2, ymm2, ymm4),
                vaddpd(ymm0, ymm0, ymm1),
                vaddpd(ymm2, ymm2, y(s)),
                vaddpd(ymm3, ymm0, y(s))
            );
            for term in terms {
                self.held.keep(term);
            }
            let r = self.finish_doubles(half);
            self.store(half, r, true);
        }
    }
}
