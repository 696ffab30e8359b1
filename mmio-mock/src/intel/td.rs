//! Thread dispatcher: slots, payload, and the EUs that run the threads.
//!
//! PRM: volume 4, 2.4 (dispatch), 3.4.1 (TD debug), 8.2 (payload preload from the URB).
//! Threads of the 3D pipeline run one after another in the order of their dispatch: any latency is
//! allowed by 2.6.9, and one order makes every run the same. A thread that cannot finish in the present
//! time slice keeps its slot and is resumed later. Media threads are launched, and take turns.

mod breakpoints;
pub mod debugger;
mod deliver;
pub mod engine;
mod fault;
mod fill;
mod payload;
mod reads;
mod request;
mod rounds;
pub mod schedule;
mod standing;
pub mod wave;

use eu::{InstructionSet, KernelCache, NoObserver, RunStats, Stop, Thread, ThreadId, ThreadInit};
use isa::Verx10;

use debugger::Kept;
use engine::Engine;
use fill::Seen;
use rounds::Rounds;
use wave::Waves;

pub use request::{
    ConstantSource, KernelState, PUSHED, Pushed, Subject, ThreadRequest, UrbRead, VertexData,
};
pub use standing::{Pause, Standing};

use crate::core::fault::UnitFault;
use crate::intel::debug::{Arbiter, DebugRegs, ExceptionOverride, IcBreakpoints};
use crate::intel::machine::Machine;
use crate::intel::shared::context::{Events, ThreadContext};
use crate::intel::shared::router::Router;
use crate::intel::status::{Client, Unit};
use crate::intel::trace::Event;

/// Number of a thread slot.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct SlotId(pub u16);

/// What became of a thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// It ended; its events can be read until the next dispatch.
    Done(SlotId),
    /// It still occupies its slot: out of time, waiting, or hung.
    InFlight(SlotId),
}

/// State of one slot.
#[derive(Clone, Debug, PartialEq, Eq)]
enum SlotState {
    Free,
    Running,
    /// It goes round until something comes from outside.
    Loops,
    Hung(String),
}

/// One hardware thread.
struct Slot {
    thread: Thread,
    state: SlotState,
    unit: Unit,
    context: ThreadContext,
    events: Events,
    kernel: u32,
    instructions: u64,
    /// It waits for the host, with its Attn signal up.
    attention: bool,
    /// Why its last turn ended.
    pause: Pause,
    rounds: Rounds,
    kept: Kept,
    /// What its last message has met already, when a wave has made it.
    met: Option<UnitFault>,
}

impl Slot {
    /// Something has come from outside: a thread that goes round may leave its loop.
    fn wake(&mut self) {
        self.rounds.forget();
        if self.state == SlotState::Loops {
            self.state = SlotState::Running;
        }
    }
}

/// The dispatcher and its EUs.
pub struct Td {
    slots: Vec<Slot>,
    /// Slots that are not free.
    alive: usize,
    threads_per_eu: u16,
    cache: KernelCache,
    engine: Engine,
    isa: Verx10,
    sip: u32,
    fftid: u8,
    /// Threads may be spared.
    spares: bool,
    /// How many were.
    spared: u64,
    seen: Seen,
    waves: Waves,
    /// What the last message of the thread that runs next has met already.
    met: Option<UnitFault>,
}

impl Td {
    /// A dispatcher over `eus` EUs with `threads_per_eu` threads each, running an instruction set.
    pub fn new(eus: u16, threads_per_eu: u16, set: InstructionSet) -> Self {
        let slots = (0..eus * threads_per_eu)
            .map(|_| Slot {
                thread: Thread::of(set),
                state: SlotState::Free,
                unit: Unit::Vs,
                context: ThreadContext::default(),
                events: Events::default(),
                kernel: 0,
                instructions: 0,
                attention: false,
                pause: Pause::Ready,
                rounds: Rounds::default(),
                kept: Kept::default(),
                met: None,
            })
            .collect();
        let mut td = Td {
            slots,
            alive: 0,
            threads_per_eu,
            cache: KernelCache::of(set),
            engine: Engine::Interpreter,
            isa: set.generation(),
            sip: 0,
            fftid: 0,
            spares: true,
            spared: 0,
            seen: Seen::Nothing,
            waves: Waves::default(),
            met: None,
        };
        td.set_engine(engine::chosen());
        td
    }

