//! Operand types and options that single opcodes ask for.
//!
//! PRM: volume 4, 14.2; Baytrail PRM vol2 part 2 (add to brd); the rest from Mesa 22.3.6
//! brw_eu_emit.c and brw_eu_validate.c. Multiplication and math have files of their own.

use crate::inst::{CondMod, Opcode, ThreadCtrl};
use crate::operand::{RegFile, Type};

use super::context::{Context, accumulator, direct, is_null_dst, is_scalar};
use super::{Detail, Generations, Place, Rule};

const LATER: &str = "Baytrail PRM vol2 part2";

pub(super) const RULES: &[Rule] = &[
    Rule::inst(
        "logic-integer",
        Generations::ALL,
        "PRM vol4 14.2.2, 14.2.30, 14.2.31, 14.2.46",
        "logic operations and shifts take and give integers",
        logic_integer,
    ),
    Rule::inst(
        "average-types",
        Generations::ALL,
        "PRM vol4 14.2.4; Baytrail PRM vol2 part2 avg; Mesa 22.3.6 brw_eu_emit.c brw_AVG",
        "avg takes and gives integers of at most 32 bits; up to 5.0 all of one type",
        average_types,
    ),
    Rule::inst(
        "float-opcode-sources",
        Generations::ALL,
        "PRM vol4 14.2.10-14.2.13, 14.2.16, 14.2.21, 14.2.34-14.2.37",
        "rounding, fraction, dot products and planes take floats",
        float_sources,
    ),
    Rule::inst(
        "float-opcode-destination",
        Generations::ALL,
        "PRM vol4 14.2.10-14.2.13, 14.2.16, 14.2.21",
        "fraction, dot products and planes give floats",
        float_destination,
    ),
    Rule::inst(
        "dot-product-exec-size",
        Generations::ALL,
        "PRM vol4 14.2.10-14.2.13",
        "a dot product works on groups of four channels",
        dot_exec_size,
    ),
    Rule::inst(
        "line-source",
        Generations::ALL,
        "PRM vol4 14.2.21; Mesa 22.3.6 brw_eu_emit.c, brw_fs_generator.cpp",
        "source 0 of line and pln is a vector of four shared by all channels",
        line_source,
    ),
    Rule::inst(
        "plane-even-register",
        Generations::between(45, 60),
        "Mesa 22.3.6 brw_fs_generator.cpp generate_linterp",
        "the register pair of pln starts at an even register",
        plane_even,
    ),
    Rule::inst(
        "plane-exec-size",
        Generations::since(45),
        "Mesa 22.3.6 brw_fs_generator.cpp generate_linterp",
        "pln has 8 or 16 channels",
        plane_exec_size,
    ),
    Rule::inst(
        "leading-zeros-types",
        Generations::ALL,
        "PRM vol4 14.2.22; Mesa 22.3.6 brw_fs_nir.cpp",
        "lzd counts in doublewords into an unsigned doubleword",
        leading_zeros,
    ),
    Rule::inst(
        "difference-types",
        Generations::ALL,
        "PRM vol4 14.2.38, 14.2.39",
        "sad2 and sada2 take bytes and give words",
        difference_types,
    ),
    Rule::inst(
        "carry-types",
        Generations::since(70),
        LATER,
        "addc and subb take and give unsigned doublewords",
        carry_types,
    ),
    Rule::inst(
        "carry-accumulator",
        Generations::since(70),
        "Baytrail PRM vol2 part2 addc",
        "addc and subb write the carry to the accumulator: AccWrEn, and another destination",
        carry_accumulator,
    ),
    Rule::inst(
        "bit-field-types",
        Generations::since(70),
        "Baytrail PRM vol2 part2 bfe, bfi1, bfi2, bfrev",
        "bit field opcodes take and give doublewords of one type; bfrev unsigned ones",
        bit_field_types,
    ),
    Rule::inst(
        "bit-field-accumulator",
        Generations::since(70),
        "Baytrail PRM vol2 part2 bfe, bfi1, bfi2, bfrev",
        "bit field opcodes leave the accumulators alone",
        bit_field_accumulator,
    ),
    Rule::inst(
        "bit-count-types",
        Generations::since(70),
        "Mesa 22.3.6 brw_fs_nir.cpp",
        "cbit and fbl take unsigned integers, fbh doublewords; all give doublewords",
        bit_count_types,
    ),
    Rule::inst(
        "add-types",
        Generations::since(70),
        "Baytrail PRM vol2 part2 add",
        "add gives no integer of floats and no double of singles",
        add_types,
    ),
    Rule::inst(
        "half-conversion-types",
        Generations::between(70, 75),
        "Mesa 22.3.6 brw_eu_emit.c brw_F32TO16, brw_F16TO32",
        "f32to16 and f16to32 hold half floats in words",
        half_conversion,
    ),
    Rule::inst(
        "compare-accumulator",
        Generations::until(75),
        "Mesa 22.3.6 brw_eu_validate.c (Ivybridge PRM vol4 part3, page 166)",
        "cmp and cmpn write to a general register, a message register or null",
        compare_accumulator,
    ),
    Rule::inst(
        "compare-null-switch",
        Generations::between(70, 75),
        "Mesa 22.3.6 brw_eu_validate.c (Ivybridge PRM vol4 part3, page 166)",
        "cmp and cmpn to null switch threads",
        compare_switch,
    ),
    Rule::inst(
        "select-compare",
        Generations::since(80),
        "Mesa 22.3.6 brw_eu_emit.c, brw_disasm.c",
        "csel has a condition",
        csel_condition,
    ),
    Rule::inst(
        "indexed-move",
        Generations::since(45),
        "Mesa 22.3.6 brw_fs_generator.cpp",
        "movi reads through the address register",
        indexed_move,
    ),
];

