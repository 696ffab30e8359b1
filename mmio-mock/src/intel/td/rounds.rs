//! Threads that come back to where they have been with nothing changed.
//!
//! PRM: volume 4, 2.3. What a thread does next depends on its registers alone until it sends a message or is sent one:
//! one that is as it was some instructions ago goes round for ever. Not recognised: loops that count, or send.

use eu::Thread;

/// Instructions without a message before anything is remembered: programs that end seldom have so many.
const FIRST: u64 = 1 << 16;

/// What is remembered of a thread since its last message.
#[derive(Default)]
pub struct Rounds {
    instructions: u64,
    /// The thread as it was, and from when on a later state takes its place: the way into a loop is none of it.
    anchor: Option<(Box<Thread>, u64)>,
}

impl Rounds {
    /// The thread is another, or something has come from outside.
    #[inline]
    pub fn forget(&mut self) {
        self.instructions = 0;
        if self.anchor.is_some() {
            self.anchor = None;
        }
    }

    /// The thread has executed some instructions without a message and is out of time; whether it goes round.
    pub fn ran(&mut self, thread: &Thread, instructions: u64) -> bool {
        self.instructions = self.instructions.saturating_add(instructions);
        if self.instructions < FIRST || instructions == 0 {
            return false;
        }
        match &mut self.anchor {
            Some((anchor, _)) if anchor.is_as(thread) => return true,
            Some((_, limit)) if self.instructions < *limit => {}
            anchor => {
                let limit = self.instructions.saturating_mul(2);
                *anchor = Some((Box::new(thread.clone()), limit));
            }
        }
        false
    }
}
