//! The walk from a pixel to its vertices, against a trace of the whole frame.
//!
//! PRM volume 4 3.3.1. The walk knows nothing but snapshot registers and halted threads; the frame map, which it is
//! compared with, nothing but events, and it asks no debug register.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "tests")]

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};

use crestline_cli::capture::Capture;
use crestline_cli::frame_map::{FrameMap, Origin, PixelThread, VertexId};
use crestline_cli::replay::Session;
use crestline_cli::why::{Component, Frame, Why, WhyError, why, why_in};
use crestline_tests::random::Random;
use crestline_tests::scenes::{capture, options};
use driver::debug::walk::{Commands, Probe, Rerun, Tag, Unit, WalkError, walk};
use kernel::error::Error;
use mmio_mock::status::{Activity, Unit as ModelUnit};
use mmio_mock::trace::{Event, Sink, Trace};

/// Every vertex that VF delivers, those out of the cache included: index, URB entry.
#[derive(Clone, Default)]
struct Delivered(Arc<Mutex<Vec<(u32, u16)>>>);

impl Sink for Delivered {
    fn event(&mut self, _: u64, event: &Event) {
        if let Event::Vertex { index, handle, .. } = *event {
            self.0.lock().unwrap().push((index, handle));
        }
    }
}

/// A frame, and what is known of it without any snapshot.
struct Traced {
    capture: Capture,
    map: FrameMap,
    /// What the device had done before each submission: where its counters would stand.
    before: Vec<Activity>,
    delivered: Vec<(u32, u16)>,
}

/// 3DPRIM_TRILIST.
const TRILIST: u32 = 4;

impl Traced {
    fn new(capture: Capture) -> Self {
        let map = FrameMap::of(&capture, options(&capture)).unwrap_or_else(|e| panic!("{e}"));
        let mut session = Session::new(options(&capture), capture.buffer_bytes()).unwrap();
        let delivered = Delivered::default();
        let trace = Trace::to(Box::new(delivered.clone()));
        session.platform().device().set_trace(trace);
        let mut before = Vec::new();
        for exec in &capture.execs {
            before.push(session.report().activity);
            session.run(exec).unwrap();
        }
        session.finish().unwrap();
        let delivered = delivered.0.lock().unwrap().clone();
        Traced {
            capture,
            map,
            before,
            delivered,
        }
    }

    /// The thread's number within its primitive.
    fn id(&self, thread: &PixelThread) -> usize {
        let all = self.map.threads();
        let of_object = all.filter(|(other, _)| other.object == thread.object);
        of_object
            .filter(|(other, _)| other.ordinal < thread.ordinal)
            .count()
    }

    /// Compares an answer with what the trace says of the pixel.
    fn check(&self, why: &Why) {
        let map = &self.map;
        let walk = &why.walk;
        let (x, y) = walk.pixel;
        let at = format!("{} {x},{y}", self.capture.name);
        let threads = map.at(x.into(), y.into());
        let thread = threads.last().expect(&at);
        let object = map.object(thread.object).unwrap();
        let draw = &map.draws()[object.draw as usize];
        let before = &self.before[walk.submission];
        // The draw.
        assert_eq!(
            (walk.submission, walk.draw),
            (draw.exec, draw.in_exec),
            "{at}"
        );
        let drawn = why.draw.as_ref().unwrap();
        assert_eq!(drawn.call.address, draw.address, "{at}");
        assert_eq!(drawn.number, object.draw as usize, "{at}");
        // The pixel shader thread.
        let pixel_thread = &walk.pixel_thread;
        assert_eq!(pixel_thread.id as usize, self.id(thread), "{at}");
        assert_eq!(pixel_thread.kernel, thread.kernel, "{at}");
        assert_eq!(pixel_thread.lit, thread.mask, "{at}");
        assert_eq!(pixel_thread.slot, thread.channel / 4, "{at}");
        // The primitive and its setup thread.
        let primitive = u64::from(walk.setup.primitive) + before.objects;
        assert_eq!(primitive, object.ordinal, "{at}");
        assert_eq!(pixel_thread.primitive, walk.setup.primitive, "{at}");
        assert_eq!(walk.setup.kernel, object.setup_kernel, "{at}");
        self.tags(why, &walk.setup.vertices, object.vertices(), &at);
        if drawn.call.command.primitive_topology_type() == TRILIST && walk.emitters.is_empty() {
            let numbers: Vec<_> = walk.setup.vertices.iter().map(|tag| tag.number).collect();
            let first = numbers[0];
            assert_eq!(numbers, [first, first + 1, first + 2], "{at}");
            assert_eq!(walk.vertices[&first].position.unwrap() % 3, 0, "{at}");
        }
    }

