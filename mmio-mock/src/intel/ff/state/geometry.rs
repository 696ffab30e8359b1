//! Plain state of geometry shaders whose threads have one entry each.
//!
//! Fields from genxml gen7 3DSTATE_GS.

use super::UnitConfig;
use crate::intel::ff::topology::Topology;

/// What a thread works on (Dispatch Mode).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Dispatch {
    /// One instance of one object.
    #[default]
    Single,
    /// Two instances of one object, each in one half of the channels.
    DualInstance,
    /// Two objects, each in one half of the channels.
    DualObject,
}

/// What the bits in front of the vertices say (Control Data Format).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ControlData {
    /// A bit for each vertex: the primitive ends with it.
    #[default]
    Cuts,
    /// Two bits for each vertex: its stream.
    Streams,
}

/// Geometry shader.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct GeometryState {
    /// Threads and URB.
    pub unit: UnitConfig,
    /// What a thread works on.
    pub dispatch: Dispatch,
    /// Instances of each object: 1 to 32.
    pub instances: u8,
    /// Threads find the handles of their vertices in registers.
    pub handles: bool,
    /// Threads find the numbers of their objects in a register.
    pub primitive_id: bool,
    /// A bit that threads find in r0.
    pub hint: bool,
    /// Adjacent vertices of objects are dropped before the thread.
    pub discard_adjacency: bool,
    /// Odd triangles of strips begin with the vertex that comes first in the stream; otherwise they end with the one that comes
    /// last there.
    pub leading: bool,
    /// Topology of what threads put out; a reserved code is the error.
    pub topology: Result<Topology, u32>,
    /// A vertex that threads put out, in units of 128 bits: 1 to 64.
    pub vertex_size: u16,
    /// 256-bit rows in front of the vertices.
    pub control_rows: u16,
    /// What stands in those rows.
    pub control: ControlData,
    /// The stream of vertices of which no control data tell one.
    pub stream: u8,
    /// What an instance of an object adds to GS_INVOCATION_COUNT.
    pub invocations: u32,
}

impl Default for GeometryState {
    fn default() -> Self {
        GeometryState {
            unit: UnitConfig::default(),
            dispatch: Dispatch::Single,
            instances: 1,
            handles: false,
            primitive_id: false,
            hint: false,
            discard_adjacency: false,
            leading: false,
            topology: Ok(Topology::PointList),
            vertex_size: 2,
            control_rows: 0,
            control: ControlData::Cuts,
            stream: 0,
            invocations: 1,
        }
    }
}
