//! Textures through sampler threads: wrap modes, filters, levels, cubes, volumes.
//!
//! PRM: volume 4, chapter 4. The pixel kernel samples at its interpolated colour; expectations are host arithmetic
//! on known texels.

use crestline_tests::scene::draw::Draw;
use crestline_tests::scene::surface::{Layout, Surface};
use crestline_tests::scene::{Scene, kernels};
use regs::gen40::values::surface_format as sf;
use regs::gen40::{SamplerState, SurfaceState};

const SIZE: u32 = 32;
const BORDER: [f32; 4] = [0.0, 1.0, 0.5, 0.25];

/// Wrap modes of SAMPLER_STATE: WRAP, MIRROR, CLAMP, CUBE, CLAMP_BORDER.
const WRAP: u32 = 0;
const MIRROR: u32 = 1;
const CLAMP: u32 = 2;
const CLAMP_BORDER: u32 = 4;

fn sampler(filter: u32, wrap: u32) -> SamplerState {
    let mut s = SamplerState::new();
    s.set_min_mode_filter(filter)
        .set_mag_mode_filter(filter)
        .set_tcx_address_control_mode(wrap)
        .set_tcy_address_control_mode(wrap)
        .set_tcz_address_control_mode(wrap);
    if filter == 1 {
        s.set_u_address_min_filter_rounding_enable(true)
            .set_u_address_mag_filter_rounding_enable(true)
            .set_v_address_min_filter_rounding_enable(true)
            .set_v_address_mag_filter_rounding_enable(true)
            .set_r_address_min_filter_rounding_enable(true)
            .set_r_address_mag_filter_rounding_enable(true);
    }
    s
}

/// Draws a full target with texture coordinates from `low` at pixel (0, 0)'s corner to `high` at the last one's.
fn draw(
    scene: &mut Scene,
    target: &Surface,
    texture: SurfaceState,
    sampler: SamplerState,
    uvr: impl Fn(f32, f32) -> [f32; 3],
) {
    let mut draw = Draw::flat(target.state());
    draw.sf_kernel = kernels::captured("sf c_gouraud");
    draw.wm_kernel = kernels::wm_tex16();
    draw.surfaces.push(texture);
    draw.sampler = Some((sampler, BORDER));
    draw.wm.set_sampler_count(1);
    let s = SIZE as f32;
    let corner = |x: f32, y: f32| {
        let [u, v, r] = uvr(x / s, y / s);
        [x, y, 0.5, 1.0, u, v, r, 0.0]
    };
    let v = [
        corner(0.0, 0.0),
        corner(s, 0.0),
        corner(s, s),
        corner(0.0, 0.0),
        corner(s, s),
        corner(0.0, s),
    ];
    scene.vertices(&mut draw, &v);
    scene.draw(&draw);
    scene.run();
}

fn texel(x: u32, y: u32) -> [u8; 4] {
    [
        (x * 60 + 5) as u8,
        (y * 55 + 9) as u8,
        (x * y * 9) as u8,
        255 - (x * 40) as u8,
    ]
}

fn float(t: [u8; 4]) -> [f32; 4] {
    t.map(|v| f32::from(v) / 255.0)
}

fn target(scene: &mut Scene) -> Surface {
    scene.surface((sf::R32G32B32A32_FLOAT, 16), (SIZE, SIZE), Layout::Linear)
}

fn at(target: &Surface, x: u32, y: u32) -> [f32; 4] {
    let bytes = target.pixel(x, y);
    std::array::from_fn(|i| f32::from_le_bytes(bytes[i * 4..i * 4 + 4].try_into().unwrap()))
}

/// Texel number after wrapping; `None` is the border.
fn wrap(mode: u32, i: i32, size: i32) -> Option<u32> {
    match mode {
        WRAP => Some(i.rem_euclid(size) as u32),
        MIRROR => {
            let i = i.rem_euclid(size * 2);
            Some(i.min(size * 2 - 1 - i) as u32)
        }
        CLAMP => Some(i.clamp(0, size - 1) as u32),
        _ => (0..size).contains(&i).then_some(i as u32),
    }
}

