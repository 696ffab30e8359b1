//! The directory that stands in for entries in `/dev`, `/sys` and debugfs.
//!
//! Names and contents as Linux shows a PCI display device (drm_sysfs.c, pci-sysfs.c); libdrm's
//! `drmGetDevices` and Mesa's loader read them.

mod pci;

use std::fs;
use std::io;
use std::os::unix::fs::PermissionsExt as _;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

use kernel::string_helpers::Escaped;
use mmio_mock::intel::r#gen::DeviceInfo;
use nix::fcntl::Flock;
use wire::device::{RENDER, SLOTS};

use crate::{errors, leftover, place};

/// A device's place on the bus, and that of its bus. There is no other number than those of devices that a node has.
fn slot(device: usize) -> (&'static str, &'static str) {
    SLOTS.get(device).copied().unwrap_or_default()
}

/// A device's directory in the tree.
pub fn place(device: usize) -> String {
    let (slot, bus) = slot(device);
    format!("sys/devices/{bus}/{slot}")
}

/// Names and minor numbers of a device's nodes.
fn nodes(device: usize) -> [(String, usize); 2] {
    let render = RENDER as usize + device;
    [
        (format!("card{device}"), device),
        (format!("renderD{render}"), render),
    ]
}

/// The directory; it goes away with this.
pub struct Tree {
    dir: PathBuf,
    is_removed: AtomicBool,
    /// Says that it is in use.
    _lock: Option<Flock<fs::File>>,
}

impl Tree {
    /// The directory of some devices, in the order of their numbers.
    pub fn build(devices: &[&DeviceInfo]) -> io::Result<Self> {
        let dir = tempfile::Builder::new()
            .prefix(leftover::PREFIX)
            // From the first moment on, whatever the umask is.
            .permissions(fs::Permissions::from_mode(0o700))
            .tempdir_in(place::of_user()?)?
            .keep();
        let tree = Tree {
            _lock: leftover::lock(&dir),
            dir,
            is_removed: AtomicBool::new(false),
        };
        leftover::sweep(tree.path());
        for (device, info) in devices.iter().enumerate() {
            tree.dev(device)?;
            tree.pci(device, info)?;
            tree.drm(device)?;
            tree.debug(device, info)?;
        }
        tree.file("sys/class/drm/version", b"drm 1.1.0 20060810\n")?;
        Ok(tree)
    }

    pub fn path(&self) -> &Path {
        &self.dir
    }

    /// Removes it now, not when the last thread lets go of it, which the end of the process may forestall. Tried once.
    pub fn remove(&self) {
        if self.is_removed.swap(true, Ordering::AcqRel) {
            return;
        }
        if let Err(error) = leftover::remove(self.path()) {
            log::warn!("{}: {error}", Escaped(self.path().display()));
        }
    }

    fn file(&self, path: &str, contents: &[u8]) -> io::Result<()> {
        let path = self.make_room(path)?;
        fs::write(path, contents)
    }

    /// A relative link between two places of the tree.
    fn link(&self, path: &str, target: &str) -> io::Result<()> {
        let up = path.split('/').skip(1).map(|_| "..");
        let target: PathBuf = up.chain([target]).collect();
        symlink(target, self.make_room(path)?)
    }

    fn make_room(&self, path: &str) -> io::Result<PathBuf> {
        let path = self.dir.join(path);
        if let Some(parent) = path.parent() {
            fs::create_dir_all(parent)?;
        }
        Ok(path)
    }

    /// Entries only; the shim says that they are character devices.
    fn dev(&self, device: usize) -> io::Result<()> {
        let by_path = format!("dev/dri/by-path/pci-{}", slot(device).0);
        for ((name, _), kind) in nodes(device).iter().zip(["card", "render"]) {
            self.file(&format!("dev/dri/{name}"), b"")?;
            self.link(&format!("{by_path}-{kind}"), &format!("dev/dri/{name}"))?;
        }
        Ok(())
    }