    /// System routine address of STATE_SIP.
    pub fn set_sip(&mut self, sip: u32) {
        self.sip = sip;
    }

    /// What [`set_sip`](Self::set_sip) has set.
    pub fn sip(&self) -> u32 {
        self.sip
    }

    /// Forgets decoded kernels: instruction cache invalidate.
    pub fn invalidate(&mut self) {
        self.cache.invalidate();
        self.seen = Seen::Nothing;
    }

    /// Whether threads may be spared whose work is known; otherwise every one of them runs.
    pub fn set_spares(&mut self, on: bool) {
        self.spares = on;
        self.seen = Seen::Nothing;
    }

    /// Ends every thread, as a reset does.
    pub fn reset(&mut self) {
        for slot in &mut self.slots {
            slot.state = SlotState::Free;
        }
        self.alive = 0;
        self.met = None;
        self.invalidate();
    }

    /// Whether no thread is alive.
    pub fn idle(&self) -> bool {
        self.alive == 0
    }

    /// What the last run of a slot told the fixed functions.
    pub fn events(&self, slot: SlotId) -> &Events {
        &self.slots[usize::from(slot.0) % self.slots.len()].events
    }

    /// The same, for handing out URB entries and forgetting what was seen.
    pub fn events_mut(&mut self, slot: SlotId) -> &mut Events {
        let at = usize::from(slot.0) % self.slots.len();
        &mut self.slots[at].events
    }

    /// The lowest free slot on an EU that the debug registers allow to the unit (TD_CTL2 and the
    /// execution masks, PRM vol4 3.4.1).
    fn free_slot(&self, unit: Unit, debug: &DebugRegs) -> Option<usize> {
        let mask = debug.td_eu_mask(unit);
        let per_eu = usize::from(self.threads_per_eu).max(1);
        let limit = debug
            .td_thread_limit()
            .map_or(per_eu, |limit| limit as usize);
        if self.alive == 0 && mask & 1 != 0 && limit > 0 && !self.slots.is_empty() {
            return Some(0);
        }
        self.slots
            .chunks(per_eu)
            .enumerate()
            .find_map(|(eu, slots)| {
                let busy = slots.iter().filter(|s| s.state != SlotState::Free).count();
                if mask >> eu.min(31) & 1 == 0 || busy >= limit {
                    return None;
                }
                let free = slots.iter().position(|s| s.state == SlotState::Free)?;
                Some(eu * per_eu + free)
            })
    }

    /// Loads a thread and runs it; `None` when every slot is taken.
    pub fn dispatch(
        &mut self,
        request: &ThreadRequest<'_>,
        free: &[crate::intel::shared::context::MessageHandle],
        machine: &mut Machine<'_>,
    ) -> Option<Outcome> {
        let id = self.launch(request, free, machine)?;
        Some(self.resume(id, machine))
    }

