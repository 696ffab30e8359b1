//! Paths only one machine has: absolute ones, and ones that leave the repository.
//! Device nodes and system folders that every machine has are fine.

use crate::finding::Finding;
use crate::workspace::TextFile;

/// First parts of absolute paths that mean the same everywhere.
const EVERYWHERE: [&str; 9] = [
    "dev", "proc", "sys", "usr", "etc", "bin", "lib", "var", "src",
];

/// Reports such paths in any text file.
pub fn check(file: &TextFile) -> Vec<Finding> {
    let mut findings = Vec::new();
    if file.path == "Cargo.lock" {
        return findings;
    }
    let depth = file.path.matches('/').count();
    for (i, line) in file.text.lines().enumerate() {
        for word in line.split(|c: char| c.is_whitespace() || "\"'`()<>[]{}=,;".contains(c)) {
            if let Some(root) = absolute(word) {
                let what = format!("absolute path of one machine: /{root}/...");
                findings.push(Finding::new(&file.path, i + 1, what));
            }
            let ups = word.split('/').take_while(|part| *part == "..").count();
            if ups > depth && word.len() > 3 {
                let what = format!("path that leaves the repository: {word}");
                findings.push(Finding::new(&file.path, i + 1, what));
            }
        }
    }
    findings
}

/// The first part of an absolute path of at least two parts.
fn absolute(word: &str) -> Option<&str> {
    let rest = word.strip_prefix('/')?;
    let (root, below) = rest.split_once('/')?;
    let name = |s: &str| !s.is_empty() && s.bytes().all(|b| b.is_ascii_lowercase() || b == b'_');
    let starts = below.starts_with(|c: char| c.is_ascii_alphanumeric() || c == '.');
    (name(root) && starts && !EVERYWHERE.contains(&root)).then_some(root)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(path: &str, text: &str) -> Vec<usize> {
        let (path, text) = (path.to_owned(), text.to_owned());
        check(&TextFile { path, text })
            .iter()
            .map(|f| f.line)
            .collect()
    }

    #[test]
    fn absolute_paths() {
        // Put together here, or this file would find itself.
        let home = ["", "home", "me", "x.txt"].join("/");
        assert_eq!(lines("a/b.rs", &format!("// see\n// {home} there")), [2]);
        assert_eq!(lines("a/b.rs", &format!("let p = \"{home}\";")), [1]);
        let fine = "// /dev/dri/card0, and/or, a/b/c, // x / y, 1/2, /usr/bin/env";
        assert!(lines("a/b.rs", fine).is_empty());
    }

    #[test]
    fn paths_out_of_the_tree() {
        let out = ["..", "x", "y"].join("/");
        assert_eq!(lines("README.md", &out), [1]);
        assert!(lines("docs/a.md", &out).is_empty());
        assert_eq!(lines("docs/a.md", &format!("../{out}")), [1]);
    }
}
