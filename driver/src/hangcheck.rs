//! Hang check: what a request that did not end in time is doing.
//!
//! i915's hang check compared the active head over time. Not modelled: checks while nobody waits.
use alloc::format;

use kernel::dev_err;
use kernel::time::{Delta, delay};

use crate::device::Device;
use crate::fence::Fence;
use crate::r#gen::registers::reg::{ACTHD, INSTDONE, PRB0_HEAD};

/// Time between the two samples.
const SAMPLE_PERIOD: Delta = Delta::from_micros(10);

/// Where the engine stands.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Sample {
    /// Address of the command being parsed.
    pub acthd: u32,
    /// Ring head.
    pub head: u32,
    /// Units that are done.
    pub instdone: u32,
}

impl Sample {
    /// Looks at the engine.
    #[must_use]
    pub fn take(device: &Device) -> Self {
        let uncore = device.uncore();
        Sample {
            acthd: uncore.read(ACTHD),
            head: uncore.read(PRB0_HEAD),
            instdone: uncore.read(INSTDONE),
        }
    }
}

/// Records the error state of a request that has not ended after `timeout`, unless it ends while being looked at.
pub(crate) fn timed_out(device: &Device, fence: &Fence, timeout: Delta) {
    let before = Sample::take(device);
    delay(device.uncore().clock(), SAMPLE_PERIOD);
    device.timeline().signal();
    if fence.status().is_some() {
        return;
    }
    let verdict = if Sample::take(device) == before {
        "the engine stands still"
    } else {
        "the engine is still moving"
    };
    let seqno = fence.seqno();
    let reason = format!("request {seqno} not done after {timeout}: {verdict}");
    dev_err!(device, "{reason}");
    device.interrupts().record(&reason);
}

/// Resets a device whose engine has not moved for long, unless it has just come to its end, or another waiter has done
/// so: `resets` is their number when the engine was seen to stand.
pub(crate) fn hung(device: &Device, resets: u32) {
    let _one = device.user().reset.lock(device.uncore().clock());
    if device.reset_count() != resets {
        return;
    }
    device.timeline().signal();
    if device.timeline().pending() == 0 {
        return;
    }
    let completed = device.timeline().completed().unwrap_or_default();
    let reason = format!(
        "GPU hang: request {} stands still",
        completed.wrapping_add(1)
    );
    dev_err!(device, "{reason}");
    device.interrupts().record(&reason);
    if let Err(error) = device.reset_alone() {
        dev_err!(device, "reset: {error}");
    }
}
