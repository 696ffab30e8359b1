//! The corpus of `tests/filetests`: input and expectation in one text file.
//!
//! No PRM chapter; the format is described in CONTRIBUTING.md. `BLESS=1` rewrites expectations, but never those of
//! a file whose oracle is external. Not modelled: choosing single files.

mod asm;
mod bench;
mod bless;
mod cs;
mod debug;
mod decode;
mod diff;
mod disasm;
mod draw;
mod encode;
mod eu_run;
mod file;
mod message;
mod regs_kind;
#[cfg(test)]
mod tests;
mod value;

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

pub use file::{Case, File, Line, Problem};

/// What one kind of test does with a case.
pub trait Kind: Sync {
    /// Its name: the folder and the word in the header.
    fn name(&self) -> &'static str;

    /// Options of the header that it knows, besides `test` and `oracle`.
    fn options(&self) -> &'static [&'static str] {
        &[]
    }

    /// Carries the case out and returns the expectation section as it ought to be: a line that holds is
    /// returned as it stands in the file.
    fn run(&self, file: &File, case: &Case) -> Result<Vec<String>, Problem>;
}

/// All kinds.
pub const KINDS: &[&dyn Kind] = &[
    &disasm::Disasm,
    &encode::Encode,
    &asm::Asm,
    &asm::AsmErrors,
    &eu_run::EuRun,
    &cs::Cs,
    &debug::Debug,
    &decode::Decode,
    &regs_kind::Regs,
    &draw::DrawPicture,
    &message::Message,
];

/// What became of the files of one kind.
#[derive(Debug, Default)]
pub struct Report {
    /// Files read.
    pub files: usize,
    /// Cases run.
    pub cases: usize,
    /// One line a file, and what was rewritten.
    pub log: String,
    /// Failures with file, line and difference; empty when all is well.
    pub failures: String,
}

/// The corpus of this repository.
pub fn corpus() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("filetests")
}

/// Whether the environment asks for expectations to be rewritten.
pub fn blessing() -> bool {
    std::env::var_os("BLESS").is_some_and(|v| v == "1")
}

/// Runs every file of a kind below a corpus.
pub fn run(root: &Path, kind: &dyn Kind, bless: bool) -> Report {
    let mut report = Report::default();
    for path in files(&root.join(kind.name())) {
        let shown = path
            .strip_prefix(root)
            .unwrap_or(&path)
            .display()
            .to_string();
        report.files += 1;
        match fs::read_to_string(&path) {
            Ok(text) => one_file(&shown, &path, &text, kind, bless, &mut report),
            Err(error) => _ = writeln!(report.failures, "{shown}: {error}"),
        }
    }
    if report.files == 0 {
        let folder = root.join(kind.name());
        _ = writeln!(
            report.failures,
            "{}: no *.test files here",
            folder.display()
        );
    }
    _ = writeln!(
        report.log,
        "{}: {} files, {} cases",
        kind.name(),
        report.files,
        report.cases
    );
    report
}

/// The folders of a corpus that belong to no kind.
pub fn strangers(root: &Path) -> Vec<String> {
    let Ok(entries) = fs::read_dir(root) else {
        return vec![format!("{}: cannot be read", root.display())];
    };
    let mut names: Vec<String> = entries
        .flatten()
        .map(|e| e.file_name().to_string_lossy().into_owned())
        .filter(|name| !KINDS.iter().any(|k| k.name() == name))
        .collect();
    names.sort();
    names
}

/// Files of a folder by name.
fn files(folder: &Path) -> Vec<PathBuf> {
    let mut paths: Vec<PathBuf> = fs::read_dir(folder)
        .into_iter()
        .flatten()
        .flatten()
        .map(|e| e.path())
        .filter(|p| p.extension().is_some_and(|e| e == "test"))
        .collect();
    paths.sort();
    paths
}

fn one_file(
    shown: &str,
    path: &Path,
    text: &str,
    kind: &dyn Kind,
    bless: bool,
    report: &mut Report,
) {
    let file = match File::parse(text, kind) {
        Ok(file) => file,
        Err(problem) => {
            _ = writeln!(report.failures, "{shown}:{problem}");
            return;
        }
    };
    let mut wrong = Vec::new();
    for (index, case) in file.cases.iter().enumerate() {
        report.cases += 1;
        match kind.run(&file, case) {
            Ok(actual) if same(case, &actual) => {}
            Ok(actual) => wrong.push((index, actual)),
            Err(problem) => {
                _ = writeln!(report.failures, "{shown}:{problem} (case {})", case.name);
            }
        }
    }
    let verdict = if wrong.is_empty() { "ok" } else { "FAILED" };
    if bless && !wrong.is_empty() && !file.external() {
        match fs::write(path, bless::rewrite(&file, &wrong)) {
            Ok(()) => _ = writeln!(report.log, "{shown}: {} cases rewritten", wrong.len()),
            Err(error) => _ = writeln!(report.failures, "{shown}: {error}"),
        }
        return;
    }
    for (index, actual) in &wrong {
        let case = &file.cases[*index];
        report.failures += &diff::unified(shown, case, actual);
        _ = if file.external() {
            let asked = if bless { "not rewritten: its" } else { "its" };
            writeln!(
                report.failures,
                "{shown}: {asked} oracle is {}; BLESS=1 leaves it alone",
                file.oracle.text
            )
        } else {
            writeln!(
                report.failures,
                "if the new text is right: BLESS=1 rewrites the file"
            )
        };
    }
    _ = writeln!(report.log, "{shown}: {} cases {verdict}", file.cases.len());
}

/// Whether the section holds, white space aside.
fn same(case: &Case, actual: &[String]) -> bool {
    case.expect.len() == actual.len()
        && case
            .expect
            .iter()
            .zip(actual)
            .all(|(line, text)| value::squeeze(&line.text) == value::squeeze(text))
}
