//! The long random runs: `cargo xtask fuzz`.
//! What runs is in `tests/tests/fuzz_random.rs`, `isa/tests/random_words.rs` and
//! `mmio-mock/eu/tests/random_state.rs`.

use std::io;
use std::path::Path;
use std::process::Command;

/// Millions executed by each test.
const MILLIONS: &str = "10";
/// Tests whose name begins with this, when nothing else is asked for.
const TESTS: &str = "random";
/// Packages, their test programs, and the module there that holds the random tests (empty: the program's root).
const SUITES: [(&str, &str, &str); 3] = [
    ("crestline-tests", "suite", "fuzz_random::"),
    ("crestline-isa", "suite", "random_words::"),
    ("crestline-eu", "random_state", ""),
];

/// What the command line says.
#[derive(Debug, PartialEq, Eq)]
struct Options<'a> {
    millions: &'a str,
    seed: Option<&'a str>,
    tests: &'a str,
}

impl<'a> Options<'a> {
    fn parse(args: &[&'a str]) -> Option<Self> {
        let mut options = Options {
            millions: MILLIONS,
            seed: None,
            tests: TESTS,
        };
        let number = |text: &&str| text.parse::<u64>().is_ok();
        let mut args = args.iter().copied();
        while let Some(arg) = args.next() {
            match arg {
                "--millions" => options.millions = args.next().filter(number)?,
                "--seed" => options.seed = Some(args.next().filter(number)?),
                _ if arg.starts_with('-') => return None,
                _ => options.tests = arg,
            }
        }
        Some(options)
    }
}

/// Runs the random tests; false when one fails.
pub fn run(root: &Path, args: &[&str]) -> io::Result<bool> {
    let Some(options) = Options::parse(args) else {
        eprintln!("usage: cargo xtask fuzz [--millions N] [--seed S] [TEST]");
        return Ok(false);
    };
    for (package, suite, module) in SUITES {
        let tests = format!("{module}{}", options.tests);
        if !suite_passes(root, [package, suite, &tests], &options)? {
            return Ok(false);
        }
    }
    Ok(true)
}

fn suite_passes(
    root: &Path,
    [package, suite, tests]: [&str; 3],
    options: &Options<'_>,
) -> io::Result<bool> {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut command = Command::new(cargo);
    command
        .args(["test", "--release", "--locked", "--package", package])
        .args(["--test", suite, "--", "--nocapture", tests])
        .env("CRESTLINE_FUZZ_MILLIONS", options.millions)
        .current_dir(root);
    match options.seed {
        Some(seed) => command.env("CRESTLINE_FUZZ_SEED", seed),
        None => command.env_remove("CRESTLINE_FUZZ_SEED"),
    };
    Ok(command.status()?.success())
}

#[cfg(test)]
mod tests {
    use super::Options;

    #[test]
    fn options_in_any_order() {
        let options = Options::parse(&["--seed", "7", "kernels", "--millions", "2"]);
        let wanted = Options {
            millions: "2",
            seed: Some("7"),
            tests: "kernels",
        };
        assert_eq!(options, Some(wanted));
        for wrong in [
            &["--seed"][..],
            &["--seed", "x"],
            &["--millions", "-1"],
            &["--what"],
        ] {
            assert_eq!(Options::parse(wrong), None);
        }
    }
}
