//! The corpus of `tests/filetests`: input and expectation in one text file.
//!
//! The format is described in CONTRIBUTING.md. `BLESS=1` rewrites expectations, but never those of
//! a file whose oracle is external.

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

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::{fmt, fs};

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

/// The corpus of this repository.
pub fn corpus() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("filetests")
}

/// Whether the environment asks for expectations to be rewritten.
pub fn blessing() -> bool {
    std::env::var_os("BLESS").is_some_and(|v| v == "1")
}

/// A case of a corpus, ready to run; or what keeps a file from being read.
pub struct Test {
    /// `KIND/FILE/CASE`; `KIND/FILE` of a file that cannot be read.
    pub name: String,
    kind: &'static dyn Kind,
    path: PathBuf,
    case: Result<(Arc<File>, usize), String>,
}

/// Every case of a kind below a corpus; a folder without files is a test that fails.
pub fn tests(root: &Path, kind: &'static dyn Kind) -> Vec<Test> {
    let folder = root.join(kind.name());
    let test = |name: String, path: &Path, case| Test {
        name,
        kind,
        path: path.to_owned(),
        case,
    };
    let mut tests = Vec::new();
    for path in files(&folder) {
        let stem = path.file_stem().unwrap_or_default().to_string_lossy();
        let name = format!("{}/{stem}", kind.name());
        let shown = shown(&path);
        let file = fs::read_to_string(&path)
            .map_err(|error| format!("{shown}: {error}"))
            .and_then(|text| File::parse(&text, kind).map_err(|p| format!("{shown}:{p}")));
        match file {
            Ok(file) => {
                let file = Arc::new(file);
                tests.extend(file.cases.iter().enumerate().map(|(index, case)| {
                    let name = format!("{name}/{}", case.name);
                    test(name, &path, Ok((Arc::clone(&file), index)))
                }));
            }
            Err(problem) => tests.push(test(name, &path, Err(problem))),
        }
    }
    if tests.is_empty() {
        let problem = format!("{}: no *.test files here", folder.display());
        tests.push(test(kind.name().to_owned(), &folder, Err(problem)));
    }
    tests
}

impl Test {
    /// Runs the case; what is wrong, with file, line and difference. `bless` writes what differs into the file instead, unless
    /// its expectations come from outside.
    pub fn run(&self, bless: bool) -> Result<(), String> {
        let (file, index) = self.case.as_ref().map_err(String::clone)?;
        let case = &file.cases[*index];
        let shown = shown(&self.path);
        let actual = self
            .kind
            .run(file, case)
            .map_err(|problem| format!("{shown}:{problem} (case {})", case.name))?;
        if same(case, &actual) {
            return Ok(());
        }
        let note = match (file.external(), bless) {
            (false, true) => return self.bless(case, &actual),
            (false, false) => "if the new text is right: BLESS=1 rewrites the file".to_owned(),
            (true, bless) => format!(
                "{shown}: {} oracle is {}; BLESS=1 leaves it alone",
                if bless { "not rewritten: its" } else { "its" },
                file.oracle.text
            ),
        };
        Err(diff::unified(&shown, case, &actual) + &note)
    }

    /// Writes a new expectation section; other cases of the file may have been written since it was read.
    fn bless(&self, case: &Case, actual: &[String]) -> Result<(), String> {
        static WRITING: Mutex<()> = Mutex::new(());
        let _one_at_a_time = WRITING.lock().unwrap();
        let shown = shown(&self.path);
        let failed = |error: &dyn fmt::Display| format!("{shown}: {error}");
        let text = fs::read_to_string(&self.path).map_err(|e| failed(&e))?;
        let file = File::parse(&text, self.kind).map_err(|e| failed(&e))?;
        let same = |c: &&Case| c.name == case.name;
        let case = file.cases.iter().find(same).ok_or(failed(&"changed"))?;
        fs::write(&self.path, bless::rewrite(&file, case, actual)).map_err(|e| failed(&e))?;
        println!("{}: rewritten", self.name);
        Ok(())
    }
}

/// `KIND/FILE.test`.
fn shown(path: &Path) -> String {
    let parts: Vec<_> = path.iter().rev().take(2).collect();
    let path: PathBuf = parts.into_iter().rev().collect();
    path.display().to_string()
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

/// Whether the section holds, white space aside.
fn same(case: &Case, actual: &[String]) -> bool {
    case.expect.len() == actual.len()
        && case
            .expect
            .iter()
            .zip(actual)
            .all(|(line, text)| value::squeeze(&line.text) == value::squeeze(text))
}
