//! What threads wait for, in words.
//!
//! PRM: volume 4, 7.1 (gateway), 11.3.4.12 (notification).

use crate::intel::shared::SharedFunctions;
use crate::intel::shared::spawner::QUEUE;
use crate::intel::status::Unit;
use crate::intel::td::{Pause, Standing, Td};

/// A line for each thread that waits, of the units that `of` takes.
pub fn lines(td: &Td, shared: &SharedFunctions, of: impl Fn(Unit) -> bool) -> Vec<String> {
    let threads = td.standing().filter(|thread| of(thread.unit));
    threads.filter_map(|thread| line(&thread, shared)).collect()
}

/// What one waits for; `None` where it can run, or a fault has stopped it.
fn line(thread: &Standing, shared: &SharedFunctions) -> Option<String> {
    let (eu, slot) = (thread.id.eu, thread.id.slot);
    let why = match thread.pause {
        Pause::Ready | Pause::Hung => return None,
        Pause::Wait(0) if let Some((number, come, all)) = shared.gateway.at_barrier(eu, slot) => {
            format!("waits at barrier {number}, to which {come} of {all} threads have come")
        }
        Pause::Wait(0) => match shared.gateway.opened(eu, slot) {
            Some((key, first, last)) => format!(
                "waits for a notification in n0; its gateway is open with key {key:#06x} for r{first} to r{last}"
            ),
            None => "waits for a notification in n0, but its gateway is closed".to_owned(),
        },
        Pause::Wait(n) => format!("waits for the host in n{n}"),
        Pause::Busy if shared.spawner.waiting() >= QUEUE => {
            format!("waits for the thread spawner, in which {QUEUE} requests wait for a slot")
        }
        Pause::Loops => "goes round in a loop that changes nothing".to_owned(),
        Pause::Busy => "waits for a shared function that takes no message".to_owned(),
    };
    Some(format!(
        "{} thread {slot} of EU {eu}, kernel {:#010x}, at {:#010x}: {why}",
        thread.unit.name(),
        thread.kernel,
        thread.ip
    ))
}
