//! Hang check: does the engine get on, and does one program keep it from others?
//!
//! i915's hang check compared active heads over time and kept a score (`i915_hangcheck_elapsed` up to Linux 4.15); later
//! ones send heartbeats instead, which end every request that takes long. Here time alone is no reason while no other
//! program waits (`share`): as long as threads retire, commands are parsed or requests end, the engine is left alone. Not
//! told from work: batches that start themselves for ever and draw in between; those that store are found late.
mod account;
mod queue;
mod share;

use alloc::format;
use alloc::string::String;

use kernel::sync::{AtomicU32, AtomicU64, Ordering, SpinLock};
use kernel::time::{Delta, Ktime, delay};
use kernel::{dev_dbg, dev_err, dev_warn};

use crate::device::Device;
use crate::fence::Fence;
use crate::r#gen::registers::reg::{ACTHD, PRB0_HEAD};
use crate::timeline::Pending;
use regs::ids::RegId;

pub use self::account::Account;
pub(crate) use self::account::Ledger;
pub(crate) use self::queue::has_room;
use self::share::Share;
pub use self::share::TimeLimits;
pub(crate) use self::share::{Program, Waiting, Waits};

/// Time between the two samples of a wait that has timed out.
const SAMPLE_PERIOD: Delta = Delta::from_micros(10);
/// Time between two samples of the engine, unless another is set: ten of them are the interval of i915's heartbeats.
const SAMPLE: Delta = Delta::from_millis(250);
/// Score for a sample in which nothing at all has moved, and for one in which only the parser has, within commands
/// that it has been at before: that may be an endless loop (i915 `HUNG` and `BUSY`, in that order of size).
const SCORE_STILL: u32 = 6;
const SCORE_LOOP: u32 = 1;
/// TIMEOUT: score of a hang. Ten samples of standing still: i915 needs some seconds as well.
const SCORE_HUNG: u32 = 60;

/// Statistics that count what threads and fixed functions have done.
const COUNTERS: [RegId; 9] = [
    RegId::IaVerticesCount,
    RegId::IaPrimitivesCount,
    RegId::VsInvocationCount,
    RegId::GsInvocationCount,
    RegId::GsPrimitivesCount,
    RegId::ClInvocationCount,
    RegId::ClPrimitivesCount,
    RegId::PsInvocationCount,
    RegId::PsDepthCount,
];

/// Where the engine stands.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Sample {
    /// Address of the command being parsed.
    pub acthd: u32,
    /// Ring head.
    pub head: u32,
    /// Units that are done.
    pub instdone: [u32; 2],
    /// Statistics: vertices, primitives, threads, pixels.
    pub counters: [u32; 9],
}

impl Sample {
    /// Looks at the engine.
    #[must_use]
    pub fn take(device: &Device) -> Self {
        let uncore = device.uncore();
        let tables = device.info().tables;
        // What a device does not count stands still.
        let read = |id: RegId| {
            (tables.register_desc)(id).map_or(0, |desc| uncore.io().read32(desc.offset as usize))
        };
        Sample {
            acthd: uncore.read(ACTHD),
            head: uncore.read(PRB0_HEAD),
            instdone: [RegId::Instdone, RegId::Instdone1].map(read),
            // The lower halves are enough to see them move.
            counters: COUNTERS.map(read),
        }
    }
}

/// What a sample says, compared with the one before.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Verdict {
    /// Work gets done.
    Progress,
    /// Only the parser or a unit moves, as it has before.
    Loop,
    /// Nothing moves.
    Still,
}

/// What has been seen of one request.
#[derive(Clone, Copy, Debug)]
struct Seen {
    /// The oldest request under way.
    seqno: u32,
    sample: Sample,
    /// Highest address that the parser has been seen at.
    furthest: u32,
    score: u32,
}

impl Seen {
    fn new(seqno: u32, sample: Sample) -> Self {
        Seen {
            seqno,
            sample,
            furthest: sample.acthd,
            score: 0,
        }
    }

    fn judge(&self, now: &Sample) -> Verdict {
        let before = &self.sample;
        if now.head != before.head || now.counters != before.counters {
            return Verdict::Progress;
        }
        if now.acthd > self.furthest {
            return Verdict::Progress;
        }
        if now == before {
            Verdict::Still
        } else {
            Verdict::Loop
        }
    }

