//! Lowering of what an instruction has besides its operands.
//!
//! PRM: volume 4, 11.3.9 (execution data type), 11.5; ValleyView volume 2 part 2, brd and brc. A double takes two channels (Mesa 22.3.6
//! `brw_fs.cpp`, on regions of Ivy Bridge).

use super::accumulator::writes_acc;
use super::send::send_op;
use super::{ExecType, illegal, null_reg};
use crate::decoded::Decoded;
use crate::r#gen::Rules;
use crate::math::Function;
use isa::inst::{AccessMode, Compression, CondMod};
use isa::operand::{Addr, RegFile, Type};
use isa::{Inst, Opcode};

/// Bytes of an instruction that is not compacted.
const WHOLE: i32 = 16;

/// Whether an operand holds doubles.
pub(super) fn has_doubles(inst: &Inst) -> bool {
    let mut sources = inst.src.iter().take(usize::from(inst.num_src));
    let message = matches!(inst.opcode, Opcode::Send | Opcode::Sendc);
    !message && (inst.dst.ty == Type::Df || sources.any(|s| s.ty == Type::Df))
}

/// Channels of an instruction, of its first sixteen; with doubles half as many as it says.
pub(super) fn channels(inst: &Inst) -> usize {
    let said = usize::from(inst.exec_size.clamp(1, 16));
    if has_doubles(inst) {
        (said / 2).max(1)
    } else {
        said
    }
}

/// PRM 11.3.9: float wins, then dword; bytes compute as words.
pub(super) fn exec_type(inst: &Inst) -> ExecType {
    use Opcode::{Dp2, Dp3, Dp4, Dph, Frc, Line, Lrp, Mad, Pln, Rndd, Rnde, Rndu, Rndz};
    if has_doubles(inst) {
        return ExecType::Double;
    }
    if matches!(
        inst.opcode,
        Frc | Rndu | Rndd | Rnde | Rndz | Dp4 | Dph | Dp3 | Dp2 | Line | Pln | Mad | Lrp
    ) {
        return ExecType::Float;
    }
    let srcs = &inst.src[..usize::from(inst.num_src.clamp(1, 2))];
    let used = srcs
        .iter()
        .filter(|s| !(s.file == RegFile::Arf && matches!(s.addr, Addr::Direct { nr: 0, .. })));
    let mut ty = ExecType::Word;
    for s in used {
        match s.ty {
            Type::F | Type::Vf => return ExecType::Float,
            Type::Ud | Type::D => ty = ExecType::Dword,
            _ => {}
        }
    }
    ty
}

/// What an instruction has besides its operands.
pub(super) fn controls(inst: &Inst, rules: Rules) -> Decoded {
    let exec = channels(inst);
    let mut d = illegal();
    d.op = inst.opcode;
    d.breakpoint = inst.debug_ctrl;
    d.rare = inst.debug_ctrl || inst.no_dd_clr;
    d.weight = inst.exec_size.div_ceil(8).max(1);
    d.shift = if rules.paths {
        inst.qtr_ctrl * 8 + if inst.nib_ctrl { 4 } else { 0 }
    } else if inst.compression == Compression::SecHalf {
        8
    } else {
        0
    };
    d.no_mask = inst.no_mask;
    d.no_cmask = inst.no_mask && inst.mask_ctrl_ex;
    d.saturate = inst.saturate;
    d.pred = inst.pred_ctrl;
    d.pred_inv = inst.pred_inv;
    d.cond = inst.cond_mod;
    if rules.compares && matches!(inst.opcode, Opcode::Sel | Opcode::If | Opcode::While) {
        d.compare = d.cond;
        d.cond = CondMod::None;
    }
    d.special = inst.saturate || d.cond != CondMod::None;
    // The channels from 16 on have the next subregister; before Ivy Bridge instructions name it (Mesa 22.3.6
    // `brw_fs_generator.cpp`, on the group and the flag subregister).
    let named = inst.flag_subreg & 1 | (inst.flag_reg & 1) << 1;
    let next = if rules.flag_registers > 1 {
        d.shift / 16
    } else {
        0
    };
    d.flag = named.wrapping_add(next) & (2 * rules.flag_registers - 1);
    d.exec = exec as u8;
    d.lanes = ((1u32 << exec) - 1) as u16;
    // The channel enables of a message have the destination's mask, also where it has no response (Mesa brw_eu_emit.c,
    // `brw_untyped_surface_write`). A null register without any mask is one that an assembler has left out.
    let silent = matches!(inst.opcode, Opcode::Send | Opcode::Sendc)
        && null_reg(inst.dst.file, inst.dst.addr);
    let written = inst.dst.writemask & 0xf;
    if inst.access == AccessMode::Align16 && !(silent && written == 0) {
        d.lanes &= u16::from(written) * 0x1111;
    }
    d.acc_write = if rules.acc_control {
        inst.acc_wr_ctrl
    } else {
        writes_acc(inst.opcode)
    };
    d.function = inst.math.and_then(Function::of_instruction);
    if let Some(b) = inst.branch {
        d.jump = b.jump.wrapping_mul(rules.jump_unit);
        d.pop = if rules.paths {
            b.pop_or_uip.wrapping_mul(rules.jump_unit)
        } else {
            b.pop_or_uip
        };
        if inst.opcode == Opcode::Break && rules.break_to_while {
            // Channels that have left a loop wait behind its `while`, which is never compacted.
            d.pop = d.pop.wrapping_add(WHOLE);
        }
    }
    let by_register =
        inst.branch.is_none() && matches!(inst.opcode, Opcode::Call | Opcode::Brd | Opcode::Brc);
    if inst.opcode == Opcode::Jmpi || by_register {
        d.jump = rules.jump_unit;
    }
    d.send = send_op(inst, rules);
    d
}
