//! Source files that no other file declares as a module: nobody compiles them.

use std::collections::{HashMap, HashSet};

use crate::finding::Finding;
use crate::source::{Kind, RustFile};

/// Files below a crate's `src` without a `mod` of their name in the file above them.
pub fn check(files: &[RustFile]) -> Vec<Finding> {
    let declared: HashMap<&str, HashSet<&str>> = files
        .iter()
        .map(|file| (file.path.as_str(), modules(file)))
        .collect();
    let is_declared = |file: &RustFile| {
        let Some((folder, name)) = file.path.rsplit_once('/') else {
            return true;
        };
        let stem = name.strip_suffix(".rs").unwrap_or(name);
        // A module within a file has its files in a folder that has no file of its own: the next one above has it.
        let mut above = Some(folder);
        while let Some(folder) = above {
            let parents = [".rs", "/lib.rs", "/main.rs"].map(|end| format!("{folder}{end}"));
            let mut known = parents
                .iter()
                .filter_map(|path| declared.get(path.as_str()))
                .peekable();
            if known.peek().is_some() {
                return known.any(|modules| modules.contains(stem));
            }
            above = folder.rsplit_once('/').map(|(above, _)| above);
        }
        true
    };
    let roots = ["lib.rs", "main.rs"].map(|root| format!("/src/{root}"));
    files
        .iter()
        .filter(|file| file.path.contains("/src/") && !file.path.contains("/src/bin/"))
        .filter(|file| !roots.iter().any(|root| file.path.ends_with(root)))
        .filter(|file| !is_declared(file))
        .map(|file| Finding::new(&file.path, 1, "no file declares this module"))
        .collect()
}

/// Names behind `mod`.
fn modules(file: &RustFile) -> HashSet<&str> {
    let pairs = file.tokens.windows(2);
    pairs
        .filter_map(|pair| match (&pair[0].kind, &pair[1].kind) {
            (Kind::Ident(word), Kind::Ident(name)) if word == "mod" => Some(name.as_str()),
            _ => None,
        })
        .collect()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::expect_used, reason = "tests")]

    use super::*;

    #[test]
    fn every_file_has_a_parent() {
        let files = [
            (
                "a/src/lib.rs",
                "pub mod one;\nmod r#gen;\nmod inner { mod deep; }",
            ),
            ("a/src/one.rs", "#[cfg(test)]\nmod tests;"),
            ("a/src/one/tests.rs", ""),
            ("a/src/one/two.rs", ""),
            ("a/src/gen.rs", ""),
            ("a/src/inner/deep.rs", ""),
            ("a/src/three.rs", ""),
            ("a/tests/main.rs", ""),
        ];
        let files = files.map(|(path, text)| RustFile::parse(path, text).expect("lexes"));
        let found: Vec<_> = check(&files).into_iter().map(|f| f.to_string()).collect();
        assert_eq!(
            found,
            [
                "a/src/one/two.rs:1: no file declares this module",
                "a/src/three.rs:1: no file declares this module",
            ]
        );
    }
}
