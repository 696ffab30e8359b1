//! How long a program may keep the engine, from others or after it has closed it.
//!
//! i915 sends a request of its own through the engine now and then and resets it when that does not come through in
//! time (`intel_engine_heartbeat.c`: two and a half seconds twice on this family), and cancels what closed contexts leave
//! behind (`kill_context`). Not modelled: requests that let others run in the middle, priorities.
use alloc::collections::BTreeMap;
use alloc::sync::Arc;

use kernel::sync::{AtomicU64, Ordering, SpinLock};
use kernel::time::{Delta, Ktime};

use super::{Why, end};
use crate::intel::context::Client;
use crate::intel::device::Device;

/// How long the work of a closed file may go on. A program that ends with its last frames under way has them drawn: a
/// slow model draws one in seconds.
const AFTER_CLOSE: Delta = Delta::from_secs(10);
/// How long a request may keep the engine while others wait. Large draws take a slow model most of a minute, and a debug
/// build of it longer; a program that waits for longer than that looks dead to its user.
const WHILE_OTHERS_WAIT: Delta = Delta::from_secs(60);
/// How many times as long the requests of one program may keep it that are queued before those of others.
const IN_A_ROW: u64 = 4;
/// Time between two looks, unless the limits are short, and how many of them the time between two looks counts as at
/// most: the host may have been stopped meanwhile.
const LOOK: Delta = Delta::from_millis(100);
const LOOKS_AT_MOST: u64 = 10;
/// Looks until the shorter of the limits is reached.
const LOOKS_OF_LIMIT: u64 = 10;

/// How long one program may keep the engine, in time as programs see it ([`Clock::outside`](kernel::time::Clock)). Time
/// in which a debugger has halted a thread does not count.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct TimeLimits {
    /// How long the work of a closed file may keep the engine after that, all of it together.
    pub after_close: Delta,
    /// How long a request may keep it while another program waits all the time. Several of one program in a row may
    /// take four times as long.
    pub while_others_wait: Delta,
}

impl Default for TimeLimits {
    fn default() -> Self {
        TimeLimits {
            after_close: AFTER_CLOSE,
            while_others_wait: WHILE_OTHERS_WAIT,
        }
    }
}

impl TimeLimits {
    fn period(&self) -> Delta {
        let shortest = self.after_close.min(self.while_others_wait).as_nanos();
        LOOK.min(Delta::from_nanos(shortest / LOOKS_OF_LIMIT))
    }
}

/// A program that uses the device: an open file, and the process that asks.
#[derive(Clone)]
pub struct Program {
    client: Arc<Client>,
    process: u32,
}

impl Program {
    /// The user of a file, and the number of the process, 0 when that is not known.
    pub fn new(client: &Arc<Client>, process: u32) -> Self {
        Program {
            client: Arc::clone(client),
            process,
        }
    }

    /// The user of its file.
    pub fn client(&self) -> &Client {
        &self.client
    }

    fn has_file_of(&self, other: &Program) -> bool {
        Arc::ptr_eq(&self.client, &other.client)
    }

    /// Whether it is not the same program: neither the same file nor another one of the same process.
    pub fn is_other_than(&self, other: &Program) -> bool {
        let one_process = self.process != 0 && self.process == other.process;
        !self.has_file_of(other) && !one_process
    }
}

#[derive(Default)]
struct Entries {
    next: u64,
    programs: BTreeMap<u64, Program>,
}

/// Programs that wait inside a call: to submit, or for the end of a request.
#[derive(Default)]
pub(crate) struct Waiting(SpinLock<Entries>);

impl Waiting {
    /// Notes a program until the guard is dropped.
    pub(crate) fn enter(&self, program: Program) -> Waits<'_> {
        let mut entries = self.0.lock();
        let number = entries.next;
        entries.next = number.wrapping_add(1);
        entries.programs.insert(number, program);
        Waits {
            waiting: self,
            number,
        }
    }

    fn has_other(&self, program: &Program) -> bool {
        let entries = self.0.lock();
        let mut others = entries.programs.values();
        others.any(|other| other.is_other_than(program))
    }
}

