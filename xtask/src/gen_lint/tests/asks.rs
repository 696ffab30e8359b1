//! Questions that the check reports, planted in every crate, and innocent lines.

use super::*;

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
    "let x = \"Arrandale\";",
    "fn on_clarkdale() {}",
    "enum Family { Gfx4, Gfx5 }",
    "fn gfx5_flush() {}",
    "const GFX_VER_5: u8 = 5;",
    "let x = \"gfx 5\";",
    "let x = \"the fifth generation\";",
    "fn fifth_generation() {}",
    "let x = \"ver 4.5\";",
    "let x = \"GMA X3100\";",
    "let x = \"GMA 4500\";",
    "let x = \"byt\";",
    "if Table::GENERATIONS.iter().position(|g| *g == isa) >= Some(2) {}",
    "let late = Table::GENERATIONS.iter().rposition(|g| *g == isa);",
    "let last = MODELS.iter().fold(None, |_, m| Some(m));",
    "let last = MODELS.iter().map(f).reduce(|_, m| m);",
    "let one = MODELS.iter().collect::<Vec<_>>()[13];",
    "let one = MODELS.iter().collect::<Vec<_>>().pop();",
    "for (i, m) in MODELS.iter().enumerate() {}",
    "let pairs = MODELS.iter().zip(0..);",
    "if isa.to_string().starts_with('5') {}",
    "if info.isa.to_string().trim() != \"5\" {}",
    "if tables.name.ends_with(\"50\") {}",
    "if info.name.starts_with('i') {}",
    "if info.title.to_lowercase().contains(\"mobile\") {}",
    "if info.name.split_at(1).0 == \"i\" {}",
    "let parts = name.split('4');",
    "if name.find('5').is_some() {}",
    "let n = name.matches(\"45\").count();",
    "if info.pci.1 & 0xff00 == 0x2e00 {}",
    "if (info.pci.1 & 0xff00) == 0x2e00 {}",
    "if 0x2e == info.pci.1 >> 8 {}",
    "match info.pci.1 >> 8 { 0x2e => a(), _ => b() }",
    "match (x, info.pci.1 as u32 & 0xff) { (0, 0x42) => a(), _ => b() }",
    "if ready && info.pci == (0x8086, 0x42) {}",
    "if matches!(pci.1, 0x42 | 0x46) {}",
    "if device_id() & 0xff == 0x42 {}",
    "if device_id == 66 {}",
    "if \"5\" == &*format!(\"{}\", info.isa) {}",
    "if format!(\"{}\", info.isa) == \"5\" {}",
    "if info.isa.to_string() + \"x\" == \"5x\" {}",
    "if id == 0b10_1010_0000_0010 {}",
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
    "let x = \"the first generation of names, version 5\";",
    "let gfx_address = 5;",
    "let (class, rest) = name.split_once('_')?;",
    "let width = info.name.len().max(width);",
    "if text.ends_with(\"50\") || name.starts_with('-') {}",
    "let names: Vec<&str> = MODELS.iter().map(|m| m.name).collect();",
    "let any = MODELS.iter().filter(|m| m.ok).any(|m| m.pci == pci);",
    "if info.pci == other.pci && count == 3 {}",
    "let at = reg.base + count & 0xff == 0x42;",
    "if device.find(pci).len() == 2 {}",
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
