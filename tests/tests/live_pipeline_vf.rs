//! Vertex fetch: access, indices, instancing, component controls, formats.
//!
//! PRM: volume 2, vertex fetch. Vertices draw one-pixel points whose colour or place shows what was fetched;
//! expectations are host arithmetic.

use crestline_tests::scene::Scene;
use crestline_tests::scene::draw::{Draw, component, element, vertex_buffer};
use crestline_tests::scene::kernels;
use crestline_tests::scene::surface::{Layout, Surface};
use regs::gen40::State3dIndexBuffer;
use regs::gen40::values::surface_format as sf;

const POINTS: u32 = 1;

/// A float target: every draw paints points at (index, 0) with the colour that was fetched.
fn float_target(scene: &mut Scene) -> Surface {
    scene.float_target((64, 4))
}

fn rgba(target: &Surface, x: u32, y: u32) -> [f32; 4] {
    let bytes = target.pixel(x, y);
    std::array::from_fn(|i| f32::from_le_bytes(bytes[i * 4..i * 4 + 4].try_into().unwrap()))
}

fn bits(target: &Surface, x: u32) -> [u32; 4] {
    rgba(target, x, 0).map(f32::to_bits)
}

fn points(target: &Surface) -> Draw {
    let mut draw = Draw::flat(target.state());
    draw.sf_kernel = kernels::sf_point();
    draw.topology(POINTS, 0);
    draw
}

/// Position buffer for `n` points at (i + 1/2, 1/2).
fn row(scene: &mut Scene, n: usize) -> u32 {
    let data: Vec<f32> = (0..n)
        .flat_map(|i| [i as f32 + 0.5, 0.5, 0.0, 1.0])
        .collect();
    scene.floats(&data)
}

fn position(buffer: u32) -> Vec<regs::gen40::VertexElementState> {
    let f4 = sf::R32G32B32A32_FLOAT;
    vec![
        element(buffer, 0, f4, 0, [component::ZERO; 4]),
        element(buffer, 0, f4, 4, [component::SRC; 4]),
        element(buffer, 0, f4, 8, [component::SRC; 4]),
    ]
}

