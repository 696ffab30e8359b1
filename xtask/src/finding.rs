//! What a check has to say, and how it is printed.

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
        n => println!("{check}: {}", counted(n, "finding")),
    }
    findings.is_empty()
}

/// A number and what it counts.
pub fn counted(number: usize, noun: &str) -> String {
    let ending = if number == 1 { "" } else { "s" };
    format!("{number} {noun}{ending}")
}

#[cfg(test)]
mod tests {
    use super::counted;

    #[test]
    fn nouns_follow_their_number() {
        let all = [0, 1, 2].map(|n| counted(n, "finding"));
        assert_eq!(all, ["0 findings", "1 finding", "2 findings"]);
    }
}
