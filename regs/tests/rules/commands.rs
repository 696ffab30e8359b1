//! Rules that a command keeps by itself.

use regs::gen70 as table;
use regs::ids::CommandId as Id;

use super::{broken, buffers, change, decl, declarations, element, elements, long};

// covers: V-0004
#[test]
fn reserved_bits_are_zero() {
    // 3DSTATE_SAMPLE_MASK: 31:8 of dword 1; the header's 15:8.
    let mask =
        |dword: usize, bits: u32| broken(|b| b.command(Id::State3dSampleMask)[dword] |= bits);
    assert_eq!(mask(1, 1 << 31), ["reserved-bits"]);
    assert_eq!(mask(0, 1 << 8), ["reserved-bits"]);
    // 3DSTATE_PS: 23:12 of dword 4, 23 of dword 5.
    for (dword, bit) in [(4, 12), (4, 23), (5, 23), (7, 0)] {
        let found = broken(|b| b.command(Id::State3dPs)[dword] |= 1 << bit);
        assert_eq!(found, ["reserved-bits"], "{dword} {bit}");
    }
    // The first dword of the second VERTEX_BUFFER_STATE: bits 12 and 13 are Vertex Fetch Invalidate and Null Vertex Buffer.
    let state = |bit: u32| broken(|b| b.command(Id::State3dVertexBuffers)[5] |= 1 << bit);
    assert_eq!(state(12), Vec::<&str>::new());
    assert_eq!(state(15), ["reserved-bits"]);
    assert_eq!(state(13), Vec::<&str>::new());
    // PIPELINE_SELECT is in another volume.
    let other = broken(|b| b.commands.insert(0, vec![0x6904_0000 | 1 << 10]));
    assert_eq!(other, Vec::<&str>::new());
}

// covers: V-0077, V-0086, V-0095, V-0104, V-0114
#[test]
fn constants_end_in_their_space() {
    let up_to = |offset: u32, size: u32| {
        let word = offset << 16 | size;
        let space = |id: Id| {
            // The space moves over those of others, too.
            let found = broken(|b| b.command(id)[1] = word);
            found.contains(&"constants-range")
        };
        [
            Id::State3dPushConstantAllocVs,
            Id::State3dPushConstantAllocHs,
            Id::State3dPushConstantAllocDs,
            Id::State3dPushConstantAllocGs,
            Id::State3dPushConstantAllocPs,
        ]
        .map(space)
    };
    assert_eq!(up_to(15, 2), [true; 5]);
    assert_eq!(up_to(8, 15), [true; 5]);
    assert_eq!(up_to(15, 1), [false; 5]);
    assert_eq!(up_to(0, 15), [false; 5]);
}

// covers: V-0372, V-0384, V-0394, V-0406
#[test]
fn short_entries_come_in_eights() {
    let by = |id: Id, entries: u32, rows: u32| {
        broken(|b| {
            let word = &mut b.command(id)[1];
            *word = *word >> 25 << 25 | (rows - 1) << 16 | entries;
        })
    };
    for id in [Id::State3dUrbVs, Id::State3dUrbHs, Id::State3dUrbGs] {
        assert_eq!(by(id, 12, 8), ["urb-by-eight"], "{id:?}");
        assert_eq!(by(id, 9, 9), Vec::<&str>::new(), "{id:?}");
        assert_eq!(by(id, 16, 2), Vec::<&str>::new(), "{id:?}");
    }
    // DS: fields below 9, so entries below ten rows.
    assert_eq!(by(Id::State3dUrbDs, 12, 9), ["urb-by-eight"]);
    assert_eq!(by(Id::State3dUrbDs, 12, 10), Vec::<&str>::new());
}

// covers: V-0410, V-0413, V-0414
#[test]
fn vertex_buffers_are_whole_and_at_most_33() {
    let all: Vec<u32> = (0..33).collect();
    let with = |words: Vec<u32>| broken(|b| b.replace(Id::State3dVertexBuffers, words));
    assert_eq!(with(buffers(&all)), Vec::<&str>::new());
    let many: Vec<u32> = (0..34).collect();
    assert_eq!(with(buffers(&many)), ["vertex-buffer-count"]);
    // Three dwords: a part of a structure, and one that does not begin.
    let header = table::State3dVertexBuffers::HEADER;
    assert_eq!(with(long(header, &[0; 3])), ["vertex-buffer-count"]);
    assert_eq!(with(long(header, &[0; 7])), ["vertex-buffer-count"]);
}

// covers: V-0415
#[test]
fn a_vertex_buffer_is_defined_once_in_any_order() {
    let with = |all: &[u32]| broken(|b| b.replace(Id::State3dVertexBuffers, buffers(all)));
    assert_eq!(with(&[3, 1, 3]), ["vertex-buffer-once"]);
    assert_eq!(with(&[32, 0, 7]), Vec::<&str>::new());
}

