//! The command line of `cargo xtask piglit`.
//! Only read here; `piglit.rs` acts on it.

use std::path::PathBuf;

use clap::Args;

use crate::node::{Served, at_least_one};

/// What the command line says.
#[derive(Args, Debug)]
pub struct Options {
    #[command(flatten)]
    pub served: Served,
    /// Only tests that match (Python's syntax)
    #[arg(long, value_name = "REGEX")]
    pub filter: Option<String>,
    /// Only tests that the file names, a line each
    #[arg(long, value_name = "FILE")]
    pub list: Option<PathBuf>,
    /// Tests at a time
    #[arg(long, value_name = "N", value_parser = at_least_one::<usize>, default_value = "2")]
    pub jobs: usize,
    /// Seconds for a test
    #[arg(long, value_name = "S", value_parser = at_least_one::<u64>, default_value = "30")]
    pub timeout: u64,
    /// Results; a run that was interrupted goes on there
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
    /// Keep llvmpipe's results from there (piglit's own format)
    #[arg(long, value_name = "DIR")]
    pub baseline: Option<PathBuf>,
    /// Run llvmpipe again on all tests that the device offers, not only on those without a kept result
    #[arg(long, conflicts_with = "report")]
    pub run_baseline: bool,
    /// Report on what an interrupted run has so far; runs nothing
    #[arg(long)]
    pub report: bool,
    /// The short list, checked against what has to pass
    #[arg(long, conflicts_with_all = ["filter", "list", "run_baseline", "report", "ci_list"])]
    pub ci: bool,
    /// With --ci: what passed has to pass from now on
    #[arg(long, requires = "ci")]
    pub bless: bool,
    /// Choose N tests for the short list from the results in DIR; runs nothing
    #[arg(long, value_name = "N", value_parser = at_least_one::<usize>)]
    pub ci_list: Option<usize>,
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]

    use super::*;
    use crate::node;

    #[test]
    fn options() {
        let parse = node::parsed::<Options>;
        let options = parse(&["--jobs", "1", "--filter", "glsl", "--out", "x"]).unwrap();
        assert_eq!((options.jobs, options.timeout), (1, 30));
        assert_eq!(options.filter.as_deref(), Some("glsl"));
        assert_eq!(options.out, Some("x".into()));
        assert_eq!(options.served.platform, "gbm");
        assert_eq!(options.served.renderer(), "965GM");
        for wrong in [
            &["--jobs"][..],
            &["--jobs", "0"],
            &["--device", "gm964"],
            &["--bless"],
            &["--ci", "--filter", "a"],
            &["--report", "--run-baseline"],
            &["--what", "1"],
            &["tests"],
        ] {
            assert!(parse(wrong).is_err(), "{wrong:?}");
        }
    }
}
