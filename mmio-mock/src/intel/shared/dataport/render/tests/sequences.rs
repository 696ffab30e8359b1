//! The sequences of PRM 5.10.6.9, and what is none of them.
//!
//! PRM: volume 4, 5.10.6.

use super::*;

const SOURCE: u32 = 1 << 29;
const DESTINATION: u32 = 1 << 28;
const STENCIL: u32 = 1 << 27;
const ANTIALIAS: u32 = 1 << 26;

/// Message type, source depth, stencil and antialias, destination depth, registers behind the
/// header: the rows of the table, in its order.
const LEGAL: [(u16, bool, bool, bool, usize); 19] = [
    (0, false, false, false, 8),
    (1, false, false, false, 1),
    (2, false, false, false, 8),
    (3, false, false, false, 8),
    (4, false, false, false, 4),
    (0, true, false, false, 10),
    (2, true, false, false, 9),
    (3, true, false, false, 9),
    (4, true, false, false, 5),
    (0, true, false, true, 12),
    (2, true, false, true, 10),
    (3, true, false, true, 10),
    (4, true, false, true, 6),
    (0, true, true, false, 11),
    (2, true, true, false, 10),
    (3, true, true, false, 10),
    (4, true, true, false, 6),
    (0, true, true, true, 13),
    (4, true, true, true, 7),
];

/// Stencil alone: not in the table, but 5.10.6.3 does not tie bit 27 to bit 29, and the windower's
/// cases of killed pixels under a stencil test without depth (0x31 of Mesa's wm_iz_table) have it.
const STENCIL_ALONE: [(u16, bool, bool, bool, usize); 2] =
    [(0, false, true, false, 9), (4, false, true, false, 5)];

fn present(source: bool, stencil: bool, destination: bool) -> u32 {
    let bit = |there: bool, flag: u32| if there { flag } else { 0 };
    bit(source, SOURCE) | bit(stencil, STENCIL) | bit(destination, DESTINATION)
}

// covers: 5.10.6.9-01, 5.10.6.9-03, 5.10.6.2-02, 5.10.6.3-12, 5.10.6-08
#[test]
fn the_table_and_nothing_else() {
    for form in 0..8u16 {
        for bits in 0..8u32 {
            let (source, stencil, destination) = (bits & 1 != 0, bits & 2 != 0, bits & 4 != 0);
            let row = LEGAL
                .iter()
                .chain(&STENCIL_ALONE)
                .find(|(f, s, t, d, _)| (*f, *s, *t, *d) == (form, source, stencil, destination));
            for length in 0..14 {
                let mut bench = Bench::new();
                bench.target(f::BGRA8, true);
                let body = vec![[0; 8]; length];
                let flags = present(source, stencil, destination);
                let sent = bench.send(form << 8 | LAST, &payload(0xffff, flags, body));
                let legal = row.is_some_and(|(.., registers)| *registers == length);
                match sent {
                    Ok(()) => assert!(legal, "{form:03b} {bits:03b} {length}"),
                    Err(UnitFault::Message { .. }) => {
                        assert!(!legal, "{form:03b} {bits:03b} {length}");
                        assert_eq!(bench.events.scoreboard_clear, 0);
                    }
                    Err(other) => panic!("{other}"),
                }
            }
        }
    }
}

// covers: 5.10.6.3-10
#[test]
fn stencil_alone_is_tested_and_written() {
    let replace = ColorCalcState::new()
        .with_stencil_test_enable(true)
        .with_stencil_buffer_write_enable(true)
        .with_stencil_test_function(values::compare_function::COMPAREFUNCTION_ALWAYS)
        .with_stencil_write_mask(0x0f)
        .with_stencil_reference_value(0xa3)
        .with_stencil_pass_depth_pass_op(2);
    let mut bench = Bench::new();
    bench.target(f::BGRA8, true);
    bench.depth();
    bench.colour_calc(replace);
    let before = bench.depth_at(4, 2);
    let neighbour = bench.depth_at(5, 2);
    let mut body = vec![[0x0505_0505; 8]];
    body.extend(simd16());
    // Only slot 0 is left of the pixels.
    bench.send(LAST, &payload(0x0001, STENCIL, body)).unwrap();
    let want = before & 0xf0ff_ffff | 0x0300_0000;
    assert_eq!(bench.depth_at(4, 2), want);
    assert_eq!(bench.depth_at(5, 2), neighbour);
}

// covers: 5.10.6-08, 5.10.6.6-01
#[test]
fn antialias_alpha_goes_with_single_source_alone() {
    for (form, length, legal) in [
        (0u16, 9, true),
        (4, 5, true),
        (1, 2, false),
        (2, 9, false),
        (3, 9, false),
    ] {
        let mut bench = Bench::new();
        bench.target(f::BGRA8, true);
        let body = vec![[0; 8]; length];
        let sent = bench.send(form << 8, &payload(0xffff, ANTIALIAS, body));
        assert_eq!(sent.is_ok(), legal, "{form:03b}");
    }
}

