//! State commands of the 3D pipeline and 3DPRIMITIVE.
//!
//! PRM: volume 2, 3D pipeline state; fields as in the tables of `regs`.

use mem::GpuAddr;
use regs::gen40::{
    CommandId, ConstantBuffer, CsUrbState, PipelineSelect, Primitive3d, RegId,
    State3dConstantColor, State3dDepthBuffer, State3dDrawingRectangle,
    State3dGlobalDepthOffsetClamp, State3dIndexBuffer, State3dPolyStippleOffset,
    State3dVfStatistics, StateBaseAddress, StateSip, UrbFence, VertexBufferState,
    VertexElementState,
};

use super::{Command, CsContext};
use crate::debug::SvgBase;
use crate::fault::UnitFault;
use crate::ff::state::{Curbe, IndexBuffer, VERTEX_BUFFERS, VERTEX_ELEMENTS, VertexBuffer};
use crate::urb::Owner;

/// INSTPM: CONSTANT_BUFFER Address Offset Disable (genxml gen6 INSTPM).
const CONSTANT_OFFSET_DISABLE: u32 = 1 << 6;

/// Whether a command only latches state.
pub fn latches(id: CommandId) -> bool {
    use CommandId as C;
    matches!(
        id,
        C::UrbFence
            | C::CsUrbState
            | C::ConstantBuffer
            | C::StateBaseAddress
            | C::StateSip
            | C::PipelineSelect
            | C::State3dPipelinedPointers
            | C::State3dBindingTablePointers
            | C::State3dVertexBuffers
            | C::State3dVertexElements
            | C::State3dIndexBuffer
            | C::State3dVfStatistics
            | C::State3dDrawingRectangle
            | C::State3dDepthBuffer
            | C::State3dConstantColor
            | C::State3dPolyStipplePattern
            | C::State3dPolyStippleOffset
            | C::State3dLineStipple
            | C::State3dGlobalDepthOffsetClamp
    )
}

/// Latches the state of one command.
pub fn latch(command: &Command<'_>, ctx: &mut CsContext<'_, '_>) -> Result<(), UnitFault> {
    use CommandId as C;
    let d = command.dwords;
    match command.desc.id {
        C::UrbFence => urb_fence(&UrbFence::from_dwords(d), ctx),
        C::CsUrbState => {
            let state = CsUrbState::from_dwords(d);
            ctx.machine.urb.partition(
                Owner::Cs,
                state.number_of_urb_entries() as u16,
                (state.urb_entry_allocation_size() as u16 + 1) * 2,
            );
            ctx.ff.state.curbe = None;
        }
        C::ConstantBuffer => return constant_buffer(&ConstantBuffer::from_dwords(d), ctx),
        C::StateBaseAddress => state_base_address(&StateBaseAddress::from_dwords(d), ctx),
        C::StateSip => {
            let sip = StateSip::from_dwords(d).system_instruction_pointer();
            ctx.machine
                .debug
                .svg_base(SvgBase::SystemInstructionPointer, sip);
            ctx.td.set_sip(sip);
        }
        C::PipelineSelect => {
            ctx.ff.state.media_selected = PipelineSelect::from_dwords(d).pipeline_selection() != 0;
        }
        C::State3dPipelinedPointers => copy(&mut ctx.ff.state.pointers, &d[1..]),
        C::State3dBindingTablePointers => copy(&mut ctx.ff.state.binding_tables, &d[1..]),
        C::State3dVertexBuffers => vertex_buffers(d, ctx)?,
        C::State3dVertexElements => vertex_elements(d, ctx)?,
        C::State3dIndexBuffer => index_buffer(&State3dIndexBuffer::from_dwords(d), ctx)?,
        C::State3dVfStatistics => {
            ctx.ff.state.vf_statistics = State3dVfStatistics::from_dwords(d).statistics_enable();
        }
        C::State3dDrawingRectangle => {
            let r = State3dDrawingRectangle::from_dwords(d);
            ctx.ff.state.drawing_rectangle = [
                r.clipped_drawing_rectangle_x_min() as i32,
                r.clipped_drawing_rectangle_y_min() as i32,
                r.clipped_drawing_rectangle_x_max() as i32,
                r.clipped_drawing_rectangle_y_max() as i32,
                r.drawing_rectangle_origin_x(),
                r.drawing_rectangle_origin_y(),
            ];
        }
        C::State3dDepthBuffer => ctx.ff.state.depth_buffer = State3dDepthBuffer::from_dwords(d),
        C::State3dConstantColor => {
            let c = State3dConstantColor::from_dwords(d);
            ctx.ff.state.constant_color = [
                c.blend_constant_color_red(),
                c.blend_constant_color_green(),
                c.blend_constant_color_blue(),
                c.blend_constant_color_alpha(),
            ];
        }
        C::State3dPolyStipplePattern => copy(&mut ctx.ff.state.poly_stipple, &d[1..]),
        C::State3dPolyStippleOffset => {
            let offset = State3dPolyStippleOffset::from_dwords(d);
            ctx.ff.state.poly_stipple_offset = (
                offset.polygon_stipple_x_offset(),
                offset.polygon_stipple_y_offset(),
            );
        }
        C::State3dLineStipple => copy(&mut ctx.ff.state.line_stipple, &d[1..]),
        C::State3dGlobalDepthOffsetClamp => {
            ctx.ff.state.depth_offset_clamp =
                State3dGlobalDepthOffsetClamp::from_dwords(d).global_depth_offset_clamp();
        }
        _ => {
            return Err(UnitFault::Unimplemented {
                unit: "CS",
                what: command.desc.name,
                prm: command.desc.cite,
            });
        }
    }
    Ok(())
}

