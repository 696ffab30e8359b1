//! Calls about outputs; this device has no outputs.
//!
//! drm_mode_config.c, drm_plane.c of Linux 6.1, with nothing attached. A client that looks for an output finds no output; xf86-video-intel,
//! which can do without (`Option "VirtualHeads"`), takes a device for one of i915 only when it can ask for them.
use kernel::error::Result;

use super::Call;
use crate::core::uapi::mode::{CardResources, PlaneResources};

#[expect(clippy::unnecessary_wraps, reason = "a handler")]
pub(super) fn get_resources(call: &Call<'_>, arg: &mut CardResources) -> Result {
    let largest = call.device.identity().largest;
    (arg.count_fbs, arg.count_crtcs) = (0, 0);
    (arg.count_connectors, arg.count_encoders) = (0, 0);
    (arg.min_width, arg.max_width) = (0, largest);
    (arg.min_height, arg.max_height) = (0, largest);
    Ok(())
}

#[expect(clippy::unnecessary_wraps, reason = "a handler")]
pub(super) fn get_plane_resources(_: &Call<'_>, arg: &mut PlaneResources) -> Result {
    arg.count = 0;
    Ok(())
}
