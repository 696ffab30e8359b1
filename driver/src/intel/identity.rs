//! What devices and their driver are called.
//!
//! Names and versions as in i915 `i915_drv.h`.
use kernel::drm::DriverInfo;

use crate::core::device::Identity;

/// Name and version for `DRM_IOCTL_VERSION`: user space of this family looks for "i915" 1.6.
pub const INFO: DriverInfo = DriverInfo {
    major: 1,
    minor: 6,
    patchlevel: 0,
    name: "i915",
    desc: "Intel Graphics",
};

/// How user space recognises the devices. They are at one place of the bus, as all integrated ones are.
pub(crate) static IDENTITY: Identity = Identity {
    driver: &INFO,
    // i915 `DRIVER_DATE` of Linux 6.1.
    date: "20201103",
    bus: "pci:0000:00:02.0",
    // i915 `intel_mode_config_init`, generations 4 to 6.
    largest: 8192,
};
