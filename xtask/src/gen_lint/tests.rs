//! Lines that the check reports, each planted in every crate, and innocent ones.

use std::sync::LazyLock;

use super::*;
use crate::workspace;

/// The tree itself: its tables have the names.
static TREE: LazyLock<Vec<(String, String)>> = LazyLock::new(|| {
    let tree = Workspace::load(&workspace::root()).unwrap();
    let tables = |path: &str| rooms::is_room(path);
    let text = tree.text.into_iter().filter(|file| tables(&file.path));
    text.map(|file| (file.path, file.text)).collect()
});

/// Lines with findings of a file beside the tables of the tree.
fn findings(path: &str, text: &str) -> Vec<usize> {
    let mut files = TREE.clone();
    files.retain(|(known, _)| known != path);
    files.push((path.to_owned(), text.to_owned()));
    let found = check(&Workspace::from_files(files).unwrap());
    let here = found.iter().filter(|f| f.path == path);
    here.map(|f| f.line).collect()
}

/// No line.
const NO_LINE: [usize; 0] = [];

/// A file for each crate that serves several generations.
const PLACES: [&str; 10] = [
    "driver/src/planted.rs",
    "driver/src/exec/gen.rs",
    "mmio-mock/src/intel/planted.rs",
    "mmio-mock/src/intel/td/gen.rs",
    "mmio-mock/eu/src/planted.rs",
    "cli/src/cmd/planted.rs",
    "isa/src/planted.rs",
    "regs/src/planted.rs",
    "node/src/planted.rs",
    "ringbuf/src/planted.rs",
];

