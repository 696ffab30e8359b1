//! The command line of `cargo xtask piglit`.
//! No PRM chapter. Only read here; `piglit.rs` acts on it.

use std::path::PathBuf;

use crate::node::{self, Device};

/// What it takes.
pub const USAGE: &str = "\
usage: cargo xtask piglit [options]
  --device NAME     the device, gm965 unless told
  --filter REGEX    only tests that match (Python's syntax)
  --list FILE       only tests that the file names, a line each
  --jobs N          tests at a time, 2 unless told
  --timeout S       seconds for a test, 30 unless told
  --out DIR         results; a run that was interrupted goes on there
  --baseline DIR    keep llvmpipe's results from there (piglit's own format)
  --run-baseline    run llvmpipe anew on what the device offers; usually only what has no kept result
  --report          report on what an interrupted run has so far; runs nothing
  --ci              the short list, checked against what has to pass
  --bless           with --ci: what passed has to pass from now on
  --ci-list N       choose N tests for the short list from the results in DIR; runs nothing
  --exec PROGRAM    instead of crestline: `PROGRAM exec --device NAME -- CMD ARGS`
  --platform NAME   waffle's platform there, gbm unless told
  --renderer TEXT   what the renderer's name must have in it there
";

/// What the command line says.
#[derive(Debug, PartialEq, Eq)]
pub struct Options<'a> {
    pub device: &'static Device,
    pub filter: Option<&'a str>,
    pub list: Option<PathBuf>,
    pub jobs: usize,
    pub timeout: u64,
    pub out: Option<PathBuf>,
    pub baseline: Option<PathBuf>,
    pub run_baseline: bool,
    pub report: bool,
    pub ci: bool,
    pub bless: bool,
    pub ci_list: Option<usize>,
    pub exec: Option<&'a str>,
    pub platform: &'a str,
    pub renderer: &'a str,
}

impl<'a> Options<'a> {
    /// None for anything that is not understood.
    pub fn parse(args: &[&'a str]) -> Option<Self> {
        let mut options = Options {
            device: node::device("gm965")?,
            filter: None,
            list: None,
            jobs: 2,
            timeout: 30,
            out: None,
            baseline: None,
            run_baseline: false,
            report: false,
            ci: false,
            bless: false,
            ci_list: None,
            exec: None,
            platform: "gbm",
            renderer: "",
        };
        let mut args = args.iter().copied();
        while let Some(arg) = args.next() {
            match arg {
                "--run-baseline" => options.run_baseline = true,
                "--report" => options.report = true,
                "--ci" => options.ci = true,
                "--bless" => options.bless = true,
                _ => options.value(arg, args.next()?)?,
            }
        }
        if options.renderer.is_empty() {
            options.renderer = options.device.renderer;
        }
        let short = options.filter.is_some()
            || options.list.is_some()
            || options.run_baseline
            || options.report;
        let wrong = (options.bless && !options.ci)
            || (options.report && options.run_baseline)
            || (options.ci && (short || options.ci_list.is_some()))
            || options.jobs == 0
            || options.timeout == 0;
        (!wrong).then_some(options)
    }

    fn value(&mut self, name: &str, value: &'a str) -> Option<()> {
        match name {
            "--device" => self.device = node::device(value)?,
            "--filter" => self.filter = Some(value),
            "--list" => self.list = Some(value.into()),
            "--jobs" => self.jobs = value.parse().ok()?,
            "--timeout" => self.timeout = value.parse().ok()?,
            "--out" => self.out = Some(value.into()),
            "--baseline" => self.baseline = Some(value.into()),
            "--ci-list" => self.ci_list = Some(value.parse().ok().filter(|&n| n > 0)?),
            "--exec" => self.exec = Some(value),
            "--platform" => self.platform = value,
            "--renderer" => self.renderer = value,
            _ => return None,
        }
        Some(())
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]

    use super::*;

    #[test]
    fn options() {
        let options = Options::parse(&["--jobs", "1", "--filter", "glsl", "--out", "x"]).unwrap();
        assert_eq!((options.jobs, options.timeout), (1, 30));
        assert_eq!(options.filter, Some("glsl"));
        assert_eq!(options.out, Some("x".into()));
        assert_eq!((options.platform, options.renderer), ("gbm", "965GM"));
        for wrong in [
            &["--jobs"][..],
            &["--jobs", "0"],
            &["--device", "gm964"],
            &["--bless"],
            &["--ci", "--filter", "a"],
            &["--what", "1"],
            &["tests"],
        ] {
            assert_eq!(Options::parse(wrong), None);
        }
    }
}
