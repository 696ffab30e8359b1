//! Debugging: error states, snapshots, sessions that halt threads.
//!
//! PRM vol4 3. Everything goes through MMIO, the system routine and scratch memory, as it would on the part itself.
//! Not modelled: the attention interrupt; halted threads are found by looking.
pub mod attention;
pub(crate) mod batch;
pub mod breakpoint;
pub(crate) mod contexts;
pub mod device;
pub mod halted;
pub(crate) mod hook;
pub mod memory;
pub(crate) mod routines;
pub mod snapshot;
pub mod stepping;
pub mod system_routine;
pub mod vertices;
pub mod walk;

use alloc::collections::BTreeMap;
use alloc::sync::Arc;
use alloc::vec::Vec;

use isa::Inst;
use kernel::error::{Result, code::EBUSY, code::EINVAL, code::ENXIO, code::ETIMEDOUT};
use kernel::sync::{AtomicBool, Mutex, MutexGuard, Ordering};
use kernel::time::Delta;

pub use self::attention::Place;
pub use self::breakpoint::{Exceptions, HaltMatch, ThreadUnit, Threads, Which};
pub use self::halted::{Accumulators, HaltedThread, Masks, Reason, Registers};
pub use self::routines::Origin;
pub use self::stepping::Stepped;
pub use self::vertices::Vertices;

use self::batch::Patch;
use self::breakpoint::Before;
use self::halted::Going;
use self::routines::{Need, Routines};
use crate::core::range::Search;
use crate::intel::device::Device;
pub use crate::intel::error_state;
use crate::intel::gem::{Object, Tiling};
use crate::intel::hangcheck::Suspension;
use crate::intel::uncore::POLL;

/// Longest time between two looks at who waits for attention.
const MAX_STEP: Delta = Delta::from_millis(1);
/// TIMEOUT: for halted threads to leave at the end of a session.
const LEAVE_TIMEOUT: Delta = Delta::from_millis(20);

/// Time in which a thread that has entered the system routine is through with saving.
const SETTLE_TIME: Delta = Delta::from_millis(1);

/// A thread that stands.
struct Standing {
    number: u32,
    /// Standing still is no hang meanwhile.
    _suspension: Suspension,
}

/// What a session knows.
#[derive(Default)]
struct State {
    standing: BTreeMap<Place, Standing>,
    halts: u32,
    /// Threads in which a step has switched breakpoints on.
    forced: Vec<Place>,
    routines: Routines,
    /// By the graphics address of the dword.
    patches: BTreeMap<u32, Patch>,
    /// The bases at the end of the last batch.
    last: Origin,
    reset_counters: bool,
    /// The next thread is to halt.
    halts_next: bool,
}

/// What the handles of a session share.
pub(crate) struct Shared {
    device: Device,
    area: Object,
    area_address: u32,
    before: Before,
    state: Mutex<State>,
    over: AtomicBool,
}

/// A debugger's hold on a device. Dropping it removes all breakpoints, lets halted threads go and puts everything back.
pub struct DebugSession {
    shared: Arc<Shared>,
}

impl DebugSession {
    /// Begins a session. `EBUSY` when there is one.
    pub(crate) fn new(device: &Device) -> Result<Self> {
        let object = |name: &str, size: u32| -> Result<Object> {
            let (platform, ggtt) = (device.platform(), device.ggtt());
            Object::new(platform, ggtt, name.into(), size as usize, Tiling::None, 0)
        };
        if device.debug_hook().is_active() {
            return Err(EBUSY);
        }
        let area = object("debug save area", system_routine::AREA)?;
        let area_address = area.bind(0, Search::High)?;
        let shared = Arc::new(Shared {
            device: device.clone(),
            area,
            area_address,
            before: Before::take(device.uncore()),
            state: Mutex::new(State::default()),
            over: AtomicBool::new(false),
        });
        let need = Need {
            batch: 0,
            stretches: &[],
            origins: &[Origin::default()],
            may_evict: false,
        };
        let first = shared
            .lock()
            .routines
            .serve(device, area_address, &need)
            .map(drop);
        first?;
        device.debug_hook().attach(&shared)?;
        device.debug_hook().enable(device.uncore());
        if device.info().stateless_gate {
            breakpoint::allow_stateless(device.uncore());
        }
        let session = DebugSession { shared };
        if attention::is_exceeded(device.info().threads) {
            session.limit_threads(None)?;
            for unit in ThreadUnit::ALL {
                session.restrict_threads(unit, None)?;
            }
        }
        Ok(session)
    }

