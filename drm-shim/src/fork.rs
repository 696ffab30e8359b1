//! What runs when the library is loaded and when the process forks.
//!
//! A child that is made past libc's `fork` (`clone`, `_Fork`) is found out at its first call about the node.
//! Not modelled: such children that share their parent's memory.

use std::sync::atomic::{AtomicI32, AtomicU64, Ordering};

use wire::NO_FILE;

use crate::sys::{self, copy, key};
use crate::table::TABLE;
use crate::{config, cwd, life, link, own};

static FORKING: AtomicI32 = AtomicI32::new(0);
/// What the node has said of the mappings at the fork.
static FORK: AtomicU64 = AtomicU64::new(NO_FILE);

/// Runs once, before the program.
pub extern "C" fn loaded() {
    life::arrive();
    copy::prepare();
    key::prepare();
    // Where that cannot be told nobody works in the tree.
    let _ = cwd::look(config::get());
    key::around_fork(before, parent, child);
}

extern "C" fn before() {
    let errno = sys::errno();
    let mapped = life::is_ready() && !TABLE.is_empty();
    if mapped {
        find_out();
    }
    // Held across the fork, or the child might inherit it half changed.
    TABLE.hold();
    // The parent may unmap before the child has begun. Without a node there is nothing to keep.
    let fork = if mapped { link::forks() } else { Err(0) };
    FORK.store(fork.unwrap_or(NO_FILE), Ordering::Relaxed);
    sys::set_errno(errno);
    own::forking();
    FORKING.store(sys::process(), Ordering::Relaxed);
}

extern "C" fn parent() {
    own::forked(false);
    TABLE.release();
}

extern "C" fn child() {
    life::arrive();
    copy::own();
    own::forked(true);
    TABLE.release();
    let errno = sys::errno();
    // The thread's connections are among the descriptors that are closed.
    key::forget();
    let parent = FORKING.load(Ordering::Relaxed);
    let mapped = !TABLE.is_empty();
    life::forked(
        mapped.then_some(parent),
        FORK.load(Ordering::Relaxed),
        false,
    );
    sys::set_errno(errno);
}

/// Before anything of the node's is used: a child that was made past libc forgets what is its parent's, as [`child`] does.
#[inline]
pub fn find_out() {
    if !copy::is_own() {
        found_out();
    }
}

#[cold]
#[inline(never)]
fn found_out() {
    let errno = sys::errno();
    let signals = sys::block_signals();
    if copy::claim() {
        let parent = life::process();
        life::arrive();
        // Nothing was held for the child. Threads that it does not have may have been amid something.
        own::forked(true);
        let unknown = TABLE.copied();
        key::forget();
        let mapped = unknown || !TABLE.is_empty();
        life::forked(mapped.then_some(parent), NO_FILE, sys::shares_files(parent));
        copy::own();
    } else {
        while !copy::is_own() {
            sys::give_way();
        }
    }
    sys::unblock_signals(signals);
    sys::set_errno(errno);
}
