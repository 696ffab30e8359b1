//! Rewriting expectation sections in place; comments stay where they are.
//!
//! No PRM chapter.

use super::diff::{Edit, edits};
use super::file::File;

/// The file with new expectation sections for some of its cases.
pub fn rewrite(file: &File, wrong: &[(usize, Vec<String>)]) -> String {
    let mut out: Vec<String> = Vec::new();
    let mut next = 0;
    for (index, actual) in wrong {
        let section = file.cases[*index].section.clone();
        let start = section.start.min(file.lines.len());
        out.extend_from_slice(&file.lines[next..start]);
        let end = section.end.min(file.lines.len()).max(start);
        let empty = file.cases[*index].expect.is_empty();
        // An empty section has a placeholder line that belongs to what follows.
        let end = if empty { start } else { end };
        replace(&file.lines[start..end], actual, &mut out);
        next = end;
    }
    out.extend_from_slice(&file.lines[next..]);
    let mut text = out.join("\n");
    text.push('\n');
    text
}

fn is_comment(line: &str) -> bool {
    let line = line.trim();
    line.is_empty() || line.starts_with(';')
}

/// Comments and empty lines of the old section stay before the line that they stood before.
fn replace(old: &[String], actual: &[String], out: &mut Vec<String>) {
    let lines: Vec<&str> = old
        .iter()
        .map(String::as_str)
        .filter(|l| !is_comment(l))
        .collect();
    let mut rest = old.iter();
    let mut copy_comments = |out: &mut Vec<String>| {
        for line in rest.by_ref() {
            if !is_comment(line) {
                return;
            }
            out.push(line.clone());
        }
    };
    for edit in edits(&lines, actual) {
        match edit {
            Edit::Keep(i) => {
                copy_comments(out);
                out.push(lines[i].to_owned());
            }
            Edit::Drop(_) => copy_comments(out),
            Edit::Add(j) => out.push(format!("  {}", actual[j])),
        }
    }
    copy_comments(out);
}
