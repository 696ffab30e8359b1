//! The commands of a batch one after another, also where it goes on elsewhere.
//! PRM vol1 MI_BATCH_BUFFER_START, MI_BATCH_BUFFER_END.
//! Does not execute anything: memory that a batch changes before it reads it is read as it is.
//!
//! ```
//! use regs::platform::GEN40;
//! use regs::walk::{Limits, Stop, Walk};
//!
//! // MI_NOOP, then MI_BATCH_BUFFER_END, at 1000h.
//! let words = [0, 0x0500_0000];
//! let mut memory = |at: u64| words.get(usize::try_from(at - 0x1000).ok()? / 4).copied();
//! let mut walk = Walk::new(&GEN40, 0x1000, Limits::default());
//! let mut names = Vec::new();
//! while let Some(step) = walk.step(&mut memory) {
//!     names.extend(step.command.map(|command| command.name));
//! }
//! assert_eq!(names, ["MI_NOOP", "MI_BATCH_BUFFER_END"]);
//! assert_eq!(walk.stop(), Some(Stop::End { behind: 0x1008 }));
//! ```

use alloc::collections::BTreeSet;

use crate::desc::{CommandDesc, Property};
use crate::platform::Generation;

/// Memory that holds a batch.
pub trait Memory {
    /// The dword at a graphics address, `None` where nothing is mapped.
    fn dword(&mut self, address: u64) -> Option<u32>;
}

impl<F: FnMut(u64) -> Option<u32>> Memory for F {
    fn dword(&mut self, address: u64) -> Option<u32> {
        self(address)
    }
}

/// Where a walk ends at the latest.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Bytes of the first batch; `None` when its end alone bounds it.
    pub bytes: Option<u64>,
    /// Dwords of commands in all batches.
    pub dwords: u64,
    /// Jumps to further batches.
    pub jumps: u32,
    /// Whether a batch may be entered again; else that is a loop, which ends the walk.
    pub again: bool,
    /// Whether jumps are followed; else the walk goes on behind them.
    pub follow: bool,
    /// Unknown dwords in a row that are shown one by one before the walk gives up; with 0, the first ends it.
    pub unknown: u32,
}

impl Default for Limits {
    fn default() -> Self {
        Limits {
            bytes: None,
            dwords: 1 << 22,
            jumps: 1 << 12,
            again: false,
            follow: true,
            unknown: 0,
        }
    }
}

/// A command, or a dword that starts none.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Step {
    /// Graphics address of the header.
    pub address: u64,
    /// Where the batch that holds it starts.
    pub batch: u64,
    /// The header.
    pub header: u32,
    /// The command, `None` where the dword starts none.
    pub command: Option<&'static CommandDesc>,
    /// Its length in dwords.
    pub dwords: u32,
}

/// Why a walk has ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stop {
    /// A command that ends the batch.
    End {
        /// Address behind it.
        behind: u64,
    },
    /// The first batch has no further dwords, and no end.
    Over {
        /// Address behind the last command.
        behind: u64,
    },
    /// Nothing is mapped at an address.
    Unmapped {
        /// The address.
        address: u64,
    },
    /// A dword that starts no command.
    Unknown {
        /// Its address.
        address: u64,
        /// The dword.
        header: u32,
    },
    /// A command that is longer than what is left of the first batch.
    Truncated {
        /// Address of its header.
        address: u64,
        /// The header.
        header: u32,
        /// The command.
        command: &'static CommandDesc,
        /// Its dwords.
        dwords: u32,
        /// Dwords that are left.
        left: u64,
    },
    /// A jump to a batch that the walk has been in.
    Loop {
        /// Address of the jump.
        address: u64,
        /// Its header.
        header: u32,
        /// Where it goes.
        target: u64,
    },
    /// More jumps than are followed.
    Jumps {
        /// Address of the jump.
        address: u64,
        /// Its header.
        header: u32,
    },
    /// More dwords than are walked.
    Long {
        /// Address of the next command.
        address: u64,
    },
}

/// Walks the commands of a batch, and says afterwards why it has ended.
#[derive(Debug)]
pub struct Walk {
    generation: &'static Generation,
    limits: Limits,
    /// Where the present batch starts, and the next command.
    batch: u64,
    at: u64,
    /// Dwords left of the present batch.
    left: u64,
    /// Dwords walked, jumps done, unknown dwords in a row.
    total: u64,
    jumps: u32,
    unknown: u32,
    seen: BTreeSet<u64>,
    /// What the command that was shown last asks for.
    next: Next,
    stop: Option<Stop>,
}

/// How a walk goes on.
#[derive(Debug)]
enum Next {
    Here,
    Ends,
    Jumps { address: u64, header: u32 },
    GivesUp { address: u64, header: u32 },
}

