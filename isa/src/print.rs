//! Disassembler: the text form of Mesa's `brw_disasm.c`, columns included.
//!
//! PRM: volume 4, 13.4 (native instruction BNF). Differs from Mesa 22.3.6 where its text loses bits:
//! indirect displacements are signed and destination address subregisters count in words; operands
//! of the mask stack instructions are printed. Labels are not printed.

use alloc::string::String;
use core::fmt::Write;

use crate::encode::encode;
use crate::inst::{AccessMode, Compression, CondMod, Inst, Opcode, PredCtrl, ThreadCtrl, Verx10};
use crate::layout::IMM;
use crate::operand::RegFile;
use crate::tables::Format;

mod float;
mod message;
mod operand;

/// Text of one instruction, with a semicolon and no line end; `send` takes two lines.
pub fn print(generation: Verx10, inst: &Inst) -> String {
    let mut line = Line::default();
    instruction(&mut line, generation, inst);
    line.text
}

/// Output with Mesa's idea of the current column.
#[derive(Default)]
struct Line {
    text: String,
    column: usize,
}

impl Line {
    fn put(&mut self, text: &str) {
        self.text.push_str(text);
        self.column += text.len();
    }

    fn fmt(&mut self, args: core::fmt::Arguments<'_>) {
        let start = self.text.len();
        // A String takes every write.
        let _ = self.text.write_fmt(args);
        self.column += self.text.len() - start;
    }

    /// At least one space, then up to a column.
    fn pad(&mut self, column: usize) {
        self.put(" ");
        while self.column < column {
            self.put(" ");
        }
    }

    /// A word after a space, nothing for an empty word.
    fn word(&mut self, text: &str) {
        if !text.is_empty() {
            self.put(" ");
            self.put(text);
        }
    }
}

fn instruction(line: &mut Line, generation: Verx10, inst: &Inst) {
    let desc = inst.opcode.desc(generation);
    let format = desc.map_or(Format::Basic, |row| row.format);
    let send = inst.send.is_some();
    if inst.pred_ctrl != PredCtrl::None {
        let sign = if inst.pred_inv { '-' } else { '+' };
        let ctrl = pred_ctrl(inst.pred_ctrl);
        line.fmt(format_args!("({sign}f0.{}{ctrl}) ", inst.flag_subreg));
    }
    line.put(desc.map_or("invalid", |row| row.mnemonic));
    if inst.saturate && !send {
        line.put(".sat");
    }
    if inst.debug_ctrl {
        line.put(".breakpoint");
    }
    if inst.cond_mod != CondMod::None && !send {
        line.fmt(format_args!(
            "{}.f0.{}",
            cond_mod(inst.cond_mod),
            inst.flag_subreg
        ));
    }
    if inst.opcode != Opcode::Nop {
        line.fmt(format_args!("({})", inst.exec_size));
    }
    if let Some(send) = inst.send {
        line.fmt(format_args!(" {}", send.mrf));
    }
    match format {
        Format::Bare | Format::LoopHead => {}
        Format::Branch => branch(line, inst),
        Format::Jump => {
            line.pad(16);
            operand::src(line, inst, 1);
        }
        Format::Basic | Format::Send => operands(line, inst, send),
    }
    if send {
        descriptor(line, generation, inst);
    }
    line.pad(64);
    if inst.opcode != Opcode::Nop {
        options(line, generation, inst);
    }
    line.put(";");
}

fn operands(line: &mut Line, inst: &Inst, send: bool) {
    line.pad(16);
    operand::dst(line, inst);
    // `wait` names one register, which stands in both operands.
    if inst.num_src > 0 && inst.opcode != Opcode::Wait {
        line.pad(32);
        operand::src(line, inst, 0);
    }
    if inst.num_src > 1 && !send {
        line.pad(48);
        operand::src(line, inst, 1);
    }
}

fn branch(line: &mut Line, inst: &Inst) {
    let Some(branch) = inst.branch else { return };
    match inst.opcode {
        Opcode::Break | Opcode::Cont | Opcode::Else => {
            line.pad(16);
            line.fmt(format_args!("Jump: {}", branch.jump));
            line.pad(32);
            line.fmt(format_args!("Pop: {}", branch.pop_or_uip));
        }
        Opcode::If | Opcode::Iff | Opcode::Halt | Opcode::While => {
            line.pad(16);
            line.fmt(format_args!("Jump: {}", branch.jump));
        }
        Opcode::Endif => {
            line.pad(16);
            line.fmt(format_args!("Pop: {}", branch.pop_or_uip));
        }
        _ => {}
    }
}

fn descriptor(line: &mut Line, generation: Verx10, inst: &Inst) {
    let raw = desc_word(generation, inst);
    if inst.send.is_some_and(|send| send.imm.is_none()) {
        line.pad(48);
        operand::src(line, inst, 1);
        line.pad(64);
    } else {
        line.pad(48);
    }
    line.fmt(format_args!("0x{raw:08x}\n"));
    line.column = 0;
    line.pad(16);
    // Mesa does not count these.
    line.text.push_str("            ");
    let imm = inst.send.and_then(|send| send.imm);
    message::print(line, generation, raw, imm.is_some());
}

/// The last word, which holds the descriptor or the register that the descriptor is in.
fn desc_word(generation: Verx10, inst: &Inst) -> u32 {
    match inst.send.and_then(|send| send.imm) {
        Some(imm) => imm,
        None => encode(generation, inst).map_or(0, |raw| IMM.get(&raw)),
    }
}

fn options(line: &mut Line, generation: Verx10, inst: &Inst) {
    line.put("{");
    line.word(match inst.access {
        AccessMode::Align1 => "align1",
        AccessMode::Align16 => "align16",
    });
    if inst.no_mask {
        line.word("nomask");
    }
    line.word(match (inst.no_dd_clr, inst.no_dd_chk) {
        (false, false) => "",
        (true, false) => "NoDDClr",
        (false, true) => "NoDDChk",
        (true, true) => "NoDDClr,NoDDChk",
    });
    line.word(match inst.compression {
        Compression::None => "",
        Compression::SecHalf => "sechalf",
        Compression::Compressed if compr4(inst) => "compr4",
        Compression::Compressed => "compr",
    });
    line.word(match inst.thread_ctrl {
        ThreadCtrl::Normal => "",
        ThreadCtrl::Atomic => "atomic",
        ThreadCtrl::Switch => "switch",
    });
    if inst.send.is_some() && desc_word(generation, inst) >> 31 != 0 {
        line.word("EOT");
    }
    line.put(" }");
}

fn compr4(inst: &Inst) -> bool {
    inst.dst.file == RegFile::Mrf && (inst.dst.compr4 || operand::mrf_bit7(&inst.dst))
}

const fn pred_ctrl(ctrl: PredCtrl) -> &'static str {
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
        PredCtrl::ReplX => ".x",
        PredCtrl::ReplY => ".y",
        PredCtrl::ReplZ => ".z",
        PredCtrl::ReplW => ".w",
    }
}

const fn cond_mod(cond_mod: CondMod) -> &'static str {
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
