//! Which threads made each pixel of a frame, from the events of its replay.
//!
//! PRM: volume 4, 3.3.1 asks the same with snapshots. This asks no debug register: it is what such a walk can be
//! compared with. Not modelled: what blits and clears of the blitter do to a pixel.

mod draws;
mod inputs;
mod later;
mod recorder;
mod walk;

pub use draws::{DrawCall, DrawState, Latched};
pub use inputs::Input;
pub use later::{Part, Patch, PatchId, Streamed};
pub use recorder::LIMIT;
pub use walk::Found;

use std::sync::{Arc, Mutex, PoisonError};

use mmio_mock::intel::status::{Activity, Statistics, Unit};
use mmio_mock::intel::trace::{Subspans, Trace};

use crate::capture::Capture;
use crate::picture::{Picture, PictureError};
use crate::replay::{Attendant, Options, ReplayError, Session};
use draws::{Follower, TargetKey};
use recorder::{Recorder, Recording};

/// Why there is no map.
#[derive(Debug, thiserror::Error)]
pub enum FrameMapError {
    /// The device did not start.
    #[error("{0}")]
    Replay(#[from] ReplayError),
    /// Nothing was drawn, or what was drawn into cannot be shown.
    #[error("{0}")]
    Picture(#[from] PictureError),
    /// The frame has more of something than is kept.
    #[error("more than {LIMIT} {0} in the frame: they do not fit into a map")]
    TooMuch(&'static str),
}

/// Names a vertex of the frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct VertexId(pub u32);

/// Names an object of the frame that was set up.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct ObjectId(pub u32);

/// Names a thread of GS or clipper.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct BetweenId(pub u32);

/// A vertex, as an entry of the URB.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Vertex {
    /// Its URB entry.
    pub handle: u16,
    /// Where it comes from.
    pub origin: Origin,
}

/// Where a vertex comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Origin {
    /// VF fetched it.
    Fetched {
        /// For which draw call, counted from 0 over the capture.
        draw: u32,
        /// Its index in the vertex buffers.
        index: u32,
        /// Its instance.
        instance: u32,
        /// How many vertices VF had delivered before, those out of the vertex cache included.
        sequence: u64,
        /// Which thread of VS shaded it; none while VS is off.
        shader: Option<u64>,
    },
    /// A thread of GS or clipper put it out.
    Emitted {
        /// The thread.
        by: BetweenId,
        /// Which half of it, where halves have different objects or instances.
        half: u8,
        /// How many vertices it, or that half, had put out before.
        number: u32,
    },
    /// DS made it of a point of a patch.
    Point {
        /// The patch.
        patch: PatchId,
        /// Number of the point in the patch.
        number: u16,
        /// u, v, and w of triangles: bits of floats.
        place: [u32; 3],
        /// Which thread of DS.
        shader: u64,
        /// Which of the thread's points.
        slot: u8,
        /// Kernel start pointer of the thread.
        kernel: u32,
    },
}

/// A thread of GS or clipper.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Between {
    /// Whose thread.
    pub unit: Unit,
    /// How many the unit has started before it.
    pub ordinal: u64,
    /// Kernel start pointer.
    pub kernel: u32,
    /// Topology of its object.
    pub topology: u8,
    /// Vertices of its object, or of its objects.
    pub vertices: Vec<VertexId>,
    /// What its halves work on, where a thread can have several objects, or several instances of one.
    pub parts: Vec<Part>,
}

impl Between {
    /// Vertices of the object that a half works on; of the thread's object where halves have none of their own.
    pub fn inputs(&self, half: u8) -> &[VertexId] {
        let part = self.parts.get(usize::from(half));
        part.map_or(&self.vertices, |part| &part.vertices)
    }
}

/// A thread of SF.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SetupThread {
    /// How many SF has started before it.
    pub ordinal: u64,
    /// Kernel start pointer.
    pub kernel: u32,
}

/// An object that was set up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Object {
    /// How many objects SF has had before it, culled ones included.
    pub ordinal: u64,
    /// Draw call, counted from 0 over the capture.
    pub draw: u32,
    /// 3DPRIM topology code.
    pub topology: u8,
    vertices: [VertexId; 3],
    count: u8,
    /// The thread that has set it up; none where SF does that by itself.
    pub setup: Option<SetupThread>,
    /// x, y and z on the screen, in the order of `vertices`: bits of floats, relative to the drawing rectangle.
    corners: [[u32; 3]; 3],
    placed: u8,
}

impl Object {
    /// Its vertices in the order of the topology.
    pub fn vertices(&self) -> &[VertexId] {
        let count = usize::from(self.count).min(3);
        self.vertices.get(..count).unwrap_or_default()
    }

