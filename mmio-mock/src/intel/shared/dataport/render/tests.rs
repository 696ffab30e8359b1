//! Render target writes against the layout tables of PRM 5.10.6.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "tests")]

use super::*;
use crate::intel::shared::StateBases;
use crate::intel::shared::dataport::DataPort;
use eu::ThreadId;
use eu::port::FloatMode;
use regs::gen40::values::{
    color_buffer_blend_factor as factor, color_buffer_blend_function as function,
};
use regs::gen40::{ColorCalcState, State3dDepthBuffer, SurfaceState, values};

const STATE: u32 = 0x1_0000;
const TARGET: u32 = 0x10_0000;
const DEPTH: u32 = 0x18_0000;

/// Surface format codes of PRM 4.7.2.1.1.
mod f {
    pub const BGRA8: u32 = 0x0c0;
    pub const RGBA32F: u32 = 0x000;
    pub const RGBA32UI: u32 = 0x002;
}

struct Bench {
    mem: Memory,
    ctx: ThreadContext,
    port: DataPort,
    pixel: PixelBackend,
    events: Events,
}

impl Bench {
    fn new() -> Self {
        let mut mem = Memory::new(4 << 20, 1 << 12);
        mem.alloc_mapped(GpuAddr::from(STATE), 0x1000).unwrap();
        mem.alloc_mapped(GpuAddr::from(TARGET), 0x10_0000).unwrap();
        let bases = StateBases {
            general_state_base: STATE + 0x800,
            surface_state_base: STATE,
            ..StateBases::default()
        };
        let mut bench = Bench {
            mem,
            ctx: ThreadContext {
                bases,
                binding_table_pointer: 0x40,
                ..ThreadContext::default()
            },
            port: DataPort::new(&crate::intel::r#gen::gen40::functions::Reader),
            pixel: PixelBackend::default(),
            events: Events::default(),
        };
        bench.colour_calc(ColorCalcState::new());
        bench
    }

    fn target(&mut self, format: u32, tiled: bool) {
        let state = SurfaceState::new()
            .with_surface_type(values::surftype::SURFTYPE_2D)
            .with_surface_format(format)
            .with_surface_base_address(TARGET)
            .with_width(39)
            .with_height(19)
            .with_surface_pitch(1023)
            .with_tiled_surface(tiled)
            .with_color_blend_enable(true);
        self.mem
            .write_u32(GpuAddr::from(STATE + 0x40), 0x200)
            .unwrap();
        self.mem
            .write_dwords(GpuAddr::from(STATE + 0x200), state.dwords())
            .unwrap();
        self.port.invalidate();
    }

    /// COLOR_CALC_STATE at 0x100, a CC_VIEWPORT of 0 to 1 at 0x140.
    fn colour_calc(&mut self, state: ColorCalcState) {
        let state = state
            .with_cc_viewport_state_pointer(0x140)
            .with_statistics_enable(true);
        self.mem
            .write_dwords(GpuAddr::from(STATE + 0x900), state.dwords())
            .unwrap();
        let range = [0f32.to_bits(), 1f32.to_bits()];
        self.mem
            .write_dwords(GpuAddr::from(STATE + 0x940), &range)
            .unwrap();
        self.port.invalidate();
    }

    /// A linear D24_UNORM_S8_UINT buffer, every pixel 0x40_0000 and stencil 5.
    fn depth(&mut self) {
        let command = State3dDepthBuffer::new()
            .with_surface_type(values::surftype::SURFTYPE_2D)
            .with_surface_format(2)
            .with_surface_base_address(DEPTH)
            .with_surface_pitch(1023)
            .with_width(39)
            .with_height(19);
        self.pixel.depth_buffer =
            Some(crate::intel::r#gen::gen40::surface::resolve_depth(command.dwords()).unwrap());
        for n in 0..20 * 256 {
            self.mem
                .write_u32(GpuAddr::from(DEPTH + n * 4), 0x0540_0000)
                .unwrap();
        }
    }

    fn send(&mut self, control: u16, payload: &[Grf]) -> Result<(), UnitFault> {
        let msg = Message {
            function_control: 4 << 12 | control,
            ..message(payload)
        };
        self.port.write(
            crate::intel::r#gen::gen40::message::write(msg.function_control),
            &msg,
            &mut self.mem,
            &self.ctx,
            &self.pixel,
            &mut self.events,
        )
    }

    fn pixel(&self, x: u32, y: u32) -> u32 {
        self.mem
            .read_u32(GpuAddr::from(TARGET + y * 1024 + x * 4))
            .unwrap()
    }

    fn depth_at(&self, x: u32, y: u32) -> u32 {
        self.mem
            .read_u32(GpuAddr::from(DEPTH + y * 1024 + x * 4))
            .unwrap()
    }
}

/// A message to the write port with function control 0.
fn message(payload: &[Grf]) -> Message<'_> {
    Message {
        thread: ThreadId::default(),
        sfid: 5,
        function_control: 0,
        desc: 0,
        response_length: 0,
        eot: true,
        exec_mask: 0,
        exec_size: 16,
        payload,
        ip: 0,
        float_mode: FloatMode::Ieee,
    }
}

/// Upper-left corners of the four subspans of all tests.
const CORNERS: [(u32, u32); 4] = [(4, 2), (6, 2), (10, 8), (38, 18)];
const LAST: u16 = 1 << 11;

fn headers(enables: u32, present: u32) -> [Grf; 2] {
    let m0 = [0xffff_0000 | enables, 0x100, 0, 0, 0, 0, 0, 0];
    let mut m1 = [0; 8];
    for (word, (x, y)) in m1[2..6].iter_mut().zip(CORNERS) {
        *word = y << 16 | x;
    }
    m1[6] = present;
    [m0, m1]
}

/// Screen place of a slot (PRM 5.10.6.1).
fn place(slot: usize) -> (u32, u32) {
    let (x, y) = CORNERS[slot / 4];
    (x + slot as u32 % 2, y + slot as u32 % 4 / 2)
}

/// Channel values of a slot: red 0, green 1, blue 2, alpha 3, each told apart.
fn value(channel: usize, slot: usize) -> f32 {
    (channel * 16 + slot) as f32 / 255.0
}

fn register(channel: usize, first: usize) -> Grf {
    std::array::from_fn(|n| value(channel, first + n).to_bits())
}

fn simd16() -> Vec<Grf> {
    [0, 8]
        .into_iter()
        .flat_map(|first| (0..4).map(move |c| register(c, first)))
        .collect()
}

/// B8G8R8A8 word of a slot.
fn bgra(slot: usize) -> u32 {
    let b = |channel: usize| (channel * 16 + slot) as u32;
    b(3) << 24 | b(0) << 16 | b(1) << 8 | b(2)
}

fn payload(enables: u32, present: u32, body: Vec<Grf>) -> Vec<Grf> {
    let mut all = headers(enables, present).to_vec();
    all.extend(body);
    all
}

// covers: 5.7.1-01, 5.10.6-01, 5.10.6.1-01, 5.10.6.4a-01
#[test]
fn simd16_slots_land_on_their_pixels() {
    let mut bench = Bench::new();
    bench.target(f::BGRA8, false);
    bench.send(LAST, &payload(0xffff, 0, simd16())).unwrap();
    for slot in 0..16 {
        let (x, y) = place(slot);
        assert_eq!(bench.pixel(x, y), bgra(slot), "slot {slot}");
    }
    assert_eq!(bench.events.scoreboard_clear, 0xffff);
    assert_eq!(bench.port.pixels, 16);
    assert_eq!(bench.pixel(8, 2), 0, "neighbours stay");
}

// covers: 5.10.6-11, 5.10.6.3-05
#[test]
fn pixel_enables_and_the_surface_bound_the_write() {
    let mut bench = Bench::new();
    bench.target(f::BGRA8, false);
    let mut all = payload(0x8421, 0, simd16());
    // The last subspan one pixel to the right: half of it lies outside.
    all[1][5] = 0x12 << 16 | 0x27;
    bench.send(0, &all).unwrap();
    assert_eq!(bench.pixel(4, 2), bgra(0));
    assert_eq!(bench.pixel(5, 2), 0);
    assert_eq!(bench.pixel(7, 2), bgra(5));
    assert_eq!(bench.pixel(10, 9), bgra(10));
    assert_eq!(bench.pixel(40, 19), 0, "outside");
    assert_eq!(bench.events.scoreboard_clear, 0, "not the last target");
}

// covers: 5.7.2-02, 5.10.6.7-01, 5.7.1-01
#[test]
fn simd8_and_dual_source_cover_their_half() {
    let mut bench = Bench::new();
    bench.target(f::BGRA8, false);
    let half: Vec<Grf> = (0..4).map(|c| register(c, 0)).collect();
    bench
        .send(4 << 8 | LAST, &payload(0xffff, 0, half))
        .unwrap();
    assert_eq!((bench.pixel(7, 3), bench.pixel(10, 8)), (bgra(7), 0));
    assert_eq!(bench.events.scoreboard_clear, 0xff);
    // Upper half with source 1 as the factor: 0.2 of source 0.
    bench.colour_calc(
        ColorCalcState::new()
            .with_color_buffer_blend_enable(true)
            .with_source_blend_factor(factor::BLENDFACTOR_SRC1_COLOR)
            .with_destination_blend_factor(factor::BLENDFACTOR_ZERO)
            .with_color_blend_function(function::BLENDFUNCTION_ADD),
    );
    let mut dual: Vec<Grf> = (0..4).map(|c| register(c, 8)).collect();
    dual.extend([[0.5f32.to_bits(); 8]; 4]);
    bench
        .send(3 << 8 | LAST, &payload(0xffff, 0, dual))
        .unwrap();
    let red = bench.pixel(10, 8) >> 8 & 0xff;
    // Green of slot 8 is 24.
    assert_eq!((red, bench.pixel(4, 2)), (12, bgra(0)));
}

// covers: 5.7.3-01, 5.10.6.6-01
#[test]
fn replicated_data_fill_all_pixels() {
    let mut bench = Bench::new();
    bench.target(f::BGRA8, true);
    let colour = [1.0f32, 0.0, 1.0, 0.0, 9.0, 9.0, 9.0, 9.0].map(f32::to_bits);
    bench
        .send(1 << 8 | LAST, &payload(0xffff, 0, vec![colour]))
        .unwrap();
    let target = crate::intel::r#gen::gen40::surface::load(
        &bench.mem,
        GpuAddr::from(STATE + 0x200),
        "test",
        crate::intel::surface::state::Use::RenderTarget,
    )
    .unwrap();
    for slot in 0..16 {
        let (x, y) = place(slot);
        assert_eq!(
            bench.mem.read_u32(target.address(x, y, 0, 0)).unwrap(),
            0x00ff_00ff
        );
    }
}

