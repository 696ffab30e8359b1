//! The walk: from a pixel to the vertices that made it.
//!
//! PRM vol4 3.3.1, 3.3.2: snapshots of the windower, SF, the clipper, GS, VF and VS, one after the other, for each of
//! which the frame runs again. Not modelled: pixels that only the blitter or memory writes have changed, media threads,
//! sequence numbers that roll over within a submission.
mod ask;
mod draw;
mod failure;
mod later;
mod upstream;
mod windower;

use alloc::collections::BTreeMap;
use alloc::vec::Vec;

use kernel::error;

pub use self::failure::WalkError;
pub use self::later::{Part, Patch, Point, Streamed, Written};
use crate::intel::device::Device;

/// A frame that can run again and again, each time in the same way (PRM vol4 3.3.1: "a failing test case should be
/// repeatable").
pub trait Rerun {
    /// Why a run failed; what goes wrong at the registers comes back as one, too.
    type Error: From<kernel::error::Error>;

    /// How many submissions the frame has.
    fn submissions(&self) -> usize;

    /// Runs the frame from its begin, on a device whose snapshot counters stand at zero: one that has just been reset, or
    /// after an MI_FLUSH with Global Snapshot Counter Reset (PRM vol4 3.2.1). They do not count until the probe sets the
    /// global debug enable. Memory is as it was before the frame.
    fn rerun(&mut self, probe: &mut dyn Probe) -> Result<(), Self::Error>;
}

/// Who watches a run. Errors end it.
pub trait Probe {
    /// The submission of this number runs next; the device is idle.
    fn before(&mut self, device: &Device, submission: usize) -> error::Result;

    /// It runs; to be called again and again until it has ended.
    fn during(&mut self, device: &Device) -> error::Result {
        let _ = device;
        Ok(())
    }

    /// It has run, the device is idle; whether the rest of the frame is wanted.
    fn after(&mut self, device: &Device, submission: usize) -> error::Result<bool>;
}

/// What the caller knows of the commands of the frame. No snapshot tells it: the snapshot registers know numbers, not
/// addresses.
pub trait Commands {
    /// Number of 3DPRIMITIVE commands of a submission.
    fn draws(&self, submission: usize) -> u32;

    /// Vertices that VF puts out for one of them, all instances together.
    fn vertices(&self, submission: usize, draw: u32) -> u32;

    /// Index in the vertex buffers of the vertex that VF puts out for a draw after `position` others.
    fn index(&self, submission: usize, draw: u32, position: u32) -> Option<u32>;

    /// Whether it draws into the picture that the pixel belongs to.
    fn is_shown(&self, submission: usize, draw: u32) -> bool;
}

/// A unit that puts out vertices.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Unit {
    /// Vertex fetch, when no vertex shader is on.
    Vf,
    /// Vertex shader.
    Vs,
    /// Domain shader. Devices with the snapshot registers have none.
    Ds,
    /// Geometry shader.
    Gs,
    /// Clipper.
    Clip,
}

/// The debug tag of a vertex.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Tag {
    /// Who put it out.
    pub unit: Unit,
    /// Vertex sequence number out of VF and VS, thread id out of DS, GS and the clipper.
    pub number: u32,
    /// How many vertices the thread has put out before it; DS, GS and clipper alone.
    pub relative: u32,
    /// Which half of the thread has put it out, where a thread of GS has several objects or instances.
    pub half: u8,
}

/// The pixel shader thread.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct PixelThread {
    /// Kernel start pointer, relative to `base`.
    pub kernel: u32,
    /// What the kernel start pointer is relative to.
    pub base: u32,
    /// Number of its primitive, as SF counts within the submission.
    pub primitive: u32,
    /// How many threads the windower has started for the primitive before it (r0.6).
    pub id: u32,
    /// Lit pixels: four bits a subspan.
    pub lit: u32,
    /// Which of its subspans holds the pixel.
    pub slot: u8,
    /// Which occurrence of the subspan in the submission it is, from 1.
    pub instance: u32,
    /// How often the subspan comes by in the submission.
    pub instances: u32,
}