/// Copies as many dwords as both sides have.
fn copy(to: &mut [u32], from: &[u32]) {
    for (to, from) in to.iter_mut().zip(from) {
        *to = *from;
    }
}

fn bad(what: String) -> UnitFault {
    UnitFault::Command { unit: "CS", what }
}

fn urb_fence(fence: &UrbFence, ctx: &mut CsContext<'_, '_>) {
    // Fences count 512-bit rows: two 256-bit rows each. A section starts where the one before it
    // ends; a fence of zero stands for an empty section (VFE in 3D work).
    let sections = [
        (
            Owner::Vs,
            fence.vs_unit_urb_reallocation_request(),
            fence.vs_fence(),
        ),
        (
            Owner::Gs,
            fence.gs_unit_urb_reallocation_request(),
            fence.gs_fence(),
        ),
        (
            Owner::Clip,
            fence.clip_unit_urb_reallocation_request(),
            fence.clip_fence(),
        ),
        (
            Owner::Sf,
            fence.sf_unit_urb_reallocation_request(),
            fence.sf_fence(),
        ),
        (
            Owner::Vfe,
            fence.vfe_unit_urb_reallocation_request(),
            fence.vfe_fence(),
        ),
        (
            Owner::Cs,
            fence.cs_unit_urb_reallocation_request(),
            fence.cs_fence(),
        ),
    ];
    let mut start = 0;
    for (owner, request, end) in sections {
        let end = (end * 2) as u16;
        if request {
            ctx.machine.urb.fence(owner, start, end);
            if owner == Owner::Cs {
                ctx.ff.state.curbe = None;
            }
        }
        start = start.max(end);
    }
}

/// Loads the CURBE: a new URB entry of the command streamer, filled from memory.
fn constant_buffer(command: &ConstantBuffer, ctx: &mut CsContext<'_, '_>) -> Result<(), UnitFault> {
    if let Some(old) = ctx.ff.state.curbe.take() {
        ctx.machine.urb.release(old.handle);
    }
    if !command.valid() {
        return Ok(());
    }
    let Some(handle) = ctx.machine.urb.allocate(Owner::Cs) else {
        return Err(bad(
            "CONSTANT_BUFFER without a URB entry (CS_URB_STATE, URB_FENCE)".to_owned(),
        ));
    };
    // Buffer Length counts 512-bit units minus one.
    let rows = (command.buffer_length() as u16 + 1) * 2;
    let base = if ctx.regs.get(RegId::Instpm) & CONSTANT_OFFSET_DISABLE == 0 {
        ctx.ff.state.bases.general_state_base
    } else {
        0
    };
    let from = base.wrapping_add(command.buffer_starting_address());
    for row in 0..rows.min(ctx.machine.urb.entry_rows(Owner::Cs)) {
        let mut data = [0; 8];
        let addr = GpuAddr(from.wrapping_add(u32::from(row) * 32));
        if let Err(fault) = ctx.machine.mem.read_dwords(addr, &mut data) {
            ctx.machine.urb.release(handle);
            return Err(fault.into());
        }
        if let Some(to) = ctx.machine.urb.row_mut(handle, row) {
            *to = data;
        }
    }
    ctx.ff.state.curbe = Some(Curbe { handle, rows });
    Ok(())
}

