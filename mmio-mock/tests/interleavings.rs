//! The live device's small concurrent pieces, in all orders that threads may take.
//!
//! The files themselves, over loom's atomics and locks instead of the processor's. `cargo xtask loom` runs this alone.
#![allow(dead_code, reason = "the device uses more of each piece")]
#![allow(clippy::unwrap_used, reason = "tests")]

mod atomics {
    use std::time::Duration;

    pub use loom::sync::Mutex;
    pub use loom::sync::atomic::{AtomicBool, AtomicU32, Ordering};
    pub use loom::thread::yield_now as give_way;
    pub use loom::thread::yield_now as spin;
    pub use std::sync::PoisonError;

    pub const LOOKS: u32 = 1;
    /// Nobody gives up here: what goes on for ever fails.
    pub const PATIENCE: u32 = u32::MAX;
    pub const MAX_POSTED: usize = 2;

    /// A clock that stands: nobody steps in because it is late.
    pub struct Instant;

    impl Instant {
        pub fn now() -> Self {
            Instant
        }

        #[expect(clippy::unused_self, reason = "as that of std")]
        pub fn elapsed(&self) -> Duration {
            Duration::ZERO
        }
    }
}
#[path = "../src/core/live/gate.rs"]
mod gate;
#[path = "../src/core/live/posted.rs"]
mod posted;

use loom::sync::{Arc, Mutex, MutexGuard};
use loom::thread;

use atomics::{AtomicBool, Ordering, give_way};
use gate::Gate;
use posted::Posted;

/// All orders in which a thread gives way to another unasked at most so many times.
fn all_orders(preemptions: usize, model: impl Fn() + Sync + Send + 'static) {
    let mut builder = loom::model::Builder::new();
    builder.preemption_bound = Some(preemptions);
    builder.check(model);
}

/// What was written, and how many visitors were there.
#[derive(Default)]
struct Device {
    writes: Vec<(u32, u32)>,
    visits: u32,
}

struct Live {
    gate: Gate,
    posted: Posted,
    /// As in `live/thread.rs`: something has been done that the device's thread has to look at.
    touched: AtomicBool,
    device: Mutex<Device>,
}

impl Default for Live {
    fn default() -> Self {
        Live {
            gate: Gate::default(),
            posted: Posted::default(),
            touched: AtomicBool::new(false),
            device: Mutex::default(),
        }
    }
}

impl Live {
    fn arrived(&self) -> MutexGuard<'_, Device> {
        let mut device = self.device.lock().unwrap();
        self.posted
            .arrive(|offset, value| device.writes.push((offset, value)));
        device
    }

    fn visit<T>(&self, look: impl FnOnce(&mut Device) -> T) -> T {
        let turn = self.gate.turn();
        let mut device = self.arrived();
        device.visits += 1;
        let seen = look(&mut device);
        drop(device);
        drop(turn);
        seen
    }

    fn post(&self, offset: u32, value: u32) {
        if self.posted.push(offset, value) {
            self.visit(|_| ());
        }
        // The device stores. Loom leaves open which of a store and another thread's swap came last, whatever the swap has returned.
        self.touched.swap(true, Ordering::SeqCst);
    }

    /// Whether somebody was waiting at the end of the slice, and how many visitors there were before it.
    fn slice(&self) -> (bool, u32) {
        self.gate.aside();
        self.gate.set_running(true);
        let mut device = self.device.lock().unwrap();
        self.touched.swap(false, Ordering::SeqCst);
        self.posted
            .arrive(|offset, value| device.writes.push((offset, value)));
        let visits = device.visits;
        let wanted = self.gate.is_wanted();
        drop(device);
        self.gate.set_running(false);
        (wanted, visits)
    }
}

fn written_by(device: &Device, offset: u32) -> Vec<u32> {
    let of = device.writes.iter().filter(|(to, _)| *to == offset);
    of.map(|(_, value)| *value).collect()
}