fn dword(ty: Type) -> bool {
    matches!(ty, Type::D | Type::Ud)
}

/// The first operand whose type fails a test.
fn types(
    cx: &Context<'_>,
    dst: impl Fn(Type) -> bool,
    src: impl Fn(Type) -> bool,
) -> Option<Detail> {
    if !dst(cx.inst.dst.ty) && !is_null_dst(&cx.inst.dst) {
        return Some(Detail::new(Place::Dst));
    }
    cx.sources()
        .find(|(_, operand)| !src(operand.ty))
        .map(|(place, _)| Detail::new(place))
}

fn any(_: Type) -> bool {
    true
}

fn integer(ty: Type) -> bool {
    !ty.is_float()
}

fn logic_integer(cx: &Context<'_>) -> Option<Detail> {
    let applies = matches!(
        cx.inst.opcode,
        Opcode::And
            | Opcode::Or
            | Opcode::Xor
            | Opcode::Not
            | Opcode::Shr
            | Opcode::Shl
            | Opcode::Asr
            | Opcode::Rsr
            | Opcode::Rsl
    );
    if applies {
        types(cx, integer, integer)
    } else {
        None
    }
}

fn average_types(cx: &Context<'_>) -> Option<Detail> {
    if cx.inst.opcode != Opcode::Avg {
        return None;
    }
    let first = cx.inst.src[0].ty;
    let legal = |ty: Type| integer(ty) && ty.size() <= 4 && (cx.has().mixed_average || ty == first);
    types(cx, legal, legal)
}

fn is_dot(opcode: Opcode) -> bool {
    matches!(
        opcode,
        Opcode::Dp4 | Opcode::Dph | Opcode::Dp3 | Opcode::Dp2
    )
}

fn is_plane(opcode: Opcode) -> bool {
    matches!(opcode, Opcode::Line | Opcode::Pln)
}

fn rounds(opcode: Opcode) -> bool {
    matches!(
        opcode,
        Opcode::Rndu | Opcode::Rndd | Opcode::Rnde | Opcode::Rndz
    )
}

fn float_sources(cx: &Context<'_>) -> Option<Detail> {
    let opcode = cx.inst.opcode;
    if is_dot(opcode) || is_plane(opcode) || rounds(opcode) || opcode == Opcode::Frc {
        types(cx, any, Type::is_float)
    } else {
        None
    }
}

fn float_destination(cx: &Context<'_>) -> Option<Detail> {
    let opcode = cx.inst.opcode;
    if is_dot(opcode) || is_plane(opcode) || opcode == Opcode::Frc {
        types(cx, Type::is_float, any)
    } else {
        None
    }
}

fn dot_exec_size(cx: &Context<'_>) -> Option<Detail> {
    (is_dot(cx.inst.opcode) && cx.exec_size() < 4).then(|| cx.at(Place::Instruction))
}

fn line_source(cx: &Context<'_>) -> Option<Detail> {
    if !is_plane(cx.inst.opcode) || cx.align16() {
        return None;
    }
    let region = cx.inst.src[0].region;
    (!is_scalar(region) && region.vstride != 0).then(|| {
        Detail::new(Place::Src0)
            .with("vertical stride", region.vstride)
            .with("width", region.width)
    })
}

fn plane_even(cx: &Context<'_>) -> Option<Detail> {
    let src = &cx.inst.src[1];
    let (nr, _) = direct(src.addr).filter(|_| src.file == RegFile::Grf)?;
    (cx.inst.opcode == Opcode::Pln && nr % 2 == 1)
        .then(|| Detail::new(Place::Src1).with("register", nr))
}

fn plane_exec_size(cx: &Context<'_>) -> Option<Detail> {
    let legal = matches!(cx.exec_size(), 8 | 16);
    (cx.inst.opcode == Opcode::Pln && !legal).then(|| cx.at(Place::Instruction))
}

fn leading_zeros(cx: &Context<'_>) -> Option<Detail> {
    if cx.inst.opcode == Opcode::Lzd {
        types(cx, |ty| ty == Type::Ud, dword)
    } else {
        None
    }
}

