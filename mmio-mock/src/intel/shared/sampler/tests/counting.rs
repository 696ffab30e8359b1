//! Coordinates that count texels.
//!
//! Expectations: beignet 1.3.2 reads `image2d_t` and `image3d_t` with CLK_NORMALIZED_COORDS_FALSE at whole numbers, one for each texel
//! (src/kernels/cl_internal_copy_image_2d_to_buffer.cl, cl_internal_copy_image_3d_to_buffer.cl), and its `cl_mem_copy_image_region` and
//! `intel_buffer_get_tiling_align` say where the texels lie: slices a whole number of two rows apart.

use super::lanes::random_words;
use super::spatial::{answers, plain_request};
use super::*;
use crate::intel::shared::sampler::address::Mode;
use crate::intel::shared::sampler::state::Filter;
use crate::intel::surface::SurfaceDesc;
use crate::intel::surface::format::codes as c;
use regs::gen70;

/// As beignet has it.
fn counting(filter: Filter) -> Sampler {
    counting_by(Mode::Clamp, filter)
}

fn counting_by(mode: Mode, filter: Filter) -> Sampler {
    Sampler {
        unnormalized: true,
        min: filter,
        mag: filter,
        modes: [mode; 3],
        ..Sampler::default()
    }
}

/// RENDER_SURFACE_STATE of `intel_gpgpu_bind_image_gen7` without tiles.
fn image(kind: u32, format: u32, [width, height, depth]: [u32; 3], pitch: u32) -> SurfaceDesc {
    let state = gen70::SurfaceState::default()
        .with_surface_type(kind)
        .with_surface_format(format)
        .with_surface_base_address(DATA)
        .with_width(width - 1)
        .with_height(height - 1)
        .with_depth(depth - 1)
        .with_render_target_view_extent(depth - 1)
        .with_surface_pitch(pitch - 1);
    let readers = crate::intel::r#gen::readers(isa::Verx10::from_times_ten(70)).unwrap();
    readers.functions.surface(state.dwords())
}

/// Samples eight places; both paths agree.
fn sample(bench: &mut Bench, places: &[[f32; 3]; 8]) -> [[u32; 8]; 4] {
    let coordinate = |d: usize| places.map(|place| place[d].to_bits());
    let mut payload = vec![[0, 0, 0, 0x40, 0, 0, 0, 0]];
    payload.extend([coordinate(0), coordinate(1), coordinate(2)]);
    payload.extend([[0; 8]; 9]);
    let [once, ready, general] = answers(bench, &plain_request(Simd::Simd8), &payload, 0xff);
    assert_eq!(once, ready);
    assert_eq!(once, general);
    once[..4].try_into().unwrap()
}

#[test]
fn whole_numbers_are_texels() {
    let mut bench = Bench::with_pages(false);
    random_words(&mut bench, &mut fastrand::Rng::with_seed(1));
    for width in 1..=300u32 {
        let desc = image(1, c::R8_UINT, [width, 1, 1], 512);
        bench.keep(&desc, counting(Filter::Nearest));
        for first in (0..width).step_by(8) {
            let places: [_; 8] = std::array::from_fn(|n| [(first + n as u32) as f32, 0.0, 0.0]);
            let got = sample(&mut bench, &places)[0];
            for (n, got) in (first..).zip(got) {
                let at = GpuAddr::from(DATA + n.min(width - 1));
                assert_eq!(
                    got,
                    u32::from(bench.mem.read_u8(at).unwrap()),
                    "{n} of {width}"
                );
            }
        }
    }
}

/// "Unnormalized values range from [0,n-1] across the surface, [...] with values outside the surface being clamped to the surface"
/// (PRM: volume 4, 4.8.1.5): no mode folds them. beignet's copies of images have mode wrap.
#[test]
fn no_mode_folds_them() {
    let mut bench = Bench::with_pages(false);
    random_words(&mut bench, &mut fastrand::Rng::with_seed(4));
    let modes = [Mode::Wrap, Mode::Mirror, Mode::MirrorOnce, Mode::Cube];
    for width in (1..=300u32).step_by(7) {
        let desc = image(1, c::R8_UINT, [width, 1, 1], 512);
        for mode in modes {
            bench.keep(&desc, counting_by(mode, Filter::Nearest));
            for first in (-8..width as i32 + 8).step_by(8) {
                let places: [_; 8] = std::array::from_fn(|n| [(first + n as i32) as f32, 0.0, 0.0]);
                let got = sample(&mut bench, &places)[0];
                for (n, got) in (first..).zip(got) {
                    let at = GpuAddr::from(DATA + n.clamp(0, width as i32 - 1) as u32);
                    let want = u32::from(bench.mem.read_u8(at).unwrap());
                    assert_eq!(got, want, "{mode:?}: {n} of {width}");
                }
            }
        }
    }
}

