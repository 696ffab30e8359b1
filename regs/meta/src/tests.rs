//! Bad tables are refused with a finding that names what is wrong.
//! No PRM chapter.
#![allow(clippy::unwrap_used, reason = "tests")]

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

#[test]
fn a_later_generation_imports_and_overrides() {
    let root = std::env::temp_dir().join(format!("regs-import-{}", std::process::id()));
    let table = |generation: &str, head: &str, items: &[(&str, u32)]| {
        let mut text = format!("generation = \"{generation}\"\nsection = \"S\"\n{head}\n");
        for (name, dwords) in items {
            text.push_str(&structure(name, *dwords));
        }
        let dir = root.join(generation);
        std::fs::create_dir_all(&dir).unwrap();
        std::fs::write(dir.join("t.toml"), text).unwrap();
    };
    table("gen1", "", &[("KEPT", 1), ("CHANGED", 2), ("GONE", 3)]);
    table(
        "gen2",
        "import = [\"gen1\"]\nexclude = [\"GONE\"]",
        &[("CHANGED", 5)],
    );
    let tables = crate::load(&root, "gen2").unwrap();
    let found: Vec<(&str, u32)> = tables
        .structures
        .iter()
        .map(|s| (s.name.as_str(), s.dwords))
        .collect();
    assert_eq!(found, [("CHANGED", 5), ("KEPT", 1)]);
    assert_eq!(crate::generations(&root).unwrap(), ["gen1", "gen2"]);
    std::fs::remove_dir_all(&root).unwrap();
}
