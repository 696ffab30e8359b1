//! Vertex elements of every format, against decoders of their own.
//!
//! PRM: volume 4 4.7.2.1.1 (which formats); volume 2, VERTEX_ELEMENT_STATE. Points carry what was fetched to a float target.

use crestline_tests::formats::Fields;
use crestline_tests::scene::draw::{Draw, component, element, vertex_buffer};
use crestline_tests::scene::surface::Layout;
use crestline_tests::scene::{Scene, kernels};
use fastrand::Rng;
use regs::gen40::SURFACE_FORMATS;
use regs::gen40::values::surface_format as sf;

const VERTICES: u32 = 64;
const POINT_LIST: u32 = 1;

#[test]
fn every_vertex_format() {
    let mut scene = Scene::new();
    let target = scene.surface((sf::R32G32B32A32_FLOAT, 16), (VERTICES, 4), Layout::Linear);
    let mut count = 0;
    for format in SURFACE_FORMATS.iter().filter(|f| f.vertex_input) {
        let fields = Fields::parse(format.name).unwrap();
        let bytes = fields.bits() as usize / 8;
        let mut random = Rng::with_seed(u64::from(format.code));
        // Vertices follow each other without a gap, four bytes into the buffer.
        let mut data = vec![0; 4 + bytes * VERTICES as usize];
        data.fill_with(|| random.u32(..) as u8);
        for vertex in data[4..].chunks_exact_mut(bytes) {
            if random.u32(..4) == 0 {
                vertex.fill([0, 0xff, 0x80, 0x7f][random.u32(..4) as usize]);
            }
        }
        // Doubles of any size, some of which are floats.
        for double in data[4..]
            .chunks_exact_mut(8)
            .filter(|_| format.name.starts_with("R64"))
        {
            let value = f64::from(random.u32(..)) * 2f64.powi(random.u32(..300) as i32 - 150);
            if random.u32(..4) > 0 {
                double.copy_from_slice(&value.to_le_bytes());
            }
        }
        let mut padded = data.clone();
        padded.resize(data.len().next_multiple_of(4), 0);
        let words: Vec<u32> = padded
            .chunks_exact(4)
            .map(|c| u32::from_le_bytes(c.try_into().unwrap()))
            .collect();
        target.fill(&[0x55; 16]);
        let mut draw = Draw::flat(target.state());
        draw.sf_kernel = kernels::sf_point();
        draw.topology(POINT_LIST, VERTICES);
        let places: Vec<f32> = (0..VERTICES)
            .flat_map(|i| [i as f32 + 0.5, 0.5, 0.0, 1.0])
            .collect();
        let places = scene.floats(&places);
        let at = scene.state(64, &words);
        draw.vertex_buffers = vec![
            vertex_buffer(0, places, 16),
            vertex_buffer(1, at, bytes as u32),
        ];
        let float4 = sf::R32G32B32A32_FLOAT;
        draw.elements = vec![
            element(0, 0, float4, 0, [component::ZERO; 4]),
            element(0, 0, float4, 4, [component::SRC; 4]),
            element(0, 0, float4, 8, [component::SRC; 4]),
            element(1, 4, format.code, 12, [component::SRC; 4]),
        ];
        scene.draw(&draw);
        scene.run();
        for (i, vertex) in data[4..].chunks_exact(bytes).enumerate() {
            let got = target.pixel(i as u32, 0);
            for (c, want) in fields.decode(vertex).into_iter().enumerate() {
                let got = u32::from_le_bytes(got[c * 4..c * 4 + 4].try_into().unwrap());
                assert!(
                    want.met(got),
                    "{} vertex {vertex:x?} channel {c}: {got:#x} ({}) for {want:x?}",
                    format.name,
                    f32::from_bits(got)
                );
            }
        }
        count += 1;
    }
    assert_eq!(count, 85);
    drop(target);
    scene.finish();
}
