//! Commands of ValleyView that latch state, and the image of a context.
//!
//! genxml gen7. Each pointer has a command of its own; all that units work with is kept as written.

use regs::gen70 as table;
use regs::ids::{CommandId, RegId};

use super::commands::Reader as Commands;
use super::units;
use crate::intel::cs::context::image::behind;
use crate::intel::cs::latched::{Entries, LatchedReader, RegisterWrites, Saved};
use crate::intel::cs::reader::CommandReader;
use crate::intel::ff::state::{IndexBuffer, PipelineState};
use crate::intel::r#gen::gen60::latched::{Reader as Gen60, stipple};
use crate::intel::urb::Owner;

/// The reader.
#[derive(Debug)]
pub struct Reader;

/// Dwords of the longest image: declarations of stream output, vertex buffers and palettes take most of it.
const IMAGE: usize = 2048;

/// What batches may set for those that follow them in their context, by themselves (`USER_REGISTERS` of the row) or when the driver has looked them
/// through (i915 `gen7_render_regs`). The manual's list of what a context holds is not at hand; Mesa's crocus counts on INSTPM, the predicate and the
/// partition of the cache (`crocus_init_render_context`, which runs once a context).
const CONTEXT_REGISTERS: [RegId; 20] = [
    RegId::Instpm,
    RegId::GtMode,
    RegId::MiPredicateSrc0,
    RegId::MiPredicateSrc1,
    RegId::MiPredicateData,
    RegId::MiPredicateResult,
    RegId::Prim3dEndOffset,
    RegId::Prim3dStartVertex,
    RegId::Prim3dVertexCount,
    RegId::Prim3dInstanceCount,
    RegId::Prim3dStartInstance,
    RegId::Prim3dBaseVertex,
    RegId::GpgpuDispatchdimx,
    RegId::GpgpuDispatchdimy,
    RegId::GpgpuDispatchdimz,
    RegId::CacheMode0,
    RegId::CacheMode1,
    RegId::L3sqcreg1,
    RegId::L3cntlreg2,
    RegId::L3cntlreg3,
];

impl LatchedReader for Reader {
    fn register_writes(&self, d: &[u32]) -> RegisterWrites {
        Gen60.register_writes(d)
    }

    fn put_register_writes(&self, pairs: &[u32], out: &mut Vec<u32>) {
        // A command has an eight-bit length.
        for pairs in pairs.chunks(126) {
            Gen60.put_register_writes(pairs, out);
        }
    }

    fn image_dwords(&self) -> usize {
        IMAGE
    }

