//! How many registers operands span, and how two-register operands pair up.
//!
//! PRM: volume 4, 11.3.2 and 11.3.10; Sandybridge to Broadwell rules as Mesa 22.3.6
//! brw_eu_validate.c states them. Align16 and indirect operands are not laid out.

use crate::inst::{Compression, Opcode};
use crate::operand::{RegFile, Src, Type};

use super::context::{Context, direct, is_null, is_null_dst, is_packed, is_packed_dst, is_scalar};
use super::footprint::{Footprint, REGISTER};
use super::{Detail, Generations, Place, Rule};

pub(super) const RULES: &[Rule] = &[
    Rule::inst(
        "source-two-registers",
        Generations::ALL,
        "PRM vol4 11.3.2; Broxton PRM vol6 Register Region Restrictions 3.1",
        "a source lies in two adjacent registers",
        source_two,
    ),
    Rule::inst(
        "destination-two-registers",
        Generations::ALL,
        "PRM vol4 11.3.2; Broxton PRM vol6 Register Region Restrictions 3.2",
        "a destination lies in two adjacent registers",
        destination_two,
    ),
    Rule::inst(
        "destination-one-register",
        Generations::until(50),
        "PRM vol4 11.3.2",
        "the destination of an instruction that is not compressed lies in one register",
        destination_one,
    ),
    Rule::inst(
        "destination-oword-split",
        Generations::until(80),
        "Mesa 22.3.6 brw_eu_validate.c (Sandybridge to Broadwell PRM)",
        "with a two-register source, a one-register destination lies in one half of it or evenly \
         in both",
        oword_split,
    ),
    Rule::inst(
        "destination-even-split",
        Generations::ALL,
        "Mesa 22.3.6 brw_eu_validate.c (Sandybridge to Skylake PRM)",
        "a two-register destination is split evenly; from 9.0 on only a destination of math",
        even_split,
    ),
    Rule::inst(
        "destination-register-source",
        Generations::until(75),
        "Mesa 22.3.6 brw_eu_validate.c (Ivybridge, Haswell PRM)",
        "each register of a two-register destination comes from one register of a source",
        register_source,
    ),
    Rule::inst(
        "source-offsets",
        Generations::until(75),
        "Mesa 22.3.6 brw_eu_validate.c (Ivybridge, Haswell PRM)",
        "a two-register source starts at the same offset in both, when the destination has two",
        source_offsets,
    ),
    Rule::inst(
        "source-spans-with-destination",
        Generations::until(75),
        "Mesa 22.3.6 brw_eu_validate.c (Ivybridge, Haswell PRM)",
        "a two-register destination has two-register sources, scalars and packed words to packed \
         doublewords excepted",
        spans_with_destination,
    ),
    Rule::inst(
        "grf-range",
        Generations::ALL,
        "PRM vol4 11.3.2, table 11-2",
        "registers are r0 to r127",
        grf_range,
    ),
];

fn lays_out(cx: &Context<'_>) -> bool {
    cx.has_regions() && !cx.align16()
}