// covers: 5.10.6.4a-02
#[test]
fn wide_and_integer_targets_take_the_bits() {
    let mut bench = Bench::new();
    for format in [f::RGBA32F, f::RGBA32UI] {
        bench.target(format, false);
        bench.send(LAST, &payload(0xffff, 0, simd16())).unwrap();
        let (x, y) = place(9);
        let mut got = [0; 4];
        bench
            .mem
            .read_dwords(GpuAddr::from(TARGET + y * 1024 + x * 16), &mut got)
            .unwrap();
        assert_eq!(got, std::array::from_fn(|c| value(c, 9).to_bits()));
    }
}

#[test]
fn antialias_alpha_scales_alpha() {
    let mut bench = Bench::new();
    bench.target(f::BGRA8, false);
    let mut coverage = [0; 8];
    // Pixel 1 a fifth, pixel 0 full; subspan 2, pixel 0 nothing.
    coverage[6] = 0x0000_003f;
    coverage[7] = 0xffff_fff0;
    let mut body = vec![coverage];
    body.extend([[1f32.to_bits(); 8]; 8]);
    bench.send(LAST, &payload(0xffff, 1 << 26, body)).unwrap();
    let alpha = |(x, y)| bench.pixel(x, y) >> 24;
    assert_eq!(
        [
            alpha(place(0)),
            alpha(place(1)),
            alpha(place(8)),
            alpha(place(9))
        ],
        [255, 51, 0, 255]
    );
}

