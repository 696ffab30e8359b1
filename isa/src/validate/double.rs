//! 64-bit operations and doubleword multiplication.
//!
//! PRM: Broxton PRM vol6, Register Region Restrictions 6 (also Cherryview); Broadwell and Skylake
//! from Mesa 22.3.6 brw_eu_validate.c. Three-source instructions are not looked at.

use crate::inst::Opcode;
use crate::operand::{RegFile, Src};

use super::context::{Context, arf, direct, is_indirect, is_null_dst, is_scalar};
use super::{Detail, Generations, Place, Rule};

const LOW_POWER: Generations = Generations::low_power(80);
const CITE: &str = "Broxton PRM vol6 Register Region Restrictions 6; Mesa 22.3.6 brw_eu_validate.c";

pub(super) const RULES: &[Rule] = &[
    Rule::inst(
        "double-align16-exec-size",
        Generations::since(80),
        "Mesa 22.3.6 brw_eu_validate.c (Broadwell, Skylake PRM)",
        "align16 with a 64-bit destination and a narrower source has at most 2 channels",
        align16_exec_size,
    ),
    Rule::inst(
        "double-stride",
        LOW_POWER,
        CITE,
        "source and destination elements of a 64-bit operation start in the same quadword",
        stride,
    ),
    Rule::inst(
        "double-vertical-stride",
        LOW_POWER,
        CITE,
        "in a 64-bit operation the vertical stride is width times horizontal stride",
        vertical_stride,
    ),
    Rule::inst(
        "double-offset",
        LOW_POWER,
        CITE,
        "in a 64-bit operation source and destination offsets are equal, scalars excepted",
        offset,
    ),
    Rule::inst(
        "double-indirect",
        LOW_POWER,
        CITE,
        "a 64-bit operation has no indirect addressing",
        indirect,
    ),
    Rule::inst(
        "double-arf",
        LOW_POWER,
        CITE,
        "a 64-bit operation has no architecture registers",
        architecture_register,
    ),
    Rule::inst(
        "double-dependency-control",
        LOW_POWER,
        CITE,
        "a 64-bit operation has no dependency control",
        dependency_control,
    ),
];

fn align16_exec_size(cx: &Context<'_>) -> Option<Detail> {
    let narrow = cx.sources().any(|(_, src)| src.ty.size() != 8);
    let wide = cx.is_double() && cx.inst.dst.ty.size() == 8;
    (wide && cx.align16() && narrow && cx.exec_size() > 2).then(|| cx.at(Place::Instruction))
}

/// Register sources of a 64-bit align1 operation.
fn sources<'a>(cx: &Context<'a>) -> impl Iterator<Item = (Place, &'a Src)> + use<'a> {
    let applies = cx.is_double() && !cx.align16();
    cx.registers().filter(move |_| applies)
}

fn stride(cx: &Context<'_>) -> Option<Detail> {
    let to = u32::from(cx.inst.dst.hstride) * cx.inst.dst.ty.size() as u32;
    sources(cx)
        .filter(|(_, src)| !is_scalar(src.region))
        .find_map(|(place, src)| {
            let stride = match src.region.hstride {
                0 => src.region.vstride,
                stride => stride,
            };
            let from = u32::from(stride) * src.ty.size() as u32;
            (!from.is_multiple_of(8) || from != to).then(|| {
                Detail::new(place)
                    .with("stride bytes", from)
                    .with("destination stride bytes", to)
            })
        })
}

fn vertical_stride(cx: &Context<'_>) -> Option<Detail> {
    sources(cx)
        .find(|(_, src)| {
            let region = src.region;
            u32::from(region.vstride) != u32::from(region.width) * u32::from(region.hstride)
        })
        .map(|(place, src)| {
            Detail::new(place)
                .with("vertical stride", src.region.vstride)
                .with("width", src.region.width)
                .with("horizontal stride", src.region.hstride)
        })
}

fn offset(cx: &Context<'_>) -> Option<Detail> {
    let to = cx.dst_subnr()?;
    sources(cx)
        .filter(|(_, src)| !is_scalar(src.region))
        .find_map(|(place, src)| {
            let from = u32::from(direct(src.addr)?.1);
            (from != to).then(|| {
                Detail::new(place)
                    .with("byte offset", from)
                    .with("destination byte offset", to)
            })
        })
}

fn indirect(cx: &Context<'_>) -> Option<Detail> {
    if !cx.is_double() {
        return None;
    }
    if is_indirect(cx.inst.dst.addr) {
        return Some(Detail::new(Place::Dst));
    }
    cx.registers()
        .find(|(_, src)| is_indirect(src.addr))
        .map(|(place, _)| Detail::new(place))
}

fn architecture_register(cx: &Context<'_>) -> Option<Detail> {
    if !cx.is_double() {
        return None;
    }
    if cx.inst.opcode == Opcode::Mac || cx.inst.acc_wr_ctrl {
        return Some(Detail::new(Place::Instruction));
    }
    let dst = &cx.inst.dst;
    if dst.file == RegFile::Arf && !is_null_dst(dst) {
        return Some(Detail::new(Place::Dst));
    }
    cx.registers()
        .find(|(_, src)| arf(src.file, src.addr).is_some_and(|nr| nr != 0))
        .map(|(place, _)| Detail::new(place))
}

fn dependency_control(cx: &Context<'_>) -> Option<Detail> {
    (cx.is_double() && (cx.inst.no_dd_chk || cx.inst.no_dd_clr))
        .then(|| Detail::new(Place::Instruction))
}
