//! The system routine: its code for a place in memory, and its save area.
//!
//! PRM vol4 3.5, 3.6, 12.3. Not modelled: save areas of more than eight EUs with four threads each; a session keeps
//! threads to those.
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt::Write as _;

use isa::parse::Assembled;
use kernel::error::{Result, code::EINVAL};
use kernel::pr_err;

use super::attention::Place;
use super::routines::Origin;
use crate::intel::r#gen::{DeviceInfo, RoutineMessages};

/// The routine, without the definitions of its rows.
pub const SOURCE: &str = include_str!("system_routine.g4a");

/// Bytes between two rows of the save area.
const ROW: u32 = 1024;
/// Number of rows that the routine uses.
const ROWS: u32 = 40;
/// Bytes between two EUs, and between two threads of one.
const EU: u32 = 1 << 16;
const SLOT: u32 = 1 << 8;
/// Bytes of the save area.
pub const AREA: u32 = EU * super::attention::EUS;
/// Bytes of a copy of the code: a page, so that copies for any two bases, which are pages apart, have room side by side.
pub const CODE: u32 = 4 << 10;
/// Bytes behind the code that an EU may fetch ahead.
const AHEAD: usize = 128;

/// Rows by what they hold.
pub const ROW_GRF: u32 = 0;
/// Message registers 1 to 12 in three rows, 12 to 15 in a fourth.
pub const ROW_MRF: u32 = 32;
/// a0, f0; cr0, sr0, n0, n1; masks; ms0.
pub const ROW_STATE: u32 = 36;
/// acc0, ms1, acc1, ms2.
pub const ROW_ACC: u32 = 37;
/// What the routine tells: that all is saved, and the two bases that its copy is for.
pub const ROW_MAILBOX: u32 = 38;
/// What it is told.
pub const ROW_COMMAND: u32 = 39;

/// Mailbox: everything is saved.
pub const HALTED: u32 = 1;
/// Command: load the accumulators, as floats or as integers.
pub const LOAD_FLOATS: u32 = 1 << 0;
/// See [`LOAD_FLOATS`].
pub const LOAD_INTEGERS: u32 = 1 << 1;

/// Byte offset of a thread's part of a row in the save area.
#[must_use]
pub const fn offset(place: Place, row: u32) -> u32 {
    (place.eu as u32) * EU + (place.slot as u32) * SLOT + row * ROW
}

/// The text with a device's messages and the definitions for a save area at the graphics address `area` and threads that
/// began under the bases `origin`.
#[must_use]
pub fn source(messages: &RoutineMessages, area: u32, origin: Origin) -> String {
    let mut text = String::new();
    let Origin {
        general,
        instructions,
    } = origin;
    // A string takes everything.
    for row in 0..ROWS {
        let at = area.wrapping_sub(general).wrapping_add(row * ROW);
        let _ = writeln!(text, ".define ROW_{row} = {at:#010x}UD");
    }
    let _ = writeln!(text, ".define GENERAL = {general:#010x}UD");
    let _ = writeln!(text, ".define INSTRUCTIONS = {instructions:#010x}UD");
    let names = [
        ("WRITE_ROW", messages.write_row),
        ("WRITE_REGISTER", messages.write_register),
        ("READ_ROW", messages.read_row),
        ("READ_REGISTER", messages.read_register),
        ("FLUSH", messages.flush),
    ];
    let routine = names
        .iter()
        .fold(String::from(SOURCE), |text, (name, message)| {
            text.replace(name, message)
        });
    text.push_str(&routine);
    text
}

/// The assembled routine; see [`source`]. `EINVAL` when the text is no program, which a message explains.
pub fn assemble(info: &DeviceInfo, area: u32, origin: Origin) -> Result<Assembled> {
    let text = source(info.routine, area, origin);
    isa::parse::assemble(info.isa, "system_routine.g4a", &text).map_err(|errors| {
        for error in &errors {
            pr_err!("{error}");
        }
        EINVAL
    })
}

/// The same as dwords. `EINVAL` when they are more than [`CODE`] has room for.
pub fn code(info: &DeviceInfo, area: u32, origin: Origin) -> Result<Vec<u32>> {
    let words: Vec<u32> = assemble(info, area, origin)?.dwords().collect();
    if words.len() * 4 + AHEAD > CODE as usize {
        return Err(EINVAL);
    }
    Ok(words)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::intel::r#gen::{GM45, I965GM, IRONLAKE};

    #[test]
    fn the_routine_is_legal_on_its_part() {
        for info in [&I965GM, &GM45, &IRONLAKE] {
            let text = source(info.routine, 0x0012_3400, Origin::default());
            let routine = isa::parse::assemble(info.isa, "routine", &text);
            let routine = routine.unwrap_or_else(|errors| panic!("{}", errors[0]));
            let code: Vec<_> = routine.insts().copied().collect();
            for (index, inst) in code.iter().enumerate() {
                let broken: Vec<_> = isa::validate::validate(info.isa, inst).collect();
                assert!(broken.is_empty(), "{index}: {broken:?}");
            }
            let whole = isa::validate::validate_kernel(info.isa, &code);
            // It ends by leaving, not with a message.
            let broken = whole
                .iter()
                .filter(|v| v.violation.rule.name != "end-of-thread");
            let broken: Vec<_> = broken.collect();
            assert!(broken.is_empty(), "{}: {broken:?}", info.platform);
        }
    }
}
