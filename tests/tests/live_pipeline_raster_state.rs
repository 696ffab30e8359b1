//! Raster, depth and colour state whose values tell each field from the next.
//!
//! PRM: volume 2 (SF_STATE, WM_STATE, COLOR_CALC_STATE, 3DSTATE_DEPTH_BUFFER). Expectations by hand.

use crestline_tests::scene::draw::Draw;
use crestline_tests::scene::surface::{Layout, block};
use crestline_tests::scene::{Scene, kernels};
use regs::gen40::values::surface_format as sf;
use regs::gen40::{ScissorRect, State3dGlobalDepthOffsetClamp};

const SIZE: u32 = 32;
const D32_FLOAT: u32 = 1;
const D24_S8: u32 = 2;
const D16: u32 = 5;

fn corners(x: [f32; 2], y: [f32; 2], z: f32, c: [f32; 4]) -> Vec<[f32; 8]> {
    [[0, 0], [1, 0], [1, 1], [0, 0], [1, 1], [0, 1]]
        .iter()
        .map(|i: &[usize; 2]| [x[i[0]], y[i[1]], z, 1.0, c[0], c[1], c[2], c[3]])
        .collect()
}

fn paint(scene: &mut Scene, draw: &mut Draw, vertices: &[[f32; 8]]) {
    scene.vertices(draw, vertices);
    scene.draw(draw);
    scene.run();
}

/// The sample point lies at the biases inside a pixel, one for each direction.
#[test]
fn destination_origin_biases() {
    let mut scene = Scene::new();
    let target = scene.target(SIZE, SIZE);
    // Quarter-pixel corners; samples at n + bias with 1.25 <= n + bias < 3.25.
    for (bias, columns, rows) in [([0.5, 0.0], 1..3, 2..4), ([0.0, 0.5], 2..4, 1..3)] {
        target.fill(&[0; 4]);
        let mut draw = Draw::flat(target.state());
        draw.sf
            .set_destination_origin_horizontal_bias(bias[0])
            .set_destination_origin_vertical_bias(bias[1]);
        paint(
            &mut scene,
            &mut draw,
            &corners([1.25, 3.25], [1.25, 3.25], 0.5, [1.0; 4]),
        );
        assert_eq!(target.lit(), block(columns, rows), "bias {bias:?}");
    }
    drop(target);
    scene.finish();
}

/// A point of two pixels whose sides go through sample points: which of them are its own.
#[test]
fn point_rasterization_rules() {
    let mut scene = Scene::new();
    let target = scene.target(16, 16);
    for (rule, columns) in [(0, 3..5), (1, 4..6)] {
        target.fill(&[0; 4]);
        let mut draw = Draw::flat(target.state());
        draw.sf_kernel = kernels::sf_point();
        draw.sf
            .set_point_width(2.0)
            .set_point_rasterization_rule(rule);
        draw.topology(1, 1);
        // Polygon stipple is not for points (OpenGL 2.1, 3.5.2).
        draw.wm.set_polygon_stipple_enable(true);
        scene.commands.push(0x7907_001f);
        scene.commands.extend([0; 32]);
        scene.vertices(&mut draw, &[[4.5, 4.5, 0.5, 1.0, 1.0, 1.0, 1.0, 1.0]]);
        scene.draw(&draw);
        scene.run();
        // The upper side belongs to it either way.
        assert_eq!(target.lit(), block(columns, 3..5), "rule {rule}");
    }
    drop(target);
    scene.finish();
}

/// Last Pixel Enable: the pixel that a line ends in is drawn.
#[test]
fn last_pixels_of_lines() {
    let mut scene = Scene::new();
    let target = scene.target(16, 16);
    for (last, columns) in [(false, 2..9), (true, 2..10)] {
        target.fill(&[0; 4]);
        let mut draw = Draw::flat(target.state());
        draw.sf_kernel = kernels::sf_flat_line();
        draw.sf.set_last_pixel_enable(last);
        draw.topology(2, 2);
        let v = |x: f32| [x, 5.5, 0.5, 1.0, 1.0, 1.0, 1.0, 1.0];
        scene.vertices(&mut draw, &[v(2.5), v(9.5)]);
        scene.draw(&draw);
        scene.run();
        assert_eq!(target.lit(), block(columns, 5..6), "last pixel {last}");
    }
    drop(target);
    scene.finish();
}

