//! Commands of the command streamer as plain values.
//!
//! PRM: volume 1 (MI commands), volume 2 (STATE_BASE_ADDRESS, PIPE_CONTROL, PIPELINE_SELECT).

use regs::gen40 as table;

use super::latched;
use crate::intel::cs::context::image::behind;
use crate::intel::cs::latched::LatchedReader;
use crate::intel::cs::reader::{
    BaseChanges, BatchStart, Chosen, CommandReader, Flush, PipeControl, Place, PostSync,
    StoreRegister,
};
use crate::intel::ff::state::VertexBuffer;
use crate::intel::shared::context::StateBases;

/// The reader of this generation.
#[derive(Debug)]
pub struct Reader;

/// Values of Post Sync Operation.
mod post_sync {
    pub const IMMEDIATE: u32 = 1;
    pub const DEPTH_COUNT: u32 = 2;
    pub const TIMESTAMP: u32 = 3;
}

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
            general_state_upper_bound: when(
                c.general_state_access_upper_bound_modify_enable(),
                c.general_state_access_upper_bound(),
            ),
            indirect_object_upper_bound: when(
                c.indirect_object_access_upper_bound_modify_enable(),
                c.indirect_object_access_upper_bound(),
            ),
            ..BaseChanges::default()
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
            .with_general_state_access_upper_bound_modify_enable(true)
            .with_general_state_access_upper_bound(bases.general_state_upper_bound)
            .with_indirect_object_access_upper_bound_modify_enable(true)
            .with_indirect_object_access_upper_bound(bases.indirect_object_upper_bound);
        out.extend(command.dwords());
    }

    fn pipeline_select(&self, d: &[u32]) -> Option<bool> {
        Some(table::PipelineSelect::from_dwords(d).pipeline_selection() != 0)
    }

    fn put_pipeline_select(&self, media: bool, out: &mut Vec<u32>) {
        let command = table::PipelineSelect::new().with_pipeline_selection(media.into());
        out.extend(command.dwords());
    }

    fn vf_statistics(&self, d: &[u32]) -> bool {
        table::State3dVfStatistics::from_dwords(d).statistics_enable()
    }

    fn put_vf_statistics(&self, enable: bool, out: &mut Vec<u32>) {
        let command = table::State3dVfStatistics::new().with_statistics_enable(enable);
        out.extend(command.dwords());
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
                end: None,
                null: false,
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
                .with_buffer_starting_address(buffer.start)
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
        let c = table::MiFlush::from_dwords(d);
        Flush {
            invalidate: c.state_instruction_cache_invalidate() != 0,
            invalidate_translations: false,
            reset_counters: c.global_snapshot_count_reset() != 0,
        }
    }

    fn pipe_control(&self, d: &[u32]) -> PipeControl {
        let c = table::PipeControl::from_dwords(d);
        let [_, _, low, high] = c.0;
        PipeControl {
            invalidate_instructions: c.instruction_cache_invalidate_enable(),
            invalidate_translations: false,
            flush_writes: c.write_cache_flush(),
            post_sync: match c.post_sync_operation() {
                post_sync::IMMEDIATE => PostSync::Immediate(u64::from(low) | u64::from(high) << 32),
                post_sync::DEPTH_COUNT => PostSync::DepthCount,
                post_sync::TIMESTAMP => PostSync::Timestamp,
                _ => PostSync::Nothing,
            },
            address: (c.address() & !7).into(),
            in_status_page: false,
            space: None,
            notify: c.notify_enable(),
            clears_media: false,
        }
    }

    fn batch_start(&self, d: &[u32]) -> BatchStart {
        let c = table::MiBatchBufferStart::from_dwords(d);
        BatchStart {
            start: c.batch_buffer_start_address().into(),
            space: Chosen::Global,
            non_secure: c.buffer_security_indicator() != 0,
        }
    }

    fn store_data_imm(&self, d: &[u32]) -> Place {
        let command = table::MiStoreDataImm::from_dwords(d);
        Place::of(
            command.memory_address_type(),
            command.physical_start_address_extension(),
            command.address(),
        )
    }

    fn store_register_mem(&self, d: &[u32]) -> StoreRegister {
        let c = table::MiStoreRegisterMem::from_dwords(d);
        StoreRegister {
            register: c.register_address(),
            place: Place::of(
                c.use_global_gtt(),
                c.physical_start_address_extension(),
                c.memory_address(),
            ),
        }
    }
}
