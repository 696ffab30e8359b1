//! The dispatcher under a debugger on the host: stops, and what threads show.
//!
//! `debug::host` has the rules.

use eu::{Grf, KernelCache, NoObserver, RunStats, Stop, Thread, ThreadId};

use super::breakpoints::Breakpoints;
use super::{Pause, Slot, SlotId, SlotState, Td, ThreadRequest};
use crate::core::fault::UnitFault;
use crate::intel::debug::host::{Orders, Subject, ThreadKey, Why};
use crate::intel::debug::{DebugRegs, IcBreakpoints};
use crate::intel::machine::Machine;
use crate::intel::shared::context::ThreadContext;
use crate::intel::shared::router::Router;
use crate::intel::status::Unit;
use crate::intel::trace::{Dispatch, Event, Subspans};

/// What a slot keeps for debuggers.
#[derive(Default)]
pub(super) struct Kept {
    pub(super) ordinal: u64,
    pub(super) subject: Subject,
    /// Where its pixels are, while a debugger is attached.
    pixels: Subspans,
    /// Nobody has looked at it since its dispatch.
    fresh: bool,
    /// The instruction was begun before: a message that the function did not take yet.
    pub(super) again: bool,
}

/// A thread as a debugger sees it.
#[derive(Clone, Copy, Debug)]
pub struct Info {
    /// Its name.
    pub key: ThreadKey,
    /// Where it runs.
    pub id: ThreadId,
    /// What it works on.
    pub subject: Subject,
    /// Kernel start pointer, relative to General State Base Address.
    pub kernel: u32,
    /// What shared functions know of it.
    pub context: ThreadContext,
    /// Instructions that it has executed.
    pub instructions: u64,
    /// Why it stands.
    pub pause: Pause,
    /// Where the pixels of a pixel shader thread are; nowhere when no debugger was attached when it was dispatched.
    pub pixels: Subspans,
}

/// A run that is looked at.
pub(super) struct Observed {
    key: ThreadKey,
    /// After every instruction, for those who watch registers or memory.
    single: bool,
    breakpoints: Breakpoints,
    /// The host's stop that was met.
    pub(super) met: Option<Why>,
}

impl Observed {
    /// Runs a thread until it stops by itself or somebody stops it.
    #[cold]
    pub(super) fn run(
        &mut self,
        thread: &mut Thread,
        cache: &mut KernelCache,
        port: &mut Router<'_>,
        budget: &mut u64,
        stats: &mut RunStats,
    ) -> Stop<UnitFault> {
        loop {
            let whole = *budget;
            let mut slice = if self.single { whole.min(1) } else { whole };
            let given = slice;
            let stop = thread.run(cache, port, &mut self.breakpoints, &mut slice, stats);
            *budget = whole - (given - slice);
            if self.single
                && let Some(why) = port.debug.watched(self.key, thread.grf(), port.mem)
            {
                self.met = Some(why);
                if matches!(stop, Stop::Budget | Stop::Observer) {
                    return Stop::Observer;
                }
            }
            match stop {
                Stop::Observer => {}
                Stop::Budget if self.single && *budget > 0 => continue,
                stop => return stop,
            }
            self.met = self.met.or(self.breakpoints.met());
            if self.met.is_some() {
                return Stop::Observer;
            }
            if !thread.breakpoint() {
                self.breakpoints.pass(thread.ip());
            }
        }
    }
}

impl Slot {
    /// What the host has written into EU_ATT_CLR (PRM 3.5).
    #[cold]
    pub(super) fn answer(&mut self, eu: u32, thread: u32, debug: &mut DebugRegs) {
        if debug.take_attention_clear(eu, thread) {
            self.thread.attention_clear();
            self.wake();
        }
        if debug.take_attention_release(eu, thread) && std::mem::take(&mut self.attention) {
            // The host lets the thread go on (PRM 3.5.4).
            self.thread.notify(1);
        }
    }

    fn key(&self) -> ThreadKey {
        ThreadKey {
            unit: self.unit,
            ordinal: self.kept.ordinal,
        }
    }
}

/// Upper left pixels of the subspans of a pixel shader thread that has not begun, r1.2 to r1.5 (PRM vol4 5.10.6.3) and of a
/// thread for 32 pixels r2.2 to r2.5: those with a channel.
fn subspans(unit: Unit, thread: &Thread) -> impl Iterator<Item = (u16, u16)> {
    let pixels = unit == Unit::Wiz;
    let row = |n: usize| thread.grf().get(n).copied().unwrap_or_default();
    let rows = [row(1), row(2)];
    let mask = thread.dispatch_mask();
    let lit = (0..Subspans::MOST).filter(move |n| pixels && mask >> (n * 4) & 15 != 0);
    lit.map(move |n| {
        let place = rows[n / 4][n % 4 + 2];
        // CAST: two halves of a dword.
        (place as u16, (place >> 16) as u16)
    })
}

/// Where the pixels of a new thread are. What its render target writes need tells it, or else the header of its payload:
/// lit pixels in r0.0, places in r1.2 to r1.5.
fn places(request: &ThreadRequest<'_>) -> Subspans {
    if request.unit != Unit::Wiz {
        return Subspans::default();
    }
    if let Some(pixels) = request.pixels {
        let place = |(x, y): (u16, u16)| u32::from(y) << 16 | u32::from(x);
        let used = (Subspans::MOST - request.dispatch_mask.leading_zeros() as usize / 4).max(1);
        let all = pixels.origins.map(place);
        return Subspans::new(all.get(..used).unwrap_or_default(), pixels.mask);
    }
    let row = |n| request.header.get(n).copied().unwrap_or_default();
    let (r0, r1): (Grf, Grf) = (row(0), row(1));
    Subspans::new(&r1[2..6], r0[0] & 0xffff)
}

