//! Texels: fetch, border, chroma key, shadow compare.
//!
//! PRM: volume 4, 3.3.3.3 (chrominance of odd texels), 4.3, 4.4, 4.7.2.1.2, 4.7.4-4.7.6.

use mem::{Fault, Memory};

use super::address::BORDER;
use super::cube;
use super::gamma::Curve;
use super::quirks::Quirks;
use super::state::{ChromaKey, Palettes, Sampler, Tables};
use crate::intel::surface::format::Codec;
use crate::intel::surface::format::channel::{Kind, Source};
use crate::intel::surface::format::etc;
use crate::intel::surface::{Format, Surface, SurfaceKind};

/// Surface format code of the erratum on NaN (PRM 4.8.1.4).
const A16_FLOAT: u16 = 0x117;

/// Which stored value each channel of a texel shows; `None` for constants.
pub(super) fn layout(format: &Format) -> [Option<usize>; 4] {
    match &format.codec {
        Codec::Channels(sources) => std::array::from_fn(|channel| match sources[channel] {
            Source::Const(_) => None,
            // Replicated channels (L and I formats) are all the red one (PRM 4.7.4).
            field if field == sources[0] => Some(0),
            Source::Field { .. } => Some(channel),
        }),
        Codec::SharedExponent
        | Codec::Ycrcb { .. }
        | Codec::Bc1Opaque { .. }
        | Codec::Bc6h { .. } => [Some(0), Some(1), Some(2), None],
        Codec::Etc { kind, alpha, .. } if !alpha && *kind != etc::Kind::PunchThrough => {
            [Some(0), Some(1), Some(2), None]
        }
        Codec::Bit | Codec::Mono8 | Codec::Bc4 { .. } | Codec::Eac { two: false, .. } => {
            [Some(0), None, None, None]
        }
        Codec::Bc5 { .. } | Codec::Eac { two: true, .. } => [Some(0), Some(1), None, None],
        _ => [Some(0), Some(1), Some(2), Some(3)],
    }
}

/// Constants of the channels that a format lacks, zero elsewhere, as register bits.
pub(super) fn constants(format: &Format) -> [u32; 4] {
    if let Codec::Channels(sources) = &format.codec {
        return sources.map(|source| match source {
            Source::Const(value) => value,
            Source::Field { .. } => 0,
        });
    }
    let alpha = if layout(format)[3].is_none() {
        1.0f32
    } else {
        0.0
    };
    [0, 0, 0, alpha.to_bits()]
}

/// A value per stored channel spread over the four channels as the format maps them.
#[must_use]
pub fn spread(format: &Format, values: [f32; 4]) -> [f32; 4] {
    let (layout, constants) = (layout(format), constants(format));
    std::array::from_fn(|channel| match layout[channel] {
        Some(from) => values[from],
        None => f32::from_bits(constants[channel]),
    })
}

/// What `ld` returns outside the map: zero, alpha one for formats without alpha (PRM 4.8.1.4).
#[must_use]
pub fn outside(format: &Format) -> [u32; 4] {
    [0, 0, 0, constants(format)[3]]
}

/// A fetched texel with its palette index, if it has one, looked up (PRM 4.7.6).
#[inline]
#[must_use]
pub fn looked_up(format: &Format, palettes: &Palettes, texel: [u32; 4]) -> [u32; 4] {
    let Codec::Palette { second, alpha, .. } = format.codec else {
        return texel;
    };
    // PANIC: one of two palettes; indices have at most eight bits.
    let entries = &palettes.entries[usize::from(second)];
    // ARGB8888.
    let entry = entries[(texel[0] & 255) as usize];
    let [own, red, green, blue] =
        [24, 16, 8, 0].map(|shift| num::unorm8_to_f32((entry >> shift) as u8).to_bits());
    let is_own = alpha.1 == 0 && palettes.has_alpha;
    [red, green, blue, if is_own { own } else { texel[3] }]
}

