//! How much a program may have queued before others.
//!
//! Requests of all run in the order in which they were queued. So what one program has queued is what others wait for.
//! i915 lets a program fill the ring of this family. Not modelled: priorities.
use alloc::vec::Vec;

use kernel::time::Ktime;

use crate::core::device::UserState;
use crate::core::pace::Speed;
use crate::core::program::{Mark, Program};
use crate::core::timeline::{Timeline, Work};
use crate::core::work;

/// Most requests of a process under way while another program has some, waits, or has queued some lately: frames of Mesa's are a few requests
/// each, and Mesa waits when two frames are under way.
const OF_PROCESS: usize = 16;
/// The same of one with requests that take long.
const OF_SLOW_PROCESS: usize = 2;
/// Most requests of a family whose limits of time are shortened, while programs of other families have some or wait. That
/// of other families depends on how long their requests take ([`Pace`](crate::core::pace::Pace)).
const OF_BAD_FAMILY: usize = 1;

/// Requests of all programs together from which on each has an equal share of so many: a program with fewer comes next.
/// The second when requests take long.
const OF_ALL: usize = 24;
const OF_ALL_SLOW: usize = 6;
/// The same for programs without one: fewer than the ring has room for (some 45), since a program that waits for room
/// there has the turn that others need to come next.
const OF_RING: usize = 36;

/// Most families not known as quick with requests under way, before further ones wait in the line: requests of so many are
/// before a newcomer. Few when requests take long, since the engine always has the next one then.
const OF_NEW: usize = 8;
const OF_SLOW: usize = 3;
/// The same of those of one group: what one program may have begun.
const OF_GROUP: usize = 3;

/// Most programs with requests under way that are usual.
const USUAL: usize = 64;

/// Programs that there are, and how many requests they have under way; taken in one pass.
pub(crate) struct Census<'a> {
    user: &'a UserState,
    now: Ktime,
    /// Requests under way.
    all: usize,
    /// Programs with some, and how many.
    busy: Vec<(Mark, usize)>,
    /// Families among them that are not known as quick, and their groups.
    unproven: Vec<((bool, u64), u64)>,
    /// Programs that wait, and processes that have queued something lately.
    others: Vec<Mark>,
}

impl<'a> Census<'a> {
    /// Looks at a time outside.
    pub(crate) fn take<W: Work>(
        user: &'a UserState,
        timeline: &Timeline<W>,
        now: Ktime,
    ) -> Census<'a> {
        // Interrupt handlers take the timeline's lock: memory is asked for before.
        let mut busy: Vec<(Mark, usize)> = Vec::with_capacity(USUAL);
        let mut unproven = Vec::with_capacity(USUAL);
        let all = timeline.each_program(|program| {
            let mark = program.mark();
            if let Some((_, count)) = busy.iter_mut().find(|(known, _)| *known == mark) {
                *count += 1;
                return;
            }
            busy.push((mark, 1));
            let is_quick = program.account().speed_of_family(now) == Speed::Quick;
            let family = mark.family();
            if !is_quick && !unproven.iter().any(|(known, _)| *known == family) {
                unproven.push((family, program.group().wide));
            }
        });
        let mut others = Vec::new();
        if all > 0 {
            user.waiting
                .each(timeline.context(), |mark| others.push(mark));
            // Between two of its frames a program waits for nothing.
            let active = |account: &_| others.push(Mark::of_process(account));
            user.ledger.each_active(now, active);
        }
        Census {
            user,
            now,
            all,
            busy,
            unproven,
            others,
        }
    }

    fn has(&self, is_it: impl Fn(&Mark) -> bool) -> bool {
        let mut all = (self.busy.iter().map(|(mark, _)| mark)).chain(&self.others);
        all.any(|mark| {
            work::one();
            is_it(mark)
        })
    }

    fn count(&self, is_it: impl Fn(&Mark) -> bool) -> usize {
        let found = self.busy.iter().filter(|(mark, _)| is_it(mark));
        found.map(|(_, count)| count).sum()
    }

    /// Number of families of a program's group that are not known as quick and have requests under way.
    fn unproven_like(&self, program: &Program) -> usize {
        let group = program.group().wide;
        let found = self.unproven.iter().filter(|(_, wide)| *wide == group);
        found.count()
    }

    /// Number of processes with requests under way.
    fn processes(&self) -> usize {
        let mut processes: Vec<_> = self.busy.iter().map(|(mark, _)| mark.process()).collect();
        processes.sort_unstable();
        processes.dedup();
        processes.len()
    }

    /// What is known of a program's family, when it may queue one more request now.
    pub(crate) fn room(&self, program: &Program) -> Option<Speed> {
        let speed = || program.account().speed_of_family(self.now);
        self.has_room(program).then(speed)
    }

    /// Whether a program may queue one more request now. One of which nothing runs any more may: it is told so.
    pub(crate) fn has_room(&self, program: &Program) -> bool {
        if self.all == 0 || program.is_banned() {
            // The usual case of a program that is alone.
            return true;
        }
        let (mark, account, now) = (program.mark(), program.account(), self.now);
        if !self.has(|other| other.is_other_than(&mark)) {
            return true;
        }
        let (slow, all_slow) = account.is_slow(now);
        let own = self.count(|other| other.process() == mark.process());
        let most = if slow { OF_SLOW_PROCESS } else { OF_PROCESS };
        if own >= most || self.all >= OF_RING {
            return false;
        }
        if !self.has(|other| !other.is_kin_of(&mark)) {
            return true;
        }
        let of_unproven = if all_slow { OF_SLOW } else { OF_NEW };
        if account.speed_of_family(now) != Speed::Quick
            && (self.unproven.len() >= of_unproven || self.unproven_like(program) >= OF_GROUP)
        {
            return false;
        }
        let of_all = if all_slow { OF_ALL_SLOW } else { OF_ALL };
        if self.all >= of_all && own > 0 && own >= (of_all / self.processes().max(1)).max(1) {
            return false;
        }
        let places = if self.user.ledger.is_held_back(&account, now) {
            OF_BAD_FAMILY
        } else {
            account.places_of_family(now)
        };
        self.count(|other| other.is_kin_of(&mark)) < places
    }
}
