//! Debug registers: breakpoints, attention, snapshots, halted arbiters.
//!
//! PRM: volume 4, 3.3.5, 3.3.8, 3.4.4, 3.4.5, 3.4.9, 3.5, 3.6. Not covered: the windower (live_snapshot.rs).

use crestline_tests::scene::draw::Draw;
use crestline_tests::scene::registers::{debug, finish, read, show, write};
use crestline_tests::scene::surface::Surface;
use crestline_tests::scene::{FRAME, Scene};
use crestline_tests::stops::WAITING;
use kernel::time::Delta;
use regs::gen40::reg;

fn corners(n: usize) -> Vec<[f32; 8]> {
    let at = [[0.0, 0.0], [64.0, 0.0], [0.0, 64.0]];
    (0..n)
        .map(|i| {
            let [x, y] = at[i % 3];
            [x, y, 0.5, 1.0, i as f32, 0.25, 0.5, 1.0]
        })
        .collect()
}

fn triangles(scene: &mut Scene, target: &Surface, count: usize) -> Draw {
    let mut draw = Draw::flat(target.state());
    scene.vertices(&mut draw, &corners(count * 3));
    draw
}

/// The first setup thread meets a breakpoint at its kernel's address, waits in the system routine, and
/// goes on when the host says so.
// covers: 14.2-55, 3.5-01, 11.3.4.12-02
#[test]
fn a_breakpoint_waits_for_the_host() {
    // End of thread, opcode and address: each a register of its own.
    let by = |scene: &Scene, kernel: u32| {
        let registers = [
            (reg::ISC_L1CA_BP_ADR1.offset(), kernel | 1),
            (reg::ISC_L1CA_BP_ADR2.offset(), kernel | 1),
            // send, on these parts 31h.
            (reg::ISC_L1CA_BP_OPC1.offset(), 0x31 << 16 | 1),
            (reg::ISC_L1CA_BP_OPC1.offset(), 1 << 1),
            (reg::ISC_L1CA_BP_OPC2.offset(), 0x31 << 16 | 1),
        ];
        assert_eq!(read(scene, reg::EU_ATT.offset()), 0);
        registers
    };
    for which in 0..5 {
        let mut scene = Scene::new();
        let target = scene.target(64, 64);
        let draw = triangles(&mut scene, &target, 1);
        let routine = scene.state(64, &WAITING);
        scene.commands.extend([0x6102_0000, routine]);
        let kernel = scene.state(64, &draw.sf_kernel);
        scene.draw(&draw);
        // The scene places the kernel again; its own copy is the one that runs.
        let copy = kernel_after(kernel, draw.sf_kernel.len());
        debug(&scene, true);
        write(&scene, reg::TD_CTL.offset(), 1 << 4);
        let (offset, value) = by(&scene, copy)[which];
        write(&scene, offset, value);
        let frame = scene.submit();
        assert!(
            frame.wait(Delta::from_millis(1)).is_err(),
            "register {which}: nothing stopped"
        );
        // The most significant bit of EU_ATT is EU 0, thread 0.
        assert_eq!(
            read(&scene, reg::EU_ATT.offset()),
            1 << 31,
            "register {which}"
        );
        assert_ne!(
            read(&scene, reg::ISR.offset()) & 1 << 2,
            0,
            "debug interrupt"
        );
        assert!(target.words().iter().all(|&w| w == 0));
        write(&scene, offset, 0);
        // The least significant bit of EU_ATT_CLR is EU 0, thread 0.
        write(&scene, reg::EU_ATT_CLR.offset(), 1);
        write(&scene, reg::EU_ATT_CLR.offset(), 0);
        frame.wait(FRAME).expect("the thread goes on");
        assert_eq!(read(&scene, reg::EU_ATT.offset()), 0);
        assert!(target.words().iter().any(|&w| w != 0), "register {which}");
        frame.release();
        finish(scene, target);
    }
}

/// Where the next copy of a kernel of `dwords` begins that `Scene::draw` puts into the heap.
fn kernel_after(first: u32, dwords: usize) -> u32 {
    // VS_STATE of seven dwords comes first, on a boundary of 32 bytes.
    let state = (first + dwords as u32 * 4).next_multiple_of(32);
    (state + 7 * 4).next_multiple_of(64)
}

