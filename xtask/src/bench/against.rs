//! The model's benchmarks in turn with those of another commit.
//!
//! `cargo xtask bench --against REV`. Both are built first, then they run in turn, the order changing from round to round: what the
//! machine does meanwhile meets both. A ratio below one says that the present tree takes less time.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

use crate::node;
use crate::progress::Progress;

/// Times that both run; each round gives a ratio.
const ROUNDS: usize = 9;
/// Frames of a scene in a round.
const FRAMES: &str = "15";

/// A benchmark and how its lines are read.
struct Bench {
    package: &'static str,
    name: &'static str,
    row: fn(&str) -> Option<(String, f64)>,
}

const BENCHES: [Bench; 4] = [
    Bench {
        package: "crestline-tests",
        name: "frames",
        row: frame,
    },
    Bench {
        package: "crestline-tests",
        name: "media",
        row: media,
    },
    Bench {
        package: "crestline-tests",
        name: "batches",
        row: batches,
    },
    Bench {
        package: "crestline-eu",
        name: "alu",
        row: loops,
    },
];

/// Compares the tree with `revision`; false when there is nothing to compare.
pub fn run(root: &Path, revision: &str) -> io::Result<bool> {
    let target = node::target(root);
    let before = target.join("bench-against");
    let _ = git(root, &["worktree", "remove", "--force"], &before);
    let added = Command::new("git")
        .args(["worktree", "add", "--quiet", "--detach"])
        .args([before.as_os_str(), OsStr::new(revision)])
        .current_dir(root)
        .status()?;
    if !added.success() {
        return Ok(false);
    }
    let compared = compare(root, &before, &target);
    git(root, &["worktree", "remove", "--force"], &before)?;
    compared
}

fn git(root: &Path, command: &[&str], path: &Path) -> io::Result<bool> {
    let output = Command::new("git")
        .args(command)
        .arg(path)
        .current_dir(root)
        .output()?;
    Ok(output.status.success())
}

fn compare(root: &Path, before: &Path, target: &Path) -> io::Result<bool> {
    println!("building both");
    let now = executables(root, target)?;
    let then = executables(before, &target.join("bench-against-target"))?;
    println!(
        "{:32} {:>8} {:>8} {:>8} {:>10} {:>10}",
        "time, now / before", "median", "least", "most", "now", "before"
    );
    let mut found = false;
    let mut progress = Progress::new((BENCHES.len() * ROUNDS * 2) as u64);
    for bench in &BENCHES {
        let (Some(now), Some(then)) = (now.get(bench.name), then.get(bench.name)) else {
            progress.print(&format!("{}: not in both", bench.name));
            continue;
        };
        let mut pairs: BTreeMap<String, Vec<(f64, f64)>> = BTreeMap::new();
        for round in 0..ROUNDS {
            progress.next(format!("{}, round {} of {ROUNDS}", bench.name, round + 1));
            let mut side = |program: &Path, tree: &Path| {
                let times = measure(bench, program, tree);
                progress.step();
                times
            };
            let (new, old) = if round % 2 == 0 {
                let new = side(now, root)?;
                (new, side(then, before)?)
            } else {
                let old = side(then, before)?;
                (side(now, root)?, old)
            };
            for (row, time) in new {
                if let Some(old) = old.get(&row) {
                    pairs.entry(row).or_default().push((time, *old));
                }
            }
        }
        for (row, pairs) in pairs {
            found = true;
            progress.print(&line(&row, &pairs));
        }
    }
    progress.end();
    Ok(found)
}

/// The ratios of a row, and the median of what each side took.
fn line(row: &str, pairs: &[(f64, f64)]) -> String {
    let of = |value: fn(&(f64, f64)) -> f64| {
        let mut all: Vec<f64> = pairs.iter().map(value).collect();
        all.sort_by(f64::total_cmp);
        all
    };
    let middle = |sorted: &[f64]| sorted.get(sorted.len() / 2).copied().unwrap_or(f64::NAN);
    let ratios = of(|(now, before)| now / before);
    let end = |value: Option<&f64>| value.copied().unwrap_or(f64::NAN);
    format!(
        "{row:32} {:8.3} {:8.3} {:8.3} {:10.3} {:10.3}",
        middle(&ratios),
        end(ratios.first()),
        end(ratios.last()),
        middle(&of(|pair| pair.0)),
        middle(&of(|pair| pair.1)),
    )
}

