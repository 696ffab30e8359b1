//! Connections of a thread, with a handler of a signal at each of their steps.
//!
//! The file itself, over atomics that run a handler before an operation of choice: it makes a call of its own and returns,
//! jumps out of what it has interrupted, or forks and returns in the child. No connection is used twice at a time or
//! after its end, and none is left when the thread has ended. Real threads, whose keys run at their real end.
#![allow(dead_code, reason = "the library uses more of each piece")]
#![allow(clippy::unwrap_used, reason = "tests")]
#![allow(unsafe_code, reason = "looks at the errno of a system call")]

#[path = "../src/own/handle.rs"]
mod handle;
#[path = "../src/sys/key.rs"]
mod key;
#[path = "../src/sys/memory.rs"]
mod memory;

use std::cell::Cell;
use std::collections::BTreeSet;
use std::mem::ManuallyDrop;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread;

use handle::Handle;

type Result<T> = core::result::Result<T, i32>;

fn check(result: core::ffi::c_long) -> Result<core::ffi::c_long> {
    // SAFETY: the address is that of a variable of this thread.
    let error = || unsafe { *libc::__errno_location() };
    if result == -1 {
        Err(error())
    } else {
        Ok(result)
    }
}

fn process() -> i32 {
    std::process::id().cast_signed()
}

fn is_on_alternate_stack() -> bool {
    ALTERNATE.get()
}

fn block_signals() -> u64 {
    u64::from(BLOCKED.replace(true))
}

fn unblock_signals(before: u64) {
    BLOCKED.set(before != 0);
}

mod own {
    pub use super::handle::{AtomicHandle, Handle};

    pub fn close(connection: Handle) {
        super::connections().close(connection);
    }
}

mod board {
    pub fn give_back(address: usize) {
        super::connections().give_back(address);
    }
}

/// Atomics before whose operations a handler may come.
mod atomics {
    use std::sync::atomic;

    pub use atomic::Ordering;

    macro_rules! interrupted {
        ($name:ident, $value:ty) => {
            #[repr(transparent)]
            pub struct $name(atomic::$name);

            impl $name {
                pub const fn new(value: $value) -> Self {
                    $name(atomic::$name::new(value))
                }

                pub fn load(&self, order: Ordering) -> $value {
                    super::step();
                    self.0.load(order)
                }

                pub fn store(&self, value: $value, order: Ordering) {
                    super::step();
                    self.0.store(value, order);
                }

                pub fn swap(&self, value: $value, order: Ordering) -> $value {
                    super::step();
                    self.0.swap(value, order)
                }

                pub fn fetch_add(&self, value: $value, order: Ordering) -> $value {
                    super::step();
                    self.0.fetch_add(value, order)
                }

                pub fn compare_exchange(
                    &self,
                    old: $value,
                    new: $value,
                    success: Ordering,
                    failure: Ordering,
                ) -> core::result::Result<$value, $value> {
                    super::step();
                    self.0.compare_exchange(old, new, success, failure)
                }
            }
        };
    }

    interrupted!(AtomicI32, i32);
    interrupted!(AtomicU64, u64);
    interrupted!(AtomicUsize, usize);
}

/// What a handler does.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Handler {
    Returns,
    Jumps,
    /// It asks, jumps out, and what it has asked never comes back either.
    JumpsAmidItsCall,
    Forks,
}

/// At which step a handler comes.
#[derive(Clone, Copy, Debug)]
struct Signal {
    at: usize,
    handler: Handler,
    alternate: bool,
}

thread_local! {
    static STEPS: Cell<usize> = const { Cell::new(0) };
    static SIGNALS: Cell<[Option<Signal>; 2]> = const { Cell::new([None; 2]) };
    static BLOCKED: Cell<bool> = const { Cell::new(false) };
    static ALTERNATE: Cell<bool> = const { Cell::new(false) };
    /// Below nothing that may be unwound, there is nowhere to jump to.
    static CATCHES: Cell<bool> = const { Cell::new(false) };
    static FORKS: Cell<u32> = const { Cell::new(0) };
}

/// A jump to where the program has set one up.
struct Jump;

fn step() {
    if BLOCKED.get() {
        return;
    }
    let now = STEPS.get();
    STEPS.set(now + 1);
    let mut signals = SIGNALS.get();
    let due = signals
        .iter_mut()
        .find(|signal| signal.is_some_and(|signal| signal.at == now));
    let Some(signal) = due.and_then(Option::take) else {
        return;
    };
    SIGNALS.set(signals);
    let before = ALTERNATE.replace(signal.alternate || ALTERNATE.get());
    match signal.handler {
        Handler::Returns => call(false),
        Handler::Forks => {
            connections().fork();
            FORKS.set(FORKS.get() + 1);
            key::forget();
            call(false);
        }
        Handler::Jumps | Handler::JumpsAmidItsCall => {
            call(CATCHES.get() && signal.handler == Handler::JumpsAmidItsCall);
            if CATCHES.get() {
                resume_unwind(Box::new(Jump));
            }
        }
    }
    ALTERNATE.set(before);
}

/// The kernel's and the node's sides of the connections.
struct Connections {
    next: i32,
    open: BTreeSet<Handle>,
    /// Innermost last.
    used: Vec<Handle>,
    /// In no slot, as a fork has emptied the call's: a jump out of such a call loses its connection.
    loose: BTreeSet<Handle>,
    /// Addresses of the pages that connections share with the node.
    pages: BTreeSet<usize>,
}

static CONNECTIONS: Mutex<Connections> = Mutex::new(Connections {
    next: 0,
    open: BTreeSet::new(),
    used: Vec::new(),
    loose: BTreeSet::new(),
    pages: BTreeSet::new(),
});

