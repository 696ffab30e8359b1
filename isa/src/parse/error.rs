//! Errors of the assembler, shown as compilers show theirs.
//!
//! Columns count characters; a tab is one.

use alloc::borrow::ToOwned;
use alloc::string::String;
use core::fmt;

/// One mistake in assembly text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ParseError {
    /// Name of the text, as it was given to the assembler.
    pub file: String,
    /// Line, from 1.
    pub line: u32,
    /// Column in characters, from 1.
    pub column: u32,
    /// The token at that place; empty at the end of a line.
    pub token: String,
    /// What is wrong, or what was expected.
    pub message: String,
    /// The source line.
    pub source: String,
}

impl fmt::Display for ParseError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ParseError {
            file,
            line,
            column,
            message,
            source,
            ..
        } = self;
        writeln!(f, "{file}:{line}:{column}: error: {message}")?;
        writeln!(f, "{source}")?;
        let before = (*column as usize).saturating_sub(1);
        for c in source.chars().take(before) {
            f.write_str(if c == '\t' { "\t" } else { " " })?;
        }
        f.write_str("^")
    }
}

impl core::error::Error for ParseError {}

/// What went wrong, before its place is worked out.
#[derive(Clone, Debug)]
pub(super) enum What {
    /// Something else was expected here.
    Expected(&'static str),
    /// A sentence.
    Text(String),
}

/// A mistake and the byte where it was found.
#[derive(Clone, Debug)]
pub(super) struct Fail {
    pub(super) at: usize,
    pub(super) what: What,
}

impl Fail {
    #[cold]
    pub(super) fn expected(at: usize, what: &'static str) -> Fail {
        Fail {
            at,
            what: What::Expected(what),
        }
    }

    #[cold]
    pub(super) fn text(at: usize, text: impl Into<String>) -> Fail {
        Fail {
            at,
            what: What::Text(text.into()),
        }
    }

    /// The public form.
    pub(super) fn locate(self, file: &str, text: &str, lines: &mut LineCounter) -> ParseError {
        let at = floor(text, self.at);
        let (line, start) = lines.line_of(text, at);
        let rest = text.get(start..).unwrap_or("");
        let source = rest.lines().next().unwrap_or("");
        let column = text.get(start..at).map_or(0, |t| t.chars().count());
        let token = token(text.get(at..).unwrap_or(""));
        let message = match self.what {
            What::Text(text) => text,
            What::Expected(what) if token.is_empty() => {
                let end = if at >= text.len() { "text" } else { "line" };
                alloc::format!("expected {what}, found end of {end}")
            }
            What::Expected(what) => alloc::format!("expected {what}, found '{token}'"),
        };
        ParseError {
            file: file.to_owned(),
            line,
            column: u32::try_from(column + 1).unwrap_or(u32::MAX),
            token: token.to_owned(),
            message,
            source: source.to_owned(),
        }
    }
}

/// The nearest character boundary that is not past `at`.
fn floor(text: &str, at: usize) -> usize {
    let mut at = at.min(text.len());
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    at
}

/// Word, number or single character that a text begins with.
fn token(text: &str) -> &str {
    let word = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let Some(first) = text.chars().next() else {
        return "";
    };
    let length = if first == '\n' || first == '\r' {
        0
    } else if word(first) {
        text.find(|c| !word(c)).unwrap_or(text.len())
    } else {
        first.len_utf8()
    };
    text.get(..length).unwrap_or("")
}

/// Line numbers of ascending positions, without counting from the start each time.
#[derive(Default)]
pub(super) struct LineCounter {
    line: u32,
    start: usize,
    at: usize,
}

impl LineCounter {
    /// Line number from 1, and the byte where the line begins.
    pub(super) fn line_of(&mut self, text: &str, at: usize) -> (u32, usize) {
        if at < self.start {
            *self = LineCounter::default();
        }
        let bytes = text.as_bytes();
        while let Some(&byte) = bytes.get(self.at) {
            if self.at >= at {
                break;
            }
            self.at += 1;
            if byte == b'\n' {
                self.line += 1;
                self.start = self.at;
            }
        }
        (self.line + 1, self.start)
    }
}
