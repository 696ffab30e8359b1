//! A program's turn to queue a request: it waits in the line until it has room.
//!
//! What a signal, or the end of the process, takes out of the line leaves the others in their order.
use alloc::sync::Arc;

use kernel::error::{Result, code::EINTR};
use kernel::time::{Clock, Delta};

use crate::core::device::{Device, UserState};
use crate::core::line::{Keys, Place};
use crate::core::pace::Speed;
use crate::core::program::Program;
use crate::core::queue::Census;
use crate::core::task::Task;
use crate::core::timeline::{Timeline, Work};
use crate::core::wait::{Patience, wait_resting};

/// Longest time between two looks of the leader while another thread has its turn, and of the others: for signals alone,
/// since they are told of everything else. Time of the host.
const LEADER: Delta = Delta::from_millis(1);
const OTHERS: Delta = Delta::from_millis(50);

/// An engine's queue: what is under way, what all share, and the clock.
pub(crate) struct Queue<'a, W: Work> {
    pub(crate) timeline: &'a Timeline<W>,
    pub(crate) user: &'a UserState,
    pub(crate) clock: &'a dyn Clock,
}

#[expect(clippy::expl_impl_clone_on_copy, reason = "requests are no copies")]
impl<W: Work> Clone for Queue<'_, W> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<W: Work> Copy for Queue<'_, W> {}

impl<'a, W: Work> Queue<'a, W> {
    /// What says whether a program has room for one more request.
    fn look(self) -> impl FnOnce() -> HasRoom<'a> {
        move || {
            let census = Census::take(self.user, self.timeline, self.clock.outside());
            alloc::boxed::Box::new(move |program: &Program| census.room(program))
        }
    }

    /// Calls the next of the line, when there is room for it.
    pub(crate) fn call(self) {
        self.timeline.line().call(self.look());
    }

    /// Asks for a turn, without waiting.
    pub(crate) fn enter(self, program: Program) -> Turn<'a, W> {
        let mark = program.mark();
        let keys = Keys {
            family: mark.family(),
            process: mark.process(),
            group: program.group(),
        };
        let place = self.timeline.line().enter(keys, program, self.look());
        Turn { queue: self, place }
    }
}

/// Tells of a program whether it has room for one more request, and how quick its family is.
type HasRoom<'a> = alloc::boxed::Box<dyn Fn(&Program) -> Option<Speed> + 'a>;

/// A turn, or a place in the line. Dropped, it goes to the next.
pub(crate) struct Turn<'a, W: Work> {
    queue: Queue<'a, W>,
    place: Arc<Place<Program>>,
}

impl<W: Work> Turn<'_, W> {
    /// Whether it has come.
    pub(crate) fn has_come(&self) -> bool {
        self.place.is_called()
    }

    /// Waits until it has come; `EINTR` when the task is to stop, also when that comes first.
    pub(crate) fn wait(&self, device: &dyn Device, task: &dyn Task) -> Result {
        if self.has_come() {
            return Ok(());
        }
        let (queue, line) = (self.queue, self.queue.timeline.line());
        let has_come = || {
            if self.place.leads() {
                queue.call();
            }
            self.has_come()
        };
        let rest = |step| {
            if !self.place.leads() {
                self.place.rest(queue.clock, OTHERS);
            } else if line.is_taken() {
                self.place.rest(queue.clock, LEADER);
            } else {
                // What makes room for one of the line is the device's doing.
                queue.clock.relax(step);
            }
        };
        wait_resting(device, &Patience::of(task, None), has_come, rest)?;
        // The next has it at once, instead of after a submission that is for nothing.
        if task.signal_pending() {
            return Err(EINTR);
        }
        Ok(())
    }
}

impl<W: Work> Drop for Turn<'_, W> {
    fn drop(&mut self) {
        let line = self.queue.timeline.line();
        line.leave(&self.place, self.queue.look());
    }
}
