//! State variables: latched bases, chrominance of odd texels, stateless accesses.
//!
//! PRM: volume 4, 3.3.2 (SVG debug), 3.3.3, 5.2.2. The revision number of the early stepping is a guess. Not covered:
//! the texture cache that software has to invalidate, which the model does not have.

use super::bench::*;
use crestline_tests::scene::draw::Draw;
use crestline_tests::scene::surface::Layout;
use crestline_tests::scene::{Scene, kernels};
use kernel::time::Delta;
use regs::gen40::values::{surface_format as sf, surftype};
use regs::gen40::{SamplerState, SurfaceState};

/// Batches of two contexts: the first is debugged, the second is not.
// covers: 3.3.3-01, 3.3.3-02, 3.2-02, 3.2.1-05, 3.3.3.1-R, 3.3.3.2-R
#[test]
fn bases_of_the_debugged_context_stay() {
    let mut scene = Scene::new();
    let target = target(&mut scene);
    let mut bases = |on: bool, n: u32| {
        debug(&scene, on);
        // STATE_BASE_ADDRESS with all modify enables, STATE_SIP.
        let [a, b, c] = [1, 2, 3].map(|base| (n + base) << 16 | 1);
        let bound = (n + 4) << 20 | 1;
        scene
            .commands
            .extend([0x6101_0004, a, b, c, bound, bound + (1 << 20)]);
        scene.commands.extend([0x6102_0000, (n + 6) << 12 | 0x230]);
        scene.run();
        let shown: Vec<u32> = (0..8)
            .map(|mux| show(&scene, SVG_CTL, mux, SVG_RDATA))
            .collect();
        shown
    };
    let of = |n: u32| {
        let bound = (n + 4) << 20;
        let [a, b, c] = [1, 2, 3].map(|base| (n + base) << 16);
        [
            a,
            b,
            c,
            bound,
            bound + (1 << 20),
            (n + 6) << 12 | 0x230,
            0,
            0,
        ]
    };
    assert_eq!(bases(true, 0x10), of(0x10));
    assert_eq!(bases(false, 0x20), of(0x10));
    assert_eq!(bases(true, 0x30), of(0x30));
    // With the bases at zero again frames can be drawn; the latches follow, for debugging is on.
    let draw = grid(&mut scene, &target, 1);
    scene.draw(&draw);
    scene.run();
    assert_eq!(show(&scene, SVG_CTL, 0, SVG_RDATA), 0);
    assert_eq!(show(&scene, SVG_CTL, 1, SVG_RDATA), 0);
    finish(scene, target);
}

/// A row of YCRCB_NORMAL texels, two to four bytes Y0 Cb Y1 Cr, drawn a texel to a pixel: red, green and blue are
/// Cr, Y and Cb.
// covers: 3.3.3-03, 3.3.3.3-R
#[test]
fn chrominance_of_odd_texels() {
    const PAIRS: [[u8; 4]; 8] = [
        [10, 100, 11, 200],
        [20, 120, 21, 180],
        [30, 60, 31, 60],
        [40, 255, 41, 1],
        [50, 0, 51, 254],
        [60, 17, 61, 18],
        [70, 18, 71, 17],
        [80, 90, 81, 230],
    ];
    let mut scene = Scene::new();
    let target = target(&mut scene);
    let bytes = PAIRS.concat();
    let texture = scene.object(4096);
    for row in 0..4 {
        texture.write(row * 64, &bytes).unwrap();
    }
    let mut state = SurfaceState::new();
    state
        .set_surface_type(surftype::SURFTYPE_2D)
        .set_surface_format(sf::YCRCB_NORMAL)
        .set_surface_base_address(texture.address().unwrap())
        .set_width(15)
        .set_height(3)
        .set_surface_pitch(63);
    for (on, interpolate) in [(true, false), (true, true), (false, true), (false, false)] {
        target.fill(&[0xee; 16]);
        let mut draw = Draw::flat(target.state());
        draw.sf_kernel = kernels::captured("sf c_gouraud");
        draw.wm_kernel = kernels::wm_tex16();
        draw.surfaces.push(state);
        let mut sampler = SamplerState::new();
        // Clamp.
        sampler
            .set_tcx_address_control_mode(2)
            .set_tcy_address_control_mode(2);
        draw.sampler = Some((sampler, [0.0; 4]));
        draw.wm.set_sampler_count(1);
        let corner = |x: f32, y: f32| [x, y, 0.5, 1.0, x / 16.0, y / 4.0, 0.0, 0.0];
        let corners = [
            corner(0.0, 0.0),
            corner(16.0, 0.0),
            corner(16.0, 4.0),
            corner(0.0, 4.0),
        ];
        let [a, b, c, d] = corners;
        scene.vertices(&mut draw, &[a, b, c, a, c, d]);
        debug(&scene, on);
        write(&scene, SVG_WORK_CTL, u32::from(interpolate));
        scene.draw(&draw);
        scene.run();
        for x in 0..16usize {
            let [y0, cb, y1, cr] = PAIRS[x / 2].map(f64::from);
            let luma = if x % 2 == 0 { y0 } else { y1 };
            // The last texel has no neighbour to the right.
            let [_, next_cb, _, next_cr] = PAIRS[(x / 2 + 1).min(7)].map(f64::from);
            let mean = interpolate && x % 2 == 1;
            let cr = if mean { f64::midpoint(cr, next_cr) } else { cr };
            let cb = if mean { f64::midpoint(cb, next_cb) } else { cb };
            let found = target.bits(x as u32, 1).map(f32::from_bits);
            for (found, expected) in found.into_iter().zip([cr, luma, cb]) {
                let off = (f64::from(found) * 255.0 - expected).abs();
                assert!(off < 1e-3, "{interpolate} {x}: {found:?} {expected}");
            }
        }
    }
    write(&scene, SVG_WORK_CTL, 0);
    drop(texture);
    finish(scene, target);
}

