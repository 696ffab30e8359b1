//! The walk from a pixel to its vertices, read off what a frame's replay has told.
//!
//! PRM: volume 4, 3.3.1 does the same with snapshots. This serves devices without debug registers, and asks none.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

use driver::debug::walk::{
    Emitter, Part, Patch, PixelThread, Point, Setup, Streamed, Tag, Unit as Putter, Vertex,
    VertexThread, Walk, WalkError, Written,
};
use mmio_mock::intel::debug::host::ThreadKey;
use mmio_mock::intel::status::Unit;

use super::recorder::{Start, Thread};
use super::{FrameMap, Object, Origin, VertexId};

/// A walk, and what it does not say of the pixel shader thread.
pub struct Found {
    /// The walk.
    pub walk: Walk,
    /// The thread.
    pub thread: ThreadKey,
    /// Its draw call, counted over the capture.
    pub draw: usize,
    /// The channel that the pixel is.
    pub channel: u8,
}

/// A walk under way, in one submission.
struct Up<'a> {
    map: &'a FrameMap,
    start: Start,
    /// Vertices delivered before the draw.
    begun: u64,
    walk: Walk,
}

impl FrameMap {
    /// How a pixel of the last render target came about: the last thread for which it was lit. Numbers count from the
    /// begin of its submission, as those of [`driver::debug::walk`] do.
    pub fn walk<E>(&self, pixel: (u16, u16)) -> Result<Found, WalkError<E>> {
        let (x, y) = pixel;
        let block = u32::from(y & !1) << 16 | u32::from(x & !1);
        let bit = (y & 1) << 1 | (x & 1);
        let threads = self.recording.threads.iter();
        let has = |thread: &&Thread| slots(thread, block).next().is_some();
        let all: Vec<&Thread> = threads.filter(has).collect();
        let last = self.draws.last().and_then(|draw| draw.target);
        for (at, thread) in all.iter().enumerate().rev() {
            let lit = |slot: &u8| thread.pixels.lit >> (u16::from(*slot) * 4 + bit) & 1 != 0;
            let Some(slot) = slots(thread, block).find(lit) else {
                continue;
            };
            let Some(object) = self.recording.objects.get(thread.object as usize) else {
                continue;
            };
            let Some(draw) = self.draws.get(object.draw as usize) else {
                continue;
            };
            if draw.target != last {
                continue;
            }
            let same = |other: &&&Thread| self.exec_of(other) == Some(draw.exec);
            let before = all.iter().take(at).filter(same).count();
            let instances = all.iter().filter(same).count();
            let first = self.recording.threads.iter();
            let first = first.filter(|other| other.object == thread.object);
            let first = first.map(|other| other.ordinal).min();
            // CAST: threads and objects of a frame are fewer than 2^32.
            let id = (thread.ordinal - first.unwrap_or(thread.ordinal)) as u32;
            let start = self.recording.starts.get(draw.exec);
            let start = start.copied().unwrap_or_default();
            let primitive = object.ordinal.saturating_sub(start.objects) as u32;
            let walk = Walk {
                pixel,
                submission: draw.exec,
                draw: draw.in_exec,
                pixel_thread: PixelThread {
                    kernel: thread.kernel,
                    base: draw.state.kernel_base,
                    primitive,
                    id,
                    lit: thread.pixels.lit,
                    slot,
                    instance: before as u32 + 1,
                    instances: instances as u32,
                },
                setup: Setup {
                    primitive,
                    kernel: object.setup.map(|thread| thread.kernel),
                    vertices: Vec::new(),
                },
                emitters: BTreeMap::new(),
                points: BTreeMap::new(),
                patches: BTreeMap::new(),
                streamed: BTreeMap::new(),
                written: BTreeMap::new(),
                vertices: BTreeMap::new(),
                vertex_threads: BTreeMap::new(),
                runs: 1,
            };
            let begun = self.recording.begun.get(object.draw as usize);
            let up = Up {
                map: self,
                start,
                begun: begun.copied().unwrap_or_default(),
                walk,
            };
            return Ok(Found {
                walk: up.of(object),
                thread: ThreadKey {
                    unit: Unit::Wiz,
                    ordinal: thread.ordinal,
                },
                draw: object.draw as usize,
                // CAST: at most 3.
                channel: slot * 4 + bit as u8,
            });
        }
        Err(if all.is_empty() {
            WalkError::Unseen { x, y }
        } else {
            WalkError::Unlit { x, y }
        })
    }

