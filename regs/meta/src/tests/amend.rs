//! A later generation's amendments start from the imported definition.

use super::{structure, try_loaded};
use crate::model::{Field, Kind, Tables};
use crate::{Error, schema};

const COMMAND: &str = r#"
[[command]]
name = "C"
unit = "U"
type = 3
opcode = 1
length = "bits8"
dwords = 3
min_dwords = 2
cite = "old"
summary = "S"
field = [
  { name = "A", dword = 1, bits = "3:0", values = [ { value = 0, name = "ZERO" }, { value = 1, name = "ONE" } ] },
  { name = "B", dword = 2, bits = "31:0", type = "address" },
]

[[enum]]
name = "E"
cite = "old"
values = [ { value = 0, name = "NONE" }, { value = 2, name = "TWO" } ]

[[register]]
name = "R"
offset = 16
access = "rw"
unit = "U"
cite = "old"
summary = "S"
mbz = ["31:8"]
field = [ { name = "F", bits = "7:4", values = [ { value = 1, name = "X" } ] }, { name = "G", bits = "3:0" } ]

[[register]]
name = "LAST"
offset = 64
access = "rw"
unit = "U"
cite = "old"
summary = "S"
field = [ { name = "F", bits = "31:0" } ]
"#;

fn amended(directory: &str, text: &str) -> Result<Tables, Error> {
    let old = structure("S", 1)
        + "field = [ { name = \"F\", dword = 0, bits = \"3:0\", enum = \"E\" } ]\n"
        + COMMAND;
    let new = format!("import = [\"gen1\"]\n{text}");
    let mut all = try_loaded(directory, &[("gen1", old), ("gen2", new)])?;
    Ok(all.remove(1))
}

fn findings(directory: &str, text: &str) -> Vec<String> {
    match amended(directory, text) {
        Ok(_) => Vec::new(),
        Err(Error::Invalid { findings, .. }) => findings,
        Err(other) => vec![other.to_string()],
    }
}

fn places(fields: &[Field]) -> Vec<(&str, u32, u32)> {
    let place = |f: &'_ Field| (f.start, f.width);
    let named = fields.iter().map(|f| (f.name.as_str(), place(f)));
    named.map(|(n, (s, w))| (n, s, w)).collect()
}

#[test]
fn fields_are_dropped_replaced_and_added() {
    let text = r#"
[[amend]]
name = "C"
cite = "new"
dwords = 4
drop = ["B"]
field = [
  { name = "New", dword = 1, bits = "31:4" },
  { name = "A", bits = "2:0", add_values = [ { value = 2, name = "TWO" } ], drop_values = [0] },
  { name = "Last", dword = 3, bits = "31:0", type = "float" },
]
"#;
    let t = amended("amend-fields", text).unwrap();
    let c = &t.commands[0];
    assert_eq!((c.dwords, c.min_dwords, c.max_dwords), (4, 4, 4));
    assert_eq!((c.cite.as_str(), c.summary.as_str()), ("new", "S"));
    assert_eq!(
        places(&c.fields),
        [
            ("DWord Length", 0, 8),
            ("A", 32, 3),
            ("New", 36, 28),
            ("Last", 96, 32)
        ]
    );
    let values: Vec<u32> = c.fields[1].values.iter().map(|v| v.value).collect();
    assert_eq!(values, [1, 2]);
    assert_eq!(c.fields[3].kind, Kind::Float);
}

#[test]
fn registers_structures_and_enumerations_are_amended() {
    let text = r#"
[[amend]]
name = "R"
cite = "new"
mbz = ["31:9"]
reset = 0x100
field = [ { name = "Bit", bits = "8", reset = 1 }, { name = "F", summary = "changed" } ]

[[amend]]
name = "S"
cite = "new"
dwords = 2
align = 32

[[amend]]
name = "E"
cite = "new"
values = [ { value = 3, name = "THREE" }, { value = 2, name = "PAIR" } ]
drop_values = [0]
"#;
    let t = amended("amend-kinds", text).unwrap();
    let r = &t.registers[0];
    let names: Vec<&str> = r.fields.iter().map(|f| f.name.as_str()).collect();
    assert_eq!((r.name.as_str(), r.reset), ("R", Some(0x100)));
    assert_eq!(names, ["Bit", "F", "G"]);
    assert_eq!(r.fields[1].summary, "changed");
    assert_eq!(r.fields[1].values.len(), 1);
    let s = &t.structures[0];
    assert_eq!((s.dwords, s.align), (2, 32));
    let values: Vec<&str> = s.fields[0].values.iter().map(|v| v.name.as_str()).collect();
    assert_eq!(values, ["PAIR", "THREE"]);
    // What is amended stands in the amending file, the rest where it was.
    let generation = |i: usize| t.sections[i].generation.as_str();
    assert_eq!(generation(r.section), "gen2");
    assert_eq!(generation(t.commands[0].section), "gen1");
}

#[test]
fn formats_are_amended() {
    let format = "[[format]]\ncode = 1\nname = \"L8\"\nbits = 8\nlayout = \"L8un\"\ncaps = \"V\"\n";
    let old =
        structure("S", 1) + "field = [ { name = \"F\", dword = 0, bits = \"3:0\" } ]\n" + format;
    let amended = |keys: &str| {
        let new = format!("import = [\"gen1\"]\n[[amend]]\nname = \"L8\"\ncite = \"new\"\n{keys}");
        try_loaded("amend-formats", &[("gen1", old.clone()), ("gen2", new)])
    };
    let all = amended("caps = \"SF\"").unwrap();
    let caps: Vec<&str> = all.iter().map(|t| t.formats[0].caps.as_str()).collect();
    assert_eq!(caps, ["V", "SF"]);
    let Err(error) = amended("dwords = 2") else {
        panic!("a format has no dwords");
    };
    assert!(error.to_string().contains("`dwords` does not fit a format"));
}

#[test]
fn unknown_names_are_found() {
    let amend = |rest: &str| format!("[[amend]]\ncite = \"new\"\n{rest}");
    let cases = [
        (
            "name = \"X\"",
            "X: amended, but nothing imported has this name",
        ),
        (
            "name = \"C\"\ndrop = [\"Z\"]",
            "C: drops Z, which is no field",
        ),
        (
            "name = \"E\"\ndrop_values = [9]",
            "E: drops value 9, which is not there",
        ),
        (
            "name = \"C\"\nalign = 4",
            "C: `align` does not fit a command",
        ),
        (
            "name = \"R\"\nfield = [ { name = \"F\", dword = 1 } ]",
            "R: `dword` does not fit a register's field",
        ),
        (
            "name = \"C\"\nfield = [ { name = \"N\", bits = \"4\" } ]",
            "C: the new field N has no dword",
        ),
    ];
    for (i, (text, finding)) in cases.into_iter().enumerate() {
        let found = findings(&format!("amend-unknown-{i}"), &amend(text));
        assert_eq!(found, [finding]);
    }
    let own = structure("S", 3) + "[[amend]]\nname = \"S\"\ncite = \"new\"\n";
    assert_eq!(
        findings("amend-own", &own),
        ["S: amended, but nothing imported has this name"]
    );
    assert_eq!(
        findings("amend-exclude", "exclude = [\"NOTHING\"]\n"),
        ["NOTHING: excluded, but nothing imported has this name"]
    );
    let key =
        "generation = \"g\"\nsection = \"S\"\n[[amend]]\nname = \"C\"\ncite = \"c\"\ncolour = 1";
    assert!(toml::from_str::<schema::File>(key).is_err());
}