    fn context_registers(&self) -> &'static [RegId] {
        &CONTEXT_REGISTERS
    }

    fn put_state(&self, saved: &Saved<'_>, out: &mut Vec<u32>) {
        let state = saved.state;
        Commands.put_pipeline_select(state.media_selected, out);
        Commands.put_state_base_address(&state.bases, out);
        let sip = table::StateSip::new().with_system_instruction_pointer(saved.sip);
        out.extend(sip.dwords());
        out.extend(saved.media);
        vertices(out, state);
        if state.drawing_rectangle.is_empty() {
            out.extend(table::State3dDrawingRectangle::new().dwords());
        } else {
            out.extend(&state.drawing_rectangle);
        }
        out.extend(&state.depth_buffer);
        for words in state.kept.values() {
            out.extend(words);
        }
        stipple(out, state, saved.line_stipple);
        for (index, &(low, high)) in (0..).zip(&saved.tables.chroma_keys) {
            let key = table::State3dChromaKey::new()
                .with_chromakey_table_index(index)
                .with_chromakey_low_value(low)
                .with_chromakey_high_value(high);
            out.extend(key.dwords());
        }
        let [first, second] = &saved.tables.palettes.entries;
        behind(
            out,
            table::State3dSamplerPaletteLoad0::new().dwords(),
            first,
        );
        behind(
            out,
            table::State3dSamplerPaletteLoad1::new().dwords(),
            second,
        );
    }

    fn has_whole_palettes(&self) -> bool {
        true
    }

    fn binding_tables(&self, _d: &[u32], _tables: &mut [u32; 5]) {
        // Each stage has a command of its own, which is kept.
    }

    fn index_buffer(&self, d: &[u32]) -> Result<IndexBuffer, u32> {
        Gen60.index_buffer(d)
    }

    fn vertex_limits(&self) -> (usize, usize) {
        Gen60.vertex_limits()
    }

    fn line_stipple_modifies(&self, d: &[u32]) -> bool {
        Gen60.line_stipple_modifies(d)
    }

    fn chroma_key(&self, d: &[u32]) -> (usize, u32, u32) {
        Gen60.chroma_key(d)
    }

    fn kept(&self, id: CommandId, old: Option<&Vec<u32>>, d: &[u32]) -> Vec<u32> {
        match id {
            CommandId::State3dSoBuffer => units::streams::kept(old, d),
            _ => d.to_vec(),
        }
    }

    fn section(&self, id: CommandId, d: &[u32]) -> Option<(u16, Entries)> {
        let owner = match id {
            CommandId::State3dUrbVs => Owner::Vs,
            CommandId::State3dUrbHs => Owner::Hs,
            CommandId::State3dUrbDs => Owner::Ds,
            CommandId::State3dUrbGs => Owner::Gs,
            _ => return None,
        };
        let (start, entries, rows) = units::section(d);
        Some((
            start,
            Entries {
                owner,
                entries,
                rows,
            },
        ))
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::intel::shared::sampler::state::Tables;
    use crate::intel::urb::Urb;

    /// genxml gen7 3DSTATE_SO_BUFFER: the index in bits 30:29 of dword 1.
    #[test]
    fn stream_buffers_are_kept_by_number() {
        let id = CommandId::State3dSoBuffer;
        let one = [0x7918_0002, 1 << 29 | 16, 0x1000, 0x2000];
        let two = [0x7918_0002, 32, 0x3000, 0x4000];
        let kept = Reader.kept(id, None, &one);
        let kept = Reader.kept(id, Some(&kept), &two);
        assert_eq!(kept, [one, two].concat());
        let again = [0x7918_0002, 1 << 29 | 8, 0x5000, 0x6000];
        assert_eq!(Reader.kept(id, Some(&kept), &again), [two, again].concat());
    }

    /// b_flat of the captures: 3DSTATE_URB_VS and 3DSTATE_URB_GS.
    #[test]
    fn sections_begin_where_their_command_says() {
        // 3DSTATE_URB_VS: start in 8 KB, entries of 64 bytes less one (genxml gen7).
        let (start, vs) = Reader
            .section(CommandId::State3dUrbVs, &[0x7830_0000, 0x0401_02c0])
            .unwrap_or_else(|| unreachable!("a section"));
        assert_eq!((start, vs.entries, vs.rows), (512, 704, 4));
        assert_eq!(vs.owner, Owner::Vs);
        assert_eq!(Reader.section(CommandId::State3dVs, &[0; 6]), None);
    }

    /// Both palettes are saved whole, however they were loaded: headers of 3DSTATE_SAMPLER_PALETTE_LOAD0 and 1, 257 dwords.
    #[test]
    fn palettes_are_saved_whole() {
        let mut tables = Tables::default();
        let entry = |n: u32| n * 0x0101_0101;
        let all: Vec<u32> = (0..256).map(entry).collect();
        tables.palettes.load(false, &all);
        tables.palettes.load(true, &all[..9]);
        let mut out = Vec::new();
        let saved = Saved {
            state: &PipelineState::default(),
            urb: &Urb::new(),
            sip: 0,
            stream: None,
            line_stipple: 0,
            tables: &tables,
            media: &[],
        };
        Reader.put_state(&saved, &mut out);
        let [first, second] = [0x7902_00ff_u32, 0x790c_00ff].map(|header| {
            let at = out.iter().position(|word| *word == header);
            &out[at.map_or(0, |at| at + 1)..][..256]
        });
        assert_eq!(first, all);
        assert_eq!((&second[..9], &second[9..]), (&all[..9], &[0; 247][..]));
    }
}