#[test]
fn who_was_seen_waiting_has_the_device_before_the_next_slice() {
    all_orders(3, || {
        let live = Arc::new(Live::default());
        let visitor = {
            let live = Arc::clone(&live);
            thread::spawn(move || live.visit(|_| ()))
        };
        let (wanted, before) = live.slice();
        let (_, after) = live.slice();
        if wanted && before == 0 {
            assert_eq!(after, 1);
        }
        visitor.join().unwrap();
        assert!(!live.gate.is_wanted());
    });
}

#[test]
fn who_waits_for_a_slice_to_end_sees_what_it_did() {
    all_orders(3, || {
        let live = Arc::new((Gate::default(), [(); 2].map(|()| AtomicBool::new(false))));
        let visitor = {
            let live = Arc::clone(&live);
            thread::spawn(move || {
                let (gate, [begun, ended]) = &*live;
                if begun.load(Ordering::Acquire) {
                    let _turn = gate.turn();
                    assert!(ended.load(Ordering::Relaxed));
                }
            })
        };
        let (gate, [begun, ended]) = &*live;
        gate.set_running(true);
        begun.store(true, Ordering::Release);
        ended.store(true, Ordering::Relaxed);
        gate.set_running(false);
        visitor.join().unwrap();
    });
}

#[test]
fn the_devices_thread_sees_who_waits_for_its_slice_to_end() {
    all_orders(3, || {
        let gate = Arc::new(Gate::default());
        gate.set_running(true);
        let visitor = {
            let gate = Arc::clone(&gate);
            thread::spawn(move || drop(gate.turn()))
        };
        // Would go on for ever, as the visitor's patience does.
        while !gate.is_wanted() {
            give_way();
        }
        gate.set_running(false);
        gate.aside();
        assert!(!gate.is_wanted());
        visitor.join().unwrap();
    });
}

#[test]
fn a_posted_write_is_carried_out_or_the_devices_thread_called() {
    all_orders(3, || {
        let live = Arc::new(Live::default());
        let driver = {
            let live = Arc::clone(&live);
            thread::spawn(move || live.post(0, 1))
        };
        live.slice();
        driver.join().unwrap();
        let is_done = !live.device.lock().unwrap().writes.is_empty();
        assert!(is_done || live.touched.load(Ordering::SeqCst));
    });
}

#[test]
fn who_fills_the_queue_carries_it_out() {
    all_orders(0, || {
        let live = Live::default();
        live.post(0, 1);
        assert!(live.device.lock().unwrap().writes.is_empty());
        live.post(0, 2);
        assert_eq!(written_by(&live.device.lock().unwrap(), 0), [1, 2]);
    });
}

#[test]
fn who_reads_finds_its_writes_done_in_order() {
    all_orders(3, || {
        let live = Arc::new(Live::default());
        let driver = {
            let live = Arc::clone(&live);
            thread::spawn(move || {
                live.post(0, 1);
                assert_eq!(live.visit(|device| written_by(device, 0)), [1]);
                live.post(0, 2);
                live.post(0, 3);
                assert_eq!(live.visit(|device| written_by(device, 0)), [1, 2, 3]);
            })
        };
        live.slice();
        live.slice();
        driver.join().unwrap();
    });
}

#[test]
fn writes_of_two_drivers_all_arrive() {
    all_orders(2, || {
        let live = Arc::new(Live::default());
        let other = {
            let live = Arc::clone(&live);
            thread::spawn(move || {
                live.post(1, 1);
                live.post(1, 2);
            })
        };
        let device = {
            let live = Arc::clone(&live);
            thread::spawn(move || {
                live.slice();
            })
        };
        live.post(0, 1);
        assert_eq!(live.visit(|device| written_by(device, 0)), [1]);
        other.join().unwrap();
        device.join().unwrap();
        assert_eq!(live.visit(|device| written_by(device, 1)), [1, 2]);
    });
}