// covers: 5.10.6-08
#[test]
fn the_alpha_test_goes_with_single_source_alone() {
    for (form, length, legal) in [(0u16, 8, true), (4, 4, true), (2, 8, false), (3, 8, false)] {
        let mut bench = Bench::new();
        bench.target(f::BGRA8, false);
        bench.colour_calc(ColorCalcState::new().with_alpha_test_enable(true));
        let body = vec![[0; 8]; length];
        let sent = bench.send(form << 8, &payload(0xffff, 0, body));
        assert_eq!(sent.is_ok(), legal, "{form:03b}");
    }
}

/// Sixteen depths, stencils and alphas, each told apart by its slot.
fn z(slot: usize) -> f32 {
    (slot + 1) as f32 / 32.0
}

fn quantised(z: f32) -> u32 {
    (f64::from(z) * 16_777_215.0).round_ties_even() as u32
}

/// A whole message of a form with every part that it may have, made from the table.
fn whole(form: u16, stencil: bool, destination: bool) -> Vec<Grf> {
    let mut body = Vec::new();
    if stencil {
        // Stencil of every pixel is 5, as in the buffer; alphas are in DW7:6.
        body.push([
            0x0505_0505,
            0x0505_0505,
            0x0505_0505,
            0x0505_0505,
            0,
            0,
            0,
            0,
        ]);
    }
    let depth = |first: usize| -> Grf { std::array::from_fn(|n| z(first + n).to_bits()) };
    let old = [0x40_0000; 8];
    match form {
        0 => {
            body.extend(simd16());
            body.extend([depth(0), depth(8)]);
            body.extend(destination.then_some([old; 2]).into_iter().flatten());
        }
        2 | 3 => {
            let first = if form == 3 { 8 } else { 0 };
            body.extend((0..4).map(|c| register(c, first)));
            body.extend([[0.5f32.to_bits(); 8]; 4]);
            body.push(depth(first));
            body.extend(destination.then_some(old));
        }
        _ => {
            body.extend((0..4).map(|c| register(c, 0)));
            body.push(depth(0));
            body.extend(destination.then_some(old));
        }
    }
    body
}

/// Every form finds its parts in the order of the table, whichever are there.
// covers: 5.10.6.9-02, 5.10.6.8-01, 5.10.6.8-03, 5.10.6.4-01, 5.10.6.4a-01, 5.10.6.5-01
// covers: 5.10.6.4a-03, 5.10.6.3-13, 5.10.6.1-01
#[test]
fn parts_are_found_behind_one_another() {
    for (form, slots) in [(0u16, 0..16usize), (2, 0..8), (3, 8..16), (4, 0..8)] {
        for (stencil, destination) in [(false, false), (true, false), (false, true), (true, true)] {
            if destination && stencil && matches!(form, 2 | 3) {
                continue;
            }
            let mut bench = Bench::new();
            bench.target(f::BGRA8, false);
            bench.depth();
            // Stencil counts up where it is tested, depth is compared where that is asked for.
            let state = ColorCalcState::new()
                .with_depth_test_enable(true)
                .with_depth_test_function(values::compare_function::COMPAREFUNCTION_LESS)
                .with_depth_buffer_write_enable(true)
                .with_stencil_test_enable(true)
                .with_stencil_buffer_write_enable(true)
                .with_stencil_test_function(values::compare_function::COMPAREFUNCTION_EQUAL)
                .with_stencil_reference_value(5)
                .with_stencil_test_mask(0xff)
                .with_stencil_write_mask(0xff)
                .with_stencil_pass_depth_pass_op(5);
            bench.colour_calc(state);
            let flags = present(true, stencil, destination);
            let all = payload(0xffff, flags, whole(form, stencil, destination));
            bench.send(form << 8 | LAST, &all).unwrap();
            for slot in 0..16 {
                let (x, y) = place(slot);
                let what =
                    format!("{form:03b} stencil {stencil} destination {destination} slot {slot}");
                // Old depth is a quarter of 2^24.
                let passes = slots.contains(&slot) && (!destination || z(slot) < 0.25);
                let colour = if passes { bgra(slot) } else { 0 };
                assert_eq!(bench.pixel(x, y), colour, "{what}");
                let (depth, count) = if passes {
                    (quantised(z(slot)), u32::from(stencil))
                } else {
                    (0x40_0000, 0)
                };
                assert_eq!(bench.depth_at(x, y), ((5 + count) << 24) | depth, "{what}");
            }
        }
    }
}

