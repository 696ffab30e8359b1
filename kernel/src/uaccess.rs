//! Memory of user processes: reads and writes that can fault, typed and bounded.
//!
//! In the spirit of `kernel::uaccess` of Rust-for-Linux (`UserSlice`). Not modelled: pinning pages, faults that
//! sleep, 32-bit processes on a 64-bit kernel.
use alloc::vec::Vec;
use core::marker::PhantomData;

use zerocopy::{FromBytes, FromZeros, Immutable, IntoBytes};

use crate::error::{Result, code::E2BIG, code::EFAULT, code::EINVAL, code::ENOMEM};

#[cfg(any(test, feature = "fake"))]
mod fake;
#[cfg(any(test, feature = "fake"))]
pub use self::fake::FakeMemory;

/// First address that no process can have (x86-64 `TASK_SIZE_MAX` with four levels of page tables).
pub const TASK_SIZE: u64 = 0x7fff_ffff_f000;

/// Most bytes that [`UserSlice::read_array`] copies at once.
pub const MAX_COPY: u64 = 64 << 20;

/// Bytes that [`UserSlice::read_array`] makes room for at first.
const FIRST_PIECE: usize = 64 << 10;

/// The memory of one process.
///
/// Neither method changes anything beyond the range that it is given; a failed call may have copied a part.
pub trait UserMemory {
    /// Reads bytes at `addr`; `EFAULT` when any of them cannot be read.
    fn read(&self, addr: u64, out: &mut [u8]) -> Result;

    /// Writes bytes at `addr`; `EFAULT` when any of them cannot be written.
    fn write(&self, addr: u64, data: &[u8]) -> Result;
}

/// Whether a range can lie in a process at all (the kernel's `access_ok`).
#[must_use]
pub fn access_ok(addr: u64, len: u64) -> bool {
    addr.checked_add(len).is_some_and(|end| end <= TASK_SIZE)
}

/// A range of a process's memory that has passed [`access_ok`]; it may still fault.
#[derive(Clone, Copy)]
pub struct UserSlice<'a> {
    memory: &'a dyn UserMemory,
    addr: u64,
    len: u64,
}

impl<'a> UserSlice<'a> {
    /// The range of `len` bytes at `addr`; `EFAULT` when no process can have it.
    pub fn new(memory: &'a dyn UserMemory, addr: u64, len: u64) -> Result<Self> {
        if !access_ok(addr, len) {
            return Err(EFAULT);
        }
        Ok(UserSlice { memory, addr, len })
    }

    /// The range of `count` items of type `T`; `EINVAL` when their size overflows, `EFAULT` as in [`new`](Self::new).
    pub fn array<T>(memory: &'a dyn UserMemory, addr: u64, count: u64) -> Result<Self> {
        let len = count.checked_mul(size_of::<T>() as u64).ok_or(EINVAL)?;
        Self::new(memory, addr, len)
    }

    /// Number of bytes.
    #[must_use]
    pub fn len(&self) -> u64 {
        self.len
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    fn at(&self, offset: u64, len: usize) -> Result<u64> {
        match offset.checked_add(len as u64) {
            Some(end) if end <= self.len => Ok(self.addr.wrapping_add(offset)),
            _ => Err(EFAULT),
        }
    }

    /// Reads bytes at `offset`; `EFAULT` outside the range.
    pub fn read_bytes(&self, offset: u64, out: &mut [u8]) -> Result {
        let addr = self.at(offset, out.len())?;
        if out.is_empty() {
            return Ok(());
        }
        self.memory.read(addr, out)
    }

    /// Writes bytes at `offset`; `EFAULT` outside the range.
    pub fn write_bytes(&self, offset: u64, data: &[u8]) -> Result {
        let addr = self.at(offset, data.len())?;
        if data.is_empty() {
            return Ok(());
        }
        self.memory.write(addr, data)
    }

    /// Reads a value at `offset`.
    pub fn read<T: FromBytes + IntoBytes>(&self, offset: u64) -> Result<T> {
        let mut value = T::new_zeroed();
        self.read_bytes(offset, value.as_mut_bytes())?;
        Ok(value)
    }

    /// Writes a value at `offset`.
    pub fn write<T: IntoBytes + Immutable>(&self, offset: u64, value: &T) -> Result {
        self.write_bytes(offset, value.as_bytes())
    }

    /// Reads all of the range as items of type `T`.
    ///
    /// `E2BIG` beyond [`MAX_COPY`], `ENOMEM` when there is no memory for it. Of more than one piece the last byte is read
    /// first, so that a huge count over unmapped memory costs nothing. There is never room for more than about twice as much as has
    /// arrived: a process has to have the memory that it makes others take.
    pub fn read_array<T: FromZeros + FromBytes + IntoBytes + Clone>(&self) -> Result<Vec<T>> {
        let size = size_of::<T>() as u64;
        if size == 0 || self.is_empty() {
            return Ok(Vec::new());
        }
        if self.len > MAX_COPY {
            return Err(E2BIG);
        }
        if self.len > FIRST_PIECE as u64 {
            self.read_bytes(self.len - 1, &mut [0])?;
        }
        let count = usize::try_from(self.len / size).map_err(|_| E2BIG)?;
        let mut items = Vec::new();
        while items.len() < count {
            let there = items.len();
            let piece = there.max(FIRST_PIECE / size_of::<T>()).max(1);
            let more = piece.min(count - there);
            items.try_reserve_exact(more).map_err(|_| ENOMEM)?;
            items.resize(there + more, T::new_zeroed());
            if let Some(new) = items.get_mut(there..) {
                self.read_bytes(there as u64 * size, new.as_mut_bytes())?;
            }
        }
        Ok(items)
    }
}

/// A pointer to one value in a process.
#[derive(Clone, Copy)]
pub struct UserPtr<'a, T> {
    slice: UserSlice<'a>,
    value: PhantomData<T>,
}

