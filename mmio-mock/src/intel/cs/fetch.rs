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

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]
    use mem::PhysAddr;

    use super::*;

    const PAGE: u32 = 4096;
    const BASE: u32 = 0x10_0000;

    /// Two pages that lie apart in memory, each dword its own number, and a third that is not there.
    fn memory() -> Memory {
        let mut mem = Memory::new(1 << 20, 1024);
        mem.gtt_map(BASE.into(), PhysAddr(0x8000), 1);
        mem.gtt_map((BASE + PAGE).into(), PhysAddr(0x3000), 1);
        for at in (0..2 * PAGE).step_by(4) {
            mem.write_u32((BASE + at).into(), at / 4).unwrap();
        }
        mem
    }

    fn command(source: Source, dwords: usize) -> Result<Vec<u32>, Fault> {
        let mem = memory();
        let mut out = vec![source.header(&mem)?];
        source.rest(&mem, dwords - 1, &mut out)?;
        Ok(out)
    }

    #[test]
    fn a_command_goes_on_in_the_next_page() {
        for before in 1..=8 {
            let first = PAGE - before * 4;
            let source = Source::Batch((BASE + first).into());
            let dwords: Vec<u32> = (first / 4..).take(6).collect();
            assert_eq!(command(source, 6), Ok(dwords));
        }
    }

    #[test]
    fn a_command_goes_round_the_end_of_the_ring() {
        for (size, before) in [
            (PAGE, 1),
            (PAGE, 3),
            (PAGE, 6),
            (2 * PAGE, 1),
            (2 * PAGE, 5),
        ] {
            let head = size - before * 4;
            let ring = Ring {
                start: BASE,
                size,
                head,
                tail: 64,
            };
            let dwords: Vec<u32> = (head / 4..size / 4).chain(0..).take(6).collect();
            assert_eq!(
                command(Source::Ring(ring), 6),
                Ok(dwords),
                "{size}, {before}"
            );
        }
    }

    /// The fault names the first byte that is not there.
    #[test]
    fn a_command_that_goes_on_where_there_is_no_page_faults_there() {
        let end = BASE + 2 * PAGE;
        for (first, dwords) in [(end - 4, 2), (end - 12, 260)] {
            let fault = command(Source::Batch(first.into()), dwords).unwrap_err();
            assert_eq!(fault.addr, GpuAddr::from(end));
        }
        assert!(command(Source::Batch((end - 12).into()), 3).is_ok());
    }
}