impl Walk {
    /// A walk that begins at `start`.
    pub fn new(generation: &'static Generation, start: u64, limits: Limits) -> Self {
        Walk {
            generation,
            limits,
            batch: start,
            at: start,
            left: limits.bytes.map_or(u64::MAX, |bytes| bytes / 4),
            total: 0,
            jumps: 0,
            unknown: 0,
            seen: BTreeSet::from([start]),
            next: Next::Here,
            stop: None,
        }
    }

    /// The next command, `None` once the walk has ended.
    pub fn step(&mut self, memory: &mut impl Memory) -> Option<Step> {
        if self.stop.is_some() {
            return None;
        }
        match self.advance(memory) {
            Ok(step) => Some(step),
            Err(stop) => {
                self.stop = Some(stop);
                None
            }
        }
    }

    /// Why the walk has ended, once it has.
    pub fn stop(&self) -> Option<Stop> {
        self.stop
    }

    /// Where the walk is: behind the command that was shown last, or at what has ended it.
    pub fn at(&self) -> u64 {
        self.at
    }

    /// Where the present batch starts.
    pub fn batch(&self) -> u64 {
        self.batch
    }

    /// The dwords of a command, up to as many as there is room for; what is not mapped is zero. Returns how many there are.
    pub fn words(&self, memory: &mut impl Memory, step: &Step, out: &mut [u32]) -> usize {
        let count = out.len().min(step.dwords as usize);
        for (i, word) in out.iter_mut().take(count).enumerate() {
            let address = self.behind(step.address, i as u64);
            *word = memory.dword(address).unwrap_or(0);
        }
        count
    }

    /// Dwords that may still be walked in the present batch.
    pub fn room(&self) -> u64 {
        let total = self.limits.dwords.saturating_sub(self.total);
        self.left.min(total)
    }

    /// Leaves dwords out, at most as many as there is room for.
    pub fn skip(&mut self, dwords: u64) {
        let dwords = dwords.min(self.room());
        self.pass(dwords);
    }

    fn pass(&mut self, dwords: u64) {
        self.at = self.behind(self.at, dwords);
        self.left = self.left.saturating_sub(dwords);
        self.total = self.total.saturating_add(dwords);
    }

    /// The address so many dwords behind another: addresses wrap at the end of the address space.
    fn behind(&self, address: u64, dwords: u64) -> u64 {
        let mask = u64::MAX >> (64 - u32::from(self.generation.address_bits));
        address.wrapping_add(dwords.wrapping_mul(4)) & mask
    }

    fn jump(&mut self, memory: &mut impl Memory, address: u64, header: u32) -> Result<(), Stop> {
        let operand = self.behind(address, 1);
        let Some(word) = memory.dword(operand) else {
            return Err(Stop::Unmapped { address: operand });
        };
        let command = (self.generation.command)(header);
        let target = command.map_or(0, |c| c.jump_target(&[header, word]));
        if !self.limits.again && !self.seen.insert(target) {
            return Err(Stop::Loop {
                address,
                header,
                target,
            });
        }
        if self.jumps >= self.limits.jumps {
            return Err(Stop::Jumps { address, header });
        }
        self.jumps += 1;
        (self.batch, self.at, self.left) = (target, target, u64::MAX);
        Ok(())
    }

    fn advance(&mut self, memory: &mut impl Memory) -> Result<Step, Stop> {
        match core::mem::replace(&mut self.next, Next::Here) {
            Next::Here => {}
            Next::Ends => return Err(Stop::End { behind: self.at }),
            Next::Jumps { address, header } => self.jump(memory, address, header)?,
            Next::GivesUp { address, header } => return Err(Stop::Unknown { address, header }),
        }
        let address = self.at;
        if self.left == 0 {
            return Err(Stop::Over { behind: address });
        }
        if self.total >= self.limits.dwords {
            return Err(Stop::Long { address });
        }
        let Some(header) = memory.dword(address) else {
            return Err(Stop::Unmapped { address });
        };
        let mut step = Step {
            address,
            batch: self.batch,
            header,
            command: (self.generation.command)(header),
            dwords: 1,
        };
        let Some(command) = step.command else {
            if self.limits.unknown == 0 {
                return Err(Stop::Unknown { address, header });
            }
            self.unknown += 1;
            if self.unknown >= self.limits.unknown {
                self.next = Next::GivesUp { address, header };
            } else {
                self.pass(1);
            }
            return Ok(step);
        };
        self.unknown = 0;
        step.dwords = u32::try_from(command.dwords(header)).unwrap_or(u32::MAX);
        if u64::from(step.dwords) > self.left {
            return Err(Stop::Truncated {
                address,
                header,
                command,
                dwords: step.dwords,
                left: self.left,
            });
        }
        self.pass(u64::from(step.dwords));
        if command.is(Property::Ends) {
            self.next = Next::Ends;
        } else if self.limits.follow && command.is(Property::Chains) {
            self.next = Next::Jumps { address, header };
        }
        Ok(step)
    }
}

#[cfg(test)]
mod tests;
