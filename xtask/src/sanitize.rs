//! Node and preloaded library under a sanitizer: `cargo xtask sanitize`.
//! The compiler's sanitizers are switches that only nightly compilers know; `RUSTC_BOOTSTRAP` lets a stable one take them, and
//! its runtimes come with it. ThreadSanitizer needs the standard library built anew, from the component `rust-src`. Programs
//! of C that the library is preloaded into get the runtime of the C compiler first.

use std::io;
use std::path::Path;
use std::process::Command;

use clap::Args;

use crate::models::passes;

/// Packages that are tested.
const PACKAGES: [&str; 3] = ["crestline-wire", "crestline-drm-shim", "crestline-node"];

/// A sanitizer: its name, whether the standard library has to be instrumented, its runtime for programs of C, the variable
/// of its options and these.
struct Sanitizer {
    name: &'static str,
    with_library: bool,
    runtime: &'static str,
    variable: &'static str,
    options: &'static str,
}

const SANITIZERS: [Sanitizer; 2] = [
    Sanitizer {
        name: "address",
        with_library: false,
        runtime: "libasan.so",
        variable: "ASAN_OPTIONS",
        // Clients end in the middle of their work on purpose, with what they hold.
        // At a thread's end the runtime would unmap the stack for handlers that the program has put in place of the runtime's.
        // Marks of calls lie on the stack, deeper ones below; frames that the runtime keeps elsewhere would not.
        options: "detect_leaks=0 use_sigaltstack=0 detect_stack_use_after_return=0",
    },
    Sanitizer {
        name: "thread",
        // Contended locks are taken, and what is counted is freed, by code of the library: without it every second lock is a report.
        with_library: true,
        runtime: "libtsan.so",
        variable: "TSAN_OPTIONS",
        // Handlers of the tests' programs print and jump out of calls on purpose.
        options: "report_signal_unsafe=0",
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
    if sanitizer.with_library && !has_source(root)? {
        return Err(io::Error::other(
            "the standard library's source is missing: rustup component add rust-src",
        ));
    }
    let target = format!("{}-unknown-linux-gnu", std::env::consts::ARCH);
    let mut runtime = runtime_of_c(sanitizer.runtime)?;
    if sanitizer.name == "thread" {
        runtime = format!("{runtime}:{}", newer_names(root)?);
    }
    let mut cargo = Command::new("cargo");
    cargo
        .current_dir(root)
        // A target of its own, so that build scripts and macros go without.
        .args(["test", "--target", &target])
        .args([
            "--target-dir",
            &format!("target/sanitize/{}", sanitizer.name),
        ])
        // Documentation's examples are not built with the flags.
        .args(["--lib", "--bins", "--tests", "--no-fail-fast"])
        // Together: apart they would have other features of what they share, and all of that be built again.
        .args(options.packages.iter().flat_map(|package| ["-p", package]))
        .env("RUSTC_BOOTSTRAP", "1")
        .env("RUSTFLAGS", flags(sanitizer))
        .env("CRESTLINE_SANITIZER", &runtime)
        .env(sanitizer.variable, sanitizer.options);
    if sanitizer.with_library {
        cargo.arg("-Zbuild-std");
    }
    passes(&mut cargo)
}

/// The compiler's flags. A standard library that is not instrumented is linked all the same.
fn flags(sanitizer: &Sanitizer) -> String {
    format!(
        "-Zsanitizer={} -Cunsafe-allow-abi-mismatch=sanitizer",
        sanitizer.name
    )
}

/// Whether the compiler has the standard library's source beside it.
fn has_source(root: &Path) -> io::Result<bool> {
    let mut rustc = Command::new("rustc");
    let output = rustc
        .current_dir(root)
        .args(["--print", "sysroot"])
        .output()?;
    let sysroot = String::from_utf8_lossy(&output.stdout).trim().to_owned();
    let library = Path::new(&sysroot).join("lib/rustlib/src/rust/library");
    Ok(library.join("Cargo.lock").exists())
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
