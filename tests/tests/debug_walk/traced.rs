//! A frame whose every event was followed, and the comparison of a walk with it.
//!
//! PRM volume 4 3.3.1. Nothing here asks a debug register.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use crestline_cli::capture::Capture;
use crestline_cli::frame_map::{FrameMap, Origin, PixelThread, VertexId};
use crestline_cli::replay::Session;
use crestline_cli::why::{Component, Frame, Why, WhyError, why_in};
use crestline_tests::scenes::options;
use driver::debug::walk::{Tag, Unit, WalkError};
use fastrand::Rng;
use mmio_mock::intel::ff::topology::Topology;
use mmio_mock::intel::status::{Activity, Unit as ModelUnit};
use mmio_mock::intel::trace::{Event, Sink, Trace};

/// Every vertex that VF delivers, those out of the cache included: index, URB entry.
#[derive(Clone, Default)]
struct Delivered(Arc<Mutex<Vec<(u32, u16)>>>);

impl Sink<Event> for Delivered {
    fn event(&mut self, _: u64, event: &Event) {
        if let Event::Vertex { index, handle, .. } = *event {
            self.0.lock().unwrap().push((index, handle));
        }
    }
}

/// A frame, and what is known of it without any snapshot.
pub struct Traced {
    /// The frame.
    pub capture: Capture,
    /// What its events say.
    pub map: FrameMap,
    /// What the device had done before each submission: where its counters would stand.
    before: Vec<Activity>,
    delivered: Vec<(u32, u16)>,
}

impl Traced {
    /// Follows a frame.
    pub fn new(capture: Capture) -> Self {
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
    pub fn check(&self, why: &Why) {
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
        assert_eq!(
            walk.setup.kernel,
            object.setup.map(|thread| thread.kernel),
            "{at}"
        );
        self.tags(why, &walk.setup.vertices, object.vertices(), &at);
        if drawn.call.command.topology == Ok(Topology::TriList) && walk.emitters.is_empty() {
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
                Origin::Emitted { by, number, .. } => {
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
                Origin::Point {
                    number,
                    place,
                    kernel,
                    ..
                } => {
                    assert_eq!(tag.unit, Unit::Ds, "{at}");
                    let point = &why.walk.points[&(tag.number, tag.relative)];
                    let found = (point.number, point.place, point.kernel);
                    assert_eq!(found, (number, place, kernel), "{at}");
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
    pub fn compare(&self, pixels: &[(u16, u16)]) -> BTreeMap<u32, u32> {
        let options = options(&self.capture);
        let frame = Frame::of(&self.capture, options.device);
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
    pub fn anywhere(&self, count: u32, seed: u64) -> Vec<(u16, u16)> {
        let picture = self.map.picture();
        let mut random = Rng::with_seed(seed);
        let mut pixel = |_| {
            let (x, y) = (random.u32(..picture.width), random.u32(..picture.height));
            (x as u16, y as u16)
        };
        (0..count).map(&mut pixel).collect()
    }

    /// Pixels of which the last draw has the last word.
    pub fn of_last_draw(&self, count: u32, seed: u64) -> Vec<(u16, u16)> {
        let picture = self.map.picture();
        let last = self.map.draws().len() as u32 - 1;
        let all = (0..picture.height).flat_map(|y| (0..picture.width).map(move |x| (x, y)));
        let drawn = all.filter(|&(x, y)| {
            let threads = self.map.at(x, y);
            let object = threads.last().and_then(|last| self.map.object(last.object));
            object.is_some_and(|object| object.draw == last)
        });
        let drawn: Vec<_> = drawn.collect();
        let mut random = Rng::with_seed(seed);
        let mut pixel = |_| drawn[random.u32(..drawn.len() as u32) as usize];
        let pixels = (0..count).map(&mut pixel);
        pixels.map(|(x, y)| (x as u16, y as u16)).collect()
    }
}
