//! What the driver remembers of processes that keep the device from others.
//!
//! i915 bans contexts, and files after hangs (`i915_gem_context.c`): a process that opens the device anew begins anew. Here
//! time and bans are those of the process that submits, and its family has a history. Not modelled: users.
use alloc::collections::{BTreeMap, BTreeSet, VecDeque};
use alloc::sync::Arc;

use kernel::error::{Result, code::ENOMEM};
use kernel::sync::{AtomicBool, AtomicU64, Ordering, SpinLock};
use kernel::time::{Delta, Ktime};

use crate::core::groups::Group;
use crate::core::limits::TimeLimits;
use crate::core::pace::{Pace, Speed};

mod budget;
pub(crate) use self::budget::{Budget, MOST_POINTS, Permit};

/// Ends within this time and the limits of the requests ended are three in a row (i915 `CONTEXT_FAST_HANG_JIFFIES`).
const IN_A_ROW: Delta = Delta::from_secs(120);
/// How long an end is held against a family.
const MEMORY: Delta = Delta::from_secs(600);
/// Ends of a family that leave its limits as they are. Each further one halves them.
const FREE_OF_FAMILY: usize = 2;
/// The same for everybody: families with ends. A process can leave its family, though not for one of its choice.
const FREE_FAMILIES: usize = 5;
/// Most halvings for a family, and for everybody.
const MOST_OF_FAMILY: u32 = 3;
const MOST_OF_ALL: u32 = 2;
/// For how long a process that has queued something counts as one that may wait soon again.
const ACTIVE: Delta = Delta::from_secs(2);
/// Most ends that are kept, and most banned processes without a request; an end takes seconds at least.
const MOST_ENDS: usize = 1024;
const MOST_BANNED: usize = 4096;
/// Accounts from which on those that are not needed are looked for.
const SWEEP: usize = 256;

/// Which process makes a call, in numbers that no other process has, before or after.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Origin {
    /// The process; 0 when it is not known.
    pub process: u64,
    /// The processes that it belongs to: what one of them does is held against all of them
    /// ([`TimeLimits`]).
    pub family: u64,
    /// What it may have in common with processes of other families, as long as nothing is known of those.
    pub group: Group,
}

/// What one process has done; of a process that is not known, one file of it.
#[derive(Default)]
pub struct Account {
    origin: Origin,
    banned: AtomicBool,
    /// Times outside at which its work was ended for others, oldest first.
    ended: SpinLock<[Option<Ktime>; 2]>,
    /// For how many nanoseconds the work of its closed files has gone on.
    after_close: AtomicU64,
    /// When it has queued something last: nanoseconds outside.
    queued: AtomicU64,
    /// How long its requests take, those of its family, and those of all.
    pace: Pace,
    of_family: Arc<Family>,
    of_all: Arc<Pace>,
    /// Points of timelines that it has.
    points: Arc<Budget>,
    /// Guarded pages of its contexts, and of those of all.
    pages: Arc<Budget>,
    pages_of_all: Arc<Budget>,
}

/// What the processes of a family share.
#[derive(Default)]
struct Family {
    pace: Pace,
    pages: Arc<Budget>,
}

impl Family {
    /// Whether the family is kept after its last process has ended: it was slow, or contexts of it still hold guarded pages,
    /// because a process of another family has their file open.
    fn is_remembered(&self, all: &Pace) -> bool {
        Arc::strong_count(&self.pages) > 1 || self.pace.is_slow_beside(all)
    }
}

impl Account {
    /// What the points of its sync objects count for.
    pub(crate) fn points(&self) -> &Arc<Budget> {
        &self.points
    }

    /// Room for guarded pages of a context, of `all` that there are: a process has a quarter of them, its family one half, and
    /// all processes three quarters, which leaves room for tables. `ENOMEM` when they have no more.
    pub(crate) fn take_pages(&self, count: usize, all: usize) -> Result<[Permit; 3]> {
        let number = |pages: usize| u32::try_from(pages).map_err(|_| ENOMEM);
        let count = number(count)?;
        let quarter = all / 4;
        Ok([
            self.pages.take(count, number(quarter)?)?,
            self.of_family.pages.take(count, number(2 * quarter)?)?,
            self.pages_of_all.take(count, number(3 * quarter)?)?,
        ])
    }

