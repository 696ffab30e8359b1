//! Unified differences of expectation sections.
//!
//! No PRM chapter. Sections are small: the longest common subsequence is found by a table.

use std::fmt::Write as _;

use super::file::Case;
use super::value::squeeze;

/// Equal lines around a difference that are shown.
const CONTEXT: usize = 3;

/// One line of a difference.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Edit {
    /// In both: index in the old lines.
    Keep(usize),
    /// Only in the old lines.
    Drop(usize),
    /// Only in the new ones: index there.
    Add(usize),
}

/// How to come from one list of lines to another, white space aside; of a replaced run the old lines come first.
pub fn edits(old: &[&str], new: &[String]) -> Vec<Edit> {
    let same = |i: usize, j: usize| squeeze(old[i]) == squeeze(&new[j]);
    let mut common = vec![vec![0_usize; new.len() + 1]; old.len() + 1];
    for i in (0..old.len()).rev() {
        for j in (0..new.len()).rev() {
            common[i][j] = if same(i, j) {
                common[i + 1][j + 1] + 1
            } else {
                common[i + 1][j].max(common[i][j + 1])
            };
        }
    }
    let (mut i, mut j) = (0, 0);
    let mut out = Vec::new();
    while i < old.len() || j < new.len() {
        if i < old.len() && j < new.len() && same(i, j) {
            out.push(Edit::Keep(i));
            i += 1;
            j += 1;
        } else if j == new.len() || i < old.len() && common[i + 1][j] >= common[i][j + 1] {
            out.push(Edit::Drop(i));
            i += 1;
        } else {
            out.push(Edit::Add(j));
            j += 1;
        }
    }
    out
}

/// Line of the file where old line `index` stands, or would stand behind the last one.
fn line_of(case: &Case, index: usize) -> usize {
    let behind = case.expect.last().map_or(case.line, |l| l.number) + 1;
    case.expect.get(index).map_or(behind, |l| l.number)
}

/// The difference between what a case expects and what came out.
pub fn unified(path: &str, case: &Case, actual: &[String]) -> String {
    let old: Vec<&str> = case.expect.iter().map(|l| l.text.as_str()).collect();
    let edits = edits(&old, actual);
    let changed: Vec<usize> = (0..edits.len())
        .filter(|&at| !matches!(edits[at], Edit::Keep(_)))
        .collect();
    let first = changed.first().copied().unwrap_or(0);
    let kept = edits[..first].len();
    let mut out = format!(
        "{path}:{}: case {} differs\n--- expected\n+++ actual\n",
        line_of(case, kept),
        case.name
    );
    let mut rest = changed.as_slice();
    while let Some(&start) = rest.first() {
        let near = rest.windows(2).position(|w| w[1] - w[0] > 2 * CONTEXT);
        let count = near.map_or(rest.len(), |at| at + 1);
        let last = rest[count - 1];
        rest = &rest[count..];
        let range = start.saturating_sub(CONTEXT)..(last + CONTEXT + 1).min(edits.len());
        hunk(&mut out, case, actual, &edits, range);
    }
    out
}

fn hunk(
    out: &mut String,
    case: &Case,
    actual: &[String],
    edits: &[Edit],
    range: std::ops::Range<usize>,
) {
    let count = |edits: &[Edit], add: bool| {
        let skipped = |e: &Edit| match e {
            Edit::Keep(_) => false,
            Edit::Drop(_) => add,
            Edit::Add(_) => !add,
        };
        edits.iter().filter(|e| !skipped(e)).count()
    };
    let (before, here) = (&edits[..range.start], &edits[range]);
    let start = line_of(case, count(before, false));
    // Writing to a string cannot fail.
    _ = writeln!(
        out,
        "@@ -{start},{} +{start},{} @@",
        count(here, false),
        count(here, true)
    );
    for edit in here {
        _ = match *edit {
            Edit::Keep(i) => writeln!(out, " {}", case.expect[i].text),
            Edit::Drop(i) => writeln!(out, "-{}", case.expect[i].text),
            Edit::Add(j) => writeln!(out, "+{}", actual[j]),
        };
    }
}
