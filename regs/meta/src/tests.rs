//! Bad tables are refused with a finding that names what is wrong.
#![allow(clippy::unwrap_used, reason = "tests")]

mod amend;
mod any;

use crate::schema::File;
use crate::{Error, validate};

const HEAD: &str = "generation = \"gen40\"\nsection = \"S\"\n";

fn findings(text: &str) -> Vec<String> {
    let file: File = toml::from_str(&format!("{HEAD}{text}")).unwrap();
    match validate::resolve("gen40", &[("t".to_owned(), file)]) {
        Ok(_) => Vec::new(),
        Err(Error::Invalid { findings, .. }) => findings,
        Err(other) => vec![other.to_string()],
    }
}

fn register(rest: &str) -> Vec<String> {
    findings(&format!(
        "[[register]]\nname = \"R\"\noffset = 16\naccess = \"rw\"\nunit = \"U\"\ncite = \"C\"\nsummary = \"S\"\n{rest}"
    ))
}

#[test]
fn a_gap_is_found() {
    let f = register("field = [ { name = \"A\", bits = \"7:0\" } ]");
    assert_eq!(f, ["R: bits 0xffffff00 in no field, mbz or reserved"]);
}

#[test]
fn an_overlap_needs_a_reason() {
    let fields = "field = [ { name = \"A\", bits = \"31:0\" }, { name = \"B\", bits = \"3:0\" } ]";
    assert_eq!(register(fields), ["R: B overlaps another field"]);
    assert_eq!(
        register(&format!("overlap = \"two views\"\n{fields}")),
        [""; 0]
    );
}

#[test]
fn mbz_bits_reset_to_zero() {
    let f =
        register("reset = 0x100\nmbz = [\"31:8\"]\nfield = [ { name = \"A\", bits = \"7:0\" } ]");
    assert_eq!(f, ["R: must-be-zero bits reset to one"]);
}

#[test]
fn a_citation_is_required() {
    let f = findings(
        "[[struct]]\nname = \"X\"\ndwords = 1\nunit = \"U\"\ncite = \"\"\nsummary = \"S\"",
    );
    assert_eq!(f, ["X: no citation"]);
}

#[test]
fn an_unknown_key_is_an_error() {
    assert!(toml::from_str::<File>(&format!("{HEAD}colour = 1")).is_err());
}

#[test]
fn equal_opcodes_clash() {
    let c = |n: &str| {
        format!(
            "[[command]]\nname = \"{n}\"\nunit = \"U\"\ntype = 0\nopcode = 4\nlength = \"fixed\"\ndwords = 1\ncite = \"C\"\nsummary = \"S\"\n"
        )
    };
    assert_eq!(findings(&(c("A") + &c("B"))), ["B: same opcode as A"]);
}

#[test]
fn a_field_outside_its_structure_is_found() {
    let f = findings(
        "[[struct]]\nname = \"X\"\ndwords = 1\nunit = \"U\"\ncite = \"C\"\nsummary = \"S\"\nfield = [ { name = \"A\", dword = 1, bits = \"0\" } ]",
    );
    assert_eq!(f, ["X.A: outside the structure"]);
}

#[test]
fn channels_add_up() {
    let f = findings(
        "[[format]]\ncode = 1\nname = \"F\"\nbits = 32\nlayout = \"R8un G8un\"\ncaps = \"S\"",
    );
    assert_eq!(f, ["F: channels have 16 bits, not 32"]);
}

fn structure(name: &str, dwords: u32) -> String {
    format!(
        "[[struct]]\nname = \"{name}\"\ndwords = {dwords}\nunit = \"U\"\ncite = \"C\"\nsummary = \"S\"\n"
    )
}

