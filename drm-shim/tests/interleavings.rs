//! The library's small concurrent pieces, in all orders that threads may take.
//!
//! The files themselves, over loom's atomics instead of the processor's. `cargo xtask loom` runs this alone; as it takes
//! seconds, it is among all tests too.
#![allow(dead_code, reason = "the library uses more of each piece")]
#![allow(clippy::unwrap_used, reason = "tests")]

mod atomics {
    pub use loom::sync::atomic::{AtomicBool, AtomicU32, Ordering, fence};
    pub use loom::thread::yield_now as give_way;
}
#[path = "../wire/src/place.rs"]
mod place;
#[path = "../src/turn.rs"]
mod turn;
#[path = "../src/own/uses.rs"]
mod uses;

use loom::cell::UnsafeCell;
use loom::sync::{Arc, Mutex};
use loom::thread;

use atomics::{AtomicBool, AtomicU32, Ordering};
use place::{Place, Seen};
use turn::Turn;
use uses::Uses;

/// All orders in which a thread gives way to another unasked at most so many times; more take hours and find the same.
fn all_orders(model: impl Fn() + Sync + Send + 'static) {
    let mut builder = loom::model::Builder::new();
    builder.preemption_bound = Some(3);
    builder.check(model);
}

/// A descriptor's number, which only moves while nobody uses it.
struct Descriptor {
    uses: Uses,
    number: UnsafeCell<u32>,
}

// SAFETY: loom fails where two threads are at the number at once and one of them changes it, which is what is tested.
unsafe impl Sync for Descriptor {}

fn descriptor() -> Arc<Descriptor> {
    Arc::new(Descriptor {
        uses: Uses::over(AtomicU32::new(0)),
        number: UnsafeCell::new(768),
    })
}

impl Descriptor {
    fn used(&self) -> u32 {
        let _use = self.uses.begin();
        // SAFETY: loom checks that nobody changes it meanwhile.
        self.number.with(|number| unsafe { *number })
    }

    fn moved(&self, tries: u32) -> bool {
        let mut left = tries;
        let stopped = self.uses.stop(|| {
            left = left.saturating_sub(1);
            left > 0
        });
        if stopped {
            // SAFETY: loom checks that nobody is at it meanwhile.
            self.number.with_mut(|number| unsafe { *number += 1 });
            assert!(self.uses.is_stopped());
            self.uses.go_on();
        }
        stopped
    }
}

#[test]
fn a_descriptor_moves_while_nobody_uses_it() {
    all_orders(|| {
        let descriptor = descriptor();
        let user = {
            let descriptor = Arc::clone(&descriptor);
            thread::spawn(move || {
                for _ in 0..2 {
                    assert!((768..=769).contains(&descriptor.used()));
                }
            })
        };
        let moved = descriptor.moved(2);
        user.join().unwrap();
        assert_eq!(descriptor.used(), 768 + u32::from(moved));
        // Nobody uses it any more, so it need not be waited for.
        assert!(descriptor.moved(1));
    });
}

#[test]
fn a_use_from_before_a_fork_counts_for_nothing_after_it() {
    all_orders(|| {
        let descriptor = descriptor();
        // Of a thread that the child does not have, and of the thread that has forked in a handler of a signal.
        std::mem::forget(descriptor.uses.begin());
        let own = descriptor.uses.begin();
        descriptor.uses.reset();
        let mover = {
            let descriptor = Arc::clone(&descriptor);
            thread::spawn(move || assert!(descriptor.moved(1)))
        };
        drop(own);
        mover.join().unwrap();
        assert_eq!(descriptor.used(), 769);
        assert!(descriptor.moved(1));
    });
}

/// Two words that change together.
struct Pair {
    turn: Turn,
    words: [AtomicU32; 2],
}

fn pair() -> Arc<Pair> {
    Arc::new(Pair {
        turn: Turn::over(AtomicU32::new(0), AtomicBool::new(false)),
        words: [AtomicU32::new(0), AtomicU32::new(0)],
    })
}

impl Pair {
    fn change(&self) {
        self.turn.hold();
        self.turn.change(|| {
            for word in &self.words {
                word.store(word.load(Ordering::Relaxed) + 1, Ordering::Relaxed);
            }
        });
        self.turn.release();
    }

    fn look(&self) -> [u32; 2] {
        self.turn.look(|| {
            let [first, second] = &self.words;
            [first, second].map(|word| word.load(Ordering::Relaxed))
        })
    }
}

#[test]
fn who_looks_sees_no_half_change() {
    all_orders(|| {
        let pair = pair();
        let changing = Arc::clone(&pair);
        let changes = thread::spawn(move || changing.change());
        let [first, second] = pair.look();
        assert_eq!(first, second);
        changes.join().unwrap();
        assert_eq!(pair.look(), [1, 1]);
    });
}

#[test]
fn nothing_changes_while_it_is_held_as_across_a_fork() {
    all_orders(|| {
        let pair = pair();
        let changing = Arc::clone(&pair);
        let changes = thread::spawn(move || changing.change());
        pair.turn.hold();
        let now = || {
            pair.words
                .each_ref()
                .map(|word| word.load(Ordering::Relaxed))
        };
        let [first, second] = now();
        assert_eq!(first, second);
        pair.turn.release();
        changes.join().unwrap();
        assert_eq!(now(), [1, 1]);
    });
}

/// The way of a message: by a place while its reader looks there, and by the socket otherwise.
struct Way {
    place: Place,
    message: UnsafeCell<u32>,
    socket: Mutex<Vec<u32>>,
}

// SAFETY: loom fails where one is at the message while the other changes it, which is what is tested.
unsafe impl Sync for Way {}

impl Way {
    fn send(&self, message: u32) {
        if self.place.is_awaited() {
            // SAFETY: loom checks that the reader is not at it.
            self.message.with_mut(|to| unsafe { *to = message });
            if self.place.put() {
                return;
            }
        }
        self.socket.lock().unwrap().push(message);
        self.place.divert();
    }

    fn receive(&self, looks: usize) -> u32 {
        self.place.look();
        for _ in 1..looks {
            if self.place.seen() == Seen::Nothing {
                atomics::give_way();
            }
        }
        if self.place.seen() == Seen::Message || !self.place.leave() {
            // SAFETY: loom checks that the writer is not at it.
            let message = self.message.with(|from| unsafe { *from });
            self.place.taken();
            return message;
        }
        loop {
            if let Some(message) = self.socket.lock().unwrap().pop() {
                return message;
            }
            atomics::give_way();
        }
    }
}

#[test]
fn a_message_comes_by_the_place_or_by_the_socket_and_once() {
    for looks in [1, 2] {
        all_orders(move || {
            let place = Place::over(AtomicU32::new(0));
            place.open();
            let way = Arc::new(Way {
                place,
                message: UnsafeCell::new(0),
                socket: Mutex::new(Vec::new()),
            });
            let sender = {
                let way = Arc::clone(&way);
                thread::spawn(move || {
                    // The first has no answer, so the second may come before it has been read.
                    way.send(1);
                    way.send(2);
                })
            };
            let received = [way.receive(looks), way.receive(looks)];
            sender.join().unwrap();
            assert!(matches!(received, [1, 2] | [2, 1]), "{received:?}");
            assert!(way.socket.lock().unwrap().is_empty());
            assert_ne!(way.place.seen(), Seen::Message);
        });
    }
}
