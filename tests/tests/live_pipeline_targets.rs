//! Render targets: tilings, formats, levels, slices, scissor, stipple, widths.
//!
//! PRM: volume 1 (tiling), volume 2 (windower), volume 4, 5.10.6 (render target write).

use crestline_tests::scene::draw::Draw;
use crestline_tests::scene::surface::{Layout, block};
use crestline_tests::scene::{Scene, kernels};
use regs::gen40::ScissorRect;
use regs::gen40::values::surface_format as sf;

fn rectangle(x: [f32; 2], y: [f32; 2], c: [f32; 4]) -> Vec<[f32; 8]> {
    [[0, 0], [1, 0], [1, 1], [0, 0], [1, 1], [0, 1]]
        .iter()
        .map(|i: &[usize; 2]| [x[i[0]], y[i[1]], 0.5, 1.0, c[0], c[1], c[2], c[3]])
        .collect()
}

fn paint(scene: &mut Scene, draw: &mut Draw, x: [f32; 2], y: [f32; 2], c: [f32; 4]) {
    scene.vertices(draw, &rectangle(x, y, c));
    scene.draw(draw);
    scene.run();
}

/// A diagonal pattern of one-pixel rectangles lands where the tiling says, and nowhere else.
#[test]
fn tilings_and_odd_sizes() {
    let mut scene = Scene::new();
    for layout in [Layout::Linear, Layout::X, Layout::Y] {
        for size in [(1, 1), (3, 5), (64, 33), (130, 67), (4097, 2), (2, 1025)] {
            let target = scene.surface((sf::B8G8R8A8_UNORM, 4), size, layout);
            let (w, h) = size;
            let mut vertices = Vec::new();
            let mut lit = Vec::new();
            for i in 0..40 {
                let (x, y) = (i * 131 % w, i * 29 % h);
                let fx = [x as f32, x as f32 + 1.0];
                let fy = [y as f32, y as f32 + 1.0];
                vertices.extend(rectangle(fx, fy, [1.0, 0.0, 0.0, 0.0]));
                lit.push((x, y));
            }
            // A rectangle that hangs over every side is cut off at the surface.
            let mut draw = Draw::flat(target.state());
            scene.vertices(&mut draw, &vertices);
            scene.draw(&draw);
            scene.run();
            let mut raw = vec![0; target.object.size()];
            target.object.read(0, &mut raw).unwrap();
            let mut expected = vec![0; raw.len()];
            for (x, y) in lit {
                // B, G, R, A: red is the third byte.
                expected[layout.offset(target.pitch, x as usize * 4 + 2, y as usize)] = 255;
            }
            assert!(raw == expected, "{layout:?} {size:?}");
            draw.rectangle
                .set_clipped_drawing_rectangle_x_max(w + 40)
                .set_clipped_drawing_rectangle_y_max(h + 40);
            paint(
                &mut scene,
                &mut draw,
                [-20.0, w as f32 + 20.0],
                [-20.0, h as f32 + 20.0],
                [1.0; 4],
            );
            target.object.read(0, &mut raw).unwrap();
            let lit = raw.iter().filter(|&&b| b == 255).count();
            let dark = raw.iter().filter(|&&b| b == 0).count();
            assert_eq!(
                (lit, lit + dark),
                ((w * h * 4) as usize, raw.len()),
                "{layout:?} {size:?}"
            );
        }
    }
    scene.finish();
}

