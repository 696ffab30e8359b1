//! Connections of a thread: idle, or in use by a call. What runs around a fork.
//!
//! They are closed when the thread ends. A call may never come back: a handler of a signal jumps out of it (siglongjmp), or ends the thread. Each call has a
//! mark on its stack, and its connection knows where: the next call of the thread closes the connections of marks that
//! are gone, and the end of the thread closes all. A key of pthreads tells the end: unlike a thread-local with a
//! destructor it works again after that has run. Not modelled: alternate stacks with SS_AUTODISARM, and calls of
//! handlers on stacks that the program switches itself; their connections may be taken for abandoned.
//! `tests/handlers.rs` runs this file with a handler at each of its steps.
#![expect(unsafe_code, reason = "functions of pthreads, looks at stacks")]

use core::ffi::c_void;
use std::sync::OnceLock;

use crate::atomics::{AtomicU64, AtomicUsize, Ordering};
use crate::own::{self, AtomicHandle, Handle};

/// Connections of a thread: of a call, of a handler that interrupts it, and so on. More handlers within one another do not
/// ask; when more calls seem to be under way, the oldest have not come back.
const MOST: usize = 8;
/// What a mark holds, mixed with its address, so that a copy of it elsewhere is not taken for a mark.
const MARK: u64 = 0x63d1_27c0_9a4f_5be5;
const RELAXED: Ordering = Ordering::Relaxed;

static TURNS: AtomicU64 = AtomicU64::new(0);

/// A word on the stack of a call that uses a connection.
pub struct Mark(AtomicU64);

impl Mark {
    /// A word that marks nothing yet.
    pub const fn new() -> Self {
        Mark(AtomicU64::new(0))
    }

    fn address(&self) -> usize {
        // Others look at it by its number.
        core::ptr::from_ref(self).expose_provenance()
    }

    /// From here on, and until it is dropped, it says that its call has not ended. It does not move any more.
    fn set(&self) -> usize {
        let address = self.address();
        self.0.store(expected(address), RELAXED);
        address
    }
}

impl Drop for Mark {
    fn drop(&mut self) {
        self.0.store(0, RELAXED);
    }
}

fn expected(address: usize) -> u64 {
    MARK ^ address as u64
}

/// A place for a connection of a thread.
struct Slot {
    connection: AtomicHandle,
    /// Address of the page that the connection shares with the node, or 0.
    board: AtomicUsize,
    /// Address of the mark of the call that uses it, or 0. The lowest bit is set for one on an alternate stack.
    user: AtomicUsize,
    /// Which claim that was, counted from the start of the process.
    turn: AtomicU64,
}

thread_local! {
    static SLOTS: [Slot; MOST] = const {
        [const {
            Slot {
                connection: AtomicHandle::empty(),
                board: AtomicUsize::new(0),
                user: AtomicUsize::new(0),
                turn: AtomicU64::new(0),
            }
        }; MOST]
    };
}

/// A slot that a call uses.
pub struct Claim {
    index: usize,
    user: usize,
}

fn with_slot<T>(index: usize, look: impl FnOnce(&Slot) -> T) -> Option<T> {
    SLOTS
        .try_with(|slots| slots.get(index).map(look))
        .ok()
        .flatten()
}

/// A slot for a call, with a connection in it when the thread has an idle one. `None` where there are no slots.
pub fn claim(mark: &Mark) -> Option<Claim> {
    let here = mark.set();
    let mut user = here;
    let busy = SLOTS.try_with(|slots| slots.iter().any(|slot| slot.user.load(RELAXED) != 0));
    if busy.ok()? {
        let alternate = super::is_on_alternate_stack();
        user |= usize::from(alternate);
        collect(here, alternate);
    }
    let take = |is_held: bool| {
        (0..MOST).find(|index| {
            let taken = with_slot(*index, |slot| {
                let exchange = |old, new| slot.user.compare_exchange(old, new, RELAXED, RELAXED);
                slot.connection.load(RELAXED).is_some() == is_held && exchange(0, user).is_ok()
            });
            taken == Some(true)
        })
    };
    let index = take(true).or_else(|| take(false)).or_else(|| {
        free(oldest()?);
        take(false)
    })?;
    let turn = TURNS.fetch_add(1, RELAXED);
    with_slot(index, |slot| slot.turn.store(turn, RELAXED));
    Some(Claim { index, user })
}

/// The slot that was claimed first.
fn oldest() -> Option<usize> {
    (0..MOST).min_by_key(|index| with_slot(*index, |slot| slot.turn.load(RELAXED)))
}

/// Closes the connections of calls that did not come back.
fn collect(here: usize, alternate: bool) {
    for index in 0..MOST {
        let user = with_slot(index, |slot| slot.user.load(RELAXED)).unwrap_or(0);
        if user != 0 && is_gone(user, here, alternate) {
            free(index);
        }
    }
}

/// Whether the call with a mark has ended, seen from a call with one at `here`. Stacks grow downwards.
fn is_gone(user: usize, here: usize, alternate: bool) -> bool {
    let (address, was_alternate) = (user & !1, user & 1 != 0);
    if was_alternate && !alternate {
        return true;
    }
    if was_alternate == alternate && address <= here {
        return true;
    }
    // Above this call on its stack, or on the stack that a handler has left: there it is, or was overwritten.
    super::memory::peek(address) != Some(expected(address))
}

