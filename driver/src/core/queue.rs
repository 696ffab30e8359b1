//! How much a program may have queued before others.
//!
//! Requests of all run in the order in which they were queued. So what one program has queued is what others wait for.
//! i915 lets a program fill the ring of this family. Not modelled: priorities.
use kernel::time::Ktime;

use crate::core::device::UserState;
use crate::core::program::Program;
use crate::core::share::has_program;
use crate::core::timeline::{Timeline, Work};

/// Most requests of a process under way while another program has some, waits, or has queued some lately: frames of Mesa's are a few requests
/// each, and Mesa waits when two frames are under way.
const OF_PROCESS: usize = 16;
/// The same of one with requests that take long.
const OF_SLOW_PROCESS: usize = 2;
/// Most requests of a family while programs of other families have some or wait.
const OF_FAMILY: usize = 32;
/// The same of one with processes whose requests take long, and of one whose limits of time are shortened.
const OF_SLOW_FAMILY: usize = 4;
const OF_BAD_FAMILY: usize = 1;

/// Requests of all programs together from which on each has an equal share of so many: a program with fewer comes next.
/// The second when requests take long.
const OF_ALL: usize = 24;
const OF_ALL_SLOW: usize = 6;
/// The same for programs without one: fewer than the ring has room for (some 45), since a program that waits for room
/// there has the lock that others need to come next.
const OF_RING: usize = 36;

/// Whether a program may queue one more request now.
pub(crate) fn has_room<W: Work>(
    (user, timeline): (&UserState, &Timeline<W>),
    program: &Program,
    now: Ktime,
) -> bool {
    let all = timeline.pending();
    if all == 0 {
        // The usual case of a program that is alone.
        return true;
    }
    let (ledger, account) = (&user.ledger, program.account());
    let (slow, slow_family) = ledger.is_slow(&account, now);
    let most = if slow { OF_SLOW_PROCESS } else { OF_PROCESS };
    // Between two of its frames a program waits for nothing.
    let (active, strangers_active) = ledger.are_others_active(&account, now);
    let own = timeline.count(|other| other.is_of_process(program));
    let others = || active || has_program(user, timeline, |other| other.is_other_than(program));
    let of_all = if ledger.has_slow(now) {
        OF_ALL_SLOW
    } else {
        OF_ALL
    };
    let share = || (of_all / timeline.processes().max(1)).max(1);
    let has_share = all >= of_all && own > 0 && own >= share();
    if (own >= most || all >= OF_RING) && others() {
        return false;
    }
    let most = if ledger.is_held_back(&account, now) {
        OF_BAD_FAMILY
    } else if slow_family {
        OF_SLOW_FAMILY
    } else {
        OF_FAMILY
    };
    let kin = timeline.count(|other| other.is_kin_of(program));
    let strangers =
        || strangers_active || has_program(user, timeline, |other| other.is_stranger_to(program));
    kin < most && !has_share || !strangers()
}
