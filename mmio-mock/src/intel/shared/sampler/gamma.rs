//! Gamma of sRGB formats: texel by texel, before the filter.
//!
//! PRM: volume 4, 4.6; the curve is IEC 61966-2-1. Not modelled: the hardware's approximation of it.
//!
//! PRM 4.6 speaks of "post-filtered" colours and later manuals of the family of "pre-filtered" ones. A G41
//! decides: it passes piglit's `texwrap GL_EXT_texture_sRGB bordercolor` (no entry in Mesa's list of what fails
//! there), which filters texels together with a border colour and wants
//! `linear(texel) * weight + border * (1 - weight)`. So texels are converted as they are read, and border colours,
//! which are linear already, not at all. Direct3D 10 asks for the same.

use crate::intel::surface::Format;

/// Reading of PRM 4.6, whose words (to linear space) and exponent (1/2.4) contradict each other, and whose place
/// for the conversion is not the hardware's.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Gamma {
    /// The curve that takes sRGB to linear intensities, as every interface wants it, for each texel.
    #[default]
    Linear,
    /// Exponent and place as they are printed: 1/2.4, for the filtered colour, border and all.
    Printed,
}

/// The conversion of one format's colours.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Curve {
    gamma: Gamma,
    /// Largest stored number of red, green and blue.
    steps: [f32; 3],
}

impl Curve {
    /// Whether it is the filtered colour that is converted, and not each texel.
    #[must_use]
    pub fn behind_the_filter(&self) -> bool {
        self.gamma == Gamma::Printed
    }

    /// For colours of `format`, as stored.
    #[must_use]
    pub fn new(gamma: Gamma, format: &Format) -> Self {
        let steps = |channel| ((1u32 << format.channel_bits(channel).clamp(1, 16)) - 1) as f32;
        Curve {
            gamma,
            steps: [steps(0), steps(1), steps(2)],
        }
    }

    /// Converts red, green and blue; alpha stays.
    #[must_use]
    pub fn convert(&self, rgba: [f32; 4]) -> [f32; 4] {
        std::array::from_fn(|channel| match self.steps.get(channel) {
            Some(steps) => self.curve(rgba[channel], *steps),
            None => rgba[channel],
        })
    }

    fn curve(&self, value: f32, steps: f32) -> f32 {
        // A single texel is a whole number of steps: what rounding to f32 has made of it is undone.
        let scaled = value * steps;
        let whole = scaled.round_ties_even();
        let exact = if (scaled - whole).abs() <= steps * f32::EPSILON {
            if steps == 255.0 && self.gamma == Gamma::Linear {
                // CAST: saturates; stored numbers are bytes.
                return num::srgb::srgb8_to_linear(whole as u8);
            }
            f64::from(whole) / f64::from(steps)
        } else {
            f64::from(value)
        };
        match self.gamma {
            Gamma::Linear => num::srgb::decode(exact) as f32,
            Gamma::Printed => exact.powf(1.0 / 2.4) as f32,
        }
    }
}

/// The format that reads the stored values of an sRGB format; `None` for other formats.
#[must_use]
pub fn stored(format: &Format) -> Option<&'static Format> {
    let name = format.name.strip_suffix("_SRGB")?;
    (0..512)
        .filter_map(Format::layout)
        .find(|other| other.name == name)
}