/// Formats with one sample each: bytes, and the four components after the conversion. Channels that a
/// format lacks read 0, 0, 0, 1.
#[test]
fn formats() {
    let f = f32::to_bits;
    let un = |v: u32, bits: u32| f((f64::from(v) / f64::from((1u32 << bits) - 1)) as f32);
    let sn = |v: i32, bits: u32| {
        f((f64::from(v) / f64::from((1i32 << (bits - 1)) - 1)).max(-1.0) as f32)
    };
    let one = f(1.0);
    let le = |words: &[u32]| -> Vec<u8> { words.iter().flat_map(|w| w.to_le_bytes()).collect() };
    let half = |words: &[u16]| -> Vec<u8> { words.iter().flat_map(|w| w.to_le_bytes()).collect() };
    let cases: Vec<(u32, Vec<u8>, [u32; 4])> = vec![
        (sf::R32_FLOAT, le(&[f(0.25)]), [f(0.25), 0, 0, one]),
        (
            sf::R32G32_FLOAT,
            le(&[f(0.25), f(-3.5)]),
            [f(0.25), f(-3.5), 0, one],
        ),
        (
            sf::R32G32B32_FLOAT,
            le(&[f(0.25), f(-3.5), f(1e9)]),
            [f(0.25), f(-3.5), f(1e9), one],
        ),
        (
            sf::R32G32B32A32_FLOAT,
            le(&[f(0.25), f(-3.5), f(1e9), f(-0.5)]),
            [f(0.25), f(-3.5), f(1e9), f(-0.5)],
        ),
        (
            sf::R16G16_FLOAT,
            half(&[0x3c00, 0xc100]),
            [one, f(-2.5), 0, one],
        ),
        (
            sf::R16G16B16A16_FLOAT,
            half(&[0x3c00, 0xc100, 0x0001, 0x7bff]),
            [one, f(-2.5), f(2f32.powi(-24)), f(65504.0)],
        ),
        (
            sf::R8G8B8A8_UNORM,
            vec![0, 1, 128, 255],
            [0, un(1, 8), un(128, 8), one],
        ),
        (
            sf::B8G8R8A8_UNORM,
            vec![10, 20, 30, 40],
            [un(30, 8), un(20, 8), un(10, 8), un(40, 8)],
        ),
        (
            sf::R8G8B8A8_SNORM,
            vec![0x80, 0x81, 0x7f, 0xff],
            [f(-1.0), f(-1.0), one, sn(-1, 8)],
        ),
        (sf::R8G8_UNORM, vec![7, 250], [un(7, 8), un(250, 8), 0, one]),
        (sf::R8_UNORM, vec![99], [un(99, 8), 0, 0, one]),
        (
            sf::R8G8B8_UNORM,
            vec![9, 8, 7],
            [un(9, 8), un(8, 8), un(7, 8), one],
        ),
        (
            sf::R8G8B8A8_USCALED,
            vec![0, 1, 200, 255],
            [0, one, f(200.0), f(255.0)],
        ),
        (
            sf::R8G8B8A8_SSCALED,
            vec![0x80, 0xff, 3, 0x7f],
            [f(-128.0), f(-1.0), f(3.0), f(127.0)],
        ),
        (sf::R8G8B8A8_UINT, vec![0, 1, 200, 255], [0, 1, 200, 255]),
        (
            sf::R8G8B8A8_SINT,
            vec![0x80, 0xff, 3, 0x7f],
            [-128i32 as u32, u32::MAX, 3, 127],
        ),
        (
            sf::R16G16_UNORM,
            half(&[0x1234, 0xffff]),
            [un(0x1234, 16), one, 0, one],
        ),
        (
            sf::R16G16B16A16_SNORM,
            half(&[0x8000, 0x8001, 0x7fff, 0xc000]),
            [f(-1.0), f(-1.0), one, sn(-0x4000, 16)],
        ),
        (
            sf::R16G16B16_SSCALED,
            half(&[0x8000, 5, 0xfffb]),
            [f(-32768.0), f(5.0), f(-5.0), one],
        ),
        (
            sf::R16G16B16A16_USCALED,
            half(&[1, 2, 3, 65535]),
            [one, f(2.0), f(3.0), f(65535.0)],
        ),
        (sf::R16_UNORM, half(&[0x8000]), [un(0x8000, 16), 0, 0, one]),
        (
            sf::R10G10B10A2_UNORM,
            le(&[0x3ff | 0x155 << 10 | 1 << 20 | 2 << 30]),
            [one, un(0x155, 10), un(1, 10), un(2, 2)],
        ),
        (
            sf::R32G32_SSCALED,
            le(&[-7i32 as u32, 16_777_217]),
            [f(-7.0), f(16_777_216.0), 0, one],
        ),
        (
            sf::R32G32B32_USCALED,
            le(&[7, u32::MAX, 0]),
            [f(7.0), f(4_294_967_296.0), 0, one],
        ),
        (sf::R32G32_UINT, le(&[7, u32::MAX]), [7, u32::MAX, 0, 1]),
    ];
    let mut scene = Scene::new();
    let target = float_target(&mut scene);
    for (format, bytes, expected) in cases {
        // An odd offset in the buffer, and garbage on both sides.
        let mut padded = vec![0xee; 4];
        padded.extend(&bytes);
        padded.resize(64, 0xdd);
        let words: Vec<u32> = padded
            .chunks_exact(4)
            .map(|c| u32::from_le_bytes(c.try_into().unwrap()))
            .collect();
        target.fill(&[0; 16]);
        let mut draw = points(&target);
        let places = row(&mut scene, 1);
        let data = scene.state(64, &words);
        draw.vertex_buffers = vec![vertex_buffer(0, places, 16), vertex_buffer(3, data, 64)];
        draw.elements = position(0);
        draw.elements
            .push(element(3, 4, format, 12, [component::SRC; 4]));
        draw.topology(POINTS, 1);
        scene.draw(&draw);
        scene.run();
        assert_eq!(
            bits(&target, 0),
            expected,
            "format {format:#x} of {bytes:x?}"
        );
    }
    drop(target);
    scene.finish();
}

