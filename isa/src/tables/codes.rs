//! Encodings of the enumerated instruction fields, both directions.
//!
//! PRM: volume 4, 13.2 (tables of field encodings); numbers cross-checked with Mesa 22.3.6
//! `brw_eu_defines.h` and `brw_reg_type.c`. Align1 types of three sources (Gen10) are not listed.

use crate::inst::{AccessMode, Compression, CondMod, PredCtrl, ThreadCtrl};
use crate::operand::{RegFile, Region, Type};

pub(crate) const fn file(code: u32) -> RegFile {
    match code & 3 {
        0 => RegFile::Arf,
        1 => RegFile::Grf,
        2 => RegFile::Mrf,
        _ => RegFile::Imm,
    }
}

pub(crate) const fn file_code(file: RegFile) -> u32 {
    match file {
        RegFile::Arf => 0,
        RegFile::Grf => 1,
        RegFile::Mrf => 2,
        RegFile::Imm => 3,
    }
}

/// Type of a register operand.
pub(crate) const fn reg_type<const V: u8>(code: u32) -> Option<Type> {
    Some(match code {
        0 => Type::Ud,
        1 => Type::D,
        2 => Type::Uw,
        3 => Type::W,
        4 => Type::Ub,
        5 => Type::B,
        6 if V >= 70 => Type::Df,
        7 => Type::F,
        8 if V >= 80 => Type::Uq,
        9 if V >= 80 => Type::Q,
        10 if V >= 80 => Type::Hf,
        _ => return None,
    })
}

/// Type of an immediate: the byte codes mean packed vectors.
pub(crate) const fn imm_type<const V: u8>(code: u32) -> Option<Type> {
    match code {
        4 if V >= 60 => Some(Type::Uv),
        4 => None,
        5 => Some(Type::Vf),
        6 => Some(Type::V),
        10 if V >= 80 => Some(Type::Df),
        11 if V >= 80 => Some(Type::Hf),
        _ => reg_type::<V>(code),
    }
}

pub(crate) const fn reg_type_code<const V: u8>(ty: Type) -> Option<u32> {
    Some(match ty {
        Type::Ud => 0,
        Type::D => 1,
        Type::Uw => 2,
        Type::W => 3,
        Type::Ub => 4,
        Type::B => 5,
        Type::Df if V >= 70 => 6,
        Type::F => 7,
        Type::Uq if V >= 80 => 8,
        Type::Q if V >= 80 => 9,
        Type::Hf if V >= 80 => 10,
        _ => return None,
    })
}

pub(crate) const fn imm_type_code<const V: u8>(ty: Type) -> Option<u32> {
    match ty {
        Type::Ub | Type::B => None,
        Type::Uv if V >= 60 => Some(4),
        Type::Vf => Some(5),
        Type::V => Some(6),
        Type::Df if V < 80 => None,
        Type::Df => Some(10),
        Type::Hf if V >= 80 => Some(11),
        _ => reg_type_code::<V>(ty),
    }
}

/// Type in the three-source format; Gen6 knows only floats and has no field.
pub(crate) const fn three_type<const V: u8>(code: u32) -> Option<Type> {
    Some(match code {
        0 => Type::F,
        1 if V >= 70 => Type::D,
        2 if V >= 70 => Type::Ud,
        3 if V >= 70 => Type::Df,
        4 if V >= 80 => Type::Hf,
        _ => return None,
    })
}

pub(crate) const fn three_type_code<const V: u8>(ty: Type) -> Option<u32> {
    Some(match ty {
        Type::F => 0,
        Type::D if V >= 70 => 1,
        Type::Ud if V >= 70 => 2,
        Type::Df if V >= 70 => 3,
        Type::Hf if V >= 80 => 4,
        _ => return None,
    })
}

/// Horizontal strides 0, 1, 2, 4 are coded 0 to 3; vertical ones go on to 32, coded 6.
pub(crate) const fn stride(code: u32) -> Option<u8> {
    match code {
        0 => Some(0),
        1..=6 => Some(1 << (code - 1)),
        _ => None,
    }
}

pub(crate) const fn stride_code(stride: u8) -> Option<u32> {
    match stride {
        0 => Some(0),
        1 | 2 | 4 | 8 | 16 | 32 => Some(stride.trailing_zeros() + 1),
        _ => None,
    }
}

/// Vertical stride; only indirect align1 sources have the one-dimensional code.
pub(crate) const fn vstride(code: u32, indirect_align1: bool) -> Option<u8> {
    if code == 15 && indirect_align1 {
        Some(Region::VXH)
    } else {
        stride(code)
    }
}