    /// Where its vertices are, in the same order: x, y and z relative to the drawing rectangle. Empty when it did
    /// not reach the windower.
    pub fn corners(&self) -> Vec<[f32; 3]> {
        self.corners
            .iter()
            .take(usize::from(self.placed.min(3)))
            .map(|corner| corner.map(f32::from_bits))
            .collect()
    }
}

/// A pixel shader thread, as one pixel sees it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PixelThread {
    /// How many the windower has started before it.
    pub ordinal: u64,
    /// EU.
    pub eu: u8,
    /// Thread slot on it.
    pub slot: u8,
    /// Kernel start pointer.
    pub kernel: u32,
    /// All lit pixels of the thread, a bit each.
    pub mask: u32,
    /// Which of them is the pixel: bit number.
    pub channel: u8,
    /// The object.
    pub object: ObjectId,
}

/// Which threads made each pixel of a frame's last render target.
pub struct FrameMap {
    recording: Recording,
    draws: Vec<DrawCall>,
    /// Subspans of threads of the last target: row and column of the upper left pixel, thread, subspan.
    subspans: Vec<(u32, u32, u8)>,
    picture: Picture,
    origin: (i32, i32),
    trouble: Option<String>,
    counted: (Activity, Statistics),
}

impl FrameMap {
    /// Replays a capture and follows it. A frame that ends in a fault has a map of what came before it.
    pub fn of(capture: &Capture, options: Options) -> Result<Self, FrameMapError> {
        Self::attended(capture, options, None)
    }

    /// The same with an attendant of the replay.
    pub fn attended(
        capture: &Capture,
        options: Options,
        attendant: Option<Arc<dyn Attendant>>,
    ) -> Result<Self, FrameMapError> {
        let shared = Arc::new(Mutex::new(Recording::default()));
        let recorder = Recorder(Arc::clone(&shared), options.device.tables);
        let trace = Trace::to(Box::new(recorder));
        let mut session = Session::with_trace(options, capture.buffer_bytes(), trace)?;
        if let Some(attendant) = attendant {
            session.attend(attendant);
        }
        let mut follower = Follower::new(options.device);
        let mut trouble = None;
        for (number, exec) in capture.execs.iter().enumerate() {
            shared
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
                .begin();
            let ran = session.run(exec);
            let commands = {
                let mut recording = shared.lock().unwrap_or_else(PoisonError::into_inner);
                std::mem::take(&mut recording.commands)
            };
            follower.follow(number, &commands, session.platform());
            if let Err(error) = ran {
                trouble = Some(error.to_string());
                break;
            }
        }
        let picture = session.picture()?;
        let report = session.report();
        session.platform().device().set_trace(Trace::default());
        let mut recording = {
            let mut recording = shared.lock().unwrap_or_else(PoisonError::into_inner);
            std::mem::take(&mut *recording)
        };
        if trouble.is_none() {
            session.finish()?;
        }
        if let Some(what) = recording.full {
            return Err(FrameMapError::TooMuch(what));
        }
        recording.shrink();
        let draws = follower.draws;
        let last = draws.last().and_then(|draw| draw.target);
        let subspans = of_target(&recording, &draws, last);
        let origin = draws.last().map_or((0, 0), |draw| draw.state.origin());
        Ok(FrameMap {
            recording,
            draws,
            subspans,
            picture,
            origin,
            trouble,
            counted: (report.activity, report.statistics),
        })
    }

    /// The pixel shader threads that were dispatched for a pixel of the last render target, in order.
    pub fn at(&self, x: u32, y: u32) -> Vec<PixelThread> {
        let block = (y & !1) << 16 | (x & !1);
        let pixel = (y & 1) << 1 | (x & 1);
        let from = self.subspans.partition_point(|entry| entry.0 < block);
        let entries = self.subspans.iter().skip(from);
        let mut out = Vec::new();
        for &(_, thread, subspan) in entries.take_while(|entry| entry.0 == block) {
            // CAST: at most 31.
            let channel = subspan * 4 + pixel as u8;
            if let Some(thread) = self.recording.threads.get(thread as usize)
                && thread.pixels.lit >> channel & 1 == 1
            {
                out.push(thread.of(channel));
            }
        }
        out
    }

    /// A vertex; ids come from [`Object::vertices`] and [`Between::vertices`].
    pub fn vertex(&self, id: VertexId) -> Option<&Vertex> {
        self.recording.vertices.get(id.0 as usize)
    }

    /// An object; ids come from [`PixelThread::object`].
    pub fn object(&self, id: ObjectId) -> Option<&Object> {
        self.recording.objects.get(id.0 as usize)
    }

