//! Milliseconds per frame of every scene, next to Mesa's rasterisers.
//!
//! `cargo xtask bench`, or `cargo bench -p crestline-tests`; CRESTLINE_GLSCENES names a binary of tests/tools/glscenes.c for the
//! comparison, CRESTLINE_FRAMES the number of frames, CRESTLINE_SCENE one scene by a part of its name. A frame is a submission up to its fence, probe excluded.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    reason = "a measurement that fails shall say so"
)]

use std::process::Command;
use std::time::Instant;

use crestline_cli::replay::Session;
use crestline_tests::scenes::{REFERENCES, SCENES, capture, options};

/// Frames of every scene, after one that does not count.
const FRAMES: usize = 30;

/// What was measured of a scene.
struct Measured {
    median: f64,
    best: f64,
    /// SIMD8-equivalent EU instructions of a frame.
    simd8: u64,
}

fn replay(scene: &str, frames: usize) -> Measured {
    let capture = capture(scene);
    let mut session = Session::new(options(&capture), capture.buffer_bytes()).unwrap();
    let exec = &capture.execs[0];
    session.run(exec).unwrap();
    let simd8 = session.report().simd8();
    let mut times: Vec<f64> = (0..frames)
        .map(|_| {
            let began = Instant::now();
            session.run(exec).unwrap();
            began.elapsed().as_secs_f64() * 1e3
        })
        .collect();
    session.finish().unwrap();
    times.sort_by(f64::total_cmp);
    Measured {
        median: times[frames / 2],
        best: times[0],
        simd8,
    }
}

/// Average and best milliseconds per frame that glscenes reports, its first frame excluded.
fn mesa(program: &str, driver: &str, scene: &str, frames: usize) -> Option<(f64, f64)> {
    let letter = scene.get(..1)?;
    let output = Command::new(program)
        .args(["-s", letter, "-W", "256", "-H", "256", "-n"])
        .arg((frames + 1).to_string())
        .env("GALLIUM_DRIVER", driver)
        .env("LIBGL_ALWAYS_SOFTWARE", "1")
        .output()
        .ok()?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let value = |name: &str| {
        let (_, rest) = text.split_once(name)?;
        rest.split_once("ms")?.0.parse().ok()
    };
    Some((value("avg=")?, value("min=")?))
}

fn main() {
    let frames = std::env::var("CRESTLINE_FRAMES")
        .ok()
        .and_then(|n| n.parse().ok())
        .unwrap_or(FRAMES)
        .max(1);
    let program = std::env::var("CRESTLINE_GLSCENES").ok();
    if program.is_none() {
        println!(
            "without llvmpipe and softpipe: `cargo xtask bench` builds the program that draws with them"
        );
    }
    print!(
        "{:<20} {:>10} {:>10} {:>12}",
        "ms per frame", "crestline", "best", "M SIMD8/s"
    );
    if program.is_some() {
        for driver in REFERENCES {
            print!(" {driver:>10} {:>10}", "best");
        }
    }
    println!();
    let only = std::env::var("CRESTLINE_SCENE").unwrap_or_default();
    for scene in SCENES.into_iter().filter(|s| s.contains(only.as_str())) {
        let ours = replay(scene, frames);
        let rate = ours.simd8 as f64 / ours.median / 1e3;
        print!(
            "{scene:<20} {:>10.3} {:>10.3} {rate:>12.1}",
            ours.median, ours.best
        );
        if let Some(program) = &program {
            for driver in REFERENCES {
                match mesa(program, driver, scene, frames) {
                    Some((average, best)) => print!(" {average:>10.3} {best:>10.3}"),
                    None => print!(" {:>10} {:>10}", "failed", "-"),
                }
            }
        }
        println!();
    }
}
