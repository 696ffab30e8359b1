//! The pipeline's reader: commands and unit state of Ironlake.
//!
//! PRM: volume 2; genxml gen5 beside genxml gen45.
//! Not modelled: hierarchical depth, stencil buffers apart from the depth buffer.

use mem::{Fault, Memory};
use regs::gen50 as table;

use super::{functions, payload};
use crate::core::fault::UnitFault;
use crate::intel::ff::payload::PayloadLayout;
use crate::intel::ff::reader::PipelineReader;
use crate::intel::ff::stage::MakeStage;
use crate::intel::ff::state::windower::{LineStipple, WmState};
use crate::intel::ff::state::{
    ClipMode, DrawState, PipelineState, Primitive, VertexElement, WizState,
};
use crate::intel::r#gen::gen40::{pipeline as gen40, units, vertex, windower};
use crate::intel::r#gen::gen45::pipeline as gen45;
use crate::intel::td::KernelState;

/// The reader.
#[derive(Debug)]
pub struct Reader;

/// VS_STATE counts URB entries in fours (Mesa genX_state_upload.c: `nr_vs_entries >> (GFX_VER == 5 ? 2 : 0)`).
const VS_ENTRIES: u16 = 4;

/// Clip Mode: objects that have to be clipped go to threads, as in generation 4 (Mesa 22.3.6 brw_compiler.h
/// `BRW_CLIP_MODE_KERNEL_CLIP`, brw_compile_clip.c). No public text says what Ironlake's clipper does by itself in
/// mode 0; Mesa never asks for it.
const KERNEL_CLIP: u32 = 5;

/// Components of an element.
const COMPONENTS: u16 = 4;

/// The valid vertex elements: each fills the four dwords behind those of the one before it (Mesa genX_state_upload.c
/// sets Destination Element Offset in generation 4 alone).
fn elements(words: &[u32]) -> Vec<VertexElement> {
    let mut elements = vertex::elements(words, &functions::FORMATS);
    for (number, element) in (0..).zip(&mut elements) {
        element.destination = number * COMPONENTS;
    }
    elements
}

fn units(mem: &Memory, state: &PipelineState) -> Result<DrawState, Fault> {
    let mut draw = units::units(mem, state)?;
    draw.vs.unit.urb_entries *= VS_ENTRIES;
    if let Some(gs) = &mut draw.gs {
        let words: table::GsState =
            units::read(mem, &state.bases, units::pointer(state, units::GS))?;
        gs.discard_adjacency = false;
        gs.no_rendering = !words.rendering_enabled();
        gs.unit.entry_on_request = true;
    }
    if let Some(clip) = &mut draw.clip {
        let words: table::ClipState =
            units::read(mem, &state.bases, units::pointer(state, units::CLIP))?;
        if words.clip_mode() == KERNEL_CLIP {
            clip.mode = ClipMode::Normal;
        }
        clip.unit.entry_on_request = true;
    }
    Ok(draw)
}

/// WM_STATE: a kernel for each width. When one width alone is enabled, its kernel is number 0; beside 8 pixels, number 2
/// is that of 16 pixels (Mesa 22.3.6 brw_compiler.h `brw_wm_state_simd_width_for_ksp`).
fn wm(words: &table::WmState, state: &PipelineState) -> WmState {
    let first = windower::wm(&regs::gen40::WmState::from_dwords(words.dwords()), state);
    let kernel_16 = if first.dispatch_8 && first.dispatch_16 {
        KernelState {
            ip: words.kernel_start_pointer_2(),
            // CAST: a field of three bits.
            grf_count: (words.grf_register_count_2() as u8 + 1) * 16,
            ..first.kernel_16
        }
    } else {
        first.kernel_16
    };
    WmState { kernel_16, ..first }
}

fn unimplemented(what: &'static str, prm: &'static str) -> UnitFault {
    UnitFault::Unimplemented {
        unit: "WIZ",
        what,
        prm,
    }
}

fn windower(mem: &Memory, state: &PipelineState) -> Result<WizState, UnitFault> {
    let depth = table::State3dDepthBuffer::from_dwords(&state.depth_buffer);
    if depth.hierarchical_depth_buffer_enable() {
        return Err(unimplemented(
            "hierarchical depth buffers",
            "genxml gen5 3DSTATE_DEPTH_BUFFER",
        ));
    }
    if depth.separate_stencil_buffer_enable() {
        return Err(unimplemented(
            "separate stencil buffers",
            "genxml gen5 3DSTATE_DEPTH_BUFFER",
        ));
    }
    let words: table::WmState =
        units::read(mem, &state.bases, units::pointer(state, windower::WM))?;
    if words.depth_buffer_clear()
        || words.depth_buffer_resolve_enable()
        || words.hierarchical_depth_buffer_resolve_enable()
    {
        return Err(unimplemented(
            "clears and resolves of depth buffers",
            "genxml gen5 WM_STATE",
        ));
    }
    let contiguous =
        words.contiguous_32_pixel_dispatch_enable() || words.contiguous_64_pixel_dispatch_enable();
    if words.thread_dispatch_enable() && contiguous {
        return Err(unimplemented(
            "contiguous dispatch of 32 or 64 pixels",
            "genxml gen5 WM_STATE",
        ));
    }
    let depth = functions::depth_buffer(&state.depth_buffer);
    windower::gather(mem, state, &depth, wm(&words, state))
}

impl PipelineReader for Reader {
    fn stages(&self) -> &'static [MakeStage] {
        gen40::STAGES
    }

    fn primitive(&self, command: &[u32]) -> Primitive {
        gen45::primitive(command)
    }

    fn vertex_elements(&self, state: &PipelineState) -> Vec<VertexElement> {
        elements(&state.vertex_elements)
    }

    fn units(&self, mem: &Memory, state: &PipelineState) -> Result<DrawState, Fault> {
        units(mem, state)
    }

    fn windower(&self, mem: &Memory, state: &PipelineState) -> Result<WizState, UnitFault> {
        windower(mem, state)
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
