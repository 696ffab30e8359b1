//! The neutral module has what generations share and agree on, and nothing else.

use super::{loaded, structure};

fn register(fields: &str, offset: u32) -> String {
    format!(
        "[[register]]\nname = \"R{offset}\"\noffset = {offset}\naccess = \"rw\"\nunit = \"U\"\ncite = \"C\"\nsummary = \"S\"\nfield = [ {fields} ]\n"
    )
}

fn enumeration(name: &str, values: &[(u32, &str)]) -> String {
    let values: Vec<String> = values
        .iter()
        .map(|(v, n)| format!("{{ value = {v}, name = \"{n}\" }}"))
        .collect();
    let values = values.join(", ");
    format!("[[enum]]\nname = \"{name}\"\ncite = \"C\"\nvalues = [ {values} ]\n")
}

#[test]
fn a_name_that_one_alone_has_or_lays_out_otherwise_is_absent() {
    let whole = "{ name = \"F\", bits = \"31:0\" }";
    let old = structure("SAME", 1)
        + &structure("CHANGED", 1)
        + &structure("OLD", 1)
        + &register(whole, 16)
        + &register(whole, 32);
    let new = "import = [\"gen1\"]\nexclude = [\"OLD\"]\n".to_owned()
        + "[[amend]]\nname = \"SAME\"\ncite = \"another citation\"\n"
        + "[[amend]]\nname = \"CHANGED\"\ncite = \"C\"\ndwords = 2\n"
        + &structure("NEW", 1)
        + "[[amend]]\nname = \"R32\"\ncite = \"C\"\nfield = [ { name = \"F\", bits = \"30:0\" } ]\nmbz = [\"31\"]\n";
    let third = "import = [\"gen2\"]\n".to_owned() + &structure("LAST", 1);
    let all = loaded(
        "any-types",
        &[("gen1", old), ("gen2", new), ("gen3", third)],
    );
    let text = crate::any(&all);
    for path in [
        "gen1::Same;",
        "gen2::New;",
        "gen1::fields::R16;",
        "gen1::reg::R16;",
    ] {
        assert!(text.contains(&format!("pub use crate::{path}")), "{path}");
    }
    for name in ["Old", "Last", "Changed", "R32"] {
        assert!(!text.contains(name), "{name}");
    }
}

/// A structure of three fields, a command of two with a length of so many bits.
fn mixed(places: [&str; 3], length: &str, extra: &str) -> String {
    let fields: Vec<String> = ["A", "B", "C"]
        .iter()
        .zip(places)
        .map(|(name, bits)| format!("{{ name = \"{name}\", dword = 0, bits = \"{bits}\" }}"))
        .collect();
    structure("MIXED", 1)
        + &format!("field = [ {} ]\n", fields.join(", "))
        + "[[command]]\nname = \"COMMAND\"\nunit = \"U\"\ntype = 0\nopcode = 1\ndwords = 2\ncite = \"C\"\nsummary = \"S\"\n"
        + &format!(
            "length = \"{length}\"\nfield = [ {{ name = \"Kept\", dword = 1, bits = \"7:0\" }}, {extra} ]\n"
        )
}

#[test]
fn of_what_differs_the_shared_fields_are_there() {
    let old = mixed(["7:0", "15:8", "23:16"], "bits6", "");
    let more = "{ name = \"More\", dword = 1, bits = \"9:8\" }";
    let new = mixed(["7:0", "16:8", "31:24"], "bits8", more);
    let text = crate::any(&loaded("any-common", &[("gen1", old), ("gen2", new)]));
    for accessor in ["fn a(", "fn kept(", "with_dword_length(", "fn new("] {
        assert!(text.contains(accessor), "{accessor}");
    }
    for accessor in ["fn b(", "fn c(", "fn more("] {
        assert!(!text.contains(accessor), "{accessor}");
    }
    // The narrower of the two lengths.
    assert!(text.contains("DWord Length (dword 0 bits 5:0)"));
}

#[test]
fn of_registers_that_differ_the_shared_fields_are_there() {
    let kept = "{ name = \"Kept\", bits = \"7:0\" }";
    let old = register(
        &format!("{kept}, {{ name = \"Moved\", bits = \"31:8\" }}"),
        16,
    );
    let new = register(
        &format!(
            "{kept}, {{ name = \"New\", bits = \"8\" }}, {{ name = \"Moved\", bits = \"31:9\" }}"
        ),
        16,
    );
    let files = [("gen1", old), ("gen2", new)];
    let text = crate::any(&loaded("any-registers", &files));
    assert!(text.contains("pub use crate::gen1::fields::R16::{KEPT, Register};"));
    assert!(text.contains("pub use crate::gen1::reg::R16;"));
}

#[test]
fn constants_are_the_union_unless_they_contradict() {
    let old = enumeration("GROWS", &[(0, "ZERO"), (1, "ONE")])
        + &enumeration("MOVES", &[(0, "ZERO")])
        + &enumeration("RENAMED", &[(0, "ZERO")]);
    let new = "import = [\"gen1\"]\n".to_owned()
        + &enumeration("GROWS", &[(1, "ONE"), (2, "TWO")])
        + &enumeration("MOVES", &[(1, "ZERO")])
        + &enumeration("RENAMED", &[(0, "NOTHING")]);
    let text = crate::any(&loaded("any-values", &[("gen1", old), ("gen2", new)]));
    assert!(text.contains("pub mod grows {"));
    for constant in ["ZERO: u32 = 0", "ONE: u32 = 1", "TWO: u32 = 2"] {
        assert_eq!(text.matches(constant).count(), 1, "{constant}");
    }
    assert!(!text.contains("moves") && !text.contains("renamed"));
}

#[test]
fn formats_are_those_of_all_generations_with_what_each_can_do() {
    let format = |code: u32, name: &str, layout: &str, caps: &str| {
        format!(
            "[[format]]\ncode = {code}\nname = \"{name}\"\nbits = 8\nlayout = \"{layout}\"\ncaps = \"{caps}\"\n"
        )
    };
    let old = format(1, "R8_UNORM", "R8un", "SFR")
        + &format(2, "R8_SNORM", "R8sn", "S")
        + &format(3, "A8_UNORM", "A8un", "S");
    let new = format(1, "R8_UNORM", "R8un", "FRB")
        + &format(2, "R8_SNORM", "R8un", "S")
        + &format(4, "R8_UINT", "R8ui", "S");
    let text = crate::any(&loaded("any-formats", &[("gen1", old), ("gen2", new)]));
    let rows: Vec<&str> = text.lines().filter(|l| l.contains("{ code:")).collect();
    assert_eq!(rows.len(), 1, "{rows:#?}");
    assert!(rows[0].contains("\"R8_UNORM\""));
    for cap in ["sampling: false", "filtering: true", "alpha_blend: false"] {
        assert!(rows[0].contains(cap), "{cap}");
    }
}
