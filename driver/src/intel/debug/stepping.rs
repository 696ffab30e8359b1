//! Single steps: one instruction, then the next halt.
//!
//! PRM vol4 3.6.1. Not modelled: the step of a thread that waits for another one, which has to be resumed first.
use kernel::error::{Result, code::ETIMEDOUT};
use kernel::time::Delta;

use super::DebugSession;
use super::breakpoint::ends_thread;
use super::halted::HaltedThread;

/// What a step has come to.
#[derive(Clone, Debug)]
pub enum Stepped {
    /// The thread stands at its next instruction.
    Halted(HaltedThread),
    /// The instruction ended the thread.
    Ended,
}

impl DebugSession {
    /// Executes one instruction of a halted thread.
    ///
    /// `ETIMEDOUT` when the thread does not halt again in time: it waits for another thread, or for the host.
    pub fn step(&self, thread: &HaltedThread, timeout: Delta) -> Result<Stepped> {
        let ends = self.shared.decode(thread.address()?)?;
        let ends = ends.is_some_and(|inst| ends_thread(&inst));
        thread.step()?;
        if ends {
            return Ok(Stepped::Ended);
        }
        self.wait_for(thread, timeout).map(Stepped::Halted)
    }

    /// Executes a halted thread to its end, or until `limit` instructions have been executed; how many it was, and the
    /// thread when it still stands.
    pub fn step_many(
        &self,
        thread: &HaltedThread,
        limit: u32,
        timeout: Delta,
    ) -> Result<(u32, Option<HaltedThread>)> {
        let mut thread = thread.clone();
        for done in 0..limit {
            match self.step(&thread, timeout)? {
                Stepped::Halted(next) => thread = next,
                Stepped::Ended => return Ok((done + 1, None)),
            }
        }
        Ok((limit, Some(thread)))
    }

    /// Waits until the thread in the place of another one halts; `ETIMEDOUT` when it does not.
    pub fn wait_for(&self, thread: &HaltedThread, timeout: Delta) -> Result<HaltedThread> {
        let place = thread.place;
        let found = self.shared.wait_until(timeout, |shared| {
            shared.poll()?;
            shared.halted_at(place)
        })?;
        found.ok_or(ETIMEDOUT)
    }
}
