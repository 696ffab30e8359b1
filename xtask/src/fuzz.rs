//! The long random runs: `cargo xtask fuzz`.
//! What runs is in `tests/tests/fuzz_random.rs`, `isa/tests/random_words.rs`, `mmio-mock/eu/tests/random_state.rs` and
//! `vfio/tests/random.rs`.

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::path::Path;
use std::process::Command;

use clap::Args;

use crate::node;
use crate::progress::Progress;

/// Packages, their test programs, the module there that holds the random tests (empty: the program's root), and its file.
const SUITES: [(&str, &str, &str, &str); 4] = [
    (
        "crestline-tests",
        "suite",
        "fuzz_random::",
        "tests/tests/fuzz_random.rs",
    ),
    (
        "crestline-isa",
        "suite",
        "random_words::",
        "isa/tests/random_words.rs",
    ),
    (
        "crestline-eu",
        "random_state",
        "",
        "mmio-mock/eu/tests/random_state.rs",
    ),
    (
        "crestline-vfio",
        "suite",
        "random::",
        "vfio/tests/random.rs",
    ),
];

/// What the command line says.
#[derive(Args, Debug)]
pub struct Options {
    /// Millions executed by each test
    #[arg(long, value_name = "N", default_value_t = 10)]
    millions: u64,
    /// Where each test starts; its own seed unless told
    #[arg(long, value_name = "S")]
    seed: Option<u64>,
    /// Tests whose name begins with this
    #[arg(value_name = "TEST", default_value = "random")]
    tests: String,
}

/// Runs the random tests; false when one fails.
pub fn run(root: &Path, options: &Options) -> io::Result<bool> {
    let texts: Vec<String> = SUITES
        .iter()
        .map(|(.., file)| std::fs::read_to_string(root.join(file)))
        .collect::<io::Result<_>>()?;
    let known: BTreeSet<&str> = texts.iter().flat_map(|text| names(text)).collect();
    let wanted = options.tests.as_str();
    if !known.iter().any(|name| name.starts_with(wanted)) {
        let list: Vec<&str> = known.into_iter().collect();
        eprintln!("no random test begins with {wanted}: {}", list.join(", "));
        return Ok(false);
    }
    for (package, suite, module, _) in SUITES {
        let tests = format!("{module}{}", options.tests);
        if !suite_passes(root, [package, suite, &tests], options)? {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Names in a file's text that may be random tests; some are made by macros.
fn names(text: &str) -> BTreeSet<&str> {
    let words = text.split(|c: char| c != '_' && !c.is_ascii_alphanumeric());
    words
        .filter(|word| word.starts_with("random_") && !word.ends_with('_'))
        .collect()
}

fn suite_passes(
    root: &Path,
    [package, suite, tests]: [&str; 3],
    options: &Options,
) -> io::Result<bool> {
    let cargo = || {
        let mut command = node::cargo(root);
        command
            .args(["test", "--release", "--locked", "--package", package])
            .args(["--test", suite]);
        command
    };
    // Cargo shows its own progress.
    if !cargo().arg("--no-run").status()?.success() {
        return Ok(false);
    }
    let mut command: Command = cargo();
    command
        .args(["--", "--nocapture", tests])
        .env("CRESTLINE_FUZZ_MILLIONS", options.millions.to_string());
    match options.seed {
        Some(seed) => command.env("CRESTLINE_FUZZ_SEED", seed.to_string()),
        None => command.env_remove("CRESTLINE_FUZZ_SEED"),
    };
    let goal = options.millions.saturating_mul(1_000_000);
    let mut done: BTreeMap<String, u64> = BTreeMap::new();
    let mut progress = Progress::new(0);
    let status = progress.command(&mut command, |progress, line| {
        if let Some(tests) = running(&line) {
            progress.total(tests.saturating_mul(goal));
        } else if let Some((name, count)) = counted(&line) {
            done.insert(name.to_owned(), count.min(goal));
            progress.at(done.values().sum(), package.to_owned());
            return None;
        }
        Some(line)
    })?;
    progress.end();
    Ok(status.success())
}

/// How many tests a test program runs: its first line.
fn running(line: &str) -> Option<u64> {
    let rest = line.strip_prefix("running ")?;
    rest.split_once(" test")?.0.parse().ok()
}

/// What a test says every now and then: its name, and how many it has executed.
fn counted(line: &str) -> Option<(&str, u64)> {
    // libtest may have begun the line.
    let (_, said) = line.split_once("progress: ")?;
    let (name, count) = said.split_once(' ')?;
    Some((name, count.parse().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_the_tests() {
        assert_eq!(running("running 5 tests"), Some(5));
        assert_eq!(running("running 1 test"), Some(1));
        assert_eq!(running("random: seed 5"), None);
        let said = "test random_words_40 ... progress: random_words_40 1300000";
        assert_eq!(counted(said), Some(("random_words_40", 1_300_000)));
        assert_eq!(counted("test random_words_40 ... ok"), None);
    }

    #[test]
    fn names_of_the_tests() {
        let text = "each!(random_words_40 => 40);\nfn random_bytes() { randomly(random_words_40) }";
        let found: Vec<&str> = names(text).into_iter().collect();
        assert_eq!(found, ["random_bytes", "random_words_40"]);
    }
}
