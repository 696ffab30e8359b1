//! The snapshot mechanism common to the units: controls, decision, latch.
//!
//! PRM: volume 4, 3.2. Snapshot Complete holds the latched data until software clears it; it does
//! not hold back the flag of a thread that matches (the manual's equations do not mention it).

use regs::any::{fields, reg};

use super::DebugRegs;

/// Units that latch a snapshot.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum SnapshotUnit {
    /// Vertex fetch.
    Vf,
    /// Vertex shader.
    Vs,
    /// Geometry shader.
    Gs,
    /// Clipper.
    Clip,
    /// Strips and fans.
    Sf,
    /// Windower.
    Wiz,
    /// Video front end.
    Vfe,
    /// Thread spawner.
    Ts,
    /// Unified return buffer.
    Urb,
}

impl SnapshotUnit {
    /// How many there are.
    pub const COUNT: usize = 9;
}

/// Most mux outputs that a unit publishes: 16 of the URB.
const OUTPUTS: usize = 16;

/// Data of the last snapshot, by mux value.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Latch {
    data: [u32; OUTPUTS],
}

impl Latch {
    /// Keeps all outputs; those not given read as zero.
    pub fn capture(&mut self, outputs: &[u32]) {
        self.data = [0; OUTPUTS];
        for (to, from) in self.data.iter_mut().zip(outputs) {
            *to = *from;
        }
    }

    /// What a mux value shows.
    pub fn get(&self, mux: u32) -> u32 {
        usize::try_from(mux)
            .ok()
            .and_then(|i| self.data.get(i))
            .copied()
            .unwrap_or(0)
    }
}

/// Snapshot controls of a unit as they act, qualification included.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Snapshot {
    /// Snapshot Enable.
    pub enable: bool,
    /// Snapshot Complete.
    pub complete: bool,
    /// Thread Snapshot Enable.
    pub thread_enable: bool,
    /// Snapshot All Threads.
    pub all_threads: bool,
}

/// What to do with an element.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Verdict {
    /// Latch the mux outputs.
    pub capture: bool,
    /// The compare succeeded and Snapshot Complete gets set.
    pub complete: bool,
    /// The unit's own snapshot flag, handed downstream.
    pub local: bool,
    /// The flag of the thread's payload.
    pub flag: bool,
}

impl Snapshot {
    /// Decides on an element whose trigger compare came out as `hit`.
    ///
    /// All Threads overrides both Snapshot Enable and Thread Snapshot Enable (3.2) and latches
    /// every thread anew, so that the last one stays.
    pub fn decide(self, hit: bool) -> Verdict {
        let hit = self.enable && hit;
        let first = hit && !self.complete;
        Verdict {
            capture: self.all_threads || first,
            complete: first,
            local: self.all_threads || hit,
            flag: self.all_threads || (self.thread_enable && hit),
        }
    }

    /// Whether any element could matter.
    pub fn armed(self) -> bool {
        self.enable || self.all_threads
    }
}

/// A debug vertex tag as the mux of the next unit shows it: FFID in 31:28, number in 23:0.
pub fn vertex_tag(ffid: u8, number: u32) -> u32 {
    regs::any::DebugVertexTag::default()
        .with_ff_id(u32::from(ffid))
        .with_sequence_number(number)
        .dwords()
        .first()
        .copied()
        .unwrap_or(0)
}

macro_rules! controls {
    ($regs:expr, $ctl:ident) => {
        Snapshot {
            enable: $regs.is(reg::$ctl, fields::$ctl::SNAPSHOT_ENABLE),
            complete: $regs.is(reg::$ctl, fields::$ctl::SNAPSHOT_COMPLETE),
            thread_enable: $regs.is(reg::$ctl, fields::$ctl::THREAD_SNAPSHOT_ENABLE),
            all_threads: $regs.is(reg::$ctl, fields::$ctl::SNAPSHOT_ALL_THREADS),
        }
    };
}

