//! What batches of the media pipeline need of a generation.
//!
//! Headers and lengths: genxml gen4, gen45, gen5, gen6 and gen7 (PIPELINE_SELECT, STATE_BASE_ADDRESS, SURFACE_STATE). URB sizes: PRM
//! vol4 8.1 for the 965, Mesa `intel_device_info.c` for the others.
mod commanded;
mod pointed;

use alloc::vec::Vec;

use regs::platform::{GEN40, GEN45, GEN50, GEN60, GEN70, Generation};

use crate::batch::{Batch, StateOffset};
use crate::media::{Descriptors, FrontEnd, Kernel, Object, Surface};

/// A generation's words and sizes.
pub struct MediaOps {
    /// MI_FLUSH; with `true` the state and instruction caches forget what they hold.
    pub flush: fn(invalidate: bool) -> Vec<u32>,
    /// PIPELINE_SELECT of the media pipeline, and a STATE_BASE_ADDRESS that sets every base to 0 and checks no bound.
    pub select: fn() -> Vec<u32>,
    /// A SURFACE_STATE without its address.
    pub surface: fn(&Surface) -> Vec<u32>,
    /// 512-bit units of the URB, of the smallest part.
    pub urb_units: u32,
    /// Interface descriptors; the kernels were checked.
    pub descriptors: fn(&mut Batch, &[Kernel]) -> StateOffset,
    /// Front end, URB and constants, which are whole 512-bit units; the sizes were checked.
    pub set_up: fn(&mut Batch, Descriptors, &FrontEnd, &[u32]),
    /// The words of an object in front of the address of its indirect data, and those between it and the inline data; it
    /// was checked. The number is that of bytes of indirect data.
    pub object: fn(&Object<'_>, u32) -> [Vec<u32>; 2],
}

/// The rows, by the version of the tables.
static ROWS: &[(&Generation, MediaOps)] = &[
    (&GEN40, gen40::OPS),
    (&GEN45, gen45::OPS),
    (&GEN50, gen50::OPS),
    (&GEN60, gen60::OPS),
    (&GEN70, gen70::OPS),
];

/// The row for a generation's tables; `None` for tables without a row.
#[must_use]
pub fn of(tables: &Generation) -> Option<&'static MediaOps> {
    let row = ROWS.iter().find(|(known, _)| *known == tables);
    row.map(|(_, ops)| ops)
}

macro_rules! row {
    ($name:ident, $units:expr, $state:ident, $height:expr, $bases:expr) => {
        mod $name {
            use alloc::vec::Vec;

            use regs::$name::values::surftype;
            use regs::$name::{MiFlush, PipelineSelect, StateBaseAddress, SurfaceState};

            use super::{MEDIA, MediaOps, $state};
            use crate::media::Surface;

            pub const OPS: MediaOps = MediaOps {
                flush,
                select,
                surface,
                urb_units: $units,
                descriptors: $state::descriptors,
                set_up: $state::set_up,
                object: $state::object,
            };

            fn flush(invalidate: bool) -> Vec<u32> {
                let flush =
                    MiFlush::new().with_state_instruction_cache_invalidate(invalidate.into());
                flush.dwords().to_vec()
            }

            fn select() -> Vec<u32> {
                let select = PipelineSelect::new().with_pipeline_selection(MEDIA);
                let bases: fn(StateBaseAddress) -> StateBaseAddress = $bases;
                let bases = bases(
                    StateBaseAddress::new()
                        .with_general_state_base_address_modify_enable(true)
                        .with_surface_state_base_address_modify_enable(true)
                        .with_indirect_object_base_address_modify_enable(true)
                        .with_general_state_access_upper_bound_modify_enable(true)
                        .with_indirect_object_access_upper_bound_modify_enable(true),
                );
                [select.dwords(), bases.dwords()].concat()
            }

            fn surface(surface: &Surface) -> Vec<u32> {
                let state = match *surface {
                    Surface::Buffer {
                        entries,
                        pitch,
                        format,
                    } => {
                        let last = entries.saturating_sub(1);
                        SurfaceState::default()
                            .with_surface_type(surftype::SURFTYPE_BUFFER)
                            .with_surface_format(format)
                            .with_width(last & 0x7f)
                            .with_height(last >> 7 & ((1 << $height) - 1))
                            .with_depth(last >> (7 + $height))
                            .with_surface_pitch(pitch.saturating_sub(1))
                    }
                    Surface::Image {
                        width,
                        height,
                        pitch,
                        format,
                    } => SurfaceState::default()
                        .with_surface_type(surftype::SURFTYPE_2D)
                        .with_surface_format(format)
                        .with_width(width.saturating_sub(1))
                        .with_height(height.saturating_sub(1))
                        .with_surface_pitch(pitch.saturating_sub(1)),
                };
                state.dwords().to_vec()
            }
        }
    };
}

