//! The device's thread: slices while there is work, sleep while there is none.
//!
//! Interrupts are delivered between slices, when no lock is held.

use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, OnceLock, PoisonError};
use std::thread::{self, ThreadId};
use std::time::{Duration, Instant};

use kernel::irq::IrqReturn;

use super::Options;
use super::atomics::LOOKS;
use super::events::Events;
use super::gate::{Gate, Turn, look};
use super::posted::Posted;
use super::time::{Outside, Time};
use crate::core::line::Line;
use crate::core::model::{Ended, Model};
use crate::core::platform::ModelPlatform;

/// Ticks between two looks at the gate, at least and at most: as many as take some hundred microseconds, in which pixel threads can be
/// computed together.
pub(super) const QUANTUM: std::ops::Range<u64> = 1 << 16..1 << 20;
/// What a quantum is to take.
const LOOK: std::ops::Range<Duration> = Duration::from_micros(300)..Duration::from_micros(1200);
/// Ticks of a slice however many wait for the device.
const LEAST: u64 = 128;
/// Steps between two looks at the wall clock.
const STEPS: u32 = 1;
/// Handler calls for one assertion of the line; more mean that the handler acknowledges nothing.
const MAX_IRQ_CALLS: usize = 64;

/// What a device whose parser goes round for nothing rests between two rounds, at least and at most.
const NAP: std::ops::Range<Duration> = Duration::from_micros(200)..Duration::from_millis(50);
/// Rounds that might be had in such a rest.
const NAP_ROUNDS: u32 = 8;

/// What thread and platform share.
pub(super) struct Core<M> {
    pub(super) model: Arc<ModelPlatform<M>>,
    pub(super) options: Options,
    pub(super) gate: Gate,
    pub(super) time: Time,
    pub(super) outside: Outside,
    pub(super) events: Events,
    pub(super) line: Line,
    /// Whether there is no thread: whoever waits runs the device; one at a time.
    pub(super) in_step: bool,
    pub(super) stepping: Mutex<()>,
    posted: Posted,
    /// Something has been done to the device that may give it work.
    touched: AtomicBool,
    /// Time has passed on the device until somebody touched it, and it has not been told how much.
    stood: AtomicBool,
    stop: AtomicBool,
    holds: AtomicU32,
    sleeps: AtomicBool,
    /// Whether the thread stands still because somebody holds the device.
    parked: Mutex<bool>,
    wake: Condvar,
    id: OnceLock<ThreadId>,
    slices: AtomicU64,
    /// Ticks between two looks at the gate.
    quantum: AtomicU64,
    /// Nanoseconds of wall time in slices.
    busy: AtomicU64,
    naps: AtomicU64,
    /// Nanoseconds of wall time in slices since the device last stood still, or went round for nothing.
    round: AtomicU64,
}

pub(super) fn guard<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// However the thread ends.
struct End<'a, M: Model>(&'a Core<M>);

impl<M: Model> Drop for End<'_, M> {
    fn drop(&mut self) {
        self.0.end();
    }
}

/// The device, locked, with a turn at the gate; register writes on their way have arrived.
pub(super) struct Locked<'a, M> {
    pub(super) device: MutexGuard<'a, M>,
    _turn: Turn<'a>,
}

impl<M: Model> Core<M> {
    pub(super) fn new(model: Arc<ModelPlatform<M>>, options: Options, in_step: bool) -> Self {
        let nanos = model.device().nanos();
        Core {
            model,
            options,
            gate: Gate::default(),
            time: Time::new(nanos),
            outside: Outside::new(),
            events: Events::default(),
            line: Line::default(),
            in_step,
            stepping: Mutex::new(()),
            posted: Posted::default(),
            touched: AtomicBool::new(true),
            stood: AtomicBool::new(false),
            stop: AtomicBool::new(false),
            holds: AtomicU32::new(0),
            sleeps: AtomicBool::new(false),
            parked: Mutex::new(false),
            wake: Condvar::new(),
            id: OnceLock::new(),
            slices: AtomicU64::new(0),
            quantum: AtomicU64::new(QUANTUM.start),
            busy: AtomicU64::new(0),
            naps: AtomicU64::new(0),
            round: AtomicU64::new(0),
        }
    }

    pub(super) fn busy(&self) -> u64 {
        self.busy.load(Ordering::Relaxed)
    }

    pub(super) fn slices(&self) -> u64 {
        self.slices.load(Ordering::Relaxed)
    }

    pub(super) fn naps(&self) -> u64 {
        self.naps.load(Ordering::Relaxed)
    }

