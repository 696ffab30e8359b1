//! Types of what generations lay out differently, with the fields that they share.
//! A field that one of them lacks or has elsewhere is left out, so that a use of it does not compile.

use std::collections::BTreeMap;
use std::fmt::Write;

use super::packed::{accessors, defaults, group, type_head};
use crate::emit::line;
use crate::model::{Command, Field, Kind, Register, RegisterField, Structure, Tables};
use crate::names;

/// The field of a command that every generation has at bit 0.
const LENGTH: &str = "DWord Length";

/// What a type is made of.
struct Shape<'a> {
    dwords: u32,
    align: Option<u32>,
    /// Header, with mask and value of the opcode.
    header: Option<(u32, u32, u32)>,
    fields: &'a [Field],
    group: Option<&'a crate::schema::Group>,
}

impl<'a> From<&'a Structure> for Shape<'a> {
    fn from(s: &'a Structure) -> Self {
        Shape {
            dwords: s.dwords,
            align: Some(s.align),
            header: None,
            fields: &s.fields,
            group: None,
        }
    }
}

impl<'a> From<&'a Command> for Shape<'a> {
    fn from(c: &'a Command) -> Self {
        Shape {
            dwords: c.max_dwords,
            align: None,
            header: Some((c.header(), c.mask, c.value)),
            fields: &c.fields,
            group: c.group.as_ref(),
        }
    }
}

/// Types of all names that two generations have and that are not among the `agreed` ones.
pub fn types(out: &mut String, all: &[Tables], agreed: &BTreeMap<String, String>) {
    let mut shapes: BTreeMap<&str, Vec<Shape<'_>>> = BTreeMap::new();
    for t in all {
        for s in &t.structures {
            shapes.entry(&s.name).or_default().push(s.into());
        }
        for c in &t.commands {
            shapes.entry(&c.name).or_default().push(c.into());
        }
    }
    for (name, shapes) in shapes {
        if let Some((first, others)) = shapes.split_first()
            && !others.is_empty()
            && !agreed.contains_key(name)
        {
            one(out, name, first, others, agreed);
        }
    }
}

fn one(
    out: &mut String,
    name: &str,
    first: &Shape<'_>,
    others: &[Shape<'_>],
    agreed: &BTreeMap<String, String>,
) {
    let place = |f: &Field| (f.name.clone(), f.start, f.width, f.kind.clone());
    let known = |f: &Field| match &f.kind {
        Kind::Struct(name) => agreed.contains_key(name),
        _ => true,
    };
    let everywhere = |f: &&Field| {
        let has = |o: &Shape<'_>| o.fields.iter().any(|g| place(g) == place(f));
        known(f) && others.iter().all(has)
    };
    let mut fields: Vec<Field> = first.fields.iter().filter(everywhere).cloned().collect();
    // The length of a command grows upwards: what all of them have is the narrowest.
    let length = |fields: &[Field]| fields.first().filter(|f| f.name == LENGTH).cloned();
    let lengths = others.iter().map(|o| length(o.fields));
    let lengths: Option<Vec<Field>> = lengths.chain([length(first.fields)]).collect();
    if length(&fields).is_none()
        && let Some(narrow) = lengths.and_then(|l| l.into_iter().min_by_key(|f| f.width))
    {
        fields.insert(0, narrow);
    }
    if fields.is_empty() && first.header.is_none() {
        return;
    }
    let ty = names::camel(name);
    let dwords = others.iter().map(|o| o.dwords).min().unwrap_or(0);
    let dwords = dwords.min(first.dwords);
    let doc = format!("{name}: what its generations share");
    type_head(out, &ty, dwords, &doc);
    line!(out, "impl {ty} {{");
    if let Some((header, mask, value)) = first.header {
        line!(out, "/// Bits of a header that say which command it is.");
        line!(out, "pub const MASK: u32 = {mask:#010x};");
        line!(out, "/// Their value.");
        line!(out, "pub const VALUE: u32 = {value:#010x};");
        line!(out, "/// Its name as an enumeration value.");
        line!(out, "pub const ID: CommandId = CommandId::{ty};");
        let alike = |o: &Shape<'_>| o.header == first.header && o.dwords == first.dwords;
        if others.iter().all(alike) {
            line!(out, "/// Opcode bits and default length.");
            line!(out, "pub const HEADER: u32 = {header:#010x};");
            defaults(out, &fields, header, dwords);
        }
    }
    if let Some(align) = first.align
        && others.iter().all(|o| o.align == first.align)
    {
        line!(out, "/// Alignment of its address in bytes.");
        line!(out, "pub const ALIGN: u32 = {align};");
    }
    for f in &fields {
        accessors(out, f);
    }
    if let Some(g) = first.group
        && others.iter().all(|o| o.group == first.group)
        && (g.structure.as_ref()).is_none_or(|s| agreed.contains_key(s))
    {
        group(out, g);
    }
    line!(out, "}}");
}

/// The oldest generation with a register that two have and that is not among the `agreed` ones, and the register of each.
fn registers<'a>(
    all: &'a [Tables],
    agreed: &BTreeMap<String, String>,
) -> Vec<(&'a str, &'a Register, Vec<&'a Register>)> {
    let mut found: BTreeMap<&str, (&str, Vec<&Register>)> = BTreeMap::new();
    for t in all {
        for r in t.registers.iter().filter(|r| !agreed.contains_key(&r.name)) {
            let entry = found.entry(&r.name);
            let (_, list) = entry.or_insert((&t.generation, Vec::new()));
            list.push(r);
        }
    }
    let several = found.into_values().filter(|(_, list)| list.len() > 1);
    several
        .map(|(from, list)| (from, list[0], list[1..].to_vec()))
        .collect()
}

/// Constants of the fields that all these registers have in one place.
fn shared(first: &Register, others: &[&Register]) -> Vec<String> {
    let key = |f: &RegisterField| {
        let values = f.values.iter().map(|v| (v.value, v.name.clone()));
        (f.name.clone(), f.hi, f.lo, values.collect::<Vec<_>>())
    };
    let everywhere = |f: &&RegisterField| {
        let has = |o: &&Register| o.fields.iter().any(|g| key(g) == key(f));
        others.iter().all(|o| o.bits == first.bits && has(o))
    };
    let fields = first.fields.iter().filter(everywhere);
    fields.map(|f| names::constant(&f.name)).collect()
}

/// Typed fields that all which have a register have in one place: those of the oldest.
pub fn fields(out: &mut String, all: &[Tables], agreed: &BTreeMap<String, String>) {
    for (from, first, others) in registers(all, agreed) {
        let list = shared(first, &others);
        if list.is_empty() {
            continue;
        }
        let (name, list) = (names::constant(&first.name), list.join(", "));
        line!(out, "/// {}", first.summary);
        line!(
            out,
            "#[allow(non_snake_case, reason = \"the register's name\")]"
        );
        line!(
            out,
            "pub mod {name} {{ pub use crate::{from}::fields::{name}::{{{list}, Register}}; }}"
        );
    }
}

/// Handles of registers that all which have them have in one place, with a field that they share: those of the oldest.
pub fn handles(out: &mut String, all: &[Tables], agreed: &BTreeMap<String, String>) {
    let place = |r: &Register| (r.offset, r.bits, r.count, r.stride);
    for (from, first, others) in registers(all, agreed) {
        let alike = others.iter().all(|o| place(o) == place(first));
        if alike && !shared(first, &others).is_empty() {
            let name = names::constant(&first.name);
            line!(out, "pub use crate::{from}::reg::{name};");
        }
    }
}