    /// The process queues a request.
    pub(crate) fn note_queued(&self, now: Ktime) {
        // Zero stands for never.
        self.queued.store(now.as_nanos().max(1), Ordering::Relaxed);
    }

    fn is_active(&self, now: Ktime) -> bool {
        let queued = self.queued.load(Ordering::Relaxed);
        queued != 0 && now < Ktime::from_nanos(queued) + ACTIVE
    }

    fn paces(&self) -> [&Pace; 3] {
        [&self.pace, &self.of_family.pace, &self.of_all]
    }

    /// A request of the process has ended, after it has had the engine for so long. For interrupt handlers as well.
    pub(crate) fn note_ended(&self, took: Delta, now: Ktime) {
        for pace in self.paces() {
            pace.note_ended(took, now);
        }
    }

    /// A request of the process takes long while others wait.
    pub(crate) fn note_slow(&self, now: Ktime) {
        for pace in self.paces() {
            pace.note_slow(now);
        }
    }

    /// Whether requests of the process have taken long lately, and of any process.
    pub(crate) fn is_slow(&self, now: Ktime) -> (bool, bool) {
        (self.pace.is_slow(now), self.of_all.is_slow(now))
    }

    /// How many requests its family may have under way before others.
    pub(crate) fn places_of_family(&self, now: Ktime) -> usize {
        self.of_family.pace.places(now)
    }

    /// What is known of its family.
    pub(crate) fn speed_of_family(&self, now: Ktime) -> Speed {
        self.of_family.pace.speed(now)
    }

    /// Whether nothing of the process runs any more.
    #[must_use]
    pub fn is_banned(&self) -> bool {
        self.banned.load(Ordering::Acquire)
    }

    /// The family of a process that is known.
    pub(crate) fn family(&self) -> Option<u64> {
        (self.origin.process != 0).then_some(self.origin.family)
    }

    /// Its group; a process that is not known is one by itself.
    pub(crate) fn group(self: &Arc<Self>) -> Group {
        if self.origin.process == 0 {
            // CAST: no address is longer.
            Group::of_one(Arc::as_ptr(self).addr() as u64)
        } else {
            self.origin.group
        }
    }

    /// Adds time for which the work of its closed files has kept the engine; how much that is now.
    pub(crate) fn add_after_close(&self, span: Delta) -> Delta {
        let nanos = span.as_nanos();
        let before = self.after_close.fetch_add(nanos, Ordering::Relaxed);
        Delta::from_nanos(before.saturating_add(nanos))
    }

    /// No work of closed files is left: the next has all of the time.
    pub(crate) fn has_no_closed_work(&self) {
        self.after_close.store(0, Ordering::Relaxed);
    }

    /// Its work is ended because it has kept the engine from others for `limit`; bans it when that is the third time in
    /// a row. Whether that is so.
    pub(crate) fn mark_unfair(&self, now: Ktime, limit: Delta) -> bool {
        let oldest = {
            let mut ended = self.ended.lock();
            let oldest = ended[0];
            *ended = [ended[1], Some(now)];
            oldest
        };
        let banned = oldest.is_some_and(|oldest| now < oldest + IN_A_ROW + limit + limit);
        if banned {
            self.banned.store(true, Ordering::Release);
        }
        banned
    }
}

/// Work that was ended while others waited.
struct End {
    at: Ktime,
    origin: Origin,
}

#[derive(Default)]
struct Inner {
    accounts: BTreeMap<u64, Arc<Account>>,
    families: BTreeMap<u64, Arc<Family>>,
    /// How long requests of all take.
    all: Arc<Pace>,
    /// Guarded pages of all contexts.
    pages: Arc<Budget>,
    /// Oldest first.
    ends: VecDeque<End>,
    /// Number of accounts that were left by the last sweep.
    left: usize,
}