    /// Loads a thread, which has not executed anything yet; `None` when every slot is taken.
    #[inline]
    pub fn launch(
        &mut self,
        request: &ThreadRequest<'_>,
        free: &[crate::intel::shared::context::MessageHandle],
        machine: &mut Machine<'_>,
    ) -> Option<SlotId> {
        let at = self.free_slot(request.unit, machine.debug)?;
        let id = SlotId(at as u16);
        let eu = at as u16 / self.threads_per_eu;
        self.fftid = self.fftid.wrapping_add(1);
        if request.unit != Unit::Wiz {
            self.seen = Seen::Nothing;
        }
        let slot = &mut self.slots[at];
        let kernel = &request.kernel;
        let r0 = request.header.first().copied().unwrap_or_default();
        let debug = machine.debug.td_dispatch(request.snapshot, r0[6], r0[7]);
        let exceptions = machine.debug.td_exceptions().unwrap_or(ExceptionOverride {
            illegal_opcode: kernel.illegal_opcode_exception,
            mask_stack: kernel.mask_stack_exception,
            software: kernel.software_exception,
        });
        slot.thread.dispatch(&ThreadInit {
            id: ThreadId {
                ffid: request.unit.ffid(),
                fftid: self.fftid,
                eu: eu as u8,
                slot: (at as u16 % self.threads_per_eu) as u8,
            },
            illegal_opcode_exception: exceptions.illegal_opcode,
            mask_stack_exception: exceptions.mask_stack,
            software_exception: exceptions.software,
            breakpoint: debug.breakpoint_enable,
            ..kernel.init(request.dispatch_mask, self.sip)
        });
        if debug.external_halt {
            slot.thread.external_halt();
        }
        let registers = slot.thread.load(payload::end(request));
        let (memory, status) = ((&*machine.mem, &*machine.urb), &mut *machine.status);
        let rows = payload::load(registers, request, memory, &mut |fault| {
            status.fault(Client::Cs, UnitFault::from(fault), || {
                "TD, pushed constants".to_owned()
            });
        });
        machine.charge(DISPATCH_TICKS + rows);
        payload::number(slot.thread.load(1), self.fftid);
        slot.state = SlotState::Running;
        self.alive += 1;
        slot.unit = request.unit;
        slot.context = request.context;
        slot.kernel = kernel.ip;
        slot.instructions = 0;
        slot.attention = false;
        slot.pause = Pause::Ready;
        slot.met = self.met.take();
        slot.rounds.forget();
        slot.events.clear();
        slot.events.free.extend_from_slice(free);
        slot.events.stream_indices = request.stream_indices;
        if let Some(pixels) = request.pixels {
            slot.events.pixels.assign(pixels);
        }
        self.note_dispatch(at, request, machine);
        Some(id)
    }

    /// Whether a thread of the unit would find a slot.
    pub fn has_room(&self, unit: Unit, debug: &DebugRegs) -> bool {
        self.free_slot(unit, debug).is_some()
    }

    /// How many threads of the unit would find a slot.
    pub fn room(&self, unit: Unit, debug: &DebugRegs) -> usize {
        let mask = debug.td_eu_mask(unit);
        let per_eu = usize::from(self.threads_per_eu).max(1);
        let limit = debug
            .td_thread_limit()
            .map_or(per_eu, |limit| limit as usize);
        let eus = self.slots.chunks(per_eu).enumerate();
        eus.filter(|(eu, _)| mask >> (*eu).min(31) & 1 != 0)
            .map(|(_, slots)| {
                let busy = slots.iter().filter(|s| s.state != SlotState::Free).count();
                limit.saturating_sub(busy).min(slots.len() - busy)
            })
            .sum()
    }

    /// Runs a thread on for a turn of at most `ticks`.
    pub fn resume_for(&mut self, id: SlotId, ticks: u64, machine: &mut Machine<'_>) -> Outcome {
        let kept = machine.budget.saturating_sub(ticks);
        *machine.budget -= kept;
        machine.trace.withhold(kept);
        let outcome = self.resume(id, machine);
        machine.trace.restore(kept);
        *machine.budget += kept;
        outcome
    }

    /// Runs a thread on from where it stopped.
    pub fn resume(&mut self, id: SlotId, machine: &mut Machine<'_>) -> Outcome {
        let outcome = self.run(id, machine, None);
        self.deliver(id);
        outcome
    }

    /// The same for somebody who looks at the registers between two instructions: accumulator
    /// updates that nothing reads happen too.
    pub fn resume_exact(&mut self, id: SlotId, machine: &mut Machine<'_>) -> Outcome {
        let outcome = self.run(id, machine, Some(IcBreakpoints::default()));
        self.deliver(id);
        outcome
    }

    /// The thread in a slot.
    pub fn thread(&self, id: SlotId) -> &Thread {
        &self.slots[usize::from(id.0) % self.slots.len()].thread
    }

    /// The thread in a slot, for a debugger.
    pub fn thread_mut(&mut self, id: SlotId) -> &mut Thread {
        let at = usize::from(id.0) % self.slots.len();
        let slot = &mut self.slots[at];
        slot.wake();
        &mut slot.thread
    }

