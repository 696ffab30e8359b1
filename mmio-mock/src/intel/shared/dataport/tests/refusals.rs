//! Messages that the data port refuses, and what its error word says of each.
//!
//! PRM: volume 4, 3.4.7.1, 5.10.

use super::*;
use crate::intel::shared::error::Rule;

/// The surface that a case needs.
#[derive(Clone, Copy, Debug)]
enum Bound {
    Buffer,
    TiledBuffer,
    Image,
    /// Base of the surface.
    BufferAt(u32),
    ImageAt(u32),
}

fn state(bound: Bound) -> SurfaceState {
    match bound {
        Bound::Buffer => buffer(4),
        Bound::TiledBuffer => buffer(4).with_tiled_surface(true),
        Bound::BufferAt(base) => SurfaceState({
            let mut dwords = buffer(4).0;
            dwords[1] = base;
            dwords
        }),
        Bound::Image => media_surface(8, f::R32_UINT, Tiling::Linear),
        Bound::ImageAt(base) => SurfaceState({
            let mut dwords = media_surface(8, f::R32_UINT, Tiling::Linear).0;
            dwords[1] = base;
            dwords
        }),
    }
}

/// Port, function control, registers of message and response, surface; the bit of PRM 3.4.7.1.
type Case = (u8, u16, usize, u8, Bound, u32);

const BLOCK: u16 = 2 << 8;
const SCATTER8: u16 = 2 << 8;

const CASES: &[Case] = &[
    // Bad length: not even a header.
    (4, BLOCK | 3, 0, 1, Bound::Buffer, 0),
    (5, BLOCK | 3, 0, 0, Bound::Buffer, 0),
    (4, READ_MEDIA | 3, 0, 1, Bound::Image, 0),
    (5, 4 << 12 | 3, 0, 0, Bound::Image, 0),
    (5, 4 << 12 | 3, 1, 0, Bound::Image, 0),
    // Target cache 11, and the data cache for rectangles.
    (4, 3 << 14 | BLOCK | 3, 1, 1, Bound::Buffer, 4),
    (4, 3 << 14 | 2 << 12 | 3, 1, 1, Bound::Image, 4),
    (4, 2 << 12 | 3, 1, 1, Bound::Image, 4),
    // Surface types.
    (4, BLOCK | 3, 1, 1, Bound::Image, 5),
    (4, READ_DUAL | 3, 2, 1, Bound::Image, 5),
    (4, READ_SCATTERED | SCATTER8 | 3, 2, 1, Bound::Image, 5),
    (5, BLOCK | 3, 2, 0, Bound::Image, 5),
    (5, WRITE_DUAL | 3, 3, 0, Bound::Image, 5),
    (5, WRITE_SCATTERED | SCATTER8 | 3, 3, 0, Bound::Image, 5),
    (4, READ_MEDIA | 3, 1, 1, Bound::Buffer, 5),
    (5, WRITE_MEDIA | 3, 2, 0, Bound::Buffer, 5),
    (4, BLOCK | 3, 1, 1, Bound::TiledBuffer, 5),
    (5, WRITE_DUAL | 3, 3, 0, Bound::TiledBuffer, 5),
    (
        4,
        READ_SCATTERED | SCATTER8 | 3,
        2,
        1,
        Bound::TiledBuffer,
        5,
    ),
    // Block sizes: six OWords are the constant cache's, the others reserved.
    (4, 5 << 8 | 3, 1, 3, Bound::Buffer, 6),
    (4, 6 << 8 | 3, 1, 3, Bound::Buffer, 6),
    (5, 7 << 8 | 3, 4, 0, Bound::Buffer, 6),
    (4, READ_DUAL | 1 << 8 | 3, 2, 2, Bound::Buffer, 6),
    (5, WRITE_DUAL | 3 << 8 | 3, 6, 0, Bound::Buffer, 6),
    (4, READ_SCATTERED | 3, 2, 1, Bound::Buffer, 6),
    (5, WRITE_SCATTERED | 1 << 8 | 3, 3, 0, Bound::Buffer, 6),
    // Bases: OWords, DWords, 32 bytes.
    (4, BLOCK | 3, 1, 1, Bound::BufferAt(DATA + 8), 7),
    (5, WRITE_DUAL | 3, 3, 0, Bound::BufferAt(DATA + 4), 7),
    (
        4,
        READ_SCATTERED | SCATTER8 | 3,
        2,
        1,
        Bound::BufferAt(DATA + 2),
        7,
    ),
    (4, READ_MEDIA | 3, 1, 1, Bound::ImageAt(DATA + 16), 7),
    // Lengths.
    (4, BLOCK | 3, 2, 1, Bound::Buffer, 8),
    (5, BLOCK | 3, 1, 0, Bound::Buffer, 8),
    (5, BLOCK | 3, 3, 0, Bound::Buffer, 8),
    (5, 4 << 8 | 3, 4, 0, Bound::Buffer, 8),
    (4, READ_DUAL | 3, 1, 1, Bound::Buffer, 8),
    (5, WRITE_DUAL | 3, 2, 0, Bound::Buffer, 8),
    (5, WRITE_DUAL | 2 << 8 | 3, 5, 0, Bound::Buffer, 8),
    (4, READ_SCATTERED | 3 << 8 | 3, 2, 2, Bound::Buffer, 8),
    (5, WRITE_SCATTERED | SCATTER8 | 3, 2, 0, Bound::Buffer, 8),
    (5, WRITE_SCATTERED | 3 << 8 | 3, 4, 0, Bound::Buffer, 8),
    (5, WRITE_MEDIA | 3, 1, 0, Bound::Image, 8),
    (5, FLUSH | 3, 2, 0, Bound::Buffer, 8),
    // No stateless form.
    (4, READ_MEDIA | 255, 1, 1, Bound::Image, 9),
    (5, WRITE_MEDIA | 255, 2, 0, Bound::Image, 9),
    (5, 4 << 12 | 255, 10, 0, Bound::Image, 9),
    // Responses.
    (4, BLOCK | 3, 1, 2, Bound::Buffer, 13),
    (4, 4 << 8 | 3, 1, 3, Bound::Buffer, 13),
    (4, READ_DUAL | 2 << 8 | 3, 2, 2, Bound::Buffer, 13),
    (4, READ_SCATTERED | 3 << 8 | 3, 3, 1, Bound::Buffer, 13),
    (4, READ_MEDIA | 3, 1, 2, Bound::Image, 13),
    (5, BLOCK | 3, 2, 1, Bound::Buffer, 13),
    (5, COMMIT | WRITE_MEDIA | 3, 2, 0, Bound::Image, 13),
];

