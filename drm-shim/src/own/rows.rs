//! The table behind handles of descriptors.
//!
//! Fixed room and no locks: handlers of signals use it too. A handle has the number of its row in its low bits and
//! counts above them how often the row has been taken, so that an old handle names nothing.

use std::os::fd::RawFd;
use std::sync::atomic::{AtomicI32, AtomicU32, AtomicU64, AtomicUsize, Ordering};

use super::Handle;

const BITS: u32 = 16;
/// Most descriptors at a time.
const MOST: usize = 1 << BITS;
/// How often a row is taken until its handles begin anew.
const TURNS: u32 = 1 << (31 - BITS);

/// State of a row: free, being filled or emptied, in use; above that its turn.
const FREE: u32 = 0;
const BUSY: u32 = 1;
const USED: u32 = 2;
const STATES: u32 = 4;

struct Row {
    state: AtomicU32,
    number: AtomicI32,
    device: AtomicU64,
    inode: AtomicU64,
}

/// The table.
pub(super) struct Rows {
    all: [Row; MOST],
    /// Rows from here on have never been taken.
    fresh: AtomicUsize,
    /// Where to look for a free one.
    hint: AtomicUsize,
}

pub(super) static ROWS: Rows = Rows::new();

impl Rows {
    #[expect(clippy::large_stack_arrays, reason = "made when compiled, for statics")]
    const fn new() -> Self {
        Rows {
            all: [const {
                Row {
                    state: AtomicU32::new(FREE),
                    number: AtomicI32::new(-1),
                    device: AtomicU64::new(0),
                    inode: AtomicU64::new(0),
                }
            }; MOST],
            fresh: AtomicUsize::new(0),
            hint: AtomicUsize::new(0),
        }
    }

    /// Takes a row for a descriptor; `None` when there are too many.
    pub(super) fn take(&self, number: RawFd, identity: (u64, u64)) -> Option<Handle> {
        let hint = self.hint.load(Ordering::Relaxed);
        for index in (0..MOST).map(|step| (hint + step) % MOST) {
            let row = self.all.get(index)?;
            let state = row.state.load(Ordering::Relaxed);
            let claimed = state % STATES == FREE
                && row
                    .state
                    .compare_exchange(state, state | BUSY, Ordering::Acquire, Ordering::Relaxed)
                    .is_ok();
            if claimed {
                row.number.store(number, Ordering::Relaxed);
                row.device.store(identity.0, Ordering::Relaxed);
                row.inode.store(identity.1, Ordering::Relaxed);
                let turn = (state / STATES).wrapping_add(1) % TURNS;
                row.state.store((turn * STATES) | USED, Ordering::Release);
                self.fresh.fetch_max(index + 1, Ordering::Relaxed);
                self.hint.store(index + 1, Ordering::Relaxed);
                return Some(Handle::of(((turn << BITS) | index as u32) as i32));
            }
        }
        None
    }

    fn row(&self, handle: Handle) -> Option<(&Row, u32)> {
        let handle = handle.get()?;
        let row = self.all.get(handle as usize % MOST)?;
        Some((row, ((handle >> BITS) * STATES) | USED))
    }

    /// Number, device and inode of a descriptor.
    pub(super) fn get(&self, handle: Handle) -> Option<(RawFd, (u64, u64))> {
        let (row, used) = self.row(handle)?;
        if row.state.load(Ordering::Acquire) != used {
            return None;
        }
        let number = row.number.load(Ordering::Relaxed);
        let identity = (
            row.device.load(Ordering::Relaxed),
            row.inode.load(Ordering::Relaxed),
        );
        // Read before the row can have been taken again, or it would not be in this state.
        std::sync::atomic::fence(Ordering::Acquire);
        (row.state.load(Ordering::Relaxed) == used).then_some((number, identity))
    }

    /// Gives a row back.
    pub(super) fn free(&self, handle: Handle) {
        if let (Some((row, used)), Some(index)) = (self.row(handle), handle.get()) {
            let free = used & !USED;
            let (success, failure) = (Ordering::AcqRel, Ordering::Relaxed);
            let freed = row.state.compare_exchange(used, free, success, failure);
            if freed.is_ok() {
                self.hint.store(index as usize % MOST, Ordering::Relaxed);
            }
        }
    }

    /// A descriptor has another number now, or none (-1).
    pub(super) fn move_to(&self, handle: Handle, number: RawFd) {
        if let Some((row, _)) = self.row(handle) {
            row.number.store(number, Ordering::Release);
        }
    }

    /// The handles in use.
    pub(super) fn all(&self) -> impl Iterator<Item = Handle> {
        let fresh = self.fresh.load(Ordering::Relaxed);
        let rows = self.all.iter().take(fresh).zip(0_u32..);
        rows.filter_map(|(row, index)| {
            let state = row.state.load(Ordering::Acquire);
            (state % STATES == USED)
                .then_some(Handle::of((((state / STATES) << BITS) | index) as i32))
        })
    }

    /// The descriptor that has a number.
    pub(super) fn find(&self, number: RawFd) -> Option<(Handle, (u64, u64))> {
        self.all().find_map(|handle| {
            let (fd, identity) = self.get(handle)?;
            (fd == number).then_some((handle, identity))
        })
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]
    use super::*;

    #[test]
    fn an_old_handle_names_nothing() {
        static ROWS: Rows = Rows::new();
        let first = ROWS.take(800, (1, 2)).unwrap();
        assert_eq!(ROWS.get(first), Some((800, (1, 2))));
        ROWS.move_to(first, 801);
        assert_eq!(ROWS.find(801), Some((first, (1, 2))));
        ROWS.free(first);
        ROWS.free(first);
        assert_eq!(ROWS.get(first), None);
        let second = ROWS.take(800, (3, 4)).unwrap();
        assert_ne!(first, second);
        assert_eq!(ROWS.all().collect::<Vec<_>>(), [second]);
        assert_eq!(ROWS.get(Handle::NONE), None);
    }
}
