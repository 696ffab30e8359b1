//! The shared functions' reader: structures of G45 and GM45.
//!
//! PRM: volume 4, 4.7; genxml gen45 beside genxml gen4: surfaces and depth buffers may begin inside of a tile.

use mem::{Fault, GpuAddr, Memory};
use regs::gen45 as table;

use crate::core::fault::UnitFault;
use crate::intel::cc::state::{CcRequest, CcState};
use crate::intel::r#gen::gen40::{color_calc, sampler, surface as gen40};
use crate::intel::shared::context::StateBases;
use crate::intel::shared::reader::FunctionReader;
use crate::intel::shared::sampler::state::SamplerDesc;
use crate::intel::surface::border::BorderColor;
use crate::intel::surface::format::{Formats, table as formats};
use crate::intel::surface::{DepthDesc, Format, SurfaceDesc};

static ROWS: [Format; table::SURFACE_FORMATS.len()] = formats::rows(&table::SURFACE_FORMATS);
/// The formats of these parts.
pub static FORMATS: Formats = Formats::new(&ROWS);

/// The reader.
#[derive(Debug)]
pub struct Reader;

/// SURFACE_STATE; missing dwords are zero.
pub fn surface(words: &[u32]) -> SurfaceDesc {
    let s = table::SurfaceState::from_dwords(words);
    SurfaceDesc {
        // Units of 4 pixels and 2 rows.
        offset: (s.x_offset() * 4, s.y_offset() * 2),
        format: FORMATS.lookup(s.surface_format()),
        ..gen40::surface(words)
    }
}

/// 3DSTATE_DEPTH_BUFFER, header included; missing dwords are zero.
pub fn depth_buffer(command: &[u32]) -> DepthDesc {
    let c = table::State3dDepthBuffer::from_dwords(command);
    DepthDesc {
        offset: (c.depth_coordinate_offset_x(), c.depth_coordinate_offset_y()),
        ..gen40::depth_buffer(command)
    }
}

impl FunctionReader for Reader {
    fn surface(&self, words: &[u32]) -> SurfaceDesc {
        surface(words)
    }

    fn surface_at(&self, mem: &Memory, at: GpuAddr) -> Result<SurfaceDesc, Fault> {
        let state: table::SurfaceState = mem.read_struct(at)?;
        Ok(surface(state.dwords()))
    }

    fn depth_buffer(&self, command: &[u32]) -> DepthDesc {
        depth_buffer(command)
    }

    fn sampler(&self, mem: &Memory, table: GpuAddr, number: u8) -> Result<SamplerDesc, Fault> {
        sampler::sampler(mem, table, number)
    }

    fn border(&self, mem: &Memory, at: GpuAddr) -> Result<BorderColor, Fault> {
        sampler::border(mem, at)
    }

    fn color_calc(
        &self,
        mem: &Memory,
        bases: &StateBases,
        request: &CcRequest,
    ) -> Result<CcState, UnitFault> {
        color_calc::read(mem, bases.general_state_base, request)
    }
}
