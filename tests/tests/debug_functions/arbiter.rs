//! Halted arbiters and non-pipelined functions, in the middle of frames.
//!
//! PRM: volume 4, 3.4.2, 3.4.5, 3.7.1.2. Nothing may be lost: every picture is the undisturbed one.

use crestline_tests::scene::draw::Draw;
use crestline_tests::scene::kernels;
use crestline_tests::scene::surface::{Layout, Surface};
use mmio_mock::Model;
use mmio_mock::intel::shared::FUNCTIONS;
use mmio_mock::intel::status::Unit;
use regs::gen40::values::surface_format;
use regs::gen40::{RegId, SamplerState};

use crestline_tests::stops::{Bench, tiny};

/// MA_DEBUG_1.
const WRITEBACKS: u32 = 1 << 4;
const ROWS: u32 = 1 << 3;
const MESSAGES: u32 = 1 << 2;
const NON_PIPELINED: u32 = 1 << 1;
/// Bit 1 of MATH_CTL and of RC_CTL.
const OWN_NON_PIPELINED: u32 = 1 << 1;

/// Function IDs.
const MATH: usize = 1;
const SAMPLER: usize = 2;
const WRITE: usize = 5;
const URB: usize = 6;

const SIZE: u32 = 32;
/// 3DSTATE_DEPTH_BUFFER: D24_X8.
const D24_X8: u32 = 3;

/// A textured frame with depth: what it is made of.
pub struct Frame {
    pub bench: Bench,
    texture: Surface,
    depth: Surface,
}

impl Frame {
    pub fn new() -> Self {
        let mut bench = Bench::new(SIZE, SIZE);
        let rgba = (surface_format::R8G8B8A8_UNORM, 4);
        let texture = bench.scene.surface(rgba, (8, 8), Layout::Y);
        for y in 0..8 {
            for x in 0..8 {
                let texel = [x * 30 + 7, y * 25 + 11, x * y * 3 + 64, 255].map(|v| v as u8);
                texture.set(x, y, &texel);
            }
        }
        let depth = bench.scene.surface((0, 4), (SIZE, SIZE), Layout::Y);
        Frame {
            bench,
            texture,
            depth,
        }
    }

    /// Two textured triangles, the second behind the first in part and clipped; depth is cleared by the host.
    pub fn draw(&mut self) -> Draw {
        self.depth.fill(&0x00ff_ffffu32.to_le_bytes());
        let mut draw = Draw::flat(self.bench.target.state());
        draw.perspective(SIZE as f32, SIZE as f32);
        draw.wm_kernel = kernels::wm_tex16();
        draw.surfaces.push(self.texture.state());
        let mut sampler = SamplerState::new();
        sampler
            .set_min_mode_filter(1)
            .set_mag_mode_filter(1)
            .set_tcx_address_control_mode(1)
            .set_tcy_address_control_mode(1);
        draw.sampler = Some((sampler, [0.0; 4]));
        draw.wm.set_sampler_count(1);
        draw.depth = self.depth.depth_buffer(D24_X8);
        // LESS.
        draw.cc
            .set_depth_test_enable(true)
            .set_depth_test_function(2)
            .set_depth_buffer_write_enable(true);
        let vertex = |x: f32, y: f32, z: f32| [x, y, z, 1.0, x * 1.5, y * 1.5, 0.0, 0.0];
        self.bench.scene.vertices(
            &mut draw,
            &[
                vertex(-0.9, -0.8, 0.0),
                vertex(0.8, -0.7, 0.2),
                vertex(-0.3, 0.9, -0.4),
                vertex(-1.6, 0.7, 0.5),
                vertex(0.9, -0.9, -0.5),
                vertex(0.9, 0.9, 0.1),
            ],
        );
        draw
    }

    /// Picture and depth; both are reset.
    pub fn take(&self) -> [Vec<u32>; 2] {
        [self.bench.take(), self.depth.words()]
    }

    pub fn finish(self) {
        drop((self.texture, self.depth));
        self.bench.finish();
    }
}

pub fn ticks(bench: &Bench) -> u64 {
    bench.scene.rig.platform.device().ticks()
}

/// Messages so far, by function.
fn messages(bench: &Bench) -> [u64; FUNCTIONS] {
    bench.scene.rig.platform.device().messages()
}