    fn pci(&self, number: usize, info: &DeviceInfo) -> io::Result<()> {
        let (vendor, device) = info.pci;
        let (slot, base) = (slot(number).0, place(number));
        let file =
            |name: &str, contents: &str| self.file(&format!("{base}/{name}"), contents.as_bytes());
        file("vendor", &format!("{vendor:#06x}\n"))?;
        file("device", &format!("{device:#06x}\n"))?;
        file("subsystem_vendor", &format!("{vendor:#06x}\n"))?;
        file("subsystem_device", &format!("{device:#06x}\n"))?;
        file("revision", &format!("{:#04x}\n", info.revision))?;
        file("class", "0x030000\n")?;
        file("boot_vga", if number == 0 { "1\n" } else { "0\n" })?;
        file("enable", "1\n")?;
        file("irq", &format!("{}\n", pci::irq(number)))?;
        file("resource", &pci::resources(number, info))?;
        file("numa_node", "-1\n")?;
        let alias =
            format!("pci:v{vendor:08X}d{device:08X}sv{vendor:08X}sd{device:08X}bc03sc00i00\n");
        file("modalias", &alias)?;
        file(
            "uevent",
            &format!(
                "DRIVER=i915\nPCI_CLASS=30000\nPCI_ID={vendor:04X}:{device:04X}\n\
                 PCI_SUBSYS_ID={vendor:04X}:{device:04X}\nPCI_SLOT_NAME={slot}\n\
                 MODALIAS={alias}"
            ),
        )?;
        self.file(&format!("{base}/config"), &pci::config_space(number, info))?;
        self.link(&format!("{base}/subsystem"), "sys/bus/pci")?;
        self.link(&format!("{base}/driver"), "sys/bus/pci/drivers/i915")?;
        self.link(&format!("sys/bus/pci/devices/{slot}"), &base)?;
        self.link(&format!("sys/bus/pci/drivers/i915/{slot}"), &base)
    }

    fn drm(&self, device: usize) -> io::Result<()> {
        let base = place(device);
        for (name, minor) in nodes(device) {
            let node = format!("{base}/drm/{name}");
            self.file(&format!("{node}/dev"), format!("226:{minor}\n").as_bytes())?;
            let uevent =
                format!("MAJOR=226\nMINOR={minor}\nDEVNAME=dri/{name}\nDEVTYPE=drm_minor\n");
            self.file(&format!("{node}/uevent"), uevent.as_bytes())?;
            self.link(&format!("{node}/device"), &base)?;
            self.link(&format!("{node}/subsystem"), "sys/class/drm")?;
            self.link(&format!("sys/class/drm/{name}"), &node)?;
            self.link(&format!("sys/dev/char/226:{minor}"), &node)?;
        }
        Ok(())
    }

    fn debug(&self, device: usize, info: &DeviceInfo) -> io::Result<()> {
        let slot = slot(device).0;
        for (_, minor) in nodes(device) {
            let base = format!("sys/kernel/debug/dri/{minor}");
            let name = format!("i915 dev={slot} unique={slot}\n");
            self.file(&format!("{base}/name"), name.as_bytes())?;
            let capabilities = format!("platform: {}\npciid: {:#06x}\n", info.title, info.pci.1);
            self.file(
                &format!("{base}/i915_capabilities"),
                capabilities.as_bytes(),
            )?;
            // Written by intel-gpu-tools before anything else; there are no caches to drop.
            self.file(
                &format!("{base}/i915_gem_drop_caches"),
                b"0x00000000000000ff\n",
            )?;
            self.file(&format!("{base}/i915_wedged"), b"0x0000000000000000\n")?;
        }
        for place in errors::places(device) {
            self.file(&place, driver::NO_ERROR.as_bytes())?;
        }
        Ok(())
    }
}

impl Drop for Tree {
    fn drop(&mut self) {
        self.remove();
    }
}
