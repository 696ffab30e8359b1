//! Thread dispatcher: slots, payload, and the EUs that run the threads.
//!
//! PRM: volume 4, 2.4 (dispatch), 3.4.1 (TD debug), 8.2 (payload preload from the URB).
//! Threads of the 3D pipeline run one after another in the order of their dispatch: any latency is
//! allowed by 2.6.9, and one order makes every run the same. A thread that cannot finish in the present
//! time slice keeps its slot and is resumed later. Media threads are launched, and take turns.

mod breakpoints;
pub mod debugger;
mod deliver;
mod payload;
mod rounds;
pub mod schedule;

use eu::{FloatMode, Grf, KernelCache, NoObserver, RunStats, Stop, Thread, ThreadId, ThreadInit};
use isa::Verx10;

use debugger::Kept;
use rounds::Rounds;

pub use crate::debug::host::Subject;
use crate::debug::{Arbiter, DebugRegs, ExceptionOverride, IcBreakpoints};
use crate::fault::UnitFault;
use crate::machine::Machine;
use crate::shared::context::{Events, ThreadContext};
use crate::shared::router::Router;
use crate::status::{Client, Unit};
use crate::trace::Event;
use crate::urb::UrbHandle;

/// Rows of a URB entry that the dispatcher copies into the payload.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UrbRead {
    /// Entry.
    pub handle: UrbHandle,
    /// First row, in 256-bit rows from the start of the entry.
    pub offset: u16,
    /// Number of 256-bit rows.
    pub rows: u16,
}

/// How URB data are laid out in the payload.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum VertexData<'a> {
    /// Entry after entry, a register per row.
    Sequential(&'a [UrbRead]),
    /// Two entries side by side, four dwords of each in a register (SIMD4x2 vertex shading).
    Interleaved(UrbRead, UrbRead),
}

/// Kernel state common to all fixed functions, from dwords 0 to 3 of their unit state.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct KernelState {
    /// Kernel start pointer, relative to General State Base Address.
    pub ip: u32,
    /// Registers allocated.
    pub grf_count: u8,
    /// Alternative float mode.
    pub alt_float: bool,
    /// Single program flow.
    pub single_program_flow: bool,
    /// Exception enables: illegal opcode, mask stack, software.
    pub illegal_opcode_exception: bool,
    /// Mask stack exception enable.
    pub mask_stack_exception: bool,
    /// Software exception enable.
    pub software_exception: bool,
    /// High priority.
    pub high_priority: bool,
    /// Dispatch GRF start register for URB data.
    pub urb_start: u8,
}

/// A fixed function's wish for a thread.
#[derive(Clone, Copy, Debug)]
pub struct ThreadRequest<'a> {
    /// Who asks.
    pub unit: Unit,
    /// Kernel and modes.
    pub kernel: KernelState,
    /// What shared functions will know of the thread.
    pub context: ThreadContext,
    /// One bit a channel.
    pub dispatch_mask: u16,
    /// Registers from r0 on, as the fixed function built them.
    pub header: &'a [Grf],
    /// Constants (CURBE), loaded at `kernel.urb_start`.
    pub constants: Option<UrbRead>,
    /// Vertex or setup data, loaded behind the constants.
    pub data: VertexData<'a>,
    /// Snapshot flag of the thread.
    pub snapshot: bool,
    /// What it is to work on, for debuggers.
    pub subject: Subject,
}

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

/// Why the thread in a slot stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pause {
    /// It does not: it can run.
    Ready,
    /// For notification register `n`, which is zero.
    Wait(u8),
    /// A shared function did not take its message; the function's ID is in the `send`.
    Busy,
    /// It comes back to where it was with nothing changed, until somebody writes its registers.
    Loops,
    /// For ever.
    Hung,
}

/// A thread as reports show it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Standing {
    /// Who asked for it.
    pub unit: Unit,
    /// Which EU and thread.
    pub id: ThreadId,
    /// Kernel start pointer.
    pub kernel: u32,
    /// Next instruction.
    pub ip: u32,
    /// Why it stands.
    pub pause: Pause,
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
}

impl Slot {
    /// Something has come from outside: a thread that goes round may leave its loop.
    fn wake(&mut self) {
        self.rounds.forget();
        if self.state == SlotState::Loops {
            self.state = SlotState::Running;
        }
    }

