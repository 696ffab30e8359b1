//! Addresses and memory faults.
//!
//! PRM: Intel 965 Express Chipset Family, volume 1 (memory interface).
//! Not modelled: addresses above 4 GiB of system memory.

use std::fmt;

/// A graphics virtual address, translated by the global GTT.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct GpuAddr(pub u32);

impl GpuAddr {
    /// This address plus `bytes`, modulo 2^32 as the hardware adds.
    #[must_use]
    pub const fn offset(self, bytes: u32) -> Self {
        GpuAddr(self.0.wrapping_add(bytes))
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

/// Why an access failed.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
pub enum FaultKind {
    /// The GTT entry is not valid.
    #[error("the GTT entry is not valid")]
    InvalidPte,
    /// The address lies past the end of the GTT.
    #[error("the address is past the end of the GTT")]
    PastGtt,
    /// The entry points at no memory.
    #[error("the GTT entry points at no memory")]
    NoMemory,
    /// The address is not aligned as the unit needs.
    #[error("the address is misaligned")]
    Misaligned,
}

/// A failed memory access: the value that a unit reports in its error registers.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
#[error("{access:?} at {addr}: {kind}")]
pub struct Fault {
    /// The graphics address.
    pub addr: GpuAddr,
    /// Read or write.
    pub access: Access,
    /// Cause.
    pub kind: FaultKind,
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
