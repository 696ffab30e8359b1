//! The unit as a whole, on a machine that records its threads.
#![allow(clippy::unwrap_used, reason = "tests")]

use super::*;
use crate::intel::debug::DebugRegs;
use crate::intel::ff::payload::PayloadLayout;
use crate::intel::ff::state::UnitConfig;
use crate::intel::r#gen::gen40::payload::Layout;
use crate::intel::td::KernelState;
use eu::Grf;
use mem::{GpuAddr, Memory};
use regs::gen40::{RegId, State3dDepthBuffer, values};

mod hierarchical;
mod order;
mod rows;

const DEPTH: u32 = 0x2_0000;

struct Recorded {
    mask: u16,
    payload: Vec<Grf>,
    snapshot: bool,
}

/// A machine whose threads end at once, live on, or find no slot.
struct Bench {
    mem: Memory,
    coefficients: Grf,
    threads: Vec<Recorded>,
    outcome: fn(usize) -> Dispatch,
    invocations: u32,
    depth_count: u32,
    debug: DebugRegs,
}

impl Bench {
    fn new() -> Self {
        let mut mem = Memory::new(1 << 20, 1024);
        mem.alloc_mapped(GpuAddr::from(DEPTH), 64 << 10).unwrap();
        Bench {
            mem,
            coefficients: [0, 0, 0, 0.5f32.to_bits(), 0, 0, 0, 0],
            threads: Vec::new(),
            outcome: |_| Dispatch::Done,
            invocations: 0,
            depth_count: 0,
            debug: DebugRegs::new(&regs::platform::GEN40),
        }
    }

    /// Pixels by coordinates, each with how often a thread drew it.
    fn pixels(&self) -> std::collections::BTreeMap<(u32, u32), u32> {
        let mut out = std::collections::BTreeMap::new();
        for t in &self.threads {
            for bit in 0..16u32 {
                if t.payload[0][0] >> bit & 1 != 0 {
                    let at = t.payload[1][2 + bit as usize / 4];
                    let x = (at & 0xffff) + (bit & 1);
                    let y = (at >> 16) + (bit >> 1 & 1);
                    *out.entry((x, y)).or_default() += 1;
                }
            }
        }
        out
    }
}

impl WizPort for Bench {
    fn memory(&mut self) -> &mut Memory {
        &mut self.mem
    }
    fn urb_row(&self, _: UrbHandle, row: u16) -> Grf {
        assert_eq!(row, 1);
        self.coefficients
    }
    fn layout(&self) -> &'static dyn PayloadLayout {
        &Layout
    }
    fn dispatch(&mut self, thread: &PsThread<'_>) -> Dispatch {
        let outcome = (self.outcome)(self.threads.len());
        if outcome != Dispatch::Full {
            self.threads.push(Recorded {
                mask: thread.dispatch_mask as u16,
                payload: thread.payload.to_vec(),
                snapshot: thread.snapshot,
            });
        }
        outcome
    }
    fn count_invocations(&mut self, pixels: u32) {
        self.invocations += pixels;
    }
    fn count_depth(&mut self, pixels: u32) {
        self.depth_count += pixels;
    }
    fn debug(&mut self) -> &mut DebugRegs {
        &mut self.debug
    }
}

fn state() -> WizState {
    WizState {
        wm: WmState {
            depth_coefficient_urb_read_offset: 1,
            dispatch_16: true,
            early_depth_test_enable: true,
            thread_dispatch_enable: true,
            maximum_threads: 32,
            unit: UnitConfig {
                statistics: true,
                ..UnitConfig::default()
            },
            kernel_16: KernelState {
                ip: 0x42c0,
                ..KernelState::default()
            },
            ..WmState::default()
        },
        raster: RasterState {
            origin_bias_x: 0.5,
            origin_bias_y: 0.5,
            ..RasterState::default()
        },
        drawing_rectangle: DrawingRectangle {
            clip: PixelRect {
                x_min: 0,
                y_min: 0,
                x_max: 63,
                y_max: 63,
            },
            origin_x: 0,
            origin_y: 0,
        },
        ..WizState::default()
    }
}