/// Of a view that begins with a smaller level they count that level's texels: Mesa makes mipmaps so (blorp_blit.c), on the processor
/// by levels that lie at right of and below level 0.
#[test]
fn they_count_the_first_level_of_a_view() {
    let mut bench = Bench::with_pages(false);
    random_words(&mut bench, &mut fastrand::Rng::with_seed(5));
    // 64 x 64; level 1 is below level 0, level 2 at right of level 1 (PRM volume 1, 2D mipmap layout).
    for (level, at) in [(1, 64 * 64), (2, 64 * 64 + 32)] {
        let mut desc = image(1, c::R8_UINT, [64, 64, 1], 64);
        desc.min_lod = level;
        bench.keep(&desc, counting(Filter::Nearest));
        let side = 64 >> level;
        for y in 0..side {
            for first in (0..side).step_by(8) {
                let places: [_; 8] =
                    std::array::from_fn(|n| [(first + n as u32) as f32, y as f32, 0.0]);
                let got = sample(&mut bench, &places)[0];
                for (x, got) in (first..).zip(got) {
                    let at = GpuAddr::from(DATA + at + y * 64 + x);
                    let want = u32::from(bench.mem.read_u8(at).unwrap());
                    assert_eq!(got, want, "level {level}: {x}, {y}");
                }
            }
        }
    }
}

/// A filter between texels gives one of them at its centre.
#[test]
fn centres_are_texels() {
    let mut bench = Bench::with_pages(false);
    random_words(&mut bench, &mut fastrand::Rng::with_seed(2));
    for width in 1..=130u32 {
        let desc = image(1, c::R8_UNORM, [width, 1, 1], 512);
        bench.keep(&desc, counting(Filter::Linear));
        for first in (0..width).step_by(8) {
            let places: [_; 8] =
                std::array::from_fn(|n| [(first + n as u32) as f32 + 0.5, 0.5, 0.0]);
            let got = sample(&mut bench, &places)[0];
            for (n, got) in (first..).zip(got) {
                let at = GpuAddr::from(DATA + n.min(width - 1));
                let want = f32::from(bench.mem.read_u8(at).unwrap()) / 255.0;
                assert_eq!(f32::from_bits(got), want, "{n} of {width}");
            }
        }
    }
}

/// The volume of tests/tools/opencl.c, and a step beyond each of its edges.
#[test]
fn slices_of_volumes_are_counted() {
    let [width, height, depth] = [12, 7, 5];
    let pitch = width * 8;
    let slice = pitch * (height + 1);
    let mut bench = Bench::with_pages(false);
    random_words(&mut bench, &mut fastrand::Rng::with_seed(3));
    let desc = image(2, c::R16G16B16A16_SINT, [width, height, depth], pitch);
    bench.keep(&desc, counting(Filter::Nearest));
    for z in -1..=5i32 {
        for y in -1..=7i32 {
            for first in [-1i32, 5] {
                let places: [_; 8] =
                    std::array::from_fn(|n| [(first + n as i32) as f32, y as f32, z as f32]);
                let got = sample(&mut bench, &places);
                for (n, x) in (first..).take(8).enumerate() {
                    let inside = |at: i32, size: u32| at.clamp(0, size as i32 - 1) as u32;
                    let at = inside(z, depth) * slice + inside(y, height) * pitch;
                    let at = GpuAddr::from(DATA + at + inside(x, width) * 8);
                    for (channel, got) in (0..).zip(&got) {
                        let want = bench.mem.read_u16(at.offset(channel * 2)).unwrap();
                        let want = i32::from(want.cast_signed()).cast_unsigned();
                        assert_eq!(got[n], want, "channel {channel} of {x}, {y}, {z}");
                    }
                }
            }
        }
    }
}
