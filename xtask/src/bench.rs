//! Benchmarks in one run, Mesa's rasterisers beside the model: `cargo xtask bench`.
//! No PRM chapter. The program that draws with Mesa is `tests/tools/glscenes.c`.

mod against;

use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::node;

pub use against::run as against;

/// Packages with benchmarks, in the order in which they run.
const PACKAGES: [&str; 4] = [
    "crestline-eu",
    "crestline-isa",
    "crestline-node",
    "crestline-tests",
];

/// Runs every benchmark; false when one fails.
pub fn run(root: &Path) -> io::Result<bool> {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let scenes = match std::env::var_os("CRESTLINE_GLSCENES") {
        Some(program) => Some(PathBuf::from(program)),
        None => glscenes(root)?,
    };
    let mut fine = true;
    for package in PACKAGES {
        println!("== {package}");
        let mut command = Command::new(&cargo);
        command
            .args(["bench", "--locked", "--package", package])
            .current_dir(root);
        if let Some(program) = &scenes {
            command.env("CRESTLINE_GLSCENES", program);
        }
        fine &= command.status()?.success();
    }
    Ok(fine)
}

/// Compiles the scenes for Mesa; `None`, with a word about it, where that is not possible.
pub fn glscenes(root: &Path) -> io::Result<Option<PathBuf>> {
    compile(root, "glscenes", "GLESv2")
}

/// Compiles a program of `tests/tools` against a library of GL; `None`, with a word about it, where that is not possible.
pub fn compile(root: &Path, name: &str, library: &str) -> io::Result<Option<PathBuf>> {
    let target = node::target(root);
    std::fs::create_dir_all(&target)?;
    let program = target.join(name);
    let library = format!("-l{library}");
    let done = Command::new("cc")
        .args(["-O2", "-o"])
        .arg(&program)
        .arg(root.join(format!("tests/tools/{name}.c")))
        .args(["-lEGL", &library, "-lgbm", "-lm"])
        .status()
        .is_ok_and(|status| status.success());
    if !done {
        println!(
            "no scenes by Mesa: tests/tools/{name}.c does not compile here.\n\
             `tests/conformance/tools --scenes` brings what it needs."
        );
        return Ok(None);
    }
    Ok(Some(program))
}
