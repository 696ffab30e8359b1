//! Stream output: its commands as plain state.
//!
//! 3DSTATE_STREAMOUT, 3DSTATE_SO_BUFFER and 3DSTATE_SO_DECL_LIST: ValleyView PRM, volume 2 part 2; genxml gen7.

use regs::gen70 as table;

use crate::intel::ff::state::streams::{Declaration, Stream, StreamBuffer, StreamsState};
use crate::intel::status::STREAMS;

/// Dwords of a 3DSTATE_SO_BUFFER.
const SO_BUFFER: usize = table::State3dSoBuffer::LEN;

/// Most declarations of a stream.
const DECLARATIONS: usize = 128;

/// Most rows of a vertex that are read.
const READ_ROWS: u16 = 17;

/// 3DSTATE_SO_BUFFER is kept by number: the last command of each, one behind the other.
pub fn kept(old: Option<&Vec<u32>>, d: &[u32]) -> Vec<u32> {
    let number = |command: &[u32]| table::State3dSoBuffer::from_dwords(command).so_buffer_index();
    let old = old.map(Vec::as_slice).unwrap_or_default();
    let others = old.chunks_exact(SO_BUFFER);
    let others = others.filter(|command| number(command) != number(d));
    let mut words: Vec<u32> = others.flatten().copied().collect();
    words.extend(d.iter().take(SO_BUFFER));
    words
}

/// Whether the unit has a part in a draw with this 3DSTATE_STREAMOUT, header included: without one the vertices of the first
/// stream go on, and nothing is written.
pub fn takes_part(streamout: &[u32]) -> bool {
    let s = table::State3dStreamout::from_dwords(streamout);
    s.so_function_enable() || s.rendering_disable() || s.render_stream_select() != 0
}

/// Reads the last 3DSTATE_STREAMOUT, the commands of the buffers as [`kept`] has them, and the last 3DSTATE_SO_DECL_LIST, headers
/// included.
pub fn streams(streamout: &[u32], buffers: &[u32], declarations: &[u32]) -> StreamsState {
    let s = table::State3dStreamout::from_dwords(streamout);
    let mut state = StreamsState {
        enable: s.so_function_enable(),
        // CAST: two bits.
        rendered: (!s.rendering_disable()).then_some(s.render_stream_select() as u8),
        leading: s.reorder_mode() == 0,
        statistics: s.so_statistics_enable(),
        ..StreamsState::default()
    };
    if !state.enable {
        return state;
    }
    let enabled = [
        s.so_buffer_enable_0(),
        s.so_buffer_enable_1(),
        s.so_buffer_enable_2(),
        s.so_buffer_enable_3(),
    ];
    for command in buffers.chunks_exact(SO_BUFFER) {
        let b = table::State3dSoBuffer::from_dwords(command);
        let number = b.so_buffer_index() as usize;
        if let (Some(to), Some(true)) = (state.buffers.get_mut(number), enabled.get(number)) {
            *to = (b.surface_pitch() != 0).then(|| StreamBuffer {
                base: b.surface_base_address(),
                end: b.surface_end_address(),
                pitch: b.surface_pitch(),
            });
        }
    }
    let reads = [
        (
            s.stream_0_vertex_read_offset(),
            s.stream_0_vertex_read_length(),
        ),
        (
            s.stream_1_vertex_read_offset(),
            s.stream_1_vertex_read_length(),
        ),
        (
            s.stream_2_vertex_read_offset(),
            s.stream_2_vertex_read_length(),
        ),
        (
            s.stream_3_vertex_read_offset(),
            s.stream_3_vertex_read_length(),
        ),
    ];
    let list = table::State3dSoDeclList::from_dwords(declarations);
    let lists = [
        (list.stream_to_buffer_selects_0(), list.num_entries_0()),
        (list.stream_to_buffer_selects_1(), list.num_entries_1()),
        (list.stream_to_buffer_selects_2(), list.num_entries_2()),
        (list.stream_to_buffer_selects_3(), list.num_entries_3()),
    ];
    let rows = declarations.get(table::State3dSoDeclList::LEN..);
    let rows = rows.unwrap_or_default();
    let each = state.streams.iter_mut().zip(reads).zip(lists);
    for (number, ((stream, (offset, length)), (selects, entries))) in each.enumerate() {
        // CAST: fields of at most eight bits.
        *stream = Stream {
            buffers: selects as u8,
            read_offset: offset as u16,
            read_rows: (length as u16 + 1).min(READ_ROWS),
            runs: Vec::new(),
        };
        let count = (entries as usize).min(DECLARATIONS);
        let rows = rows.chunks_exact(STREAMS / 2).take(count);
        stream.declare(rows.map(|row| {
            // Two declarations in a dword, those of the first streams in the first. PANIC: two dwords, a stream of four.
            declaration(row[number / 2] >> (number % 2 * 16) & 0xffff)
        }));
    }
    state
}