/// Closes what is in a slot.
fn free(index: usize) {
    // A handler that jumps out finds it either there or closed.
    let signals = super::block_signals();
    let connection = with_slot(index, |slot| slot.connection.take(RELAXED));
    give_back(index);
    with_slot(index, |slot| slot.user.store(0, RELAXED));
    if let Some(connection) = connection.flatten() {
        own::close(connection);
    }
    super::unblock_signals(signals);
}

/// Gives back the page of the connection that was in a slot. With signals blocked.
fn give_back(index: usize) {
    let board = with_slot(index, |slot| slot.board.swap(0, RELAXED));
    super::board::give_back(board.unwrap_or(0));
}

impl Claim {
    /// The connection in it.
    pub fn connection(&self) -> Option<Handle> {
        let connection = with_slot(self.index, |slot| slot.connection.load(RELAXED)).flatten();
        connection.filter(|_| self.is_own())
    }

    /// Puts a connection in; false when a fork in between has emptied the slot, which may be another call's by now. With
    /// signals blocked.
    #[must_use]
    pub fn hold(&self, connection: Handle) -> bool {
        if !self.is_own() {
            return false;
        }
        with_slot(self.index, |slot| {
            slot.connection.store(connection, RELAXED);
        });
        tell_end();
        true
    }

    /// Address of the page that the connection in it shares with the node, or 0.
    pub fn board(&self) -> usize {
        let board = with_slot(self.index, |slot| slot.board.load(RELAXED));
        board.filter(|_| self.is_own()).unwrap_or(0)
    }

    /// Puts the page of the connection in; false as for [`hold`](Self::hold). With signals blocked.
    #[must_use]
    pub fn keep(&self, board: usize) -> bool {
        let is_own = self.is_own();
        if is_own {
            with_slot(self.index, |slot| slot.board.store(board, RELAXED));
        }
        is_own
    }

    /// Takes the connection out and gives its page back; the call that has claimed the slot closes the connection. With signals blocked.
    pub fn take(&self) {
        if self.is_own() {
            with_slot(self.index, |slot| slot.connection.take(RELAXED));
            give_back(self.index);
        }
    }

    fn is_own(&self) -> bool {
        with_slot(self.index, |slot| slot.user.load(RELAXED)) == Some(self.user)
    }

    /// The call has come back. One idle connection is enough for a thread.
    pub fn release(self) {
        if !self.is_own() {
            // A fork in between has emptied it.
            return;
        }
        let spare = SLOTS.try_with(|slots| {
            slots
                .iter()
                .any(|slot| slot.user.load(RELAXED) == 0 && slot.connection.load(RELAXED).is_some())
        });
        if spare.unwrap_or(false) {
            free(self.index);
        } else {
            with_slot(self.index, |slot| slot.user.store(0, RELAXED));
        }
    }
}

/// In a child: the connections are the parent's, and closed with all that was inherited.
pub fn forget() {
    // A handler in between may already have put a connection of the child in.
    let signals = super::block_signals();
    for index in 0..MOST {
        with_slot(index, |slot| {
            slot.connection.take(RELAXED);
            // The child does not have the page.
            slot.board.store(0, RELAXED);
            slot.user.store(0, RELAXED);
        });
    }
    super::unblock_signals(signals);
}

/// The key that has [`ended`] called. Made when the library is loaded: a program may take all that there are.
pub fn prepare() -> Option<libc::pthread_key_t> {
    static KEY: OnceLock<Option<libc::pthread_key_t>> = OnceLock::new();
    *KEY.get_or_init(|| {
        let mut key = 0;
        // SAFETY: the key is written before it is used.
        let result = unsafe { libc::pthread_key_create(&raw mut key, Some(ended)) };
        (result == 0).then_some(key)
    })
}

/// Has [`ended`] called at the end of this thread.
fn tell_end() {
    if let Some(key) = prepare() {
        // SAFETY: the key exists; the value is never followed.
        unsafe { libc::pthread_setspecific(key, core::ptr::without_provenance::<c_void>(1)) };
    }
}

extern "C" fn ended(_: *mut c_void) {
    for index in 0..MOST {
        free(index);
    }
}

/// Registers what runs in the forking thread: before, after in the parent, after in the child.
pub fn around_fork(before: extern "C" fn(), parent: extern "C" fn(), child: extern "C" fn()) {
    unsafe extern "C" {
        fn pthread_atfork(
            before: Option<extern "C" fn()>,
            parent: Option<extern "C" fn()>,
            child: Option<extern "C" fn()>,
        ) -> i32;
    }
    // SAFETY: functions of this library, which is never unloaded before the process ends.
    unsafe { pthread_atfork(Some(before), Some(parent), Some(child)) };
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_that_do_not_come_back_lose_their_connections() {
        // Marks at chosen distances, as calls of different depth have them.
        let stack = [const { Mark::new() }; 8];
        let (deep, middle, high) = (&stack[1], &stack[3], &stack[6]);
        let seen = |mark: &Mark, here: &Mark| !is_gone(mark.set(), here.address(), false);
        // A handler's call lies below that which it interrupts.
        assert!(seen(middle, deep));
        // After a jump to a place above the call is gone, though its mark is still there.
        assert!(!seen(middle, high) && !seen(middle, middle));
        // A deeper call after a jump: its way there has written over the mark.
        let user = middle.set();
        middle.0.store(0, RELAXED);
        assert!(is_gone(user, deep.address(), false));
        // Alternate stacks lie anywhere.
        assert!(!is_gone(deep.set(), high.address(), true));
        assert!(is_gone(high.set() | 1, deep.address(), false));
        assert!(!is_gone(high.set() | 1, deep.address(), true));
        // A stack that is not there any more.
        assert!(is_gone(8, 4, false));
    }
}
