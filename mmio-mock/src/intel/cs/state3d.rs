//! State commands of the 3D pipeline and 3DPRIMITIVE.
//!
//! PRM: volume 2, 3D pipeline state; fields from the tables of `regs`.

use regs::any::{RegId, State3dDrawingRectangle, State3dPolyStippleOffset, StateSip, fields};
use regs::ids::CommandId;

use super::{CsContext, mi};
use crate::core::fault::UnitFault;
use crate::intel::debug::SvgBase;
use crate::intel::ff::state::VERTEX_ELEMENT_DWORDS;
use crate::intel::status::Client;

/// Copies the dwords behind the header, as many as both sides have.
pub fn copy(to: &mut [u32], d: &[u32]) {
    for (to, from) in to.iter_mut().zip(d.get(1..).unwrap_or_default()) {
        *to = *from;
    }
}

fn bad(what: String) -> UnitFault {
    UnitFault::Command { unit: "CS", what }
}

/// 3DSTATE_SAMPLER_PALETTE_LOAD0.
pub fn palette(d: &[u32], ctx: &mut CsContext<'_, '_>) {
    let palettes = &mut ctx.machine.shared.sampler.tables.palettes;
    let entries = d.get(1..).unwrap_or_default();
    if ctx.reader.latched().has_whole_palettes() {
        palettes.load(false, entries);
    } else {
        palettes.load_sixteen(entries);
    }
    ctx.machine.shared.invalidate();
}

/// 3DSTATE_SAMPLER_PALETTE_LOAD1; kept and not used where formats share the first palette.
pub fn second_palette(id: CommandId, d: &[u32], ctx: &mut CsContext<'_, '_>) {
    if ctx.reader.latched().has_whole_palettes() {
        let palettes = &mut ctx.machine.shared.sampler.tables.palettes;
        palettes.load(true, d.get(1..).unwrap_or_default());
    } else {
        keep(id, d, ctx);
    }
    ctx.machine.shared.invalidate();
}