fn state_base_address(command: &StateBaseAddress, ctx: &mut CsContext<'_, '_>) {
    let bases = &mut ctx.ff.state.bases;
    if command.general_state_base_address_modify_enable() {
        bases.general_state_base = command.general_state_base_address();
    }
    if command.surface_state_base_address_modify_enable() {
        bases.surface_state_base = command.surface_state_base_address();
    }
    if command.indirect_object_base_address_modify_enable() {
        bases.indirect_object_base = command.indirect_object_base_address();
    }
    if command.general_state_access_upper_bound_modify_enable() {
        bases.general_state_upper_bound = command.general_state_access_upper_bound();
    }
    if command.indirect_object_access_upper_bound_modify_enable() {
        bases.indirect_object_upper_bound = command.indirect_object_access_upper_bound();
    }
    let debug = &mut *ctx.machine.debug;
    debug.svg_base(SvgBase::GeneralState, bases.general_state_base);
    debug.svg_base(SvgBase::SurfaceState, bases.surface_state_base);
    debug.svg_base(SvgBase::IndirectObject, bases.indirect_object_base);
    debug.svg_base(SvgBase::GeneralStateBound, bases.general_state_upper_bound);
    debug.svg_base(
        SvgBase::IndirectObjectBound,
        bases.indirect_object_upper_bound,
    );
    // Kernels and states are looked up relative to the bases.
    ctx.td.invalidate();
    ctx.machine.shared.invalidate();
}

fn vertex_buffers(d: &[u32], ctx: &mut CsContext<'_, '_>) -> Result<(), UnitFault> {
    for state in d[1..].chunks_exact(4) {
        let state = VertexBufferState::from_dwords(state);
        let index = state.vertex_buffer_index() as usize;
        if index >= VERTEX_BUFFERS {
            return Err(bad(format!(
                "3DSTATE_VERTEX_BUFFERS names vertex buffer {index}"
            )));
        }
        ctx.ff.state.vertex_buffers[index] = VertexBuffer {
            valid: true,
            pitch: state.buffer_pitch(),
            per_instance: state.buffer_access_type() != 0,
            start: state.buffer_starting_address(),
            step_rate: state.instance_data_step_rate(),
        };
    }
    Ok(())
}

fn vertex_elements(d: &[u32], ctx: &mut CsContext<'_, '_>) -> Result<(), UnitFault> {
    let elements = d[1..].chunks_exact(2);
    if elements.len() > VERTEX_ELEMENTS {
        return Err(bad(format!(
            "3DSTATE_VERTEX_ELEMENTS with {} elements",
            elements.len()
        )));
    }
    ctx.ff.state.vertex_element_count = elements.len();
    for (to, from) in ctx.ff.state.vertex_elements.iter_mut().zip(elements) {
        *to = VertexElementState::from_dwords(from);
    }
    Ok(())
}

fn index_buffer(
    command: &State3dIndexBuffer,
    ctx: &mut CsContext<'_, '_>,
) -> Result<(), UnitFault> {
    let bytes = match command.index_format() {
        0 => 1,
        1 => 2,
        2 => 4,
        format => {
            return Err(bad(format!(
                "3DSTATE_INDEX_BUFFER with index format {format}"
            )));
        }
    };
    ctx.ff.state.index_buffer = Some(IndexBuffer {
        bytes,
        cut: command.cut_index_enable(),
        start: command.buffer_starting_address(),
        end: command.buffer_ending_address(),
    });
    Ok(())
}

/// Starts a draw; the pipeline runs before the next command is parsed.
pub fn primitive(command: &Command<'_>, ctx: &mut CsContext<'_, '_>) -> Result<(), UnitFault> {
    if ctx.ff.state.media_selected {
        return Err(bad(
            "3DPRIMITIVE while the media pipeline is selected".to_owned()
        ));
    }
    ctx.machine.status.activity.draws += 1;
    ctx.machine.shared.invalidate();
    ctx.ff
        .start(&Primitive3d::from_dwords(command.dwords), ctx.machine)
}