    /// Takes a sample in; whether the engine hangs.
    fn look(&mut self, seqno: u32, now: Sample) -> bool {
        if self.seqno != seqno {
            *self = Seen::new(seqno, now);
            return false;
        }
        match self.judge(&now) {
            Verdict::Progress => self.score = 0,
            Verdict::Loop => self.score += SCORE_LOOP,
            Verdict::Still => self.score += SCORE_STILL,
        }
        self.furthest = self.furthest.max(now.acthd);
        self.sample = now;
        self.score >= SCORE_HUNG
    }
}

/// What the looks of all who look have in common.
#[derive(Default)]
pub struct Hangcheck {
    /// Time of the next sample.
    next: AtomicU64,
    seen: SpinLock<Option<Seen>>,
    suspensions: AtomicU32,
    /// Time between two samples in nanoseconds, 0 for [`SAMPLE`].
    period: AtomicU64,
    share: Share,
}

/// Why a request is ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Why {
    /// The engine stands still, or goes round in a loop.
    Hangs,
    /// Its file is closed, and the work of its process's closed files has gone on for so long since then.
    Closed(Delta),
    /// It has kept the engine for so long while others waited.
    Request(Delta),
    /// Its program has, with one request after another.
    Row(Delta),
    /// The processes of its family have.
    Family(Delta),
}

impl Why {
    fn reason(self, first: &Pending) -> String {
        let (seqno, client) = (first.seqno, first.fence.timeline_name());
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
            Why::Family(limit) => format!(
                "request {seqno} of {client} is ended: the program and those that belong to it have \
                kept the device for {limit} while others waited"
            ),
        }
    }
}

impl Hangcheck {
    /// Whether standing still is no hang for now: a debugger has halted a thread and looks at it. Asked before every
    /// sample; when it ends, the score begins anew.
    #[must_use]
    pub fn suspended(&self) -> bool {
        self.suspensions.load(Ordering::Acquire) > 0
    }

    fn period(&self) -> Delta {
        match self.period.load(Ordering::Relaxed) {
            0 => SAMPLE,
            nanos => Delta::from_nanos(nanos),
        }
    }

    /// Sets the time between two samples.
    pub(crate) fn set_period(&self, period: Delta) {
        self.period.store(period.as_nanos(), Ordering::Relaxed);
        self.next.store(0, Ordering::Release);
    }

    /// Sets how long one program may keep the engine.
    pub(crate) fn set_limits(&self, limits: TimeLimits) {
        self.share.set_limits(limits);
    }

    /// Whether it is time for a sample; only one of several that ask at the same time hears yes.
    fn is_due(&self, now: Ktime) -> bool {
        let next = self.next.load(Ordering::Acquire);
        let after = (now + self.period()).as_nanos();
        now.as_nanos() >= next
            && self
                .next
                .compare_exchange(next, after, Ordering::AcqRel, Ordering::Acquire)
                .is_ok()
    }

    fn forget(&self) {
        *self.seen.lock() = None;
    }
}

/// Keeps hangs from being looked for; see [`Device::suspend_hang_check`].
pub struct Suspension {
    device: Device,
}

impl Suspension {
    pub(crate) fn new(device: &Device) -> Self {
        let check = device.hangcheck();
        check.suspensions.fetch_add(1, Ordering::AcqRel);
        Suspension {
            device: device.clone(),
        }
    }
}

impl Drop for Suspension {
    fn drop(&mut self) {
        let check = self.device.hangcheck();
        check.forget();
        check.suspensions.fetch_sub(1, Ordering::AcqRel);
    }
}

/// Takes a sample when it is time for one, and resets the device when it hangs.
pub(crate) fn watch(device: &Device) {
    share::look(device);
    let check = device.hangcheck();
    if !check.is_due(device.uncore().clock().now()) || device.check_live().is_err() {
        return;
    }
    let resets = device.reset_count();
    device.timeline().retire();
    let first = device.timeline().first();
    let held = check.suspended() || device.debug_hook().holds(device.uncore());
    let Some(first) = first.filter(|_| !held && !device.engine().is_resetting()) else {
        check.forget();
        return;
    };
    let sample = Sample::take(device);
    let hangs = {
        let mut seen = check.seen.lock();
        seen.get_or_insert(Seen::new(first.seqno, sample))
            .look(first.seqno, sample)
    };
    if hangs {
        check.forget();
        end(device, &first, resets, Why::Hangs);
    }
}

/// Records the error state of a request that has not ended after `timeout`, unless it ends while being looked at.
pub(crate) fn timed_out(device: &Device, fence: &Fence, timeout: Delta) {
    if device.debug_hook().holds(device.uncore()) {
        return;
    }
    let before = Sample::take(device);
    delay(device.uncore().clock(), SAMPLE_PERIOD);
    device.timeline().signal();
    if fence.status().is_some() {
        return;
    }
    let verdict = if Sample::take(device) == before {
        "the engine stands still"
    } else {
        "the engine is still moving"
    };
    let seqno = fence.seqno();
    let reason = format!("request {seqno} not done after {timeout}: {verdict}");
    // The waiting task is told, and its caller reports it.
    dev_dbg!(device, "{reason}");
    device.interrupts().record(&reason, true);
}