/// 34 elements have a length field of 67, where the print's range ends at 66.
// covers: V-0420, V-0421, V-0686
#[test]
fn vertex_elements_are_whole_and_at_most_34() {
    let with = |words: Vec<u32>| {
        broken(|b| {
            b.replace(Id::State3dVertexElements, words);
            // Entries that hold them all.
            change!(b, State3dUrbVs, with_vs_urb_entry_allocation_size = 8);
            change!(b, State3dUrbVs, with_vs_number_of_urb_entries = 8);
        })
    };
    let all = [element(0, [1; 4]); 35];
    let most = elements(&all[..34]);
    assert_eq!((most.len(), most[0] & 0xff), (69, 67));
    assert_eq!(with(most), Vec::<&str>::new());
    assert_eq!(with(elements(&all)), ["vertex-element-count"]);
    let half = [all[0].dwords(), &[0]].concat();
    let half = long(table::State3dVertexElements::HEADER, &half);
    assert_eq!(with(half), ["vertex-element-count"]);
}

// covers: V-0423
#[test]
fn only_the_end_of_a_vertex_is_not_stored() {
    let with = |all: &[[u32; 4]]| {
        let all: Vec<_> = all.iter().map(|c| element(0, *c)).collect();
        broken(|b| b.replace(Id::State3dVertexElements, elements(&all)))
    };
    assert_eq!(with(&[[1, 1, 0, 0], [1; 4]]), ["vertex-holes"]);
    assert_eq!(with(&[[1, 0, 2, 0]]), ["vertex-holes"]);
    assert_eq!(with(&[[1; 4], [1, 1, 0, 0]]), Vec::<&str>::new());
    assert_eq!(with(&[[1; 4], [1, 0, 0, 0], [0; 4]]), Vec::<&str>::new());
}

// covers: V-0424
#[test]
fn components_of_the_source_come_first() {
    let with = |c: [u32; 4]| {
        let one = elements(&[element(0, c)]);
        broken(|b| b.replace(Id::State3dVertexElements, one))
    };
    assert_eq!(with([1, 2, 1, 3]), ["vertex-sources-first"]);
    assert_eq!(with([5, 1, 2, 2]), ["vertex-sources-first"]);
    assert_eq!(with([1, 2, 3, 4]), Vec::<&str>::new());
    assert_eq!(with([5, 6, 2, 3]), Vec::<&str>::new());
}

// covers: V-0277
#[test]
fn pitches_of_streams_are_whole_dwords() {
    let with = |pitch| broken(|b| change!(b, State3dSoBuffer, with_surface_pitch = pitch));
    assert_eq!(with(18), ["stream-pitch"]);
    assert_eq!(with(2052), ["stream-pitch"]);
    assert_eq!(with(2048), Vec::<&str>::new());
    assert_eq!(with(0), Vec::<&str>::new());
}

// covers: V-0293, V-0294, V-0296
#[test]
fn selects_are_the_buffers_of_the_declarations() {
    let list = table::State3dSoDeclList::new;
    let entry = |stream_0, stream_1| {
        table::SoDeclEntry::new()
            .with_stream_0_decl(stream_0)
            .with_stream_1_decl(stream_1)
    };
    let all = [
        entry(decl(0, 1), decl(3, 0)),
        entry(decl(2, 2), table::SoDecl::new()),
    ];
    let with = |list, rows: usize| {
        let words = declarations(list, &all[..rows]);
        broken(|b| b.replace(Id::State3dSoDeclList, words))
    };
    let right = list()
        .with_num_entries_0(2)
        .with_stream_to_buffer_selects_0(0b101)
        .with_num_entries_1(1)
        .with_stream_to_buffer_selects_1(0b1000);
    assert_eq!(with(right, 2), Vec::<&str>::new());
    let lacks = right.with_stream_to_buffer_selects_0(1);
    assert_eq!(with(lacks, 2), ["stream-selects"]);
    // The second declaration of stream 1 is not one of its own.
    let more = right.with_stream_to_buffer_selects_1(0b1001);
    assert_eq!(with(more, 2), ["stream-selects"]);
    // A stream without declarations has no buffers, all four may be without.
    let idle = right.with_stream_to_buffer_selects_2(1);
    assert_eq!(with(idle, 2), ["stream-selects"]);
    assert_eq!(with(list(), 0), Vec::<&str>::new());
    let none = list().with_stream_to_buffer_selects_3(1);
    assert_eq!(with(none, 0), ["stream-selects"]);
}
