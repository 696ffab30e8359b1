//! Accumulators as explicit operands.
//!
//! PRM: volume 4, 11.3.4.5; Gen9 from Broxton PRM vol6, Accumulator Registers. Whether an implicit
//! update is switched off is a bit of cr0 and not known here.

use crate::inst::{Compression, CondMod, Opcode};
use crate::operand::{Src, Type};

use super::context::{Context, accumulator, direct, is_scalar};
use super::footprint::REGISTER;
use super::{Detail, Generations, Place, Rule};

const FIRST: &str = "PRM vol4 11.3.4.5";
const LATER: &str = "Broxton PRM vol6 Accumulator Registers";
const BOTH: &str = "PRM vol4 11.3.4.5; Broxton PRM vol6 Accumulator Registers";

pub(super) const RULES: &[Rule] = &[
    Rule::inst(
        "accumulator-source-first",
        Generations::ALL,
        BOTH,
        "an accumulator is source 0, no other",
        source_first,
    ),
    Rule::inst(
        "accumulator-source-modifier",
        Generations::until(50),
        FIRST,
        "an accumulator source has no modifier",
        source_modifier,
    ),
    Rule::inst(
        "accumulator-same",
        Generations::ALL,
        BOTH,
        "source and destination are the same accumulator",
        same,
    ),
    Rule::inst(
        "accumulator-compressed",
        Generations::until(50),
        FIRST,
        "a compressed instruction names acc0",
        compressed,
    ),
    Rule::inst(
        "accumulator-saturate",
        Generations::until(50),
        FIRST,
        "an accumulator destination has no saturation",
        saturate,
    ),
    Rule::inst(
        "accumulator-byte",
        Generations::ALL,
        BOTH,
        "accumulators hold no bytes",
        byte,
    ),
    Rule::inst(
        "accumulator-qword",
        Generations::since(80),
        LATER,
        "accumulators hold no 64-bit integers",
        qword,
    ),
    Rule::inst(
        "accumulator-region",
        Generations::ALL,
        BOTH,
        "an accumulator source has the region of the destination",
        region,
    ),
    Rule::inst(
        "accumulator-boundary",
        Generations::until(50),
        "PRM vol4 11.3.4.2",
        "an accumulator operand stays inside of its register, unless compressed",
        boundary,
    ),
    Rule::inst(
        "accumulator-half",
        Generations::since(90),
        LATER,
        "an accumulator operand starts at its lower or its upper half, half floats and bytes of a \
         channel apart",
        half,
    ),
    Rule::inst(
        "accumulator-swizzle",
        Generations::since(90),
        LATER,
        "an accumulator source has no swizzle",
        swizzle,
    ),
    Rule::inst(
        "accumulator-odd-word",
        Generations::since(90),
        LATER,
        "integer words are not written to the odd words of an accumulator",
        odd_word,
    ),
    Rule::inst(
        "accumulator-dword-channels",
        Generations::since(90),
        LATER,
        "doublewords use at most 8 channels of acc0",
        dword_channels,
    ),
    Rule::inst(
        "accumulator-1-type",
        Generations::since(90),
        LATER,
        "acc1 does not hold half floats or words",
        acc1_type,
    ),
    Rule::inst(
        "accumulator-macro",
        Generations::since(80),
        LATER,
        "acc2 to acc9 are accessed by a plain mov of doublewords",
        macro_registers,
    ),
];

fn destination(cx: &Context<'_>) -> Option<u8> {
    let dst = &cx.inst.dst;
    accumulator(dst.file, dst.addr).filter(|_| cx.has_regions())
}

