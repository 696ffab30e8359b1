//! What the pipeline asks of a generation: plain state.
//!
//! A reader is asked once for each 3DPRIMITIVE, never for each vertex, object or pixel; for the list of stages at resets.

use std::fmt::Debug;

use mem::Memory;

use super::payload::PayloadLayout;
use super::stage::MakeStage;
use super::state::streams::StreamsState;
use super::state::windower::LineStipple;
use super::state::{DrawState, PipelineState, Primitive, VertexElement, WizState};
use crate::core::fault::UnitFault;
use crate::intel::shared::dataport::render::PixelBackend;

/// The index of a streamed vertex buffer, as a command sets it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct StreamIndex {
    /// Number of the buffer.
    pub buffer: usize,
    /// Where the next vertex goes.
    pub index: u32,
    /// The first index that does not exist.
    pub maximum: u32,
}

/// Reads the words of a generation's commands and unit state.
pub trait PipelineReader: Debug + Sync {
    /// The stages of the pipeline, in the order in which vertices pass them.
    fn stages(&self) -> &'static [MakeStage];

    /// A 3DPRIMITIVE, header included.
    fn primitive(&self, command: &[u32]) -> Primitive;

    /// The valid vertex elements, in their order.
    fn vertex_elements(&self, state: &PipelineState) -> Vec<VertexElement>;

    /// State of VS, GS, CLIP and SF.
    fn units(&self, mem: &Memory, state: &PipelineState) -> Result<DrawState, mem::Fault>;

    /// State of the windower, and of the colour calculator and depth buffer with it.
    fn windower(&self, mem: &Memory, state: &PipelineState) -> Result<WizState, UnitFault>;

    /// What commands say to the pixel back end that messages do not say; the windower fills in the rest.
    fn backend(&self, _state: &PipelineState) -> PixelBackend {
        PixelBackend::default()
    }

    /// State of the stream output logic, where a generation has it.
    fn streams(&self, _state: &PipelineState) -> StreamsState {
        StreamsState::default()
    }

    /// 3DSTATE_GS_SVB_INDEX, where there is such a command.
    fn stream_index(&self, _command: &[u32]) -> Option<StreamIndex> {
        None
    }

    /// 3DSTATE_LINE_STIPPLE.
    fn line_stipple(&self, state: &PipelineState) -> LineStipple;

    /// Where threads find what in their first registers.
    fn layout(&self) -> &'static dyn PayloadLayout;
}