#[test]
fn wrap_modes_and_filters() {
    let mut scene = Scene::new();
    let target = target(&mut scene);
    for layout in [Layout::Linear, Layout::X, Layout::Y] {
        let texture = scene.surface((sf::R8G8B8A8_UNORM, 4), (4, 4), layout);
        for y in 0..4 {
            for x in 0..4 {
                texture.set(x, y, &texel(x, y));
            }
        }
        for mode in [WRAP, MIRROR, CLAMP, CLAMP_BORDER] {
            for filter in [0, 1] {
                // Two and a half times round, from -0.75.
                let place = |t: f32| -0.75 + 2.5 * t;
                draw(
                    &mut scene,
                    &target,
                    texture.state(),
                    sampler(filter, mode),
                    |x, y| [place(x), place(y), 0.0],
                );
                let fetch = |x: i32, y: i32| match (wrap(mode, x, 4), wrap(mode, y, 4)) {
                    (Some(x), Some(y)) => float(texel(x, y)),
                    _ => BORDER,
                };
                for y in 0..SIZE {
                    for x in 0..SIZE {
                        let [u, v] = [x, y].map(|p| place((p as f32 + 0.5) / SIZE as f32) * 4.0);
                        let expected = if filter == 0 {
                            fetch(u.floor() as i32, v.floor() as i32)
                        } else {
                            let (u, v) = (u - 0.5, v - 0.5);
                            let (i, j) = (u.floor() as i32, v.floor() as i32);
                            let (a, b) = (u - u.floor(), v - v.floor());
                            let t = [
                                fetch(i, j),
                                fetch(i + 1, j),
                                fetch(i, j + 1),
                                fetch(i + 1, j + 1),
                            ];
                            std::array::from_fn(|c| {
                                (t[0][c] * (1.0 - a) + t[1][c] * a) * (1.0 - b)
                                    + (t[2][c] * (1.0 - a) + t[3][c] * a) * b
                            })
                        };
                        let drawn = at(&target, x, y);
                        // Eight bits of filter weight.
                        let near = (0..4).all(|c| (drawn[c] - expected[c]).abs() < 0.012);
                        assert!(
                            near,
                            "{layout:?} mode {mode} filter {filter} at {x}, {y}: {drawn:?} {expected:?}"
                        );
                    }
                }
            }
        }
        drop(texture);
    }
    drop(target);
    scene.finish();
}

/// Levels by minification: level n is one colour, the coordinates change by 2^n texels a pixel.
// covers: 4.2.1-03, 4.2.1.3-02
#[test]
fn levels() {
    let mut scene = Scene::new();
    let target = target(&mut scene);
    // 64x64: level 0 at (0, 0), level 1 at (0, 64), level 2 to the right of it, the rest below that.
    let texture = scene.surface_rows((sf::R32_FLOAT, 4), (64, 64), 100, Layout::Linear);
    let mut origin = (0, 0);
    for level in 0..6u32 {
        let size = 64 >> level;
        for y in 0..size {
            for x in 0..size {
                texture.set(origin.0 + x, origin.1 + y, &(level as f32).to_le_bytes());
            }
        }
        origin = match level {
            0 => (0, 64),
            1 => (32, 64),
            // Levels are aligned to two rows.
            _ => (origin.0, origin.1 + size.next_multiple_of(2)),
        };
    }
    let mut state = texture.state();
    state.set_mip_count_lod(5);
    for mip in [1, 3] {
        for scale in [0.25f32, 1.0, 2.0, 2.8, 4.0, 11.3, 16.0, 200.0] {
            for (min, max, bias) in [(0.0, 13.0, 0.0), (1.0, 3.0, 0.0), (0.0, 13.0, 1.0)] {
                let mut s = sampler(0, WRAP);
                s.set_mip_mode_filter(mip)
                    .set_min_lod(min)
                    .set_max_lod(max)
                    .set_texture_lod_bias(bias)
                    .set_lod_preclamp_enable(true);
                let span = SIZE as f32 * scale / 64.0;
                draw(&mut scene, &target, state, s, |x, y| {
                    [x * span, y * span, 0.0]
                });
                let lod = (scale.log2() + bias).clamp(min, max).clamp(0.0, 5.0);
                let expected = if mip == 1 { (lod + 0.5).floor() } else { lod };
                let drawn = at(&target, 13, 17)[0];
                // The LOD has a fraction of a few bits.
                let limit = if mip == 1 { 0.0 } else { 0.05 };
                assert!(
                    (drawn - expected).abs() <= limit,
                    "mip filter {mip}, scale {scale}, {min}..{max}, bias {bias}: {drawn} {expected}"
                );
            }
        }
    }
    drop((target, texture));
    scene.finish();
}

