//! `exec.json` as it stands in the file.
//!
//! No PRM chapter; see docs/captures.md. Unknown fields are ignored: dumpers add their own.

use serde::{Deserialize, Deserializer};

/// The file.
#[derive(Debug, Deserialize)]
pub struct ExecJson {
    /// `vendor:device` in hexadecimal.
    pub pci: String,
    /// Name of the ring; a Gen4 device has one.
    #[serde(default = "render")]
    pub ring: String,
    /// Offset of the batch in its buffer.
    #[serde(deserialize_with = "number")]
    pub batch_start_offset: u64,
    /// Bytes of the batch, 0 for the rest of the buffer.
    #[serde(deserialize_with = "number")]
    pub batch_len: u64,
    /// Index of the batch's buffer.
    #[serde(deserialize_with = "number")]
    pub batch_index: u64,
    /// The execution list.
    pub buffers: Vec<BufferJson>,
}

/// An entry of `buffers`.
#[derive(Debug, Deserialize)]
pub struct BufferJson {
    /// Position, if written down.
    #[serde(default, deserialize_with = "maybe_number")]
    pub index: Option<u64>,
    /// Lasting number of the buffer.
    #[serde(deserialize_with = "number")]
    pub bo_id: u64,
    /// Size in bytes.
    #[serde(deserialize_with = "number")]
    pub size: u64,
    /// Graphics address.
    #[serde(deserialize_with = "number")]
    pub gtt_offset: u64,
    /// uAPI I915_TILING_*.
    #[serde(default, deserialize_with = "number")]
    pub tiling: u64,
    /// Bytes of a row.
    #[serde(default, deserialize_with = "number")]
    pub stride: u64,
    /// File of the contents.
    pub file: String,
    /// Its size.
    #[serde(deserialize_with = "number")]
    pub file_size: u64,
}

fn render() -> String {
    "render".to_owned()
}

/// JSON has no hexadecimal, so addresses stand as strings.
#[derive(Deserialize)]
#[serde(untagged)]
enum Number {
    Plain(u64),
    Text(String),
}

fn number<'de, D: Deserializer<'de>>(from: D) -> Result<u64, D::Error> {
    let parsed = match Number::deserialize(from) {
        Ok(Number::Plain(value)) => return Ok(value),
        Ok(Number::Text(text)) => parse(&text).ok_or(text),
        Err(_) => Err(String::new()),
    };
    parsed.map_err(|text| {
        serde::de::Error::custom(format_args!(
            "expected a number that is not negative, or a string of one such as \"0x1000\"{}",
            if text.is_empty() {
                text
            } else {
                format!(", found {text:?}")
            }
        ))
    })
}

fn maybe_number<'de, D: Deserializer<'de>>(from: D) -> Result<Option<u64>, D::Error> {
    number(from).map(Some)
}

fn parse(text: &str) -> Option<u64> {
    match text.strip_prefix("0x").or_else(|| text.strip_prefix("0X")) {
        // A sign is not part of a hexadecimal number.
        Some(hex) if !hex.starts_with('+') => u64::from_str_radix(hex, 16).ok(),
        Some(_) => None,
        None => text.parse().ok(),
    }
}
