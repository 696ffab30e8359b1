//! Stream output.
//! ValleyView volume 2 part 2, 3DSTATE_SO_BUFFER, 3DSTATE_SO_DECL_LIST, 3DSTATE_STREAMOUT.
//! Asks of the length of a vertex for stream 0 alone, as the manual does.

use alloc::format;

use super::{Id, rule, table};
use crate::check::{Rule, View, When};

pub const PITCH: Rule = rule(
    "stream-pitch",
    "the pitch of a stream's buffer is a multiple of 4 up to 2048",
    "3DSTATE_SO_BUFFER, Surface Pitch",
    When::At(&[Id::State3dSoBuffer]),
    |v| {
        let pitch = table::State3dSoBuffer::from_dwords(v.words).surface_pitch();
        (!pitch.is_multiple_of(4) || pitch > 2048).then(|| format!("Surface Pitch is {pitch}"))
    },
);

/// The declarations of a stream that it says it has.
fn declarations(d: &[u32], stream: usize) -> impl Iterator<Item = table::SoDecl> {
    let list = table::State3dSoDeclList::from_dwords(d);
    let count = [
        list.num_entries_0(),
        list.num_entries_1(),
        list.num_entries_2(),
        list.num_entries_3(),
    ];
    let count = count.get(stream).copied().unwrap_or(0);
    let entries = d.get(3..).unwrap_or_default();
    let entries = entries.chunks_exact(table::SoDeclEntry::LEN);
    entries.take(count as usize).map(move |words| {
        let entry = table::SoDeclEntry::from_dwords(words);
        match stream {
            0 => entry.stream_0_decl(),
            1 => entry.stream_1_decl(),
            2 => entry.stream_2_decl(),
            _ => entry.stream_3_decl(),
        }
    })
}

pub const SELECTS: Rule = rule(
    "stream-selects",
    "Stream to Buffer Selects has the buffers of a stream's declarations, and nothing for a stream without any",
    "3DSTATE_SO_DECL_LIST, Stream to Buffer Selects, Num Entries",
    When::At(&[Id::State3dSoDeclList]),
    |v| {
        let list = table::State3dSoDeclList::from_dwords(v.words);
        let selects = [
            list.stream_to_buffer_selects_0(),
            list.stream_to_buffer_selects_1(),
            list.stream_to_buffer_selects_2(),
            list.stream_to_buffer_selects_3(),
        ];
        for (stream, select) in selects.into_iter().enumerate() {
            let slots = declarations(v.words, stream).map(|decl| 1 << decl.output_buffer_slot());
            let wanted = slots.fold(0_u32, |all, slot| all | slot);
            if select != wanted {
                return Some(format!(
                    "Stream to Buffer Selects of stream {stream} is {select:#x}, its declarations have {wanted:#x}"
                ));
            }
        }
        None
    },
);

/// 3DSTATE_STREAMOUT of a draw that streams.
fn streams(v: &View<'_>) -> Option<table::State3dStreamout> {
    let s = table::State3dStreamout::from_dwords(v.kept(Id::State3dStreamout)?);
    s.so_function_enable().then_some(s)
}

pub const SHORT_VERTICES: Rule = rule(
    "stream-short-vertices",
    "of vertices of one unit, which GS puts out, stream 0 reads the first row alone",
    "3DSTATE_STREAMOUT, Stream 0 Vertex Read Offset, Stream 0 Vertex Read Length",
    When::Draw,
    |v| {
        let s = streams(v)?;
        let gs = table::State3dGs::from_dwords(v.kept(Id::State3dGs)?);
        let (offset, length) = (
            s.stream_0_vertex_read_offset(),
            s.stream_0_vertex_read_length(),
        );
        let short = gs.enable() && gs.output_vertex_size() == 0;
        (short && (offset, length) != (0, 0))
            .then(|| format!("Output Vertex Size is 0, read offset {offset}, read length {length}"))
    },
);

pub const BEHIND_VERTEX: Rule = rule(
    "stream-behind-vertex",
    "declarations of stream 0 name attributes that are read",
    "3DSTATE_STREAMOUT, Stream 0 Vertex Read Length",
    When::Draw,
    |v| {
        let s = streams(v)?;
        let list = v.kept(Id::State3dSoDeclList)?;
        // A row has two attributes.
        let read = (s.stream_0_vertex_read_length() + 1) * 2;
        let stored = |d: &table::SoDecl| !d.hole_flag() && d.component_mask() != 0;
        let last = declarations(list, 0)
            .filter(stored)
            .map(|d| d.register_index());
        let last = last.max()?;
        (last >= read).then(|| format!("attribute {last} of {read} that are read"))
    },
);
