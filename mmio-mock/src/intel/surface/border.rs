//! Border colours of samplers, by the number format of the surface.
//!
//! PRM: volume 4, 4.7.4 (floats for all formats); genxml gen5 SAMPLER_BORDER_COLOR_STATE (a value for each format).

use super::Format;
use super::format::channel::Kind;

/// A border colour, R G B A, for surfaces of each number format.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct BorderColor {
    /// For floats of 32 bits and for what has no entry of its own.
    pub float: [f32; 4],
    /// For other formats, where a generation tells them apart; the values are what the sampler works with.
    pub others: Option<BorderFormats>,
    /// Four bytes in place of the floats, for samplers that ask for them; the values are what the sampler works with.
    pub bytes: Option<[f32; 4]>,
}

/// A border colour as surfaces of these formats have it.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct BorderFormats {
    /// UNORM of at most 8 bits, block compression included.
    pub unorm8: [f32; 4],
    /// UNORM of at most 16 bits.
    pub unorm16: [f32; 4],
    /// SNORM of at most 8 bits.
    pub snorm8: [f32; 4],
    /// SNORM of at most 16 bits.
    pub snorm16: [f32; 4],
    /// Floats of at most 16 bits.
    pub float16: [f32; 4],
}

impl From<[f32; 4]> for BorderColor {
    /// One colour for all formats.
    fn from(float: [f32; 4]) -> Self {
        BorderColor {
            float,
            others: None,
            bytes: None,
        }
    }
}

impl BorderColor {
    /// The colour of a sampler that asks for bytes, where there are any.
    #[must_use]
    pub fn of_bytes(self) -> BorderColor {
        self.bytes.map_or(self, BorderColor::from)
    }

    /// The colour for surfaces of a format; its first channel decides.
    #[must_use]
    pub fn of(&self, format: &Format) -> [f32; 4] {
        let Some(others) = &self.others else {
            return self.float;
        };
        let channel = (0..4).find(|&channel| format.channel_kind(channel).is_some());
        let Some(channel) = channel else {
            return others.unorm8;
        };
        match (format.channel_kind(channel), format.channel_bits(channel)) {
            (Some(Kind::Unorm | Kind::Srgb), ..=8) => others.unorm8,
            (Some(Kind::Unorm), ..=16) => others.unorm16,
            (Some(Kind::Snorm), ..=8) => others.snorm8,
            (Some(Kind::Snorm), ..=16) => others.snorm16,
            (Some(Kind::Float), ..=16) => others.float16,
            _ => self.float,
        }
    }
}
