//! What a table file may say: registers, commands, structures, enums, formats.
//! `regs/tables/SCHEMA.md` shows one example of each kind.
//! Does not check meaning: `validate` does.
//!
//! ```
//! let text = r#"
//!     generation = "gen40"
//!     section = "PRM vol4 3.3.4 Vertex fetch debug registers"
//!
//!     [[register]]
//!     name = "VF_CTL"
//!     offset = 0x7500
//!     access = "rw"
//!     reset = 0
//!     unit = "VF"
//!     cite = "PRM vol4 3.3.4.1"
//!     summary = "Vertex fetch snapshot control"
//!     mbz = ["30:1"]
//!     field = [
//!       { name = "Snapshot Complete", bits = "31", access = "ro" },
//!       { name = "Snapshot Enable", bits = "0", qualified = true, values = [
//!         { value = 0, name = "Disabled" }, { value = 1, name = "Enabled" } ] },
//!     ]
//! "#;
//! let file: regs_meta::schema::File = toml::from_str(text).unwrap();
//! assert_eq!(file.register[0].field[1].name, "Snapshot Enable");
//! ```

mod amend;

pub use amend::{Amend, AmendField};

use serde::Deserialize;

/// One table file: one section of a manual.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct File {
    /// Generation row the file belongs to: `gen40`; must equal the directory's name.
    pub generation: String,
    /// Document, section number and title, e.g. `PRM vol4 3.3.4 Vertex fetch`.
    pub section: String,
    /// Free text for the generated page: origin of facts, notes on damage in the source.
    #[serde(default)]
    pub note: String,
    /// Earlier generation directory whose tables are taken over first (`gen40`).
    #[serde(default)]
    pub import: Vec<String>,
    /// Names not taken over by `import`; a definition of one's own always wins.
    #[serde(default)]
    pub exclude: Vec<String>,
    /// Differences from imported definitions.
    #[serde(default)]
    pub amend: Vec<Amend>,
    /// MMIO registers.
    #[serde(default)]
    pub register: Vec<Register>,
    /// Commands of the ring and batch.
    #[serde(default)]
    pub command: Vec<Command>,
    /// State structures in memory.
    #[serde(default, rename = "struct")]
    pub structure: Vec<Structure>,
    /// Enumerations that several fields share.
    #[serde(default, rename = "enum")]
    pub enumeration: Vec<Enumeration>,
    /// Surface formats.
    #[serde(default)]
    pub format: Vec<Format>,
}

/// What a read and a write do.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Access {
    /// Writes are dropped.
    Ro,
    /// Plain storage.
    Rw,
    /// Reads give zero; the unit sees the written value.
    Wo,
    /// A written one clears the bit.
    W1c,
    /// A written one sets the bit.
    W1s,
    /// Bits 31:16 are the write enables of bits 15:0 and read as zero.
    Masked,
    /// Storage that a write replaces and a read clears.
    Rc,
}

/// Address space of a register.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Space {
    /// The register BAR.
    #[default]
    Mmio,
    /// PCI configuration space of the device; not found by MMIO offset.
    Pci,
}

/// A reset value.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(untagged)]
pub enum Reset {
    /// An integer, any base TOML knows.
    Number(i64),
    /// `"undefined"`, or hexadecimal text `"0x..."` for more than 63 bits.
    Text(String),
}

impl Default for Reset {
    fn default() -> Self {
        Self::Number(0)
    }
}

/// `[[register]]`.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Register {
    /// The manual's name, `VF_CTL`; arrays without index.
    pub name: String,
    /// MMIO byte offset of element 0.
    pub offset: u32,
    /// 32, 64 or 128.
    #[serde(default = "thirty_two")]
    pub bits: u32,
    /// Number of elements of a register array.
    #[serde(default = "one")]
    pub count: u32,
    /// Bytes between elements; default: the register's own size.
    #[serde(default)]
    pub stride: Option<u32>,
    /// Default for all fields.
    pub access: Access,
    /// Whole register after reset; default 0.
    #[serde(default)]
    pub reset: Reset,
    /// Unit that implements it: `VF VS GS CL SF WIZ TD URB CS GTT IRQ ...`; one id enum per unit.
    pub unit: String,
    /// Document and section.
    pub cite: String,
    /// One line.
    pub summary: String,
    /// What the manual says wrongly or twice, and what was chosen.
    #[serde(default)]
    pub anomaly: Option<String>,
    /// Why fields overlap; without it overlapping fields are an error.
    #[serde(default)]
    pub overlap: Option<String>,
    /// Device or stepping on which alone it exists: `DevBW`.
    #[serde(default)]
    pub config: Option<String>,
    /// Where `offset` counts; default MMIO.
    #[serde(default)]
    pub space: Space,
    /// `hi:lo` ranges that must be zero: writes dropped, read as zero.
    #[serde(default)]
    pub mbz: Vec<String>,
    /// `hi:lo` ranges the manual leaves open: treated as `mbz`, printed when set.
    #[serde(default)]
    pub reserved: Vec<String>,
    /// `[[register.field]]` or an inline array.
    #[serde(default)]
    pub field: Vec<RegisterField>,
}

