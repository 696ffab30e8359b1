//! Resolves bit ranges and lists, and refuses tables that contradict themselves.
//! Does not know what any register means.

mod packed;
mod registers;

use std::collections::{BTreeMap, BTreeSet};

use crate::model::{Section, Tables, bit_range, mask128};
use crate::schema::{Access, File, Reset, Space, Value};
use crate::{Error, names};

struct Checker<'a> {
    findings: Vec<String>,
    enums: BTreeMap<&'a str, &'a [Value]>,
    structs: BTreeMap<&'a str, u32>,
    modules: BTreeMap<String, Vec<Value>>,
}

/// Turns merged files into tables, or lists everything wrong with them.
pub fn resolve(generation: &str, files: &[(String, File)]) -> Result<Tables, Error> {
    let mut check = Checker {
        findings: Vec::new(),
        enums: BTreeMap::new(),
        structs: BTreeMap::new(),
        modules: BTreeMap::new(),
    };
    let mut out = Tables {
        generation: generation.to_owned(),
        ..Tables::default()
    };
    for (_, file) in files {
        for e in &file.enumeration {
            check.cited(&e.name, &e.cite, "enum");
            check.values(&e.name, &e.values, u32::MAX);
            check.module(&names::module(&e.name), &e.values, &e.name);
            if check.enums.insert(&e.name, &e.values).is_some() {
                check.say(&e.name, "defined twice");
            }
        }
        for s in &file.structure {
            check.structs.insert(&s.name, s.dwords);
        }
    }
    for (index, (name, file)) in files.iter().enumerate() {
        out.sections.push(Section {
            generation: file.generation.clone(),
            file: name.clone(),
            title: file.section.clone(),
            note: file.note.clone(),
        });
        let mut last = 0;
        for r in &file.register {
            if r.offset < last {
                check.say(&r.name, "out of offset order");
            }
            last = r.offset;
            let resolved = check.register(index, r);
            out.registers.push(resolved);
        }
        for c in &file.command {
            let resolved = check.command(index, c);
            out.commands.push(resolved);
        }
        for s in &file.structure {
            let resolved = check.structure(index, s);
            out.structures.push(resolved);
        }
        for f in &file.format {
            let resolved = check.format(index, f);
            out.formats.push(resolved);
        }
    }
    out.registers
        .sort_by(|a, b| (a.offset, &a.name).cmp(&(b.offset, &b.name)));
    out.commands.sort_by_key(|c| c.value);
    out.structures.sort_by(|a, b| a.name.cmp(&b.name));
    out.formats.sort_by_key(|f| f.code);
    check.whole(&out, files);
    if !out.formats.is_empty() {
        let values = out
            .formats
            .iter()
            .map(|f| Value {
                value: f.code,
                name: f.name.clone(),
                summary: String::new(),
            })
            .collect::<Vec<_>>();
        check.module("surface_format", &values, "surface formats");
        for field in out
            .structures
            .iter_mut()
            .flat_map(|s| s.fields.iter_mut())
            .filter(|f| f.module.as_deref() == Some("surface_format"))
        {
            field.values.clone_from(&values);
        }
    }
    out.values = check.modules.into_iter().collect();
    if check.findings.is_empty() {
        Ok(out)
    } else {
        Err(Error::Invalid {
            generation: generation.to_owned(),
            findings: check.findings,
        })
    }
}

