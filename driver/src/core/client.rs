//! The user of an open file: its process, its hangs, its bans.
//!
//! i915 `i915_gem_context.c`, `intel_reset.c` (`client_mark_guilty`), drm_file.c (`drm_file_update_pid`).
use alloc::string::String;
use alloc::sync::Arc;

use kernel::sync::{AtomicBool, AtomicU32, AtomicU64, Ordering, SpinLock};
use kernel::time::{Delta, Ktime};

use crate::core::account::Account;

/// Hangs of a client within this time count more (i915 `I915_CLIENT_FAST_HANG_JIFFIES`).
const CLIENT_FAST_HANG: Delta = Delta::from_secs(60);
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
    /// The file has been closed.
    closed: AtomicBool,
    /// What its requests count for where the process is not known.
    account: Arc<Account>,
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
        self.score.load(Ordering::Relaxed) >= SCORE_BANNED
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

    /// What its requests count for where the process is not known.
    pub(crate) fn account(&self) -> &Arc<Account> {
        &self.account
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
