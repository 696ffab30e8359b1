//! How threads are stopped, looked at and let go.
//!
//! PRM: volume 4, chapters 3 and 12. On the host's side of the model, or through the debug registers; both give the same
//! stops and the same registers, but for m0, which the system routine owns.

mod host;
mod registers;

use mmio_mock::intel::debug::host::ThreadKey;
use mmio_mock::intel::status::Unit;

pub use host::HostBackend;
pub use registers::RegistersBackend;

use super::Answer;
use super::gate::Holder;
use super::registers::Registers;
use super::target::Reach;

/// Where threads are to stop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Spec {
    /// Before an instruction with this opcode, as the hardware numbers it.
    Opcode(u32),
    /// Before a message that ends a thread.
    EndOfThread,
    /// Before the instruction at a graphics address.
    Address(u32),
    /// Before the first instruction of a thread for a pixel.
    Pixel(u16, u16),
    /// Before the first instruction of a thread that shades a vertex, by its index.
    Vertex(u32),
    /// Before the first instruction of threads for an object, counted by SF from 0.
    Object(u64),
    /// Before the first instruction of the threads of a thread group, in X, Y and Z, or of one of them.
    Group([u32; 3], Option<u32>),
    /// Before the first instruction of the thread of a group that has the invocation of a number.
    Invocation([u32; 3], u32),
    /// Before the first instruction of the threads of HS and DS for patches of this number in their draw.
    Patch(u32),
    /// Before the first instruction of the thread of DS for a point of such a patch: number of the patch, of the point.
    Point(u32, u16),
    /// Before the first instruction of a geometry shader's threads for objects of this number in their draw, or for an instance.
    Geometry(u32, Option<u8>),
    /// Before the first instruction of a unit's threads.
    Thread(Unit),
    /// After a change of memory: first byte, how many.
    Memory(u32, u32),
    /// After a change of a dword of a thread's general registers.
    Register(ThreadKey, u8, u8),
    /// Before the instruction of a thread that has so many before it.
    Instruction(ThreadKey, u64),
}

/// How a stopped thread goes on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Going {
    /// To the next stop.
    Continue,
    /// For so many instructions.
    Step(u64),
    /// To its end.
    Finish,
}

/// A place on an EU.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Slot {
    /// EU.
    pub eu: u8,
    /// Thread of it.
    pub slot: u8,
}

/// Why something has stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reason {
    /// The breakpoint or watch of this number.
    Break(u32),
    /// The thread has made its steps.
    Stepped,
    /// The thread has ended.
    Ended,
    /// The debugger has asked for it.
    Asked,
}

/// What has stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stop {
    /// The thread, when it was one, and where it runs.
    pub thread: Option<(ThreadKey, Slot)>,
    /// Why.
    pub reason: Reason,
}

/// Stops threads.
pub trait Backend: Holder {
    /// Its name on the command line.
    fn name(&self) -> &'static str;

    /// Takes over a device that was just powered on; nothing is set. There is no driver here when a guest's has the device.
    fn attach(&self, reach: &Reach, device: Option<&driver::Device>) -> Answer<()>;

    /// Sees to it that threads get their sequence numbers.
    fn number(&self) {}

    /// Whether a breakpoint needs VS's snapshot registers, which nobody else can have then.
    fn needs_vs_snapshot(&self, _: Spec) -> bool {
        false
    }

    /// Sets a breakpoint or a watch.
    fn add(&self, number: u32, spec: Spec) -> Answer<()>;

    /// Takes one away.
    fn remove(&self, number: u32);

    /// What has stopped, if anything has.
    fn stopped(&self) -> Option<Stop>;

    /// Instructions that a thread has executed, when that is known.
    fn count(&self, key: ThreadKey) -> Option<u64>;

    /// Registers of a thread.
    fn read(&self, slot: Slot) -> Answer<Registers>;

    /// Changes the registers of a thread to these.
    fn write(&self, slot: Slot, registers: &Registers) -> Answer<()>;

    /// Lets go what has stopped; `thread` chooses which of the threads is stepped.
    fn go(&self, thread: Option<(ThreadKey, Slot)>, going: Going) -> Answer<()>;

    /// Stops everything where it stands.
    fn stop(&self);

    /// Takes every breakpoint away and lets everything go on unwatched; `go` lets the target run, once nothing would
    /// stop it.
    fn detach(&self, go: &mut dyn FnMut());
}
