//! Relations between execution size, width and strides of an align1 source.
//!
//! PRM: volume 4, 11.3.10; Broxton PRM vol6 Register Region Restrictions 2. The same list holds for
//! every generation.

use crate::operand::{Addr, Region, Src, Type};

use super::context::{Context, direct, is_null_dst};
use super::{Detail, Generations, Place, Rule};

const CITE: &str = "PRM vol4 11.3.10; Broxton PRM vol6 Register Region Restrictions 2; Mesa 22.3.6 \
     brw_eu_validate.c";

pub(super) const RULES: &[Rule] = &[
    Rule::inst(
        "natural-alignment",
        Generations::ALL,
        "PRM vol4 10.1",
        "an operand begins at a multiple of its element's size",
        natural_alignment,
    ),
    Rule::inst(
        "region-exec-size-width",
        Generations::ALL,
        CITE,
        "the execution size is at least the width",
        exec_size_width,
    ),
    Rule::inst(
        "region-one-row",
        Generations::ALL,
        CITE,
        "with as many channels as columns and a horizontal stride, the vertical stride is width \
         times horizontal stride",
        one_row,
    ),
    Rule::inst(
        "region-one-column",
        Generations::ALL,
        CITE,
        "width 1 has horizontal stride 0",
        one_column,
    ),
    Rule::inst(
        "region-one-channel",
        Generations::ALL,
        CITE,
        "one channel of width 1 has both strides 0",
        one_channel,
    ),
    Rule::inst(
        "region-no-stride",
        Generations::ALL,
        CITE,
        "both strides 0 go with width 1",
        no_stride,
    ),
    Rule::inst(
        "region-row-crosses-register",
        Generations::ALL,
        CITE,
        "only the vertical stride crosses a register boundary",
        row_crosses,
    ),
    Rule::inst(
        "destination-stride-zero",
        Generations::ALL,
        CITE,
        "a destination has a horizontal stride",
        destination_stride_zero,
    ),
];

fn check(cx: &Context<'_>, broken: impl Fn(&Src, u32, Region) -> bool) -> Option<Detail> {
    if cx.align16() {
        return None;
    }
    let size = cx.exec_size();
    cx.region_sources()
        .find(|(_, src)| broken(src, size, src.region))
        .map(|(place, src)| {
            let vstride = match src.region.vstride {
                Region::VXH => -1,
                stride => i64::from(stride),
            };
            cx.at(place)
                .with("vertical stride", vstride)
                .with("width", src.region.width)
                .with("horizontal stride", src.region.hstride)
        })
}

fn exec_size_width(cx: &Context<'_>) -> Option<Detail> {
    check(cx, |_, size, region| size < u32::from(region.width))
}

fn one_row(cx: &Context<'_>) -> Option<Detail> {
    check(cx, |_, size, region| {
        let row = u32::from(region.width) * u32::from(region.hstride);
        size == u32::from(region.width)
            && row != 0
            && region.vstride != Region::VXH
            && u32::from(region.vstride) != row
    })
}

fn one_column(cx: &Context<'_>) -> Option<Detail> {
    check(cx, |_, _, region| region.width == 1 && region.hstride != 0)
}

fn one_channel(cx: &Context<'_>) -> Option<Detail> {
    check(cx, |_, size, region| {
        let strides = region.hstride != 0 || !matches!(region.vstride, 0 | Region::VXH);
        size == 1 && region.width == 1 && strides
    })
}

fn no_stride(cx: &Context<'_>) -> Option<Detail> {
    check(cx, |_, _, region| {
        region.vstride == 0 && region.hstride == 0 && region.width != 1
    })
}

fn row_crosses(cx: &Context<'_>) -> Option<Detail> {
    check(cx, |src, _, _| {
        cx.source_footprint(src)
            .is_some_and(|footprint| footprint.row_crosses())
    })
}

fn destination_stride_zero(cx: &Context<'_>) -> Option<Detail> {
    let dst = &cx.inst.dst;
    (cx.has_regions() && dst.hstride == 0 && !is_null_dst(dst)).then(|| Detail::new(Place::Dst))
}

fn natural_alignment(cx: &Context<'_>) -> Option<Detail> {
    if !cx.has_regions() {
        return None;
    }
    let off = |addr: Addr, ty: Type| {
        let (_, offset) = direct(addr)?;
        (u32::from(offset) % cx.element(ty) != 0).then_some(i64::from(offset))
    };
    let dst = &cx.inst.dst;
    let place = (cx.inst.num_src > 0 && !is_null_dst(dst)).then(|| off(dst.addr, dst.ty));
    if let Some(offset) = place.flatten() {
        return Some(Detail::new(Place::Dst).with("byte offset", offset));
    }
    cx.region_sources().find_map(|(place, src)| {
        Some(Detail::new(place).with("byte offset", off(src.addr, src.ty)?))
    })
}
