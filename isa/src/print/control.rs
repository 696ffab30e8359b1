//! Text of predicates, conditions and the instruction options in braces.
//!
//! PRM: volume 4, 13.4 (instruction options); quarter control of Gen6 on as in Mesa 22.3.6
//! `brw_disasm.c`. Software scoreboards of later generations are not known.

use super::{Line, Place, operand};
use crate::inst::{AccessMode, Compression, CondMod, Inst, Opcode, PredCtrl, ThreadCtrl, Verx10};
use crate::operand::RegFile;

pub(super) fn options(line: &mut Line, generation: Verx10, inst: &Inst, place: &Place<'_>) {
    line.put("{");
    line.word(match inst.access {
        AccessMode::Align1 => "align1",
        AccessMode::Align16 => "align16",
    });
    if inst.no_mask {
        line.word(if generation.has().quarters {
            "WE_all"
        } else {
            "nomask"
        });
    }
    line.word(match (inst.no_dd_clr, inst.no_dd_chk) {
        (false, false) => "",
        (true, false) => "NoDDClr",
        (false, true) => "NoDDChk",
        (true, true) => "NoDDClr,NoDDChk",
    });
    if generation.has().quarters {
        channel_group(line, generation, inst);
        // Mesa makes none of these and has no word for them.
        if compr4(inst) {
            line.word("compr4");
        }
    } else {
        line.word(match inst.compression {
            Compression::None => "",
            Compression::SecHalf => "sechalf",
            Compression::Compressed if compr4(inst) => "compr4",
            Compression::Compressed => "compr",
        });
    }
    if place.compacted {
        line.word("compacted");
    }
    line.word(match inst.thread_ctrl {
        ThreadCtrl::Normal => "",
        ThreadCtrl::Atomic => "atomic",
        ThreadCtrl::Switch => "switch",
    });
    if inst.branch_ctrl {
        line.word("BranchCtrl");
    }
    if inst.acc_wr_ctrl {
        line.word("AccWrEnable");
    }
    if inst.mask_ctrl_ex {
        line.word("MaskCtrlEx");
    }
    if ends_thread(inst) {
        line.word("EOT");
    }
    if place.exact {
        let flag = inst.flag_reg * 2 + inst.flag_subreg;
        if flag != 0 && !super::names_flag(generation, inst) {
            line.fmt(format_args!(" flag={flag}"));
        }
        let words = inst.reserved.iter().enumerate();
        for (n, bits) in words.filter(|(_, bits)| **bits != 0) {
            line.fmt(format_args!(" reserved{n}={bits:#010x}"));
        }
    }
    line.put(" }");
}

/// `1Q`, `2N`, `1H`: which channels of the thread the instruction executes.
fn channel_group(line: &mut Line, generation: Verx10, inst: &Inst) {
    let quarter = inst.qtr_ctrl & 3;
    let nibble = inst.nib_ctrl && generation.has().nibbles;
    match inst.exec_size {
        0..8 => line.fmt(format_args!(" {}N", quarter * 2 + u8::from(nibble) + 1)),
        _ if nibble => line.fmt(format_args!(" {}N", quarter * 2 + 2)),
        // Sixteen channels start at 0 or 16; the others say their quarter rather than lose the bit.
        16 if quarter & 1 == 0 => line.fmt(format_args!(" {}H", quarter / 2 + 1)),
        32 if quarter == 0 => {}
        _ => line.fmt(format_args!(" {}Q", quarter + 1)),
    }
}

fn compr4(inst: &Inst) -> bool {
    inst.dst.file == RegFile::Mrf && (inst.dst.compr4 || operand::mrf_bit7(&inst.dst))
}

fn ends_thread(inst: &Inst) -> bool {
    inst.send
        .is_some_and(|send| send.eot || send.imm.is_some_and(|imm| imm >> 31 != 0))
}

pub(super) const fn pred_ctrl(ctrl: PredCtrl) -> &'static str {
    match ctrl {
        PredCtrl::None | PredCtrl::Normal => "",
        PredCtrl::AnyV => ".anyv",
        PredCtrl::AllV => ".allv",
        PredCtrl::Any2h => ".any2h",
        PredCtrl::All2h => ".all2h",
        PredCtrl::Any4h | PredCtrl::AlignAny4h => ".any4h",
        PredCtrl::All4h | PredCtrl::AlignAll4h => ".all4h",
        PredCtrl::Any8h => ".any8h",
        PredCtrl::All8h => ".all8h",
        PredCtrl::Any16h => ".any16h",
        PredCtrl::All16h => ".all16h",
        PredCtrl::Any32h => ".any32h",
        PredCtrl::All32h => ".all32h",
        PredCtrl::ReplX => ".x",
        PredCtrl::ReplY => ".y",
        PredCtrl::ReplZ => ".z",
        PredCtrl::ReplW => ".w",
    }
}

pub(super) const fn cond_mod(cond_mod: CondMod) -> &'static str {
    match cond_mod {
        CondMod::None => "",
        CondMod::Z => ".z",
        CondMod::Nz => ".nz",
        CondMod::G => ".g",
        CondMod::Ge => ".ge",
        CondMod::L => ".l",
        CondMod::Le => ".le",
        CondMod::R => ".r",
        CondMod::O => ".o",
        CondMod::U => ".u",
    }
}

/// Logic instructions of Gen8 on read `-` as a bitwise not.
pub(super) const fn negate_is_not(generation: Verx10, opcode: Opcode) -> bool {
    generation.has().negate_is_not
        && matches!(opcode, Opcode::And | Opcode::Or | Opcode::Xor | Opcode::Not)
}
