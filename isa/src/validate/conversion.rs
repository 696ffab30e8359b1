//! Destinations narrower than the execution type; conversions that do not exist.
//!
//! PRM: volume 4, 11.3.10 (general restrictions by operand types); Gen8 and later from Broxton PRM
//! vol6, Register Region Restrictions. Three-source instructions and sends are not looked at.

use crate::operand::Type;

use super::context::{Context, is_indirect, is_packed_dst};
use super::{Detail, Generations, Place, Rule};

pub(super) const RULES: &[Rule] = &[
    Rule::inst(
        "packed-byte-destination",
        Generations::ALL,
        "Broxton PRM vol6 Register Region Restrictions 4; Mesa 22.3.6 brw_eu_validate.c",
        "only a raw mov writes packed bytes",
        packed_byte,
    ),
    Rule::inst(
        "destination-stride",
        Generations::ALL,
        "Broxton PRM vol6 Register Region Restrictions 1; Mesa 22.3.6 brw_eu_validate.c",
        "a destination narrower than the execution type has a stride of the ratio of the sizes",
        destination_stride,
    ),
    Rule::inst(
        "destination-alignment",
        Generations::ALL,
        "Broxton PRM vol6 Register Region Restrictions 1, 4.2; Mesa 22.3.6 brw_eu_validate.c",
        "a destination narrower than the execution type is aligned to it; from 4.5 on bytes may \
         lie one higher",
        destination_alignment,
    ),
    Rule::inst(
        "byte-qword-conversion",
        Generations::since(70),
        "Broadwell PRM vol2a mov; Mesa 22.3.6 brw_eu_validate.c",
        "bytes and 64-bit types do not convert into one another",
        byte_qword,
    ),
    Rule::inst(
        "half-qword-conversion",
        Generations::since(80),
        "Broadwell PRM vol2a mov; Mesa 22.3.6 brw_eu_validate.c",
        "half floats and 64-bit types do not convert into one another",
        half_qword,
    ),
    Rule::inst(
        "half-integer-stride",
        Generations::since(80),
        "Broxton PRM vol6 Register Region Restrictions, Special Restrictions 4",
        "a conversion between integer and half float has a destination stride of a doubleword",
        half_integer_stride,
    ),
    Rule::inst(
        "half-integer-alignment",
        Generations::since(80),
        "Broxton PRM vol6 Register Region Restrictions, Special Restrictions 4",
        "a conversion between integer and half float has a doubleword-aligned destination",
        half_integer_alignment,
    ),
    Rule::inst(
        "half-word-position",
        Generations::since(90),
        "Broxton PRM vol6 Register Region Restrictions 5; Mesa 22.3.6 brw_eu_validate.c",
        "a conversion to half float fills all even or all odd words, or is mixed float with a \
         packed 16-byte aligned destination",
        half_word_position,
    ),
];

/// Whether the rules by operand types apply: more than one channel.
fn converts(cx: &Context<'_>) -> bool {
    cx.has_regions() && cx.exec_size() > 1 && cx.sources > 0
}

fn is_byte(ty: Type) -> bool {
    ty.size() == 1
}

fn is_packed_byte(cx: &Context<'_>) -> bool {
    is_byte(cx.inst.dst.ty) && is_packed_dst(cx.exec_size(), cx.inst.dst.hstride)
}

fn packed_byte(cx: &Context<'_>) -> Option<Detail> {
    let broken = converts(cx) && is_packed_byte(cx) && !cx.is_raw_move();
    broken.then(|| cx.at(Place::Dst).with("stride", cx.inst.dst.hstride))
}

/// Sizes of execution type and destination, where the second is the smaller and the rule holds.
fn narrowing(cx: &Context<'_>) -> Option<(u32, u32)> {
    if !converts(cx) || is_packed_byte(cx) || (cx.is_mixed_float() && cx.has().half_words) {
        return None;
    }
    let exec = cx.exec_type?.size() as u32;
    let dst = cx.inst.dst.ty.size() as u32;
    let dst = if cx.has().split_doubles && exec == 8 && dst == 4 {
        8
    } else {
        dst
    };
    (exec > dst).then_some((exec, dst))
}

