//! Benchmarks in one run, Mesa's rasterisers beside the model: `cargo xtask bench`.
//! The program that draws with Mesa is `tests/tools/glscenes.c`.

mod against;

use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;

use clap::Args;

use crate::node;
use crate::progress::Progress;

/// Packages with benchmarks, in the order in which they run.
const PACKAGES: [&str; 5] = [
    "crestline-eu",
    "crestline-jit",
    "crestline-isa",
    "crestline-node",
    "crestline-tests",
];

/// What the command line says.
#[derive(Args, Debug)]
pub struct Options {
    /// The model's benchmarks in turn with another commit's: ratios of the times
    #[arg(long, value_name = "REV")]
    against: Option<String>,
}

/// Runs every benchmark, or compares; false when one fails.
pub fn run(root: &Path, options: &Options) -> io::Result<bool> {
    match &options.against {
        Some(revision) => against::run(root, revision),
        None => all(root),
    }
}

fn all(root: &Path) -> io::Result<bool> {
    let scenes = match std::env::var_os("CRESTLINE_GLSCENES") {
        Some(program) => Some(PathBuf::from(program)),
        None => glscenes(root)?,
    };
    let mut build = node::cargo(root);
    build.args(["bench", "--locked", "--no-run"]);
    for package in PACKAGES {
        build.args(["--package", package]);
    }
    // Cargo shows its own progress.
    if !build.status()?.success() {
        return Ok(false);
    }
    let mut progress = Progress::new(PACKAGES.len() as u64);
    let mut fine = true;
    for package in PACKAGES {
        progress.print(&format!("== {package}"));
        progress.next(package.to_owned());
        let mut command = node::cargo(root);
        command.args(["bench", "--locked", "--package", package]);
        if let Some(program) = &scenes {
            command.env("CRESTLINE_GLSCENES", program);
        }
        let status = progress.command(&mut command, |_, line| Some(line))?;
        fine &= status.success();
        progress.step();
    }
    progress.end();
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
