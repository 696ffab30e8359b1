//! Calls about outputs; this device has no outputs.
//!
//! drm_mode_config.c, drm_plane.c of Linux 6.1, with nothing attached. A client that looks for an output finds no output; xf86-video-intel,
//! which can do without (`Option "VirtualHeads"`), takes a device for one of i915 only when it can ask for them.
use kernel::error::Result;

use super::Call;
use crate::core::uapi::mode::{CardResources, PlaneResources};

/// Largest width and height of a frame buffer (i915 `intel_mode_config_init`, Gen4 to Gen6).
const LARGEST: u32 = 8192;

#[expect(clippy::unnecessary_wraps, reason = "a handler")]
pub(super) fn get_resources(_: &Call<'_>, arg: &mut CardResources) -> Result {
    (arg.count_fbs, arg.count_crtcs) = (0, 0);
    (arg.count_connectors, arg.count_encoders) = (0, 0);
    (arg.min_width, arg.max_width) = (0, LARGEST);
    (arg.min_height, arg.max_height) = (0, LARGEST);
    Ok(())
}

#[expect(clippy::unnecessary_wraps, reason = "a handler")]
pub(super) fn get_plane_resources(_: &Call<'_>, arg: &mut PlaneResources) -> Result {
    arg.count = 0;
    Ok(())
}
