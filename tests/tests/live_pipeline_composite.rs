//! Rectangles by the X driver's kernels, beside arithmetic on the host.
//!
//! PRM: volume 2, strips and fans (RECTLIST); volume 4, chapter 4. State as gen4_render.c of xf86-video-intel sets it up:
//! no depth buffer, no provoking vertex, and a setup kernel that knows its vertices by their places.

use crestline_tests::scene::draw::{Draw, component, element, vertex_buffer};
use crestline_tests::scene::surface::Surface;
use crestline_tests::scene::{Scene, kernels};
use regs::gen40::State3dDepthBuffer;
use regs::gen40::values::surface_format as sf;

const WIDTH: u32 = 64;
const HEIGHT: u32 = 48;
const RECTLIST: u32 = 15;
/// Pixels of source and mask, across and down.
const SOURCE: u32 = 16;
/// BLENDFACTOR_ONE and BLENDFACTOR_INV_SRC_ALPHA (genxml gen4).
const ONE: u32 = 1;
const INV_SRC_ALPHA: u32 = 19;

/// A rectangle of the target, and where it begins in the source and the mask.
#[derive(Clone, Copy)]
struct Copy {
    at: [i16; 2],
    size: [i16; 2],
    source: [f32; 2],
    mask: [f32; 2],
    /// Source pixels for a pixel of the target.
    scale: [f32; 2],
}

impl Copy {
    const fn plain(at: [i16; 2], size: [i16; 2], source: [f32; 2]) -> Copy {
        Copy {
            at,
            size,
            source,
            mask: [3.0, 2.0],
            scale: [1.0, 1.0],
        }
    }

    /// Lower right, lower left, upper left: place, source, mask if there is one.
    fn vertices(&self, mask: bool) -> Vec<u32> {
        let mut all = Vec::new();
        for [right, low] in [[1, 1], [0, 1], [0, 0]] {
            let (w, h) = (self.size[0] * right, self.size[1] * low);
            // CAST: two's complement in the halves of a dword.
            let place = |n: usize, by: i16| u32::from((self.at[n] + by) as u16);
            all.push(place(0, w) | place(1, h) << 16);
            let by = [f32::from(w), f32::from(h)];
            let normalised = |texel: f32| (texel / SOURCE as f32).to_bits();
            let source = [0, 1].map(|n| self.source[n] + by[n] * self.scale[n]);
            all.extend(source.map(normalised));
            if mask {
                let mask = [0, 1].map(|n| self.mask[n] + by[n]);
                all.extend(mask.map(normalised));
            }
        }
        all
    }

    /// Which pixels of source and mask a pixel of the target gets.
    fn from(&self, x: u32, y: u32) -> Option<[(u32, u32); 2]> {
        let into = [
            x as f32 - f32::from(self.at[0]),
            y as f32 - f32::from(self.at[1]),
        ];
        let inside = (0..2).all(|n| into[n] >= 0.0 && into[n] < f32::from(self.size[n]));
        // The samplers repeat.
        let texel =
            |n: usize, start: f32, scale: f32| (start + (into[n] + 0.5) * scale) as u32 % SOURCE;
        inside.then(|| {
            [
                (
                    texel(0, self.source[0], self.scale[0]),
                    texel(1, self.source[1], self.scale[1]),
                ),
                (texel(0, self.mask[0], 1.0), texel(1, self.mask[1], 1.0)),
            ]
        })
    }
}

fn source_pixel((x, y): (u32, u32)) -> [u8; 4] {
    [x * 15 + 4, y * 13 + 21, x * y + 7, 255 - x * 9].map(|v| v as u8)
}

fn mask_pixel((x, y): (u32, u32)) -> [u8; 4] {
    [255 - y * 11, x * 14, 40 + x + y, y * 16 + 3].map(|v| v as u8)
}

fn texture(scene: &mut Scene, pixel: impl Fn((u32, u32)) -> [u8; 4]) -> Surface {
    let texture = scene.target(SOURCE, SOURCE);
    for y in 0..SOURCE {
        for x in 0..SOURCE {
            texture.set(x, y, &pixel((x, y)));
        }
    }
    texture
}

/// A draw of the kernels' pieces onto a target, with source and mask behind it in the binding table.
fn set_up(scene: &mut Scene, target: &Surface, pieces: &[&str], mask: bool) -> Draw {
    use component::{ONE, SRC};
    let mut draw = Draw::flat(target.state());
    draw.depth = State3dDepthBuffer::new();
    draw.sf_kernel = kernels::x_driver(&[if mask { "exa_sf_mask" } else { "exa_sf" }]);
    draw.wm_kernel = kernels::x_driver(pieces);
    draw.sf.set_triangle_strip_list_provoking_vertex_select(0);
    draw.wm
        .set_grf_register_count_0(1)
        .set_depth_coefficient_urb_read_offset(0)
        .set_dispatch_grf_start_register_for_constant_setup_data_0(3)
        .set_setup_urb_entry_read_length(if mask { 4 } else { 2 });
    // Two samplers of zeros: nearest, repeating.
    let samplers = scene.state(32, &[0; 8]);
    draw.wm
        .set_sampler_state_pointer(samplers)
        .set_sampler_count(1);
    draw.surfaces.push(texture(scene, source_pixel).state());
    draw.elements = vec![
        element(0, 0, sf::R16G16_SSCALED, 4, [SRC, SRC, ONE, ONE]),
        element(0, 4, sf::R32G32_FLOAT, 8, [SRC, SRC, ONE, ONE]),
    ];
    if mask {
        draw.surfaces.push(texture(scene, mask_pixel).state());
        draw.elements
            .push(element(0, 12, sf::R32G32_FLOAT, 12, [SRC, SRC, ONE, ONE]));
    }
    draw
}

