//! Memory that threads get.
//! ValleyView volume 2 part 2, Per Thread Scratch Space of 3DSTATE_PS and 3DSTATE_VS.
//! Looks at both ends of the memory, not at all of its pages.

use alloc::format;
use alloc::string::String;

use super::{Id, rule, table};
use crate::check::{Rule, View, When};

pub const SCRATCH_PS: Rule = rule(
    "scratch-ps",
    "there is scratch space for as many PS threads as there may be",
    "3DSTATE_PS, Per Thread Scratch Space",
    When::Draw,
    |v| {
        let s = table::State3dPs::from_dwords(v.kept(Id::State3dPs)?);
        let wm = table::State3dWm::from_dwords(v.kept(Id::State3dWm)?);
        let space = (s.scratch_space_base_pointer(), s.per_thread_scratch_space());
        wm.thread_dispatch_enable()
            .then(|| scratch(v, space, s.maximum_number_of_threads()))?
    },
);

pub const SCRATCH_VS: Rule = rule(
    "scratch-vs",
    "there is scratch space for as many VS threads as there may be",
    "3DSTATE_VS, Per Thread Scratch Space",
    When::Draw,
    |v| {
        let s = table::State3dVs::from_dwords(v.kept(Id::State3dVs)?);
        let space = (s.scratch_space_base_pointer(), s.per_thread_scratch_space());
        s.enable()
            .then(|| scratch(v, space, s.maximum_number_of_threads()))?
    },
);

fn scratch(v: &mut View<'_>, (base, power): (u32, u32), maximum: u32) -> Option<String> {
    // Neither base nor size: the kernel has none.
    if base == 0 && power == 0 {
        return None;
    }
    let (size, threads) = (1024_u32 << power.min(11), maximum + 1);
    let bytes = size.saturating_mul(threads);
    // Without its beginning there is nothing to compare with.
    let (true, false) = v.general(base, bytes) else {
        return None;
    };
    Some(format!(
        "{threads} threads with {size} bytes each need {bytes} bytes at {base:#x}, and there are fewer"
    ))
}
