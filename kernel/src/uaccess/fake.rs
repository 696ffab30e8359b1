//! A process's memory for tests: a map of bytes with holes and read-only ranges.
//!
//! Not modelled: pages, sharing.
use alloc::collections::BTreeMap;

use zerocopy::{FromBytes, Immutable, IntoBytes};

use super::{UserMemory, UserPtr};
use crate::error::{Result, code::EFAULT};
use crate::sync::SpinLock;

/// Where the first allocation lies.
const BASE: u64 = 0x5555_0000_0000;
/// Bytes that stay unmapped between two allocations.
const GUARD: u64 = 64;

#[derive(Default)]
struct Inner {
    /// Value and whether it may be written.
    bytes: BTreeMap<u64, (u8, bool)>,
    used: u64,
}

/// Memory of a process that exists in a test only.
#[derive(Default)]
pub struct FakeMemory(SpinLock<Inner>);

impl FakeMemory {
    /// A process without memory.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    fn map(&self, data: impl ExactSizeIterator<Item = u8>, writable: bool) -> u64 {
        let mut inner = self.0.lock();
        let addr = BASE + inner.used;
        inner.used += (data.len() as u64 + GUARD).next_multiple_of(GUARD);
        for (byte, at) in data.zip(addr..) {
            inner.bytes.insert(at, (byte, writable));
        }
        addr
    }

    /// Maps zeroed bytes.
    pub fn alloc(&self, len: usize) -> u64 {
        self.map((0..len).map(|_| 0), true)
    }

    /// Maps bytes that cannot be written.
    pub fn constant(&self, data: &[u8]) -> u64 {
        self.map(data.iter().copied(), false)
    }

    /// Maps a value.
    pub fn place<T: IntoBytes + Immutable + ?Sized>(&self, value: &T) -> u64 {
        self.map(value.as_bytes().iter().copied(), true)
    }

    /// The value at an address; `EFAULT` when it is not mapped.
    pub fn get<T: FromBytes + IntoBytes>(&self, addr: u64) -> Result<T> {
        UserPtr::new(self, addr)?.read()
    }
}

impl UserMemory for FakeMemory {
    fn read(&self, addr: u64, out: &mut [u8]) -> Result {
        let inner = self.0.lock();
        for (byte, at) in out.iter_mut().zip(addr..) {
            *byte = inner.bytes.get(&at).ok_or(EFAULT)?.0;
        }
        Ok(())
    }

    fn write(&self, addr: u64, data: &[u8]) -> Result {
        let mut inner = self.0.lock();
        for (byte, at) in data.iter().zip(addr..) {
            match inner.bytes.get_mut(&at) {
                Some((slot, true)) => *slot = *byte,
                _ => return Err(EFAULT),
            }
        }
        Ok(())
    }
}
