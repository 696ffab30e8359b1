//! Commands, structures and formats: positions, types, opcodes and channels.

use std::collections::BTreeSet;

use super::Checker;
use crate::model::{
    Channel, Command, Field, Format, Kind, Privilege, Structure, bit_range, mask128,
};
use crate::names;
use crate::schema::{self, Length};

impl Checker<'_> {
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
            // A structure of one dword may use its low half alone and lie in half of one.
            _ if (self.structs.get(text))
                .is_some_and(|d| d * 32 == width || *d == 1 && width == 16) =>
            {
                Some(Kind::Struct(text.to_owned()))
            }
            _ => None,
        };
        kind.unwrap_or_else(|| {
            self.say(label, &format!("type {text} does not fit {width} bits"));
            Kind::Uint
        })
    }

    /// Which forms of a command are privileged: see `schema::Command::privileged`.
    fn privilege(&mut self, c: &schema::Command, fields: &[Field]) -> Privilege {
        let text = match c.privileged.as_deref() {
            None => return Privilege::None,
            Some("always") => return Privilege::Always,
            Some(text) => text,
        };
        let with = text.strip_prefix("with ");
        let mut bits: Option<(u32, u32)> = None;
        for name in with.unwrap_or(text).split(" or ") {
            let Some(f) = fields.iter().find(|f| f.name == name) else {
                self.say(&c.name, &format!("privileged by {name}, which is no field"));
                continue;
            };
            bits = match bits {
                None => Some((f.start, f.width)),
                Some((start, width)) if start + width == f.start => Some((start, width + f.width)),
                Some(_) => {
                    self.say(
                        &c.name,
                        &format!("privileged by {name}, which is not the next field"),
                    );
                    bits
                }
            };
        }
        match (bits, with) {
            (None, _) => Privilege::None,
            (Some((start, width)), None) => Privilege::Unless(start, width),
            (Some((start, width)), Some(_)) => Privilege::When(start, width),
        }
    }

    pub(super) fn command(&mut self, section: usize, c: &schema::Command) -> Command {
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
        let properties = self.properties(c);
        let engines = self.engines(c);
        let privilege = self.privilege(c, &fields);
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
            properties,
            privilege,
            engines,
            fields,
            group: c.group.clone(),
        }
    }

    fn properties(&mut self, c: &schema::Command) -> u16 {
        let mut out = 0;
        for word in &c.is {
            match schema::PROPERTIES.iter().position(|p| p == word) {
                Some(i) => out |= 1 << i,
                None => self.say(&c.name, &format!("`{word}` is no property")),
            }
        }
        out
    }

    fn engines(&mut self, c: &schema::Command) -> u8 {
        let Some(engines) = &c.engines else {
            // Commands of the streamer itself, and those of the pipelines and the blitter.
            let all = u8::MAX >> (8 - schema::ENGINES.len());
            return if c.command_type == 0 { all } else { 1 };
        };
        if engines.is_empty() {
            self.say(&c.name, "no engine takes it");
        }
        let mut out = 0;
        for word in engines {
            match schema::ENGINES.iter().position(|e| e == word) {
                Some(i) => out |= 1 << i,
                None => self.say(&c.name, &format!("`{word}` is no engine")),
            }
        }
        out
    }

    pub(super) fn structure(&mut self, section: usize, s: &schema::Structure) -> Structure {
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

    pub(super) fn format(&mut self, section: usize, f: &schema::Format) -> Format {
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
        "fx" => "Sfixed",
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
