//! What llvmpipe makes of the same tests: run under Xvfb, or kept in a file.
//! The file has one letter for each test and is good for exactly the tests it was made of.

use std::fmt::Write;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::{fs, io};

use super::names::{self, Profile};
use super::results::{Kind, Outcome, Outcomes};
use super::session::{Done, Session};
use crate::node;

/// The kept results.
pub const FILE: &str = "tests/conformance/piglit-llvmpipe.baseline";
/// Seconds for one test: a machine with other work must not make llvmpipe look bad.
const TIMEOUT: u64 = 60;
/// Letters on a line.
const WIDTH: usize = 100;

/// Runs the profiles on llvmpipe; one test is one thread.
pub fn run(profiles: &[Profile], directory: &Path, jobs: usize) -> io::Result<Done> {
    let display = Xvfb::start()?;
    let session = Session {
        directory: directory.to_owned(),
        platform: "glx",
        renderer: "llvmpipe",
        jobs,
        timeout: TIMEOUT,
        stamp: versions(),
    };
    session.run(profiles, &|| {
        let mut command = Command::new("nice");
        command.args(["-n", "19", "sh"]);
        node::software(&mut command, "llvmpipe");
        command.env("LP_NUM_THREADS", "0");
        command.env("DISPLAY", format!(":{}", display.number));
        command
    })
}

/// An X server without a screen, for as long as this lives.
struct Xvfb {
    server: Child,
    number: String,
}

impl Xvfb {
    fn start() -> io::Result<Xvfb> {
        let mut server = Command::new("Xvfb")
            .args(["-displayfd", "1", "-screen", "0", "1280x1024x24"])
            .args(["-nolisten", "tcp", "-noreset"])
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .map_err(|error| io::Error::other(format!("Xvfb: {error}")))?;
        let mut line = String::new();
        if let Some(stdout) = server.stdout.take() {
            BufReader::new(stdout).read_line(&mut line)?;
        }
        let number = line.trim().to_owned();
        let xvfb = Xvfb { server, number };
        if xvfb.number.is_empty() {
            return Err(io::Error::other("Xvfb does not start"));
        }
        Ok(xvfb)
    }
}

impl Drop for Xvfb {
    fn drop(&mut self) {
        // It may be gone already, by the same Ctrl-C.
        let _ = self.server.kill();
        let _ = self.server.wait();
    }
}

/// The installed packages that the results depend on.
pub fn versions() -> String {
    let packages = ["piglit", "libgl1-mesa-dri"];
    let output = Command::new("dpkg-query")
        .args(["--show", "--showformat", "${Package} ${Version}, "])
        .args(packages)
        .output();
    let text = output.map(|output| String::from_utf8_lossy(&output.stdout).into_owned());
    text.unwrap_or_default().trim_end_matches(", ").to_owned()
}

/// The text of the file: every profile's tests in the order of their names.
pub fn pack(profiles: &[Profile], outcomes: &Outcomes, versions: &str) -> String {
    let mut text = format!(
        "# llvmpipe's results of piglit, a letter a test in the order of the names.\n\
         # p pass, w warn, f fail, c crash, t timeout, s skip, - not run.\n\
         # Written by `cargo xtask piglit --run-baseline`.\n\
         versions {versions}\n"
    );
    for Profile { name, tests } in profiles {
        let hash = names::fingerprint(tests.iter().map(String::as_str));
        // Writing to a string cannot fail.
        let _ = writeln!(text, "profile {name} {} {hash:016x}", tests.len());
        for line in tests.chunks(WIDTH) {
            let kind = |test| outcomes.get(test).map_or(Kind::Incomplete, |o| o.kind);
            text.extend(line.iter().map(|test| kind(test).letter()));
            text.push('\n');
        }
    }
    text
}

/// The outcomes that the text holds; what differs from the installed piglit is an error.
pub fn unpack(text: &str, profiles: &[Profile]) -> Result<Outcomes, String> {
    let mut outcomes = Outcomes::new();
    let lines: Vec<&str> = text.lines().collect();
    for Profile { name, tests } in profiles {
        let hash = names::fingerprint(tests.iter().map(String::as_str));
        let head = format!("profile {name} {} {hash:016x}", tests.len());
        let at = lines.iter().position(|line| **line == *head);
        let at = at.ok_or_else(|| format!("not of the installed piglit's tests: {head}"))?;
        let letters = lines.iter().skip(at + 1).take(tests.len().div_ceil(WIDTH));
        let letters: String = letters.copied().collect();
        if letters.len() != tests.len() {
            return Err(format!("{name}: {} letters", letters.len()));
        }
        for (test, letter) in tests.iter().zip(letters.chars()) {
            let kind = Kind::from_letter(letter).ok_or_else(|| format!("letter {letter:?}"))?;
            let seconds = 0.0;
            if kind != Kind::Incomplete {
                outcomes.insert(test.clone(), Outcome { kind, seconds });
            }
        }
    }
    Ok(outcomes)
}

/// Reads the kept results; none where there is no file. `all` are all tests of the profiles.
pub fn kept(root: &Path, all: &[Profile]) -> io::Result<Outcomes> {
    let Ok(text) = fs::read_to_string(root.join(FILE)) else {
        return Ok(Outcomes::new());
    };
    unpack(&text, all).map_err(|error| {
        let what = format!("{FILE}: {error}; --run-baseline makes it anew");
        io::Error::other(what)
    })
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]

    use super::*;

    #[test]
    fn packed_and_unpacked() {
        let tests: Vec<String> = (0..250).map(|i| format!("spec@{i:03}")).collect();
        let name = "quick_gl";
        let kinds = [Kind::Pass, Kind::Incomplete, Kind::Skip, Kind::Crash];
        let outcomes: Outcomes = tests
            .iter()
            .zip(kinds.into_iter().cycle())
            .filter(|test| test.1 != Kind::Incomplete)
            .map(|(test, kind)| (test.clone(), Outcome { kind, seconds: 0.0 }))
            .collect();
        let profiles = [Profile { name, tests }];
        let text = pack(&profiles, &outcomes, "piglit 1");
        assert_eq!(text.lines().count(), 4 + 1 + 3);
        assert!(text.contains("\np-scp-scp-sc"));
        assert_eq!(unpack(&text, &profiles), Ok(outcomes));

        let mut other = profiles.clone();
        other[0].tests.pop();
        assert!(unpack(&text, &other).unwrap_err().contains("installed"));
        let short = text.trim_end().strip_suffix('-').unwrap();
        assert!(unpack(short, &profiles).is_err());
    }
}
