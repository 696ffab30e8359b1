//! What lies between two stages: work that one has done and the next will do.
//!
//! A link can carry each kind of cargo, so that a stage which is switched off hands on what it got.

use std::collections::VecDeque;

use super::topology::{Object, StreamVertex};
use super::wiz::SetupPrimitive;

/// What a stage takes from the stage above it, or hands to the one below.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cargo {
    /// Vertices as they were fetched, some of them not shaded yet.
    Fetched,
    /// A stream of vertices.
    Vertices,
    /// Objects cut from a stream.
    Objects,
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

/// The way from a stage to the next one.
#[derive(Clone, Debug, Default)]
pub struct Link {
    /// Vertices in order, waiting for the thread that shades the fresh ones among them.
    pub fetched: Vec<Fetched>,
    /// Vertices of a stream, in order.
    pub vertices: VecDeque<StreamVertex>,
    /// Objects, in order.
    pub objects: VecDeque<Object>,
    /// A primitive, which brings its setup entry.
    pub primitive: Option<SetupPrimitive>,
}

impl Link {
    /// Fetched vertices that wait for a thread.
    pub fn fresh(&self) -> usize {
        self.fetched.iter().filter(|f| f.fresh).count()
    }
}
