//! How long a submission is waited for, and how it is told that it never ends.
//!
//! Counted in device time and in what the device did, so that every run is the same.

use std::sync::Arc;

use kernel::platform::Platform as _;
use kernel::time::Delta;
use mmio_mock::ModelPlatform;

use super::attend::{Attendant, Rest};

/// Time before the first look, and the longest between two.
const FIRST_STEP: Delta = Delta::from_micros(1);
const MAX_STEP: Delta = Delta::from_millis(1);
/// TIMEOUT: shortest time without progress, some million instructions: no thread of a frame has as many.
const MIN_STALL: Delta = Delta::from_millis(20);
/// Commands that every batch may have.
const MIN_COMMANDS: u64 = 1 << 22;

/// When a submission counts as endless.
pub struct Patience {
    timeout: Delta,
    stall: Delta,
    commands: u64,
    /// Primitives and blits.
    draws: u64,
}

impl Patience {
    /// `dwords` is what all buffers of the submission hold: a batch of more commands runs in circles.
    /// `circle` is how many commands the batch has when it is known to do so.
    pub fn new(timeout: Delta, dwords: u64, circle: Option<u64>) -> Self {
        let stall = Delta::from_nanos(timeout.as_nanos() / 10);
        Patience {
            timeout,
            stall: stall.max(MIN_STALL),
            commands: dwords.max(MIN_COMMANDS),
            // Some rounds: what it draws stands in the picture after the first.
            draws: circle.map_or(u64::MAX, |commands| commands * 2 + 16),
        }
    }

    /// Lets the device run until `done`; returns what is left of the time, and if it is none, why.
    /// `None` when the attendant wants no more of it.
    pub fn wait(
        &self,
        platform: &Arc<ModelPlatform>,
        attendant: Option<&dyn Attendant>,
        done: impl Fn() -> bool,
    ) -> Option<(Delta, String)> {
        let none = Delta::from_nanos(0);
        let clock = platform.clock();
        let start = clock.now();
        let mut deadline = start + self.timeout;
        let activity = platform.device().status().activity;
        let (commands, draws) = (activity.commands, activity.draws + activity.blits);
        let mut progress = Progress::of(platform);
        let mut since = start;
        let mut step = FIRST_STEP;
        loop {
            if done() {
                return Some((none, String::new()));
            }
            let now = clock.now();
            if now >= deadline {
                return Some((none, format!("after {} of device time", self.timeout)));
            }
            clock.relax(step.min(deadline - now));
            step = Delta::from_nanos(step.as_nanos() * 2).min(MAX_STEP);
            let rest = attendant.map_or(Rest::GoOn, |attendant| attendant.passed(platform));
            let before = now;
            let (seen, now) = (Progress::of(platform), clock.now());
            match rest {
                Rest::GoOn => {}
                Rest::Held => {
                    deadline = deadline + (now - before);
                    since = now;
                    step = FIRST_STEP;
                }
                Rest::Leave => return None,
            }
            let executed = seen.commands - commands;
            if executed > self.commands {
                let what = format!(
                    "after {executed} commands, more than its buffers can hold (the batch runs in circles), and {} of device time",
                    now - start
                );
                return Some((none, what));
            }
            let drawn = seen.draws + seen.blits - draws;
            if drawn > self.draws {
                let what = format!(
                    "after {drawn} draws and blits (the batch runs in circles), and {} of device time",
                    now - start
                );
                return Some((none, what));
            }
            if seen != progress {
                (progress, since) = (seen, now);
            } else if now - since >= self.stall {
                let what = format!(
                    "after {} of device time without a command executed or a thread started",
                    now - since
                );
                return Some((none, what));
            }
        }
    }
}

/// What changes when something gets done.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Progress {
    commands: u64,
    threads: [u64; mmio_mock::intel::status::UNITS],
    vertices: u64,
    objects: u64,
    pixels: u64,
    draws: u64,
    blits: u64,
    blit_rows: u64,
}

impl Progress {
    fn of(platform: &ModelPlatform) -> Self {
        let activity = platform.device().status().activity;
        Progress {
            commands: activity.commands,
            threads: activity.threads,
            vertices: activity.vertices,
            objects: activity.objects,
            pixels: activity.pixels,
            draws: activity.draws,
            blits: activity.blits,
            blit_rows: activity.blit_rows,
        }
    }
}
