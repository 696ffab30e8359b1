//! How long a program may keep the engine, from others or after it has closed it.
//!
//! i915 sends a request of its own through the engine now and then and resets it when that does not come through in
//! time (`intel_engine_heartbeat.c`: two and a half seconds twice on this family), and cancels what closed contexts leave
//! behind (`kill_context`). Not modelled: requests that let others run in the middle, priorities.
use alloc::collections::BTreeMap;
use alloc::format;
use alloc::string::String;
use alloc::sync::Arc;

use kernel::sync::{AtomicU64, Ordering, SpinLock};
use kernel::time::{Delta, Ktime};

use crate::core::client::Client;
use crate::core::fence::Fence;

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

    /// Whether another program than this one waits.
    pub(crate) fn has_other(&self, program: &Program) -> bool {
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
pub(crate) struct Front {
    /// Its number.
    pub(crate) seqno: u32,
    /// Whose it is.
    pub(crate) program: Program,
    /// Whether another program waits.
    pub(crate) others: bool,
}

/// Why a request is ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Why {
    /// The engine stands still, or goes round in a loop.
    Hangs,
    /// Its file is closed, and its work has gone on for so long since then.
    Closed(Delta),
    /// It has kept the engine for so long while others waited.
    Request(Delta),
    /// Its program has, with one request after another.
    Row(Delta),
}

impl Why {
    /// What the log and the error state say of the request that a fence is of.
    pub(crate) fn reason(self, fence: &Fence) -> String {
        let (seqno, client) = (fence.seqno(), fence.timeline_name());
        match self {
            Why::Hangs => format!("GPU hang: request {seqno} of {client} stands still"),
            Why::Closed(grace) => format!(
                "request {seqno} of {client} is ended: the program has closed the device, \
                and its work has gone on for {grace} since then"
            ),
            Why::Request(limit) => format!(
                "request {seqno} of {client} is ended: it has kept the device for {limit} \
                while other programs waited"
            ),
            Why::Row(limit) => format!(
                "request {seqno} of {client} is ended: the program has kept the device for {limit} \
                with one request after another while others waited"
            ),
        }
    }
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

    /// Takes a look in; the reason when the oldest request is to end. `front` is missing when no request is under way
    /// that belongs to a program.
    pub(crate) fn look(
        &self,
        now: Ktime,
        front: Option<Front>,
        limits: &TimeLimits,
    ) -> Option<Why> {
        let mut seen = self.seen.lock();
        let why = seen.look(now, front, limits);
        if why.is_some() {
            seen.turn = None;
        }
        why
    }
}