/// The setup of a primitive. The id of its thread, where there is one, is the number of the primitive.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Setup {
    /// Number of the primitive.
    pub primitive: u32,
    /// Kernel start pointer of the setup thread; `None` where the unit sets up without one.
    pub kernel: Option<u32>,
    /// Its vertices, one to three.
    pub vertices: Vec<Tag>,
}

/// A thread of GS or clipper that has put vertices out.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Emitter {
    /// Kernel start pointer.
    pub kernel: u32,
    /// Vertices of the object that it works on, or of its objects.
    pub inputs: Vec<Tag>,
    /// What its halves work on, where a thread can have several objects, or several instances of one.
    pub parts: Vec<Part>,
}

/// A vertex as VF puts it out.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Vertex {
    /// How many vertices VF has put out for the draw before it; `None` when the commands do not tell.
    pub position: Option<u32>,
    /// Index in the vertex buffers; `None` when the commands do not tell.
    pub index: Option<u32>,
    /// Id of the vertex shader thread that shaded it, if any did.
    pub thread: Option<u32>,
    /// Which of the thread's two vertices it is; `None` when the index is not known, or neither of the two.
    pub slot: Option<u8>,
}

/// A vertex shader thread.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct VertexThread {
    /// Kernel start pointer.
    pub kernel: u32,
    /// Indices of its one or two vertices.
    pub indices: Vec<u32>,
}

/// How a pixel came about.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Walk {
    /// Column and row.
    pub pixel: (u16, u16),
    /// The submission that drew it. All numbers count from its begin.
    pub submission: usize,
    /// Which 3DPRIMITIVE of it.
    pub draw: u32,
    /// The last pixel shader thread for which the pixel was lit. Its colour may yet have failed a test behind the shader.
    pub pixel_thread: PixelThread,
    /// The setup thread of its primitive.
    pub setup: Setup,
    /// Threads of GS and clipper on the way, by thread id.
    pub emitters: BTreeMap<(Unit, u32), Emitter>,
    /// Vertices that VF put out, by sequence number.
    pub vertices: BTreeMap<u32, Vertex>,
    /// Vertices out of DS, by thread id and how many the thread has put out before.
    pub points: BTreeMap<(u32, u32), Point>,
    /// Patches that they belong to, by how many HS has taken up before.
    pub patches: BTreeMap<u32, Patch>,
    /// What stream output has written of vertices.
    pub streamed: BTreeMap<Tag, Vec<Streamed>>,
    /// Inputs of vertices that stream output has written, by their addresses.
    pub written: BTreeMap<u32, Written>,
    /// Vertex shader threads by thread id.
    pub vertex_threads: BTreeMap<u32, VertexThread>,
    /// How often the frame ran.
    pub runs: u32,
}

/// Walks from a pixel up to its vertices.
pub fn walk<R: Rerun>(
    rerun: &mut R,
    commands: &dyn Commands,
    pixel: (u16, u16),
) -> Result<Walk, WalkError<R::Error>> {
    Walker {
        rerun,
        commands,
        pixel,
        runs: 0,
    }
    .walk()
}

/// A walk under way.
struct Walker<'a, R> {
    rerun: &'a mut R,
    commands: &'a dyn Commands,
    pixel: (u16, u16),
    runs: u32,
}

impl<R: Rerun> Walker<'_, R> {
    fn walk(mut self) -> Result<Walk, WalkError<R::Error>> {
        let counts = self.count()?;
        let mut seen = false;
        // The last thread has the last word, if it is about this picture.
        for (submission, count) in counts.iter().enumerate().rev() {
            for instance in (1..=count.instances).rev() {
                seen = true;
                let Some((pixel_thread, setup)) = self.pixel_thread(submission, count, instance)?
                else {
                    continue;
                };
                if let Some(walk) = self.upstream(submission, pixel_thread, setup)? {
                    return Ok(walk);
                }
            }
        }
        let (x, y) = self.pixel;
        Err(if seen {
            WalkError::Unlit { x, y }
        } else {
            WalkError::Unseen { x, y }
        })
    }

    /// Runs the frame up to the end of a submission, with the snapshots of `probe` from its begin.
    fn run(&mut self, probe: &mut dyn Probe) -> Result<(), WalkError<R::Error>> {
        self.runs = self.runs.saturating_add(1);
        self.rerun.rerun(probe).map_err(WalkError::Rerun)
    }
}
