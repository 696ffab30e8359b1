//! Runs of libFuzzer's programs: what they print is read, what they find is kept.
//! Not done: several programs at once.

use std::fs::{self, File};
use std::io::{self, BufRead as _, BufReader, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use super::Target;
use super::build::Built;
use super::options::Options;
use crate::finding::counted;

/// Findings of a target after which it is left.
const ENOUGH: usize = 5;

/// What a target has done, over all its runs.
#[derive(Default)]
struct Tally {
    executions: u64,
    /// Edges and features that inputs have reached, as the program counts them.
    coverage: u64,
    features: u64,
    inputs: u64,
    findings: Vec<Finding>,
}

/// An input that fails.
struct Finding {
    /// Where it is kept.
    input: String,
    /// What the program said.
    what: String,
}

/// The number behind a label of a line of libFuzzer's.
fn number(line: &str, label: &str) -> Option<u64> {
    let rest = line.split_once(label)?.1.trim_start();
    let digits = rest.split(|c: char| !c.is_ascii_digit()).next()?;
    digits.parse().ok()
}

/// A run's lines: what they tell goes into the tally.
#[derive(Default)]
struct Lines {
    /// The line behind `panicked at` has the reason.
    panicked: bool,
    what: String,
    executions: u64,
    kept: Option<String>,
}

impl Lines {
    fn read(&mut self, line: &str, tally: &mut Tally) {
        if line.starts_with('#') {
            if let (Some(coverage), Some(features)) =
                (number(line, " cov: "), number(line, " ft: "))
            {
                tally.coverage = tally.coverage.max(coverage);
                tally.features = tally.features.max(features);
            }
            if let Some(inputs) = number(line, " corp: ") {
                tally.inputs = inputs;
            }
            self.executions = self.executions.max(number(line, "#").unwrap_or(0));
        } else if let Some(count) = number(line, "stat::number_of_executed_units: ") {
            self.executions = count;
        } else if let Some((_, place)) = line.split_once(" panicked at ") {
            place.clone_into(&mut self.what);
            self.panicked = true;
        } else if std::mem::take(&mut self.panicked) {
            self.what = format!("{} {}", self.what, line.trim());
        } else if let Some((_, what)) = line.split_once("ERROR: ")
            && self.what.is_empty()
        {
            what.clone_into(&mut self.what);
        } else if let Some((_, path)) = line.split_once("Test unit written to ") {
            self.kept = Some(path.trim().to_owned());
        }
    }
}

/// Runs a program, with its lines in a log; false when it failed.
fn follow(command: &mut Command, log: &mut File, tally: &mut Tally) -> io::Result<bool> {
    let mut child = command
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()?;
    let mut lines = Lines::default();
    if let Some(stderr) = child.stderr.take() {
        for line in BufReader::new(stderr).split(b'\n') {
            let line = line?;
            let line = String::from_utf8_lossy(&line);
            writeln!(log, "{line}")?;
            lines.read(&line, tally);
        }
    }
    let good = child.wait()?.success();
    tally.executions += lines.executions;
    if !good {
        tally.findings.push(Finding {
            input: lines.kept.unwrap_or_else(|| "no input kept".to_owned()),
            what: lines.what.chars().take(200).collect(),
        });
    }
    Ok(good)
}

/// Takes back a timeout of an input that ends when it is run again: the machine was busy.
fn forgive(target: &Target, built: &Built, tally: &mut Tally) -> io::Result<()> {
    let Some(last) = tally.findings.last() else {
        return Ok(());
    };
    if !last.what.contains("timeout") || !Path::new(&last.input).exists() {
        return Ok(());
    }
    let mut command = target.command(built);
    command.arg(&last.input).stderr(Stdio::null());
    if command.stdout(Stdio::null()).status()?.success() {
        println!("{} takes less time when it is run again", last.input);
        tally.findings.pop();
    }
    Ok(())
}

/// Runs each target for its time, or its committed inputs once; false when one has found something.
pub fn fuzz(targets: &[Target], built: &Built, options: &Options) -> io::Result<bool> {
    let findings = built.kept.join("findings");
    let logs = built.kept.join("logs");
    fs::create_dir_all(&findings)?;
    fs::create_dir_all(&logs)?;
    let mut found = 0;
    for target in targets {
        let mut tally = Tally::default();
        let mut log = File::create(logs.join(target.name))?;
        let begun = Instant::now();
        let time = Duration::from_secs(options.seconds());
        loop {
            let left = time.saturating_sub(begun.elapsed()).as_secs();
            if left == 0 || tally.findings.len() >= ENOUGH {
                break;
            }
            let mut command = target.command(built);
            command
                .arg("-print_final_stats=1")
                .arg(prefix(&findings, target));
            if options.replay {
                command.arg("-runs=0").arg(&target.seeds);
            } else {
                command.arg(format!("-max_total_time={left}"));
                command.args([&target.corpus, &target.seeds]);
            }
            if let Some(seed) = options.seed {
                command.arg(format!("-seed={seed}"));
            }
            let good = follow(&mut command, &mut log, &mut tally)?;
            if !good {
                forgive(target, built, &mut tally)?;
            }
            // An input that fails would fail again: the corpus is not changed.
            if good || options.replay {
                break;
            }
        }
        say(target, &tally, begun.elapsed());
        found += tally.findings.len();
    }
    println!("{}, with {}", counted(found, "finding"), built.with);
    Ok(found == 0)
}

fn prefix(findings: &Path, target: &Target) -> String {
    let path = findings.join(format!("{}-", target.name));
    format!("-artifact_prefix={}", path.display())
}

fn say(target: &Target, tally: &Tally, time: Duration) {
    println!(
        "{:<16} {:>10} executions, {:>6.0} a second; {:>6} edges, {:>6} features; {:>5} inputs; {} findings",
        target.name,
        tally.executions,
        tally.executions as f64 / time.as_secs_f64().max(1.0),
        tally.coverage,
        tally.features,
        tally.inputs,
        tally.findings.len(),
    );
    for finding in &tally.findings {
        println!("  {}\n    {}", finding.input, finding.what);
    }
}

/// Puts the smallest inputs that reach what corpus and seeds reach in the place of the seeds.
pub fn minimise(targets: &[Target], built: &Built) -> io::Result<bool> {
    for target in targets {
        let merged = built.kept.join("merged").join(target.name);
        // There is none after a run that ended well.
        let _ = fs::remove_dir_all(&merged);
        fs::create_dir_all(&merged)?;
        let mut command = target.command(built);
        command
            .args(["-merge=1".as_ref(), merged.as_os_str()])
            .args([&target.seeds, &target.corpus])
            .stdout(Stdio::null())
            .stderr(Stdio::null());
        if !command.status()?.success() {
            println!("{}: libFuzzer could not merge", target.name);
            return Ok(false);
        }
        let old = files(&target.seeds)?;
        let new = files(&merged)?;
        for (path, _) in &old {
            fs::remove_file(path)?;
        }
        let mut bytes = 0;
        for (path, len) in &new {
            if let Some(name) = path.file_name() {
                fs::copy(path, target.seeds.join(name))?;
            }
            bytes += len;
        }
        fs::remove_dir_all(&merged)?;
        println!(
            "{:<16} {:>5} inputs, {bytes} bytes; {} before",
            target.name,
            new.len(),
            old.len()
        );
    }
    Ok(true)
}

fn files(directory: &Path) -> io::Result<Vec<(PathBuf, u64)>> {
    let entries = fs::read_dir(directory)?;
    entries
        .map(|entry| {
            let entry = entry?;
            Ok((entry.path(), entry.metadata()?.len()))
        })
        .collect()
}

/// Runs one input; false when it fails.
pub fn once(targets: &[Target], built: &Built, input: &Path) -> io::Result<bool> {
    for target in targets {
        if !target.command(built).arg(input).status()?.success() {
            return Ok(false);
        }
    }
    Ok(true)
}

#[cfg(test)]
mod tests {
    use super::{Lines, Tally};

    /// Lines as libFuzzer of LLVM 20 and the standard library print them.
    #[test]
    fn lines_of_a_run() {
        let mut tally = Tally::default();
        let mut lines = Lines::default();
        for line in [
            "#2\tINITED cov: 43 ft: 44 corp: 1/1b exec/s: 0 rss: 33Mb",
            "#627\tNEW    cov: 49 ft: 52 corp: 5/25b lim: 8 exec/s: 0 rss: 38Mb L: 8/8 MS: 2 EraseBytes-",
            "thread '<unnamed>' (7) panicked at isa/src/parse.rs:7:9:",
            "attempt to add with overflow",
            "==7== ERROR: libFuzzer: deadly signal",
            "artifact_prefix='x-'; Test unit written to x-crash-1",
            "stat::number_of_executed_units: 700",
        ] {
            lines.read(line, &mut tally);
        }
        assert_eq!((tally.coverage, tally.features, tally.inputs), (49, 52, 5));
        assert_eq!(lines.executions, 700);
        assert_eq!(lines.kept.as_deref(), Some("x-crash-1"));
        assert_eq!(
            lines.what,
            "isa/src/parse.rs:7:9: attempt to add with overflow"
        );
    }

    #[test]
    fn an_error_without_a_panic() {
        let mut lines = Lines::default();
        lines.read(
            "==7== ERROR: libFuzzer: timeout after 11 seconds",
            &mut Tally::default(),
        );
        assert_eq!(lines.what, "libFuzzer: timeout after 11 seconds");
    }
}
