//! Unified differences of expectation sections.

use std::fmt::Write as _;

use similar::{Algorithm, ChangeTag, DiffOp, DiffTag, capture_diff_slices, group_diff_ops};

use super::file::Case;
use super::value::squeeze;

/// Equal lines around a difference that are shown.
const CONTEXT: usize = 3;

/// How to come from one list of lines to another, white space aside.
pub fn edits(old: &[&str], new: &[String]) -> Vec<DiffOp> {
    let old: Vec<String> = old.iter().map(|line| squeeze(line)).collect();
    let new: Vec<String> = new.iter().map(|line| squeeze(line)).collect();
    capture_diff_slices(Algorithm::Myers, &old, &new)
}

/// What becomes of each line: its index among the old lines, of an added one among the new.
pub fn changes(ops: &[DiffOp]) -> impl Iterator<Item = (ChangeTag, usize)> {
    ops.iter().flat_map(|op| {
        let (old, new) = match op.tag() {
            DiffTag::Equal => (ChangeTag::Equal, 0..0),
            _ => (ChangeTag::Delete, op.new_range()),
        };
        let added = new.map(|line| (ChangeTag::Insert, line));
        op.old_range().map(move |line| (old, line)).chain(added)
    })
}

/// Line of the file where old line `index` stands, or would stand behind the last one.
fn line_of(case: &Case, index: usize) -> usize {
    let behind = case.expect.last().map_or(case.line, |l| l.number) + 1;
    case.expect.get(index).map_or(behind, |l| l.number)
}

/// The difference between what a case expects and what came out.
pub fn unified(path: &str, case: &Case, actual: &[String]) -> String {
    let old: Vec<&str> = case.expect.iter().map(|l| l.text.as_str()).collect();
    let ops = edits(&old, actual);
    let first = ops.iter().find(|op| op.tag() != DiffTag::Equal);
    let mut out = format!(
        "{path}:{}: case {} differs\n--- expected\n+++ actual\n",
        line_of(case, first.map_or(0, |op| op.old_range().start)),
        case.name
    );
    for ops in group_diff_ops(ops, CONTEXT) {
        hunk(&mut out, case, actual, &ops);
    }
    out
}

fn hunk(out: &mut String, case: &Case, actual: &[String], ops: &[DiffOp]) {
    let start = line_of(case, ops.first().map_or(0, |op| op.old_range().start));
    let old: usize = ops.iter().map(|op| op.old_range().len()).sum();
    let new: usize = ops.iter().map(|op| op.new_range().len()).sum();
    // Writing to a string cannot fail.
    _ = writeln!(out, "@@ -{start},{old} +{start},{new} @@");
    for (tag, line) in changes(ops) {
        let text = match tag {
            ChangeTag::Insert => &actual[line],
            ChangeTag::Equal | ChangeTag::Delete => &case.expect[line].text,
        };
        _ = writeln!(out, "{tag}{text}");
    }
}
