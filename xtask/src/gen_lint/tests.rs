//! Rooms, tests and the tree itself; each kind of finding has a file of its own.

mod asks;
mod exports;
mod text;

use std::sync::LazyLock;

use super::*;
use crate::workspace;

/// Names of the tree's tables.
static NAMES: LazyLock<Names> = LazyLock::new(|| {
    let tree = Workspace::load(&workspace::root()).unwrap();
    Names::of(&tree)
});

/// Lines with findings of a file beside the tables of the tree.
fn findings(path: &str, text: &str) -> Vec<usize> {
    let found = check_with(&Workspace::of(&[(path, text)]), &NAMES);
    let here = found.iter().filter(|f| f.path == path);
    here.map(|f| f.line).collect()
}

/// No line.
const NO_LINE: [usize; 0] = [];

#[test]
fn what_is_compiled_elsewhere_too_is_no_test() {
    let text = "const G: u8 = GEN40;";
    for path in [
        "driver/src/intel/fuzz/mod.rs",
        "driver/src/intel/fuzz.rs",
        "node/src/examples/mod.rs",
        "cli/src/test.rs",
        "cli/src/tests.rs",
        "cli/src/cmd/tests/a.rs",
        "node/src/benches/a.rs",
    ] {
        assert_eq!(findings(path, text), [1], "{path}");
    }
    for attribute in [
        "cfg(any(test, unix))",
        "cfg(all(any(unix, test)))",
        "cfg(not(test))",
    ] {
        let text = format!("#[{attribute}]\n{text}");
        assert_eq!(findings("cli/src/planted.rs", &text), [2], "{attribute}");
    }
    for text in [
        "#[path = \"../tests/a.rs\"] mod a;",
        "include!(\"../tests/a.rs\");",
        "include!(concat!(env!(\"X\"), \"/../tests/a.rs\"));",
    ] {
        assert_eq!(findings("cli/src/planted.rs", text), [1], "{text}");
    }
    let text = "#[cfg(all(test, unix))]\nmod t { const G: u8 = GEN40; }";
    assert_eq!(findings("cli/src/planted.rs", text), NO_LINE);
}

#[test]
fn tests_pass() {
    let text = "#[cfg(test)]\nmod tests { const G: u8 = GEN40; fn f() { if isa.0 >= 50 {} } }\n#[test]\nfn g() { h(\"ironlake\") }";
    assert!(findings("mmio-mock/src/intel/td.rs", text).is_empty());
    let declared = [
        ("mmio-mock/src/intel/cs.rs", "#[cfg(test)]\nmod tests;"),
        ("mmio-mock/src/intel/cs/tests.rs", "const G: u8 = GEN40;"),
        ("mmio-mock/src/intel/cs/tests/a.rs", "const G: u8 = GEN40;"),
    ];
    assert_eq!(check(&Workspace::of(&declared)), []);
    for path in [
        "tests/tests/live_media.rs",
        "tests/src/scenes.rs",
        "node/benches/a.rs",
        "cli/tests/eu.rs",
    ] {
        assert!(
            findings(path, "fn f() { g(\"gm965\", GEN40) }").is_empty(),
            "{path}"
        );
    }
}

#[test]
fn rooms_name_generations_and_no_other_file_is_one_by_its_name() {
    let text = "const X: u8 = GEN40;";
    for path in [
        "driver/src/intel/gen.rs",
        "driver/src/intel/gen/gen40.rs",
        "isa/src/tables.rs",
        "isa/src/tables/gen90.rs",
        "regs/src/gen/platform.rs",
        "mmio-mock/src/intel/gen/gen40/units.rs",
        "mmio-mock/eu/src/gen.rs",
        "ringbuf/src/gen/gen40.rs",
    ] {
        assert!(findings(path, text).is_empty(), "{path}");
    }
    for path in [
        "driver/src/debug/gen.rs",
        "driver/src/intel/general.rs",
        "driver/src/intel/generic/a.rs",
        "mmio-mock/src/intel/ff/gen.rs",
        "mmio-mock/src/intel/ff/gen/a.rs",
        "mmio-mock/src/core/tables/a.rs",
        "cli/src/gen.rs",
        "cli/src/gen/a.rs",
        "node/src/gen.rs",
        "isa/src/inst.rs",
        "isa/src/gen.rs",
        "isa/src/tables_of.rs",
        "regs/src/walk.rs",
        "regs/src/any.rs",
        "xtask/src/node.rs",
        "xtask/src/gen_lint/names.rs",
    ] {
        assert_eq!(findings(path, text), [1], "{path}");
    }
}

