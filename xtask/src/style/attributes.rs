//! Lint exceptions give their reason; no test is switched off.

use crate::finding::Finding;
use crate::source::{Kind, RustFile, Token};

/// Reports exceptions without a reason and ignored tests.
pub fn check(file: &RustFile) -> Vec<Finding> {
    let mut findings = Vec::new();
    for i in 0..file.tokens.len() {
        if !file.is_punct(i, '#') {
            continue;
        }
        let open = if file.is_punct(i + 1, '!') {
            i + 2
        } else {
            i + 1
        };
        if !file.is_open(open, '[') {
            continue;
        }
        let line = file.tokens[i].line;
        let body = body(&file.tokens[open + 1..]);
        let has = |name: &str| {
            body.iter()
                .any(|t| matches!(&t.kind, Kind::Ident(n) if n == name))
        };
        let exception = ["allow", "expect"]
            .iter()
            .find(|name| file.is_ident(open + 1, name));
        if let Some(name) = exception
            && !has("reason")
        {
            let what = format!("`#[{name}]` without a reason");
            findings.push(Finding::new(&file.path, line, what));
        }
        if file.is_ident(open + 1, "ignore") {
            findings.push(Finding::new(&file.path, line, "ignored test"));
        }
    }
    findings
}

/// Tokens up to the bracket that closes the attribute.
fn body(tokens: &[Token]) -> &[Token] {
    let mut depth = 1;
    for (i, token) in tokens.iter().enumerate() {
        match token.kind {
            Kind::Open(_) => depth += 1,
            Kind::Close(_) => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return &tokens[..i];
        }
    }
    tokens
}

#[cfg(test)]
mod tests {
    #![allow(clippy::expect_used, reason = "tests")]

    use super::*;

    fn findings(text: &str) -> Vec<String> {
        check(&RustFile::parse("a/tests/b.rs", text).expect("lexes"))
            .iter()
            .map(ToString::to_string)
            .collect()
    }

    #[test]
    fn exceptions() {
        assert_eq!(
            findings("#[allow(dead_code)]\nfn a() {}"),
            ["a/tests/b.rs:1: `#[allow]` without a reason"]
        );
        assert_eq!(findings("#![expect(x)]\nfn reason() {}").len(), 1);
        assert!(findings("#[expect(x, reason = \"y\")]\nfn a() {}").is_empty());
    }

    #[test]
    fn ignored() {
        assert_eq!(
            findings("#[test]\n#[ignore = \"slow\"]\nfn a() {}").len(),
            1
        );
        assert!(findings("fn ignore() {}").is_empty());
    }
}
