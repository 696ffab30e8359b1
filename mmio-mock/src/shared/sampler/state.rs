//! SAMPLER_STATE resolved: filters, addressing, LOD control, border, keys.
//!
//! PRM: volume 4, 4.7.3-4.7.6. Not modelled: the address rounding enables.

use mem::{GpuAddr, Memory};
use regs::gen40::{SamplerState, values};

use super::address::Mode;
use super::lod::{LodControl, MipFilter};
use crate::UnitFault;
use crate::surface::Surface;

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

impl Filter {
    fn from_bits(bits: u32) -> Self {
        match bits {
            values::mapfilter::MAPFILTER_LINEAR => Filter::Linear,
            values::mapfilter::MAPFILTER_ANISOTROPIC => Filter::Anisotropic,
            values::mapfilter::MAPFILTER_MONO => Filter::Mono,
            _ => Filter::Nearest,
        }
    }
}

/// The key table of 3DSTATE_CHROMA_KEY and the palette of 3DSTATE_SAMPLER_PALETTE_LOAD0.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tables {
    /// Low and high ARGB values of the four keys.
    pub chroma_keys: [(u32, u32); 4],
    /// RGB888 entries of palette 0.
    pub palette: [u32; 16],
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
    /// Border colour, R G B A.
    pub border: [f32; 4],
    /// Highest aspect ratio of the anisotropic filter.
    pub max_anisotropy: f32,
    /// Width and height of the mono filter.
    pub mono: [u32; 2],
    /// Chroma key.
    pub key: Option<ChromaKey>,
}

impl Sampler {
    /// Reads the sampler state at `at` and its border colour.
    pub fn load(
        mem: &Memory,
        general_base: u32,
        at: GpuAddr,
        tables: &Tables,
    ) -> Result<Self, UnitFault> {
        let state: SamplerState = mem.read_struct(at)?;
        let mut sampler = Sampler::resolve(&state, tables);
        if sampler.modes.contains(&Mode::ClampBorder) || sampler.cube_override {
            sampler.border = border(mem, general_base, &state)?;
        } else if let Ok(colour) = border(mem, general_base, &state) {
            // Disabled cube faces show it too; nobody else asks.
            sampler.border = colour;
        }
        Ok(sampler)
    }

    /// Decodes the state itself.
    pub fn resolve(state: &SamplerState, tables: &Tables) -> Self {
        let key = state.chromakey_enable().then(|| {
            // PANIC: two bits index four entries.
            let (low, high) = tables.chroma_keys[state.chromakey_index() as usize & 3];
            ChromaKey {
                replace: state.chromakey_mode() == values::keyfilter::KEYFILTER_REPLACE_BLACK,
                low,
                high,
            }
        });
        Sampler {
            disabled: state.sampler_disable(),
            min: Filter::from_bits(state.min_mode_filter()),
            mag: Filter::from_bits(state.mag_mode_filter()),
            modes: [
                Mode::from_bits(state.tcx_address_control_mode()),
                Mode::from_bits(state.tcy_address_control_mode()),
                Mode::from_bits(state.tcz_address_control_mode()),
            ],
            cube_override: state.cube_surface_control_mode()
                == values::cube_surface_control_mode::CUBECTRLMODE_OVERRIDE,
            lod: LodControl {
                bias: state.texture_lod_bias(),
                min: state.min_lod(),
                max: state.max_lod(),
                base: state.base_mip_level(),
                filter: match state.mip_mode_filter() {
                    values::mipfilter::MIPFILTER_NEAREST => MipFilter::Nearest,
                    values::mipfilter::MIPFILTER_LINEAR => MipFilter::Linear,
                    _ => MipFilter::None,
                },
                preclamp: state.lod_preclamp_enable(),
                mip_count: 0.0,
                surface_min: 0.0,
            },
            shadow: state.shadow_function(),
            border: [0.0; 4],
            max_anisotropy: (state.maximum_anisotropy() * 2 + 2) as f32,
            mono: [
                state.monochrome_filter_width().max(1),
                state.monochrome_filter_height().max(1),
            ],
            key,
        }
    }

    /// LOD control together with the surface's levels.
    #[must_use]
    pub fn lod_control(&self, surface: &Surface) -> LodControl {
        LodControl {
            mip_count: surface.mip_count.saturating_sub(1) as f32,
            surface_min: surface.min_lod as f32,
            ..self.lod
        }
    }

    /// Whether the choice of filter or level depends on the LOD at all.
    #[must_use]
    pub fn needs_lod(&self) -> bool {
        self.lod.filter != MipFilter::None || self.min != self.mag
    }
}

fn border(mem: &Memory, general_base: u32, state: &SamplerState) -> Result<[f32; 4], UnitFault> {
    let at = GpuAddr(general_base).offset(state.border_color_pointer());
    let mut dwords = [0; 4];
    mem.read_dwords(at, &mut dwords)?;
    Ok(dwords.map(f32::from_bits))
}
