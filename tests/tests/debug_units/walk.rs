//! From a pixel up the pipeline to the vertex shader threads.
//!
//! PRM: volume 4, 3.3.1, 3.3.2. Not covered: the breakpoints on the way (pixels.rs).

use super::bench::*;
use super::vf::indexed;
use crestline_tests::scene::Scene;
use crestline_tests::scene::draw::Draw;
use crestline_tests::scene::surface::Surface;

/// Which units a frame has.
#[derive(Clone, Copy, Debug)]
struct Units {
    gs: bool,
    clip: bool,
    cache: bool,
}

/// Four triangles at the right edge, all of which cross it, of nine vertices: 2, 5 and 8 lie beyond the edge.
/// Vertices are shared, so that the cache has work.
const INDICES: [u32; 12] = [0, 2, 1, 3, 5, 4, 6, 8, 7, 3, 2, 4];

fn vertices() -> Vec<[f32; 8]> {
    (0..9)
        .map(|i| {
            let (x, y) = (50.0 + (i % 3 % 2) as f32 * 2.0, (i / 3 * 20) as f32);
            let x = if i % 3 == 2 { 80.0 } else { x };
            let y = if i % 3 == 1 { y + 12.0 } else { y };
            [x, y, 0.5, 1.0, 1.0, 1.0, 1.0, 1.0]
        })
        .collect()
}

fn run(scene: &mut Scene, target: &Surface, units: Units) {
    let mut draw = Draw::flat(target.state());
    scene.vertices(&mut draw, &vertices());
    with_vs(&mut draw);
    draw.vs.set_vertex_cache_disable(!units.cache);
    if units.gs {
        with_gs(&mut draw);
    }
    if units.clip {
        with_clipper(&mut draw);
    }
    indexed(scene, &mut draw, 1, &INDICES);
    scene.draw(&draw);
    reset_counters(scene);
    scene.run();
}

/// Arms a unit, runs the frame again, disarms; the first eight mux values.
fn ask(
    (scene, target, units): (&mut Scene, &Surface, Units),
    [control, trigger, data]: [u32; 3],
    value: u32,
) -> Vec<u32> {
    write(scene, trigger, value);
    write(scene, control, 1);
    run(scene, target, units);
    assert!(
        complete(scene, control),
        "{control:#x} {value:#x} {units:?}"
    );
    let shown = (0..14).map(|mux| show(scene, control, mux, data)).collect();
    write(scene, control, 0);
    shown
}

// covers: 3.3.1-01, 3.3.1-02, 3.3.1-04, 3.3.2-01, 3.1-01, 3.1-02, 3.3.5-03, 3.3.6-03, 3.3.7-03, 3.3.8-02
#[test]
fn a_pixel_leads_to_the_threads_that_shaded_its_vertices() {
    let mut scene = Scene::new();
    let target = target(&mut scene);
    debug(&scene, true);
    for n in 0..8 {
        let [gs, clip, cache] = [0, 1, 2].map(|bit| n >> bit & 1 == 1);
        let units = Units { gs, clip, cache };
        // Without the clipper the drawing rectangle cuts the triangles. A pixel of each of the first three.
        for (triangle, (x, y)) in [(53, 3), (53, 23), (53, 43)].into_iter().enumerate() {
            let corners = &INDICES[triangle * 3..][..3];
            let mut frame = |unit, value| ask((&mut scene, &target, units), unit, value);
            let wiz = frame([WIZ_CTL, WIZ_STRG_VAL, WIZ_RDATA], y << 16 | x);
            let primitive = wiz[2];
            assert_eq!(primitive, triangle as u32, "{units:?}");
            let mut tags = frame([SF_CTL, SF_STRG_VAL, SF_RDATA], primitive);
            for vertex in 0..3 {
                let mut tag = tags[vertex * 2];
                if clip {
                    assert_eq!(tag >> 28, CLIP >> 28, "{units:?}");
                    tags = frame([CL_CTL, CL_STRG_VAL, CL_RDATA], tag & 0xff_ffff);
                    tag = tags[vertex * 2];
                }
                if gs {
                    assert_eq!(tag >> 28, GS >> 28, "{units:?}");
                    let inputs = frame([GS_CTL, GS_STRG_VAL, GS_RDATA], tag & 0xff_ffff);
                    tag = inputs[vertex * 2];
                }
                assert_eq!(tag >> 28, VS >> 28, "{units:?}");
                // VF: the thread that shaded the vertex of this number. VS: what it had.
                let sequence = tag & 0xff_ffff;
                assert_eq!(sequence, (triangle * 3 + vertex) as u32);
                let thread = frame([VF_CTL, VF_STRG_VAL, VF_RDATA], sequence)[0];
                let shaded = frame([VS_CTL, VS_STRG_VAL, VS_RDATA], thread);
                let count = shaded[2] as usize;
                assert!(
                    shaded[..count].contains(&corners[vertex]),
                    "{units:?} {shaded:?}"
                );
                if clip {
                    tags = frame([SF_CTL, SF_STRG_VAL, SF_RDATA], primitive);
                }
            }
        }
    }
    finish(scene, target);
}
