//! The devices of the manual's table, by name and by number.
//!
//! PRM: volume 4, 1.0. PCI ids: i915 `i915_pciids.h`.

use super::find;

/// 82Q965 and 82Q963 share a number; [DevBW] stands for the 82G35 too, whose own tag names it alone.
// covers: 1.0-01, 1.0-02
#[test]
fn every_part_of_the_table_can_be_chosen() {
    for (name, pci, tag) in [
        ("q965", "8086:2992", "DevBW"),
        ("g965", "8086:29a2", "DevBW"),
        ("g35", "8086:2982", "DevBW"),
        ("gm965", "8086:2a02", "DevCL"),
        ("gme965", "8086:2a12", "DevCL"),
    ] {
        let device = find(name).unwrap();
        assert_eq!(find(pci), Some(device), "{name}");
        assert_eq!(find(&name.to_uppercase()), Some(device), "{name}");
        let (_, tagged) = regs::platform::of_device(device.pci.1).unwrap();
        assert_eq!(tagged.code, tag, "{name}");
        // What has no tag holds for all: array of EUs, instruction set.
        assert_eq!((device.eus, device.threads_per_eu), (8, 4), "{name}");
        assert_eq!(device.isa, isa::Verx10::GEN40, "{name}");
    }
    assert_eq!(find("g45"), None);
    assert_eq!(find("8086:2e22"), None, "G45");
}
