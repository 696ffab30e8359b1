//! The prompt: line editing, history, completion.
//!
//! Without a terminal lines are read as they come. Not kept: the history of several debuggers at once.

use std::io::{BufRead as _, ErrorKind, IsTerminal as _};
use std::path::PathBuf;

use crestline_cli::debug::{COMMANDS, Debugger, Flow, NO_TEXT, UNIT_NAMES};
use rustyline::completion::Completer;
use rustyline::error::ReadlineError;
use rustyline::highlight::Highlighter;
use rustyline::hint::Hinter;
use rustyline::history::DefaultHistory;
use rustyline::validate::Validator;
use rustyline::{CompletionType, Config, Context, Editor, Helper};

use crate::cmd::{Error, print};

const PROMPT: &str = "(debug) ";
/// Lines of history that are kept.
const HISTORY: usize = 1000;

/// Completes commands and the words that follow them.
struct Words;

impl Helper for Words {}
impl Validator for Words {}
impl Highlighter for Words {}
impl Hinter for Words {
    type Hint = String;
}

impl Completer for Words {
    type Candidate = String;

    fn complete(
        &self,
        line: &str,
        at: usize,
        _: &Context<'_>,
    ) -> rustyline::Result<(usize, Vec<String>)> {
        let before = line.get(..at).unwrap_or_default();
        let start = before.rfind(' ').map_or(0, |space| space + 1);
        Ok((start, candidates(before)))
    }
}

/// What the last word of a line can become.
fn candidates(before: &str) -> Vec<String> {
    let start = before.rfind(' ').map_or(0, |space| space + 1);
    let (head, word) = before.split_at(start);
    let mut list: Vec<String> = match head.split_whitespace().next() {
        None | Some("help" | "h" | "?") => COMMANDS.iter().map(|c| c.name.to_owned()).collect(),
        Some(name) => {
            let command = COMMANDS
                .iter()
                .find(|c| c.name == name || c.aliases.contains(&name));
            let words = command.map_or(&[][..], |c| c.words);
            words.iter().map(|&word| word.to_owned()).collect()
        }
    };
    let units = UNIT_NAMES.iter().map(|&name| name.to_owned());
    match head.split_whitespace().collect::<Vec<_>>().as_slice() {
        ["break" | "b", "thread"] => list = units.collect(),
        ["break" | "b", ..] if head.split_whitespace().count() > 1 => list.clear(),
        ["break" | "b"] => list.retain(|word| !UNIT_NAMES.contains(&word.as_str())),
        _ => {}
    }
    list.retain(|candidate| candidate.starts_with(word));
    list
}

/// Where the history is kept.
fn history() -> Option<PathBuf> {
    let state = std::env::var_os("XDG_STATE_HOME").map(PathBuf::from);
    let home = || Some(PathBuf::from(std::env::var_os("HOME")?).join(".local/state"));
    let dir = state
        .filter(|p| p.is_absolute())
        .or_else(home)?
        .join("crestline");
    std::fs::create_dir_all(&dir).ok()?;
    Some(dir.join("debug_history"))
}

/// Carries out commands until the end of input.
pub fn run(debugger: &mut Debugger) -> Result<(), Error> {
    if !std::io::stdin().is_terminal() {
        for line in std::io::stdin().lock().split(b'\n') {
            let line = line?;
            let line = line.strip_suffix(b"\r").unwrap_or(&line);
            print(&format!("{PROMPT}{}\n", String::from_utf8_lossy(line)))?;
            match str::from_utf8(line) {
                Ok(line) => execute(debugger, line)?,
                Err(_) => print(&format!("{NO_TEXT}\n"))?,
            }
            if debugger.flow() != Flow::GoOn {
                break;
            }
        }
        return Ok(());
    }
    let config = Config::builder()
        .max_history_size(HISTORY)?
        .completion_type(CompletionType::List)
        .build();
    let mut editor: Editor<Words, DefaultHistory> = Editor::with_config(config)?;
    editor.set_helper(Some(Words));
    let file = history();
    if let Some(file) = &file {
        // There is none yet the first time.
        let _ = editor.load_history(file);
    }
    let mut last = String::new();
    while debugger.flow() == Flow::GoOn {
        let line = match editor.readline(PROMPT) {
            Ok(line) => line,
            Err(ReadlineError::Interrupted) => continue,
            Err(ReadlineError::Eof) => break,
            Err(ReadlineError::Io(error)) if error.kind() == ErrorKind::InvalidData => {
                print(&format!("{NO_TEXT}\n"))?;
                continue;
            }
            Err(error) => return Err(error.into()),
        };
        if line.trim().is_empty() {
            // Enter alone steps on.
            if repeats(&last) {
                execute(debugger, &last)?;
            }
            continue;
        }
        let _ = editor.add_history_entry(&line);
        execute(debugger, &line)?;
        last = line;
    }
    if let Some(file) = &file {
        // A history that cannot be kept is no reason to end otherwise.
        let _ = editor.save_history(file);
    }
    Ok(())
}

fn repeats(line: &str) -> bool {
    let name = line.split_whitespace().next().unwrap_or_default();
    matches!(
        name,
        "s" | "si" | "step" | "stepi" | "c" | "continue" | "back"
    )
}

fn execute(debugger: &mut Debugger, line: &str) -> Result<(), Error> {
    match debugger.execute(line) {
        Ok(text) => print(&text),
        Err(refusal) => print(&format!("{refusal}\n")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_completed() {
        assert_eq!(candidates("bre"), ["break", "breaks"]);
        assert_eq!(candidates("break p"), ["pixel", "patch", "point"]);
        assert_eq!(candidates("break o"), ["op", "object"]);
        assert_eq!(candidates("break thread p"), ["ps"]);
        assert!(candidates("break pixel p").is_empty());
        assert_eq!(candidates("help sna"), ["snapshot"]);
        assert_eq!(candidates("b v"), ["vertex"]);
        assert!(candidates("nothing x").is_empty());
    }
}
