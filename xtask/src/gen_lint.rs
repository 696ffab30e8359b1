//! Generations and their devices are named in tables, their own rooms and tests.
//! Comments may name a generation: they cite. What a room is stands in `rooms`.

mod asks;
mod chain;
mod exports;
mod names;
mod rooms;
mod text;

use crate::finding::Finding;
use crate::source::{Kind, RustFile, is_test_path};
use crate::workspace::Workspace;

use names::Names;

/// Reports names of generations and devices outside their rooms, questions which of them is there, and, in
/// the rooms too, answers for a generation that is not known.
pub fn check(workspace: &Workspace) -> Vec<Finding> {
    check_with(workspace, &Names::of(workspace))
}

fn check_with(workspace: &Workspace, names: &Names) -> Vec<Finding> {
    let files = workspace.rust.iter();
    let mut findings: Vec<Finding> = files.flat_map(|file| check_file(file, names)).collect();
    let texts = workspace
        .text
        .iter()
        .filter(|file| text::is_product(&file.path));
    for file in texts.filter(|file| !is_test_path(&file.path) && !rooms::is_room(&file.path)) {
        findings.extend(text::check(&file.path, &file.text, names));
    }
    findings.sort();
    findings.dedup();
    findings
}

fn check_file(file: &RustFile, names: &Names) -> Vec<Finding> {
    let mut findings = Vec::new();
    let mut report = |line, what| findings.push(Finding::new(&file.path, line, what));
    let room = rooms::is_room(&file.path);
    for (line, what) in text::help(file, names).into_iter().filter(|_| !room) {
        report(line, what);
    }
    for (i, token) in file.tokens.iter().enumerate() {
        if token.test {
            continue;
        }
        if let Some(what) = asks::fallback(file, i, names) {
            report(token.line, what);
        }
        if room && let Some(what) = exports::leak(file, i, names) {
            report(token.line, what);
        }
        if let Some(what) = exports::included(file, i) {
            report(token.line, what);
        }
        if room || rooms::is_row(file, i) {
            continue;
        }
        let what = match &token.kind {
            Kind::Ident(word) => names.identifier(word),
            Kind::Literal(_) if rooms::is_citation(file, i) => None,
            Kind::Literal(text) => names.literal(text),
            _ => None,
        };
        let what = what.map(|what| format!("names a generation or a device of one: {what}"));
        if let Some(what) = what.or_else(|| asks::question(file, i, names)) {
            report(token.line, what);
        }
    }
    findings
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests;