fn destination_stride(cx: &Context<'_>) -> Option<Detail> {
    let (exec, dst) = narrowing(cx)?;
    if is_byte(cx.inst.dst.ty) && cx.is_raw_move() {
        return None;
    }
    let stride = cx.inst.dst.hstride;
    (u32::from(stride) * dst != exec).then(|| {
        Detail::new(Place::Dst)
            .with("stride", stride)
            .with("element bytes", dst)
            .with("execution type bytes", exec)
    })
}

fn destination_alignment(cx: &Context<'_>) -> Option<Detail> {
    let (exec, _) = narrowing(cx)?;
    if cx.align16() {
        return None;
    }
    let subnr = cx.dst_subnr()?;
    let rest = subnr % exec;
    let relaxed = cx.has().byte_pairs && is_byte(cx.inst.dst.ty) && rest == 1;
    (rest != 0 && !relaxed).then(|| {
        Detail::new(Place::Dst)
            .with("byte offset", subnr)
            .with("execution type bytes", exec)
    })
}

/// Whether destination and some source are of these two kinds, either way round.
fn meets(cx: &Context<'_>, one: fn(Type) -> bool, other: fn(Type) -> bool) -> Option<Place> {
    if !converts(cx) {
        return None;
    }
    let dst = cx.inst.dst.ty;
    cx.sources()
        .find(|(_, src)| (one(dst) && other(src.ty)) || (other(dst) && one(src.ty)))
        .map(|(place, _)| place)
}

fn is_half(ty: Type) -> bool {
    ty == Type::Hf
}

fn is_wide(ty: Type) -> bool {
    ty.size() == 8
}

/// Integers in registers; a vector immediate is no conversion.
fn is_integer(ty: Type) -> bool {
    !ty.is_float() && !matches!(ty, Type::V | Type::Uv)
}

fn byte_qword(cx: &Context<'_>) -> Option<Detail> {
    meets(cx, is_byte, is_wide).map(Detail::new)
}

fn half_qword(cx: &Context<'_>) -> Option<Detail> {
    meets(cx, is_half, is_wide).map(Detail::new)
}

fn half_integer(cx: &Context<'_>) -> bool {
    !cx.align16() && meets(cx, is_half, is_integer).is_some()
}

fn half_integer_stride(cx: &Context<'_>) -> Option<Detail> {
    let dst = &cx.inst.dst;
    let stride = u32::from(dst.hstride) * dst.ty.size() as u32;
    (half_integer(cx) && stride != 4).then(|| Detail::new(Place::Dst).with("stride bytes", stride))
}

fn half_integer_alignment(cx: &Context<'_>) -> Option<Detail> {
    let subnr = cx.dst_subnr()?;
    (half_integer(cx) && !subnr.is_multiple_of(4))
        .then(|| Detail::new(Place::Dst).with("byte offset", subnr))
}

fn half_word_position(cx: &Context<'_>) -> Option<Detail> {
    let dst = &cx.inst.dst;
    let other = |ty| ty != Type::Hf;
    let converts_to_half =
        converts(cx) && dst.ty == Type::Hf && cx.sources().any(|(_, src)| other(src.ty));
    if !converts_to_half || cx.align16() || half_integer(cx) || is_indirect(dst.addr) {
        return None;
    }
    let subnr = cx.dst_subnr()?;
    let packed = cx.is_mixed_float() && dst.hstride == 1 && subnr.is_multiple_of(16);
    (dst.hstride != 2 && !packed).then(|| {
        Detail::new(Place::Dst)
            .with("stride", dst.hstride)
            .with("byte offset", subnr)
    })
}
