//! The internal form of an instruction: handler, masks and resolved operands.
//!
//! PRM: volume 4, 11.3 (operands), 11.5 (compression). Made once per instruction by lowering.

use crate::math::Function;
use crate::scoreboard::Footprint;
use crate::thread::Thread;
use isa::inst::{CondMod, PredCtrl};
use isa::{Inst, Opcode};

/// Executes one instruction.
pub(crate) type Handler = fn(&mut Thread, &Decoded) -> Next;

/// What the run loop does after a handler.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Next {
    /// Go on with the next instruction.
    Seq,
    /// The handler set `ip`.
    Jump,
    /// Send the message.
    Send,
    /// Wait for a notification.
    Wait,
    /// A move from the timestamp register.
    Time,
    /// The instruction has no model; what is missing is in `Thread::note`.
    Unimplemented,
    /// Illegal or undefined opcode.
    Illegal,
    /// The thread hangs; the reason is in `Thread::note`.
    Hung,
}

/// Numeric kind of a register element.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Num {
    Ud,
    D,
    Uw,
    W,
    Ub,
    B,
    F,
    Df,
}

impl Num {
    /// Bytes in an element.
    #[inline(always)]
    pub(crate) const fn size(self) -> u8 {
        match self {
            Num::Ub | Num::B => 1,
            Num::Uw | Num::W => 2,
            Num::Ud | Num::D | Num::F => 4,
            Num::Df => 8,
        }
    }

    /// Widens an element that `size` cut out.
    #[inline(always)]
    pub(crate) const fn extend(self, raw: u32) -> i64 {
        match self {
            Num::Ud | Num::Uw | Num::Ub | Num::F | Num::Df => raw as i64,
            Num::D => raw as i32 as i64,
            Num::W => raw as i16 as i64,
            Num::B => raw as i8 as i64,
        }
    }

    /// Smallest and largest integer of the kind.
    #[inline(always)]
    pub(crate) const fn range(self) -> (i64, i64) {
        match self {
            Num::Ud | Num::F | Num::Df => (0, u32::MAX as i64),
            Num::D => (i32::MIN as i64, i32::MAX as i64),
            Num::Uw => (0, u16::MAX as i64),
            Num::W => (i16::MIN as i64, i16::MAX as i64),
            Num::Ub => (0, u8::MAX as i64),
            Num::B => (i8::MIN as i64, i8::MAX as i64),
        }
    }
}

/// Byte offset of each lane inside the register array.
pub(crate) type Table = [u16; 16];

/// Register-indirect operand: lane address = a0\[`subreg` + `row`\] + `imm` + `rel`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Indirect {
    pub(crate) subreg: u8,
    pub(crate) imm: i16,
    pub(crate) row: [u8; 16],
    pub(crate) rel: [i16; 16],
}

/// Where the lanes of a source come from.
#[derive(Clone, Copy, Debug)]
pub(crate) enum SrcKind {
    /// Reads zero.
    Null,
    /// Contiguous dwords from this dword offset.
    Vec(u16),
    /// One dword for every lane.
    Scalar(u16),
    /// Immediate; lane i takes entry i modulo 8.
    Imm([u32; 8]),
    /// Any direct region.
    Table(Table),
    /// Architecture register; offsets are inside its 32-byte image.
    Arf(u8, Table),
    /// Accumulator lane of each channel.
    Acc([u8; 16]),
    /// Register-indirect.
    Indirect(Indirect),
}

/// A source operand.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Src {
    pub(crate) kind: SrcKind,
    pub(crate) num: Num,
    pub(crate) negate: bool,
    pub(crate) abs: bool,
    /// Float elements of a direct region or an immediate.
    pub(crate) fast_float: bool,
    /// Words may take a load of their own.
    pub(crate) words: bool,
    /// `abs` on float bits.
    pub(crate) and: u32,
    /// `negate` on float bits.
    pub(crate) xor: u32,
}

/// Where the lanes of a destination go.
#[derive(Clone, Copy, Debug)]
pub(crate) enum DstKind {
    /// Nowhere.
    Null,
    /// Contiguous dwords from this dword offset.
    Vec(u16),
    /// Any direct region.
    Table(Table),
    /// Architecture register; offsets are inside its 32-byte image.
    Arf(u8, Table),
    /// Accumulator lane of each channel, and the execution size.
    Acc([u8; 16], u8),
    /// Register-indirect.
    Indirect(Indirect),
}

/// The destination operand.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Dst {
    pub(crate) kind: DstKind,
    pub(crate) num: Num,
    /// Floats are rounded as CR0 says; else toward zero.
    pub(crate) round: bool,
}

/// The implied move of a send: one register's worth of a source region (PRM 2.6.2).
///
/// Mesa's setup kernels send `g1.2<0,1,0>` to the math unit and vertex kernels `g2<4>.w`, so the
/// region, subregister and swizzle count; the execution size does not.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Implied {
    /// First dword of the file that the move may touch: the register number times eight.
    pub(crate) base: u16,
    /// Source dword of each destination dword, from `base`.
    pub(crate) from: [u8; 8],
    /// They are the eight dwords from `base` on, in their order.
    pub(crate) whole: bool,
    /// Dwords from channel 0's element to channel 8's: what a second half of eight channels adds to `base`.
    pub(crate) half: u16,
}

