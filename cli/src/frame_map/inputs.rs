//! What VF read for a vertex: addresses, formats, values.
//!
//! PRM: volume 2, vertex fetch (VERTEX_BUFFER_STATE, VERTEX_ELEMENT_STATE).

use mmio_mock::intel::ff::state::Component;
use mmio_mock::intel::surface::Format;

use super::DrawCall;
use crate::capture::Exec;

/// An attribute of a vertex as it lies in memory.
#[derive(Clone, Copy, Debug)]
pub struct Input {
    /// Which vertex element.
    pub element: u32,
    /// Vertex buffer.
    pub buffer: u32,
    /// Address of its first byte.
    pub address: u32,
    /// Format.
    pub format: &'static Format,
    /// First dword in the URB entry that it is written to.
    pub destination: u32,
}

impl Input {
    /// Its four components as VF makes them, bits of registers, from the contents of the submission; `None` outside
    /// every buffer.
    pub fn value(&self, exec: &Exec) -> Option<[u32; 4]> {
        let mut bytes = [0; 32];
        let count = usize::from(self.format.bytes).min(bytes.len());
        for (n, byte) in (0u32..).zip(bytes.iter_mut().take(count)) {
            let at = self.address.wrapping_add(n);
            let word = exec.dword(at & !3)?;
            *byte = word.to_le_bytes()[(at & 3) as usize];
        }
        Some(self.format.unpack_bytes(&bytes[..count]))
    }
}

/// The attributes of a vertex that come from memory.
pub(super) fn of(draw: &DrawCall, index: u32, instance: u32) -> Vec<Input> {
    let first_instance = draw.primitive.first_instance;
    let mut out = Vec::new();
    for (number, element) in (0u32..).zip(&draw.state.elements) {
        if !element.components.contains(&Component::Source) {
            continue;
        }
        let buffers = &draw.state.pipeline.vertex_buffers;
        let Some(state) = buffers.get(element.buffer).filter(|buffer| buffer.valid) else {
            continue;
        };
        let Some(format) = element.layout else {
            continue;
        };
        let row = if state.per_instance {
            let steps = instance.checked_div(state.step_rate);
            first_instance.wrapping_add(steps.unwrap_or(0))
        } else {
            index
        };
        let address = state
            .start
            .wrapping_add(row.wrapping_mul(state.pitch))
            .wrapping_add(element.offset);
        out.push(Input {
            element: number,
            // CAST: one of a few dozen buffers.
            buffer: element.buffer as u32,
            address,
            format,
            destination: element.destination.into(),
        });
    }
    out
}
