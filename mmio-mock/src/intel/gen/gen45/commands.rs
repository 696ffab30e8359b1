//! Commands of G45 and GM45 that differ from those of 965.
//!
//! PRM: volume 1 (MI commands), volume 2 (PIPELINE_SELECT, PIPE_CONTROL); genxml gen45 beside genxml gen4.
//! Indirect State Pointers Disable of MI_FLUSH and PIPE_CONTROL has nothing to forget: state is read at each draw.

use regs::gen45 as table;

use crate::intel::cs::latched::LatchedReader;
use crate::intel::cs::reader::{
    BaseChanges, BatchStart, CommandReader, Flush, PipeControl, Place, StoreRegister,
};
use crate::intel::ff::state::VertexBuffer;
use crate::intel::r#gen::gen40::commands::Reader as Gen40;
use crate::intel::r#gen::gen40::latched;
use crate::intel::shared::context::StateBases;

/// The reader of this generation.
#[derive(Debug)]
pub struct Reader;

impl CommandReader for Reader {
    fn latched(&self) -> &'static dyn LatchedReader {
        &latched::Reader(&Reader)
    }

    fn state_base_address(&self, d: &[u32]) -> BaseChanges {
        Gen40.state_base_address(d)
    }

    fn put_state_base_address(&self, bases: &StateBases, out: &mut Vec<u32>) {
        Gen40.put_state_base_address(bases, out);
    }

    fn pipeline_select(&self, d: &[u32]) -> Option<bool> {
        match table::PipelineSelect::from_dwords(d).pipeline_selection() {
            0 => Some(false),
            1 => Some(true),
            _ => None,
        }
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
        Gen40.vertex_buffers(d)
    }

    fn put_vertex_buffers(&self, buffers: &[VertexBuffer], out: &mut Vec<u32>) {
        Gen40.put_vertex_buffers(buffers, out);
    }

    fn depth_buffer(&self, d: &[u32]) -> Vec<u32> {
        table::State3dDepthBuffer::from_dwords(d).dwords().to_vec()
    }

    fn flush(&self, d: &[u32]) -> Flush {
        Gen40.flush(d)
    }

    fn pipe_control(&self, d: &[u32]) -> PipeControl {
        let first = Gen40.pipe_control(d);
        let textures = table::PipeControl::from_dwords(d).texture_cache_flush_enable();
        PipeControl {
            flush_writes: first.flush_writes || textures,
            ..first
        }
    }

    fn batch_start(&self, d: &[u32]) -> BatchStart {
        Gen40.batch_start(d)
    }

    fn store_data_imm(&self, d: &[u32]) -> Place {
        Gen40.store_data_imm(d)
    }

    fn store_register_mem(&self, d: &[u32]) -> StoreRegister {
        Gen40.store_register_mem(d)
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests;