impl Checker<'_> {
    pub(super) fn say(&mut self, name: &str, what: &str) {
        self.findings.push(format!("{name}: {what}"));
    }

    pub(super) fn cited(&mut self, name: &str, cite: &str, summary: &str) {
        if cite.trim().is_empty() {
            self.say(name, "no citation");
        }
        if summary.trim().is_empty() {
            self.say(name, "no summary");
        }
    }

    pub(super) fn values(&mut self, name: &str, values: &[Value], max: u32) {
        let mut numbers = BTreeSet::new();
        let mut labels = BTreeSet::new();
        for v in values {
            if v.value > max {
                self.say(name, &format!("value {} does not fit", v.value));
            }
            if !numbers.insert(v.value) {
                self.say(name, &format!("value {} defined twice", v.value));
            }
            if !labels.insert(names::constant(&v.name)) {
                self.say(name, &format!("value name {} used twice", v.name));
            }
        }
    }

    /// Collects constants; lists that share a module must agree.
    pub(super) fn module(&mut self, module: &str, values: &[Value], name: &str) {
        let mut clash = Vec::new();
        let list = self.modules.entry(module.to_owned()).or_default();
        for v in values {
            let ident = names::constant(&v.name);
            match list.iter().find(|x| names::constant(&x.name) == ident) {
                Some(x) if x.value != v.value => clash.push(ident),
                Some(_) => {}
                None => list.push(v.clone()),
            }
        }
        list.sort_by_key(|v| v.value);
        for ident in clash {
            self.say(
                name,
                &format!("{module}::{ident} has two values; set `prefix`"),
            );
        }
    }

    pub(super) fn reset(&mut self, name: &str, reset: &Reset, bits: u32) -> Option<u128> {
        let value = match reset {
            Reset::Number(n) => u128::try_from(*n).ok(),
            Reset::Text(t) if t == "undefined" => return None,
            Reset::Text(t) => t
                .strip_prefix("0x")
                .and_then(|h| u128::from_str_radix(&h.replace('_', ""), 16).ok()),
        };
        if let Some(v) = value.filter(|v| v & !mask128(bits - 1, 0) == 0) {
            return Some(v);
        }
        self.say(name, "bad reset value");
        None
    }

    pub(super) fn ranges(&mut self, name: &str, texts: &[String], bits: u32) -> Vec<(u32, u32)> {
        let mut out = Vec::new();
        for text in texts {
            match bit_range(text).filter(|r| r.0 < bits) {
                Some(range) => out.push(range),
                None => self.say(name, &format!("bad bit range {text}")),
            }
        }
        out
    }

    pub(super) fn shared(&mut self, label: &str, name: &str) -> Vec<Value> {
        if let Some(values) = self.enums.get(name) {
            return values.to_vec();
        }
        self.say(label, &format!("enum {name} not defined"));
        Vec::new()
    }

    /// What only shows over all files: names, opcodes, offsets and codes used twice.
    fn whole(&mut self, t: &Tables, files: &[(String, File)]) {
        let excused: BTreeSet<&str> = files
            .iter()
            .flat_map(|(_, f)| &f.register)
            .filter(|r| r.overlap.is_some() || r.config.is_some())
            .map(|r| r.name.as_str())
            .collect();
        let mut idents = BTreeSet::new();
        let all = (t.commands.iter().map(|c| &c.name))
            .chain(t.structures.iter().map(|s| &s.name))
            .chain(t.registers.iter().map(|r| &r.name));
        for name in all {
            if !idents.insert(names::camel(name)) {
                self.say(name, "name used twice");
            }
        }
        let mut opcodes = BTreeMap::new();
        for c in &t.commands {
            if let Some(other) = opcodes.insert(c.value, &c.name) {
                self.say(&c.name, &format!("same opcode as {other}"));
            }
        }
        let mut codes = BTreeSet::new();
        for f in &t.formats {
            if !codes.insert(f.code) {
                self.say(&f.name, "format code used twice");
            }
        }
        let mut offsets: BTreeMap<u32, &str> = BTreeMap::new();
        for r in &t.registers {
            if r.space != Space::Mmio {
                continue;
            }
            for i in 0..r.count {
                for dword in 0..r.bits / 32 {
                    let at = r.offset.wrapping_add(i * r.stride + dword * 4);
                    if let Some(other) = offsets.insert(at, &r.name)
                        && !(excused.contains(r.name.as_str()) || excused.contains(other))
                    {
                        self.say(&r.name, &format!("offset {at:#x} also in {other}"));
                    }
                }
            }
            if r.access == Access::Masked && r.fields.iter().any(|f| f.hi > 15) {
                self.say(&r.name, "a masked register has fields above bit 15");
            }
        }
    }
}