// covers: 5.7-01
#[test]
fn formats() {
    let half = |v: &[u16]| -> Vec<u8> { v.iter().flat_map(|v| v.to_le_bytes()).collect() };
    let float = |v: &[f32]| -> Vec<u8> { v.iter().flat_map(|v| v.to_le_bytes()).collect() };
    let colour = [1.0, 0.5, 0.25, 0.125];
    // 0.5 * 255 = 127.5 and 0.25 * 255 = 63.75 and 0.125 * 255 = 31.875, 0.5 * 63 = 31.5.
    let cases: Vec<(u32, Vec<u8>)> = vec![
        (sf::B8G8R8A8_UNORM, vec![64, 128, 255, 32]),
        (sf::R8G8B8A8_UNORM, vec![255, 128, 64, 32]),
        (sf::B5G6R5_UNORM, half(&[31 << 11 | 32 << 5 | 8])),
        (sf::B5G5R5A1_UNORM, half(&[31 << 10 | 16 << 5 | 8])),
        (sf::B4G4R4A4_UNORM, half(&[2 << 12 | 15 << 8 | 8 << 4 | 4])),
        (sf::R8_UNORM, vec![255]),
        (sf::A8_UNORM, vec![32]),
        (sf::R8G8_UNORM, vec![255, 128]),
        (sf::R16G16_UNORM, half(&[0xffff, 0x8000])),
        (sf::R16G16_FLOAT, half(&[0x3c00, 0x3800])),
        (
            sf::R16G16B16A16_FLOAT,
            half(&[0x3c00, 0x3800, 0x3400, 0x3000]),
        ),
        (
            sf::R16G16B16A16_UNORM,
            half(&[0xffff, 0x8000, 0x4000, 0x2000]),
        ),
        (sf::R32_FLOAT, float(&[1.0])),
        (sf::R32G32_FLOAT, float(&[1.0, 0.5])),
        (sf::R32G32B32A32_FLOAT, float(&colour)),
        (
            sf::R10G10B10A2_UNORM,
            (0x3ffu32 | 0x200 << 10 | 0x100 << 20)
                .to_le_bytes()
                .to_vec(),
        ),
    ];
    let mut scene = Scene::new();
    for (format, expected) in cases {
        for layout in [Layout::Linear, Layout::X, Layout::Y] {
            // Volume 4: 128 bits an element cannot be rendered to in Y tiles.
            if expected.len() == 16 && layout == Layout::Y {
                continue;
            }
            let target = scene.surface((format, expected.len()), (9, 7), layout);
            let mut draw = Draw::flat(target.state());
            paint(&mut scene, &mut draw, [0.0, 9.0], [0.0, 7.0], colour);
            assert_eq!(
                target.pixel(8, 6),
                expected,
                "format {format:#x} {layout:?}"
            );
        }
    }
    scene.finish();
}

#[test]
fn scissor_and_drawing_rectangle() {
    let mut scene = Scene::new();
    let target = scene.target(32, 32);
    let mut draw = Draw::flat(target.state());
    let mut rect = ScissorRect::new();
    rect.set_scissor_rectangle_x_min(5)
        .set_scissor_rectangle_y_min(7)
        .set_scissor_rectangle_x_max(20)
        .set_scissor_rectangle_y_max(7);
    draw.sf.set_scissor_rectangle_enable(true);
    draw.sf_viewport.set_scissor_rectangle(rect);
    paint(&mut scene, &mut draw, [0.0, 32.0], [0.0, 32.0], [1.0; 4]);
    assert_eq!(target.lit(), block(5..21, 7..8));

    // The origin moves everything drawn; the clip rectangle stays where it is.
    for (origin, x, y) in [([10, 4], 12..18, 6..12), ([-3, -2], 0..5, 2..6)] {
        target.fill(&[0; 4]);
        let mut draw = Draw::flat(target.state());
        draw.rectangle
            .set_clipped_drawing_rectangle_x_min(0)
            .set_clipped_drawing_rectangle_y_min(2)
            .set_clipped_drawing_rectangle_x_max(17)
            .set_clipped_drawing_rectangle_y_max(30)
            .set_drawing_rectangle_origin_x(origin[0])
            .set_drawing_rectangle_origin_y(origin[1]);
        paint(&mut scene, &mut draw, [2.0, 8.0], [2.0, 8.0], [1.0; 4]);
        assert_eq!(target.lit(), block(x, y), "origin {origin:?}");
    }
    drop(target);
    scene.finish();
}