/// An SO_DECL.
fn declaration(word: u32) -> Declaration {
    let d = table::SoDecl::from_dwords(&[word]);
    // CAST: fields of at most six bits.
    Declaration {
        buffer: d.output_buffer_slot() as u8,
        hole: d.hole_flag(),
        register: d.register_index() as u8,
        components: d.component_mask() as u8,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::intel::ff::state::streams::Run;

    /// Words of a captured frame (scene of stream output), beside the driver's own decoder.
    const STREAMOUT: [u32; 3] = [0x781e_0001, 0xc600_0100, 0x0202_0202];
    const BUFFERS: [[u32; 4]; 2] = [
        [0x7918_0002, 0x0200_0024, 0x0018_1000, 0x0018_1360],
        [0x7918_0002, 0x2200_0000, 0, 0],
    ];
    const LIST: [u32; 9] = [0x7917_0007, 1, 3, 0x2f, 0, 0x37, 0, 0x43, 0];

    // covers: V-0271, V-0273, V-0275, V-0284, V-0288, V-0289
    #[test]
    fn a_captured_transform_feedback() {
        let found = streams(&STREAMOUT, &BUFFERS.concat(), &LIST);
        let run = |from, to, count| Run {
            buffer: 0,
            from,
            to,
            count,
        };
        let mut expected = StreamsState {
            enable: true,
            rendered: None,
            leading: false,
            statistics: true,
            ..StreamsState::default()
        };
        expected.buffers[0] = Some(StreamBuffer {
            base: 0x18_1000,
            end: 0x18_1360,
            pitch: 36,
        });
        for stream in &mut expected.streams {
            stream.read_rows = 3;
        }
        expected.streams[0].buffers = 1;
        expected.streams[0].runs = vec![run(8, 0, 7), run(16, 7, 2)];
        assert_eq!(found, expected);
        assert!(takes_part(&STREAMOUT));
    }

    // covers: V-0315, V-0317
    #[test]
    fn without_commands_the_first_stream_goes_on() {
        assert_eq!(
            streams(&[], &[], &[]),
            StreamsState {
                leading: true,
                ..StreamsState::default()
            }
        );
        assert!(!takes_part(&[]));
        let second = [0x781e_0001, 1 << 27, 0];
        assert_eq!(streams(&second, &[], &[]).rendered, Some(1));
        assert!(takes_part(&second) && takes_part(&[0, 1 << 30, 0]));
    }

    // covers: V-0281, V-0282, V-0283, V-0285, V-0286, V-0287, V-0290, V-0291, V-0292, V-0295, V-0328, V-0329, V-0330, V-0331, V-0332, V-0333
    #[test]
    fn each_stream_has_its_own_declarations() {
        let streamout = [0, 1 << 31, 0x2108_0421];
        // Selects 1, 2, 4, 8; one declaration each, of the components and registers of their number, and two of the first.
        let list = [
            0,
            0x8421,
            0x0101_0102,
            0x0011_0011,
            0x0031_0021,
            1 << 11 | 2,
            0xffff_ffff,
        ];
        let found = streams(&streamout, &[], &list);
        let read = found
            .streams
            .each_ref()
            .map(|s| (s.read_offset, s.read_rows));
        assert_eq!(read, [(1, 2), (0, 5), (0, 9), (1, 2)]);
        assert_eq!(found.streams.each_ref().map(|s| s.buffers), [1, 2, 4, 8]);
        let first = found
            .streams
            .each_ref()
            .map(|s| s.runs.first().map(|r| r.from));
        assert_eq!(first, [Some(4), Some(4), Some(8), Some(12)]);
        assert_eq!(found.streams.each_ref().map(|s| s.runs.len()), [1; 4]);
    }

    #[test]
    fn lists_that_are_cut_short_or_too_long_are_taken_as_far_as_they_go() {
        let streamout = [0, 1 << 31, 0x1f1f_1f1f];
        let found = streams(&streamout, &[0; 3], &[0, 1, 255, 1, 0, 2]);
        assert_eq!(found.streams[0].runs.len(), 1);
        assert_eq!(found.streams[0].read_rows, 17);
        let long = [&[0, 1, 255][..], &[0xffff; 600]].concat();
        let found = streams(&streamout, &[], &long);
        assert!(found.streams[0].runs.is_empty(), "all of them are holes");
    }

    // covers: V-0322, V-0323, V-0324, V-0325, V-0272
    #[test]
    fn buffers_are_kept_by_number_and_bound_where_they_are_enabled() {
        let [first, second] = BUFFERS;
        let words = kept(None, &first);
        let words = kept(Some(&words), &second);
        let again = [0x7918_0002, 0x0200_0010, 0x1000, 0x2000];
        let words = kept(Some(&words), &again);
        assert_eq!(words, [second, again].concat());
        let on = |bits: u32| {
            let found = streams(&[0, 1 << 31 | bits << 8, 0], &words, &[]);
            found.buffers.map(|buffer| buffer.is_some())
        };
        assert_eq!(on(15), [true, false, false, false]);
        assert_eq!(on(14), [false; 4]);
    }
}