/// The shadow function as its table gives it: `true` means 0.0 (PRM 4.4).
#[inline]
fn passes(function: u32, texel: f32, reference: f32) -> bool {
    match function {
        0 => true,
        1 => false,
        2 => texel < reference,
        3 => texel == reference,
        4 => texel <= reference,
        5 => texel > reference,
        6 => texel != reference,
        _ => texel >= reference,
    }
}

/// Whether a texel lies in the range of a key (PRM 4.3.1.1, 4.7.5).
#[must_use]
pub fn matches(format: &Format, key: &ChromaKey, rgba: [f32; 4]) -> bool {
    // Keys are A R G B (or A Cr Y Cb) from the top byte down.
    [24u32, 16, 8, 0]
        .into_iter()
        .zip([3usize, 0, 1, 2])
        .all(|(shift, channel)| {
            let (low, high) = ((key.low >> shift) as u8, (key.high >> shift) as u8);
            let value = rgba[channel];
            if signed(format) {
                let number = |byte: u8| {
                    let magnitude = i32::from(byte & 0x7f);
                    if byte & 0x80 != 0 {
                        -magnitude
                    } else {
                        magnitude
                    }
                };
                let value = (value * 127.0).round_ties_even() as i32;
                return (number(low)..=number(high)).contains(&value);
            }
            let stored = layout(format)[channel].is_some();
            let bits = match format.channel_bits(channel) {
                bits @ 1..8 if stored => bits,
                _ => 8,
            };
            let raw = (value * ((1u32 << bits) - 1) as f32).round_ties_even() as u32;
            // Narrow channels repeat their upper bits below.
            let mut wide = raw << (8 - bits);
            let mut filled = bits;
            while filled < 8 {
                wide |= wide >> filled;
                filled *= 2;
            }
            let value = (wide & 0xff) as u8;
            (low..=high).contains(&value)
        })
}

fn signed(format: &Format) -> bool {
    (0..4).any(|channel| format.channel_kind(channel) == Some(Kind::Snorm))
}

/// The texel at odd `x` as keys compare it (PRM 4.7.5), and as it is returned when SVG_WORK_CTL says so:
/// subsampled formats have no chroma there, and the average of the texels to the left and right stands in. The
/// last texel of a row has no right neighbour and keeps the left one's.
#[cold]
pub fn own_chroma(
    mem: &Memory,
    surface: &Surface,
    texel: [f32; 4],
    [x, y, slice]: [u32; 3],
    level: u32,
) -> Result<[f32; 4], Fault> {
    let right = x + 1;
    if !matches!(surface.format.codec, Codec::Ycrcb { .. }) || right >= surface.level_width(level) {
        return Ok(texel);
    }
    let next = surface.fetch(mem, right, y, slice, level)?;
    let mean = |c: usize| f32::midpoint(texel[c], f32::from_bits(next[c]));
    Ok([mean(0), texel[1], mean(2), texel[3]])
}

/// Fetches texels of one surface the way one message wants them.
pub struct Texels<'a> {
    mem: &'a Memory,
    /// The surface.
    pub surface: &'a Surface,
    palettes: &'a Palettes,
    border: [f32; 4],
    key: Option<ChromaKey>,
    shadow: Option<u32>,
    /// Reference value of the present pixel.
    pub reference: f32,
    /// A texel of the present pixel matched a key that kills.
    pub killed: bool,
    /// Texels looked at.
    pub fetched: u32,
    /// Conversion of texels of sRGB formats; the border colour is linear.
    pub gamma: Option<Curve>,
    /// Errata in force.
    pub quirks: Quirks,
    /// Texels without chrominance get the mean of their neighbours', not that of the left one.
    pub interpolate_chroma: bool,
}

impl<'a> Texels<'a> {
    /// For messages with `shadow` compare or without.
    pub fn new(
        mem: &'a Memory,
        surface: &'a Surface,
        tables: &'a Tables,
        sampler: &Sampler,
        shadow: bool,
    ) -> Self {
        Texels {
            mem,
            surface,
            palettes: &tables.palettes,
            border: spread(surface.format, sampler.border.of(surface.format)),
            key: sampler.key,
            shadow: shadow.then_some(sampler.shadow),
            reference: 0.0,
            killed: false,
            fetched: 0,
            gamma: None,
            quirks: Quirks::default(),
            interpolate_chroma: false,
        }
    }