/// Levels and slices as targets: only their part of the surface changes. Layout of volume 1: level 1 below
/// level 0, level 2 to the right of level 1; slices of a 2D array are QPitch rows apart.
#[test]
fn levels_and_slices() {
    let mut scene = Scene::new();
    // 16x8: level 0 at (0, 0), level 1 (8x4) at (0, 8), level 2 (4x2) at (8, 8).
    let places = [(0u32, 0u32, 16u32, 8u32), (0, 8, 8, 4), (8, 8, 4, 2)];
    for (level, (x0, y0, w, h)) in places.into_iter().enumerate() {
        let target = scene.surface_rows((sf::B8G8R8A8_UNORM, 4), (16, 8), 32, Layout::Linear);
        let mut state = target.state();
        state.set_mip_count_lod(level as u32);
        let mut draw = Draw::flat(state);
        paint(&mut scene, &mut draw, [-1.0, 20.0], [-1.0, 20.0], [1.0; 4]);
        let mut all = target.clone();
        all.height = 32;
        assert_eq!(all.lit(), block(x0..x0 + w, y0..y0 + h), "level {level}");
    }
    // Array of 3. QPitch = h0 + h1 + 11 j rows, with the vertical alignment j of 2: 8 + 4 + 22.
    let pitch = 34;
    for slice in 0..3 {
        let rows = pitch * 3;
        let target = scene.surface_rows((sf::B8G8R8A8_UNORM, 4), (16, 8), rows, Layout::Linear);
        let mut state = target.state();
        state.set_depth(2).set_minimum_array_element(slice);
        let mut draw = Draw::flat(state);
        paint(&mut scene, &mut draw, [0.0, 16.0], [0.0, 8.0], [1.0; 4]);
        let mut all = target.clone();
        all.height = rows;
        let y = pitch * slice;
        assert_eq!(all.lit(), block(0..16, y..y + 8), "slice {slice}");
    }
    scene.finish();
}

/// Slices of a volume and faces of a cube map, which a 965 lays out alike: level 0 below one another, level 1 two
/// in a row (Mesa isl, ISL_DIM_LAYOUT_GFX4_3D). The null surface takes everything.
#[test]
fn volumes_cubes_and_null() {
    let mut scene = Scene::new();
    for (kind, depth) in [(2u32, 3u32), (3, 0)] {
        for level in 0..2 {
            for slice in 0..4 {
                let target =
                    scene.surface_rows((sf::B8G8R8A8_UNORM, 4), (16, 8), 80, Layout::Linear);
                let mut state = target.state();
                state
                    .set_surface_type(kind)
                    .set_depth(depth)
                    .set_mip_count_lod(level)
                    .set_minimum_array_element(slice);
                if kind == 3 {
                    // A square.
                    state.set_width(7);
                }
                let slices = if kind == 3 { 6 } else { 4 };
                // A volume's level has half as many slices as the one above it.
                if kind == 2 && level == 1 && slice > 1 {
                    continue;
                }
                let mut draw = Draw::flat(state);
                draw.rectangle.set_clipped_drawing_rectangle_x_max(40);
                paint(&mut scene, &mut draw, [-1.0, 20.0], [-1.0, 20.0], [1.0; 4]);
                let (w, h) = if kind == 3 { (8, 8) } else { (16, 8) };
                let expected = if level == 0 {
                    block(0..w, slice * h..slice * h + h)
                } else {
                    let (x, y) = (slice % 2 * w / 2, slices * h + slice / 2 * h / 2);
                    block(x..x + w / 2, y..y + h / 2)
                };
                let mut all = target.clone();
                all.height = 80;
                assert_eq!(
                    all.lit(),
                    expected,
                    "type {kind}, level {level}, slice {slice}"
                );
            }
        }
    }
    let mut state = scene.target(16, 16).state();
    state.set_surface_type(7);
    let mut draw = Draw::flat(state);
    paint(&mut scene, &mut draw, [0.0, 16.0], [0.0, 16.0], [1.0; 4]);
    scene.finish();
}

// covers: V-0019
#[test]
fn polygon_stipple() {
    let mut scene = Scene::new();
    let target = scene.target(40, 40);
    let pattern: Vec<u32> = (0..32u32)
        .map(|i| 0x8421_0ff1u32.rotate_left(i) ^ i)
        .collect();
    let mut draw = Draw::flat(target.state());
    draw.wm.set_polygon_stipple_enable(true);
    scene.commands.push(0x7907_001f);
    scene.commands.extend(&pattern);
    paint(&mut scene, &mut draw, [0.0, 40.0], [0.0, 40.0], [1.0; 4]);
    for y in 0..40 {
        for x in 0..40 {
            // The leftmost pixel is bit 31.
            let on = pattern[y % 32] >> (31 - x % 32) & 1 == 1;
            assert_eq!(target.word(x as u32, y as u32) != 0, on, "{x} {y}");
        }
    }
    drop(target);
    scene.finish();
}

