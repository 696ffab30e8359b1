//! The pipeline's stages, and its reader: commands and unit state of 965 and GM965.
//!
//! PRM: volume 2, 3D pipeline.

use mem::{Fault, Memory};

use super::{payload, surface, units, vertex, windower};
use crate::core::fault::UnitFault;
use crate::intel::ff::cl::Cl;
use crate::intel::ff::gs::Gs;
use crate::intel::ff::payload::PayloadLayout;
use crate::intel::ff::reader::PipelineReader;
use crate::intel::ff::sf::Sf;
use crate::intel::ff::stage::{MakeStage, stage};
use crate::intel::ff::state::windower::LineStipple;
use crate::intel::ff::state::{DrawState, PipelineState, Primitive, VertexElement, WizState};
use crate::intel::ff::vf::Vf;
use crate::intel::ff::vs::Vs;
use crate::intel::ff::windower::Windower;

/// The stages, in the order in which vertices pass them.
pub const STAGES: &[MakeStage] = &[
    stage::<Vf>,
    stage::<Vs>,
    stage::<Gs>,
    stage::<Cl>,
    stage::<Sf>,
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
        vertex::elements(&state.vertex_elements, &surface::FORMATS)
    }

    fn units(&self, mem: &Memory, state: &PipelineState) -> Result<DrawState, Fault> {
        units::units(mem, state)
    }

    fn windower(&self, mem: &Memory, state: &PipelineState) -> Result<WizState, UnitFault> {
        windower::windower(mem, state, &surface::depth_buffer(&state.depth_buffer))
    }

    fn line_stipple(&self, state: &PipelineState) -> LineStipple {
        windower::line_stipple(state)
    }

    fn layout(&self) -> &'static dyn PayloadLayout {
        &payload::Layout
    }
}
