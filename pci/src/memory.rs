//! Memory for a device: pieces of it with bus addresses, handed out by pages.
//!
//! Pieces that follow one another on the bus are one range, wherever they lie in this process.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use kernel::dma::{DmaAddress, DmaAllocator, PAGE_SIZE};
use kernel::error::Result;
use kernel::error::code::{EFAULT, EINVAL, ENOMEM};

use crate::edge::Memory;

/// A stretch of memory whose bus addresses follow one another: whole pages.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Chunk {
    /// Its first bus address.
    pub bus: DmaAddress,
    /// Where it begins in the memory, in bytes.
    pub at: usize,
    /// Bytes.
    pub len: usize,
}

#[derive(Default)]
struct Ranges {
    /// First address and bytes of what is free; no two touch.
    free: BTreeMap<DmaAddress, u64>,
    /// The same of what is handed out.
    taken: BTreeMap<DmaAddress, u64>,
}

/// The memory of a device.
pub struct Pool {
    memory: Memory,
    /// By bus address.
    chunks: Vec<Chunk>,
    ranges: Mutex<Ranges>,
}

impl Pool {
    /// A pool of the pieces that end at or below `limit`. Pieces overlap neither on the bus nor in memory.
    pub(crate) fn new(memory: Memory, mut chunks: Vec<Chunk>, limit: DmaAddress) -> Self {
        let len = memory.len();
        chunks.retain(|chunk| {
            let end = chunk.bus.checked_add(chunk.len as u64);
            let inside = chunk.at.checked_add(chunk.len);
            end.is_some_and(|end| end <= limit) && inside.is_some_and(|end| end <= len)
        });
        chunks.sort_unstable_by_key(|chunk| chunk.bus);
        let mut ranges = Ranges::default();
        for chunk in &chunks {
            ranges.give(chunk.bus, chunk.len as u64);
        }
        Pool {
            memory,
            chunks,
            ranges: Mutex::new(ranges),
        }
    }

    /// Bytes of all pieces.
    #[must_use]
    pub fn size(&self) -> u64 {
        self.chunks.iter().map(|chunk| chunk.len as u64).sum()
    }

    /// Bytes of the longest range that is free.
    #[must_use]
    pub fn longest(&self) -> u64 {
        self.lock().free.values().copied().max().unwrap_or(0)
    }

    /// Pages that are handed out.
    #[must_use]
    pub fn taken(&self) -> usize {
        // CAST: memory of this process.
        (self.lock().taken.values().sum::<u64>() / PAGE_SIZE as u64) as usize
    }

    fn lock(&self) -> MutexGuard<'_, Ranges> {
        self.ranges.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Calls `act` with place in memory, offset in the range and length of each part of a range; all of it is there.
    fn parts(
        &self,
        address: DmaAddress,
        len: usize,
        mut act: impl FnMut(usize, usize, usize) -> bool,
    ) -> Result {
        let end = address.checked_add(len as u64).ok_or(EFAULT)?;
        let mut done = 0;
        let first = self
            .chunks
            .partition_point(|chunk| chunk.bus + chunk.len as u64 <= address);
        let chunks = self.chunks.get(first..).unwrap_or_default();
        let mut parts = Vec::new();
        for chunk in chunks.iter().take_while(|chunk| chunk.bus < end) {
            let Some(inside) = (address + done as u64).checked_sub(chunk.bus) else {
                return Err(EFAULT);
            };
            // CAST: less than the chunk's length.
            let inside = inside as usize;
            let more = (chunk.len - inside).min(len - done);
            parts.push((chunk.at + inside, done, more));
            done += more;
        }
        if done < len {
            return Err(EFAULT);
        }
        let ok = parts.into_iter().all(|(at, from, len)| act(at, from, len));
        if ok { Ok(()) } else { Err(EFAULT) }
    }
}

impl Ranges {
    /// Makes a range free, together with those that it touches.
    fn give(&mut self, start: DmaAddress, len: u64) {
        let (mut start, mut len) = (start, len);
        if let Some((&before, &bytes)) = self.free.range(..start).next_back()
            && before + bytes == start
        {
            self.free.remove(&before);
            (start, len) = (before, bytes + len);
        }
        if let Some(more) = self.free.remove(&(start + len)) {
            len += more;
        }
        self.free.insert(start, len);
    }

    /// The lowest range that is long enough.
    fn take(&mut self, len: u64) -> Option<DmaAddress> {
        let (&start, &have) = self.free.iter().find(|(_, have)| **have >= len)?;
        self.free.remove(&start);
        if have > len {
            self.free.insert(start + len, have - len);
        }
        self.taken.insert(start, len);
        Some(start)
    }
}