/// PIPELINE_SELECT: the media pipeline (intel-vaapi-driver `PIPELINE_SELECT_MEDIA`).
const MEDIA: u32 = 1;

row!(gen40, 256, pointed, 13, |bases| bases);
row!(gen45, 384, pointed, 13, |bases| bases);
row!(gen50, 1024, pointed, 13, |bases| bases
    .with_instruction_base_address_modify_enable(true)
    .with_instruction_access_upper_bound_modify_enable(true));
row!(gen60, 512, commanded, 13, |bases| bases
    .with_dynamic_state_base_address_modify_enable(true)
    .with_dynamic_state_access_upper_bound_modify_enable(true)
    .with_instruction_base_address_modify_enable(true)
    .with_instruction_access_upper_bound_modify_enable(true));
row!(gen70, 2048, commanded, 14, |bases| bases
    .with_dynamic_state_base_address_modify_enable(true)
    .with_dynamic_state_access_upper_bound_modify_enable(true)
    .with_instruction_base_address_modify_enable(true)
    .with_instruction_access_upper_bound_modify_enable(true));

#[cfg(test)]
mod tests {
    use super::*;

    /// Headers of intel-vaapi-driver i965_defines.h: CMD_PIPELINE_SELECT is 6104h on the 965 and 6904h from G45 on;
    /// Ironlake's STATE_BASE_ADDRESS has eight dwords, Sandy Bridge's ten.
    #[test]
    fn the_pipeline_is_selected_in_each_generations_words() {
        let select = |tables| of(tables).map(|ops| (ops.select)());
        let bases = [0x6101_0004, 1, 1, 1, 1, 1];
        assert_eq!(select(&GEN40), Some([&[0x6104_0001][..], &bases].concat()));
        assert_eq!(select(&GEN45), Some([&[0x6904_0001][..], &bases].concat()));
        let later = [0x6904_0001, 0x6101_0006, 1, 1, 1, 1, 1, 1, 1];
        assert_eq!(select(&GEN50), Some(later.to_vec()));
        let latest = [0x6904_0001, 0x6101_0008, 1, 1, 1, 1, 1, 1, 1, 1, 1];
        assert_eq!(select(&GEN60), Some(latest.to_vec()));
        assert_eq!(select(&GEN70), Some(latest.to_vec()));
        let unknown = GEN60.with_times_ten(80);
        assert!(of(&unknown).is_none());
    }

    const IMAGE: Surface = Surface::Image {
        width: 5,
        height: 9,
        pitch: 64,
        format: 0x140,
    };
    const BUFFER: Surface = Surface::Buffer {
        entries: (1 << 20 | 3 << 7 | 5) + 1,
        pitch: 16,
        format: 0xc7,
    };

    /// Fields as in intel-vaapi-driver i965_structs.h: widths, heights and pitches are one less than they count.
    #[test]
    fn surfaces_count_from_one() {
        for (tables, MediaOps { surface, .. }) in
            ROWS.iter().filter(|(tables, _)| *tables != &GEN70)
        {
            let image = [1 << 29 | 0x140 << 18, 0, 8 << 19 | 4 << 6, 63 << 3];
            assert_eq!(surface(&IMAGE)[..4], image, "{}", tables.name);
            let buffer = [4 << 29 | 0xc7 << 18, 0, 3 << 19 | 5 << 6, 1 << 21 | 15 << 3];
            assert_eq!(surface(&BUFFER)[..4], buffer, "{}", tables.name);
        }
    }

    /// genxml gen7, RENDER_SURFACE_STATE: height in bits 29:16 and width in 13:0 of dword 2, depth in 31:21 and pitch in 17:0 of dword 3; isl
    /// `isl_surface_state.c`: a buffer's count has 7, 14 and 6 bits there.
    #[test]
    fn surfaces_of_valleyview_have_other_places() {
        let row = of(&GEN70).map(|ops| [(ops.surface)(&IMAGE), (ops.surface)(&BUFFER)]);
        let image = [1 << 29 | 0x140 << 18, 0, 8 << 16 | 4, 63, 0, 0, 0, 0];
        let buffer = [
            4 << 29 | 0xc7 << 18,
            0,
            (1 << 13 | 3) << 16 | 5,
            15,
            0,
            0,
            0,
            0,
        ];
        assert_eq!(row, Some([image.to_vec(), buffer.to_vec()]));
    }
}
