//! Reading a test file: header, cases, sections.
//!
//! Comments are whole lines that start with a semicolon.

use std::fmt;
use std::ops::Range;

use isa::Verx10;

use super::{KINDS, Kind};

/// A line without the white space around it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Line {
    /// Counted from 1.
    pub number: usize,
    /// What it says.
    pub text: String,
}

impl Line {
    /// An error here.
    pub fn problem(&self, what: impl Into<String>) -> Problem {
        Problem {
            line: self.number,
            what: what.into(),
        }
    }
}

/// Something wrong with a file, not with what it tests.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// Line, counted from 1.
    pub line: usize,
    /// What.
    pub what: String,
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.line, self.what)
    }
}

/// One case.
#[derive(Clone, Debug, Default)]
pub struct Case {
    /// Name, unique in the file.
    pub name: String,
    /// Line of its name.
    pub line: usize,
    /// Statements.
    pub input: Vec<Line>,
    /// Expectations.
    pub expect: Vec<Line>,
    /// Lines of the file, counted from 0, that the expectation section spans.
    pub section: Range<usize>,
}

impl Case {
    /// An error of the case as a whole.
    pub fn problem(&self, what: impl Into<String>) -> Problem {
        Problem {
            line: self.line,
            what: what.into(),
        }
    }
}

/// One file.
#[derive(Clone, Debug, Default)]
pub struct File {
    /// Where its expectations come from.
    pub oracle: Line,
    /// The other options of the header.
    pub options: Vec<(String, Line)>,
    /// Its cases.
    pub cases: Vec<Case>,
    /// All lines as they are.
    pub lines: Vec<String>,
}

impl File {
    /// Reads a file of a kind.
    pub fn parse(text: &str, kind: &dyn Kind) -> Result<File, Problem> {
        let mut file = File {
            lines: text.lines().map(str::to_owned).collect(),
            ..File::default()
        };
        let body = file.header(kind)?;
        file.body(body)?;
        if file.cases.is_empty() {
            return Err(at(file.lines.len(), "no case"));
        }
        for case in &file.cases {
            if case.section.is_empty() || case.expect.is_empty() && file.external() {
                return Err(case.problem(format!("case {} expects nothing", case.name)));
            }
        }
        Ok(file)
    }

    /// Whether expectations come from outside and are never rewritten.
    pub fn external(&self) -> bool {
        self.oracle.text.starts_with("external")
    }

    /// The option `gen`, 40 when it is missing.
    pub fn generation(&self) -> Result<Verx10, Problem> {
        let Some(line) = self.option("gen") else {
            return Ok(Verx10::GEN40);
        };
        match line.text.parse() {
            Ok(number @ (40 | 45 | 50 | 60 | 70 | 75 | 80 | 90)) => {
                Ok(Verx10::from_times_ten(number))
            }
            _ => Err(line.problem(format!("unknown generation {}", line.text))),
        }
    }

    /// The value of an option.
    pub fn option(&self, name: &str) -> Option<&Line> {
        let mut all = self.options.iter();
        all.find(|(n, _)| n == name).map(|(_, line)| line)
    }

    /// Reads the header and returns the index of the first line behind it.
    fn header(&mut self, kind: &dyn Kind) -> Result<usize, Problem> {
        let mut test = None;
        let mut end = 0;
        for (index, text) in self.lines.iter().enumerate() {
            let number = index + 1;
            end = index;
            let Some(comment) = text.strip_prefix(';') else {
                break;
            };
            let Some((key, value)) = comment.split_once(':') else {
                return Err(at(number, "the header wants `; option: value`"));
            };
            let (key, value) = (key.trim(), value.trim());
            let line = Line {
                number,
                text: value.to_owned(),
            };
            match key {
                "test" => test = Some(line),
                "oracle" => self.oracle = line,
                _ if kind.options().contains(&key) => self.options.push((key.to_owned(), line)),
                _ => return Err(at(number, format!("unknown option `{key}`"))),
            }
        }
        match test {
            None => return Err(at(1, "the header lacks `; test: KIND`")),
            Some(line) if !KINDS.iter().any(|k| k.name() == line.text) => {
                return Err(line.problem(format!("unknown kind `{}`", line.text)));
            }
            Some(line) if line.text != kind.name() => {
                let what = format!("kind `{}` in the folder of `{}`", line.text, kind.name());
                return Err(line.problem(what));
            }
            Some(_) => {}
        }
        let known = ["external", "own"];
        let word = self.oracle.text.split([':', ' ']).next().unwrap_or("");
        if !known.contains(&word) || self.oracle.text.len() == word.len() {
            let what = "the header lacks `; oracle: external: WHENCE` or `; oracle: own: WHY`";
            return Err(at(self.oracle.number.max(1), what));
        }
        Ok(end)
    }

    fn body(&mut self, start: usize) -> Result<(), Problem> {
        let mut in_expect = false;
        for (index, raw) in self.lines.iter().enumerate().skip(start) {
            let number = index + 1;
            let text = raw.trim();
            if let Some(name) = text.strip_prefix("case ") {
                if self.cases.iter().any(|c| c.name == name.trim()) {
                    return Err(at(number, format!("second case `{}`", name.trim())));
                }
                in_expect = false;
                self.cases.push(Case {
                    name: name.trim().to_owned(),
                    line: number,
                    ..Case::default()
                });
                continue;
            }
            if text.is_empty() || text.starts_with(';') {
                continue;
            }
            let Some(case) = self.cases.last_mut() else {
                return Err(at(number, "this stands before the first `case`"));
            };
            if text == "expect" {
                if in_expect {
                    return Err(at(number, "second `expect` of the case"));
                }
                in_expect = true;
                case.section = index + 1..index + 2;
                continue;
            }
            let line = Line {
                number,
                text: text.to_owned(),
            };
            if in_expect {
                case.section.end = index + 1;
                case.expect.push(line);
            } else {
                case.input.push(line);
            }
        }
        Ok(())
    }
}

fn at(line: usize, what: impl Into<String>) -> Problem {
    Problem {
        line,
        what: what.into(),
    }
}
