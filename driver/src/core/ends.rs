//! Requests that are ended: what follows for their programs.
//!
//! i915 `intel_engine_heartbeat.c`, `kill_context`, `mark_guilty`. Not modelled: preemption.
use kernel::time::Ktime;

use crate::core::device::UserState;
use crate::core::program::Program;
use crate::core::reason::Why;
use crate::core::share::{Share, has_program};
use crate::core::timeline::{Pending, Timeline, Work};

/// What the end of a request means for the program that has submitted it, just before the reset; whether the program's
/// process is banned by it.
pub(crate) fn settle<W: Work>(
    share: &Share,
    (user, timeline): (&UserState, &Timeline<W>),
    ended: &Pending<W>,
    (why, now): (Why, Ktime),
) -> bool {
    let Some(program) = ended.work.program() else {
        return false;
    };
    let account = program.account();
    let unfair = |limit| {
        user.ledger.note(&account, now);
        account.mark_unfair(now, limit)
    };
    match why {
        // It is found out late when the model is slow, or goes round for ever.
        Why::Hangs => match share.kept_from_others(ended.seqno) {
            Some(limit) => unfair(limit),
            None => false,
        },
        Why::Closed(_) => {
            // Each further file would have its time otherwise.
            let left =
                |other: &Program| other.client().is_closed() && other.is_of_process(&program);
            timeline.cancel(left);
            if has_program(user, timeline, |other| other.is_other_than(&program)) {
                user.ledger.note(&account, now);
            }
            false
        }
        Why::Row(limit) => {
            // What it has queued behind would be the next row.
            timeline.cancel(|other| other.is_of_process(&program));
            unfair(limit)
        }
        Why::Request(limit) | Why::Family(limit) => unfair(limit),
    }
}
