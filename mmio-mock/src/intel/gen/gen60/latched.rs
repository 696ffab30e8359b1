//! Commands of Sandy Bridge that latch state, and the image of a context.
//!
//! genxml gen6. Units have their state in commands, which are kept as written; pointers that a command may leave alone are those
//! of the command before. Not modelled: the second palette of the sampler.

use regs::gen60 as table;
use regs::ids::CommandId;

use super::commands::Reader as Commands;
use crate::intel::cs::context::image::behind;
use crate::intel::cs::latched::{Entries, LatchedReader, RegisterWrites, Saved};
use crate::intel::cs::reader::CommandReader;
use crate::intel::ff::payload::StreamIndices;
use crate::intel::ff::state::{IndexBuffer, PipelineState};
use crate::intel::r#gen::gen50::commands::Reader as Gen50;
use crate::intel::urb::Owner;

/// The reader.
#[derive(Debug)]
pub struct Reader;

/// Rows of 256 bits in the 128 bytes that entry sizes count.
const ROWS_PER_UNIT: u16 = 4;

/// Dwords of a 3DSTATE_GS_SVB_INDEX.
const SVB_INDEX: usize = table::State3dGsSvbIndex::LEN;

impl LatchedReader for Reader {
    fn register_writes(&self, d: &[u32]) -> RegisterWrites {
        Gen50.latched().register_writes(d)
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
        Commands.put_pipeline_select(state.media_selected, out);
        Commands.put_state_base_address(&state.bases, out);
        let sip = table::StateSip::new().with_system_instruction_pointer(saved.sip);
        out.extend(sip.dwords());
        out.extend(saved.media);
        let [vs, gs, _, _, ps] = state.binding_tables;
        let tables = table::State3dBindingTablePointers::new()
            .with_vs_binding_table_change(true)
            .with_gs_binding_table_change(true)
            .with_ps_binding_table_change(true)
            .with_pointer_to_vs_binding_table(vs)
            .with_pointer_to_gs_binding_table(gs)
            .with_pointer_to_ps_binding_table(ps);
        out.extend(tables.dwords());
        vertices(out, state);
        if state.drawing_rectangle.is_empty() {
            out.extend(table::State3dDrawingRectangle::new().dwords());
        } else {
            out.extend(&state.drawing_rectangle);
        }
        out.extend(&state.depth_buffer);
        for (id, words) in &state.kept {
            match (id, &saved.stream) {
                (CommandId::State3dGsSvbIndex, Some(stream)) => running(words, stream, out),
                _ => out.extend(words),
            }
        }
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
        let c = table::State3dBindingTablePointers::from_dwords(d);
        let [vs, gs, _, _, ps] = tables;
        for (changes, to, pointer) in [
            (
                c.vs_binding_table_change(),
                vs,
                c.pointer_to_vs_binding_table(),
            ),
            (
                c.gs_binding_table_change(),
                gs,
                c.pointer_to_gs_binding_table(),
            ),
            (
                c.ps_binding_table_change(),
                ps,
                c.pointer_to_ps_binding_table(),
            ),
        ] {
            if changes {
                *to = pointer;
            }
        }
    }

    fn index_buffer(&self, d: &[u32]) -> Result<IndexBuffer, u32> {
        Gen50.latched().index_buffer(d)
    }

    fn vertex_limits(&self) -> (usize, usize) {
        // Vertex Buffer Index 0 to 32; 34 elements (SNB PRM volume 2 part 1, 3DSTATE_VERTEX_ELEMENTS).
        (33, 34)
    }

    fn line_stipple_modifies(&self, d: &[u32]) -> bool {
        Gen50.latched().line_stipple_modifies(d)
    }

    fn chroma_key(&self, d: &[u32]) -> (usize, u32, u32) {
        Gen50.latched().chroma_key(d)
    }

    fn kept(&self, id: CommandId, old: Option<&Vec<u32>>, d: &[u32]) -> Vec<u32> {
        match id {
            CommandId::State3dSamplerStatePointers => chosen(old, d, &[8, 9, 12]),
            CommandId::State3dViewportStatePointers => chosen(old, d, &[10, 11, 12]),
            CommandId::State3dCcStatePointers => color_calc(old, d),
            CommandId::State3dGsSvbIndex => svb_index(old, d),
            _ => d.to_vec(),
        }
    }

    fn urb(&self, d: &[u32]) -> Vec<Entries> {
        let c = table::State3dUrb::from_dwords(d);
        // CAST: fields of at most sixteen bits.
        let section = |owner, entries: u32, size: u32| Entries {
            owner,
            entries: entries as u16,
            rows: (size as u16 + 1) * ROWS_PER_UNIT,
        };
        vec![
            section(
                Owner::Vs,
                c.vs_number_of_urb_entries(),
                c.vs_urb_entry_allocation_size(),
            ),
            section(
                Owner::Gs,
                c.gs_number_of_urb_entries(),
                c.gs_urb_entry_allocation_size(),
            ),
        ]
    }
}

/// A command of three pointers: those whose change bit, in the header, is not set are those of the command before. The result
/// has all change bits, so that it can be executed again.
fn chosen(old: Option<&Vec<u32>>, d: &[u32], bits: &[u32; 3]) -> Vec<u32> {
    let mut words = d.to_vec();
    let Some((header, pointers)) = words.split_first_mut() else {
        return words;
    };
    for ((n, pointer), bit) in (1..).zip(pointers).zip(bits) {
        if *header >> bit & 1 == 0 {
            *pointer = old.and_then(|old| old.get(n)).copied().unwrap_or(0);
        }
        *header |= 1 << bit;
    }
    words
}