    /// The device.
    #[must_use]
    pub fn device(&self) -> &Device {
        &self.shared.device
    }

    /// Threads that have halted since the last call, as soon as there are any.
    ///
    /// `ETIMEDOUT` when none halts in time. Others may halt meanwhile and are found by the next call.
    pub fn wait(&self, timeout: Delta) -> Result<Vec<HaltedThread>> {
        let found = self.shared.wait_until(timeout, |shared| {
            let new = shared.poll()?;
            Ok((!new.is_empty()).then_some(new))
        })?;
        found.ok_or(ETIMEDOUT)
    }

    /// All threads that stand now.
    pub fn halted(&self) -> Result<Vec<HaltedThread>> {
        self.shared.poll()?;
        self.shared.all()
    }

    /// Lets all halted threads go on.
    pub fn resume_all(&self) -> Result {
        for thread in self.halted()? {
            thread.resume()?;
        }
        Ok(())
    }

    /// Sets a breakpoint on a linear address, a multiple of 16; `None` removes it. `EINVAL` for other addresses.
    pub fn set_address_breakpoint(&self, which: Which, address: Option<u32>) -> Result {
        breakpoint::set_address(self.device().uncore(), which, address)
    }

    /// Sets a breakpoint on an opcode as the hardware numbers it; `None` removes it. `EINVAL` above 127.
    pub fn set_opcode_breakpoint(&self, which: Which, opcode: Option<u8>) -> Result {
        breakpoint::set_opcode(self.device().uncore(), which, opcode)
    }

    /// Sets a breakpoint on messages that end a thread.
    pub fn set_end_of_thread_breakpoint(&self, on: bool) {
        breakpoint::set_end_of_thread(self.device().uncore(), on);
    }

    /// Chooses the threads that take breakpoints, of those that begin from now on.
    pub fn set_threads(&self, threads: Threads) {
        breakpoint::set_threads(self.device().uncore(), threads);
    }

    /// Halts the next thread before its first instruction.
    pub fn halt_next(&self) {
        self.shared.lock().halts_next = true;
        breakpoint::halt_next(self.device().uncore());
    }

    /// Halts threads whose r0.6 and r0.7 match before their first instruction; `None` no more.
    pub fn halt_on_match(&self, halt: Option<HaltMatch>) {
        breakpoint::halt_on_match(self.device().uncore(), halt);
    }

    /// Chooses the exceptions of all threads; `None` leaves them to the unit state.
    pub fn override_exceptions(&self, exceptions: Option<Exceptions>) {
        breakpoint::override_exceptions(self.device().uncore(), exceptions);
    }

    /// Limits the threads of an EU; `None` does not, but for the limit of all sessions: four where the EU has room for more,
    /// since the attention registers show no others. `EINVAL` above 7.
    pub fn limit_threads(&self, limit: Option<u8>) -> Result {
        limit_threads(self.device(), limit)
    }

    /// Keeps the threads of a unit to the EUs of a mask; `None` does not, but for what holds in all sessions: the first
    /// eight, since the attention registers show no others. `EINVAL` when no EU would be left.
    pub fn restrict_threads(&self, unit: ThreadUnit, eus: Option<u16>) -> Result {
        restrict_threads(self.device(), unit, eus)
    }

    /// Sees to it that the vertices of every VS thread that begins from now on can be told; they run one at a time
    /// then. `ENODEV` when the device has gone.
    pub fn follow_vertices(&self) -> Result<Vertices> {
        Vertices::begin(self.device())
    }

    /// Reads memory at a graphics address; `EFAULT` where nothing is mapped.
    pub fn read_memory(&self, address: u32, bytes: &mut [u8]) -> Result {
        memory::read(self.device(), address, bytes)
    }

    /// Writes memory at a graphics address; `EFAULT` where nothing is mapped.
    pub fn write_memory(&self, address: u32, bytes: &[u8]) -> Result {
        memory::write(self.device(), address, bytes)
    }

