//! The way up from SF: threads of clipper and GS, vertices, vertex shader threads.
//!
//! PRM vol4 3.3.1, 3.3.2. Not modelled: relative vertex numbers into GS, which its snapshot does not show.
use alloc::collections::btree_map::Entry;
use alloc::collections::{BTreeMap, VecDeque};
use alloc::vec::Vec;

use super::ask::{Answers, Questions};
use super::{
    Emitter, PixelThread, Rerun, Setup, Tag, Unit, Vertex, VertexThread, Walk, WalkError, Walker,
};
use crate::intel::debug::snapshot::units::{PrimitiveSnapshot, VertexTag};

/// Most threads and vertices that a walk asks for; a polygon out of the clipper has far fewer.
const MAX_QUESTIONS: usize = 256;

impl Tag {
    /// A tag that `unit` has seen.
    pub(super) fn of<E>(unit: &'static str, tag: &VertexTag) -> Result<Self, WalkError<E>> {
        Ok(Tag {
            unit: match tag.ffid {
                1 => Unit::Vf,
                2 => Unit::Vs,
                3 => Unit::Gs,
                4 => Unit::Clip,
                ffid => return Err(WalkError::Tag { unit, ffid }),
            },
            number: tag.number,
            relative: tag.relative,
            half: 0,
        })
    }
}

/// What is to be asked yet, and what was answered.
#[derive(Default)]
struct Up {
    clip: VecDeque<u32>,
    gs: VecDeque<u32>,
    vf: VecDeque<u32>,
    vs: VecDeque<u32>,
    emitters: BTreeMap<(Unit, u32), Option<Emitter>>,
    vertices: BTreeMap<u32, Option<Vertex>>,
    threads: BTreeMap<u32, Option<VertexThread>>,
}

impl Up {
    /// Asks for whoever has put a vertex out, if nobody has yet.
    fn want(&mut self, tag: Tag) {
        let Tag { unit, number, .. } = tag;
        match unit {
            Unit::Gs | Unit::Clip if !self.emitters.contains_key(&(unit, number)) => {
                self.emitters.insert((unit, number), None);
                let queue = if unit == Unit::Gs {
                    &mut self.gs
                } else {
                    &mut self.clip
                };
                queue.push_back(number);
            }
            Unit::Vs if !self.vertices.contains_key(&number) => {
                self.vertices.insert(number, None);
                self.vf.push_back(number);
            }
            // The vertex shader is not involved (PRM vol4 3.3.2).
            Unit::Vf => {
                self.vertices.insert(number, Some(Vertex::default()));
            }
            _ => {}
        }
    }

    /// The next questions; `None` when there are no more.
    fn questions(&mut self) -> Option<Questions> {
        let questions = Questions {
            vf: self.vf.pop_front(),
            vs: self.vs.pop_front(),
            gs: self.gs.pop_front(),
            clip: self.clip.pop_front(),
            ..Questions::default()
        };
        let units = [questions.vf, questions.vs, questions.gs, questions.clip];
        units.iter().any(Option::is_some).then_some(questions)
    }

    /// Whether a unit that was asked has no answer.
    fn lacks(asked: &Questions, answers: &Answers) -> bool {
        asked.vf.is_some() && answers.vf.is_none()
            || asked.vs.is_some() && answers.vs.is_none()
            || asked.gs.is_some() && answers.gs.is_none()
            || asked.clip.is_some() && answers.clip.is_none()
    }

    fn is_endless(&self) -> bool {
        self.emitters.len() + self.vertices.len() + self.threads.len() > MAX_QUESTIONS
    }

    fn take<E>(&mut self, asked: &Questions, answers: Answers) -> Result<(), WalkError<E>> {
        if let Some(id) = asked.clip {
            self.emitter(Unit::Clip, id, answers.clip)?;
        }
        if let Some(id) = asked.gs {
            self.emitter(Unit::Gs, id, answers.gs)?;
        }
        if let Some(sequence) = asked.vf {
            let trapped = answers.vf.ok_or(WalkError::Vertex(sequence))?;
            let thread = Some(trapped.thread);
            let vertex = Vertex {
                thread,
                ..Vertex::default()
            };
            self.vertices.insert(sequence, Some(vertex));
            if let Entry::Vacant(entry) = self.threads.entry(trapped.thread) {
                entry.insert(None);
                self.vs.push_back(trapped.thread);
            }
        }
        if let Some(id) = asked.vs {
            let unit = Unit::Vs;
            let trapped = answers.vs.ok_or(WalkError::Thread { unit, id })?;
            let thread = VertexThread {
                kernel: trapped.kernel_pointer,
                indices: trapped.indices,
            };
            self.threads.insert(id, Some(thread));
        }
        Ok(())
    }

