//! Patches, points of domains and stream output, as a frame's events tell of them.
//!
//! Intel's manual of Gen7, volume 2 part 1 (HS, TE and DS stages), part 2 (stream output). One patch is at work at a time.

use std::collections::BTreeMap;

use mmio_mock::intel::trace::{self, Dispatch, Event};

use super::recorder::{Recording, Taken, room};
use super::{Origin, VertexId};

/// Names a patch of the frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct PatchId(pub u32);

/// What one half of a thread of GS works on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Part {
    /// 0 for the lower half, 1 for the upper one.
    pub half: u8,
    /// Number of the object in its draw.
    pub object: u32,
    /// Number of the instance of the shader.
    pub instance: u8,
    /// Vertices of the object.
    pub vertices: Vec<VertexId>,
}

impl Part {
    pub(super) fn of(part: trace::Part, vertices: &[VertexId]) -> Self {
        Part {
            half: part.half,
            object: part.object,
            instance: part.instance,
            vertices: vertices.to_vec(),
        }
    }
}

/// A patch that HS worked on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Patch {
    /// Number in the draw's instance.
    pub number: u32,
    /// Its threads: how many HS has started before each.
    pub threads: Vec<u64>,
    /// Kernel start pointer of these.
    pub kernel: u32,
    /// Its vertices.
    pub vertices: Vec<VertexId>,
    /// Bits of its factors, four of the edges and two of the inside; `None` when TE did not come to it.
    pub factors: Option<[u32; 6]>,
    /// Points that TE has cut it into.
    pub points: u32,
    /// Points, lines or triangles that these make.
    pub objects: u32,
}

/// Dwords that stream output has written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Streamed {
    /// Of which vertex.
    pub vertex: VertexId,
    /// For which draw call, counted from 0 over the capture.
    pub draw: u32,
    /// Stream.
    pub stream: u8,
    /// Which buffer.
    pub buffer: u8,
    /// First dword of the vertex's URB entry.
    pub from: u16,
    /// Bytes from the buffer's base.
    pub offset: u32,
    /// First byte, a graphics address.
    pub address: u32,
    /// How many dwords.
    pub dwords: u16,
}

/// A point whose vertex has not come yet.
#[derive(Clone, Copy, Debug)]
struct Waiting {
    handle: u16,
    patch: PatchId,
    number: u16,
    place: [u32; 3],
    slot: u8,
}

/// What was seen of the stages that later devices have.
#[derive(Debug, Default)]
pub(super) struct Later {
    pub(super) patches: Vec<Patch>,
    pub(super) streamed: Vec<Streamed>,
    /// The object that HS has.
    pub(super) object: Taken,
    /// Which patch is in an URB entry now.
    live: BTreeMap<u16, PatchId>,
    /// Points of the thread of DS, and the thread: how many before it, kernel.
    waiting: Vec<Waiting>,
    thread: Option<(u64, u32)>,
    /// Threads of HS and DS so far.
    started: [u64; 2],
}

impl Later {
    /// Patches, threads of HS and threads of DS so far.
    pub(super) fn counts(&self) -> [u64; 3] {
        let [hs, ds] = self.started;
        [self.patches.len() as u64, hs, ds]
    }

    /// Gives back what is not needed to answer.
    pub(super) fn shrink(&mut self) {
        self.patches.shrink_to_fit();
        self.streamed.shrink_to_fit();
        self.live.clear();
    }

    /// A thread of HS for the patch at work.
    pub(super) fn patch_thread(&mut self, dispatch: &Dispatch) {
        self.started[0] += 1;
        if let Some(patch) = self.patches.last_mut() {
            patch.threads.push(dispatch.ordinal);
            patch.kernel = dispatch.kernel;
        }
    }

    /// A thread of DS for the points that wait.
    pub(super) fn point_thread(&mut self, dispatch: &Dispatch) {
        self.started[1] += 1;
        self.thread = Some((dispatch.ordinal, dispatch.kernel));
    }

    /// Where the vertex in an entry comes from, which a thread of DS has put out.
    pub(super) fn shaded(&mut self, handle: u16) -> Option<Origin> {
        let (shader, kernel) = self.thread?;
        let mut waiting = self.waiting.iter();
        let point = waiting.find(|waiting| waiting.handle == handle)?;
        Some(Origin::Point {
            patch: point.patch,
            number: point.number,
            place: point.place,
            shader,
            slot: point.slot,
            kernel,
        })
    }
}

impl Recording {
    /// What an event says of patches, points and stream output.
    pub(super) fn patches(&mut self, event: &Event) {
        let later = &mut self.later;
        match *event {
            Event::Patch { handle, number } => {
                if !room(&later.patches, "patches", &mut self.full) {
                    return;
                }
                // CAST: below LIMIT.
                let id = PatchId(later.patches.len() as u32);
                later.live.insert(handle, id);
                later.patches.push(Patch {
                    number,
                    threads: Vec::new(),
                    kernel: 0,
                    vertices: std::mem::take(&mut later.object.vertices),
                    factors: None,
                    points: 0,
                    objects: 0,
                });
            }
            Event::Cut {
                handle,
                factors,
                points,
                objects,
            } => {
                let id = later.live.get(&handle);
                if let Some(patch) = id.and_then(|id| later.patches.get_mut(id.0 as usize)) {
                    patch.factors = Some(factors);
                    (patch.points, patch.objects) = (points, objects);
                }
            }
            Event::Point {
                patch,
                handle,
                number,
                place,
            } => {
                if later.thread.take().is_some() {
                    later.waiting.clear();
                }
                if let Some(&patch) = later.live.get(&patch) {
                    later.waiting.push(Waiting {
                        handle,
                        patch,
                        number,
                        place,
                        // CAST: a thread has two points.
                        slot: later.waiting.len() as u8,
                    });
                }
            }
            Event::Streamed {
                handle,
                stream,
                buffer,
                from,
                offset,
                addr,
                dwords,
            } => {
                if let Some(&vertex) = self.live.get(&handle)
                    && room(&later.streamed, "writes of stream output", &mut self.full)
                {
                    later.streamed.push(Streamed {
                        vertex,
                        draw: self.draws.saturating_sub(1),
                        stream,
                        buffer,
                        from,
                        offset,
                        address: addr,
                        dwords,
                    });
                }
            }
            _ => {}
        }
    }
}
