//! One hardware thread: register file, architecture registers, instruction pointer.
//!
//! PRM: volume 4, 2.4 (dispatch), 11.3 (registers).

use crate::arf::Acc;
use crate::decoded::Decoded;
use crate::exception::{
    CR0_ALT, CR1_BREAKPOINT, CR1_BREAKPOINT_ENABLE, CR1_ILLEGAL_ENABLE, CR1_MASK_STACK_ENABLE,
    CR1_SOFTWARE_ENABLE,
};
use crate::r#gen::InstructionSet;
use crate::grf::{GRF_COUNT, MRF_COUNT, RegFile};
use crate::mask::Masks;
use crate::paths::Parked;
use crate::port::{FloatMode, Grf, ThreadId, ThreadInit};
use crate::reach::Reach;
use crate::rounding::Rounding;
use crate::scoreboard::Registers;
use isa::inst::PredCtrl;

/// What the next thread of the slot has to find cleared. It is no state of a thread: two that differ in it alone are equal.
#[derive(Clone, Copy, Debug, Default)]
struct Touched(Reach);

impl PartialEq for Touched {
    fn eq(&self, _: &Touched) -> bool {
        true
    }
}

impl Eq for Touched {}

/// The context of one thread slot. Reuse it for many threads: [`Thread::dispatch`] starts a new
/// one, whose registers are zero until they are loaded or written (PRM 11.3.2 leaves open what they hold).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Thread {
    pub(crate) regs: RegFile,
    /// Registers that may be other than zero.
    touched: Touched,
    pub(crate) acc: Acc,
    pub(crate) masks: Masks,
    /// Channels that execute: `masks.emask()`, kept in step, or those that wait at no other place.
    pub(crate) emask: u32,
    /// Channels that wait at other places.
    pub(crate) parked: Parked,
    pub(crate) flag: Flags,
    pub(crate) a0: [u16; 8],
    pub(crate) cr: [u32; 3],
    pub(crate) sip: u32,
    pub(crate) notify: [u32; 2],
    pub(crate) ip: u32,
    pub(crate) dispatch_mask: u32,
    /// CR0 bit 0.
    pub(crate) alt: bool,
    /// CR0 bits 5:4.
    pub(crate) rounding: Rounding,
    /// CR0 bit 1 is clear.
    pub(crate) acc_on: bool,
    /// Nobody looks between two instructions: accumulator updates that the next ones overwrite
    /// unread may be left out.
    pub(crate) acc_lazy: bool,
    pub(crate) spf: bool,
    /// Channels of the subroutine that the thread is in.
    pub(crate) call_mask: u32,
    /// An explicit write changed `ip`.
    pub(crate) jumped: bool,
    /// Instructions lie at multiples of two to this power bytes.
    pub(crate) place: u8,
    /// Message registers.
    pub(crate) message_registers: u8,
    /// Channels have instruction pointers of their own, and there are no mask registers.
    pub(crate) paths: bool,
    /// Notifications are subregisters of one register.
    pub(crate) one_notification: bool,
    /// There is a second flag register.
    pub(crate) second_flags: bool,
    /// The timestamp, as an instruction last found it.
    pub(crate) time: u64,
    /// AIP is to be the place behind the instruction that runs, whose size its loop knows.
    pub(crate) aip_behind: bool,
    /// Instructions until the breakpoint of a single step, and whether that of the present one is suppressed; 0 when
    /// there is nothing of it.
    pub(crate) step: u8,
    /// Where a scalar `if` landed, so that an `else` there falls through.
    pub(crate) spf_else: Option<u32>,
    /// General registers that never become valid, one bit each; see `scoreboard`.
    pub(crate) stale: Registers,
    /// `stale` or `parked` is not empty; kept in step.
    pub(crate) waiting: bool,
    pub(crate) note: &'static str,
    pub(crate) high_priority: bool,
    id: ThreadId,
}

/// Subregisters of the flags: f0.0, f0.1, f1.0 and f1.1.
pub type Flags = [u16; 4];

