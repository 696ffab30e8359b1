//! Truncated sums and products in single precision.
//!
//! The host rounds to the nearest. What the result lacks is known exactly: of a product by a fused multiply-add, of a sum by Knuth's two-sum.
//! Where the result is beyond the exact one it is one less in the last place. Results near the ends of the exponent's range, and those
//! that are no numbers, are computed in doubles, out of the way.

use super::{Emitter, ZERO, emit, y};
use crate::constants::{NAN, SIGN, all};
use iced_x86::code_asm::{
    AsmRegisterYmm, CodeLabel, eax, ymm0, ymm1, ymm2, ymm3, ymm4, ymmword_ptr,
};

/// Comparisons of `vcmpps` and `vcmppd`.
const LESS: u32 = 0x11;
const UNORDERED: u32 = 0x03;

/// Below 2^-102 what a product lacks may have more digits than there are.
const SMALL_PRODUCT: u32 = 0x0c80_0000;
/// Below 2^-126 a sum is a denormal, or zero.
const SMALL_SUM: u32 = 0x0080_0000;

/// A sum or product in doubles.
pub(crate) struct Slow {
    begin: CodeLabel,
    quick: CodeLabel,
    back: CodeLabel,
    adds: bool,
    sources: (u8, u8),
    result: u8,
}

impl Emitter {
    /// A sum or product, truncated; a NaN is the one NaN, and a denormal is zero.
    pub(super) fn truncated(&mut self, adds: bool, (a, b): (u8, u8), r: u8) {
        let mut slow = Slow {
            begin: self.ops.create_label(),
            quick: self.ops.create_label(),
            back: self.ops.create_label(),
            adds,
            sources: (a, b),
            result: r,
        };
        if adds {
            emit!(self, vaddps(y(r), y(a), y(b)));
            self.unless_plain(&mut slow);
            // What is lacking is negated where the sum is negative. It is +0 where nothing is lacking.
            emit!(
                self,
                vsubps(ymm0, y(r), y(a)),
                vsubps(ymm1, y(r), ymm0),
                vsubps(ymm1, y(a), ymm1),
                vsubps(ymm0, y(b), ymm0),
                vaddps(ymm0, ymm1, ymm0),
                vpsignd(ymm0, ymm0, y(r)),
                vpsrad(ymm0, ymm0, 31)
            );
        } else {
            let sign = self.constant(SIGN);
            emit!(self, vmulps(y(r), y(a), y(b)));
            self.unless_plain(&mut slow);
            // Of a product that is zero -0 may be lacking, which is not less than zero.
            emit!(
                self,
                vmovaps(ymm0, y(a)),
                vfmsub213ps(ymm0, y(b), y(r)),
                vandps(ymm1, y(r), ymmword_ptr(sign)),
                vxorps(ymm0, ymm0, ymm1),
                vcmpps(ymm0, ymm0, y(ZERO), LESS)
            );
        }
        self.spoilt |= self.ops.set_label(&mut slow.back).is_err();
        emit!(self, vpaddd(y(r), y(r), ymm0));
        self.slow.push(slow);
    }

    /// Goes the slow way when a result is no number, very large, small, or zero. `ymm1` says which are not.
    fn unless_plain(&mut self, slow: &mut Slow) {
        // Twice the magnitude and some exponents more: the largest come first, then zero and what is small. What a sum of more than
        // 2^127 lacks may be found by way of what there is not; one exponent more than that of infinities and NaNs.
        let (small, large) = if slow.adds {
            (SMALL_SUM, 0x0200_0000)
        } else {
            (SMALL_PRODUCT, 0x0100_0000)
        };
        // As signed numbers.
        let [large, last] = [large, 2 * small + large - 1].map(|n| self.constant(all(n ^ 1 << 31)));
        let r = slow.result;
        emit!(
            self,
            vpaddd(ymm1, y(r), y(r)),
            vpaddd(ymm1, ymm1, ymmword_ptr(large)),
            vpcmpgtd(ymm1, ymm1, ymmword_ptr(last)),
            vmovmskps(eax, ymm1),
            cmp(eax, 0xff),
            jne(slow.begin)
        );
        self.spoilt |= self.ops.set_label(&mut slow.quick).is_err();
    }

    /// The slow ways of what was emitted, behind it. Zeros go back to the quick way.
    pub(super) fn slow_ways(&mut self) {
        for slow in std::mem::take(&mut self.slow) {
            let Slow {
                mut begin,
                quick,
                back,
                adds,
                sources,
                result: r,
            } = slow;
            self.spoilt |= self.ops.set_label(&mut begin).is_err();
            let nan = self.constant(NAN);
            emit!(
                self,
                vpaddd(ymm0, y(r), y(r)),
                vpcmpeqd(ymm0, ymm0, y(ZERO)),
                vpor(ymm0, ymm0, ymm1),
                vmovmskps(eax, ymm0),
                cmp(eax, 0xff),
                je(quick)
            );
            self.as_doubles(sources);
            if adds {
                self.sum_toward_zero([ymm0, ymm1, ymm3], y(r));
                self.sum_toward_zero([ymm2, ymm4, ymm0], y(r));
                emit!(self, vmovapd(ymm2, ymm0));
            } else {
                emit!(self, vmulpd(ymm3, ymm0, ymm1), vmulpd(ymm2, ymm2, ymm4));
            }
            self.join_truncated(r);
            emit!(
                self,
                vcmpps(ymm0, y(r), y(r), UNORDERED),
                vblendvps(y(r), y(r), ymmword_ptr(nan), ymm0),
                vpxor(ymm0, ymm0, ymm0),
                jmp(back)
            );
        }
    }

    /// The sum of two doubles; of the two beside an inexact one, that toward zero. The doubles and a fourth register are lost.
    fn sum_toward_zero(&mut self, [a, b, sum]: [AsmRegisterYmm; 3], part: AsmRegisterYmm) {
        emit!(
            self,
            vaddpd(sum, a, b),
            vsubpd(part, sum, a),
            vsubpd(b, b, part),
            vsubpd(part, sum, part),
            vsubpd(a, a, part),
            vaddpd(a, a, b),
            vmulpd(a, a, sum),
            vcmppd(a, a, y(ZERO), LESS),
            vpaddq(sum, sum, a)
        );
    }
}
