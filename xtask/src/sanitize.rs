//! Node and preloaded library under a sanitizer: `cargo xtask sanitize`.
//! The compiler's sanitizers are switches that only nightly compilers know; `RUSTC_BOOTSTRAP` lets a stable one take them, and
//! its runtimes come with it. The standard library is not built anew. Programs of C that the library is preloaded into get
//! the runtime of the C compiler first.

use std::io;
use std::path::Path;
use std::process::Command;

use clap::Args;

use crate::models::passes;

/// Packages that are tested.
const PACKAGES: [&str; 3] = ["crestline-wire", "crestline-drm-shim", "crestline-node"];

/// A sanitizer: its name, its runtime for programs of C, the variable of its options and these.
struct Sanitizer {
    name: &'static str,
    runtime: &'static str,
    variable: &'static str,
    options: &'static str,
}

const SANITIZERS: [Sanitizer; 2] = [
    Sanitizer {
        name: "address",
        runtime: "libasan.so",
        variable: "ASAN_OPTIONS",
        // Clients end in the middle of their work on purpose, with what they hold.
        // At a thread's end the runtime would unmap the stack for handlers that the program has put in place of the runtime's.
        options: "detect_leaks=0 use_sigaltstack=0",
    },
    Sanitizer {
        name: "thread",
        runtime: "libtsan.so",
        variable: "TSAN_OPTIONS",
        // The standard library's own synchronisation is not seen.
        options: "ignore_noninstrumented_modules=1 report_signal_unsafe=0",
    },
];

/// The command line.
#[derive(Args, Debug)]
pub struct Options {
    #[arg(value_parser = SANITIZERS.map(|sanitizer| sanitizer.name))]
    sanitizer: String,
    /// Packages to test
    #[arg(default_values = PACKAGES)]
    packages: Vec<String>,
}

/// Runs the tests of packages; false when one fails.
pub fn run(root: &Path, options: &Options) -> io::Result<bool> {
    let named = |other: &&Sanitizer| other.name == options.sanitizer;
    let Some(sanitizer) = SANITIZERS.iter().find(named) else {
        return Ok(false);
    };
    let packages = &options.packages;
    let target = format!("{}-unknown-linux-gnu", std::env::consts::ARCH);
    let mut runtime = runtime_of_c(sanitizer.runtime)?;
    if sanitizer.name == "thread" {
        runtime = format!("{runtime}:{}", newer_names(root)?);
    }
    for package in packages {
        let mut cargo = Command::new("cargo");
        cargo
            .current_dir(root)
            // A target of its own, so that build scripts and macros go without.
            .args(["test", "--target", &target, "-p", package])
            .args([
                "--target-dir",
                &format!("target/sanitize/{}", sanitizer.name),
            ])
            // Documentation's examples are not built with the flags.
            .args(["--lib", "--bins", "--tests", "--no-fail-fast"])
            .env("RUSTC_BOOTSTRAP", "1")
            .env("RUSTFLAGS", flags(sanitizer))
            .env("CRESTLINE_SANITIZER", &runtime)
            .env(sanitizer.variable, settings(root, sanitizer));
        println!("{package} with -Zsanitizer={}", sanitizer.name);
        if !passes(&mut cargo)? {
            return Ok(false);
        }
    }
    Ok(true)
}

/// The compiler's flags. The standard library is linked although it is not instrumented.
fn flags(sanitizer: &Sanitizer) -> String {
    format!(
        "-Zsanitizer={} -Cunsafe-allow-abi-mismatch=sanitizer",
        sanitizer.name
    )
}

/// The runtime's options, with the reports that are known to be none of ours.
fn settings(root: &Path, sanitizer: &Sanitizer) -> String {
    let mut settings = sanitizer.options.to_owned();
    if sanitizer.name == "thread" {
        let known = root.join("drm-shim/tests/tsan.supp");
        settings = format!("{settings} suppressions={}", known.display());
    }
    settings
}

/// A library with what an older runtime of ThreadSanitizer lacks; its functions are those that the runtime watches.
fn newer_names(root: &Path) -> io::Result<String> {
    let dir = root.join("target/sanitize");
    std::fs::create_dir_all(&dir)?;
    let library = dir.join("names.so");
    let mut cc = Command::new("cc");
    cc.current_dir(root)
        .args(["-shared", "-fPIC", "-O1", "-fno-builtin", "-o"])
        .arg(&library)
        .arg("drm-shim/tests/tsan.c");
    if !passes(&mut cc)? {
        return Err(io::Error::other(
            "the names of ThreadSanitizer do not compile",
        ));
    }
    Ok(library.display().to_string())
}

/// The C compiler's runtime of a sanitizer; it prints the bare name of one that it does not have.
fn runtime_of_c(name: &str) -> io::Result<String> {
    let option = format!("-print-file-name={name}");
    let output = Command::new("cc").arg(option).output()?;
    let path = String::from_utf8_lossy(&output.stdout).trim().to_owned();
    if path.contains('/') {
        return Ok(path);
    }
    Err(io::Error::other(format!("the C compiler has no {name}")))
}
