//! Fields of bits, eight channels at a time.

use super::{Emitter, Half, ZERO, emit, y};
use crate::constants::{COUNT, all};
use crate::held::Value;
use eu::stretch::Bits;
use iced_x86::code_asm::{ymm0, ymm1, ymm2, ymmword_ptr};

impl Emitter {
    pub(super) fn of_bits(&mut self, half: Half<'_>, of: Bits) -> u8 {
        match of {
            Bits::Ones => {
                let (a, b) = (self.dwords(half, 0), self.dwords(half, 1));
                let r = self.held.take(Value::Scratch);
                self.ones((a, b), r);
                r
            }
            Bits::Insert => {
                let (a, b) = (self.dwords(half, 0), self.dwords(half, 1));
                self.held.keep(a);
                self.held.keep(b);
                let c = self.dwords(half, 2);
                let r = self.held.take(Value::Scratch);
                emit!(
                    self,
                    // The lowest one of the mask: a product by it is a shift.
                    vpsubd(ymm0, y(ZERO), y(a)),
                    vpand(ymm0, ymm0, y(a)),
                    vpmulld(ymm0, ymm0, y(b)),
                    vpand(ymm0, ymm0, y(a)),
                    vpandn(ymm1, y(a), y(c)),
                    vpor(y(r), ymm0, ymm1)
                );
                r
            }
            Bits::Extract { signed } => {
                let (a, b) = (self.dwords(half, 0), self.dwords(half, 1));
                self.held.keep(a);
                self.held.keep(b);
                let c = self.dwords(half, 2);
                let r = self.held.take(Value::Scratch);
                self.extract(signed, [a, b, c], r);
                r
            }
            Bits::Reverse | Bits::Count | Bits::Lowest | Bits::Highest { .. } => {
                self.counted(half, of)
            }
        }
    }

    /// As many ones as `a` says from bit `b` on.
    fn ones(&mut self, (a, b): (u8, u8), r: u8) {
        let [five, one] = [COUNT, all(1)].map(|c| self.constant(c));
        emit!(
            self,
            vpand(ymm0, y(a), ymmword_ptr(five)),
            vpand(ymm1, y(b), ymmword_ptr(five)),
            vmovups(ymm2, ymmword_ptr(one)),
            vpsllvd(ymm0, ymm2, ymm0),
            vpsubd(ymm0, ymm0, ymm2),
            vpsllvd(y(r), ymm0, ymm1)
        );
    }

    /// Width, offset, value: to the left as far as the field is from the end, and back to the first bit.
    fn extract(&mut self, signed: bool, [width, offset, value]: [u8; 3], r: u8) {
        let [five, whole] = [COUNT, all(32)].map(|c| self.constant(c));
        emit!(
            self,
            vpand(ymm0, y(width), ymmword_ptr(five)),
            vpand(ymm1, y(offset), ymmword_ptr(five)),
            vpaddd(ymm2, ymm0, ymm1),
            vpminud(ymm2, ymm2, ymmword_ptr(whole)),
            vpcmpeqd(ymm0, ymm0, y(ZERO))
        );
        let (left, right) = (ymm2, ymm1);
        emit!(
            self,
            // 32 less what is in `left`, by its negative.
            vpsubd(left, left, ymmword_ptr(whole)),
            vpsubd(left, y(ZERO), left),
            vpaddd(right, right, left),
            vpsllvd(y(r), y(value), left)
        );
        if signed {
            emit!(self, vpsravd(y(r), y(r), right));
        } else {
            emit!(self, vpsrlvd(y(r), y(r), right));
        }
        // A field without width is nothing.
        emit!(self, vpandn(y(r), ymm0, y(r)));
    }
}
