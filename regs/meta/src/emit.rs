//! Rust source of one generation's tables.
//! The output is compiled by `regs`; nothing here formats for people.

mod any;
mod common;
mod packed;
mod registers;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

use crate::model::{Format, Tables};
use crate::names;
use crate::origin::Earlier;
use crate::schema::Value;

/// Appends a formatted line; writing to a `String` cannot fail.
macro_rules! line {
    ($out:expr, $($arg:tt)*) => {{
        let _ = writeln!($out, $($arg)*);
    }};
}
pub(crate) use line;

pub use any::any;

/// Source of the module of one generation, `all[index]`; `all` has the oldest first.
pub fn generation(all: &[Tables], index: usize) -> String {
    let (t, earlier) = (&all[index], Earlier::than(all, index));
    let mut out = String::new();
    line!(out, "use crate::desc::*;");
    line!(out, "use crate::opcodes::CommandIndex;");
    line!(out, "use crate::field;");
    line!(out, "pub use crate::ids::*;");
    packed::structures(&mut out, t, &earlier);
    packed::commands(&mut out, t, &earlier);
    by_id(&mut out, "Command", &command_names(all), |name| {
        t.commands.iter().position(|c| c.name == name)
    });
    packed::round_trips(&mut out, t);
    registers::registers(&mut out, t, &earlier);
    by_id(&mut out, "Register", &register_names(all), |name| {
        t.registers.iter().position(|r| r.name == name)
    });
    values(&mut out, t, &earlier);
    formats(&mut out, &t.formats);
    out
}

fn command_names(all: &[Tables]) -> BTreeSet<&str> {
    let commands = all.iter().flat_map(|t| &t.commands);
    commands.map(|c| c.name.as_str()).collect()
}

fn register_names(all: &[Tables]) -> BTreeSet<&str> {
    let registers = all.iter().flat_map(|t| &t.registers);
    registers.map(|r| r.name.as_str()).collect()
}

/// Lookup of a descriptor by an identifier that all generations share.
fn by_id(
    out: &mut String,
    what: &str,
    names: &BTreeSet<&str>,
    position: impl Fn(&str) -> Option<usize>,
) {
    let (list, id) = match what {
        "Command" => ("COMMANDS", "CommandId"),
        _ => ("REGISTERS", "RegId"),
    };
    let rows: Vec<String> = names
        .iter()
        .map(|name| position(name).map_or("u16::MAX".to_owned(), |i| i.to_string()))
        .collect();
    line!(
        out,
        "/// Index into {list} by identifier; the highest number for what this generation lacks."
    );
    line!(
        out,
        "static {list}_BY_ID: [u16; {}] = [{}];",
        rows.len(),
        rows.join(",")
    );
    line!(out, "/// Descriptor in this generation, if it is there.");
    line!(
        out,
        "pub fn {}_desc(id: {id}) -> Option<&'static {what}Desc> {{",
        what.to_ascii_lowercase()
    );
    line!(out, "let i = *{list}_BY_ID.get(id as usize)?;");
    line!(out, "{list}.get(usize::from(i)).copied()\n}}");
}

/// Source of the identifiers that all generations share.
pub fn ids(all: &[Tables]) -> String {
    let mut out = String::new();
    enumeration(
        &mut out,
        "CommandId",
        "A command by name.",
        &command_names(all),
    );
    let registers = register_names(all);
    enumeration(&mut out, "RegId", "A register by name.", &registers);
    let mut units: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for r in all.iter().flat_map(|t| &t.registers) {
        units.entry(&r.unit).or_default().insert(&r.name);
    }
    unit_enums(&mut out, &units);
    out
}

fn enumeration(out: &mut String, name: &str, doc: &str, items: &BTreeSet<&str>) {
    line!(out, "/// {doc}");
    line!(
        out,
        "#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]"
    );
    line!(out, "#[repr(u16)]");
    if items.is_empty() {
        line!(out, "#[non_exhaustive]");
        line!(out, "pub enum {name} {{ None }}");
    } else {
        line!(out, "pub enum {name} {{");
        for item in items {
            line!(out, "/// {item}\n{},", names::camel(item));
        }
        line!(out, "}}");
    }
    line!(out, "impl {name} {{");
    line!(out, "/// All of them, alphabetically.");
    line!(out, "pub const ALL: &'static [Self] = &[");
    for item in items {
        line!(out, "Self::{},", names::camel(item));
    }
    line!(out, "];");
    line!(out, "/// The manual's name.");
    line!(
        out,
        "pub const fn name(self) -> &'static str {{ match self {{"
    );
    for item in items {
        line!(out, "Self::{} => {item:?},", names::camel(item));
    }
    if items.is_empty() {
        line!(out, "_ => \"\",");
    }
    line!(out, "}} }}\n}}");
}