/// The scissor moves with the drawing rectangle's origin; so do interpolated attributes.
#[test]
fn an_origin_moves_scissor_and_attributes() {
    let mut scene = Scene::new();
    let target = scene.target(SIZE, SIZE);
    let mut draw = Draw::flat(target.state());
    draw.sf_kernel = kernels::captured("sf c_gouraud");
    draw.wm_kernel = kernels::captured("wm c_gouraud");
    let mut rect = ScissorRect::new();
    rect.set_scissor_rectangle_x_min(1)
        .set_scissor_rectangle_y_min(2)
        .set_scissor_rectangle_x_max(5)
        .set_scissor_rectangle_y_max(9);
    draw.sf.set_scissor_rectangle_enable(true);
    draw.sf_viewport.set_scissor_rectangle(rect);
    draw.rectangle
        .set_drawing_rectangle_origin_x(10)
        .set_drawing_rectangle_origin_y(3);
    // Red grows by 8/255 a pixel to the right, green by 4/255 downwards; both begin with a half step.
    let v = |x: f32, y: f32| [x, y, 0.5, 1.0, x * 8.0 / 255.0, y * 4.0 / 255.0, 1.0, 1.0];
    let (a, b, c, d) = (v(0.0, 0.0), v(16.0, 0.0), v(16.0, 16.0), v(0.0, 16.0));
    paint(&mut scene, &mut draw, &[a, b, c, a, c, d]);
    assert_eq!(target.lit(), block(11..16, 5..13));
    for (x, y) in [(11u32, 5u32), (15, 5), (11, 12), (15, 12)] {
        let word = target.word(x, y);
        let (red, green) = (word >> 16 & 0xff, word >> 8 & 0xff);
        assert_eq!((red, green), ((x - 10) * 8 + 4, (y - 3) * 4 + 2), "{x} {y}");
    }
    drop(target);
    scene.finish();
}

/// Global Depth Offset Constant in units of each format; unscaled when legacy; clamped on both sides.
#[test]
fn depth_offset_units_and_clamps() {
    let mut scene = Scene::new();
    let target = scene.target(SIZE, SIZE);
    // OpenGL: r is 2^-16 for sixteen bits, 2^(e - 23) for floats, e the exponent of the primitive's greatest z.
    let cases = [
        (D16, 100.0f32, false, 0.0f32, 100.0 / 65536.0),
        (D16, -100.0, false, 0.0, -100.0 / 65536.0),
        (D16, -100.0, false, -0.0005, -0.0005),
        (D16, 100.0, false, -0.0005, 100.0 / 65536.0),
        (D16, 0.125, true, 0.0, 0.125),
        (D24_S8, 4096.0, false, 0.0, 4096.0 / 16_777_216.0),
        // 0.75 lies in 2^-1..1.
        (D32_FLOAT, 1024.0, false, 0.0, 1024.0 / 16_777_216.0),
    ];
    for (format, constant, legacy, clamp, offset) in cases {
        let bytes = if format == D16 { 2 } else { 4 };
        let surface = scene.surface((0, bytes), (SIZE, SIZE), Layout::Y);
        surface.fill(&1.0f32.to_le_bytes()[4 - bytes..]);
        if format != D32_FLOAT {
            surface.fill(&[0xff; 4][..bytes]);
        }
        let mut draw = Draw::flat(target.state());
        draw.depth = surface.depth_buffer(format);
        draw.cc
            .set_depth_test_enable(true)
            .set_depth_buffer_write_enable(true);
        draw.wm
            .set_global_depth_offset_enable(true)
            .set_legacy_global_depth_bias_enable(legacy)
            .set_global_depth_offset_constant(constant);
        let mut command = State3dGlobalDepthOffsetClamp::new();
        command.set_global_depth_offset_clamp(clamp);
        scene.commands.extend(command.dwords());
        // The first vertex is the nearest, so that the greatest z is another's.
        let v = |x: f32, y: f32, z: f32| [x, y, z, 1.0, 1.0, 1.0, 1.0, 1.0];
        let near = if format == D32_FLOAT { 0.0 } else { 0.75 };
        paint(
            &mut scene,
            &mut draw,
            &[v(0.0, 0.0, near), v(64.0, 0.0, 0.75), v(0.0, 64.0, 0.75)],
        );
        // z is 0.75 where x + y is 64, and falls to `near` at the first vertex.
        let z = f64::from(near) + (0.75 - f64::from(near)) * 41.0 / 64.0 + offset;
        let word = surface.word(20, 20);
        let (drawn, unit) = match format {
            D16 => (f64::from(word) / 65535.0, 1.0 / 65535.0),
            D24_S8 => (
                f64::from(word & 0xff_ffff) / 16_777_215.0,
                1.0 / 16_777_215.0,
            ),
            _ => (f64::from(f32::from_bits(word)), 2f64.powi(-23)),
        };
        assert!(
            (drawn - z).abs() <= 1.01 * unit,
            "format {format}, constant {constant}, legacy {legacy}, clamp {clamp}: {drawn} not {z}"
        );
        drop(surface);
    }
    drop(target);
    scene.finish();
}