/// Architecture registers of a thread, for debuggers and tests.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct View {
    /// Identity.
    pub id: ThreadId,
    /// Address of the next instruction.
    pub ip: u32,
    /// Masks and mask stacks.
    pub masks: Masks,
    /// f0.0 and f0.1.
    pub flag: [u16; 2],
    /// f1.0 and f1.1, where there is a second flag register.
    pub second_flag: [u16; 2],
    /// Address register.
    pub address: [u16; 8],
    /// cr0.0, cr0.1, cr0.2 (AIP).
    pub control: [u32; 3],
    /// n0 and n1.
    pub notification: [u32; 2],
    /// acc0 and acc1 as sixteen dword channels, in single precision when they hold floats.
    pub acc: [u32; 16],
    /// Word channels 8 to 15 of acc0, then those of acc1; the first eight of each are in `acc`.
    pub acc_words: [u32; 16],
}

impl Default for Thread {
    fn default() -> Thread {
        Thread::new()
    }
}

impl Thread {
    /// A slot after reset: every register zero.
    pub fn new() -> Thread {
        Thread {
            regs: RegFile::new(),
            touched: Touched::default(),
            acc: Acc::new(),
            masks: Masks::default(),
            emask: 0xffff,
            parked: Parked::new(),
            flag: [0; 4],
            a0: [0; 8],
            cr: [0; 3],
            sip: 0,
            notify: [0; 2],
            ip: 0,
            dispatch_mask: 0xffff,
            alt: false,
            rounding: Rounding::Nearest,
            acc_on: true,
            acc_lazy: false,
            spf: false,
            call_mask: 0,
            jumped: false,
            step: 0,
            spf_else: None,
            stale: 0,
            waiting: false,
            note: "",
            high_priority: false,
            place: 4,
            message_registers: 16,
            paths: false,
            one_notification: false,
            second_flags: false,
            time: 0,
            aip_behind: false,
            id: ThreadId::default(),
        }
    }

    /// The same for an instruction set: all of its message registers can be reached.
    pub fn of(set: InstructionSet) -> Thread {
        let mut thread = Thread::new();
        thread.prepare(set);
        thread
    }

    /// Starts a thread. Its payload is written behind this, through [`Thread::load`] or [`Thread::grf_mut`].
    pub fn dispatch(&mut self, init: &ThreadInit) {
        let bit = |on: bool, b: u32| if on { b } else { 0 };
        let Touched(touched) = std::mem::take(&mut self.touched);
        self.regs.clear(touched.pairs);
        if touched.accumulator {
            self.acc = Acc::new();
        }
        self.flag = [0; 4];
        self.a0 = [0; 8];
        self.id = init.id;
        self.ip = init.ip & !15;
        self.sip = init.sip & !15;
        // CAST: the masks have sixteen channels.
        self.masks.dispatch(init.dispatch_mask as u16);
        self.dispatch_mask = init.dispatch_mask;
        self.emask = init.dispatch_mask;
        self.call_mask = init.dispatch_mask;
        self.parked.clear();
        self.rounding = Rounding::Nearest;
        self.alt = init.float_mode == FloatMode::Alt;
        self.spf = init.single_program_flow;
        self.high_priority = init.high_priority;
        self.cr = [
            bit(self.alt, CR0_ALT),
            bit(init.illegal_opcode_exception, CR1_ILLEGAL_ENABLE)
                | bit(init.mask_stack_exception, CR1_MASK_STACK_ENABLE)
                | bit(init.software_exception, CR1_SOFTWARE_ENABLE)
                | bit(init.breakpoint, CR1_BREAKPOINT_ENABLE),
            0,
        ];
        self.acc_on = true;
        self.notify = [0; 2];
        self.time = 0;
        self.jumped = false;
        self.step = 0;
        self.spf_else = None;
        self.set_stale(0);
        self.note = "";
    }

    /// Identity given at dispatch.
    pub const fn id(&self) -> ThreadId {
        self.id
    }

