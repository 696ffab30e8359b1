//! Vertex and instance numbers, the start of instance data, sprites.
//!
//! PRM: volume 2, vertex fetch and strips-and-fans. Vertex ids leave start and base out, because the shaders of
//! Mesa's compiler add them (brw_compiler.c, `vertex_id_zero_based`).

use crestline_tests::scene::Scene;
use crestline_tests::scene::draw::{Draw, component, element, vertex_buffer};
use crestline_tests::scene::kernels;
use crestline_tests::scene::surface::Surface;
use regs::gen40::values::surface_format as sf;
use regs::gen40::{State3dIndexBuffer, VertexElementState};

const POINTS: u32 = 1;

/// Header, position twice; the colour is the caller's.
fn elements(colour: VertexElementState) -> Vec<VertexElementState> {
    let f4 = sf::R32G32B32A32_FLOAT;
    vec![
        element(0, 0, f4, 0, [component::ZERO; 4]),
        element(0, 0, f4, 4, [component::SRC; 4]),
        element(0, 0, f4, 8, [component::SRC; 4]),
        colour,
    ]
}

fn points(scene: &mut Scene, target: &Surface) -> Draw {
    let mut draw = Draw::flat(target.state());
    draw.sf_kernel = kernels::sf_point();
    let places: Vec<f32> = (0..16)
        .flat_map(|i| [i as f32 + 0.5, 0.5, 0.0, 1.0])
        .collect();
    let places = scene.floats(&places);
    draw.vertex_buffers = vec![vertex_buffer(0, places, 16)];
    draw
}

#[test]
fn vertex_ids_count_from_zero() {
    use component::{INT1, ONE, VID, ZERO};
    let mut scene = Scene::new();
    let target = scene.float_target((16, 1));
    target.fill(&[0; 16]);
    let ids = element(0, 0, sf::R32_FLOAT, 12, [VID, INT1, ZERO, ONE]);

    let mut draw = points(&mut scene, &target);
    draw.elements = elements(ids);
    draw.primitive.set_start_vertex_location(3);
    draw.topology(POINTS, 4);
    scene.draw(&draw);
    scene.run();
    for x in 3..7 {
        assert_eq!(target.bits(x, 0)[..2], [x - 3, 1], "sequential, vertex {x}");
    }

    // Random access: the index as it stands in the buffer, without the base vertex.
    target.fill(&[0; 16]);
    let mut draw = points(&mut scene, &target);
    draw.elements = elements(ids);
    let list = scene.state(64, &[7, 2, 4]);
    let mut indices = State3dIndexBuffer::new();
    indices
        .set_index_format(2)
        .set_buffer_starting_address(list)
        .set_buffer_ending_address(list + 11);
    draw.index_buffer = Some(indices);
    draw.primitive
        .set_vertex_access_type(1)
        .set_base_vertex_location(5);
    draw.topology(POINTS, 3);
    scene.draw(&draw);
    scene.run();
    for index in [7, 2, 4] {
        let at = target.bits(index + 5, 0);
        assert_eq!(at[..2], [index, 1], "random, index {index}");
    }
    drop(target);
    scene.finish();
}

#[test]
fn instance_data_start_at_their_instance() {
    use component::{IID, ONE, SRC, ZERO};
    let mut scene = Scene::new();
    let target = scene.float_target((16, 4));
    for rate in [0u32, 1, 2] {
        target.fill(&[0; 16]);
        let mut draw = points(&mut scene, &target);
        let data: Vec<f32> = (0..16).map(|i| 100.0 + i as f32).collect();
        let data = scene.floats(&data);
        let mut buffer = vertex_buffer(1, data, 4);
        buffer
            .set_buffer_access_type(1)
            .set_instance_data_step_rate(rate);
        draw.vertex_buffers.push(buffer);
        draw.elements = elements(element(1, 0, sf::R32_FLOAT, 12, [SRC, IID, ZERO, ONE]));
        draw.primitive
            .set_instance_count(4)
            .set_start_instance_location(6);
        draw.topology(POINTS, 1);
        scene.draw(&draw);
        scene.run();
        // All instances draw the same pixel; the last one stays. Its id does not move.
        let row = 6 + 3u32.checked_div(rate).unwrap_or(0);
        let expected = [(100.0 + row as f32).to_bits(), 3];
        assert_eq!(target.bits(0, 0)[..2], expected, "step rate {rate}");
    }
    drop(target);
    scene.finish();
}

/// A sprite of eight pixels goes from 0 to 1 over its square, whichever way it lies on the grid.
#[test]
fn sprites_span_their_point() {
    let mut scene = Scene::new();
    let target = scene.float_target((32, 32));
    for (x, y, width) in [
        (12.0f32, 10.0f32, 8.0f32),
        (15.25, 13.75, 8.0),
        (9.5, 9.5, 5.0),
    ] {
        target.fill(&[0; 16]);
        let mut draw = Draw::flat(target.state());
        draw.sf_kernel = kernels::sf_sprite();
        draw.sf.set_sprite_point_enable(true).set_point_width(width);
        draw.wm_kernel = kernels::wm_gouraud8();
        draw.wm
            .set_n16_pixel_dispatch_enable(false)
            .set_n8_pixel_dispatch_enable(true);
        scene.vertices(&mut draw, &[[x, y, 0.0, 1.0, 9.0, 9.0, 9.0, 9.0]]);
        draw.topology(POINTS, 1);
        scene.draw(&draw);
        scene.run();
        let (left, top) = (x - width / 2.0, y - width / 2.0);
        let mut drawn = 0;
        for row in 0..32 {
            for column in 0..32 {
                let colour = target.bits(column, row).map(f32::from_bits);
                let s = (column as f32 + 0.5 - left) / width;
                let t = (row as f32 + 0.5 - top) / width;
                if colour == [0.0; 4] {
                    assert!(
                        !(0.01..0.99).contains(&s) || !(0.01..0.99).contains(&t),
                        "nothing at {column}, {row}"
                    );
                    continue;
                }
                drawn += 1;
                for (got, want) in colour.into_iter().zip([s, t, 0.0, 1.0]) {
                    assert!(
                        (got - want).abs() < 1e-5,
                        "{colour:?} at {column}, {row}: {s}, {t}"
                    );
                }
            }
        }
        assert_eq!(drawn, (width * width) as u32);
    }
    drop(target);
    scene.finish();
}