    /// Whether texels are plain colours: no key, no compare.
    #[must_use]
    pub fn plain(&self) -> bool {
        self.key.is_none() && self.shadow.is_none()
    }

    /// Texel of a level by number; [`BORDER`] in any place is the border colour, except on cubes,
    /// where numbers past an edge name texels of the next face.
    #[inline]
    pub fn texel(&mut self, at: [i32; 3], level: u32) -> Result<[f32; 4], Fault> {
        self.fetched += 1;
        let [mut x, mut y, mut slice] = at;
        if self.surface.kind == SurfaceKind::Cube {
            let size = self.surface.level_width(level) as i32;
            // The first slice of the cube, of those that there are behind the surface's first.
            // CAST: eleven bits.
            let before = self.surface.min_array_element as i32;
            let first = slice - (slice - before).rem_euclid(6);
            if x < 0 || y < 0 || x >= size || y >= size {
                let (face, cx, cy) = cube::beyond((slice - first) as u32, x, y, size);
                (x, y, slice) = (cx, cy, first + face as i32);
            }
            if !self.surface.face_enabled((slice - first) as u32) {
                slice = BORDER;
            }
        }
        let inside = x != BORDER && y != BORDER && slice != BORDER;
        let mut texel = if inside {
            let fetched = self
                .surface
                .fetch(self.mem, x as u32, y as u32, slice as u32, level)?;
            looked_up(self.surface.format, self.palettes, fetched).map(f32::from_bits)
        } else {
            self.border
        };
        if self.interpolate_chroma && inside && x & 1 == 1 {
            let at = [x as u32, y as u32, slice as u32];
            texel = own_chroma(self.mem, self.surface, texel, at, level)?;
        }
        let linear = match &self.gamma {
            Some(gamma) if inside => gamma.convert(texel),
            _ => texel,
        };
        if self.plain() {
            return Ok(linear);
        }
        let mut keyed = texel;
        if inside && self.key.is_some() && x & 1 == 1 {
            let at = [x as u32, y as u32, slice as u32];
            keyed = own_chroma(self.mem, self.surface, texel, at, level)?;
        }
        Ok(self.special(linear, keyed))
    }

    #[cold]
    fn special(&mut self, mut texel: [f32; 4], keyed: [f32; 4]) -> [f32; 4] {
        let format = self.surface.format;
        if let Some(key) = &self.key
            && matches(format, key, keyed)
        {
            if !key.replace {
                self.killed = true;
            } else if matches!(format.codec, Codec::Ycrcb { .. }) {
                // Black is Cr 80h, Y 10h, Cb 80h (PRM 4.7.3, ChromaKey Mode).
                texel = [
                    0x80 as f32 / 255.0,
                    0x10 as f32 / 255.0,
                    0x80 as f32 / 255.0,
                    0.0,
                ];
            } else {
                texel = [0.0; 4];
            }
        }
        if let Some(function) = self.shadow {
            let channel = if layout(format)[0].is_some() { 0 } else { 3 };
            let mut value = texel[channel];
            if self.quirks.compare_nan && value.is_nan() && format.code == A16_FLOAT {
                value = f32::INFINITY;
            }
            // UNORM texels meet a reference of their range (OpenGL 1.5, 3.8.14: "D_t and R are clamped"): drivers leave
            // that to the sampler.
            let reference = match format.channel_kind(channel) {
                Some(Kind::Unorm) => self.reference.clamp(0.0, 1.0),
                _ => self.reference,
            };
            let lit = if passes(function, value, reference) {
                0.0
            } else {
                1.0
            };
            texel = spread(format, [lit; 4]);
        }
        texel
    }

    /// The present pixel's first slice for an array index or cube face, offset included.
    #[must_use]
    pub fn array_slice(&self, index: f32) -> i32 {
        let slice = self.surface.array_slice(index);
        if self.quirks.compare_first_element && self.shadow.is_some() {
            // CAST: as in `Surface::array_slice`.
            slice - self.surface.min_array_element as i32
        } else {
            slice
        }
    }
}
