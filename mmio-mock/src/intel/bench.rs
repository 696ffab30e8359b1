//! One thread on a bare EU: kernel, registers and memory, without a command stream.
//!
//! PRM: volume 4, 2.4 (dispatch), chapters 9-14. The thread dispatcher, the shared functions, the URB
//! and the memory are the device's own. Not there: the fixed functions that would build a payload,
//! hand out URB entries and read what the thread leaves behind.

use eu::{Grf, Thread};
use isa::Verx10;
use mem::{GpuAddr, Memory};

use crate::core::status::FaultRecord;
use crate::intel::debug::DebugRegs;
use crate::intel::r#gen::{readers, tables};
use crate::intel::machine::Machine;
use crate::intel::shared::context::{Events, MessageHandle};
use crate::intel::shared::places::Places;
use crate::intel::shared::{FUNCTIONS, SharedFunctions, ThreadContext};
use crate::intel::status::{Status, Unit};
use crate::intel::td::{KernelState, Outcome, SlotId, Subject, Td, ThreadRequest, VertexData};
use crate::intel::trace::Trace;
use crate::intel::urb::Urb;

/// Bytes that [`ThreadBench::load`] can map in all.
pub const MEMORY_CAP: usize = 256 << 20;

/// GTT entries of the bench: the whole 512 MiB of address space of a Gen4 part.
const GTT_ENTRIES: usize = 512 << 20 >> 12;

/// Rows of one URB entry of the bench; handles are multiples of it (PRM 8.1: 512 rows in all).
pub const URB_ENTRY_ROWS: u16 = 64;

const PAGE: u32 = 4096;

/// Bytes do not fit the bench's memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum LoadError {
    /// The range leaves the address space of the GTT.
    #[error("{bytes} bytes at {addr:#x} leave the address space of {:#x} bytes", GTT_ENTRIES << 12)]
    Range {
        /// First address.
        addr: u32,
        /// Length.
        bytes: usize,
    },
    /// More than [`MEMORY_CAP`] bytes were asked for.
    #[error("{bytes} bytes at {addr:#x} exceed the memory of {MEMORY_CAP} bytes")]
    Full {
        /// First address.
        addr: u32,
        /// Length.
        bytes: usize,
    },
}

/// What happened to the thread in one step.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Step {
    /// It executed an instruction, or entered an exception.
    Ran,
    /// It executed its last instruction.
    Ended,
    /// It stands: it waits for a notification or a busy shared function.
    Blocked,
    /// It can never go on; the reason.
    Hung(String),
}

/// The bench and its one thread.
pub struct ThreadBench {
    memory: Memory,
    td: Td,
    urb: Urb,
    shared: SharedFunctions,
    debug: DebugRegs,
    status: Status,
    trace: Trace,
    slot: Option<SlotId>,
}

impl ThreadBench {
    /// An EU of the generation with empty memory; `None` for a generation without devices.
    pub fn new(isa: Verx10) -> Option<Self> {
        let (readers, tables) = (readers(isa)?, tables(isa)?);
        let places = Places {
            eus: 1,
            threads_per_eu: 1,
        };
        Some(ThreadBench {
            memory: Memory::new(MEMORY_CAP, GTT_ENTRIES),
            td: Td::new(places.eus, places.threads_per_eu, readers.instructions),
            urb: Urb::new(),
            shared: SharedFunctions::new(readers.functions, readers.messages, places),
            debug: DebugRegs::new(tables),
            status: Status::default(),
            trace: Trace::default(),
            slot: None,
        })
    }

    /// Writes bytes at a graphics address, mapping the pages they touch.
    pub fn load(&mut self, addr: u32, bytes: &[u8]) -> Result<(), LoadError> {
        self.map(addr, bytes.len())?;
        self.memory
            .write_bytes(GpuAddr::from(addr), bytes)
            .map_err(|_| LoadError::Range {
                addr,
                bytes: bytes.len(),
            })
    }

