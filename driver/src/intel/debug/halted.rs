//! A thread that stands in the system routine: its registers, and how it goes on.
//!
//! PRM vol4 3.6.1, 11.3. The routine has saved the registers and loads them again, so what is written here is what the
//! thread goes on with. Not modelled: guard bits of accumulators, notification registers as something to write.
use alloc::sync::{Arc, Weak};
use alloc::vec::Vec;

use kernel::error::{Result, code::EINVAL, code::ENXIO};

use super::Shared;
use super::attention::Place;
use super::routines::Origin;
use super::system_routine::{
    HALTED, LOAD_FLOATS, LOAD_INTEGERS, ROW_ACC, ROW_COMMAND, ROW_GRF, ROW_MAILBOX, ROW_MRF,
    ROW_STATE, offset,
};

/// A register of 256 bits.
pub type Register = [u32; 8];

/// r0.7 of a payload: the snapshot flag (PRM vol4 3.3.5).
const SNAPSHOT_FLAG: u32 = 1 << 31;

/// CR0: the next breakpoint is not taken; inside the system routine.
const SUPPRESS: u32 = 1 << 15;
const MASTER: u32 = 1 << 31;
/// CR0: no implicit update of accumulators, which the routine sets after it has saved the register.
const ACC_DISABLE: u32 = 1 << 1;
/// CR1: breakpoints enabled.
const BREAKPOINT_ENABLE: u32 = 1 << 15;
/// CR1: exceptions that have happened.
const STATUS: u32 = 0xf800_0000;
const BREAKPOINT: u32 = 1 << 31;
const EXTERNAL_HALT: u32 = 1 << 30;
const SOFTWARE: u32 = 1 << 29;
const ILLEGAL: u32 = 1 << 28;
const MASK_STACK: u32 = 1 << 27;

/// Why a thread has halted: the exceptions of CR1.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "bits of a register, several at once"
)]
pub struct Reason {
    /// A breakpoint, or the end of a single step.
    pub breakpoint: bool,
    /// The dispatcher asked for it.
    pub external_halt: bool,
    /// The thread asked for it.
    pub software: bool,
    /// An instruction that does not exist.
    pub illegal_opcode: bool,
    /// A mask stack over- or underflow.
    pub mask_stack: bool,
}

impl Reason {
    fn of(cr1: u32) -> Self {
        Reason {
            breakpoint: cr1 & BREAKPOINT != 0,
            external_halt: cr1 & EXTERNAL_HALT != 0,
            software: cr1 & SOFTWARE != 0,
            illegal_opcode: cr1 & ILLEGAL != 0,
            mask_stack: cr1 & MASK_STACK != 0,
        }
    }
}

/// Channel masks and their stacks.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Masks {
    /// Active, branch, loop and continue mask.
    pub current: [u16; 4],
    /// Stacks of the last three.
    pub stacks: [[u16; 16]; 3],
    /// Depths of the branch stack and of the loop stack.
    pub depths: [u16; 2],
}

/// All registers of a halted thread.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Registers {
    /// g0 to g127.
    pub grf: [Register; 128],
    /// m0 to m15; m0 is the system routine's and reads as zero.
    pub mrf: [Register; 16],
    /// a0.
    pub address: [u16; 8],
    /// acc0 and acc1, floats in single precision.
    pub acc: [Register; 2],
    /// f0.0 and f0.1.
    pub flags: [u16; 2],
    /// Masks.
    pub masks: Masks,
    /// cr0.0 as the thread runs with it, cr0.1, cr0.2 (the address of its next instruction).
    pub control: [u32; 3],
    /// sr0.0 to sr0.2: thread, dispatch mask, system routine.
    pub state: [u32; 3],
    /// n0 and n1, to be read only.
    pub notification: [u32; 2],
}

impl Registers {
    /// Address of the next instruction, relative to the thread's base of instructions ([`HaltedThread::origin`]).
    #[must_use]
    pub fn ip(&self) -> u32 {
        self.control[2]
    }
}

/// What accumulators are to hold.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Accumulators {
    /// Single floats.
    Floats([[f32; 8]; 2]),
    /// Doublewords.
    Integers([[u32; 8]; 2]),
}

/// How a thread goes on.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Going {
    /// Until something else halts it; whether a breakpoint that is at its instruction is passed.
    On { suppress: bool },
    /// By one instruction; whether breakpoints were off and are switched on for it.
    Step,
}