/// Volume maps: slices of level 0 lie below one another, as many a row as volume 1 says: one.
#[test]
fn volume() {
    let mut scene = Scene::new();
    let target = target(&mut scene);
    let texture = scene.surface_rows((sf::R32_FLOAT, 4), (8, 8), 32, Layout::Linear);
    for slice in 0..4 {
        for y in 0..8 {
            for x in 0..8 {
                let value = (slice * 100 + y * 10 + x) as f32;
                texture.set(x, slice * 8 + y, &value.to_le_bytes());
            }
        }
    }
    let mut state = texture.state();
    state.set_surface_type(2).set_depth(3);
    for r in [0.125f32, 0.3, 0.62, 0.99] {
        draw(&mut scene, &target, state, sampler(0, CLAMP), |x, y| {
            [x, y, r]
        });
        for y in 0..SIZE {
            for x in 0..SIZE {
                let slice = (r * 4.0).floor();
                let expected = slice * 100.0 + (y / 4 * 10 + x / 4) as f32;
                assert_eq!(at(&target, x, y)[0], expected, "{r} at {x}, {y}");
            }
        }
    }
    // Linear between slices 1 and 2.
    draw(&mut scene, &target, state, sampler(1, CLAMP), |_, _| {
        [0.5 / 8.0, 0.5 / 8.0, 0.5]
    });
    let drawn = at(&target, 5, 5)[0];
    assert!((drawn - 150.0).abs() < 1.0, "{drawn}");
    drop((target, texture));
    scene.finish();
}

/// Cube maps: faces +X -X +Y -Y +Z -Z, laid out as the slices of a volume map (Mesa isl, ISL_DIM_LAYOUT_GFX4_3D
/// for cubes before G45), s and t as OpenGL 2.1 table 3.19 has them.
#[test]
fn cube() {
    let mut scene = Scene::new();
    let target = target(&mut scene);
    let pitch = 8;
    let texture = scene.surface_rows((sf::R32_FLOAT, 4), (8, 8), pitch * 6, Layout::Linear);
    for face in 0..6 {
        for y in 0..8 {
            for x in 0..8 {
                let value = (face * 100 + y * 10 + x) as f32;
                texture.set(x, face * pitch + y, &value.to_le_bytes());
            }
        }
    }
    let mut state = texture.state();
    state
        .set_surface_type(3)
        .set_cube_face_enable_positive_x(true)
        .set_cube_face_enable_negative_x(true)
        .set_cube_face_enable_positive_y(true)
        .set_cube_face_enable_negative_y(true)
        .set_cube_face_enable_positive_z(true)
        .set_cube_face_enable_negative_z(true);
    // Direction for (s, t) in -1..1 on each face.
    let directions: [fn(f32, f32) -> [f32; 3]; 6] = [
        |s, t| [1.0, -t, -s],
        |s, t| [-1.0, -t, s],
        |s, t| [s, 1.0, t],
        |s, t| [s, -1.0, -t],
        |s, t| [s, -t, 1.0],
        |s, t| [-s, -t, -1.0],
    ];
    for (face, direction) in directions.into_iter().enumerate() {
        for scale in [1.0f32, 0.3] {
            draw(&mut scene, &target, state, sampler(0, 3), |x, y| {
                direction(x * 2.0 - 1.0, y * 2.0 - 1.0).map(|v| v * scale)
            });
            for y in 0..SIZE {
                for x in 0..SIZE {
                    let expected = (face as u32 * 100 + y / 4 * 10 + x / 4) as f32;
                    assert_eq!(at(&target, x, y)[0], expected, "face {face} at {x}, {y}");
                }
            }
        }
    }
    drop((target, texture));
    scene.finish();
}

/// A texture drawn in the same batch: the sampler sees it behind a flush.
#[test]
fn drawn_textures() {
    let mut scene = Scene::new();
    let target = target(&mut scene);
    let texture = scene.surface((sf::R8G8B8A8_UNORM, 4), (4, 4), Layout::Y);
    for round in 0..4u32 {
        let colour = [0.2, 0.4, 0.6, 0.8].map(|v| v * round as f32 / 3.0);
        let mut first = Draw::flat(texture.state());
        let corner = |x: f32, y: f32| [x, y, 0.5, 1.0, colour[0], colour[1], colour[2], colour[3]];
        scene.vertices(
            &mut first,
            &[corner(0.0, 0.0), corner(9.0, 0.0), corner(0.0, 9.0)],
        );
        scene.draw(&first);
        // PIPE_CONTROL with write cache flush and nothing else.
        scene.post_sync(0, 0, 0);
        draw(
            &mut scene,
            &target,
            texture.state(),
            sampler(0, WRAP),
            |x, y| [x, y, 0.0],
        );
        let drawn = at(&target, 1, 1);
        let near = (0..4).all(|c| (drawn[c] - colour[c]).abs() <= 0.5 / 255.0 + 1e-6);
        assert!(near, "{drawn:?} {colour:?}");
    }
    drop((target, texture));
    scene.finish();
}
