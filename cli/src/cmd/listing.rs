//! Assembler and disassembler: the validator's warnings, hexadecimal text.
//!
//! Each warning names its rule.

use std::fmt::Write as _;

use isa::parse::{Assembled, Span};
use isa::validate::{self, Placed, Violation};
use isa::{Inst, Verx10};
use kernel::string_helpers::Counted;

/// Restrictions that a program breaks: index of the instruction and what is wrong, in their order.
pub fn warnings(generation: Verx10, program: &[(u32, &Inst)]) -> Vec<(usize, Violation)> {
    let mut found: Vec<(usize, Violation)> = program
        .iter()
        .enumerate()
        .flat_map(|(index, (_, inst))| {
            validate::validate(generation, inst).map(move |violation| (index, violation))
        })
        .collect();
    let placed: Vec<Placed<'_>> = program
        .iter()
        .map(|&(offset, inst)| Placed { offset, inst })
        .collect();
    found.extend(
        validate::validate_kernel_at(generation, &placed)
            .into_iter()
            .map(|v| (v.index, v.violation)),
    );
    found.sort_by_key(|(index, _)| *index);
    found
}

/// Tells the restrictions that an assembled text breaks, but for some rules, with the lines of the text; returns how many.
pub fn warn(
    generation: Verx10,
    name: &str,
    text: &str,
    program: &Assembled,
    but: &[&str],
) -> usize {
    let placed: Vec<(u32, &Inst, Span)> = program
        .items
        .iter()
        .filter_map(|item| item.inst().map(|inst| (item.offset, inst, item.span)))
        .collect();
    let code: Vec<(u32, &Inst)> = placed.iter().map(|p| (p.0, p.1)).collect();
    let mut warnings = warnings(generation, &code);
    warnings.retain(|(_, violation)| !but.contains(&violation.rule.name));
    let lines: Vec<&str> = text.lines().collect();
    for (index, warning) in &warnings {
        let span = placed.get(*index).map(|p| p.2).unwrap_or_default();
        super::say(&format!(
            "{name}:{}:{}: warning: {warning}",
            span.line, span.column
        ));
        if let Some(line) = lines.get(span.line.saturating_sub(1) as usize) {
            super::say(line);
        }
    }
    warnings.len()
}

/// The same for a program that runs now, with what to do.
pub fn warn_of(generation: Verx10, name: &str, text: &str, program: &Assembled, but: &[&str]) {
    let count = warn(generation, name, text, program, but);
    if count > 0 {
        super::say(&format!("{}.", told(count)));
    }
}

/// What to do about warnings that an option leaves out.
pub fn advice(count: usize) -> String {
    format!("{}; --no-warnings leaves the check out.", told(count))
}

fn told(count: usize) -> String {
    format!(
        "crestline: {}: the manuals do not allow these instructions, and hardware may do anything with them. \
         docs/validation-rules.md has each rule by the name behind `warning:`",
        Counted(count, "warning")
    )
}

/// Hexadecimal text of instruction words: a C initialiser or bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum Hex {
    /// `{ 0x.., 0x.., 0x.., 0x.. },` for each instruction, as the assembler of intel-gpu-tools prints
    Words,
    /// The bytes of each instruction on a line, as Mesa's assembler prints
    Bytes,
}

impl Hex {
    /// The line of one instruction.
    pub fn line(self, words: &[u32]) -> String {
        let mut line = String::new();
        match self {
            Hex::Words => {
                line.push_str("   {");
                for (index, word) in words.iter().enumerate() {
                    let comma = if index == 0 { "" } else { "," };
                    // Writing to a String cannot fail, here and below.
                    let _ = write!(line, "{comma} {word:#010x}");
                }
                line.push_str(" },\n");
            }
            Hex::Bytes => {
                for (index, byte) in words.iter().flat_map(|w| w.to_le_bytes()).enumerate() {
                    let space = if index == 0 { "" } else { " " };
                    let _ = write!(line, "{space}{byte:02x}");
                }
                line.push('\n');
            }
        }
        line
    }
}