/// A thread that stands in the system routine, once; `ENXIO` from all methods when it has gone on since.
#[derive(Clone)]
pub struct HaltedThread {
    shared: Weak<Shared>,
    /// Where it runs.
    pub place: Place,
    /// Which halt of this session it is.
    pub number: u32,
    /// Fixed function that asked for the thread (PRM vol4 3.3.1).
    pub ffid: u8,
    /// The fixed function's number of the thread.
    pub fftid: u8,
    /// The bases that it began under.
    pub origin: Origin,
    /// Address of its next instruction, relative to the base of instructions.
    pub ip: u32,
    /// Why it stands.
    pub reason: Reason,
}

impl core::fmt::Debug for HaltedThread {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("HaltedThread")
            .field("place", &self.place)
            .field("number", &self.number)
            .field("ffid", &self.ffid)
            .field("ip", &self.ip)
            .field("reason", &self.reason)
            .finish_non_exhaustive()
    }
}

fn words(dwords: &[u32]) -> impl Iterator<Item = u16> + '_ {
    dwords
        .iter()
        .flat_map(|dword| [*dword as u16, (*dword >> 16) as u16])
}

fn word_array<const N: usize>(dwords: &[u32]) -> [u16; N] {
    let mut out = [0; N];
    for (to, from) in out.iter_mut().zip(words(dwords)) {
        *to = from;
    }
    out
}

fn put_words(to: &mut [u32], from: &[u16]) {
    for (to, pair) in to.iter_mut().zip(from.chunks(2)) {
        let high = pair.get(1).copied().unwrap_or((*to >> 16) as u16);
        *to = u32::from(pair[0]) | u32::from(high) << 16;
    }
}

/// Row of the save area and dword in it of a message register; m12 is in two rows, of which the first is loaded.
fn mrf_place(nr: usize) -> Option<(u32, usize)> {
    match nr {
        1..=12 => Some((ROW_MRF + (nr as u32 - 1) / 4, (nr - 1) % 4 * 8)),
        13..=15 => Some((ROW_MRF + 3, (nr - 12) * 8)),
        _ => None,
    }
}

impl Shared {
    fn row(&self, place: Place, row: u32) -> Result<[u32; 32]> {
        let mut bytes = [0; 128];
        self.area.read(offset(place, row) as usize, &mut bytes)?;
        let mut out = [0; 32];
        for (to, from) in out.iter_mut().zip(bytes.chunks_exact(4)) {
            *to = u32::from_le_bytes([from[0], from[1], from[2], from[3]]);
        }
        Ok(out)
    }

    fn put(&self, place: Place, row: u32, dword: usize, dwords: &[u32]) -> Result {
        let at = offset(place, row) as usize + dword * 4;
        self.area.write_dwords(at, dwords)
    }

    /// Whether the routine says that a place's thread is saved.
    pub(super) fn is_saved(&self, place: Place) -> Result<bool> {
        let at = offset(place, ROW_MAILBOX) as usize;
        Ok(self.area.read32(at)? == HALTED)
    }

    /// What a halted thread says of itself.
    pub(super) fn look(self: &Arc<Self>, place: Place, number: u32) -> Result<HaltedThread> {
        let state = self.row(place, ROW_STATE)?;
        let (cr1, ip, sr0) = (state[9], state[10], state[11]);
        let mailbox = self.row(place, ROW_MAILBOX)?;
        Ok(HaltedThread {
            shared: Arc::downgrade(self),
            place,
            number,
            ffid: (sr0 >> 24 & 0xf) as u8,
            fftid: (sr0 >> 16) as u8,
            origin: Origin {
                general: mailbox[1],
                instructions: mailbox[2],
            },
            ip,
            reason: Reason::of(cr1),
        })
    }

    /// Writes how a thread goes on; it does when its attention is cleared.
    pub(super) fn prepare(&self, place: Place, going: Going, forced: bool) -> Result<bool> {
        let state = self.row(place, ROW_STATE)?;
        let (mut cr0, mut cr1) = (state[8] & !(MASTER | SUPPRESS), state[9]);
        // A step may have switched breakpoints on.
        if forced {
            cr1 &= !BREAKPOINT_ENABLE;
        }
        cr1 &= !STATUS;
        let mut forces = false;
        match going {
            Going::On { suppress } => {
                if suppress {
                    cr0 |= SUPPRESS;
                }
            }
            Going::Step => {
                forces = cr1 & BREAKPOINT_ENABLE == 0;
                cr0 |= SUPPRESS;
                cr1 |= BREAKPOINT | BREAKPOINT_ENABLE;
            }
        }
        self.put(place, ROW_STATE, 8, &[cr0, cr1])?;
        self.clear_mailbox(place)?;
        Ok(forces)
    }

