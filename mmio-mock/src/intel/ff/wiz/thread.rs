//! The windower's side of thread dispatch, and what else it asks of the machine.
//!
//! PRM: volume 4, 2.4 (dispatch), 5.7 (pixel scoreboard).
//!
//! Not modelled: arbitration with other fixed functions.

use eu::Grf;
use mem::Memory;

use super::plain::Plain;
use super::run::Row;
use crate::intel::debug::DebugRegs;
use crate::intel::ff::payload::PayloadLayout;
use crate::intel::ff::payload::pixels::{MAX_SUBSPANS, PixelGroup};
use crate::intel::shared::context::ThreadPixels;
use crate::intel::td::KernelState;
use crate::intel::td::wave::Record;
use crate::intel::urb::UrbHandle;

/// A pixel shader thread.
#[derive(Clone, Copy, Debug)]
pub struct PsThread<'a> {
    /// Kernel.
    pub kernel: &'a KernelState,
    /// Channels.
    pub dispatch_mask: u32,
    /// Registers from r0 on.
    pub payload: &'a [Grf],
    /// Setup entry; its rows are those of WM_STATE's read offset and length. `None`: the attributes came with the primitive.
    pub setup: Option<UrbHandle>,
    /// The pixels of a thread whose render target writes need no header.
    pub pixels: Option<&'a ThreadPixels>,
    /// FFTID, as in the payload.
    pub fftid: u8,
    /// Its pixels are a whole square of four by four.
    pub square: bool,
    /// [`WizPort::wait`] was asked for it.
    pub plain: bool,
    /// Snapshot flag: the thread starts with breakpoints enabled if TD says so.
    pub snapshot: bool,
}

/// What became of a thread request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dispatch {
    /// The thread ran to its end.
    Done,
    /// The thread lives on in this slot; see [`super::Wiz::retire`].
    InFlight(u16),
    /// No slot is free; ask again.
    Full,
}

/// What the first thread of a run begins with.
#[derive(Debug)]
pub struct Begin {
    /// The primitive.
    pub primitive: Plain,
    /// The debug dwords of r0.
    pub debug: [u32; 2],
    /// Snapshot flag.
    pub snapshot: bool,
}

/// What the windower asks of the machine.
pub trait WizPort {
    /// Graphics memory, for the depth buffer.
    fn memory(&mut self) -> &mut Memory;
    /// A row of a URB entry; rows past the end of the URB read zero.
    fn urb_row(&self, handle: UrbHandle, row: u16) -> Grf;
    /// Where threads find what in their first registers.
    fn layout(&self) -> &'static dyn PayloadLayout;
    /// Does what the thread of a whole square would do, whose upper left pixel is `at`, if that is known; `false`: start it.
    fn spare(&mut self, _kernel: &KernelState, _at: (u16, u16)) -> bool {
        false
    }
    /// Keeps a thread of a plain primitive for later, as a record; `false`: start it. `primitive` is what its threads begin with.
    fn wait(&mut self, _record: Record, _primitive: impl FnOnce() -> Plain) -> bool {
        false
    }
    /// Keeps the thread of sixteen lit pixels for later; `false`: start it. Its subspans are those of a row of squares, from subspan
    /// `first` of the square at a pixel on.
    fn wait_whole(
        &mut self,
        _kernel: &KernelState,
        _square: ((u16, u16), u8),
        _begin: impl FnOnce(&mut DebugRegs) -> Begin,
    ) -> bool {
        false
    }
    /// Whether [`spare_row`](Self::spare_row) or [`wait_row`](Self::wait_row) may take something.
    fn takes_rows(&self, _kernel: &KernelState) -> bool {
        false
    }
    /// Does what the threads of a row of lit squares would do, as far as that is known. Comes back with how many squares that was, and
    /// whether the windower goes on behind them.
    fn spare_row(&mut self, _kernel: &KernelState, _row: &Row) -> (u32, bool) {
        (0, true)
    }
    /// Keeps the threads of a row of lit squares for later; how many, and whether the windower goes on behind them.
    fn wait_row(
        &mut self,
        _kernel: &KernelState,
        _row: &Row,
        _begin: impl FnOnce(&mut DebugRegs) -> Begin,
    ) -> (u32, bool) {
        (0, true)
    }
    /// Whether a thread of the primitive waits.
    fn waits(&self) -> bool {
        false
    }
    /// Ticks have been used.
    fn charge(&mut self, _ticks: u64) {}
    /// Takes up a further thread while others wait, after a share of the windower's work; `false` when the device is to look at its
    /// other units first.
    fn go_on(&mut self) -> bool {
        false
    }
    /// Starts a thread.
    fn dispatch(&mut self, thread: &PsThread<'_>) -> Dispatch;
    /// Pixels handed to a thread: PS_INVOCATION_COUNT, under Statistics Enable.
    fn count_invocations(&mut self, pixels: u32);
    /// Pixels that passed the early tests with Statistics Enable on: PS_DEPTH_COUNT.
    fn count_depth(&mut self, pixels: u32);
    /// The debug registers: thread numbers and snapshots.
    fn debug(&mut self) -> &mut DebugRegs;
}

/// Subspans that threads still work on (the pixel scoreboard).
#[derive(Clone, Debug, Default)]
pub struct Scoreboard {
    threads: Vec<Occupied>,
}

#[derive(Clone, Copy, Debug)]
struct Occupied {
    slot: u16,
    count: usize,
    at: [(u16, u16); MAX_SUBSPANS],
}

impl Scoreboard {
    /// Enters the subspans of a thread that lives on.
    pub fn enter(&mut self, slot: u16, group: &PixelGroup) {
        let mut at = [(0, 0); MAX_SUBSPANS];
        for (to, s) in at.iter_mut().zip(group.subspans()) {
            *to = (s.x, s.y);
        }
        let count = group.subspans().len();
        self.threads.push(Occupied { slot, count, at });
    }

    /// Forgets the subspans of a thread; `false` when it had none here.
    pub fn retire(&mut self, slot: u16) -> bool {
        let before = self.threads.len();
        self.threads.retain(|t| t.slot != slot);
        self.threads.len() < before
    }

    /// Forgets everything.
    pub fn clear(&mut self) {
        self.threads.clear();
    }

    /// Threads that live.
    pub fn threads(&self) -> usize {
        self.threads.len()
    }

    /// Whether a thread works on the subspan at (x, y).
    #[inline]
    pub fn blocks(&self, x: u16, y: u16) -> bool {
        let hit = |t: &Occupied| t.at[..t.count].contains(&(x, y));
        self.threads.iter().any(hit)
    }
}