/// SIMD8 and SIMD16 kernels draw the same picture; constants arrive in front of the setup data.
#[test]
fn widths_and_constants() {
    let mut scene = Scene::new();
    let target = scene.target(64, 64);
    let triangle = [
        [3.3, 2.1, 0.5, 1.0, 1.0, 0.0, 0.3, 1.0],
        [61.7, 20.4, 0.5, 0.25, 0.0, 1.0, 0.1, 0.5],
        [17.2, 60.9, 0.5, 2.0, 0.2, 0.4, 1.0, 0.0],
    ];
    let mut pictures = Vec::new();
    for wide in [true, false] {
        target.fill(&[0; 4]);
        let mut draw = Draw::flat(target.state());
        draw.sf_kernel = kernels::captured("sf c_gouraud");
        draw.wm_kernel = if wide {
            kernels::captured("wm c_gouraud")
        } else {
            kernels::wm_gouraud8()
        };
        draw.wm
            .set_n16_pixel_dispatch_enable(wide)
            .set_n8_pixel_dispatch_enable(!wide);
        scene.vertices(&mut draw, &triangle);
        scene.draw(&draw);
        scene.run();
        pictures.push(target.words());
    }
    assert!(pictures[0].iter().filter(|&&p| p != 0).count() > 1000);
    assert!(pictures[0] == pictures[1]);
    let mut flat8 = Draw::flat(target.state());
    flat8.wm_kernel = kernels::wm_flat8();
    flat8
        .wm
        .set_n16_pixel_dispatch_enable(false)
        .set_n8_pixel_dispatch_enable(true);
    paint(
        &mut scene,
        &mut flat8,
        [0.0, 64.0],
        [0.0, 64.0],
        [0.2, 0.4, 0.6, 0.8],
    );
    assert!(target.words().iter().all(|&w| w == 0xcc33_6699));

    let mut draw = Draw::flat(target.state());
    draw.wm_kernel = kernels::wm_const16();
    draw.constants = vec![9.0; 40];
    draw.constants[16..20].copy_from_slice(&[1.0, 0.2, 0.4, 0.6]);
    draw.wm
        .set_constant_urb_entry_read_offset(2)
        .set_constant_urb_entry_read_length(2);
    draw.fences[4] = 80;
    paint(&mut scene, &mut draw, [0.0, 64.0], [0.0, 64.0], [0.0; 4]);
    assert!(
        target.words().iter().all(|&w| w == 0x99ff_3366),
        "{:08x}",
        target.word(0, 0)
    );
    drop((target, pictures));
    scene.finish();
}

/// Vertex shader constants: colour times one plus another.
#[test]
fn vertex_constants() {
    let mut scene = Scene::new();
    let target = scene.target(16, 16);
    let mut draw = Draw::flat(target.state());
    draw.vs_kernel = Some(kernels::vs_const());
    draw.vs
        .set_dispatch_grf_start_register_for_urb_data(1)
        .set_constant_urb_entry_read_length(1)
        .set_vertex_urb_entry_read_length(1);
    draw.elements.drain(0..2);
    draw.elements[0].set_destination_element_offset(0);
    draw.elements[1].set_destination_element_offset(4);
    draw.constants = vec![0.5, 1.0, 0.25, 0.0, 0.2, 0.0, 0.4, 1.0];
    paint(
        &mut scene,
        &mut draw,
        [0.0, 16.0],
        [0.0, 16.0],
        [0.8, 0.6, 0.8, 0.3],
    );
    // 0.6, 0.6, 0.6, 1.
    assert!(
        target.words().iter().all(|&w| w == 0xff99_9999),
        "{:08x}",
        target.word(9, 3)
    );
    drop(target);
    scene.finish();
}