pub(crate) const fn vstride_code(vstride: u8, indirect_align1: bool) -> Option<u32> {
    if vstride == Region::VXH {
        return if indirect_align1 { Some(15) } else { None };
    }
    stride_code(vstride)
}

/// Width and execution size: the logarithm, up to `1 << max`.
pub(crate) const fn log2(code: u32, max: u32) -> Option<u8> {
    if code <= max && max < 8 {
        Some(1 << code)
    } else {
        None
    }
}

pub(crate) const fn log2_code(value: u8, max: u32) -> Option<u32> {
    if value.is_power_of_two() && value.trailing_zeros() <= max {
        Some(value.trailing_zeros())
    } else {
        None
    }
}

const ALIGN1: [PredCtrl; 14] = [
    PredCtrl::None,
    PredCtrl::Normal,
    PredCtrl::AnyV,
    PredCtrl::AllV,
    PredCtrl::Any2h,
    PredCtrl::All2h,
    PredCtrl::Any4h,
    PredCtrl::All4h,
    PredCtrl::Any8h,
    PredCtrl::All8h,
    PredCtrl::Any16h,
    PredCtrl::All16h,
    PredCtrl::Any32h,
    PredCtrl::All32h,
];

const ALIGN16: [PredCtrl; 8] = [
    PredCtrl::None,
    PredCtrl::Normal,
    PredCtrl::ReplX,
    PredCtrl::ReplY,
    PredCtrl::ReplZ,
    PredCtrl::ReplW,
    PredCtrl::AlignAny4h,
    PredCtrl::AlignAll4h,
];

/// The modes over 32 channels came with the second flag register.
const fn pred_table<const V: u8>(access: AccessMode) -> &'static [PredCtrl] {
    match access {
        AccessMode::Align1 if V >= 70 => &ALIGN1,
        AccessMode::Align1 => ALIGN1.split_at(12).0,
        AccessMode::Align16 => &ALIGN16,
    }
}

pub(crate) fn pred_ctrl<const V: u8>(access: AccessMode, code: u32) -> Option<PredCtrl> {
    pred_table::<V>(access).get(code as usize).copied()
}

pub(crate) fn pred_ctrl_code<const V: u8>(access: AccessMode, ctrl: PredCtrl) -> Option<u32> {
    let code = match ctrl {
        PredCtrl::ReplX => 2,
        PredCtrl::ReplY => 3,
        PredCtrl::ReplZ => 4,
        PredCtrl::ReplW => 5,
        PredCtrl::AlignAny4h => 6,
        PredCtrl::AlignAll4h => 7,
        // The others are declared in the order of their codes.
        _ => ctrl as u32,
    };
    (pred_ctrl::<V>(access, code) == Some(ctrl)).then_some(code)
}

const COND_MODS: [CondMod; 10] = [
    CondMod::None,
    CondMod::Z,
    CondMod::Nz,
    CondMod::G,
    CondMod::Ge,
    CondMod::L,
    CondMod::Le,
    CondMod::R,
    CondMod::O,
    CondMod::U,
];

pub(crate) fn cond_mod(code: u32) -> Option<CondMod> {
    COND_MODS.get(code as usize).copied()
}

/// The conditional modifiers are declared in the order of their codes.
pub(crate) const fn cond_mod_code(cond_mod: CondMod) -> u32 {
    cond_mod as u32
}

pub(crate) const fn compression(code: u32) -> Option<Compression> {
    Some(match code {
        0 => Compression::None,
        1 => Compression::SecHalf,
        2 => Compression::Compressed,
        _ => return None,
    })
}

pub(crate) const fn compression_code(compression: Compression) -> u32 {
    match compression {
        Compression::None => 0,
        Compression::SecHalf => 1,
        Compression::Compressed => 2,
    }
}

pub(crate) const fn thread_ctrl(code: u32) -> Option<ThreadCtrl> {
    Some(match code {
        0 => ThreadCtrl::Normal,
        1 => ThreadCtrl::Atomic,
        2 => ThreadCtrl::Switch,
        _ => return None,
    })
}

pub(crate) const fn thread_ctrl_code(ctrl: ThreadCtrl) -> u32 {
    match ctrl {
        ThreadCtrl::Normal => 0,
        ThreadCtrl::Atomic => 1,
        ThreadCtrl::Switch => 2,
    }
}

/// Functions of `math`: 0 is reserved, the last two came with Gen8.
pub(crate) const fn math<const V: u8>(code: u32) -> Option<u8> {
    match code {
        1..=13 => Some(code as u8),
        14 | 15 if V >= 80 => Some(code as u8),
        _ => None,
    }
}
