//! The input attributes of a vertex, as they lie in the vertex buffers.
//!
//! PRM: volume 2 (VERTEX_BUFFER_STATE, VERTEX_ELEMENT_STATE). Memory is as the capture has it, before the submission.

use mmio_mock::intel::ff::state::Component as Control;
use mmio_mock::intel::surface::format::Class;

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
    // VID leaves base vertex and start vertex out.
    let id = if draw.command.random {
        index.wrapping_add_signed(draw.command.base_vertex.wrapping_neg())
    } else {
        at
    };
    let mut inputs = Vec::new();
    for (number, element) in draw.elements.iter().enumerate() {
        let controls = element.components;
        let format = element.layout;
        let mut values = [0; 4];
        let mut source = None;
        if controls.contains(&Control::Source) {
            let buffers = &draw.pipeline.vertex_buffers;
            let state = buffers.get(element.buffer).copied().unwrap_or_default();
            let row = if state.per_instance {
                let steps = instance.checked_div(state.step_rate);
                let first = draw.command.first_instance;
                first.wrapping_add(steps.unwrap_or(0))
            } else {
                index
            };
            let address = state
                .start
                .wrapping_add(row.wrapping_mul(state.pitch))
                .wrapping_add(element.offset);
            let mut bytes = [0; 32];
            let bytes = &mut bytes[..format.map_or(0, |f| usize::from(f.bytes).min(32))];
            let mapped = read(exec, address, bytes);
            values = format.map_or([0; 4], |format| format.unpack_bytes(bytes));
            let name = format.map_or_else(
                || format!("format {:#x}", element.format),
                |format| format.name.to_owned(),
            );
            source = Some(Source {
                // CAST: one of a few dozen buffers.
                buffer: element.buffer as u32,
                address,
                format: name,
                mapped,
            });
        }
        let class = format.map_or(Class::Float, |format| format.class);
        let mut components = [Component::Nothing; 4];
        for ((component, control), value) in components.iter_mut().zip(controls).zip(values) {
            *component = match (control, class) {
                (Control::Source, Class::Float) => Component::Float(f32::from_bits(value)),
                (Control::Source, Class::Uint) => Component::Unsigned(value),
                (Control::Source, Class::Sint) => Component::Signed(value as i32),
                (Control::Zero, _) => Component::Float(0.0),
                (Control::OneFloat, _) => Component::Float(1.0),
                (Control::OneInt, _) => Component::Unsigned(1),
                (Control::VertexId, _) => Component::Unsigned(id),
                (Control::InstanceId, _) => Component::Unsigned(instance),
                (Control::NoStore | Control::PrimitiveId, _) => Component::Nothing,
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
