//! Resolves bit ranges and lists, and refuses tables that contradict themselves.
//! No PRM chapter. Does not know what any register means.

use std::collections::{BTreeMap, BTreeSet};

use crate::model::{
    Channel, Command, Field, Format, Kind, Register, RegisterField, Section, Structure, Tables,
    bit_range, mask128,
};
use crate::schema::{self, Access, File, Length, Reset, Space, Value};
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
    fn say(&mut self, name: &str, what: &str) {
        self.findings.push(format!("{name}: {what}"));
    }

    fn cited(&mut self, name: &str, cite: &str, summary: &str) {
        if cite.trim().is_empty() {
            self.say(name, "no citation");
        }
        if summary.trim().is_empty() {
            self.say(name, "no summary");
        }
    }

    fn values(&mut self, name: &str, values: &[Value], max: u32) {
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
    fn module(&mut self, module: &str, values: &[Value], name: &str) {
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

    fn reset(&mut self, name: &str, reset: &Reset, bits: u32) -> Option<u128> {
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

    fn ranges(&mut self, name: &str, texts: &[String], bits: u32) -> Vec<(u32, u32)> {
        let mut out = Vec::new();
        for text in texts {
            match bit_range(text).filter(|r| r.0 < bits) {
                Some(range) => out.push(range),
                None => self.say(name, &format!("bad bit range {text}")),
            }
        }
        out
    }

    fn register(&mut self, section: usize, r: &schema::Register) -> Register {
        self.cited(&r.name, &r.cite, &r.summary);
        let mut bits = r.bits;
        if !matches!(bits, 32 | 64 | 128) {
            self.say(&r.name, "bits is not 32, 64 or 128");
            bits = 32;
        }
        if !r.offset.is_multiple_of(4) || r.count == 0 || r.count > 1 << 20 {
            self.say(&r.name, "bad offset or count");
        }
        let stride = r.stride.unwrap_or(bits / 8);
        if stride < bits / 8 || !stride.is_multiple_of(4) {
            self.say(&r.name, "bad stride");
        }
        let reset = self.reset(&r.name, &r.reset, bits);
        let mut reserved = self.ranges(&r.name, &r.mbz, bits);
        reserved.extend(self.ranges(&r.name, &r.reserved, bits));
        let mut fields = Vec::new();
        let mut seen = BTreeSet::new();
        for f in &r.field {
            let label = format!("{}.{}", r.name, f.name);
            let Some((hi, lo)) = bit_range(&f.bits).filter(|x| x.0 < bits) else {
                self.say(&label, "bad bit range");
                continue;
            };
            if !seen.insert(names::constant(&f.name)) {
                self.say(&label, "field name used twice");
            }
            let max = u32::try_from(mask128(hi - lo, 0)).unwrap_or(u32::MAX);
            let values = match &f.enumeration {
                None => f.values.clone(),
                Some(e) => self.shared(&label, e),
            };
            self.values(&label, &values, max);
            let inherited = reset.map(|v| (v & mask128(hi, lo)) >> lo);
            let own = match &f.reset {
                None => inherited,
                Some(x) => self.reset(&label, x, hi - lo + 1),
            };
            if own.is_some() && inherited.is_some() && own != inherited {
                self.say(&label, "reset disagrees with the register's");
            }
            if f.mbz && own.unwrap_or(0) != 0 {
                self.say(&label, "must be zero but resets to something else");
            }
            fields.push(RegisterField {
                name: f.name.clone(),
                hi,
                lo,
                access: f.access.unwrap_or(r.access),
                reset: own,
                mbz: f.mbz,
                qualified: f.qualified,
                mux: f.mux,
                values,
                summary: f.summary.clone(),
            });
        }
        self.cover(r, bits, reset, &fields, &reserved);
        Register {
            section,
            name: r.name.clone(),
            space: r.space,
            offset: r.offset,
            bits,
            count: r.count,
            stride,
            access: r.access,
            reset,
            unit: r.unit.clone(),
            cite: r.cite.clone(),
            summary: r.summary.clone(),
            anomaly: r.anomaly.clone(),
            config: r.config.clone(),
            fields,
            reserved,
        }
    }

    /// Every bit once, reserved bits zero, fields in one direction.
    fn cover(
        &mut self,
        r: &schema::Register,
        bits: u32,
        reset: Option<u128>,
        fields: &[RegisterField],
        reserved: &[(u32, u32)],
    ) {
        let mut used = 0u128;
        for f in fields {
            let m = mask128(f.hi, f.lo);
            if used & m != 0 && r.overlap.is_none() {
                self.say(&r.name, &format!("{} overlaps another field", f.name));
            }
            used |= m;
        }
        let mut zero = 0u128;
        for &(hi, lo) in reserved {
            let m = mask128(hi, lo);
            if (used | zero) & m != 0 {
                self.say(&r.name, &format!("mbz {hi}:{lo} overlaps"));
            }
            zero |= m;
        }
        if r.access == Access::Masked {
            zero |= mask128(31, 16);
        }
        let missing = mask128(bits - 1, 0) & !(used | zero);
        if missing != 0 {
            self.say(
                &r.name,
                &format!("bits {missing:#x} in no field, mbz or reserved"),
            );
        }
        if reset.unwrap_or(0) & zero != 0 {
            self.say(&r.name, "must-be-zero bits reset to one");
        }
        let rising = fields.windows(2).all(|w| w[0].lo <= w[1].lo);
        let falling = fields.windows(2).all(|w| w[0].lo >= w[1].lo);
        if !(rising || falling) && r.overlap.is_none() {
            self.say(&r.name, "fields in no bit order");
        }
    }

    fn shared(&mut self, label: &str, name: &str) -> Vec<Value> {
        if let Some(values) = self.enums.get(name) {
            return values.to_vec();
        }
        self.say(label, &format!("enum {name} not defined"));
        Vec::new()
    }

    fn fields(
        &mut self,
        owner: &str,
        dwords: u32,
        overlap: bool,
        taken: &[(u32, u32)],
        list: &[schema::Field],
    ) -> Vec<Field> {
        let mut used: BTreeSet<u32> = taken.iter().flat_map(|&(hi, lo)| lo..=hi).collect();
        let mut seen = BTreeSet::new();
        let mut out = Vec::new();
        for f in list {
            let label = format!("{owner}.{}", f.name);
            let Some((hi, lo)) = bit_range(&f.bits) else {
                self.say(&label, "bad bit range");
                continue;
            };
            let start = f.dword * 32 + lo;
            let width = hi - lo + 1;
            if start + width > dwords * 32 || lo > 31 {
                self.say(&label, "outside the structure");
                continue;
            }
            for bit in start..start + width {
                if !used.insert(bit) && !overlap {
                    self.say(
                        &label,
                        &format!("bit {} of dword {} taken", bit % 32, bit / 32),
                    );
                    break;
                }
            }
            let kind = self.kind(&label, &f.kind, width);
            if !seen.insert(names::snake(&f.name)) {
                self.say(&label, "field name used twice");
            }
            let max = u32::try_from(mask128(width.min(128) - 1, 0)).unwrap_or(u32::MAX);
            let (values, module) = match (&f.enumeration, f.values.is_empty()) {
                (Some(e), _) if e == "SURFACE_FORMAT" => {
                    (Vec::new(), Some("surface_format".to_owned()))
                }
                (Some(e), _) => (self.shared(&label, e), Some(names::module(e))),
                (None, true) => (Vec::new(), None),
                (None, false) => {
                    let module = names::module(f.prefix.as_deref().unwrap_or(&f.name));
                    self.module(&module, &f.values, &label);
                    (f.values.clone(), Some(module))
                }
            };
            self.values(&label, &values, max);
            if f.default > max {
                self.say(&label, "default does not fit");
            }
            out.push(Field {
                name: f.name.clone(),
                start,
                width,
                kind,
                default: f.default,
                scale: f.scale.clone(),
                target: f.target.clone(),
                values,
                module,
                summary: f.summary.clone(),
            });
        }
        if !overlap && !out.windows(2).all(|w| w[0].start < w[1].start) {
            let rising_dwords = out.windows(2).all(|w| w[0].start / 32 <= w[1].start / 32);
            if !rising_dwords {
                self.say(owner, "fields in no dword order");
            }
        }
        out
    }

    fn kind(&mut self, label: &str, text: &str, width: u32) -> Kind {
        let fixed = |signed: bool| {
            let (int, frac) = text[1..].split_once('.')?;
            let (int, frac): (u32, u32) = (int.parse().ok()?, frac.parse().ok()?);
            (int + frac + u32::from(signed) <= width).then_some(Kind::Fixed { signed, frac })
        };
        let kind = match text {
            "uint" if width <= 64 => Some(Kind::Uint),
            "int" if width <= 32 => Some(Kind::Int),
            "bool" if width == 1 => Some(Kind::Bool),
            "float" if width == 32 => Some(Kind::Float),
            "address" | "offset" if width <= 32 => Some(Kind::Address),
            _ if text.starts_with('u') && text.contains('.') => fixed(false),
            _ if text.starts_with('s') && text.contains('.') => fixed(true),
            _ if self.structs.get(text).is_some_and(|d| d * 32 == width) => {
                Some(Kind::Struct(text.to_owned()))
            }
            _ => None,
        };
        kind.unwrap_or_else(|| {
            self.say(label, &format!("type {text} does not fit {width} bits"));
            Kind::Uint
        })
    }

    fn command(&mut self, section: usize, c: &schema::Command) -> Command {
        self.cited(&c.name, &c.cite, &c.summary);
        let (mask, value, low) = match c.command_type {
            0 => (0xff80_0000, c.opcode << 23, 23),
            2 => (0xffc0_0000, 2 << 29 | c.opcode << 22, 22),
            3 => (
                0xffff_0000,
                3 << 29 | c.subtype << 27 | c.opcode << 24 | c.subopcode << 16,
                16,
            ),
            _ => {
                self.say(&c.name, "type is not 0, 2 or 3");
                (0, 0, 0)
            }
        };
        if value & !mask != 0 || value >> 29 != c.command_type {
            self.say(&c.name, "opcode does not fit");
        }
        let length_bits = match c.length {
            Length::Fixed => None,
            Length::Bits6 => Some((5, 0)),
            Length::Bits8 => Some((7, 0)),
            Length::Bits16 => Some((15, 0)),
        };
        if length_bits.is_some() && c.dwords < 2 || c.dwords == 0 {
            self.say(&c.name, "too few dwords for its length rule");
        }
        let mut taken = vec![(31, low)];
        taken.extend(length_bits);
        let overlap = c.overlap.is_some();
        let mut fields = self.fields(
            &c.name,
            c.max_dwords.unwrap_or(c.dwords),
            overlap,
            &taken,
            &c.field,
        );
        if let Some((hi, lo)) = length_bits {
            fields.insert(0, length_field(hi - lo + 1));
        }
        if let Some(name) = c.group.as_ref().and_then(|g| g.structure.as_ref())
            && !self.structs.contains_key(name.as_str())
        {
            self.say(&c.name, &format!("structure {name} not defined"));
        }
        Command {
            section,
            name: c.name.clone(),
            unit: c.unit.clone(),
            mask,
            value,
            length: c.length,
            dwords: c.dwords,
            min_dwords: c.min_dwords.unwrap_or(c.dwords),
            max_dwords: c.max_dwords.unwrap_or(c.dwords).max(c.dwords),
            cite: c.cite.clone(),
            summary: c.summary.clone(),
            config: c.config.clone(),
            anomaly: c.anomaly.clone(),
            fields,
            group: c.group.clone(),
        }
    }

    fn structure(&mut self, section: usize, s: &schema::Structure) -> Structure {
        self.cited(&s.name, &s.cite, &s.summary);
        let overlap = s.overlap.is_some();
        let fields = self.fields(&s.name, s.dwords, overlap, &[], &s.field);
        Structure {
            section,
            name: s.name.clone(),
            dwords: s.dwords,
            unit: s.unit.clone(),
            align: s.align,
            cite: s.cite.clone(),
            summary: s.summary.clone(),
            anomaly: s.anomaly.clone(),
            fields,
        }
    }

    fn format(&mut self, section: usize, f: &schema::Format) -> Format {
        let mut start = 0;
        let mut channels = Vec::new();
        for word in f.layout.split_whitespace() {
            match channel(word, start) {
                Some(c) => {
                    start += c.bits;
                    channels.push(c);
                }
                None => self.say(&f.name, &format!("bad channel {word}")),
            }
        }
        if !channels.is_empty() && start != f.bits {
            self.say(
                &f.name,
                &format!("channels have {start} bits, not {}", f.bits),
            );
        }
        if f.caps.chars().any(|c| !"SFHKRBVO".contains(c)) {
            self.say(&f.name, "unknown capability letter");
        }
        Format {
            section,
            code: f.code,
            name: f.name.clone(),
            bits: f.bits,
            channels,
            caps: f.caps.clone(),
            block: f.block,
            summary: f.summary.clone(),
        }
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

fn length_field(width: u32) -> Field {
    Field {
        name: "DWord Length".to_owned(),
        start: 0,
        width,
        kind: Kind::Uint,
        default: 0,
        scale: "minus 2".to_owned(),
        target: String::new(),
        values: Vec::new(),
        module: None,
        summary: "Total dwords minus two".to_owned(),
    }
}

fn channel(word: &str, start: u32) -> Option<Channel> {
    let letter = word.chars().next()?;
    let digits: String = word[1..].chars().take_while(char::is_ascii_digit).collect();
    let kind = match &word[1 + digits.len()..] {
        "un" => "Unorm",
        "sn" => "Snorm",
        "ui" => "Uint",
        "si" => "Sint",
        "us" => "Uscaled",
        "ss" => "Sscaled",
        "fl" => "Float",
        "xx" => "Unused",
        "ga" => "Srgb",
        "se" => "SharedExponent",
        _ => return None,
    };
    Some(Channel {
        letter,
        start,
        bits: digits.parse().ok()?,
        kind,
    })
}