// covers: 5.10.6.4-02, 5.10.6.3-14
#[test]
fn each_pixel_has_its_own_alpha() {
    for form in [0u16, 4] {
        for slot in 0..16usize {
            let mut bench = Bench::new();
            bench.target(f::BGRA8, false);
            // All but one pixel are covered in full, by the nibbles of M2.6 (subspans 1, 0) and
            // M2.7 (3, 2).
            let mut coverage = [0, 0, 0, 0, 0, 0, !0, !0];
            coverage[6 + slot / 8] &= !(0xf << (slot % 8 * 4));
            let slots = if form == 0 { 16 } else { 8 };
            let mut body = vec![coverage];
            body.extend(vec![[1f32.to_bits(); 8]; slots / 2]);
            bench
                .send(form << 8, &payload(0xffff, ANTIALIAS, body))
                .unwrap();
            for other in 0..slots {
                let (x, y) = place(other);
                let alpha = if other == slot { 0 } else { 0xff };
                assert_eq!(
                    bench.pixel(x, y),
                    alpha << 24 | 0x00ff_ffff,
                    "{slot} {other}"
                );
            }
        }
    }
}

/// What one message wrote, a later one blends with and is tested against.
// covers: 2.5-06, 1.2-03, 5.7-01
#[test]
fn rendered_pixels_and_depths_are_read_back() {
    let mut bench = Bench::new();
    bench.target(f::BGRA8, false);
    let adds = ColorCalcState::new()
        .with_color_buffer_blend_enable(true)
        .with_source_blend_factor(factor::BLENDFACTOR_ONE)
        .with_destination_blend_factor(factor::BLENDFACTOR_ONE)
        .with_color_blend_function(function::BLENDFUNCTION_ADD);
    bench.colour_calc(adds);
    for times in 1..4 {
        bench.send(LAST, &payload(0xffff, 0, simd16())).unwrap();
        for slot in 0..16 {
            let (x, y) = place(slot);
            let sum = |byte: u32| (bgra(slot) >> (byte * 8) & 0xff) * times;
            let want = (0..4)
                .map(|byte| sum(byte).min(255) << (byte * 8))
                .sum::<u32>();
            assert_eq!(bench.pixel(x, y), want, "slot {slot} after {times}");
        }
    }
    // The same depths again are not LESS than themselves.
    let mut bench = Bench::new();
    bench.target(f::BGRA8, false);
    bench.depth();
    bench.colour_calc(depth_state(true));
    let mut body = with_depth(true);
    bench
        .send(LAST, &payload(0xffff, 3 << 28, body.clone()))
        .unwrap();
    assert_eq!((bench.events.depth_count, bench.pixel(4, 2)), (8, bgra(0)));
    body[..8].fill([1f32.to_bits(); 8]);
    bench.send(LAST, &payload(0xffff, 3 << 28, body)).unwrap();
    assert_eq!((bench.events.depth_count, bench.pixel(4, 2)), (8, bgra(0)));
}

/// Pixels, then a flush that is waited for: all caches of the read port have them.
// covers: 5.3-03
#[test]
fn flushed_pixels_are_seen_by_other_caches() {
    const FLUSH: u16 = 1 << 15 | 7 << 12;
    let mut bench = Bench::new();
    bench.target(f::BGRA8, false);
    // Surface 1: the target's memory as a buffer.
    let mut view = SurfaceState::new();
    view.set_surface_type(values::surftype::SURFTYPE_BUFFER)
        .set_surface_base_address(TARGET)
        .set_width(0x7f)
        .set_height(0x3f)
        .set_surface_pitch(15);
    bench
        .mem
        .write_u32(GpuAddr::from(STATE + 0x44), 0x240)
        .unwrap();
    bench
        .mem
        .write_dwords(GpuAddr::from(STATE + 0x240), view.dwords())
        .unwrap();
    let read = |bench: &mut Bench, cache: u16| {
        // Two OWords at pixel (4, 2).
        let header = [0, 0, 2 * 1024 + 4 * 4, 0, 0, 0, 0, 0];
        let msg = Message {
            sfid: 4,
            function_control: cache << 14 | 2 << 8 | 1,
            response_length: 1,
            eot: false,
            exec_mask: 0xff,
            ..message(std::slice::from_ref(&header))
        };
        let mut w = [[0; 8]];
        bench
            .port
            .read(
                crate::intel::r#gen::gen40::message::read(msg.function_control),
                &msg,
                &mut w,
                &bench.mem,
                &bench.ctx,
            )
            .unwrap();
        w[0]
    };
    for cache in 0..3 {
        assert_eq!(read(&mut bench, cache), [0; 8], "the old data are cached");
    }
    bench.send(0, &payload(0xffff, 0, simd16())).unwrap();
    let header = [[0; 8]];
    let mut flush = Message {
        function_control: FLUSH,
        eot: false,
        ..message(&header)
    };
    // A commit is one register, no more and no less.
    for (response_length, served) in [(0, false), (2, false), (1, true)] {
        flush.response_length = response_length;
        let sent = bench.port.write(
            crate::intel::r#gen::gen40::message::write(flush.function_control),
            &flush,
            &mut bench.mem,
            &bench.ctx,
            &bench.pixel,
            &mut bench.events,
        );
        assert_eq!(sent.is_ok(), served, "{response_length}");
    }
    let [a, b, c, d] = [0, 1, 4, 5].map(bgra);
    for cache in 0..3 {
        assert_eq!(read(&mut bench, cache), [a, b, c, d, 0, 0, 0, 0]);
    }
}
