//! `crestline exec --deterministic`: the same trace each time.
//!
//! Needs Mesa with a driver for Gen4; `node/tests/steps.rs` asks the same of a client without Mesa.

use std::process::Command;

use crate::common::{PROGRAM, scratch};
use crate::readme::without_mesa;

#[test]
fn ten_runs_of_a_scene_write_the_same_trace() {
    if let Some(why) = without_mesa() {
        println!("skipped: {why}");
        return;
    }
    let dir = scratch("steps");
    let source = concat!(env!("CARGO_MANIFEST_DIR"), "/../tests/tools/glscenes.c");
    let built = Command::new("cc")
        .args([
            "-O2", "-o", "glscenes", source, "-lEGL", "-lGLESv2", "-lgbm", "-lm",
        ])
        .current_dir(&dir)
        .status()
        .unwrap();
    assert!(built.success());
    let mut first: Option<(Vec<u8>, Vec<u8>)> = None;
    for run in 0..10 {
        let output = Command::new(PROGRAM)
            .args([
                "exec",
                "--deterministic",
                "--stats",
                "--trace",
                "trace.jsonl",
                "--trace-format",
                "jsonl",
            ])
            .args(["--", "./glscenes", "-s", "c", "-o", "frame.ppm"])
            .current_dir(&dir)
            .output()
            .unwrap();
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{said}");
        assert!(said.contains("965GM"), "{said}");
        let now = ["trace.jsonl", "frame.ppm"].map(|name| std::fs::read(dir.join(name)).unwrap());
        let [trace, frame] = now;
        assert!(trace.len() > 100_000, "{} bytes", trace.len());
        match &first {
            None => first = Some((trace, frame)),
            Some((before, picture)) => {
                assert!(*before == trace, "the trace of run {run} is another");
                assert!(*picture == frame, "the picture of run {run} is another");
            }
        }
    }
}
