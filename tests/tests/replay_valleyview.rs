//! Captured frames of ValleyView to their pictures and result buffers.
//!
//! Expectations are the pictures of Mesa's llvmpipe and softpipe, and the contents of buffers as llvmpipe computes them (stream output, storage,
//! images, integer targets). Scenes of which there is no capture in the tree are not run. Whatever executes kernels, and by however many workers,
//! the results are the same.

use std::fs;
use std::path::{Path, PathBuf};

use crestline_cli::capture::Capture;
use crestline_cli::picture::Picture;
use crestline_cli::replay::{Report, Session};
use crestline_tests::image::{Difference, Image};
use crestline_tests::scenes::{REFERENCES, options};
use mmio_mock::intel::shared::FUNCTIONS;
use mmio_mock::intel::td::engine::Engine;

const DEVICE: &str = "valleyview";
/// Percent of the pixels within 2 of a reference, where the list of scenes says nothing else.
const USUAL: f64 = 99.8;

fn captures() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("data/captures")
}

fn scenes() -> Vec<String> {
    let Ok(entries) = fs::read_dir(captures().join(DEVICE)) else {
        println!("not checked: no captures of {DEVICE}");
        return Vec::new();
    };
    let mut names: Vec<_> = entries
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    names
}

/// What is demanded of a scene, in percent of the pixels.
fn demanded(scene: &str) -> f64 {
    let list = format!("conformance/glscenes3-{DEVICE}.list");
    let text = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(list));
    let text = text.unwrap_or_default();
    let line = text
        .lines()
        .find(|line| line.split_whitespace().next() == Some(scene));
    let share = line.and_then(|line| line.split_whitespace().nth(1));
    share.map_or(USUAL, |share| share.parse().unwrap())
}

/// The pictures of a scene are the same for all devices; they lie with the first that offers it.
fn reference(scene: &str, by: &str) -> Option<Image> {
    let places = ["g45", "sandybridge", DEVICE].into_iter();
    let mut files =
        places.map(|place| captures().join(place).join(scene).join(format!("{by}.png")));
    let file = files.find(|file| file.exists())?;
    Some(Image::read(&file))
}

/// Results that no buffer holds as they are: pictures lie in tiles, and the program turns the triangles of a strip.
const CHANGED: [(&str, &str); 7] = [
    ("image", "maxima"),
    ("image", "sums"),
    ("intbasic", "words"),
    ("intops", "words"),
    ("intrt", "r32f"),
    ("intrt", "rgba8ui"),
    ("xfb", "strip_lowest_vertex_first"),
];

/// The result buffers of a scene, with their names.
fn results(scene: &str) -> Vec<(String, Vec<u8>)> {
    let entries = fs::read_dir(captures().join(DEVICE).join(scene)).unwrap();
    let files = entries.map(|entry| entry.unwrap().path());
    let mut results: Vec<_> = files
        .filter_map(|file| {
            let name = file.file_name()?.to_str()?;
            let name = name.strip_prefix("result_")?.strip_suffix(".bin")?;
            let whole = !CHANGED.contains(&(scene, name));
            whole.then(|| (name.to_owned(), fs::read(&file).unwrap()))
        })
        .collect();
    results.sort();
    results
}

/// Whether bytes stand somewhere in a buffer, at a multiple of 4.
fn holds(buffer: &[u8], bytes: &[u8]) -> bool {
    buffer
        .windows(bytes.len().max(1))
        .step_by(4)
        .any(|window| window == bytes)
}

/// What a replay leaves behind.
#[derive(PartialEq)]
struct Replayed {
    picture: Picture,
    /// Of all buffers, at the end.
    contents: Vec<Vec<u8>>,
    report: Report,
    messages: [u64; FUNCTIONS],
}

/// Replays a scene by an engine and a number of workers; by the usual ones where nothing is said.
fn replayed(scene: &str, by: Option<(Engine, usize)>) -> Result<Replayed, String> {
    let file = captures().join(DEVICE).join(scene).join("frame.crest");
    let capture = Capture::load(&file).unwrap_or_else(|e| panic!("{e}"));
    let mut session = Session::new(options(&capture), capture.buffer_bytes()).unwrap();
    if let Some((engine, workers)) = by {
        let mut device = session.platform().device();
        device.set_engine(engine);
        device.set_workers(workers);
    }
    for exec in &capture.execs {
        session.run(exec).map_err(|e| e.to_string())?;
    }
    let picture = session.picture().map_err(|e| e.to_string())?;
    let report = session.report();
    let messages = session.platform().device().messages();
    let buffers = capture.execs.iter().flat_map(|exec| &exec.buffers);
    let contents = buffers
        .filter_map(|buffer| session.contents(buffer))
        .collect();
    session.finish().map_err(|e| e.to_string())?;
    Ok(Replayed {
        picture,
        contents,
        report,
        messages,
    })
}

/// What a scene lacks, if anything.
fn problem(scene: &str) -> Option<String> {
    let found = match replayed(scene, None) {
        Ok(found) => found,
        Err(error) => return Some(format!("{scene}: {error}")),
    };
    let picture = found.picture.flipped();
    let missing = results(scene).into_iter().find(|(_, bytes)| {
        let mut buffers = found.contents.iter();
        !buffers.any(|buffer| holds(buffer, bytes))
    });
    if let Some((name, _)) = missing {
        return Some(format!("{scene}: no buffer holds the result {name}"));
    }
    let references = REFERENCES.into_iter().filter_map(|by| reference(scene, by));
    let shares = references.map(|image| {
        let difference = Difference::of(&picture, &image);
        100.0 * (difference.pixels - difference.off) as f64 / difference.pixels as f64
    });
    let shares: Vec<f64> = shares.collect();
    let wanted = demanded(scene);
    let well = shares.iter().any(|share| *share >= wanted);
    (!well).then(|| format!("{scene}: {shares:?} % within 2, not {wanted}"))
}

#[test]
fn frames_match_their_references() {
    let problems: Vec<_> = scenes().iter().filter_map(|scene| problem(scene)).collect();
    assert!(problems.is_empty(), "{problems:#?}");
}

/// Threads of a group meet at barriers and share memory, others count in buffers and images: the result is the same in any order that
/// the hardware allows.
#[test]
fn engines_and_workers_change_nothing() {
    for scene in &scenes() {
        let alone = replayed(scene, Some((Engine::Interpreter, 0))).unwrap();
        for (engine, workers) in [
            (Engine::Compiled, 0),
            (Engine::Check, 0),
            (Engine::Compiled, 1),
            (Engine::Compiled, 2),
            (Engine::Wave, 3),
            (Engine::Compiled, 5),
        ] {
            let place = format!("{scene} by {engine} and {workers} workers");
            let other = replayed(scene, Some((engine, workers))).unwrap();
            assert_eq!(alone.report, other.report, "{place}");
            assert_eq!(alone.messages, other.messages, "{place}");
            assert!(
                alone.contents == other.contents,
                "{place}: the buffers differ"
            );
            assert!(
                alone.picture == other.picture,
                "{place}: the pictures differ"
            );
        }
    }
}
