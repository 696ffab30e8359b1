//! Descriptors that belong to this library: the program does not get to close them.
//!
//! No PRM chapter. High numbers, so that a program finds the low ones free. Not modelled: `dup2` onto one of them.

use std::os::fd::RawFd;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::sys;

/// Numbers above are not kept track of.
const MOST: usize = 1 << 16;

static OWN: [AtomicU64; MOST / 64] = [const { AtomicU64::new(0) }; MOST / 64];

fn bit(fd: RawFd) -> Option<(&'static AtomicU64, u64)> {
    let fd = usize::try_from(fd).ok()?;
    Some((OWN.get(fd / 64)?, 1 << (fd % 64)))
}

/// Whether a descriptor is this library's.
pub fn is(fd: RawFd) -> bool {
    bit(fd).is_some_and(|(word, bit)| word.load(Ordering::Relaxed) & bit != 0)
}

/// Moves a descriptor up and marks it.
pub fn adopt(fd: RawFd) -> RawFd {
    let moved = [768, 192]
        .iter()
        .find_map(|least| sys::duplicate(fd, *least).ok());
    if moved.is_some() {
        sys::close(fd);
    }
    let fd = moved.unwrap_or(fd);
    if let Some((word, bit)) = bit(fd) {
        word.fetch_or(bit, Ordering::Relaxed);
    }
    fd
}

/// Closes one.
pub fn close(fd: RawFd) {
    if let Some((word, bit)) = bit(fd) {
        word.fetch_and(!bit, Ordering::Relaxed);
    }
    sys::close(fd);
}

/// Marks one as the program's: its number has been given to something else behind our back.
pub fn disown(fd: RawFd) {
    if let Some((word, bit)) = bit(fd) {
        word.fetch_and(!bit, Ordering::Relaxed);
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
