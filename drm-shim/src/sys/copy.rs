//! Whether this memory is a copy: that of a child made past libc's `fork`.
//!
//! A word in a page that the kernel empties in a child with memory of its own (MADV_WIPEONFORK), so a look is one load. The
//! number of the process would not do: a child of `vfork` has another one and its parent's memory.
#![expect(unsafe_code, reason = "a word in a page that is mapped for it")]

use std::sync::atomic::{AtomicU32, AtomicUsize, Ordering};

use super::check;
use super::memory::{self, PAGE, Page};

/// What the kernel leaves in a child.
const COPY: u32 = 0;
const OWN: u32 = 1;
/// A thread of the child is taking in what it was left.
const CLAIMED: u32 = 2;

/// Address of the word, or 0.
static WORD: AtomicUsize = AtomicUsize::new(0);

/// The library is loaded: this memory is the program's own.
pub fn prepare() {
    let Ok(page) = Page::new() else { return };
    let (address, len) = (memory::keep(page), PAGE as usize);
    // SAFETY: a page of this library's.
    let advice = unsafe { libc::syscall(libc::SYS_madvise, address, len, libc::MADV_WIPEONFORK) };
    if check(advice).is_ok() {
        WORD.store(address, Ordering::Relaxed);
        own();
    }
}

fn word() -> Option<&'static AtomicU32> {
    let word: *const AtomicU32 = core::ptr::with_exposed_provenance(WORD.load(Ordering::Relaxed));
    // SAFETY: null, or the beginning of a page that stays for good.
    unsafe { word.as_ref() }
}

fn state() -> u32 {
    word().map_or(OWN, |word| word.load(Ordering::Acquire))
}

/// Whether nothing here is this process's yet.
pub fn is_unclaimed() -> bool {
    state() == COPY
}

/// Whether all here is this process's.
pub fn is_own() -> bool {
    state() == OWN
}

/// Whether the calling thread is the one that takes in what was left; it says [`own`] at the end.
pub fn claim() -> bool {
    let order = (Ordering::AcqRel, Ordering::Relaxed);
    word().is_some_and(|word| {
        word.compare_exchange(COPY, CLAIMED, order.0, order.1)
            .is_ok()
    })
}

/// From here on all is this process's.
pub fn own() {
    if let Some(word) = word() {
        word.store(OWN, Ordering::Release);
    }
}