    /// Maps the pages of a range; those that are new read as zero.
    pub fn map(&mut self, addr: u32, bytes: usize) -> Result<(), LoadError> {
        let range = LoadError::Range { addr, bytes };
        let end = u64::from(addr) + bytes as u64;
        if end > (GTT_ENTRIES as u64) << 12 {
            return Err(range);
        }
        let last = (end.saturating_sub(1) as u32).max(addr) / PAGE;
        for page in addr / PAGE..=last {
            let at = GpuAddr::from(page * PAGE);
            if self.memory.page(at).is_err() {
                self.memory
                    .alloc_mapped(at, PAGE as usize)
                    .ok_or(LoadError::Full { addr, bytes })?;
            }
        }
        Ok(())
    }

    /// Graphics memory.
    pub fn memory(&self) -> &Memory {
        &self.memory
    }

    /// The URB.
    pub fn urb(&self) -> &Urb {
        &self.urb
    }

    /// The URB, to fill entries.
    pub fn urb_mut(&mut self) -> &mut Urb {
        &mut self.urb
    }

    /// The shared functions.
    pub fn shared(&self) -> &SharedFunctions {
        &self.shared
    }

    /// The shared functions, to set what commands would latch there.
    pub fn shared_mut(&mut self) -> &mut SharedFunctions {
        &mut self.shared
    }

    /// System routine address (STATE_SIP), relative to the general state base.
    pub fn set_sip(&mut self, sip: u32) {
        self.td.set_sip(sip);
    }

    /// Dispatches the thread; it has not executed anything yet. The entries with the handles
    /// 0, 64, 128 and so on are there for URB messages that ask for one.
    pub fn start(
        &mut self,
        kernel: KernelState,
        context: ThreadContext,
        dispatch_mask: u16,
        header: &[Grf],
    ) {
        let entries: Vec<MessageHandle> = (1..crate::intel::urb::ROWS / URB_ENTRY_ROWS)
            .rev()
            .map(|n| MessageHandle {
                id: n,
                handle: n * URB_ENTRY_ROWS,
            })
            .collect();
        self.td.reset();
        let request = ThreadRequest {
            unit: Unit::Media,
            kernel,
            context,
            dispatch_mask: dispatch_mask.into(),
            header,
            constants: None,
            data: VertexData::Sequential(&[]),
            pixels: None,
            stream_indices: [0; 4],
            snapshot: false,
            subject: Subject::Other,
        };
        let mut budget = 0;
        let mut machine = Machine {
            mem: &mut self.memory,
            urb: &mut self.urb,
            shared: &mut self.shared,
            debug: &mut self.debug,
            status: &mut self.status,
            trace: &mut self.trace,
            budget: &mut budget,
            debt: &mut 0,
        };
        self.slot =
            self.td
                .dispatch(&request, &entries, &mut machine)
                .map(|outcome| match outcome {
                    Outcome::Done(slot) | Outcome::InFlight(slot) => slot,
                });
    }

    /// Executes one instruction.
    pub fn step(&mut self) -> Step {
        let Some(slot) = self.slot else {
            return Step::Ended;
        };
        let before = (self.instructions().0, self.td.thread(slot).ip());
        let mut budget = 1;
        let mut machine = Machine {
            mem: &mut self.memory,
            urb: &mut self.urb,
            shared: &mut self.shared,
            debug: &mut self.debug,
            status: &mut self.status,
            trace: &mut self.trace,
            budget: &mut budget,
            debt: &mut 0,
        };
        let outcome = self.td.resume_exact(slot, &mut machine);
        if let Outcome::Done(_) = outcome {
            return Step::Ended;
        }
        if let Some(why) = self.td.hung_reason(slot) {
            return Step::Hung(why.to_owned());
        }
        // Not the budget: the fetch of an instruction that then waits is paid too.
        if before == (self.instructions().0, self.td.thread(slot).ip()) {
            Step::Blocked
        } else {
            Step::Ran
        }
    }

    /// The thread as it stands; `None` before [`ThreadBench::start`].
    pub fn thread(&self) -> Option<&Thread> {
        self.slot.map(|slot| self.td.thread(slot))
    }

    /// The thread, to set registers that a dispatch does not load.
    pub fn thread_mut(&mut self) -> Option<&mut Thread> {
        self.slot.map(|slot| self.td.thread_mut(slot))
    }

