//! Tokens, test regions, tags and paths of small files.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "tests")]

use super::*;

fn file(text: &str) -> RustFile {
    RustFile::parse("a/src/b.rs", text).expect("lexes")
}

fn paths(module: &[&str], text: &str) -> Vec<String> {
    let module: Vec<String> = module.iter().map(|&m| m.to_owned()).collect();
    file(text)
        .crate_paths(&module)
        .into_iter()
        .map(|path| path.segments.join("::"))
        .collect()
}

#[test]
fn test_items_are_marked() {
    let f = file(
        "fn a() { x }\n#[cfg(test)]\nmod t { fn b() { y } }\nfn c() { z }\n#[cfg(not(test))]\nfn d() { w }",
    );
    let of = |name: &str| {
        let i = (0..f.tokens.len()).find(|&i| f.is_ident(i, name)).unwrap();
        (f.tokens[i].line, f.tokens[i].test)
    };
    assert_eq!(of("x"), (1, false));
    assert_eq!(of("y"), (3, true));
    assert_eq!(of("z"), (4, false));
    assert_eq!(of("w"), (6, false));
}

#[test]
fn a_declared_test_module_ends_at_its_semicolon() {
    let f = file("#[cfg(test)]\nmod tests;\nfn a() {}");
    let i = (0..f.tokens.len()).find(|&i| f.is_ident(i, "a")).unwrap();
    assert!(!f.tokens[i].test);
}

#[test]
fn test_paths() {
    assert!(is_test_path("isa/tests/formats.rs"));
    assert!(is_test_path("tests/src/scenes.rs"));
    assert!(is_test_path("mmio-mock/eu/benches/alu.rs"));
    assert!(!is_test_path("mmio-mock/src/intel/cc/depth.rs"));
    // Their modules' declarations say whether these are.
    assert!(!is_test_path("mmio-mock/src/intel/cc/depth/tests.rs"));
    assert!(!is_test_path("cli/src/fuzz/mod.rs"));
}

#[test]
fn comments_and_strings_are_no_code() {
    let f = file("/// crate::a::b\n// crate::c::d\nfn e() { f(\"crate::g::h\") }");
    assert!(f.crate_paths(&[]).is_empty());
    assert!(f.tokens.iter().all(|t| t.kind != Kind::Ident("doc".into())));
}

#[test]
fn use_trees_are_resolved() {
    assert_eq!(
        paths(
            &["ff", "vs"],
            "use crate::{a::{self, B}, r#gen::C as D};\nuse super::vf::Fetched;\nuse super::super::td;"
        ),
        ["a", "a::B", "gen::C", "ff::vf::Fetched", "td"]
    );
}

#[test]
fn expression_paths_are_found_and_inline_modules_count() {
    assert_eq!(
        paths(
            &["x"],
            "fn f() { crate::y::g::<u8>(1) }\nmod m { use super::z::K; }\nfn h() { self::w::q() }"
        ),
        ["y::g", "x::z::K", "x::w::q"]
    );
}

#[test]
fn visibility_is_no_path() {
    assert!(paths(&["x"], "pub(crate) fn f() {} pub(super) fn g() {}").is_empty());
}

#[test]
fn tags_are_found_above_the_statement_only() {
    let f = file(
        "fn a() {\n    // PANIC: cannot fail,\n    // really.\n    let x = b\n        .unwrap();\n    let y = c.unwrap();\n    d.unwrap(); // PANIC: e\n}",
    );
    assert!(f.has_tag(5, "PANIC:"));
    assert!(!f.has_tag(6, "PANIC:"));
    assert!(f.has_tag(7, "PANIC:"));
}