fn sources<'a>(cx: &Context<'a>) -> impl Iterator<Item = (Place, &'a Src, u8)> + use<'a> {
    let regions = cx.has_regions();
    cx.registers()
        .filter(move |_| regions)
        .filter_map(|(place, src)| Some((place, src, accumulator(src.file, src.addr)?)))
}

/// Explicit accumulator operands: place, number, type, byte offset.
fn operands(cx: &Context<'_>) -> impl Iterator<Item = (Place, u8, Type, u8)> {
    let dst = &cx.inst.dst;
    let subnr = |addr| direct(addr).map_or(0, |(_, subnr)| subnr);
    let first = destination(cx).map(|nr| (Place::Dst, nr, dst.ty, subnr(dst.addr)));
    first
        .into_iter()
        .chain(sources(cx).map(move |(place, src, nr)| (place, nr, src.ty, subnr(src.addr))))
}

fn source_first(cx: &Context<'_>) -> Option<Detail> {
    sources(cx)
        .find(|&(place, _, _)| place != Place::Src0)
        .map(|(place, _, nr)| Detail::new(place).with("accumulator", nr))
}

fn source_modifier(cx: &Context<'_>) -> Option<Detail> {
    sources(cx)
        .find(|(_, src, _)| src.negate || src.abs)
        .map(|(place, _, nr)| Detail::new(place).with("accumulator", nr))
}

fn same(cx: &Context<'_>) -> Option<Detail> {
    let to = destination(cx)?;
    sources(cx)
        .find(|&(_, _, from)| from != to)
        .map(|(place, _, from)| Detail::new(place).with("from", from).with("to", to))
}

fn compressed(cx: &Context<'_>) -> Option<Detail> {
    if cx.inst.compression != Compression::Compressed {
        return None;
    }
    operands(cx)
        .find(|&(_, nr, _, _)| nr != 0)
        .map(|(place, nr, _, _)| Detail::new(place).with("accumulator", nr))
}

fn saturate(cx: &Context<'_>) -> Option<Detail> {
    destination(cx)
        .filter(|_| cx.inst.saturate)
        .map(|nr| Detail::new(Place::Dst).with("accumulator", nr))
}

fn byte(cx: &Context<'_>) -> Option<Detail> {
    operands(cx)
        .find(|(_, _, ty, _)| ty.size() == 1)
        .map(|(place, nr, _, _)| Detail::new(place).with("accumulator", nr))
}

fn qword(cx: &Context<'_>) -> Option<Detail> {
    operands(cx)
        .find(|(_, _, ty, _)| matches!(ty, Type::Q | Type::Uq))
        .map(|(place, nr, _, _)| Detail::new(place).with("accumulator", nr))
}

fn region(cx: &Context<'_>) -> Option<Detail> {
    let dst = cx.dst_footprint()?;
    sources(cx).find_map(|(place, src, _)| {
        let from = cx.source_footprint(src)?;
        let differs = dst
            .offsets()
            .zip(from.offsets())
            .any(|(to, from)| to != from);
        // A scalar and another element size have no region in common to begin with.
        let comparable = !is_scalar(src.region) && src.ty.size() == cx.inst.dst.ty.size();
        (comparable && differs).then(|| cx.at(place))
    })
}

fn boundary(cx: &Context<'_>) -> Option<Detail> {
    if cx.inst.compression == Compression::Compressed {
        return None;
    }
    if destination(cx).is_some() && cx.dst_footprint().is_some_and(|dst| dst.end() > REGISTER) {
        return Some(cx.at(Place::Dst));
    }
    sources(cx)
        .find(|(_, src, _)| {
            cx.source_footprint(src)
                .is_some_and(|src| src.end() > REGISTER)
        })
        .map(|(place, _, _)| cx.at(place))
}

fn half(cx: &Context<'_>) -> Option<Detail> {
    if cx.exec_size() == 1 {
        return None;
    }
    operands(cx)
        .find(|&(_, _, ty, subnr)| ty.size() >= 4 && !subnr.is_multiple_of(16))
        .map(|(place, _, _, subnr)| cx.at(place).with("byte offset", subnr))
}

fn swizzle(cx: &Context<'_>) -> Option<Detail> {
    sources(cx)
        .find(|(_, src, _)| cx.align16() && src.swizzle != Src::XYZW)
        .map(|(place, _, _)| Detail::new(place))
}

fn odd_word(cx: &Context<'_>) -> Option<Detail> {
    destination(cx)?;
    let dst = &cx.inst.dst;
    let subnr = cx.dst_subnr()?;
    let words = matches!(dst.ty, Type::W | Type::Uw);
    (words && dst.hstride == 2 && subnr % 4 == 2)
        .then(|| Detail::new(Place::Dst).with("byte offset", subnr))
}

fn dword_channels(cx: &Context<'_>) -> Option<Detail> {
    operands(cx)
        .filter(|&(_, nr, ty, _)| nr < 2 && matches!(ty, Type::D | Type::Ud))
        .find(|&(_, nr, _, _)| nr != 0 || cx.exec_size() > 8)
        .map(|(place, nr, _, _)| cx.at(place).with("accumulator", nr))
}

fn acc1_type(cx: &Context<'_>) -> Option<Detail> {
    operands(cx)
        .find(|&(_, nr, ty, _)| nr == 1 && ty.size() == 2)
        .map(|(place, ..)| Detail::new(place))
}

fn macro_registers(cx: &Context<'_>) -> Option<Detail> {
    let plain = cx.inst.opcode == Opcode::Mov
        && !cx.inst.saturate
        && cx.inst.cond_mod == CondMod::None
        && !cx.sources().any(|(_, src)| src.negate || src.abs);

    operands(cx)
        .find(|&(_, nr, ty, _)| nr >= 2 && !(plain && matches!(ty, Type::D | Type::Ud)))
        .map(|(place, nr, _, _)| Detail::new(place).with("accumulator", nr))
}
