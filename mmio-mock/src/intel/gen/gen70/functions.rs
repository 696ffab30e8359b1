//! The shared functions' reader: structures of ValleyView.
//!
//! genxml gen7. The states of the colour calculator are those of Sandy Bridge.

use mem::{Fault, GpuAddr, Memory};
use regs::gen70 as table;

use super::blocks::Blocks;
use super::surface;
use crate::core::fault::UnitFault;
use crate::intel::cc::state::{CcRequest, CcState};
use crate::intel::r#gen::gen60::color_calc;
use crate::intel::shared::context::StateBases;
use crate::intel::shared::reader::FunctionReader;
use crate::intel::shared::sampler::blocks::BlockReader;
use crate::intel::shared::sampler::state::SamplerDesc;
use crate::intel::surface::border::BorderColor;
use crate::intel::surface::{DepthDesc, SurfaceDesc};

/// The reader.
#[derive(Debug)]
pub struct Reader;

impl FunctionReader for Reader {
    fn surface(&self, words: &[u32]) -> SurfaceDesc {
        surface::surface(words)
    }

    fn surface_at(&self, mem: &Memory, at: GpuAddr) -> Result<SurfaceDesc, Fault> {
        let state: table::SurfaceState = mem.read_struct(at)?;
        Ok(surface::surface(state.dwords()))
    }

    fn depth_buffer(&self, command: &[u32]) -> DepthDesc {
        surface::depth_buffer(command)
    }

    fn sampler(&self, mem: &Memory, table: GpuAddr, number: u8) -> Result<SamplerDesc, Fault> {
        surface::sampler_at(mem, table, number)
    }

    fn blocks(&self) -> Option<&'static dyn BlockReader> {
        Some(&Blocks)
    }

    fn border(&self, mem: &Memory, at: GpuAddr) -> Result<BorderColor, Fault> {
        surface::border(mem, at)
    }

    fn color_calc(
        &self,
        mem: &Memory,
        bases: &StateBases,
        request: &CcRequest,
    ) -> Result<CcState, UnitFault> {
        color_calc::read(mem, bases, request)
    }
}