    /// What the thread's messages told the units around.
    pub fn events(&self) -> Option<&Events> {
        self.slot.map(|slot| self.td.events(slot))
    }

    /// Messages by function ID.
    pub fn messages(&self) -> [u64; FUNCTIONS] {
        self.shared.stats.messages
    }

    /// Messages that were refused, with the reason of the first.
    pub fn refused(&self) -> u64 {
        self.shared.stats.dropped
    }

    /// Instructions of the thread, and the same in units of eight channels.
    pub fn instructions(&self) -> (u64, u64) {
        let activity = &self.status.activity;
        let unit = Unit::Media as usize;
        (activity.instructions[unit], activity.simd8[unit])
    }

    /// Faults so far.
    pub fn faults(&self) -> &[FaultRecord] {
        self.status.faults()
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]
    use super::*;

    const KERNEL: u32 = 0x1_0000;

    /// A thread that opens its gateway, writes to itself and waits for the notification.
    fn forward(notify: u32) -> ThreadBench {
        let text = format!(
            "mov(8) m1<1>UD 0UD {{ align1 }};\n\
             mov(1) m1.4<1>UD 0x1234UD {{ align1 }};\n\
             mov(1) m1.5<1>UD {:#x}UD {{ align1 }};\n\
             send(8) 1 null<1>UD null<8,8,1>UD 0x03100000 {{ align1 }};\n\
             mov(1) m1<1>UD 0xcafeUD {{ align1 }};\n\
             mov(1) m1.5<1>UD {:#x}UD {{ align1 }};\n\
             send(8) 1 null<1>UD null<8,8,1>UD {:#x} {{ align1 }};\n\
             wait(1) n0<1>UD {{ align1 }};\n\
             send(8) 1 null<1>UD null<8,8,1>UD 0x80100000 {{ align1 }};\n",
            // Register base r10, four registers (PRM vol4 7.1.2).
            10 << 21 | 2 << 8,
            // One dword, four bytes behind the base (PRM vol4 7.1.4).
            4 << 16 | 2 << 8,
            0x0310_0002 | notify << 15,
        );
        let kernel = isa::parse::assemble(Verx10::GEN40, "forward", &text).unwrap();
        let mut bench = ThreadBench::new(Verx10::GEN40).unwrap();
        bench.load(KERNEL, &kernel.bytes()).unwrap();
        let state = KernelState {
            ip: KERNEL,
            grf_count: 128,
            ..KernelState::default()
        };
        bench.start(state, ThreadContext::default(), 0xffff, &[]);
        bench
    }

    // covers: 11.3.4.12-01
    #[test]
    fn a_forwarded_message_writes_the_register_and_notifies() {
        let mut bench = forward(1);
        let steps: Vec<Step> = (0..9).map(|_| bench.step()).collect();
        assert_eq!(steps[7..], [Step::Ran, Step::Ended]);
        assert_eq!(bench.thread().unwrap().grf()[10][1], 0xcafe);
    }

    #[test]
    fn without_notify_the_receiver_sleeps_on() {
        let mut bench = forward(0);
        let steps: Vec<Step> = (0..9).map(|_| bench.step()).collect();
        assert_eq!(steps[7..], [Step::Blocked, Step::Blocked]);
        assert_eq!(bench.thread().unwrap().grf()[10][1], 0xcafe);
        assert_eq!(bench.thread().unwrap().view().notification, [0, 0]);
    }

    #[test]
    fn memory_has_its_limits() {
        let mut bench = ThreadBench::new(Verx10::GEN40).unwrap();
        assert!(matches!(
            bench.map(0x1fff_ffff, 2),
            Err(LoadError::Range { .. })
        ));
        assert!(matches!(
            bench.map(0, MEMORY_CAP + 1),
            Err(LoadError::Full { .. })
        ));
        bench.load(0xffe, &[1, 2, 3]).unwrap();
        let mut back = [0; 3];
        bench
            .memory()
            .read_bytes(GpuAddr(0xffe), &mut back)
            .unwrap();
        assert_eq!(back, [1, 2, 3]);
    }
}
