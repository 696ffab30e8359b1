//! Atomic operations on a dword.
//!
//! Numbers: Mesa 22.3.6 brw_eu_defines.h `BRW_AOP_*`; sources of `CMPWR`: brw_fs_nir.cpp `nir_emit_ssbo_atomic` (the compared value comes
//! first). Not modelled: number 0, which compares two dwords at once.

/// What is done with the dword in memory, `old`, and up to two sources.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AtomicOp {
    /// `old & source`.
    And,
    /// `old | source`.
    Or,
    /// `old ^ source`.
    Xor,
    /// `source`.
    Move,
    /// `old + 1`.
    Increment,
    /// `old - 1`.
    Decrement,
    /// `old + source`.
    Add,
    /// `old - source`.
    Subtract,
    /// `source - old`.
    ReverseSubtract,
    /// The greater of two signed integers.
    SignedMaximum,
    /// The smaller of two signed integers.
    SignedMinimum,
    /// The greater of two unsigned integers.
    Maximum,
    /// The smaller of two unsigned integers.
    Minimum,
    /// The second source, when the first equals `old`.
    CompareWrite,
    /// `old - 1`, of which the sender learns the result.
    PreDecrement,
}

impl AtomicOp {
    /// The operation of a number.
    #[must_use]
    pub const fn of(number: u32) -> Option<Self> {
        Some(match number {
            1 => AtomicOp::And,
            2 => AtomicOp::Or,
            3 => AtomicOp::Xor,
            4 => AtomicOp::Move,
            5 => AtomicOp::Increment,
            6 => AtomicOp::Decrement,
            7 => AtomicOp::Add,
            8 => AtomicOp::Subtract,
            9 => AtomicOp::ReverseSubtract,
            10 => AtomicOp::SignedMaximum,
            11 => AtomicOp::SignedMinimum,
            12 => AtomicOp::Maximum,
            13 => AtomicOp::Minimum,
            14 => AtomicOp::CompareWrite,
            15 => AtomicOp::PreDecrement,
            _ => return None,
        })
    }

    /// Sources that a message has for each channel.
    #[must_use]
    pub const fn sources(self) -> usize {
        match self {
            AtomicOp::Increment | AtomicOp::Decrement | AtomicOp::PreDecrement => 0,
            AtomicOp::CompareWrite => 2,
            _ => 1,
        }
    }

    /// What memory holds afterwards.
    #[must_use]
    #[inline]
    pub const fn apply(self, old: u32, [first, second]: [u32; 2]) -> u32 {
        // CAST: the same bits as signed integers.
        let (signed, other) = (old as i32, first as i32);
        match self {
            AtomicOp::And => old & first,
            AtomicOp::Or => old | first,
            AtomicOp::Xor => old ^ first,
            AtomicOp::Increment => old.wrapping_add(1),
            AtomicOp::Decrement | AtomicOp::PreDecrement => old.wrapping_sub(1),
            AtomicOp::Add => old.wrapping_add(first),
            AtomicOp::Subtract => old.wrapping_sub(first),
            AtomicOp::ReverseSubtract => first.wrapping_sub(old),
            AtomicOp::SignedMaximum if signed > other => old,
            AtomicOp::SignedMinimum if signed < other => old,
            AtomicOp::Maximum if old > first => old,
            AtomicOp::Minimum if old < first => old,
            AtomicOp::Move
            | AtomicOp::SignedMaximum
            | AtomicOp::SignedMinimum
            | AtomicOp::Maximum
            | AtomicOp::Minimum => first,
            AtomicOp::CompareWrite if old == first => second,
            AtomicOp::CompareWrite => old,
        }
    }

    /// What the sender learns: the value before, or the one after.
    #[must_use]
    #[inline]
    pub const fn answer(self, old: u32, new: u32) -> u32 {
        match self {
            AtomicOp::PreDecrement => new,
            _ => old,
        }
    }
}
