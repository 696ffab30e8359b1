//! Commands of Ironlake that differ from those of G45.
//!
//! PRM: volume 1 (MI commands), volume 2 (STATE_BASE_ADDRESS, VERTEX_BUFFER_STATE); genxml gen5 beside genxml gen45.
//! Depth Cache Flush Inhibit and Stall At Pixel Scoreboard of PIPE_CONTROL change nothing: it is executed when the
//! pipeline is empty, and depth goes to memory at once.

use regs::gen50 as table;

use crate::intel::cs::context::image::behind;
use crate::intel::cs::latched::LatchedReader;
use crate::intel::cs::reader::{
    BaseChanges, BatchStart, CommandReader, Flush, PipeControl, Place, StoreRegister,
};
use crate::intel::ff::state::VertexBuffer;
use crate::intel::r#gen::gen40::latched;
use crate::intel::r#gen::gen45::commands::Reader as Gen45;
use crate::intel::shared::context::StateBases;

/// The reader of this generation.
#[derive(Debug)]
pub struct Reader;

impl CommandReader for Reader {
    fn latched(&self) -> &'static dyn LatchedReader {
        &latched::Reader(&Reader)
    }

    fn state_base_address(&self, d: &[u32]) -> BaseChanges {
        let c = table::StateBaseAddress::from_dwords(d);
        let when = |modify: bool, value: u32| modify.then_some(value);
        BaseChanges {
            general_state_base: when(
                c.general_state_base_address_modify_enable(),
                c.general_state_base_address(),
            ),
            surface_state_base: when(
                c.surface_state_base_address_modify_enable(),
                c.surface_state_base_address(),
            ),
            indirect_object_base: when(
                c.indirect_object_base_address_modify_enable(),
                c.indirect_object_base_address(),
            ),
            instruction_base: when(
                c.instruction_base_address_modify_enable(),
                c.instruction_base_address(),
            ),
            kernels_apart: true,
            dynamic_state_base: None,
            dynamic_apart: false,
            dynamic_state_upper_bound: None,
            general_state_upper_bound: when(
                c.general_state_access_upper_bound_modify_enable(),
                c.general_state_access_upper_bound(),
            ),
            indirect_object_upper_bound: when(
                c.indirect_object_access_upper_bound_modify_enable(),
                c.indirect_object_access_upper_bound(),
            ),
            instruction_upper_bound: when(
                c.instruction_access_upper_bound_modify_enable(),
                c.instruction_access_upper_bound(),
            ),
        }
    }

    fn put_state_base_address(&self, bases: &StateBases, out: &mut Vec<u32>) {
        let command = table::StateBaseAddress::new()
            .with_general_state_base_address_modify_enable(true)
            .with_general_state_base_address(bases.general_state_base)
            .with_surface_state_base_address_modify_enable(true)
            .with_surface_state_base_address(bases.surface_state_base)
            .with_indirect_object_base_address_modify_enable(true)
            .with_indirect_object_base_address(bases.indirect_object_base)
            .with_instruction_base_address_modify_enable(true)
            .with_instruction_base_address(bases.instruction_base.unwrap_or(0))
            .with_general_state_access_upper_bound_modify_enable(true)
            .with_general_state_access_upper_bound(bases.general_state_upper_bound)
            .with_indirect_object_access_upper_bound_modify_enable(true)
            .with_indirect_object_access_upper_bound(bases.indirect_object_upper_bound)
            .with_instruction_access_upper_bound_modify_enable(true)
            .with_instruction_access_upper_bound(bases.instruction_upper_bound);
        out.extend(command.dwords());
    }

    fn pipeline_select(&self, d: &[u32]) -> Option<bool> {
        Gen45.pipeline_select(d)
    }

    fn put_pipeline_select(&self, media: bool, out: &mut Vec<u32>) {
        Gen45.put_pipeline_select(media, out);
    }

    fn vf_statistics(&self, d: &[u32]) -> bool {
        Gen45.vf_statistics(d)
    }

    fn put_vf_statistics(&self, enable: bool, out: &mut Vec<u32>) {
        Gen45.put_vf_statistics(enable, out);
    }

    fn vertex_buffers(&self, d: &[u32]) -> Vec<(usize, VertexBuffer)> {
        let states = d.get(1..).unwrap_or_default();
        let states = states.chunks_exact(table::VertexBufferState::LEN);
        let buffer = |state: &[u32]| {
            let state = table::VertexBufferState::from_dwords(state);
            let buffer = VertexBuffer {
                valid: true,
                pitch: state.buffer_pitch(),
                per_instance: state.buffer_access_type() != 0,
                start: state.buffer_starting_address(),
                end: Some(state.end_address()),
                null: state.null_vertex_buffer(),
                step_rate: state.instance_data_step_rate(),
            };
            (state.vertex_buffer_index() as usize, buffer)
        };
        states.map(buffer).collect()
    }

    fn put_vertex_buffers(&self, buffers: &[VertexBuffer], out: &mut Vec<u32>) {
        let mut states = Vec::new();
        for (index, buffer) in (0..).zip(buffers).filter(|(_, buffer)| buffer.valid) {
            let state = table::VertexBufferState::new()
                .with_vertex_buffer_index(index)
                .with_buffer_pitch(buffer.pitch)
                .with_buffer_access_type(buffer.per_instance.into())
                .with_null_vertex_buffer(buffer.null)
                .with_buffer_starting_address(buffer.start)
                .with_end_address(buffer.end.unwrap_or(u32::MAX))
                .with_instance_data_step_rate(buffer.step_rate);
            states.extend(state.dwords());
        }
        if !states.is_empty() {
            behind(out, table::State3dVertexBuffers::new().dwords(), &states);
        }
    }

    fn depth_buffer(&self, d: &[u32]) -> Vec<u32> {
        table::State3dDepthBuffer::from_dwords(d).dwords().to_vec()
    }

    fn flush(&self, d: &[u32]) -> Flush {
        Gen45.flush(d)
    }

    fn pipe_control(&self, d: &[u32]) -> PipeControl {
        Gen45.pipe_control(d)
    }

    fn batch_start(&self, d: &[u32]) -> BatchStart {
        Gen45.batch_start(d)
    }

    fn store_data_imm(&self, d: &[u32]) -> Place {
        Gen45.store_data_imm(d)
    }

    fn store_register_mem(&self, d: &[u32]) -> StoreRegister {
        let c = table::MiStoreRegisterMem::from_dwords(d);
        StoreRegister {
            register: c.register_address(),
            place: Place::of(c.use_global_gtt(), 0, c.memory_address()),
        }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests;
