//! Commands of the streamers of ValleyView that differ from Sandy Bridge's.
//!
//! genxml gen7; i915 gt/gen6_engine_cs.c and gt/intel_gpu_commands.h for what kernels send. Flushes of the data port's and of vertex
//! caches, stalls and Indirect State Pointers Disable change nothing: commands are executed when the pipeline is empty, and nothing is
//! cached but kernels, state and translations.

use regs::gen70 as table;

use super::latched;
use crate::intel::cs::context::image::behind;
use crate::intel::cs::latched::LatchedReader;
use crate::intel::cs::reader::{
    BaseChanges, BatchStart, Combination, CommandReader, Comparison, ConditionalEnd, Flush,
    FlushStore, PipeControl, Place, PostSync, Predicate, Semaphore, StoreRegister,
};
use crate::intel::ff::state::VertexBuffer;
use crate::intel::r#gen::gen60::commands::{Reader as Gen60, immediate, space};
use crate::intel::shared::context::StateBases;

/// The reader of this generation.
#[derive(Debug)]
pub struct Reader;

impl CommandReader for Reader {
    fn latched(&self) -> &'static dyn LatchedReader {
        &latched::Reader
    }

    fn state_base_address(&self, d: &[u32]) -> BaseChanges {
        Gen60.state_base_address(d)
    }

    fn put_state_base_address(&self, bases: &StateBases, out: &mut Vec<u32>) {
        Gen60.put_state_base_address(bases, out);
    }

    fn pipeline_select(&self, d: &[u32]) -> Option<bool> {
        match table::PipelineSelect::from_dwords(d).pipeline_selection() {
            0 => Some(false),
            // Media, and kernels of compute.
            1 | 2 => Some(true),
            _ => None,
        }
    }

    fn put_pipeline_select(&self, media: bool, out: &mut Vec<u32>) {
        Gen60.put_pipeline_select(media, out);
    }

    fn vf_statistics(&self, d: &[u32]) -> bool {
        Gen60.vf_statistics(d)
    }

    fn put_vf_statistics(&self, enable: bool, out: &mut Vec<u32>) {
        Gen60.put_vf_statistics(enable, out);
    }

    fn vertex_buffers(&self, d: &[u32]) -> Vec<(usize, VertexBuffer)> {
        let buffer = |state: table::VertexBufferState| {
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
        vertex_buffers(d).map(buffer).collect()
    }

    fn kept_addresses(&self, d: &[u32]) -> u64 {
        let kept = vertex_buffers(d).filter(|state| !state.address_modify_enable());
        // Indices have six bits.
        kept.fold(0, |all, state| all | 1 << state.vertex_buffer_index())
    }

    fn put_vertex_buffers(&self, buffers: &[VertexBuffer], out: &mut Vec<u32>) {
        let mut states = Vec::new();
        for (index, buffer) in (0..).zip(buffers).filter(|(_, buffer)| buffer.valid) {
            let state = table::VertexBufferState::new()
                .with_vertex_buffer_index(index)
                .with_buffer_pitch(buffer.pitch)
                .with_buffer_access_type(buffer.per_instance.into())
                .with_null_vertex_buffer(buffer.null)
                .with_address_modify_enable(true)
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
        Gen60.flush(d)
    }

    fn flush_store(&self, d: &[u32]) -> FlushStore {
        Gen60.flush_store(d)
    }

    fn pipe_control(&self, d: &[u32]) -> PipeControl {
        let c = table::PipeControl::from_dwords(d);
        let data = d.get(3..).unwrap_or_default();
        PipeControl {
            invalidate_instructions: c.instruction_cache_invalidate_enable(),
            invalidate_translations: c.tlb_invalidate(),
            flush_writes: c.render_target_cache_flush_enable()
                || c.depth_cache_flush_enable()
                || c.state_cache_invalidation_enable()
                || c.texture_cache_invalidation_enable()
                || c.constant_cache_invalidation_enable(),
            post_sync: match data {
                [value, ..] if c.lri_post_sync_operation() != 0 => PostSync::Register(*value),
                data => immediate(c.post_sync_operation(), data),
            },
            in_status_page: c.store_data_index(),
            space: Some(space(c.destination_address_type() != 0)),
            address: c.address().into(),
            notify: c.notify_enable(),
            clears_media: c.generic_media_state_clear(),
        }
    }

    // i915 i915_gem_execbuffer.c `eb_dispatch_secure`: one bit says where a batch is read and that it has no privileges, and what it
    // draws is the process's either way.
    fn works_in_process(&self) -> bool {
        true
    }

    fn batch_start(&self, d: &[u32]) -> BatchStart {
        Gen60.batch_start(d)
    }

    fn store_data_imm(&self, d: &[u32]) -> Place {
        Gen60.store_data_imm(d)
    }

    fn store_register_mem(&self, d: &[u32]) -> StoreRegister {
        Gen60.store_register_mem(d)
    }

    fn load_register_mem(&self, d: &[u32]) -> StoreRegister {
        let c = table::MiLoadRegisterMem::from_dwords(d);
        StoreRegister {
            register: c.register_address(),
            place: Place::Graphics(space(c.use_global_gtt()), c.memory_address().into()),
        }
    }

    fn predicate(&self, d: &[u32]) -> Predicate {
        let c = table::MiPredicate::from_dwords(d);
        Predicate {
            comparison: match c.compare_operation() {
                0 => Comparison::True,
                1 => Comparison::False,
                2 => Comparison::Equal,
                _ => Comparison::DeltasEqual,
            },
            combination: match c.combine_operation() {
                0 => Combination::Set,
                1 => Combination::And,
                2 => Combination::Or,
                _ => Combination::Xor,
            },
            inverts: match c.load_operation() {
                2 => Some(false),
                3 => Some(true),
                _ => None,
            },
        }
    }

    fn conditional_end(&self, d: &[u32]) -> ConditionalEnd {
        Gen60.conditional_end(d)
    }

    fn semaphore(&self, d: &[u32]) -> Semaphore {
        let c = table::MiSemaphoreMbox::from_dwords(d);
        // A streamer waits for one of its registers; there is nothing else (genxml gen7).
        Semaphore {
            compares: true,
            in_register: true,
            register: c.register_select(),
            data: c.semaphore_data_dword(),
            ..Semaphore::default()
        }
    }

    fn update_gtt(&self, d: &[u32]) -> (u32, Vec<u32>) {
        Gen60.update_gtt(d)
    }
}

/// The states of a 3DSTATE_VERTEX_BUFFERS.
fn vertex_buffers(d: &[u32]) -> impl Iterator<Item = table::VertexBufferState> {
    let states = d.get(1..).unwrap_or_default();
    let states = states.chunks_exact(table::VertexBufferState::LEN);
    states.map(table::VertexBufferState::from_dwords)
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests;