fn depth_buffer() -> DepthBuffer {
    let command = State3dDepthBuffer::new()
        .with_surface_type(values::surftype::SURFTYPE_2D)
        .with_surface_format(2)
        .with_surface_base_address(DEPTH)
        .with_surface_pitch(255)
        .with_tiled_surface(true)
        .with_tile_walk(1)
        .with_width(63)
        .with_height(63);
    crate::intel::r#gen::gen40::surface::resolve_depth(command.dwords()).unwrap()
}

fn vertices(v: [(f32, f32); 3]) -> [ScreenVertex; 3] {
    v.map(|(x, y)| ScreenVertex {
        x,
        y,
        z: 0.5,
        rhw: 1.0,
    })
}

/// RECTLIST: lower right, lower left, upper left.
fn rect(x0: f32, y0: f32, x1: f32, y1: f32) -> SetupPrimitive {
    SetupPrimitive {
        kind: PrimitiveKind::Rectangle,
        v: vertices([(x1, y1), (x0, y1), (x0, y0)]),
        sequence: 7,
        ..SetupPrimitive::default()
    }
}

fn draw(wiz: &mut Wiz, state: &WizState, primitive: &SetupPrimitive, bench: &mut Bench) {
    if wiz.begin(state, primitive, bench).unwrap() {
        assert_eq!(wiz.run(state, bench).unwrap(), Step::Idle);
    }
}

#[test]
fn a_rectangle_covers_its_pixels_once() {
    for bias in [0.0, 0.5] {
        let mut s = state();
        (s.raster.origin_bias_x, s.raster.origin_bias_y) = (bias, bias);
        let mut bench = Bench::new();
        draw(&mut Wiz::new(), &s, &rect(3.0, 5.0, 21.0, 12.0), &mut bench);
        let pixels = bench.pixels();
        assert_eq!(pixels.len(), 18 * 7);
        assert!(
            pixels
                .iter()
                .all(|(&(x, y), &n)| n == 1 && (3..21).contains(&x) && (5..12).contains(&y))
        );
        assert_eq!(bench.invocations, 18 * 7);
        assert_eq!(bench.depth_count, 18 * 7);
    }
}

#[test]
fn full_blocks_make_full_threads() {
    let mut bench = Bench::new();
    // Debug counters count under the global debug enable only.
    bench.debug.set_global_enable(true);
    draw(
        &mut Wiz::new(),
        &state(),
        &rect(0.0, 0.0, 64.0, 64.0),
        &mut bench,
    );
    assert_eq!(bench.threads.len(), 64 * 64 / 16);
    for (n, t) in bench.threads.iter().enumerate() {
        assert_eq!(t.mask, 0xffff);
        assert_eq!(t.payload[0][0], u32::MAX);
        // Thread numbers count within the primitive; FFTIDs go on.
        assert_eq!(t.payload[0][6] as usize, n);
        assert_eq!(t.payload[0][5] as usize, n & 0xff);
        assert_eq!(t.payload[0][7], 7);
    }
    let mut s = state();
    s.wm.dispatch_16 = false;
    s.wm.dispatch_8 = true;
    let mut bench = Bench::new();
    draw(&mut Wiz::new(), &s, &rect(0.0, 0.0, 64.0, 64.0), &mut bench);
    assert_eq!(bench.threads.len(), 64 * 64 / 8);
    assert!(bench.threads.iter().all(|t| t.mask == 0xff));
}

