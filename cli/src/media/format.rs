//! Pixel formats of images that kernels work on.
//!
//! PRM: volume 4, 4.7.2 (surface formats), 5.6.1 (media blocks). Not modelled: formats that no file holds as it is.

use std::str::FromStr;

use regs::any::values::surface_format as code;

/// How the pixels of an image lie in memory and in a raw file.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub enum Format {
    /// One byte: R8_UNORM.
    R8,
    /// Two bytes: R8G8_UNORM.
    Rg8,
    /// A word: R16_UNORM.
    R16,
    /// Four bytes: R8G8B8A8_UNORM.
    Rgba8,
    /// Four bytes: B8G8R8A8_UNORM.
    Bgra8,
    /// A float: R32_FLOAT.
    R32f,
}

/// The formats by name.
const NAMES: [(&str, Format); 6] = [
    ("r8", Format::R8),
    ("rg8", Format::Rg8),
    ("r16", Format::R16),
    ("rgba8", Format::Rgba8),
    ("bgra8", Format::Bgra8),
    ("r32f", Format::R32f),
];

impl Format {
    /// Bytes of a pixel.
    pub const fn bytes(self) -> usize {
        match self {
            Format::R8 => 1,
            Format::Rg8 | Format::R16 => 2,
            Format::Rgba8 | Format::Bgra8 | Format::R32f => 4,
        }
    }

    /// The number in SURFACE_STATE.
    pub const fn code(self) -> u32 {
        match self {
            Format::R8 => code::R8_UNORM,
            Format::Rg8 => code::R8G8_UNORM,
            Format::R16 => code::R16_UNORM,
            Format::Rgba8 => code::R8G8B8A8_UNORM,
            Format::Bgra8 => code::B8G8R8A8_UNORM,
            Format::R32f => code::R32_FLOAT,
        }
    }

    /// All names, for messages.
    pub fn names() -> String {
        NAMES.map(|(name, _)| name).join(" ")
    }

    /// The name on the command line.
    pub fn name(self) -> &'static str {
        NAMES
            .iter()
            .find(|(_, format)| *format == self)
            .map_or("", |(name, _)| name)
    }
}

impl FromStr for Format {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let found = NAMES
            .iter()
            .find(|(name, _)| name.eq_ignore_ascii_case(text));
        found.map(|(_, format)| *format).ok_or_else(|| {
            let names = Format::names();
            format!("unknown format `{text}`: expected {names}")
        })
    }
}