#[test]
fn component_controls_ids_and_pitch_zero() {
    use component::{IID, INT1, NOSTORE, ONE, SRC, VID, ZERO};
    let mut scene = Scene::new();
    let target = float_target(&mut scene);
    target.fill(&[0; 16]);
    let mut draw = points(&target);
    let places = row(&mut scene, 8);
    let constant = scene.floats(&[0.25, 0.5, 0.75, 0.125]);
    draw.vertex_buffers = vec![vertex_buffer(0, places, 16), vertex_buffer(1, constant, 0)];
    draw.elements = position(0);
    // Component 2 is kept from the first of the two.
    draw.elements.push(element(
        1,
        0,
        sf::R32G32B32A32_FLOAT,
        12,
        [ZERO, ONE, SRC, INT1],
    ));
    draw.elements.push(element(
        1,
        0,
        sf::R32G32B32A32_FLOAT,
        12,
        [VID, SRC, NOSTORE, IID],
    ));
    draw.primitive.set_start_vertex_location(3);
    draw.topology(POINTS, 4);
    scene.draw(&draw);
    scene.run();
    for x in 0..8 {
        let expected = match x {
            3..7 => [x - 3, 0.5f32.to_bits(), 0.75f32.to_bits(), 0],
            _ => [0; 4],
        };
        assert_eq!(bits(&target, x), expected, "vertex {x}");
    }
    // The other order of the two elements shows the constants.
    draw.elements.swap(3, 4);
    draw.primitive.set_start_vertex_location(0);
    let places = row(&mut scene, 8);
    let constant = scene.floats(&[0.25, 0.5, 0.75, 0.125]);
    draw.vertex_buffers = vec![vertex_buffer(0, places, 16), vertex_buffer(1, constant, 0)];
    scene.draw(&draw);
    scene.run();
    let expected = [0, 1.0f32.to_bits(), 0.75f32.to_bits(), 1];
    assert_eq!(bits(&target, 1), expected);
    drop(target);
    scene.finish();
}

/// Per-instance data with step rates 0 to 3: an instance's row is its y, its data the colour.
#[test]
fn instancing() {
    use component::{IID, NOSTORE, ONE, SRC, VID, ZERO};
    let mut scene = Scene::new();
    let target = scene.surface((sf::R32G32B32A32_FLOAT, 16), (4, 8), Layout::Linear);
    for rate in 0..4u32 {
        target.fill(&[0; 16]);
        let mut draw = points(&target);
        let vertices: Vec<f32> = (0..4).map(|i| i as f32 + 0.5).collect();
        let x = scene.floats(&vertices);
        let rows: Vec<f32> = (0..8).map(|i| i as f32 + 0.5).collect();
        let y = scene.floats(&rows);
        let data: Vec<f32> = (0..8).map(|i| 100.0 + i as f32).collect();
        let data = scene.floats(&data);
        let instance = |mut b: regs::gen40::VertexBufferState, rate| {
            b.set_buffer_access_type(1)
                .set_instance_data_step_rate(rate);
            b
        };
        draw.vertex_buffers = vec![
            vertex_buffer(0, x, 4),
            instance(vertex_buffer(1, y, 4), 1),
            instance(vertex_buffer(2, data, 4), rate),
        ];
        draw.elements = vec![
            element(0, 0, sf::R32_FLOAT, 0, [ZERO; 4]),
            element(0, 0, sf::R32_FLOAT, 4, [SRC, NOSTORE, ZERO, ONE]),
            element(1, 0, sf::R32_FLOAT, 5, [SRC, NOSTORE, NOSTORE, NOSTORE]),
            element(2, 0, sf::R32_FLOAT, 12, [SRC, VID, IID, ZERO]),
        ];
        draw.primitive.set_instance_count(5);
        draw.topology(POINTS, 4);
        scene.draw(&draw);
        scene.run();
        for y in 0..8u32 {
            for x in 0..4 {
                let row = y.checked_div(rate).unwrap_or(0);
                let expected = if y < 5 {
                    [(100.0f32 + row as f32).to_bits(), x, y, 0]
                } else {
                    [0; 4]
                };
                assert_eq!(
                    rgba(&target, x, y).map(f32::to_bits),
                    expected,
                    "rate {rate}, vertex {x} of instance {y}"
                );
            }
        }
    }
    drop(target);
    scene.finish();
}

fn index_buffer(format: u32, start: u32, bytes: u32) -> State3dIndexBuffer {
    let mut ib = State3dIndexBuffer::new();
    ib.set_index_format(format)
        .set_buffer_starting_address(start)
        .set_buffer_ending_address(start + bytes - 1);
    ib
}