// covers: 11.2-08
#[test]
fn channels_are_whole_subspans_but_pixels_are_not() {
    let mut bench = Bench::new();
    draw(
        &mut Wiz::new(),
        &state(),
        &rect(1.0, 1.0, 2.0, 2.0),
        &mut bench,
    );
    assert_eq!(bench.threads.len(), 1);
    assert_eq!(bench.threads[0].mask, 0x000f);
    assert_eq!(bench.threads[0].payload[0][0], 0x0008_0008);
}

#[test]
fn drawing_rectangle_and_scissor_bound_everything() {
    let mut s = state();
    s.drawing_rectangle.origin_x = 10;
    s.drawing_rectangle.origin_y = 20;
    s.scissor = Some(PixelRect {
        x_min: 2,
        y_min: 0,
        x_max: 5,
        y_max: 1000,
    });
    let huge = [
        vertices([(-1e30, -1e30), (1e30, -1e30), (0.0, 1e30)]),
        vertices([(-1e5, -1e5), (3e5, -1e5), (-1e5, 3e5)]),
    ];
    for v in huge {
        let mut bench = Bench::new();
        let p = SetupPrimitive {
            v,
            ..SetupPrimitive::default()
        };
        draw(&mut Wiz::new(), &s, &p, &mut bench);
        let pixels = bench.pixels();
        assert!(
            pixels
                .keys()
                .all(|&(x, y)| (12..16).contains(&x) && (20..64).contains(&y))
        );
        assert_eq!(pixels.len(), 4 * 44);
    }
    s.scissor = Some(PixelRect {
        x_min: 5,
        y_min: 5,
        x_max: 4,
        y_max: 4,
    });
    let mut bench = Bench::new();
    assert!(
        !Wiz::new()
            .begin(&s, &rect(0.0, 0.0, 60.0, 60.0), &mut bench)
            .unwrap()
    );
}

#[test]
fn numbers_that_are_none_draw_nothing() {
    for bad in [f32::NAN, f32::INFINITY, f32::NEG_INFINITY] {
        for kind in [
            PrimitiveKind::Triangle,
            PrimitiveKind::Rectangle,
            PrimitiveKind::Line,
            PrimitiveKind::Point,
        ] {
            for width in [0.0, 3.0, bad] {
                for smooth in [false, true] {
                    let p = SetupPrimitive {
                        kind,
                        v: vertices([(bad, 1.0), (4.0, bad), (1.0, 9.0)]),
                        line_width: width,
                        point_width: width,
                        ..SetupPrimitive::default()
                    };
                    let mut s = state();
                    s.raster.antialiasing_enable = smooth;
                    let mut bench = Bench::new();
                    draw(&mut Wiz::new(), &s, &p, &mut bench);
                    assert!(!bad.is_nan() || bench.threads.is_empty());
                }
            }
        }
    }
}

