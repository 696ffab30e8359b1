//! A kernel with branches that runs over registers alone.
//!
//! Compiled code runs from message to message, and messages are sent here. What the interpreter would count is counted.

use super::{Blocks, End, KEPT, NO_TIME, Plan, Progress, Whole, stacks};
use crate::exposed;
use crate::port::{Grf, Port};
use crate::reach::Reach;
use crate::run::RunStats;
use crate::sent::Sent;
use crate::straight::{Broken, Registers, Runner};
use crate::stretch::Channels;
use std::sync::Arc;

/// A kernel with branches, all of which but messages is compiled, as far as it is decoded. Its threads begin without single program flow.
#[derive(Debug)]
pub struct Graph {
    code: Arc<dyn Whole>,
    /// What follows each block, and the messages behind it.
    ends: Vec<(End, Vec<Sent>)>,
    /// What it may write.
    reach: Reach,
    /// Pairs of registers that it may read before it has written all of them.
    exposed: [u128; 3],
    /// Its masks have stacks.
    stacks: bool,
    /// All of it is decoded.
    complete: bool,
}

impl Graph {
    pub(crate) fn new(plan: Plan, code: Arc<dyn Whole>) -> Graph {
        let Blocks(blocks) = plan.blocks;
        Graph {
            code,
            complete: blocks.iter().all(|block| block.end != End::Unknown),
            ends: blocks.iter().map(|b| b.end).zip(plan.sent).collect(),
            reach: plan.reach,
            exposed: plan.exposed,
            stacks: plan.stacks,
        }
    }

    pub(crate) const fn is_complete(&self) -> bool {
        self.complete
    }

    /// The registers as a new thread finds them, as far as the kernel can tell, those before `end` to load the payload into.
    #[inline]
    pub fn load<'a>(&self, registers: &'a mut Registers, end: usize, mask: u32) -> &'a mut [Grf] {
        registers.load(end, exposed::seen(self.exposed, mask))
    }

    /// Runs a thread whose payload is loaded to its end, which takes `budget` instructions and ticks of messages at most. Nothing but
    /// registers and what the port does has changed when it does not come there.
    ///
    /// # Errors
    ///
    /// What a message could not be served for; [`Broken::Time`] when the budget is used up; [`Broken::Other`] when the thread comes to what
    /// only the run loop does.
    #[inline]
    pub fn run<P: Port>(
        &self,
        registers: &mut Registers,
        runner: &Runner,
        port: &mut P,
        budget: &mut u64,
        stats: &mut RunStats,
    ) -> Result<(), Broken<P::Fault>> {
        let (file, accumulator) = registers.written(self.reach);
        let mut progress = Progress {
            channels: Channels {
                enabled: runner.dispatch_mask,
                flags: [0; 4],
                accumulator,
            },
            left: *budget,
            simd8: 0,
            kept: [0; KEPT],
        };
        if self.stacks {
            stacks::begin(&mut progress.kept, runner.dispatch_mask);
        }
        let (mut charged, mut sends) = (0, 0);
        let mut block = 0;
        loop {
            let ended = self.code.run(block, file.all_mut(), &mut progress);
            if ended == NO_TIME {
                return Err(Broken::Time);
            }
            let Some((end, sent)) = self.ends.get(ended as usize) else {
                return Err(Broken::Other);
            };
            if matches!(end, End::Go(_) | End::Unknown) {
                return Err(Broken::Other);
            }
            for sent in sent {
                let channels = (progress.channels.enabled, progress.channels.flags);
                sent.deliver(file, channels, runner.id, port)?;
            }
            sends += 1;
            let charge = port.charge(progress.left);
            progress.left -= charge;
            charged += charge;
            match end {
                End::Message(next) => block = *next,
                _ => break,
            }
        }
        let instructions = *budget - progress.left - charged;
        stats.instructions += instructions;
        stats.simd8 += progress.simd8;
        stats.sends += sends;
        stats.compiled += instructions - sends;
        *budget = progress.left;
        Ok(())
    }
}
