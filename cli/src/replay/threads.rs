//! What a thread stands at.
//!
//! PRM: volume 4 10.4 (jmpi, wait). Not modelled: why a loop does not end.

use isa::compact::instruction_at;
use isa::inst::{Inst, Opcode, Verx10};
use isa::operand::{Addr, RegFile};

/// The instruction at an address, and what it waits for.
pub fn instruction(isa: Verx10, at: u32, dword: impl Fn(u32) -> Option<u32>) -> Option<String> {
    let item = instruction_at(isa, at, dword)?;
    let raw = item.raw;
    let Ok(inst) = item.inst else {
        return Some(format!(
            "{:08x} {:08x} {:08x} {:08x}",
            raw[0], raw[1], raw[2], raw[3]
        ));
    };
    let text = isa::print(isa, &inst);
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let text = text.split(" {").next().unwrap_or_default();
    Some(match waits_for(&inst) {
        Some(number) => format!("{text}; it waits for notification register n{number}"),
        None => text.to_owned(),
    })
}

/// The notification register that a `wait` names: ARF 90h is n0, 91h n1 (PRM volume 4 11.3.4.12).
fn waits_for(inst: &Inst) -> Option<u8> {
    if inst.opcode != Opcode::Wait {
        return None;
    }
    let of = |file, addr| match (file, addr) {
        (RegFile::Arf, Addr::Direct { nr, .. }) if nr >> 4 == 9 => Some(nr & 0xf),
        _ => None,
    };
    of(inst.src[0].file, inst.src[0].addr).or_else(|| of(inst.dst.file, inst.dst.addr))
}
