//! The walk from a pixel to its vertices, against a trace of the whole frame.
//!
//! PRM volume 4 3.3.1. The walk knows nothing but snapshot registers and halted threads; the frame map, which it is
//! compared with, nothing but events, and it asks no debug register.

pub mod traced;

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use crestline_cli::capture::Capture;
use crestline_cli::replay::Session;
use crestline_cli::why::{Frame, WhyError, why, why_in};
use crestline_tests::scenes::{capture, options};
use driver::debug::walk::{Commands, Probe, Rerun, Unit, walk};
use kernel::error::Error;

use traced::Traced;

// covers: 3.3.1-01, 3.3.1-02, 3.3.1-03, 3.3.1-04, 3.3.2-01
#[test]
fn a_hundred_pixels_of_the_gears() {
    let traced = Traced::new(capture("g_gears"));
    let draws = traced.compare(&traced.anywhere(100, 7));
    // A pane behind, three gears, the torus.
    assert_eq!(draws.keys().copied().collect::<Vec<_>>(), [1, 2, 3, 4, 5]);
    assert_eq!(draws.values().sum::<u32>(), 100);
}

#[test]
fn a_hundred_pixels_of_triangles_that_intersect() {
    let traced = Traced::new(capture("e_depth"));
    let draws = traced.compare(&traced.anywhere(100, 11));
    assert_eq!(draws.values().sum::<u32>(), 100);
    assert!(draws.len() >= 2, "{draws:?}");
}

#[test]
fn pixels_of_the_other_frames() {
    for (scene, seed) in [
        ("a_clear", 1),
        ("b_flat", 2),
        ("c_gouraud", 3),
        ("d_tex_nearest", 4),
        ("k_stencil_scissor", 5),
    ] {
        let traced = Traced::new(capture(scene));
        let draws = traced.compare(&traced.anywhere(12, seed));
        assert_eq!(draws.values().sum::<u32>(), 12, "{scene}");
    }
}

/// Halts, the system routine and compacted instructions included.
#[test]
fn pixels_of_later_devices() {
    for (device, scene, count, seed) in [
        ("g45", "g_gears", 20, 1),
        ("g45", "clipdist", 12, 2),
        ("g45", "texfetch", 12, 3),
        ("ironlake", "g_gears", 20, 4),
        ("ironlake", "clipdist", 12, 5),
        ("ironlake", "texfetch", 12, 6),
    ] {
        let file = format!("data/captures/{device}/{scene}/frame.crest");
        let file = Path::new(env!("CARGO_MANIFEST_DIR")).join(file);
        let capture = Capture::load(&file).unwrap_or_else(|e| panic!("{e}"));
        let traced = Traced::new(capture);
        let draws = traced.compare(&traced.anywhere(count, seed));
        assert_eq!(draws.values().sum::<u32>(), count, "{device} {scene}");
    }
}

/// Submissions of a GL program that ran on the model.
fn recorded() -> Capture {
    let file = [
        env!("CARGO_MANIFEST_DIR"),
        "data/captures/recorded/clipflat.crest",
    ];
    Capture::load(&file.iter().collect::<PathBuf>()).unwrap_or_else(|e| panic!("{e}"))
}

// covers: 3.3.6-01, 3.3.6-03, 3.3.7-01, 3.3.7-03
#[test]
fn vertices_of_geometry_and_clip_threads() {
    let all = recorded();
    for (number, units) in [
        (0, vec![Unit::Gs]),
        (1, vec![Unit::Gs, Unit::Clip]),
        (2, vec![Unit::Clip]),
    ] {
        let capture = Capture {
            name: format!("{} {number}", all.name),
            execs: vec![all.execs[number].clone()],
        };
        let traced = Traced::new(capture);
        let pixels = traced.of_last_draw(16, number as u64);
        assert_eq!(traced.compare(&pixels).values().sum::<u32>(), 16);
        traced.compare(&traced.anywhere(4, number as u64));
        let options = options(&traced.capture);
        let why = why(&traced.capture, &options, pixels[0]).unwrap();
        let mut seen: Vec<_> = why.walk.emitters.keys().map(|(unit, _)| *unit).collect();
        seen.sort_unstable();
        seen.dedup();
        assert_eq!(seen, units, "{why}");
        // What comes out of the clipper has gone into it, and ends at vertices.
        assert!(why.walk.vertices.len() >= 3, "{why}");
    }
}

