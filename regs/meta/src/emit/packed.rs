//! Accessors and descriptors of commands and state structures.
//! Getters are constant expressions on fixed arrays and cannot fail.

use std::fmt::Write;

use crate::emit::{line, value_list};
use crate::model::{Command, Field, Kind, Privilege, Structure, Tables};
use crate::names;
use crate::origin::Earlier;
use crate::schema::{Group, Length};

/// Bits of a header behind those that commands are listed by: type, and opcode or what stands in its place.
const KIND_SHIFT: u32 = 23;

/// Types and descriptors of all structures.
pub fn structures(out: &mut String, t: &Tables, earlier: &Earlier<'_>) {
    for s in &t.structures {
        match earlier.structure_type(s) {
            Some(from) => line!(out, "pub use crate::{from}::{};", names::camel(&s.name)),
            None => structure_type(out, s),
        }
        match earlier.structure_desc(s) {
            Some(from) => line!(out, "pub use crate::{from}::{};", upper(&s.name)),
            None => structure_desc(out, s),
        }
    }
    line!(out, "/// All structures by name.");
    line!(
        out,
        "pub static STRUCTURES: [&StructDesc; {}] = [",
        t.structures.len()
    );
    for s in &t.structures {
        line!(out, "&{},", upper(&s.name));
    }
    line!(out, "];");
}

fn structure_type(out: &mut String, s: &Structure) {
    let ty = names::camel(&s.name);
    type_head(
        out,
        &ty,
        s.dwords,
        &format!("{}: {} ({})", s.name, s.summary, s.cite),
    );
    line!(out, "impl {ty} {{");
    line!(out, "/// Alignment of its address in bytes.");
    line!(out, "pub const ALIGN: u32 = {};", s.align);
    defaults(out, &s.fields, 0, s.dwords);
    for f in &s.fields {
        accessors(out, f);
    }
    line!(out, "}}");
}

fn structure_desc(out: &mut String, s: &Structure) {
    line!(out, "/// Descriptor of {}.", s.name);
    line!(
        out,
        "pub static {}: StructDesc = StructDesc {{ name: {:?}, dwords: {}, unit: {:?}, align: {}, fields: {}, cite: {:?}, summary: {:?}, anomaly: {:?} }};",
        upper(&s.name),
        s.name,
        s.dwords,
        s.unit,
        s.align,
        field_list(&s.fields),
        s.cite,
        s.summary,
        s.anomaly.as_deref().unwrap_or("")
    );
}

/// Types and descriptors of all commands, and the lookup by header.
pub fn commands(out: &mut String, t: &Tables, earlier: &Earlier<'_>) {
    for c in &t.commands {
        match earlier.command_type(c) {
            Some(from) => line!(out, "pub use crate::{from}::{};", names::camel(&c.name)),
            None => command_type(out, c),
        }
        let desc = upper(&c.name);
        if let Some(from) = earlier.command_desc(c) {
            line!(out, "pub use crate::{from}::{desc};");
        } else {
            line!(out, "/// Descriptor of {}.", c.name);
            line!(out, "pub static {desc}: CommandDesc = {};", command_desc(c));
        }
    }
    line!(out, "/// All commands by opcode.");
    line!(
        out,
        "pub static COMMANDS: [&CommandDesc; {}] = [",
        t.commands.len()
    );
    for c in &t.commands {
        line!(out, "&{},", upper(&c.name));
    }
    line!(out, "];");
    by_opcode(out, t);
    line!(out, "/// The command that a header dword starts.");
    line!(
        out,
        "pub fn command(header: u32) -> Option<&'static CommandDesc> {{"
    );
    line!(out, "COMMANDS_BY_OPCODE.find(header)\n}}");
}

/// Commands by the bits that all of one kind share, so that few are compared with a header.
fn by_opcode(out: &mut String, t: &Tables) {
    let mut first = Vec::new();
    let mut order: Vec<String> = Vec::new();
    for kind in 0..1u32 << (32 - KIND_SHIFT) {
        first.push(order.len().to_string());
        let bits = kind << KIND_SHIFT;
        let kind_mask = u32::MAX << KIND_SHIFT;
        let is_of_kind = |c: &&Command| (bits ^ c.value) & c.mask & kind_mask == 0;
        let commands = t.commands.iter().filter(is_of_kind);
        order.extend(commands.map(|c| format!("&{}", upper(&c.name))));
    }
    first.push(order.len().to_string());
    line!(out, "/// The same by the first bits of their headers.");
    line!(
        out,
        "static COMMANDS_BY_OPCODE: CommandIndex = CommandIndex {{ shift: {KIND_SHIFT}, first: &[{}], commands: &[{}] }};",
        first.join(","),
        order.join(",")
    );
}

