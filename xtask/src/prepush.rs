//! The checks that cargo itself makes, run before a push.
//! No PRM chapter. Tests are not run here: `cargo test --workspace` is.

use std::io;
use std::path::Path;
use std::process::Command;

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
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut ok = true;
    for (name, args) in CHECKS {
        let status = Command::new(&cargo).args(args).current_dir(root).status()?;
        println!("{name}: {}", if status.success() { "ok" } else { "failed" });
        ok &= status.success();
    }
    Ok(ok)
}
