//! The threads on which a target runs, and how they end.

use std::thread::{Builder, JoinHandle};
use std::time::Duration;

use crate::debug::gate::{Ending, Gate, State};
use crate::debug::{Answer, Refusal};

/// Threads of a target.
#[derive(Default)]
pub struct Threads(Vec<JoinHandle<()>>);

impl Threads {
    /// Starts one.
    pub fn spawn(&mut self, name: &str, run: impl FnOnce() + Send + 'static) -> Answer<()> {
        let thread = Builder::new().name(name.to_owned()).spawn(run);
        self.0.push(thread.map_err(Refusal::of)?);
        Ok(())
    }

    /// Waits for their end.
    pub fn join(&mut self) {
        for thread in self.0.drain(..) {
            if thread.join().is_err() {
                log::error!("a thread of what is debugged has panicked");
            }
        }
    }

    /// Lets what is stopped go on again and again until all has ended; `meanwhile` is called each `beat`.
    pub fn leave(&mut self, gate: &Gate, beat: Duration, mut meanwhile: impl FnMut()) -> Ending {
        gate.leave();
        while gate.wait(beat) != State::Ended {
            gate.resume();
            meanwhile();
        }
        self.join();
        gate.ending().unwrap_or(Ending {
            code: 1,
            text: String::new(),
        })
    }
}
