//! Kinds `asm` and `asm-errors`: assembly text to words, or to its mistakes.
//!
//! PRM: volume 4, 13.2, 13.4. Input: a program. Expectation of `asm`: the words of each instruction on a line; of
//! `asm-errors`: `LINE:COLUMN: MESSAGE` for each error, lines from 1 in the case, columns without the indentation.

use super::Kind;
use super::file::{Case, File, Problem};

/// The kind `asm`.
pub struct Asm;

/// The kind `asm-errors`.
pub struct AsmErrors;

/// The program of a case.
fn text(case: &Case) -> String {
    case.input
        .iter()
        .map(|line| line.text.clone() + "\n")
        .collect()
}

impl Kind for Asm {
    fn name(&self) -> &'static str {
        "asm"
    }

    fn options(&self) -> &'static [&'static str] {
        &["gen"]
    }

    fn run(&self, file: &File, case: &Case) -> Result<Vec<String>, Problem> {
        let program = isa::parse::assemble(file.generation()?, &case.name, &text(case)).map_err(
            |errors| {
                let error = &errors[0];
                let line = case.input.get(error.line as usize - 1);
                match line {
                    Some(line) => line.problem(error.to_string()),
                    None => case.problem(error.to_string()),
                }
            },
        )?;
        Ok(program
            .items
            .iter()
            .map(|item| {
                let words: Vec<String> = item.words().iter().map(|w| format!("{w:08x}")).collect();
                words.join(" ")
            })
            .collect())
    }
}

impl Kind for AsmErrors {
    fn name(&self) -> &'static str {
        "asm-errors"
    }

    fn options(&self) -> &'static [&'static str] {
        &["gen"]
    }

    fn run(&self, file: &File, case: &Case) -> Result<Vec<String>, Problem> {
        match isa::parse::assemble(file.generation()?, &case.name, &text(case)) {
            Ok(_) => Err(case.problem("the program assembles")),
            Err(errors) => Ok(errors
                .iter()
                .map(|e| format!("{}:{}: {}", e.line, e.column, e.message))
                .collect()),
        }
    }
}
