//! Peak memory of a replay, measured in a process of its own.
//!
//! No PRM chapter. Linux alone says what a process's peak was (proc(5), VmHWM).
#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "tests")]

use std::process::Command;

use crestline_cli::replay::Session;
use crestline_tests::scenes::{SCENES, capture, options};

/// KiB.
const LIMIT: u64 = 256 << 10;

#[test]
fn every_scene_stays_under_256_mib() {
    for scene in SCENES {
        let output = Command::new(std::env::current_exe().unwrap())
            .args(["child", "--exact", "--nocapture"])
            .env("CRESTLINE_MEMORY_SCENE", scene)
            .output()
            .unwrap();
        let text = String::from_utf8_lossy(&output.stdout);
        assert!(output.status.success(), "{scene}: {text}");
        let peak = text
            .lines()
            .find_map(|line| line.split_once("peak KiB: ")?.1.trim().parse::<u64>().ok())
            .unwrap_or_else(|| panic!("{scene}: {text}"));
        println!("{scene}: peak {peak} KiB");
        assert!(peak < LIMIT, "{scene}: {peak} KiB");
    }
}

/// Does nothing unless it runs as the child of the test above.
#[test]
fn child() {
    let Ok(scene) = std::env::var("CRESTLINE_MEMORY_SCENE") else {
        return;
    };
    let capture = capture(&scene);
    let mut session = Session::new(options(&capture), capture.buffer_bytes()).unwrap();
    for exec in &capture.execs {
        session.run(exec).unwrap();
    }
    session.picture().unwrap();
    session.finish().unwrap();
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let peak = status
        .lines()
        .find_map(|line| line.strip_prefix("VmHWM:")?.trim().strip_suffix(" kB"));
    println!("peak KiB: {}", peak.unwrap());
}
