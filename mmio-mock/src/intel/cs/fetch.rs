//! Where commands come from: the ring and batch buffers.
//!
//! PRM: volume 1, ring buffer registers and MI_BATCH_BUFFER_START.

use mem::{Fault, GpuAddr, Memory};
use regs::ids::RegId;

use super::engine::RingRegisters;
use crate::intel::registers::RegFile;

/// A ring as its registers describe it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ring {
    /// Graphics address of the ring.
    pub start: u32,
    /// Bytes.
    pub size: u32,
    /// Byte offset of the next command.
    pub head: u32,
    /// Byte offset after the last command.
    pub tail: u32,
}

/// RING_HEAD bits of the wrap count.
const WRAP_ONE: u32 = 1 << 21;
const OFFSET: u32 = 0x001f_fffc;

impl Ring {
    /// The ring, if it is enabled.
    #[inline]
    pub fn from_registers(regs: &RegFile, ring: &RingRegisters) -> Option<Self> {
        let ctl = regs.get(ring.ctl);
        if ctl & 1 == 0 {
            return None;
        }
        let size = ((ctl >> 12 & 0x1ff) + 1) * 4096;
        Some(Ring {
            start: regs.get(ring.start) & !0xfff,
            size,
            // Offsets past the end wrap, so that no register value leads outside the ring.
            head: wrapped(regs.get(ring.head) & OFFSET, size),
            tail: wrapped(regs.get(ring.tail) & OFFSET & !7, size),
        })
    }

    /// Moves the head on by `bytes`, counting wraps in its register.
    pub fn advance(&self, regs: &mut RegFile, head: RegId, bytes: u32) {
        let old = regs.get(head);
        let next = self.head + bytes;
        let wraps = if next >= self.size { WRAP_ONE } else { 0 };
        let count = (old & !(WRAP_ONE - 1)).wrapping_add(wraps);
        regs.set(head, count | wrapped(next, self.size));
    }
}

/// An offset into a ring of `size` bytes; a division for those alone that lie behind its end.
#[inline]
fn wrapped(offset: u32, size: u32) -> u32 {
    if offset < size { offset } else { offset % size }
}

/// Where the next command lies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Source {
    /// In the ring.
    Ring(Ring),
    /// In a batch buffer, at a graphics address.
    Batch(GpuAddr),
}

impl Source {
    /// Graphics address of the command.
    #[inline]
    pub fn addr(&self) -> GpuAddr {
        match *self {
            Source::Ring(ring) => ring.start.wrapping_add(ring.head).into(),
            Source::Batch(addr) => addr,
        }
    }

    /// The command's first dword. The space of the ring is the global one, which has to be entered for it.
    #[inline]
    pub fn header(&self, mem: &Memory) -> Result<u32, Fault> {
        mem.read_u32(self.addr())
    }

    /// Appends `more` dwords behind the header, page by page. In a ring they may go round its end once: the smallest
    /// ring is longer than any command.
    #[inline]
    pub fn rest(&self, mem: &Memory, more: usize, out: &mut Vec<u32>) -> Result<(), Fault> {
        let next = match *self {
            Source::Ring(ring) => {
                let at = wrapped(ring.head + 4, ring.size);
                ring.start.wrapping_add(at).into()
            }
            Source::Batch(addr) => addr.offset(4),
        };
        // A ring begins and ends with a page.
        let page = mem.page(next)?.as_chunks::<4>().0;
        if let Some(dwords) = page.get(..more) {
            out.extend(dwords.iter().copied().map(u32::from_le_bytes));
            return Ok(());
        }
        self.pages(mem, more, out)
    }

    /// The same for a command that goes on in another page.
    #[cold]
    fn pages(&self, mem: &Memory, more: usize, out: &mut Vec<u32>) -> Result<(), Fault> {
        let first = out.len();
        out.resize(first + more, 0);
        let out = &mut out[first..];
        match *self {
            Source::Ring(ring) => {
                let at = wrapped(ring.head + 4, ring.size);
                // CAST: a ring has 2 MiB at most.
                let ahead = (ring.size - at) as usize / 4;
                let (ahead, round) = out.split_at_mut(ahead.min(more));
                mem.read_dwords(ring.start.wrapping_add(at).into(), ahead)?;
                mem.read_dwords(ring.start.into(), round)
            }
            Source::Batch(addr) => mem.read_dwords(addr.offset(4), out),
        }
    }
}
