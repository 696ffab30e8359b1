//! Concurrent pieces in all orders that threads may take: `cargo xtask loom`.
//! The models are test programs of their packages, over loom's atomics.

use std::io;
use std::path::Path;
use std::process::Command;

/// Packages and their test programs.
const MODELS: [(&str, &str); 3] = [
    ("crestline-drm-shim", "interleavings"),
    ("crestline-drm-shim", "handlers"),
    ("crestline-mmio-mock", "interleavings"),
];

/// Runs the models; false when one fails.
pub fn run(root: &Path) -> io::Result<bool> {
    for (package, test) in MODELS {
        let mut cargo = Command::new("cargo");
        cargo
            .current_dir(root)
            .args(["test", "-p", package, "--test", test]);
        if !passes(&mut cargo)? {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Whether a command ends well; what it prints is seen.
pub fn passes(command: &mut Command) -> io::Result<bool> {
    Ok(command.status()?.success())
}
