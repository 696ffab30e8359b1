//! Generations are named only in tables, in their own rooms, in `isa`, in tests.
//! Comments may name a generation: they cite.

use crate::finding::Finding;
use crate::source::{Kind, RustFile};
use crate::workspace::Workspace;

/// Files that name generations because that is what they are about, and tests.
fn is_generation_file(path: &str) -> bool {
    let parts: Vec<&str> = path.split('/').collect();
    let Some((name, folders)) = parts.split_last() else {
        return false;
    };
    matches!(folders.first(), Some(&("isa" | "regs" | "xtask")))
        || folders
            .iter()
            .any(|f| matches!(*f, "gen" | "tables" | "tests"))
        || matches!(*name, "gen.rs" | "tests.rs")
}

/// Whether an identifier or word is `gen` with a number, in any case.
fn names_generation(word: &str) -> bool {
    word.split('_').any(|part| {
        let part = part.to_ascii_lowercase();
        part.strip_prefix("gen")
            .is_some_and(|n| !n.is_empty() && n.bytes().all(|b| b.is_ascii_digit()))
    })
}

/// Reports generation numbers outside their files.
pub fn check(workspace: &Workspace) -> Vec<Finding> {
    let files = workspace.rust.iter();
    files
        .filter(|file| !is_generation_file(&file.path))
        .flat_map(check_file)
        .collect()
}

fn check_file(file: &RustFile) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (i, token) in file.tokens.iter().enumerate() {
        if token.test {
            continue;
        }
        let word = match &token.kind {
            Kind::Ident(name) if names_generation(name) => name.clone(),
            Kind::Ident(name) if name == "Verx10" && is_number(file, i + 2) => name.clone(),
            Kind::Literal(text) if names_generation(text.trim_matches('"')) => text.clone(),
            // Handing the value of a device on is fine; asking for it is not.
            Kind::Ident(name)
                if matches!(name.as_str(), "generation" | "verx10") && asks(file, i) =>
            {
                format!("{name} compared with a number")
            }
            _ => continue,
        };
        let what = format!("generation number outside its files: {word}");
        findings.push(Finding::new(&file.path, token.line, what));
    }
    findings
}

/// Whether a comparison with a number follows, or a `match` stands before.
fn asks(file: &RustFile, i: usize) -> bool {
    if i > 0 && file.is_ident(i - 1, "match") {
        return true;
    }
    let operators = file.tokens[i + 1..]
        .iter()
        .take_while(|t| matches!(t.kind, Kind::Punct('<' | '>' | '=' | '!')))
        .count();
    operators > 0
        && !(operators == 1 && file.is_punct(i + 1, '='))
        && is_number(file, i + 1 + operators)
}

fn is_number(file: &RustFile, i: usize) -> bool {
    matches!(file.tokens.get(i).map(|t| &t.kind),
        Some(Kind::Literal(text)) if text.starts_with(|c: char| c.is_ascii_digit()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn findings(path: &str, text: &str) -> Vec<usize> {
        check(&Workspace::of(&[(path, text)]))
            .iter()
            .map(|f| f.line)
            .collect()
    }

    #[test]
    fn tables_of_a_generation_are_reported() {
        let text = "mod gen40;\nuse regs::gen40::RegId;\nuse regs::gen50::{self, CommandId};\nuse regs::any::RegId;\nfn f() { regs::gen45::lookup(1); gen40::command(2) }";
        assert_eq!(findings("mmio-mock/src/intel/cs.rs", text), [1, 2, 3, 5, 5]);
    }

    #[test]
    fn other_uses_are_reported() {
        let text = "fn f(verx10: u32) { match verx10 {} }\nfn g(generation: Verx10) {\n    if g == Gen4 {}\n    h(GEN40);\n    i(\"gen45\");\n    gen40::command(2);\n    if generation >= 60 {}\n    Verx10(40);\n}";
        assert_eq!(
            findings("mmio-mock/src/intel/td.rs", text),
            [1, 3, 4, 5, 6, 7, 8]
        );
    }

    #[test]
    fn comments_tests_and_other_words_pass() {
        let text = "//! Gen4.\n// genxml gen4\nfn general(gen: u8, generation: Verx10) { x(\"Intel gen4 thing\", Verx10(row.verx10)) }\n#[cfg(test)]\nmod tests { const G: u8 = GEN40; }";
        assert!(findings("mmio-mock/src/intel/td.rs", text).is_empty());
    }

    #[test]
    fn generation_files_pass() {
        for path in [
            "driver/src/intel/gen/gen40.rs",
            "driver/src/intel/gen.rs",
            "ringbuf/src/gen/gen40.rs",
            "isa/src/inst.rs",
            "regs/src/platform.rs",
            "tests/tests/live_media.rs",
            "mmio-mock/src/intel/cs/tests.rs",
        ] {
            assert!(findings(path, "const X: u8 = GEN40;").is_empty(), "{path}");
        }
    }
}
