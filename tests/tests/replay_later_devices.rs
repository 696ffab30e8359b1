//! Captured frames to their pictures, and by all engines and workers.
//!
//! Expectations are the pictures of Mesa's llvmpipe and softpipe; the shares are those that the live scenes have to reach.

use std::fs;
use std::path::{Path, PathBuf};

use crestline_cli::capture::Capture;
use crestline_cli::picture::Picture;
use crestline_cli::replay::{Report, Session};
use crestline_tests::image::{Difference, Image};
use crestline_tests::scenes::{self, REFERENCES, options};
use mmio_mock::intel::shared::FUNCTIONS;
use mmio_mock::intel::td::engine::{Done, Engine};

const DEVICES: [&str; 3] = ["g45", "ironlake", "sandybridge"];

/// The driver read a query half-way, when nothing had run, and left draws out: the picture of the capture is another one.
const CUT: &str = "condrender";

fn captures() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("data/captures")
}

fn scenes_of(device: &str) -> Vec<String> {
    let entries = fs::read_dir(captures().join(device)).unwrap();
    let names = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let mut names: Vec<_> = names.filter(|name| name != CUT).collect();
    names.sort();
    names
}

fn capture(device: &str, scene: &str) -> Capture {
    let file = captures().join(device).join(scene).join("frame.crest");
    Capture::load(&file).unwrap_or_else(|e| panic!("{e}"))
}

/// What is demanded of a scene, in percent of the pixels; those of the first program have no line in the list.
fn demanded(device: &str, scene: &str) -> f64 {
    let list = format!("conformance/glscenes3-{device}.list");
    let text = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(list)).unwrap();
    let line = text
        .lines()
        .find(|line| line.split_whitespace().next() == Some(scene));
    let share = line.and_then(|line| line.split_whitespace().nth(1));
    share.map_or(99.8, |share| share.parse().unwrap())
}

fn matches_a_reference(device: &str, scene: &str) {
    let capture = capture(device, scene);
    let mut session = Session::new(options(&capture), capture.buffer_bytes()).unwrap();
    for exec in &capture.execs {
        session
            .run(exec)
            .unwrap_or_else(|e| panic!("{device} {scene}: {e}"));
    }
    let picture = session.picture().unwrap().flipped();
    session
        .finish()
        .unwrap_or_else(|e| panic!("{device} {scene}: {e}"));
    // The references of a scene are the same for all devices; those that G45 does not offer lie with the device that does.
    let picture_of = |by: &str| {
        let places = ["g45", device].into_iter();
        let mut files =
            places.map(|place| captures().join(place).join(scene).join(format!("{by}.png")));
        files.find(|file| file.exists())
    };
    let references = REFERENCES.into_iter().filter_map(picture_of);
    let share = references.map(|file| {
        let difference = Difference::of(&picture, &Image::read(&file));
        100.0 * (difference.pixels - difference.off) as f64 / difference.pixels as f64
    });
    let share: Vec<f64> = share.collect();
    let wanted = demanded(device, scene);
    assert!(
        share.iter().any(|share| *share >= wanted),
        "{device} {scene}: {share:?} % within 2, not {wanted}"
    );
}

/// What a replay leaves behind: the picture, what was counted, messages, and the time that the device took.
fn replayed(capture: &Capture, spares: bool) -> (Picture, Report, [u64; FUNCTIONS], u64) {
    let (picture, report, messages, spared, _) =
        replayed_by(capture, spares, Engine::Compiled, None);
    (picture, report, messages, spared)
}

/// The same with an engine and a number of workers, and what the engine has done.
fn replayed_by(
    capture: &Capture,
    spares: bool,
    engine: Engine,
    workers: Option<usize>,
) -> (Picture, Report, [u64; FUNCTIONS], u64, Done) {
    let mut session = Session::new(options(capture), capture.buffer_bytes()).unwrap();
    {
        let mut device = session.platform().device();
        device.set_spares(spares);
        device.set_engine(engine);
        if let Some(workers) = workers {
            device.set_workers(workers);
        }
    }
    for exec in &capture.execs {
        session.run(exec).unwrap_or_else(|e| panic!("{e}"));
    }
    let picture = session.picture().unwrap();
    let report = session.report();
    let (messages, spared, done) = {
        let device = session.platform().device();
        (
            device.messages(),
            device.spared_threads(),
            device.done_by_engine(),
        )
    };
    session.finish().unwrap_or_else(|e| panic!("{e}"));
    (picture, report, messages, spared, done)
}