/// Minimum Array Element of a depth buffer: slices are QPitch = h0 + h1 + 11 j rows apart, 32 + 16 + 22.
#[test]
fn depth_slices() {
    let mut scene = Scene::new();
    let target = scene.target(SIZE, SIZE);
    for slice in 0..3 {
        let surface = scene.surface_rows((0, 4), (SIZE, SIZE), 3 * 70, Layout::Y);
        let mut draw = Draw::flat(target.state());
        draw.depth = surface.depth_buffer(D24_S8);
        draw.depth.set_depth(2).set_minimum_array_element(slice);
        draw.cc
            .set_depth_test_enable(true)
            .set_depth_buffer_write_enable(true);
        paint(
            &mut scene,
            &mut draw,
            &corners([0.0, 32.0], [0.0, 32.0], 0.5, [1.0; 4]),
        );
        let mut all = surface.clone();
        all.height = 3 * 70;
        let y = slice * 70;
        assert_eq!(all.lit(), block(0..32, y..y + 32), "slice {slice}");
    }
    drop(target);
    scene.finish();
}

/// Depth Buffer Coordinate Offset Disable: the origin moves pixels, but not their places in the depth buffer, however
/// the test is made.
#[test]
fn depth_coordinates_without_the_origin() {
    let mut scene = Scene::new();
    let target = scene.target(SIZE, SIZE);
    for late in [false, true] {
        target.fill(&[0; 4]);
        let surface = scene.surface((0, 4), (SIZE, SIZE), Layout::Y);
        let mut draw = Draw::flat(target.state());
        draw.depth = surface.depth_buffer(D24_S8);
        draw.depth.set_depth_buffer_coordinate_offset_disable(true);
        draw.cc
            .set_depth_test_enable(true)
            .set_depth_buffer_write_enable(true);
        if late {
            draw.wm_kernel = kernels::wm_late_stencil16();
            draw.wm
                .set_dispatch_grf_start_register_for_constant_setup_data_0(7)
                .set_early_depth_test_enable(false);
            draw.cc.set_stencil_test_enable(true);
        }
        draw.rectangle
            .set_drawing_rectangle_origin_x(8)
            .set_drawing_rectangle_origin_y(4);
        paint(
            &mut scene,
            &mut draw,
            &corners([2.0, 7.0], [1.0, 4.0], 0.5, [1.0; 4]),
        );
        assert_eq!(target.lit(), block(10..15, 5..8), "late {late}");
        assert_eq!(surface.lit(), block(2..7, 1..4), "late {late}");
    }
    drop(target);
    scene.finish();
}

/// The clamp to the target's format: halves end at 65504, packed floats have no sign, signed ones begin at -1.
#[test]
fn clamps_to_the_format() {
    let half = |v: &[u16]| -> Vec<u8> { v.iter().flat_map(|v| v.to_le_bytes()).collect() };
    let colour = [1e6f32, -1e6, -0.5, 2.0];
    // Codes: UNORM 0, SNORM 1, RTFORMAT 2.
    let cases: [(u32, u32, Vec<u8>); 4] = [
        // 0x7bff is 65504, 0x3800 a half, 0x4000 two, 0x3c00 one.
        (
            sf::R16G16B16A16_FLOAT,
            2,
            half(&[0x7bff, 0xfbff, 0xb800, 0x4000]),
        ),
        (
            sf::R16G16B16A16_FLOAT,
            1,
            half(&[0x3c00, 0xbc00, 0xb800, 0x3c00]),
        ),
        (sf::R16G16B16A16_FLOAT, 0, half(&[0x3c00, 0, 0, 0x3c00])),
        (sf::R8G8B8A8_SNORM, 2, vec![127, 0x81, 0xc0, 127]),
    ];
    let mut scene = Scene::new();
    for (format, range, expected) in cases {
        let target = scene.surface((format, expected.len()), (4, 4), Layout::Linear);
        let mut draw = Draw::flat(target.state());
        draw.cc
            .set_pre_blend_color_clamp_enable(true)
            .set_color_clamp_range(range);
        paint(
            &mut scene,
            &mut draw,
            &corners([0.0, 4.0], [0.0, 4.0], 0.5, colour),
        );
        assert_eq!(
            target.pixel(1, 2),
            expected,
            "format {format:#x}, range {range}"
        );
    }
    scene.finish();
}

