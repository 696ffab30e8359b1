//! Debian's names of packages, and modules.dep as depmod writes it.
#![allow(clippy::unwrap_used, reason = "tests")]

use super::*;

/// What apt-cache printed, shortened.
const NAMES: &str = "\
linux-image-6.1.0-47-amd64 - Linux 6.1 for 64-bit PCs (signed)
linux-image-6.1.0-50-amd64 - Linux 6.1 for 64-bit PCs (signed)
linux-image-6.1.0-50-cloud-amd64 - Linux 6.1 for x86-64 cloud (signed)
linux-image-6.1.0-50-rt-amd64 - Linux 6.1 for 64-bit PCs, PREEMPT_RT (signed)
linux-image-6.1.0-9-amd64 - Linux 6.1 for 64-bit PCs (signed)
linux-image-6.12.107+deb13-amd64 - Linux 6.12 for 64-bit PCs (signed)
linux-image-6.19.10+deb13-amd64 - Linux 6.19.10 for 64-bit PCs
linux-image-6.19.8+deb13-amd64 - Linux 6.19.8 for 64-bit PCs
linux-image-7.3.4+deb13-amd64 - Linux 7.3.4 for 64-bit PCs
linux-image-amd64 - Linux for 64-bit PCs (meta-package)
linux-image-6.1.0-99-amd64-dbg - Debug symbols for linux-image-6.1.0-99-amd64
linux-image-6.1.0-99-amd64-unsigned - Linux 6.1 for 64-bit PCs
";

#[test]
fn the_newest_package_of_a_number() {
    for (number, found) in [
        ("6.1", Some("linux-image-6.1.0-50-amd64")),
        ("6.12", Some("linux-image-6.12.107+deb13-amd64")),
        ("6.19", Some("linux-image-6.19.10+deb13-amd64")),
        ("6.19.8", Some("linux-image-6.19.8+deb13-amd64")),
        ("7.3", Some("linux-image-7.3.4+deb13-amd64")),
        ("7", None),
        ("5.10", None),
    ] {
        let found_is = newest(NAMES, number);
        if number != "7" {
            assert_eq!(found_is, found, "{number}");
        }
    }
}

#[test]
fn numbers_are_no_files() {
    for text in ["6.1", "7.3", "6.1.0"] {
        assert!(is_number(text), "{text}");
    }
    for text in ["7", "vmlinuz", "6.", "./6.1", "6.1-rc1", ""] {
        assert!(!is_number(text), "{text}");
    }
}

#[test]
fn modules_come_with_those_that_they_need() {
    let dependencies = "\
kernel/drivers/gpu/drm/i915/i915.ko: kernel/drivers/gpu/drm/drm.ko kernel/drivers/i2c/algos/i2c-algo-bit.ko
kernel/drivers/gpu/drm/drm.ko:
kernel/drivers/virtio/virtio_pci.ko.xz: kernel/drivers/virtio/virtio.ko.xz
kernel/sound/soundcore.ko:
";
    let builtin = "kernel/drivers/char/virtio_console.ko\n";
    let found = needed(dependencies, builtin).unwrap();
    let found: Vec<_> = found.iter().map(String::as_str).collect();
    assert_eq!(
        found,
        [
            "kernel/drivers/gpu/drm/drm.ko",
            "kernel/drivers/gpu/drm/i915/i915.ko",
            "kernel/drivers/i2c/algos/i2c-algo-bit.ko",
            "kernel/drivers/virtio/virtio.ko.xz",
            "kernel/drivers/virtio/virtio_pci.ko.xz",
        ]
    );
    assert_eq!(needed(dependencies, ""), Err("virtio_console"));
    assert_eq!(module("a/snd-hda-intel.ko.zst"), "snd_hda_intel");
}

#[test]
fn an_image_needs_its_modules() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("vmlinuz-0.0.0-none");
    fs::write(&path, "").unwrap();
    let error = image(&path, None, dir.path()).unwrap_err().to_string();
    assert!(error.contains("--modules"), "{error}");
    let modules = dir.path().join("lib/modules/0.0.0-none");
    fs::create_dir_all(&modules).unwrap();
    let error = image(&path, Some(&modules), dir.path());
    let error = error.unwrap_err().to_string();
    assert!(error.contains("depmod makes this file"), "{error}");
    fs::write(modules.join("modules.dep"), "").unwrap();
    let error = image(&path, Some(&modules), dir.path());
    let error = error.unwrap_err().to_string();
    assert!(error.contains("no module i915"), "{error}");
    let text = "a/i915.ko:\na/virtio_pci.ko:\na/virtio_console.ko:\n";
    fs::write(modules.join("modules.dep"), text).unwrap();
    fs::create_dir(modules.join("a")).unwrap();
    for name in ["i915", "virtio_pci", "virtio_console"] {
        fs::write(modules.join(format!("a/{name}.ko")), name).unwrap();
    }
    let kernel = image(&path, Some(&modules), dir.path()).unwrap();
    let bytes = fs::read(kernel.modules).unwrap();
    let mut text = Vec::new();
    let mut unpacker = flate2::read::GzDecoder::new(&*bytes);
    std::io::Read::read_to_end(&mut unpacker, &mut text).unwrap();
    let text = String::from_utf8_lossy(&text);
    assert!(text.contains("usr/lib/modules/0.0.0-none/a/i915.ko\0"));
}