#[test]
fn snapshots_name_the_vertices_upstream() {
    let mut scene = Scene::new();
    let target = scene.target(64, 64);
    let draw = triangles(&mut scene, &target, 3);
    debug(&scene, true);
    // The second primitive; the third data phase of its URB write. SF flags its threads for that.
    write(&scene, reg::SF_STRG_VAL.offset(), 1);
    write(&scene, reg::SF_CTL.offset(), 0b011);
    write(&scene, reg::URB_CTL.offset(), 3 << 16 | 1);
    scene.draw(&draw);
    scene.run();
    let control = reg::SF_CTL.offset();
    assert_eq!(read(&scene, control) >> 31, 1, "complete");
    let data = reg::SF_RDATA.offset();
    for (vertex, sequence) in (0..3).zip(3..) {
        // VF's unit code, for VS is in bypass mode, and the sequence number; the relative count is 0.
        assert_eq!(show(&scene, control, vertex * 2, data), 1 << 28 | sequence);
        assert_eq!(show(&scene, control, vertex * 2 + 1, data), 0);
    }
    assert_eq!(show(&scene, control, 6, data), 3);
    // Register 3 of the message: the attributes at the start vertex, z in dword 2, the colour of the
    // provoking vertex, number 5, in dword 4.
    let control = reg::URB_CTL.offset();
    assert_eq!(read(&scene, control) >> 31, 1, "complete");
    let data = reg::URB_RDATA.offset();
    assert_eq!(show(&scene, control, 8 + 2, data), 0.5f32.to_bits());
    assert_eq!(show(&scene, control, 8 + 4, data), 5.0f32.to_bits());
    finish(scene, target);
}

#[test]
fn a_vertex_shader_snapshot_shows_indices() {
    let mut scene = Scene::new();
    let target = scene.target(64, 64);
    let mut draw = Draw::flat(target.state());
    draw.perspective(64.0, 64.0);
    draw.primitive.set_start_vertex_location(1);
    let mut vertices = corners(4);
    vertices.rotate_right(1);
    scene.vertices(&mut draw, &vertices);
    draw.topology(4, 3);
    debug(&scene, true);
    // The second thread has the third vertex alone.
    write(&scene, reg::VS_STRG_VAL.offset(), 1);
    write(&scene, reg::VS_CTL.offset(), 1);
    scene.draw(&draw);
    scene.run();
    let (control, data) = (reg::VS_CTL.offset(), reg::VS_RDATA.offset());
    assert_eq!(read(&scene, control) >> 31, 1, "complete");
    assert_eq!(show(&scene, control, 0, data), 3, "index of the vertex");
    assert_eq!(show(&scene, control, 2, data), 1, "vertices of the thread");
    finish(scene, target);
}

#[test]
fn halted_arbiters_hold_messages_back() {
    // Requests; nothing of a setup thread needs an answer but its division.
    for bit in [2, 3] {
        let mut scene = Scene::new();
        let target = scene.target(64, 64);
        let mut draw = Draw::flat(target.state());
        draw.perspective(64.0, 64.0);
        scene.vertices(
            &mut draw,
            &[
                [-1.0, -1.0, 0.5, 1.0, 1.0, 1.0, 1.0, 1.0],
                [1.0, -1.0, 0.5, 1.0, 1.0, 1.0, 1.0, 1.0],
                [-1.0, 1.0, 0.5, 1.0, 1.0, 1.0, 1.0, 1.0],
            ],
        );
        draw.topology(4, 3);
        debug(&scene, true);
        write(&scene, reg::MA_DEBUG_1.offset(), 1 << bit);
        scene.draw(&draw);
        let frame = scene.submit();
        assert!(frame.wait(Delta::from_millis(1)).is_err(), "bit {bit}");
        assert!(target.words().iter().all(|&w| w == 0));
        write(&scene, reg::MA_DEBUG_1.offset(), 0);
        frame.wait(FRAME).expect("messages flow again");
        assert!(target.words().iter().any(|&w| w != 0));
        frame.release();
        finish(scene, target);
    }
}

#[test]
fn register_writes_of_commands_keep_disabled_bytes() {
    let mut scene = Scene::new();
    scene.trusted = true;
    let register = reg::VF_STRG_VAL.offset();
    for (disables, expected) in [
        (0b0000, 0xaabb_ccddu32),
        (0b0110, 0xaa22_33dd),
        (0b1001, 0x11bb_cc44),
        (0b1111, 0x1122_3344),
    ] {
        write(&scene, register, 0x1122_3344);
        scene
            .commands
            .extend([0x1100_0001 | disables << 8, register, 0xaabb_ccdd]);
        scene.run();
        assert_eq!(read(&scene, register), expected, "disables {disables:04b}");
    }
    scene.finish();
}
