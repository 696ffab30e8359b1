//! What a replay did, in words and numbers.
//!
//! Counters are the model's, time is the program's.

use std::fmt::Write as _;
use std::time::Duration;

use crestline_cli::replay::{Report, Snapshot};
use crestline_cli::stages;
use kernel::string_helpers::Counted;
use mmio_mock::intel::status::Unit;
use mmio_mock::intel::td::engine::{Done, Engine};
use mmio_mock::intel::td::wave::Ran;

/// The end summary.
pub fn counters(report: &Report, elapsed: Duration) -> String {
    let activity = &report.activity;
    let mut out = String::new();
    let mut line = |name: &str, value: String| {
        // Writing to a String cannot fail.
        let _ = writeln!(out, "  {name:<14} {value:>14}");
    };
    line("batches", grouped(activity.batches));
    line("commands", grouped(activity.commands));
    line("draws", grouped(activity.draws));
    line("vertices", grouped(activity.vertices));
    line("objects", grouped(activity.objects));
    if activity.blits > 0 {
        line("blits", grouped(activity.blits));
    }
    line("pixels", grouped(activity.pixels));
    let _ = writeln!(
        out,
        "  {:<14} {:>14} {:>14} {:>14}",
        "unit", "threads", "instructions", "SIMD8"
    );
    let rows = Unit::ALL
        .iter()
        .zip(activity.threads)
        .zip(activity.instructions)
        .zip(activity.simd8);
    for (((unit, threads), instructions), simd8) in rows {
        if threads > 0 {
            let _ = writeln!(
                out,
                "  {:<14} {:>14} {:>14} {:>14}",
                unit.name(),
                grouped(threads),
                grouped(instructions),
                grouped(simd8)
            );
        }
    }
    let seconds = elapsed.as_secs_f64().max(1e-9);
    let _ = writeln!(
        out,
        "  {:.1} ms ({:.3} ms of device time), {:.1} million SIMD8-equivalent EU instructions per second",
        seconds * 1e3,
        report.nanos as f64 / 1e6,
        report.simd8() as f64 / seconds / 1e6
    );
    out
}

/// The pipeline statistics counters.
pub fn statistics(report: &Report) -> String {
    let s = &report.statistics;
    let rows = [
        ("IA_VERTICES_COUNT", s.ia_vertices),
        ("IA_PRIMITIVES_COUNT", s.ia_primitives),
        ("VS_INVOCATION_COUNT", s.vs_invocations),
        ("HS_INVOCATION_COUNT", s.hs_invocations),
        ("DS_INVOCATION_COUNT", s.ds_invocations),
        ("GS_INVOCATION_COUNT", s.gs_invocations),
        ("GS_PRIMITIVES_COUNT", s.gs_primitives),
        ("CL_INVOCATION_COUNT", s.cl_invocations),
        ("CL_PRIMITIVES_COUNT", s.cl_primitives),
        ("PS_INVOCATION_COUNT", s.ps_invocations),
        ("PS_DEPTH_COUNT", s.ps_depth_count),
        ("CS_INVOCATION_COUNT", s.cs_invocations),
    ];
    // Earlier devices have no registers for these.
    let later = ["HS_", "DS_", "CS_"];
    let is_shown = |name: &str, value: u64| value > 0 || !later.iter().any(|l| name.starts_with(l));
    let mut out = String::from("  statistics counters (those that the batch enables)\n");
    for (name, value) in rows {
        if is_shown(name, value) {
            let _ = writeln!(out, "  {name:<20} {:>14}", grouped(value));
        }
    }
    let streams = s.so_prims_written.iter().zip(s.so_storage_needed);
    for (stream, (written, needed)) in streams.enumerate() {
        if needed > 0 {
            let (written, needed) = (grouped(*written), grouped(needed));
            let _ = writeln!(out, "  SO_NUM_PRIMS_WRITTEN {stream} {written:>12}");
            let _ = writeln!(out, "  SO_PRIM_STORAGE_NEEDED {stream} {needed:>10}");
        }
    }
    out += &stages(report);
    out
}

/// What stages did that have no registers of their own, and how much became of it: vertices, patches, points, objects.
fn stages(report: &Report) -> String {
    let mut out = String::from("  stages\n");
    for stage in stages::of(&report.activity, &report.statistics) {
        let threads = stage.threads.map(|[threads, instructions, _]| {
            format!(
                "{} threads, {} instructions",
                grouped(threads),
                grouped(instructions)
            )
        });
        let counts = stage.counts.iter();
        let counts = counts.map(|(name, count)| format!("{} {name}", grouped(*count)));
        let all: Vec<String> = threads.into_iter().chain(counts).collect();
        // Writing to a String cannot fail.
        let _ = writeln!(out, "  {:<14} {}", stage.name, all.join(", "));
    }
    out
}

/// What executed kernels, and how much of them.
pub fn engine(done: &Done, instructions: u64) -> String {
    let mut out = format!("  engine {}", done.engine);
    if done.engine != Engine::Interpreter {
        let share = 100.0 * done.compiled as f64 / instructions.max(1) as f64;
        let _ = write!(
            out,
            ": {} compiled, {share:.0} % of {}",
            Counted(done.kernels, "kernel"),
            Counted(instructions, "instruction")
        );
    }
    if let Some(place) = &done.difference {
        let _ = write!(out, "; compiled code differs from the interpreter: {place}");
    }
    out + "\n" + &waves(&done.ran)
}

/// How pixel threads ran, where they may wait for others.
fn waves(ran: &Ran) -> String {
    if *ran == Ran::default() {
        return String::new();
    }
    let alone = [
        (ran.first, "first of a draw"),
        (ran.slice, "for time"),
        (ran.watched, "watched"),
        (ran.alike, "all alike"),
        (ran.again, "again"),
    ];
    let alone = alone.iter().filter(|(count, _)| *count > 0);
    let alone: Vec<String> = alone.map(|(count, why)| format!("{count} {why}")).collect();
    format!(
        "  pixel threads: {} in waves; alone: {}\n",
        ran.waves,
        alone.join(", ")
    )
}

/// What the windower trapped.
pub fn snapshot(pixel: Option<(u16, u16)>, hits: u32, snapshot: &Snapshot) -> String {
    let (x, y) = pixel.unwrap_or_default();
    let mut out = format!("  pixel snapshot at {x},{y}: ");
    if !snapshot.complete {
        out += "not complete, no thread was dispatched for this pixel\n";
        return out;
    }
    let _ = writeln!(
        out,
        "complete, thread {} of {hits} for its 2x2 pixels{}\n    kernel pointer {:#010x}{}\n    instance count {}\n    primitive      {}",
        snapshot.instances,
        if snapshot.instances == hits {
            " (the last)"
        } else {
            ""
        },
        snapshot.kernel_pointer,
        snapshot
            .place
            .as_ref()
            .map_or_else(String::new, |place| format!(" [{place}]")),
        snapshot.instances,
        snapshot.primitive
    );
    for line in &snapshot.kernel {
        let _ = writeln!(out, "      {line}");
    }
    out
}

/// A number with a comma every three digits.
pub fn grouped(value: u64) -> String {
    let digits = value.to_string();
    let mut out = String::new();
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::grouped;

    #[test]
    fn groups_of_three() {
        let all = [0, 999, 1000, 1_234_567].map(grouped);
        assert_eq!(all, ["0", "999", "1,000", "1,234,567"]);
    }
}
