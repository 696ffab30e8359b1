//! Vertex fetch: triggers, skipped primitives, vertex range.
//!
//! PRM: volume 4, 3.3.2, 3.3.4. Not covered: mux value 1, which the manual leaves to another document.

use super::bench::*;
use super::vs::sequential;
use crestline_tests::scene::Scene;
use crestline_tests::scene::draw::Draw;
use crestline_tests::scene::grid::header_points;
use crestline_tests::scene::surface::Surface;
use regs::gen40::State3dIndexBuffer;

/// Index formats of 3DSTATE_INDEX_BUFFER: bytes, words, dwords.
const WIDTHS: [(u32, usize); 3] = [(0, 1), (1, 2), (2, 4)];

/// Gives a draw a list of indices of 1 << `format` bytes.
pub fn indexed(scene: &mut Scene, draw: &mut Draw, format: u32, list: &[u32]) {
    let bytes: Vec<u8> = list
        .iter()
        .flat_map(|i| i.to_le_bytes()[..1 << format].to_vec())
        .chain([0; 4])
        .collect();
    let words: Vec<u32> = bytes
        .chunks_exact(4)
        .map(|b| u32::from_le_bytes(b.try_into().unwrap()))
        .collect();
    let at = scene.state(64, &words);
    let mut buffer = State3dIndexBuffer::new();
    buffer
        .set_index_format(format)
        .set_buffer_starting_address(at)
        .set_buffer_ending_address(at + (list.len() << format) as u32 - 1);
    draw.index_buffer = Some(buffer);
    draw.primitive
        .set_vertex_access_type(1)
        .set_vertex_count_per_instance(list.len() as u32);
}

/// Shades six vertices, two of them twice, under a trigger; the thread id that VF shows, if it trapped.
fn trapped(
    (scene, target): (&mut Scene, &Surface),
    cache: bool,
    (format, list): (u32, &[u32]),
    (control, trigger): (u32, u32),
) -> Option<u32> {
    let mut draw = header_points(scene, target, 64);
    draw.vs.set_vertex_cache_disable(!cache);
    indexed(scene, &mut draw, format, list);
    write(scene, VF_STRG_VAL, trigger);
    write(scene, VF_CTL, control);
    scene.draw(&draw);
    reset_counters(scene);
    scene.run();
    let hit = complete(scene, VF_CTL);
    assert_eq!(read(scene, VF_CTL) & !COMPLETE, control, "the rest stays");
    hit.then(|| show(scene, VF_CTL, 0, VF_RDATA))
}

/// Which of the two vertices of its thread was trapped (mux value 2, the model's choice).
fn place(scene: &Scene) -> u32 {
    show(scene, VF_CTL, 2, VF_RDATA)
}

/// Every vertex that VF puts out has a number; VF names the thread that shaded it, out of the cache too.
// covers: 3.3.2-01, 3.3.4-01, 3.3.4-03, 3.3.5-02, 3.2-05, 3.2.1-01, 3.3.4.1-R, 3.3.4.2-R, 3.3.4.7-R
#[test]
fn a_sequence_number_names_the_thread_that_shaded_the_vertex() {
    let mut scene = Scene::new();
    let target = target(&mut scene);
    debug(&scene, true);
    let list = [0, 1, 2, 2, 1, 3, 0, 3, 2];
    for cache in [true, false] {
        for (sequence, index) in list.into_iter().enumerate() {
            // Two vertices a thread: with the cache 0 and 1, 2 and 3, once; without it two in a row.
            let thread = if cache {
                index / 2
            } else {
                sequence as u32 / 2
            };
            for (format, _) in WIDTHS {
                // Bits 31:24 do not take part in the comparison of numbers.
                let trigger = sequence as u32 | 0xab00_0000;
                let frame = (&mut scene, &target);
                let found = trapped(frame, cache, (format, &list), (1, trigger));
                assert_eq!(found, Some(thread), "cache {cache}, {sequence}");
                let second = if cache {
                    index % 2
                } else {
                    sequence as u32 % 2
                };
                assert_eq!(place(&scene), second, "cache {cache}, {sequence}");
            }
        }
        // A number that does not come.
        let frame = (&mut scene, &target);
        assert_eq!(trapped(frame, cache, (2, &list), (1, 9)), None);
    }
    // Mux values without a published meaning read as zero.
    for mux in [1, 3, 255] {
        assert_eq!(show(&scene, VF_CTL, mux, VF_RDATA), 0);
    }
    finish(scene, target);
}

