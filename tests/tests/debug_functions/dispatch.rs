//! The dispatcher: breakpoints, halts, exceptions, which EU runs whom.
//!
//! PRM: volume 4, 3.4.1, 3.6, 12.4. FFIDs, thread IDs and primitive numbers as in 3.3.

use crestline_tests::scene::draw::Draw;
use crestline_tests::scene::kernels;
use mmio_mock::intel::status::Unit;
use regs::gen40::RegId;

use crestline_tests::stops::{
    BARE, BREAKPOINT, Bench, GO, HALT, ILLEGAL, MASK_STACK, SKIP, SOFTWARE, Stop, assemble, corner,
    marked, tiny,
};

/// TD_CTL.
const MATCH: u32 = 1 << 7;
const FORCE: u32 = 1 << 6;
const OVERRIDE: u32 = 1 << 5;
const EVERY_THREAD: u32 = 1 << 4;
const FLAGGED: u32 = 1 << 2;

/// Pixel shader threads of the triangles here: four, each of its own, at these pixels.
const PLACES: [[u32; 2]; 4] = [[0, 0], [8, 0], [0, 8], [8, 8]];

/// Four triangles, each of one pixel shader thread, whose kernel has a breakpoint in its first instruction.
fn four(bench: &mut Bench) -> Draw {
    let mut kernel = assemble("mov(8) g120<1>UD 1UD { align1 };");
    marked(&mut kernel, 0);
    kernel.extend(kernels::wm_flat16());
    let mut draw = tiny(bench, kernel);
    let vertices: Vec<_> = PLACES
        .iter()
        .flat_map(|[x, y]| corner(*x as f32, *y as f32))
        .collect();
    bench.scene.vertices(&mut draw, &vertices);
    draw
}

/// Pixel of the first subspan of a thread.
fn place(stop: &Stop) -> [u32; 2] {
    [stop.subspans[0] & 0xffff, stop.subspans[0] >> 16]
}

/// Lets every thread go on; where they stood.
fn all(bench: &Bench) -> Vec<Stop> {
    let mut out = Vec::new();
    let mut next = bench.stop();
    while let Some(stop) = next {
        out.push(stop);
        next = bench.next(&stop, GO);
    }
    out
}

/// Breakpoint Enable of CR1: off by default, of flagged threads, of every thread.
// covers: 3.4.1-03, 3.6-03, 3.6-04, 3.6-05, 3.4.4-03, 3.4.1.1-R, 12.4-05
#[test]
fn breakpoints_are_enabled_at_dispatch() {
    let mut bench = Bench::new(16, 16);
    // TD_CTL; the pixel whose thread WIZ flags; the threads that stop.
    let mut picture = None;
    for (control, pixel, expected) in [
        (0, None, &[][..]),
        (0, Some([9, 1]), &[]),
        (FLAGGED, None, &[]),
        (FLAGGED, Some([9, 1]), &[[8, 0]]),
        (EVERY_THREAD, None, &PLACES),
        (EVERY_THREAD | FLAGGED, Some([9, 1]), &PLACES),
    ] {
        bench.write(RegId::TdCtl, control);
        bench.write(RegId::WizCtl, 0);
        if let Some([x, y]) = pixel {
            bench.write(RegId::WizStrgVal, y << 16 | x);
            bench.write(RegId::WizCtl, 0b11);
        }
        let draw = four(&mut bench);
        bench.draw(&draw);
        let frame = bench.submit();
        let stops = all(&bench);
        let places: Vec<_> = stops.iter().map(place).collect();
        assert_eq!(places, expected, "{control:#x} {pixel:?}");
        for stop in stops {
            assert_eq!(stop.control, [1 << 31, BREAKPOINT | 1 << 15]);
        }
        bench.end(frame);
        let words = bench.take();
        assert_eq!(*picture.get_or_insert_with(|| words.clone()), words);
    }
    // SVG qualifies all of it with the global debug enable.
    bench.write(RegId::Instpm, 1 << 20);
    let draw = four(&mut bench);
    bench.draw(&draw);
    bench.undisturbed();
    // Fields that are defined, and the mux, whose values are not published.
    bench.write(RegId::TdCtl, u32::MAX);
    assert_eq!(bench.read(RegId::TdCtl), 0xfff4);
    bench.write(RegId::TdCtl, 0);
    bench.finish();
}

