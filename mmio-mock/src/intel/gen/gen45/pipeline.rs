//! The pipeline's reader: commands and unit state of G45 and GM45.
//!
//! PRM: volume 2; genxml gen45 beside genxml gen4. Fields that 965 lacks: Negative W ClipTest Enable (the clipper always
//! tests so), Rendering Enable of GS_STATE (Mesa leaves it clear and has its vertices drawn, so it is ignored), AA Line
//! Distance Mode (not modelled).

use mem::{Fault, Memory};
use regs::gen45 as table;

use super::functions;
use crate::core::fault::UnitFault;
use crate::intel::ff::payload::PayloadLayout;
use crate::intel::ff::reader::PipelineReader;
use crate::intel::ff::stage::MakeStage;
use crate::intel::ff::state::windower::LineStipple;
use crate::intel::ff::state::{DrawState, PipelineState, Primitive, VertexElement, WizState};
use crate::intel::r#gen::gen40::{payload, pipeline as gen40, units, vertex, windower};
use crate::intel::surface::DepthDesc;

/// The reader.
#[derive(Debug)]
pub struct Reader;

/// 3DPRIMITIVE.
pub fn primitive(command: &[u32]) -> Primitive {
    Primitive {
        indirect_count: table::Primitive3d::from_dwords(command).indirect_vertex_count() != 0,
        ..vertex::primitive(command)
    }
}

/// State of the windower with a depth buffer as the generation describes it.
pub fn windower(
    mem: &Memory,
    state: &PipelineState,
    depth: &DepthDesc,
) -> Result<WizState, UnitFault> {
    let words: table::WmState =
        units::read(mem, &state.bases, units::pointer(state, windower::WM))?;
    let contiguous =
        words.contiguous_32_pixel_dispatch_enable() || words.contiguous_64_pixel_dispatch_enable();
    if words.thread_dispatch_enable() && contiguous {
        return Err(UnitFault::Unimplemented {
            unit: "WIZ",
            what: "contiguous dispatch of 32 or 64 pixels",
            prm: "genxml gen45 WM_STATE",
        });
    }
    windower::windower(mem, state, depth)
}

impl PipelineReader for Reader {
    fn stages(&self) -> &'static [MakeStage] {
        gen40::STAGES
    }

    fn primitive(&self, command: &[u32]) -> Primitive {
        primitive(command)
    }

    fn vertex_elements(&self, state: &PipelineState) -> Vec<VertexElement> {
        vertex::elements(&state.vertex_elements, &functions::FORMATS)
    }

    fn units(&self, mem: &Memory, state: &PipelineState) -> Result<DrawState, Fault> {
        units::units(mem, state)
    }

    fn windower(&self, mem: &Memory, state: &PipelineState) -> Result<WizState, UnitFault> {
        windower(mem, state, &functions::depth_buffer(&state.depth_buffer))
    }

    fn line_stipple(&self, state: &PipelineState) -> LineStipple {
        windower::line_stipple(state)
    }

    fn layout(&self) -> &'static dyn PayloadLayout {
        &payload::Layout
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests;