fn command_type(out: &mut String, c: &Command) {
    let ty = names::camel(&c.name);
    type_head(
        out,
        &ty,
        c.max_dwords,
        &format!("{}: {} ({})", c.name, c.summary, c.cite),
    );
    line!(out, "impl {ty} {{");
    line!(out, "/// Opcode bits and default length.");
    line!(out, "pub const HEADER: u32 = {:#010x};", c.header());
    line!(out, "/// Its name as an enumeration value.");
    line!(out, "pub const ID: CommandId = CommandId::{ty};");
    defaults(out, &c.fields, c.header(), c.max_dwords);
    for f in &c.fields {
        accessors(out, f);
    }
    if let Some(g) = &c.group {
        group(out, g);
    }
    line!(out, "}}");
}

/// One closure per field that moves it from one set of words to another, for the round-trip test.
pub fn round_trips(out: &mut String, t: &Tables) {
    line!(out, "#[cfg(test)]");
    line!(
        out,
        "pub(crate) static ROUND_TRIPS: &[(&str, &[PackedField], &str, fn(&[u32], &[u32], &mut [u32]))] = &["
    );
    let structures = t.structures.iter().map(|s| (&s.name, &s.fields));
    let commands = t.commands.iter().map(|c| (&c.name, &c.fields));
    for (name, fields) in structures.chain(commands) {
        let ty = names::camel(name);
        let list = format!("{}.fields", upper(name));
        for f in fields {
            let get = names::snake(&f.name);
            line!(
                out,
                "({name:?}, {list}, {:?}, |a, b, o| {{ let mut t = {ty}::from_dwords(b); t.set_{get}({ty}::from_dwords(a).{get}()); o[..{ty}::LEN].copy_from_slice(t.dwords()); }}),",
                f.name
            );
        }
    }
    line!(out, "];");
}

fn upper(name: &str) -> String {
    format!("{}_DESC", names::constant(name))
}

pub(super) fn type_head(out: &mut String, ty: &str, dwords: u32, doc: &str) {
    line!(out, "/// {doc}");
    line!(out, "#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]");
    // They lie in guest memory as they are, so that memory can be read as one of them.
    line!(
        out,
        "#[derive(zerocopy::FromBytes, zerocopy::IntoBytes, zerocopy::Immutable, zerocopy::KnownLayout)]"
    );
    line!(out, "#[repr(transparent)]");
    line!(out, "pub struct {ty}(pub [u32; {dwords}]);");
    line!(
        out,
        "impl Default for {ty} {{ fn default() -> Self {{ Self([0; {dwords}]) }} }}"
    );
    line!(out, "impl {ty} {{");
    line!(out, "/// Dwords.");
    line!(out, "pub const LEN: usize = {dwords};");
    line!(
        out,
        "/// From memory; missing dwords are zero, more are ignored."
    );
    line!(out, "pub fn from_dwords(dwords: &[u32]) -> Self {{");
    line!(out, "let mut out = [0; {dwords}];");
    line!(
        out,
        "for (to, from) in out.iter_mut().zip(dwords) {{ *to = *from; }}"
    );
    line!(out, "Self(out)\n}}");
    line!(out, "/// The raw dwords.");
    line!(out, "pub fn dwords(&self) -> &[u32] {{ &self.0 }}");
    line!(out, "}}");
}

/// `new()` with header and defaults; zero for a structure without defaults.
pub(super) fn defaults(out: &mut String, fields: &[Field], header: u32, dwords: u32) {
    line!(out, "/// Header and default values, everything else zero.");
    line!(out, "pub const fn new() -> Self {{");
    line!(out, "let mut d = [0u32; {dwords}];");
    line!(out, "d[0] = {header:#x};");
    for f in fields {
        if f.default != 0 && (header == 0 || f.start >= 32) {
            line!(
                out,
                "d[{}] |= {:#x} << {};",
                f.start / 32,
                f.default,
                f.start % 32
            );
        }
    }
    line!(out, "Self(d)\n}}");
}

