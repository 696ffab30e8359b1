//! Compressed instructions and second halves.
//!
//! PRM: volume 4, 11.2 and 11.5; G45 PRM volume 4 as Mesa 22.3.6 cites it. From Gen6 on the
//! hardware compresses by itself, which only the overlap rule looks at.

use crate::inst::Compression;
use crate::operand::RegFile;

use super::context::{Context, direct, is_flow, is_scalar};
use super::{Detail, Generations, Place, Rule};

pub(super) const RULES: &[Rule] = &[
    Rule::inst(
        "compression-exec-size",
        Generations::until(50),
        "PRM vol4 11.2 (SIMD16)",
        "a compressed instruction has 16 channels, or 8 with two-register operands",
        exec_size,
    ),
    Rule::inst(
        "compression-even-register",
        Generations::until(50),
        "PRM vol4 11.2 (SIMD16); Mesa 22.3.6 brw_fs.cpp (G45 PRM, Operand Alignment Rule)",
        "register pairs of a compressed instruction start at an even register",
        even_register,
    ),
    Rule::inst(
        "compression-overlap",
        Generations::ALL,
        "Broxton PRM vol6 Register Region Restrictions, Special Restrictions 5",
        "the second register of a source is not the first of the destination",
        overlap,
    ),
    Rule::inst(
        "compression-second-half",
        Generations::until(50),
        "PRM vol4 11.2 (SIMD8)",
        "a second half has at most 8 channels",
        second_half,
    ),
    Rule::inst(
        "compression-send",
        Generations::until(40),
        "PRM vol4 14.2.41; Mesa 22.3.6 brw_eu_emit.c gfx4_math, compressed from 4.5 on",
        "send is not compressed",
        send,
    ),
    Rule::inst(
        "compression-flow",
        Generations::until(50),
        "PRM vol4 14.2; Mesa 22.3.6 brw_eu_emit.c",
        "flow control is not compressed",
        flow,
    ),
    Rule::inst(
        "compr4-destination",
        Generations::between(45, 50),
        "Mesa 22.3.6 brw_eu_emit.c, brw_fs_generator.cpp",
        "only a compressed instruction writes a message register and the fourth after it",
        compr4,
    ),
];

fn is_compressed(cx: &Context<'_>) -> bool {
    cx.inst.compression == Compression::Compressed
}

fn exec_size(cx: &Context<'_>) -> Option<Detail> {
    let two = |registers: u32| registers == 2;
    let wide = cx.dst_footprint().is_some_and(|dst| two(dst.registers()))
        || cx
            .registers()
            .filter_map(|(_, src)| cx.source_footprint(src))
            .any(|src| two(src.registers()));
    let legal = cx.exec_size() == 16 || (cx.exec_size() == 8 && wide);
    (cx.has_regions() && is_compressed(cx) && !legal).then(|| cx.at(Place::Instruction))
}

fn even_register(cx: &Context<'_>) -> Option<Detail> {
    if !cx.has_regions() || !is_compressed(cx) || cx.align16() {
        return None;
    }
    let odd = |file, addr| {
        let nr = direct(addr).filter(|_| file == RegFile::Grf)?.0;
        (nr % 2 == 1).then_some(nr)
    };
    let dst = &cx.inst.dst;
    if cx.dst_footprint().is_some_and(|dst| dst.registers() == 2)
        && let Some(nr) = odd(dst.file, dst.addr)
    {
        return Some(Detail::new(Place::Dst).with("register", nr));
    }
    cx.registers().find_map(|(place, src)| {
        let pair = cx.source_footprint(src)?.registers() == 2;
        let nr = odd(src.file, src.addr).filter(|_| pair)?;
        Some(Detail::new(place).with("register", nr))
    })
}

fn overlap(cx: &Context<'_>) -> Option<Detail> {
    if !cx.has_regions() || (cx.has().overlap_unless_compressed && !is_compressed(cx)) {
        return None;
    }
    let dst = &cx.inst.dst;
    let pair = cx.dst_footprint().is_some_and(|dst| dst.registers() == 2);
    let (to, _) = direct(dst.addr).filter(|_| pair && dst.file == RegFile::Grf)?;
    cx.registers().find_map(|(place, src)| {
        let two = cx.source_footprint(src)?.registers() == 2 && !is_scalar(src.region);
        let (from, _) = direct(src.addr).filter(|_| two && src.file == RegFile::Grf)?;
        (from.wrapping_add(1) == to).then(|| {
            Detail::new(place)
                .with("first register", from)
                .with("destination", to)
        })
    })
}

fn second_half(cx: &Context<'_>) -> Option<Detail> {
    let wide = cx.exec_size() > 8;
    (cx.computes() && cx.inst.compression == Compression::SecHalf && wide)
        .then(|| cx.at(Place::Instruction))
}

fn send(cx: &Context<'_>) -> Option<Detail> {
    (cx.is_send() && is_compressed(cx)).then(|| cx.at(Place::Instruction))
}

fn flow(cx: &Context<'_>) -> Option<Detail> {
    (is_flow(cx.inst.opcode) && is_compressed(cx)).then(|| cx.at(Place::Instruction))
}

fn compr4(cx: &Context<'_>) -> Option<Detail> {
    let dst = &cx.inst.dst;
    let legal = dst.file == RegFile::Mrf && is_compressed(cx);
    (cx.computes() && dst.compr4 && !legal).then(|| Detail::new(Place::Dst))
}