/// Statements with a generation or device in them.
const ASKS: &[&str] = &[
    "if isa == Verx10::new(50) {}",
    "if isa >= Verx10(50) {}",
    "if info.isa.0 >= 50 {}",
    "if self.generation.0 >= 50 {}",
    "if generation.0 == 45 {}",
    "if 50 <= x.generation {}",
    "if 50 <= x.generation.0 {}",
    "if tables.version >= 50 {}",
    "let v = tables; if v.version == 45 {}",
    "let newer = generation.0 > 40;",
    "let number = generation.0;",
    "let Verx10(number) = generation;",
    "let later = (self.generation.0) < 60;",
    "if matches!(generation, 50) {}",
    "if matches!(g, Verx10(50)) {}",
    "if matches!(g, 50) {}",
    "if matches!(version, 45 | 50) {}",
    "if g.0 >= 50 {}",
    "let late = 60 <= v;",
    "match version { 40 => a(), _ => b() }",
    "if matches!(device.isa.0, 45 | 50) {}",
    "match generation { 40 => 1, _ => 2 };",
    "match verx10 {}",
    "match self.isa.0 { 40 => a(), _ => b() }",
    "match (inst, generation.0) { (_, 0..60) => 1, _ => 2 };",
    "if let (Some(send), 0..60) = (inst.send, generation.0) {}",
    "if let Verx10(50) = generation {}",
    "if V >= 60 {}",
    "match V { 0..=59 => a(), _ => b() }",
    "if (40..50).contains(&generation.0) {}",
    "if isa == Verx10::GEN40 {}",
    "if isa < other.isa {}",
    "if info.isa == DEVICES[0].isa {}",
    "if isa.major() == 5 {}",
    "if isa.dotted().to_string() == \"5\" {}",
    "match isa.major() { 4 => a(), _ => b() }",
    "const OLDEST: Verx10 = Verx10::new(40);",
    "const GEN5: u8 = 50;",
    "use regs::gen40::X as Oldest;",
    "use crate::r#gen::gen50::{self, Y};",
    "use regs::platform::GEN45 as Newer;",
    "regs::gen45::lookup(1);",
    "mod gen60;",
    "if d.name == \"ironlake\" {}",
    "if device.name == \"voodoo\" {}",
    "if \"gm965\" == info.name {}",
    "if info.title != \"Some title\" {}",
    "match info.name { \"a\" => 1, _ => 2 };",
    "if matches!(device.name, \"a\" | \"b\") {}",
    "if name.eq_ignore_ascii_case(\"GM45\") {}",
    "if name.starts_with(\"g4\") {}",
    "if name.strip_prefix(\"iron\").is_some() {}",
    "if name.ends_with(\"965\") || name.contains(\"g4\") {}",
    "if info.title.contains(\"Q45\") {}",
    "if device.pci == (0x8086, 0x2a42) {}",
    "if id.device == 0x0042 {}",
    "if pci.1 == 10754 {}",
    "match id { 0x2e22 => 1, _ => 2 };",
    "if device.revision == 0x03 {}",
    "if core::ptr::eq(info, &r#gen::IRONLAKE) {}",
    "if ptr::eq(info, &DEVICES[0]) {}",
    "if std::ptr::eq(info.tables, other.tables) {}",
    "let second = &DEVICES[7];",
    "let newest = GENERATIONS[2];",
    "let reset = ILK_GDSR;",
    "use fields::ILK_GDSR as IlkGdsr;",
    "fn f(r: IlkGdsr) {}",
    "apply(G45_GT);",
    "let is_gm965 = true;",
    "fn is_ironlake() {}",
    "struct Gen50Reader;",
    "enum Family { Gen4, Gen5 }",
    "let x = I965GM;",
    "let x = Ironlake::new();",
    "let x = \"gen50\";",
    "let x = \"ilk\";",
    "let x = \"ctg\";",
    "let x = \"snb\";",
    "let x = \"ivb, vlv\";",
    "let x = \"Broxton (BXT)\";",
    "let x = \"cayman\";",
    "fn cayman_only() {}",
    "println!(\"only on G45\");",
    "let x = b\"gm45\";",
    "const VALUE: u8 = pick::<GEN40>();",
    "let r = rules(g).unwrap_or(GEN40);",
    "let which = info.isa; if which.times_ten() >= 50 {}",
    "let late = tables.times_ten() / 10 == 5;",
    "let five = Verx10::from_times_ten(number);",
    "let number: fn(Verx10) -> u8 = Verx10::times_ten;",
    "let other = tables.with_times_ten(60);",
    "if generation.version.eq(&50) {}",
    "if tables.version.cmp(&50).is_lt() {}",
    "if (45..).contains(&generation.version) {}",
    "if [45, 50].contains(&tables.version) {}",
    "let five = Table::spelled(\"5\");",
    "let five = Table::spelled(text);",
    "if model.is_called(name) {}",
    "let device = r#gen::find(\"x\");",
    "let tables = of_device(66);",
    "let first = DEVICES[0].name;",
    "let newest = DEVICES.last();",
    "let device = DEVICES.get(5);",
    "for late in &DEVICES[5..] {}",
    "let device = DEVICES.iter().nth(3);",
    "let newest = MODELS.iter().rev().find(|d| d.ok);",
    "let all = DEVICES; f(all)",
    "let [old, .., new] = GENERATIONS;",
    "if tables == GENERATIONS[0] {}",
    "if info.tables == GENERATIONS[0] {}",
    "if info.name.as_bytes()[0] == b'i' {}",
    "if model.name.bytes().next() == Some(b'x') {}",
    "if info.name.to_string() == \"x\" {}",
    "if info.title.chars().nth(3) == Some('x') {}",
    "let x = \"Gen 5\";",
    "let x = \"for Gen-5 only\";",
    "let x = \"generation 5\";",
    "let x = \"generation 4.5\";",
    "let x = \"965\";",
    "let x = \"Sandy Bridge\";",
    "let x = \"sandy-bridge\";",
    "let x = \"Intel 4 Series\";",
    "fn on_sandy_bridge() {}",
    "let x = \"8086:0042\";",
    "let x = \"0x2A42\";",
    "let x = \"0046\";",
    "if id == 0x2a42_8086 {}",
    "if id == 0x8086_0042 {}",
    "if id == 0x0000_0042 {}",
];

#[test]
fn every_question_is_reported_everywhere() {
    for place in PLACES {
        let text: String = ASKS.iter().map(|ask| line(ask)).collect();
        let lines: Vec<usize> = findings(place, &text);
        let missed: Vec<&str> = (1..=ASKS.len())
            .filter(|line| !lines.contains(line))
            .map(|line| ASKS[line - 1])
            .collect();
        assert!(missed.is_empty(), "{place}: {missed:#?}");
    }
}

/// An item for itself, or a function with a statement; each on one line.
fn line(text: &str) -> String {
    let item = ["const", "use", "mod", "fn", "struct", "enum"]
        .iter()
        .any(|word| text.starts_with(&format!("{word} ")));
    if item {
        format!("{text}\n")
    } else {
        format!("fn f() {{ {text} }}\n")
    }
}

