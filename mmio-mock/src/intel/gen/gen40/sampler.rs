//! SAMPLER_STATE and SAMPLER_BORDER_COLOR_STATE as plain descriptions.
//!
//! PRM: volume 4, 4.7.3-4.7.6.

use mem::{Fault, GpuAddr, Memory};
use regs::gen40::{SamplerState, values};

use crate::intel::shared::sampler::address::Mode;
use crate::intel::shared::sampler::lod::{LodControl, MipFilter};
use crate::intel::shared::sampler::state::{Filter, KeyUse, Sampler, SamplerDesc};
use crate::intel::surface::border::BorderColor;

/// Bytes of a SAMPLER_STATE.
const BYTES: u32 = 16;

fn filter(code: u32) -> Filter {
    match code {
        values::mapfilter::MAPFILTER_LINEAR => Filter::Linear,
        values::mapfilter::MAPFILTER_ANISOTROPIC => Filter::Anisotropic,
        values::mapfilter::MAPFILTER_MONO => Filter::Mono,
        _ => Filter::Nearest,
    }
}

/// Reads a SAMPLER_STATE of a table.
pub fn sampler(mem: &Memory, table: GpuAddr, number: u8) -> Result<SamplerDesc, Fault> {
    let state: SamplerState = mem.read_struct(table.offset(u32::from(number) * BYTES))?;
    Ok(resolve(&state))
}

/// The fields of a SAMPLER_STATE.
pub fn resolve(state: &SamplerState) -> SamplerDesc {
    let key = state.chromakey_enable().then(|| KeyUse {
        // CAST: two bits.
        index: state.chromakey_index() as u8,
        replace: state.chromakey_mode() == values::keyfilter::KEYFILTER_REPLACE_BLACK,
    });
    let sampler = Sampler {
        disabled: state.sampler_disable(),
        unnormalized: false,
        min: filter(state.min_mode_filter()),
        mag: filter(state.mag_mode_filter()),
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
        border: BorderColor::default(),
        max_anisotropy: (state.maximum_anisotropy() * 2 + 2) as f32,
        mono: [
            state.monochrome_filter_width().max(1),
            state.monochrome_filter_height().max(1),
        ],
        key: None,
    };
    SamplerDesc {
        sampler,
        border: state.border_color_pointer(),
        border_bytes: false,
        key,
    }
}

/// Reads a border colour: four floats.
pub fn border(mem: &Memory, at: GpuAddr) -> Result<BorderColor, Fault> {
    let mut dwords = [0; 4];
    mem.read_dwords(at, &mut dwords)?;
    Ok(dwords.map(f32::from_bits).into())
}