/// Rust type, expression from the raw `x`, raw bits from `v`.
fn conversion(f: &Field) -> (String, String, String) {
    let w = f.width;
    let same = |t: &str| (t.to_owned(), "x".to_owned(), "v".to_owned());
    match &f.kind {
        Kind::Uint => same("u32"),
        Kind::Address => {
            let lo = f.start % 32;
            ("u32".to_owned(), format!("x << {lo}"), format!("v >> {lo}"))
        }
        Kind::Int => (
            "i32".to_owned(),
            format!("field::signed(x, {w})"),
            "v as u32".to_owned(),
        ),
        Kind::Bool => (
            "bool".to_owned(),
            "x != 0".to_owned(),
            "v as u32".to_owned(),
        ),
        Kind::Float => (
            "f32".to_owned(),
            "f32::from_bits(x)".to_owned(),
            "v.to_bits()".to_owned(),
        ),
        Kind::Fixed {
            signed: false,
            frac,
        } => (
            "f32".to_owned(),
            format!("field::from_ufixed(x, {frac})"),
            format!("field::to_ufixed(v, {w}, {frac})"),
        ),
        Kind::Fixed { signed: true, frac } => (
            "f32".to_owned(),
            format!("field::from_sfixed(x, {w}, {frac})"),
            format!("field::to_sfixed(v, {w}, {frac})"),
        ),
        Kind::Struct(name) => {
            let ty = names::camel(name);
            let get = format!("{ty}([x])");
            (ty, get, "v.0[0]".to_owned())
        }
    }
}

pub(super) fn accessors(out: &mut String, f: &Field) {
    let name = names::snake(&f.name);
    let (dw, lo, w) = (f.start / 32, f.start % 32, f.width);
    let hi = lo + w - 1;
    let doc = format!("{} (dword {dw} bits {hi}:{lo}). {}", f.name, f.summary);
    let with = &name;
    let ty;
    line!(out, "/// {doc}");
    if let Kind::Struct(s) = &f.kind
        && w.is_multiple_of(32)
    {
        ty = names::camel(s);
        let end = dw + w / 32;
        line!(
            out,
            "pub fn {name}(&self) -> {ty} {{ {ty}::from_dwords(&self.0[{dw}..{end}]) }}"
        );
        line!(out, "/// Sets it.");
        line!(
            out,
            "pub fn set_{with}(&mut self, v: {ty}) -> &mut Self {{ self.0[{dw}..{end}].copy_from_slice(&v.0); self }}"
        );
    } else if hi > 31 {
        ty = "u64".to_owned();
        let full = if w == 64 {
            "u64::MAX".to_owned()
        } else {
            format!("{:#x}", (1u64 << w) - 1)
        };
        line!(
            out,
            "pub const fn {name}(&self) -> u64 {{ ((self.0[{dw}] as u64 | (self.0[{}] as u64) << 32) >> {lo}) & {full} }}",
            dw + 1
        );
        line!(out, "/// Sets it.");
        line!(out, "pub fn set_{with}(&mut self, v: u64) -> &mut Self {{");
        line!(out, "let m: u64 = {full} << {lo};");
        line!(
            out,
            "let old = self.0[{dw}] as u64 | (self.0[{}] as u64) << 32;",
            dw + 1
        );
        line!(out, "let all = (old & !m) | ((v << {lo}) & m);");
        line!(
            out,
            "self.0[{dw}] = all as u32; self.0[{}] = (all >> 32) as u32; self }}",
            dw + 1
        );
    } else {
        let (t, get, set) = conversion(f);
        ty = t;
        line!(
            out,
            "#[inline] pub fn {name}(&self) -> {ty} {{ let x = field::get(self.0[{dw}], {hi}, {lo}); {get} }}"
        );
        line!(out, "/// Sets it.");
        line!(
            out,
            "#[inline] pub fn set_{with}(&mut self, v: {ty}) -> &mut Self {{ self.0[{dw}] = field::set(self.0[{dw}], {hi}, {lo}, {set}); self }}"
        );
    }
    line!(out, "/// With it set.");
    line!(
        out,
        "#[inline] #[must_use] pub fn with_{with}(mut self, v: {ty}) -> Self {{ self.set_{with}(v); self }}"
    );
}