fn depth_state(test: bool) -> ColorCalcState {
    ColorCalcState::new()
        .with_depth_test_enable(test)
        .with_depth_test_function(values::compare_function::COMPAREFUNCTION_LESS)
        .with_depth_buffer_write_enable(true)
}

/// Source depth of slot n: n / 16 for even slots, 1 for odd ones.
fn depth_registers() -> [Grf; 2] {
    let z = |n: usize| {
        if n.is_multiple_of(2) {
            n as f32 / 64.0
        } else {
            1.0
        }
    };
    [
        std::array::from_fn(|n| z(n).to_bits()),
        std::array::from_fn(|n| z(n + 8).to_bits()),
    ]
}

fn with_depth(destination: bool) -> Vec<Grf> {
    let mut body = simd16();
    body.extend(depth_registers());
    if destination {
        body.extend([[0x40_0000; 8]; 2]);
    }
    body
}

// covers: 5.10.6.3-12, 5.10.6.3-11, 5.7-01
#[test]
fn destination_depth_asks_for_the_test() {
    let mut bench = Bench::new();
    bench.target(f::BGRA8, false);
    bench.depth();
    bench.colour_calc(depth_state(true));
    bench
        .send(LAST, &payload(0xffff, 3 << 28, with_depth(true)))
        .unwrap();
    for slot in 0..16 {
        let (x, y) = place(slot);
        let passes = slot % 2 == 0;
        assert_eq!(
            bench.pixel(x, y),
            if passes { bgra(slot) } else { 0 },
            "slot {slot}"
        );
        let z = (slot as f64 / 64.0 * 16_777_215.0).round_ties_even() as u32;
        let want = if passes { 0x0500_0000 | z } else { 0x0540_0000 };
        assert_eq!(bench.depth_at(x, y), want, "slot {slot}");
    }
    assert_eq!(bench.events.depth_count, 8);
}