/// 3DSTATE_CC_STATE_POINTERS likewise: each pointer has its change bit beside it.
fn color_calc(old: Option<&Vec<u32>>, d: &[u32]) -> Vec<u32> {
    let mut words = d.to_vec();
    for (n, pointer) in words.iter_mut().enumerate().skip(1) {
        if *pointer & 1 == 0 {
            *pointer = old.and_then(|old| old.get(n)).copied().unwrap_or(0);
        }
        *pointer |= 1;
    }
    words
}

/// 3DSTATE_GS_SVB_INDEX: the last command of each number, one behind the other.
fn svb_index(old: Option<&Vec<u32>>, d: &[u32]) -> Vec<u32> {
    let number = |command: &[u32]| table::State3dGsSvbIndex::from_dwords(command).index_number();
    let old = old.map(Vec::as_slice).unwrap_or_default();
    let others = old.chunks_exact(SVB_INDEX);
    let others = others.filter(|command| number(command) != number(d));
    let mut words: Vec<u32> = others.flatten().copied().collect();
    words.extend(d.iter().take(SVB_INDEX));
    words
}

/// The commands of 3DSTATE_GS_SVB_INDEX with the indices as draws have left them.
fn running(words: &[u32], stream: &StreamIndices, out: &mut Vec<u32>) {
    for command in words.chunks_exact(SVB_INDEX) {
        let mut command = table::State3dGsSvbIndex::from_dwords(command);
        if let Some(index) = stream.index.get(command.index_number() as usize) {
            command.set_streamed_vertex_buffer_index(*index);
        }
        out.extend(command.dwords());
    }
}

fn vertices(out: &mut Vec<u32>, state: &PipelineState) {
    Commands.put_vertex_buffers(&state.vertex_buffers, out);
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
    Commands.put_vf_statistics(state.vf_statistics, out);
}

pub fn stipple(out: &mut Vec<u32>, state: &PipelineState, counter: u32) {
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
    let header = table::State3dLineStipple::new().dwords()[0];
    let line = table::State3dLineStipple::from_dwords(&[header, pattern, repeat]);
    let period = line.line_stipple_repeat_count().max(1);
    let line = line
        .with_modify_enable(true)
        .with_current_stipple_index(counter / period)
        .with_current_repeat_counter(counter % period);
    out.extend(line.dwords());
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 3DSTATE_CC_STATE_POINTERS of the captured clear (a_clear, 0x0010b1ac), then one that changes the second pointer alone.
    #[test]
    fn pointers_that_are_left_alone_stay() {
        let id = CommandId::State3dCcStatePointers;
        let first = [0x780e_0002, 0xc1, 0x141, 0x101];
        let kept = Reader.kept(id, None, &first);
        assert_eq!(kept, first);
        let next = [0x780e_0002, 0, 0x1c1, 0];
        assert_eq!(
            Reader.kept(id, Some(&kept), &next),
            [0x780e_0002, 0xc1, 0x1c1, 0x101]
        );
        // Bit 12 of the header: the PS table alone.
        let id = CommandId::State3dSamplerStatePointers;
        let old = vec![0x7802_1302, 0x20, 0x40, 0x60];
        assert_eq!(
            Reader.kept(id, Some(&old), &[0x7802_1002, 0, 0, 0x80]),
            [0x7802_1302, 0x20, 0x40, 0x80]
        );
    }

    #[test]
    fn stream_indices_are_kept_by_number() {
        let id = CommandId::State3dGsSvbIndex;
        let one = [0x780b_0002, 1 << 29, 7, 100];
        let two = [0x780b_0002, 0, 3, 50];
        let kept = Reader.kept(id, None, &one);
        let kept = Reader.kept(id, Some(&kept), &two);
        assert_eq!(kept, [one, two].concat());
        let again = [0x780b_0002, 1 << 29, 9, 100];
        assert_eq!(Reader.kept(id, Some(&kept), &again), [two, again].concat());
    }

    /// 3DSTATE_URB of the captured clear: 256 entries of 128 bytes for VS, none for GS.
    #[test]
    fn urb_sections_count_128_bytes() {
        let sections = Reader.urb(&[0x7805_0001, 0x100, 0]);
        let [vs, gs] = sections[..] else {
            unreachable!("two sections");
        };
        assert_eq!((vs.owner, vs.entries, vs.rows), (Owner::Vs, 256, 4));
        assert_eq!((gs.owner, gs.entries), (Owner::Gs, 0));
    }

    /// genxml gen6 3DSTATE_GS_SVB_INDEX: the number in bits 30:29 of dword 1, the index in dword 2, its limit in dword 3.
    #[test]
    fn an_image_has_the_indices_that_draws_have_reached() {
        let words = [0x790b_0002, 0, 0, 24, 0x790b_0002, 1 << 29, 4, u32::MAX];
        let stream = StreamIndices {
            index: [9, 13, 0, 0],
            maximum: [24, u32::MAX, 0, 0],
        };
        let mut out = Vec::new();
        running(&words, &stream, &mut out);
        assert_eq!(
            out,
            [0x790b_0002, 0, 9, 24, 0x790b_0002, 1 << 29, 13, u32::MAX]
        );
    }
}
