//! Descriptors, typed fields and lookups of MMIO registers.
//! Access rules become masks per dword.

use std::collections::BTreeSet;
use std::fmt::Write;

use crate::emit::{line, value_list};
use crate::model::{Register, RegisterField, Tables, mask128};
use crate::names;
use crate::origin::Earlier;
use crate::schema::{Access, Space};

/// Everything about registers.
pub fn registers(out: &mut String, t: &Tables, earlier: &Earlier<'_>) {
    // What an earlier generation has as well is exported again.
    let item = |out: &mut String,
                module: &str,
                r: &Register,
                from: Option<&str>,
                own: &dyn Fn(&mut String)| match from {
        Some(from) => line!(
            out,
            "pub use crate::{from}::{module}::{};",
            names::constant(&r.name)
        ),
        None => own(out),
    };
    line!(out, "/// Descriptors of registers by name.");
    line!(out, "pub mod descs {{");
    line!(out, "use super::*;");
    for r in &t.registers {
        item(out, "descs", r, earlier.register_desc(r), &|out| {
            line!(out, "/// {}", r.summary);
            line!(
                out,
                "pub static {}: RegisterDesc = {};",
                names::constant(&r.name),
                desc(r)
            );
        });
    }
    line!(out, "}}");
    line!(out, "/// All registers by rising offset.");
    line!(
        out,
        "pub static REGISTERS: [&RegisterDesc; {}] = [",
        t.registers.len()
    );
    for r in &t.registers {
        line!(out, "&descs::{},", names::constant(&r.name));
    }
    line!(out, "];");
    lookup(out, t);
    line!(out, "/// Typed fields, one module per register.");
    line!(out, "pub mod fields {{");
    for width in [32, 64, 128] {
        for r in t.registers.iter().filter(|r| r.bits == width) {
            let from = earlier.register_fields(r);
            item(out, "fields", r, from, &|out| bitfields(out, r));
        }
    }
    line!(out, "}}");
    line!(out, "/// Typed handles, one constant per register.");
    line!(out, "pub mod reg {{");
    line!(
        out,
        "use super::fields; use crate::field::{{Reg, RegArray}};"
    );
    for r in &t.registers {
        let from = earlier.register_handle(r);
        item(out, "reg", r, from, &|out| handle(out, r));
    }
    line!(out, "}}");
}

fn handle(out: &mut String, r: &Register) {
    let id = names::constant(&r.name);
    let ty = format!("u{}, fields::{id}::Register", r.bits);
    line!(out, "/// {}", r.summary);
    if r.count == 1 {
        line!(
            out,
            "pub const {id}: Reg<{ty}> = Reg::new({:#x});",
            r.offset
        );
    } else {
        line!(
            out,
            "pub const {id}: RegArray<{ty}> = RegArray::new({:#x}, {}, {});",
            r.offset,
            r.stride,
            r.count
        );
    }
}

fn access(a: Access) -> &'static str {
    match a {
        Access::Ro => "Access::Ro",
        Access::Rw => "Access::Rw",
        Access::Wo => "Access::Wo",
        Access::W1c => "Access::W1c",
        Access::W1s => "Access::W1s",
        Access::Masked => "Access::Masked",
        Access::Rc => "Access::Rc",
    }
}

fn reset(value: Option<u128>) -> String {
    value.map_or_else(|| "None".to_owned(), |v| format!("Some({v:#x})"))
}

fn desc(r: &Register) -> String {
    let mut fields = String::from("&[");
    for f in &r.fields {
        line!(
            fields,
            "FieldDesc {{ name: {:?}, hi: {}, lo: {}, access: {}, reset: {}, mbz: {}, qualified: {}, mux: {}, values: {}, summary: {:?} }},",
            f.name,
            f.hi,
            f.lo,
            access(f.access),
            reset(f.reset),
            f.mbz,
            f.qualified,
            f.mux,
            value_list(&f.values),
            f.summary
        );
    }
    fields.push(']');
    let mut rules = String::from("&[");
    for dword in 0..r.bits / 32 {
        rules.push_str(&rule(r, dword));
    }
    rules.push(']');
    format!(
        "RegisterDesc {{ id: RegId::{}, name: {:?}, space: Space::{:?}, offset: {:#x}, bits: {}, count: {}, stride: {}, access: {}, reset: {}, unit: {:?}, fields: {fields}, rules: {rules}, cite: {:?}, summary: {:?}, anomaly: {:?}, config: {:?} }}",
        names::camel(&r.name),
        r.name,
        r.space,
        r.offset,
        r.bits,
        r.count,
        r.stride,
        access(r.access),
        reset(r.reset),
        r.unit,
        r.cite,
        r.summary,
        r.anomaly.as_deref().unwrap_or(""),
        r.config.as_deref().unwrap_or("")
    )
}

