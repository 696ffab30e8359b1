//! The command line of `cargo xtask fuzz --guided`.
//! Nothing of libFuzzer's own options is passed on.

/// Minutes of each target.
const MINUTES: u64 = 60;

pub const USAGE: &str = "\
usage: cargo xtask fuzz --guided [TARGET] [options]

  --minutes N          run each target for so long (60 unless told)
  --seconds N          the same in seconds
  --seed S             libFuzzer's random seed, for a run that is always the same
  --sanitizer none     without the address sanitizer: twice as fast, and with any toolchain
  --minimise           put the smallest inputs that reach the same into tests/fuzz/corpus
  --input FILE         run one input of TARGET and end
";

/// What is to be done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Work<'a> {
    /// Look for inputs.
    Fuzz,
    /// Minimise what was found.
    Minimise,
    /// Run one input.
    Input(&'a str),
}

/// What the command line says.
#[derive(Debug, PartialEq, Eq)]
pub struct Options<'a> {
    /// One target, or all.
    pub target: Option<&'a str>,
    /// Seconds of each.
    pub seconds: u64,
    /// libFuzzer's seed.
    pub seed: Option<u32>,
    /// Whether the address sanitizer is wanted.
    pub sanitizer: bool,
    /// What to do.
    pub work: Work<'a>,
}

impl<'a> Options<'a> {
    /// Reads the arguments; `None` when they make no sense.
    pub fn parse(args: &[&'a str], targets: &[&str]) -> Option<Self> {
        let mut options = Options {
            target: None,
            seconds: MINUTES * 60,
            seed: None,
            sanitizer: true,
            work: Work::Fuzz,
        };
        let mut args = args.iter().copied();
        while let Some(arg) = args.next() {
            match arg {
                "--minutes" => {
                    options.seconds = args.next()?.parse::<u64>().ok()?.checked_mul(60)?;
                }
                "--seconds" => options.seconds = args.next()?.parse().ok()?,
                "--seed" => options.seed = Some(args.next()?.parse().ok()?),
                "--sanitizer" => {
                    options.sanitizer = match args.next()? {
                        "address" => true,
                        "none" => false,
                        _ => return None,
                    }
                }
                "--minimise" => options.work = Work::Minimise,
                "--input" => options.work = Work::Input(args.next()?),
                _ if options.target.is_none() && targets.contains(&arg) => {
                    options.target = Some(arg);
                }
                _ => return None,
            }
        }
        let single = !matches!(options.work, Work::Input(_)) || options.target.is_some();
        (single && options.seconds > 0).then_some(options)
    }
}

#[cfg(test)]
mod tests {
    use super::{Options, Work};

    const TARGETS: [&str; 2] = ["wire", "kernels"];

    #[test]
    fn options_in_any_order() {
        let options = Options::parse(&["--minutes", "2", "wire", "--sanitizer", "none"], &TARGETS);
        let wanted = Options {
            target: Some("wire"),
            seconds: 120,
            seed: None,
            sanitizer: false,
            work: Work::Fuzz,
        };
        assert_eq!(options, Some(wanted));
        let input = Options::parse(&["kernels", "--input", "x"], &TARGETS);
        assert_eq!(input.map(|options| options.work), Some(Work::Input("x")));
    }

    #[test]
    fn wrong_options() {
        for wrong in [
            &["--minutes"][..],
            &["--minutes", "x"],
            &["--seconds", "0"],
            &["--sanitizer", "thread"],
            &["--input", "x"],
            &["nothing"],
            &["wire", "kernels"],
        ] {
            assert_eq!(Options::parse(wrong, &TARGETS), None, "{wrong:?}");
        }
    }
}
