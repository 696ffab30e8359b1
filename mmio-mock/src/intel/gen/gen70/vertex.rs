//! 3DPRIMITIVE as plain state of vertex fetch.
//!
//! genxml gen7. The topology is part of the second dword. Elements are those of Sandy Bridge.

use regs::gen70 as table;

use super::surface::FORMATS;
use crate::intel::ff::state::{Primitive, VertexElement};
use crate::intel::ff::topology::Topology;
use crate::intel::r#gen::gen40::vertex::component;

/// Components of an element.
const COMPONENTS: u16 = 4;

/// 3DPRIMITIVE.
pub fn primitive(command: &[u32]) -> Primitive {
    let c = table::Primitive3d::from_dwords(command);
    let code = c.primitive_topology_type();
    Primitive {
        topology: Topology::from_code(code).ok_or(code),
        random: c.vertex_access_type() != 0,
        count: c.vertex_count_per_instance(),
        start: c.start_vertex_location(),
        instances: c.instance_count(),
        first_instance: c.start_instance_location(),
        base_vertex: c.base_vertex_location(),
        // It follows from 3DPRIM_END_OFFSET.
        indirect_count: c.end_offset_enable(),
        from_registers: c.indirect_parameter_enable(),
        predicated: c.predicate_enable(),
    }
}

/// The valid elements among VERTEX_ELEMENT_STATEs.
pub fn elements(words: &[u32]) -> Vec<VertexElement> {
    let states = words.chunks_exact(table::VertexElementState::LEN);
    let states = states.map(table::VertexElementState::from_dwords);
    let valid = states.filter(table::VertexElementState::valid);
    let element = |(number, e): (u16, table::VertexElementState)| VertexElement {
        buffer: e.vertex_buffer_index() as usize,
        format: e.source_element_format(),
        layout: FORMATS.lookup(e.source_element_format()),
        offset: e.source_element_offset(),
        components: [
            e.component_0_control(),
            e.component_1_control(),
            e.component_2_control(),
            e.component_3_control(),
        ]
        .map(component),
        destination: number * COMPONENTS,
        edge_flag: e.edge_flag_enable(),
    };
    (0..).zip(valid).map(element).collect()
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests;
