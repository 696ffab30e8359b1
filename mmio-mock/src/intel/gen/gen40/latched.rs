//! Commands that latch state, and the image of a context, of state in memory.
//!
//! PRM: volume 1 (MI commands), volume 2 (3D state, URB_FENCE, CONSTANT_BUFFER). Of an image: fields that no command has
//! set yet are left out; restoring begins with the state after reset.

use regs::gen40 as table;

use crate::intel::cs::context::image::behind;
use crate::intel::cs::latched::{
    ConstantBuffer, Entries, Fence, LatchedReader, RegisterWrites, Saved,
};
use crate::intel::cs::reader::CommandReader;
use crate::intel::ff::state::{IndexBuffer, PipelineState};
use crate::intel::urb::{Owner, Urb};

/// The reader, with the reader of the commands that later generations have changed.
#[derive(Debug)]
pub struct Reader(pub &'static dyn CommandReader);

/// Fences and entry sizes count 512-bit units: two rows each.
const ROWS_PER_UNIT: u16 = 2;

impl LatchedReader for Reader {
    fn register_writes(&self, d: &[u32]) -> RegisterWrites {
        let pairs = d.get(1..).unwrap_or_default().chunks_exact(2);
        let pair = |pair: &[u32]| {
            let pair = table::MiLoadRegisterImmPair::from_dwords(pair);
            (pair.register_offset(), pair.data_dword())
        };
        RegisterWrites {
            disables: table::MiLoadRegisterImm::from_dwords(d).byte_write_disables(),
            pairs: pairs.map(pair).collect(),
        }
    }

    fn put_register_writes(&self, pairs: &[u32], out: &mut Vec<u32>) {
        let header = table::MiLoadRegisterImm::new()
            .with_dword_length(pairs.len() as u32 - 1)
            .dwords()[0];
        out.push(header);
        out.extend(pairs);
    }

    fn put_state(&self, saved: &Saved<'_>, out: &mut Vec<u32>) {
        let state = saved.state;
        // First: what a fence means depends on it.
        self.0.put_pipeline_select(state.media_selected, out);
        urb(out, saved.urb);
        out.extend(saved.media);
        bases(out, self.0, state, saved.sip);
        vertices(out, self.0, state);
        pixels(out, state);
        stipple(out, state, saved.line_stipple);
        for (index, &(low, high)) in (0..).zip(&saved.tables.chroma_keys) {
            let key = table::State3dChromaKey::new()
                .with_chromakey_table_index(index)
                .with_chromakey_low_value(low)
                .with_chromakey_high_value(high);
            out.extend(key.dwords());
        }
        behind(
            out,
            table::State3dSamplerPaletteLoad0::new().dwords(),
            &saved.tables.palettes.entries[0][..16],
        );
    }

    fn binding_tables(&self, d: &[u32], tables: &mut [u32; 5]) {
        for (to, from) in tables.iter_mut().zip(d.get(1..).unwrap_or_default()) {
            *to = *from;
        }
    }

    fn index_buffer(&self, d: &[u32]) -> Result<IndexBuffer, u32> {
        let command = table::State3dIndexBuffer::from_dwords(d);
        Ok(IndexBuffer {
            bytes: match command.index_format() {
                format @ 0..=2 => 1 << format,
                format => return Err(format),
            },
            cut: command.cut_index_enable(),
            start: command.buffer_starting_address(),
            end: command.buffer_ending_address(),
        })
    }

    fn line_stipple_modifies(&self, d: &[u32]) -> bool {
        table::State3dLineStipple::from_dwords(d).modify_enable()
    }

    fn chroma_key(&self, d: &[u32]) -> (usize, u32, u32) {
        let key = table::State3dChromaKey::from_dwords(d);
        (
            key.chromakey_table_index() as usize,
            key.chromakey_low_value(),
            key.chromakey_high_value(),
        )
    }

    fn urb_fence(&self, d: &[u32]) -> Vec<Fence> {
        let c = table::UrbFence::from_dwords(d);
        let sections = [
            (
                Owner::Vs,
                c.vs_unit_urb_reallocation_request(),
                c.vs_fence(),
            ),
            (
                Owner::Gs,
                c.gs_unit_urb_reallocation_request(),
                c.gs_fence(),
            ),
            (
                Owner::Clip,
                c.clip_unit_urb_reallocation_request(),
                c.clip_fence(),
            ),
            (
                Owner::Sf,
                c.sf_unit_urb_reallocation_request(),
                c.sf_fence(),
            ),
            (
                Owner::Vfe,
                c.vfe_unit_urb_reallocation_request(),
                c.vfe_fence(),
            ),
            (
                Owner::Cs,
                c.cs_unit_urb_reallocation_request(),
                c.cs_fence(),
            ),
        ];
        let fence = |(owner, request, end)| Fence {
            owner,
            request,
            // CAST: fences have at most eleven bits.
            end: end as u16 * ROWS_PER_UNIT,
        };
        sections.map(fence).to_vec()
    }

    fn cs_urb_state(&self, d: &[u32]) -> Option<Entries> {
        let state = table::CsUrbState::from_dwords(d);
        Some(Entries {
            owner: Owner::Cs,
            // CAST: fields of three and five bits.
            entries: state.number_of_urb_entries() as u16,
            rows: (state.urb_entry_allocation_size() as u16 + 1) * ROWS_PER_UNIT,
        })
    }

    fn constant_buffer(&self, d: &[u32]) -> Option<ConstantBuffer> {
        let command = table::ConstantBuffer::from_dwords(d);
        command.valid().then(|| ConstantBuffer {
            start: command.buffer_starting_address(),
            // CAST: Buffer Length has six bits and counts units minus one.
            rows: (command.buffer_length() as u16 + 1) * ROWS_PER_UNIT,
        })
    }

    fn constant_color(&self, d: &[u32]) -> [f32; 4] {
        let c = table::State3dConstantColor::from_dwords(d);
        [
            c.blend_constant_color_red(),
            c.blend_constant_color_green(),
            c.blend_constant_color_blue(),
            c.blend_constant_color_alpha(),
        ]
    }

    fn depth_offset_clamp(&self, d: &[u32]) -> f32 {
        table::State3dGlobalDepthOffsetClamp::from_dwords(d).global_depth_offset_clamp()
    }
}

fn urb(out: &mut Vec<u32>, urb: &Urb) {
    let end = |owner| u32::from(urb.end(owner) / 2);
    let fence = table::UrbFence::new()
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
        let state = table::CsUrbState::new()
            .with_number_of_urb_entries(urb.entries(Owner::Cs).into())
            .with_urb_entry_allocation_size(u32::from(rows / 2) - 1);
        out.extend(state.dwords());
    }
}

