//! What threads wait for when the media pipeline stands still.
//!
//! PRM: volume 4, 7.1 (gateway), 11.3.4.12 (notification), 2.6.8 (ends that the spawner must be told).

use super::Media;
use crate::intel::shared::SharedFunctions;
use crate::intel::shared::spawner::QUEUE;
use crate::intel::status::Unit;
use crate::intel::td::{Pause, Td};

impl Media {
    /// Whether nothing that is alive can ever go on by itself: no thread runs, none waits for the host.
    pub fn deadlocked(&self, td: &Td) -> bool {
        let host = |pause| pause == Pause::Wait(1);
        self.stalled && (!self.idle() || self.starved) && !td.standing().any(|t| host(t.pause))
    }

    /// What every thread and every request waits for, one line each.
    pub fn waits(&self, td: &Td, shared: &SharedFunctions) -> Vec<String> {
        let mut lines = Vec::new();
        for thread in td.standing().filter(|t| t.unit == Unit::Media) {
            let why = match thread.pause {
                Pause::Ready | Pause::Hung => continue,
                Pause::Wait(0)
                    if let Some((number, come, all)) =
                        shared.gateway.at_barrier(thread.id.eu, thread.id.slot) =>
                {
                    format!("waits at barrier {number}, to which {come} of {all} threads have come")
                }
                Pause::Wait(0) => match shared.gateway.opened(thread.id.eu, thread.id.slot) {
                    Some((key, first, last)) => format!(
                        "waits for a notification in n0; its gateway is open with key {key:#06x} for r{first} to r{last}"
                    ),
                    None => "waits for a notification in n0, but its gateway is closed".to_owned(),
                },
                Pause::Wait(n) => format!("waits for the host in n{n}"),
                Pause::Busy if shared.spawner.waiting() >= QUEUE => format!(
                    "waits for the thread spawner, in which {QUEUE} requests wait for a slot"
                ),
                Pause::Loops => "goes round in a loop that changes nothing".to_owned(),
                Pause::Busy => "waits for a shared function that takes no message".to_owned(),
            };
            lines.push(format!(
                "MEDIA thread {} of EU {}, kernel {:#010x}, at {:#010x}: {why}",
                thread.id.slot, thread.id.eu, thread.kernel, thread.ip
            ));
        }
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
