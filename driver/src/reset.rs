//! Device reset through PCI configuration space.
//!
//! i915 `intel_reset.c` `i915_do_reset`: GDRST at C0h. Not modelled: resets of single domains.
use kernel::error::Result;
use kernel::time::{Delta, delay, read_poll_timeout};

use crate::r#gen::registers::fields::GDRST as Gdrst;
use crate::r#gen::registers::reg::GDRST;
use crate::uncore::{POLL, Uncore};

/// Byte offset in configuration space.
const REGISTER: usize = GDRST.offset() as usize;

/// The reset must be asserted for at least 20 us (i915 waits 50).
const HOLD: Delta = Delta::from_micros(50);
/// TIMEOUT: for the status bit to follow (i915: 50 ms).
const ACK_TIMEOUT: Delta = Delta::from_millis(50);

/// Resets all domains and waits for the status bit to rise and fall; `ETIMEDOUT` when it does not.
pub fn full_domain_with_status(uncore: &Uncore) -> Result {
    // All domains (field value 0), enable.
    uncore
        .config()
        .write8(Gdrst::RESET_ENABLE::SET.value as u8, REGISTER);
    delay(uncore.clock(), HOLD);
    let asserted = wait_for_status(uncore, true);
    // The request is taken back even when it was not seen.
    uncore.config().write8(0, REGISTER);
    delay(uncore.clock(), HOLD);
    asserted?;
    wait_for_status(uncore, false)
}

fn wait_for_status(uncore: &Uncore, held: bool) -> Result {
    read_poll_timeout(
        uncore.clock(),
        || Ok(Gdrst::RESET_STATUS.is_set(u32::from(uncore.config().read8(REGISTER)))),
        |now| *now == held,
        POLL,
        ACK_TIMEOUT,
    )?;
    Ok(())
}