/// `[[register.field]]`.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RegisterField {
    /// The manual's name.
    pub name: String,
    /// `"hi:lo"` or `"bit"`, up to 127:0.
    pub bits: String,
    /// Where it differs from the register's.
    #[serde(default)]
    pub access: Option<Access>,
    /// Where it differs from the register's reset value (must agree with it when both are given).
    #[serde(default)]
    pub reset: Option<Reset>,
    /// A named field that must be zero.
    #[serde(default)]
    pub mbz: bool,
    /// Acts only while the global debug enable is set.
    #[serde(default)]
    pub qualified: bool,
    /// Values are the outputs of a debug mux.
    #[serde(default)]
    pub mux: bool,
    /// Named values.
    #[serde(default)]
    pub values: Vec<Value>,
    /// Name of a shared `[[enum]]` instead of `values`.
    #[serde(default, rename = "enum")]
    pub enumeration: Option<String>,
    /// One line.
    #[serde(default)]
    pub summary: String,
}

/// A named value of a field.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Value {
    /// The encoding.
    pub value: u32,
    /// The manual's name; becomes a constant.
    pub name: String,
    /// One line.
    #[serde(default)]
    pub summary: String,
}

/// How the total number of dwords follows from the header.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Length {
    /// Always `dwords`; the header has no length field.
    Fixed,
    /// Header bits 5:0 hold the total minus two (MI).
    Bits6,
    /// Header bits 7:0 hold the total minus two.
    Bits8,
    /// Header bits 15:0 hold the total minus two.
    Bits16,
}

/// What `is` of a command may say, in the order of `regs::desc::Property`.
pub const PROPERTIES: [&str; 8] = [
    "draw",
    "object",
    "context",
    "draw-state",
    "idempotent",
    "stores",
    "ends",
    "chains",
];

/// Engines that `engines` of a command may name, in the order of `regs::desc::Engine`.
pub const ENGINES: [&str; 3] = ["render", "blitter", "video"];

/// `[[command]]`.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Command {
    /// The manual's name.
    pub name: String,
    /// `CS`, `MI`, `BLT`, `3D`, `MEDIA`, `STATE`.
    pub unit: String,
    /// Header bits 31:29: 0 MI, 2 blitter, 3 render.
    #[serde(rename = "type")]
    pub command_type: u32,
    /// Header bits 28:27 of type 3.
    #[serde(default)]
    pub subtype: u32,
    /// Bits 28:23 of type 0, 28:22 of type 2, 26:24 of type 3.
    pub opcode: u32,
    /// Bits 23:16 of type 3.
    #[serde(default)]
    pub subopcode: u32,
    /// Length rule.
    pub length: Length,
    /// Dwords of the usual form; the default header encodes it.
    pub dwords: u32,
    /// Fewest dwords a decoder accepts; default `dwords`.
    #[serde(default)]
    pub min_dwords: Option<u32>,
    /// Dwords of the longest form with named fields, default `dwords`; size of the generated type.
    #[serde(default)]
    pub max_dwords: Option<u32>,
    /// Document and section.
    pub cite: String,
    /// One line.
    pub summary: String,
    /// Device or stepping on which alone it exists.
    #[serde(default)]
    pub config: Option<String>,
    /// Why fields overlap.
    #[serde(default)]
    pub overlap: Option<String>,
    /// What the manual says wrongly or twice.
    #[serde(default)]
    pub anomaly: Option<String>,
    /// What it does: `draw object context draw-state idempotent stores ends chains`, see [`PROPERTIES`].
    #[serde(default)]
    pub is: Vec<String>,
    /// `always`, or the field that is zero in the form that batches of users may not have; with `with ` in front of it the field that is not, or neighbours with ` or ` between them.
    #[serde(default)]
    pub privileged: Option<String>,
    /// Engines whose streamers take it, see [`ENGINES`]; default all for type 0, the render engine for others.
    #[serde(default)]
    pub engines: Option<Vec<String>>,
    /// Fields other than opcode and length, which follow from the keys above.
    #[serde(default)]
    pub field: Vec<Field>,
    /// Repeated trailing part.
    #[serde(default)]
    pub group: Option<Group>,
}

