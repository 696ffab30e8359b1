//! Calls about layout.
//!
//! i915 `i915_gem_tiling.c`. Not modelled: swizzling of bit 6; the memory has none.
use kernel::error::{Result, code::EINVAL};

use super::Call;
use crate::intel::gem::Tiling;
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
            let stride = arg.stride;
            let most = call.device.info().fence_most;
            if stride / PITCH_UNIT > most || stride == 0 || !stride.is_multiple_of(width) {
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