#[test]
fn numbers_begin_with_the_submission() {
    let traced = Traced::new(recorded());
    let draws = traced.compare(&traced.of_last_draw(6, 1));
    assert_eq!(draws.values().sum::<u32>(), 6);
    // The clear before it.
    assert_eq!(traced.compare(&[(0, 159)]).get(&0), Some(&1));
}

/// The answers of `crestline debug --record DIR -- PROGRAM` in what it has printed: pixels, texts.
fn answers(log: &str) -> Vec<((u16, u16), &str)> {
    let commands = log.split("(debug) ");
    let answers = commands.filter_map(|text| text.strip_prefix("why ")?.split_once('\n'));
    let pixel = |text: &str| {
        let (x, y) = text.split_once(',').unwrap();
        (x.parse().unwrap(), y.parse().unwrap())
    };
    answers.map(|(at, text)| (pixel(at), text)).collect()
}

/// `tests/conformance/debug` names a directory into which a program was recorded while it was debugged, and what the
/// debugger has said of its pixels.
#[test]
fn pixels_of_a_program_that_was_debugged() {
    let variable = |name| std::env::var_os(name).map(PathBuf::from);
    let (Some(dir), Some(log)) = (
        variable("CRESTLINE_RECORDED"),
        variable("CRESTLINE_RECORDED_LOG"),
    ) else {
        return;
    };
    let traced = Traced::new(Capture::load(&dir).unwrap_or_else(|e| panic!("{e}")));
    let log = std::fs::read_to_string(log).unwrap();
    let answers = answers(&log);
    let options = options(&traced.capture);
    let frame = Frame::of(&traced.capture, options.device);
    let mut draws = BTreeMap::new();
    for &(pixel, text) in &answers {
        let why = why_in(&traced.capture, &frame, &options, pixel);
        let why = why.unwrap_or_else(|e| panic!("{pixel:?}: {e}"));
        traced.check(&why);
        assert_eq!(why.to_string(), text, "{pixel:?}");
        *draws.entry(why.walk.draw).or_insert(0) += 1;
    }
    println!("{} pixels compared, of draws {draws:?}", answers.len());
}

/// The flat triangle, whose batch is changed: `change` gets its dwords.
fn changed(change: impl FnOnce(&mut Vec<u32>)) -> Capture {
    let mut capture = capture("b_flat");
    let exec = &mut capture.execs[0];
    let start = exec.batch_start as usize;
    let (batch, len) = (exec.batch, exec.batch_len as usize);
    let data = &mut exec.buffers[batch].data;
    let dwords = data[start..start + len].chunks_exact(4);
    let mut dwords = dwords
        .map(|d| u32::from_le_bytes(d.try_into().unwrap()))
        .collect();
    change(&mut dwords);
    let bytes: Vec<u8> = dwords.iter().flat_map(|d| d.to_le_bytes()).collect();
    data.resize(data.len().max(start + bytes.len()), 0);
    data[start..start + bytes.len()].copy_from_slice(&bytes);
    exec.batch_len = bytes.len() as u32;
    capture
}

/// Where the 3DPRIMITIVE commands of a batch begin: opcode 7b00h and four dwords more than two.
fn primitives(dwords: &[u32]) -> Vec<usize> {
    let at = dwords.iter().enumerate();
    let at = at.filter(|(_, dword)| **dword >> 16 == 0x7b00 && **dword & 0xff == 4);
    at.map(|(at, _)| at).collect()
}

#[test]
fn more_occurrences_than_the_windower_compares() {
    // Behind the clear the same triangle three hundred times.
    let capture = changed(|dwords| {
        let at = primitives(dwords)[1];
        let triangle = dwords[at..at + 6].to_vec();
        for _ in 0..299 {
            dwords.splice(at..at, triangle.clone());
        }
    });
    let traced = Traced::new(capture);
    let options = options(&traced.capture);
    let why = why(&traced.capture, &options, (128, 128)).unwrap();
    traced.check(&why);
    assert_eq!(why.walk.draw, 300);
    assert_eq!(why.walk.setup.primitive, 300);
    assert_eq!(why.walk.pixel_thread.instances, 301);
    assert_eq!(why.walk.pixel_thread.instance, 301);
}

