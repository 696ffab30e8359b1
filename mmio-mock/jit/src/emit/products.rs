//! Whole products of integers, by way of the accumulator.

use super::doubles::{ACCUMULATOR, KINDS};
use super::{Emitter, Half, emit, x, y};
use crate::constants::{LOW_WORD, all};
use crate::held::Value;
use iced_x86::code_asm::{
    byte_ptr, qword_ptr, r9, rsi, xmm0, xmm1, xmm2, ymm0, ymm1, ymm2, ymm3, ymm4, ymmword_ptr,
};

/// The odd dwords of both sources of `vshufps`.
const UPPER: u32 = 0xdd;
/// The fours of two registers that were shuffled, in their order.
const IN_ORDER: u32 = 0xd8;

impl Emitter {
    /// What `mul` takes of dwords, in `ymm2`: the low word, or the whole of a negative number that a signed word holds.
    fn low_words(&mut self, a: u8, signed: bool) {
        let word = self.constant(LOW_WORD);
        emit!(self, vpand(ymm2, y(a), ymmword_ptr(word)));
        if signed {
            let ones = self.constant(all(u32::MAX));
            emit!(
                self,
                vpsrad(ymm0, y(a), 15),
                vpcmpeqd(ymm0, ymm0, ymmword_ptr(ones)),
                vblendvps(ymm2, ymm2, y(a), ymm0)
            );
        }
    }

    /// The products of four channels of `ymm2` and another register, in `ymm0`.
    fn four_products(&mut self, b: u8, part: i32, signed: bool) {
        if part == 0 {
            emit!(self, vmovaps(xmm0, xmm2), vmovaps(xmm1, x(b)));
        } else {
            emit!(
                self,
                vextracti128(xmm0, ymm2, 1),
                vextracti128(xmm1, y(b), 1)
            );
        }
        if signed {
            emit!(
                self,
                vpmovsxdq(ymm0, xmm0),
                vpmovsxdq(ymm1, xmm1),
                vpmuldq(ymm0, ymm0, ymm1)
            );
        } else {
            emit!(
                self,
                vpmovzxdq(ymm0, xmm0),
                vpmovzxdq(ymm1, xmm1),
                vpmuludq(ymm0, ymm0, ymm1)
            );
        }
    }

    /// The whole products of dwords, where they go into the accumulator.
    pub(super) fn keep_products(&mut self, half: Half<'_>, (a, b): (u8, u8)) {
        let Some(lane) = half.step.accumulator else {
            return;
        };
        emit!(self, vmovaps(ymm2, y(a)));
        self.store_products(half, lane, b, half.step.signed[0]);
    }

    /// The products of `ymm2` and another register, in the accumulator.
    fn store_products(&mut self, half: Half<'_>, lane: u8, b: u8, signed: bool) {
        let lane = i32::from(lane & 8) + 8 * i32::from(half.number);
        emit!(self, mov(r9, qword_ptr(rsi + ACCUMULATOR)));
        for part in [0, 1] {
            self.four_products(b, part, signed);
            emit!(self, vmovdqu(ymmword_ptr(r9 + 8 * lane + 32 * part), ymm0));
        }
        emit!(self, mov(byte_ptr(r9 + KINDS + lane / 8), 0));
    }

    /// Products of low words and dwords, in the accumulator; the register that comes back holds nothing.
    pub(super) fn accumulate_product(&mut self, half: Half<'_>, signed: bool) -> u8 {
        let (a, b) = (self.dwords(half, 0), self.dwords(half, 1));
        let r = self.held.take(Value::Scratch);
        self.low_words(a, signed);
        self.store_products(half, half.step.accumulator.unwrap_or(0), b, signed);
        r
    }

    /// The upper halves of what is left of products and what the accumulator holds of them.
    pub(super) fn multiply_high(&mut self, half: Half<'_>, lane: u8, signed: bool) -> u8 {
        let (a, b) = (self.dwords(half, 0), self.dwords(half, 1));
        let r = self.held.take(Value::Scratch);
        let lane = i32::from(lane & 8) + 8 * i32::from(half.number);
        let keeps = half.step.accumulator.is_some();
        self.low_words(a, signed);
        emit!(
            self,
            vpsubd(ymm2, y(a), ymm2),
            mov(r9, qword_ptr(rsi + ACCUMULATOR))
        );
        for (part, into) in [(0, ymm3), (1, ymm4)] {
            self.four_products(b, part, signed);
            let at = 8 * lane + 32 * part;
            emit!(self, vpaddq(into, ymm0, ymmword_ptr(r9 + at)));
            if keeps {
                emit!(self, vmovdqu(ymmword_ptr(r9 + at), into));
            }
        }
        if keeps {
            emit!(self, mov(byte_ptr(r9 + KINDS + lane / 8), 0));
        }
        emit!(
            self,
            vshufps(y(r), ymm3, ymm4, UPPER),
            vpermq(y(r), y(r), IN_ORDER)
        );
        r
    }
}
