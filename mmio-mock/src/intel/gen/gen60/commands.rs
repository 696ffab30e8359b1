//! Commands of the streamers of Sandy Bridge that differ from Ironlake's.
//!
//! genxml gen6; i915 gt/gen6_engine_cs.c and gt/intel_gpu_commands.h for what kernels send. Depth Cache Flush, stalls and
//! Synchronize GFDT Surface change nothing: commands are executed when the pipeline is empty, and nothing is cached but
//! kernels, state and translations.

use regs::gen60 as table;

use super::latched;
use crate::intel::cs::context::image::behind;
use crate::intel::cs::latched::LatchedReader;
use crate::intel::cs::reader::{
    BaseChanges, BatchStart, Chosen, CommandReader, ConditionalEnd, Flush, FlushStore, PipeControl,
    Place, PostSync, Semaphore, StoreRegister,
};
use crate::intel::ff::state::VertexBuffer;
use crate::intel::r#gen::gen50::commands::Reader as Gen50;
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

/// The space of a bit that asks for the global GTT.
pub const fn space(global: bool) -> Chosen {
    if global {
        Chosen::Global
    } else {
        Chosen::Process
    }
}

/// What is stored of immediate data: the lower dword alone in the shorter form of a command.
pub fn immediate(operation: u32, data: &[u32]) -> PostSync {
    match (operation, data) {
        (post_sync::IMMEDIATE, [low]) => PostSync::Dword(*low),
        (post_sync::IMMEDIATE, [low, high, ..]) => {
            PostSync::Immediate(u64::from(*low) | u64::from(*high) << 32)
        }
        (post_sync::DEPTH_COUNT, _) => PostSync::DepthCount,
        (post_sync::TIMESTAMP, _) => PostSync::Timestamp,
        _ => PostSync::Nothing,
    }
}

impl CommandReader for Reader {
    fn latched(&self) -> &'static dyn LatchedReader {
        &latched::Reader
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
            dynamic_state_base: when(
                c.dynamic_state_base_address_modify_enable(),
                c.dynamic_state_base_address(),
            ),
            dynamic_apart: true,
            indirect_object_base: when(
                c.indirect_object_base_address_modify_enable(),
                c.indirect_object_base_address(),
            ),
            instruction_base: when(
                c.instruction_base_address_modify_enable(),
                c.instruction_base_address(),
            ),
            kernels_apart: true,
            general_state_upper_bound: when(
                c.general_state_access_upper_bound_modify_enable(),
                c.general_state_access_upper_bound(),
            ),
            dynamic_state_upper_bound: when(
                c.dynamic_state_access_upper_bound_modify_enable(),
                c.dynamic_state_access_upper_bound(),
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
            .with_dynamic_state_base_address_modify_enable(true)
            .with_dynamic_state_base_address(bases.dynamic_state_base.unwrap_or(0))
            .with_indirect_object_base_address_modify_enable(true)
            .with_indirect_object_base_address(bases.indirect_object_base)
            .with_instruction_base_address_modify_enable(true)
            .with_instruction_base_address(bases.instruction_base.unwrap_or(0))
            .with_general_state_access_upper_bound_modify_enable(true)
            .with_general_state_access_upper_bound(bases.general_state_upper_bound)
            .with_dynamic_state_access_upper_bound_modify_enable(true)
            .with_dynamic_state_access_upper_bound(bases.dynamic_state_upper_bound)
            .with_indirect_object_access_upper_bound_modify_enable(true)
            .with_indirect_object_access_upper_bound(bases.indirect_object_upper_bound)
            .with_instruction_access_upper_bound_modify_enable(true)
            .with_instruction_access_upper_bound(bases.instruction_upper_bound);
        out.extend(command.dwords());
    }

    fn pipeline_select(&self, d: &[u32]) -> Option<bool> {
        Gen50.pipeline_select(d)
    }

    fn put_pipeline_select(&self, media: bool, out: &mut Vec<u32>) {
        Gen50.put_pipeline_select(media, out);
    }

    fn vf_statistics(&self, d: &[u32]) -> bool {
        Gen50.vf_statistics(d)
    }

    fn put_vf_statistics(&self, enable: bool, out: &mut Vec<u32>) {
        Gen50.put_vf_statistics(enable, out);
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
        let c = table::MiFlush::from_dwords(d);
        Flush {
            invalidate: c.state_instruction_cache_invalidate() != 0,
            invalidate_translations: false,
            reset_counters: c.global_snapshot_count_reset() != 0,
        }
    }

    fn flush_store(&self, d: &[u32]) -> FlushStore {
        let c = table::MiFlushDw::from_dwords(d);
        FlushStore {
            invalidate_translations: c.tlb_invalidate(),
            notify: c.notify_enable(),
            store: immediate(c.post_sync_operation(), d.get(2..).unwrap_or_default()),
            in_status_page: c.store_data_index(),
            space: space(c.destination_address_type() != 0),
            address: c.address().into(),
        }
    }

    fn pipe_control(&self, d: &[u32]) -> PipeControl {
        let c = table::PipeControl::from_dwords(d);
        PipeControl {
            invalidate_instructions: c.instruction_cache_invalidate_enable(),
            invalidate_translations: c.tlb_invalidate(),
            flush_writes: c.render_target_cache_flush_enable()
                || c.depth_cache_flush_enable()
                || c.state_cache_invalidation_enable()
                || c.texture_cache_invalidation_enable()
                || c.constant_cache_invalidation_enable(),
            post_sync: immediate(c.post_sync_operation(), d.get(3..).unwrap_or_default()),
            in_status_page: c.store_data_index(),
            space: Some(space(c.destination_address_type() != 0)),
            address: c.address().into(),
            notify: c.notify_enable(),
            clears_media: c.generic_media_state_clear(),
        }
    }

    fn batch_start(&self, d: &[u32]) -> BatchStart {
        let c = table::MiBatchBufferStart::from_dwords(d);
        let process = c.address_space_indicator() != 0;
        BatchStart {
            start: c.batch_buffer_start_address().into(),
            space: space(!process),
            non_secure: process,
        }
    }

    fn store_data_imm(&self, d: &[u32]) -> Place {
        let c = table::MiStoreDataImm::from_dwords(d);
        Place::Graphics(space(c.use_global_gtt()), c.address().into())
    }

    fn store_register_mem(&self, d: &[u32]) -> StoreRegister {
        let c = table::MiStoreRegisterMem::from_dwords(d);
        StoreRegister {
            register: c.register_address(),
            place: Place::Graphics(space(c.use_global_gtt()), c.memory_address().into()),
        }
    }

    fn conditional_end(&self, d: &[u32]) -> ConditionalEnd {
        let c = table::MiConditionalBatchBufferEnd::from_dwords(d);
        ConditionalEnd {
            compares: c.compare_semaphore(),
            limit: c.compare_data_dword(),
            place: Place::Graphics(space(c.use_global_gtt()), c.compare_address().into()),
        }
    }

    fn semaphore(&self, d: &[u32]) -> Semaphore {
        let c = table::MiSemaphoreMbox::from_dwords(d);
        Semaphore {
            updates: c.update_semaphore(),
            compares: c.compare_semaphore(),
            in_register: c.compare_register(),
            register: c.register_select(),
            data: c.semaphore_data_dword(),
            address: c.semaphore_address(),
            space: space(c.use_global_gtt()),
        }
    }

    fn update_gtt(&self, d: &[u32]) -> (u32, Vec<u32>) {
        let c = table::MiUpdateGtt::from_dwords(d);
        let entries = d.get(2..).unwrap_or_default().to_vec();
        (c.entry_address(), entries)
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests;
