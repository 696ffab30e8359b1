//! How long a program may keep the engine, from others or after it has closed it.
//!
//! i915 sends a request of its own through the engine now and then and resets it when that does not come through in
//! time (`intel_engine_heartbeat.c`: two and a half seconds twice on this family), and cancels what closed contexts leave
//! behind (`kill_context`). Not modelled: requests that let others run in the middle, priorities.
use alloc::vec::Vec;

use kernel::sync::{AtomicU64, Ordering, SpinLock};
use kernel::time::{Delta, Ktime};

use crate::core::account::Ledger;
use crate::core::device::UserState;
use crate::core::limits::{LOOKS_AT_MOST, TimeLimits};
use crate::core::program::Program;
use crate::core::reason::Why;
use crate::core::timeline::{Pending, Timeline, Turns, Work};

/// How many times as long the requests of one program may keep it that are queued before those of others.
const IN_A_ROW: u64 = 4;
/// Most requests and programs that wait that are usual.
const USUAL: usize = 128;
/// Part of the limit from which on a request takes long: a second.
const LONG: u64 = 60;

/// Whether such a program has a request under way, or waits for the engine.
pub(crate) fn has_program<W: Work>(
    user: &UserState,
    timeline: &Timeline<W>,
    is_it: impl Fn(&Program) -> bool,
) -> bool {
    timeline.has_program(&is_it) || user.waiting.has(timeline.context(), &is_it)
}

/// How many families have requests under way or wait.
fn families<W: Work>(user: &UserState, timeline: &Timeline<W>) -> usize {
    // Interrupt handlers take the timeline's lock: memory is asked for before.
    let mut families = Vec::with_capacity(USUAL);
    timeline.each_program(|program| families.push(program.mark().family()));
    let context = timeline.context();
    user.waiting
        .each(context, |mark| families.push(mark.family()));
    families.sort_unstable();
    families.dedup();
    families.len()
}

/// The oldest request, at one look.
struct Front {
    seqno: u32,
    program: Program,
    /// Whether another program waits, and whether one of another family does.
    others: bool,
    strangers: bool,
    /// How often another program has had its turn so far, and one of another family.
    turns: Turns,
    /// Its limits, and the shortest that there are.
    limits: TimeLimits,
    shortest: TimeLimits,
    /// That of this request, among so many families.
    of_request: Delta,
}

/// A program that has the engine.
struct Turn {
    front: Front,
    /// For how long the request has had it, and the program, while others waited all the time; and its family, while
    /// programs of other families did.
    of_request: Delta,
    of_program: Delta,
    of_family: Delta,
}

#[derive(Default)]
struct Seen {
    /// The last look.
    at: Ktime,
    turn: Option<Turn>,
    /// Processes of which closed files' work has been seen.
    closing: Vec<Program>,
}

/// The time that something has had, if it goes on having it.
fn add(time: Delta, goes_on: bool, span: Delta) -> Delta {
    if goes_on { time + span } else { Delta::ZERO }
}

impl Seen {
    /// Takes a look in, `most` after the last one at most; the reason when the oldest request is to end. `front` is missing
    /// when no request is under way that belongs to a program.
    fn look(&mut self, now: Ktime, front: Option<Front>, most: Delta) -> Option<Why> {
        let span = (now - self.at).min(most);
        self.at = now;
        let Some(front) = front else {
            self.turn = None;
            return None;
        };
        let turn = match self.turn.take() {
            None => Turn {
                front,
                of_request: Delta::ZERO,
                of_program: Delta::ZERO,
                of_family: Delta::ZERO,
            },
            Some(turn) => {
                let before = &turn.front;
                let same = !before.program.is_other_than(&front.program);
                let kin = before.program.is_kin_of(&front.program);
                // Others have had their turn when a request of one has ended between two looks.
                let (then, now) = (before.turns, front.turns);
                let waited = before.others && front.others && then.programs == now.programs;
                let strangers_waited =
                    before.strangers && front.strangers && then.families == now.families;
                let again = same && before.seqno == front.seqno && before.others && front.others;
                if same && front.program.client().is_closed() {
                    front.program.account().add_after_close(span);
                }
                Turn {
                    of_request: add(turn.of_request, again, span),
                    of_program: add(turn.of_program, same && waited, span),
                    of_family: add(turn.of_family, kin && strangers_waited, span),
                    front,
                }
            }
        };
        let why = turn.why();
        let turn = self.turn.insert(turn);
        if why.is_some() {
            // The family has gone on.
            (turn.of_request, turn.of_program) = (Delta::ZERO, Delta::ZERO);
        }
        why
    }