#[test]
fn no_bits_make_it_panic_or_hang() {
    let mut seed = 0x2545_f491_4f6c_dd1du64;
    let mut next = move || {
        seed ^= seed << 13;
        seed ^= seed >> 7;
        seed ^= seed << 17;
        (seed >> 16) as u32
    };
    let mut bench = Bench::new();
    for _ in 0..500 {
        let mut s = state();
        let r = next();
        s.raster.antialiasing_enable = r & 1 != 0;
        s.raster.last_pixel_enable = r & 2 != 0;
        s.raster.subpixel_bits = if r & 4 != 0 { 4 } else { 8 };
        s.wm.line_stipple_enable = r & 8 != 0;
        s.wm.polygon_stipple_enable = r & 16 != 0;
        s.wm.global_depth_offset_enable = r & 32 != 0;
        s.wm.global_depth_offset_constant = f32::from_bits(next());
        s.wm.global_depth_offset_scale = f32::from_bits(next());
        s.line_stipple.pattern = next() as u16;
        s.line_stipple.repeat_count = next() & 0x1ff;
        s.depth_buffer = Some(depth_buffer());
        s.cc.depth.test = true;
        s.cc.depth.write = true;
        s.cc.depth_range = Some((f32::from_bits(next()), f32::from_bits(next())));
        s.drawing_rectangle.origin_x = i32::from(next() as i16);
        s.drawing_rectangle.origin_y = i32::from(next() as i16);
        if r & 64 != 0 {
            s.drawing_rectangle.clip.x_max = 0xffff;
            s.drawing_rectangle.clip.y_min = 0xff00;
            s.drawing_rectangle.clip.y_max = 0xffff;
        }
        bench.coefficients = std::array::from_fn(|_| next());
        let mut any = || match next() & 3 {
            0 => f32::from_bits(next()),
            1 => (next() as i32 >> 14) as f32,
            _ => (next() & 0xffff) as f32 / 512.0,
        };
        let v = std::array::from_fn(|_| ScreenVertex {
            x: any(),
            y: any(),
            z: any(),
            rhw: any(),
        });
        let (point_width, line_width) = (any(), any());
        let kind = [
            PrimitiveKind::Triangle,
            PrimitiveKind::Rectangle,
            PrimitiveKind::Line,
            PrimitiveKind::Point,
        ][(r >> 8) as usize & 3];
        let p = SetupPrimitive {
            kind,
            v,
            point_width,
            line_width,
            polygon_stipple: true,
            reversed: r & 128 != 0,
            ..SetupPrimitive::default()
        };
        draw(&mut Wiz::new(), &s, &p, &mut bench);
        bench.threads.clear();
    }
}

#[test]
fn points_are_squares_of_their_width() {
    for (width, count) in [(0.125, 1), (1.0, 1), (2.0, 4), (5.0, 25)] {
        let p = SetupPrimitive {
            kind: PrimitiveKind::Point,
            v: vertices([(20.5, 30.5), (0.0, 0.0), (0.0, 0.0)]),
            point_width: width,
            ..SetupPrimitive::default()
        };
        let mut bench = Bench::new();
        draw(&mut Wiz::new(), &state(), &p, &mut bench);
        assert_eq!(bench.pixels().len(), count);
        assert!(bench.pixels().contains_key(&(20, 30)) || width == 2.0);
    }
}

#[test]
fn a_depth_clear_starts_no_thread() {
    let mut s = state();
    s.wm.thread_dispatch_enable = false;
    s.depth_buffer = Some(depth_buffer());
    s.cc.depth.test = true;
    s.cc.depth.write = true;
    let mut bench = Bench::new();
    draw(&mut Wiz::new(), &s, &rect(0.0, 0.0, 64.0, 64.0), &mut bench);
    assert!(bench.threads.is_empty());
    assert_eq!(bench.depth_count, 64 * 64);
    for at in 0..64 * 64 {
        assert_eq!(
            bench.mem.read_u32(GpuAddr::from(DEPTH + at * 4)).unwrap(),
            0x80_0000
        );
    }
}

#[test]
fn hidden_pixels_start_no_thread() {
    let mut s = state();
    s.depth_buffer = Some(depth_buffer());
    s.cc.depth.test = true;
    s.cc.depth.write = true;
    s.cc.depth.function = crate::intel::cc::Compare::Less;
    let mut bench = Bench::new();
    let mut wiz = Wiz::new();
    // The buffer holds zeros: nothing is nearer.
    draw(&mut wiz, &s, &rect(0.0, 0.0, 64.0, 64.0), &mut bench);
    assert!(bench.threads.is_empty());
    assert_eq!((bench.depth_count, bench.invocations), (0, 0));
    s.cc.depth.function = crate::intel::cc::Compare::GreaterEqual;
    draw(&mut wiz, &s, &rect(0.0, 0.0, 8.0, 8.0), &mut bench);
    assert_eq!((bench.depth_count, bench.invocations), (64, 64));
    // The payload of a promoted case has no depth at all.
    assert!(bench.threads.iter().all(|t| t.payload.len() == 2));
    assert!(bench.threads.iter().all(|t| t.payload[1][6] == 0));
}

