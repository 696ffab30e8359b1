//! Kind `disasm`: instruction words to text, or to the reason why they are none.
//!
//! PRM: volume 4, 13.2, 13.4. Input: four words a line. Expectation: a line for each, white space as single spaces, the two
//! lines of a `send` joined; `error: ..` for words that are no instruction.

use super::Kind;
use super::file::{Case, File, Problem};
use super::value::{squeeze, words};

/// The kind.
pub struct Disasm;

impl Kind for Disasm {
    fn name(&self) -> &'static str {
        "disasm"
    }

    fn options(&self) -> &'static [&'static str] {
        &["gen"]
    }

    fn run(&self, file: &File, case: &Case) -> Result<Vec<String>, Problem> {
        let generation = file.generation()?;
        case.input
            .iter()
            .map(|line| {
                let raw = words(&line.text).map_err(|what| line.problem(what))?;
                Ok(match isa::decode(generation, raw) {
                    Ok(inst) => squeeze(&isa::print(generation, &inst)),
                    Err(error) => format!("error: {}", error.kind),
                })
            })
            .collect()
    }
}
