//! What the headers of a render target write say, and the surfaces that it goes to.
//!
//! PRM: volume 4, 5.7, 5.10.6.

use super::*;

/// A state at 0x200 + 0x20 * index of the surface states, bound to `index`.
fn bind(bench: &mut Bench, index: u32, state: SurfaceState) {
    let at = 0x200 + index * 0x20;
    let entry = GpuAddr::from(STATE + 0x40 + index * 4);
    bench.mem.write_u32(entry, at).unwrap();
    let words = state.dwords();
    bench
        .mem
        .write_dwords(GpuAddr::from(STATE + at), words)
        .unwrap();
    bench.port.invalidate();
}

fn surface(kind: u32, format: u32) -> SurfaceState {
    SurfaceState::new()
        .with_surface_type(kind)
        .with_surface_format(format)
        .with_surface_base_address(TARGET)
        .with_width(39)
        .with_height(19)
        .with_surface_pitch(1023)
}

// covers: 5.7.4-01, 5.10.6.2-01, 5.7.1-02
#[test]
fn targets_are_told_apart_and_the_last_one_writes_depth() {
    let mut bench = Bench::new();
    for index in 0..3 {
        let base = TARGET + index * 0x1_0000;
        let state = surface(values::surftype::SURFTYPE_2D, f::BGRA8);
        bind(&mut bench, index, state.with_surface_base_address(base));
    }
    bench.depth();
    bench.colour_calc(depth_state(true));
    for index in 0..3u16 {
        let last = if index == 2 { LAST } else { 0 };
        let mut body = simd16();
        // A colour of its own for each target: red of slot 0 is 0, 10, 20.
        body[0][0] = (f32::from(index) * 10.0 / 255.0).to_bits();
        body.extend(depth_registers());
        let sent = bench.send(last | index, &payload(0xffff, 1 << 29, body));
        sent.unwrap();
        let written = bench.depth_at(5, 2) != 0x0540_0000;
        assert_eq!(written, index == 2, "target {index}");
        let cleared = if index == 2 { 0xffff } else { 0 };
        assert_eq!(bench.events.scoreboard_clear, cleared);
    }
    let at = |index: u32| GpuAddr::from(TARGET + index * 0x1_0000 + 2 * 1024 + 4 * 4);
    for index in 0..3 {
        let want = bgra(0) | (index * 10) << 16;
        assert_eq!(bench.mem.read_u32(at(index)).unwrap(), want);
    }
}

// covers: 5.7.2-03, 5.10.6.3-04, 5.7.1-02
#[test]
fn the_scoreboard_is_cleared_by_dispatched_pixels() {
    // Form, registers, the half of the dispatch mask that it clears.
    for (form, registers, half) in [
        (0u16, 8, 0xffff),
        (1, 1, 0xffff),
        (2, 8, 0x00ff),
        (3, 8, 0xff00),
        (4, 4, 0x00ff),
    ] {
        for last in [0, LAST] {
            let mut bench = Bench::new();
            bench.target(f::BGRA8, true);
            let mut all = payload(0, 0, vec![[0; 8]; registers]);
            // Dispatched pixels in 31:16; none is still lit.
            all[0][0] = 0xa5c3_0000;
            bench.send(form << 8 | last, &all).unwrap();
            let want = if last == 0 { 0 } else { 0xa5c3 & half };
            assert_eq!(bench.events.scoreboard_clear, want, "{form:03b}");
            assert_eq!(bench.port.pixels, 0, "none enabled");
        }
    }
}

// covers: 5.10.6.3-05, 5.10.6-10
#[test]
fn each_enable_writes_its_pixel_whatever_the_mask() {
    for slot in 0..16 {
        let mut bench = Bench::new();
        bench.target(f::BGRA8, false);
        // The bench sends an execution mask of zero.
        bench.send(0, &payload(1 << slot, 0, simd16())).unwrap();
        for other in 0..16 {
            let (x, y) = place(other);
            let want = if other == slot { bgra(slot) } else { 0 };
            assert_eq!(bench.pixel(x, y), want, "{slot} {other}");
        }
    }
}

