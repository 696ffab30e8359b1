//! Disassembler: the text of Mesa's `brw_disasm.c`, columns included.
//!
//! PRM: volume 4, 13.4 (native instruction BNF). Differs from Mesa 22.3.6 where its text loses bits:
//! jump distances stand without labels too, indirect displacements are signed, destination address
//! subregisters count in words, operands of the mask stack instructions, of `call`, `ret`, `brd`,
//! `brc` and half-float immediates are printed. Reserved bits are printed when they are asked for.

use alloc::format;
use alloc::string::String;
use core::fmt::Write;

use crate::inst::{CondMod, Inst, Opcode, PredCtrl, Verx10};

mod control;
mod float;
mod flow;
mod kernel;
mod operand;
mod send;
#[cfg(test)]
mod tests;

pub use kernel::{Code, KernelItem, print_kernel, print_kernel_exact};

use kernel::Labels;

/// Text of one instruction, with a semicolon and no line end; `send` takes two lines. Jump
/// distances are numbers in the generation's unit.
pub fn print(generation: Verx10, inst: &Inst) -> String {
    let mut line = Line::default();
    instruction(&mut line, generation, inst, &Place::ALONE);
    line.text
}

/// The same of an instruction in its compacted form, with the option that says so.
pub fn print_compacted(generation: Verx10, inst: &Inst) -> String {
    let mut line = Line::default();
    let place = Place {
        compacted: true,
        ..Place::ALONE
    };
    instruction(&mut line, generation, inst, &place);
    line.text
}

/// The text of [`print()`] with the bits of [`Inst::reserved`] as options, for which Mesa has no text.
pub fn print_exact(generation: Verx10, inst: &Inst) -> String {
    let mut line = Line::default();
    let place = Place {
        exact: true,
        ..Place::ALONE
    };
    instruction(&mut line, generation, inst, &place);
    line.text
}

/// Where an instruction stands, for what its own fields do not tell.
struct Place<'a> {
    offset: u32,
    compacted: bool,
    labels: Option<&'a Labels>,
    /// Bits that nothing reads are shown.
    exact: bool,
}

impl Place<'_> {
    const ALONE: Place<'static> = Place {
        offset: 0,
        compacted: false,
        labels: None,
        exact: false,
    };
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

    /// Output that Mesa does not count.
    fn uncounted(&mut self, args: core::fmt::Arguments<'_>) {
        let _ = self.text.write_fmt(args);
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

    fn newline(&mut self) {
        self.text.push('\n');
        self.column = 0;
    }
}

fn instruction(line: &mut Line, generation: Verx10, inst: &Inst, place: &Place<'_>) {
    let send = inst.send.is_some();
    head(line, generation, inst);
    match inst.opcode {
        Opcode::Nop | Opcode::Illegal | Opcode::Do => {}
        Opcode::If
        | Opcode::Iff
        | Opcode::Else
        | Opcode::Endif
        | Opcode::While
        | Opcode::Break
        | Opcode::Cont
        | Opcode::Halt => flow::branch(line, generation, inst, place),
        Opcode::Jmpi => {
            line.pad(16);
            if !flow::jump_label(line, generation, inst, place) {
                operand::src(line, generation, inst, 1);
            }
        }
        Opcode::Sends | Opcode::Sendsc => operand::split_payloads(line, inst),
        _ if inst.num_src == 3 => operand::three_source(line, inst),
        _ => {
            operands(line, generation, inst, send);
            flow::distances(line, generation, inst, place);
        }
    }
    if send {
        send::descriptors(line, generation, inst);
    }
    line.pad(64);
    if inst.opcode != Opcode::Nop {
        control::options(line, generation, inst, place);
    }
    line.put(";");
}

/// Whether the text names the flag register: as predicate, or behind a condition that sets it.
fn names_flag(generation: Verx10, inst: &Inst) -> bool {
    let condition = inst.opcode != Opcode::Math
        && inst.cond_mod != CondMod::None
        && inst.send.is_none()
        && (!generation.has().embedded_compare || !reads_no_flag(inst.opcode));
    inst.pred_ctrl != PredCtrl::None || condition
}

/// Predicate, mnemonic, modifiers, execution size.
fn head(line: &mut Line, generation: Verx10, inst: &Inst) {
    let send = inst.send.is_some();
    let flag_reg = if generation.has().flag_registers > 1 {
        inst.flag_reg
    } else {
        0
    };
    if inst.pred_ctrl != PredCtrl::None {
        let sign = if inst.pred_inv { '-' } else { '+' };
        let ctrl = control::pred_ctrl(inst.pred_ctrl);
        line.fmt(format_args!(
            "({sign}f{flag_reg}.{}{ctrl}) ",
            inst.flag_subreg
        ));
    }
    match inst.opcode.desc(generation) {
        Some(row) => line.put(row.mnemonic),
        // The names are the mnemonics; the generation does not have this one.
        None => line.put(&format!("{:?}", inst.opcode).to_lowercase()),
    }
    if inst.saturate && !send {
        line.put(".sat");
    }
    if inst.debug_ctrl {
        line.put(".breakpoint");
    }
    if inst.opcode == Opcode::Math {
        math_function(line, inst.math.unwrap_or(0));
    } else if inst.cond_mod != CondMod::None && !send {
        line.put(control::cond_mod(inst.cond_mod));
        if !generation.has().embedded_compare || !reads_no_flag(inst.opcode) {
            line.fmt(format_args!(".f{flag_reg}.{}", inst.flag_subreg));
        }
    }
    if inst.opcode != Opcode::Nop {
        line.fmt(format_args!("({})", inst.exec_size));
    }
    if let Some(send) = inst.send
        && generation.has().send_mrf
    {
        line.fmt(format_args!(" {}", send.mrf));
    }
}

/// Gen6 on: the condition of these is embedded and leaves the flags alone.
const fn reads_no_flag(opcode: Opcode) -> bool {
    matches!(
        opcode,
        Opcode::Sel | Opcode::Csel | Opcode::If | Opcode::While
    )
}

fn math_function(line: &mut Line, function: u8) {
    match crate::message::math_function(function) {
        Some(name) => line.word(name),
        None => line.fmt(format_args!(" *** invalid function value {function} ")),
    }
}

fn operands(line: &mut Line, generation: Verx10, inst: &Inst, send: bool) {
    // Without a row every operand is shown.
    if inst.opcode.desc(generation).is_none_or(|row| row.ndst > 0) {
        line.pad(16);
        operand::dst(line, inst);
    }
    // `wait` names one register, which stands in both operands.
    if inst.num_src > 0 && inst.opcode != Opcode::Wait {
        line.pad(32);
        operand::src(line, generation, inst, 0);
    }
    if inst.num_src > 1 && !send {
        line.pad(48);
        operand::src(line, generation, inst, 1);
    }
}