/// Draws the rectangles and compares all pixels with what `want` makes of source and mask.
fn compare(
    pieces: &[&str],
    mask: bool,
    blend: bool,
    copies: &[Copy],
    tolerance: u8,
    want: impl Fn([f64; 4], [f64; 4]) -> [f64; 4],
) {
    const BEFORE: [u8; 4] = [16, 100, 200, 80];
    let mut scene = Scene::new();
    let target = scene.target(WIDTH, HEIGHT);
    target.fill(&BEFORE);
    let mut draw = set_up(&mut scene, &target, pieces, mask);
    if blend {
        draw.surfaces[0].set_color_blend_enable(true);
        draw.cc
            .set_color_buffer_blend_enable(true)
            .set_source_blend_factor(ONE)
            .set_destination_blend_factor(INV_SRC_ALPHA);
    }
    let words: Vec<u32> = copies.iter().flat_map(|c| c.vertices(mask)).collect();
    let address = scene.state(64, &words);
    draw.vertex_buffers = vec![vertex_buffer(0, address, if mask { 20 } else { 12 })];
    draw.topology(RECTLIST, copies.len() as u32 * 3);
    scene.draw(&draw);
    scene.run();
    let float = |pixel: [u8; 4]| pixel.map(|v| f64::from(v) / 255.0);
    for y in 0..HEIGHT {
        for x in 0..WIDTH {
            let mut expected = float(BEFORE);
            if let Some([source, mask]) = copies.iter().find_map(|c| c.from(x, y)) {
                let new = want(float(source_pixel(source)), float(mask_pixel(mask)));
                let keep = if blend { 1.0 - new[3] } else { 0.0 };
                expected = std::array::from_fn(|n| (new[n] + expected[n] * keep).clamp(0.0, 1.0));
            }
            for (n, &got) in target.pixel(x, y).iter().enumerate() {
                let apart = (f64::from(got) - expected[n] * 255.0).abs();
                assert!(
                    apart <= f64::from(tolerance) + 0.5,
                    "{pieces:?} ({x}, {y}) byte {n}: {got}, not {}",
                    expected[n] * 255.0
                );
            }
        }
    }
    drop(target);
    scene.finish();
}

const AFFINE: [&str; 4] = [
    "exa_wm_xy",
    "exa_wm_src_affine",
    "exa_wm_src_sample_argb",
    "exa_wm_write",
];

#[test]
fn sources_arrive_where_they_belong() {
    let copies = [
        Copy::plain([5, 3], [11, 9], [2.0, 1.0]),
        Copy::plain([20, 0], [16, 16], [0.0, 0.0]),
        Copy::plain([0, 20], [1, 13], [15.0, 2.0]),
        Copy {
            scale: [0.5, 0.25],
            ..Copy::plain([30, 17], [26, 30], [1.0, 4.0])
        },
    ];
    compare(&AFFINE, false, false, &copies, 0, |source, _| source);
}

#[test]
fn sources_blend_over_the_target() {
    let copies = [Copy::plain([9, 7], [16, 15], [0.0, 1.0])];
    compare(&AFFINE, false, true, &copies, 1, |source, _| source);
}

#[test]
fn masks_multiply_sources() {
    let copies = [
        Copy::plain([2, 1], [13, 14], [1.0, 0.0]),
        Copy::plain([33, 22], [12, 7], [4.0, 9.0]),
    ];
    let kernel = |product| {
        [
            "exa_wm_xy",
            "exa_wm_src_affine",
            "exa_wm_src_sample_argb",
            "exa_wm_mask_affine",
            "exa_wm_mask_sample_argb",
            product,
            "exa_wm_write",
        ]
    };
    let each = |a: [f64; 4], b: [f64; 4]| std::array::from_fn(|n| a[n] * b[n]);
    compare(&kernel("exa_wm_noca"), true, false, &copies, 1, |s, m| {
        each(s, [m[3]; 4])
    });
    compare(&kernel("exa_wm_ca"), true, true, &copies, 1, each);
    compare(
        &kernel("exa_wm_ca_srcalpha"),
        true,
        false,
        &copies,
        1,
        |s, m| each(m, [s[3]; 4]),
    );
}

/// The kernel of the driver's video: Cr in red, Y in green, Cb in blue; BT.601 by the constants of its own source.
#[test]
fn video_becomes_colours() {
    let pieces = [
        "exa_wm_xy",
        "exa_wm_src_affine",
        "exa_wm_src_sample_argb",
        "exa_wm_yuv_rgb_bt601",
        "exa_wm_write",
    ];
    let copies = [Copy::plain([8, 8], [16, 16], [0.0, 0.0])];
    compare(&pieces, false, false, &copies, 1, |source, _| {
        let [cb, y, cr, _] = source;
        let y = (y - 16.0 / 255.0) * 1.164;
        let (cb, cr) = (cb - 128.0 / 255.0, cr - 128.0 / 255.0);
        let colour = [y + 2.017 * cb, y - 0.813 * cr - 0.392 * cb, y + 1.596 * cr];
        let [b, g, r] = colour.map(|v| v.clamp(0.0, 1.0));
        [b, g, r, 1.0]
    });
}
