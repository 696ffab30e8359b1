//! The address register and register-indirect operands.
//!
//! PRM: volume 4, 11.3.4.4 and 11.3.7; Gen9 from Broxton PRM vol6, Register Region Restrictions 8.
//! What the address register holds is not known here.

use crate::operand::{Addr, RegFile, Region, Src};

use super::context::{Context, arf, is_indirect};
use super::footprint::Footprint;
use super::{Detail, Generations, Place, Rule};

pub(super) const RULES: &[Rule] = &[
    Rule::inst(
        "address-bounds",
        Generations::ALL,
        "PRM vol4 11.3.4.4; Mesa 22.3.6 brw_fs_generator.cpp",
        "the address register has 8 words; 16 from 8.0 on",
        address_bounds,
    ),
    Rule::inst(
        "indirect-file",
        Generations::ALL,
        "PRM vol4 11.3.4 (Index-ability)",
        "architecture registers have no indirect addressing",
        indirect_file,
    ),
    Rule::inst(
        "indirect-direct-vxh",
        Generations::ALL,
        "PRM vol4 11.3.7",
        "a region with an address for each row belongs to indirect addressing",
        direct_vxh,
    ),
    Rule::inst(
        "indirect-channels",
        Generations::until(75),
        "PRM vol4 11.3.4.4",
        "at most 8 channels have an address each",
        indirect_channels,
    ),
    Rule::inst(
        "indirect-subregisters",
        Generations::ALL,
        "PRM vol4 11.3.4.4",
        "the addresses of all rows lie in the address register",
        indirect_subregisters,
    ),
    Rule::inst(
        "indirect-group-alignment",
        Generations::until(50),
        "PRM vol4 11.3.4.4",
        "a group of address subregisters is aligned to its size",
        group_alignment,
    ),
    Rule::inst(
        "indirect-source-1",
        Generations::since(90),
        "Broxton PRM vol6 Register Region Restrictions 8.3",
        "source 1 has one address for all channels",
        source_1,
    ),
    Rule::inst(
        "indirect-simd32",
        Generations::since(90),
        "Broxton PRM vol6 Register Region Restrictions 8.6",
        "regions with several addresses have at most 16 channels",
        simd32,
    ),
];

fn words(cx: &Context<'_>) -> u32 {
    cx.has().address_words
}

fn address_bounds(cx: &Context<'_>) -> Option<Detail> {
    let bytes = 2 * words(cx);
    let beyond = |file, addr, footprint: Option<Footprint>| {
        let end = footprint?.end();
        (arf(file, addr) == Some(0x10) && end > bytes).then_some(end)
    };
    let dst = &cx.inst.dst;
    if cx.computes()
        && let Some(end) = beyond(dst.file, dst.addr, cx.dst_footprint())
    {
        return Some(cx.at(Place::Dst).with("last byte", end - 1));
    }
    cx.registers().find_map(|(place, src)| {
        let end = beyond(src.file, src.addr, cx.source_footprint(src))?;
        Some(cx.at(place).with("last byte", end - 1))
    })
}

fn indirect_file(cx: &Context<'_>) -> Option<Detail> {
    let dst = &cx.inst.dst;
    if cx.computes() && dst.file == RegFile::Arf && is_indirect(dst.addr) {
        return Some(Detail::new(Place::Dst));
    }
    cx.registers()
        .find(|(_, src)| src.file == RegFile::Arf && is_indirect(src.addr))
        .map(|(place, _)| Detail::new(place))
}

fn direct_vxh(cx: &Context<'_>) -> Option<Detail> {
    cx.registers()
        .find(|(_, src)| src.region.vstride == Region::VXH && !is_indirect(src.addr))
        .map(|(place, _)| Detail::new(place))
}

/// Sources with an address for each row: place, first subregister, number of addresses.
fn rows<'a>(cx: &Context<'a>) -> impl Iterator<Item = (Place, u32, u32, &'a Src)> + use<'a> {
    let size = cx.exec_size();
    let align1 = !cx.align16();
    cx.registers().filter_map(move |(place, src)| {
        let Addr::Indirect { subreg, .. } = src.addr else {
            return None;
        };
        let several = align1 && src.region.vstride == Region::VXH && src.region.width > 0;
        let count = size / u32::from(src.region.width.max(1));
        several.then_some((place, u32::from(subreg), count, src))
    })
}

fn indirect_channels(cx: &Context<'_>) -> Option<Detail> {
    rows(cx)
        .find(|(_, _, count, src)| src.region.width == 1 && *count > 8)
        .map(|(place, ..)| cx.at(place))
}

fn indirect_subregisters(cx: &Context<'_>) -> Option<Detail> {
    rows(cx)
        .find(|&(_, first, count, _)| first + count > words(cx))
        .map(|(place, first, count, _)| {
            cx.at(place)
                .with("first subregister", first)
                .with("addresses", count)
        })
}

fn group_alignment(cx: &Context<'_>) -> Option<Detail> {
    rows(cx)
        .find(|&(_, first, count, _)| count > 1 && !first.is_multiple_of(count))
        .map(|(place, first, count, _)| {
            cx.at(place)
                .with("first subregister", first)
                .with("addresses", count)
        })
}

fn source_1(cx: &Context<'_>) -> Option<Detail> {
    rows(cx)
        .find(|&(place, ..)| place == Place::Src1)
        .map(|(place, ..)| Detail::new(place))
}

fn simd32(cx: &Context<'_>) -> Option<Detail> {
    rows(cx)
        .find(|_| cx.exec_size() == 32)
        .map(|(place, ..)| cx.at(place))
}
