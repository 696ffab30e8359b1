//! What a crate's root declares: no unsafe code, no std below the model.

use crate::finding::Finding;
use crate::source::{Kind, RustFile};

/// Crates that run inside a kernel.
const NO_STD: [&str; 5] = ["kernel", "regs", "isa", "ringbuf", "driver"];

/// Crates where single files may switch unsafe code on: a mapped BAR, shared memory, a guest's memory, libc, memory that a real
/// device reaches and pages of it that go away.
const EDGES: [&str; 6] = ["kernel", "drm-shim", "node", "vfio", "pci", "mmio-mock/jit"];

/// Checks the attributes of `lib.rs` and `main.rs`.
pub fn check(file: &RustFile) -> Vec<Finding> {
    let mut findings = Vec::new();
    let root = file
        .path
        .strip_suffix("/src/lib.rs")
        .or_else(|| file.path.strip_suffix("/src/main.rs"));
    let Some(root) = root else { return findings };
    let mut check = |name: &str, present: bool| {
        if !present {
            findings.push(Finding::new(&file.path, 1, format!("no `#![{name}]`")));
        }
    };
    check(
        "forbid(unsafe_code)",
        declares(file, &["forbid", "unsafe_code"])
            || (EDGES.contains(&root) && declares(file, &["deny", "unsafe_code"])),
    );
    if NO_STD.contains(&root) {
        check("no_std", declares(file, &["no_std"]));
    }
    findings
}

/// Whether `#![..]` with these identifiers stands in the file.
fn declares(file: &RustFile, words: &[&str]) -> bool {
    (0..file.tokens.len()).any(|i| {
        if !(file.is_punct(i, '#') && file.is_punct(i + 1, '!') && file.is_open(i + 2, '[')) {
            return false;
        }
        let names: Vec<&str> = file.tokens[i + 3..]
            .iter()
            .filter(|t| !matches!(t.kind, Kind::Open('(')))
            .map_while(|t| match &t.kind {
                Kind::Ident(name) => Some(name.as_str()),
                _ => None,
            })
            .collect();
        names.starts_with(words)
    })
}

#[cfg(test)]
mod tests {
    #![allow(clippy::expect_used, reason = "tests")]

    use super::*;

    fn count(path: &str, text: &str) -> usize {
        check(&RustFile::parse(path, text).expect("lexes")).len()
    }

    #[test]
    fn roots() {
        let both = "//! A.\n#![no_std]\n#![forbid(unsafe_code)]\n";
        assert_eq!(count("isa/src/lib.rs", both), 0);
        assert_eq!(count("isa/src/lib.rs", "#![forbid(unsafe_code)]"), 1);
        assert_eq!(count("isa/src/lib.rs", ""), 2);
        assert_eq!(count("cli/src/main.rs", "#![forbid(unsafe_code)]"), 0);
        assert_eq!(
            count("kernel/src/lib.rs", "#![no_std]\n#![deny(unsafe_code)]"),
            0
        );
        assert_eq!(count("isa/src/decode.rs", ""), 0);
    }
}
