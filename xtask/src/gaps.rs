//! `docs/known-gaps.md`, put together from one file per room.
//! Says nothing itself; the files of `docs/known-gaps.d` do.

use std::fmt::Write;
use std::path::Path;
use std::{fs, io};

use crate::finding::Finding;

const PAGE: &str = "docs/known-gaps.md";
const PARTS: &str = "docs/known-gaps.d";
const HEAD: &str = "\
# What is not modelled

Each entry says what is missing, why, and which file would hold it. Missing commands, messages and formats are reported at run time when a guest reaches one.
This page is put together by `cargo xtask gaps` from `docs/known-gaps.d/`; edit those files.
";

/// Writes the page.
pub fn write(root: &Path) -> io::Result<()> {
    fs::write(root.join(PAGE), assemble(&parts(root)?))
}

/// Compares the page with its parts.
pub fn check(root: &Path) -> io::Result<Vec<Finding>> {
    let parts = parts(root)?;
    let mut findings = malformed(&parts);
    let page = fs::read_to_string(root.join(PAGE)).unwrap_or_default();
    if page != assemble(&parts) {
        let what = "out of date: run `cargo xtask gaps`";
        findings.push(Finding::new(PAGE, 1, what));
    }
    Ok(findings)
}

/// File names without extension and their texts, in order.
fn parts(root: &Path) -> io::Result<Vec<(String, String)>> {
    let mut parts = Vec::new();
    for entry in fs::read_dir(root.join(PARTS))? {
        let path = entry?.path();
        if path.extension().is_some_and(|e| e == "md")
            && let Some(name) = path.file_stem()
        {
            let name = name.to_string_lossy().into_owned();
            parts.push((name, fs::read_to_string(&path)?));
        }
    }
    parts.sort();
    Ok(parts)
}

fn assemble(parts: &[(String, String)]) -> String {
    let mut page = HEAD.to_owned();
    for (name, text) in parts {
        let (title, list) = split_title(name, text);
        // Writing to a string cannot fail.
        let _ = write!(page, "\n## {title}\n\n{}\n", from_page(list.trim()));
    }
    page
}

/// Links of a part lead from its own directory, those of the page from the one above.
fn from_page(list: &str) -> String {
    list.replace("](../", "](")
}

/// A part may begin with its own heading; otherwise its file name is the title.
fn split_title<'a>(name: &'a str, text: &'a str) -> (&'a str, &'a str) {
    let text = text.trim_start();
    match text.strip_prefix('#') {
        Some(rest) => {
            let (title, list) = rest.split_once('\n').unwrap_or((rest, ""));
            (title.trim_start_matches('#').trim(), list)
        }
        None => (name, text),
    }
}

/// Parts that hold no list.
fn malformed(parts: &[(String, String)]) -> Vec<Finding> {
    parts
        .iter()
        .filter(|(name, text)| {
            let (_, list) = split_title(name, text);
            !list.trim().is_empty() && !list.lines().any(|line| line.starts_with("- "))
        })
        .map(|(name, _)| Finding::new(&format!("{PARTS}/{name}.md"), 1, "not a bullet list"))
        .collect()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::expect_used, reason = "tests")]

    use super::*;

    fn part(name: &str, text: &str) -> (String, String) {
        (name.to_owned(), text.to_owned())
    }

    #[test]
    fn parts_become_sections() {
        let page = assemble(&[
            part("eu", "- a\n  b\n\n"),
            part("mem", "# Memory and surfaces\n\n- c\n"),
        ]);
        let body = page.strip_prefix(HEAD).expect("starts with the head");
        assert_eq!(
            body,
            "\n## eu\n\n- a\n  b\n\n## Memory and surfaces\n\n- c\n"
        );
    }

    #[test]
    fn links_lead_to_the_same_file_from_both() {
        let page = assemble(&[part(
            "a",
            "- b ([c](../conformance/c.md), [d](https://d/../e))\n",
        )]);
        assert!(page.ends_with("- b ([c](conformance/c.md), [d](https://d/../e))\n"));
    }

    #[test]
    fn prose_is_no_list() {
        assert_eq!(malformed(&[part("a", "words"), part("b", "- c")]).len(), 1);
    }
}
