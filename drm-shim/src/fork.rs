//! What runs when the library is loaded and when the process forks.
//!
//! A child that is made past libc's `fork` (`clone`, `_Fork`) is found out at its first call about the node.
//! Not modelled: such children that share their parent's memory.

use std::sync::atomic::{AtomicBool, AtomicI32, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use wire::NO_FILE;

use crate::life::Inherited;
use crate::sys::{self, copy, key};
use crate::table::TABLE;
use crate::{config, cwd, life, link, map, own};

static FORKING: AtomicI32 = AtomicI32::new(0);
/// What the node has said of the mappings at the fork.
static FORK: AtomicU64 = AtomicU64::new(NO_FILE);
/// A thread forks.
static HELD: AtomicBool = AtomicBool::new(false);
/// Signals that it had blocked before.
static SIGNALS: AtomicU64 = AtomicU64::new(0);
/// No mapping is being made at the fork.
static SETTLED: AtomicBool = AtomicBool::new(true);

/// TIMEOUT: how long a fork waits for mappings that are being made: each is a question to the node, which may have to make the views of
/// large tiled objects for all threads. Linux waits without an end (`mmap_lock`).
const PATIENCE: Duration = Duration::from_secs(60);

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
    if life::is_ready() {
        find_out();
    }
    let signals = sys::block_signals();
    while HELD.swap(true, Ordering::Acquire) {
        sys::give_way();
    }
    SIGNALS.store(signals, Ordering::Relaxed);
    // Or the child might inherit a mapping that the node does not know yet.
    let until = Instant::now() + PATIENCE;
    let settled = map::MAKING.stop(|| Instant::now() < until);
    SETTLED.store(settled, Ordering::Relaxed);
    // Held across the fork, or the child might inherit it half changed.
    TABLE.hold();
    let mapped = settled && life::is_ready() && !TABLE.is_empty();
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
    map::MAKING.go_on();
    let signals = SIGNALS.load(Ordering::Relaxed);
    HELD.store(false, Ordering::Release);
    sys::unblock_signals(signals);
}

extern "C" fn child() {
    life::arrive();
    copy::own();
    own::forked(true);
    TABLE.release();
    map::MAKING.reset();
    let errno = sys::errno();
    // The thread's connections are among the descriptors that are closed.
    key::forget();
    let parent = FORKING.load(Ordering::Relaxed);
    let inherited = match FORK.load(Ordering::Relaxed) {
        _ if !SETTLED.load(Ordering::Relaxed) => Inherited::Unknown,
        _ if TABLE.is_empty() => Inherited::Nothing,
        NO_FILE => Inherited::Unknown,
        fork => Inherited::At { parent, fork },
    };
    life::forked(inherited, false);
    let signals = SIGNALS.load(Ordering::Relaxed);
    HELD.store(false, Ordering::Release);
    sys::set_errno(errno);
    sys::unblock_signals(signals);
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
        map::MAKING.reset();
        HELD.store(false, Ordering::Relaxed);
        key::forget();
        let inherited = if unknown || !TABLE.is_empty() {
            Inherited::Now { parent }
        } else {
            Inherited::Nothing
        };
        life::forked(inherited, sys::shares_files(parent));
        copy::own();
    } else {
        while !copy::is_own() {
            sys::give_way();
        }
    }
    sys::unblock_signals(signals);
    sys::set_errno(errno);
}
