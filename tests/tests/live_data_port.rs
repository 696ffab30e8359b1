//! Data port messages of pixel shaders on the device: buffers, and the fast clear.
//!
//! PRM: volume 4, 5.5, 5.7.3, 5.10.5, 5.10.6. Not covered: media blocks, which no pixel shader sends.

use crestline_tests::scene::draw::Draw;
use crestline_tests::scene::surface::{Layout, buffer};
use crestline_tests::scene::{Scene, kernels};
use regs::gen40::values::surface_format;

const SIZE: u32 = 32;

fn words(bytes: &[u8]) -> Vec<u32> {
    let words = bytes.as_chunks::<4>().0;
    words.iter().map(|word| u32::from_le_bytes(*word)).collect()
}

/// Every lit pixel takes its red from its own entry of one buffer and puts the bits plus one into
/// another; subspans that are not lit touch nothing.
// covers: 5.5-01, 5.10.5-01, 5.10.5-04, 5.10.5-08, 5.3-01
#[test]
fn pixels_gather_and_scatter() {
    let mut scene = Scene::new();
    let target = scene.target(SIZE, SIZE);
    let (input, output) = (scene.object(8192), scene.object(8192));
    let value = |n: u32| ((n % 256) as f32 / 255.0).to_bits();
    let bytes: Vec<u8> = (0..2048).flat_map(|n| value(n).to_le_bytes()).collect();
    input.write(0, &bytes).unwrap();
    output.write(0, &[0xee; 8192]).unwrap();
    let mut draw = Draw::flat(target.state());
    draw.wm_kernel = kernels::wm_buffers16();
    // The input ends with row 15: entries behind it read as zero.
    draw.surfaces.push(buffer(input.address().unwrap(), 128));
    draw.surfaces.push(buffer(output.address().unwrap(), 256));
    let corner = |x, y| [x, y, 0.5, 1.0, 0.0, 0.2, 0.4, 1.0];
    let triangle = [corner(1.0, 0.0), corner(32.0, 7.0), corner(9.0, 31.0)];
    scene.vertices(&mut draw, &triangle);
    scene.draw(&draw);
    scene.run();
    let mut scattered = vec![0; 8192];
    output.read(0, &mut scattered).unwrap();
    let scattered = words(&scattered);
    let mut lit = 0;
    for y in 0..SIZE {
        for x in 0..SIZE {
            let n = y * SIZE + x;
            let (pixel, found) = (target.word(x, y), scattered[n as usize]);
            if pixel == 0 {
                // Threads run whole subspans: beside a lit pixel anything may have been written.
                let subspan = (0..4).map(|i| target.word(x & !1 | i & 1, y & !1 | i >> 1));
                let lit = subspan.fold(0, |all, word| all | word) != 0;
                assert!(lit || found == 0xeeee_eeee, "{x} {y}");
                continue;
            }
            lit += 1;
            let source = if y < 16 { value(n) } else { 0 };
            let red = if y < 16 { n % 256 } else { 0 };
            assert_eq!(pixel, 0xff00_3366 | red << 16, "{x} {y}");
            assert_eq!(found, source + 1, "{x} {y}");
        }
    }
    assert!((300..600).contains(&lit), "{lit}");
    assert!(scattered[1024..].iter().all(|&word| word == 0xeeee_eeee));
    drop((target, input, output));
    scene.finish();
}

/// Replicated data clear a tiled target, the early depth test its depth buffer.
// covers: 5.7.3-01, 5.7.3-02, 5.10.6.6-01
#[test]
fn a_fast_clear_of_colour_and_depth() {
    const D24_X8: u32 = 3;
    let mut scene = Scene::new();
    for layout in [Layout::X, Layout::Y] {
        let target = scene.surface((surface_format::B8G8R8A8_UNORM, 4), (50, 21), layout);
        let depth = scene.surface((0, 4), (50, 21), Layout::Y);
        target.fill(&[0x11; 4]);
        depth.fill(&[0; 4]);
        let mut draw = Draw::flat(target.state());
        draw.depth = depth.depth_buffer(D24_X8);
        draw.cc
            .set_depth_test_enable(true)
            .set_depth_test_function(0)
            .set_depth_buffer_write_enable(true);
        draw.wm_kernel = kernels::wm_clear16();
        draw.wm.set_early_depth_test_enable(true);
        let corner = |x, y| [x, y, 0.625, 1.0, 0.2, 0.4, 0.6, 0.8];
        let (a, b, c, d) = (
            corner(0.0, 0.0),
            corner(50.0, 0.0),
            corner(50.0, 21.0),
            corner(0.0, 21.0),
        );
        scene.vertices(&mut draw, &[a, b, c, a, c, d]);
        scene.draw(&draw);
        scene.run();
        // 0.625 of 2^24 - 1, to the nearest.
        let z = (0.625f64 * 16_777_215.0).round() as u32;
        for y in 0..21 {
            for x in 0..50 {
                assert_eq!(target.word(x, y), 0xcc33_6699, "{layout:?} {x} {y}");
                assert_eq!(depth.word(x, y) & 0xff_ffff, z, "{x} {y}");
            }
        }
    }
    scene.finish();
}
