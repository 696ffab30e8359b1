//! `ld` and `resinfo`: messages without a sampler.
//!
//! PRM: volume 4, 4.8.1.4, 4.8.1.5. Not modelled: the refusal of cube maps and MONO8, which software
//! has to see to.

use mem::{Fault, Memory};

use super::texel::{looked_up, outside};
use crate::surface::{Format, Surface, SurfaceKind};

/// One texel by integer address; zero outside the map or its levels.
pub fn load(
    mem: &Memory,
    surface: &Surface,
    palette: &[u32; 16],
    offsets: [i8; 3],
    [u, v, r, lod]: [u32; 4],
) -> Result<[u32; 4], Fault> {
    let level = match lod.checked_add(surface.min_lod) {
        Some(level) if lod < surface.mip_count => level,
        _ => return Ok(outside(surface.format)),
    };
    // Offsets wrap as 32-bit numbers: what goes below zero is far outside.
    let moved = |n: u32, d: usize| n.wrapping_add_signed(i32::from(offsets[d]));
    let (x, y, z) = match surface.kind {
        SurfaceKind::Null => return Ok([0; 4]),
        SurfaceKind::Buffer => (u, 0, 0),
        SurfaceKind::OneD => (moved(u, 0), 0, v),
        SurfaceKind::TwoD => (moved(u, 0), moved(v, 1), r),
        SurfaceKind::ThreeD => (moved(u, 0), moved(v, 1), moved(r, 2)),
        SurfaceKind::Cube => (u, v, r),
    };
    let inside = match surface.kind {
        SurfaceKind::Buffer => x < surface.width,
        _ => {
            x < surface.level_width(level)
                && y < surface.level_height(level)
                && z < surface.level_depth(level)
        }
    };
    if !inside {
        return Ok(outside(surface.format));
    }
    let slice = match surface.kind {
        SurfaceKind::OneD | SurfaceKind::TwoD => z + surface.min_array_element,
        _ => z,
    };
    let texel = surface.fetch(mem, x, y, slice, level)?;
    Ok(looked_up(surface.format, palette, texel))
}

/// Whether the erratum of `ld` concerns a format: colours of eight bits and no alpha.
#[must_use]
pub fn eight_bits_without_alpha(format: &Format) -> bool {
    format.channel_bits(0) == 8 && format.channel_bits(3) == 0
}

/// Width, height, depth and number of levels, the sizes of level `lod`.
///
/// Array sizes do not shrink: the shift gives "the dimensions of the specified mip level".
#[must_use]
pub fn size(surface: &Surface, lod: u32) -> [u32; 4] {
    if surface.kind == SurfaceKind::Null {
        return [0; 4];
    }
    if lod >= surface.mip_count {
        return [0, 0, 0, surface.mip_count];
    }
    let level = lod.saturating_add(surface.min_lod);
    let depth = match surface.kind {
        SurfaceKind::Cube => 1,
        _ => surface.level_depth(level),
    };
    [
        surface.level_width(level),
        surface.level_height(level),
        depth,
        surface.mip_count,
    ]
}
