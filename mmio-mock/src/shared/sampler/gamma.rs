//! Gamma of sRGB formats, after the filter.
//!
//! PRM: volume 4, 4.6; the curve is IEC 61966-2-1. Not modelled: the hardware's approximation of it.

use crate::surface::Format;

/// Reading of PRM 4.6, whose words (to linear space) and exponent (1/2.4) contradict each other.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Gamma {
    /// The curve that takes sRGB to linear intensities, as every interface wants it.
    #[default]
    Linear,
    /// The exponent as it is printed.
    Printed,
}

impl Gamma {
    /// Converts red, green and blue; alpha stays.
    #[must_use]
    pub fn convert(self, [r, g, b, a]: [f32; 4]) -> [f32; 4] {
        let curve = |value: f32| match self {
            Gamma::Linear => num::srgb::decode(f64::from(value)) as f32,
            Gamma::Printed => f64::from(value).powf(1.0 / 2.4) as f32,
        };
        [curve(r), curve(g), curve(b), a]
    }
}

/// The format that reads the stored values of an sRGB format; `None` for other formats.
#[must_use]
pub fn stored(format: &Format) -> Option<&'static Format> {
    let name = format.name.strip_suffix("_SRGB")?;
    (0..512)
        .filter_map(Format::lookup)
        .find(|other| other.name == name)
}
