//! The tracked files of the workspace, read once for all checks.
//! Binary files are left out.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::{fs, io};

use crate::source::RustFile;

/// One text file.
#[derive(Debug)]
pub struct TextFile {
    /// Path below the root, with forward slashes.
    pub path: String,
    /// All of it.
    pub text: String,
}

/// Everything the checks read.
#[derive(Debug, Default)]
pub struct Workspace {
    /// Rust sources with their tokens.
    pub rust: Vec<RustFile>,
    /// All text files, Rust sources among them.
    pub text: Vec<TextFile>,
}

/// The root of the workspace: the parent of this crate.
pub fn root() -> PathBuf {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    here.parent().unwrap_or(here).to_owned()
}

impl Workspace {
    /// Reads what git tracks and what it would track.
    pub fn load(root: &Path) -> io::Result<Workspace> {
        let output = Command::new("git")
            .args(["ls-files", "-z", "--cached", "--others"])
            .arg("--exclude-standard")
            .current_dir(root)
            .output()?;
        if !output.status.success() {
            let message = String::from_utf8_lossy(&output.stderr).into_owned();
            return Err(io::Error::other(format!("git ls-files: {message}")));
        }
        let mut files = Vec::new();
        for path in output.stdout.split(|&byte| byte == 0) {
            let Ok(path) = str::from_utf8(path) else {
                continue;
            };
            // A file that was deleted but not yet staged is listed and cannot be read.
            let Ok(bytes) = fs::read(root.join(path)) else {
                continue;
            };
            if bytes.contains(&0) {
                continue;
            }
            if let Ok(text) = String::from_utf8(bytes) {
                files.push((path.to_owned(), text));
            }
        }
        Workspace::from_files(files)
    }

    /// A workspace of given files.
    pub fn from_files(mut files: Vec<(String, String)>) -> io::Result<Workspace> {
        files.sort();
        files.dedup();
        let mut workspace = Workspace::default();
        for (path, text) in files {
            if Path::new(&path).extension().is_some_and(|e| e == "rs") {
                let file = RustFile::parse(&path, &text)
                    .map_err(|error| io::Error::other(format!("{path}: {error}")))?;
                workspace.rust.push(file);
            }
            workspace.text.push(TextFile { path, text });
        }
        workspace.mark_test_modules();
        Ok(workspace)
    }

    /// Marks the files of modules that are declared for tests only: `#[cfg(test)] mod fuzz;`.
    fn mark_test_modules(&mut self) {
        let declared: Vec<String> = self
            .rust
            .iter()
            .flat_map(|file| {
                let stem = file.path.strip_suffix(".rs").unwrap_or(&file.path);
                let folder = ["/lib", "/main"]
                    .iter()
                    .find_map(|root| stem.strip_suffix(root))
                    .unwrap_or(stem);
                let modules = file.test_modules();
                modules.map(move |module| format!("{folder}/{module}"))
            })
            .collect();
        for file in &mut self.rust {
            let in_tests = declared.iter().any(|module| {
                file.path
                    .strip_prefix(module.as_str())
                    .is_some_and(|rest| rest == ".rs" || rest.starts_with('/'))
            });
            if in_tests {
                file.tokens.iter_mut().for_each(|token| token.test = true);
            }
        }
    }
}

#[cfg(test)]
impl Workspace {
    /// A workspace of literal files.
    pub fn of(files: &[(&str, &str)]) -> Workspace {
        let files = files
            .iter()
            .map(|&(path, text)| (path.to_owned(), text.to_owned()))
            .collect();
        Workspace::from_files(files).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn modules_declared_for_tests_are_test_code() {
        let workspace = Workspace::of(&[
            ("a/src/b.rs", "#[cfg(test)]\nmod fuzz;\nmod c;"),
            ("a/src/b/fuzz.rs", "fn f() {}"),
            ("a/src/b/fuzz/g.rs", "fn f() {}"),
            ("a/src/b/c.rs", "fn f() {}"),
            ("a/src/lib.rs", "#[cfg(test)]\nmod d;\nmod b;"),
            ("a/src/d.rs", "fn f() {}"),
        ]);
        let tests: Vec<&str> = workspace
            .rust
            .iter()
            .filter(|file| file.tokens.iter().all(|token| token.test))
            .map(|file| file.path.as_str())
            .collect();
        assert_eq!(
            tests,
            ["a/src/b/fuzz.rs", "a/src/b/fuzz/g.rs", "a/src/d.rs"]
        );
    }
}