#[test]
fn rows_of_restrictions_have_their_generations() {
    let rows = "pub(super) const RULES: &[Rule] = &[Rule::inst(\"a\", Generations::since(50), \"G45 PRM\", f)];\nconst BOTH: &str = \"Broxton PRM vol6\";\nfn f() { g(GEN40) }\nconst OTHER: &str = h(\"ilk\");";
    assert_eq!(findings("isa/src/validate/planted.rs", rows), [3, 4]);
    assert_eq!(findings("isa/src/planted.rs", rows), [1, 2, 3, 4]);
}

#[test]
fn an_unknown_generation_becomes_no_other_one() {
    for (text, reported) in [
        (
            "fn f(g: Verx10) -> R { match g.generation.0 { 45 => GEN45, _ => GEN40 } }",
            true,
        ),
        (
            "fn f() -> R { match generation.0 { 40 => GEN40, 45.. => GEN45 } }",
            true,
        ),
        (
            "fn f() -> R { match generation.0 { 0..=59 => a, 60 => b, _ => return None } }",
            true,
        ),
        (
            "fn f() -> R { match self.isa.0 { 45 => { GEN45 } _ => &GEN40 } }",
            true,
        ),
        ("fn f() -> R { lookup(isa).unwrap_or(&GEN40) }", true),
        (
            "fn f() -> R { lookup(isa).unwrap_or_else(|| row(GEN40)) }",
            true,
        ),
        ("fn f() -> R { lookup(isa).map_or(GEN40, |x| x) }", true),
        (
            "fn f() -> R { match generation.0 { 40 => Some(GEN40), 45 => Some(GEN45), _ => None } }",
            false,
        ),
        (
            "fn f() -> R { match generation.0 { 40 => &GEN40, _ => return None } }",
            false,
        ),
        (
            "fn f() -> R { match generation.0 { 40 => Ok(GEN40), _ => Err(ENODEV) } }",
            false,
        ),
        (
            "fn f() -> R { match isa { A => GEN45, other => row(other) } }",
            true,
        ),
        (
            "fn f() -> R { match isa { A => GEN45, other => Err(other) } }",
            false,
        ),
        ("fn f() -> R { lookup(isa).or_else(|| row(GEN40)) }", true),
        (
            "fn f() -> R { match word & 3 { 0 => GEN40, _ => GEN45 } }",
            false,
        ),
    ] {
        for room in [
            "driver/src/intel/gen/planted.rs",
            "mmio-mock/eu/src/gen.rs",
            "mmio-mock/src/intel/gen.rs",
        ] {
            assert_eq!(findings(room, text) == [1], reported, "{room}: {text}");
        }
    }
    let wild = "fn f() -> T { match V { 45 => &gen45::T, _ => &gen80::T } }";
    assert_eq!(findings("isa/src/tables/planted.rs", wild), [1]);
}

#[test]
fn a_new_row_s_names_are_known_at_once() {
    let row = "pub const DEVICES: &[DeviceInfo] = &[device(\"voodoo3\", \"Avenger V3X\", 0x3d57)];\npub static AVENGER: DeviceInfo = x();";
    let planted = [
        "fn f() { g(\"voodoo3\") }",
        "fn voodoo3_only() {}",
        "fn f() { g(AVENGER) }",
        "fn f() { if id == 0x3d57 {} }",
        "fn f() { g(\"V3X\") }",
        "fn f() { if name.starts_with(\"voodoo\") {} }",
    ];
    for text in planted {
        let of = |files: &[(&str, &str)]| check(&Workspace::of(files)).len();
        let place = ("node/src/planted.rs", text);
        assert_eq!(of(&[place]), 0, "{text}");
        assert_eq!(
            of(&[("driver/src/intel/gen/models.rs", row), place]),
            1,
            "{text}"
        );
    }
    let tables = ("regs/tables/radeon/trinity/a.toml", "");
    let place = ("node/src/planted.rs", "fn f() { g(\"trinity\") }");
    assert_eq!(check(&Workspace::of(&[tables, place])).len(), 1);
}

#[test]
fn the_tree_obeys() {
    let tree = Workspace::load(&workspace::root()).unwrap();
    assert_eq!(check(&tree), []);
}
