//! WIZ pixel snapshot: which thread holds the pixel that a debugger asks for.
//!
//! PRM: volume 4, 3.3.9 (registers WIZ_CTL, WIZ_STRG_VAL, WIZ_RDATA and the match rules).
//! The registers live with the debug unit; this is the compare logic and what it captures.
//!
//! Not modelled: multiplexer inputs above 2, which the manual leaves to another document.

/// WIZ_CTL and WIZ_STRG_VAL after gating by the global debug enable.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct WizDebug {
    /// WIZ_CTL.
    pub control: u32,
    /// WIZ_STRG_VAL: Y in the upper half, X in the lower.
    pub trigger: u32,
}

impl WizDebug {
    /// Snapshot Complete.
    pub const fn complete(self) -> bool {
        self.control >> 31 != 0
    }
    /// Subspan Instance Number.
    pub const fn instance_number(self) -> u32 {
        self.control >> 16 & 0xff
    }
    /// Snapshot Output Mux Select.
    pub const fn output_select(self) -> u32 {
        self.control >> 8 & 0xff
    }
    /// Single Subspan Dispatch.
    pub const fn single_subspan_dispatch(self) -> bool {
        self.control >> 6 & 1 != 0
    }
    /// Ignore Color Scoreboard Stalls.
    pub const fn ignore_scoreboard(self) -> bool {
        self.control >> 5 & 1 != 0
    }
    /// Enable Subspan Instance Compare.
    pub const fn instance_compare(self) -> bool {
        self.control >> 4 & 1 != 0
    }
    /// Use Upstream Snapshot Flag.
    pub const fn use_upstream(self) -> bool {
        self.control >> 3 & 1 != 0
    }
    /// Snapshot All Threads.
    pub const fn all_threads(self) -> bool {
        self.control >> 2 & 1 != 0
    }
    /// Thread Snapshot Enable.
    pub const fn thread_enable(self) -> bool {
        self.control >> 1 & 1 != 0
    }
    /// Snapshot Enable.
    pub const fn enable(self) -> bool {
        self.control & 1 != 0
    }
    /// Whether the subspan at (x, y) is the one in the trigger; the lowest bits do not count.
    pub const fn matches(self, x: u32, y: u32) -> bool {
        (self.trigger & 0xffff) >> 1 == x >> 1 && self.trigger >> 17 == y >> 1
    }
}

/// What the unit holds for WIZ_RDATA after a hit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct WizCapture {
    /// Windower kernel pointer (mux 0).
    pub kernel_pointer: u32,
    /// Subspan instance count (mux 1).
    pub instance_count: u32,
    /// Primitive sequence number from SF (mux 2).
    pub primitive_sequence: u32,
    /// Thread ID, as in r0.6 of the payload.
    pub thread: u32,
}

impl WizCapture {
    /// WIZ_RDATA under a mux setting; inputs that the manual does not define read zero.
    pub const fn read(self, select: u32) -> u32 {
        match select {
            0 => self.kernel_pointer,
            1 => self.instance_count,
            2 => self.primitive_sequence,
            _ => 0,
        }
    }
}

/// The running state of the snapshot logic.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Snapshot {
    instances: u32,
    flagged: bool,
    hit: bool,
}

impl Snapshot {
    /// Resets the instance count (MI_FLUSH with Global Snapshot Count Reset, PRM vol4 3.2.1).
    pub fn reset_count(&mut self) {
        self.instances = 0;
    }

    /// Occurrences of the selected subspan so far.
    pub fn instances(&self) -> u32 {
        self.instances
    }

    /// Looks at a subspan on its way into the next thread.
    #[inline]
    pub fn subspan(&mut self, debug: WizDebug, x: u32, y: u32, upstream: bool) {
        if !(debug.enable() || debug.all_threads()) {
            return;
        }
        let mut compare = debug.matches(x, y);
        if compare {
            self.instances = self.instances.wrapping_add(1);
            if debug.instance_compare() {
                compare = self.instances == debug.instance_number();
            }
        }
        let local = debug.all_threads() || (debug.enable() && compare);
        if local && (!debug.use_upstream() || upstream) {
            self.flagged = true;
            // All threads: the data of the last thread stay captured. Otherwise the first hit
            // stays until software clears Snapshot Complete.
            self.hit |= debug.all_threads() || !debug.complete();
        }
    }

    /// Ends a thread's collection: whether the payload carries the flag, and whether data are
    /// captured.
    pub fn thread(&mut self, debug: WizDebug) -> (bool, bool) {
        let result = (self.flagged && debug.thread_enable(), self.hit);
        (self.flagged, self.hit) = (false, false);
        result
    }
}