    /// Gives those processes all of their time again that have no closed files with work left.
    fn look_at_closed(&mut self, front: Option<&Program>, has_work: impl Fn(&Program) -> bool) {
        self.closing.retain(|program| {
            let left = has_work(program);
            if !left {
                program.account().has_no_closed_work();
            }
            left
        });
        if let Some(front) = front.filter(|front| front.client().is_closed())
            && !(self.closing.iter()).any(|known| known.is_of_process(front))
        {
            self.closing.push(front.clone());
        }
    }
}

impl Turn {
    /// Why the request is to end.
    fn why(&self) -> Option<Why> {
        let Front {
            program,
            limits,
            shortest,
            of_request: front_limit,
            ..
        } = &self.front;
        let front_limit = *front_limit;
        let limit = limits.while_others_wait;
        let row = |limit: Delta| Delta::from_nanos(limit.as_nanos().saturating_mul(IN_A_ROW));
        if program.client().is_closed()
            && program.account().add_after_close(Delta::ZERO) >= limits.after_close
        {
            return Some(Why::Closed(limits.after_close));
        }
        if self.of_request >= front_limit {
            return Some(Why::Request(front_limit));
        }
        if self.of_program >= row(limit) {
            return Some(Why::Row(row(limit)));
        }
        // A short request is not to blame for those before it.
        let is_long = self.of_request >= shortest.while_others_wait;
        (self.of_family >= row(limit) && is_long).then_some(Why::Family(row(limit)))
    }
}

/// Limits, and what has been seen.
#[derive(Default)]
pub(crate) struct Share {
    /// Time of the next look.
    next: AtomicU64,
    seen: SpinLock<Seen>,
    limits: SpinLock<TimeLimits>,
}

impl Share {
    /// Sets the limits.
    pub(crate) fn set_limits(&self, limits: TimeLimits) {
        *self.limits.lock() = limits;
        self.next.store(0, Ordering::Release);
    }

    /// How long a request may keep the engine while others wait.
    pub(crate) fn limit(&self) -> Delta {
        self.limits.lock().while_others_wait
    }

    /// The limit, when the oldest request has kept the engine for an eighth of it at least while others waited.
    pub(crate) fn kept_from_others(&self, seqno: u32) -> Option<Delta> {
        let limits = *self.limits.lock();
        let seen = self.seen.lock();
        let turn = seen.turn.as_ref()?;
        let long = turn.of_request >= Ledger::shortest(&limits).while_others_wait;
        (turn.front.seqno == seqno && long).then_some(limits.while_others_wait)
    }

    /// The limits when it is time for a look; only one of several that ask at the same time gets them.
    pub(crate) fn due(&self, now: Ktime) -> Option<TimeLimits> {
        let next = self.next.load(Ordering::Acquire);
        if now.as_nanos() < next {
            return None;
        }
        let limits = *self.limits.lock();
        let after = (now + limits.period()).as_nanos();
        self.next
            .compare_exchange(next, after, Ordering::AcqRel, Ordering::Acquire)
            .ok()
            .map(|_| limits)
    }

    /// Time goes on without being counted: a debugger has halted a thread.
    pub(crate) fn pause(&self, now: Ktime) {
        self.seen.lock().at = now;
    }

    /// Looks at the requests under way: the oldest, and the reason when it is to end.
    pub(crate) fn look<W: Work>(
        &self,
        user: &UserState,
        timeline: &Timeline<W>,
        now: Ktime,
        limits: &TimeLimits,
    ) -> Option<(Pending<W>, Why)> {
        let first = timeline.first();
        let program = first.as_ref().and_then(|first| first.work.program());
        let front = first.as_ref().zip(program.as_ref());
        let has = |is_it: &dyn Fn(&Program) -> bool| has_program(user, timeline, is_it);
        let front = front.map(|(first, program)| {
            let own = user.ledger.limits(&program.account(), now, limits);
            let beside = limits.beside(families(user, timeline));
            Front {
                seqno: first.seqno,
                program: program.clone(),
                others: has(&|other| other.is_other_than(program)),
                strangers: has(&|other| other.is_stranger_to(program)),
                limits: own,
                turns: timeline.turns(),
                shortest: Ledger::shortest(limits),
                of_request: own.while_others_wait.min(beside),
            }
        });
        let most = Delta::from_nanos(limits.period().as_nanos().saturating_mul(LOOKS_AT_MOST));
        let (why, slow) = {
            let mut seen = self.seen.lock();
            seen.look_at_closed(program.as_ref(), |program| {
                let is_left =
                    |other: &Program| other.client().is_closed() && other.is_of_process(program);
                timeline.has_program(is_left)
            });
            let why = seen.look(now, front, most);
            let long = Delta::from_nanos(limits.while_others_wait.as_nanos() / LONG);
            let turn = seen.turn.as_ref().filter(|turn| turn.of_request >= long);
            (why, turn.map(|turn| turn.front.program.account()))
        };
        if let Some(account) = slow {
            account.note_slow(now);
        }
        first.zip(why)
    }
}