/// Statements about other things.
const INNOCENT: &[&str] = &[
    "let generation = device.generation;",
    "fn f(generation: Verx10, isa: Verx10) { g(generation, isa) }",
    "if generation == other.generation {}",
    "if a.tables == b.tables {}",
    "let x = 50; if x >= 50 {}",
    "if count == 45 { wait(90) }",
    "let version = header.version; if version != 2 {}",
    "match version { 1 => a(), _ => b() }",
    "let text = format!(\"generation {generation} is not supported\");",
    "if reg.name == \"INSTDONE\" {}",
    "if file.name == \"frame\" {}",
    "let words = [0x42, 0x46, 40, 45, 50];",
    "if word.starts_with(\"--\") || word.starts_with(\"0x\") {}",
    "let has = generation.has(); if has.quarters {}",
    "let names = DEVICES.iter().map(|d| d.name);",
    "for device in DEVICES { f(device) }",
    "for tables in GENERATIONS.into_iter().filter(|g| g.ok) {}",
    "const ID_TABLE: IdTable<Model> = MODELS;",
    "let at = text.find(\"x\");",
    "if gate.is_called() {}",
    "let tables = of_device(exec.pci.1);",
    "if name.eq(\"frame\") || [1, 2].contains(&count) {}",
    "if file.name.as_bytes()[0] == b'i' {}",
    "let text = format!(\"generation {generation}, 42 4 50\");",
    "let word = \"0x42 2a4 2a420\";",
    "let mask = 0x8086_0000;",
    "let device = DEVICES.iter().find(|d| d.pci == pci);",
    "let all = Table::GENERATIONS.into_iter();",
    "decode::<V>(raw); let x = At::<V>::L;",
    "let fault = Fault { prm: \"genxml gen45 3DPRIMITIVE\" };",
    "let picture = include_bytes!(\"../tests/captures/gm965/frame.crest\");",
    "let gen_range = 3; general(gen_range);",
    "// Only on G45 (PRM vol4 2.6): gen45, ILK, 0x2a42.",
    "/// On Ironlake: see [`crate`].",
    "let shared = Arc::ptr_eq(&a.card, &b.card);",
    "let ms = 50 <= x.delay;",
    "if x.0 >= 50 {}",
];

#[test]
fn other_lines_pass_everywhere() {
    for place in PLACES {
        let text: String = INNOCENT
            .iter()
            .map(|text| {
                // A comment stands before an item.
                if text.starts_with("//") {
                    format!("{text}\nstruct S;\n")
                } else {
                    line(text)
                }
            })
            .collect();
        let lines = findings(place, &text);
        let reported: Vec<&str> = lines
            .iter()
            .map(|&n| text.lines().nth(n - 1).unwrap())
            .collect();
        assert!(reported.is_empty(), "{place}: {reported:#?}");
    }
}

#[test]
fn the_parameter_of_instruction_sets_is_handed_on_alone() {
    let text = "fn f<const V: u8>() { decode::<V>(raw); src::<V, 1>(words); let t = Type::V; }\nenum T {\n    Uv,\n    V,\n}\n";
    assert_eq!(findings("isa/src/planted.rs", text), NO_LINE);
    for ask in [
        "let which = V;",
        "f(V)",
        "f(x, V)",
        "f(x, V, y)",
        "let late = V / 10;",
    ] {
        let text = format!("fn f<const V: u8>() {{ {ask} }}");
        assert_eq!(findings("isa/src/planted.rs", &text), [1], "{ask}");
    }
}

#[test]
fn a_room_exports_no_generation_s_own_under_a_neutral_name() {
    for (text, reported) in [
        ("pub use regs::gen50::VsState;", true),
        ("pub(crate) use regs::gen50::{self, VsState};", true),
        ("pub use self::gen50::{Ironlake, other::State};", true),
        ("pub use regs::gen50::VsState as State;", true),
        ("pub use gen50::*;", true),
        ("pub type State = regs::gen50::VsState;", true),
        ("pub use self::gen40::{I965G, I965GM};", false),
        ("pub use self::models::{MODELS, Model};", false),
        ("use regs::gen50::VsState;", false),
        ("pub use regs::gen50::VsState as Gen50State;", false),
        ("type State = regs::gen50::VsState;", false),
        ("pub mod gen50;", false),
    ] {
        for room in [
            "driver/src/intel/gen.rs",
            "mmio-mock/src/intel/gen/gen50.rs",
        ] {
            assert_eq!(findings(room, text) == [1], reported, "{room}: {text}");
        }
    }
}

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