    /// Channels that it was dispatched with.
    pub const fn dispatch_mask(&self) -> u32 {
        self.dispatch_mask
    }

    /// Address of the next instruction.
    pub const fn ip(&self) -> u32 {
        self.ip
    }

    /// Moves the thread, as a debugger does between instructions.
    pub fn set_ip(&mut self, ip: u32) {
        self.ip = self.placed(ip);
    }

    /// The place of an instruction that an address names.
    pub(crate) fn placed(&self, ip: u32) -> u32 {
        ip >> self.place << self.place
    }

    /// r0..r127.
    pub fn grf(&self) -> &[Grf] {
        self.regs.grf()
    }

    /// r0..r127, writable.
    pub fn grf_mut(&mut self) -> &mut [Grf] {
        self.touch(Reach::general(GRF_COUNT));
        self.regs.grf_mut()
    }

    /// r0 to the register before `end`, to load the payload into.
    pub fn load(&mut self, end: usize) -> &mut [Grf] {
        let end = end.min(GRF_COUNT);
        self.touch(Reach::general(end));
        // PANIC: at most as many as there are.
        &mut self.regs.grf_mut()[..end]
    }

    /// Registers may be written.
    pub(crate) fn touch(&mut self, registers: Reach) {
        self.touched.0 = self.touched.0.and(registers);
    }

    /// The message registers: m0..m15 until the thread has run, then those that the generation has.
    pub fn mrf(&self) -> &[Grf] {
        let registers = self.regs.mrf();
        registers
            .get(..usize::from(self.message_registers))
            .unwrap_or(registers)
    }

    /// The message registers, writable.
    pub fn mrf_mut(&mut self) -> &mut [Grf] {
        self.touch(Reach::message(MRF_COUNT));
        // PANIC: no generation has more than the file.
        &mut self.regs.mrf_mut()[..usize::from(self.message_registers)]
    }

    /// Makes the thread one of an instruction set, as running it does: its message registers can then be reached.
    pub fn prepare(&mut self, set: InstructionSet) {
        self.place = set.rules.place;
        self.message_registers = set.rules.message_registers;
        self.paths = set.rules.paths;
        self.one_notification = set.rules.one_notification;
        self.second_flags = set.rules.flag_registers > 1;
    }

    /// Channels enabled now, before predication. With masks that have stacks there are sixteen.
    pub const fn exec_mask(&self) -> u32 {
        self.emask | self.parked.at(self.ip)
    }

    /// Whether it has f1 beside f0.
    #[must_use]
    pub fn has_second_flag(&self) -> bool {
        self.second_flags
    }

    /// Whether its channels have instruction pointers of their own: then there are no mask registers.
    #[must_use]
    pub const fn has_paths(&self) -> bool {
        self.paths
    }

    /// Replaces the masks, as a debugger or a test bench does.
    pub fn set_masks(&mut self, masks: Masks) {
        self.masks = masks;
        self.update_emask();
    }

    /// Replaces f0.
    pub fn set_flag(&mut self, [low, high]: [u16; 2]) {
        (self.flag[0], self.flag[1]) = (low, high);
    }

    /// Replaces f1.
    pub fn set_second_flag(&mut self, [low, high]: [u16; 2]) {
        (self.flag[2], self.flag[3]) = (low, high);
    }

    /// Replaces a0, as a debugger does between instructions.
    pub fn set_address(&mut self, address: [u16; 8]) {
        self.a0 = address;
    }

    /// Raises notification register `n` (0 or 1); others are ignored (PRM 7.1.4, 3.5).
    pub fn notify(&mut self, n: u8) {
        if let Some(count) = self.notify.get_mut(usize::from(n)) {
            *count = count.saturating_add(1);
        }
    }

    /// Whether notification register `n` (0 or 1) holds a notification that nobody has taken.
    pub fn notified(&self, n: u8) -> bool {
        self.notify.get(usize::from(n)).is_some_and(|&n| n > 0)
    }