impl<'a, T> UserPtr<'a, T> {
    /// The value at `addr`; `EFAULT` when no process can have it.
    pub fn new(memory: &'a dyn UserMemory, addr: u64) -> Result<Self> {
        Ok(UserPtr {
            slice: UserSlice::array::<T>(memory, addr, 1)?,
            value: PhantomData,
        })
    }

    /// Reads the value (`get_user`).
    pub fn read(&self) -> Result<T>
    where
        T: FromBytes + IntoBytes,
    {
        self.slice.read(0)
    }

    /// Writes the value (`put_user`).
    pub fn write(&self, value: &T) -> Result
    where
        T: IntoBytes + Immutable,
    {
        self.slice.write(0, value)
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]
    use super::*;

    #[test]
    fn ranges_that_no_process_has_are_refused() {
        let memory = FakeMemory::new();
        assert!(UserSlice::new(&memory, TASK_SIZE, 0).is_ok());
        assert!(UserSlice::new(&memory, TASK_SIZE - 8, 8).is_ok());
        assert_eq!(
            UserSlice::new(&memory, TASK_SIZE - 7, 8).err(),
            Some(EFAULT)
        );
        assert_eq!(UserSlice::new(&memory, u64::MAX, 2).err(), Some(EFAULT));
        assert_eq!(
            UserSlice::array::<u64>(&memory, 0, u64::MAX / 4).err(),
            Some(EINVAL)
        );
        assert_eq!(
            UserPtr::<u32>::new(&memory, u64::MAX - 1).err(),
            Some(EFAULT)
        );
    }

    #[test]
    fn values_and_arrays_are_copied_both_ways() {
        let memory = FakeMemory::new();
        let at = memory.alloc(16);
        let pointer = UserPtr::<u32>::new(&memory, at + 4).unwrap();
        pointer.write(&0x1234_5678).unwrap();
        assert_eq!(pointer.read(), Ok(0x1234_5678));
        let slice = UserSlice::array::<u32>(&memory, at, 4).unwrap();
        assert_eq!(
            slice.read_array::<u32>(),
            Ok(alloc::vec![0, 0x1234_5678, 0, 0])
        );
        assert_eq!(slice.read::<u64>(12), Err(EFAULT));
        assert_eq!(slice.write(u64::MAX, &0u8), Err(EFAULT));
    }

    /// Memory with a hole at its first byte; it remembers the longest read.
    struct Holed(core::cell::Cell<usize>);

    impl UserMemory for Holed {
        fn read(&self, addr: u64, out: &mut [u8]) -> Result {
            self.0.set(self.0.get().max(out.len()));
            if addr == 4096 { Err(EFAULT) } else { Ok(()) }
        }

        fn write(&self, _: u64, _: &[u8]) -> Result {
            Err(EFAULT)
        }
    }

    #[test]
    fn an_array_gets_room_as_it_arrives() {
        let memory = Holed(core::cell::Cell::new(0));
        let array = |at, len| {
            UserSlice::new(&memory, at, len)
                .unwrap()
                .read_array::<u32>()
        };
        assert_eq!(array(4096, MAX_COPY), Err(EFAULT));
        assert_eq!(memory.0.get(), FIRST_PIECE);
        assert_eq!(array(8192, MAX_COPY).unwrap().len() as u64, MAX_COPY / 4);
        assert_eq!(memory.0.get() as u64, MAX_COPY / 2);
        let slice = UserSlice::new(&memory, 8192, 3 << 20).unwrap();
        assert_eq!(slice.read_array::<[u8; 1 << 20]>().unwrap().len(), 3);
    }

    #[test]
    fn arrays_of_several_pieces_are_whole() {
        let memory = FakeMemory::new();
        let words: Vec<u32> = (0..50_000).collect();
        let at = memory.place(words.as_slice());
        let slice = UserSlice::array::<u32>(&memory, at, 50_000).unwrap();
        assert_eq!(slice.read_array::<u32>().unwrap(), words);
    }

    #[test]
    fn holes_and_read_only_memory_fault() {
        let memory = FakeMemory::new();
        let at = memory.alloc(8);
        let slice = UserSlice::new(&memory, at, 9).unwrap();
        assert_eq!(slice.read_bytes(0, &mut [0; 9]), Err(EFAULT));
        assert_eq!(slice.read_array::<u8>(), Err(EFAULT));
        let constant = memory.constant(b"abc");
        let slice = UserSlice::new(&memory, constant, 3).unwrap();
        assert_eq!(slice.read_array::<u8>().unwrap(), b"abc");
        assert_eq!(slice.write_bytes(0, b"x"), Err(EFAULT));
        let huge = UserSlice::new(&memory, 0, MAX_COPY + 1).unwrap();
        assert_eq!(huge.read_array::<u8>(), Err(E2BIG));
    }
}