/// Snapshot Type 1: the first vertex with the index, of which all 32 bits count.
// covers: 3.3.4-01, 3.3.4-03, 3.3.4-04, 3.3.4.1-R, 3.3.4.2-R
#[test]
fn an_index_is_compared_whole() {
    let mut scene = Scene::new();
    let target = target(&mut scene);
    debug(&scene, true);
    // Without the cache the thread tells the place: 5 is first at place 2 or 3, thread 1; 17 at place 4, thread 2.
    let list = [0, 1, 5, 5, 17, 1, 5];
    for (format, bytes) in WIDTHS {
        let mut hit = |trigger| {
            let frame = (&mut scene, &target);
            trapped(frame, false, (format, &list), (0x11, trigger))
        };
        assert_eq!(hit(5), Some(1));
        assert_eq!(hit(17), Some(2));
        assert_eq!(hit(3), None);
        // What lies above the width of the indices must be zero, or nothing matches.
        for bit in (bytes as u32 * 8..32).step_by(4) {
            assert_eq!(hit(5 | 1 << bit), None, "{bytes} bytes, bit {bit}");
        }
    }
    // Indices that differ in the upper half alone (all rows of the buffer are the same: a pitch of zero).
    let mut draw = header_points(&mut scene, &target, 64);
    draw.vs.set_vertex_cache_disable(true);
    draw.vertex_buffers[0].set_buffer_pitch(0);
    indexed(&mut scene, &mut draw, 2, &[5, 6, 7, 8, 0xdead_0005]);
    write(&scene, VF_STRG_VAL, 0xdead_0005);
    write(&scene, VF_CTL, 0x11);
    scene.draw(&draw);
    reset_counters(&mut scene);
    scene.run();
    assert!(complete(&scene, VF_CTL));
    assert_eq!(show(&scene, VF_CTL, 0, VF_RDATA), 2);
    finish(scene, target);
}

/// The enable counts under the global debug enable alone; what is latched stays until bit 31 is cleared.
// covers: 3.1-01, 3.2-02, 3.2-03, 3.2.1-05, 3.3.4-03, 3.3.4.1-R, 3.3.4.7-R
#[test]
fn a_snapshot_waits_for_both_enables_and_keeps_what_it_has() {
    let mut scene = Scene::new();
    let target = target(&mut scene);
    let list = [0, 1, 2, 3, 4, 5];
    let mut hit = |on, control, trigger| {
        debug(&scene, on);
        trapped((&mut scene, &target), true, (1, &list), (control, trigger))
    };
    assert_eq!(hit(false, 1, 0), None);
    assert_eq!(hit(true, 0, 0), None);
    assert_eq!(hit(true, 1, 4), Some(2));
    // Bit 31 is written back as it is: nothing is trapped anew.
    debug(&scene, true);
    let draw = sequential(&mut scene, &target, 6);
    write(&scene, VF_STRG_VAL, 0);
    write(&scene, VF_CTL, COMPLETE | 1);
    scene.draw(&draw);
    reset_counters(&mut scene);
    scene.run();
    assert_eq!(read(&scene, VF_RDATA), 2);
    write(&scene, VF_CTL, 1);
    scene.draw(&draw);
    reset_counters(&mut scene);
    scene.run();
    assert!(complete(&scene, VF_CTL));
    assert_eq!(read(&scene, VF_RDATA), 0);
    finish(scene, target);
}

