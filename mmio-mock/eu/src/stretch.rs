//! Stretches of a kernel: what a compiler is given, and what it answers with.
//!
//! A stretch is instructions in a row that compute in registers and flags alone: no message, no register besides. Of branches there are
//! those by which channels leave a loop: while no channel takes one the stretch goes on, else it ends before it.
//! Operands are resolved to places in the thread's registers, so a compiler knows no encoding and no generation. The
//! interpreter remains what decides: a compiler takes on only what it does bit for bit alike.

mod bits;
pub(crate) mod places;
pub(crate) mod resolve;
mod special;

pub use crate::arf::Accumulator;
use crate::graph::{Blocks, Whole};
pub use crate::grf::{Registers, TOTAL};
pub use crate::math::Function;
pub use crate::operand::narrow;
use crate::port::FloatMode;
pub use crate::rounding::sum_toward_zero;
use crate::thread::Flags;
pub use bits::{Bits, bits};
pub use places::{window, word_window};
use std::fmt::Debug;
use std::sync::Arc;

/// What a step computes. Floats are single; denormal sources and results are zeros of their sign, and a NaN that was
/// computed is 7fc0_0000h; one that is moved stays as it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Operation {
    /// Source 0, as it is.
    Copy,
    /// Source 0 where the predicate is set, else source 1, as they are; the predicate enables no channel.
    Select,
    /// The same of floats.
    SelectFloats,
    /// Source 0 where its comparison with source 1 is true or source 1 is NaN, else source 1.
    SelectFloat(Condition),
    /// All bits of source 0 the other way.
    Not,
    /// Bits that are set in both.
    And,
    /// Bits that are set in one or both.
    Or,
    /// Bits that are set in one.
    Xor,
    /// Source 0 to the left by the low five bits of source 1.
    ShiftLeft,
    /// To the right, zeros behind it.
    ShiftRight,
    /// To the right, signs behind it.
    ShiftSigned,
    /// Sum of dwords, modulo 2^32; `negate` of a source is its two's complement.
    AddDwords,
    /// Comparison of dwords; sets the flags, and all bits of the result where it is true.
    CompareDwords {
        /// Which comparison.
        condition: Condition,
        /// As signed dwords.
        signed: bool,
    },
    /// The same of floats.
    CompareFloats(Condition),
    /// The low 32 bits of the product of dwords, or of parts of such.
    MultiplyDwords,
    /// Source 0 where its comparison with source 1 is true, else source 1; of dwords.
    SelectDwords {
        /// Which comparison.
        condition: Condition,
        /// As signed dwords.
        signed: bool,
    },
    /// The magnitude of a signed dword; that of 8000_0000h is itself.
    Magnitude,
    /// Source 2 with one of its words replaced by the low word of the sum of sources 0 and 1.
    AddPart {
        /// The upper word.
        high: bool,
    },
    /// Nothing but what the accumulator keeps: the product of the low word of source 0 and source 1, as a whole. Of a negative number
    /// that a signed word holds the whole is taken.
    AccumulateProduct {
        /// The sources are signed.
        signed: bool,
    },
    /// The accumulator from this lane on, 0 or 8, plus the product of what [`AccumulateProduct`](Operation::AccumulateProduct) has left
    /// of source 0 and source 1: the upper 32 bits of it. The accumulator holds integers there.
    MultiplyHigh {
        /// The first lane.
        lane: u8,
        /// The sources are signed.
        signed: bool,
    },
    /// Quotient or remainder of dwords, as [`divided`] computes them.
    Divide {
        /// The remainder.
        remainder: bool,
        /// The sources are signed.
        signed: bool,
    },
    /// The same; with NaN as source 1 every comparison is true but that for inequality.
    CompareFloatsOrNan(Condition),
    /// The greatest whole number that is not above source 0; sets the flags where one is to be added to it for another rounding.
    FloorAndRest {
        /// To the nearest one, of two as near the even one; else toward zero.
        even: bool,
    },
    /// Bits of dwords, as [`bits`] computes them.
    Bits(Bits),
    /// A dword as a float; `negate` is of the number.
    ToFloat {
        /// The dword is signed.
        signed: bool,
    },
    /// A float as a dword: toward zero, to the nearest one that there is; NaN becomes 0.
    ToDword {
        /// The dword is signed.
        signed: bool,
    },
    /// Source 0.
    Move,
    /// Sum.
    Add,
    /// Product.
    Multiply,
    /// Product of sources 1 and 2, plus source 0, rounded once.
    MultiplyAdd,
    /// `p * u + q * v + s` in double precision: p, q and s are dwords 0, 1 and 3 from source 0 on, u and v the
    /// registers from source 1 on, those of the next eight channels behind them.
    Plane,
    /// `p * source 1 + q` in double precision: p and q are dwords 0 and 3 from source 0 on.
    Line,
    /// The accumulator from this lane on, 0 or 8, plus a product, in double precision. It holds floats there.
    Accumulate(u8),
    /// Source 0 times source 1, and what is left of one times source 2, in double precision.
    Interpolate,
    /// A dot product of each four channels, in all four of them; in double precision.
    Dot(Dot),
    /// Sums of sixteen words, in eight dwords from the destination on.
    AddWords,
    /// A function of extended math of sources 0 and 1, as [`extended`] computes it.
    Extended(Function),
    /// A word becomes a flag register: that of the step.
    SetFlag,
    /// A flag register, that of the step, becomes a word: `destination` counts words.
    GetFlag,
    /// The greatest whole number that is not above source 0.
    Floor,
    /// The nearest whole number, of two as near the even one.
    NearestWhole,
    /// The whole number next to it toward zero.
    Truncate,
    /// Source 0 less its floor, below one.
    Fraction,
    /// One by source 0.
    Inverse,
    /// Square root.
    SquareRoot,
    /// One by the square root: root and quotient in double precision, rounded to a single float once.
    InverseRoot,
    /// Nothing. The stretch ends before it when a channel executes whose predicate is set, or when no channel executes.
    Leave,
}