    /// The submission of a thread.
    fn exec_of(&self, thread: &Thread) -> Option<usize> {
        let object = self.recording.objects.get(thread.object as usize)?;
        Some(self.draws.get(object.draw as usize)?.exec)
    }
}

/// Subspans of a thread that are a block of 2x2 pixels and have a lit one.
fn slots(thread: &Thread, block: u32) -> impl Iterator<Item = u8> {
    let pixels = thread.pixels;
    let places = pixels.places().to_vec();
    let slots = (0u8..).zip(places);
    slots
        .filter(move |(n, place)| *place == block && pixels.lit >> (n * 4) & 15 != 0)
        .map(|(n, _)| n)
}

impl Up<'_> {
    fn of(mut self, object: &Object) -> Walk {
        let tags = self.tags(object.vertices());
        self.walk.setup.vertices = tags;
        self.walk
    }

    /// The tags of vertices; what is behind them goes into the walk.
    fn tags(&mut self, ids: &[VertexId]) -> Vec<Tag> {
        let mut tags = Vec::new();
        for &id in ids {
            let Some(vertex) = self.map.vertex(id) else {
                continue;
            };
            let tag = match vertex.origin {
                Origin::Fetched { .. } => self.fetched(id, vertex.origin),
                Origin::Emitted { by, half, number } => self.emitted(by, half, number),
                Origin::Point { .. } => self.point(vertex.origin),
            };
            if let Some(tag) = tag {
                self.streamed(id, tag);
            }
            tags.extend(tag);
        }
        tags
    }

    fn emitted(&mut self, by: super::BetweenId, half: u8, relative: u32) -> Option<Tag> {
        let between = self.map.between(by)?;
        let [gs, clip] = self.start.between;
        let (unit, before) = match between.unit {
            Unit::Gs => (Putter::Gs, gs),
            _ => (Putter::Clip, clip),
        };
        // CAST: as above.
        let number = between.ordinal.saturating_sub(before) as u32;
        if let Entry::Vacant(entry) = self.walk.emitters.entry((unit, number)) {
            entry.insert(Emitter {
                kernel: between.kernel,
                inputs: Vec::new(),
                parts: Vec::new(),
            });
            // A thread's inputs came before it.
            let inputs = self.tags(&between.vertices);
            if let Some(emitter) = self.walk.emitters.get_mut(&(unit, number)) {
                emitter.inputs = inputs;
            }
            let parts = between.parts.iter().map(|part| Part {
                object: part.object,
                instance: part.instance,
                inputs: self.tags(&part.vertices),
            });
            let parts = parts.collect();
            if let Some(emitter) = self.walk.emitters.get_mut(&(unit, number)) {
                emitter.parts = parts;
            }
        }
        Some(Tag {
            unit,
            number,
            relative,
            half,
        })
    }

    /// A vertex of DS, and the patch behind it.
    fn point(&mut self, origin: Origin) -> Option<Tag> {
        let Origin::Point {
            patch: id,
            number,
            place,
            shader,
            slot,
            kernel,
        } = origin
        else {
            return None;
        };
        let [patches, hs, ds] = self.start.patches;
        // CAST: patches and threads of a frame are fewer than 2^32.
        let key = u64::from(id.0).saturating_sub(patches) as u32;
        let thread = shader.saturating_sub(ds) as u32;
        let point = Point {
            patch: key,
            number,
            place,
            kernel,
        };
        self.walk.points.insert((thread, slot.into()), point);
        let patch = self.map.patch(id)?;
        if !self.walk.patches.contains_key(&key) {
            let threads = patch.threads.iter();
            let threads = threads.map(|thread| thread.saturating_sub(hs) as u32);
            let patch = Patch {
                number: patch.number,
                threads: threads.collect(),
                kernel: patch.kernel,
                factors: patch.factors,
                points: patch.points,
                objects: patch.objects,
                inputs: self.tags(&patch.vertices),
            };
            self.walk.patches.insert(key, patch);
        }
        Some(Tag {
            unit: Putter::Ds,
            number: thread,
            relative: slot.into(),
            half: 0,
        })
    }

    /// What stream output has written of a vertex.
    fn streamed(&mut self, id: VertexId, tag: Tag) {
        let all = self.map.streamed().iter();
        let own = all.filter(|streamed| streamed.vertex == id);
        let own: Vec<_> = own.map(of).collect();
        if !own.is_empty() {
            self.walk.streamed.insert(tag, own);
        }
    }

    fn fetched(&mut self, id: VertexId, origin: Origin) -> Option<Tag> {
        let Origin::Fetched {
            index,
            sequence,
            shader,
            ..
        } = origin
        else {
            return None;
        };
        // CAST: vertices of a frame are fewer than 2^32.
        let number = sequence.saturating_sub(self.start.delivered) as u32;
        let mut vertex = Vertex {
            position: Some(sequence.saturating_sub(self.begun) as u32),
            index: Some(index),
            thread: None,
            slot: None,
        };
        if let Some(shader) = shader {
            let thread = shader.saturating_sub(self.start.vs) as u32;
            let both = self.shaded_by(shader);
            let slot = both.iter().position(|(other, _)| *other == id);
            vertex.thread = Some(thread);
            // CAST: a thread has two vertices.
            vertex.slot = slot.map(|slot| slot as u8);
            let kernel = self.map.shader_kernel(id).unwrap_or(0);
            let indices = both.into_iter().map(|(_, index)| index).collect();
            let shaded = VertexThread { kernel, indices };
            self.walk.vertex_threads.insert(thread, shaded);
        }
        self.walk.vertices.insert(number, vertex);
        self.written(id);
        let unit = if shader.is_some() {
            Putter::Vs
        } else {
            Putter::Vf
        };
        Some(Tag {
            unit,
            number,
            relative: 0,
            half: 0,
        })
    }

    /// What stream output has written to where a vertex was fetched from, in a draw before.
    fn written(&mut self, id: VertexId) {
        let draw = match self.map.vertex(id).map(|vertex| vertex.origin) {
            Some(Origin::Fetched { draw, .. }) if !self.map.streamed().is_empty() => draw,
            _ => return,
        };
        for input in self.map.inputs(id) {
            let holds = |write: &&super::Streamed| {
                let within = input.address.wrapping_sub(write.address);
                write.draw < draw && within < u32::from(write.dwords) * 4
            };
            let Some(write) = self.map.streamed().iter().rfind(holds) else {
                continue;
            };
            let drawn = self.map.draws().get(write.draw as usize);
            let exec = self.map.draws().get(draw as usize).map(|draw| draw.exec);
            let Some(drawn) = drawn.filter(|drawn| Some(drawn.exec) == exec) else {
                continue;
            };
            if let Some((vertex, index)) = self.named(write.vertex) {
                let written = Written {
                    write: of(write),
                    vertex,
                    index,
                    draw: drawn.in_exec,
                };
                self.walk.written.insert(input.address, written);
            }
        }
    }

    /// The tag of a vertex without what is behind it, and its index if VF has fetched it.
    fn named(&self, id: VertexId) -> Option<(Tag, Option<u32>)> {
        let start = &self.start;
        // CAST: vertices and threads of a frame are fewer than 2^32.
        let tag = |unit, number: u64, relative, half| Tag {
            unit,
            number: number as u32,
            relative,
            half,
        };
        Some(match self.map.vertex(id)?.origin {
            Origin::Fetched {
                sequence,
                index,
                shader,
                ..
            } => {
                let unit = shader.map_or(Putter::Vf, |_| Putter::Vs);
                let number = sequence.saturating_sub(start.delivered);
                (tag(unit, number, 0, 0), Some(index))
            }
            Origin::Point { shader, slot, .. } => {
                let number = shader.saturating_sub(start.patches[2]);
                (tag(Putter::Ds, number, slot.into(), 0), None)
            }
            Origin::Emitted { by, half, number } => {
                let between = self.map.between(by)?;
                let (unit, before) = match between.unit {
                    Unit::Gs => (Putter::Gs, start.between[0]),
                    _ => (Putter::Clip, start.between[1]),
                };
                let thread = between.ordinal.saturating_sub(before);
                (tag(unit, thread, number, half), None)
            }
        })
    }

    /// Vertices that a thread of VS has shaded, with their indices.
    fn shaded_by(&self, wanted: u64) -> Vec<(VertexId, u32)> {
        let all = (0u32..).zip(&self.map.recording.vertices);
        all.filter_map(|(number, vertex)| match vertex.origin {
            Origin::Fetched { shader, index, .. } if shader == Some(wanted) => {
                Some((VertexId(number), index))
            }
            _ => None,
        })
        .collect()
    }
}

/// A write of stream output, as the walk has it.
fn of(write: &super::Streamed) -> Streamed {
    Streamed {
        stream: write.stream,
        buffer: write.buffer,
        from: write.from,
        offset: write.offset,
        address: write.address,
        dwords: write.dwords,
    }
}