/// Send fields.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SendOp {
    /// Immediate descriptor, or the register descriptor in a0.0.
    pub(crate) desc: Option<u32>,
    /// First register of the payload, in the array of all registers.
    pub(crate) payload: u8,
    /// The register behind the last that a payload can have.
    pub(crate) end: u8,
    /// The implied move.
    pub(crate) implied: Option<Implied>,
    /// First response register; `None` is the null register.
    pub(crate) dst: Option<u8>,
    /// Dword of that register where the first channel is enabled.
    pub(crate) rotate: u8,
    /// Target, where the descriptor does not say it.
    pub(crate) target: Option<u8>,
    /// End of thread.
    pub(crate) eot: bool,
    /// Two messages when extended math is the target.
    pub(crate) halves: bool,
    /// First bits of message length and response length in the descriptor, and the latter's mask.
    pub(crate) length_at: u8,
    pub(crate) response_at: u8,
    pub(crate) response_max: u8,
}

/// Float destinations that need nothing but rounding: no saturation, no flags.
#[derive(Clone, Copy, Debug)]
pub(crate) enum SimpleFloat {
    /// Contiguous dwords from this dword offset.
    Vec(u16),
    /// Nowhere.
    Null,
    /// Anything else.
    No,
    /// As `Vec`, rounded as CR0 says.
    Round(u16),
}

/// How far the second sixteen of 32 channels are behind the first, in bytes and in rows of indirect addresses.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Behind {
    pub(crate) bytes: u16,
    pub(crate) rows: u8,
}

/// Both halves of an instruction with 32 channels.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Halves {
    /// The handler of either.
    pub(crate) run: Handler,
    /// Where the second half of the destination is.
    pub(crate) dst: Behind,
    /// Where those of the sources are.
    pub(crate) src: [Behind; 2],
}

/// Source 2 of an instruction with three.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Third {
    /// Its first dword.
    pub(crate) first: u16,
    /// Places of four channels from there; the next four are four dwords on.
    pub(crate) swizzle: [u8; 4],
    /// The first dword is that of all channels.
    pub(crate) scalar: bool,
    pub(crate) negate: bool,
    pub(crate) abs: bool,
}

impl Third {
    /// The dword of a channel. A double has the channel of its lower half.
    #[inline(always)]
    pub(crate) fn dword(&self, channel: usize) -> usize {
        let first = usize::from(self.first);
        if self.scalar {
            first
        } else {
            first + (channel & !3) + usize::from(self.swizzle[channel & 3])
        }
    }
}

/// What few instructions have.
#[derive(Clone, Copy, Debug)]
pub(crate) enum More {
    Nothing,
    Third(Third),
    Halves(Halves),
}

/// One lowered instruction.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Decoded {
    pub(crate) run: Handler,
    /// Not lowered yet.
    pub(crate) empty: bool,
    /// `DebugCtrl` is set.
    pub(crate) breakpoint: bool,
    /// `DebugCtrl` or `NoDDClr` is set, a compiled stretch begins here, or it is empty.
    pub(crate) rare: bool,
    /// SIMD8 instructions that this one counts for.
    pub(crate) weight: u8,
    /// First mask and flag bit: 8 for SecHalf. Flag bits are those of the subregister in `flag`, modulo 16.
    pub(crate) shift: u8,
    pub(crate) no_mask: bool,
    /// With `no_mask`: only the continue mask is left out.
    pub(crate) no_cmask: bool,
    pub(crate) saturate: bool,
    pub(crate) pred_inv: bool,
    /// Updates the accumulator implicitly.
    pub(crate) acc_write: bool,
    /// What it writes there is overwritten before anything reads it; see `liveness`.
    pub(crate) acc_dead: bool,
    /// First implicit accumulator lane.
    pub(crate) acc_lane: u8,
    /// Accumulator holds 33-bit words rather than 64-bit dwords.
    pub(crate) acc_word: bool,
    /// Saturates or sets flags: more to do with a result than to write it.
    pub(crate) special: bool,
    /// The destination, when a float result needs no more than to be written there.
    pub(crate) simple_float: SimpleFloat,
    /// Subregister of the flags: f0.0, f0.1, f1.0 or f1.1.
    pub(crate) flag: u8,
    pub(crate) pred: PredCtrl,
    pub(crate) cond: CondMod,
    /// Condition of a comparison that leaves the flags alone.
    pub(crate) compare: CondMod,
    /// Function of `math`.
    pub(crate) function: Option<Function>,
    pub(crate) op: Opcode,
    /// Execution size.
    pub(crate) exec: u8,
    /// Bytes that it takes in memory: 8 when it is compacted.
    pub(crate) bytes: u8,
    /// Enabled channels before masks and predicate.
    pub(crate) lanes: u16,
    pub(crate) dst: Dst,
    pub(crate) src: [Src; 2],
    /// What few instructions have beside them.
    pub(crate) more: More,
    /// Distance of the branch in bytes; of `jmpi` and `call` by register, the bytes in one unit of their count.
    pub(crate) jump: i32,
    /// Entries to pop from a mask stack; where channels have pointers of their own, where a channel that breaks off waits:
    /// a distance in bytes.
    pub(crate) pop: i32,
    pub(crate) send: SendOp,
}

impl Decoded {
    /// Implicit accumulator lane of a channel; see `lower::acc_lanes`.
    #[inline(always)]
    pub(crate) fn acc_at(&self, channel: u8) -> u8 {
        let behind = if self.acc_word { channel & 8 } else { 0 };
        self.acc_lane + channel + behind
    }
}

/// One slot of a kernel page: eight cache lines, so that its place is a shift of its number.
#[derive(Clone, Copy, Debug)]
#[repr(align(64))]
pub(crate) struct Slot {
    pub(crate) hot: Decoded,
    /// For observers; `None` when the words decode to nothing.
    pub(crate) inst: Option<Inst>,
    /// For the scoreboard.
    pub(crate) footprint: Footprint,
    /// Number of the compiled stretch that begins here, from one on.
    pub(crate) begin: u16,
}

// The place of a slot in its page is a shift.
const _: () = assert!(size_of::<Slot>() == 512);
