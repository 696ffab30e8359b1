//! Bits that are reserved.
//! ValleyView volume 2 part 2: "Reserved, Format: MBZ" of each 3D command.
//! Leaves out commands of other units: their bits are not in that volume.

use alloc::format;
use alloc::string::String;

use super::rule;
use crate::check::{Rule, View, When};
use crate::desc::{Kind, PackedField};

pub const BITS: Rule = rule(
    "reserved-bits",
    "reserved bits of 3D commands are zero",
    "each command",
    When::Each,
    bits,
);

/// Bits 31:27 of the header of a 3D command.
const TYPE_3D: u32 = 0b01111;

/// The bits of a dword that the fields have, of which some hold structures.
fn used(fields: &[PackedField], from: u32, dword: u32) -> u32 {
    fields.iter().fold(0, |all, f| {
        let start = from + u32::from(f.start);
        let own = match f.kind {
            Kind::Struct(inner) => used(inner.fields, start, dword),
            _ => mask(start, start + u32::from(f.width), dword),
        };
        all | own
    })
}

/// The bits from `start` up to before `end` that lie in a dword.
fn mask(start: u32, end: u32, dword: u32) -> u32 {
    let (low, high) = (start.max(dword * 32), end.min(dword * 32 + 32));
    if low >= high {
        return 0;
    }
    u32::MAX >> (32 - (high - low)) << (low % 32)
}

fn bits(v: &mut View<'_>) -> Option<String> {
    let command = v.command;
    if command.value >> 27 != TYPE_3D {
        return None;
    }
    let group = command.group.filter(|g| g.dwords > 0);
    for (i, word) in (0..).zip(v.words) {
        let mut own = used(command.fields, 0, i);
        if i == 0 {
            own |= command.mask;
        }
        if let Some(group) = group
            && i >= group.dword
        {
            let at = (i - group.dword) % group.dwords;
            own |= match group.structure {
                Some(element) => used(element.fields, 0, at),
                None => u32::MAX,
            };
        }
        let stray = word & !own;
        if stray != 0 {
            return Some(format!("dword {i} has {stray:#x} in reserved bits"));
        }
    }
    None
}
