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

#[test]
fn manifests_lists_and_blocks_of_help_are_read_too() {
    let manifest = "[package]\n[features]\nironlake = []\n# As GM965 has it.\n";
    assert_eq!(findings("cli/Cargo.toml", manifest), [3]);
    assert_eq!(findings("Cargo.toml", manifest), [3]);
    for path in ["cli/data/devices.txt", "node/assets/a.json"] {
        assert_eq!(findings(path, "a\ngm45\n"), [2], "{path}");
    }
    for path in [
        "LICENSE-MIT",
        "Cargo.lock",
        "examples/a.asm",
        "node/README.md",
    ] {
        assert_eq!(findings(path, "a\ngm45\n"), NO_LINE, "{path}");
    }
    let item = "#[derive(clap::Args)]\nstruct A {\n";
    for (help, lines) in [
        ("/** Needs ironlake. */\n", vec![1]),
        ("/**\n * Needs\n * ironlake.\n */\n", vec![3]),
        ("#[doc = \"Needs ironlake.\"]\n", vec![1]),
        ("/* Needs ironlake. */\n", vec![]),
    ] {
        let above = format!("{help}{item}    a: u8,\n}}\n");
        assert_eq!(findings("cli/src/planted.rs", &above), lines, "{help}");
        let inside = format!("{item}{help}    a: u8,\n}}\n");
        let lines: Vec<usize> = lines.iter().map(|line| line + 2).collect();
        assert_eq!(findings("cli/src/planted.rs", &inside), lines, "{help}");
    }
}
