//! Calls about layout.
//!
//! i915 `i915_gem_tiling.c`. Not modelled: swizzling of bit 6; the memory has none.
use kernel::error::{Result, code::EINVAL};

use super::Call;
use crate::intel::gem::Tiling;
use crate::intel::r#gen::DeviceInfo;
use crate::intel::gtt::fence_reg::PITCH_UNIT;
use crate::intel::uapi::gem::{
    GetTiling, SWIZZLE_NONE, SetTiling, TILING_NONE, TILING_X, TILING_Y,
};

fn number(tiling: Tiling) -> u32 {
    match tiling {
        Tiling::None => TILING_NONE,
        Tiling::X => TILING_X,
        Tiling::Y => TILING_Y,
    }
}

/// Whether rows of a tiled object may have so many bytes (i915 `i915_tiling_ok`).
fn fits(info: &DeviceInfo, stride: u32, tile_width: u32) -> bool {
    let units = stride / PITCH_UNIT;
    units <= info.fence_max_pitch && stride != 0 && stride.is_multiple_of(tile_width)
}

pub(super) fn set_tiling(call: &Call<'_>, arg: &mut SetTiling) -> Result {
    let object = call.file.object(arg.handle)?;
    let tiling = match arg.tiling_mode {
        TILING_NONE => Tiling::None,
        TILING_X => Tiling::X,
        TILING_Y => Tiling::Y,
        _ => return Err(EINVAL),
    };
    match tiling.tile() {
        None => arg.stride = 0,
        Some((width, _)) => {
            if !fits(call.device.info(), arg.stride, width) {
                return Err(EINVAL);
            }
        }
    }
    arg.swizzle_mode = SWIZZLE_NONE;
    object.set_layout(tiling, arg.stride);
    Ok(())
}

pub(super) fn get_tiling(call: &Call<'_>, arg: &mut GetTiling) -> Result {
    let object = call.file.object(arg.handle)?;
    arg.tiling_mode = number(object.tiling());
    arg.swizzle_mode = SWIZZLE_NONE;
    arg.phys_swizzle_mode = SWIZZLE_NONE;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::intel::r#gen::{G45, VALLEYVIEW};

    /// i915 `i915_tiling_ok`: 128 KB before generation 7, 256 KB from there on.
    #[test]
    fn rows_are_as_long_as_the_device_s_fences_reach() {
        assert!(fits(&G45, 0x2_0000, 512) && !fits(&G45, 0x2_0200, 512));
        assert!(fits(&VALLEYVIEW, 0x4_0000, 512) && !fits(&VALLEYVIEW, 0x4_0200, 512));
        assert!(!fits(&VALLEYVIEW, 0, 512) && !fits(&VALLEYVIEW, 256, 512));
    }
}
