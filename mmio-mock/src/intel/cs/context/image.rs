//! The image of a logical context: the commands that set the state as it is.
//!
//! PRM: volume 2 for the commands. Fields that no command has set yet are left out; restoring begins with the state
//! after reset.

use regs::any::{
    CsUrbState, MiBatchBufferEnd, MiLoadRegisterImm, State3dBindingTablePointers, State3dChromaKey,
    State3dConstantColor, State3dDrawingRectangle, State3dGlobalDepthOffsetClamp,
    State3dIndexBuffer, State3dLineStipple, State3dPipelinedPointers, State3dPolyStippleOffset,
    State3dPolyStipplePattern, State3dSamplerPaletteLoad0, State3dVertexElements, StateSip,
    StatsReg, UrbFence,
};

use crate::intel::cs::reader::CommandReader;
use crate::intel::cs::{CsContext, mi};
use crate::intel::ff::state::PipelineState;
use crate::intel::urb::{Owner, Urb};

/// The image of what is current; `extended`: the pipeline's state too, not only the registers.
pub fn save(ctx: &mut CsContext<'_, '_>, extended: bool) -> Vec<u32> {
    let mut out = Vec::with_capacity(super::DWORDS);
    registers(&mut out, ctx);
    if extended {
        // First: what a fence means depends on it.
        let media = ctx.ff.state.media_selected;
        ctx.reader.put_pipeline_select(media, &mut out);
        urb(&mut out, ctx.machine.urb);
        if let Some(pointers) = &ctx.media.state.pointers {
            out.extend(pointers);
        }
        bases(&mut out, ctx.reader, &ctx.ff.state, ctx.td.sip());
        vertices(&mut out, ctx.reader, &ctx.ff.state);
        pixels(&mut out, &ctx.ff.state);
        stipple(&mut out, &ctx.ff.state, ctx.ff.line_stipple_counter());
        let tables = &ctx.machine.shared.sampler.tables;
        for (index, &(low, high)) in (0..).zip(&tables.chroma_keys) {
            let key = State3dChromaKey::new()
                .with_chromakey_table_index(index)
                .with_chromakey_low_value(low)
                .with_chromakey_high_value(high);
            out.extend(key.dwords());
        }
        behind(
            &mut out,
            State3dSamplerPaletteLoad0::new().dwords(),
            &tables.palette,
        );
    }
    out.extend(MiBatchBufferEnd::new().dwords());
    if extended && let Some(curbe) = ctx.ff.state.curbe {
        out.push(curbe.rows.into());
        for offset in 0..curbe.rows {
            let row = ctx.machine.urb.row(curbe.handle, offset);
            out.extend(row.copied().unwrap_or_default());
        }
    }
    // What is behind the end of an older, longer image is not this one's.
    out.push(0);
    out
}

/// A command's header with other dwords behind it than its type has.
pub fn behind(out: &mut Vec<u32>, command: &[u32], dwords: &[u32]) {
    let header = command.first().copied().unwrap_or_default();
    // Dword Length, bits 7:0, counts without the first two.
    out.push(header & !0xff | (dwords.len() as u32).saturating_sub(1) & 0xff);
    out.extend(dwords);
}

fn registers(out: &mut Vec<u32>, ctx: &mut CsContext<'_, '_>) {
    let mut pairs = Vec::new();
    let tables = ctx.regs.tables();
    let counters = StatsReg::ALL
        .iter()
        .filter_map(|reg| (tables.register_desc)(reg.id()));
    for desc in counters {
        for dword in 0..desc.dwords() {
            let offset = desc.offset + dword * 4;
            pairs.extend([offset, mi::mmio(ctx).read32(offset)]);
        }
    }
    let header = MiLoadRegisterImm::new()
        .with_dword_length(pairs.len() as u32 - 1)
        .dwords()[0];
    out.push(header);
    out.extend(pairs);
}

