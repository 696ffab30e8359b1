//! The program of an `eu-run` case: words and assembly, line by line.
//!
//! PRM: volume 4, 13.2, 13.4. A line is four words, `.. ;` for the assembler, or `LABEL:`. Labels reach as far as the next `at`.

use std::collections::BTreeMap;
use std::fmt::Write;

use isa::Verx10;

use super::super::file::{Line, Problem};
use super::super::value::{hex, words};

/// Lines between two `at` statements.
#[derive(Default)]
struct Section {
    address: u32,
    lines: Vec<Line>,
}

/// Lines of instructions.
#[derive(Default)]
pub struct Program {
    sections: Vec<Section>,
}

impl Program {
    /// Takes a line that belongs to the program.
    pub fn take(&mut self, line: &Line) -> Result<bool, String> {
        if let Some(address) = line.text.strip_prefix("at ") {
            let address = hex(address)?;
            self.sections.push(Section {
                address,
                lines: Vec::new(),
            });
            return Ok(true);
        }
        if !is_code(&line.text) {
            return Ok(false);
        }
        if self.sections.is_empty() {
            self.sections.push(Section::default());
        }
        if let Some(section) = self.sections.last_mut() {
            section.lines.push(line.clone());
        }
        Ok(true)
    }

    /// Instructions by address, and the address behind the first section.
    pub fn assemble(
        &self,
        generation: Verx10,
        name: &str,
    ) -> Result<(BTreeMap<u32, [u32; 4]>, u32), Problem> {
        let mut code = BTreeMap::new();
        let mut end = 0;
        for (nth, section) in self.sections.iter().enumerate() {
            let text = section.text()?;
            let assembled = isa::parse::assemble(generation, name, &text).map_err(|errors| {
                // PANIC: an error has at least one entry and names a line of the text.
                let error = &errors[0];
                section.lines[error.line as usize - 1].problem(error.to_string())
            })?;
            let raw: Vec<u32> = assembled.dwords().collect();
            let mut at = section.address;
            for words in raw.as_chunks::<4>().0 {
                code.insert(at, *words);
                at += 16;
            }
            if nth == 0 && section.address == 0 {
                end = at;
            }
        }
        Ok((code, end))
    }
}

impl Section {
    /// As a text for the assembler, one line for one line.
    fn text(&self) -> Result<String, Problem> {
        let mut text = String::new();
        for line in &self.lines {
            if is_words(&line.text) {
                let [a, b, c, d] = words(&line.text).map_err(|what| line.problem(what))?;
                // Writing to a string cannot fail.
                let _ = writeln!(text, ".dword 0x{a:08x}, 0x{b:08x}, 0x{c:08x}, 0x{d:08x};");
            } else {
                text += &line.text;
                text.push('\n');
            }
        }
        Ok(text)
    }
}

/// Whether a line begins with a word of an instruction.
fn is_words(text: &str) -> bool {
    let first = text.split_whitespace().next().unwrap_or_default();
    first.len() == 8 && first.chars().all(|c| c.is_ascii_hexdigit())
}

/// Whether a line is an instruction or a label.
fn is_code(text: &str) -> bool {
    is_words(text) || text.ends_with(';') || text.ends_with(':')
}
