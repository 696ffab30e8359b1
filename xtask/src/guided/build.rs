//! The build of libFuzzer's programs: cargo with the compiler's flags for coverage.
//! Plain cargo does it, so that cargo-fuzz is not needed; `cargo fuzz --fuzz-dir tests/fuzz` works as well.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs, io};

/// What counts edges and shows comparisons to libFuzzer (cargo-fuzz passes the same).
const COVERAGE: [&str; 7] = [
    "-Cpasses=sancov-module",
    "-Cllvm-args=-sanitizer-coverage-level=4",
    "-Cllvm-args=-sanitizer-coverage-inline-8bit-counters",
    "-Cllvm-args=-sanitizer-coverage-pc-table",
    "-Cllvm-args=-sanitizer-coverage-trace-compares",
    "--cfg",
    "fuzzing",
];
/// The only flag that a stable compiler has to be talked into.
const ADDRESS: &str = "-Zsanitizer=address";

/// What was built.
pub struct Built {
    /// Directory of the programs.
    pub programs: PathBuf,
    /// Directory of what runs leave.
    pub kept: PathBuf,
    /// What the programs were built with, for people.
    pub with: &'static str,
}

fn output(program: &str, args: &[&str]) -> io::Result<String> {
    let output = Command::new(program).args(args).output()?;
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

/// Whether the toolchain has the run-time library of the address sanitizer.
fn has_sanitizer(rustc: &str, host: &str) -> io::Result<bool> {
    let root = output(rustc, &["--print", "sysroot"])?;
    let libraries = Path::new(root.trim()).join("lib/rustlib").join(host);
    let Ok(entries) = fs::read_dir(libraries.join("lib")) else {
        return Ok(false);
    };
    let mut names = entries.filter_map(|entry| entry.ok()?.file_name().into_string().ok());
    Ok(names.any(|name| name.ends_with("rt.asan.a")))
}

/// Builds one target or all of them; `None` when that fails.
pub fn programs(root: &Path, sanitizer: bool, target: Option<&str>) -> io::Result<Option<Built>> {
    let rustc = env::var("RUSTC").unwrap_or_else(|_| "rustc".to_owned());
    let version = output(&rustc, &["-vV"])?;
    let host = version.lines().find_map(|line| line.strip_prefix("host: "));
    let host = host.ok_or_else(|| io::Error::other("rustc -vV names no host"))?;
    let has = has_sanitizer(&rustc, host)?;
    let with = match (sanitizer, has) {
        (true, true) => "the address sanitizer",
        (true, false) => {
            "no sanitizer: this toolchain does not have the address sanitizer's library"
        }
        (false, _) => "no sanitizer, as asked for",
    };
    println!("libFuzzer with {with}");
    let mut flags = Vec::new();
    let cargo = env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut command = Command::new(cargo);
    let kept = root.join("target/fuzz");
    let mut built = kept.clone();
    if sanitizer && has {
        flags.push(ADDRESS);
        command.env("RUSTC_BOOTSTRAP", "1");
    } else {
        built.push("plain");
    }
    flags.extend(COVERAGE);
    command
        .args(["build", "--release", "--locked", "--manifest-path"])
        .arg(root.join(super::PACKAGE).join("Cargo.toml"))
        // With a target of its own the flags are not those of build scripts and macros.
        .args(["--target", host, "--target-dir"])
        .arg(&built)
        .env("CARGO_ENCODED_RUSTFLAGS", flags.join("\x1f"))
        .env_remove("RUSTFLAGS")
        .current_dir(root);
    match target {
        Some(target) => command.args(["--bin", target]),
        None => command.arg("--bins"),
    };
    let done = command.status()?.success();
    Ok(done.then(|| Built {
        programs: built.join(host).join("release"),
        kept,
        with,
    }))
}