    /// Whether breakpoints are enabled in a halted thread.
    pub(super) fn takes_breakpoints(&self, place: Place) -> Result<bool> {
        Ok(self.row(place, ROW_STATE)?[9] & BREAKPOINT_ENABLE != 0)
    }

    /// Forgets that a thread was saved.
    pub(super) fn clear_mailbox(&self, place: Place) -> Result {
        self.put(place, ROW_MAILBOX, 0, &[0])
    }

    /// Forgets what an earlier halt of the place has asked for.
    pub(super) fn clear_command(&self, place: Place) -> Result {
        self.put(place, ROW_COMMAND, 0, &[0; 8])
    }
}

impl HaltedThread {
    /// The session, while it lasts and the thread stands.
    fn session(&self) -> Result<Arc<Shared>> {
        let shared = self.shared.upgrade().ok_or(ENXIO)?;
        shared.check(self)?;
        Ok(shared)
    }

    /// Reads all registers.
    pub fn read_registers(&self) -> Result<Registers> {
        let shared = self.session()?;
        let mut grf = [[0; 8]; 128];
        for (row, four) in (ROW_GRF..).zip(grf.chunks_exact_mut(4)) {
            let data = shared.row(self.place, row)?;
            for (to, from) in four.iter_mut().flatten().zip(data) {
                *to = from;
            }
        }
        let mut mrf = [[0; 8]; 16];
        for (nr, register) in mrf.iter_mut().enumerate() {
            if let Some((row, dword)) = mrf_place(nr) {
                let data = shared.row(self.place, row)?;
                for (to, from) in register.iter_mut().zip(data.iter().skip(dword)) {
                    *to = *from;
                }
            }
        }
        let state = shared.row(self.place, ROW_STATE)?;
        let acc = shared.row(self.place, ROW_ACC)?;
        let register = |from: &[u32]| {
            let mut out = [0; 8];
            for (to, from) in out.iter_mut().zip(from) {
                *to = *from;
            }
            out
        };
        Ok(Registers {
            grf,
            mrf,
            address: word_array(&state[..4]),
            acc: [register(&acc[..8]), register(&acc[16..24])],
            flags: word_array(&state[4..5]),
            masks: Masks {
                current: word_array(&state[16..18]),
                stacks: [
                    word_array(&state[24..]),
                    word_array(&acc[8..16]),
                    word_array(&acc[24..]),
                ],
                depths: word_array(&state[18..19]),
            },
            control: [state[8] & !MASTER, state[9], state[10]],
            state: [state[11], state[12], state[13]],
            notification: [state[14], state[15]],
        })
    }

    /// Writes a general register. `EINVAL` above 127.
    pub fn write_grf(&self, nr: usize, value: Register) -> Result {
        let shared = self.session()?;
        if nr > 127 {
            return Err(EINVAL);
        }
        let row = ROW_GRF + nr as u32 / 4;
        shared.put(self.place, row, nr % 4 * 8, &value)
    }

    /// Takes the snapshot flag out of r0.7.
    pub(super) fn clear_snapshot_flag(&self) -> Result {
        let shared = self.session()?;
        let r0_7 = shared.row(self.place, ROW_GRF)?[7];
        shared.put(self.place, ROW_GRF, 7, &[r0_7 & !SNAPSHOT_FLAG])
    }

    /// Writes a message register. `EINVAL` for m0 and above m15.
    pub fn write_mrf(&self, nr: usize, value: Register) -> Result {
        let shared = self.session()?;
        let (row, dword) = mrf_place(nr).ok_or(EINVAL)?;
        shared.put(self.place, row, dword, &value)
    }

    /// Writes a0.
    pub fn write_address(&self, value: [u16; 8]) -> Result {
        let shared = self.session()?;
        let mut dwords = [0; 4];
        put_words(&mut dwords, &value);
        shared.put(self.place, ROW_STATE, 0, &dwords)
    }

