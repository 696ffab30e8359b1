//! The shared functions' reader: structures of Ironlake.
//!
//! PRM: volume 4, 4.7; genxml gen5 beside genxml gen45: border colours in every number format. Cubes lie in memory like 2D
//! arrays (Mesa 22.3.6 isl.c `isl_surf_choose_dim_layout`: like volumes in generation 4 alone).
//! Not modelled: rotated render targets, averaged corners of cubes.

use mem::{Fault, GpuAddr, Memory};
use regs::gen50 as table;

use crate::core::fault::UnitFault;
use crate::intel::cc::state::{CcRequest, CcState};
use crate::intel::r#gen::gen40::{color_calc, sampler};
use crate::intel::r#gen::gen45::functions as gen45;
use crate::intel::shared::context::StateBases;
use crate::intel::shared::reader::FunctionReader;
use crate::intel::shared::sampler::state::SamplerDesc;
use crate::intel::surface::border::{BorderColor, BorderFormats};
use crate::intel::surface::desc::Boundary;
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
    let first = gen45::surface(words);
    SurfaceDesc {
        format: FORMATS.lookup(first.format_code),
        boundary: Boundary::Normal,
        faces_as_slices: true,
        ..first
    }
}

/// 3DSTATE_DEPTH_BUFFER, header included; missing dwords are zero.
pub fn depth_buffer(command: &[u32]) -> DepthDesc {
    DepthDesc {
        coordinate_offset_disable: false,
        faces_as_slices: true,
        ..gen45::depth_buffer(command)
    }
}

/// SAMPLER_BORDER_COLOR_STATE.
fn border(s: &table::SamplerBorderColorState) -> BorderColor {
    // CAST: fields of eight and sixteen bits.
    let half = |bits: u32| num::f16_to_f32(bits as u16);
    BorderColor {
        float: [
            s.border_color_float_red(),
            s.border_color_float_green(),
            s.border_color_float_blue(),
            s.border_color_float_alpha(),
        ],
        bytes: None,
        others: Some(BorderFormats {
            unorm8: [
                s.border_color_unorm_red(),
                s.border_color_unorm_green(),
                s.border_color_unorm_blue(),
                s.border_color_unorm_alpha(),
            ]
            .map(|n| num::unorm_to_f32(n, 8)),
            unorm16: [
                s.border_color_unorm16_red(),
                s.border_color_unorm16_green(),
                s.border_color_unorm16_blue(),
                s.border_color_unorm16_alpha(),
            ]
            .map(|n| num::unorm_to_f32(n, 16)),
            snorm8: [
                s.border_color_snorm8_red(),
                s.border_color_snorm8_green(),
                s.border_color_snorm8_blue(),
                s.border_color_snorm8_alpha(),
            ]
            .map(|n| num::snorm_to_f32(n.cast_unsigned() & 0xff, 8)),
            snorm16: [
                s.border_color_snorm16_red(),
                s.border_color_snorm16_green(),
                s.border_color_snorm16_blue(),
                s.border_color_snorm16_alpha(),
            ]
            .map(|n| num::snorm_to_f32(n.cast_unsigned() & 0xffff, 16)),
            float16: [
                s.border_color_float16_red(),
                s.border_color_float16_green(),
                s.border_color_float16_blue(),
                s.border_color_float16_alpha(),
            ]
            .map(half),
        }),
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
        let state: table::SamplerBorderColorState = mem.read_struct(at)?;
        Ok(border(&state))
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