    fn pause(&self) -> Pause {
        match self.state {
            SlotState::Hung(_) => return Pause::Hung,
            SlotState::Loops => return Pause::Loops,
            SlotState::Free | SlotState::Running => {}
        }
        match self.pause {
            Pause::Wait(n) if self.thread.notified(n) => Pause::Ready,
            pause => pause,
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
    isa: Verx10,
    sip: u32,
    fftid: u8,
}

impl Td {
    /// A dispatcher over `eus` EUs with `threads_per_eu` threads each, running `isa`.
    pub fn new(eus: u16, threads_per_eu: u16, isa: Verx10) -> Self {
        let slots = (0..eus * threads_per_eu)
            .map(|_| Slot {
                thread: Thread::new(),
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
            })
            .collect();
        Td {
            slots,
            alive: 0,
            threads_per_eu,
            cache: KernelCache::new(isa),
            isa,
            sip: 0,
            fftid: 0,
        }
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
    }

    /// Ends every thread, as a reset does.
    pub fn reset(&mut self) {
        for slot in &mut self.slots {
            slot.state = SlotState::Free;
        }
        self.alive = 0;
        self.cache.invalidate();
    }

    /// Whether no thread is alive.
    pub fn idle(&self) -> bool {
        self.alive == 0
    }

    /// Threads that can never end, with the unit, the kernel and the reason.
    pub fn hung(&self) -> impl Iterator<Item = (Unit, u32, u32, &str)> {
        self.slots.iter().filter_map(|s| match &s.state {
            SlotState::Hung(why) => Some((s.unit, s.kernel, s.thread.ip(), why.as_str())),
            SlotState::Free | SlotState::Running | SlotState::Loops => None,
        })
    }

    /// Threads that run, with the unit, the kernel and the instruction they stand at.
    pub fn running(&self) -> impl Iterator<Item = (Unit, u32, u32)> {
        self.slots
            .iter()
            .filter(|s| matches!(s.state, SlotState::Running | SlotState::Loops))
            .map(|s| (s.unit, s.kernel, s.thread.ip()))
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
        free: &[crate::shared::context::UrbHandle],
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
        free: &[crate::shared::context::UrbHandle],
        machine: &mut Machine<'_>,
    ) -> Option<SlotId> {
        let at = self.free_slot(request.unit, machine.debug)?;
        let id = SlotId(at as u16);
        let eu = at as u16 / self.threads_per_eu;
        self.fftid = self.fftid.wrapping_add(1);
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
            ip: kernel.ip,
            sip: self.sip,
            dispatch_mask: request.dispatch_mask,
            float_mode: if kernel.alt_float {
                FloatMode::Alt
            } else {
                FloatMode::Ieee
            },
            single_program_flow: kernel.single_program_flow,
            illegal_opcode_exception: exceptions.illegal_opcode,
            mask_stack_exception: exceptions.mask_stack,
            software_exception: exceptions.software,
            breakpoint: debug.breakpoint_enable,
            high_priority: kernel.high_priority,
            grf_count: kernel.grf_count,
        });
        if debug.external_halt {
            slot.thread.external_halt();
        }
        let rows = payload::load(slot.thread.grf_mut(), request, machine.urb);
        machine.charge(DISPATCH_TICKS + rows);
        if let Some(r0) = slot.thread.grf_mut().first_mut() {
            // r0.5 bits 7:0: FFTID (PRM vol4 8.4.3.1).
            r0[5] = (r0[5] & !0xff) | u32::from(self.fftid);
        }
        slot.state = SlotState::Running;
        self.alive += 1;
        slot.unit = request.unit;
        slot.context = request.context;
        slot.kernel = kernel.ip;
        slot.instructions = 0;
        slot.attention = false;
        slot.pause = Pause::Ready;
        slot.rounds.forget();
        slot.events.clear();
        slot.events.free.extend_from_slice(free);
        self.note_dispatch(at, request, machine);
        Some(id)
    }

    /// Whether a thread of the unit would find a slot.
    pub fn has_room(&self, unit: Unit, debug: &DebugRegs) -> bool {
        self.free_slot(unit, debug).is_some()
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

    /// Whether the thread in a slot can run, and why not.
    pub fn pause(&self, id: SlotId) -> Pause {
        self.slots[usize::from(id.0) % self.slots.len()].pause()
    }

    /// Every thread that is alive.
    pub fn standing(&self) -> impl Iterator<Item = Standing> {
        let alive = |s: &&Slot| s.state != SlotState::Free;
        self.slots.iter().filter(alive).map(|s| Standing {
            unit: s.unit,
            id: s.thread.id(),
            kernel: s.kernel,
            ip: s.thread.ip(),
            pause: s.pause(),
        })
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

    /// Why the thread in a slot can never end; `None` when it can.
    pub fn hung_reason(&self, id: SlotId) -> Option<&str> {
        match &self.slots[usize::from(id.0) % self.slots.len()].state {
            SlotState::Hung(why) => Some(why),
            SlotState::Free | SlotState::Running | SlotState::Loops => None,
        }
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
            };
            let (cache, budget) = (&mut self.cache, &mut *machine.budget);
            let thread = &mut slot.thread;
            stop = thread.run(cache, &mut port, &mut NoObserver, budget, &mut stats);
            owed = port.owed;
        } else {
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

    fn hang(
        slot: &mut Slot,
        machine: &mut Machine<'_>,
        why: String,
        fault: impl FnOnce() -> UnitFault,
    ) {
        let (unit, kernel, ip) = (slot.unit, slot.kernel, slot.thread.ip());
        let fault = fault();
        let client = client_of(&fault, slot, machine.mem);
        machine.fault(client, fault, || {
            format!(
                "{} thread, kernel {kernel:#010x}, instruction {ip:#010x}",
                unit.name()
            )
        });
        slot.state = SlotState::Hung(why);
    }
}

/// Which memory client a thread's fault belongs to: its instruction fetch, or the shared function
/// that the `send` at its instruction pointer addresses.
fn client_of(fault: &UnitFault, slot: &Slot, memory: &mem::Memory) -> Client {
    let at = slot
        .context
        .bases
        .general_state_base
        .wrapping_add(slot.thread.ip());
    match fault {
        UnitFault::Memory(fault) if fault.addr.0 == at => Client::InstructionStateCache,
        // Gen4 send: target function in bits 27:24 of dword 3 (PRM vol4 2.6.2).
        _ => match memory
            .read_u32(mem::GpuAddr(at.wrapping_add(12)))
            .map(|d| d >> 24 & 0xf)
        {
            Ok(2) => Client::SamplerCache,
            Ok(4) => Client::ReadOnlyCache,
            _ => Client::RenderCache,
        },
    }
}

/// Ticks of a thread's start besides its payload, of which a register a tick is loaded.
const DISPATCH_TICKS: u64 = 8;