impl Inner {
    /// Forgets processes of which there is nothing to remember.
    fn sweep(&mut self) {
        let recent: BTreeSet<u64> = self.ends.iter().map(|end| end.origin.process).collect();
        let mut banned = 0;
        self.accounts.retain(|process, account| {
            banned += usize::from(account.is_banned());
            Arc::strong_count(account) > 1
                || recent.contains(process)
                || account.pace.is_slow_beside(&self.all)
                || account.is_banned() && banned <= MOST_BANNED
        });
        self.families
            .retain(|_, family| Arc::strong_count(family) > 1 || family.is_remembered(&self.all));
        self.left = self.accounts.len();
    }
}

/// The accounts of all processes, and the ends of the last ten minutes.
#[derive(Default)]
pub(crate) struct Ledger(SpinLock<Inner>);

impl Ledger {
    /// The account of a process that is known.
    pub(crate) fn account(&self, origin: Origin) -> Option<Arc<Account>> {
        if origin.process == 0 {
            return None;
        }
        let mut inner = self.0.lock();
        if let Some(account) = inner.accounts.get(&origin.process) {
            return Some(Arc::clone(account));
        }
        if inner.accounts.len() >= SWEEP.max(2 * inner.left) {
            inner.sweep();
        }
        let account = Arc::new(Account {
            origin,
            of_family: Arc::clone(inner.families.entry(origin.family).or_default()),
            of_all: Arc::clone(&inner.all),
            pages_of_all: Arc::clone(&inner.pages),
            ..Account::default()
        });
        inner.accounts.insert(origin.process, Arc::clone(&account));
        Some(account)
    }

    /// Work of a process was ended while others waited.
    pub(crate) fn note(&self, account: &Account, now: Ktime) {
        let mut inner = self.0.lock();
        while (inner.ends.front()).is_some_and(|end| end.at + MEMORY <= now)
            || inner.ends.len() >= MOST_ENDS
        {
            inner.ends.pop_front();
        }
        inner.ends.push_back(End {
            at: now,
            origin: account.origin,
        });
    }

    /// Shows the accounts of processes that have queued something within the last seconds.
    pub(crate) fn each_active(&self, now: Ktime, mut look: impl FnMut(&Arc<Account>)) {
        let inner = self.0.lock();
        let active = inner.accounts.values();
        active
            .filter(|account| account.is_active(now))
            .for_each(&mut look);
    }

    /// The limits of a process: halved for each end of its family from the third on, down to an eighth; and for
    /// everybody down to a quarter, for each family with ends from the sixth on.
    pub(crate) fn limits(&self, account: &Account, now: Ktime, limits: &TimeLimits) -> TimeLimits {
        let (family, all) = self.halvings(account, now);
        limits.halved(family.max(all))
    }

    /// Whether the limits of the process's family are shortened.
    pub(crate) fn is_held_back(&self, account: &Account, now: Ktime) -> bool {
        self.halvings(account, now).0 > 0
    }

    /// How often the limits are halved: for its family, and for everybody.
    fn halvings(&self, account: &Account, now: Ktime) -> (u32, u32) {
        let inner = self.0.lock();
        if inner.ends.is_empty() {
            return (0, 0);
        }
        let recent = inner.ends.iter().filter(|end| now < end.at + MEMORY);
        let mut of_family = 0_usize;
        let mut families = BTreeSet::new();
        for end in recent {
            let kin = end.origin.process != 0 && end.origin.family == account.origin.family;
            of_family += usize::from(kin);
            families.insert(end.origin.family);
        }
        let steps = |count: usize, free: usize, most: u32| {
            u32::try_from(count.saturating_sub(free)).map_or(most, |steps| steps.min(most))
        };
        let family = steps(of_family, FREE_OF_FAMILY, MOST_OF_FAMILY);
        (family, steps(families.len(), FREE_FAMILIES, MOST_OF_ALL))
    }

    /// The shortest limits that there are.
    pub(crate) fn shortest(limits: &TimeLimits) -> TimeLimits {
        limits.halved(MOST_OF_FAMILY)
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]
    use alloc::vec::Vec;

    use super::*;

    fn at(seconds: u64) -> Ktime {
        Ktime::from_nanos(seconds * 1_000_000_000)
    }

    fn origin(process: u64, family: u64) -> Origin {
        Origin {
            process,
            family,
            group: Group::of_one(family),
        }
    }

