//! Looks through a batch of a client before it runs with privileges.
//!
//! i915 `i915_cmd_parser.c` (`intel_engine_cmd_parser`, `check_cmd`). The device does not carry out commands that name registers in
//! batches without privileges, though programs need some of them. So a copy that no program reaches is looked at and runs with
//! privileges when nothing in it is forbidden. Not modelled: jumps inside of a batch (generation 9).
use kernel::error::{Result, code::EINVAL};

use crate::intel::r#gen::checks::{Checks, LENGTH_BIAS, Length, Row, Rule, Zero};

/// MI_BATCH_BUFFER_END.
pub(super) const BATCH_END: u32 = 0x0500_0000;
/// Bits of a dword that are the offset of a register.
const REGISTER: u32 = 0x007f_fffc;

/// Bits of a header with the length of a command that names registers.
const REGISTERS_LENGTH: u32 = 0xff;

/// What has been found.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Verdict {
    /// Nothing is forbidden.
    Safe,
    /// Something is: the device is to leave it out (i915: `EACCES`, which user space does not see).
    Unsafe,
}

/// The dword with a number.
fn word(batch: &[u8], index: usize) -> Option<u32> {
    let bytes = batch.get(index.checked_mul(4)?..)?.first_chunk()?;
    Some(u32::from_le_bytes(*bytes))
}

/// Looks through the commands of a batch up to its end.
///
/// `EINVAL` for a header that no command begins with, for a command that is longer than the rest of the batch, and for a batch
/// that does not end by MI_BATCH_BUFFER_END.
pub(super) fn check(checks: &Checks, batch: &[u8]) -> Result<Verdict> {
    let mut rest = batch;
    let mut last: Option<&Row> = None;
    while let Some(header) = word(rest, 0) {
        if header == BATCH_END {
            return Ok(Verdict::Safe);
        }
        // Often the same command comes several times.
        last = last.filter(|row| row.is(header));
        last = last.or_else(|| checks.row(header));
        let length = match last.map(|row| row.length) {
            Some(Length::Fixed(length)) => length,
            Some(Length::Field(mask)) => (header & mask) + LENGTH_BIAS,
            None => match (checks.length)(header) {
                0 => return Err(EINVAL),
                mask => (header & mask) + LENGTH_BIAS,
            },
        };
        let (command, behind) = rest.split_at_checked(length as usize * 4).ok_or(EINVAL)?;
        if last.is_some_and(|row| !is_allowed(checks, row.rule, command)) {
            return Ok(Verdict::Unsafe);
        }
        rest = behind;
    }
    Err(EINVAL)
}

/// Whether a command is one that clients may use with privileges.
fn is_allowed(checks: &Checks, rule: Rule, command: &[u8]) -> bool {
    match rule {
        Rule::Allowed => true,
        // A batch that another one starts would not have been looked at (i915 `check_bbstart` without a list of jumps).
        Rule::Refused | Rule::Chain => false,
        Rule::Zero(zero) => are_zero(zero, command),
        Rule::Registers { step, zero } => {
            // i915 takes a store or load of one register for three dwords whatever its header says. A device that goes by the header would
            // carry out the third one, or what is behind it, as a command that nobody has looked at.
            let header = word(command, 0).unwrap_or_default();
            if ((header & REGISTERS_LENGTH) + LENGTH_BIAS) as usize * 4 != command.len() {
                return false;
            }
            let step = step.unwrap_or(usize::MAX);
            let mut offsets = (1..command.len() / 4).step_by(step);
            let known = |index| {
                let offset = word(command, index).unwrap_or_default();
                checks.has_register(offset & REGISTER)
            };
            offsets.all(known) && are_zero(zero, command)
        }
    }
}

/// Whether bits are zero that have to be so. A command without the dword is not allowed.
fn are_zero(zero: &[Zero], command: &[u8]) -> bool {
    zero.iter().all(|zero| {
        let counts = zero
            .when
            .is_none_or(|(dword, bits)| word(command, dword).is_none_or(|found| found & bits != 0));
        !counts || word(command, zero.dword).is_some_and(|found| found & zero.bits == 0)
    })
}

#[cfg(test)]
mod tests;