/// STATE_BASE_ADDRESS: only what its modify enables name.
pub fn state_base_address(d: &[u32], ctx: &mut CsContext<'_, '_>) {
    let changes = ctx.reader.state_base_address(d);
    let bases = &mut ctx.ff.state.bases;
    let set = |to: &mut u32, change: Option<u32>| *to = change.unwrap_or(*to);
    set(&mut bases.general_state_base, changes.general_state_base);
    set(&mut bases.surface_state_base, changes.surface_state_base);
    set(
        &mut bases.indirect_object_base,
        changes.indirect_object_base,
    );
    set(
        &mut bases.general_state_upper_bound,
        changes.general_state_upper_bound,
    );
    set(
        &mut bases.indirect_object_upper_bound,
        changes.indirect_object_upper_bound,
    );
    if changes.dynamic_apart {
        set(
            bases.dynamic_state_base.get_or_insert(0),
            changes.dynamic_state_base,
        );
        set(
            &mut bases.dynamic_state_upper_bound,
            changes.dynamic_state_upper_bound,
        );
    }
    if changes.kernels_apart {
        set(
            bases.instruction_base.get_or_insert(0),
            changes.instruction_base,
        );
        set(
            &mut bases.instruction_upper_bound,
            changes.instruction_upper_bound,
        );
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

/// STATE_SIP: the system routine of all threads.
pub fn state_sip(d: &[u32], ctx: &mut CsContext<'_, '_>) {
    let sip = StateSip::from_dwords(d).system_instruction_pointer();
    ctx.machine
        .debug
        .svg_base(SvgBase::SystemInstructionPointer, sip);
    ctx.td.set_sip(sip);
}

/// PIPELINE_SELECT. Software flushes first (volume 1; intel-vaapi-driver i965_media.c, step 1): the model
/// has no caches that could be stale, so that it changes the pipeline all the same and tells.
pub fn pipeline_select(d: &[u32], ctx: &mut CsContext<'_, '_>) -> Result<(), UnitFault> {
    let Some(media) = ctx.reader.pipeline_select(d) else {
        return Err(bad(
            "PIPELINE_SELECT of neither the 3D nor the media pipeline".to_owned(),
        ));
    };
    if media != ctx.ff.state.media_selected && ctx.media.state.needs_flush(media) {
        let what = "PIPELINE_SELECT without a flush of the other pipeline".to_owned();
        ctx.machine
            .fault(Client::Cs, bad(what), || "PIPELINE_SELECT".to_owned());
    }
    ctx.ff.state.media_selected = media;
    Ok(())
}

/// 3DSTATE_BINDING_TABLE_POINTERS; the data port shows the pointers to a debugger.
pub fn binding_table_pointers(d: &[u32], ctx: &mut CsContext<'_, '_>) {
    let tables = &mut ctx.ff.state.binding_tables;
    ctx.reader.latched().binding_tables(d, tables);
    for (slot, pointer) in (0..).zip(ctx.ff.state.binding_tables) {
        ctx.machine.debug.dp_binding_table(slot, pointer);
    }
    ctx.machine.shared.invalidate();
}

/// 3DSTATE_VERTEX_BUFFERS: any number of them, in any order.
pub fn vertex_buffers(d: &[u32], ctx: &mut CsContext<'_, '_>) -> Result<(), UnitFault> {
    let (limit, _) = ctx.reader.latched().vertex_limits();
    let kept = ctx.reader.kept_addresses(d);
    for (index, buffer) in ctx.reader.vertex_buffers(d) {
        let Some(to) = ctx.ff.state.vertex_buffers[..]
            .get_mut(index)
            .filter(|_| index < limit)
        else {
            return Err(bad(format!(
                "3DSTATE_VERTEX_BUFFERS names vertex buffer {index}"
            )));
        };
        let (start, end) = (to.start, to.end);
        *to = buffer;
        if kept >> index & 1 != 0 {
            (to.start, to.end) = (start, end);
        }
    }
    Ok(())
}

/// 3DSTATE_VERTEX_ELEMENTS: replaces all elements.
pub fn vertex_elements(d: &[u32], ctx: &mut CsContext<'_, '_>) -> Result<(), UnitFault> {
    let elements = d
        .get(1..)
        .unwrap_or_default()
        .chunks_exact(VERTEX_ELEMENT_DWORDS);
    let (_, limit) = ctx.reader.latched().vertex_limits();
    if elements.len() > limit {
        return Err(bad(format!(
            "3DSTATE_VERTEX_ELEMENTS with {} elements",
            elements.len()
        )));
    }
    let words = &mut ctx.ff.state.vertex_elements;
    words.clear();
    words.extend(elements.flatten());
    Ok(())
}

/// 3DSTATE_INDEX_BUFFER.
pub fn index_buffer(d: &[u32], ctx: &mut CsContext<'_, '_>) -> Result<(), UnitFault> {
    let buffer = ctx.reader.latched().index_buffer(d);
    let reserved = |format| bad(format!("3DSTATE_INDEX_BUFFER with index format {format}"));
    ctx.ff.state.index_buffer = Some(buffer.map_err(reserved)?);
    Ok(())
}

/// 3DSTATE_VF_STATISTICS.
pub fn vf_statistics(d: &[u32], ctx: &mut CsContext<'_, '_>) {
    ctx.ff.state.vf_statistics = ctx.reader.vf_statistics(d);
}

/// 3DSTATE_DRAWING_RECTANGLE.
pub fn drawing_rectangle(d: &[u32], ctx: &mut CsContext<'_, '_>) {
    let command = State3dDrawingRectangle::from_dwords(d);
    ctx.ff.state.drawing_rectangle = command.dwords().to_vec();
}

/// 3DSTATE_DEPTH_BUFFER.
pub fn depth_buffer(d: &[u32], ctx: &mut CsContext<'_, '_>) {
    ctx.ff.state.depth_buffer = ctx.reader.depth_buffer(d);
    ctx.ff.depth_changed();
}

/// 3DSTATE_CONSTANT_COLOR.
pub fn constant_color(d: &[u32], ctx: &mut CsContext<'_, '_>) {
    ctx.ff.state.constant_color = ctx.reader.latched().constant_color(d);
}

/// 3DSTATE_POLY_STIPPLE_OFFSET.
pub fn poly_stipple_offset(d: &[u32], ctx: &mut CsContext<'_, '_>) {
    let offset = State3dPolyStippleOffset::from_dwords(d);
    ctx.ff.state.poly_stipple_offset = (
        offset.polygon_stipple_x_offset(),
        offset.polygon_stipple_y_offset(),
    );
}

/// 3DSTATE_LINE_STIPPLE; Modify Enable also sets the running counters.
pub fn line_stipple(d: &[u32], ctx: &mut CsContext<'_, '_>) {
    copy(&mut ctx.ff.state.line_stipple, d);
    if ctx.reader.latched().line_stipple_modifies(d) {
        ctx.ff.load_line_stipple();
    }
}

/// 3DSTATE_GLOBAL_DEPTH_OFFSET_CLAMP.
pub fn global_depth_offset_clamp(d: &[u32], ctx: &mut CsContext<'_, '_>) {
    ctx.ff.state.depth_offset_clamp = ctx.reader.latched().depth_offset_clamp(d);
}

/// 3DSTATE_CHROMA_KEY: one entry of the sampler's key table.
pub fn chroma_key(d: &[u32], ctx: &mut CsContext<'_, '_>) {
    let (index, low, high) = ctx.reader.latched().chroma_key(d);
    let table = &mut ctx.machine.shared.sampler.tables.chroma_keys;
    if let Some(entry) = table.get_mut(index) {
        *entry = (low, high);
    }
    ctx.machine.shared.invalidate();
}

/// A command that nothing but readers works with: it is kept as written.
pub fn keep(id: CommandId, d: &[u32], ctx: &mut CsContext<'_, '_>) {
    let kept = &mut ctx.ff.state.kept;
    let words = ctx.reader.latched().kept(id, kept.get(&id), d);
    kept.insert(id, words);
    if id == CommandId::State3dGsSvbIndex {
        ctx.ff.load_stream_index(d);
    }
}

/// 3DPRIMITIVE: the pipeline runs before the next command is parsed.
pub fn primitive(d: &[u32], ctx: &mut CsContext<'_, '_>) -> Result<(), UnitFault> {
    if ctx.ff.state.media_selected {
        return Err(bad(
            "3DPRIMITIVE while the media pipeline is selected".to_owned()
        ));
    }
    ctx.media.state.works(false);
    ctx.machine.status.activity.draws += 1;
    ctx.machine.shared.invalidate();
    let instpm = ctx.regs.get(RegId::Instpm);
    ctx.ff.state.constants_absolute =
        fields::INSTPM::CONSTANT_BUFFER_ADDRESS_OFFSET_DISABLE.is_set(instpm);
    let mut primitive = ctx.ff.reader().primitive(d);
    if primitive.predicated && !mi::predicated(ctx) {
        return Ok(());
    }
    if primitive.from_registers {
        primitive.count = ctx.regs.get(RegId::Prim3dVertexCount);
        primitive.start = ctx.regs.get(RegId::Prim3dStartVertex);
        primitive.instances = ctx.regs.get(RegId::Prim3dInstanceCount);
        primitive.first_instance = ctx.regs.get(RegId::Prim3dStartInstance);
        // CAST: a number with a sign.
        primitive.base_vertex = ctx.regs.get(RegId::Prim3dBaseVertex) as i32;
    }
    // Drivers draw nothing while no state has been set (Mesa crocus_state.c, behind PIPELINE_SELECT).
    let nothing = primitive.count == 0 || primitive.instances == 0;
    if nothing && !primitive.indirect_count {
        return Ok(());
    }
    ctx.ff.start(&primitive, ctx.machine)
}
