//! How much a program may have queued before others.
//!
//! Requests of all run in the order in which they were queued. So what one program has queued is what others wait for.
//! i915 lets a program fill the ring of this family. Not modelled: priorities.
use super::account::Ledger;
use super::{Program, has_other};
use crate::device::Device;

/// Most requests of a process under way while another program has some or waits: frames of Mesa's are a few requests
/// each, and Mesa waits when two frames are under way.
const OF_PROCESS: usize = 16;
/// Most requests of a family while programs of other families have some or wait.
const OF_FAMILY: usize = 32;
/// The same of one whose limits of time are shortened.
const OF_BAD_FAMILY: usize = 1;

/// Whether a program may queue one more request now.
pub(crate) fn has_room(device: &Device, program: &Program) -> bool {
    let timeline = device.timeline();
    let own = timeline.count(|other| other.is_of_process(program));
    if own >= OF_PROCESS && has_other(device, |other| other.is_other_than(program)) {
        return false;
    }
    let kin = timeline.count(|other| other.is_kin_of(program));
    let most = most_of_family(&device.user().ledger, device, program);
    kin < most || !has_other(device, |other| other.is_stranger_to(program))
}

fn most_of_family(ledger: &Ledger, device: &Device, program: &Program) -> usize {
    let now = device.uncore().clock().outside();
    if ledger.is_held_back(&program.account(), now) {
        OF_BAD_FAMILY
    } else {
        OF_FAMILY
    }
}
