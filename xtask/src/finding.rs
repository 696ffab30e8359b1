//! What a check has to say, and how it is printed.
//! No PRM chapter.

use std::fmt;

/// One broken rule.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Finding {
    /// Path below the workspace root.
    pub path: String,
    /// Line, counted from one.
    pub line: usize,
    /// What is wrong.
    pub what: String,
}

impl Finding {
    /// A finding at a line of a file.
    pub fn new(path: &str, line: usize, what: impl Into<String>) -> Self {
        Finding {
            path: path.to_owned(),
            line,
            what: what.into(),
        }
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}: {}", self.path, self.line, self.what)
    }
}

/// Prints the findings of a check and a closing line; true when there are none.
pub fn report(check: &str, findings: &[Finding]) -> bool {
    for finding in findings {
        println!("{finding}");
    }
    match findings.len() {
        0 => println!("{check}: ok"),
        1 => println!("{check}: 1 finding"),
        n => println!("{check}: {n} findings"),
    }
    findings.is_empty()
}
