//! A guest's memory: what the device may access, and where it lies.
//!
//! A client names memory by ranges of files. A file is mapped once, as a whole if there is room, and each range becomes a window
//! ([`mem::windows`]): behind an IOMMU ranges are single pages, and only the list of windows grows. A range without a file is
//! known and cannot be accessed.

use std::collections::BTreeMap;
use std::os::fd::OwnedFd;

use mem::windows::Window;
use mem::{Memory, PAGE_SIZE};
use rustix::io::Errno;

use crate::edge::{self, Sealed};
use crate::protocol::{DmaMap, DmaUnmap, MAX_WINDOWS, dma};

const PAGE: u64 = PAGE_SIZE as u64;
/// Where files begin in the block: at multiples of a large page, so that the system may use some.
const ALIGN: u64 = 2 << 20;
/// What is mapped of a file that does not fit as a whole.
const CHUNK: u64 = 64 << 20;
/// Most mappings: far fewer than the system allows a process (`vm.max_map_count`).
const MAX_MAPPED: usize = 1024;

/// A part of a file that lies in the block.
#[derive(Debug)]
struct Mapped {
    /// Device and inode.
    id: (u64, u64),
    /// First byte in the file.
    offset: u64,
    /// Bytes.
    len: u64,
    /// Windows onto it.
    uses: usize,
}

/// A range that the device may access.
#[derive(Debug)]
struct Range {
    bytes: u64,
    /// First byte in the block of the file that it is part of; `None` without a file.
    file: Option<u64>,
}

/// The memory that a client has told of.
#[derive(Debug, Default)]
pub struct Guest {
    ranges: BTreeMap<u64, Range>,
    /// By the first byte in the block.
    files: BTreeMap<u64, Mapped>,
}

impl Guest {
    /// Lets the device access a range.
    ///
    /// # Errors
    /// `EINVAL` for a range that is empty, no whole pages, not readable, past the end of addresses or outside its file; `EEXIST` where
    /// there is a range already; `ENOSPC` for one too many, or a file too many; `ENOMEM` when the block has no room; those of [`Sealed::new`].
    pub fn map(
        &mut self,
        memory: &mut Memory,
        range: &DmaMap,
        file: Option<&OwnedFd>,
    ) -> Result<(), Errno> {
        let &DmaMap {
            flags,
            offset,
            address,
            size,
            ..
        } = range;
        let last = size.checked_sub(1).and_then(|n| address.checked_add(n));
        let (Some(last), true) = (last, (address | size | offset).is_multiple_of(PAGE)) else {
            return Err(Errno::INVAL);
        };
        if flags & !(dma::READ | dma::WRITE) != 0 || flags & dma::READ == 0 {
            return Err(Errno::INVAL);
        }
        let below = self.ranges.range(..=last).next_back();
        if below.is_some_and(|(at, known)| at + (known.bytes - 1) >= address) {
            return Err(Errno::EXIST);
        }
        if self.ranges.len() >= MAX_WINDOWS {
            return Err(Errno::NOSPC);
        }
        let file = match file {
            Some(file) => {
                let (at, index) = self.find(memory, &Sealed::new(file)?, offset, size)?;
                let window = Window {
                    index: usize::try_from(index).map_err(|_| Errno::NOMEM)?,
                    bytes: size,
                    writable: flags & dma::WRITE != 0,
                };
                if !memory.add_window(address, window) {
                    self.release(memory, at);
                    return Err(Errno::INVAL);
                }
                Some(at)
            }
            None => None,
        };
        self.ranges.insert(address, Range { bytes: size, file });
        Ok(())
    }

    /// A file's part in the block, mapped if it was not, with one more use: the key of the file and the index of the part.
    fn find(
        &mut self,
        memory: &mut Memory,
        file: &Sealed<'_>,
        offset: u64,
        size: u64,
    ) -> Result<(u64, u64), Errno> {
        let end = offset.checked_add(size).ok_or(Errno::INVAL)?;
        if end > file.len {
            return Err(Errno::INVAL);
        }
        let known = self.files.iter_mut().find(|(_, known)| {
            known.id == file.id && known.offset <= offset && end <= known.offset + known.len
        });
        if let Some((&at, known)) = known {
            known.uses += 1;
            return Ok((at, at + (offset - known.offset)));
        }
        if self.files.len() >= MAX_MAPPED {
            return Err(Errno::NOSPC);
        }
        // All of it, so that other ranges of it need no further mapping; else what lies around, else just this part.
        let (whole, chunk) = (file.len - file.len % PAGE, offset - offset % CHUNK);
        let parts = [
            (0, whole),
            (chunk, CHUNK.min(whole - chunk)),
            (offset, size),
        ];
        let mut refused = Errno::NOMEM;
        for (first, len) in parts {
            if first + len < end {
                continue;
            }
            let Some(at) = self.room(memory, len) else {
                continue;
            };
            let bytes = bytes_of(memory, at, len).ok_or(Errno::NOMEM)?;
            if let Err(error) = edge::place(bytes, file, first) {
                refused = error;
                continue;
            }
            let mapped = Mapped {
                id: file.id,
                offset: first,
                len,
                uses: 1,
            };
            self.files.insert(at, mapped);
            return Ok((at, at + (offset - first)));
        }
        Err(refused)
    }

