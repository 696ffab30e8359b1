//! Each field of each command of the frames at the ends of its range.
//!
//! A field has the same value in all commands of a name, so that no later command sets right what an earlier one has said.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::panic::{AssertUnwindSafe, catch_unwind};

use super::{Bench, Engine, Exec, FRAMES, GpuAddr, Outcome, WHOLE, commands, lock};

/// Inputs before a fresh device.
const LIFETIME: usize = 24;

/// What is written where, and what that is.
struct Change {
    words: Vec<(u32, u32)>,
    note: String,
}

/// Fields of the commands of a frame, without those seen in others.
fn changes(exec: &Exec, seen: &mut BTreeSet<(&'static str, u16)>) -> Vec<Change> {
    let all = commands(exec);
    let mut changes = Vec::new();
    for (_, desc) in &all {
        for field in desc.fields {
            if !seen.insert((desc.name, field.start)) {
                continue;
            }
            let shift = u32::from(field.start) % 32;
            let mask = u32::MAX >> (32 - u32::from(field.width).clamp(1, 32 - shift));
            for value in BTreeSet::from([0, mask, (mask >> 1) + 1]) {
                let same = all.iter().filter(|(_, other)| other.name == desc.name);
                let words = same.filter_map(|(at, _)| {
                    let at = at + u32::from(field.start) / 32 * 4;
                    let old = exec.dword(at)?;
                    Some((at, old & !(mask << shift) | value << shift))
                });
                changes.push(Change {
                    words: words.collect(),
                    note: format!("{} of {}: {value:#x}", field.name, desc.name),
                });
            }
        }
    }
    changes
}

/// Runs frames with one field changed. Each ends in one of the ways that [`Bench::run`] lets pass: complete, by a fault or a hang with a
/// name, or with work left when the time is over.
pub fn ends() {
    let mut seen = BTreeSet::new();
    let mut bad = String::new();
    let mut inputs = 0;
    // Scenes that take long come early in the list, and have few fields that later ones do not have.
    for (name, exec) in FRAMES.iter().rev() {
        for part in changes(exec, &mut seen).chunks(LIFETIME) {
            let mut bench = Bench::of(name, exec, Engine::Compiled, 0);
            for Change { words, note } in part {
                if !bench.restore() {
                    bench = Bench::of(name, exec, Engine::Compiled, 0);
                    assert!(bench.restore());
                }
                for &(at, value) in words {
                    let at = GpuAddr::from(at);
                    lock(&bench.memory).write_u32(at, value).unwrap();
                }
                inputs += 1;
                if catch_unwind(AssertUnwindSafe(|| bench.run(WHOLE))).is_err() {
                    let _ = write!(bad, "\n  {name}, {note}");
                    bench = Bench::of(name, exec, Engine::Compiled, 0);
                }
            }
        }
    }
    assert!(bad.is_empty(), "{bad}");
    // The commands of these frames have more than a thousand fields.
    assert!(inputs > 1000, "{inputs}");
}

/// Each thread of a patch waits for as many as the kernel says; when fewer start, the report names those that wait.
pub fn barrier_that_is_never_full() {
    let (name, exec) = FRAMES.iter().find(|(name, _)| *name == "tessiso").unwrap();
    let all = changes(exec, &mut BTreeSet::new());
    let note = "Instance Count of 3DSTATE_HS: 0x0";
    let change = all.iter().find(|change| change.note == note).unwrap();
    let mut bench = Bench::of(name, exec, Engine::Compiled, 0);
    assert!(bench.restore());
    for &(at, value) in &change.words {
        lock(&bench.memory)
            .write_u32(GpuAddr::from(at), value)
            .unwrap();
    }
    assert!(matches!(bench.run(WHOLE), Outcome::Hang));
    let lines = bench.device.hung_threads();
    assert!(lines[0].starts_with("3D pipeline: "), "{lines:?}");
    let waits = |line: &&String| {
        line.starts_with("HS thread ") && line.contains("waits at barrier 0, to which 1 of ")
    };
    assert_eq!(lines.iter().filter(waits).count(), 1, "{lines:?}");
}