/// Tables of generations below a directory, each with the text of its one file.
fn try_loaded(directory: &str, files: &[(&str, String)]) -> Result<Vec<crate::Tables>, Error> {
    let root = std::env::temp_dir().join(format!("{directory}-{}", std::process::id()));
    for (generation, text) in files {
        let dir = root.join(generation);
        std::fs::create_dir_all(&dir).unwrap();
        let text = format!("generation = \"{generation}\"\nsection = \"S\"\n{text}");
        std::fs::write(dir.join("t.toml"), text).unwrap();
    }
    let names = crate::generations(&root).unwrap();
    let all = names.iter().map(|name| crate::load(&root, name));
    let all: Result<Vec<_>, Error> = all.collect();
    std::fs::remove_dir_all(&root).unwrap();
    all
}

fn loaded(directory: &str, files: &[(&str, String)]) -> Vec<crate::Tables> {
    try_loaded(directory, files).unwrap()
}

#[test]
fn a_later_generation_imports_and_overrides() {
    let old = [("KEPT", 1), ("CHANGED", 2), ("GONE", 3)].map(|(name, n)| structure(name, n));
    let new = format!(
        "import = [\"gen1\"]\nexclude = [\"GONE\"]\n{}",
        structure("CHANGED", 5)
    );
    let all = loaded("regs-import", &[("gen1", old.concat()), ("gen2", new)]);
    let generations: Vec<&str> = all.iter().map(|t| t.generation.as_str()).collect();
    assert_eq!(generations, ["gen1", "gen2"]);
    let found: Vec<(&str, u32)> = all[1]
        .structures
        .iter()
        .map(|s| (s.name.as_str(), s.dwords))
        .collect();
    assert_eq!(found, [("CHANGED", 5), ("KEPT", 1)]);
}

#[test]
fn what_stays_the_same_is_emitted_once() {
    let inner = |bits: &str| {
        structure("INNER", 1)
            + &format!("field = [ {{ name = \"F\", dword = 0, bits = \"{bits}\" }} ]\n")
    };
    let old = inner("3:0")
        + &structure("OUTER", 2)
        + "field = [ { name = \"I\", dword = 1, bits = \"31:0\", type = \"INNER\" } ]\n"
        + &structure("KEPT", 1)
        + "[[register]]\nname = \"R\"\noffset = 16\naccess = \"rw\"\nunit = \"U\"\ncite = \"C\"\nsummary = \"S\"\n"
        + "field = [ { name = \"V\", bits = \"31:0\" } ]\n"
        + "[[command]]\nname = \"C\"\nunit = \"U\"\ntype = 0\nopcode = 4\nlength = \"fixed\"\ndwords = 1\ncite = \"C\"\nsummary = \"S\"\n";
    let import = |from: &str| format!("import = [\"{from}\"]\n");
    let all = loaded(
        "regs-once",
        &[
            ("gen1", old),
            ("gen2", import("gen1") + &inner("4:0")),
            ("gen3", import("gen2") + &inner("3:0")),
        ],
    );
    let texts: Vec<String> = (0..3).map(|i| crate::generation(&all, i)).collect();
    let defines = |i: usize, name: &str| texts[i].contains(&format!("pub struct {name}("));
    let takes = |i: usize, path: &str| texts[i].contains(&format!("pub use crate::{path};"));
    for name in ["Inner", "Outer", "Kept", "C"] {
        assert!(defines(0, name), "{name}");
    }
    // A structure that holds a changed one is another type; a generation that goes back takes the oldest type again.
    assert!(defines(1, "Inner") && defines(1, "Outer"));
    for name in ["Inner", "Outer", "Kept", "C"] {
        assert!(
            takes(2, &format!("gen1::{name}")) && !defines(2, name),
            "{name}"
        );
    }
    for path in ["gen1::Kept", "gen1::KEPT_DESC", "gen1::C", "gen1::C_DESC"] {
        assert!(takes(1, path), "{path}");
    }
    for path in ["gen1::descs::R", "gen1::fields::R", "gen1::reg::R"] {
        assert!(takes(1, path) && takes(2, path), "{path}");
    }
}
