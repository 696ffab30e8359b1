//! Panics outside tests carry `// PANIC:`; unsafe code carries `// SAFETY:`.
//! Indexing and arithmetic are left to review and to random tests.

use crate::finding::Finding;
use crate::source::{Kind, RustFile};

const METHODS: [&str; 4] = ["unwrap", "expect", "unwrap_err", "expect_err"];
const MACROS: [&str; 4] = ["panic", "todo", "unimplemented", "unreachable"];

/// Reports untagged panics and unsafe code.
pub fn check(file: &RustFile) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (i, token) in file.tokens.iter().enumerate() {
        let Kind::Ident(name) = &token.kind else {
            continue;
        };
        let method = i > 0
            && METHODS.contains(&name.as_str())
            && file.is_punct(i - 1, '.')
            && file.is_open(i + 1, '(');
        let macro_call = MACROS.contains(&name.as_str()) && file.is_punct(i + 1, '!');
        if (method || macro_call) && !token.test && !file.has_tag(token.line, "PANIC:") {
            let what = format!("`{name}` without `// PANIC:`");
            findings.push(Finding::new(&file.path, token.line, what));
        }
        let block = name == "unsafe" && (file.is_open(i + 1, '{') || file.is_ident(i + 1, "impl"));
        if block && !file.has_tag(token.line, "SAFETY:") {
            let what = "unsafe code without `// SAFETY:`";
            findings.push(Finding::new(&file.path, token.line, what));
        }
    }
    findings
}

#[cfg(test)]
mod tests {
    #![allow(clippy::expect_used, reason = "tests")]

    use super::*;

    fn lines(text: &str) -> Vec<usize> {
        check(&RustFile::parse("a/src/b.rs", text).expect("lexes"))
            .iter()
            .map(|f| f.line)
            .collect()
    }

    #[test]
    fn untagged_panics() {
        let text = "fn a() {\n    b.unwrap();\n    c.expect(\"d\");\n    panic!();\n    todo!();\n    unreachable!(\"e\");\n    assert!(f.unwrap());\n}";
        assert_eq!(lines(text), [2, 3, 4, 5, 6, 7]);
    }

    #[test]
    fn tagged_or_harmless() {
        let text = "// unwrap() panic!()\nfn expect(a: u8) {\n    // PANIC: b is checked above.\n    b.unwrap();\n    c.unwrap_or(1);\n    self::expect(2);\n    d(\"panic!\");\n}\n#[cfg(test)]\nmod tests { fn e() { f.unwrap() } }";
        assert!(lines(text).is_empty());
    }

    #[test]
    fn unsafe_code() {
        assert_eq!(lines("fn a() {\n    unsafe { b() }\n}"), [2]);
        assert!(lines("fn a() {\n    // SAFETY: c.\n    unsafe { b() }\n}").is_empty());
    }
}
