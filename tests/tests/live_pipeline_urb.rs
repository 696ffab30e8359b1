//! Tight URB sections: the pictures of roomy ones, and no entry is ever lost.
//!
//! PRM: volume 4, chapter 8; volume 2 (URB allocation). A lost entry shows as a hang after some draws without a new URB_FENCE.

use crestline_tests::scene::draw::Draw;
use crestline_tests::scene::surface::Surface;
use crestline_tests::scene::{Scene, kernels};
use fastrand::Rng;
use regs::gen40::State3dIndexBuffer;

const SIZE: u32 = 64;

/// A mesh of random triangles in clip space, some of which need clipping, as indices over 60 vertices.
fn mesh(scene: &mut Scene, draw: &mut Draw, topology: u32, seed: u64) {
    let mut random = Rng::with_seed(seed);
    let mut unit = || f64::from(random.u32(..)) as f32 / u32::MAX as f32;
    let vertices: Vec<[f32; 8]> = (0..60)
        .map(|_| {
            let w = unit() * 1.4 - 0.1;
            let p = [unit(), unit(), unit()].map(|v| v * 2.6 - 1.3);
            [p[0], p[1], p[2], w, unit(), unit(), unit(), 1.0]
        })
        .collect();
    scene.vertices(draw, &vertices);
    let count = 96;
    // Runs of neighbours with repetitions, so that the vertex cache has work.
    let mut at = 0;
    let indices: Vec<u8> = (0..count)
        .map(|_| {
            at = (at + random.u32(..5)) % 60;
            at.saturating_sub(random.u32(..4)) as u8
        })
        .collect();
    let words: Vec<u32> = indices
        .chunks_exact(4)
        .map(|c| u32::from_le_bytes(c.try_into().unwrap()))
        .collect();
    let address = scene.state(64, &words);
    let mut buffer = State3dIndexBuffer::new();
    buffer
        .set_index_format(0)
        .set_buffer_starting_address(address)
        .set_buffer_ending_address(address + count - 1);
    draw.index_buffer = Some(buffer);
    draw.topology(topology, count);
    draw.primitive.set_vertex_access_type(1);
}

fn prepare(scene: &mut Scene, target: &Surface, topology: u32) -> Draw {
    let mut draw = Draw::flat(target.state());
    draw.perspective(SIZE as f32, SIZE as f32);
    match topology {
        7 => draw.gs_kernel = Some(kernels::gs_quads()),
        8 => draw.gs_kernel = Some(kernels::gs_quad_strip()),
        _ => {}
    }
    mesh(scene, &mut draw, topology, u64::from(topology));
    draw
}

/// Sections in 512-bit units: VS, GS, CLIP, SF; a setup entry takes two.
const SECTIONS: [[u32; 4]; 5] = [
    [32, 8, 10, 16],
    [8, 8, 10, 4],
    [6, 4, 8, 2],
    [12, 5, 9, 2],
    [7, 4, 7, 6],
];

#[test]
fn tight_sections_draw_the_same() {
    let mut scene = Scene::new();
    let target = scene.target(SIZE, SIZE);
    for topology in [4, 5, 6, 0xe, 7, 8] {
        let mut first: Option<Vec<u32>> = None;
        for sections in SECTIONS {
            for threads in [31, 0] {
                target.fill(&[0; 4]);
                let mut draw = prepare(&mut scene, &target, topology);
                draw.wm.set_maximum_number_of_threads(threads);
                let mut end = 0;
                for (fence, size) in draw.fences.iter_mut().zip(sections) {
                    end += size;
                    *fence = end;
                }
                draw.fences[4] = end;
                scene.draw(&draw);
                scene.run();
                let words = target.words();
                assert!(words.iter().filter(|&&w| w != 0).count() > 500);
                let first = first.get_or_insert_with(|| words.clone());
                assert!(
                    *first == words,
                    "topology {topology}, sections {sections:?}"
                );
            }
        }
    }
    drop(target);
    scene.finish();
}

/// Twenty times the same primitive after one URB_FENCE, in every way through the pipeline; the silent kernel gives its
/// entries back unused, one for each object.
// covers: 8.4.2-03
#[test]
fn no_entry_is_lost() {
    let mut scene = Scene::new();
    let target = scene.target(SIZE, SIZE);
    for topology in [1u32, 2, 3, 4, 5, 6, 7, 8, 0xd, 0xe, 0xf, 0x10] {
        for cull in [1, 3] {
            for count in [95, 5, 1] {
                for silent in [false, true] {
                    let mut draw = prepare(&mut scene, &target, topology);
                    draw.fences = [16, 22, 32, 36, 40];
                    draw.sf.set_cull_mode(cull);
                    draw.primitive
                        .set_vertex_count_per_instance(count)
                        .set_instance_count(2);
                    match topology {
                        1 => draw.sf_kernel = kernels::sf_point(),
                        2 | 3 | 0x10 => draw.sf_kernel = kernels::sf_line(),
                        _ => {}
                    }
                    if topology < 4 || topology == 0x10 {
                        // The captured clip kernel is one for triangles.
                        draw.clip.set_clip_mode(4);
                    }
                    if silent {
                        draw.gs_kernel = Some(kernels::gs_silent());
                    }
                    scene.draw(&draw);
                    for _ in 0..20 {
                        scene.commands.extend(draw.primitive.dwords());
                    }
                    scene.run();
                }
            }
        }
    }
    drop(target);
    scene.finish();
}

/// Constants reloaded before every primitive of a batch: each draws with its own.
#[test]
fn constants_change_between_primitives() {
    let mut scene = Scene::new();
    let target = scene.target(SIZE, 4);
    let mut draw = Draw::flat(target.state());
    draw.wm_kernel = kernels::wm_const16();
    draw.wm.set_constant_urb_entry_read_length(2);
    draw.fences[4] = 67;
    draw.constants = vec![0.0; 16];
    let square = |x: u32| {
        let [l, r] = [x, x + 1].map(|v| v as f32);
        [[l, 0.0], [r, 0.0], [r, 4.0], [l, 0.0], [r, 4.0], [l, 4.0]]
            .map(|p| [p[0], p[1], 0.5, 1.0, 0.0, 0.0, 0.0, 0.0])
    };
    let all: Vec<[f32; 8]> = (0..SIZE).flat_map(square).collect();
    scene.vertices(&mut draw, &all);
    draw.topology(4, 0);
    scene.draw(&draw);
    for x in 0..SIZE {
        let mut constants = [0.0; 16];
        constants[0] = x as f32 * 4.0 / 255.0;
        let at = scene.floats(&constants);
        let mut curbe = regs::gen40::ConstantBuffer::new();
        curbe.set_valid(true).set_buffer_starting_address(at);
        scene.commands.extend(curbe.dwords());
        draw.primitive
            .set_start_vertex_location(x * 6)
            .set_vertex_count_per_instance(6);
        scene.commands.extend(draw.primitive.dwords());
    }
    scene.run();
    for x in 0..SIZE {
        assert_eq!(target.word(x, 3) >> 16 & 0xff, x * 4);
    }
    drop(target);
    scene.finish();
}