// covers: 5.10.6.3-15, 5.10.6.1-01, 5.10.6.3-01
#[test]
fn corners_are_where_the_second_header_says() {
    let mut bench = Bench::new();
    bench.target(f::BGRA8, false);
    let mut all = payload(0xffff, 0, simd16());
    // Subspan 0 lower right, 3 upper left, 1 and 2 between; what else is in the header is ignored.
    let corners = [(38, 18), (20, 10), (2, 12), (0, 0)];
    for (word, (x, y)) in all[1][2..6].iter_mut().zip(corners) {
        *word = y << 16 | x;
    }
    (all[1][0], all[1][1]) = (!0, !0);
    all[1][6] |= 0x43ff_ffff & !(1 << 26);
    all[1][7] = 0x8000_ffff;
    all[0][2..].copy_from_slice(&[!0, !0, !0, 0xffff_ff00, 0, 0]);
    all[0][1] |= 0x3f;
    bench.send(LAST, &all).unwrap();
    for slot in 0..16usize {
        let (x, y) = corners[slot / 4];
        let pixel = bench.pixel(x + slot as u32 % 2, y + slot as u32 % 4 / 2);
        assert_eq!(pixel, bgra(slot), "slot {slot}");
    }
    assert_eq!(bench.port.pixels, 16);
}

// covers: 5.10.6.3-03
#[test]
fn the_pointer_chooses_the_colour_calculator_state() {
    let mut bench = Bench::new();
    bench.target(f::BGRA8, false);
    // At 0x200 behind the general state base: an alpha test that nothing passes.
    let state = ColorCalcState::new()
        .with_alpha_test_enable(true)
        .with_alpha_test_function(values::compare_function::COMPAREFUNCTION_NEVER);
    let at = GpuAddr::from(STATE + 0x800 + 0x200);
    bench.mem.write_dwords(at, state.dwords()).unwrap();
    for (pointer, pixels) in [(0x200, 0), (0x100, 16), (0x23f, 0)] {
        bench.port.pixels = 0;
        let mut all = payload(0xffff, 0, simd16());
        all[0][1] = pointer;
        bench.send(LAST, &all).unwrap();
        assert_eq!(bench.port.pixels, pixels, "{pointer:#x}");
    }
}

// covers: 5.10.6.3-06
#[test]
fn the_viewport_index_chooses_the_depth_range() {
    for viewport in [0u32, 1, 3, 15] {
        let mut bench = Bench::new();
        bench.target(f::BGRA8, false);
        bench.depth();
        bench.colour_calc(depth_state(false));
        // Each viewport's maximum is its own: 1/2, 1/4 ...
        for n in 0..16 {
            let range = [0, (0.5f32 / (n + 1) as f32).to_bits()];
            let at = GpuAddr::from(STATE + 0x940 + n * 8);
            bench.mem.write_dwords(at, &range).unwrap();
        }
        bench.port.invalidate();
        let mut all = payload(0xffff, 1 << 29, with_depth(false));
        all[1][7] = viewport << 27;
        bench.send(LAST, &all).unwrap();
        // Depth of odd slots is 1, beyond every range.
        let want = f64::from(0.5f32 / (viewport + 1) as f32) * 16_777_215.0;
        let got = bench.depth_at(5, 2) & 0xff_ffff;
        assert_eq!(got, want.round_ties_even() as u32, "viewport {viewport}");
    }
}

// covers: 5.10.6.3-10
#[test]
fn facing_chooses_the_stencil_state() {
    for (back, want) in [(0u32, 6), (1 << 31, 4)] {
        let mut bench = Bench::new();
        bench.target(f::BGRA8, false);
        bench.depth();
        let always = values::compare_function::COMPAREFUNCTION_ALWAYS;
        // Front counts up (5), back counts down (6).
        let state = ColorCalcState::new()
            .with_stencil_test_enable(true)
            .with_double_sided_stencil_enable(true)
            .with_stencil_buffer_write_enable(true)
            .with_stencil_test_function(always)
            .with_stencil_write_mask(0xff)
            .with_stencil_pass_depth_pass_op(5)
            .with_backface_stencil_test_function(always)
            .with_backface_stencil_write_mask(0xff)
            .with_backface_stencil_pass_depth_pass_op(6);
        bench.colour_calc(state);
        let mut body = vec![[0x0505_0505; 8]];
        body.extend(simd16());
        body.extend(depth_registers());
        let flags = back | 1 << 29 | 1 << 27;
        bench.send(LAST, &payload(0xffff, flags, body)).unwrap();
        assert_eq!(bench.depth_at(4, 2) >> 24, want);
    }
}