/// Which points an index list draws, for three widths, with base vertex and start index.
#[test]
fn indices() {
    let mut scene = Scene::new();
    let target = float_target(&mut scene);
    let list = [9u32, 3, 3, 14, 0, 7, 21, 11];
    for (format, width) in [(0u32, 1usize), (1, 2), (2, 4)] {
        for (base, start, count) in [(0i32, 0u32, 8u32), (5, 0, 8), (-2, 3, 4), (0, 6, 6)] {
            target.fill(&[0; 16]);
            let bytes: Vec<u8> = list
                .iter()
                .flat_map(|i| i.to_le_bytes()[..width].to_vec())
                .chain([0xff; 8])
                .collect();
            let words: Vec<u32> = bytes
                .chunks(4)
                .map(|c| {
                    let mut w = [0xff; 4];
                    w[..c.len()].copy_from_slice(c);
                    u32::from_le_bytes(w)
                })
                .collect();
            let at = scene.state(64, &words);
            let places = row(&mut scene, 32);
            let mut draw = points(&target);
            draw.vertex_buffers = vec![vertex_buffer(0, places + 32, 16)];
            draw.elements = position(0);
            draw.elements.push(element(
                0,
                0,
                sf::R32G32B32A32_FLOAT,
                12,
                [component::ONE; 4],
            ));
            draw.index_buffer = Some(index_buffer(format, at, (list.len() * width) as u32));
            draw.primitive
                .set_vertex_access_type(1)
                .set_base_vertex_location(base)
                .set_start_vertex_location(start);
            draw.topology(POINTS, count);
            scene.draw(&draw);
            scene.run();
            // Vertex 0 lies at x = 2; past the end of the buffer indices read 0.
            let mut expected = [false; 64];
            for i in start..start + count {
                let index = list.get(i as usize).copied().unwrap_or(0);
                expected[(index as i32 + base + 2) as usize] = true;
            }
            let drawn: Vec<bool> = (0..64).map(|x| rgba(&target, x, 0)[0] != 0.0).collect();
            assert_eq!(drawn, expected, "width {width}, base {base}, start {start}");
        }
    }
    drop(target);
    scene.finish();
}

/// Cut indices end strips; shaded vertices are counted, so that the vertex cache shows.
#[test]
fn cut_index_and_vertex_cache() {
    let mut scene = Scene::new();
    let target = scene.target(64, 16);
    for (format, cut) in [(0u32, 0xffu32), (1, 0xffff), (2, 0xffff_ffff)] {
        for enable in [true, false] {
            target.fill(&[0; 4]);
            let before = scene.rig.platform.device().status().statistics;
            // Vertex pairs (x, 2) and (x, 14) for x = 4, 12, 20 ...
            let mut vertices = Vec::new();
            for i in 0..8u8 {
                for y in [2.0, 14.0] {
                    vertices.push([4.0 + 8.0 * f32::from(i), y, 0.0, 1.0, 1.0, 1.0, 1.0, 1.0]);
                }
            }
            let list = [0, 1, 2, 3, cut, cut, 6, 7, 8, 9, 10, 11, cut, 2, 12];
            let width = 1 << format;
            let bytes: Vec<u8> = list
                .iter()
                .flat_map(|i: &u32| i.to_le_bytes()[..width].to_vec())
                .collect();
            let mut words: Vec<u32> = Vec::new();
            for c in bytes.chunks(4) {
                let mut w = [0; 4];
                w[..c.len()].copy_from_slice(c);
                words.push(u32::from_le_bytes(w));
            }
            let at = scene.state(64, &words);
            let mut draw = Draw::flat(target.state());
            scene.vertices(&mut draw, &vertices);
            draw.vs_kernel = Some(kernels::captured("vs c_gouraud"));
            draw.vs
                .set_statistics_enable(true)
                .set_dispatch_grf_start_register_for_urb_data(2)
                .set_vertex_urb_entry_read_length(1);
            let f4 = sf::R32G32B32A32_FLOAT;
            draw.elements = vec![
                element(0, 0, f4, 0, [component::SRC; 4]),
                element(0, 16, f4, 4, [component::SRC; 4]),
            ];
            let mut ib = index_buffer(format, at, bytes.len() as u32);
            ib.set_cut_index_enable(enable);
            draw.index_buffer = Some(ib);
            draw.primitive.set_vertex_access_type(1);
            if enable {
                draw.topology(5, list.len() as u32);
                // 3DSTATE_VF_STATISTICS on.
                scene.commands.push(0x780b_0001);
                scene.draw(&draw);
                scene.run();
                let after = scene.rig.platform.device().status().statistics;
                let fetched = after.ia_vertices - before.ia_vertices;
                assert_eq!(fetched, 12, "cut indices are no vertices");
                assert_eq!(after.ia_primitives - before.ia_primitives, 2 + 4);
                // 11 different ones, and vertex 2 again out of the cache.
                assert_eq!(after.vs_invocations - before.vs_invocations, 11);
                let white = |x: u32| target.word(x, 8) == u32::MAX;
                let row: Vec<bool> = (0..64).map(white).collect();
                let expected: Vec<bool> = (0..64u32)
                    .map(|x| (4..12).contains(&x) || (28..44).contains(&x))
                    .collect();
                assert_eq!(row, expected, "format {format}");
            }
        }
    }
    drop(target);
    scene.finish();
}