impl DmaAllocator for Pool {
    fn alloc(&self, pages: usize) -> Result<DmaAddress> {
        let bytes = pages.checked_mul(PAGE_SIZE).ok_or(ENOMEM)?;
        if pages == 0 {
            return Err(EINVAL);
        }
        let start = self.lock().take(bytes as u64).ok_or(ENOMEM)?;
        self.parts(start, bytes, |at, _, len| self.memory.clear(at, len))?;
        Ok(start)
    }

    fn free(&self, address: DmaAddress, pages: usize) {
        let mut ranges = self.lock();
        let bytes = pages.saturating_mul(PAGE_SIZE) as u64;
        if ranges.taken.get(&address) == Some(&bytes) {
            ranges.taken.remove(&address);
            ranges.give(address, bytes);
        }
    }

    fn read(&self, address: DmaAddress, bytes: &mut [u8]) -> Result {
        self.parts(address, bytes.len(), |at, from, len| {
            let into = bytes.get_mut(from..from + len);
            into.is_some_and(|into| self.memory.read(at, into))
        })
    }

    fn write(&self, address: DmaAddress, bytes: &[u8]) -> Result {
        self.parts(address, bytes.len(), |at, from, len| {
            let out = bytes.get(from..from + len);
            out.is_some_and(|out| self.memory.write(at, out))
        })
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]
    use super::*;
    use std::num::NonZeroUsize;

    const P: u64 = PAGE_SIZE as u64;

    /// Four pieces of two pages: the second and the first follow one another on the bus, the third lies apart, the fourth too high.
    fn pool() -> Pool {
        let memory = Memory::plain(NonZeroUsize::new(8 * PAGE_SIZE).unwrap()).unwrap();
        let chunk = |bus, number: usize| Chunk {
            bus,
            at: number * 2 * PAGE_SIZE,
            len: 2 * PAGE_SIZE,
        };
        let chunks = vec![
            chunk(0x12_0000 + 2 * P, 0),
            chunk(0x12_0000, 1),
            chunk(0x40_0000, 2),
            chunk(0xffff_f000, 3),
        ];
        Pool::new(memory, chunks, 1 << 32)
    }

    #[test]
    fn pieces_that_touch_on_the_bus_are_one_range() {
        let pool = pool();
        assert_eq!((pool.size(), pool.longest()), (6 * P, 4 * P));
        let four = pool.alloc(4).unwrap();
        assert_eq!(four, 0x12_0000);
        // Across the border, where memory goes back.
        let bytes: Vec<u8> = (1..=100).collect();
        pool.write(four + 2 * P - 50, &bytes).unwrap();
        let mut back = vec![0; 100];
        pool.read(four + 2 * P - 50, &mut back).unwrap();
        assert_eq!(back, bytes);
        let mut half = [0; 50];
        assert!(pool.memory.read(0, &mut half));
        assert_eq!(half.as_slice(), bytes.get(50..).unwrap());
        assert_eq!(pool.alloc(3), Err(ENOMEM));
        assert_eq!(pool.alloc(2), Ok(0x40_0000));
        assert_eq!(pool.alloc(1), Err(ENOMEM));
        assert_eq!(
            (pool.alloc(0), pool.alloc(usize::MAX)),
            (Err(EINVAL), Err(ENOMEM))
        );
    }

    #[test]
    fn what_is_given_back_is_whole_again_and_comes_out_zeroed() {
        let pool = pool();
        let all: Vec<u64> = (0..4).map(|_| pool.alloc(1).unwrap()).collect();
        assert_eq!(pool.taken(), 4);
        pool.write(0x12_0000, &[0xaa; 4 * PAGE_SIZE]).unwrap();
        for at in [2, 0, 3, 1] {
            pool.free(*all.get(at).unwrap(), 1);
        }
        // A second time, of another length, and of nothing: nothing happens.
        pool.free(0x12_0000, 1);
        pool.free(0, usize::MAX);
        assert_eq!((pool.longest(), pool.taken()), (4 * P, 0));
        let four = pool.alloc(4).unwrap();
        pool.free(four, 2);
        let mut bytes = vec![1; 4 * PAGE_SIZE];
        pool.read(four, &mut bytes).unwrap();
        assert!(bytes.iter().all(|byte| *byte == 0));
        assert_eq!(pool.taken(), 4);
    }

    #[test]
    fn what_is_no_memory_is_a_fault() {
        let pool = pool();
        for (address, len) in [
            (0, 1),
            (0x12_0000 - 1, 2),
            (0x12_0000 + 4 * P - 1, 2),
            (0x40_0000 + 2 * P, 1),
            (0xffff_f000, 1),
            (u64::MAX, 2),
        ] {
            let mut bytes = vec![0; len];
            assert_eq!(pool.read(address, &mut bytes), Err(EFAULT), "{address:#x}");
            assert_eq!(pool.write(address, &bytes), Err(EFAULT), "{address:#x}");
        }
        assert_eq!(pool.read(0x40_0000 + 2 * P - 1, &mut [0]), Ok(()));
    }
}