/// Slices of 2D arrays and volumes lie apart; cubes have six faces in the order of the table.
// covers: 5.10.6.3-07, 5.10.6.3-08, 5.10.6.3-09, 5.10.6-03, 5.10.6-11
#[test]
fn the_array_index_chooses_the_slice() {
    let two = surface(values::surftype::SURFTYPE_2D, f::BGRA8);
    let one = surface(values::surftype::SURFTYPE_1D, f::BGRA8).with_height(0);
    let cube = surface(values::surftype::SURFTYPE_CUBE, f::BGRA8);
    // State, index of the message, slice of the surface that takes the pixel.
    let cases = [
        (one.with_depth(3), 2, 2),
        (two.with_depth(3), 0, 0),
        (two.with_depth(3), 3, 3),
        // Beyond the depth: the minimum element.
        (two.with_depth(3), 4, 0),
        (two.with_depth(1).with_minimum_array_element(2), 1, 3),
        (two.with_depth(1).with_minimum_array_element(2), 2, 2),
        (two.with_depth(1).with_minimum_array_element(2), 2047, 2),
        // For cubes the depth is 5, whatever stands in the state.
        (cube.with_width(19), 0, 0),
        (cube.with_width(19), 5, 5),
        (cube.with_width(19), 6, 0),
    ];
    for (state, index, slice) in cases {
        let mut bench = Bench::new();
        bind(&mut bench, 0, state);
        let mut all = payload(0x0001, 0, simd16());
        all[1][2] = 0;
        all[1][7] = index << 16;
        bench.send(LAST, &all).unwrap();
        let usage = crate::intel::surface::state::Use::RenderTarget;
        let at = GpuAddr::from(STATE + 0x200);
        let target =
            crate::intel::r#gen::gen40::surface::load(&bench.mem, at, "test", usage).unwrap();
        for other in 0..6 {
            let addr = target.address(0, 0, other, 0);
            let want = if other == slice { bgra(0) } else { 0 };
            let got = bench.mem.read_u32(addr).unwrap();
            assert_eq!(got, want, "index {index} slice {other} {state:?}");
        }
    }
}

// covers: 5.10.6-02, 5.10.6-03
#[test]
fn rows_and_buffers_use_x_alone() {
    let row = surface(values::surftype::SURFTYPE_1D, f::BGRA8).with_height(0);
    // 40 entries of four bytes: pitch and number less one.
    let buffer = SurfaceState::new()
        .with_surface_type(values::surftype::SURFTYPE_BUFFER)
        .with_surface_format(f::BGRA8)
        .with_surface_base_address(TARGET)
        .with_width(39)
        .with_surface_pitch(3);
    let null = surface(values::surftype::SURFTYPE_NULL, f::BGRA8);
    for (state, kept) in [(row, true), (buffer, true), (null, false)] {
        let mut bench = Bench::new();
        bind(&mut bench, 0, state);
        // Pixels 0 and 1 of each subspan are in row zero; two of them lie past the end.
        let mut all = payload(0x3333, 0, simd16());
        for (word, x) in all[1][2..6].iter_mut().zip([0, 4, 38, 40]) {
            *word = x;
        }
        bench.send(LAST, &all).unwrap();
        for (slot, x) in [(0, 0), (1, 1), (4, 4), (5, 5), (8, 38), (9, 39)] {
            let want = if kept { bgra(slot) } else { 0 };
            assert_eq!(bench.pixel(x, 0), want, "{state:?}");
        }
        assert_eq!((bench.pixel(40, 0), bench.pixel(2, 0)), (0, 0));
    }
}

// covers: 5.10.6-09
#[test]
fn fields_cannot_be_rendered_to() {
    let mut bench = Bench::new();
    let state = surface(values::surftype::SURFTYPE_2D, f::BGRA8);
    bind(&mut bench, 0, state.with_vertical_line_stride(true));
    let sent = bench.send(LAST, &payload(0xffff, 0, simd16()));
    assert!(matches!(sent, Err(UnitFault::Message { .. })));
}

// covers: 5.10.6.4a-02
#[test]
fn integers_are_clamped_as_integers() {
    // R16_SINT and R16_UINT of one register of S31 or U32; R16_FLOAT of floats.
    let cases: [(u32, u32, u16); 6] = [
        (0x10c, -70_000i32 as u32, 0x8000),
        (0x10c, 1234, 1234),
        (0x10d, 70_000, 0xffff),
        (0x10d, 0x8000, 0x8000),
        (0x10e, 1.5f32.to_bits(), 0x3e00),
        (0x10e, (-2.0f32).to_bits(), 0xc000),
    ];
    for (format, value, want) in cases {
        let mut bench = Bench::new();
        bind(
            &mut bench,
            0,
            surface(values::surftype::SURFTYPE_2D, format),
        );
        let mut body = simd16();
        body[0][0] = value;
        bench.send(LAST, &payload(1, 0, body)).unwrap();
        let at = GpuAddr::from(TARGET + 2 * 1024 + 4 * 2);
        let mut got = [0; 2];
        bench.mem.read_bytes(at, &mut got).unwrap();
        assert_eq!(u16::from_le_bytes(got), want, "{format:#x} {value:#x}");
    }
}

