//! Align16: strides, alignment, write masks.
//!
//! PRM: volume 4, 11.3.8; vertical strides as Mesa 22.3.6 brw_eu_validate.c, conversions from
//! Broxton PRM vol6, Special Restrictions. Three-source instructions have their own regions.

use crate::operand::{Addr, RegFile, Region, Src};

use super::context::{Context, direct, is_null_dst};
use super::footprint::REGISTER;
use super::{Detail, Generations, Place, Rule};

pub(super) const RULES: &[Rule] = &[
    Rule::inst(
        "align16-vertical-stride",
        Generations::ALL,
        "PRM vol4 11.3.8; Mesa 22.3.6 brw_eu_validate.c",
        "an align16 source has vertical stride 0 or 4; from 7.5 on also 2",
        vertical_stride,
    ),
    Rule::inst(
        "align16-destination-stride",
        Generations::ALL,
        "PRM vol4 11.3.8; Mesa 22.3.6 brw_eu_validate.c",
        "an align16 destination has stride 1",
        destination_stride,
    ),
    Rule::inst(
        "align16-alignment",
        Generations::ALL,
        "PRM vol4 11.3.8, 13.2.3",
        "align16 operands are 16-byte aligned",
        alignment,
    ),
    Rule::inst(
        "align16-write-mask",
        Generations::ALL,
        "Mesa 22.3.6 brw_eu_emit.c brw_set_dest",
        "an align16 destination enables some channel",
        write_mask,
    ),
    Rule::inst(
        "align1-plain",
        Generations::ALL,
        "PRM vol4 11.3.8, 13.2.3, 13.2.4",
        "align1 has neither swizzles nor write masks",
        align1_plain,
    ),
    Rule::inst(
        "align16-conversion",
        Generations::since(90),
        "Broxton PRM vol6 Register Region Restrictions, Special Restrictions 2",
        "an align16 conversion between sizes stays in one register of source and destination",
        conversion,
    ),
    Rule::inst(
        "align16-one-source-register",
        Generations::since(90),
        "Broxton PRM vol6 Register Region Restrictions, Special Restrictions 3",
        "in align16 a destination register gets its data from one register of each source",
        one_source_register,
    ),
];

fn applies(cx: &Context<'_>) -> bool {
    cx.align16() && cx.has_regions()
}

fn vertical_stride(cx: &Context<'_>) -> Option<Detail> {
    if !cx.align16() {
        return None;
    }
    cx.region_sources()
        .find(|(_, src)| match src.region.vstride {
            0 | 4 => false,
            2 => !cx.has().align16_pairs,
            _ => true,
        })
        .map(|(place, src)| Detail::new(place).with("vertical stride", src.region.vstride))
}

fn destination_stride(cx: &Context<'_>) -> Option<Detail> {
    let dst = &cx.inst.dst;
    (applies(cx) && !is_null_dst(dst) && dst.hstride != 1)
        .then(|| Detail::new(Place::Dst).with("stride", dst.hstride))
}

fn alignment(cx: &Context<'_>) -> Option<Detail> {
    if !applies(cx) {
        return None;
    }
    let off = |addr: Addr| {
        let offset = match addr {
            Addr::Direct { subnr, .. } => i64::from(subnr),
            Addr::Indirect { imm, .. } => i64::from(imm),
        };
        (offset % 16 != 0).then_some(offset)
    };
    if let Some(offset) = off(cx.inst.dst.addr) {
        return Some(Detail::new(Place::Dst).with("byte offset", offset));
    }
    cx.registers()
        .find_map(|(place, src)| Some(Detail::new(place).with("byte offset", off(src.addr)?)))
}

fn write_mask(cx: &Context<'_>) -> Option<Detail> {
    let dst = &cx.inst.dst;
    let register = matches!(dst.file, RegFile::Grf | RegFile::Mrf);
    (cx.align16() && cx.computes() && register && dst.writemask == 0)
        .then(|| Detail::new(Place::Dst))
}

fn align1_plain(cx: &Context<'_>) -> Option<Detail> {
    if cx.align16() || !cx.has_regions() {
        return None;
    }
    if cx.inst.dst.writemask != 0xf {
        return Some(Detail::new(Place::Dst).with("write mask", cx.inst.dst.writemask));
    }
    cx.registers()
        .find(|(_, src)| src.swizzle != Src::XYZW)
        .map(|(place, _)| Detail::new(place))
}

/// Registers that `count` elements of some size cover from a byte on.
fn registers(subnr: u8, size: usize, count: u32) -> u32 {
    (u32::from(subnr) + size as u32 * count).div_ceil(REGISTER)
}

fn conversion(cx: &Context<'_>) -> Option<Detail> {
    if !applies(cx) || cx.is_mixed_float() || is_null_dst(&cx.inst.dst) {
        return None;
    }
    let dst = cx.inst.dst.ty.size();
    let (_, subnr) = direct(cx.inst.dst.addr)?;
    let wide = registers(subnr, dst, cx.exec_size()) > 1;
    cx.registers()
        .find(|(_, src)| {
            let size = src.ty.size();
            let two = direct(src.addr).is_some_and(|(_, subnr)| {
                src.region.vstride != 0 && registers(subnr, size, cx.exec_size()) > 1
            });
            size != dst && (wide || two)
        })
        .map(|(place, _)| cx.at(place))
}

fn one_source_register(cx: &Context<'_>) -> Option<Detail> {
    if !cx.align16() || !cx.computes() {
        return None;
    }
    let dst = &cx.inst.dst;
    let (_, subnr) = direct(dst.addr)?;
    let covered = registers(subnr, dst.ty.size(), cx.exec_size());
    cx.registers()
        .filter(|(_, src)| src.file == RegFile::Grf && src.region != Region::SCALAR)
        .find(|(_, src)| {
            direct(src.addr).is_some_and(|(_, subnr)| {
                src.region.vstride != 0
                    && src.ty.size() == dst.ty.size()
                    && registers(subnr, src.ty.size(), cx.exec_size()) > covered
            })
        })
        .map(|(place, _)| cx.at(place))
}
