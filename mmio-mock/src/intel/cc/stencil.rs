//! The stencil test and its operations.
//!
//! PRM: volume 2, windower (stencil test; operations from genxml).
//! Not modelled: stencil of other widths than 8 bits, which no depth format has.

use super::compare::Compare;

/// What happens to the stencil value.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Op {
    /// Stays.
    #[default]
    Keep,
    /// 0.
    Zero,
    /// The reference value.
    Replace,
    /// One more, at most 255.
    IncrementSaturate,
    /// One less, at least 0.
    DecrementSaturate,
    /// One more, modulo 256.
    Increment,
    /// One less, modulo 256.
    Decrement,
    /// All bits flipped.
    Invert,
}

impl Op {
    /// The operation of a 3-bit field.
    pub const fn from_field(raw: u32) -> Self {
        match raw & 7 {
            0 => Op::Keep,
            1 => Op::Zero,
            2 => Op::Replace,
            3 => Op::IncrementSaturate,
            4 => Op::DecrementSaturate,
            5 => Op::Increment,
            6 => Op::Decrement,
            _ => Op::Invert,
        }
    }

    /// The new value, before the write mask.
    #[inline]
    pub const fn apply(self, stencil: u8, reference: u8) -> u8 {
        match self {
            Op::Keep => stencil,
            Op::Zero => 0,
            Op::Replace => reference,
            Op::IncrementSaturate => stencil.saturating_add(1),
            Op::DecrementSaturate => stencil.saturating_sub(1),
            Op::Increment => stencil.wrapping_add(1),
            Op::Decrement => stencil.wrapping_sub(1),
            Op::Invert => !stencil,
        }
    }
}

/// Stencil state of one facing.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Face {
    /// Comparison of the reference with the buffer.
    pub function: Compare,
    /// When the stencil test fails.
    pub fail: Op,
    /// When stencil passes and depth fails.
    pub depth_fail: Op,
    /// When both pass.
    pub pass: Op,
    /// Reference value.
    pub reference: u8,
    /// Bits that are compared.
    pub test_mask: u8,
    /// Bits that are written.
    pub write_mask: u8,
}

impl Face {
    /// Whether a stencil value passes: `(reference & mask) FUNCTION (stencil & mask)`.
    #[inline]
    pub fn test(&self, stencil: u8) -> bool {
        self.function
            .test(self.reference & self.test_mask, stencil & self.test_mask)
    }

    /// The value after an operation, under the write mask.
    #[inline]
    pub const fn update(&self, op: Op, stencil: u8) -> u8 {
        let new = op.apply(stencil, self.reference);
        (stencil & !self.write_mask) | (new & self.write_mask)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Rows by genxml number, on 0, 1, 0xff with reference 0x5a (OpenGL 2.1 4.1.5).
    #[test]
    fn operations() {
        let rows: [[u8; 3]; 8] = [
            [0, 1, 0xff],
            [0, 0, 0],
            [0x5a, 0x5a, 0x5a],
            [1, 2, 0xff],
            [0, 0, 0xfe],
            [1, 2, 0],
            [0xff, 0, 0xfe],
            [0xff, 0xfe, 0],
        ];
        for (raw, row) in rows.into_iter().enumerate() {
            let op = Op::from_field(raw as u32);
            assert_eq!([0, 1, 0xff].map(|v| op.apply(v, 0x5a)), row, "{op:?}");
        }
    }

    #[test]
    fn masks_and_operand_order() {
        let f = Face {
            function: Compare::Less,
            reference: 0x12,
            test_mask: 0x0f,
            write_mask: 0xf0,
            ..Face::default()
        };
        assert!(f.test(0xf3), "2 < 3");
        assert!(!f.test(0xf1));
        assert_eq!(f.update(Op::Invert, 0x3c), 0xcc);
        assert_eq!(f.update(Op::Replace, 0x3c), 0x1c);
    }
}