/// A forced halt is the next dispatch's, before its first instruction, and once only.
// covers: 3.4.1-01, 12.4-06, 3.4.1.1-R, 12.3-02, 12.1-01
#[test]
fn a_forced_halt_takes_the_next_thread() {
    let mut bench = Bench::new(16, 16);
    let draw = four(&mut bench);
    let routine = bench.draw(&draw);
    bench.write(RegId::TdCtl, FORCE);
    let frame = bench.submit();
    let stop = bench.stopped();
    // STATE_SIP, for a debugger to see.
    assert_eq!(bench.show(RegId::SvgCtl, 5, RegId::SvgRdata), routine);
    // Screen coordinates and no VS: the first thread sets a triangle up.
    let running = bench.threads();
    assert_eq!(running.len(), 1);
    assert_eq!((running[0].0, running[0].1), (Unit::Sf, stop.ip));
    assert_eq!(stop.control, [1 << 31, HALT]);
    // Written anew, it takes another one: the pixels of that triangle.
    bench.write(RegId::TdCtl, FORCE);
    let stop = bench.next(&stop, BARE).unwrap();
    assert_eq!(bench.threads()[0], (Unit::Wiz, stop.ip));
    assert_eq!(place(&stop), PLACES[0]);
    assert!(bench.next(&stop, BARE).is_none());
    bench.end(frame);
    bench.finish();
}

/// The debug dwords of r0 under their masks: thread number in the primitive, primitive number.
// covers: 3.4.1-01, 3.4.1-07, 3.4.1.8-R, 3.4.1.9-R, 3.4.1.10-R, 3.4.1.11-R
#[test]
fn a_match_of_r0_halts() {
    let mut bench = Bench::new(16, 16);
    let registers = [
        RegId::Td06EhtrgVal,
        RegId::Td06EhtrgMsk,
        RegId::Td07EhtrgVal,
        RegId::Td07EhtrgMsk,
    ];
    for id in registers {
        bench.write(id, u32::MAX);
        assert_eq!(bench.read(id), 0x00ff_ffff, "{id:?}");
    }
    let pixels = |numbers: &[usize]| -> Vec<(Unit, Option<[u32; 2]>)> {
        numbers
            .iter()
            .map(|n| (Unit::Wiz, Some(PLACES[*n])))
            .collect()
    };
    let setup = (Unit::Sf, None);
    let all_of_both: Vec<_> = (0..4)
        .flat_map(|n| [vec![setup], pixels(&[n])].concat())
        .collect();
    // Value and mask of r0.6, value and mask of r0.7. A setup thread's own number, that of its primitive, is in r0.6;
    // a pixel shader's r0.6 counts within the primitive, whose number is in r0.7.
    for (values, expected) in [
        ([0, u32::MAX, 2, u32::MAX], pixels(&[2])),
        ([0, u32::MAX, 0xff02, 0xff], pixels(&[2])),
        ([1, u32::MAX, 2, u32::MAX], vec![]),
        ([0, 0, 3, u32::MAX], pixels(&[3])),
        // Even primitives; of setup threads the first.
        ([0, u32::MAX, 0, 1], [vec![setup], pixels(&[0, 2])].concat()),
        ([2, u32::MAX, 0, u32::MAX], vec![setup]),
        ([0, 0, 0, 0], all_of_both),
    ] {
        // MI_FLUSH with Global Snapshot Count Reset: primitives count from 0.
        bench.scene.commands.push(0x0200_0008);
        let draw = four(&mut bench);
        bench.draw(&draw);
        for (id, value) in registers.into_iter().zip(values) {
            bench.write(id, value);
        }
        bench.write(RegId::TdCtl, MATCH);
        let frame = bench.submit();
        let mut found = Vec::new();
        let mut next = bench.stop();
        while let Some(stop) = next {
            let (unit, kernel) = bench.threads()[0];
            assert_eq!((stop.ip, stop.control), (kernel, [1 << 31, HALT]));
            let at = (unit == Unit::Wiz).then(|| place(&stop));
            found.push((unit, at));
            next = bench.next(&stop, BARE);
        }
        assert_eq!(found, expected, "{values:x?}");
        bench.end(frame);
    }
    // Without the enable, and without the global one.
    bench.write(RegId::TdCtl, 0);
    let draw = four(&mut bench);
    bench.draw(&draw);
    bench.undisturbed();
    bench.write(RegId::TdCtl, MATCH | FORCE);
    bench.write(RegId::Instpm, 1 << 20);
    let draw = four(&mut bench);
    bench.draw(&draw);
    bench.undisturbed();
    bench.write(RegId::TdCtl, 0);
    bench.finish();
}