impl Operation {
    /// Whether compilers round its results to the nearest and have no form of it whose results are truncated.
    #[must_use]
    pub const fn only_rounds(self) -> bool {
        matches!(
            self,
            Operation::MultiplyAdd
                | Operation::Interpolate
                | Operation::Extended(_)
                | Operation::NearestWhole
                | Operation::Truncate
                | Operation::Fraction
                | Operation::Inverse
                | Operation::SquareRoot
                | Operation::InverseRoot
        )
    }

    /// Whether the predicate chooses between sources, and enables no channel.
    #[must_use]
    pub const fn chooses(self) -> bool {
        matches!(self, Operation::Select | Operation::SelectFloats)
    }

    /// Whether it sets flags by more than its result.
    #[must_use]
    pub const fn sets_flags(self) -> bool {
        matches!(
            self,
            Operation::CompareDwords { .. }
                | Operation::CompareFloats(_)
                | Operation::CompareFloatsOrNan(_)
                | Operation::FloorAndRest { .. }
        )
    }

    /// Whether its results are bits of any kind; those of the others are floats without denormals.
    #[must_use]
    pub const fn gives_bits(self) -> bool {
        matches!(
            self,
            Operation::Copy
                | Operation::Select
                | Operation::Not
                | Operation::And
                | Operation::Or
                | Operation::Xor
                | Operation::ShiftLeft
                | Operation::ShiftRight
                | Operation::ShiftSigned
                | Operation::AddDwords
                | Operation::CompareDwords { .. }
                | Operation::CompareFloats(_)
                | Operation::CompareFloatsOrNan(_)
                | Operation::MultiplyDwords
                | Operation::SelectDwords { .. }
                | Operation::Magnitude
                | Operation::AddPart { .. }
                | Operation::AccumulateProduct { .. }
                | Operation::MultiplyHigh { .. }
                | Operation::Divide { .. }
                | Operation::Bits(_)
                | Operation::ToDword { .. }
                | Operation::AddWords
                | Operation::SetFlag
                | Operation::GetFlag
                | Operation::Leave
        )
    }

    /// Whether what it leaves in the accumulator are integers.
    #[must_use]
    pub const fn is_integer(self) -> bool {
        matches!(
            self,
            Operation::AddDwords
                | Operation::AddWords
                | Operation::AddPart { .. }
                | Operation::MultiplyDwords
                | Operation::AccumulateProduct { .. }
                | Operation::MultiplyHigh { .. }
        )
    }
}

/// Which channels of four a dot product has.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Dot {
    /// All four.
    Four,
    /// The first three, and the fourth of source 1 by itself.
    Homogeneous,
    /// The first three.
    Three,
    /// The first two.
    Two,
}

/// A function of extended math in IEEE mode; its result has no denormal.
#[must_use]
pub fn extended(function: Function, a: f32, b: f32) -> f32 {
    crate::math::float(function, FloatMode::Ieee, a, b)
}

/// The quotient of dwords, or the remainder.
#[must_use]
pub fn divided(remainder: bool, signed: bool, a: u32, b: u32) -> u32 {
    let (quotient, rest) = crate::math::divide(a, b, signed);
    if remainder { rest } else { quotient }
}

/// A comparison of source 0 with source 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Condition {
    /// Equal.
    Equal,
    /// Not equal, or one is NaN.
    NotEqual,
    /// Greater.
    Greater,
    /// Greater or equal.
    GreaterOrEqual,
    /// Less.
    Less,
    /// Less or equal.
    LessOrEqual,
    /// One is NaN.
    Unordered,
}

/// Where a source is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Place {
    /// There is no such source.
    Nowhere,
    /// Contiguous dwords from this dword of the registers on.
    Vector(u16),
    /// This dword for every channel.
    Scalar(u16),
    /// A constant; channel i takes entry i modulo 8.
    Constant([u32; 8]),
    /// For each channel this dword.
    Gather([u16; 16]),
    /// For each channel the word at this byte, which is even.
    Words {
        /// The bytes.
        at: [u16; 16],
        /// Words have a sign.
        signed: bool,
    },
    /// A part of contiguous dwords, a byte or a word of each.
    Part(Part),
}