#[test]
fn a_killing_kernel_gets_depth_to_send_on() {
    let mut s = state();
    s.wm.pixel_shader_kills_pixel = true;
    s.depth_buffer = Some(depth_buffer());
    s.cc.depth.test = true;
    s.cc.depth.write = true;
    let mut bench = Bench::new();
    draw(&mut Wiz::new(), &s, &rect(0.0, 0.0, 8.0, 8.0), &mut bench);
    for t in &bench.threads {
        assert_eq!(t.payload.len(), 4);
        assert_eq!(t.payload[1][6], 1 << 29);
        assert_eq!(t.payload[2], [0.5f32.to_bits(); 8]);
    }
    // Nothing written, nothing counted: the render target write does both.
    assert_eq!(bench.mem.read_u32(GpuAddr::from(DEPTH)).unwrap(), 0);
    assert_eq!(bench.depth_count, 0);
}

#[test]
fn the_start_vertex_is_in_pixel_coordinates() {
    let mut s = state();
    s.drawing_rectangle.origin_x = 4;
    let p = SetupPrimitive {
        v: vertices([(10.25, 3.75), (30.0, 3.0), (10.0, 30.0)]),
        ..SetupPrimitive::default()
    };
    let mut bench = Bench::new();
    draw(&mut Wiz::new(), &s, &p, &mut bench);
    let r1 = bench.threads[0].payload[1];
    assert_eq!([r1[0], r1[1]].map(f32::from_bits), [13.75, 3.25]);
}

#[test]
fn living_threads_hold_their_pixels() {
    let mut bench = Bench::new();
    bench.outcome = |n| {
        if n == 0 {
            Dispatch::InFlight(3)
        } else {
            Dispatch::Done
        }
    };
    let s = state();
    let mut wiz = Wiz::new();
    let p = rect(0.0, 0.0, 16.0, 16.0);
    assert!(wiz.begin(&s, &p, &mut bench).unwrap());
    assert_eq!(wiz.run(&s, &mut bench).unwrap(), Step::Idle);
    assert!(!wiz.idle() && !wiz.busy());
    // The same pixels again must wait for the thread, and no pixel is lost or drawn twice.
    assert!(wiz.begin(&s, &p, &mut bench).unwrap());
    assert_eq!(wiz.run(&s, &mut bench).unwrap(), Step::Blocked);
    assert_eq!(wiz.run(&s, &mut bench).unwrap(), Step::Blocked);
    assert!(!wiz.retire(9));
    assert!(wiz.retire(3));
    assert_eq!(wiz.run(&s, &mut bench).unwrap(), Step::Idle);
    assert!(wiz.idle());
    assert!(bench.pixels().values().all(|&n| n == 2));
    assert_eq!(bench.pixels().len(), 256);
}

#[test]
fn without_a_slot_the_same_thread_is_asked_for_again() {
    use std::sync::atomic::{AtomicUsize, Ordering};
    static CALLS: AtomicUsize = AtomicUsize::new(0);
    let mut bench = Bench::new();
    bench.outcome = |_| {
        if CALLS.fetch_add(1, Ordering::Relaxed).is_multiple_of(3) {
            Dispatch::Full
        } else {
            Dispatch::Done
        }
    };
    let s = state();
    let mut wiz = Wiz::new();
    assert!(
        wiz.begin(&s, &rect(1.0, 1.0, 22.0, 22.0), &mut bench)
            .unwrap()
    );
    let mut blocked = 0;
    while wiz.run(&s, &mut bench).unwrap() == Step::Blocked {
        blocked += 1;
    }
    assert!(blocked > 10);
    assert_eq!(bench.pixels().len(), 441);
    assert!(bench.pixels().values().all(|&n| n == 1));
}

