//! First registers of threads of geometry shaders.
//!
//! Entries, instances, numbers of objects, handles of their vertices.
//! Mesa 22.3.6 brw_vec4_gs_visitor.cpp `setup_payload` (r0 and r1, then constants), brw_vec4_generator.cpp
//! `generate_gs_get_instance_id` (bits 31:27 of r0.0 and r0.1), `generate_gs_set_dword_2` (r0.2 has the topology among others);
//! r1 has the number of each half's object (a captured kernel reads its first and its fifth dword).
//! That topology and hint are bits 21:16 and 22 of r0.2, and that two objects' handles alternate by four, is not in the sources at
//! hand: no known driver asks for handles.

use eu::Grf;

use crate::intel::ff::payload::{GEOMETRY_REGISTERS, GeometryHeader, GeometryPart};
use crate::intel::ff::state::geometry::Dispatch;
use crate::intel::urb::UrbHandle;

/// First bit of the number of the instance.
const INSTANCE: u32 = 27;

/// Fills the registers in front of the constants; comes back with how many they are.
pub fn geometry(
    registers: &mut [Grf; GEOMETRY_REGISTERS],
    header: &GeometryHeader<'_>,
    debug: [u32; 2],
) -> usize {
    let state = header.state;
    let (unit, context) = (&state.unit, &state.unit.context);
    let part = |part: &GeometryPart<'_>| {
        u32::from(part.entry.0) | u32::from(part.instance & 31) << INSTANCE
    };
    registers[0] = [
        part(&header.first),
        header.second.as_ref().map_or(0, part),
        u32::from(header.topology & 63) << 16 | u32::from(state.hint) << 22,
        (context.sampler_state_pointer & !0x1f) | (unit.scratch_power & 0xf),
        context.binding_table_pointer,
        context.scratch_base & !0x3ff,
        debug[0],
        debug[1],
    ];
    let mut count = 1;
    if state.primitive_id {
        let [first, second] =
            [Some(header.first), header.second].map(|part| part.map_or(0, |part| part.number));
        registers[1] = [first, 0, 0, 0, second, 0, 0, 0];
        count = 2;
    }
    if state.handles {
        count += handles(&mut registers[count..], header);
    }
    count
}

/// Handles of the vertices: eight of an object in a register, or four of each of two objects.
fn handles(registers: &mut [Grf], header: &GeometryHeader<'_>) -> usize {
    let word = |handle: &UrbHandle| u32::from(handle.0);
    let first = header.first.vertices;
    if header.state.dispatch != Dispatch::DualObject {
        for (register, handles) in registers.iter_mut().zip(first.chunks(8)) {
            for (to, handle) in register.iter_mut().zip(handles) {
                *to = word(handle);
            }
        }
        return first.len().div_ceil(8);
    }
    let second = header.second.map_or(&[][..], |part| part.vertices);
    for (vertices, half) in [(first, 0), (second, 4)] {
        for (register, handles) in registers.iter_mut().zip(vertices.chunks(4)) {
            // PANIC: eight dwords.
            for (to, handle) in register[half..].iter_mut().zip(handles) {
                *to = word(handle);
            }
        }
    }
    first.len().div_ceil(4)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::intel::ff::state::geometry::GeometryState;

    fn part(entry: u16, instance: u8, number: u32, vertices: &[UrbHandle]) -> GeometryPart<'_> {
        GeometryPart {
            entry: UrbHandle(entry),
            instance,
            number,
            vertices,
        }
    }

    #[test]
    fn two_objects_have_an_entry_and_a_number_each() {
        let mut state = GeometryState {
            dispatch: Dispatch::DualObject,
            primitive_id: true,
            hint: true,
            ..GeometryState::default()
        };
        state.unit.scratch_power = 3;
        state.unit.context.sampler_state_pointer = 0x60;
        state.unit.context.binding_table_pointer = 0x2c0;
        state.unit.context.scratch_base = 0x8000;
        let header = GeometryHeader {
            state: &state,
            topology: 5,
            first: part(0x100, 0, 7, &[]),
            second: Some(part(0x120, 0, 8, &[])),
        };
        let mut registers = [[0; 8]; GEOMETRY_REGISTERS];
        assert_eq!(geometry(&mut registers, &header, [1, 2]), 2);
        let topology = 5 << 16 | 1 << 22;
        assert_eq!(
            registers[0],
            [0x100, 0x120, topology, 0x63, 0x2c0, 0x8000, 1, 2]
        );
        assert_eq!(registers[1], [7, 0, 0, 0, 8, 0, 0, 0]);
    }

    #[test]
    fn instances_stand_in_bits_31_to_27() {
        let state = GeometryState {
            dispatch: Dispatch::DualInstance,
            ..GeometryState::default()
        };
        let header = GeometryHeader {
            state: &state,
            topology: 1,
            first: part(0x100, 30, 0, &[]),
            second: Some(part(0x120, 31, 0, &[])),
        };
        let mut registers = [[0; 8]; GEOMETRY_REGISTERS];
        assert_eq!(geometry(&mut registers, &header, [0; 2]), 1);
        assert_eq!(registers[0][0] >> 27, 30);
        assert_eq!(registers[0][1], 0xf800_0120);
    }

    #[test]
    fn handles_stand_behind_the_numbers() {
        let all: Vec<_> = (0..32).map(|n| UrbHandle(2 * n)).collect();
        let state = GeometryState {
            handles: true,
            ..GeometryState::default()
        };
        let mut registers = [[0; 8]; GEOMETRY_REGISTERS];
        let header = GeometryHeader {
            state: &state,
            topology: 0x3f,
            first: part(0, 0, 0, &all),
            second: None,
        };
        assert_eq!(geometry(&mut registers, &header, [0; 2]), 5);
        assert_eq!(registers[1], [0, 2, 4, 6, 8, 10, 12, 14]);
        assert_eq!(registers[4][7], 62);
        let both = GeometryState {
            dispatch: Dispatch::DualObject,
            primitive_id: true,
            ..state
        };
        let header = GeometryHeader {
            state: &both,
            second: Some(part(0, 0, 0, &all[1..])),
            ..header
        };
        assert_eq!(geometry(&mut registers, &header, [0; 2]), 10);
        assert_eq!(registers[2], [0, 2, 4, 6, 2, 4, 6, 8]);
        assert_eq!(registers[9][3], 62);
    }
}