#[test]
fn pixels_that_nothing_has_lit() {
    // Without the clear.
    let capture = changed(|dwords| {
        let at = primitives(dwords)[0];
        dwords[at..at + 6].fill(0);
    });
    let traced = Traced::new(capture);
    let options = options(&traced.capture);
    let error = |x, y| {
        let error = why(&traced.capture, &options, (x, y)).unwrap_err();
        error.to_string()
    };
    assert!(error(0, 0).starts_with("WIZ: the windower never saw pixel 0,0"));
    // Beside an edge: neighbours of the 2x2 pixels are lit.
    let lit = |x: u32, y: u32| !traced.map.at(x, y).is_empty();
    let all = (0..256).flat_map(|y| (0..256).map(move |x| (x, y)));
    let mut beside = all.filter(|&(x, y)| !lit(x, y) && lit(x ^ 1, y));
    let (x, y) = beside.next().unwrap();
    let text = error(x as u16, y as u16);
    assert!(
        text.starts_with(&format!("WIZ: no thread lit pixel {x},{y}")),
        "{text}"
    );
    assert_eq!(
        error(300, 10),
        "pixel 300,10 lies outside the picture of 256x256 pixels"
    );
    // The triangle is still found.
    assert_eq!(traced.compare(&[(128, 128)]).values().sum::<u32>(), 1);
}

#[test]
fn a_frame_without_primitives() {
    let capture = changed(|dwords| {
        for at in primitives(dwords) {
            dwords[at..at + 6].fill(0);
        }
    });
    let error = why(&capture, &options(&capture), (1, 1)).unwrap_err();
    assert!(matches!(error, WhyError::NothingDrawn(_)), "{error}");
}

/// A frame that becomes another one after some runs.
struct Unsteady<'a> {
    frames: [&'a Capture; 2],
    runs: usize,
    change: usize,
}

impl Rerun for Unsteady<'_> {
    type Error = Error;

    fn submissions(&self) -> usize {
        1
    }

    fn rerun(&mut self, probe: &mut dyn Probe) -> Result<(), Error> {
        self.runs += 1;
        let capture = self.frames[usize::from(self.runs >= self.change)];
        let mut session = Session::new(options(capture), capture.buffer_bytes()).unwrap();
        let device = session.device().clone();
        let probe = RefCell::new(probe);
        probe.borrow_mut().before(&device, 0)?;
        let during = || probe.borrow_mut().during(&device).unwrap();
        session.run_watched(&capture.execs[0], &during).unwrap();
        probe.borrow_mut().after(&device, 0)?;
        drop(device);
        session.finish().unwrap();
        Ok(())
    }
}

/// Nothing is known of the commands.
struct Unknown;

impl Commands for Unknown {
    fn draws(&self, _: usize) -> u32 {
        0
    }
    fn vertices(&self, _: usize, _: u32) -> u32 {
        0
    }
    fn index(&self, _: usize, _: u32, _: u32) -> Option<u32> {
        None
    }
    fn is_shown(&self, _: usize, _: u32) -> bool {
        true
    }
}

#[test]
fn each_unit_says_when_it_cannot_tell() {
    let steady = capture("b_flat");
    let nothing = changed(|dwords| {
        for at in primitives(dwords) {
            dwords[at..at + 6].fill(0);
        }
    });
    let walk_to = |change| {
        let mut unsteady = Unsteady {
            frames: [&steady, &nothing],
            runs: 0,
            change,
        };
        walk(&mut unsteady, &Unknown, (128, 128)).map_err(|e| e.to_string())
    };
    // Counted, trapped, halted; then three vertices, and behind each the thread that it names.
    for (change, text) in [
        (1, "WIZ: the windower never saw pixel 128,128: "),
        (
            2,
            "WIZ: occurrence 2 of 2 of the subspan did not come again",
        ),
        (
            3,
            "TD: the flagged pixel shader thread did not halt at 0x001040c0",
        ),
        (4, "VF: no vertex 3"),
        (5, "VF: no vertex 4"),
        (6, "VF: no vertex 5"),
        (7, "VS: no thread 1"),
        (8, "VF: vertex 3 belongs to no 3DPRIMITIVE"),
    ] {
        let error = walk_to(change).unwrap_err();
        assert!(error.starts_with(text), "{change}: {error}");
    }
    // Without the commands the draw is found all the same: 3DPRIMITIVE 1. Indices are not.
    let walk = walk_to(usize::MAX).unwrap();
    assert_eq!(walk.draw, 1);
    assert_eq!(walk.vertices.keys().copied().collect::<Vec<_>>(), [3, 4, 5]);
    assert!(walk.vertices.values().all(|vertex| vertex.index.is_none()));
    assert_eq!(walk.vertex_threads[&0].indices, [0, 1]);
}