// covers: V-0014, V-0019
#[test]
fn polygon_stipple_follows_the_pattern() {
    let mut s = state();
    s.wm.polygon_stipple_enable = true;
    s.poly_stipple.pattern = [0; 32];
    s.poly_stipple.pattern[3] = 0x8000_0001;
    s.poly_stipple.y_offset = 1;
    let p = SetupPrimitive {
        v: vertices([(0.0, 0.0), (200.0, 0.0), (0.0, 200.0)]),
        polygon_stipple: true,
        ..SetupPrimitive::default()
    };
    let mut bench = Bench::new();
    draw(&mut Wiz::new(), &s, &p, &mut bench);
    let expected: Vec<_> = [2u32, 34]
        .into_iter()
        .flat_map(|y| [0u32, 31, 32, 63].map(|x| (x, y)))
        .collect();
    let mut found: Vec<_> = bench.pixels().keys().copied().collect();
    found.sort_by_key(|&(x, y)| (y, x));
    assert_eq!(found, expected);
}

#[test]
fn line_stipple_goes_on_along_a_strip() {
    let mut s = state();
    s.wm.line_stipple_enable = true;
    s.line_stipple = LineStipple {
        pattern: 0x00ff,
        repeat_count: 1,
        ..LineStipple::default()
    };
    let line = |x0: f32, x1: f32, restart: bool| SetupPrimitive {
        kind: PrimitiveKind::Line,
        v: vertices([(x0, 5.5), (x1, 5.5), (0.0, 0.0)]),
        stipple_restart: restart,
        ..SetupPrimitive::default()
    };
    let mut bench = Bench::new();
    let mut wiz = Wiz::new();
    draw(&mut wiz, &s, &line(0.5, 12.5, true), &mut bench);
    draw(&mut wiz, &s, &line(12.5, 40.5, false), &mut bench);
    let found: Vec<u32> = bench.pixels().keys().map(|&(x, _)| x).collect();
    let expected: Vec<u32> = (0..40).filter(|x| x % 16 < 8).collect();
    assert_eq!(found, expected);
}

/// OpenGL 2.1, 3.4.2.1: the counter goes on with every fragment. Both corners of this strip lie beyond the middle of a
/// pixel that is drawn, as llvmpipe and softpipe draw them.
#[test]
fn line_stipple_counts_fragments() {
    let mut s = state();
    s.wm.line_stipple_enable = true;
    s.line_stipple = LineStipple {
        pattern: 0x1c47,
        repeat_count: 2,
        ..LineStipple::default()
    };
    let strip = [(6.4, 32.0), (41.6, 32.0), (41.6, 57.6), (6.4, 57.6)];
    let mut bench = Bench::new();
    let mut wiz = Wiz::new();
    for (n, pair) in strip.windows(2).enumerate() {
        let line = SetupPrimitive {
            kind: PrimitiveKind::Line,
            v: vertices([pair[0], pair[1], (0.0, 0.0)]),
            stipple_restart: n == 0,
            ..SetupPrimitive::default()
        };
        draw(&mut wiz, &s, &line, &mut bench);
    }
    // 36 fragments in the first line, 25 in the second; the third begins at column 41.
    let lit = |count: u32| 0x1c47 >> (count / 2 % 16) & 1 == 1;
    let found: Vec<_> = bench.pixels().keys().copied().collect();
    let row = |y: u32| -> Vec<u32> { (0..64).filter(|&x| found.contains(&(x, y))).collect() };
    let expected: Vec<u32> = (6..42).filter(|x| lit(x - 6)).collect();
    assert_eq!(row(31), expected);
    let column: Vec<u32> = (32..57).filter(|&y| found.contains(&(41, y))).collect();
    let expected: Vec<u32> = (32..57).filter(|y| lit(36 + y - 32)).collect();
    assert_eq!(column, expected);
    let expected: Vec<u32> = (7..42).filter(|x| lit(61 + 41 - x)).collect();
    assert_eq!(row(57), expected);
}