fn footprints<'a>(
    cx: &'a Context<'_>,
) -> impl Iterator<Item = (Place, &'a Src, Footprint)> + use<'a> {
    cx.registers()
        .filter(|_| lays_out(cx))
        .filter_map(|(place, src)| Some((place, src, cx.source_footprint(src)?)))
}

fn destination(cx: &Context<'_>) -> Option<Footprint> {
    cx.dst_footprint().filter(|_| lays_out(cx))
}

/// The destination, if no operand spans more than two registers.
fn paired(cx: &Context<'_>, registers: u32) -> Option<Footprint> {
    let fits = source_two(cx).is_none() && destination_two(cx).is_none();
    destination(cx).filter(|dst| fits && dst.registers() == registers)
}

fn source_two(cx: &Context<'_>) -> Option<Detail> {
    footprints(cx)
        .find(|(_, _, footprint)| footprint.last() >= 2 * REGISTER)
        .map(|(place, _, footprint)| cx.at(place).with("last byte", footprint.end() - 1))
}

fn destination_two(cx: &Context<'_>) -> Option<Detail> {
    let indirect = || cx.indirect_dst_footprint().filter(|_| lays_out(cx));
    destination(cx)
        .or_else(indirect)
        .filter(|dst| dst.last() >= 2 * REGISTER)
        .map(|dst| cx.at(Place::Dst).with("last byte", dst.end() - 1))
}

fn destination_one(cx: &Context<'_>) -> Option<Detail> {
    destination(cx)
        .filter(|dst| cx.inst.compression != Compression::Compressed && dst.registers() > 1)
        .map(|dst| cx.at(Place::Dst).with("last byte", dst.end() - 1))
}

fn oword_split(cx: &Context<'_>) -> Option<Detail> {
    let dst = paired(cx, 1)?;
    if !footprints(cx).any(|(_, _, src)| src.registers() == 2) {
        return None;
    }
    let size = cx.element(cx.inst.dst.ty);
    let upper = dst.offsets().filter(|offset| offset + size > 16).count() as u32;
    let lower = dst.count() - upper;
    (upper != 0 && lower != 0 && upper != lower).then(|| {
        cx.at(Place::Dst)
            .with("elements below", lower)
            .with("elements above", upper)
    })
}

fn even_split(cx: &Context<'_>) -> Option<Detail> {
    if cx.has().uneven_split && cx.inst.opcode != Opcode::Math {
        return None;
    }
    let dst = paired(cx, 2)?;
    let second = dst.in_second();
    (second * 2 != dst.count()).then(|| cx.at(Place::Dst).with("in the second register", second))
}

fn register_source(cx: &Context<'_>) -> Option<Detail> {
    let dst = paired(cx, 2)?;
    footprints(cx)
        .filter(|(_, _, src)| src.registers() == 2)
        .find(|(_, _, src)| {
            dst.offsets()
                .zip(src.offsets())
                .any(|(to, from)| dst.is_beyond_first(to) != src.is_beyond_first(from))
        })
        .map(|(place, _, _)| cx.at(place))
}

fn source_offsets(cx: &Context<'_>) -> Option<Detail> {
    if cx.sources != 2 {
        return None;
    }
    paired(cx, 2)?;
    footprints(cx)
        .filter(|(_, _, src)| src.registers() == 2)
        .find_map(|(place, _, src)| {
            let first = src.offset(0);
            let second = src.offsets().find(|&offset| src.is_beyond_first(offset))?;
            let second = second.wrapping_sub(REGISTER);
            (first != second).then(|| {
                cx.at(place)
                    .with("first offset", first)
                    .with("second offset", second)
            })
        })
}

fn spans_with_destination(cx: &Context<'_>) -> Option<Detail> {
    paired(cx, 2)?;
    let dst = &cx.inst.dst;
    let dwords = is_packed_dst(cx.exec_size(), dst.hstride) && dst.ty.size() == 4;
    footprints(cx)
        .find(|(_, src, footprint)| {
            let words = matches!(src.ty, Type::W | Type::Uw) && is_packed(src.region);
            // Gen7.0 counts the halves of a 64-bit scalar: <0;2,1>.
            let scalar = is_scalar(src.region)
                || (src.ty.size() == 8 && src.region.vstride == 0 && src.region.width <= 2);
            footprint.registers() == 1 && !scalar && !(dwords && words)
        })
        .map(|(place, _, _)| cx.at(place))
}

fn grf_range(cx: &Context<'_>) -> Option<Detail> {
    let dst = &cx.inst.dst;
    let registers = |footprint: Option<Footprint>| {
        footprint.map_or(1, |footprint| footprint.end().div_ceil(REGISTER).max(1))
    };
    let beyond = |file, addr, registers: u32| {
        let nr = direct(addr).filter(|_| file == RegFile::Grf)?.0;
        (u32::from(nr) + registers > 128).then_some(nr)
    };
    if (cx.computes() || cx.is_send()) && !is_null_dst(dst) {
        let size = if cx.is_send() {
            None
        } else {
            cx.dst_footprint()
        };
        if let Some(nr) = beyond(dst.file, dst.addr, registers(size)) {
            return Some(Detail::new(Place::Dst).with("register", nr));
        }
    }
    cx.registers()
        .filter(|(_, src)| !is_null(src))
        .find_map(|(place, src)| {
            let nr = beyond(src.file, src.addr, registers(cx.source_footprint(src)))?;
            Some(Detail::new(place).with("register", nr))
        })
}
