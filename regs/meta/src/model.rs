//! Tables of one generation after merging, with bit ranges and lists resolved.
//! Holds only what passed `validate`.

use crate::schema::{Access, Group, Length, Space, Value};

/// All tables of one generation.
#[derive(Debug, Clone, Default)]
pub struct Tables {
    /// `gen40`.
    pub generation: String,
    /// Registers by rising offset.
    pub registers: Vec<Register>,
    /// Commands by type and opcode.
    pub commands: Vec<Command>,
    /// Structures by name.
    pub structures: Vec<Structure>,
    /// Surface formats by code.
    pub formats: Vec<Format>,
    /// Constants: module name and values.
    pub values: Vec<(String, Vec<Value>)>,
    /// File names with section and note, for the pages.
    pub sections: Vec<Section>,
}

/// One table file.
#[derive(Debug, Clone, Default)]
pub struct Section {
    /// Generation row that the file belongs to.
    pub generation: String,
    /// File name without extension, behind the generation's when it is an earlier one.
    pub file: String,
    /// Document, section and title.
    pub title: String,
    /// Remarks.
    pub note: String,
}

/// A register with everything resolved.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Register {
    pub section: usize,
    pub name: String,
    pub space: Space,
    pub offset: u32,
    pub bits: u32,
    pub count: u32,
    pub stride: u32,
    pub access: Access,
    pub reset: Option<u128>,
    pub unit: String,
    pub cite: String,
    pub summary: String,
    pub anomaly: Option<String>,
    pub config: Option<String>,
    pub fields: Vec<RegisterField>,
    pub reserved: Vec<(u32, u32)>,
}

/// A field of a register.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RegisterField {
    pub name: String,
    pub hi: u32,
    pub lo: u32,
    pub access: Access,
    pub reset: Option<u128>,
    pub mbz: bool,
    pub qualified: bool,
    pub mux: bool,
    pub values: Vec<Value>,
    pub summary: String,
}

/// How a field's bits are read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Kind {
    Uint,
    Int,
    Bool,
    Float,
    Fixed { signed: bool, frac: u32 },
    Address,
    Struct(String),
}

/// A field of a command or structure.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Field {
    pub name: String,
    pub start: u32,
    pub width: u32,
    pub kind: Kind,
    pub default: u32,
    pub scale: String,
    pub target: String,
    pub values: Vec<Value>,
    pub module: Option<String>,
    pub summary: String,
}

/// Which forms of a command are for the ring and secure batches alone.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Privilege {
    None,
    Always,
    /// While the field at this bit, so many bits wide, is zero.
    Unless(u32, u32),
    /// While the field at this bit, so many bits wide, is not zero.
    When(u32, u32),
}

/// A command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Command {
    pub section: usize,
    pub name: String,
    pub unit: String,
    pub mask: u32,
    pub value: u32,
    pub length: Length,
    pub dwords: u32,
    pub min_dwords: u32,
    pub max_dwords: u32,
    pub cite: String,
    pub summary: String,
    pub config: Option<String>,
    pub anomaly: Option<String>,
    /// Bits by the order of `schema::PROPERTIES`.
    pub properties: u16,
    pub privilege: Privilege,
    /// Bits by the order of `schema::ENGINES`.
    pub engines: u8,
    pub fields: Vec<Field>,
    pub group: Option<Group>,
}

impl Command {
    /// Opcode bits, default length and defaults of header fields.
    pub fn header(&self) -> u32 {
        let length = match self.length {
            Length::Fixed => 0,
            _ => self.dwords.saturating_sub(2),
        };
        let defaults = self
            .fields
            .iter()
            .filter(|f| f.start < 32)
            .fold(0, |acc, f| acc | f.default << f.start);
        self.value | length | defaults
    }
}

/// A state structure.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Structure {
    pub section: usize,
    pub name: String,
    pub dwords: u32,
    pub unit: String,
    pub align: u32,
    pub cite: String,
    pub summary: String,
    pub anomaly: Option<String>,
    pub fields: Vec<Field>,
}

/// A surface format.
#[derive(Debug, Clone)]
pub struct Format {
    pub section: usize,
    pub code: u32,
    pub name: String,
    pub bits: u32,
    pub channels: Vec<Channel>,
    pub caps: String,
    pub block: [u32; 2],
    pub summary: String,
}

/// One channel of a format.
#[derive(Debug, Clone)]
pub struct Channel {
    pub letter: char,
    pub start: u32,
    pub bits: u32,
    pub kind: &'static str,
}

/// `"hi:lo"` or `"bit"`.
pub fn bit_range(text: &str) -> Option<(u32, u32)> {
    let (hi, lo) = if let Some((hi, lo)) = text.split_once(':') {
        (hi.trim().parse().ok()?, lo.trim().parse().ok()?)
    } else {
        let bit = text.trim().parse().ok()?;
        (bit, bit)
    };
    (hi >= lo && hi < 4096).then_some((hi, lo))
}

/// Mask of bits hi..=lo in 128 bits.
pub fn mask128(hi: u32, lo: u32) -> u128 {
    let width = hi - lo + 1;
    let ones = if width >= 128 {
        u128::MAX
    } else {
        (1u128 << width) - 1
    };
    ones.checked_shl(lo).unwrap_or(0)
}