// covers: 5.10.6-04, 3.4.7-02
#[test]
fn formats_that_cannot_be_targets_are_refused() {
    // BC1_UNORM, R8G8B8_UNORM and R32_FLOAT_X8X24_TYPELESS are for the sampler and for vertices.
    for format in [0x186, 0x193, 0x088] {
        let mut bench = Bench::new();
        let state = surface(values::surftype::SURFTYPE_2D, format);
        bind(&mut bench, 0, state);
        let sent = bench.send(LAST, &payload(0xffff, 0, simd16()));
        let Err(UnitFault::Message { error, .. }) = sent else {
            panic!("{format:#x}: {sent:?}");
        };
        assert_eq!(error, 1 << 12, "{format:#x}");
        assert_eq!(bench.pixel(4, 2), 0);
    }
}

/// The tables' formats that can be rendered to and not blended, some of each kind, and some that can be both.
// covers: 5.10.6-04
#[test]
fn blending_needs_a_format_that_blends() {
    const BLENDING: [u32; 5] = [0x000, 0x084, 0x0c0, 0x0d8, 0x140];
    const OTHERS: [u32; 9] = [
        0x002, 0x080, 0x087, 0x0c9, 0x0cc, 0x0d6, 0x10a, 0x141, 0x143,
    ];
    let adds = ColorCalcState::new()
        .with_color_buffer_blend_enable(true)
        .with_source_blend_factor(factor::BLENDFACTOR_ONE)
        .with_destination_blend_factor(factor::BLENDFACTOR_ONE);
    let colours = || vec![[1f32.to_bits(); 8]; 8];
    for format in BLENDING.into_iter().chain(OTHERS) {
        for (calculator, target) in [(false, false), (true, false), (false, true), (true, true)] {
            let mut bench = Bench::new();
            bench.colour_calc(adds.with_color_buffer_blend_enable(calculator));
            let state = surface(values::surftype::SURFTYPE_2D, format);
            bind(&mut bench, 0, state.with_color_blend_enable(target));
            let sent = bench.send(LAST, &payload(0xffff, 0, colours()));
            // Pixel (4, 2) is slot 0.
            let bytes = regs::gen40::surface_format(format)
                .unwrap()
                .bits_per_element
                / 8;
            let mut pixel = [0; 16];
            let pixel = &mut pixel[..bytes as usize];
            let at = GpuAddr::from(TARGET + 2 * 1024 + 4 * bytes);
            bench.mem.read_bytes(at, pixel).unwrap();
            let written = pixel.iter().any(|&byte| byte != 0);
            let legal = BLENDING.contains(&format) || !(calculator && target);
            assert_eq!(written, legal, "{format:#x} {calculator} {target}");
            match sent {
                Ok(()) => assert!(legal),
                Err(UnitFault::Message { error, .. }) => {
                    assert_eq!((legal, error), (false, 1 << 12));
                    assert_eq!(bench.events.scoreboard_clear, 0);
                }
                Err(other) => panic!("{other}"),
            }
        }
    }
}

/// Two colours a pixel: not on \[DevBW\], on \[DevCL\] for subspans 0 and 1 alone, and whole on parts that no erratum names.
// covers: 5.7.2-01, 5.10.6.2-04
#[test]
fn devices_differ_in_dual_source() {
    for device in crate::intel::r#gen::DEVICES {
        let (_, tag) = regs::platform::of_device(device.pci.1).unwrap();
        for (form, registers) in [(0u16, 8), (1, 1), (2, 8), (3, 8), (4, 4)] {
            let mut bench = Bench::new();
            bench.port.dual_source = device.dual_source;
            bench.target(f::BGRA8, true);
            let body = vec![[1f32.to_bits(); 8]; registers];
            let sent = bench.send(form << 8 | LAST, &payload(0xffff, 0, body));
            let legal = match (form, tag.code) {
                (2, "DevCL") => true,
                (2 | 3, "DevBW" | "DevCL") => false,
                _ => true,
            };
            assert_eq!(sent.is_ok(), legal, "{form:03b} on {}", device.name);
            assert_eq!(bench.port.pixels != 0, legal);
        }
    }
}
