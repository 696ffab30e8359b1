//! Every captured frame under the debugger: walks, threads halted by registers.
//!
//! PRM: volume 4, 3.3.1, 3.5, 3.6. The frame map and the model's own debugger, which no part has, are the independent
//! witnesses. Not covered: live programs.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crestline_cli::debug::backend::{Backend, HostBackend, RegistersBackend};
use crestline_cli::debug::target::Target;
use crestline_cli::debug::{Debugger, State};
use crestline_cli::picture::Picture;
use crestline_cli::why::why;
use crestline_tests::scenes::{capture_of, options};

use crate::debug_walk::traced::Traced;

/// Where the frames of a device are.
fn directory(device: &str) -> PathBuf {
    let captures = Path::new(env!("CARGO_MANIFEST_DIR")).join("data/captures");
    captures.join(device)
}

/// The frames of a device.
fn frames(device: &str) -> Vec<String> {
    let entries = std::fs::read_dir(directory(device)).unwrap();
    let names = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let mut frames: Vec<_> = names.collect();
    frames.sort();
    frames
}

/// At most `most` pixels with other draws on top, the last draw's first.
fn pixels(traced: &Traced, most: usize) -> Vec<(u16, u16)> {
    let picture = traced.map.picture();
    let mut found = BTreeMap::new();
    for y in (3..picture.height).step_by(5) {
        for x in (2..picture.width).step_by(7) {
            let threads = traced.map.at(x, y);
            if let Some(object) = threads.last().and_then(|t| traced.map.object(t.object)) {
                found.entry(object.draw).or_insert((x as u16, y as u16));
            }
        }
    }
    assert!(!found.is_empty(), "{}", traced.capture.name);
    found.into_values().rev().take(most).collect()
}

/// The pixel with the first of the threads: all that come before it halt as well, which takes its time.
fn early(traced: &Traced) -> (u16, u16) {
    let picture = traced.map.picture();
    let rows = (0..picture.height).step_by(3);
    let pixels = rows.flat_map(|y| (0..picture.width).step_by(3).map(move |x| (x, y)));
    let first = |&(x, y): &(u32, u32)| traced.map.at(x, y).first().map(|thread| thread.ordinal);
    let pixels = pixels.filter(|pixel| first(pixel).is_some());
    let (x, y) = pixels.min_by_key(first).unwrap();
    (x as u16, y as u16)
}

/// What a debugger prints at the first stops of a pixel's threads, and the picture that comes of it.
fn stops(
    (device, frame): (&str, &str),
    backend: Arc<dyn Backend>,
    (x, y): (u16, u16),
) -> (Vec<String>, Picture) {
    let options = options(&capture_of(device, frame));
    let info = options.device;
    let target = Target::capture(directory(device).join(frame).join("frame.crest"), options);
    let target = target.unwrap();
    let gate = Arc::clone(target.gate());
    let mut debugger = Debugger::new(target, backend, info, Arc::default()).unwrap();
    let pixel = format!("break pixel {x},{y}");
    let begin = [
        &pixel,
        "run",
        "expect stop ps",
        "regs r0 r1 arf",
        "disasm",
        "step 2",
        "step",
    ];
    let mut printed = Vec::new();
    for command in begin {
        let answer = debugger.execute(command);
        let text = answer.unwrap_or_else(|e| panic!("{device} {frame} {x},{y} {command}: {}", e.0));
        printed.push(text);
    }
    // The next thread for the pixel, if there is one.
    printed.push(debugger.execute("continue").unwrap());
    if gate.state() == State::Stopped {
        printed.push(debugger.execute("regs r0 r1").unwrap());
        debugger.execute("delete all").unwrap();
        debugger.execute("continue").unwrap();
    }
    assert_eq!(gate.ending().unwrap().code, 0, "{device} {frame}");
    let picture = gate.with_session(|session| session.unwrap().picture().unwrap());
    let lines = printed.iter().flat_map(|text| text.lines());
    (lines.filter_map(comparable).collect(), picture)
}

/// A line without what the two back ends need not agree on: cr0 and cr1 are the system routine's, the number of the thread
/// in r0.5 counts threads that others were halted for, and the host alone keeps the places of a thread's pixels.
fn comparable(line: &str) -> Option<String> {
    let name = line.trim_start();
    if name.starts_with("cr0.1 ") || name.starts_with("cr0.2 ") {
        return None;
    }
    let mut words: Vec<_> = name.split(' ').collect();
    if words[0] == "r0:ud" {
        words[6] = words[6].get(..8).unwrap_or_default();
    }
    let line = words.join(" ");
    let stop = line.split_once(", EU ").map(|(stop, _)| stop.to_owned());
    Some(stop.unwrap_or(line))
}

/// Both back ends stop at a pixel with the same registers, and leave the same picture.
fn compare(at: (&str, &str), pixel: (u16, u16)) {
    let (host, whole) = stops(at, Arc::<HostBackend>::default(), pixel);
    let (registers, picture) = stops(at, Arc::<RegistersBackend>::default(), pixel);
    for (host, registers) in host.iter().zip(&registers) {
        assert_eq!(host, registers, "{at:?} {pixel:?}");
    }
    assert_eq!(host.len(), registers.len(), "{at:?} {pixel:?}");
    assert!(whole == picture, "{at:?} {pixel:?}");
}

/// Every frame of a device.
fn check(device: &str) {
    for frame in frames(device) {
        let traced = Traced::new(capture_of(device, &frame));
        let last = pixels(&traced, 1);
        assert_eq!(traced.compare(&last).values().sum::<u32>(), 1, "{frame}");
        compare((device, &frame), early(&traced));
    }
}

#[test]
fn frames_of_the_965() {
    check("gm965");
}

#[test]
fn frames_of_g45() {
    check("g45");
}

#[test]
fn frames_of_ironlake() {
    check("ironlake");
}

/// Kernels of one batch at two bases of instructions: every draw of the frame.
#[test]
fn a_frame_with_two_bases() {
    let traced = Traced::new(capture_of("ironlake", "ffp"));
    let all = pixels(&traced, usize::MAX);
    traced.compare(&all);
    let options = options(&traced.capture);
    let base = |pixel| {
        why(&traced.capture, &options, pixel)
            .unwrap()
            .walk
            .pixel_thread
            .base
    };
    let bases: BTreeSet<u32> = [all[0], all[all.len() - 1]].map(base).into();
    // As the batch's two STATE_BASE_ADDRESSes have them.
    assert_eq!(bases, [0x0010_4000, 0x0046_1000].into());
    for pixel in [all[0], all[all.len() - 1]] {
        compare(("ironlake", "ffp"), pixel);
    }
}

/// A submission that keeps the bases of the one before it.
#[test]
fn bases_of_an_earlier_submission() {
    for (device, header) in [
        ("gm965", 0x6101_0004),
        ("g45", 0x6101_0004),
        ("ironlake", 0x6101_0006_u32),
    ] {
        let mut capture = capture_of(device, "c_gouraud");
        let mut again = capture.execs[0].clone();
        let data = &mut again.buffers[again.batch].data;
        let len = (header as usize & 0xff) + 2;
        let at = data
            .chunks_exact(4)
            .position(|word| word == header.to_le_bytes())
            .unwrap();
        // MI_NOOP.
        data[at * 4..][..len * 4].fill(0);
        capture.execs.push(again);
        let traced = Traced::new(capture);
        for pixel in traced.of_last_draw(2, 5) {
            let found = traced.compare(&[pixel]);
            assert_eq!(found.values().sum::<u32>(), 1, "{device}");
        }
    }
}
