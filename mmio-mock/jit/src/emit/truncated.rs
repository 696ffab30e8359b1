//! Truncated sums and products in single precision.
//!
//! The host rounds to the nearest. What the result lacks is known exactly: of a product by a fused multiply-add, of a sum by Knuth's two-sum.
//! Where the result is beyond the exact one it is one less in the last place. The interpreter truncates a sum in double precision: where
//! that is the rounded result itself, it stays. Results near the ends of the exponent's range, and those that are no numbers,
//! are computed in doubles, out of the way.

use super::{Emitter, ZERO, emit, y};
use crate::constants::{EXPONENT, NAN, SIGN, all};
use iced_x86::code_asm::{CodeLabel, ymm0, ymm1, ymm4, ymmword_ptr};

/// Comparisons of `vcmpps`.
const LESS: u32 = 0x11;
const UNORDERED: u32 = 0x03;

/// Below 2^-102 what a product lacks may have more digits than there are.
const SMALL_PRODUCT: u32 = 0x0c80_0000;
/// Below 2^-72 what a double does not have of a sum may be a denormal.
const SMALL_SUM: u32 = 0x1b80_0000;
/// From the exponent of a float to half of the last place of the double that it is: 2^-53 of it, and the sign.
const HALF_PLACE: u32 = 0x8000_0000 - (53 << 23);

/// A sum or product in doubles.
pub(crate) struct Slow {
    begin: CodeLabel,
    back: CodeLabel,
    adds: bool,
    sources: (u8, u8),
    result: u8,
}

impl Emitter {
    /// A sum or product, truncated; a NaN is the one NaN, and a denormal is zero.
    pub(super) fn truncated(&mut self, adds: bool, (a, b): (u8, u8), r: u8) {
        let slow = Slow {
            begin: self.ops.create_label(),
            back: self.ops.create_label(),
            adds,
            sources: (a, b),
            result: r,
        };
        if adds {
            emit!(self, vaddps(y(r), y(a), y(b)));
            self.unless_plain(&slow);
            emit!(
                self,
                vsubps(ymm0, y(r), y(a)),
                vsubps(ymm1, y(r), ymm0),
                vsubps(ymm1, y(a), ymm1),
                vsubps(ymm0, y(b), ymm0),
                vaddps(ymm0, ymm1, ymm0)
            );
        } else {
            emit!(self, vmulps(y(r), y(a), y(b)));
            self.unless_plain(&slow);
            emit!(self, vmovaps(ymm0, y(a)), vfmsub213ps(ymm0, y(b), y(r)));
        }
        let sign = self.constant(SIGN);
        // What is lacking, negative where the result is beyond.
        emit!(
            self,
            vandps(ymm1, y(r), ymmword_ptr(sign)),
            vxorps(ymm0, ymm0, ymm1)
        );
        if adds {
            let [exponent, less, half] =
                [EXPONENT, all(u32::MAX), all(HALF_PLACE)].map(|c| self.constant(c));
            emit!(
                self,
                vpaddd(ymm1, y(r), ymmword_ptr(less)),
                vpand(ymm1, ymm1, ymmword_ptr(exponent)),
                vpaddd(ymm1, ymm1, ymmword_ptr(half)),
                vcmpps(ymm0, ymm0, ymm1, LESS)
            );
        } else {
            emit!(self, vcmpps(ymm0, ymm0, y(ZERO), LESS));
        }
        let mut back = slow.back;
        self.spoilt |= self.ops.set_label(&mut back).is_err();
        emit!(self, vpaddd(y(r), y(r), ymm0));
        self.slow.push(slow);
    }

    /// Goes the slow way when a result is no number, very large, or small and not zero.
    fn unless_plain(&mut self, slow: &Slow) {
        // Twice the magnitude and some exponents more: the largest come first, zero follows, then what is small. What a sum of more than
        // 2^127 lacks may be found by way of what there is not; one exponent more than that of infinities and NaNs.
        let (small, large) = if slow.adds {
            (SMALL_SUM, 0x0200_0000)
        } else {
            (SMALL_PRODUCT, 0x0100_0000)
        };
        let [large, last] = [all(large), all(2 * small + large - 1)].map(|c| self.constant(c));
        let r = slow.result;
        emit!(
            self,
            vpaddd(ymm1, y(r), y(r)),
            vpcmpeqd(ymm4, ymm1, y(ZERO)),
            vpaddd(ymm1, ymm1, ymmword_ptr(large)),
            vpminud(ymm0, ymm1, ymmword_ptr(last)),
            vpcmpeqd(ymm1, ymm1, ymm0),
            vptest(ymm4, ymm1),
            jae(slow.begin)
        );
    }

    /// The slow ways of what was emitted, behind it.
    pub(super) fn slow_ways(&mut self) {
        for slow in std::mem::take(&mut self.slow) {
            let Slow {
                mut begin,
                back,
                adds,
                sources,
                result: r,
            } = slow;
            self.spoilt |= self.ops.set_label(&mut begin).is_err();
            self.in_doubles(adds, sources, r);
            let nan = self.constant(NAN);
            emit!(
                self,
                vcmpps(ymm0, y(r), y(r), UNORDERED),
                vblendvps(y(r), y(r), ymmword_ptr(nan), ymm0),
                vpxor(ymm0, ymm0, ymm0),
                jmp(back)
            );
        }
    }
}
