//! What lies between two stages: work that one has done and the next will do.
//!
//! A link can carry each kind of cargo, so that a stage which is switched off hands on what it got.

use std::collections::VecDeque;

use eu::Grf;
use tess::Point;

use super::topology::{Object, StreamVertex, Topology};
use super::wiz::SetupPrimitive;
use crate::intel::urb::UrbHandle;

/// What a stage takes from the stage above it, or hands to the one below.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cargo {
    /// Vertices as they were fetched, some of them not shaded yet.
    Fetched,
    /// A stream of vertices.
    Vertices,
    /// Patches of the hull shader.
    Patches,
    /// Points of patches.
    Domain,
    /// Vertices of several streams.
    Streams,
    /// Objects cut from a stream.
    Objects,
    /// What is left of objects after a clipper that clips by itself.
    Pieces,
    /// A primitive on the screen.
    Primitive,
}

/// A vertex out of VF.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fetched {
    /// The vertex.
    pub vertex: StreamVertex,
    /// Whether the VUE is new and must be shaded.
    pub fresh: bool,
    /// Vertex index, as the snapshot of VS shows it.
    pub index: u32,
}

/// A patch out of HS. The stage that holds it owns one reference to its entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Patch {
    /// The entry: factors, and what DS threads read.
    pub entry: UrbHandle,
    /// Number of the patch in its instance.
    pub number: u32,
}

/// A point of a patch on its way to DS, as often as objects have it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DomainVertex {
    /// The patch; its reference goes with the last point.
    pub patch: Patch,
    /// Number of the point in the patch.
    pub index: u16,
    /// Where it lies.
    pub point: Point,
    /// Topology of the objects.
    pub topology: Topology,
    /// First point of a primitive.
    pub start: bool,
    /// Last point of a primitive.
    pub end: bool,
    /// Last point of the patch.
    pub last: bool,
}

/// A vertex of one of several streams.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Streamed {
    /// The vertex.
    pub vertex: StreamVertex,
    /// Its stream: 0 to 3.
    pub stream: u8,
}

/// A corner of a piece.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Corner {
    /// Position in clip space; on the screen, when positions are not divided.
    pub position: [f64; 4],
    /// How far the corner of a line lies on the way from its first end to the second, in clip space.
    pub along: f64,
}

/// What is left of an object: a point, a line or a triangle.
///
/// It keeps the vertices of the object that it was cut from: what changes over the object goes through them, so
/// that a cut changes no value.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Piece {
    /// The object, with one reference to each of its vertices.
    pub object: Object,
    /// Which of its vertices a point, line or triangle has; a point has the first, a line two.
    pub vertices: [u8; 3],
    /// The corners of what is left.
    pub corners: [Corner; 3],
    /// How many they are.
    pub count: usize,
    /// Edges, from each corner to the next, that belong to the outline of the object.
    pub edges: [bool; 3],
    /// Viewport.
    pub viewport: u8,
    /// Slice of the render target.
    pub array_index: u16,
}

/// The way from a stage to the next one.
#[derive(Clone, Debug, Default)]
pub struct Link {
    /// Vertices in order, waiting for the thread that shades the fresh ones among them.
    pub fetched: Vec<Fetched>,
    /// Vertices of a stream, in order.
    pub vertices: VecDeque<StreamVertex>,
    /// Patches, in order.
    pub patches: VecDeque<Patch>,
    /// Points of patches, in order.
    pub domain: VecDeque<DomainVertex>,
    /// Vertices of several streams, in order.
    pub streams: VecDeque<Streamed>,
    /// Objects, in order.
    pub objects: VecDeque<Object>,
    /// What is left of objects, in order.
    pub pieces: VecDeque<Piece>,
    /// A primitive, which brings its setup entry.
    pub primitive: Option<SetupPrimitive>,
    /// The attributes of the primitive, where no setup entry has them: two registers each.
    pub attributes: Vec<Grf>,
}

impl Link {
    /// Fetched vertices that wait for a thread.
    pub fn fresh(&self) -> usize {
        self.fetched.iter().filter(|f| f.fresh).count()
    }
}