fn bases(out: &mut Vec<u32>, reader: &dyn CommandReader, state: &PipelineState, sip: u32) {
    reader.put_state_base_address(&state.bases, out);
    out.extend(
        table::StateSip::new()
            .with_system_instruction_pointer(sip)
            .dwords(),
    );
    behind(
        out,
        table::State3dPipelinedPointers::new().dwords(),
        &state.pointers,
    );
    behind(
        out,
        table::State3dBindingTablePointers::new().dwords(),
        &state.binding_tables,
    );
}

fn vertices(out: &mut Vec<u32>, reader: &dyn CommandReader, state: &PipelineState) {
    reader.put_vertex_buffers(&state.vertex_buffers, out);
    if !state.vertex_elements.is_empty() {
        behind(
            out,
            table::State3dVertexElements::new().dwords(),
            &state.vertex_elements,
        );
    }
    if let Some(index) = state.index_buffer {
        let command = table::State3dIndexBuffer::new()
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
        out.extend(table::State3dDrawingRectangle::new().dwords());
    } else {
        out.extend(&state.drawing_rectangle);
    }
    out.extend(&state.depth_buffer);
    out.extend(state.kept.values().flatten());
    let [red, green, blue, alpha] = state.constant_color;
    let color = table::State3dConstantColor::new()
        .with_blend_constant_color_red(red)
        .with_blend_constant_color_green(green)
        .with_blend_constant_color_blue(blue)
        .with_blend_constant_color_alpha(alpha);
    out.extend(color.dwords());
    let clamp = table::State3dGlobalDepthOffsetClamp::new()
        .with_global_depth_offset_clamp(state.depth_offset_clamp);
    out.extend(clamp.dwords());
}

fn stipple(out: &mut Vec<u32>, state: &PipelineState, counter: u32) {
    behind(
        out,
        table::State3dPolyStipplePattern::new().dwords(),
        &state.poly_stipple,
    );
    let (x, y) = state.poly_stipple_offset;
    let offset = table::State3dPolyStippleOffset::new()
        .with_polygon_stipple_x_offset(x)
        .with_polygon_stipple_y_offset(y);
    out.extend(offset.dwords());
    let [pattern, repeat] = state.line_stipple;
    let line = table::State3dLineStipple::from_dwords(&[
        table::State3dLineStipple::new().dwords()[0],
        pattern,
        repeat,
    ]);
    let period = line.line_stipple_repeat_count().max(1);
    let line = line
        .with_modify_enable(true)
        .with_current_stipple_index(counter / period)
        .with_current_repeat_counter(counter % period);
    out.extend(line.dwords());
}