/// `[[struct]]`.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Structure {
    /// The manual's name.
    pub name: String,
    /// Size.
    pub dwords: u32,
    /// Unit that reads it.
    pub unit: String,
    /// Bytes the address is aligned to.
    #[serde(default = "four")]
    pub align: u32,
    /// Document and section.
    pub cite: String,
    /// One line.
    pub summary: String,
    /// Why fields overlap.
    #[serde(default)]
    pub overlap: Option<String>,
    /// What the manual says wrongly or twice.
    #[serde(default)]
    pub anomaly: Option<String>,
    /// Fields.
    #[serde(default)]
    pub field: Vec<Field>,
}

/// A field of a command or structure; bits in no field are reserved, must be zero.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Field {
    /// The manual's name.
    pub name: String,
    /// Dword that holds bit 0 of `bits`.
    pub dword: u32,
    /// `"hi:lo"` in that dword; `"63:0"` runs into the next one.
    pub bits: String,
    /// `uint` (default), `int`, `bool`, `float`, `uI.F`, `sI.F`, `address`, `offset`, or a structure's name.
    #[serde(default = "uint", rename = "type")]
    pub kind: String,
    /// Value in the default header or structure.
    #[serde(default)]
    pub default: u32,
    /// What the number counts beyond the plain value: `"minus 1"`, `"32 bytes"`, printed only.
    #[serde(default)]
    pub scale: String,
    /// For addresses: base it is relative to, and what lies there: `"general:VS_STATE"`.
    #[serde(default)]
    pub target: String,
    /// Named values.
    #[serde(default)]
    pub values: Vec<Value>,
    /// Module name of the constants made from `values`; default: the field's name.
    #[serde(default)]
    pub prefix: Option<String>,
    /// Name of a shared `[[enum]]` instead of `values`.
    #[serde(default, rename = "enum")]
    pub enumeration: Option<String>,
    /// One line.
    #[serde(default)]
    pub summary: String,
}

/// Repeated trailing part of a command.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Group {
    /// Name of the element.
    pub name: String,
    /// First dword.
    pub dword: u32,
    /// Dwords of one element.
    pub dwords: u32,
    /// Number of elements; 0: to the end of the command.
    #[serde(default)]
    pub count: u32,
    /// Structure of the element; without it, plain dwords.
    #[serde(default, rename = "struct")]
    pub structure: Option<String>,
}

/// `[[enum]]`.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Enumeration {
    /// The manual's name of the field type.
    pub name: String,
    /// Document and section.
    pub cite: String,
    /// Values.
    pub values: Vec<Value>,
}

/// `[[format]]`: one row of the surface format table.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Format {
    /// Encoding in SURFACE_STATE and VERTEX_ELEMENT_STATE.
    pub code: u32,
    /// The manual's name.
    pub name: String,
    /// Bits per element: pixel, or block of a compressed format.
    pub bits: u32,
    /// Channels in memory order from bit 0: `"R8un G8un B8un A8un"`; empty for compressed and planar.
    #[serde(default)]
    pub layout: String,
    /// Letters of the capabilities: S sampling, F filtering, H shadow, K chroma key, R render
    /// target, B alpha blend, V vertex input, O streamed output.
    pub caps: String,
    /// Block width and height, `[1, 1]` when not compressed.
    #[serde(default = "unit_block")]
    pub block: [u32; 2],
    /// Document and section where it differs from the file's.
    #[serde(default)]
    pub cite: Option<String>,
    /// What is special about it.
    #[serde(default)]
    pub summary: String,
}

fn one() -> u32 {
    1
}
fn four() -> u32 {
    4
}
fn thirty_two() -> u32 {
    32
}
fn uint() -> String {
    "uint".to_owned()
}
fn unit_block() -> [u32; 2] {
    [1, 1]
}