fn urb(out: &mut Vec<u32>, urb: &Urb) {
    let end = |owner| u32::from(urb.end(owner) / 2);
    let fence = UrbFence::new()
        .with_vs_unit_urb_reallocation_request(true)
        .with_gs_unit_urb_reallocation_request(true)
        .with_clip_unit_urb_reallocation_request(true)
        .with_sf_unit_urb_reallocation_request(true)
        .with_vfe_unit_urb_reallocation_request(true)
        .with_cs_unit_urb_reallocation_request(true)
        .with_vs_fence(end(Owner::Vs))
        .with_gs_fence(end(Owner::Gs))
        .with_clip_fence(end(Owner::Clip))
        .with_sf_fence(end(Owner::Sf))
        .with_vfe_fence(end(Owner::Vfe))
        .with_cs_fence(end(Owner::Cs));
    out.extend(fence.dwords());
    let rows = urb.entry_rows(Owner::Cs);
    if rows > 0 {
        let state = CsUrbState::new()
            .with_number_of_urb_entries(urb.entries(Owner::Cs).into())
            .with_urb_entry_allocation_size(u32::from(rows / 2) - 1);
        out.extend(state.dwords());
    }
}

fn bases(out: &mut Vec<u32>, reader: &dyn CommandReader, state: &PipelineState, sip: u32) {
    reader.put_state_base_address(&state.bases, out);
    out.extend(
        StateSip::new()
            .with_system_instruction_pointer(sip)
            .dwords(),
    );
    behind(
        out,
        State3dPipelinedPointers::new().dwords(),
        &state.pointers,
    );
    behind(
        out,
        State3dBindingTablePointers::new().dwords(),
        &state.binding_tables,
    );
}

fn vertices(out: &mut Vec<u32>, reader: &dyn CommandReader, state: &PipelineState) {
    reader.put_vertex_buffers(&state.vertex_buffers, out);
    if !state.vertex_elements.is_empty() {
        behind(
            out,
            State3dVertexElements::new().dwords(),
            &state.vertex_elements,
        );
    }
    if let Some(index) = state.index_buffer {
        let command = State3dIndexBuffer::new()
            .with_index_format(index.bytes.trailing_zeros())
            .with_cut_index_enable(index.cut)
            .with_buffer_starting_address(index.start)
            .with_buffer_ending_address(index.end);
        out.extend(command.dwords());
    }
    reader.put_vf_statistics(state.vf_statistics, out);
}

fn pixels(out: &mut Vec<u32>, state: &PipelineState) {
    if state.drawing_rectangle.is_empty() {
        out.extend(State3dDrawingRectangle::new().dwords());
    } else {
        out.extend(&state.drawing_rectangle);
    }
    out.extend(&state.depth_buffer);
    out.extend(state.kept.values().flatten());
    let [red, green, blue, alpha] = state.constant_color;
    let color = State3dConstantColor::new()
        .with_blend_constant_color_red(red)
        .with_blend_constant_color_green(green)
        .with_blend_constant_color_blue(blue)
        .with_blend_constant_color_alpha(alpha);
    out.extend(color.dwords());
    let clamp = State3dGlobalDepthOffsetClamp::new()
        .with_global_depth_offset_clamp(state.depth_offset_clamp);
    out.extend(clamp.dwords());
}

fn stipple(out: &mut Vec<u32>, state: &PipelineState, counter: u32) {
    behind(
        out,
        State3dPolyStipplePattern::new().dwords(),
        &state.poly_stipple,
    );
    let (x, y) = state.poly_stipple_offset;
    let offset = State3dPolyStippleOffset::new()
        .with_polygon_stipple_x_offset(x)
        .with_polygon_stipple_y_offset(y);
    out.extend(offset.dwords());
    let [pattern, repeat] = state.line_stipple;
    let line =
        State3dLineStipple::from_dwords(&[State3dLineStipple::new().dwords()[0], pattern, repeat]);
    let period = line.line_stipple_repeat_count().max(1);
    let line = line
        .with_modify_enable(true)
        .with_current_stipple_index(counter / period)
        .with_current_repeat_counter(counter % period);
    out.extend(line.dwords());
}
