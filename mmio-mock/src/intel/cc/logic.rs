//! The sixteen logic ops.
//!
//! PRM: volume 2, windower (logic op function; values from genxml).
//! Not modelled: logic ops on formats other than UNORM, where the hardware ignores them.

/// A bitwise function of source and destination.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum LogicOp {
    /// 0
    Clear,
    /// !(s | d)
    Nor,
    /// !s & d
    AndInverted,
    /// !s
    CopyInverted,
    /// s & !d
    AndReverse,
    /// !d
    Invert,
    /// s ^ d
    Xor,
    /// !(s & d)
    Nand,
    /// s & d
    And,
    /// !(s ^ d)
    Equiv,
    /// d
    Noop,
    /// !s | d
    OrInverted,
    /// s
    Copy,
    /// s | !d
    OrReverse,
    /// s | d
    Or,
    /// 1
    Set,
}

impl LogicOp {
    /// The op of a 4-bit field.
    pub const fn from_field(raw: u32) -> Self {
        match raw & 15 {
            0 => LogicOp::Clear,
            1 => LogicOp::Nor,
            2 => LogicOp::AndInverted,
            3 => LogicOp::CopyInverted,
            4 => LogicOp::AndReverse,
            5 => LogicOp::Invert,
            6 => LogicOp::Xor,
            7 => LogicOp::Nand,
            8 => LogicOp::And,
            9 => LogicOp::Equiv,
            10 => LogicOp::Noop,
            11 => LogicOp::OrInverted,
            12 => LogicOp::Copy,
            13 => LogicOp::OrReverse,
            14 => LogicOp::Or,
            _ => LogicOp::Set,
        }
    }

    /// The op on all bits of a word.
    #[inline]
    pub const fn apply(self, s: u128, d: u128) -> u128 {
        match self {
            LogicOp::Clear => 0,
            LogicOp::Nor => !(s | d),
            LogicOp::AndInverted => !s & d,
            LogicOp::CopyInverted => !s,
            LogicOp::AndReverse => s & !d,
            LogicOp::Invert => !d,
            LogicOp::Xor => s ^ d,
            LogicOp::Nand => !(s & d),
            LogicOp::And => s & d,
            LogicOp::Equiv => !(s ^ d),
            LogicOp::Noop => d,
            LogicOp::OrInverted => !s | d,
            LogicOp::Copy => s,
            LogicOp::OrReverse => s | !d,
            LogicOp::Or => s | d,
            LogicOp::Set => u128::MAX,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The field is the op's truth table: bit 0 for s=0 d=0, bit 1 for d alone, bit 2 for s alone,
    /// bit 3 for both (as X11 and GL number them once reversed).
    #[test]
    fn fields_are_truth_tables() {
        for raw in 0..16u32 {
            let op = LogicOp::from_field(raw);
            for (bit, (s, d)) in [(0, 0), (0, 1), (1, 0), (1, 1)].into_iter().enumerate() {
                assert_eq!(
                    op.apply(s, d) & 1,
                    (raw as u128 >> bit) & 1,
                    "{op:?} of {s} {d}"
                );
            }
        }
    }
}
