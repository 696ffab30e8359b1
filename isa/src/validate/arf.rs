//! Architecture registers as operands, message registers.
//!
//! PRM: volume 4, 11.3.3 and 11.3.4; numbers of later generations from Mesa 22.3.6
//! brw_eu_defines.h. Accumulators and the address register have files of their own.

use crate::inst::Opcode;
use crate::operand::{Addr, RegFile};

use super::context::{Context, arf, direct, is_indirect, is_null};
use super::{Detail, Generations, Place, Rule};

pub(super) const RULES: &[Rule] = &[
    Rule::inst(
        "null-source",
        Generations::ALL,
        "PRM vol4 11.3.4.3; Mesa 22.3.6 brw_eu_validate.c",
        "the null register is no source of an operation",
        null_source,
    ),
    Rule::inst(
        "arf-number",
        Generations::ALL,
        "PRM vol4 11.3.4.1; Mesa 22.3.6 brw_eu_defines.h",
        "the register number names an architecture register of the generation",
        arf_number,
    ),
    Rule::inst(
        "flag-operand",
        Generations::ALL,
        "PRM vol4 11.3.4.6",
        "a flag register is accessed as a whole or in its halves, at byte 0 or 2",
        flag_operand,
    ),
    Rule::inst(
        "mrf-generation",
        Generations::since(70),
        "Mesa 22.3.6 brw_eu_validate.c invalid_values",
        "there are no message registers",
        mrf_generation,
    ),
    Rule::inst(
        "mrf-number",
        Generations::until(60),
        "PRM vol4 2.6.1, 11.3.3; Mesa 22.3.6 brw_eu_defines.h",
        "message registers are m0 to m15; to m23 on 6.0",
        mrf_number,
    ),
    Rule::inst(
        "mrf-source",
        Generations::until(60),
        "PRM vol4 2.6.1",
        "message registers are written, not read",
        mrf_source,
    ),
    Rule::inst(
        "mrf-indirect",
        Generations::until(60),
        "PRM vol4 11.3.3",
        "message registers have no indirect addressing",
        mrf_indirect,
    ),
];

/// Registers that are operands of a computation: place, file, address.
fn operands(cx: &Context<'_>) -> impl Iterator<Item = (Place, RegFile, Addr)> {
    let dst = &cx.inst.dst;
    cx.computes()
        .then_some((Place::Dst, dst.file, dst.addr))
        .into_iter()
        .chain(
            cx.registers()
                .map(|(place, src)| (place, src.file, src.addr)),
        )
}

fn null_source(cx: &Context<'_>) -> Option<Detail> {
    if !cx.has_regions() {
        return None;
    }
    cx.registers()
        .find(|(_, src)| is_null(src))
        .map(|(place, _)| Detail::new(place))
}

fn arf_number(cx: &Context<'_>) -> Option<Detail> {
    let has = cx.has();
    operands(cx).find_map(|(place, file, addr)| {
        let nr = arf(file, addr)?;
        let index = nr & 0xf;
        let exists = match nr >> 4 {
            0 | 1 => index == 0,
            2 => index < has.accumulators,
            3 => index < has.flag_registers,
            // The mask register is the channel enables from 8.0 on.
            4 => has.mask_stack || index == 0,
            5 | 6 => has.mask_stack,
            7..=0xa => true,
            0xb | 0xc => has.timestamp,
            _ => false,
        };
        (!exists).then(|| Detail::new(place).with("register number", nr))
    })
}

fn flag_operand(cx: &Context<'_>) -> Option<Detail> {
    operands(cx).find_map(|(place, file, addr)| {
        let (nr, subnr) = direct(addr).filter(|_| file == RegFile::Arf)?;
        (nr >> 4 == 3 && !matches!(subnr, 0 | 2))
            .then(|| Detail::new(place).with("byte offset", subnr))
    })
}

fn mrf_generation(cx: &Context<'_>) -> Option<Detail> {
    if cx.inst.opcode == Opcode::Nop {
        return None;
    }
    operands(cx)
        .find(|&(_, file, _)| file == RegFile::Mrf)
        .map(|(place, _, _)| Detail::new(place))
}

fn mrf_number(cx: &Context<'_>) -> Option<Detail> {
    let dst = &cx.inst.dst;
    let limit = u32::from(cx.has().message_registers);
    let last = if dst.compr4 { 4 } else { 0 };
    let (nr, _) = direct(dst.addr).filter(|_| cx.computes() && dst.file == RegFile::Mrf)?;
    (u32::from(nr) + last >= limit).then(|| Detail::new(Place::Dst).with("register", nr))
}

fn mrf_source(cx: &Context<'_>) -> Option<Detail> {
    cx.registers()
        .find(|(_, src)| src.file == RegFile::Mrf)
        .map(|(place, _)| Detail::new(place))
}

fn mrf_indirect(cx: &Context<'_>) -> Option<Detail> {
    let dst = &cx.inst.dst;
    (cx.computes() && dst.file == RegFile::Mrf && is_indirect(dst.addr))
        .then(|| Detail::new(Place::Dst))
}