/// Which part of dwords.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Part {
    /// The first of the dwords.
    pub first: u16,
    /// The lowest bit of the part.
    pub shift: u8,
    /// Its bits: 8 or 16.
    pub bits: u8,
    /// It has a sign.
    pub signed: bool,
}

impl Part {
    /// The part of a dword, as a dword.
    #[must_use]
    pub fn of(self, dword: u32) -> u32 {
        let above = 32 - u32::from(self.bits);
        let high = dword << (above - u32::from(self.shift).min(above));
        if self.signed {
            // CAST: with the sign behind it.
            (high as i32 >> above) as u32
        } else {
            high >> above
        }
    }
}

/// A source.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Operand {
    /// Where it is.
    pub place: Place,
    /// Its negative, after `absolute`; of words before they become floats.
    pub negate: bool,
    /// Its magnitude: of floats alone.
    pub absolute: bool,
}

/// The predicate of a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Predicate {
    /// Its subregister of the flags, also for the channels from 16 on: below four.
    pub flag: u8,
    /// The channels whose flag is clear.
    pub inverted: bool,
    /// Of each four channels the flag of this one counts for all.
    pub replicated: Option<u8>,
}

impl Predicate {
    /// The bit of the flag register that counts for a channel whose own one is `bit`.
    #[must_use]
    pub fn bit(self, bit: u32) -> u32 {
        self.replicated
            .map_or(bit, |channel| bit & !3 | u32::from(channel & 3))
    }

    /// The channels, of sixteen, whose predicate is set with these flags.
    #[inline]
    #[must_use]
    pub fn of(self, flags: u16) -> u16 {
        let set = match self.replicated {
            Some(channel) => crate::predicate::replicate(flags, u32::from(channel & 3)),
            None => flags,
        };
        if self.inverted { !set } else { set }
    }
}

/// How a step sets flags by its result.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ByResult {
    /// It does not.
    No,
    /// Where the dword is zero.
    Zero,
    /// Where it is not.
    NotZero,
}

/// One instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Step {
    /// What it computes.
    pub operation: Operation,
    /// Sixteen channels rather than eight.
    pub wide: bool,
    /// The channels that it has, one bit each.
    pub lanes: u16,
    /// Mask bit of its first channel: 0, 16, or 8 and 24 when it is not wide; four more when it has four channels at most. In the flags it
    /// is this number modulo 16.
    pub shift: u8,
    /// Channels execute that are masked off, too.
    pub unmasked: bool,
    /// Of those, channels whose flag is set.
    pub predicate: Option<Predicate>,
    /// The subregister that flags go to, below four.
    pub flag: u8,
    /// Flags by the result, of operations with dwords.
    pub by_result: ByResult,
    /// A float result from 0 to 1; NaN becomes 0.
    pub saturate: bool,
    /// Float results are truncated; else they are rounded to the nearest.
    pub truncate: bool,
    /// First dword of the result in the registers.
    pub destination: Option<u16>,
    /// That of the second eight channels.
    pub second: u16,
    /// The result goes into the accumulator, too: the double of a float, the whole sum of integers, whatever the masks are. From
    /// this lane on, 0 or 8; words of the channels from 8 on sixteen lanes behind it.
    pub accumulator: Option<u8>,
    /// Whether the sources of a sum or a product of dwords have signs, for the accumulator.
    pub signed: [bool; 2],
    /// Its sources.
    pub sources: [Operand; 3],
}

/// What steps read and write besides the registers.
#[derive(Debug, PartialEq, Eq)]
#[repr(C)]
pub struct Channels<'a> {
    /// Channels that execute.
    pub enabled: u32,
    /// f0.0 and f0.1, f1.0 and f1.1.
    pub flags: Flags,
    /// The accumulators.
    pub accumulator: &'a mut Accumulator,
}

/// Makes of stretches what a host can run.
pub trait Compiler: Debug + Send + Sync {
    /// Whether it takes on an instruction.
    fn takes(&self, step: &Step) -> bool;

    /// Compiles the stretches of a kernel; `None` where that is not to be had, and the interpreter runs it.
    fn compile(&self, stretches: &[Vec<Step>]) -> Option<Arc<dyn Compiled>>;

    /// Compiles a kernel with branches as a whole; `None` where that is not to be had or gains nothing, and threads run it by its stretches.
    fn whole(&self, blocks: &Blocks) -> Option<Arc<dyn Whole>> {
        let _ = blocks;
        None
    }
}

/// A kernel's stretches as a host runs them.
pub trait Compiled: Debug + Send + Sync {
    /// Runs a stretch of the kernel, which is one of those compiled. Zero when it has come to its end; else the number of the
    /// [`Leave`](Operation::Leave) that it has ended before, counted from one in the stretch.
    fn run(&self, stretch: usize, registers: &mut Registers, channels: &mut Channels<'_>) -> u32;
}
