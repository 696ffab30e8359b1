//! Bits of dwords: fields, counts, first ones.
//!
//! PRM: ValleyView volume 2 part 2 (bfe, bfi1, bfi2, bfrev), as the interpreter has them.

use crate::exec;

/// What is made of the bits of dwords.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Bits {
    /// Source 0 from its other end.
    Reverse,
    /// How many are ones.
    Count,
    /// Number of the lowest bit that is one; all ones for a dword of zeros.
    Lowest,
    /// Number of the highest that is one, from the top; of a negative number with a sign of the highest that is zero.
    Highest {
        /// The dword is signed.
        signed: bool,
    },
    /// As many ones as source 0 says from bit source 1 on.
    Ones,
    /// Source 2, where the mask in source 0 has ones the low bits of source 1.
    Insert,
    /// As many bits as source 0 says from bit source 1 of source 2 on.
    Extract {
        /// The result has a sign.
        signed: bool,
    },
}

impl Bits {
    /// How many sources it has.
    #[must_use]
    pub const fn sources(self) -> usize {
        match self {
            Bits::Reverse | Bits::Count | Bits::Lowest | Bits::Highest { .. } => 1,
            Bits::Ones => 2,
            Bits::Insert | Bits::Extract { .. } => 3,
        }
    }
}

/// Bits of dwords.
#[inline(always)]
#[must_use]
pub fn bits(of: Bits, a: u32, b: u32, c: u32) -> u32 {
    match of {
        Bits::Reverse => a.reverse_bits(),
        Bits::Count => a.count_ones(),
        Bits::Lowest => exec::bits::low_bit(a),
        Bits::Highest { signed } => exec::bits::high_bit(signed, a),
        Bits::Ones => exec::bits::mask(a, b),
        Bits::Insert => exec::bits::insert(a, b, c),
        Bits::Extract { signed } => exec::bits::extract(signed, a, b, c),
    }
}