/// A program waits.
pub(crate) struct Waits<'a> {
    waiting: &'a Waiting,
    number: u64,
}

impl Drop for Waits<'_> {
    fn drop(&mut self) {
        let gone = self.waiting.0.lock().programs.remove(&self.number);
        // The last of a client is let go without the lock.
        drop(gone);
    }
}

/// The oldest request, at one look.
struct Front {
    seqno: u32,
    program: Program,
    /// Whether another program waits.
    others: bool,
}

/// A program that has the engine.
struct Turn {
    front: Front,
    /// For how long the request has had it, and the program, while others waited all the time.
    of_request: Delta,
    of_program: Delta,
}

#[derive(Default)]
struct Seen {
    /// The last look.
    at: Ktime,
    turn: Option<Turn>,
}

impl Seen {
    /// Takes a look in; the reason when the oldest request is to end. `front` is missing when no request is under way
    /// that belongs to a program.
    fn look(&mut self, now: Ktime, front: Option<Front>, limits: &TimeLimits) -> Option<Why> {
        let most = Delta::from_nanos(limits.period().as_nanos().saturating_mul(LOOKS_AT_MOST));
        let span = (now - self.at).min(most);
        self.at = now;
        let Some(front) = front else {
            self.turn = None;
            return None;
        };
        let Some(turn) = &mut self.turn else {
            self.turn = Some(Turn {
                front,
                of_request: Delta::ZERO,
                of_program: Delta::ZERO,
            });
            return None;
        };
        if !turn.front.program.has_file_of(&front.program) {
            (turn.of_request, turn.of_program) = (Delta::ZERO, Delta::ZERO);
            turn.front = front;
            return None;
        }
        if front.others && turn.front.others {
            turn.of_program = turn.of_program + span;
            turn.of_request = turn.of_request + span;
        } else {
            (turn.of_request, turn.of_program) = (Delta::ZERO, Delta::ZERO);
        }
        if turn.front.seqno != front.seqno {
            turn.of_request = Delta::ZERO;
        }
        turn.front = front;
        let client = turn.front.program.client();
        let limit = limits.while_others_wait;
        let row = Delta::from_nanos(limit.as_nanos().saturating_mul(IN_A_ROW));
        if client.is_closed() && client.add_after_close(span) >= limits.after_close {
            return Some(Why::Closed(limits.after_close));
        }
        if turn.of_request >= limit {
            return Some(Why::Request(limit));
        }
        (turn.of_program >= row).then_some(Why::Row(row))
    }
}

/// Limits, and what has been seen.
#[derive(Default)]
pub(super) struct Share {
    /// Time of the next look.
    next: AtomicU64,
    seen: SpinLock<Seen>,
    limits: SpinLock<TimeLimits>,
}

impl Share {
    pub(super) fn set_limits(&self, limits: TimeLimits) {
        *self.limits.lock() = limits;
        self.next.store(0, Ordering::Release);
    }

    /// The limits when it is time for a look; only one of several that ask at the same time gets them.
    fn due(&self, now: Ktime) -> Option<TimeLimits> {
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
}

/// Looks when it is time to, and ends the oldest request when it has kept the engine for too long.
pub(super) fn look(device: &Device) {
    let check = device.hangcheck();
    let now = device.uncore().clock().outside();
    let Some(limits) = check.share.due(now) else {
        return;
    };
    if device.check_live().is_err() || device.engine().is_resetting() {
        return;
    }
    let resets = device.reset_count();
    device.timeline().retire();
    if check.suspended() || device.debug_hook().holds(device.uncore()) {
        // Time goes on without being counted.
        check.share.seen.lock().at = now;
        return;
    }
    let first = device.timeline().first();
    let front = first.as_ref().and_then(|first| {
        let program = first.uses.program()?;
        let waiting = &device.user().waiting;
        let others = device.timeline().has_other(&program) || waiting.has_other(&program);
        Some(Front {
            seqno: first.seqno,
            program,
            others,
        })
    });
    let why = check.share.seen.lock().look(now, front, &limits);
    if let (Some(first), Some(why)) = (first, why) {
        check.share.seen.lock().turn = None;
        check.forget();
        end(device, &first, resets, why);
    }
}
