//! Commands without a terminal: from a file, or from the command line.
//!
//! The first that fails ends the script; it is named with its file and line.

use std::fs::File;
use std::io::Read as _;
use std::path::Path;

use super::session::{Debugger, Flow};
use super::{Answer, Refusal};
use crate::link::inputs;
use crate::shown;

/// What is said of a line that is no text.
pub const NO_TEXT: &str = "the line is not valid UTF-8";

/// Bytes of a script: a device file has no end.
const MOST: u64 = 16 << 20;

/// Where commands come from.
pub struct Source {
    /// What messages call it.
    pub name: String,
    /// The commands.
    pub lines: Vec<String>,
}

impl Source {
    /// The lines of a file.
    pub fn read(path: &Path) -> Answer<Self> {
        let name = shown::path(path);
        inputs::note(path);
        let mut bytes = Vec::new();
        File::open(path)
            .and_then(|file| file.take(MOST + 1).read_to_end(&mut bytes))
            .map_err(|e| Refusal(format!("{name}: {e}")))?;
        if bytes.len() as u64 > MOST {
            let what = format!("{name}: a script has at most {} MiB", MOST >> 20);
            return Err(Refusal(what));
        }
        let text = str::from_utf8(&bytes).map_err(|error| {
            let before = bytes.iter().take(error.valid_up_to());
            let line = 1 + before.filter(|&&byte| byte == b'\n').count();
            Refusal(format!("{name}:{line}: {NO_TEXT}"))
        })?;
        Ok(Source {
            name,
            lines: text.lines().map(str::to_owned).collect(),
        })
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
