//! Who holds a function, and the commands that free it and give it back.
//!
//! Linux `Documentation/ABI/testing/sysfs-bus-pci` (`driver_override`, `drivers_probe`), `Documentation/fb/fbcon.rst` (consoles).

use std::fmt::Write as _;
use std::fs;

use kernel::string_helpers::escape;

use crate::tree::text;
use crate::{Address, Function, PciError, Tree};

/// The driver's kind.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Hold {
    /// No driver, or pci-stub, which does nothing with it.
    Free,
    /// `uio_pci_generic`: interrupts come by a file.
    Uio,
    /// `vfio-pci`: registers, interrupts and memory by a file, behind an IOMMU.
    Vfio,
    /// A driver that works with it.
    Other(String),
}

impl Hold {
    pub(crate) fn of(driver: Option<&str>) -> Self {
        match driver {
            None | Some("pci-stub") => Hold::Free,
            Some("uio_pci_generic") => Hold::Uio,
            Some("vfio-pci") => Hold::Vfio,
            Some(other) => Hold::Other(other.to_owned()),
        }
    }
}

impl Function {
    /// That nobody works with the function.
    ///
    /// # Errors
    /// Who does, the commands that free it, and those that give it back.
    pub fn check_free(&self) -> Result<(), PciError> {
        let Hold::Other(driver) = self.hold() else {
            return Ok(());
        };
        let address = self.address();
        let mut out = format!(
            "{address} belongs to the kernel driver {}: two drivers on one device would wreck each other's work. As root, these free it \
            (its screen goes dark: be there by ssh or a serial line, and end what draws on it, X or Wayland, before):",
            escape(&driver)
        );
        for command in to_free(self.tree(), address) {
            // Writing to a String cannot fail, here and below.
            let _ = write!(out, "\n  {command}");
        }
        let _ = write!(out, "\nand afterwards these give it back:");
        for command in to_give_back(self.tree(), address) {
            let _ = write!(out, "\n  {command}");
        }
        Err(PciError::Refused(out))
    }
}

/// Where a function is taken from its driver, in its directory.
const UNBIND: &str = "driver/unbind";

/// Consoles that draw on a display, whose driver cannot be unbound before.
fn consoles(tree: &Tree) -> Vec<String> {
    let names = fs::read_dir(tree.consoles()).into_iter().flatten();
    let names = names.flatten().take(64);
    let names = names.filter_map(|name| name.file_name().into_string().ok());
    let is_console = |name: &String| {
        let number = name.strip_prefix("vtcon");
        number.is_some_and(|number| {
            !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit())
        })
    };
    let draws = |name: &String| {
        let kind = text(&tree.consoles().join(name).join("name")).unwrap_or_default();
        kind.contains("frame buffer")
    };
    let mut names: Vec<String> = names.filter(is_console).filter(draws).collect();
    names.sort_unstable();
    names
}

fn to_free(tree: &Tree, address: Address) -> Vec<String> {
    let mut out: Vec<String> = consoles(tree)
        .iter()
        .map(|console| format!("echo 0 > /sys/class/vtconsole/{console}/bind"))
        .collect();
    let directory = format!("/sys/bus/pci/devices/{address}");
    out.push(format!("echo {address} > {directory}/{UNBIND}"));
    out.push("modprobe uio_pci_generic".to_owned());
    out.push(format!(
        "echo uio_pci_generic > {directory}/driver_override"
    ));
    out.push(format!("echo {address} > /sys/bus/pci/drivers_probe"));
    out
}

fn to_give_back(tree: &Tree, address: Address) -> Vec<String> {
    let directory = format!("/sys/bus/pci/devices/{address}");
    let mut out = vec![
        format!("echo {address} > {directory}/{UNBIND}"),
        format!("echo > {directory}/driver_override"),
        format!("echo {address} > /sys/bus/pci/drivers_probe"),
    ];
    let consoles = consoles(tree);
    let consoles = consoles.iter();
    out.extend(consoles.map(|console| format!("echo 1 > /sys/class/vtconsole/{console}/bind")));
    out
}
