//! What runs when the library is loaded and when the process forks.
//!
//! No PRM chapter. Not modelled: processes that are made without libc's `fork`.

use std::sync::atomic::{AtomicI32, Ordering};

use crate::sys::{self, key};
use crate::table::TABLE;
use crate::{config, cwd, life, own};

static FORKING: AtomicI32 = AtomicI32::new(0);

/// Runs once, before the program.
pub extern "C" fn loaded() {
    life::arrive();
    // Where that cannot be told nobody works in the tree.
    let _ = cwd::look(config::get());
    key::around_fork(before, parent, child);
}

extern "C" fn before() {
    // Held across the fork, or the child might inherit it half changed.
    TABLE.hold();
    own::forking();
    FORKING.store(sys::process(), Ordering::Relaxed);
}

extern "C" fn parent() {
    own::forked(false);
    TABLE.release();
}

extern "C" fn child() {
    life::arrive();
    own::forked(true);
    TABLE.release();
    let errno = sys::errno();
    // The thread's connections are among the descriptors that are closed.
    key::forget();
    let parent = FORKING.load(Ordering::Relaxed);
    let mapped = life::is_ready() && !TABLE.is_empty();
    life::forked(mapped.then_some(parent));
    sys::set_errno(errno);
}