    /// All objects that were set up, in order.
    pub fn objects(&self) -> &[Object] {
        &self.recording.objects
    }

    /// A thread of GS or clipper; ids come from [`Origin::Emitted`].
    pub fn between(&self, id: BetweenId) -> Option<&Between> {
        self.recording.between.get(id.0 as usize)
    }

    /// A patch; ids come from [`Origin::Point`].
    pub fn patch(&self, id: PatchId) -> Option<&Patch> {
        self.recording.later.patches.get(id.0 as usize)
    }

    /// All patches that HS worked on, in order.
    pub fn patches(&self) -> &[Patch] {
        &self.recording.later.patches
    }

    /// What stream output has written, in order.
    pub fn streamed(&self) -> &[Streamed] {
        &self.recording.later.streamed
    }

    /// What the device counted: its own activity, and the counters that batches enable.
    pub fn counted(&self) -> (&Activity, &Statistics) {
        (&self.counted.0, &self.counted.1)
    }

    /// The draw calls that ran, in order.
    pub fn draws(&self) -> &[DrawCall] {
        &self.draws
    }

    /// Vertices that VF fetched for a vertex: itself, or those of the objects and patches that GS, clipper and DS made it of.
    pub fn fetched(&self, id: VertexId) -> Vec<VertexId> {
        let mut out = Vec::new();
        let mut ahead = vec![id];
        while let Some(id) = ahead.pop() {
            match self.vertex(id).map(|vertex| vertex.origin) {
                Some(Origin::Fetched { .. }) if !out.contains(&id) => out.push(id),
                Some(Origin::Emitted { by, half, .. }) => {
                    let parents = self.between(by).map(|between| between.inputs(half));
                    ahead.extend(parents.into_iter().flatten().rev());
                }
                Some(Origin::Point { patch, .. }) => {
                    let parents = self.patch(patch).map(|patch| &patch.vertices);
                    ahead.extend(parents.into_iter().flatten().rev());
                }
                _ => {}
            }
        }
        out
    }

    /// What VF read for a vertex that it fetched.
    pub fn inputs(&self, id: VertexId) -> Vec<Input> {
        let Some(Vertex {
            origin:
                Origin::Fetched {
                    draw,
                    index,
                    instance,
                    ..
                },
            ..
        }) = self.vertex(id)
        else {
            return Vec::new();
        };
        let draw = self.draws.get(*draw as usize);
        draw.map_or_else(Vec::new, |draw| inputs::of(draw, *index, *instance))
    }

    /// The kernel of the thread of VS that shaded a vertex.
    pub fn shader_kernel(&self, id: VertexId) -> Option<u32> {
        let Origin::Fetched {
            draw,
            shader: Some(_),
            ..
        } = self.vertex(id)?.origin
        else {
            return None;
        };
        self.draws.get(draw as usize)?.kernels.vs
    }

    /// The picture at the end.
    pub fn picture(&self) -> &Picture {
        &self.picture
    }

    /// What the corners of the last draw's objects are relative to.
    pub fn origin(&self) -> (i32, i32) {
        self.origin
    }

    /// Why the frame ended early.
    pub fn trouble(&self) -> Option<&str> {
        self.trouble.as_deref()
    }

    /// Pixel shader threads of the last render target: thread, subspans.
    pub fn threads(&self) -> impl Iterator<Item = (PixelThread, &Subspans)> {
        let last = self.draws.last().and_then(|draw| draw.target);
        let all = self.recording.threads.iter();
        all.filter(move |thread| {
            let object = self.object(ObjectId(thread.object));
            let draw = object.and_then(|object| self.draws.get(object.draw as usize));
            draw.is_some_and(|draw| draw.target == last)
        })
        .map(|thread| (thread.of(0), &thread.pixels))
    }
}

/// The subspans of all threads that drew into a target, sorted by place, then by time.
fn of_target(
    recording: &Recording,
    draws: &[DrawCall],
    last: Option<TargetKey>,
) -> Vec<(u32, u32, u8)> {
    let mut out = Vec::new();
    for (number, thread) in (0u32..).zip(&recording.threads) {
        let object = recording.objects.get(thread.object as usize);
        let draw = object.and_then(|object| draws.get(object.draw as usize));
        if draw.is_none_or(|draw| draw.target != last) {
            continue;
        }
        for (n, &place) in (0u8..).zip(thread.pixels.places()) {
            if thread.pixels.lit >> (n * 4) & 15 != 0 {
                out.push((place, number, n));
            }
        }
    }
    out.sort_unstable();
    out
}
