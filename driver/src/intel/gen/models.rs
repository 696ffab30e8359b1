//! The id table: devices, their names and rows.
//!
//! Ids and names as in i915 `i915_pciids.h` and its device info table; names of families as in Mesa's `crocus_pci_ids.h` and
//! `intel_device_info.c`.
use kernel::pci::{DeviceId, VENDOR_INTEL};

use super::{
    DeviceInfo, G45, GM45, I965G, I965GM, IRONLAKE, SANDY_BRIDGE_GT1, SANDY_BRIDGE_GT2, VALLEYVIEW,
};

/// What the id table says about a device.
pub struct Model {
    /// Marketing name.
    pub name: &'static str,
    /// Other names by which people call it, among them that of its family where it is the best known of that.
    pub aliases: &'static [&'static str],
    /// Its generation's row.
    pub info: &'static DeviceInfo,
}

impl Model {
    /// Whether the device is called so, in any case.
    #[must_use]
    pub fn is_called(&self, text: &str) -> bool {
        let mut names = self.aliases.iter().chain([&self.name]);
        names.any(|name| name.eq_ignore_ascii_case(text))
    }
}

const fn model(
    device: u16,
    name: &'static str,
    aliases: &'static [&'static str],
    info: &'static DeviceInfo,
) -> (DeviceId, Model) {
    let model = Model {
        name,
        aliases,
        info,
    };
    (DeviceId::from_id(VENDOR_INTEL, device), model)
}

/// All devices, by id.
pub static MODELS: &[(DeviceId, Model)] = &[
    model(0x2972, "946GZ", &[], &I965G),
    model(0x2982, "G35", &[], &I965G),
    model(0x2992, "Q965", &["965Q"], &I965G),
    model(0x29a2, "G965", &["965G", "broadwater", "brw"], &I965G),
    model(0x2a02, "GM965", &["965GM"], &I965GM),
    model(0x2a12, "GME965", &["965GME"], &I965GM),
    model(0x2a42, "GM45", &["cantiga", "ctg"], &GM45),
    model(0x2e02, "Eaglelake", &["elk"], &G45),
    model(0x2e12, "Q45", &[], &G45),
    model(0x2e22, "G45", &["g4x"], &G45),
    model(0x2e32, "G41", &[], &G45),
    model(0x2e42, "B43", &[], &G45),
    model(0x2e92, "B43.1", &[], &G45),
    model(0x0042, "Ironlake", &["ilk"], &IRONLAKE),
    model(0x0046, "Ironlake-M", &["ilk-m"], &IRONLAKE),
    model(0x0126, "Sandybridge", &["snb"], &SANDY_BRIDGE_GT2),
    model(0x0116, "Sandybridge-M-GT2", &[], &SANDY_BRIDGE_GT2),
    model(0x0106, "Sandybridge-M-GT1", &[], &SANDY_BRIDGE_GT1),
    model(0x0122, "Sandybridge-GT2", &[], &SANDY_BRIDGE_GT2),
    model(0x0112, "Sandybridge-GT2-0112", &[], &SANDY_BRIDGE_GT2),
    model(0x0102, "Sandybridge-GT1", &[], &SANDY_BRIDGE_GT1),
    model(
        0x0f31,
        "ValleyView",
        &["vlv", "Bay Trail", "byt"],
        &VALLEYVIEW,
    ),
    model(0x0f30, "ValleyView-0f30", &[], &VALLEYVIEW),
    model(0x0f32, "ValleyView-0f32", &[], &VALLEYVIEW),
    model(0x0f33, "ValleyView-0f33", &[], &VALLEYVIEW),
];
