//! Windower: pixel snapshots, subspan instances, thread ids within a primitive.
//!
//! PRM: volume 4, 3.3.9. The thread id that 3.3.9 promises is mux value 3 here, the first of those that the
//! manual leaves to another document. The instance count shown before a snapshot completes is the running one;
//! the manual only says that it can be read.

use regs::any::{fields, reg};

use super::{Counter, DebugRegs, SnapshotUnit, ThreadDebug};

/// What one pixel shader payload carries, as far as debugging asks.
#[derive(Clone, Copy, Debug)]
pub struct WizPayload<'a> {
    /// A pixel of each subspan of the payload, x and y.
    pub subspans: &'a [(u32, u32)],
    /// Primitive sequence number from SF.
    pub primitive: u32,
    /// Snapshot flag that SF sent down with the primitive.
    pub upstream: bool,
    /// Kernel start pointer of the pixel shader.
    pub kernel_pointer: u32,
}

/// Occurrences of the selected subspan since the counters, the trigger or the snapshot were reset.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Instances {
    count: u32,
    primitive: Option<u32>,
}

/// True when a write ends a completed snapshot or arms the unit.
pub(super) fn rearmed(old: u32, new: u32) -> bool {
    use fields::WIZ_CTL::{SNAPSHOT_COMPLETE, SNAPSHOT_ENABLE};
    (SNAPSHOT_COMPLETE.is_set(old) && !SNAPSHOT_COMPLETE.is_set(new))
        || (!SNAPSHOT_ENABLE.is_set(old) && SNAPSHOT_ENABLE.is_set(new))
}

/// The windower's debug controls as they act.
#[derive(Clone, Copy, Debug)]
pub struct WizView<'a> {
    regs: &'a DebugRegs,
}

impl WizView<'_> {
    /// Whether payloads need a look at all; when false their subspans may be left out.
    pub fn armed(self) -> bool {
        self.regs.snapshot(SnapshotUnit::Wiz).armed()
    }

    /// Whether the subspan of a pixel is the selected one; bit 0 of x and y does not count.
    pub fn selected(self, x: u32, y: u32) -> bool {
        use fields::WIZ_STRG_VAL::{PIXEL_X_COMPARE_VALUE, PIXEL_Y_COMPARE_VALUE};
        let at = self.regs.acting(reg::WIZ_STRG_VAL);
        x >> 1 == PIXEL_X_COMPARE_VALUE.read(at) >> 1
            && y >> 1 == PIXEL_Y_COMPARE_VALUE.read(at) >> 1
    }

    /// Whether the next occurrence (counted from 1) of the selected subspan would be trapped.
    pub fn snapshot_wanted(self, x: u32, y: u32, instance: u32, upstream: bool) -> bool {
        self.regs.snapshot(SnapshotUnit::Wiz).enable
            && self.selected(x, y)
            && self.instance_matches(instance)
            && self.upstream_passes(upstream)
    }

    /// One subspan per payload (bit 6).
    pub fn single_subspan_dispatch(self) -> bool {
        self.regs
            .is(reg::WIZ_CTL, fields::WIZ_CTL::SINGLE_SUBSPAN_DISPATCH)
    }

    /// Subspans need not wait for the pixel scoreboard (bit 5).
    pub fn ignore_scoreboard(self) -> bool {
        self.regs.is(
            reg::WIZ_CTL,
            fields::WIZ_CTL::IGNORE_COLOR_SCOREBOARD_STALLS,
        )
    }

    fn instance_matches(self, instance: u32) -> bool {
        use fields::WIZ_CTL::{ENABLE_SUBSPAN_INSTANCE_COMPARE, SUBSPAN_INSTANCE_NUMBER};
        !self.regs.is(reg::WIZ_CTL, ENABLE_SUBSPAN_INSTANCE_COMPARE)
            || instance == self.regs.field(reg::WIZ_CTL, SUBSPAN_INSTANCE_NUMBER)
    }

    fn upstream_passes(self, upstream: bool) -> bool {
        upstream
            || !self
                .regs
                .is(reg::WIZ_CTL, fields::WIZ_CTL::USE_UPSTREAM_SNAPSHOT_FLAG)
    }
}

impl DebugRegs {
    /// The windower's controls.
    pub fn wiz(&self) -> WizView<'_> {
        WizView { regs: self }
    }

    /// Numbers a pixel shader thread, compares its subspans with the trigger and captures.
    ///
    /// Follows the equations of 3.3.9: here Thread Snapshot Enable gates the payload's flag even
    /// when all threads are flagged.
    pub fn wiz_payload(&mut self, payload: &WizPayload<'_>) -> ThreadDebug {
        if self.wiz.primitive != Some(payload.primitive) {
            self.wiz.primitive = Some(payload.primitive);
            self.counters.restart(Counter::WizThread);
        }
        let id = self.counters.next(Counter::WizThread, self.global);
        let mut thread = ThreadDebug {
            id,
            primitive: payload.primitive & 0x00ff_ffff,
            ..ThreadDebug::default()
        };
        let controls = self.snapshot(SnapshotUnit::Wiz);
        if !controls.armed() {
            return thread;
        }
        let mut hit = false;
        for &(x, y) in payload.subspans {
            if self.wiz().selected(x, y) {
                self.wiz.count = self.wiz.count.wrapping_add(1);
                hit |= self.wiz().instance_matches(self.wiz.count);
            }
        }
        let passes = self.wiz().upstream_passes(payload.upstream);
        let hit = controls.enable && hit && passes;
        thread.flag = controls.thread_enable && (controls.all_threads && passes || hit);
        thread.capture = controls.all_threads && passes || hit && !controls.complete;
        if thread.capture {
            let outputs = [payload.kernel_pointer, self.wiz.count, thread.primitive, id];
            self.capture(SnapshotUnit::Wiz, &outputs);
        }
        if hit && !controls.complete {
            self.complete(SnapshotUnit::Wiz);
        }
        thread
    }

    /// WIZ_RDATA: the latched dword; before the snapshot completes, the running instance count.
    pub(super) fn wiz_rdata(&self) -> u32 {
        use fields::WIZ_CTL::SNAPSHOT_OUTPUT_MUX_SELECT::Value;
        let count = self.mux(SnapshotUnit::Wiz) == Value::SubspanInstanceCount as u32;
        if count && !self.snapshot(SnapshotUnit::Wiz).complete {
            self.wiz.count
        } else {
            self.latched(SnapshotUnit::Wiz)
        }
    }
}