#[test]
fn smooth_lines_carry_alpha() {
    let mut s = state();
    s.raster.antialiasing_enable = true;
    s.wm.line_antialiasing_region_width = 1.0;
    s.wm.line_end_cap_antialiasing_region_width = 1.0;
    let p = SetupPrimitive {
        kind: PrimitiveKind::Line,
        v: vertices([(2.5, 5.5), (40.5, 5.5), (0.0, 0.0)]),
        line_width: 2.0,
        ..SetupPrimitive::default()
    };
    let mut bench = Bench::new();
    draw(&mut Wiz::new(), &s, &p, &mut bench);
    for t in &bench.threads {
        assert_eq!(t.payload.len(), 3);
        assert_eq!(t.payload[1][6], 1 << 26);
    }
    // Rows 4 and 6 lie one pixel off the centre: half covered. Row 5 is full.
    let alpha = |x: u32, y: u32| {
        bench.threads.iter().find_map(|t| {
            let at = t.payload[1][2..6].iter().position(|&p| p == y << 16 | x)?;
            Some((t.payload[2][6 + at / 2] >> (at % 2 * 16)) & 0xffff)
        })
    };
    assert_eq!(alpha(20, 4), Some(0xff88));
    assert_eq!(alpha(20, 6), Some(0x0088));
}

/// Arms the windower's snapshot: WIZ_CTL and WIZ_STRG_VAL.
fn arm(bench: &mut Bench, control: u32, trigger: u32) {
    bench.debug.set_global_enable(true);
    bench.debug.write(RegId::WizStrgVal, 0, trigger);
    bench.debug.write(RegId::WizCtl, 0, control);
}

fn complete(bench: &Bench) -> bool {
    bench.debug.read(RegId::WizCtl, 0) >> 31 != 0
}

/// WIZ_RDATA under a mux setting.
fn captured(bench: &mut Bench, mux: u32) -> u32 {
    let control = bench.debug.read(RegId::WizCtl, 0) & !0xff00;
    bench.debug.write(RegId::WizCtl, 0, control | mux << 8);
    bench.debug.read(RegId::WizRdata, 0)
}

#[test]
fn the_snapshot_names_the_pixels_thread() {
    let s = state();
    let mut bench = Bench::new();
    // Odd coordinates: the lowest bits do not count.
    arm(&mut bench, 0b011, 0x0015_000d);
    let mut wiz = Wiz::new();
    draw(&mut wiz, &s, &rect(0.0, 0.0, 64.0, 64.0), &mut bench);
    assert!(complete(&bench));
    assert_eq!(captured(&mut bench, 0), 0x42c0);
    assert_eq!(captured(&mut bench, 1), 1);
    assert_eq!(captured(&mut bench, 2), 7);
    let flagged: Vec<_> = bench.threads.iter().enumerate().collect();
    let flagged: Vec<_> = flagged.iter().filter(|(_, t)| t.snapshot).collect();
    assert_eq!(flagged.len(), 1);
    let (number, t) = flagged[0];
    assert!(t.payload[1][2..6].contains(&0x0014_000c));
    assert_eq!(t.payload[0][6] as usize, *number);
    assert_eq!(t.payload[0][7], 0x8000_0007);
}

#[test]
fn the_snapshot_can_wait_for_an_occurrence() {
    let s = state();
    let mut bench = Bench::new();
    arm(&mut bench, 0x0003_0011, 0x0008_0008);
    let mut wiz = Wiz::new();
    for n in 1..=4 {
        draw(&mut wiz, &s, &rect(0.0, 0.0, 16.0, 16.0), &mut bench);
        assert_eq!(complete(&bench), n >= 3);
    }
    assert_eq!(captured(&mut bench, 1), 3);
    // Thread Snapshot Enable is off: no thread is flagged.
    assert!(bench.threads.iter().all(|t| !t.snapshot));
}

