//! `[[amend]]`: how a definition differs from the imported one of that name.
//! What is not given stays as it was imported.

use serde::Deserialize;

use super::{Access, Group, Length, Reset, Value};

/// `[[amend]]` of a register, command, structure, enumeration or surface format.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Amend {
    /// Name of the imported definition.
    pub name: String,
    /// Document and section of the difference; takes the place of the imported citation.
    pub cite: String,
    /// One line.
    #[serde(default)]
    pub summary: Option<String>,
    /// What the manual says wrongly or twice; an empty text takes an imported one away.
    #[serde(default)]
    pub anomaly: Option<String>,
    /// Device or stepping on which alone it exists; an empty text takes an imported one away.
    #[serde(default)]
    pub config: Option<String>,
    /// Why fields overlap; an empty text takes an imported reason away.
    #[serde(default)]
    pub overlap: Option<String>,
    /// Names of imported fields that are not there.
    #[serde(default)]
    pub drop: Vec<String>,
    /// Fields that are new or differ.
    #[serde(default)]
    pub field: Vec<AmendField>,
    /// Header bits 28:27 of a command of type 3.
    #[serde(default)]
    pub subtype: Option<u32>,
    /// Opcode of a command.
    #[serde(default)]
    pub opcode: Option<u32>,
    /// Bits 23:16 of a command of type 3.
    #[serde(default)]
    pub subopcode: Option<u32>,
    /// Dwords of a command or structure.
    #[serde(default)]
    pub dwords: Option<u32>,
    /// Fewest dwords of a command.
    #[serde(default)]
    pub min_dwords: Option<u32>,
    /// Dwords of the longest form of a command.
    #[serde(default)]
    pub max_dwords: Option<u32>,
    /// Length rule of a command.
    #[serde(default)]
    pub length: Option<Length>,
    /// What a command does, all of it.
    #[serde(default)]
    pub is: Option<Vec<String>>,
    /// `always`, or the field that is zero in the privileged form of a command, or `with ` and the field that is not, or neighbours with ` or ` between them; an empty text takes an imported one away.
    #[serde(default)]
    pub privileged: Option<String>,
    /// Engines whose streamers take a command, all of them.
    #[serde(default)]
    pub engines: Option<Vec<String>>,
    /// Repeated part of a command.
    #[serde(default)]
    pub group: Option<Group>,
    /// Alignment of a structure.
    #[serde(default)]
    pub align: Option<u32>,
    /// Offset of a register.
    #[serde(default)]
    pub offset: Option<u32>,
    /// Letters of all capabilities of a surface format.
    #[serde(default)]
    pub caps: Option<String>,
    /// Elements of a register array.
    #[serde(default)]
    pub count: Option<u32>,
    /// Access to a register.
    #[serde(default)]
    pub access: Option<Access>,
    /// Reset value of a register.
    #[serde(default)]
    pub reset: Option<Reset>,
    /// Must-be-zero bits of a register, all of them.
    #[serde(default)]
    pub mbz: Option<Vec<String>>,
    /// Reserved bits of a register, all of them.
    #[serde(default)]
    pub reserved: Option<Vec<String>>,
    /// Values of an enumeration that are new or differ, by code.
    #[serde(default)]
    pub values: Vec<Value>,
    /// Codes of an enumeration that are not there.
    #[serde(default)]
    pub drop_values: Vec<u32>,
}

/// A field that is new or differs from the imported one of that name.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AmendField {
    /// The manual's name.
    pub name: String,
    /// Dword that holds bit 0 of `bits`; of a command or structure.
    #[serde(default)]
    pub dword: Option<u32>,
    /// `"hi:lo"` or `"bit"`.
    #[serde(default)]
    pub bits: Option<String>,
    /// Type; of a command or structure.
    #[serde(default, rename = "type")]
    pub kind: Option<String>,
    /// Value in the default header or structure.
    #[serde(default)]
    pub default: Option<u32>,
    /// What the number counts.
    #[serde(default)]
    pub scale: Option<String>,
    /// Base and thing that an address points at.
    #[serde(default)]
    pub target: Option<String>,
    /// Module name of the constants.
    #[serde(default)]
    pub prefix: Option<String>,
    /// Access where it differs from the register's.
    #[serde(default)]
    pub access: Option<Access>,
    /// Reset value where it differs from the register's.
    #[serde(default)]
    pub reset: Option<Reset>,
    /// A named field that must be zero.
    #[serde(default)]
    pub mbz: Option<bool>,
    /// Acts only while the global debug enable is set.
    #[serde(default)]
    pub qualified: Option<bool>,
    /// Values are the outputs of a debug mux.
    #[serde(default)]
    pub mux: Option<bool>,
    /// All values, in place of those imported.
    #[serde(default)]
    pub values: Option<Vec<Value>>,
    /// Values that are new or differ, by code.
    #[serde(default)]
    pub add_values: Vec<Value>,
    /// Codes that are not there.
    #[serde(default)]
    pub drop_values: Vec<u32>,
    /// Name of a shared `[[enum]]`.
    #[serde(default, rename = "enum")]
    pub enumeration: Option<String>,
    /// One line.
    #[serde(default)]
    pub summary: Option<String>,
}