    /// Where so many bytes fit into the block.
    fn room(&self, memory: &Memory, len: u64) -> Option<u64> {
        let size = memory.system_bytes() as u64;
        let mut at = 0_u64;
        for (&first, mapped) in &self.files {
            if at.checked_add(len)? <= first {
                break;
            }
            at = (first + mapped.len).next_multiple_of(ALIGN);
        }
        (at.checked_add(len)? <= size).then_some(at)
    }

    /// One use of a file less; without any it leaves the block.
    fn release(&mut self, memory: &mut Memory, at: u64) {
        let Some(mapped) = self.files.get_mut(&at) else {
            return;
        };
        mapped.uses -= 1;
        if mapped.uses > 0 {
            return;
        }
        let len = mapped.len;
        self.files.remove(&at);
        if let Some(bytes) = bytes_of(memory, at, len)
            && let Err(error) = edge::clear(bytes)
        {
            // The file stays in its place until another one takes it, which nothing points at.
            log::warn!("a guest's memory stays mapped: {error}");
        }
    }

    /// Takes all ranges away that lie in one, as Linux's type 1 IOMMU does: there may be none. The protocol has clients name
    /// one that they have mapped; QEMU with an IOMMU names large ones, too.
    ///
    /// # Errors
    /// `EINVAL` for unknown flags, for an empty range, and where only a part of a range would go: nothing goes then.
    pub fn unmap(&mut self, memory: &mut Memory, range: &DmaUnmap) -> Result<(), Errno> {
        let (first, size) = (range.address, range.size);
        match range.flags {
            0 => {}
            dma::UNMAP_ALL if (first, size) == (0, 0) => {
                self.clear(memory);
                return Ok(());
            }
            _ => return Err(Errno::INVAL),
        }
        let last = size.checked_sub(1).and_then(|n| first.checked_add(n));
        let last = last.ok_or(Errno::INVAL)?;
        let end = |at: u64, known: &Range| at + (known.bytes - 1);
        let below = self.ranges.range(..first).next_back();
        let highest = self.ranges.range(first..=last).next_back();
        if below.is_some_and(|(&at, known)| end(at, known) >= first)
            || highest.is_some_and(|(&at, known)| end(at, known) > last)
        {
            return Err(Errno::INVAL);
        }
        let inside = self.ranges.range(first..=last);
        let gone: Vec<(u64, u64)> = inside.map(|(&at, known)| (at, known.bytes)).collect();
        if gone.is_empty() {
            return Ok(());
        }
        memory.remove_windows(gone.iter().copied());
        for (at, _) in gone {
            let file = self.ranges.remove(&at).and_then(|known| known.file);
            if let Some(file) = file {
                self.release(memory, file);
            }
        }
        Ok(())
    }

    /// Takes all ranges away.
    pub fn clear(&mut self, memory: &mut Memory) {
        memory.clear_windows();
        for (_, range) in std::mem::take(&mut self.ranges) {
            if let Some(at) = range.file {
                self.release(memory, at);
            }
        }
    }

    /// How many ranges there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.ranges.len()
    }

    /// Whether there is none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.ranges.is_empty()
    }

    /// Whether a range holds an address without a file behind it.
    #[must_use]
    pub fn is_out_of_reach(&self, address: u64) -> bool {
        let below = self.ranges.range(..=address).next_back();
        below.is_some_and(|(at, range)| address - at < range.bytes && range.file.is_none())
    }
}

/// Bytes of the block.
fn bytes_of(memory: &mut Memory, at: u64, len: u64) -> Option<&mut [u8]> {
    let at = usize::try_from(at).ok()?;
    let end = at.checked_add(usize::try_from(len).ok()?)?;
    memory.arena_bytes_mut().get_mut(at..end)
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests;
