//! Samples of the engine, and what they say: does it get on?
//!
//! i915's hang check compared active heads over time and kept a score (`i915_hangcheck_elapsed` up to Linux 4.15).
use kernel::sync::{AtomicU32, AtomicU64, Ordering, SpinLock};
use kernel::time::{Delta, Ktime};
use regs::ids::RegId;

use crate::core::share::Share;
use crate::intel::r#gen::{DeviceInfo, EngineInfo};
use crate::intel::registers::reg::{ACTHD, PRB0_HEAD};
use crate::intel::uapi::context::CLASS_RENDER;
use crate::intel::uncore::EngineRegisters;

/// Time between two samples of the engine, unless another is set: ten of them are the interval of i915's heartbeats.
const SAMPLE: Delta = Delta::from_millis(250);
/// Score for a sample in which nothing at all has moved, and for one in which only the parser has, within commands
/// that it has been at before: that may be an endless loop (i915 `HUNG` and `BUSY`, in that order of size).
const SCORE_STILL: u32 = 6;
const SCORE_LOOP: u32 = 1;
/// TIMEOUT: score of a hang. Ten samples of standing still: i915 needs some seconds as well.
const SCORE_HUNG: u32 = 60;

/// TIMEOUT: looks at which an engine is at something odd, and the time of the device that has to pass between two. The few commands behind
/// a number take less. The host's time is not enough: a busy host may stop the device for long between two commands.
const MOST_STRAY: u32 = 4;
const STRAY_STEP: Delta = Delta::from_micros(10);

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
    /// Looks at an engine.
    pub(crate) fn take(
        device: &DeviceInfo,
        engine: &EngineInfo,
        registers: &EngineRegisters,
    ) -> Self {
        let io = registers.uncore().io();
        let _awake = registers.uncore().awake();
        // What a device does not count stands still.
        let at = |id: RegId, base: u32| {
            let desc = (device.tables.register_desc)(id);
            desc.map_or(0, |desc| io.read32((desc.offset + base) as usize))
        };
        let (acthd, head) = (registers.read(ACTHD), registers.read(PRB0_HEAD));
        if engine.class != CLASS_RENDER {
            // What the pipelines do is work of the render engine.
            return Sample {
                acthd,
                head,
                instdone: [at(RegId::Instdone, engine.base), 0],
                counters: [0; 9],
            };
        }
        Sample {
            acthd,
            head,
            instdone: [RegId::Instdone, RegId::Instdone1].map(|id| at(id, 0)),
            // The lower halves are enough to see them move.
            counters: COUNTERS.map(|id| at(id, 0)),
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
pub(super) struct Seen {
    /// The oldest request under way.
    seqno: u32,
    sample: Sample,
    /// Highest address that the parser has been seen at.
    furthest: u32,
    score: u32,
}

impl Seen {
    /// The first sample of a request.
    pub(super) fn new(seqno: u32, sample: Sample) -> Self {
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
    pub(super) fn look(&mut self, seqno: u32, now: Sample) -> bool {
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

/// What no engine does for long whose ring and status page are as the driver and the device have written them.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Odd {
    /// It is at work though no request is under way; the number of the last.
    Idle(u32),
    /// It is in the commands of the request of a number that has been stored.
    Lingers(u32),
    /// It has left those of the request of a number that has not been stored.
    Skipped(u32),
}

/// How often in a row an engine has been seen at the same odd thing.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Stray {
    odd: Option<Odd>,
    looks: u32,
    /// The device's time at the last of them.
    at: Ktime,
}

impl Stray {
    /// Takes a look in; whether the engine has been seen at it for so long that a batch must have written over the ring or the
    /// status page.
    pub(super) fn look(&mut self, odd: Option<Odd>, now: Ktime) -> bool {
        if self.odd != odd {
            *self = Stray {
                odd,
                looks: 0,
                at: now,
            };
        } else if now < self.at + STRAY_STEP {
            // The device has not run since.
            return false;
        }
        self.at = now;
        self.looks += 1;
        odd.is_some() && self.looks >= MOST_STRAY
    }
}

/// Requests that were not blamed though they seemed to hang: what the engine did was not what the driver had told it.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Spared {
    seqno: u32,
    times: usize,
}

impl Spared {
    /// Whether a request is spared once more, of at most so many times.
    pub(super) fn once_more(&mut self, seqno: u32, most: usize) -> bool {
        if self.seqno != seqno {
            *self = Spared { seqno, times: 0 };
        }
        self.times += 1;
        self.times <= most
    }
}

/// What the looks of all who look have in common.
#[derive(Default)]
pub struct Hangcheck {
    /// Time of the next sample.
    next: AtomicU64,
    pub(super) suspensions: AtomicU32,
    /// Time between two samples in nanoseconds, 0 for [`SAMPLE`].
    period: AtomicU64,
}

/// What is known of one engine.
#[derive(Default)]
pub struct Check {
    pub(super) seen: SpinLock<Option<Seen>>,
    /// By the device's time, and by that of programs.
    pub(super) stray: [SpinLock<Stray>; 2],
    pub(super) spared: SpinLock<Spared>,
    pub(super) share: Share,
}

impl Check {
    /// The score begins anew.
    pub(super) fn forget(&self) {
        *self.seen.lock() = None;
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

    /// Whether it is time for a sample; only one of several that ask at the same time hears yes.
    pub(super) fn is_due(&self, now: Ktime) -> bool {
        let next = self.next.load(Ordering::Acquire);
        let after = (now + self.period()).as_nanos();
        now.as_nanos() >= next
            && self
                .next
                .compare_exchange(next, after, Ordering::AcqRel, Ordering::Acquire)
                .is_ok()
    }
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
    fn an_engine_is_astray_when_it_has_had_time_to_leave() {
        let odd = Some(Odd::Skipped(7));
        let at = |micros: u64| Ktime::from_nanos(micros * 1000);
        let mut stray = Stray::default();
        // The host does not run the device.
        assert!((0..100).all(|_| !stray.look(odd, at(50))));
        let mut looks = (1..100).map(|step| stray.look(odd, at(50 + 10 * step)));
        assert_eq!(looks.position(|is_astray| is_astray), Some(2));
        // It has been elsewhere in between.
        assert!(!stray.look(None, at(2000)));
        assert!(!stray.look(odd, at(3000)));
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