    /// Clears what AClear clears: N1 bit 0 and CR0 bit 2 (PRM 3.5).
    pub fn attention_clear(&mut self) {
        self.notify[1] &= !1;
        self.cr[0] &= !4;
    }

    /// Host notification data, CR0 bit 2 (PRM 3.5).
    pub const fn attention_data(&self) -> bool {
        self.cr[0] & 4 != 0
    }

    /// Takes a breakpoint before the next instruction if the thread has breakpoints enabled:
    /// for the address and opcode matches of the instruction cache (PRM 3.4.5, 3.6).
    pub fn breakpoint(&mut self) -> bool {
        crate::exception::breakpoint(self)
    }

    /// Raises the external halt exception (PRM 3.4.1.1, 12.4): the thread is in its system routine
    /// before it executes another instruction of its own.
    pub fn external_halt(&mut self) {
        crate::exception::external_halt(self);
    }

    /// Whether every register of another, and what else decides on its next instruction, is as here.
    pub fn is_as(&self, other: &Thread) -> bool {
        self.ip == other.ip && self == other
    }

    /// Architecture registers now.
    pub fn view(&self) -> View {
        let acc = |first: u8| std::array::from_fn(|i| self.acc.int(first + i as u8) as u32);
        View {
            id: self.id,
            ip: self.ip,
            masks: self.masks,
            flag: [self.flag[0], self.flag[1]],
            second_flag: [self.flag[2], self.flag[3]],
            address: self.a0,
            control: self.cr,
            notification: self.notify,
            acc: acc(0),
            acc_words: acc(16),
        }
    }

    /// Replaces the set of general registers that wait.
    pub(crate) fn set_stale(&mut self, stale: Registers) {
        self.stale = stale;
        self.waiting = stale != 0 || self.parked.any();
    }

    /// The channels that wait at the next instruction go on with it.
    pub(crate) fn wake(&mut self) {
        self.emask |= self.parked.take(self.ip);
        self.waiting = self.stale != 0 || self.parked.any();
    }

    pub(crate) fn update_emask(&mut self) {
        if !self.paths {
            self.emask = u32::from(self.masks.emask());
        }
    }

    /// Makes `ip` the next instruction.
    pub(crate) fn jump_to(&mut self, ip: u32) {
        self.ip = self.placed(ip);
        self.jumped = true;
    }

    /// A pending single step: the breakpoint after the instruction (PRM 3.6.1).
    pub(crate) fn finish_step(&mut self) {
        use crate::exception::{CR0_BREAKPOINT_SUPPRESS, STEP_SUPPRESSED, enter};
        let left = self.step & !STEP_SUPPRESSED;
        self.step = left.saturating_sub(1);
        if left != 1 {
            return;
        }
        self.cr[0] &= !CR0_BREAKPOINT_SUPPRESS;
        if self.cr[1] & CR1_BREAKPOINT != 0 {
            let ip = self.ip;
            enter(self, CR1_BREAKPOINT, ip);
            self.jumped = false;
        }
    }

    /// Whether an instruction updates the accumulator implicitly.
    #[inline(always)]
    pub(crate) fn acc_wanted(&self, d: &Decoded) -> bool {
        d.acc_write && self.acc_on && !(d.acc_dead && self.acc_lazy)
    }

    /// The channel masks as the mask control of an instruction combines them, in the place of its channels.
    #[inline(always)]
    pub(crate) fn channel_mask(&self, d: &Decoded) -> u16 {
        // CAST: the instruction's sixteen channels.
        if !d.no_mask {
            (self.emask >> d.shift) as u16
        } else if d.no_cmask {
            (self.masks.amask & self.masks.imask & self.masks.lmask) >> (d.shift & 15)
        } else {
            0xffff >> (d.shift & 15)
        }
    }

    /// Channels that an instruction writes: masks, predicate and align16 channel enables.
    #[inline(always)]
    pub(crate) fn write_mask(&self, d: &Decoded) -> u16 {
        let mut m = self.channel_mask(d) & d.lanes;
        if d.pred != PredCtrl::None {
            m &= self.predicate(d);
        }
        m
    }
}
