//! Kernels with branches: blocks of steps, and what branches do to masks.
//!
//! PRM: volume 4, 14.1.3 and 14.2; Sandy Bridge volume 4 part 2, 8.3. A branch is a short list of operations on masks, which knows no
//! generation: masks with stacks, whose depths are known at each instruction, and channels that wait at places are masks that are
//! kept at numbers. Both are made from decoded instructions in `build`; the interpreter's `flow` is what they do alike.

mod build;
mod kernel;
mod paths;
mod stacks;
mod stepped;

pub use kernel::Graph;
pub use stepped::stepped;

pub(crate) use build::{Plan, build};

use crate::decoded::Decoded;
use crate::predicate;
use crate::stretch::{Channels, Registers, Step};
use crate::thread::Flags;
use isa::inst::PredCtrl;
use std::fmt::Debug;

/// Masks that a thread keeps besides those channels that execute, at most.
pub const KEPT: usize = 48;
/// Masks that are in use during a branch, at most.
pub const TEMPORARY: usize = 4;
/// What [`Whole::run`] comes back with when the budget does not suffice for the next block.
pub const NO_TIME: u32 = u32::MAX;

/// A mask of channels, one bit each.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Mask {
    /// Those that execute.
    Enabled,
    /// One that is kept, below [`KEPT`].
    Kept(u8),
    /// One of a block's end, below [`TEMPORARY`]: no other block knows it.
    Temporary(u8),
}

/// Which flags count for a channel.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Group {
    /// All channels are chosen, whatever the flags.
    All,
    /// Its own.
    Own,
    /// Of each four channels that of this one.
    Replicated(u8),
    /// Any of so many channels: 2, 4, 8 or 16.
    Any(u8),
    /// All of so many.
    Every(u8),
}

/// The predicate of a branch or a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Chooser {
    /// Which flags count.
    pub group: Group,
    /// Their subregister, below four.
    pub flag: u8,
    /// The channels for which these are clear.
    pub inverted: bool,
}

impl Chooser {
    /// The predicate of an instruction; `None` for one of more than a flag register.
    pub(crate) fn of(d: &Decoded) -> Option<Chooser> {
        let group = match d.pred {
            PredCtrl::None => Group::All,
            PredCtrl::Normal => Group::Own,
            PredCtrl::ReplX => Group::Replicated(0),
            PredCtrl::ReplY => Group::Replicated(1),
            PredCtrl::ReplZ => Group::Replicated(2),
            PredCtrl::ReplW => Group::Replicated(3),
            PredCtrl::Any2h => Group::Any(2),
            PredCtrl::Any4h | PredCtrl::AlignAny4h => Group::Any(4),
            PredCtrl::Any8h => Group::Any(8),
            PredCtrl::Any16h => Group::Any(16),
            PredCtrl::All2h => Group::Every(2),
            PredCtrl::All4h | PredCtrl::AlignAll4h => Group::Every(4),
            PredCtrl::All8h => Group::Every(8),
            PredCtrl::All16h => Group::Every(16),
            PredCtrl::AnyV | PredCtrl::AllV | PredCtrl::Any32h | PredCtrl::All32h => return None,
        };
        Some(Chooser {
            group,
            flag: d.flag & 3,
            inverted: d.pred_inv && group != Group::All,
        })
    }

    /// The channels that are chosen, of sixteen.
    #[inline]
    #[must_use]
    pub fn channels(self, flags: Flags) -> u16 {
        let own = flags[usize::from(self.flag & 3)];
        let set = match self.group {
            Group::All => return u16::MAX,
            Group::Own => own,
            Group::Replicated(channel) => predicate::replicate(own, u32::from(channel & 3)),
            Group::Any(count) => predicate::any(own, u32::from(count)),
            Group::Every(count) => predicate::all(own, u32::from(count)),
        };
        if self.inverted { !set } else { set }
    }
}

/// What a branch does, in turn. The first mask is the one that is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Act {
    /// Becomes another.
    Copy(Mask, Mask),
    /// Has these channels.
    Set(Mask, u32),
    /// Those that both have.
    And(Mask, Mask, Mask),
    /// Those that the first has and the second has not.
    Without(Mask, Mask, Mask),
    /// Those that one or both have.
    Or(Mask, Mask, Mask),
    /// Those of another that are among these.
    Limit(Mask, Mask, u32),
    /// Those whose predicate is set.
    Choose(Mask, Chooser),
    /// The thread goes on with a block when the mask has no channel.
    Empty(Mask, u16),
}

/// What comes behind a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum End {
    /// A block.
    Go(u16),
    /// A message, which is not for compiled code, and behind it a block.
    Message(u16),
    /// The last message.
    Last,
    /// An instruction that nobody has decoded.
    Unknown,
}

/// Instructions in a row.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Block {
    /// The kept mask of channels that wait here: they execute from here on.
    pub wakes: Option<u8>,
    /// Those that compute.
    pub steps: Vec<Step>,
    /// How many there are with branch or message, and the same in units of eight channels.
    pub instructions: u32,
    /// In units of eight channels.
    pub simd8: u32,
    /// What the branch does before the thread goes on behind the block.
    pub acts: Vec<Act>,
    /// What comes behind it.
    pub end: End,
}

/// All blocks of a kernel. Each block that another can come after has an instruction, or goes on with one that has.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Blocks(pub Vec<Block>);

/// What a thread has besides its registers.
#[derive(Debug)]
#[repr(C)]
pub struct Progress<'a> {
    /// What steps use.
    pub channels: Channels<'a>,
    /// What is left of the budget, in instructions.
    pub left: u64,
    /// Instructions so far in units of eight channels.
    pub simd8: u64,
    /// Masks that are kept.
    pub kept: [u32; KEPT],
}

/// A kernel with branches as a host runs it.
pub trait Whole: Debug + Send + Sync {
    /// Runs from a block on. Comes back with the number of the block behind which the thread is, which no other block follows by
    /// itself; or with [`NO_TIME`] in front of a block that has more instructions than what is left.
    fn run(&self, block: u16, registers: &mut Registers, progress: &mut Progress<'_>) -> u32;
}

impl Blocks {
    /// The steps of all of them.
    pub fn steps(&self) -> impl Iterator<Item = &Step> {
        self.0.iter().flat_map(|block| &block.steps)
    }

    /// Whether every mask and block that is named is there, and every step inside of the registers.
    #[must_use]
    pub fn is_inside(&self) -> bool {
        let block = |to: u16| usize::from(to) < self.0.len();
        let mask = |mask: Mask| match mask {
            Mask::Enabled => true,
            Mask::Kept(number) => usize::from(number) < KEPT,
            Mask::Temporary(number) => usize::from(number) < TEMPORARY,
        };
        let act = |act: &Act| match *act {
            Act::Copy(to, a) | Act::Limit(to, a, _) => mask(to) && mask(a),
            Act::Set(to, _) | Act::Choose(to, _) => mask(to),
            Act::And(to, a, b) | Act::Without(to, a, b) | Act::Or(to, a, b) => {
                mask(to) && mask(a) && mask(b)
            }
            Act::Empty(of, to) => mask(of) && block(to),
        };
        self.0.iter().all(|one| {
            let end = match one.end {
                End::Go(to) | End::Message(to) => block(to),
                End::Last | End::Unknown => true,
            };
            let wakes = one.wakes.is_none_or(|n| usize::from(n) < KEPT);
            end && wakes && one.acts.iter().all(act) && one.steps.iter().all(Step::is_inside)
        })
    }
}
