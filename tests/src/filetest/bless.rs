//! Rewriting expectation sections in place; comments stay where they are.

use similar::ChangeTag;

use super::diff::{changes, edits};
use super::file::{Case, File};

/// The file with a new expectation section for one of its cases.
pub fn rewrite(file: &File, case: &Case, actual: &[String]) -> String {
    let start = case.section.start.min(file.lines.len());
    // An empty section has a placeholder line that belongs to what follows.
    let end = if case.expect.is_empty() {
        start
    } else {
        case.section.end.clamp(start, file.lines.len())
    };
    let mut out = file.lines[..start].to_vec();
    replace(&file.lines[start..end], actual, &mut out);
    out.extend_from_slice(&file.lines[end..]);
    out.join("\n") + "\n"
}

fn is_comment(line: &str) -> bool {
    let line = line.trim();
    line.is_empty() || line.starts_with(';')
}

/// Comments and empty lines of the old section stay before the line that they stood before.
fn replace(old: &[String], actual: &[String], out: &mut Vec<String>) {
    let lines = old.iter().map(String::as_str).filter(|l| !is_comment(l));
    let lines: Vec<&str> = lines.collect();
    let mut rest = old.iter();
    let mut copy_comments = |out: &mut Vec<String>| {
        for line in rest.by_ref() {
            if !is_comment(line) {
                return;
            }
            out.push(line.clone());
        }
    };
    for (tag, index) in changes(&edits(&lines, actual)) {
        match tag {
            ChangeTag::Equal => {
                copy_comments(out);
                out.push(lines[index].to_owned());
            }
            ChangeTag::Delete => copy_comments(out),
            ChangeTag::Insert => out.push(format!("  {}", actual[index])),
        }
    }
    copy_comments(out);
}