fn connections() -> MutexGuard<'static, Connections> {
    CONNECTIONS.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Connections {
    fn open(&mut self) -> Handle {
        self.next += 1;
        let made = Handle::of(self.next);
        self.open.insert(made);
        made
    }

    #[track_caller]
    fn close(&mut self, fd: Handle) {
        assert!(
            !self.used.contains(&fd),
            "{fd:?} is closed while it is used"
        );
        assert!(self.open.remove(&fd), "{fd:?} is closed twice");
    }

    /// The page of the connection that was made last.
    fn share(&mut self) -> usize {
        let page = self.next as usize * 4096;
        self.pages.insert(page);
        page
    }

    #[track_caller]
    fn give_back(&mut self, page: usize) {
        assert!(
            page == 0 || self.pages.remove(&page),
            "{page:#x} is given back twice"
        );
    }

    #[track_caller]
    fn begin(&mut self, fd: Handle) {
        assert!(self.open.contains(&fd), "{fd:?} is used after its end");
        assert!(!self.used.contains(&fd), "{fd:?} is used twice");
        self.used.push(fd);
    }

    /// In the child all that the parent had is closed, and pages are not there.
    fn fork(&mut self) {
        self.pages.clear();
        self.open.clear();
        self.used.clear();
    }
}

/// A call of the library, as `link.rs` makes it.
#[inline(never)]
fn call(abandoned: bool) {
    // A jump runs no destructor.
    let mut mark = ManuallyDrop::new(key::Mark::new());
    let claim = key::claim(&mark);
    let before = FORKS.get();
    let made = || {
        let signals = block_signals();
        let fd = connections().open();
        let is_held = claim.as_ref().is_some_and(|claim| claim.hold(fd));
        if !is_held {
            connections().loose.insert(fd);
        }
        let page = connections().share();
        if !claim
            .as_ref()
            .is_some_and(|claim| is_held && claim.keep(page))
        {
            connections().give_back(page);
        }
        unblock_signals(signals);
        (fd, is_held)
    };
    let (mut fd, mut is_held) = match claim.as_ref().and_then(key::Claim::connection) {
        // A fork since then has closed it, which sending would tell.
        Some(fd) if connections().open.contains(&fd) => (fd, true),
        _ => made(),
    };
    for _ in 0..2 {
        let signals = block_signals();
        let lost = FORKS.get() != before && !connections().open.contains(&fd);
        if lost {
            if let Some(claim) = claim.as_ref().filter(|_| is_held) {
                claim.take();
            }
            (fd, is_held) = made();
        }
        connections().begin(fd);
        let page = claim.as_ref().map_or(0, key::Claim::board);
        assert!(
            page == 0 || connections().pages.contains(&page),
            "{page:#x} is used after its end"
        );
        unblock_signals(signals);
        step();
        if abandoned {
            return;
        }
        connections().used.retain(|used| *used != fd);
    }
    if !is_held && connections().open.contains(&fd) {
        connections().close(fd);
    }
    if let Some(claim) = claim {
        claim.release();
    }
    // SAFETY: it is not looked at any more.
    unsafe { ManuallyDrop::drop(&mut mark) };
}

/// A call that a handler may jump out of.
fn tried() {
    let inside = connections().used.len();
    CATCHES.set(true);
    let result = catch_unwind(AssertUnwindSafe(|| call(false)));
    CATCHES.set(false);
    if let Err(reason) = result {
        if !reason.is::<Jump>() {
            resume_unwind(reason);
        }
        BLOCKED.set(false);
        ALTERNATE.set(false);
        connections().used.truncate(inside);
    }
}

/// A thread that makes three calls and ends; how many steps that took.
fn thread_with(signals: [Option<Signal>; 2]) -> usize {
    *connections() = Connections {
        next: 0,
        open: BTreeSet::new(),
        used: Vec::new(),
        loose: BTreeSet::new(),
        pages: BTreeSet::new(),
    };
    let thread = thread::spawn(move || {
        SIGNALS.set(signals);
        STEPS.set(0);
        for _ in 0..3 {
            tried();
        }
        STEPS.get()
    });
    let steps = thread.join();
    let (left, pages) = {
        let now = connections();
        let left: Vec<_> = now.open.difference(&now.loose).copied().collect();
        (left, now.pages.clone())
    };
    let steps = steps.unwrap_or_else(|_| panic!("{signals:?}"));
    assert!(left.is_empty(), "{left:?} are left open: {signals:?}");
    assert!(pages.is_empty(), "{pages:x?} are left: {signals:?}");
    steps
}

const HANDLERS: [Handler; 4] = [
    Handler::Returns,
    Handler::Jumps,
    Handler::JumpsAmidItsCall,
    Handler::Forks,
];

fn signals_at(at: usize) -> impl Iterator<Item = Signal> {
    let handlers = HANDLERS.into_iter();
    handlers.flat_map(move |handler| {
        [false, true].map(|alternate| Signal {
            at,
            handler,
            alternate,
        })
    })
}

/// Runs of the thread's end and a little more: those of handlers' calls come on top.
const BEYOND: usize = 60;

#[test]
fn no_handler_and_no_two_mix_connections_up_or_lose_one() {
    let steps = thread_with([None; 2]);
    assert!(steps > 60, "{steps}");
    for at in 0..steps + BEYOND {
        for first in signals_at(at) {
            thread_with([Some(first), None]);
        }
    }
    // Two, the second of which may come amid the first.
    for at in 0..steps + BEYOND {
        for first in signals_at(at) {
            for after in (1..BEYOND).step_by(3) {
                for second in signals_at(at + after) {
                    if second.alternate == first.alternate {
                        thread_with([Some(first), Some(second)]);
                    }
                }
            }
        }
    }
}