    /// Replaces an instruction at a linear address, for all threads that come to it from now on; what was there.
    ///
    /// The caches between memory and EUs are emptied; what an EU has fetched ahead goes when a thread enters or leaves
    /// the system routine (PRM vol4 3.6.2).
    pub fn write_instruction(&self, address: u32, dwords: [u32; 4]) -> Result<[u32; 4]> {
        let device = self.device();
        let mut old = [0; 4];
        for (to, from) in old.iter_mut().zip(memory::read_dwords(device, address, 4)?) {
            *to = from;
        }
        memory::write_dwords(device, address, &dwords)?;
        memory::flush_caches(device);
        Ok(old)
    }

    /// The base of instructions at the end of the last batch. A halted thread has its own, see
    /// [`HaltedThread::origin`].
    #[must_use]
    pub fn instruction_base(&self) -> u32 {
        self.shared.lock().last.instructions
    }

    /// Lets the sequence numbers of all units begin at 0 with the next batch (PRM vol4 3.2.1).
    pub fn reset_counters(&self) {
        self.shared.lock().reset_counters = true;
    }
}

/// Limits the threads of an EU to those that are wanted and shown. `EINVAL` above 7.
fn limit_threads(device: &Device, wanted: Option<u8>) -> Result {
    let limit = attention::shown_slots(device.info().threads, wanted);
    if wanted.is_some_and(|wanted| wanted > 7) {
        return Err(EINVAL);
    }
    breakpoint::limit_threads(device.uncore(), limit)
}

/// Keeps the threads of a unit to EUs that are wanted and shown. `EINVAL` when no EU is left.
fn restrict_threads(device: &Device, unit: ThreadUnit, wanted: Option<u16>) -> Result {
    let places = device.info().threads;
    let eus = attention::shown_eus(places, wanted);
    let there = u16::MAX >> 16_u32.saturating_sub(places.eus.into());
    if eus.is_some_and(|eus| eus & there == 0) {
        return Err(EINVAL);
    }
    breakpoint::restrict(device.uncore(), unit, eus);
    Ok(())
}

impl Drop for DebugSession {
    fn drop(&mut self) {
        self.shared.end();
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock(self.device.uncore().clock())
    }

    /// Calls `look` until it finds something, or time is over.
    fn wait_until<T>(
        self: &Arc<Self>,
        timeout: Delta,
        mut look: impl FnMut(&Arc<Self>) -> Result<Option<T>>,
    ) -> Result<Option<T>> {
        let clock = self.device.uncore().clock();
        let deadline = clock.now() + timeout;
        let mut step = POLL;
        loop {
            self.device.check_live()?;
            self.device.retire();
            if let Some(found) = look(self)? {
                return Ok(Some(found));
            }
            let now = clock.now();
            if now >= deadline {
                return Ok(None);
            }
            clock.relax(step.min(deadline - now));
            step = Delta::from_nanos(step.as_nanos() * 2).min(MAX_STEP);
        }
    }

    /// Finds threads that have halted since.
    fn poll(self: &Arc<Self>) -> Result<Vec<HaltedThread>> {
        let mut new = Vec::new();
        let mut state = self.lock();
        let raised: Vec<Place> = attention::raised(self.device.uncore()).collect();
        // A reset takes threads away.
        let gone = state.standing.keys().copied();
        let gone: Vec<Place> = gone.filter(|place| !raised.contains(place)).collect();
        for place in gone {
            state.standing.remove(&place);
            state.forced.retain(|other| *other != place);
            self.clear_mailbox(place)?;
        }
        for place in raised {
            // Others wait for a host of their own.
            if state.standing.contains_key(&place) || !self.is_saved(place)? {
                continue;
            }
            state.halts = state.halts.wrapping_add(1);
            let number = state.halts;
            self.clear_command(place)?;
            let standing = Standing {
                number,
                _suspension: self.device.suspend_hang_check(),
            };
            state.standing.insert(place, standing);
            let thread = self.look(place, number)?;
            if thread.reason.external_halt && core::mem::take(&mut state.halts_next) {
                // That was the one.
                breakpoint::halt_no_more(self.device.uncore());
            }
            new.push(thread);
        }
        self.tidy(&mut state);
        Ok(new)
    }

