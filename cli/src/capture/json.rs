//! `exec.json` as it stands in the file.
//!
//! See docs/captures.md. Unknown fields are ignored: dumpers add their own.

use std::fmt;

use serde::de::{Error, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer};

/// The file.
#[derive(Debug, Deserialize)]
pub struct ExecJson {
    /// `vendor:device` in hexadecimal.
    #[serde(deserialize_with = "fields::pci")]
    pub pci: String,
    /// Name of the ring; a Gen4 device has one.
    #[serde(default = "render", deserialize_with = "fields::ring")]
    pub ring: String,
    /// Offset of the batch in its buffer.
    #[serde(deserialize_with = "fields::batch_start_offset")]
    pub batch_start_offset: u64,
    /// Bytes of the batch, 0 for the rest of the buffer.
    #[serde(deserialize_with = "fields::batch_len")]
    pub batch_len: u64,
    /// Index of the batch's buffer.
    #[serde(deserialize_with = "fields::batch_index")]
    pub batch_index: u64,
    /// Whether the contents have what the device wrote.
    #[serde(default)]
    pub complete: bool,
    /// The execution list.
    #[serde(deserialize_with = "buffers")]
    pub buffers: Vec<BufferJson>,
}

/// An entry of `buffers`.
#[derive(Debug, Deserialize)]
pub struct BufferJson {
    /// Position, if written down.
    #[serde(default, deserialize_with = "maybe_index")]
    pub index: Option<u64>,
    /// Lasting number of the buffer.
    #[serde(deserialize_with = "fields::bo_id")]
    pub bo_id: u64,
    /// Size in bytes.
    #[serde(deserialize_with = "fields::size")]
    pub size: u64,
    /// Graphics address.
    #[serde(deserialize_with = "fields::gtt_offset")]
    pub gtt_offset: u64,
    /// uAPI I915_TILING_*.
    #[serde(default, deserialize_with = "fields::tiling")]
    pub tiling: u64,
    /// Bytes of a row.
    #[serde(default, deserialize_with = "fields::stride")]
    pub stride: u64,
    /// File of the contents.
    #[serde(deserialize_with = "fields::file")]
    pub file: String,
    /// Its size.
    #[serde(deserialize_with = "fields::file_size")]
    pub file_size: u64,
}

fn render() -> String {
    "render".to_owned()
}

/// One function a field, so that errors know its name.
mod fields {
    use super::{Deserializer, Number, Text};

    macro_rules! fields {
        ($visitor:ident, $value:ty: $($field:ident)*) => {
            $(pub fn $field<'de, D: Deserializer<'de>>(from: D) -> Result<$value, D::Error> {
                from.deserialize_any($visitor(stringify!($field)))
            })*
        };
    }

    fields!(Number, u64: batch_start_offset batch_len batch_index index bo_id size gtt_offset tiling stride file_size);
    fields!(Text, String: pci ring file);
}

fn maybe_index<'de, D: Deserializer<'de>>(from: D) -> Result<Option<u64>, D::Error> {
    fields::index(from).map(Some)
}

/// What a visitor of another type says about a value of JSON.
macro_rules! others {
    ($($method:ident $value:ty),*) => {
        $(fn $method<E: Error>(self, value: $value) -> Result<Self::Value, E> {
            Err(self.wrong(format_args!("{value}")))
        })*
        fn visit_unit<E: Error>(self) -> Result<Self::Value, E> {
            Err(self.wrong(format_args!("null")))
        }
        fn visit_seq<A: SeqAccess<'de>>(self, _: A) -> Result<Self::Value, A::Error> {
            Err(self.wrong(format_args!("an array")))
        }
        fn visit_map<A: serde::de::MapAccess<'de>>(self, _: A) -> Result<Self::Value, A::Error> {
            Err(self.wrong(format_args!("an object")))
        }
    };
}

/// A number. JSON has no hexadecimal, so addresses stand as strings.
struct Number(&'static str);

impl Number {
    fn wrong<E: Error>(&self, found: fmt::Arguments<'_>) -> E {
        E::custom(format_args!(
            "{} is {found}: expected a number from 0 to 2^64 - 1, or a string of one such as \"0x1000\"",
            self.0
        ))
    }
}

impl<'de> Visitor<'de> for Number {
    type Value = u64;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "a number as {}", self.0)
    }

    fn visit_u64<E: Error>(self, value: u64) -> Result<u64, E> {
        Ok(value)
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<u64, E> {
        parse(text).ok_or_else(|| self.wrong(format_args!("{:?}", shortened(text))))
    }

    others!(visit_i64 i64, visit_f64 f64, visit_bool bool);
}

/// A string.
struct Text(&'static str);

impl Text {
    fn wrong<E: Error>(&self, found: fmt::Arguments<'_>) -> E {
        E::custom(format_args!("{} is {found}: expected a string", self.0))
    }
}

impl<'de> Visitor<'de> for Text {
    type Value = String;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "a string as {}", self.0)
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<String, E> {
        Ok(text.to_owned())
    }

    others!(visit_u64 u64, visit_i64 i64, visit_f64 f64, visit_bool bool);
}

/// The list, whose errors say which entry is meant.
fn buffers<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<BufferJson>, D::Error> {
    struct List;

    impl<'de> Visitor<'de> for List {
        type Value = Vec<BufferJson>;

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("a list of buffers")
        }

        fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Self::Value, A::Error> {
            let mut entries = Vec::new();
            loop {
                let next = list.next_element();
                let next = next
                    .map_err(|e| A::Error::custom(format_args!("buffer {}: {e}", entries.len())))?;
                match next {
                    Some(entry) => entries.push(entry),
                    None => return Ok(entries),
                }
            }
        }
    }

    from.deserialize_seq(List)
}

/// The beginning of a text, for messages.
fn shortened(text: &str) -> String {
    text.chars().take(64).collect()
}

fn parse(text: &str) -> Option<u64> {
    match text.strip_prefix("0x").or_else(|| text.strip_prefix("0X")) {
        // A sign is not part of a hexadecimal number.
        Some(hex) if !hex.starts_with('+') => u64::from_str_radix(hex, 16).ok(),
        Some(_) => None,
        None => text.parse().ok(),
    }
}
