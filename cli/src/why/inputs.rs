//! The input attributes of a vertex, as they lie in the vertex buffers.
//!
//! PRM: volume 2 (VERTEX_BUFFER_STATE, VERTEX_ELEMENT_STATE). Memory is as the capture has it, before the submission.

use mmio_mock::surface::format::{Class, Format};

use super::frame::DrawCall;
use crate::capture::Exec;

/// What a vertex element delivers.
#[derive(Clone, Debug, PartialEq)]
pub struct Input {
    /// Which vertex element.
    pub element: usize,
    /// Vertex buffer, address and format, when any component comes from memory.
    pub source: Option<Source>,
    /// The four components.
    pub components: [Component; 4],
}

/// Where an element comes from.
#[derive(Clone, Debug, PartialEq)]
pub struct Source {
    /// Index of the vertex buffer.
    pub buffer: u32,
    /// Address of the element of this vertex.
    pub address: u32,
    /// Name of its format.
    pub format: String,
    /// Whether it lies in a buffer of the capture.
    pub mapped: bool,
}

/// A component of an element.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Component {
    /// Nothing is stored.
    Nothing,
    /// A float.
    Float(f32),
    /// An unsigned integer.
    Unsigned(u32),
    /// A signed integer.
    Signed(i32),
}

/// Fills `into` from an address; whether all of it lies in buffers. The rest is zero.
pub fn read(exec: &Exec, address: u32, into: &mut [u8]) -> bool {
    let mut whole = true;
    for (at, byte) in (0u32..).zip(into) {
        let found = exec.find(address.wrapping_add(at));
        let found = found.and_then(|(index, offset)| Some((exec.buffers.get(index)?, offset)));
        whole &= found.is_some();
        *byte = found.map_or(0, |(buffer, offset)| {
            buffer.data.get(offset as usize).copied().unwrap_or(0)
        });
    }
    whole
}

/// The inputs of the vertex with an index, which VF puts out after `position` others of the draw.
pub fn of(exec: &Exec, draw: &DrawCall, index: u32, position: u32) -> Vec<Input> {
    let instance = position.checked_div(draw.vertices).unwrap_or(0);
    let at = position.checked_rem(draw.vertices).unwrap_or(0);
    let random = draw.command.vertex_access_type() != 0;
    // VID leaves base vertex and start vertex out.
    let id = if random {
        index.wrapping_add_signed(draw.command.base_vertex_location().wrapping_neg())
    } else {
        at
    };
    let elements = draw.fetch.elements.iter().enumerate();
    let elements = elements.filter(|(_, element)| element.valid());
    let mut inputs = Vec::new();
    for (number, element) in elements {
        let controls = [
            element.component_0_control(),
            element.component_1_control(),
            element.component_2_control(),
            element.component_3_control(),
        ];
        let format = Format::lookup(element.source_element_format());
        let mut values = [0; 4];
        let mut source = None;
        if controls.contains(&1) {
            let buffer = element.vertex_buffer_index();
            let state = draw.fetch.buffers.get(&buffer).copied().unwrap_or_default();
            let row = if state.buffer_access_type() != 0 {
                let steps = instance.checked_div(state.instance_data_step_rate());
                let first = draw.command.start_instance_location();
                first.wrapping_add(steps.unwrap_or(0))
            } else {
                index
            };
            let address = state
                .buffer_starting_address()
                .wrapping_add(row.wrapping_mul(state.buffer_pitch()))
                .wrapping_add(element.source_element_offset());
            let mut bytes = [0; 32];
            let bytes = &mut bytes[..format.map_or(0, |f| usize::from(f.bytes).min(32))];
            let mapped = read(exec, address, bytes);
            values = format.map_or([0; 4], |format| format.unpack_bytes(bytes));
            let name = format.map_or_else(
                || format!("format {:#x}", element.source_element_format()),
                |format| format.name.to_owned(),
            );
            source = Some(Source {
                buffer,
                address,
                format: name,
                mapped,
            });
        }
        let class = format.map_or(Class::Float, |format| format.class);
        let mut components = [Component::Nothing; 4];
        for ((component, control), value) in components.iter_mut().zip(controls).zip(values) {
            *component = match (control, class) {
                (1, Class::Float) => Component::Float(f32::from_bits(value)),
                (1, Class::Uint) => Component::Unsigned(value),
                (1, Class::Sint) => Component::Signed(value as i32),
                (2, _) => Component::Float(0.0),
                (3, _) => Component::Float(1.0),
                (4, _) => Component::Unsigned(1),
                (5, _) => Component::Unsigned(id),
                (6, _) => Component::Unsigned(instance),
                _ => Component::Nothing,
            };
        }
        inputs.push(Input {
            element: number,
            source,
            components,
        });
    }
    inputs
}
