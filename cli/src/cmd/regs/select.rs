//! Registers and values as they are written on the command line.
//!
//! Not modelled: arithmetic, field names, offsets in decimal.

use crestline_cli::number;
use regs::decode;
use regs::desc::{RegisterDesc, Space};
use regs::platform::Generation;

use crate::cmd::Error;

/// A register that was asked for.
#[derive(Clone, Copy)]
pub struct Selected {
    /// Its description.
    pub register: &'static RegisterDesc,
    /// Which element, of an array.
    pub index: Option<u32>,
    /// Which dword of it; not 0 only when an offset said so.
    pub dword: u32,
}

/// Byte offset of a register or of an array's element.
pub fn offset(r: &RegisterDesc, index: Option<u32>) -> u32 {
    r.offset
        .wrapping_add(index.unwrap_or(0).wrapping_mul(r.stride))
}

/// The register behind `NAME`, `NAME[INDEX]` or `0xOFFSET`.
pub fn register(generation: &'static Generation, text: &str) -> Result<Selected, Error> {
    if let Some(digits) = number::behind_0x(text) {
        let at = number::parse(digits, 16).and_then(|n| u32::try_from(n).ok());
        let at = at.ok_or_else(|| format!("{text} is no register offset"))?;
        return at_offset(generation, at);
    }
    let (name, index) = match text.split_once('[') {
        None => (text, None),
        Some((name, rest)) => {
            let index = rest
                .strip_suffix(']')
                .and_then(|digits| number::either(digits).and_then(|n| u32::try_from(n).ok()));
            let index = index.ok_or_else(|| format!("{text}: an element is NAME[INDEX]"))?;
            (name, Some(index))
        }
    };
    let register = generation.register(name).ok_or_else(|| {
        let near = decode::nearest(generation, name, 3).join(", ");
        format!("no register {name}; did you mean {near}?")
    })?;
    match index {
        Some(_) if register.count == 1 => Err(format!("{} is no array", register.name).into()),
        Some(i) if i >= register.count => Err(format!(
            "{text}: {} has elements 0 to {}",
            register.name,
            register.count - 1
        )
        .into()),
        _ => Ok(Selected {
            register,
            index,
            dword: 0,
        }),
    }
}

fn at_offset(generation: &'static Generation, at: u32) -> Result<Selected, Error> {
    let found = at.is_multiple_of(4).then_some(at);
    if let Some((id, index, dword)) = found.and_then(generation.lookup)
        && let Some(register) = generation.registers.iter().find(|r| r.id == id)
    {
        return Ok(Selected {
            register,
            index: (register.count > 1).then_some(index),
            dword,
        });
    }
    // Configuration space has one register in the tables, below all of the BAR.
    if let Some(register) = generation
        .registers
        .iter()
        .find(|r| r.space == Space::Pci && r.offset == at)
    {
        return Ok(Selected {
            register,
            index: None,
            dword: 0,
        });
    }
    let mut near: Vec<&RegisterDesc> = generation.registers.to_vec();
    near.sort_by_key(|r| r.offset.abs_diff(at));
    let near: Vec<String> = near
        .iter()
        .take(3)
        .map(|r| format!("{} at {:#x}", r.name, r.offset))
        .collect();
    Err(format!(
        "no register at offset {at:#x}; did you mean {}?",
        near.join(", ")
    )
    .into())
}

/// A value for a register, decimal or `0x` and digits.
pub fn value(text: &str, r: &RegisterDesc) -> Result<u128, Error> {
    let (digits, radix) = number::behind_0x(text).map_or((text, 10), |digits| (digits, 16));
    if !number::is_number(digits, radix) {
        return Err(
            format!("{text:?} is not a number: decimal digits, or 0x and hexadecimal").into(),
        );
    }
    number::parse(digits, radix)
        .filter(|n| r.bits >= 128 || n >> r.bits == 0)
        .ok_or_else(|| format!("{text} does not fit the {} bits of {}", r.bits, r.name).into())
}