    fn tags(&self, why: &Why, tags: &[Tag], vertices: &[VertexId], at: &str) {
        let threads = |unit: ModelUnit| self.before[why.walk.submission].threads[unit as usize];
        assert_eq!(tags.len(), vertices.len(), "{at}");
        for (tag, id) in tags.iter().zip(vertices) {
            match self.map.vertex(*id).unwrap().origin {
                Origin::Fetched {
                    index,
                    sequence,
                    shader,
                    ..
                } => {
                    let vertex = &why.walk.vertices[&tag.number];
                    let first = self.before[why.walk.submission].vertices;
                    // The map knows a vertex by its fetch, the tag by its last delivery out of the cache.
                    let number = u64::from(tag.number) + first;
                    assert!(number >= sequence, "{at}: {number} {sequence}");
                    let handle = self.map.vertex(*id).unwrap().handle;
                    assert_eq!(self.delivered[number as usize], (index, handle), "{at}");
                    assert_eq!(vertex.index, Some(index), "{at}");
                    let thread = vertex
                        .thread
                        .map(|id| u64::from(id) + threads(ModelUnit::Vs));
                    assert_eq!(thread, shader, "{at}");
                    let unit = if shader.is_some() { Unit::Vs } else { Unit::Vf };
                    assert_eq!(tag.unit, unit, "{at}");
                    if let Some(number) = vertex.thread {
                        let thread = &why.walk.vertex_threads[&number];
                        assert_eq!(Some(thread.kernel), self.map.shader_kernel(*id), "{at}");
                        let slot = usize::from(vertex.slot.unwrap());
                        assert_eq!(thread.indices[slot], index, "{at}");
                    }
                    self.inputs(why, tag.number, *id, at);
                }
                Origin::Emitted { by, number } => {
                    let between = self.map.between(by).unwrap();
                    let unit = match between.unit {
                        ModelUnit::Gs => Unit::Gs,
                        _ => Unit::Clip,
                    };
                    assert_eq!(tag.unit, unit, "{at}");
                    let thread = u64::from(tag.number) + threads(between.unit);
                    assert_eq!(thread, between.ordinal, "{at}");
                    // No output of GS shows which vertex of its thread an input is.
                    if tag.relative != 0 {
                        assert_eq!(tag.relative, number, "{at}");
                    }
                    let emitter = &why.walk.emitters[&(tag.unit, tag.number)];
                    assert_eq!(emitter.kernel, between.kernel, "{at}");
                    self.tags(why, &emitter.inputs, &between.vertices, at);
                }
            }
        }
    }

    /// Addresses and values of the attributes in memory.
    fn inputs(&self, why: &Why, sequence: u32, id: VertexId, at: &str) {
        let exec = &self.capture.execs[why.walk.submission];
        let found = &why.inputs[&sequence];
        let found = found.iter().filter_map(|input| {
            let source = input.source.as_ref()?;
            Some((
                input.element,
                source.address,
                source.format.clone(),
                input.components,
            ))
        });
        let found: Vec<_> = found.collect();
        let expected = self.map.inputs(id);
        assert_eq!(found.len(), expected.len(), "{at}");
        for (found, expected) in found.iter().zip(expected) {
            assert_eq!(found.0, expected.element as usize, "{at}");
            assert_eq!(found.1, expected.address, "{at}");
            assert_eq!(found.2, expected.format.name, "{at}");
            let value = expected.value(exec).unwrap();
            for (found, expected) in found.3.iter().zip(value) {
                match found {
                    Component::Float(v) if v.to_bits() != expected => {
                        assert!([0.0, 1.0].contains(v), "{at}: a constant, or {v}");
                    }
                    Component::Unsigned(v) => assert_eq!(*v, expected, "{at}"),
                    Component::Signed(v) => assert_eq!(*v as u32, expected, "{at}"),
                    _ => {}
                }
            }
        }
    }

    /// Compares pixels; returns how many of them each draw has.
    fn compare(&self, pixels: &[(u16, u16)]) -> BTreeMap<u32, u32> {
        let options = options(&self.capture);
        let frame = Frame::of(&self.capture, options.device.isa);
        let mut draws = BTreeMap::new();
        for &(x, y) in pixels {
            let answer = why_in(&self.capture, &frame, &options, (x, y));
            if self.map.at(x.into(), y.into()).is_empty() {
                let Err(WhyError::Walk { walk, .. }) = answer else {
                    panic!("{x},{y}: nothing lit it, but {answer:?}");
                };
                assert!(
                    matches!(*walk, WalkError::Unseen { .. } | WalkError::Unlit { .. }),
                    "{x},{y}: {walk}"
                );
                continue;
            }
            let why = answer.unwrap_or_else(|e| panic!("{} {x},{y}: {e}", self.capture.name));
            self.check(&why);
            *draws.entry(why.walk.draw).or_insert(0) += 1;
        }
        draws
    }

    /// Pixels all over the picture.
    fn anywhere(&self, count: u32, seed: u64) -> Vec<(u16, u16)> {
        let picture = self.map.picture();
        let mut random = Random(seed);
        let mut pixel = |_| {
            let (x, y) = (random.below(picture.width), random.below(picture.height));
            (x as u16, y as u16)
        };
        (0..count).map(&mut pixel).collect()
    }

    /// Pixels of which the last draw has the last word.
    fn of_last_draw(&self, count: u32, seed: u64) -> Vec<(u16, u16)> {
        let picture = self.map.picture();
        let last = self.map.draws().len() as u32 - 1;
        let all = (0..picture.height).flat_map(|y| (0..picture.width).map(move |x| (x, y)));
        let drawn = all.filter(|&(x, y)| {
            let threads = self.map.at(x, y);
            let object = threads.last().and_then(|last| self.map.object(last.object));
            object.is_some_and(|object| object.draw == last)
        });
        let drawn: Vec<_> = drawn.collect();
        let mut random = Random(seed);
        let mut pixel = |_| drawn[random.below(drawn.len() as u32) as usize];
        let pixels = (0..count).map(&mut pixel);
        pixels.map(|(x, y)| (x as u16, y as u16)).collect()
    }
}

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
