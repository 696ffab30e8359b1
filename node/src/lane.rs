//! The lanes in which clients work at views: one thread of a process at a time.
//!
//! A merge is as long as the object is large, and a process has as many threads as it likes. Beside a hundred of them every other
//! client would get a hundredth of the processor, for a call that costs next to nothing on hardware.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::sync::{Arc, Weak};

use parking_lot::{Mutex, MutexGuard};

/// Fewer lanes are not worth looking through.
const PRUNE: usize = 64;

/// Held by the thread of a process that works at a view.
pub type Lane = Arc<Mutex<()>>;

/// The lanes of all processes.
#[derive(Default)]
pub struct Lanes(Mutex<Inner>);

#[derive(Default)]
struct Inner {
    by_process: BTreeMap<i32, Weak<Mutex<()>>>,
    /// The number of lanes at which those are looked for that no connection has any more.
    prune_at: usize,
}

impl Lanes {
    /// The lane of a process.
    pub fn of(&self, process: i32) -> Lane {
        let mut inner = self.0.lock();
        if let Some(lane) = inner.by_process.get(&process).and_then(Weak::upgrade) {
            return lane;
        }
        if inner.by_process.len() >= inner.prune_at.max(PRUNE) {
            inner.by_process.retain(|_, lane| lane.strong_count() > 0);
            inner.prune_at = inner.by_process.len() * 2;
        }
        let lane = Lane::default();
        inner.by_process.insert(process, Arc::downgrade(&lane));
        lane
    }
}

thread_local! {
    static LANE: RefCell<Option<Lane>> = const { RefCell::new(None) };
}

/// This thread serves a client with a lane from now on.
pub fn enter(lane: Lane) {
    LANE.with(|own| *own.borrow_mut() = Some(lane));
}

/// Does something in the lane that this thread has entered, then lets the thread go on that has waited longest. The thread holds no view's
/// copy when it comes: others would wait for all that are before it.
pub fn turn<T>(work: impl FnOnce() -> T) -> T {
    let Some(lane) = LANE.with(|own| own.borrow().clone()) else {
        return work();
    };
    let held = lane.lock();
    let result = work();
    MutexGuard::unlock_fair(held);
    result
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;

    #[test]
    fn one_thread_of_a_process_is_in_its_lane() {
        let lanes = Lanes::default();
        let (inside, most) = (AtomicUsize::new(0), AtomicUsize::new(0));
        // Two threads of one process, one of another: as many as there are processes are inside.
        std::thread::scope(|scope| {
            for process in [1, 1, 2] {
                let (lane, inside, most) = (lanes.of(process), &inside, &most);
                scope.spawn(move || {
                    enter(lane);
                    for _ in 0..200 {
                        turn(|| {
                            most.fetch_max(
                                inside.fetch_add(1, Ordering::SeqCst) + 1,
                                Ordering::SeqCst,
                            );
                            std::thread::yield_now();
                            inside.fetch_sub(1, Ordering::SeqCst);
                        });
                    }
                });
            }
        });
        assert!(most.into_inner() <= 2);
    }

    #[test]
    fn lanes_go_with_their_connections() {
        let lanes = Lanes::default();
        let kept = lanes.of(0);
        for process in 1..1000 {
            drop(lanes.of(process));
        }
        assert!(lanes.0.lock().by_process.len() <= PRUNE + 1);
        assert!(Arc::ptr_eq(&kept, &lanes.of(0)));
    }
}