impl DebugRegs {
    /// The snapshot controls of a unit as they act.
    pub fn snapshot(&self, unit: SnapshotUnit) -> Snapshot {
        match unit {
            SnapshotUnit::Vs => controls!(self, VS_CTL),
            SnapshotUnit::Gs => controls!(self, GS_CTL),
            SnapshotUnit::Clip => controls!(self, CL_CTL),
            SnapshotUnit::Sf => controls!(self, SF_CTL),
            SnapshotUnit::Wiz => controls!(self, WIZ_CTL),
            // VF starts no threads.
            SnapshotUnit::Vf => Snapshot {
                enable: self.is(reg::VF_CTL, fields::VF_CTL::SNAPSHOT_ENABLE),
                complete: self.is(reg::VF_CTL, fields::VF_CTL::SNAPSHOT_COMPLETE),
                ..Snapshot::default()
            },
            // One enable both arms the compare and hands the flag on.
            SnapshotUnit::Vfe => {
                let enable = self.is(reg::VFE_CTL, fields::VFE_CTL::SNAPSHOT_ENABLE);
                Snapshot {
                    enable,
                    complete: self.is(reg::VFE_CTL, fields::VFE_CTL::SNAPSHOT_COMPLETE),
                    thread_enable: enable,
                    all_threads: false,
                }
            }
            SnapshotUnit::Ts => {
                let enable = self.is(reg::TS_CTL, fields::TS_CTL::THREAD_SNAPSHOT_ENABLE);
                Snapshot {
                    enable,
                    complete: self.is(reg::TS_CTL, fields::TS_CTL::SNAPSHOT_COMPLETE),
                    thread_enable: enable,
                    all_threads: false,
                }
            }
            SnapshotUnit::Urb => Snapshot {
                enable: self.is(reg::URB_CTL, fields::URB_CTL::SNAPSHOT_ENABLE),
                complete: self.is(reg::URB_CTL, fields::URB_CTL::SNAPSHOT_COMPLETE),
                ..Snapshot::default()
            },
        }
    }

    /// The mux value a unit's control register holds.
    pub(super) fn mux(&self, unit: SnapshotUnit) -> u32 {
        match unit {
            SnapshotUnit::Vf => self.field(reg::VF_CTL, fields::VF_CTL::SNAPSHOT_OUTPUT_MUX_SELECT),
            SnapshotUnit::Vs => self.field(reg::VS_CTL, fields::VS_CTL::SNAPSHOT_OUTPUT_MUX_SELECT),
            SnapshotUnit::Gs => self.field(reg::GS_CTL, fields::GS_CTL::SNAPSHOT_OUTPUT_MUX_SELECT),
            SnapshotUnit::Clip => {
                self.field(reg::CL_CTL, fields::CL_CTL::SNAPSHOT_OUTPUT_MUX_SELECT)
            }
            SnapshotUnit::Sf => self.field(reg::SF_CTL, fields::SF_CTL::SNAPSHOT_OUTPUT_MUX_SELECT),
            SnapshotUnit::Wiz => {
                self.field(reg::WIZ_CTL, fields::WIZ_CTL::SNAPSHOT_OUTPUT_MUX_SELECT)
            }
            SnapshotUnit::Vfe => {
                self.field(reg::VFE_CTL, fields::VFE_CTL::SNAPSHOT_OUTPUT_MUX_SELECT)
            }
            SnapshotUnit::Ts => self.field(reg::TS_CTL, fields::TS_CTL::DEBUG_DATA_MUX_SELECT),
            SnapshotUnit::Urb => self.field(reg::URB_CTL, fields::URB_CTL::DEBUG_DATA_MUX_SELECT),
        }
    }

    /// Decides on an element and sets Snapshot Complete; the caller captures.
    pub(super) fn judge(&mut self, unit: SnapshotUnit, hit: bool) -> Verdict {
        let verdict = self.snapshot(unit).decide(hit);
        if verdict.complete {
            self.complete(unit);
        }
        verdict
    }
}