fn difference_types(cx: &Context<'_>) -> Option<Detail> {
    if matches!(cx.inst.opcode, Opcode::Sad2 | Opcode::Sada2) {
        let word = |ty| matches!(ty, Type::W | Type::Uw);
        types(cx, word, |ty| matches!(ty, Type::B | Type::Ub))
    } else {
        None
    }
}

fn carries(cx: &Context<'_>) -> bool {
    matches!(cx.inst.opcode, Opcode::Addc | Opcode::Subb)
}

fn carry_types(cx: &Context<'_>) -> Option<Detail> {
    if carries(cx) {
        types(cx, |ty| ty == Type::Ud, |ty| ty == Type::Ud)
    } else {
        None
    }
}

fn carry_accumulator(cx: &Context<'_>) -> Option<Detail> {
    if !carries(cx) {
        return None;
    }
    let dst = &cx.inst.dst;
    if accumulator(dst.file, dst.addr).is_some() {
        return Some(Detail::new(Place::Dst));
    }
    (!cx.inst.acc_wr_ctrl).then(|| Detail::new(Place::Instruction))
}

fn bit_field_types(cx: &Context<'_>) -> Option<Detail> {
    match cx.inst.opcode {
        Opcode::Bfe | Opcode::Bfi1 | Opcode::Bfi2 => {
            let first = cx.inst.src[0].ty;
            let legal = |ty| dword(ty) && ty == first;
            // Immediate widths and offsets may have either sign.
            cx.sources()
                .find(|(_, src)| !dword(src.ty) || (src.file != RegFile::Imm && !legal(src.ty)))
                .map(|(place, _)| Detail::new(place))
                .or_else(|| (!dword(cx.inst.dst.ty)).then(|| Detail::new(Place::Dst)))
        }
        Opcode::Bfrev => types(cx, |ty| ty == Type::Ud, |ty| ty == Type::Ud),
        _ => None,
    }
}

fn bit_field_accumulator(cx: &Context<'_>) -> Option<Detail> {
    if !matches!(
        cx.inst.opcode,
        Opcode::Bfe | Opcode::Bfi1 | Opcode::Bfi2 | Opcode::Bfrev
    ) {
        return None;
    }
    let dst = &cx.inst.dst;
    if accumulator(dst.file, dst.addr).is_some() {
        return Some(Detail::new(Place::Dst));
    }
    if cx.inst.acc_wr_ctrl {
        return Some(Detail::new(Place::Instruction));
    }
    cx.registers()
        .find(|(_, src)| accumulator(src.file, src.addr).is_some())
        .map(|(place, _)| Detail::new(place))
}

fn bit_count_types(cx: &Context<'_>) -> Option<Detail> {
    let unsigned = |ty| ty == Type::Ud;
    match cx.inst.opcode {
        Opcode::Cbit | Opcode::Fbl => types(cx, unsigned, |ty| {
            matches!(ty, Type::Ub | Type::Uw | Type::Ud)
        }),
        Opcode::Fbh => types(cx, dword, dword),
        _ => None,
    }
}

fn add_types(cx: &Context<'_>) -> Option<Detail> {
    if cx.inst.opcode != Opcode::Add {
        return None;
    }
    let dst = cx.inst.dst.ty;
    let float = cx.sources().any(|(_, src)| src.ty.is_float());
    let single = cx.sources().any(|(_, src)| src.ty == Type::F);
    let broken = (float && !dst.is_float()) || (single && dst == Type::Df);
    broken.then(|| Detail::new(Place::Dst))
}

fn half_conversion(cx: &Context<'_>) -> Option<Detail> {
    let word = |ty| matches!(ty, Type::W | Type::Uw);
    match cx.inst.opcode {
        Opcode::F32to16 => types(cx, |ty| word(ty) || dword(ty), |ty| ty == Type::F),
        Opcode::F16to32 => types(cx, |ty| ty == Type::F, |ty| word(ty) || dword(ty)),
        _ => None,
    }
}

fn compares(cx: &Context<'_>) -> bool {
    matches!(cx.inst.opcode, Opcode::Cmp | Opcode::Cmpn)
}

fn compare_accumulator(cx: &Context<'_>) -> Option<Detail> {
    let dst = &cx.inst.dst;
    (compares(cx) && dst.file == RegFile::Arf && !is_null_dst(dst)).then(|| Detail::new(Place::Dst))
}

fn compare_switch(cx: &Context<'_>) -> Option<Detail> {
    let switches = cx.inst.thread_ctrl == ThreadCtrl::Switch;
    (compares(cx) && is_null_dst(&cx.inst.dst) && !switches)
        .then(|| Detail::new(Place::Instruction))
}

fn csel_condition(cx: &Context<'_>) -> Option<Detail> {
    (cx.inst.opcode == Opcode::Csel && cx.inst.cond_mod == CondMod::None)
        .then(|| Detail::new(Place::Instruction))
}

fn indexed_move(cx: &Context<'_>) -> Option<Detail> {
    (cx.inst.opcode == Opcode::Movi && direct(cx.inst.src[0].addr).is_some())
        .then(|| Detail::new(Place::Src0))
}