fn rule(bench: &mut Bench, msg: &Message<'_>) -> Rule {
    let result = if msg.sfid == 4 {
        let mut w = vec![KEEP; usize::from(msg.response_length)];
        let result = bench.port.read(
            crate::intel::r#gen::gen40::message::read(msg.function_control),
            msg,
            &mut w,
            &bench.mem,
            &bench.ctx,
        );
        assert!(w.iter().all(|register| *register == KEEP));
        result
    } else {
        bench.send(msg)
    };
    match result {
        Err(UnitFault::Message { what, error, .. }) => Rule { what, error },
        other => panic!("{other:?} for {:#x}", msg.function_control),
    }
}

/// Header of a media block of one dword.
const HEAD: Grf = [0, 0, 3, 0, 0, 0, 0, 0];

// covers: 5.10.3-02, 5.10.5-03, 5.10.4-02, 5.1.2-01, 5.10.6-07, 3.4.7-02, 2.6.11-04
#[test]
fn broken_rules_have_their_bits() {
    for &(sfid, control, length, response, bound, bit) in CASES {
        let mut bench = Bench::new();
        bench.bind(state(bound));
        let payload = vec![HEAD; length];
        let mut msg = message(sfid, control, 0xffff, &payload);
        msg.response_length = response;
        let Rule { what, error: found } = rule(&mut bench, &msg);
        assert_eq!(
            found,
            1 << bit,
            "{what}: {sfid} {control:#x} {length} {bound:?}"
        );
        assert_eq!(bench.dwords(0, 32), (0..32).collect::<Vec<_>>());
    }
}

// covers: 5.10.4-05, 5.10.4-06
#[test]
fn media_blocks_are_whole_dwords() {
    let mut bench = Bench::new();
    bench.bind(media_surface(8, f::R8_UINT, Tiling::Linear));
    for (x, width) in [(1, 4), (2, 4), (0, 1), (0, 2), (4, 7), (-1i32, 4)] {
        let head = [x as u32, 0, width - 1, 0, 0, 0, 0, 0];
        for (sfid, control, length, response) in [(4, READ_MEDIA, 1, 1), (5, WRITE_MEDIA, 2, 0)] {
            let payload = vec![head; length];
            let mut msg = message(sfid, control | 3, 0, &payload);
            msg.response_length = response;
            if sfid == 4 && width == 4 {
                // Columns of reads are those of the dword that holds them; see the filetest `columns_of_reads`.
                continue;
            }
            assert_eq!(rule(&mut bench, &msg), rules::ALIGNMENT, "{x} {width}");
        }
    }
}

// covers: 5.10.1-03
#[test]
fn threads_end_with_render_targets_alone() {
    let mut bench = Bench::new();
    let cases: [(u8, u16, usize, u8, Bound); 9] = [
        (4, BLOCK | 3, 1, 1, Bound::Buffer),
        (4, READ_DUAL | 3, 2, 1, Bound::Buffer),
        (4, READ_SCATTERED | SCATTER8 | 3, 2, 1, Bound::Buffer),
        (4, READ_MEDIA | 3, 1, 1, Bound::Image),
        (5, BLOCK | 3, 2, 0, Bound::Buffer),
        (5, WRITE_DUAL | 3, 3, 0, Bound::Buffer),
        (5, WRITE_SCATTERED | SCATTER8 | 3, 3, 0, Bound::Buffer),
        (5, WRITE_MEDIA | 3, 2, 0, Bound::Image),
        (5, FLUSH | 3, 1, 0, Bound::Image),
    ];
    for (sfid, control, length, response, bound) in cases {
        bench.bind(state(bound));
        let payload = vec![HEAD; length];
        let mut msg = message(sfid, control, 0xffff, &payload);
        msg.response_length = response;
        msg.eot = true;
        let error = rule(&mut bench, &msg).error;
        assert_eq!(error, 1 << 1, "{sfid} {control:#x}");
    }
}

// covers: 5.10.1.1-04
#[test]
fn reserved_writes_are_refused() {
    let mut bench = Bench::new();
    bench.bind_buffer(4);
    for kind in [5, 6] {
        let payload = [HEAD; 2];
        let rule = rule(&mut bench, &message(5, kind << 12 | 3, 0xffff, &payload));
        assert_eq!(rule.what, "reserved write message (PRM 5.10.1.1)");
    }
}
