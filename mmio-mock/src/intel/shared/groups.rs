//! Thread groups: threads that belong together, and the memory they share.
//!
//! Sizes: genxml gen7 INTERFACE_DESCRIPTOR_DATA (Shared Local Memory Size, Number of Threads in GPGPU Thread Group). A group's local memory is
//! zero when the group begins; the public text leaves open what it holds.

use super::places::{ByThread, Places};

/// Bytes of local memory that all groups have together.
pub const LOCAL: u32 = 64 << 10;

/// Bytes of local memory that are given out at a time.
const PIECE: u32 = 4 << 10;

/// A group that is there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Group {
    /// First byte of its local memory.
    start: u32,
    /// Bytes of it.
    bytes: u32,
    /// Threads that have not ended.
    threads: u16,
    /// The barrier of its own.
    barrier: Option<u8>,
}

/// The groups that are there.
#[derive(Clone, Debug)]
pub struct Groups {
    /// Hardware threads of the device.
    places: usize,
    members: ByThread<u16>,
    /// By number.
    alive: Vec<Option<Group>>,
    /// Local memory, which is made when a group wants some.
    local: Vec<u8>,
}

impl Groups {
    /// A device with so many threads, before any group has begun.
    pub fn new(places: Places) -> Self {
        Groups {
            places: usize::from(places.eus) * usize::from(places.threads_per_eu),
            members: ByThread::new(places),
            alive: Vec::new(),
            local: Vec::new(),
        }
    }

    /// Threads that the device has room for.
    pub const fn room(&self) -> usize {
        self.places
    }

    /// Begins a group of so many threads with local memory of so many bytes, and takes note of its barrier. `None` when there is
    /// no room for its memory now.
    pub fn begin(&mut self, threads: u16, bytes: u32, barrier: Option<u8>) -> Option<u16> {
        let bytes = bytes.checked_next_multiple_of(PIECE)?;
        let start = self.space(bytes)?;
        if bytes > 0 {
            if self.local.is_empty() {
                self.local.resize(LOCAL as usize, 0);
            }
            let range = start as usize..(start + bytes) as usize;
            self.local.get_mut(range)?.fill(0);
        }
        let group = Some(Group {
            start,
            bytes,
            threads,
            barrier,
        });
        let free = self.alive.iter().position(Option::is_none);
        let number = free.unwrap_or(self.alive.len());
        if free.is_none() {
            self.alive.push(group);
        } else {
            // PANIC: the position was just found.
            self.alive[number] = group;
        }
        // CAST: each group has a thread, of which there are fewer than 2^16.
        Some(number as u16)
    }

    /// The lowest place where so many bytes are free.
    fn space(&self, bytes: u32) -> Option<u32> {
        let mut start = 0;
        loop {
            let end = start + bytes;
            if end > LOCAL {
                return None;
            }
            let groups = self.alive.iter().flatten();
            let mut taken = groups.filter(|group| group.bytes > 0);
            let meets = |group: &&Group| group.start < end && start < group.start + group.bytes;
            match taken.find(meets).filter(|_| bytes > 0) {
                Some(group) => start = group.start + group.bytes,
                None => return Some(start),
            }
        }
    }

    /// A thread of a group was started.
    pub fn enter(&mut self, eu: u8, slot: u8, group: u16) {
        self.members.replace(eu, slot, Some(group));
    }

    /// A thread has ended: the barrier of its group when it was the last of it.
    pub fn leave(&mut self, eu: u8, slot: u8) -> Option<u8> {
        let number = self.members.replace(eu, slot, None)?;
        let place = self.alive.get_mut(usize::from(number))?;
        let group = place.as_mut()?;
        group.threads = group.threads.saturating_sub(1);
        if group.threads > 0 {
            return None;
        }
        let barrier = group.barrier;
        *place = None;
        barrier
    }

    /// Local memory of the group of a thread; nothing for a thread of none.
    pub fn local(&mut self, eu: u8, slot: u8) -> Option<&mut [u8]> {
        let number = self.members.get(eu, slot)?;
        let group = self.alive.get(usize::from(number))?.as_ref()?;
        let range = group.start as usize..(group.start + group.bytes) as usize;
        self.local.get_mut(range)
    }

    /// Groups that are there.
    pub fn alive(&self) -> usize {
        self.alive.iter().flatten().count()
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;

    fn groups() -> Groups {
        Groups::new(Places {
            eus: 4,
            threads_per_eu: 8,
        })
    }

    #[test]
    fn local_memory_is_a_group_s_own_and_zero() {
        let mut groups = groups();
        let first = groups.begin(1, 1 << 10, None).unwrap();
        let second = groups.begin(2, 8 << 10, Some(3)).unwrap();
        groups.enter(0, 0, first);
        groups.enter(0, 1, second);
        groups.enter(3, 7, second);
        groups.local(0, 0).unwrap().fill(1);
        groups.local(3, 7).unwrap()[5] = 2;
        assert_eq!(groups.local(0, 0).unwrap().len(), 4 << 10);
        assert_eq!(groups.local(0, 1).unwrap()[5], 2);
        assert_eq!(groups.local(1, 0), None);
        assert_eq!(groups.leave(0, 0), None);
        // Its place is free again, and zero.
        let third = groups.begin(1, 4 << 10, None).unwrap();
        groups.enter(0, 0, third);
        assert!(groups.local(0, 0).unwrap().iter().all(|&byte| byte == 0));
        // The last thread of a group gives its barrier back.
        assert_eq!(groups.leave(0, 1), None);
        assert_eq!(groups.leave(3, 7), Some(3));
        assert_eq!(groups.alive(), 1);
    }

    #[test]
    fn there_are_64_kilobytes() {
        let mut groups = groups();
        assert_eq!(groups.begin(1, 65 << 10, None), None);
        assert_eq!(groups.begin(1, u32::MAX, None), None);
        let all = groups.begin(1, 64 << 10, None).unwrap();
        groups.enter(0, 0, all);
        assert_eq!(groups.begin(1, 1, None), None);
        // A group without local memory needs no room.
        let other = groups.begin(1, 0, None).unwrap();
        groups.enter(0, 1, other);
        assert_eq!(groups.local(0, 1).unwrap().len(), 0);
        groups.leave(0, 0);
        assert!(groups.begin(1, 1, None).is_some());
    }
}
