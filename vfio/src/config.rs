//! Configuration space of the modelled function.
//!
//! PCI Local Bus Specification 3.0, 6.1 (header), 6.2.5 (base addresses), 6.8.1 (message signalled interrupts); i915
//! i915_pci.c and intel-gtt.c for the BARs of the parts. From 40h on the device's registers follow, each a byte.
//! Not modelled: power management, expansion ROM, error bits of the status register.

use mmio_mock::core::model::Identity;

use crate::protocol::region;

/// Bytes of configuration space.
pub const BYTES: usize = 256;
/// Bytes of its header.
const HEADER: usize = 0x40;

const COMMAND: usize = 0x04;
const STATUS: usize = 0x06;
const CAPABILITIES: usize = 0x34;
const LINE: usize = 0x3c;
const PIN: usize = 0x3d;

/// Bits of the command register that can be set: I/O, memory, master, parity, SERR, interrupts off.
const COMMAND_BITS: u16 = 0x0547;
/// Its bit that switches the pin off.
const INTX_DISABLE: u16 = 1 << 10;
/// Status: an interrupt is pending at the pin.
const INTERRUPT: u8 = 1 << 3;
/// Status: there is a list of capabilities.
const HAS_CAPABILITIES: u8 = 1 << 4;

/// Where the capability of messages lies, as on the parts (intel-gtt's chipsets, `lspci -v`).
const MSI: usize = 0x90;
/// Its bytes: id, next, control, address, data.
const MSI_BYTES: usize = 10;
/// Its control word: messages on. There is one message, with an address of 32 bits.
const MSI_ENABLE: u8 = 1;

/// A memory BAR has 64 bits of address, and may be prefetched.
const MEMORY_64: u32 = 0x4;
const PREFETCHABLE: u32 = 0x8;
const IO: u32 = 0x1;

/// Bytes of graphics memory that the aperture shows.
pub const APERTURE: u64 = 256 << 20;
/// Bytes of the pair of I/O ports.
pub const PORTS: u64 = 8;

/// Configuration space as the guest sees it.
pub struct Config {
    bytes: [u8; BYTES],
    /// Bits that a write changes.
    writable: [u8; BYTES],
    /// Bytes of the regions.
    sizes: [u64; region::COUNT as usize],
}

impl Config {
    /// That of a device after power-on.
    #[must_use]
    pub fn new(identity: &Identity) -> Self {
        let mut config = Config {
            bytes: [0; BYTES],
            writable: [0; BYTES],
            sizes: [0; region::COUNT as usize],
        };
        let (vendor, device) = (identity.pci.0.to_le_bytes(), identity.pci.1.to_le_bytes());
        config.put(0x00, &vendor);
        config.put(0x02, &device);
        config.put(STATUS, &[HAS_CAPABILITIES]);
        config.put(0x08, &[identity.revision]);
        // Class 03 00 00: VGA compatible controller.
        config.put(0x0b, &[0x03]);
        config.put(0x2c, &vendor);
        config.put(0x2e, &device);
        config.put(CAPABILITIES, &[MSI as u8]);
        config.put(PIN, &[1]);
        config.allow(COMMAND, &COMMAND_BITS.to_le_bytes());
        config.allow(LINE, &[0xff]);
        config.bar(region::BAR0, identity.bars[0], MEMORY_64);
        config.bar(region::BAR2, APERTURE, MEMORY_64 | PREFETCHABLE);
        config.bar(region::BAR4, PORTS, IO);
        config.sizes[region::CONFIG as usize] = BYTES as u64;
        // The last one of the list.
        config.put(MSI, &[0x05, 0]);
        config.allow(
            MSI + 2,
            &[MSI_ENABLE, 0, 0xfc, 0xff, 0xff, 0xff, 0xff, 0xff],
        );
        for (at, value) in identity.config {
            config.put(usize::from(*at), &[*value]);
        }
        config
    }

    fn put(&mut self, at: usize, values: &[u8]) {
        for (to, value) in self.bytes.iter_mut().skip(at).zip(values) {
            *to = *value;
        }
    }

    fn allow(&mut self, at: usize, bits: &[u8]) {
        for (to, bits) in self.writable.iter_mut().skip(at).zip(bits) {
            *to = *bits;
        }
    }

    /// A base address of a power of two of bytes: the bits below are zero whatever is written.
    fn bar(&mut self, index: u32, bytes: u64, kind: u32) {
        let at = 0x10 + 4 * index as usize;
        let mask = !(bytes - 1);
        self.sizes[index as usize] = bytes;
        self.put(at, &kind.to_le_bytes());
        // CAST: the halves of 64 bits.
        self.allow(at, &(mask as u32).to_le_bytes());
        if kind & MEMORY_64 != 0 {
            self.allow(at + 4, &((mask >> 32) as u32).to_le_bytes());
        }
    }

    /// Bytes of a region; 0 for one that there is not.
    #[must_use]
    pub fn size(&self, index: u32) -> u64 {
        self.sizes.get(index as usize).copied().unwrap_or(0)
    }

    /// Whether the guest has switched the pin off.
    #[must_use]
    pub fn is_pin_off(&self) -> bool {
        u16::from_le_bytes([self.bytes[COMMAND], self.bytes[COMMAND + 1]]) & INTX_DISABLE != 0
    }

    /// The byte at an offset, with the interrupt line as it is; all ones outside.
    #[must_use]
    pub fn read(&self, at: usize, line: bool) -> u8 {
        let value = self.bytes.get(at).copied().unwrap_or(0xff);
        if at == STATUS && line {
            value | INTERRUPT
        } else {
            value
        }
    }

    /// Writes a byte. `device` is told of one that is the device's, and says what it reads from now on.
    pub fn write(&mut self, at: usize, value: u8, device: impl FnOnce(u8, u8) -> u8) {
        let Some(&old) = self.bytes.get(at) else {
            return;
        };
        let own = at >= HEADER && !(MSI..MSI + MSI_BYTES).contains(&at);
        self.bytes[at] = if own && !is_fixed(at) {
            // CAST: below 256.
            device(at as u8, value)
        } else {
            let bits = self.writable[at];
            old & !bits | value & bits
        };
    }
}

/// Whether a byte is one of those that the firmware has set and locked: the control words of the chipset.
fn is_fixed(at: usize) -> bool {
    const CONTROL: std::ops::Range<usize> = 0x50..0x54;
    CONTROL.contains(&at)
}

#[cfg(test)]
mod tests;
