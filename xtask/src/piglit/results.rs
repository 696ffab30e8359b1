//! What piglit says of its tests: outcomes, and the files that hold them.
//! The format is that of piglit's own `results.json`, version 10.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;
use std::{fs, io};

use serde::Deserialize;

/// How a test ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    Pass,
    Warn,
    Fail,
    Crash,
    Timeout,
    Skip,
    /// Not run, or not to its end.
    Incomplete,
}

/// All of them: name in piglit's files, letter in ours.
const KINDS: [(Kind, &str, char); 7] = [
    (Kind::Pass, "pass", 'p'),
    (Kind::Warn, "warn", 'w'),
    (Kind::Fail, "fail", 'f'),
    (Kind::Crash, "crash", 'c'),
    (Kind::Timeout, "timeout", 't'),
    (Kind::Skip, "skip", 's'),
    (Kind::Incomplete, "incomplete", '-'),
];

impl Kind {
    /// From piglit's word for it.
    pub fn from_word(word: &str) -> Kind {
        let word = word.strip_prefix("dmesg-").unwrap_or(word);
        let kind = KINDS.iter().find(|kind| kind.1 == word);
        kind.map_or(Kind::Incomplete, |kind| kind.0)
    }

    /// From the letter.
    pub fn from_letter(letter: char) -> Option<Kind> {
        KINDS.iter().find(|kind| kind.2 == letter).map(|k| k.0)
    }

    /// Piglit's word.
    pub fn word(self) -> &'static str {
        KINDS[self as usize].1
    }

    /// One letter.
    pub fn letter(self) -> char {
        KINDS[self as usize].2
    }
}

/// One test's end.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Outcome {
    pub kind: Kind,
    /// How long it ran; 0 where that is not known.
    pub seconds: f64,
}

/// Outcomes by the tests' names.
pub type Outcomes = BTreeMap<String, Outcome>;

#[derive(Deserialize)]
struct RunFile {
    tests: BTreeMap<String, TestFile>,
}

#[derive(Deserialize)]
struct TestFile {
    result: String,
    time: Option<TimeFile>,
}

#[derive(Deserialize)]
struct TimeFile {
    start: f64,
    end: f64,
}

impl From<TestFile> for Outcome {
    fn from(test: TestFile) -> Self {
        Outcome {
            kind: Kind::from_word(&test.result),
            seconds: test.time.map_or(0.0, |time| time.end - time.start),
        }
    }
}

/// Reads the file of a single test, which a running piglit leaves behind.
pub fn read_test(path: &Path) -> Option<(String, Outcome)> {
    let file = fs::read(path).ok()?;
    let tests: BTreeMap<String, TestFile> = serde_json::from_slice(&file).ok()?;
    let (name, test) = tests.into_iter().next()?;
    Some((name, test.into()))
}

/// Adds what is complete in a results directory of piglit, be its run finished or not.
pub fn read_run(directory: &Path, into: &mut Outcomes) -> io::Result<()> {
    let whole = directory.join("results.json");
    let packed = directory.join("results.json.bz2");
    let text = if whole.exists() {
        fs::read(whole)?
    } else if packed.exists() {
        unpack(&packed)?
    } else {
        read_parts(&directory.join("tests"), into)?;
        return Ok(());
    };
    let run: RunFile = serde_json::from_slice(&text).map_err(io::Error::other)?;
    add(into, run.tests.into_iter().map(|(n, t)| (n, t.into())));
    Ok(())
}

/// The files of single tests.
fn read_parts(directory: &Path, into: &mut Outcomes) -> io::Result<()> {
    if directory.exists() {
        for entry in fs::read_dir(directory)? {
            add(into, read_test(&entry?.path()));
        }
    }
    Ok(())
}

fn add(into: &mut Outcomes, tests: impl IntoIterator<Item = (String, Outcome)>) {
    let done = |test: &(String, Outcome)| test.1.kind != Kind::Incomplete;
    into.extend(tests.into_iter().filter(done));
}

/// Python is there wherever piglit is.
fn unpack(path: &Path) -> io::Result<Vec<u8>> {
    let program = "import bz2,sys; sys.stdout.buffer.write(bz2.open(sys.argv[1]).read())";
    let output = Command::new("python3")
        .args(["-c", program])
        .arg(path)
        .output()?;
    if !output.status.success() {
        let what = format!("{}: cannot be unpacked", path.display());
        return Err(io::Error::other(what));
    }
    Ok(output.stdout)
}

/// Adds every results directory of piglit at or below `directory`.
pub fn read_all(directory: &Path, into: &mut Outcomes) -> io::Result<()> {
    let holds = |name: &str| directory.join(name).exists();
    if holds("results.json") || holds("results.json.bz2") || holds("metadata.json") {
        return read_run(directory, into);
    }
    let mut below = Vec::new();
    for entry in fs::read_dir(directory)? {
        below.push(entry?.path());
    }
    below.sort();
    for path in below.iter().filter(|path| path.is_dir()) {
        read_all(path, into)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]

    use super::*;

    #[test]
    fn words_and_letters() {
        for (i, (kind, word, letter)) in KINDS.into_iter().enumerate() {
            assert_eq!(kind as usize, i);
            assert_eq!((kind.word(), kind.letter()), (word, letter));
            assert_eq!(Kind::from_word(word), kind);
            assert_eq!(Kind::from_letter(letter), Some(kind));
        }
        assert_eq!(Kind::from_word("dmesg-fail"), Kind::Fail);
        assert_eq!(Kind::from_word("notrun"), Kind::Incomplete);
    }

    #[test]
    fn runs_finished_and_not() {
        // As piglit 2022-01 writes them, shortened.
        let dir = tempfile::tempdir().unwrap();
        let done = r#"{"results_version": 10, "tests": {
            "spec@a": {"__type__": "TestResult", "err": "\udc80", "result": "pass",
                       "time": {"start": 10.5, "end": 12.0, "__type__": "TimeAttribute"}},
            "spec@b": {"result": "incomplete", "time": {"start": 0.0, "end": 0.0}}}}"#;
        fs::create_dir_all(dir.path().join("0/gl")).unwrap();
        fs::write(dir.path().join("0/gl/results.json"), done).unwrap();
        let running = dir.path().join("1/gl/tests");
        fs::create_dir_all(&running).unwrap();
        fs::write(dir.path().join("1/gl/metadata.json"), "{}").unwrap();
        fs::write(running.join("0.json"), r#"{"spec@b": {"result": "crash"}}"#).unwrap();
        fs::write(running.join("1.json"), r#"{"spec@c": {"result":"#).unwrap();
        let mut outcomes = Outcomes::new();
        read_all(dir.path(), &mut outcomes).unwrap();
        let found: Vec<_> = outcomes.iter().map(|o| (o.0.as_str(), *o.1)).collect();
        let outcome = |kind, seconds| Outcome { kind, seconds };
        assert_eq!(
            found,
            [
                ("spec@a", outcome(Kind::Pass, 1.5)),
                ("spec@b", outcome(Kind::Crash, 0.0))
            ]
        );
    }
}
