//! Commands without a terminal: from a file, or from the command line.
//!
//! No PRM chapter. The first that fails ends the script; it is named with its file and line.

use super::session::{Debugger, Flow};

/// Where commands come from.
pub struct Source {
    /// What messages call it.
    pub name: String,
    /// The commands.
    pub lines: Vec<String>,
}

impl Source {
    /// The lines of a file's text.
    pub fn of_text(name: &str, text: &str) -> Self {
        Source {
            name: name.to_owned(),
            lines: text.lines().map(str::to_owned).collect(),
        }
    }
}

/// A command that failed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{name}:{line}: {what}")]
pub struct Failure {
    /// Script.
    pub name: String,
    /// Line, from 1.
    pub line: usize,
    /// Why.
    pub what: String,
}

/// Carries a script out, up to its end or to what ends the debugger; each command and what it prints goes to `out`.
pub fn run(
    debugger: &mut Debugger,
    source: &Source,
    out: &mut dyn FnMut(&str),
) -> Result<Flow, Failure> {
    for (n, line) in source.lines.iter().enumerate() {
        let text = line.trim();
        if text.is_empty() || text.starts_with('#') {
            continue;
        }
        out(&format!("(debug) {text}\n"));
        match debugger.execute(text) {
            Ok(text) => out(&text),
            Err(refusal) => {
                return Err(Failure {
                    name: source.name.clone(),
                    line: n + 1,
                    what: refusal.0,
                });
            }
        }
        if debugger.flow() != Flow::GoOn {
            break;
        }
    }
    Ok(debugger.flow())
}