fn unit_enums(out: &mut String, units: &BTreeMap<&str, BTreeSet<&str>>) {
    line!(out, "/// A register sorted by the unit that implements it.");
    line!(
        out,
        "#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]"
    );
    line!(out, "pub enum UnitReg {{");
    for unit in units.keys() {
        let u = names::camel(unit);
        line!(out, "/// {unit}\n{u}({u}Reg),");
    }
    if units.is_empty() {
        line!(out, "None,");
    }
    line!(out, "}}");
    line!(out, "impl RegId {{");
    line!(
        out,
        "/// The register as a value of its unit's enumeration."
    );
    line!(out, "pub const fn unit(self) -> UnitReg {{ match self {{");
    for (unit, names_) in units {
        let u = names::camel(unit);
        for n in names_ {
            let id = names::camel(n);
            line!(out, "Self::{id} => UnitReg::{u}({u}Reg::{id}),");
        }
    }
    if units.is_empty() {
        line!(out, "_ => UnitReg::None,");
    }
    line!(out, "}} }}\n}}");
    for (unit, names_) in units {
        let u = format!("{}Reg", names::camel(unit));
        enumeration(out, &u, &format!("A register of {unit}."), names_);
        line!(out, "impl {u} {{");
        line!(out, "/// The same register among all.");
        line!(out, "pub const fn id(self) -> RegId {{ match self {{");
        for n in names_ {
            let id = names::camel(n);
            line!(out, "Self::{id} => RegId::{id},");
        }
        line!(out, "}} }}\n}}");
    }
}

/// `&[ValueDesc { .. }]`
fn value_list(values: &[Value]) -> String {
    let mut out = String::from("&[");
    for v in values {
        let _ = write!(
            out,
            "ValueDesc {{ value: {}, name: {:?}, summary: {:?} }}, ",
            v.value, v.name, v.summary
        );
    }
    out.push(']');
    out
}

fn values(out: &mut String, t: &Tables, earlier: &Earlier<'_>) {
    line!(
        out,
        "/// Named values of fields, one module per enumeration."
    );
    line!(out, "pub mod values {{");
    for (module, list) in &t.values {
        if let Some(from) = earlier.values(module) {
            line!(out, "pub use crate::{from}::values::{module};");
            continue;
        }
        line!(out, "/// {module}");
        line!(out, "pub mod {module} {{");
        for v in list {
            line!(out, "/// {} {}", v.name, v.summary);
            line!(
                out,
                "pub const {}: u32 = {};",
                names::constant(&v.name),
                v.value
            );
        }
        line!(out, "}}");
    }
    line!(out, "}}");
}

fn formats(out: &mut String, formats: &[Format]) {
    line!(out, "/// Surface formats by code.");
    line!(
        out,
        "pub static SURFACE_FORMATS: [SurfaceFormatDesc; {}] = [",
        formats.len()
    );
    for f in formats {
        let mut channels = String::from("&[");
        for c in &f.channels {
            let _ = write!(
                channels,
                "ChannelDesc {{ letter: b{:?}, start: {}, bits: {}, kind: ChannelKind::{} }}, ",
                c.letter, c.start, c.bits, c.kind
            );
        }
        channels.push(']');
        let cap = |letter: char| f.caps.contains(letter);
        line!(
            out,
            "SurfaceFormatDesc {{ code: {}, name: {:?}, bits_per_element: {}, block_width: {}, block_height: {}, channels: {channels}, sampling: {}, filtering: {}, shadow: {}, chroma_key: {}, render_target: {}, alpha_blend: {}, vertex_input: {}, streamed_output: {}, summary: {:?} }},",
            f.code,
            f.name,
            f.bits,
            f.block[0],
            f.block[1],
            cap('S'),
            cap('F'),
            cap('H'),
            cap('K'),
            cap('R'),
            cap('B'),
            cap('V'),
            cap('O'),
            f.summary
        );
    }
    line!(out, "];");
    line!(out, "/// The format with this encoding.");
    line!(
        out,
        "pub fn surface_format(code: u32) -> Option<&'static SurfaceFormatDesc> {{"
    );
    line!(
        out,
        "let i = SURFACE_FORMATS.binary_search_by_key(&code, |f| f.code).ok()?;"
    );
    line!(out, "SURFACE_FORMATS.get(i)\n}}");
}