    fn emitter<E>(
        &mut self,
        unit: Unit,
        id: u32,
        trapped: Option<PrimitiveSnapshot>,
    ) -> Result<(), WalkError<E>> {
        let trapped = trapped.ok_or(WalkError::Thread { unit, id })?;
        let inputs = trapped.vertices.iter().map(|tag| Tag::of(unit.name(), tag));
        let emitter = Emitter {
            kernel: trapped.kernel_pointer,
            inputs: inputs.collect::<Result<_, _>>()?,
            parts: Vec::new(),
        };
        for tag in &emitter.inputs {
            self.want(*tag);
        }
        self.emitters.insert((unit, id), Some(emitter));
        Ok(())
    }
}

impl<R: Rerun> Walker<'_, R> {
    /// The way from a primitive to its vertices; `None` when its draw is one of another picture.
    pub(super) fn upstream(
        &mut self,
        submission: usize,
        pixel_thread: PixelThread,
        setup: Setup,
    ) -> Result<Option<Walk>, WalkError<R::Error>> {
        let mut up = Up::default();
        for tag in &setup.vertices {
            up.want(*tag);
        }
        let mut shown = None;
        // What comes behind the draw that the commands name need not run, and a vertex that comes is not behind it.
        let (mut most, mut within) = (None, false);
        loop {
            // A draw of another picture need not be walked to its end.
            if let (None, Some((sequence, _))) = (shown, up.vertices.first_key_value()) {
                let expected = self.expected(submission, *sequence);
                let draw = expected.map(|(draw, _)| draw);
                shown = Some(draw.is_none_or(|draw| self.commands.is_shown(submission, draw)));
                most = draw.map(|draw| draw + 1);
            }
            if shown == Some(false) {
                return Ok(None);
            }
            if up.is_endless() {
                return Err(WalkError::Endless);
            }
            let Some(mut questions) = up.questions() else {
                break;
            };
            questions.limits.most = most;
            let mut answers = self.ask(submission, questions)?;
            if most.is_some() && Up::lacks(&questions, &answers) {
                // The commands are not what they seem.
                (most, within) = (None, false);
                questions.limits.most = None;
                answers = self.ask(submission, questions)?;
            }
            within |= most.is_some() && questions.vf.is_some();
            up.take(&questions, answers)?;
        }
        let (sequence, _) = up.vertices.first_key_value().ok_or(WalkError::Endless)?;
        let draw = self.draw_of(submission, *sequence, within)?;
        let mut vertices = BTreeMap::new();
        for (sequence, vertex) in up.vertices {
            let mut vertex = vertex.ok_or(WalkError::Vertex(sequence))?;
            let expected = self.expected(submission, sequence);
            vertex.position = expected.filter(|(d, _)| *d == draw).map(|(_, at)| at);
            let at = vertex.position;
            vertex.index = at.and_then(|at| self.commands.index(submission, draw, at));
            let thread = vertex.thread.and_then(|id| up.threads.get(&id)?.as_ref());
            if let Some(thread) = thread {
                vertex.slot = self.slot_of(submission, sequence, vertex, thread)?;
            }
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
            points: BTreeMap::new(),
            patches: BTreeMap::new(),
            streamed: BTreeMap::new(),
            written: BTreeMap::new(),
            vertex_threads: threads.filter_map(|(k, t)| Some((k, t?))).collect(),
            runs: self.runs,
        }))
    }

    /// Which of the one or two vertices of its thread a vertex is. VS shows their indices, but no mux value shows which
    /// of them a sequence number is; the index of the vertex tells.
    fn slot_of(
        &mut self,
        submission: usize,
        sequence: u32,
        vertex: Vertex,
        thread: &VertexThread,
    ) -> Result<Option<u8>, WalkError<R::Error>> {
        match thread.indices.as_slice() {
            [_] => Ok(Some(0)),
            // The same index twice, without the vertex cache: the thread of the vertex before it tells.
            [first, second] if first == second => {
                let mut before = None;
                if let Some(vf) = sequence.checked_sub(1) {
                    let vf = Some(vf);
                    let questions = Questions {
                        vf,
                        ..Questions::default()
                    };
                    before = self.ask(submission, questions)?.vf;
                }
                let before = before.map(|trapped| trapped.thread);
                Ok(Some(u8::from(before == vertex.thread)))
            }
            indices => {
                let mut slots = (0u8..).zip(indices);
                let slot = slots.find(|(_, index)| Some(**index) == vertex.index);
                Ok(slot.map(|(slot, _)| slot))
            }
        }
    }
}