/// A kernel that reads without a surface. Parts of an early stepping refuse that until bit 4 is set.
// covers: 3.3.3-04, 3.3.3-06, 3.3.3.3-R, 5.2.2-02
#[test]
fn stateless_accesses_are_allowed_by_the_part_or_the_bit() {
    for (part, bit, allowed) in [
        ("gm965", false, true),
        ("gm965", true, true),
        ("g965", false, true),
        ("g965-b", false, false),
        ("g965-b", true, true),
    ] {
        let mut scene = Scene::on(part);
        // The kernel has this address.
        let input = scene.object(8192);
        assert_eq!(input.address(), Some(0x0100_0000));
        let value = |n: u32| 0x3f80_0000 + n;
        let bytes: Vec<u8> = (0..2048).flat_map(|n| value(n).to_le_bytes()).collect();
        input.write(0, &bytes).unwrap();
        let output = scene.object(8192);
        let target = scene.surface((sf::R32G32B32A32_FLOAT, 16), (32, 32), Layout::Linear);
        let mut draw = Draw::flat(target.state());
        draw.wm_kernel = kernels::wm_stateless16();
        let mut buffer = SurfaceState::new();
        buffer
            .set_surface_type(surftype::SURFTYPE_BUFFER)
            .set_surface_format(sf::R32G32B32A32_FLOAT)
            .set_surface_base_address(output.address().unwrap())
            .set_width(127)
            .set_height(3)
            .set_surface_pitch(15);
        draw.surfaces.extend([buffer, buffer]);
        let corner = |x, y| [x, y, 0.5, 1.0, 0.0, 0.25, 0.5, 1.0];
        scene.vertices(
            &mut draw,
            &[corner(32.0, 32.0), corner(0.0, 32.0), corner(0.0, 0.0)],
        );
        draw.topology(15, 3);
        write(&scene, SVG_WORK_CTL, u32::from(bit) << 4);
        scene.draw(&draw);
        let frame = scene.submit();
        // The message is dropped, and the thread waits for its answer for ever.
        let ended = frame.wait(Delta::from_millis(5));
        assert_eq!(ended.is_ok(), allowed, "{part} {bit}");
        // Bit 9 of the data port's error code: illegal stateless mode (3.4.7.2, mux value 0).
        let error = read(&scene, DP_RDATA);
        assert_eq!(error >> 9 & 1 == 1, !allowed, "{part} {bit}: {error:#x}");
        if !allowed {
            scene.rig.device.reset().unwrap();
        }
        frame.release();
        for y in 0..32 {
            for x in 0..32 {
                let red = target.bits(x, y)[0];
                let expected = if allowed { value(y * 32 + x) } else { 0 };
                assert_eq!(red, expected, "{part} {bit} {x} {y}");
            }
        }
        drop((input, output, target));
        if allowed {
            scene.finish();
        } else {
            scene.finish_after_fault();
        }
    }
}
