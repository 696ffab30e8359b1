//! Whether there is address space for another connection's thread.
//!
//! Where it is limited (getrlimit(2), RLIMIT_AS). An allocation that fails ends a process. How many threads there are is the clients' choice, and their stacks are what they
//! take most; so some space is left for what all of them do.

use std::fs;
use std::sync::atomic::{AtomicUsize, Ordering};

use rustix::process::{Resource, getrlimit};

/// Bytes of a thread's stack: what the standard library takes where nothing is asked for.
pub const STACK: usize = 2 << 20;
/// Bytes that stacks leave.
const LEFT: usize = 16 << 20;
/// The least that is left in fact, when stacks that the C library has kept are counted as if they were.
const LEAST: usize = 4 << 20;
/// Bytes of stacks of threads that have ended which glibc keeps for the next (`glibc.pthread.stack_cache_size`). They are part of
/// what the process has taken.
const KEPT: usize = 40 << 20;

/// The stacks of threads that have ended.
#[derive(Default)]
pub struct Stacks {
    /// How many there are, as far as these threads are concerned.
    kept: AtomicUsize,
}

impl Stacks {
    /// Whether another thread may begin.
    pub fn allow(&self) -> bool {
        match left() {
            Some(left) => allows(left, self.kept.load(Ordering::Relaxed)),
            None => true,
        }
    }

    /// A thread has begun.
    pub fn begun(&self) {
        let take = |kept: usize| Some(kept.saturating_sub(1));
        // Cannot fail: there always is a new value.
        let _ = self
            .kept
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, take);
    }

    /// A thread ends.
    pub fn ended(&self) {
        // Each has a page that is not to be touched.
        let most = KEPT / (STACK + 4096);
        let give = |kept: usize| Some(most.min(kept + 1));
        let _ = self
            .kept
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, give);
    }
}

/// Whether so many bytes, and stacks that are kept, are enough for another thread.
fn allows(left: usize, kept: usize) -> bool {
    left >= LEAST && left + kept * STACK >= LEFT + STACK
}

/// Bytes of addresses that are left; none where they are not limited.
fn left() -> Option<usize> {
    let limit = getrlimit(Resource::As).current?;
    // proc(5): KiB of the process. Where it cannot be read the start of the thread tells.
    let text = fs::read_to_string("/proc/self/status").ok()?;
    let size = text.lines().find_map(|line| line.strip_prefix("VmSize:"))?;
    let taken: u64 = size.trim().strip_suffix(" kB")?.parse().ok()?;
    usize::try_from(limit.saturating_sub(taken << 10)).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stacks_leave_space_and_are_used_again() {
        assert!(allows(LEFT + STACK, 0));
        assert!(!allows(LEFT + STACK - 1, 0));
        // What ended threads have had serves the next ones.
        assert!(allows(LEFT, 1) && allows(LEFT - STACK, 2));
        assert!(!allows(LEFT - STACK, 1));
        assert!(!allows(LEAST - 1, 19));
        let stacks = Stacks::default();
        let kept = || stacks.kept.load(Ordering::Relaxed);
        stacks.begun();
        assert_eq!(kept(), 0);
        (0..100).for_each(|_| stacks.ended());
        assert_eq!(kept(), 19);
        stacks.begun();
        assert_eq!(kept(), 18);
    }
}
