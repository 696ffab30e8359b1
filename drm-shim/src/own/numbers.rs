//! Which numbers of descriptors are this library's: one bit each.

use std::os::fd::RawFd;
use std::sync::atomic::{AtomicU64, Ordering};

/// Numbers above are not kept track of.
const MOST: usize = 1 << 16;

static OWN: [AtomicU64; MOST / 64] = [const { AtomicU64::new(0) }; MOST / 64];

fn bit(fd: RawFd) -> Option<(&'static AtomicU64, u64)> {
    let fd = usize::try_from(fd).ok()?;
    Some((OWN.get(fd / 64)?, 1 << (fd % 64)))
}

/// Whether a number is this library's.
pub fn is(fd: RawFd) -> bool {
    bit(fd).is_some_and(|(word, bit)| word.load(Ordering::Relaxed) & bit != 0)
}

/// Notes whose a number is.
pub(super) fn set(fd: RawFd, own: bool) {
    if let Some((word, bit)) = bit(fd) {
        if own {
            word.fetch_or(bit, Ordering::Relaxed);
        } else {
            word.fetch_and(!bit, Ordering::Relaxed);
        }
    }
}

/// Those from `first` to `last`, in order.
pub fn between(first: u32, last: u32) -> impl Iterator<Item = u32> {
    let last = last.min(MOST as u32 - 1);
    (first / 64..=last / 64).flat_map(move |index| {
        let word = OWN
            .get(index as usize)
            .map_or(0, |word| word.load(Ordering::Relaxed));
        (0..64)
            .filter(move |bit| word >> bit & 1 != 0)
            .map(move |bit| index * 64 + bit)
            .filter(move |fd| (first..=last).contains(fd))
    })
}
