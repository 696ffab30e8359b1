//! Resets by GDRST in PCI configuration space, which not all generations have.
//!
//! i915 `intel_reset.c`: `i915_do_reset` and `g4x_do_reset`. A reset that one generation alone has stands with its row, and so
//! does what it has to do around these. Not modelled: resets of the render engine alone.
use kernel::error::Result;
use kernel::time::{Delta, delay, read_poll_timeout};
use kernel::tock_registers::fields::FieldValue;
use regs::gen40::fields::GDRST as Gdrst;
use regs::gen40::reg::GDRST;

use crate::intel::uncore::{POLL, Uncore};

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

/// Resets the media domain, then the render domain; the enable bit falls when a domain is done.
pub fn domains(uncore: &Uncore) -> Result {
    one_by_one(
        uncore,
        &[Gdrst::RESET_DOMAIN::Media, Gdrst::RESET_DOMAIN::Render],
    )
}

/// Resets the media domain alone.
pub fn media(uncore: &Uncore) -> Result {
    one_by_one(uncore, &[Gdrst::RESET_DOMAIN::Media])
}

fn one_by_one(uncore: &Uncore, domains: &[FieldValue<u32, Gdrst::Register>]) -> Result {
    let outcome = domains.iter().try_for_each(|&domain| {
        let request = domain + Gdrst::RESET_ENABLE::SET;
        uncore.config().write8(request.value as u8, REGISTER);
        wait_for_enable(uncore)
    });
    uncore.config().write8(0, REGISTER);
    outcome
}

fn wait_for_enable(uncore: &Uncore) -> Result {
    read_poll_timeout(
        uncore.clock(),
        || Ok(Gdrst::RESET_ENABLE.is_set(u32::from(uncore.config().read8(REGISTER)))),
        |enabled| !*enabled,
        POLL,
        ACK_TIMEOUT,
    )?;
    Ok(())
}