    /// Puts batches back that have run.
    fn tidy(&self, state: &mut State) {
        state.patches.retain(|_, patch| {
            let over = patch.is_over();
            if over {
                patch.restore(&self.device);
            }
            !over
        });
    }

    /// All threads that stand.
    fn all(self: &Arc<Self>) -> Result<Vec<HaltedThread>> {
        let state = self.lock();
        let standing = state.standing.iter();
        standing
            .map(|(place, standing)| self.look(*place, standing.number))
            .collect()
    }

    fn halted_at(self: &Arc<Self>, place: Place) -> Result<Option<HaltedThread>> {
        let number = self.lock().standing.get(&place).map(|s| s.number);
        number.map(|number| self.look(place, number)).transpose()
    }

    /// `ENXIO` when a thread has gone on since.
    fn check(&self, thread: &HaltedThread) -> Result {
        let state = self.lock();
        let standing = state.standing.get(&thread.place);
        match standing {
            Some(standing) if standing.number == thread.number => Ok(()),
            _ => Err(ENXIO),
        }
    }

    fn resume(&self, thread: &HaltedThread) -> Result {
        self.check(thread)?;
        let suppress = self.stops_at(thread)?;
        self.go(thread.place, Going::On { suppress })
    }

    fn step(&self, thread: &HaltedThread) -> Result {
        self.check(thread)?;
        self.go(thread.place, Going::Step)
    }

    fn go(&self, place: Place, going: Going) -> Result {
        let mut state = self.lock();
        let forced = state.forced.contains(&place);
        let forces = self.prepare(place, going, forced)?;
        state.forced.retain(|other| *other != place);
        if forces {
            state.forced.push(place);
        }
        state.standing.remove(&place);
        drop(state);
        attention::clear(self.device.uncore(), place);
        Ok(())
    }

    /// Whether the thread would take a breakpoint at the instruction that it stands at.
    fn stops_at(&self, thread: &HaltedThread) -> Result<bool> {
        let ip = thread.ip_now()?;
        if !self.takes_breakpoints(thread.place)? {
            return Ok(false);
        }
        // An address that cannot be read stops for another reason.
        let address = thread.origin.instructions.wrapping_add(ip);
        let Ok(words) = self.instruction(address) else {
            return Ok(false);
        };
        let opcode = (words.first().copied().unwrap_or(0) & 0x7f) as u8;
        let inst = self.decode(address)?;
        let uncore = self.device.uncore();
        Ok(breakpoint::stops(uncore, address, opcode, inst.as_ref()))
    }

    /// The dwords of an instruction at a graphics address.
    fn instruction(&self, address: u32) -> Result<Vec<u32>> {
        memory::read_dwords(&self.device, address, 4)
    }

    /// The same, decoded, unless it is none.
    fn decode(&self, address: u32) -> Result<Option<Inst>> {
        let words = self.instruction(address)?;
        let mut raw = [0; 4];
        for (to, from) in raw.iter_mut().zip(words) {
            *to = from;
        }
        Ok(isa::decode(self.device.info().isa, raw).ok())
    }

    /// Ends the session.
    fn end(self: &Arc<Self>) {
        if self.over.swap(true, Ordering::AcqRel) {
            return;
        }
        let device = &self.device;
        device.debug_hook().detach();
        if device.check_live().is_err() {
            return;
        }
        self.before.restore(device.uncore());
        // Threads on their way into the routine arrive yet; a failure leaves them to the next reset.
        let clock = device.uncore().clock();
        let mut quiet = clock.now();
        let _ = self.wait_until(LEAVE_TIMEOUT, |shared| {
            shared.poll()?;
            let standing = shared.all()?;
            if !standing.is_empty() {
                quiet = clock.now();
            }
            for thread in standing {
                thread.resume()?;
            }
            let settled = clock.now() - quiet >= SETTLE_TIME && !shared.is_entered();
            Ok((device.is_idle() || settled).then_some(()))
        });
        device.debug_hook().disable(device.uncore());
        let patches = core::mem::take(&mut self.lock().patches);
        for patch in patches.values() {
            patch.restore(device);
        }
    }

    /// Whether a thread waits for attention.
    fn is_entered(&self) -> bool {
        attention::raised(self.device.uncore()).next().is_some()
    }
}
