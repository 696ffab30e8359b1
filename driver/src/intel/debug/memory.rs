//! Memory at graphics addresses, and changes of instructions.
//!
//! PRM vol4 3.6.2. Pages are found through the GTT's entries as the device sees them. Not modelled: tiles behind fence
//! registers.
use alloc::vec;
use alloc::vec::Vec;

use kernel::dma::PAGE_SIZE;
use kernel::error::{Result, code::EFAULT};

use crate::intel::device::Device;
use crate::intel::registers::RegId;

/// Calls `each` for every piece of a range that lies in one page: bus address, range within the whole.
fn pieces(
    device: &Device,
    address: u32,
    len: usize,
    mut each: impl FnMut(u64, core::ops::Range<usize>) -> Result,
) -> Result {
    let mut done = 0;
    while done < len {
        let at = (address as usize).checked_add(done).ok_or(EFAULT)?;
        let inside = at % PAGE_SIZE;
        let piece = (PAGE_SIZE - inside).min(len - done);
        let index = at / PAGE_SIZE;
        let page = device.ggtt().page(index).ok_or(EFAULT)?;
        each(page + inside as u64, done..done + piece)?;
        done += piece;
    }
    Ok(())
}

/// Reads memory at a graphics address; `EFAULT` where nothing is mapped.
pub fn read(device: &Device, address: u32, bytes: &mut [u8]) -> Result {
    pieces(device, address, bytes.len(), |bus, range| {
        let part = bytes.get_mut(range).ok_or(EFAULT)?;
        device.platform().dma().read(bus, part)
    })
}

/// Writes memory at a graphics address; `EFAULT` where nothing is mapped, then a part may be written.
pub fn write(device: &Device, address: u32, bytes: &[u8]) -> Result {
    pieces(device, address, bytes.len(), |bus, range| {
        let part = bytes.get(range).ok_or(EFAULT)?;
        device.platform().dma().write(bus, part)
    })
}

/// Little-endian dwords at a graphics address.
pub fn read_dwords(device: &Device, address: u32, count: usize) -> Result<Vec<u32>> {
    let mut bytes = vec![0; count * 4];
    read(device, address, &mut bytes)?;
    Ok(bytes
        .chunks_exact(4)
        .map(|dword| u32::from_le_bytes([dword[0], dword[1], dword[2], dword[3]]))
        .collect())
}

/// Writes little-endian dwords at a graphics address.
pub fn write_dwords(device: &Device, address: u32, dwords: &[u32]) -> Result {
    let bytes: Vec<u8> = dwords.iter().flat_map(|d| d.to_le_bytes()).collect();
    write(device, address, &bytes)
}

/// Empties all caches between memory and the EUs. The manual names no register for it; GFX_FLSH_CNTL is the one whose
/// name says so.
pub fn flush_caches(device: &Device) {
    if let Some(register) = device.info().register(RegId::GfxFlshCntl) {
        let io = device.uncore().io();
        io.write32(1, register);
        io.posting_read(register);
    }
}