/// Draws cells 0 to 5, each by a 3DPRIMITIVE of its own; which of them arrive.
fn six(scene: &mut Scene, target: &Surface) -> Vec<usize> {
    target.fill(&[0; 16]);
    for n in 0..6 {
        let mut draw = Draw::flat(target.state());
        scene.vertices(&mut draw, &cell(n));
        scene.draw(&draw);
    }
    reset_counters(scene);
    scene.run();
    drawn(target, 6)
}

// covers: 3.3.4-02, 3.3.4-03, 3.3.4-05, 3.2.1-01, 3.2.1-03, 3.3.4.1-R, 3.3.4.5-R, 3.3.4.6-R
#[test]
fn primitives_are_skipped_and_limited() {
    let mut scene = Scene::new();
    let target = target(&mut scene);
    // Skip enable (bit 3), limit enable (bit 2), how many to skip, how many at most.
    let cases: [(u32, u32, u32, std::ops::Range<usize>); 9] = [
        (0b1000, 2, 0, 2..6),
        (0b0100, 5, 4, 0..4),
        // The two that are skipped count toward the four.
        (0b1100, 2, 4, 2..4),
        (0b1100, 4, 3, 0..0),
        (0b1000, 6, 0, 0..0),
        (0b1000, 0, 0, 0..6),
        (0b0100, 0, 0, 0..0),
        (0b0100, 0, 0x00ff_ffff, 0..6),
        (0b0000, 3, 3, 0..6),
    ];
    for (control, skip, limit, expected) in cases {
        write(&scene, VF_CTL, control);
        write(&scene, VF_STR_PSKIP, skip);
        write(&scene, VF_MAX_PRIM, limit);
        debug(&scene, true);
        let found = six(&mut scene, &target);
        assert_eq!(
            found,
            expected.collect::<Vec<_>>(),
            "{control:#b} {skip} {limit}"
        );
        debug(&scene, false);
        assert_eq!(six(&mut scene, &target).len(), 6, "not under global debug");
    }
    finish(scene, target);
}

// covers: 3.3.4-02, 3.3.4-03, 3.3.4.1-R, 3.3.4.3-R, 3.3.4.4-R
#[test]
fn the_vertex_range_replaces_that_of_every_primitive() {
    let mut scene = Scene::new();
    let target = target(&mut scene);
    // Sequential: vertices 6 to 14 are cells 2 to 4. Random: the same places of the index buffer, whose
    // triangles stand in reverse.
    for random in [false, true] {
        for (on, control, start, count, expected) in [
            (true, 2, 6, 9, vec![2, 3, 4]),
            (true, 2, 15, 3, vec![5]),
            (true, 2, 0, 18, vec![0, 1, 2, 3, 4, 5]),
            (true, 2, 3, 0, vec![]),
            (true, 0, 6, 9, vec![0, 1]),
            (false, 2, 6, 9, vec![0, 1]),
        ] {
            target.fill(&[0; 16]);
            let mut draw = grid(&mut scene, &target, 6);
            if random {
                let list: Vec<u32> = (0..6)
                    .rev()
                    .flat_map(|n| [n * 3, n * 3 + 1, n * 3 + 2])
                    .collect();
                indexed(&mut scene, &mut draw, 1, &list);
            }
            draw.primitive.set_vertex_count_per_instance(6);
            debug(&scene, on);
            write(&scene, VF_CTL, control);
            write(&scene, VF_STR_VL_OVR, start);
            write(&scene, VF_VC_OVR, count);
            scene.draw(&draw);
            scene.run();
            let mut expected: Vec<usize> = expected;
            if random {
                expected = expected.into_iter().map(|n| 5 - n).rev().collect();
            }
            assert_eq!(
                drawn(&target, 6),
                expected,
                "{random} {control} {start} {count}"
            );
        }
    }
    finish(scene, target);
}
