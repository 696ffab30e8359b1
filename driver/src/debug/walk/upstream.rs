//! The way up from SF: setup, threads of clipper and GS, vertices, vertex shader threads.
//!
//! PRM vol4 3.3.1, 3.3.2. One run asks every unit once, since the snapshots of different units do not disturb one another.
//! Not modelled: more than six vertices into a GS thread.
use alloc::collections::{BTreeMap, VecDeque};
use alloc::vec::Vec;

use super::units::{self, Once, Outputs};
use super::{
    Emitter, PixelThread, Rerun, Setup, Tag, Unit, Vertex, VertexThread, Walk, WalkError, Walker,
};
use crate::device::Device;

/// Most threads and vertices that a walk asks for; a polygon out of the clipper has far fewer.
const MAX_QUESTIONS: usize = 256;

/// What is to be asked yet, and what was answered.
#[derive(Default)]
struct Up {
    emitting: VecDeque<(Unit, u32)>,
    fetched: VecDeque<u32>,
    shading: VecDeque<u32>,
    emitters: BTreeMap<(Unit, u32), Option<Emitter>>,
    vertices: BTreeMap<u32, Option<Vertex>>,
    threads: BTreeMap<u32, Option<VertexThread>>,
}

/// What a run has trapped.
struct Trapped {
    emitter: Option<Outputs>,
    thread: Option<u32>,
    shader: Option<Outputs>,
}

impl Up {
    /// Asks for whoever has put a vertex out, if nobody has yet.
    fn ask(&mut self, tag: Tag) {
        match tag.unit {
            Unit::Gs | Unit::Clip => {
                let key = (tag.unit, tag.number);
                if self.emitters.insert(key, None).is_none() {
                    self.emitting.push_back(key);
                }
            }
            Unit::Vs => {
                if self.vertices.insert(tag.number, None).is_none() {
                    self.fetched.push_back(tag.number);
                }
            }
            // The vertex shader is not involved (PRM vol4 3.3.2).
            Unit::Vf => {
                let vertex = Vertex {
                    position: None,
                    index: None,
                    thread: None,
                    slot: None,
                };
                self.vertices.insert(tag.number, Some(vertex));
            }
        }
    }

    fn questions(&self) -> usize {
        self.emitters.len() + self.vertices.len() + self.threads.len()
    }
}

/// Tags out of the mux values from 0 on: each is followed by its relative number, or by a reserved value.
fn tags<E>(
    unit: &'static str,
    outputs: &[u32],
    count: u32,
    relative: bool,
) -> Result<Vec<Tag>, WalkError<E>> {
    let pairs = outputs.chunks_exact(2).take(count as usize);
    pairs
        .map(|pair| {
            let number = if relative { pair[1] } else { 0 };
            units::tag(pair[0], number).ok_or(WalkError::Tag { unit, tag: pair[0] })
        })
        .collect()
}