    /// Takes the device for a moment.
    pub(super) fn lock(&self) -> Locked<'_, M> {
        let turn = self.gate.turn();
        let mut device = self.model.device();
        self.arrive(&mut device);
        if self.time.passes() || self.stood.load(Ordering::SeqCst) {
            device.clock_mut().pass_to(self.time.now());
        }
        Locked {
            device,
            _turn: turn,
        }
    }

    /// Queues a register write. Like on a bus, nobody waits for it, and whoever reads next finds it done.
    pub(super) fn post(&self, offset: u32, value: u32) {
        if self.posted.push(offset, value) {
            drop(self.lock());
        }
        self.touch();
    }

    /// Carries queued register writes out. The device is locked, so that they stay in order.
    fn arrive(&self, device: &mut M) {
        self.posted
            .arrive(|offset, value| device.write32(offset, value));
    }

    /// The device may have work: wakes its thread.
    pub(super) fn touch(&self) {
        // Before the thread is told: the slice that it has then lets time go on.
        self.stand();
        self.touched.store(true, Ordering::SeqCst);
        self.rouse();
    }

    /// Lets no time pass on a device that has work until its thread gets to it: on a busy host that may take a while, and the device would
    /// look as if it hung.
    fn stand(&self) {
        if self.time.passes() && !self.in_step && !self.is_stopped() {
            self.stood.store(true, Ordering::SeqCst);
            self.time.set(self.time.now());
        }
    }

    fn rouse(&self) {
        if self.sleeps.load(Ordering::SeqCst) {
            drop(guard(&self.parked));
            self.wake.notify_all();
        }
    }

    pub(super) fn stop(&self) {
        self.stop.store(true, Ordering::SeqCst);
        drop(guard(&self.parked));
        self.wake.notify_all();
    }

    fn is_stopped(&self) -> bool {
        self.stop.load(Ordering::SeqCst)
    }

    pub(super) fn is_held(&self) -> bool {
        self.holds.load(Ordering::SeqCst) > 0
    }

    /// Keeps the thread from running the device; returns when it stands still.
    pub(super) fn hold(&self) {
        self.outside.hold();
        self.holds.fetch_add(1, Ordering::SeqCst);
        if self.in_step {
            // Whoever runs it sees the hold at the end of its slice.
            drop(guard(&self.stepping));
            return;
        }
        let mut parked = guard(&self.parked);
        self.wake.notify_all();
        while !*parked && !self.is_stopped() {
            parked = self
                .wake
                .wait(parked)
                .unwrap_or_else(PoisonError::into_inner);
        }
    }

    pub(super) fn release(&self) {
        self.holds.fetch_sub(1, Ordering::SeqCst);
        self.outside.release();
        self.touch();
        drop(guard(&self.parked));
        self.wake.notify_all();
        self.events.happened();
    }

    /// Runs a held device on the calling thread, interrupts and all.
    pub(super) fn run_held(&self, nanos: u64) {
        let line = {
            let mut locked = self.lock();
            let ticks = locked.device.ticks_of(nanos).max(1);
            locked.device.run(ticks);
            self.time.set(locked.device.nanos());
            locked.device.irq_line()
        };
        self.events.reached(self.time.now());
        self.deliver(line);
        self.events.happened();
    }

    /// Whether the thread has to look at something.
    fn is_called(&self) -> bool {
        self.touched.load(Ordering::SeqCst) || self.is_stopped() || self.is_held()
    }

    /// The thread.
    pub(super) fn run(&self) {
        let _ = self.id.set(thread::current().id());
        let _end = End(self);
        while !self.is_stopped() {
            if self.is_held() {
                self.park();
                continue;
            }
            self.gate.aside();
            let (ended, line) = self.slice();
            self.events.reached(self.time.now());
            self.deliver(line);
            match ended {
                Ended::Busy => {}
                _ if self.is_called() => {}
                // Nothing has happened; what ends the loop is a write to memory that nobody tells.
                Ended::Spins => self.nap(),
                Ended::Idle | Ended::Blocked => {
                    self.events.happened();
                    self.rest();
                }
            }
        }
    }

    /// Whether the caller is the thread, that is, an interrupt handler.
    pub(super) fn is_here(&self) -> bool {
        self.id.get() == Some(&thread::current().id())
    }

    /// Nothing will move any more: whoever waits shall time out.
    pub(super) fn end(&self) {
        self.stop();
        self.gate.set_running(false);
        self.time.go_on(self.time.now());
        self.events.happened();
    }

    /// Lets the device work for a while; how that ended, and the interrupt line.
    fn slice(&self) -> (Ended, bool) {
        self.slices.fetch_add(1, Ordering::Relaxed);
        self.gate.set_running(true);
        let mut device = self.model.device();
        // Taken, not only written over: what was done before somebody set it is seen from here on.
        self.touched.swap(false, Ordering::SeqCst);
        self.arrive(&mut device);
        if self.stood.swap(false, Ordering::SeqCst) || self.time.passes() {
            device.clock_mut().pass_to(self.time.now());
            self.time.set(device.nanos());
        }
        let begun = Instant::now();
        let mut steps = 0u32;
        let quantum = self.quantum.load(Ordering::Relaxed);
        let (used, ended) = device.work(u64::MAX, quantum, &mut |used| {
            steps = steps.wrapping_add(1);
            let wanted = used >= LEAST && self.gate.is_wanted();
            wanted || steps.is_multiple_of(STEPS) && begun.elapsed() >= self.options.slice
        });
        let elapsed = begun.elapsed();
        if used >= quantum {
            let next = if elapsed < LOOK.start {
                quantum * 2
            } else if elapsed > LOOK.end {
                quantum / 2
            } else {
                quantum
            };
            let next = next.clamp(QUANTUM.start, QUANTUM.end);
            self.quantum.store(next, Ordering::Relaxed);
        }
        let took = u64::try_from(elapsed.as_nanos()).unwrap_or(u64::MAX);
        self.busy.fetch_add(took, Ordering::Relaxed);
        let nanos = device.nanos();
        match ended {
            Ended::Busy => self.time.set(nanos),
            Ended::Idle | Ended::Blocked | Ended::Spins => {
                self.time.go_on(nanos);
                // By a touch before that.
                if self.touched.load(Ordering::SeqCst) {
                    self.stand();
                }
            }
        }
        if matches!(ended, Ended::Busy | Ended::Spins) {
            self.round.fetch_add(took, Ordering::Relaxed);
        } else {
            self.round.store(0, Ordering::Relaxed);
        }
        let line = device.irq_line();
        drop(device);
        self.gate.set_running(false);
        (ended, line)
    }

    /// Calls the handler while the line is asserted and it does something about it; whether it did.
    pub(super) fn deliver(&self, mut line: bool) -> bool {
        let mut handled = false;
        for _ in 0..MAX_IRQ_CALLS {
            if !line || self.line.call() != Some(IrqReturn::Handled) {
                break;
            }
            handled = true;
            line = self.lock().device.irq_line();
        }
        if line && handled {
            log::warn!("interrupt line stays asserted after its handler");
        }
        if handled {
            self.events.happened();
        }
        handled
    }

    /// Counts a slice of whoever runs the device without a thread of its own.
    pub(super) fn count_slice(&self, took: Duration) {
        self.slices.fetch_add(1, Ordering::Relaxed);
        let nanos = u64::try_from(took.as_nanos()).unwrap_or(u64::MAX);
        self.busy.fetch_add(nanos, Ordering::Relaxed);
    }

    /// Nothing to do: waits awake for a while, then asleep.
    fn rest(&self) {
        let begun = Instant::now();
        let mut looks = 0u32;
        while !looks.is_multiple_of(LOOKS) || begun.elapsed() < self.options.spin {
            if self.is_called() {
                return;
            }
            look(&mut looks);
        }
        let mut parked = guard(&self.parked);
        self.sleeps.store(true, Ordering::SeqCst);
        if !self.is_called() {
            self.naps.fetch_add(1, Ordering::Relaxed);
        }
        while !self.is_called() {
            parked = self
                .wake
                .wait(parked)
                .unwrap_or_else(PoisonError::into_inner);
        }
        self.sleeps.store(false, Ordering::SeqCst);
    }

    /// Between two rounds of a parser that does nothing: some time of the wall's, many times what a round takes.
    fn nap(&self) {
        let round = Duration::from_nanos(self.round.swap(0, Ordering::Relaxed));
        let span = round.saturating_mul(NAP_ROUNDS).clamp(NAP.start, NAP.end);
        let parked = guard(&self.parked);
        self.sleeps.store(true, Ordering::SeqCst);
        if !self.is_called() {
            self.naps.fetch_add(1, Ordering::Relaxed);
            drop(self.wake.wait_timeout(parked, span));
        }
        self.sleeps.store(false, Ordering::SeqCst);
    }

    /// Stands still while somebody holds the device; so does its time.
    fn park(&self) {
        // Taking the device lets it catch up with the wall.
        self.time.set(self.lock().device.nanos());
        let mut parked = guard(&self.parked);
        *parked = true;
        self.wake.notify_all();
        while self.is_held() && !self.is_stopped() {
            parked = self
                .wake
                .wait(parked)
                .unwrap_or_else(PoisonError::into_inner);
        }
        *parked = false;
    }
}
