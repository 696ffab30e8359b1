//! The first line of a file, its source, and how long a file may be.

use std::fmt::Write;

use crate::finding::Finding;
use crate::source::RustFile;
use crate::workspace::Workspace;

/// Longest tagline, without the `//! ` before it.
const TAGLINE: usize = 80;
/// No file may be longer.
const HARD_CAP: usize = 900;
/// Files past this are listed.
const SOFT_CAP: usize = 500;

/// Checks tagline and length.
pub fn check(file: &RustFile) -> Vec<Finding> {
    let mut findings = Vec::new();
    let first = file.lines.first().map_or("", String::as_str);
    match first.strip_prefix("//! ") {
        None => findings.push("the first line is no `//!` tagline".to_owned()),
        Some(tagline) => {
            let length = tagline.chars().count();
            if length > TAGLINE {
                findings.push(format!("tagline of {length} characters, at most {TAGLINE}"));
            }
            if !tagline.ends_with(['.', '?', ')']) {
                findings.push("the tagline does not end with a full stop".to_owned());
            }
        }
    }
    let lines = file.lines.len();
    if lines > HARD_CAP {
        findings.push(format!("{lines} lines, at most {HARD_CAP}"));
    }
    let at_top = findings.into_iter();
    at_top
        .map(|what| Finding::new(&file.path, 1, what))
        .collect()
}

/// Median length of the files and those past the soft cap.
pub fn sizes(workspace: &Workspace) -> String {
    let mut sizes: Vec<(usize, &str)> = workspace
        .rust
        .iter()
        .map(|file| (file.lines.len(), file.path.as_str()))
        .collect();
    sizes.sort_unstable();
    let total: usize = sizes.iter().map(|s| s.0).sum();
    let median = sizes.get(sizes.len() / 2).map_or(0, |s| s.0);
    let mut out = format!(
        "style: {} Rust files, {total} lines, median {median}",
        sizes.len()
    );
    for (lines, path) in sizes.iter().rev().take_while(|s| s.0 > SOFT_CAP) {
        // Writing to a string cannot fail.
        let _ = write!(out, "\n  past {SOFT_CAP} lines: {path} ({lines})");
    }
    out
}

#[cfg(test)]
mod tests {
    #![allow(clippy::expect_used, reason = "tests")]

    use super::*;

    fn findings(text: &str) -> usize {
        check(&RustFile::parse("a/src/b.rs", text).expect("lexes")).len()
    }

    #[test]
    fn taglines() {
        assert_eq!(findings("//! What it is.\n"), 0);
        assert_eq!(findings("//! What it is\n"), 1);
        assert_eq!(findings("use a;\n"), 1);
        assert_eq!(findings("#![no_std]\n//! What it is.\n"), 1);
        assert_eq!(findings(&format!("//! {}.\n", "x".repeat(79))), 0);
        assert_eq!(findings(&format!("//! {}.\n", "x".repeat(80))), 1);
    }

    #[test]
    fn lengths() {
        let lines = |n: usize| format!("//! A file.\n{}", "// x\n".repeat(n - 1));
        assert_eq!(findings(&lines(900)), 0);
        assert_eq!(findings(&lines(901)), 1);
        let (long, short) = (lines(600), lines(100));
        let workspace = Workspace::of(&[("a.rs", long.as_str()), ("b.rs", short.as_str())]);
        let text = sizes(&workspace);
        assert!(
            text.contains("2 Rust files, 700 lines, median 600"),
            "{text}"
        );
        assert!(text.contains("past 500 lines: a.rs (600)"), "{text}");
    }
}
