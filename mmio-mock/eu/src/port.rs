//! The doors of the EU: instruction fetch, messages, observer, dispatch.
//!
//! PRM: volume 4, 2.6 (messages), 2.4 (dispatch).

use isa::Inst;

/// One 256-bit register as eight dwords.
pub type Grf = [u32; 8];

/// Physical identity of a thread: which fixed function asked for it and where it runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub struct ThreadId {
    /// Fixed-function id (PRM 3.3.1: VF, VS, GS, CLIP, SF, WIZ, VFE, TS ...).
    pub ffid: u8,
    /// FFTID: the slot that the fixed function gave the thread, 8 bits.
    pub fftid: u8,
    /// EU number.
    pub eu: u8,
    /// Thread slot on that EU.
    pub slot: u8,
}

/// Floating point mode of a thread (PRM 10.3).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub enum FloatMode {
    /// IEEE-754 with the manual's deviations.
    #[default]
    Ieee,
    /// Alternative mode: no NaN or infinity is produced.
    Alt,
}

/// What the thread dispatcher loads besides the payload.
#[derive(Clone, Copy, Debug, Default)]
pub struct ThreadInit {
    /// Identity.
    pub id: ThreadId,
    /// Kernel start pointer (relative to General State Base Address; the port adds the base).
    pub ip: u32,
    /// System routine (STATE_SIP).
    pub sip: u32,
    /// Dispatch mask: one bit a channel, of which there are 16 where masks have stacks.
    pub dispatch_mask: u32,
    /// Float mode.
    pub float_mode: FloatMode,
    /// Single program flow.
    pub single_program_flow: bool,
    /// CR0.1 enables: illegal opcode, mask stack, software, and the breakpoint enable by TD.
    pub illegal_opcode_exception: bool,
    /// Mask stack exception enable.
    pub mask_stack_exception: bool,
    /// Software exception enable.
    pub software_exception: bool,
    /// Breakpoint enable, CR0.1 bit 15, set by TD for debugged threads.
    pub breakpoint: bool,
    /// Thread priority bit.
    pub high_priority: bool,
    /// Number of GRF registers allocated; an access past it is the thread's own mistake.
    pub grf_count: u8,
}

/// A message as it leaves the EU (PRM 2.6: descriptor, payload and sideband).
#[derive(Clone, Copy, Debug)]
pub struct Message<'a> {
    /// Sender.
    pub thread: ThreadId,
    /// Target shared function: descriptor bits 27:24 on Gen4, beside the descriptor on Gen5.
    pub sfid: u8,
    /// Function control: descriptor bits 15:0. Gen5 has more of it in `desc`.
    pub function_control: u16,
    /// The descriptor dword whole.
    pub desc: u32,
    /// Response length in registers.
    pub response_length: u8,
    /// End of thread.
    pub eot: bool,
    /// Execution mask of the send, one bit a channel (not shifted for `sechalf`: bit 0 is the
    /// first channel of this message).
    pub exec_mask: u16,
    /// Execution size of the send.
    pub exec_size: u8,
    /// Payload, message length registers.
    pub payload: &'a [Grf],
    /// Address of the instruction, for errors.
    pub ip: u32,
    /// Floating point mode of the sender (CR0 bit 0), which extended math obeys.
    pub float_mode: FloatMode,
}

/// What became of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Delivery {
    /// Served; the response registers are valid.
    Done,
    /// Dropped as on hardware (PRM 2.6.11): the destination registers never become valid, and a
    /// thread that uses them hangs.
    Dropped,
    /// The target cannot serve it yet; the EU keeps the instruction and tries again when resumed.
    Busy,
}

/// What an EU needs of the machine around it. The consumer defines it; the model's router and
/// the test benches implement it.
pub trait Port {
    /// A fault of the memory or of a shared function, handed through unchanged.
    type Fault;

    /// Fetches the instruction at `ip` (bytes from General State Base Address).
    fn fetch(&mut self, ip: u32) -> Result<[u32; 4], Self::Fault>;

    /// Delivers a message. `response` has `response_length` registers and holds the present
    /// contents of the destination, so that a function that honours the execution mask leaves the
    /// disabled channels alone.
    fn send(&mut self, msg: &Message<'_>, response: &mut [Grf]) -> Result<Delivery, Self::Fault>;

    /// Ticks that the messages since the last call took beyond their instruction, at most `most`; what is more
    /// the port keeps for the next call.
    fn charge(&mut self, most: u64) -> u64 {
        let _ = most;
        0
    }

    /// Free-running timestamp (PRM 11.3.4, tm0 where it exists).
    fn timestamp(&mut self) -> u64 {
        0
    }
}

/// Why a thread stopped running.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stop<F> {
    /// A send with EOT was delivered: the thread has ended.
    EndOfThread,
    /// The instruction budget of this slice is used up; run again to continue.
    Budget,
    /// The thread waits for notification register `n`.
    Wait(u8),
    /// The thread waits for a busy shared function.
    Busy,
    /// The thread can never continue (PRM 2.6.11): the text names the rule.
    Hung(&'static str),
    /// An encoding with no meaning and no exception handler: the instruction words as fetched.
    Illegal([u32; 4]),
    /// The EU does not model this yet; see docs/known-gaps.md.
    Unimplemented(&'static str),
    /// The port failed.
    Fault(F),
    /// The observer asked to stop before the instruction at `ip`.
    Observer,
}

/// Sees every instruction; compiles to nothing when `ACTIVE` is false.
pub trait Observer {
    /// Whether the EU calls the hooks at all.
    const ACTIVE: bool;
    /// Called before each instruction; `true` stops the thread with nothing half done.
    fn before_inst(&mut self, thread: ThreadId, ip: u32, inst: &Inst) -> bool;
    /// Called after each instruction.
    fn after_inst(&mut self, thread: ThreadId, ip: u32, inst: &Inst);
}

/// The observer that sees nothing and costs nothing.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoObserver;

impl Observer for NoObserver {
    const ACTIVE: bool = false;
    fn before_inst(&mut self, _: ThreadId, _: u32, _: &Inst) -> bool {
        false
    }
    fn after_inst(&mut self, _: ThreadId, _: u32, _: &Inst) {}
}
