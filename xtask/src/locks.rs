//! Check that each Cargo.lock of the tree is what its Cargo.toml asks for.
//! Cargo answers that itself; here its answer becomes a finding.

use std::io;
use std::path::Path;

use crate::finding::Finding;
use crate::node;
use crate::workspace::Workspace;

/// The name of cargo's lock files.
const LOCK: &str = "Cargo.lock";

/// Asks cargo about each lock file that git knows; the first line of what it answers becomes the finding.
pub fn check(root: &Path, workspace: &Workspace) -> io::Result<Vec<Finding>> {
    let mut findings = Vec::new();
    for folder in folders(workspace) {
        let output = node::cargo(&root.join(folder))
            .args(["metadata", "--locked", "--format-version", "1"])
            .output()?;
        if !output.status.success() {
            let said = String::from_utf8_lossy(&output.stderr);
            let error = said.lines().find(|line| line.starts_with("error"));
            let what = error.unwrap_or("cargo metadata --locked fails");
            findings.push(Finding::new(&format!("{folder}{LOCK}"), 1, what));
        }
    }
    Ok(findings)
}

/// The folders with a lock file, each empty or with a slash behind it.
fn folders(workspace: &Workspace) -> impl Iterator<Item = &str> {
    let paths = workspace.text.iter().map(|file| file.path.as_str());
    paths
        .filter_map(|path| path.strip_suffix(LOCK))
        .filter(|folder| folder.is_empty() || folder.ends_with('/'))
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn every_lock_file_has_its_folder() {
        let files = [
            ("Cargo.lock", ""),
            ("a/b/Cargo.lock", ""),
            ("a/NotCargo.lock", ""),
            ("a/Cargo.lock.txt", ""),
        ];
        let workspace = Workspace::of(&files);
        assert_eq!(folders(&workspace).collect::<Vec<_>>(), ["", "a/b/"]);
    }

    #[test]
    fn a_lock_file_that_lacks_a_package_is_found() -> io::Result<()> {
        let root = tempfile::tempdir()?;
        for (package, rest) in [("one", "two = { path = \"../two\" }\n"), ("two", "")] {
            let folder = root.path().join(package);
            fs::create_dir_all(folder.join("src"))?;
            fs::write(folder.join("src/lib.rs"), "")?;
            let head = format!("[package]\nname = \"{package}\"\nversion = \"0.1.0\"\n");
            let manifest = format!("{head}[workspace]\n[dependencies]\n{rest}");
            fs::write(folder.join("Cargo.toml"), manifest)?;
        }
        let workspace = Workspace::of(&[("one/Cargo.lock", ""), ("two/Cargo.lock", "")]);
        let one = "version = 4\n[[package]]\nname = \"one\"\nversion = \"0.1.0\"\n";
        let two = "version = 4\n[[package]]\nname = \"two\"\nversion = \"0.1.0\"\n";
        fs::write(root.path().join("one/Cargo.lock"), one)?;
        fs::write(root.path().join("two/Cargo.lock"), two)?;
        let findings = check(root.path(), &workspace)?;
        let paths: Vec<&str> = findings.iter().map(|f| f.path.as_str()).collect();
        assert_eq!(paths, ["one/Cargo.lock"]);
        assert!(findings[0].what.contains("lock file"), "{findings:?}");
        Ok(())
    }
}
