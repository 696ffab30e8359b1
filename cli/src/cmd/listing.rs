//! Assembler and disassembler: the validator's warnings, hexadecimal text.
//!
//! No PRM chapter; each warning names its rule.

use std::fmt::Write as _;

use isa::validate::{self, Placed};
use isa::{Inst, Verx10};
use kernel::string_helpers::Counted;

/// Restrictions that a program breaks: index of the instruction and the sentence, in their order.
pub fn warnings(generation: Verx10, program: &[(u32, &Inst)]) -> Vec<(usize, String)> {
    let mut found: Vec<(usize, String)> = program
        .iter()
        .enumerate()
        .flat_map(|(index, (_, inst))| {
            validate::validate(generation, inst).map(move |v| (index, v.to_string()))
        })
        .collect();
    let placed: Vec<Placed<'_>> = program
        .iter()
        .map(|&(offset, inst)| Placed { offset, inst })
        .collect();
    found.extend(
        validate::validate_kernel_at(generation, &placed)
            .into_iter()
            .map(|v| (v.index, v.violation.to_string())),
    );
    found.sort_by_key(|(index, _)| *index);
    found
}

/// What to do about warnings.
pub fn advice(count: usize) -> String {
    format!(
        "crestline: {}: the manuals do not allow these instructions, and hardware may do anything with them. \
         docs/validation-rules.md has each rule by the name behind `warning:`; --no-warnings leaves the check out.",
        Counted(count, "warning")
    )
}

/// Hexadecimal text of instruction words: a C initialiser or bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum Hex {
    /// `{ 0x.., 0x.., 0x.., 0x.. },` for each instruction, as intel-gen4asm prints
    Words,
    /// The bytes of each instruction on a line, as Mesa's i965_asm prints
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
