//! Thread ids, snapshot flags and debug headers of VS, GS and clipper threads.
//!
//! PRM: volume 4, 3.3.5 to 3.3.7. The manual says that the clipper can trap vertices that it passes
//! through unclipped, but not by which trigger; see [`DebugRegs::clip_passes`] for the choice.

use regs::any::{R0Debug, fields, reg};

use super::{Counter, DebugRegs, SnapshotUnit, vertex_tag};

/// Debug side of one thread dispatch.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ThreadDebug {
    /// Thread id, 24 bits.
    pub id: u32,
    /// Snapshot flag of the payload.
    pub flag: bool,
    /// The unit is to capture its mux outputs now.
    pub capture: bool,
    /// Primitive sequence number; pixel shader threads only.
    pub primitive: u32,
}

impl ThreadDebug {
    /// Dwords 6 and 7 of the r0 header.
    pub fn r0(&self) -> [u32; 2] {
        R0Debug::default()
            .with_thread_id(self.id)
            .with_primitive_sequence_number(self.primitive)
            .with_snapshot_flag(self.flag)
            .0
    }
}

impl DebugRegs {
    /// Numbers the next vertex shader thread; mux outputs: index 0, index 1, count, kernel pointer.
    pub fn vs_thread(&mut self) -> ThreadDebug {
        let trigger = self.field(
            reg::VS_STRG_VAL,
            fields::VS_STRG_VAL::THREAD_ID_COMPARE_VALUE,
        );
        self.thread(SnapshotUnit::Vs, Counter::VsThread, trigger)
    }

    /// Numbers the next geometry shader thread; mux outputs: tag and a hole for each of six input
    /// vertices, count, kernel pointer.
    pub fn gs_thread(&mut self) -> ThreadDebug {
        let trigger = self.field(reg::GS_STRG_VAL, fields::GS_STRG_VAL::SNAPSHOT_ID);
        self.thread(SnapshotUnit::Gs, Counter::GsThread, trigger)
    }

    /// Numbers the next clipper thread; mux outputs: tag and relative count of three vertices,
    /// count, kernel pointer.
    pub fn clip_thread(&mut self) -> ThreadDebug {
        let trigger = self.field(reg::CL_STRG_VAL, fields::CL_STRG_VAL::SNAPSHOT_ID);
        self.thread(SnapshotUnit::Clip, Counter::ClipThread, trigger)
    }

    /// Looks at an object that the clipper passes through unclipped; true when its mux outputs are to be
    /// captured.
    ///
    /// Thread ids have 24 bits, the Snapshot ID 28. Here bits 27:24 are an FFID: with one, the trigger is a
    /// vertex tag (3.3.7.1, mux 0, with the FFID four bits lower) and traps the first object with that vertex
    /// among its own. No thread starts, so All Threads does not matter.
    pub fn clip_passes(&mut self, tags: &[u32]) -> bool {
        if !self.is(reg::CL_CTL, fields::CL_CTL::SNAPSHOT_ENABLE)
            || self.snapshot(SnapshotUnit::Clip).complete
        {
            return false;
        }
        let trigger = self.field(reg::CL_STRG_VAL, fields::CL_STRG_VAL::SNAPSHOT_ID);
        let wanted = vertex_tag((trigger >> 24) as u8, trigger);
        let hit = trigger >> 24 != 0 && tags.contains(&wanted);
        if hit {
            self.complete(SnapshotUnit::Clip);
        }
        hit
    }

    fn thread(&mut self, unit: SnapshotUnit, counter: Counter, trigger: u32) -> ThreadDebug {
        let id = self.counters.next(counter, self.global);
        let verdict = self.judge(unit, id == trigger);
        ThreadDebug {
            id,
            flag: verdict.flag,
            capture: verdict.capture,
            primitive: 0,
        }
    }
}
