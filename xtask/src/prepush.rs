//! The checks that cargo itself makes, run before a push.
//! Tests are not run here: `cargo test --workspace` is.

use std::io;
use std::path::Path;

use crate::node;

const CHECKS: [(&str, &[&str]); 2] = [
    ("fmt", &["fmt", "--all", "--check"]),
    (
        "clippy",
        &[
            "clippy",
            "--workspace",
            "--all-targets",
            "--quiet",
            "--",
            "-D",
            "warnings",
        ],
    ),
];

/// Runs rustfmt and clippy over the workspace; false when one finds something.
pub fn cargo_checks(root: &Path) -> io::Result<bool> {
    let mut ok = true;
    for (name, args) in CHECKS {
        let status = node::cargo(root).args(args).status()?;
        println!("{name}: {}", if status.success() { "ok" } else { "failed" });
        ok &= status.success();
    }
    Ok(ok)
}
