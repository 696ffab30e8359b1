//! What the media pipeline waits for when it stands still.
//!
//! PRM: volume 4, 2.6.8 (ends that the spawner must be told).

use super::Media;
use crate::intel::shared::SharedFunctions;
use crate::intel::td::{Pause, Td};

impl Media {
    /// Whether nothing that is alive can ever go on by itself: no thread runs, none waits for the host.
    pub fn deadlocked(&self, td: &Td) -> bool {
        let host = |pause| pause == Pause::Wait(1);
        self.stalled && (!self.idle() || self.starved) && !td.standing().any(|t| host(t.pause))
    }

    /// What units wait for, one line each. What threads do is told beside it.
    pub fn waits(&self, shared: &SharedFunctions) -> Vec<String> {
        let mut lines = Vec::new();
        for (number, family) in (0u8..).zip(&self.families) {
            let Some(family) = family.as_ref().filter(|f| f.silent > 0) else {
                continue;
            };
            let (kernel, eu, slot) = family.last_silent;
            lines.push(format!(
                "thread spawner: {} of root thread {number} ended with EOT to another unit, the last in thread {slot} of EU {eu}, kernel {kernel:#010x}; \
                 end it with send .. thread_spawner .. resource {{ EOT }}",
                family.silent
            ));
        }
        let requests = shared.spawner.waiting();
        if requests > 0 {
            lines.push(format!(
                "thread spawner: {requests} requests, the first for a child, wait for a slot"
            ));
        }
        if let Some(([x, y, z], threads)) = self.next_group() {
            lines.push(format!(
                "thread spawner: thread group {x}, {y}, {z} waits for room for its {threads} threads, their local memory or a barrier"
            ));
        }
        if let Some(object) = self.prepared.front() {
            let why = if object.synchronized && self.leave == 0 {
                "a spawn root thread message"
            } else if self.depends(object) {
                "a root thread that the scoreboard names"
            } else {
                "a slot or the end of another root thread"
            };
            lines.push(format!(
                "thread spawner: {} root threads are ready, the first waits for {why}",
                self.prepared.len()
            ));
        }
        if !self.kept.is_empty() {
            lines.push(format!(
                "VFE: {} URB entries were not given back by threads that have ended",
                self.kept.len()
            ));
        }
        lines
    }
}
