//! Addresses of PCI functions: domain, bus, device, function.
//!
//! As Linux writes them (`pci_name`): `0000:00:02.0`.

use std::fmt;
use std::str::FromStr;

use crate::PciError;

/// Where a function is.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Address {
    domain: u32,
    bus: u8,
    device: u8,
    function: u8,
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Address {
            domain,
            bus,
            device,
            function,
        } = self;
        write!(f, "{domain:04x}:{bus:02x}:{device:02x}.{function}")
    }
}

impl FromStr for Address {
    type Err = PciError;

    /// With the domain or without (0), in any case.
    fn from_str(text: &str) -> Result<Self, PciError> {
        parse(text).ok_or_else(|| PciError::Address(text.to_owned()))
    }
}

impl Address {
    /// The address that a name in sysfs is, if it is one: written as Linux does, and in no other way.
    #[must_use]
    pub fn of_name(name: &str) -> Option<Self> {
        parse(name).filter(|address| address.to_string() == name)
    }
}

fn parse(text: &str) -> Option<Address> {
    let (head, function) = text.split_once('.')?;
    let mut parts = head.rsplit(':');
    let device = hexadecimal(parts.next()?, 2)?;
    let bus = hexadecimal(parts.next()?, 2)?;
    let domain = match parts.next() {
        Some(digits) => hexadecimal(digits, 8)?,
        None => 0,
    };
    let function = hexadecimal(function, 1)?;
    if parts.next().is_some() || device > 31 || function > 7 {
        return None;
    }
    Some(Address {
        domain,
        // CAST: at most two digits each.
        bus: bus as u8,
        device: device as u8,
        function: function as u8,
    })
}

fn hexadecimal(digits: &str, most: usize) -> Option<u32> {
    let plain = digits.bytes().all(|byte| byte.is_ascii_hexdigit());
    if digits.is_empty() || digits.len() > most || !plain {
        return None;
    }
    u32::from_str_radix(digits, 16).ok()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]
    use super::*;

    #[test]
    fn addresses_are_read_with_and_without_domain() {
        for (text, shown) in [
            ("0000:00:02.0", "0000:00:02.0"),
            ("00:02.0", "0000:00:02.0"),
            ("0:2.7", "0000:00:02.7"),
            ("10000:E1:1F.3", "10000:e1:1f.3"),
        ] {
            assert_eq!(text.parse::<Address>().unwrap().to_string(), shown);
        }
    }

    #[test]
    fn others_are_refused() {
        for text in [
            "",
            ".",
            "0",
            "00:02",
            "00:02.8",
            "00:20.0",
            "000:02.0",
            "0:0:0:2.0",
            "00:02.0 ",
            "+0:02.0",
            "../..:02.0",
            "123456789:00:02.0",
            "00:02.0.0",
            "é:02.0",
        ] {
            assert!(text.parse::<Address>().is_err(), "{text}");
        }
    }

    #[test]
    fn names_of_sysfs_are_taken_as_linux_writes_them() {
        assert!(Address::of_name("0000:00:02.0").is_some());
        assert!(Address::of_name("10000:e1:00.0").is_some());
        for name in ["00:02.0", "0000:00:1F.3", "00000:00:02.0", "0000:0:02.0"] {
            assert_eq!(Address::of_name(name), None, "{name}");
        }
    }
}
