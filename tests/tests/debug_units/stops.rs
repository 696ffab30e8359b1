//! Threads that breakpoints stop; one message at a time.
//!
//! PRM: volume 4, 3.1, 3.3.1, 3.4.1.1. Not covered: what can be done to a stopped thread.

use super::bench::*;
use super::vs::sequential;
use crestline_tests::scene::Scene;
use crestline_tests::scene::draw::Draw;
use crestline_tests::scene::surface::Surface;
use crestline_tests::stops::WAITING;
use kernel::time::Delta;
use regs::gen40::reg;

/// Three rectangles of one square each, the colour of one that of its number plus one, with the system routine;
/// breakpoints in the first instruction of the pixel shader if asked for.
fn prepared(scene: &mut Scene, target: &Surface, at: [(f32, f32); 3], breakpoint: bool) -> Draw {
    target.fill(&[0; 16]);
    let routine = scene.state(64, &WAITING);
    scene.commands.extend([0x6102_0000, routine]);
    let mut draw = Draw::flat(target.state());
    draw.wm_kernel[0] |= u32::from(breakpoint) << 30;
    let vertices: Vec<_> = (1..)
        .zip(at)
        .flat_map(|(n, (x, y))| {
            let c = n as f32;
            [(4.0, 4.0), (0.0, 4.0), (0.0, 0.0)]
                .map(|(dx, dy)| [x + dx, y + dy, 0.5, 1.0, c, c, c, c])
        })
        .collect();
    scene.vertices(&mut draw, &vertices);
    draw.topology(15, 9);
    draw
}

/// The same with every `send` (31h) a breakpoint for threads that have them on.
pub fn stopping(scene: &mut Scene, target: &Surface, at: [(f32, f32); 3]) {
    let draw = prepared(scene, target, at, false);
    scene.draw(&draw);
    reset_counters(scene);
    write(scene, reg::ISC_L1CA_BP_OPC1.offset(), 0x31 << 16 | 1);
}

/// Lets the threads that wait go on.
fn go_on(scene: &Scene) {
    let waiting = read(scene, reg::EU_ATT.offset());
    assert_ne!(waiting, 0);
    // The bits of EU_ATT_CLR stand the other way round, and are set and cleared again.
    write(scene, reg::EU_ATT_CLR.offset(), waiting.reverse_bits());
    write(scene, reg::EU_ATT_CLR.offset(), 0);
}

/// Lets a frame go on until it ends; how often it stopped, and the colours of three pixels at each stop.
pub fn stops(scene: &mut Scene, target: &Surface, at: [(u32, u32); 3]) -> Vec<[f32; 3]> {
    let frame = scene.submit();
    let mut seen = Vec::new();
    while frame.wait(Delta::from_micros(500)).is_err() {
        seen.push(at.map(|(x, y)| f32::from_bits(target.bits(x, y)[0])));
        assert!(seen.len() < 20, "{seen:?}");
        go_on(scene);
    }
    frame.release();
    seen
}

/// The flag of a snapshot turns breakpoints on in one thread, in all of one unit, or in none; the dispatcher can turn
/// them on everywhere. A setup thread of this frame has two sends, a pixel shader thread one.
// covers: 3.1-04, 3.3.1-03, 3.2-04, 3.3.9-05
#[test]
fn breakpoints_follow_the_snapshot() {
    const NOTHING: u32 = 0;
    const FLAGGED: u32 = 1 << 2;
    const EVERY: u32 = 1 << 4;
    let mut scene = Scene::new();
    let target = target(&mut scene);
    let at = [(0, 0), (20, 0), (40, 0)];
    for (td, sf, wiz, count) in [
        // The pixel of the second rectangle.
        (FLAGGED, 0, 0b011, 1),
        (FLAGGED, 0, 0b001, 0),
        (NOTHING, 0, 0b011, 0),
        // All threads of the windower, of SF, of both, of all units.
        (FLAGGED, 0, 0b110, 3),
        (FLAGGED, 0b100, 0, 6),
        (FLAGGED, 0b100, 0b110, 9),
        (EVERY, 0, 0, 9),
        // One setup thread.
        (FLAGGED, 0b011, 0, 2),
        (FLAGGED, 0b011, 0b011, 3),
        // Both flags on one pixel: it is in the primitive that SF traps.
        (FLAGGED, 0b001, 0b1011, 1),
    ] {
        debug(&scene, true);
        write(&scene, TD_CTL, td);
        write(&scene, SF_STRG_VAL, 1);
        write(&scene, SF_CTL, sf);
        write(&scene, WIZ_STRG_VAL, 0x0001_0015);
        write(&scene, WIZ_CTL, wiz);
        stopping(&mut scene, &target, at.map(|(x, y)| (x as f32, y as f32)));
        let seen = stops(&mut scene, &target, at);
        assert_eq!(seen.len(), count, "{td:#x} {sf:#b} {wiz:#b}");
        if (td, sf, wiz) == (FLAGGED, 0, 0b011) {
            // The thread of the pixel has not written, the one before it has.
            assert_eq!(seen, [[1.0, 0.0, 0.0]]);
        }
        let last = at.map(|(x, y)| f32::from_bits(target.bits(x, y)[0]));
        assert_eq!(last, [1.0, 2.0, 3.0]);
    }
    write(&scene, reg::ISC_L1CA_BP_OPC1.offset(), 0);
    finish(scene, target);
}

