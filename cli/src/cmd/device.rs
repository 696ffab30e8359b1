//! `--device`: how devices are written, the same in every subcommand.
//!
//! Names and ids are those of the driver's id table. Not modelled: devices of other vendors.

use std::fmt::Write as _;

use crestline_cli::{alike, number};
use driver::{Driver, Model};
use kernel::pci::{DeviceId, Driver as _, VENDOR_INTEL};
use mmio_mock::intel::r#gen::{self, DEVICES, DeviceInfo, examples};
use regs::platform::{self, Device, Generation};

use super::Error;

/// Help of `--device` wherever it stands.
pub fn help() -> String {
    format!("Device, {}", spellings())
}

/// How a device is written, with the first of each generation as examples.
pub fn spellings() -> String {
    let names: Vec<&str> = examples().map(|device| device.name).collect();
    let (vendor, device) = r#gen::first().pci;
    let names = names.join(", ");
    format!(
        "by name ({names}, ...) or PCI id ({vendor:04x}:{device:04x}, {device:04x}, 0x{device:04x})"
    )
}

/// The device where none is named: the first of the list.
pub const fn first() -> &'static str {
    r#gen::first().name
}

/// The driver's row of a device by a name of it, in any case.
pub fn called(text: &str) -> Option<&'static (DeviceId, Model)> {
    Driver::ID_TABLE
        .iter()
        .find(|(_, model)| model.is_called(text))
}

/// The device behind a name or PCI id; the error lists all of them.
pub fn id(text: &str) -> Result<DeviceId, Error> {
    by_name(text)
        .or_else(|| by_id(text))
        .ok_or_else(|| unknown(text).into())
}

/// Tables and row of a device in them.
pub fn tables(text: &str) -> Result<(&'static Generation, &'static Device), Error> {
    platform::of_device(id(text)?.device).ok_or_else(|| unknown(text).into())
}

/// The device's row in the model.
pub fn modelled(text: &str) -> Result<&'static DeviceInfo, Error> {
    let id = id(text)?;
    DEVICES
        .iter()
        .find(|d| d.pci == (id.vendor, id.device))
        .ok_or_else(|| unknown(text).into())
}

fn by_name(text: &str) -> Option<DeviceId> {
    called(text).map(|(id, _)| *id)
}

fn by_id(text: &str) -> Option<DeviceId> {
    let (vendor, device) = match text.split_once(':') {
        Some((vendor, device)) => (hexadecimal(vendor)?, hexadecimal(device)?),
        None => (VENDOR_INTEL, hexadecimal(text)?),
    };
    let wanted = DeviceId::from_id(vendor, device);
    Driver::ID_TABLE
        .iter()
        .map(|(id, _)| *id)
        .find(|id| *id == wanted)
}

/// Four digits, with or without `0x`.
fn hexadecimal(text: &str) -> Option<u16> {
    let digits = number::behind_0x(text).unwrap_or(text);
    (digits.len() == 4)
        .then(|| number::hexadecimal(digits))
        .flatten()
        .and_then(|n| u16::try_from(n).ok())
}

fn unknown(text: &str) -> String {
    if text.contains(',') {
        return format!(
            "{text:?} is a list, and one device is meant here; only `crestline exec` takes several"
        );
    }
    let names = Driver::ID_TABLE
        .iter()
        .flat_map(|(_, model)| std::iter::once(model.name).chain(model.aliases.iter().copied()));
    let word = text.to_ascii_lowercase();
    let hint = alike::question(&alike::names(&word, names.map(str::to_ascii_lowercase)));
    let mut out = format!("unknown device {text:?}.{hint} The devices are:");
    for (id, model) in Driver::ID_TABLE {
        let device = DEVICES.iter().find(|d| d.pci == (id.vendor, id.device));
        // Writing to a String cannot fail.
        let _ = write!(
            out,
            "\n  {:10} {:04x}:{:04x}  {}",
            model.name.to_ascii_lowercase(),
            id.vendor,
            id.device,
            device.map_or("", |device| device.title)
        );
        if !model.aliases.is_empty() {
            let _ = write!(out, "; also {}", model.aliases.join(", "));
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::{id, modelled, tables};

    #[test]
    fn every_spelling_is_the_same_device() {
        for text in [
            "gm965",
            "GM965",
            "8086:2a02",
            "8086:2A02",
            "2a02",
            "0x2a02",
            "0X2A02",
            "0x8086:0x2a02",
        ] {
            let found = id(text).map(|id| id.device).ok();
            assert_eq!(found, Some(0x2a02), "{text}");
        }
        // i915_pciids.h: 2992 is the Q965, 29a2 the G965, 2982 the G35, 2e22 the G45, 2a42 the GM45.
        for (text, device) in [
            ("965Q", 0x2992),
            ("q965", 0x2992),
            ("965g", 0x29a2),
            ("g35", 0x2982),
            ("946GZ", 0x2972),
            ("g45", 0x2e22),
            ("GM45", 0x2a42),
            ("2e92", 0x2e92),
            ("ironlake", 0x0042),
            // Mesa 22.3.6 intel_device_info.c `name_map`: brw is the 965, g4x the G45, ilk Ironlake.
            ("ilk", 0x0042),
            ("g4x", 0x2e22),
            ("Cantiga", 0x2a42),
            ("0x0046", 0x0046),
        ] {
            assert_eq!(id(text).map(|id| id.device).ok(), Some(device), "{text}");
        }
    }

    #[test]
    fn the_driver_s_devices_are_all_in_tables_and_model() {
        use kernel::pci::Driver as _;
        for (id, model) in driver::Driver::ID_TABLE {
            assert_eq!(tables(model.name).map(|t| t.1.pci).ok(), Some(id.device));
            let found = modelled(model.name).map(|d| d.pci).ok();
            assert_eq!(found, Some((id.vendor, id.device)));
        }
    }

    #[test]
    fn others_are_refused_with_the_list() {
        for text in ["", "0x", "+a02", "2a2", "1002:2a02", "8086:", "g4", "2a02:"] {
            let error = id(text).map_err(|e| e.to_string()).err();
            assert!(
                error.is_some_and(|e| e.contains("gm965      8086:2a02")),
                "{text}"
            );
        }
    }
}
