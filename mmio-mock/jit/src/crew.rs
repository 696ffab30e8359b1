//! A crew: threads of the host that help with one piece of work at a time.
//!
//! Work is short and comes often. So a helper stays awake for a moment behind each piece of work. The caller never waits for a helper that
//! has not begun: a helper that wakes up too late finds nothing to do.

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

/// How long a helper looks for the next piece of work before it sleeps.
const AWAKE: Duration = Duration::from_micros(60);
/// Looks between two looks at the clock.
const LOOKS: u32 = 64;

/// Work for any number of threads, each of which has a number.
type Work<'a> = dyn Fn(usize) + Sync + 'a;

/// A piece of work that another thread has.
#[derive(Clone, Copy)]
struct Job(*const Work<'static>);

#[allow(unsafe_code, reason = "what a helper is told is a reference")]
// SAFETY: the work may be done by several threads (`Sync`), and is there for as long as a helper has it: see `Crew::run`.
unsafe impl Send for Job {}

/// The present piece of work.
#[derive(Default)]
struct Present {
    job: Option<Job>,
    /// Helpers that may still begin.
    wanted: usize,
    /// How many have begun.
    begun: usize,
    /// What a helper panicked with.
    panic: Option<Box<dyn std::any::Any + Send>>,
}

#[derive(Default)]
struct Shared {
    present: Mutex<Present>,
    /// Helpers that have begun and not ended.
    at_work: AtomicUsize,
    /// Counts pieces of work.
    pieces: AtomicU64,
    sleepers: AtomicUsize,
    wake: Condvar,
}

/// Threads that help.
pub struct Crew {
    shared: Arc<Shared>,
    /// Somebody has work for them.
    taken: AtomicBool,
    helpers: usize,
}

impl std::fmt::Debug for Crew {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Crew")
            .field("helpers", &self.helpers)
            .finish_non_exhaustive()
    }
}

/// When it is dropped, no helper begins any more, and the helpers that have begun come to their end.
struct Closing<'a>(&'a Crew);

impl Drop for Closing<'_> {
    fn drop(&mut self) {
        let shared = &self.0.shared;
        shared.lock().job = None;
        let mut looks = 0u32;
        while shared.at_work.load(Ordering::Acquire) > 0 {
            looks = looks.wrapping_add(1);
            if looks.is_multiple_of(LOOKS * 16) {
                thread::yield_now();
            } else {
                std::hint::spin_loop();
            }
        }
        self.0.taken.store(false, Ordering::Release);
    }
}

impl Crew {
    /// So many helpers; fewer where the host gives no more threads. They live as long as the process.
    #[must_use]
    pub fn new(helpers: usize, name: &str) -> Crew {
        let shared = Arc::new(Shared::default());
        let begun = (0..helpers).take_while(|n| {
            let shared = shared.clone();
            let thread = thread::Builder::new().name(format!("{name}-{n}"));
            thread.spawn(move || shared.help()).is_ok()
        });
        let helpers = begun.count();
        Crew {
            shared,
            taken: AtomicBool::new(false),
            helpers,
        }
    }

    /// How many helpers there are.
    #[must_use]
    pub fn helpers(&self) -> usize {
        self.helpers
    }

    /// Does work on the calling thread, which has number 0, and on up to so many helpers, which have the next numbers. While others have the
    /// crew, the caller is alone.
    pub fn run(&self, helpers: usize, work: &Work<'_>) {
        if helpers.min(self.helpers) == 0 || self.taken.swap(true, Ordering::Acquire) {
            work(0);
            return;
        }
        let closing = Closing(self);
        self.shared.begin(job(work), helpers.min(self.helpers));
        work(0);
        drop(closing);
        if let Some(panic) = self.shared.lock().panic.take() {
            resume_unwind(panic);
        }
    }
}

