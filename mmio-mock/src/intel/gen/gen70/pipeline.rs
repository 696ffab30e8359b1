//! The pipeline's stages, and its reader: commands of ValleyView.
//!
//! Ivybridge PRM volume 2 part 1, 3D pipeline. Clipper and strips-and-fans have no threads.

use mem::{Fault, Memory};
use regs::ids::CommandId;

use super::{color_calc, payload, units, vertex, windower};
use crate::core::fault::UnitFault;
use crate::intel::ff::clipper::Clipper;
use crate::intel::ff::ds::Ds;
use crate::intel::ff::gs_entry::GsEntry;
use crate::intel::ff::hs::Hs;
use crate::intel::ff::payload::PayloadLayout;
use crate::intel::ff::reader::PipelineReader;
use crate::intel::ff::setup::Setup;
use crate::intel::ff::sol::Sol;
use crate::intel::ff::stage::{MakeStage, stage};
use crate::intel::ff::state::streams::StreamsState;
use crate::intel::ff::state::windower::LineStipple;
use crate::intel::ff::state::{DrawState, PipelineState, Primitive, VertexElement, WizState};
use crate::intel::ff::te::Te;
use crate::intel::ff::vf::Vf;
use crate::intel::ff::vs::Vs;
use crate::intel::ff::windower::Windower;
use crate::intel::r#gen::gen60::units::words;
use crate::intel::r#gen::gen60::windower::line_stipple;
use crate::intel::shared::dataport::render::PixelBackend;

/// The stages, in the order in which vertices pass them.
pub const STAGES: &[MakeStage] = &[
    stage::<Vf>,
    stage::<Vs>,
    stage::<Hs>,
    stage::<Te>,
    stage::<Ds>,
    stage::<GsEntry>,
    stage::<Sol>,
    stage::<Clipper>,
    stage::<Setup>,
    stage::<Windower>,
];

/// The reader.
#[derive(Debug)]
pub struct Reader;

impl PipelineReader for Reader {
    fn stages(&self) -> &'static [MakeStage] {
        STAGES
    }

    fn primitive(&self, command: &[u32]) -> Primitive {
        vertex::primitive(command)
    }

    fn vertex_elements(&self, state: &PipelineState) -> Vec<VertexElement> {
        vertex::elements(&state.vertex_elements)
    }

    fn units(&self, mem: &Memory, state: &PipelineState) -> Result<DrawState, Fault> {
        units::units(mem, state)
    }

    fn windower(&self, mem: &Memory, state: &PipelineState) -> Result<WizState, UnitFault> {
        windower::windower(mem, state)
    }

    fn backend(&self, state: &PipelineState) -> PixelBackend {
        color_calc::backend(state)
    }

    fn streams(&self, state: &PipelineState) -> StreamsState {
        let words = |id| words(state, id);
        units::streams::streams(
            words(CommandId::State3dStreamout),
            words(CommandId::State3dSoBuffer),
            words(CommandId::State3dSoDeclList),
        )
    }

    fn line_stipple(&self, state: &PipelineState) -> LineStipple {
        line_stipple(state)
    }

    fn layout(&self) -> &'static dyn PayloadLayout {
        &payload::Layout
    }
}
