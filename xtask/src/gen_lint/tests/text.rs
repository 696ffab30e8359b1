//! Names in help texts and in files that are no Rust.

use super::*;

#[test]
fn help_texts_and_files_that_are_no_rust_are_read_too() {
    let of = |line: &str| {
        format!("{line}\n#[derive(Clone, clap::Args)]\nstruct A {{\n    {line}\n    a: u8,\n}}\n")
    };
    assert_eq!(
        findings("cli/src/planted.rs", &of("/// Such as ironlake")),
        [1, 4]
    );
    assert_eq!(
        findings("cli/src/planted.rs", &of("// Such as ironlake")),
        NO_LINE
    );
    let plain = "/// Such as ironlake\nstruct A {\n    /// GM45\n    a: u8,\n}\n";
    assert_eq!(findings("cli/src/planted.rs", plain), NO_LINE);
    for path in [
        "cli/src/report/planted.js",
        "cli/src/planted.html",
        "node/src/planted.css",
        "node/src/a/b.txt",
    ] {
        let text = "a\nif (name == \"Gen 5\") b();\nlet id = 0x2a42;\n// GM45\n";
        assert_eq!(findings(path, text), [2, 3, 4], "{path}");
    }
    for path in [
        "docs/planted.html",
        "tests/tools/a.c",
        "cli/src/a.md",
        "mmio-mock/eu/src/tests/a.txt",
    ] {
        assert_eq!(findings(path, "gm45"), NO_LINE, "{path}");
    }
}