// covers: 5.10.6.3-11, 5.10.6.2-01
#[test]
fn source_depth_alone_is_written_untested_by_the_last_target() {
    let mut bench = Bench::new();
    bench.target(f::BGRA8, false);
    bench.depth();
    bench.colour_calc(depth_state(true));
    bench
        .send(0, &payload(0xffff, 1 << 29, with_depth(false)))
        .unwrap();
    assert_eq!(bench.depth_at(5, 2), 0x0540_0000, "not the last target");
    assert_eq!((bench.pixel(5, 2), bench.events.depth_count), (bgra(1), 0));
    bench
        .send(LAST, &payload(0x0002, 1 << 29, with_depth(false)))
        .unwrap();
    assert_eq!(bench.depth_at(5, 2), 0x05ff_ffff, "farther, but not tested");
    assert_eq!(bench.depth_at(4, 2), 0x0540_0000, "pixel not enabled");
    assert_eq!(bench.events.depth_count, 1);
}

// covers: 5.10.6.3-13, 5.7-01
#[test]
fn destination_stencil_asks_for_the_stencil_test() {
    let mut bench = Bench::new();
    bench.target(f::BGRA8, false);
    bench.depth();
    let state = ColorCalcState::new()
        .with_stencil_test_enable(true)
        .with_stencil_buffer_write_enable(true)
        .with_stencil_test_function(values::compare_function::COMPAREFUNCTION_EQUAL)
        .with_stencil_reference_value(5)
        .with_stencil_test_mask(0xff)
        .with_stencil_write_mask(0xff)
        .with_stencil_pass_depth_pass_op(5);
    bench.colour_calc(state);
    bench
        .mem
        .write_u32(GpuAddr::from(DEPTH + 2 * 1024 + 4 * 4), 0x0640_0000)
        .unwrap();
    let mut body = vec![[0x0505_0505; 8]];
    body.extend(simd16());
    body.extend(depth_registers());
    bench
        .send(LAST, &payload(0xffff, 1 << 29 | 1 << 27, body))
        .unwrap();
    assert_eq!(
        (bench.pixel(4, 2), bench.depth_at(4, 2) >> 24),
        (0, 6),
        "fails"
    );
    assert_eq!(
        (bench.pixel(5, 2), bench.depth_at(5, 2) >> 24),
        (bgra(1), 6),
        "passes, one more"
    );
}

// covers: 5.7-01
#[test]
fn the_alpha_test_comes_before_depth() {
    let mut bench = Bench::new();
    bench.target(f::BGRA8, false);
    bench.depth();
    let state = depth_state(false)
        .with_alpha_test_enable(true)
        .with_alpha_test_function(values::compare_function::COMPAREFUNCTION_GREATER)
        .with_alpha_reference_value_as_unorm8(48 + 7);
    bench.colour_calc(state);
    bench
        .send(LAST, &payload(0xffff, 1 << 29, with_depth(false)))
        .unwrap();
    // Alpha of slot n is 48 + n.
    assert_eq!((bench.pixel(6, 2), bench.depth_at(6, 2)), (0, 0x0540_0000));
    assert_eq!(
        (bench.pixel(10, 8), bench.depth_at(11, 8)),
        (bgra(8), 0x05ff_ffff)
    );
    assert_eq!(bench.events.depth_count, 8);
}

#[test]
fn illegal_messages_are_refused_whole() {
    let mut bench = Bench::new();
    bench.target(f::BGRA8, false);
    bench.depth();
    let mut refused = |control: u16, present: u32, body: Vec<Grf>| {
        let result = bench.send(control, &payload(0xffff, present, body));
        let untouched = bench.pixel(4, 2) == 0;
        matches!(result, Err(UnitFault::Message { .. })) && untouched
    };
    assert!(refused(5 << 8, 0, simd16()), "reserved form");
    assert!(refused(0, 1 << 28, simd16()), "destination depth alone");
    assert!(
        refused(1 << 8, 1 << 29, vec![[0; 8]; 3]),
        "replicated with depth"
    );
    assert!(refused(0, 0, vec![[0; 8]; 7]), "short colour");
    assert!(refused(0, 1 << 29, simd16()), "missing source depth");
    assert!(
        refused(0, 3 << 28, with_depth(false)),
        "missing destination depth"
    );
    assert!(refused(255, 0, simd16()), "stateless");
}

mod company;
mod headers;
mod sequences;
