//! Plain state of vertex fetch: a 3DPRIMITIVE and the vertex elements.
//!
//! PRM: volume 2, vertex fetch; codes from genxml gen4.

use crate::intel::ff::topology::Topology;
use crate::intel::surface::Format;

/// A 3DPRIMITIVE.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Primitive {
    /// Topology of the vertices; a reserved code is the error.
    pub topology: Result<Topology, u32>,
    /// Vertices are named by the index buffer, not by their sequence.
    pub random: bool,
    /// Vertices of an instance.
    pub count: u32,
    /// First vertex, or first index of the index buffer.
    pub start: u32,
    /// Instances.
    pub instances: u32,
    /// Number of the first instance's data.
    pub first_instance: u32,
    /// Added to every index.
    pub base_vertex: i32,
    /// The number of vertices is not in the command.
    pub indirect_count: bool,
    /// Counts and numbers are those of the 3DPRIM registers, and not of the command.
    pub from_registers: bool,
    /// Nothing is drawn when the predicate says so.
    pub predicated: bool,
}

/// What a component of an element becomes (3D_Vertex_Component_Control).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Component {
    /// The dword of the VUE stays as it is.
    NoStore,
    /// The component of the fetched data.
    Source,
    /// Zero.
    Zero,
    /// 1.0 as a float.
    OneFloat,
    /// 1 as an integer.
    OneInt,
    /// Number of the vertex.
    VertexId,
    /// Number of the instance.
    InstanceId,
    /// Number of the primitive.
    PrimitiveId,
}

/// A valid vertex element.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct VertexElement {
    /// Vertex buffer that the data come from.
    pub buffer: usize,
    /// Surface format of the data, as its code.
    pub format: u32,
    /// The generation's format of this code, if it has one.
    pub layout: Option<&'static Format>,
    /// Bytes from the start of the vertex's data.
    pub offset: u32,
    /// Where each component comes from.
    pub components: [Component; 4],
    /// First dword of the VUE that the element fills. Where a generation's elements have no such field, they lie one
    /// behind the other, four dwords each.
    pub destination: u16,
    /// The first component is the edge flag of the vertex, and no part of the VUE.
    pub edge_flag: bool,
}
