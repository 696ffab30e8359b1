//! The user of an open file: its process, its hangs, its bans.
//!
//! i915 `i915_gem_context.c`, `intel_reset.c` (`client_mark_guilty`), drm_file.c (`drm_file_update_pid`).
use alloc::string::String;

use kernel::sync::{AtomicBool, AtomicU32, AtomicU64, Ordering, SpinLock};
use kernel::time::{Delta, Ktime};

/// Hangs of a client within this time count more (i915 `I915_CLIENT_FAST_HANG_JIFFIES`).
const CLIENT_FAST_HANG: Delta = Delta::from_secs(60);
/// Within this time three ends of a client's work expel it, that is ended because others wait: about three in a row, each of which may have lasted for the
/// limit (see [`TimeLimits`](crate::TimeLimits)), which is added.
const LONG_RUN: Delta = Delta::from_secs(120);
/// Score of a client for a banned context, and for a fast hang; limit (i915 `I915_CLIENT_SCORE_*`).
const SCORE_CONTEXT_BAN: u32 = 3;
const SCORE_HANG_FAST: u32 = 1;
const SCORE_BANNED: u32 = 9;

/// Who uses an open file.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Who {
    /// Name of the process.
    pub name: String,
    /// Its number.
    pub pid: u32,
}

/// The user of one open file, and its hangs.
#[derive(Default)]
pub struct Client {
    score: AtomicU32,
    last: SpinLock<Option<Ktime>>,
    /// Number of the process that is noted, behind bit 32, which is set when one is.
    known: AtomicU64,
    who: SpinLock<Option<Who>>,
    /// The file has been closed, and for how many nanoseconds its work has gone on since then.
    closed: AtomicBool,
    after_close: AtomicU64,
    /// Times outside at which its work was ended for others, oldest first.
    ended: SpinLock<[Option<Ktime>; 2]>,
    expelled: AtomicBool,
}

impl Client {
    /// Notes that a process uses the file, whose name is asked for when it is another one than before: display servers
    /// open files for their clients (drm_file_update_pid). Files that have been master stay those of the first.
    pub fn identify(&self, process: u32, is_master: bool, name: impl FnOnce() -> String) {
        let now = 1 << 32 | u64::from(process);
        let before = self.known.load(Ordering::Relaxed);
        if before == now || before != 0 && is_master {
            return;
        }
        if self.known.swap(now, Ordering::Relaxed) == now {
            return;
        }
        let who = Who {
            name: name(),
            pid: process,
        };
        *self.who.lock() = Some(who);
    }

    /// Who uses the file, once it has been used.
    #[must_use]
    pub fn who(&self) -> Option<Who> {
        self.who.lock().clone()
    }

    /// Whether the client gets no more contexts.
    #[must_use]
    pub fn is_banned(&self) -> bool {
        self.is_expelled() || self.score.load(Ordering::Relaxed) >= SCORE_BANNED
    }

    /// Notes that the file is closed: its program does not look any more at what comes of its work.
    pub fn close(&self) {
        self.closed.store(true, Ordering::Release);
    }

    /// Whether the file is closed.
    #[must_use]
    pub fn is_closed(&self) -> bool {
        self.closed.load(Ordering::Acquire)
    }

    /// Adds time for which its work has kept the engine after it was closed; how much that is now.
    pub(crate) fn add_after_close(&self, span: Delta) -> Delta {
        let nanos = span.as_nanos();
        let before = self.after_close.fetch_add(nanos, Ordering::Relaxed);
        Delta::from_nanos(before.saturating_add(nanos))
    }

    /// Nothing of it runs any more: all its contexts are banned.
    pub fn expel(&self) {
        self.expelled.store(true, Ordering::Release);
    }

    /// Whether nothing of it may run any more.
    #[must_use]
    pub fn is_expelled(&self) -> bool {
        self.expelled.load(Ordering::Acquire)
    }

    /// Its work is ended because it has kept the engine from others for `limit`; expels it when that is the third time
    /// in a row. Whether that is so.
    pub(crate) fn mark_unfair(&self, now: Ktime, limit: Delta) -> bool {
        let oldest = {
            let mut ended = self.ended.lock();
            let oldest = ended[0];
            *ended = [ended[1], Some(now)];
            oldest
        };
        let expelled = oldest.is_some_and(|oldest| now < oldest + LONG_RUN + limit + limit);
        if expelled {
            self.expel();
        }
        expelled
    }

    /// A request of one of its contexts hung; `banned` when that has banned the context.
    pub(crate) fn mark_guilty(&self, now: Ktime, banned: bool) {
        let mut score = if banned { SCORE_CONTEXT_BAN } else { 0 };
        let before = self.last.lock().replace(now);
        if before.is_some_and(|before| now < before + CLIENT_FAST_HANG) {
            score += SCORE_HANG_FAST;
        }
        self.score.fetch_add(score, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_that_of_the_process_that_uses_it() {
        let client = Client::default();
        let uses = |process, is_master, name: &str| {
            client.identify(process, is_master, || name.into());
            client.who().map(|who| (who.name, who.pid))
        };
        let is = |name: &str, pid| Some((name.into(), pid));
        assert_eq!(uses(7, true, "Xorg"), is("Xorg", 7));
        assert_eq!(uses(8, true, "glxgears"), is("Xorg", 7));
        assert_eq!(uses(8, false, "glxgears"), is("glxgears", 8));
        assert_eq!(uses(8, false, "renamed"), is("glxgears", 8));
    }
}
