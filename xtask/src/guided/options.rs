//! The command line of `cargo xtask fuzz-guided`.
//! Nothing of libFuzzer's own options is passed on.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use super::TARGETS;

/// A sanitizer of the fuzzed programs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Sanitizer {
    /// AddressSanitizer
    Address,
    /// No sanitizer: twice as fast, and with any toolchain
    None,
}

/// The command line.
#[derive(Args, Debug)]
pub struct Options {
    /// One target; all when it is missing
    #[arg(value_parser = TARGETS.map(|(name, _)| name))]
    pub target: Option<String>,
    /// Run each target for so many minutes
    #[arg(long, default_value_t = 60, value_parser = clap::value_parser!(u64).range(1..100_000))]
    minutes: u64,
    /// The same in seconds
    #[arg(long, conflicts_with = "minutes", value_parser = clap::value_parser!(u64).range(1..))]
    seconds: Option<u64>,
    /// Run each committed input once and end: what was found before stays mended
    #[arg(long, conflicts_with_all = ["minutes", "seconds", "seed"])]
    pub replay: bool,
    /// Random seed of libFuzzer, for a run that is always the same
    #[arg(long)]
    pub seed: Option<u32>,
    #[arg(long, value_enum, default_value_t = Sanitizer::Address)]
    pub sanitizer: Sanitizer,
    /// Put the smallest inputs that reach the same code into tests/fuzz/corpus
    #[arg(long, conflicts_with_all = ["input", "replay"])]
    pub minimise: bool,
    /// Run one input of TARGET and end
    #[arg(long, requires = "target", conflicts_with = "replay")]
    pub input: Option<PathBuf>,
}

impl Options {
    /// Seconds of each target.
    pub fn seconds(&self) -> u64 {
        self.seconds.unwrap_or(self.minutes * 60)
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::expect_used, reason = "tests")]

    use clap::Parser;

    use super::{Options, Sanitizer};

    #[derive(Parser)]
    struct Line {
        #[command(flatten)]
        options: Options,
    }

    fn parse(args: &[&str]) -> Option<Options> {
        let line = std::iter::once("x").chain(args.iter().copied());
        Line::try_parse_from(line).ok().map(|line| line.options)
    }

    #[test]
    fn options_in_any_order() {
        let options = parse(&["--minutes", "2", "wire", "--sanitizer", "none"]).expect("options");
        assert_eq!(options.target.as_deref(), Some("wire"));
        assert_eq!(options.seconds(), 120);
        assert_eq!(options.sanitizer, Sanitizer::None);
        assert_eq!(
            parse(&["--seconds", "20"]).map(|options| options.seconds()),
            Some(20)
        );
        assert!(parse(&["kernels", "--input", "x"]).is_some());
        assert!(parse(&["--replay"]).is_some_and(|options| options.replay));
    }

    #[test]
    fn wrong_options() {
        for wrong in [
            &["--minutes"][..],
            &["--minutes", "x"],
            &["--seconds", "0"],
            &["--sanitizer", "thread"],
            &["--input", "x"],
            &["--replay", "--seed", "1"],
            &["wire", "--replay", "--input", "x"],
            &["nothing"],
            &["wire", "kernels"],
        ] {
            assert!(parse(wrong).is_none(), "{wrong:?}");
        }
    }
}
