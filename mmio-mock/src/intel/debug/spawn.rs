//! Media threads: snapshots of VFE and of the thread spawner.
//!
//! PRM: volume 4, 3.3.10 and 3.3.11. VFE publishes no mux output.

use regs::any::{TsMessageError, TsSnapshotDescriptor, fields, reg};

use super::{DebugRegs, SnapshotUnit};

/// A media thread about to be dispatched.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MediaThread {
    /// Spawned by another thread.
    pub child: bool,
    /// r0.6: debug identifier from VFE, or what the parent sent.
    pub r0_6: u32,
    /// r0.7 without the flag: zero for root threads, child thread id otherwise.
    pub r0_7: u32,
    /// Its interface descriptor.
    pub interface_descriptor: u32,
}

impl DebugRegs {
    /// Snapshot of VFE on the debug identifier; true when the thread gets the flag.
    pub fn vfe_thread(&mut self, identifier: u32) -> bool {
        use fields::VFE_STRG_VAL::SNAPSHOT_ID;
        let hit = identifier & SNAPSHOT_ID.mask == self.field(reg::VFE_STRG_VAL, SNAPSHOT_ID);
        let verdict = self.judge(SnapshotUnit::Vfe, hit);
        if verdict.capture {
            self.capture(SnapshotUnit::Vfe, &[]);
        }
        verdict.flag
    }

    /// Snapshot of the thread spawner; true when the thread gets the flag.
    ///
    /// The trigger values take part only while neither all-threads bit is set (3.3.11).
    pub fn ts_thread(&mut self, thread: &MediaThread) -> bool {
        use fields::TS_CTL::{SNAPSHOT_ALL_CHILD_THREADS, SNAPSHOT_ALL_ROOT_THREADS};
        let roots = self.is(reg::TS_CTL, SNAPSHOT_ALL_ROOT_THREADS);
        let children = self.is(reg::TS_CTL, SNAPSHOT_ALL_CHILD_THREADS);
        if roots || children {
            let flag = if thread.child { children } else { roots };
            if flag {
                self.latch_descriptor(thread);
            }
            return flag;
        }
        let id0 = fields::TS_STRG_0_6VAL::SNAPSHOT_ID0;
        let id1 = fields::TS_STRG_0_7VAL::SNAPSHOT_ID1;
        let hit = thread.r0_6 & id0.mask == self.field(reg::TS_STRG_0_6VAL, id0)
            && thread.r0_7 & id1.mask == self.field(reg::TS_STRG_0_7VAL, id1);
        let verdict = self.judge(SnapshotUnit::Ts, hit);
        if verdict.capture {
            self.latch_descriptor(thread);
        }
        verdict.flag
    }

    /// Keeps the sideband of the first message that the thread spawner refused.
    pub fn ts_error(&mut self, error: TsMessageError) {
        if !self.shared.ts_error.error_code_valid() {
            self.shared.ts_error = error.with_error_code_valid(true);
        }
    }

    fn latch_descriptor(&mut self, thread: &MediaThread) {
        use fields::TS_CTL::DEBUG_DATA_MUX_SELECT::Value;
        let word = TsSnapshotDescriptor::default()
            .with_interface_descriptor(thread.interface_descriptor)
            .with_child_thread(thread.child);
        let mut outputs = [0; 4];
        if let (Some(to), [from]) = (
            outputs.get_mut(Value::SnapshotInterfaceDescriptor as usize),
            word.0,
        ) {
            *to = from;
        }
        self.capture(SnapshotUnit::Ts, &outputs);
    }

    pub(super) fn ts_rdata(&self) -> u32 {
        use fields::TS_CTL::DEBUG_DATA_MUX_SELECT::Value;
        if self.mux(SnapshotUnit::Ts) == Value::MessageError as u32 {
            let [word] = self.shared.ts_error.0;
            word
        } else {
            self.latched(SnapshotUnit::Ts)
        }
    }
}
