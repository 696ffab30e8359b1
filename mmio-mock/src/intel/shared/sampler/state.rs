//! SAMPLER_STATE resolved: filters, addressing, LOD control, border, keys.
//!
//! PRM: volume 4, 4.7.3-4.7.6. Not modelled: the address rounding enables.

use mem::{GpuAddr, Memory};

use super::address::Mode;
use super::lod::{LodControl, MipFilter};
use crate::UnitFault;
use crate::intel::shared::reader::FunctionReader;
use crate::intel::surface::Surface;
use crate::intel::surface::border::BorderColor;

/// Filters within a level.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Filter {
    /// The nearest texel.
    #[default]
    Nearest,
    /// 2, 4 or 8 texels.
    Linear,
    /// Several linear samples along the longer axis.
    Anisotropic,
    /// Area filter of one-bit texels.
    Mono,
}

/// Both palettes of the sampler.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Palettes {
    /// ARGB8888 entries, as many as an index can name.
    pub entries: [[u32; 256]; 2],
    /// Formats without an alpha of their own have that of the entry; they are opaque otherwise.
    pub has_alpha: bool,
}

impl Default for Palettes {
    fn default() -> Self {
        Palettes {
            entries: [[0; 256]; 2],
            has_alpha: false,
        }
    }
}

impl Palettes {
    /// Loads entries of a palette from the first one on; the others stay.
    pub fn load(&mut self, second: bool, entries: &[u32]) {
        self.has_alpha = true;
        // PANIC: one of two.
        let to = self.entries[usize::from(second)].iter_mut();
        to.zip(entries).for_each(|(to, from)| *to = *from);
    }

    /// Likewise on devices whose formats share one palette of sixteen entries: four bits of an index count.
    pub fn load_sixteen(&mut self, entries: &[u32]) {
        for palette in &mut self.entries {
            for part in palette.chunks_exact_mut(16) {
                part.iter_mut()
                    .zip(entries)
                    .for_each(|(to, from)| *to = *from);
            }
        }
    }
}

/// The key table of 3DSTATE_CHROMA_KEY and the palettes of 3DSTATE_SAMPLER_PALETTE_LOAD0 and 1.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tables {
    /// Low and high ARGB values of the four keys.
    pub chroma_keys: [(u32, u32); 4],
    /// Palettes.
    pub palettes: Palettes,
}

/// What a chroma key does to a matching texel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ChromaKey {
    /// Replace by black rather than kill the pixel.
    pub replace: bool,
    /// Lowest matching value, ARGB.
    pub low: u32,
    /// Highest matching value, ARGB.
    pub high: u32,
}

/// A sampler ready for use.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Sampler {
    /// All channels return 0.
    pub disabled: bool,
    /// Coordinates count texels.
    pub unnormalized: bool,
    /// Minification filter.
    pub min: Filter,
    /// Magnification filter.
    pub mag: Filter,
    /// Address control of u, v and r.
    pub modes: [Mode; 3],
    /// Cube surfaces use cube mode whatever `modes` says.
    pub cube_override: bool,
    /// LOD control; the surface's part is filled in by [`Sampler::lod_control`].
    pub lod: LodControl,
    /// Shadow function code.
    pub shadow: u32,
    /// Border colour.
    pub border: BorderColor,
    /// Highest aspect ratio of the anisotropic filter.
    pub max_anisotropy: f32,
    /// Width and height of the mono filter.
    pub mono: [u32; 2],
    /// Chroma key.
    pub key: Option<ChromaKey>,
}

/// How a sampler uses the key table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KeyUse {
    /// Entry of the table.
    pub index: u8,
    /// Replace by black rather than kill the pixel.
    pub replace: bool,
}

/// A SAMPLER_STATE, whatever the layout of its words.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct SamplerDesc {
    /// Its fields; border and key are to be filled in.
    pub sampler: Sampler,
    /// Border colour, relative to the base of dynamic state.
    pub border: u32,
    /// The border colour has four bytes rather than four floats.
    pub border_bytes: bool,
    /// The chroma key, when enabled.
    pub key: Option<KeyUse>,
}

impl SamplerDesc {
    /// The sampler with the values of its key.
    pub fn keyed(&self, tables: &Tables) -> Sampler {
        let key = self.key.map(|key| {
            // PANIC: masked to the four entries.
            let (low, high) = tables.chroma_keys[usize::from(key.index & 3)];
            ChromaKey {
                replace: key.replace,
                low,
                high,
            }
        });
        Sampler {
            key,
            ..self.sampler
        }
    }
}

impl Sampler {
    /// A sampler of a table, with its border colour and its key.
    pub fn load(
        mem: &Memory,
        reader: &dyn FunctionReader,
        dynamic_base: u32,
        (table, number): (GpuAddr, u8),
        tables: &Tables,
    ) -> Result<Self, UnitFault> {
        let desc = reader.sampler(mem, table, number)?;
        let mut sampler = desc.keyed(tables);
        let border = reader.border(mem, GpuAddr::from(dynamic_base).offset(desc.border));
        let border = border.map(|colour| {
            if desc.border_bytes {
                colour.of_bytes()
            } else {
                colour
            }
        });
        if sampler.modes.contains(&Mode::ClampBorder) || sampler.cube_override {
            sampler.border = border?;
        } else if let Ok(colour) = border {
            // Disabled cube faces show it too, but only they need it.
            sampler.border = colour;
        }
        Ok(sampler)
    }

    /// LOD control together with the surface's levels.
    #[must_use]
    pub fn lod_control(&self, surface: &Surface) -> LodControl {
        LodControl {
            mip_count: surface.mip_count.saturating_sub(1) as f32,
            surface_min: surface.min_lod as f32,
            min: self
                .lod
                .min
                .max(surface.resource_min_lod - surface.min_lod as f32),
            ..self.lod
        }
    }

    /// Whether the choice of filter or level depends on the LOD at all.
    #[must_use]
    pub fn needs_lod(&self) -> bool {
        self.lod.filter != MipFilter::None || self.min != self.mag
    }
}