/// A breakpoint in the instruction (bit 30 of its first dword), at an address, or on an opcode leads into the system
/// routine, which waits: three pixel shader threads, and three setup threads with two sends each.
// covers: 3.1-03
#[test]
fn breakpoints_are_in_the_instruction_by_address_or_by_opcode() {
    let mut scene = Scene::new();
    let target = target(&mut scene);
    let at = [(0, 0), (20, 0), (40, 0)];
    let address = reg::ISC_L1CA_BP_ADR1.offset();
    let opcode = reg::ISC_L1CA_BP_OPC1.offset();
    for (which, count) in [
        ("none", 0),
        ("instruction", 3),
        ("address", 3),
        ("opcode", 9),
    ] {
        debug(&scene, true);
        write(&scene, TD_CTL, 1 << 4);
        let places = at.map(|(x, y)| (x as f32, y as f32));
        let debugged = which == "instruction";
        let draw = prepared(&mut scene, &target, places, debugged);
        scene.draw(&draw);
        reset_counters(&mut scene);
        let [.., kernel] = kernel_pointers(&scene);
        write(
            &scene,
            address,
            if which == "address" { kernel | 1 } else { 0 },
        );
        write(
            &scene,
            opcode,
            if which == "opcode" { 0x31 << 16 | 1 } else { 0 },
        );
        assert_eq!(stops(&mut scene, &target, at).len(), count, "{which}");
        let last = at.map(|(x, y)| f32::from_bits(target.bits(x, y)[0]));
        assert_eq!(last, [1.0, 2.0, 3.0], "{which}");
    }
    write(&scene, opcode, 0);
    finish(scene, target);
}

/// Non-pipelined mode of the message arbiter: the data port shows the header of the last message, which is r0 of the
/// third thread; the picture is the same.
// covers: 3.1-05, 3.2.1-05
#[test]
fn shared_functions_run_non_pipelined() {
    let mut scene = Scene::new();
    let target = target(&mut scene);
    let at = [(0, 0), (20, 0), (40, 0)];
    for (on, mode, seven) in [(true, false, 0), (false, true, 0), (true, true, FLAG | 2)] {
        debug(&scene, on);
        write(&scene, WIZ_CTL, 0b110);
        write(&scene, reg::MA_DEBUG_1.offset(), u32::from(mode) << 1);
        let places = at.map(|(x, y)| (x as f32, y as f32));
        let draw = prepared(&mut scene, &target, places, false);
        scene.draw(&draw);
        reset_counters(&mut scene);
        scene.run();
        assert_eq!(show(&scene, DP_CTL, 1, DP_RDATA), seven, "header dword 7");
        assert_eq!(show(&scene, DP_CTL, 2, DP_RDATA), 0, "header dword 6");
        let last = at.map(|(x, y)| f32::from_bits(target.bits(x, y)[0]));
        assert_eq!(last, [1.0, 2.0, 3.0]);
    }
    write(&scene, reg::MA_DEBUG_1.offset(), 0);
    finish(scene, target);
}

/// One thread at a time on the whole part: while a pixel shader thread waits, the threads of the other units ask for its slot
/// again and again, and keep their numbers.
// covers: 3.2.1-02
#[test]
fn threads_that_wait_for_a_slot_are_numbered_once() {
    // TD_CTL2: masks of VS, GS, CLIP, SF and WIZ on, limit of one thread on. The masks leave EU 0.
    const ONE: [(u32, u32); 6] = [
        (0x8004, 0x0001_0179),
        (0x8008, 1),
        (0x800c, 1),
        (0x8010, 1),
        (0x8014, 1),
        (0x8018, 1),
    ];
    let mut scene = Scene::new();
    let target = target(&mut scene);
    for unit in ["VS", "GS", "CLIP"] {
        debug(&scene, true);
        for (offset, value) in ONE {
            write(&scene, offset, value);
        }
        write(&scene, TD_CTL, 1 << 2);
        write(&scene, reg::ISC_L1CA_BP_OPC1.offset(), 0x31 << 16 | 1);
        write(&scene, WIZ_STRG_VAL, 0);
        // The first occurrence alone.
        write(&scene, WIZ_CTL, 1 << 16 | 1 << 4 | 0b011);
        target.fill(&[0xee; 16]);
        let routine = scene.state(64, &WAITING);
        scene.commands.extend([0x6102_0000, routine]);
        let draw = if unit == "VS" {
            sequential(&mut scene, &target, 16)
        } else {
            let mut draw = grid(&mut scene, &target, 8);
            if unit == "GS" {
                with_gs(&mut draw);
            } else {
                with_clipper(&mut draw);
                // CLIPMODE_CLIP_NON_REJECTED: every triangle gets a thread.
                draw.clip.set_clip_mode(2);
            }
            draw
        };
        scene.draw(&draw);
        reset_counters(&mut scene);
        assert_eq!(stops(&mut scene, &target, [(0, 0); 3]).len(), 1, "{unit}");
        for n in 0..8 {
            let [.., id, _] = match unit {
                "VS" => target.bits(n * 2 + 1, 0),
                _ => inside(&target, n as usize),
            };
            assert_eq!(id, n, "{unit}");
        }
    }
    for (offset, _) in ONE {
        write(&scene, offset, 0);
    }
    write(&scene, reg::ISC_L1CA_BP_OPC1.offset(), 0);
    finish(scene, target);
}