/// Resets a device to end the oldest request, unless that has just come to its end, or another thread has done so:
/// `resets` is their number when there was reason to.
fn end(device: &Device, first: &Pending, resets: u32, why: Why) {
    let _one = device.user().reset.lock(device.uncore().clock());
    if device.reset_count() != resets {
        return;
    }
    device.timeline().signal();
    if first.fence.status().is_some() {
        return;
    }
    let name = first.fence.timeline_name();
    let reason = why.reason(first);
    let program = first.uses.program();
    match why {
        // i915 makes no error state of it either (`__reset_context`), and says so with little emphasis.
        Why::Closed(_) => dev_warn!(device, "{reason}"),
        Why::Hangs | Why::Request(_) | Why::Row(_) | Why::Family(_) => {
            dev_err!(device, "{reason}");
            device.interrupts().record(&reason, true);
        }
    }
    if let Some(program) = &program {
        settle(device, program, first.seqno, &name, why);
    }
    if let Err(error) = device.reset_alone(Some(first.seqno)) {
        dev_err!(device, "the reset after {reason:?} failed: {error}");
    }
}

/// What the end of a request means for the program that has submitted it.
fn settle(device: &Device, program: &Program, seqno: u32, name: &str, why: Why) {
    let now = device.uncore().clock().outside();
    let (user, account) = (device.user(), program.account());
    let unfair = |limit| {
        user.ledger.note(&account, now);
        if account.mark_unfair(now, limit) {
            dev_err!(
                device,
                "{name} is banned: requests of it have been ended three times because others waited"
            );
        }
    };
    match why {
        // It is found out late when the model is slow, or goes round for ever.
        Why::Hangs => {
            if let Some(limit) = device.hangcheck().share.kept_from_others(seqno) {
                unfair(limit);
            }
        }
        Why::Closed(_) => {
            // Each further file would have its time otherwise.
            let left = |other: &Program| other.client().is_closed() && other.is_of_process(program);
            device.timeline().cancel(left);
            if has_other(device, |other| other.is_other_than(program)) {
                user.ledger.note(&account, now);
            }
        }
        Why::Request(limit) | Why::Row(limit) | Why::Family(limit) => {
            if matches!(why, Why::Row(_)) {
                // What it has queued behind would be the next row.
                device
                    .timeline()
                    .cancel(|other| other.is_of_process(program));
            }
            unfair(limit);
        }
    }
}

/// Whether such a program has a request under way, or waits for one.
fn has_other(device: &Device, is_it: impl Fn(&Program) -> bool) -> bool {
    device.timeline().has_program(&is_it) || device.user().waiting.has(&is_it)
}

#[cfg(test)]
mod tests {
    use super::*;

    const IDLE: Sample = Sample {
        acthd: 0x1000,
        head: 0x40,
        instdone: [0; 2],
        counters: [0; 9],
    };

    /// Number of samples after which `next` hangs, if within 1000.
    fn samples(next: impl Fn(u32) -> (u32, Sample)) -> Option<u32> {
        let mut seen = Seen::new(1, IDLE);
        (1..1000).find(|step| {
            let (seqno, sample) = next(*step);
            seen.look(seqno, sample)
        })
    }

    #[test]
    fn only_what_does_not_get_on_hangs() {
        assert_eq!(samples(|_| (1, IDLE)), Some(10), "two and a half seconds");
        // Pixels that come out, however long it takes.
        let pixels = |step| {
            let mut sample = IDLE;
            sample.counters[7] = step;
            (1, sample)
        };
        assert_eq!(samples(pixels), None);
        // Many requests, each at the same place.
        assert_eq!(samples(|step| (step, IDLE)), None);
        // A long batch.
        let batch = |step| {
            let acthd = 0x1000 + step * 4;
            (1, Sample { acthd, ..IDLE })
        };
        assert_eq!(samples(batch), None);
    }

    #[test]
    fn a_loop_is_found_later() {
        let jumps = |step| {
            let acthd = 0x1000 + step % 3 * 8;
            (1, Sample { acthd, ..IDLE })
        };
        let found = samples(jumps);
        assert!(found.is_some_and(|n| (60..70).contains(&n)), "{found:?}");
    }
}
