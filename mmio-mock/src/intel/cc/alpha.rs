//! The alpha test.
//!
//! PRM: volume 2, windower (alpha test; COLOR_CALC_STATE alpha test format).
//! Not modelled: alpha to coverage, which this hardware does not have.

use super::state::{AlphaReference, AlphaTest, CcState};

/// Whether an alpha passes.
#[inline]
pub fn test(alpha: f32, state: &AlphaTest) -> bool {
    match state.reference {
        AlphaReference::Unorm8(reference) => {
            let alpha = num::f32_to_unorm(alpha, 8) as u8;
            state.function.test(alpha, reference)
        }
        AlphaReference::Float(reference) => state.function.test(alpha, reference),
    }
}

/// The pixels of `mask` whose alpha (register bits) passes; all of them when the test is off.
pub fn test_block(cc: &CcState, alpha: &[u32; 16], mask: u16) -> u16 {
    let Some(state) = &cc.alpha_test else {
        return mask;
    };
    let mut out = 0;
    for (i, &bits) in alpha.iter().enumerate() {
        if mask >> i & 1 == 1 && test(f32::from_bits(bits), state) {
            out |= 1 << i;
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::super::Compare;
    use super::*;

    #[test]
    fn unorm8_and_float_references() {
        let t = AlphaTest {
            function: Compare::GreaterEqual,
            reference: AlphaReference::Unorm8(128),
        };
        assert!(test(0.5, &t), "0.5 rounds to 128");
        assert!(!test(0.497, &t));
        let t = AlphaTest {
            function: Compare::Greater,
            reference: AlphaReference::Float(0.5),
        };
        assert!(!test(0.5, &t));
        assert!(test(0.500_001, &t));
    }

    #[test]
    fn blocks_keep_only_their_mask() {
        let mut alpha = [0u32; 16];
        alpha[3] = 1f32.to_bits();
        alpha[9] = 1f32.to_bits();
        let mut cc = CcState::default();
        assert_eq!(test_block(&cc, &alpha, 0x0f0f), 0x0f0f);
        cc.alpha_test = Some(AlphaTest {
            function: Compare::Greater,
            reference: AlphaReference::Unorm8(0),
        });
        assert_eq!(test_block(&cc, &alpha, 0x0f0f), 1 << 3 | 1 << 9);
        assert_eq!(test_block(&cc, &alpha, 0x00ff), 1 << 3);
    }
}