#[test]
fn upstream_snapshots_select_the_primitive() {
    let s = state();
    let mut bench = Bench::new();
    arm(&mut bench, 0b1011, 0x0008_0008);
    let mut wiz = Wiz::new();
    draw(&mut wiz, &s, &rect(0.0, 0.0, 16.0, 16.0), &mut bench);
    assert!(!complete(&bench));
    let mut p = rect(0.0, 0.0, 16.0, 16.0);
    p.snapshot = true;
    p.sequence = 8;
    draw(&mut wiz, &s, &p, &mut bench);
    assert!(complete(&bench));
    assert_eq!(captured(&mut bench, 2), 8);
}

#[test]
fn waiting_for_a_slot_counts_a_subspan_once() {
    use std::sync::atomic::{AtomicUsize, Ordering};
    static CALLS: AtomicUsize = AtomicUsize::new(0);
    let s = state();
    let mut bench = Bench::new();
    bench.outcome = |_| match CALLS.fetch_add(1, Ordering::Relaxed) {
        0..5 => Dispatch::Full,
        _ => Dispatch::Done,
    };
    arm(&mut bench, 0b011, 0);
    let mut wiz = Wiz::new();
    assert!(
        wiz.begin(&s, &rect(0.0, 0.0, 4.0, 4.0), &mut bench)
            .unwrap()
    );
    while wiz.run(&s, &mut bench).unwrap() == Step::Blocked {}
    assert_eq!(bench.threads.len(), 1);
    assert_eq!(bench.threads[0].payload[0][6], 0);
    assert!(bench.threads[0].snapshot);
    assert_eq!(captured(&mut bench, 1), 1);
}

#[test]
fn single_subspan_dispatch_is_for_late_cases() {
    let mut s = state();
    let mut bench = Bench::new();
    arm(&mut bench, 1 << 6, 0);
    draw(&mut Wiz::new(), &s, &rect(0.0, 0.0, 8.0, 8.0), &mut bench);
    assert_eq!(bench.threads.len(), 4);
    bench.threads.clear();
    s.wm.pixel_shader_computed_depth = true;
    s.depth_buffer = Some(depth_buffer());
    s.cc.depth.test = true;
    draw(&mut Wiz::new(), &s, &rect(0.0, 0.0, 8.0, 8.0), &mut bench);
    assert_eq!(bench.threads.len(), 16);
}

#[test]
fn depth_offset_moves_the_plane() {
    let mut s = state();
    s.wm.thread_dispatch_enable = false;
    s.wm.global_depth_offset_enable = true;
    s.wm.global_depth_offset_constant = 4.0;
    s.depth_buffer = Some(depth_buffer());
    s.cc.depth.write = true;
    let p = SetupPrimitive {
        v: vertices([(0.0, 0.0), (200.0, 0.0), (0.0, 200.0)]),
        ..SetupPrimitive::default()
    };
    let mut bench = Bench::new();
    bench.coefficients[3] = 0.25f32.to_bits();
    draw(&mut Wiz::new(), &s, &p, &mut bench);
    assert_eq!(bench.mem.read_u32(GpuAddr::from(DEPTH)).unwrap(), 0x40_0004);
    // The slope term: the steeper of the two directions times the scale.
    s.wm.global_depth_offset_constant = 0.0;
    s.wm.global_depth_offset_scale = 2.0;
    bench.coefficients = [0.001, -0.003, 0.0, 0.5, 0.0, 0.0, 0.0, 0.0].map(f32::to_bits);
    draw(&mut Wiz::new(), &s, &p, &mut bench);
    let found = f64::from(bench.mem.read_u32(GpuAddr::from(DEPTH)).unwrap()) / 16_777_215.0;
    let start = 0.5 + 0.5 * 0.001 - 0.5 * 0.003;
    assert!((found - (start + 0.006)).abs() < 1e-6, "{found}");
}