/// Exception enables of WM_STATE against those of TD_CTL2.
// covers: 3.4.1-02, 3.4.1-04, 3.4.1.2-R, 12.4-01, 12.4-03, 12.4-04
#[test]
fn exceptions_are_enabled_by_force() {
    // An opcode without a meaning; the software exception; `endif` that pops an empty stack.
    let illegal = vec![0, 0, 0, 0];
    let software = assemble("or(1) cr0.1<1>UD cr0.1<0,1,0>UD 0x20000000UD { align1 nomask };");
    let pop = vec![0x0060_0025, 0x3400_1c00, 0x0000_1400, 0x0001_0000];
    for (instruction, status, bit) in [
        (illegal, ILLEGAL, 28),
        (software, SOFTWARE, 25),
        (pop, MASK_STACK, 26),
    ] {
        let mut bench = Bench::new(8, 8);
        let mut kernel = instruction;
        kernel.extend(kernels::wm_flat16());
        // Enabled in WM_STATE, in TD_CTL2, and whether TD_CTL2 counts.
        for (state, forced, counts) in [
            (true, false, false),
            (false, true, true),
            (true, true, true),
            (true, false, true),
            (false, true, false),
            (false, false, true),
        ] {
            let taken = if counts { forced } else { state };
            if !taken && status == ILLEGAL {
                // Such a thread never ends.
                continue;
            }
            let mut draw = tiny(&mut bench, kernel.clone());
            draw.wm
                .set_illegal_opcode_exception_enable(state)
                .set_mask_stack_exception_enable(state)
                .set_software_exception_enable(state);
            bench.draw(&draw);
            bench.write(RegId::TdCtl2, u32::from(forced) << bit);
            bench.write(RegId::TdCtl, if counts { OVERRIDE } else { 0 });
            let frame = bench.submit();
            let stop = bench.stop();
            assert_eq!(
                stop.is_some(),
                taken,
                "{status:#x} {state} {forced} {counts}"
            );
            if let Some(stop) = stop {
                assert_eq!(stop.control[1] & !0xffff, status);
                // The others come behind the instruction.
                let order = if status == ILLEGAL { SKIP } else { BARE };
                assert!(bench.next(&stop, order).is_none());
            }
            bench.end(frame);
            assert!(bench.take().iter().any(|&w| w != 0));
        }
        bench.write(RegId::TdCtl, 0);
        bench.write(RegId::TdCtl2, 0);
        bench.finish();
    }
}

/// A frame with threads of all fixed functions of the 3D pipeline: a clipped quad of GS.
fn everybody(bench: &mut Bench) -> Draw {
    let mut draw = Draw::flat(bench.target.state());
    draw.perspective(16.0, 16.0);
    draw.gs_kernel = Some(kernels::gs_quads());
    let corner = |x: f32, y: f32| [x, y, 0.5, 1.0, 1.0, 0.5, 0.25, 1.0];
    bench.scene.vertices(
        &mut draw,
        &[
            corner(-1.5, -0.5),
            corner(0.5, -0.5),
            corner(0.5, 0.5),
            corner(-1.5, 0.5),
        ],
    );
    // QUADLIST.
    draw.topology(7, 4);
    draw
}