impl<R: Rerun> Walker<'_, R> {
    /// What SF has trapped of a primitive.
    pub(super) fn setup(
        primitive: u32,
        trapped: Option<Outputs>,
    ) -> Result<Setup, WalkError<R::Error>> {
        let outputs = trapped.ok_or(WalkError::Primitive(primitive))?;
        Ok(Setup {
            primitive,
            kernel: outputs[7],
            vertices: tags("SF", &outputs[..6], outputs[6], true)?,
        })
    }

    /// The rest of the way; `None` when it leads to a draw of another picture.
    pub(super) fn upstream(
        &mut self,
        submission: usize,
        pixel_thread: PixelThread,
        setup: Setup,
    ) -> Result<Option<Walk>, WalkError<R::Error>> {
        let mut up = Up::default();
        for tag in &setup.vertices {
            up.ask(*tag);
        }
        let mut shown = None;
        loop {
            // A draw that is not of this picture need not be walked to its end.
            let first = up.vertices.first_key_value().map(|(sequence, _)| *sequence);
            if let Some(sequence) = first.filter(|_| shown.is_none()) {
                let expected = self.expected(submission, sequence);
                let is_shown = |(draw, _)| self.commands.is_shown(submission, draw);
                shown = Some(expected.is_none_or(is_shown));
            }
            if shown == Some(false) {
                return Ok(None);
            }
            if up.questions() > MAX_QUESTIONS {
                return Err(WalkError::Endless);
            }
            if up.emitting.is_empty() && up.fetched.is_empty() && up.shading.is_empty() {
                break;
            }
            self.ask(submission, &mut up)?;
        }
        let sequence = up.vertices.keys().next().copied().unwrap_or(0);
        let draw = self.draw_of(submission, sequence)?;
        let mut vertices = BTreeMap::new();
        for (sequence, vertex) in up.vertices {
            let vertex = vertex.ok_or(WalkError::Vertex(sequence))?;
            let shader = vertex.thread.and_then(|id| up.threads.get(&id).copied());
            let vertex = self.named(submission, draw, sequence, vertex, shader.flatten())?;
            vertices.insert(sequence, vertex);
        }
        let emitters = up.emitters.into_iter();
        let threads = up.threads.into_iter();
        Ok(Some(Walk {
            pixel: self.pixel,
            submission,
            draw,
            pixel_thread,
            setup,
            emitters: emitters.filter_map(|(k, e)| Some((k, e?))).collect(),
            vertices,
            vertex_threads: threads.filter_map(|(k, t)| Some((k, t?))).collect(),
            runs: self.runs,
        }))
    }

    /// Asks each unit once.
    fn ask(&mut self, submission: usize, up: &mut Up) -> Result<(), WalkError<R::Error>> {
        let emitter = up.emitting.pop_front();
        let fetched = up.fetched.pop_front();
        let shading = up.shading.pop_front();
        let arm = |device: &Device| {
            if let Some((unit, id)) = emitter {
                units::arm_thread(device, unit, id);
            }
            if let Some(sequence) = fetched {
                units::arm_vf(device, sequence, None);
            }
            if let Some(id) = shading {
                units::arm_thread(device, Unit::Vs, id);
            }
        };
        let read = |device: &Device| Trapped {
            emitter: emitter.and_then(|(unit, _)| units::read_thread(device, unit)),
            thread: fetched.and_then(|_| units::read_vf(device)),
            shader: shading.and_then(|_| units::read_thread(device, Unit::Vs)),
        };
        let mut probe = Once::new(submission, read, arm);
        self.run(&mut probe)?;
        let trapped = probe.found.unwrap_or(Trapped {
            emitter: None,
            thread: None,
            shader: None,
        });
        if let Some((unit, id)) = emitter {
            let outputs = trapped.emitter.ok_or(WalkError::Thread { unit, id })?;
            let gs = unit == Unit::Gs;
            let (count, kernel) = if gs { (12, 13) } else { (6, 7) };
            let inputs = tags(unit.name(), &outputs[..count], outputs[count], !gs)?;
            for tag in &inputs {
                up.ask(*tag);
            }
            let kernel = outputs[kernel];
            up.emitters
                .insert((unit, id), Some(Emitter { kernel, inputs }));
        }
        if let Some(sequence) = fetched {
            let id = trapped.thread.ok_or(WalkError::Vertex(sequence))?;
            let vertex = Vertex {
                position: None,
                index: None,
                thread: Some(id),
                slot: None,
            };
            up.vertices.insert(sequence, Some(vertex));
            if up.threads.insert(id, None).is_none() {
                up.shading.push_back(id);
            }
        }
        if let Some(id) = shading {
            let unit = Unit::Vs;
            let outputs = trapped.shader.ok_or(WalkError::Thread { unit, id })?;
            let thread = VertexThread {
                kernel: outputs[3],
                indices: [outputs[0], outputs[1]],
                count: outputs[2],
            };
            up.threads.insert(id, Some(thread));
        }
        Ok(())
    }

    /// A vertex with its index, and which of its thread's two it is.
    fn named(
        &mut self,
        submission: usize,
        draw: u32,
        sequence: u32,
        vertex: Vertex,
        shader: Option<VertexThread>,
    ) -> Result<Vertex, WalkError<R::Error>> {
        let expected = self.expected(submission, sequence);
        let position = expected.filter(|(d, _)| *d == draw).map(|(_, at)| at);
        let index = position.and_then(|at| self.commands.index(submission, draw, at));
        let slot = match shader {
            None => None,
            Some(VertexThread { count: 1, .. }) => Some(0),
            Some(VertexThread { indices, .. }) if indices[0] == indices[1] => {
                // Without the vertex cache the same index twice: the vertex before it tells.
                let before = sequence.checked_sub(1);
                let before = match before {
                    Some(before) => self.thread_of(submission, before)?,
                    None => None,
                };
                Some(u8::from(before == vertex.thread))
            }
            Some(VertexThread { indices, .. }) => {
                let slots = (0u8..).zip(indices);
                let mut slots = slots.filter(|(_, of)| Some(*of) == index);
                slots.next().map(|(slot, _)| slot)
            }
        };
        Ok(Vertex {
            position,
            index,
            slot,
            ..vertex
        })
    }

    /// The vertex shader thread of a vertex, if there is such a vertex.
    fn thread_of(
        &mut self,
        submission: usize,
        sequence: u32,
    ) -> Result<Option<u32>, WalkError<R::Error>> {
        let mut probe = Once::new(submission, units::read_vf, |device: &Device| {
            units::arm_vf(device, sequence, None);
        });
        self.run(&mut probe)?;
        Ok(probe.found.flatten())
    }
}