pub(super) fn group(out: &mut String, g: &Group) {
    let (dw, n) = (g.dword, g.dwords);
    if let Some(s) = &g.structure {
        let ty = names::camel(s);
        line!(out, "/// Elements ({}) of the whole command.", g.name);
        line!(
            out,
            "pub fn items(dwords: &[u32]) -> impl Iterator<Item = {ty}> + '_ {{ dwords.get({dw}..).unwrap_or(&[]).chunks_exact({n}).map({ty}::from_dwords) }}"
        );
    } else if g.count > 0 && n == 1 {
        let name = names::snake(&g.name);
        line!(out, "/// {} `i`, zero past the end.", g.name);
        line!(
            out,
            "pub fn {name}(&self, i: usize) -> u32 {{ if i < {} {{ self.0[{dw} + i] }} else {{ 0 }} }}",
            g.count
        );
        line!(out, "/// Sets element `i`; nothing past the end.");
        line!(
            out,
            "pub fn set_{name}(&mut self, i: usize, v: u32) -> &mut Self {{ if i < {} {{ self.0[{dw} + i] = v; }} self }}",
            g.count
        );
    }
}

fn field_list(fields: &[Field]) -> String {
    let mut out = String::from("&[");
    for f in fields {
        let kind = match &f.kind {
            Kind::Uint => "Kind::Uint".to_owned(),
            Kind::Int => "Kind::Int".to_owned(),
            Kind::Bool => "Kind::Bool".to_owned(),
            Kind::Float => "Kind::Float".to_owned(),
            Kind::Fixed { signed, frac } => {
                format!("Kind::Fixed {{ signed: {signed}, frac: {frac} }}")
            }
            Kind::Address => "Kind::Address".to_owned(),
            Kind::Struct(s) => format!("Kind::Struct(&{})", upper(s)),
        };
        line!(
            out,
            "PackedField {{ name: {:?}, start: {}, width: {}, kind: {kind}, scale: {:?}, target: {:?}, values: {}, summary: {:?} }},",
            f.name,
            f.start,
            f.width,
            f.scale,
            f.target,
            value_list(&f.values),
            f.summary
        );
    }
    out.push(']');
    out
}

fn command_desc(c: &Command) -> String {
    let length = match c.length {
        Length::Fixed => format!("LengthRule::Fixed({})", c.dwords),
        Length::Bits6 => "LengthRule::Bits6".to_owned(),
        Length::Bits8 => "LengthRule::Bits8".to_owned(),
        Length::Bits16 => "LengthRule::Bits16".to_owned(),
    };
    let group = match &c.group {
        None => "None".to_owned(),
        Some(g) => {
            let s = match &g.structure {
                None => "None".to_owned(),
                Some(s) => format!("Some(&{})", upper(s)),
            };
            format!(
                "Some(GroupDesc {{ name: {:?}, dword: {}, dwords: {}, count: {}, structure: {s} }})",
                g.name, g.dword, g.dwords, g.count
            )
        }
    };
    let privilege = match c.privilege {
        Privilege::None => "Privilege::None".to_owned(),
        Privilege::Always => "Privilege::Always".to_owned(),
        Privilege::Unless(start, width) => {
            format!("Privilege::Unless {{ start: {start}, width: {width} }}")
        }
        Privilege::When(start, width) => {
            format!("Privilege::When {{ start: {start}, width: {width} }}")
        }
    };
    format!(
        "CommandDesc {{ id: CommandId::{}, name: {:?}, unit: {:?}, mask: {:#x}, value: {:#x}, header: {:#x}, min_dwords: {}, length: {length}, properties: {:#x}, privilege: {privilege}, engines: {:#x}, fields: {}, group: {group}, cite: {:?}, summary: {:?}, anomaly: {:?}, config: {:?} }}",
        names::camel(&c.name),
        c.name,
        c.unit,
        c.mask,
        c.value,
        c.header(),
        c.min_dwords,
        c.properties,
        c.engines,
        field_list(&c.fields),
        c.cite,
        c.summary,
        c.anomaly.as_deref().unwrap_or(""),
        c.config.as_deref().unwrap_or("")
    )
}
