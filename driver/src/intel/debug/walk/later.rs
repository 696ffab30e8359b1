//! What a walk finds in later stages: patches, points, instances, streams.
//!
//! No manual describes registers that would tell; the model's host does. Fields of patches: Intel's manual of Gen7, volume 2
//! part 1, HS, TE and DS stages.
use alloc::vec::Vec;

use super::Tag;

/// What one half of a thread of GS works on.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Part {
    /// Number of the object in its draw.
    pub object: u32,
    /// Number of the instance of the shader.
    pub instance: u8,
    /// Vertices of the object.
    pub inputs: Vec<Tag>,
}

/// A vertex that DS has made of a point of a patch.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Point {
    /// Key of its patch.
    pub patch: u32,
    /// Number of the point in the patch.
    pub number: u16,
    /// Where it lies in the domain: u, v, and w of triangles (else 0), as bits of floats.
    pub place: [u32; 3],
    /// Kernel start pointer of its thread.
    pub kernel: u32,
}

/// A patch that HS has worked on.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Patch {
    /// Its number in the draw's instance.
    pub number: u32,
    /// Ids of its threads of HS, in the order of their instances.
    pub threads: Vec<u32>,
    /// Kernel start pointer of these.
    pub kernel: u32,
    /// Bits of its factors: four of the edges, two of the inside. `None` when it was not cut.
    pub factors: Option<[u32; 6]>,
    /// Points that TE has cut it into.
    pub points: u32,
    /// Points, lines or triangles that these make.
    pub objects: u32,
    /// Its vertices: control points.
    pub inputs: Vec<Tag>,
}

/// Dwords of a vertex in a stream output buffer.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Streamed {
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

/// What stream output has written to where a vertex was fetched from, earlier in the submission.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Written {
    /// The dwords that it has written.
    pub write: Streamed,
    /// The vertex that they belong to.
    pub vertex: Tag,
    /// Index of that vertex, if VF has fetched it.
    pub index: Option<u32>,
    /// Which 3DPRIMITIVE of the submission it belongs to.
    pub draw: u32,
}