/// Each arbiter, and all of them, halted at many places of the frame, for any time: whatever is on its way when the
/// halt comes is finished, nothing more happens, and nothing is missing afterwards.
// covers: 3.4.5-01, 3.4.5-02, 3.4.5-03, 3.4.5.1-R
#[test]
fn a_halt_in_mid_frame_changes_nothing() {
    let mut frame = Frame::new();
    let draw = frame.draw();
    frame.bench.draw(&draw);
    let start = ticks(&frame.bench);
    let submitted = frame.bench.submit();
    while !frame.bench.idle() {
        frame.bench.run(50);
    }
    let whole = ticks(&frame.bench) - start;
    frame.bench.end(submitted);
    let expected = frame.take();
    assert!(expected[0].iter().filter(|&&w| w != 0).count() > 300);
    let bench = &frame.bench;
    bench.write(RegId::MaDebug1, u32::MAX);
    assert_eq!(bench.read(RegId::MaDebug1), 0x1e);
    bench.write(RegId::MaDebug1, 0);
    let mut held = 0;
    for halt in [MESSAGES, WRITEBACKS, ROWS, MESSAGES | WRITEBACKS | ROWS] {
        for cut in 0..12 {
            let draw = frame.draw();
            frame.bench.draw(&draw);
            let submitted = frame.bench.submit();
            let bench = &frame.bench;
            bench.run(whole * cut / 13 + cut * 7);
            bench.write(RegId::MaDebug1, halt);
            // What is committed is finished; thread dispatch goes on as far as it can.
            bench.run(20_000);
            if !bench.idle() {
                held += 1;
                let before = (bench.target.words(), frame.depth.words(), messages(bench));
                for steps in [1, 100, 50_000] {
                    bench.run(steps);
                }
                let after = (bench.target.words(), frame.depth.words(), messages(bench));
                assert!(before == after, "{halt:#x} cut {cut}");
                assert!(!bench.idle());
            }
            bench.write(RegId::MaDebug1, 0);
            bench.end(submitted);
            assert!(frame.take() == expected, "{halt:#x} cut {cut}");
        }
    }
    assert!(held > 40, "{held}");
    // Without the global debug enable nothing is held.
    frame.bench.write(RegId::Instpm, 1 << 20);
    frame
        .bench
        .write(RegId::MaDebug1, MESSAGES | WRITEBACKS | ROWS);
    let draw = frame.draw();
    frame.bench.draw(&draw);
    frame.bench.scene.run();
    assert!(frame.take() == expected);
    frame.bench.write(RegId::MaDebug1, 0);
    frame.finish();
}

/// Which traffic each arbiter carries: requests; answers of math and of all others; answers of all but math.
// covers: 3.4.5-01, 3.4.5-02, 3.4.5-03, 3.4.5.1-R
#[test]
fn each_arbiter_holds_its_own_traffic() {
    // The vertex shader wants a reciprocal, as setup does.
    for (halt, reached, passing) in [
        (MESSAGES, Unit::Vs, &[][..]),
        (ROWS, Unit::Vs, &[]),
        (WRITEBACKS, Unit::Wiz, &[MATH, URB]),
    ] {
        let mut frame = Frame::new();
        let draw = frame.draw();
        frame.bench.draw(&draw);
        let before = messages(&frame.bench);
        let submitted = frame.bench.submit();
        let bench = &frame.bench;
        bench.write(RegId::MaDebug1, halt);
        bench.run(50_000);
        let units = [Unit::Vs, Unit::Sf, Unit::Wiz];
        let started = units.map(|unit| bench.started(unit) > 0);
        let expected = units.map(|unit| unit <= reached);
        assert_eq!(started, expected, "{halt:#x}");
        let now = messages(bench);
        for id in [MATH, SAMPLER, WRITE, URB] {
            let passes = passing.contains(&id);
            assert_eq!(now[id] > before[id], passes, "{halt:#x} function {id}");
        }
        bench.write(RegId::MaDebug1, 0);
        bench.end(submitted);
        frame.finish();
    }
}

/// A message stands in front of the math unit of its row while the row's arbiter holds its answer. The setup kernel
/// wants the reciprocal of r1.2 in r6: function 1, one register.
// covers: 3.4.2-02, 3.4.2.1-R, 3.4.2.2-R, 3.4.5-03
#[test]
fn the_math_unit_shows_what_waits() {
    for (eu, unit) in [(2, 0), (5, 1)] {
        let mut bench = Bench::new(8, 8);
        bench.write(RegId::TdSfEmsk, 1 << eu);
        bench.write(RegId::TdCtl2, 1 << 5);
        bench.write(RegId::MaDebug1, ROWS);
        let draw = tiny(&mut bench, kernels::wm_flat16());
        bench.draw(&draw);
        let frame = bench.submit();
        bench.run(20_000);
        let show = |bench: &Bench, em: u32| {
            bench.write(RegId::MathCtl, em << 16);
            bench.show(RegId::MathCtl, 1, RegId::MathRdata)
        };
        // Valid, opcode, EUID, thread, length, destination.
        let expected = 1 << 31 | 1 << 26 | eu << 22 | 1 << 16 | 6 << 9;
        assert_eq!(show(&bench, unit), expected, "EU {eu}");
        assert_eq!(show(&bench, unit ^ 1), 0);
        assert_eq!(bench.show(RegId::MathCtl, 2, RegId::MathRdata), 0);
        bench.write(RegId::MaDebug1, 0);
        bench.end(frame);
        assert_eq!(show(&bench, unit), 0);
        bench.write(RegId::MathCtl, u32::MAX);
        assert_eq!(bench.read(RegId::MathCtl), 0x0003_ff02);
        bench.write(RegId::MathCtl, 0);
        bench.write(RegId::TdCtl2, 0);
        bench.finish();
    }
}

