//! Rules every file keeps: tagline, size, panics, lint exceptions, unsafe, parents.
//! rustfmt and clippy check the rest.

mod attributes;
mod crate_roots;
mod files;
mod orphans;
mod panics;
mod words;

use crate::finding::Finding;
use crate::workspace::Workspace;

pub use files::sizes;

/// All style checks.
pub fn check(workspace: &Workspace) -> Vec<Finding> {
    let mut findings = Vec::new();
    for file in &workspace.rust {
        findings.extend(files::check(file));
        findings.extend(panics::check(file));
        findings.extend(attributes::check(file));
        findings.extend(crate_roots::check(file));
    }
    findings.extend(orphans::check(&workspace.rust));
    for file in &workspace.text {
        findings.extend(words::check(file));
    }
    findings.sort();
    findings
}