/// Each fixed function on an EU of its own, which is the one whose Attn comes up.
// covers: 3.4.1-05, 3.4.1-06, 3.4.1.2-R, 3.4.1.3-R, 3.4.1.4-R, 3.4.1.5-R, 3.4.1.6-R, 3.4.1.7-R
#[test]
fn masks_choose_the_eus() {
    let masks = [
        (Unit::Vs, RegId::TdVfVsEmsk, 0),
        (Unit::Gs, RegId::TdGsEmsk, 3),
        (Unit::Clip, RegId::TdClipEmsk, 4),
        (Unit::Sf, RegId::TdSfEmsk, 5),
        (Unit::Wiz, RegId::TdWizEmsk, 6),
    ];
    let mut bench = Bench::new(16, 16);
    for (_, id, _) in masks {
        bench.write(id, u32::MAX);
        assert_eq!(bench.read(id), 0xffff, "{id:?}");
    }
    bench.write(RegId::TdCtl2, u32::MAX);
    assert_eq!(bench.read(RegId::TdCtl2), 0x1607_01f9);
    let draw = everybody(&mut bench);
    bench.draw(&draw);
    bench.write(RegId::TdCtl2, 0);
    let picture = bench.undisturbed();
    for round in 0..3u32 {
        let eu = |n: usize| (n as u32 * 2 + round) % 8;
        let mut enables = 0;
        for (n, (_, id, bit)) in masks.into_iter().enumerate() {
            // Bits above the eight EUs of the part name nobody; with two EUs the lower one is free.
            bench.write(id, 0x100 | 1 << eu(n) | if eu(n) < 7 { 0x80 } else { 0 });
            enables |= 1 << bit;
        }
        // In the last round the mask of GS does not count.
        if round == 2 {
            enables &= !(1 << 3);
        }
        bench.write(RegId::TdCtl2, enables);
        bench.write(RegId::TdCtl, MATCH);
        for id in [RegId::Td06EhtrgMsk, RegId::Td07EhtrgMsk] {
            bench.write(id, 0);
        }
        let draw = everybody(&mut bench);
        bench.draw(&draw);
        let frame = bench.submit();
        let mut seen = [false; 5];
        let mut next = bench.stop();
        while let Some(stop) = next {
            // A clipper thread and the setup of what it has sent on may be there at once.
            let mut somebody = 0;
            for (unit, _) in bench.threads() {
                let n = masks.iter().position(|(u, ..)| *u == unit).unwrap();
                let free = round == 2 && unit == Unit::Gs;
                let bit = 1 << (4 * if free { 0 } else { eu(n) });
                seen[n] |= stop.threads & bit != 0;
                somebody |= bit;
            }
            assert_eq!(stop.threads & !somebody, 0, "round {round}");
            next = bench.next(&stop, BARE);
        }
        assert_eq!(seen, [true; 5], "round {round}");
        bench.end(frame);
        assert_eq!(bench.take(), picture);
    }
    bench.write(RegId::TdCtl, 0);
    bench.finish();
}

/// No EU at all, or no thread at all: everything waits until the host takes it back.
// covers: 3.4.1-05, 3.4.1-06, 3.4.1.2-R
#[test]
fn nobody_is_dispatched_without_an_eu() {
    let mut bench = Bench::new(16, 16);
    let draw = everybody(&mut bench);
    bench.draw(&draw);
    let picture = bench.undisturbed();
    // A mask of EUs that the part does not have; none; and a limit of no threads.
    for (id, value, enable) in [
        (RegId::TdWizEmsk, 0xff00, 1 << 6),
        (RegId::TdSfEmsk, 0, 1 << 5),
        (RegId::TdWizEmsk, 0, 1 << 8),
    ] {
        bench.write(id, value);
        bench.write(RegId::TdCtl2, enable);
        let draw = everybody(&mut bench);
        bench.draw(&draw);
        let before = bench.started(Unit::Wiz);
        let frame = bench.submit();
        bench.run(200_000);
        assert!(!bench.idle());
        assert_eq!(bench.started(Unit::Wiz), before);
        assert!(bench.target.words().iter().all(|&w| w == 0));
        bench.write(RegId::TdCtl2, 0);
        bench.end(frame);
        assert_eq!(bench.take(), picture);
    }
    bench.finish();
}

/// Every mux value of the dispatcher is left to a document outside the manual: all of them read as zero.
// covers: 3.4.1.12-R
#[test]
fn the_dispatcher_shows_nothing() {
    let mut bench = Bench::new(16, 16);
    let draw = everybody(&mut bench);
    bench.draw(&draw);
    bench.undisturbed();
    for mux in 0..256 {
        assert_eq!(bench.show(RegId::TdCtl, mux, RegId::TdRdata), 0);
    }
    bench.write(RegId::TdRdata, u32::MAX);
    assert_eq!(bench.read(RegId::TdRdata), 0);
    bench.write(RegId::TdCtl, 0);
    bench.finish();
}
