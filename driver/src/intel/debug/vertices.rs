//! Vertices of shader threads: which ones a thread that has just begun is for.
//!
//! PRM vol4 3.3.4, 3.3.5, 3.4.1. Vertex fetch can trap a vertex by its index, but starts no thread and hands no flag
//! on; so VS latches every thread, one at a time runs, and the latch is that one's. Not modelled: threads that had
//! begun before.
use alloc::vec::Vec;

use kernel::error::{Result, code::EINVAL};

use super::breakpoint::ThreadUnit;
use super::halted::HaltedThread;
use super::snapshot::units::{ThreadTrigger, Vs};
use super::snapshot::{Flag, Snapshot};
use super::{limit_threads, restrict_threads};
use crate::intel::device::Device;

/// Unit code of VS (PRM vol4 3.3.1).
const FFID_VS: u8 = 2;

/// VS latches the vertices of every thread. Dropping it leaves the hardware so; see [`end`](Self::end).
pub struct Vertices {
    device: Device,
    snapshot: Snapshot<Vs>,
}

impl Vertices {
    /// Keeps VS to one thread at a time and lets it latch each of them.
    pub(super) fn begin(device: &Device) -> Result<Self> {
        // A second thread would replace the vertices of the first.
        limit_threads(device, Some(1))?;
        restrict_threads(device, ThreadUnit::Vs, Some(1))?;
        let every = ThreadTrigger {
            id: 0,
            flag: Flag::All,
        };
        Ok(Vertices {
            device: device.clone(),
            snapshot: device.arm_snapshot::<Vs>(&every)?,
        })
    }

    /// Indices of the one or two vertices of a VS thread that has halted before its first instruction. Its payload
    /// loses the flag that it has got through this. `EINVAL` for other threads.
    pub fn of(&self, thread: &HaltedThread) -> Result<Vec<u32>> {
        if thread.ffid != FFID_VS || !thread.reason.external_halt {
            return Err(EINVAL);
        }
        thread.clear_snapshot_flag()?;
        Ok(self.snapshot.latest().indices)
    }

    /// VS latches nothing any more, and as many threads run as before a session.
    pub fn end(self) {
        // No limit is always one.
        let _ = restrict_threads(&self.device, ThreadUnit::Vs, None);
        let _ = limit_threads(&self.device, None);
        self.snapshot.disarm();
    }
}