/// Blending in a target that is not 32 bits wide needs the surface's enable, too; at an odd width it leaves what lies
/// beside the target alone.
#[test]
fn blending_by_surface_and_at_its_edge() {
    let mut scene = Scene::new();
    for on in [false, true] {
        let target = scene.surface((sf::R16G16B16A16_FLOAT, 8), (4, 4), Layout::Linear);
        // Ones.
        target.fill(&[0, 0x3c, 0, 0x3c, 0, 0x3c, 0, 0x3c]);
        let mut state = target.state();
        state.set_color_blend_enable(on);
        let mut draw = Draw::flat(state);
        draw.cc
            .set_color_buffer_blend_enable(true)
            .set_source_blend_factor(1)
            .set_destination_blend_factor(1);
        paint(
            &mut scene,
            &mut draw,
            &corners([0.0, 4.0], [0.0, 4.0], 0.5, [1.0; 4]),
        );
        let expected = if on { 0x40 } else { 0x3c };
        assert_eq!(target.pixel(3, 3)[1], expected, "surface {on}");
    }
    let target = scene.target(5, 3);
    target.fill(&[0x10; 4]);
    let mut state = target.state();
    state.set_color_blend_enable(true);
    let mut draw = Draw::flat(state);
    draw.rectangle
        .set_clipped_drawing_rectangle_x_max(SIZE)
        .set_clipped_drawing_rectangle_y_max(SIZE);
    draw.cc
        .set_color_buffer_blend_enable(true)
        .set_source_blend_factor(1)
        .set_destination_blend_factor(1);
    paint(
        &mut scene,
        &mut draw,
        &corners([0.0, 30.0], [0.0, 30.0], 0.5, [16.0 / 255.0; 4]),
    );
    let mut padded = target.clone();
    padded.width = target.pitch as u32 / 4;
    padded.height = 4;
    for (x, y) in block(0..padded.width, 0..4) {
        let expected = if x < 5 && y < 3 {
            0x2020_2020
        } else {
            0x1010_1010
        };
        assert_eq!(padded.word(x, y), expected, "{x} {y}");
    }
    drop((target, padded));
    scene.finish();
}

/// Pixels that the render target write tests are counted under COLOR_CALC_STATE's Statistics Enable.
#[test]
fn late_pixels_count_under_their_enable() {
    let mut scene = Scene::new();
    let target = scene.target(SIZE, SIZE);
    let surface = scene.surface((0, 4), (SIZE, SIZE), Layout::Y);
    for (enable, expected) in [(false, 0), (true, 15)] {
        surface.fill(&[0xff; 4]);
        let before = scene.rig.platform.device().status().statistics;
        let mut draw = Draw::flat(target.state());
        draw.depth = surface.depth_buffer(D24_S8);
        draw.wm_kernel = kernels::wm_late_stencil16();
        draw.wm
            .set_dispatch_grf_start_register_for_constant_setup_data_0(7)
            .set_early_depth_test_enable(false);
        draw.cc
            .set_statistics_enable(enable)
            .set_depth_test_enable(true)
            .set_depth_test_function(2)
            .set_stencil_test_enable(true);
        paint(
            &mut scene,
            &mut draw,
            &corners([2.0, 7.0], [1.0, 4.0], 0.5, [1.0; 4]),
        );
        let after = scene.rig.platform.device().status().statistics;
        let counted = after.ps_depth_count - before.ps_depth_count;
        assert_eq!(counted, expected, "enable {enable}");
    }
    drop((target, surface));
    scene.finish();
}

/// PGTBL_ER names the client: bit 26 the sampler's cache, bit 24 the render cache (intel-gpu-tools intel_error_decode.c).
#[test]
fn page_table_errors_name_their_client() {
    for (sampler, bit) in [(true, 1u32 << 26), (false, 1 << 24)] {
        let mut scene = Scene::new();
        let target = scene.target(SIZE, SIZE);
        let nowhere = 0x0f00_0000;
        let mut state = target.state();
        state.set_surface_base_address(nowhere);
        let mut draw = Draw::flat(if sampler { target.state() } else { state });
        if sampler {
            draw.wm_kernel = kernels::wm_tex16();
            draw.surfaces.push(state);
            draw.sampler = Some((regs::gen40::SamplerState::new(), [0.0; 4]));
        }
        scene.vertices(&mut draw, &corners([0.0, 4.0], [0.0, 4.0], 0.5, [0.5; 4]));
        scene.draw(&draw);
        let frame = scene.submit();
        assert!(frame.wait(kernel::time::Delta::from_millis(1)).is_err());
        let faults = scene.rig.platform.device().status().faults().to_vec();
        // The interrupt handler has acknowledged PGTBL_ER: its copy is in the error state.
        let error = scene.rig.device.take_error_state().expect("an error state");
        let text = error.to_string();
        let line = text.lines().find(|l| l.contains("PGTBL_ER")).expect(&text);
        let expected = format!(" {bit:#010x} ");
        assert!(line.contains(&expected), "{line}: {faults:?}");
        scene.rig.device.reset().expect("reset");
        frame.release();
        drop((target, draw));
        scene.finish_after_fault();
    }
}
