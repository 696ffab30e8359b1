//! Addresses and memory faults.
//!
//! PRM: Intel 965 Express Chipset Family, volume 1 (memory interface).
//! Not modelled: more than 4 GiB of system memory.

use std::fmt;

use crate::space::Space;

/// A graphics virtual address. Which memory it means depends on the [`Space`] of the access.
///
/// It is 64 bits wide on every device. How many of them a device's bus has, and what becomes of the others, is in the
/// [`TableFormat`](crate::table::TableFormat) of the space: the addresses of generations 4 to 7 wrap after 32 bits.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct GpuAddr(pub u64);

impl GpuAddr {
    /// An address that no space has: what [`canonical`](Self::canonical) makes of one that cannot be.
    const NOWHERE: u64 = 1 << 62;

    /// An address of `bits` bits as commands have it, whose higher bits repeat the highest of these: without the
    /// repetition. Where a higher bit differs, the result is an address that no space has. `bits` is 1 to 60.
    ///
    /// Every address that is made of a guest's 64 bits has to come from here: it is so small then that no sum wraps.
    #[must_use]
    pub const fn canonical(raw: u64, bits: u32) -> Self {
        let low = raw & ((1 << bits) - 1);
        let copies = raw.cast_signed() >> (bits - 1);
        if copies == 0 || copies == -1 {
            GpuAddr(low)
        } else {
            GpuAddr(low | Self::NOWHERE)
        }
    }

    /// This address plus `bytes`, in 64 bits: a sum of addresses and offsets of commands goes past the end of its space
    /// and does not come round to the beginning. A space whose bus has 32 bits wraps the sum when it is looked up.
    #[must_use]
    #[inline]
    pub const fn offset(self, bytes: u32) -> Self {
        GpuAddr(self.0.wrapping_add(bytes as u64))
    }

    /// The address `bytes` further on, but not past the last one of 64 bits: accesses end there whatever they are given.
    #[must_use]
    #[inline]
    pub const fn after(self, bytes: usize) -> Self {
        GpuAddr(self.0.saturating_add(bytes as u64))
    }

    /// Bits 31:0, for registers, commands and events that have no more.
    #[must_use]
    #[inline]
    pub const fn low(self) -> u32 {
        // CAST: the low half is what is asked for.
        self.0 as u32
    }

    /// Byte in its page.
    #[must_use]
    #[inline]
    pub const fn in_page(self) -> usize {
        // CAST: twelve bits.
        (self.0 & 0xfff) as usize
    }
}

impl From<u32> for GpuAddr {
    #[inline]
    fn from(addr: u32) -> Self {
        GpuAddr(addr.into())
    }
}

impl fmt::Debug for GpuAddr {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:#010x}", self.0)
    }
}
impl fmt::Display for GpuAddr {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:#010x}", self.0)
    }
}

/// A physical (bus) address of system memory.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct PhysAddr(pub u64);

/// Direction of a failed access.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Access {
    /// Read or fetch.
    Read,
    /// Write.
    Write,
}

/// Why an access failed. The texts are those of the global GTT; [`Fault`] has others for tables of processes.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
pub enum FaultKind {
    /// The entry is not valid.
    #[error("the GTT entry is not valid")]
    InvalidPte,
    /// The address lies past the end of the table.
    #[error("the address is past the end of the GTT")]
    PastGtt,
    /// The entry points at no memory.
    #[error("the GTT entry points at no memory")]
    NoMemory,
    /// The entry allows no writes.
    #[error("the GTT entry allows no writes")]
    ReadOnly,
    /// The page is the driver's own, and the access a client's.
    #[error("the page is the driver's own")]
    Guarded,
    /// No tables are set for the space.
    #[error("the space has no tables")]
    NoTables,
    /// The address is not aligned as the unit needs.
    #[error("the address is misaligned")]
    Misaligned,
}

/// A failed memory access: the value that a unit reports in its error registers.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Fault {
    /// The graphics address, as the bus of its space has it.
    pub addr: GpuAddr,
    /// The space that the address belongs to.
    pub space: Space,
    /// Read or write.
    pub access: Access,
    /// Cause.
    pub kind: FaultKind,
    /// Level of the table whose entry failed, the root's being 1; 0 when no entry was looked at.
    pub level: u8,
    /// Number of the entry in the table of that level.
    pub entry: u32,
}

impl std::error::Error for Fault {}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?} at {}", self.access, self.addr)?;
        if self.space == Space::Global {
            return write!(f, ": {}", self.kind);
        }
        write!(f, " of {}: ", self.space)?;
        let (level, entry) = (self.level, self.entry);
        match self.kind {
            FaultKind::InvalidPte => write!(f, "entry {entry} of level {level} is not valid"),
            FaultKind::NoMemory => write!(f, "entry {entry} of level {level} points at no memory"),
            FaultKind::ReadOnly => write!(f, "entry {entry} of level {level} allows no writes"),
            FaultKind::PastGtt => write!(f, "the address is past the end of the space"),
            FaultKind::Guarded | FaultKind::NoTables | FaultKind::Misaligned => {
                write!(f, "{}", self.kind)
            }
        }
    }
}

/// A physical access outside the system's memory, or a wrong range given to the page allocator.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
#[error("{access:?} of {len} bytes at physical {addr:?}: no such memory")]
pub struct PhysFault {
    /// First byte of the access.
    pub addr: PhysAddr,
    /// Bytes asked for.
    pub len: usize,
    /// Read or write.
    pub access: Access,
}

const _: () = {
    // Accesses return faults by value: two registers.
    assert!(size_of::<Fault>() == 16);
};

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn canonical_addresses_repeat_their_highest_bit() {
        let of = |raw| GpuAddr::canonical(raw, 48);
        assert_eq!(of(0x7fff_ffff_ffff), GpuAddr(0x7fff_ffff_ffff));
        assert_eq!(of(0xffff_8000_0000_1000), GpuAddr(0x8000_0000_1000));
        assert_eq!(of(u64::MAX), GpuAddr(0xffff_ffff_ffff));
        for wrong in [
            0x8000_0000_0000,
            0x1_0000_0000_0000,
            0x7fff_ffff_ffff_ffff,
            0xffff_7fff_ffff_ffff,
        ] {
            let addr = of(wrong);
            assert!(addr.0 >> 48 != 0, "{addr}");
            assert!(addr.offset(u32::MAX).0 >> 48 != 0, "{addr}");
        }
        assert_eq!(GpuAddr::canonical(u64::MAX, 1), GpuAddr(1));
    }

    #[test]
    fn sums_do_not_wrap() {
        assert_eq!(GpuAddr(0xffff_fff0).offset(0x20), GpuAddr(0x1_0000_0010));
        assert_eq!(GpuAddr(u64::MAX - 1).after(usize::MAX), GpuAddr(u64::MAX));
        assert_eq!(GpuAddr(0x1_0000_0010).low(), 0x10);
        assert_eq!(
            GpuAddr::from(0xffff_ffff_u32).offset(1).to_string(),
            "0x100000000"
        );
    }
}
