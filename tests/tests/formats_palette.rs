//! Palette textures: 3DSTATE_SAMPLER_PALETTE_LOAD0 and the two formats that use it.
//!
//! PRM: volume 4 4.7.6 (RGB888 entries), 4.7.2.1.1 (P4A4, A4P4). The name gives the order from bit 0, as in Mesa's
//! isl_format_layout.csv.

use crestline_tests::scene::draw::Draw;
use crestline_tests::scene::surface::Layout;
use crestline_tests::scene::{Scene, kernels};
use fastrand::Rng;
use regs::gen40::SamplerState;
use regs::gen40::values::surface_format as sf;

const SIZE: u32 = 16;

// covers: 4.7.6-01, 4.7.6-02, 4.3-03
#[test]
fn every_byte_of_both_formats() {
    let mut scene = Scene::new();
    let target = scene.surface((sf::R32G32B32A32_FLOAT, 16), (SIZE, SIZE), Layout::Linear);
    let mut random = Rng::with_seed(4);
    let mut palette = [0u32; 16];
    // A full load, then one of five entries, which leaves the others alone.
    for (format, entries) in [(0x147, 16), (0x148, 16), (0x147, 5), (0x148, 1)] {
        palette[..entries].fill_with(|| random.u32(..) & 0xff_ffff);
        let texture = scene.surface((format, 1), (SIZE, SIZE), Layout::Linear);
        for i in 0..256 {
            texture.set(i % SIZE, i / SIZE, &[i as u8]);
        }
        scene.commands.push(0x7902_0000 | (entries as u32 - 1));
        scene.commands.extend(&palette[..entries]);
        let mut draw = Draw::flat(target.state());
        draw.sf_kernel = kernels::captured("sf c_gouraud");
        draw.wm_kernel = kernels::wm_tex16();
        draw.surfaces.push(texture.state());
        draw.sampler = Some((SamplerState::new(), [0.0; 4]));
        draw.wm.set_sampler_count(1);
        let s = SIZE as f32;
        let corner = |u: f32, v: f32| [u * s, v * s, 0.5, 1.0, u, v, 0.0, 0.0];
        let corners = [
            (0.0, 0.0),
            (1.0, 0.0),
            (1.0, 1.0),
            (0.0, 0.0),
            (1.0, 1.0),
            (0.0, 1.0),
        ];
        scene.vertices(&mut draw, &corners.map(|(u, v)| corner(u, v)));
        scene.draw(&draw);
        scene.run();
        for i in 0..256u32 {
            let (low, high) = (i & 15, i >> 4);
            let (index, alpha) = if format == 0x147 {
                (low, high)
            } else {
                (high, low)
            };
            let colour = palette[index as usize];
            let want: Vec<u8> = [colour >> 16, colour >> 8, colour]
                .map(|byte| (byte & 0xff) as f32 / 255.0)
                .into_iter()
                .chain([alpha as f32 / 15.0])
                .flat_map(f32::to_le_bytes)
                .collect();
            assert_eq!(
                target.pixel(i % SIZE, i / SIZE),
                want,
                "{format:#x} texel {i:#x}"
            );
        }
    }
    drop(target);
    scene.finish();
}
