//! Where untyped messages reach: graphics memory, or the memory of a group.

use mem::{GpuAddr, Memory};

use crate::UnitFault;

/// Bytes that a message may change.
pub(super) enum Store<'a> {
    /// By graphics address.
    Memory(&'a mut Memory),
    /// By place from the first byte of the group's.
    Local(&'a mut [u8]),
}

/// So many bytes of local memory.
fn part(local: &mut [u8], at: GpuAddr, bytes: usize) -> Option<&mut [u8]> {
    let from = usize::try_from(at.0).ok()?;
    local.get_mut(from..from.checked_add(bytes)?)
}

impl Store<'_> {
    /// The dword at a place.
    #[inline]
    pub(super) fn read(&mut self, at: GpuAddr) -> Result<u32, UnitFault> {
        match self {
            Store::Memory(mem) => Ok(mem.read_u32(at)?),
            Store::Local(local) => {
                let mut bytes = [0; 4];
                if let Some(from) = part(local, at, 4) {
                    bytes.copy_from_slice(from);
                }
                Ok(u32::from_le_bytes(bytes))
            }
        }
    }

    /// Writes the dword at a place.
    #[inline]
    pub(super) fn write(&mut self, at: GpuAddr, value: u32) -> Result<(), UnitFault> {
        match self {
            Store::Memory(mem) => mem.write_u32(at, value)?,
            Store::Local(local) => {
                if let Some(to) = part(local, at, 4) {
                    to.copy_from_slice(&value.to_le_bytes());
                }
            }
        }
        Ok(())
    }

    /// The integer of up to four bytes at a place.
    #[inline]
    pub(super) fn read_bytes(&mut self, at: GpuAddr, size: usize) -> Result<u32, UnitFault> {
        let mut bytes = [0; 4];
        let wanted = &mut bytes[..size.min(4)];
        match self {
            Store::Memory(mem) => mem.read_bytes(at, wanted)?,
            Store::Local(local) => {
                if let Some(from) = part(local, at, wanted.len()) {
                    wanted.copy_from_slice(from);
                }
            }
        }
        Ok(u32::from_le_bytes(bytes))
    }

    /// Writes it.
    #[inline]
    pub(super) fn write_bytes(
        &mut self,
        at: GpuAddr,
        size: usize,
        value: u32,
    ) -> Result<(), UnitFault> {
        let bytes = value.to_le_bytes();
        let bytes = &bytes[..size.min(4)];
        match self {
            Store::Memory(mem) => mem.write_bytes(at, bytes)?,
            Store::Local(local) => {
                if let Some(to) = part(local, at, bytes.len()) {
                    to.copy_from_slice(bytes);
                }
            }
        }
        Ok(())
    }
}
