//! 3DPRIMITIVE and VERTEX_ELEMENT_STATE as plain state of vertex fetch.
//!
//! PRM: volume 2, vertex fetch; genxml gen4 (3D_Vertex_Component_Control).

use regs::gen40::{Primitive3d, VertexElementState};

use crate::intel::ff::state::{Component, Primitive, VertexElement};
use crate::intel::ff::topology::Topology;
use crate::intel::surface::format::Formats;

/// VFCOMP codes.
pub const fn component(code: u32) -> Component {
    match code & 7 {
        0 => Component::NoStore,
        1 => Component::Source,
        2 => Component::Zero,
        3 => Component::OneFloat,
        4 => Component::OneInt,
        5 => Component::VertexId,
        6 => Component::InstanceId,
        _ => Component::PrimitiveId,
    }
}

/// 3DPRIMITIVE.
pub fn primitive(command: &[u32]) -> Primitive {
    let c = Primitive3d::from_dwords(command);
    let code = c.primitive_topology_type();
    Primitive {
        topology: Topology::from_code(code).ok_or(code),
        random: c.vertex_access_type() != 0,
        count: c.vertex_count_per_instance(),
        start: c.start_vertex_location(),
        instances: c.instance_count(),
        first_instance: c.start_instance_location(),
        base_vertex: c.base_vertex_location(),
        indirect_count: false,
        from_registers: false,
        predicated: false,
    }
}

/// The valid elements among VERTEX_ELEMENT_STATEs.
pub fn elements(words: &[u32], formats: &Formats) -> Vec<VertexElement> {
    words
        .chunks_exact(VertexElementState::LEN)
        .map(VertexElementState::from_dwords)
        .filter(VertexElementState::valid)
        .map(|e| VertexElement {
            buffer: e.vertex_buffer_index() as usize,
            format: e.source_element_format(),
            layout: formats.lookup(e.source_element_format()),
            offset: e.source_element_offset(),
            components: [
                e.component_0_control(),
                e.component_1_control(),
                e.component_2_control(),
                e.component_3_control(),
            ]
            .map(component),
            // CAST: an eight-bit field.
            destination: e.destination_element_offset() as u16,
            edge_flag: false,
        })
        .collect()
}