/// One message at a time changes no picture. The error registers then hold the sideband of the last message, without
/// an error: its FFID (VS 2, CLIP 4, SF 5, WM 6), EU 0 thread 0, and of math lengths and function.
// covers: 3.4.5-04, 3.4.2-03, 3.4.8-02, 3.7.1.2-01, 3.7.1.2-02, 3.4.5.1-R, 3.4.2.1-R, 3.4.8.1-R
#[test]
fn non_pipelined_functions_keep_sidebands_and_nothing_else_changes() {
    let registers = |bench: &Bench| {
        [
            bench.show(RegId::MathCtl, 0, RegId::MathRdata),
            bench.show(RegId::SamplerCtl, 0, RegId::SamplerRdata),
            bench.show(RegId::DpCtl, 0, RegId::DpRdata),
            bench.show(RegId::UrbCtl, 0, RegId::UrbRdata),
        ]
    };
    let mut picture = None;
    let (math, sampler) = (5 << 24 | 1 << 12 | 1 << 8 | 1 << 4, 6 << 24);
    let (port, urb) = (6 << 24, 5 << 24);
    for (id, value, global, expected) in [
        (RegId::MaDebug1, 0, true, [0; 4]),
        (
            RegId::MaDebug1,
            NON_PIPELINED,
            true,
            [math, sampler, port, urb],
        ),
        (RegId::MathCtl, OWN_NON_PIPELINED, true, [math, 0, 0, 0]),
        (RegId::RcCtl, OWN_NON_PIPELINED, true, [0, 0, port, 0]),
        (RegId::MaDebug1, NON_PIPELINED, false, [0; 4]),
        (RegId::MathCtl, OWN_NON_PIPELINED, false, [0; 4]),
        (RegId::RcCtl, OWN_NON_PIPELINED, false, [0; 4]),
    ] {
        let mut frame = Frame::new();
        if !global {
            frame.bench.write(RegId::Instpm, 1 << 20);
        }
        frame.bench.write(id, value);
        let draw = frame.draw();
        frame.bench.draw(&draw);
        frame.bench.scene.run();
        let found = registers(&frame.bench);
        assert_eq!(found, expected, "{id:?} {value:#x} {global}");
        let pictures = frame.take();
        assert!(*picture.get_or_insert_with(|| pictures.clone()) == pictures);
        frame.bench.write(id, 0);
        frame.finish();
    }
}

/// Dwords 6 and 7 of the header stand beside the sideband: the thread's number in its primitive and the number of
/// that, here the third primitive's only thread.
// covers: 3.7.1.2-02, 3.4.7.2-R
#[test]
fn the_header_of_the_last_message_is_kept() {
    let mut bench = Bench::new(16, 16);
    let mut draw = tiny(&mut bench, kernels::wm_flat16());
    let places = [[0.0, 0.0], [8.0, 0.0], [0.0, 8.0]];
    let vertices: Vec<_> = places
        .into_iter()
        .flat_map(|[x, y]| crestline_tests::stops::corner(x, y))
        .collect();
    bench.scene.vertices(&mut draw, &vertices);
    bench.draw(&draw);
    bench.write(RegId::RcCtl, OWN_NON_PIPELINED);
    // A flag in r0.7 goes along.
    bench.write(RegId::WizCtl, 0b111);
    bench.scene.run();
    assert_eq!(bench.show(RegId::DpCtl, 1, RegId::DpRdata), 1 << 31 | 2);
    assert_eq!(bench.show(RegId::DpCtl, 2, RegId::DpRdata), 0);
    // Muxes that are not published.
    for mux in (3..32).chain(64..256) {
        assert_eq!(bench.show(RegId::DpCtl, mux, RegId::DpRdata), 0);
    }
    bench.write(RegId::RcCtl, 0);
    bench.write(RegId::WizCtl, 0);
    bench.finish();
}
