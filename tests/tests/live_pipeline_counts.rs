//! What a frame leaves beside pixels: counters, PIPE_CONTROL writes, registers.
//!
//! PRM: volume 1 (statistics registers), volume 2 (PIPE_CONTROL).

use crestline_tests::scene::Scene;
use crestline_tests::scene::draw::{Draw, places};
use crestline_tests::scene::kernels;
use regs::gen40::MiStoreRegisterMem;

/// Offsets of i915_reg.h: HS.. are later; IA vertices and primitives, VS, GS, CL, PS, depth count.
const IA_VERTICES: u32 = 0x2310;
const IA_PRIMITIVES: u32 = 0x2318;
const VS_INVOCATIONS: u32 = 0x2320;
const GS_INVOCATIONS: u32 = 0x2328;
const GS_PRIMITIVES: u32 = 0x2330;
const CL_INVOCATIONS: u32 = 0x2338;
const CL_PRIMITIVES: u32 = 0x2340;
const PS_INVOCATIONS: u32 = 0x2348;
const PS_DEPTH_COUNT: u32 = 0x2350;

const ALL: [u32; 9] = [
    IA_VERTICES,
    IA_PRIMITIVES,
    VS_INVOCATIONS,
    GS_INVOCATIONS,
    GS_PRIMITIVES,
    CL_INVOCATIONS,
    CL_PRIMITIVES,
    PS_INVOCATIONS,
    PS_DEPTH_COUNT,
];

fn store(scene: &mut Scene, register: u32, address: u32) {
    let mut command = MiStoreRegisterMem::new();
    command
        .set_use_global_gtt(true)
        .set_register_address(register)
        .set_memory_address(address);
    scene.commands.extend(command.dwords());
}

#[test]
fn counters_through_the_whole_pipeline() {
    let mut scene = Scene::new();
    let target = scene.target(32, 32);
    let results = scene.object(4096);
    let base = results.address().unwrap();
    let mut draw = Draw::flat(target.state());
    draw.perspective(32.0, 32.0);
    draw.gs_kernel = Some(kernels::gs_quads());
    draw.vs.set_statistics_enable(true);
    draw.gs.set_gs_output_object_statistics_enable(true);
    draw.clip.set_clipper_statistics_enable(true);
    draw.wm.set_statistics_enable(true);
    draw.cc.set_statistics_enable(true);
    // Two quads of 16x16 pixels at whole pixels, and one far outside.
    let quad = |x: f32, y: f32| {
        [[0.0, 0.0], [1.0, 0.0], [1.0, 1.0], [0.0, 1.0]]
            .map(|p| [x + p[0], y + p[1], 0.0, 1.0, 1.0, 1.0, 1.0, 1.0])
    };
    let mut vertices = quad(-1.0, -1.0).to_vec();
    vertices.extend(quad(0.0, 0.0));
    vertices.extend(quad(5.0, 0.0));
    scene.vertices(&mut draw, &vertices);
    draw.topology(7, 12);
    for (i, register) in ALL.into_iter().enumerate() {
        store(&mut scene, register, base + 4 * i as u32);
    }
    scene.commands.push(0x780b_0001);
    scene.post_sync(3, base + 0x100, 0);
    scene.draw(&draw);
    scene.post_sync(2, base + 0x108, 0);
    scene.post_sync(3, base + 0x110, 0);
    scene.post_sync(1, base + 0x118, 0x0123_4567_89ab_cdef);
    for (i, register) in ALL.into_iter().enumerate() {
        store(&mut scene, register, base + 0x40 + 4 * i as u32);
    }
    scene.run();
    let read = |at: usize| results.read32(at).unwrap();
    let counted: Vec<u32> = (0..9).map(|i| read(0x40 + 4 * i) - read(4 * i)).collect();
    // 12 vertices, 3 quads in; 6 triangles out of GS, 2 of them rejected; 512 pixels.
    assert_eq!(counted, [12, 3, 12, 3, 6, 6, 4, 512, 512]);
    assert_eq!(read(0x108), read(0x40 + 32), "PS_DEPTH_COUNT");
    let time = |at| u64::from(read(at)) | u64::from(read(at + 4)) << 32;
    assert!(time(0x100) < time(0x110));
    assert_eq!(time(0x118), 0x0123_4567_89ab_cdef);
    drop((target, results));
    scene.finish();
}

/// Without the enables nothing is counted.
#[test]
fn counters_are_off_by_default() {
    let mut scene = Scene::new();
    let target = scene.target(32, 32);
    let before = scene.rig.platform.device().status().statistics;
    let mut draw = Draw::flat(target.state());
    scene.vertices(&mut draw, &places(&[[0.0, 0.0], [32.0, 0.0], [0.0, 32.0]]));
    scene.draw(&draw);
    scene.run();
    let after = scene.rig.platform.device().status().statistics;
    assert_eq!(format!("{before:?}"), format!("{after:?}"));
    drop(target);
    scene.finish();
}