/// Builds the benchmarks of a tree: where each executable is, by its name.
fn executables(tree: &Path, target: &Path) -> io::Result<BTreeMap<String, PathBuf>> {
    let output = node::cargo(tree)
        .args(["bench", "--no-run", "--locked", "--message-format=json"])
        .args(["--package", "crestline-tests", "--package", "crestline-eu"])
        .env("CARGO_TARGET_DIR", target)
        .stderr(std::process::Stdio::inherit())
        .output()?;
    if !output.status.success() {
        let what = format!("{}: the benchmarks do not build", tree.display());
        return Err(io::Error::other(what));
    }
    let text = String::from_utf8_lossy(&output.stdout);
    let executable = |line: &str| {
        let value: Value = serde_json::from_str(line).ok()?;
        let name = value.get("target")?.get("name")?.as_str()?.to_owned();
        Some((name, PathBuf::from(value.get("executable")?.as_str()?)))
    };
    Ok(text.lines().filter_map(executable).collect())
}

/// Runs a benchmark once: a time by row, in whatever unit.
fn measure(bench: &Bench, program: &Path, tree: &Path) -> io::Result<BTreeMap<String, f64>> {
    let package = match bench.package {
        "crestline-eu" => "mmio-mock/eu",
        _ => "tests",
    };
    let output = Command::new(program)
        .current_dir(tree.join(package))
        .env("CRESTLINE_FRAMES", FRAMES)
        .env_remove("CRESTLINE_GLSCENES")
        .output()?;
    if !output.status.success() {
        return Err(io::Error::other(format!(
            "{} has failed",
            program.display()
        )));
    }
    let text = String::from_utf8_lossy(&output.stdout);
    Ok(text.lines().filter_map(bench.row).collect())
}

/// `scene  median  best  rate`: the median.
fn frame(line: &str) -> Option<(String, f64)> {
    let mut words = line.split_whitespace();
    let (name, median) = (words.next()?, words.next()?);
    Some((name.to_owned(), median.parse().ok()?))
}

/// `kernel  n threads  n instructions  time ms ...`.
fn media(line: &str) -> Option<(String, f64)> {
    let (name, rest) = line.split_at_checked(24)?;
    let before = rest.split_once(" ms")?.0;
    let time = before.split_whitespace().next_back()?.parse().ok()?;
    Some((name.trim().to_owned(), time))
}

/// `n queued: rate batches/s ...`: microseconds of a batch.
fn batches(line: &str) -> Option<(String, f64)> {
    let (name, rest) = line.split_once(':')?;
    let rate: f64 = rest.split_once("batches/s")?.0.trim().parse().ok()?;
    Some((name.trim().to_owned(), 1e6 / rate))
}

/// `name rate M SIMD8/s`: nanoseconds of an instruction.
fn loops(line: &str) -> Option<(String, f64)> {
    let (before, _) = line.split_once(" M SIMD8/s")?;
    let (name, rate) = before.trim_end().rsplit_once(' ')?;
    let rate: f64 = rate.parse().ok()?;
    Some((name.trim().to_owned(), 1e3 / rate))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_the_benchmarks_are_read() {
        let row = frame("g_gears                  17.038     16.229         29.0");
        assert_eq!(row, Some(("g_gears".to_owned(), 17.038)));
        assert_eq!(frame("ms per frame          crestline       best"), None);
        let text =
            "3x3 blur                16200 threads   1506600 instructions   108.0 ms    14.0 M/s";
        assert_eq!(media(text), Some(("3x3 blur".to_owned(), 108.0)));
        let row = batches("  8 queued:   200000 batches/s, 15269 slices, 0 naps");
        assert_eq!(row, Some(("8 queued".to_owned(), 5.0)));
        let row = loops("empty while loop, simd8          50.0 M SIMD8/s");
        assert_eq!(row, Some(("empty while loop, simd8".to_owned(), 20.0)));
        assert_eq!(loops("no figures"), None);
    }

    #[test]
    fn the_ratio_is_the_one_in_the_middle() {
        let text = line("x", &[(1.0, 2.0), (3.0, 1.0), (2.0, 2.0)]);
        let words: Vec<&str> = text.split_whitespace().collect();
        assert_eq!(words, ["x", "1.000", "0.500", "3.000", "2.000", "2.000"]);
    }
}