    #[test]
    fn guarded_pages_count_for_a_process_and_its_family() {
        let ledger = Ledger::default();
        let take = |process, family| {
            let account = ledger.account(origin(process, family)).unwrap();
            account.take_pages(10, 100)
        };
        let mut first: Vec<_> = (0..2).map(|_| take(1, 1).unwrap()).collect();
        assert_eq!(take(1, 1).err(), Some(ENOMEM), "a quarter");
        let second: Vec<_> = (0..2).map(|_| take(2, 1).unwrap()).collect();
        let third = take(3, 1).unwrap();
        assert_eq!(take(4, 1).err(), Some(ENOMEM), "one half");
        first.extend((0..2).map(|_| take(5, 2).unwrap()));
        assert_eq!(take(6, 3).err(), Some(ENOMEM), "three quarters");
        drop((first, second, third));
        // What was refused has left nothing behind.
        let again: Vec<_> = (0..2).map(|_| take(1, 1).unwrap()).collect();
        assert_eq!(again.len(), 2);
        assert_eq!(take(1, 1).err(), Some(ENOMEM));
    }

    #[test]
    fn the_third_end_in_a_row_bans_a_process() {
        let account = Account::default();
        let minute = Delta::from_secs(60);
        assert!(!account.mark_unfair(at(0), minute));
        assert!(!account.mark_unfair(at(200), minute));
        assert!(!account.mark_unfair(at(240), minute), "four minutes");
        assert!(!account.is_banned());
        assert!(account.mark_unfair(at(300), minute));
        assert!(account.is_banned());
    }

    /// Seconds that a request of a process may take.
    fn limit(ledger: &Ledger, origin: Origin, now: u64) -> u64 {
        let account = ledger.account(origin).unwrap();
        let limits = ledger.limits(&account, at(now), &TimeLimits::default());
        limits.while_others_wait.as_nanos() / 1_000_000_000
    }

    #[test]
    fn a_family_with_ends_has_shorter_limits_for_ten_minutes() {
        let ledger = Ledger::default();
        let mut found = Vec::new();
        for process in 1..=7 {
            found.push(limit(&ledger, origin(process, 1), 100));
            ledger.note(&ledger.account(origin(process, 1)).unwrap(), at(100));
        }
        assert_eq!(found, [60, 60, 60, 30, 15, 7, 7]);
        assert_eq!(limit(&ledger, origin(8, 2), 100), 60, "another family");
        assert_eq!(limit(&ledger, origin(9, 1), 699), 7);
        assert_eq!(limit(&ledger, origin(9, 1), 700), 60);
    }

    #[test]
    fn ends_of_many_families_shorten_the_limits_of_all() {
        let ledger = Ledger::default();
        let mut found = Vec::new();
        for process in 1..=9 {
            found.push(limit(&ledger, origin(99, 99), 100));
            ledger.note(&ledger.account(origin(process, process)).unwrap(), at(100));
        }
        assert_eq!(found, [60, 60, 60, 60, 60, 60, 30, 15, 15]);
    }

    #[test]
    fn processes_are_forgotten_unless_there_is_something_to_remember() {
        let ledger = Ledger::default();
        let banned = ledger.account(origin(1, 1)).unwrap();
        for _ in 0..3 {
            banned.mark_unfair(at(1), Delta::from_secs(60));
        }
        drop(banned);
        let used = ledger.account(origin(2, 2)).unwrap();
        used.add_after_close(Delta::from_secs(1));
        ledger.note(&ledger.account(origin(3, 3)).unwrap(), at(1));
        for process in 10..10_000 {
            ledger.account(origin(process, process)).unwrap();
        }
        let kept = ledger.0.lock().accounts.len();
        assert!(kept <= SWEEP, "{kept}");
        assert!(ledger.account(origin(1, 1)).unwrap().is_banned());
        assert!(Arc::ptr_eq(&used, &ledger.account(origin(2, 2)).unwrap()));
        assert!(ledger.0.lock().accounts.contains_key(&3));
        assert!(ledger.account(origin(0, 0)).is_none());
    }
}