/// Threads whose work is known do not run; nothing else tells.
#[test]
fn spared_threads_change_nothing() {
    for device in scenes::DEVICES {
        let mut spared = 0;
        for scene in scenes_of(device) {
            let capture = capture(device, &scene);
            let all = replayed(&capture, false);
            let some = replayed(&capture, true);
            assert_eq!(all.3, 0);
            assert_eq!((&all.1, all.2), (&some.1, some.2), "{device} {scene}");
            assert!(all.0 == some.0, "{device} {scene}: the pictures differ");
            spared += some.3;
        }
        println!("{device}: {spared} threads");
        assert!(spared > 10_000, "{device}: {spared} threads");
    }
}

/// Pictures, counters and messages are the same whatever executes kernels, and compiled code never differs where both run.
#[test]
fn engines_change_nothing() {
    for device in scenes::DEVICES {
        let mut compiled = 0;
        for scene in scenes_of(device) {
            let capture = capture(device, &scene);
            let interpreted = replayed_by(&capture, true, Engine::Interpreter, None);
            assert_eq!(interpreted.4.compiled, 0);
            for engine in [Engine::Wave, Engine::Compiled, Engine::Check] {
                let other = replayed_by(&capture, true, engine, None);
                let place = format!("{device} {scene} {engine}");
                assert_eq!(other.4.difference, None, "{place}");
                let counts = (&interpreted.1, interpreted.2, interpreted.3);
                assert_eq!(counts, (&other.1, other.2, other.3), "{place}");
                assert!(interpreted.0 == other.0, "{place}: the pictures differ");
                compiled += other.4.compiled;
            }
        }
        println!("{device}: {compiled} instructions");
        assert!(compiled > 100_000, "{device}: {compiled} instructions");
    }
}

/// Engines and numbers of workers that the test below takes, and those that it takes beside them when CRESTLINE_MATRIX is set.
const PAIRS: [(Engine, usize); 5] = [
    (Engine::Compiled, 1),
    (Engine::Compiled, 2),
    (Engine::Interpreter, 3),
    (Engine::Wave, 3),
    (Engine::Compiled, 5),
];
const MORE_PAIRS: [(Engine, usize); 7] = [
    (Engine::Interpreter, 1),
    (Engine::Interpreter, 2),
    (Engine::Interpreter, 5),
    (Engine::Wave, 1),
    (Engine::Wave, 2),
    (Engine::Wave, 5),
    (Engine::Compiled, 3),
];

/// Pixel threads are computed with others, by any number of workers and any engine; nothing else tells.
#[test]
fn workers_change_nothing() {
    let all = std::env::var_os("CRESTLINE_MATRIX").is_some();
    let more: &[_] = if all { &MORE_PAIRS } else { &[] };
    for device in scenes::DEVICES {
        let mut threads = 0;
        for scene in scenes_of(device) {
            let capture = capture(device, &scene);
            let alone = replayed_by(&capture, true, Engine::Compiled, Some(0));
            assert_eq!(alone.4.ran.waves, 0);
            for &(engine, workers) in PAIRS.iter().chain(more) {
                let other = replayed_by(&capture, true, engine, Some(workers));
                let place = format!("{device} {scene} {engine} {workers}");
                assert_eq!((&alone.1, alone.2), (&other.1, other.2), "{place}");
                assert!(alone.0 == other.0, "{place}: the pictures differ");
                threads += other.4.ran.waves;
            }
        }
        println!("{device}: {threads} threads");
        assert!(threads > 10_000, "{device}: {threads} threads");
    }
}

#[test]
fn frames_of_g45_match_a_reference() {
    let scenes = scenes_of(DEVICES[0]);
    assert_eq!(scenes.len(), 25);
    for scene in &scenes {
        matches_a_reference(DEVICES[0], scene);
    }
}

#[test]
fn frames_of_ironlake_match_a_reference() {
    let scenes = scenes_of(DEVICES[1]);
    assert_eq!(scenes.len(), 25);
    for scene in &scenes {
        matches_a_reference(DEVICES[1], scene);
    }
}

/// Several of these scenes begin with OpenGL 3: geometry shaders, transform feedback, four samples, layers, buffers of texels.
#[test]
fn frames_of_sandy_bridge_match_a_reference() {
    let scenes = scenes_of(DEVICES[2]);
    assert_eq!(scenes.len(), 36);
    for scene in &scenes {
        matches_a_reference(DEVICES[2], scene);
    }
}