    fn run(
        &mut self,
        id: SlotId,
        machine: &mut Machine<'_>,
        watch: Option<IcBreakpoints>,
    ) -> Outcome {
        let at = usize::from(id.0) % self.slots.len();
        let runs = matches!(self.slots[at].state, SlotState::Running | SlotState::Loops);
        if !runs || machine.debug.held() {
            return Outcome::InFlight(id);
        }
        let who = self.slots[at].thread.id();
        let (eu, thread) = (u32::from(who.eu), u32::from(who.slot));
        if machine.debug.attention_answered() {
            self.slots[at].answer(eu, thread, machine.debug);
        }
        let mut stats = RunStats::default();
        let mut observed = None;
        let (stop, owed);
        if machine.debug.quiet() && watch.is_none() {
            let slot = &mut self.slots[at];
            if slot.state == SlotState::Loops {
                return Outcome::InFlight(id);
            }
            let mut port = Router {
                mem: machine.mem,
                urb: machine.urb,
                shared: machine.shared,
                ctx: &slot.context,
                events: &mut slot.events,
                arbiter: Arbiter::OPEN,
                debug: machine.debug,
                trace: machine.trace,
                owed: 0,
                met: &mut slot.met,
            };
            let (cache, budget) = (&mut self.cache, &mut *machine.budget);
            let thread = &mut slot.thread;
            stop = thread.run(cache, &mut port, &mut NoObserver, budget, &mut stats);
            owed = port.owed;
        } else {
            if *machine.budget == 0 {
                // Nothing would be looked at, and the looks are counted.
                return Outcome::InFlight(id);
            }
            observed = self.observe(at, watch, machine);
            if self.slots[at].state == SlotState::Loops {
                return Outcome::InFlight(id);
            }
            let observed = observed.as_deref_mut();
            (stop, owed) = self.run_observed(at, observed, machine, &mut stats);
        }
        let slot = &mut self.slots[at];
        machine.charge(owed);
        slot.kept.again = matches!(stop, Stop::Busy | Stop::Wait(_));
        slot.pause = match stop {
            Stop::Wait(n) => Pause::Wait(n),
            Stop::Busy => Pause::Busy,
            _ => Pause::Ready,
        };
        let data = slot.thread.attention_data();
        machine.debug.set_attention_data(eu, thread, data);
        slot.instructions += stats.instructions;
        let activity = &mut machine.status.activity;
        activity.instructions[slot.unit as usize] += stats.instructions;
        activity.simd8[slot.unit as usize] += stats.simd8;
        if let Some(observed) = &observed {
            let ended = stop == Stop::EndOfThread;
            Self::after_run(slot, stats.instructions, observed.met, ended, machine);
        }
        match stop {
            Stop::EndOfThread => {
                machine.shared.gateway.ended(who.eu, who.slot);
                slot.state = SlotState::Free;
                self.alive -= 1;
                machine.note(Event::End {
                    ffid: slot.unit.ffid(),
                    eu: who.eu,
                    slot: who.slot,
                    instructions: slot.instructions,
                });
                return Outcome::Done(id);
            }
            Stop::Wait(1) => {
                if !std::mem::replace(&mut slot.attention, true) {
                    machine.debug.raise_attention(eu, thread);
                }
            }
            Stop::Budget if stats.sends == 0 && observed.is_none() => {
                if slot.rounds.ran(&slot.thread, stats.instructions) {
                    slot.state = SlotState::Loops;
                }
            }
            Stop::Budget | Stop::Busy | Stop::Wait(_) | Stop::Observer => slot.rounds.forget(),
            Stop::Hung(why) => {
                Self::hang(slot, machine, why.to_owned(), || UnitFault::Message {
                    unit: "EU",
                    desc: 0,
                    what: why,
                    error: 0,
                });
            }
            Stop::Illegal(raw) => {
                let why = format!(
                    "illegal instruction {:08x} {:08x} {:08x} {:08x}",
                    raw[0], raw[1], raw[2], raw[3]
                );
                let what = why.clone();
                Self::hang(slot, machine, why, || UnitFault::Command {
                    unit: "EU",
                    what,
                });
            }
            Stop::Unimplemented(what) => {
                Self::hang(slot, machine, what.to_owned(), || {
                    UnitFault::Unimplemented {
                        unit: "EU",
                        what,
                        prm: "PRM vol4 ch. 14",
                    }
                });
            }
            Stop::Fault(fault) => {
                let why = fault.to_string();
                Self::hang(slot, machine, why, || fault);
            }
        }
        Outcome::InFlight(id)
    }
}

/// Ticks of a thread's start besides its payload, of which a register a tick is loaded.
const DISPATCH_TICKS: u64 = 8;