    /// Writes f0.
    pub fn write_flags(&self, value: [u16; 2]) -> Result {
        let shared = self.session()?;
        let dword = u32::from(value[0]) | u32::from(value[1]) << 16;
        shared.put(self.place, ROW_STATE, 4, &[dword])
    }

    /// Writes the masks.
    pub fn write_masks(&self, value: &Masks) -> Result {
        let shared = self.session()?;
        let mut current = [0; 3];
        put_words(&mut current, &value.current);
        put_words(&mut current[2..], &value.depths);
        shared.put(self.place, ROW_STATE, 16, &current)?;
        let at = [(ROW_STATE, 24), (ROW_ACC, 8), (ROW_ACC, 24)];
        for ((row, dword), stack) in at.into_iter().zip(&value.stacks) {
            let mut dwords = [0; 8];
            put_words(&mut dwords, stack);
            shared.put(self.place, row, dword, &dwords)?;
        }
        Ok(())
    }

    /// Writes both accumulators. Without it they keep what they hold to the last guard bit.
    pub fn write_acc(&self, value: Accumulators) -> Result {
        let shared = self.session()?;
        let (values, command) = match value {
            Accumulators::Floats(floats) => (floats.map(|r| r.map(f32::to_bits)), LOAD_FLOATS),
            Accumulators::Integers(integers) => (integers, LOAD_INTEGERS),
        };
        shared.put(self.place, ROW_ACC, 0, &values[0])?;
        shared.put(self.place, ROW_ACC, 16, &values[1])?;
        shared.put(self.place, ROW_COMMAND, 0, &[command])
    }

    /// Makes another instruction the next one; the address is relative to the base of instructions. `EINVAL` when it
    /// is no multiple of 16.
    pub fn write_ip(&self, ip: u32) -> Result {
        let shared = self.session()?;
        if !ip.is_multiple_of(16) {
            return Err(EINVAL);
        }
        shared.put(self.place, ROW_STATE, 10, &[ip])
    }

    /// Writes what differs in `new` from the registers now. m0, the state register and the notification registers
    /// stay; of cr0.0 the modes are taken (bits 1:0), of cr0.1 the enables.
    pub fn write_registers(&self, new: &Registers) -> Result {
        let shared = self.session()?;
        let old = self.read_registers()?;
        for (nr, (new, old)) in new.grf.iter().zip(&old.grf).enumerate() {
            if new != old {
                self.write_grf(nr, *new)?;
            }
        }
        for (nr, (new, old)) in new.mrf.iter().zip(&old.mrf).enumerate().skip(1) {
            if new != old {
                self.write_mrf(nr, *new)?;
            }
        }
        if new.address != old.address {
            self.write_address(new.address)?;
        }
        if new.flags != old.flags {
            self.write_flags(new.flags)?;
        }
        if new.masks != old.masks {
            self.write_masks(&new.masks)?;
        }
        if new.acc != old.acc {
            self.write_acc(Accumulators::Integers(new.acc))?;
        }
        if new.control[..2] != old.control[..2] {
            let modes = 1 | ACC_DISABLE;
            let cr0 = old.control[0] & !modes | new.control[0] & modes;
            let cr1 = old.control[1] & STATUS | new.control[1] & !STATUS;
            shared.put(self.place, ROW_STATE, 8, &[cr0, cr1])?;
        }
        if new.ip() != old.ip() {
            self.write_ip(new.ip())?;
        }
        Ok(())
    }

    /// The four dwords of the next instruction, from memory.
    pub fn instruction(&self) -> Result<Vec<u32>> {
        self.session()?.instruction(self.address()?)
    }

    /// Graphics address of the next instruction as it is now.
    pub fn address(&self) -> Result<u32> {
        Ok(self.origin.instructions.wrapping_add(self.ip_now()?))
    }

    /// Address of the next instruction as it is now, relative to the base of instructions.
    pub fn ip_now(&self) -> Result<u32> {
        let shared = self.session()?;
        Ok(shared.row(self.place, ROW_STATE)?[10])
    }

    /// Lets the thread go on until something halts it again. A breakpoint at its instruction is passed.
    pub fn resume(&self) -> Result {
        self.session()?.resume(self)
    }

    /// Lets the thread execute one instruction; it halts again behind it, unless it has ended by then. Messages are
    /// instructions like all others. See [`DebugSession::step`](super::DebugSession::step), which waits as well.
    pub fn step(&self) -> Result {
        self.session()?.step(self)
    }
}
