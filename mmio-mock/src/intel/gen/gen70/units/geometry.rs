//! 3DSTATE_GS as plain state of the unit.
//!
//! genxml gen7; sizes of entries are units of 64 bytes (3DSTATE_URB_GS).

use regs::gen70 as table;

use crate::intel::ff::state::UnitConfig;
use crate::intel::ff::state::geometry::{ControlData, Dispatch, GeometryState};
use crate::intel::ff::topology::Topology;
use crate::intel::r#gen::gen60::units::REGISTERS;
use crate::intel::shared::context::ThreadContext;
use crate::intel::td::{KernelState, Pushed};

/// Rows of 256 bits in the 64 bytes that entry sizes count.
const ROWS_PER_UNIT: u16 = 2;

/// Most instances of an object.
const INSTANCES: u32 = 32;

/// Reads a 3DSTATE_GS and a 3DSTATE_URB_GS, headers included; `None` while the unit is switched off. `context` gives what
/// threads know besides their registers, from the base and the size of the scratch space.
pub fn geometry(
    gs: &[u32],
    urb: &[u32],
    context: impl FnOnce((u32, u32)) -> ThreadContext,
    pushed: Option<Pushed>,
) -> Option<GeometryState> {
    let s = table::State3dGs::from_dwords(gs);
    if !s.enable() {
        return None;
    }
    let urb = table::State3dUrbGs::from_dwords(urb);
    let scratch = (s.scratch_space_base_pointer(), s.per_thread_scratch_space());
    let topology = s.output_topology();
    // CAST: fields of at most sixteen bits.
    Some(GeometryState {
        unit: UnitConfig {
            kernel: KernelState {
                ip: s.kernel_start_pointer(),
                grf_count: REGISTERS,
                alt_float: s.floating_point_mode() != 0,
                single_program_flow: s.single_program_flow(),
                illegal_opcode_exception: s.illegal_opcode_exception_enable(),
                mask_stack_exception: s.mask_stack_exception_enable(),
                software_exception: s.software_exception_enable(),
                high_priority: s.thread_priority() != 0,
                urb_start: s.dispatch_grf_start_register_for_urb_data() as u8,
            },
            context: context(scratch),
            read_offset: s.vertex_urb_entry_read_offset() as u16,
            read_rows: s.vertex_urb_entry_read_length() as u16,
            pushed,
            urb_entries: urb.gs_number_of_urb_entries() as u16,
            urb_entry_rows: (urb.gs_urb_entry_allocation_size() as u16 + 1) * ROWS_PER_UNIT,
            scratch_power: s.per_thread_scratch_space(),
            statistics: s.statistics_enable(),
            ..UnitConfig::default()
        },
        dispatch: match s.dispatch_mode() {
            0 => Dispatch::Single,
            1 => Dispatch::DualInstance,
            _ => Dispatch::DualObject,
        },
        instances: (s.instance_control() + 1).min(INSTANCES) as u8,
        handles: s.include_vertex_handles(),
        primitive_id: s.include_primitive_id(),
        hint: s.hint(),
        discard_adjacency: s.discard_adjacency(),
        leading: s.reorder_mode() == 0,
        topology: Topology::from_code(topology).ok_or(topology),
        vertex_size: s.output_vertex_size() as u16 + 1,
        control_rows: s.control_data_header_size() as u16,
        control: if s.control_data_format() == 0 {
            ControlData::Cuts
        } else {
            ControlData::Streams
        },
        stream: s.default_streamid() as u8,
        invocations: s.gs_invocations_increment_value() + 1,
    })
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;

    fn read(gs: &[u32], urb: &[u32]) -> Option<GeometryState> {
        let context = |(scratch_base, power)| ThreadContext {
            scratch_base,
            scratch_size: power,
            ..ThreadContext::default()
        };
        geometry(gs, urb, context, None)
    }

    /// Words of a captured frame (scene of cut strips), beside the driver's own decoder.
    const GS: [u32; 7] = [0x7811_0005, 0x80, 0, 0, 0x018a_1002, 0x4610_1415, 0];
    const URB: [u32; 2] = [0x7833_0000, 0x0a07_00a0];

    #[test]
    fn a_captured_geometry_shader() {
        let found = read(&GS, &URB).unwrap();
        let expected = GeometryState {
            unit: UnitConfig {
                kernel: KernelState {
                    ip: 0x80,
                    grf_count: 128,
                    urb_start: 2,
                    ..KernelState::default()
                },
                read_rows: 2,
                urb_entries: 160,
                urb_entry_rows: 16,
                statistics: true,
                ..UnitConfig::default()
            },
            dispatch: Dispatch::DualObject,
            primitive_id: true,
            topology: Ok(Topology::TriStrip),
            vertex_size: 4,
            control_rows: 1,
            ..GeometryState::default()
        };
        assert_eq!(found, expected);
        // One that is switched off (scene of stream output).
        let off = [0x7811_0005, 0, 0, 0, 0x401, 0x400, 0];
        assert_eq!(read(&off, &[]), None);
        assert_eq!(read(&[], &[]), None);
    }

    /// The bits of each field of genxml gen7, alone.
    #[test]
    fn each_field_alone() {
        type Change = fn(&mut GeometryState);
        let base = [0, 0, 0, 0, 0, 1, 0];
        let plain = read(&base, &[]).unwrap();
        let rows: &[(usize, u32, Change)] = &[
            (1, 0x1234_5640, |s| s.unit.kernel.ip = 0x1234_5640),
            (2, 1 << 7, |s| s.unit.kernel.software_exception = true),
            (2, 1 << 11, |s| s.unit.kernel.mask_stack_exception = true),
            (2, 1 << 13, |s| {
                s.unit.kernel.illegal_opcode_exception = true;
            }),
            (2, 1 << 16, |s| s.unit.kernel.alt_float = true),
            (2, 1 << 17, |s| s.unit.kernel.high_priority = true),
            (2, 1 << 31, |s| s.unit.kernel.single_program_flow = true),
            (3, 3, |s| {
                s.unit.scratch_power = 3;
                s.unit.context.scratch_size = 3;
            }),
            (3, 0xabcd_e400, |s| {
                s.unit.context.scratch_base = 0xabcd_e400;
            }),
            (4, 15, |s| s.unit.kernel.urb_start = 15),
            (4, 0x3f << 4, |s| s.unit.read_offset = 63),
            (4, 1 << 10, |s| s.handles = true),
            (4, 0x3f << 11, |s| s.unit.read_rows = 63),
            (4, 3 << 17, |s| s.topology = Ok(Topology::LineStrip)),
            (4, 0x15 << 17, |s| s.topology = Err(0x15)),
            (4, 62 << 23, |s| s.vertex_size = 63),
            (5, 1 << 1, |s| s.discard_adjacency = true),
            (5, 1 << 2, |s| s.leading = false),
            (5, 1 << 3, |s| s.hint = true),
            (5, 1 << 4, |s| s.primitive_id = true),
            (5, 31 << 5, |s| s.invocations = 32),
            (5, 1 << 10, |s| s.unit.statistics = true),
            (5, 1 << 11, |s| s.dispatch = Dispatch::DualInstance),
            (5, 2 << 11, |s| s.dispatch = Dispatch::DualObject),
            (5, 3 << 13, |s| s.stream = 3),
            (5, 31 << 15, |s| s.instances = 32),
            (5, 15 << 20, |s| s.control_rows = 15),
            (5, 1 << 24, |s| s.control = ControlData::Streams),
        ];
        for (dword, bits, change) in rows {
            let mut words = base;
            words[*dword] |= bits;
            let mut expected = plain;
            change(&mut expected);
            assert_ne!(expected, plain, "{dword} {bits:#x}");
            assert_eq!(read(&words, &[]), Some(expected), "{dword} {bits:#x}");
        }
        assert!(plain.leading && plain.topology == Err(0));
    }
}