/// The work for helpers, who live longer than it.
#[allow(unsafe_code, reason = "helpers live longer than the work")]
#[allow(
    clippy::transmute_ptr_to_ptr,
    reason = "a cast cannot make a lifetime longer"
)]
fn job(work: &Work<'_>) -> Job {
    let work: *const Work<'_> = work;
    // SAFETY: only the lifetime changes. `Crew::run` does not return, nor unwind, before no helper has the pointer any more (`Closing`):
    // it takes the job away under the lock under which helpers get it, and then waits for those that have begun.
    Job(unsafe { std::mem::transmute::<*const Work<'_>, *const Work<'static>>(work) })
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, Present> {
        self.present.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// There is work.
    fn begin(&self, job: Job, wanted: usize) {
        let mut present = self.lock();
        (present.job, present.wanted, present.begun) = (Some(job), wanted, 0);
        self.pieces.fetch_add(1, Ordering::Release);
        drop(present);
        if self.sleepers.load(Ordering::SeqCst) > 0 {
            self.wake.notify_all();
        }
    }

    /// A helper's life.
    fn help(&self) {
        let mut seen = 0;
        loop {
            self.rest(&mut seen);
            let Some((number, job)) = self.take() else {
                continue;
            };
            let done = catch_unwind(AssertUnwindSafe(|| call(job, number)));
            if let Err(panic) = done {
                self.lock().panic = Some(panic);
            }
            self.at_work.fetch_sub(1, Ordering::Release);
        }
    }

    /// The present work, and the helper's number in it.
    fn take(&self) -> Option<(usize, Job)> {
        let mut present = self.lock();
        let job = present.job.filter(|_| present.wanted > 0)?;
        present.wanted -= 1;
        present.begun += 1;
        // Counted while the lock is held, so that the caller, who takes the job away under the same lock, sees this helper.
        self.at_work.fetch_add(1, Ordering::AcqRel);
        Some((present.begun, job))
    }

    /// Waits for the next piece of work, awake and then asleep.
    fn rest(&self, seen: &mut u64) {
        let new = |seen: &mut u64| {
            let now = self.pieces.load(Ordering::Acquire);
            std::mem::replace(seen, now) != now
        };
        let begun = Instant::now();
        let mut looks = 0u32;
        while !looks.is_multiple_of(LOOKS) || begun.elapsed() < AWAKE {
            if new(seen) {
                return;
            }
            looks = looks.wrapping_add(1);
            std::hint::spin_loop();
        }
        let mut present = self.lock();
        self.sleepers.fetch_add(1, Ordering::SeqCst);
        while !new(seen) {
            present = self
                .wake
                .wait(present)
                .unwrap_or_else(PoisonError::into_inner);
        }
        self.sleepers.fetch_sub(1, Ordering::SeqCst);
    }
}

#[allow(unsafe_code, reason = "the work is behind a pointer")]
fn call(job: Job, number: usize) {
    // SAFETY: the job was taken under the lock while it was there, and `at_work` counts this helper, so that `Crew::run` keeps the work
    // until this call has returned (see `job`).
    let work = unsafe { &*job.0 };
    work(number);
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::AtomicU32;

    #[test]
    fn every_part_is_done_once() {
        let crew = Crew::new(3, "crew-test");
        for round in 0..3000 {
            let next = AtomicUsize::new(0);
            let parts: Vec<AtomicU32> = (0..100).map(|_| AtomicU32::new(0)).collect();
            let numbers: Vec<AtomicU32> = (0..4).map(|_| AtomicU32::new(0)).collect();
            crew.run(round % 5, &|number| {
                numbers[number].fetch_add(1, Ordering::Relaxed);
                while let Some(part) = parts.get(next.fetch_add(1, Ordering::Relaxed)) {
                    part.fetch_add(1, Ordering::Relaxed);
                }
            });
            assert!(parts.iter().all(|part| part.load(Ordering::Relaxed) == 1));
            let numbers: Vec<u32> = numbers.iter().map(|n| n.load(Ordering::Relaxed)).collect();
            assert_eq!(numbers[0], 1);
            assert!(numbers.iter().all(|n| *n <= 1), "{numbers:?}");
            assert!(numbers.iter().skip(1 + round % 5).all(|n| *n == 0));
            if round % 500 == 0 {
                thread::sleep(Duration::from_millis(1));
            }
        }
    }

    #[test]
    fn a_crew_has_one_piece_of_work_at_a_time() {
        let crew = Arc::new(Crew::new(2, "crew-test"));
        let others: Vec<_> = (0..4)
            .map(|_| {
                let crew = crew.clone();
                thread::spawn(move || {
                    for _ in 0..500 {
                        let done = AtomicUsize::new(0);
                        crew.run(2, &|_| {
                            done.fetch_add(1, Ordering::Relaxed);
                        });
                        assert!((1..=3).contains(&done.load(Ordering::Relaxed)));
                    }
                })
            })
            .collect();
        for other in others {
            assert!(other.join().is_ok());
        }
    }

    #[test]
    fn a_panic_of_a_helper_is_that_of_the_caller() {
        let crew = Crew::new(1, "crew-test");
        let mut seen = 0;
        for _ in 0..200 {
            let begun = AtomicBool::new(false);
            let run = catch_unwind(AssertUnwindSafe(|| {
                crew.run(1, &|number| {
                    if number == 1 {
                        begun.store(true, Ordering::Relaxed);
                        resume_unwind(Box::new("helper"));
                    }
                    thread::sleep(Duration::from_micros(200));
                });
            }));
            assert_eq!(run.is_err(), begun.load(Ordering::Relaxed));
            seen += u32::from(run.is_err());
        }
        assert!(seen > 0);
        // It goes on.
        crew.run(1, &|_| {});
    }
}