impl Td {
    /// A thread has been loaded into a slot: notes it for whoever asks.
    #[inline]
    pub(super) fn note_dispatch(
        &mut self,
        at: usize,
        request: &ThreadRequest<'_>,
        machine: &mut Machine<'_>,
    ) {
        let kept = &mut self.slots[at].kept;
        let count = &mut machine.status.activity.threads[request.unit as usize];
        kept.ordinal = *count;
        *count += 1;
        kept.subject = request.subject;
        kept.again = false;
        kept.fresh = true;
        if !machine.debug.quiet() || machine.trace.is_on() {
            self.describe(at, request, machine);
        }
    }

    /// What debuggers and traces have to know of a new thread.
    #[cold]
    fn describe(&mut self, at: usize, request: &ThreadRequest<'_>, machine: &mut Machine<'_>) {
        let slot = &mut self.slots[at];
        let pixels = places(request);
        if machine.debug.host().is_some() {
            slot.kept.pixels = pixels;
        }
        if machine.trace.is_on() {
            let id = slot.thread.id();
            machine.note(Event::Dispatch(Dispatch {
                ffid: request.unit.ffid(),
                eu: id.eu,
                slot: id.slot,
                ordinal: slot.kept.ordinal,
                kernel: request.kernel.ip,
                mask: request.dispatch_mask as u16,
                r0: request.header.first().copied().unwrap_or_default(),
                pixels,
            }));
        }
    }

    /// Who looks at the next run of a slot's thread: the instruction cache's registers, `watch`, the host.
    #[cold]
    pub(super) fn observe(
        &mut self,
        at: usize,
        watch: Option<IcBreakpoints>,
        machine: &mut Machine<'_>,
    ) -> Option<Box<Observed>> {
        let orders = self.orders(at, machine);
        let slot = &mut self.slots[at];
        let registers = machine.debug.ic_breakpoints().or(watch);
        let registers = registers.or(orders.is_some().then(IcBreakpoints::default))?;
        slot.wake();
        let base = slot.context.bases.kernels();
        Some(Box::new(Observed {
            key: slot.key(),
            single: orders.as_ref().is_some_and(|orders| orders.single),
            breakpoints: Breakpoints::new(registers, base, self.isa, orders),
            met: None,
        }))
    }

    /// A run that somebody looks at, or that the arbiters hold up; comes back with the ticks that messages are owed.
    #[cold]
    pub(super) fn run_observed(
        &mut self,
        at: usize,
        observed: Option<&mut Observed>,
        machine: &mut Machine<'_>,
        stats: &mut RunStats,
    ) -> (Stop<UnitFault>, u64) {
        let slot = &mut self.slots[at];
        let mut port = Router {
            mem: machine.mem,
            urb: machine.urb,
            shared: machine.shared,
            ctx: &slot.context,
            events: &mut slot.events,
            arbiter: machine.debug.arbiter(),
            debug: machine.debug,
            trace: machine.trace,
            owed: 0,
            met: &mut slot.met,
        };
        let (cache, budget) = (&mut self.cache, &mut *machine.budget);
        let thread = &mut slot.thread;
        let stop = match observed {
            None => thread.run(cache, &mut port, &mut NoObserver, budget, stats),
            Some(observed) => observed.run(thread, cache, &mut port, budget, stats),
        };
        (stop, port.owed)
    }

    /// What the host wants to know of it.
    fn orders(&mut self, at: usize, machine: &mut Machine<'_>) -> Option<Orders> {
        let slot = &mut self.slots[at];
        let key = slot.key();
        let host = machine.debug.host_mut()?;
        let again = std::mem::take(&mut slot.kept.again);
        let begins = std::mem::take(&mut slot.kept.fresh) && slot.instructions == 0;
        // With the rules of now: some may have come or gone since the dispatch.
        let pixels = subspans(slot.unit, &slot.thread);
        let first = begins.then(|| host.at_dispatch(slot.unit, slot.kept.subject, pixels));
        let first = first.flatten();
        let orders = host.orders(key, slot.instructions, first, again);
        if orders.single {
            // The first look only remembers.
            host.look_at_registers(key, slot.thread.grf());
        }
        Some(orders)
    }

    /// A run is over: what of it the host has to know.
    pub(super) fn after_run(
        slot: &Slot,
        executed: u64,
        why: Option<Why>,
        ended: bool,
        machine: &mut Machine<'_>,
    ) {
        let (key, id) = (slot.key(), slot.thread.id());
        let Some(host) = machine.debug.host_mut() else {
            return;
        };
        let awaited = ended && host.awaits_end(key);
        host.ran(key, executed);
        if let Some(why) = why.or(awaited.then_some(Why::Ended)) {
            host.stop(Some((key, id.eu, id.slot)), why);
        }
    }

    /// The slot of an EU's thread.
    pub fn slot_of(&self, eu: u8, slot: u8) -> Option<SlotId> {
        let per_eu = self.threads_per_eu;
        let at = u16::from(eu) * per_eu + u16::from(slot);
        (u16::from(slot) < per_eu && usize::from(at) < self.slots.len()).then_some(SlotId(at))
    }

    /// Every thread that is alive, as a debugger sees it.
    pub fn infos(&self) -> impl Iterator<Item = Info> {
        let alive = |slot: &&Slot| slot.state != SlotState::Free;
        self.slots.iter().filter(alive).map(|slot| Info {
            key: slot.key(),
            id: slot.thread.id(),
            subject: slot.kept.subject,
            kernel: slot.kernel,
            context: slot.context,
            instructions: slot.instructions,
            pause: slot.pause(),
            pixels: slot.kept.pixels,
        })
    }
}
