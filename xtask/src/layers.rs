//! Who may import whom: arrows between crates, layers inside model and driver.

mod crates;
mod modules;
mod siblings;

use crate::finding::Finding;
use crate::workspace::Workspace;

/// All layer checks.
pub fn check(workspace: &Workspace) -> Vec<Finding> {
    let mut findings = crates::check(workspace);
    findings.extend(modules::check(workspace));
    findings.extend(siblings::check(workspace));
    findings.sort();
    findings.dedup();
    findings
}