fn rule(r: &Register, dword: u32) -> String {
    let part = |f: &RegisterField| (mask128(f.hi, f.lo) >> (dword * 32)) as u32;
    let bits = |wanted: &[Access]| {
        let mut m = 0u32;
        for f in r
            .fields
            .iter()
            .filter(|f| !f.mbz && wanted.contains(&f.access))
        {
            m |= part(f);
        }
        if r.fields.is_empty() && r.reserved.is_empty() && wanted.contains(&r.access) {
            m = u32::MAX;
        }
        m
    };
    let reset = (r.reset.unwrap_or(0) >> (dword * 32)) as u32
        | r.fields.iter().fold(0, |acc, f| {
            acc | ((f.reset.unwrap_or(0) << f.lo) >> (dword * 32)) as u32
        });
    let readable = [
        Access::Ro,
        Access::Rw,
        Access::W1c,
        Access::W1s,
        Access::Masked,
        Access::Rc,
    ];
    format!(
        "DwordRules {{ rw: {:#x}, w1c: {:#x}, w1s: {:#x}, masked: {:#x}, readable: {:#x}, rc: {:#x}, reset: {reset:#x} }}, ",
        bits(&[Access::Rw, Access::Wo, Access::Rc]),
        bits(&[Access::W1c]),
        bits(&[Access::W1s]),
        bits(&[Access::Masked]),
        bits(&readable),
        bits(&[Access::Rc]),
    )
}

fn lookup(out: &mut String, t: &Tables) {
    let mut rows: Vec<(u32, usize, u32, u32)> = Vec::new();
    let mut taken = BTreeSet::new();
    let mut ranges = Vec::new();
    for (i, r) in t.registers.iter().enumerate() {
        if r.space != Space::Mmio {
            continue;
        }
        if r.count > 256 && r.bits == 32 && r.stride == 4 {
            ranges.push((r.offset, r.offset + r.count * 4, i));
            continue;
        }
        for element in 0..r.count {
            for dword in 0..r.bits / 32 {
                let at = r.offset + element * r.stride + dword * 4;
                if taken.insert(at) {
                    rows.push((at, i, element, dword));
                }
            }
        }
    }
    rows.sort_unstable();
    line!(
        out,
        "/// Offset, index into REGISTERS, element, dword; by rising offset."
    );
    line!(
        out,
        "static OFFSETS: [(u32, u16, u16, u8); {}] = [",
        rows.len()
    );
    for (at, i, element, dword) in rows {
        line!(out, "({at:#x}, {i}, {element}, {dword}),");
    }
    line!(out, "];");
    line!(
        out,
        "/// First offset, end, index into REGISTERS of long dword arrays."
    );
    line!(
        out,
        "static RANGES: [(u32, u32, u16); {}] = {ranges:#x?};",
        ranges.len()
    );
    line!(
        out,
        "/// Register, array index and dword at an MMIO byte offset (bits 1:0 ignored)."
    );
    line!(
        out,
        "pub fn lookup(offset: u32) -> Option<(RegId, u32, u32)> {{"
    );
    line!(
        out,
        "if let Some(&(from, _, r)) = RANGES.iter().find(|r| offset >= r.0 && offset < r.1) {{"
    );
    line!(
        out,
        "return Some((REGISTERS.get(r as usize)?.id, (offset - from) / 4, 0)); }}"
    );
    line!(
        out,
        "let i = OFFSETS.binary_search_by_key(&(offset & !3), |r| r.0).ok()?;"
    );
    line!(out, "let (_, r, element, dword) = *OFFSETS.get(i)?;");
    line!(out, "let desc = REGISTERS.get(r as usize)?;");
    line!(out, "Some((desc.id, element as u32, dword as u32))\n}}");
}

fn bitfields(out: &mut String, r: &Register) {
    let id = names::constant(&r.name);
    line!(
        out,
        "tock_registers::register_bitfields![u{}, pub {id} [",
        r.bits
    );
    if r.fields.is_empty() {
        line!(out, "VALUE OFFSET(0) NUMBITS({}) [],", r.bits);
    }
    for f in &r.fields {
        let name = names::constant(&f.name);
        line!(
            out,
            "{name} OFFSET({}) NUMBITS({}) [",
            f.lo,
            f.hi - f.lo + 1
        );
        if r.bits <= 64 {
            let mut seen = BTreeSet::new();
            let mut parts = Vec::new();
            for v in &f.values {
                let mut ident = names::camel(&v.name);
                if ident.is_empty() || ident == "Self" || !seen.insert(ident.clone()) {
                    ident = format!("{ident}V{}", v.value);
                    seen.insert(ident.clone());
                }
                parts.push(format!("{ident} = {}", v.value));
            }
            line!(out, "{}", parts.join(",\n"));
        }
        line!(out, "],");
    }
    line!(out, "]];");
}
