//! Coverage-guided fuzzing: `cargo xtask fuzz-guided`.
//! Builds the programs of `tests/fuzz` with libFuzzer and runs them one after another. Corpora that grow, logs and
//! inputs that fail are kept in `target/fuzz`.

mod build;
mod options;
mod session;

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;

use build::Built;
pub use options::Options;
use options::Sanitizer;

/// The package of the targets.
const PACKAGE: &str = "tests/fuzz";

/// The targets by name, each with the most bytes of its inputs.
const TARGETS: [(&str, u32); 8] = [
    ("captures", 16384),
    ("exec_json", 4096),
    ("assembler", 1024),
    ("debugger_scripts", 768),
    ("wire", 4096),
    ("ioctl_blocks", 4096),
    ("batches", 4096),
    ("kernels", 840),
];

/// A target, and where its files are.
pub struct Target {
    name: &'static str,
    most: u32,
    /// The committed corpus.
    seeds: PathBuf,
    /// The corpus that grows.
    corpus: PathBuf,
    dictionary: PathBuf,
    program: PathBuf,
}

impl Target {
    fn new(root: &Path, built: &Built, (name, most): (&'static str, u32)) -> io::Result<Self> {
        let target = Target {
            name,
            most,
            seeds: root.join(PACKAGE).join("corpus").join(name),
            corpus: built.kept.join("corpus").join(name),
            dictionary: root.join(PACKAGE).join(format!("dictionaries/{name}.dict")),
            program: built.programs.join(name),
        };
        fs::create_dir_all(&target.seeds)?;
        fs::create_dir_all(&target.corpus)?;
        fs::create_dir_all(target.scratch(built))?;
        Ok(target)
    }

    /// Its own directory for temporary files: other targets may be running.
    fn scratch(&self, built: &Built) -> PathBuf {
        built.kept.join("tmp").join(self.name)
    }

    /// Its program with what every run has.
    fn command(&self, built: &Built) -> Command {
        let mut command = Command::new(&self.program);
        command
            .arg(format!("-max_len={}", self.most))
            // TIMEOUT: inputs take milliseconds, scripts of the debugger a quarter of a second; one that takes a minute is a
            // finding, on a busy machine too.
            .args(["-timeout=60", "-rss_limit_mb=2048", "-detect_leaks=0"])
            // Nodes that a program leaves at its end have their directories here.
            .env("TMPDIR", self.scratch(built))
            .env("RUST_BACKTRACE", "0")
            // A node's threads hold what they need to the end.
            .env("ASAN_OPTIONS", "detect_leaks=0");
        if self.dictionary.exists() {
            command.arg(format!("-dict={}", self.dictionary.display()));
        }
        command
    }
}

/// Runs the targets; false when one has found something.
pub fn run(root: &Path, options: &Options) -> io::Result<bool> {
    let sanitizer = options.sanitizer == Sanitizer::Address;
    let target = options.target.as_deref();
    let Some(built) = build::programs(root, sanitizer, target)? else {
        return Ok(false);
    };
    let wanted = TARGETS
        .into_iter()
        .filter(|(name, _)| target.is_none_or(|target| target == *name));
    let targets = wanted.map(|row| Target::new(root, &built, row));
    let targets: Vec<Target> = targets.collect::<io::Result<_>>()?;
    let outcome = match &options.input {
        Some(file) => session::once(&targets, &built, file),
        None if options.minimise => session::minimise(&targets, &built),
        None => session::fuzz(&targets, &built, options),
    };
    for target in &targets {
        // What is left there is of no use.
        let _ = fs::remove_dir_all(target.scratch(&built));
    }
    outcome
}
