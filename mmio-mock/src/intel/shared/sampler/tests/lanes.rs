//! The path for all pixels of a message beside the general one.

use super::*;

const MODES: [u32; 4] = [
    values::texture_coordinate_mode::TEXCOORDMODE_WRAP,
    values::texture_coordinate_mode::TEXCOORDMODE_MIRROR,
    values::texture_coordinate_mode::TEXCOORDMODE_CLAMP,
    values::texture_coordinate_mode::TEXCOORDMODE_CUBE,
];
const MIPS: [u32; 3] = [
    values::mipfilter::MIPFILTER_NONE,
    values::mipfilter::MIPFILTER_NEAREST,
    values::mipfilter::MIPFILTER_LINEAR,
];

/// Type, layout, length and parameters: `sample` and `sample_l` of both widths, `sample_b`.
const MESSAGES: [(u16, Form, usize, usize); 5] = [
    (0, Form::Simd16, 5, 2),
    (0, Form::Simd16, 7, 3),
    (0, Form::Simd8, 4, 3),
    (0, Form::Simd16, 9, 4),
    (1, Form::Simd16, 9, 4),
];

fn random_surface(rng: &mut fastrand::Rng) -> (SurfaceState, u32) {
    let formats = [f::BGRA8, f::RGBA8, f::BGRX8, 0x0eb, 0x0c1, 0x0c8];
    let format = formats[rng.usize(..formats.len())];
    let tiling = [Tiling::Linear, Tiling::X, Tiling::Y][rng.usize(..3)];
    let (width, height) = (rng.u32(1..=70), rng.u32(1..=40));
    let levels = (32 - width.max(height).leading_zeros()).min(rng.u32(1..=7));
    let slices = if rng.bool() { 1 } else { rng.u32(2..=3) };
    let state = surface_2d(format, width, height, tiling)
        .with_mip_count_lod(levels - 1)
        .with_depth(slices - 1)
        .with_minimum_array_element(if slices > 2 { rng.u32(0..2) } else { 0 });
    (state, levels)
}

fn random_sampler(rng: &mut fastrand::Rng) -> SamplerState {
    let mut filter = || if rng.bool() { LINEAR } else { NEAREST };
    let (min, mag) = (filter(), filter());
    sampler(min, MODES[rng.usize(..4)])
        .with_mag_mode_filter(mag)
        .with_tcy_address_control_mode(MODES[rng.usize(..4)])
        .with_mip_mode_filter(MIPS[rng.usize(..3)])
        .with_min_lod(rng.f32() * 2.0)
}

/// Texture coordinates in all four directions, magnified, minified and far outside; some that are no numbers.
fn random_coordinates(rng: &mut fastrand::Rng) -> [Parameter; 2] {
    let step = [0.001, 0.02, 0.3, 7.0][rng.usize(..4)];
    let [a, b, c, d] = std::array::from_fn(|_| (rng.f32() - 0.5) * step);
    let [u, v] = std::array::from_fn(|_| (rng.f32() - 0.5) * 4.0);
    let mut strange = || rng.u32(..200) == 0;
    let place = |slot: usize| ((slot & 1) as f32, (slot >> 1 & 1) as f32, (slot / 4) as f32);
    let mut along = |from: f32, dx: f32, dy: f32| {
        std::array::from_fn(|slot| {
            let (x, y, subspan) = place(slot);
            let value = from + dx * x + dy * y + (dx - dy) * 2.0 * subspan;
            if strange() { f32::NAN } else { value }.to_bits()
        })
    };
    [along(u, a, b), along(v, c, d)]
}

/// A chroma key that no texel has makes the general path serve.
#[test]
fn all_pixels_at_once_get_what_each_gets_alone() {
    let seed = 7;
    let mut rng = fastrand::Rng::with_seed(seed);
    let mut bench = Bench::new();
    bench.engine.tables.chroma_keys = [(0xffff_ffff, 0); 4];
    for case in 0..1500 {
        let (surface, levels) = random_surface(&mut rng);
        for level in 0..levels {
            bench.fill(surface, level, |_, _, _| rng.u32(..));
        }
        let state = random_sampler(&mut rng);
        let coordinates = random_coordinates(&mut rng);
        let (kind, form, length, count) = MESSAGES[rng.usize(..MESSAGES.len())];
        let slice = each(|slot| (slot / 4) as f32 * 0.7);
        let lod = each(|slot| (slot as f32 - 5.0) * 0.4);
        let all = [coordinates[0], coordinates[1], slice, lod];
        bench.mask = if rng.bool() { 0xffff } else { rng.u16(1..) };
        bench.bind(surface, state);
        bench.engine.texels = 0;
        let many = bench.message((kind, length), form, &all[..count]);
        assert_eq!(bench.engine.texels, 0, "{case}: served by the general path");
        let mut keyed = state;
        // Chroma key enable.
        keyed.0[3] |= 1 << 25;
        bench.bind(surface, keyed);
        let alone = bench.message((kind, length), form, &all[..count]);
        assert!(bench.engine.texels > 0 || many[0] == [KEEP; 4], "{case}");
        for (slot, (many, alone)) in many.into_iter().zip(alone).enumerate() {
            for (many, alone) in many.into_iter().zip(alone) {
                let near = (f32::from_bits(many) - f32::from_bits(alone)).abs() < 1e-5;
                assert!(
                    many == alone || near,
                    "seed {seed} case {case} pixel {slot}: {many:#x} for {alone:#x} ({surface:?} {state:?} {kind} {form:?})"
                );
            }
        }
    }
}

/// A texel in memory that is not there is the general path's fault, and nothing has been written before it.
#[test]
fn texels_that_cannot_be_read_are_faults_of_their_addresses() {
    let mut bench = Bench::new();
    let state = surface_2d(f::RGBA8, 64, 64, Tiling::Linear)
        .with_surface_base_address(DATA + 0x10_0000 - 0x8000);
    bench.bind(state, sampler(NEAREST, CLAMP));
    let mut w = [[KEEP; 8]; 8];
    let rows = each(|slot| if slot < 9 { 0.1 } else { 0.9 });
    let body = pack(Form::Simd16, &[each(|_| 0.5), rows]);
    let fault = bench.send(0, &body, &mut w).unwrap_err();
    let at = DATA + 0x10_0000 - 0x8000 + 57 * 1024 + 32 * 4;
    assert!(
        fault.to_string().contains(&format!("{at:#010x}")),
        "{fault}"
    );
    // Pixels that are off ask for nothing.
    bench.mask = 0x1ff;
    bench.send(0, &body, &mut w).unwrap();
}
