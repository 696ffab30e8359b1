//! Captured words of surfaces, samplers and depth, and what the reader makes.

use regs::platform::GEN70;

use super::*;
use crate::intel::shared::sampler::state::Palettes;
use crate::intel::shared::sampler::texel::looked_up;
use crate::intel::surface::control::Control;
use crate::intel::surface::state::Use;
use crate::intel::surface::{DepthBuffer, Surface};

fn resolve(words: &[u32], usage: Use) -> Surface {
    Surface::resolve(&surface(words), usage).unwrap()
}

/// States of frames that Mesa 22.3.6 has drawn on a Bay Trail, with what its decoder says of them.
#[test]
fn captured_surfaces() {
    // Four samples with a control surface: slices of 256 rows, which end where the control surface begins.
    let words = [
        0x331d_643f,
        0x0019_0000,
        0x00ff_00ff,
        0x0000_03ff,
        0x10,
        0x0001_0000,
        0x0029_0009,
        0,
    ];
    let target = resolve(&words, Use::RenderTarget);
    assert_eq!((target.width, target.height, target.depth), (256, 256, 1));
    assert_eq!((target.samples, target.sample_slices), (4, true));
    assert_eq!(target.geometry.levels[0].step_y, 256);
    assert!(matches!(target.control, Some(Control::Samples(_))));
    assert_eq!(
        target.sample_address(0, 0, 0, 0, 3),
        GpuAddr(0x19_0000 + 3 * 256 * 1024)
    );
    let control = surface(&words).control.unwrap();
    assert_eq!((control.base, control.pitch), (GpuAddr(0x29_0000), 256));
    let range = target.range();
    assert_eq!((range.base, range.bytes), (GpuAddr(0x19_0000), 0x10_0000));

    // One sample, cleared to alpha one: blocks of 8 by 4.
    let words = [
        0x331d_643f,
        0x0019_0000,
        0x00ff_00ff,
        0x0000_03ff,
        0,
        0x0001_0000,
        0x001d_0001,
        0x1000_0000,
    ];
    let target = resolve(&words, Use::RenderTarget);
    assert_eq!(target.clear, [0, 0, 0, 1f32.to_bits()]);
    let Some(Control::Blocks(blocks)) = target.control else {
        panic!("{:?}", target.control);
    };
    assert_eq!(blocks.size(), [8, 4]);

    // An array of seven elements of 16 by 16 with five levels, ARYSPC_FULL and VALIGN_4: 16 + 8 + 12 * 4 rows.
    let words = [
        0x331d_603f,
        0x0019_0000,
        0x000f_000f,
        0x00c0_007f,
        0,
        0x0001_0004,
        0,
        0,
    ];
    let array = resolve(&words, Use::Sampler);
    assert_eq!((array.depth, array.mip_count, array.array), (7, 5, true));
    assert_eq!(array.geometry.levels[0].step_y, 72);

    // Five rows of 24, ARYSPC_LOD0 and VALIGN_2: two rows each.
    let words = [
        0x131c_043f,
        0x001a_1000,
        0x0000_0017,
        0x0080_005f,
        0,
        0x0001_0000,
        0,
        0,
    ];
    let row = resolve(&words, Use::Sampler);
    assert_eq!((row.kind, row.width, row.depth), (SurfaceKind::OneD, 24, 5));
    assert_eq!(row.geometry.levels[0].step_y, 2);

    // A cube of 4 by 4, Y-tiled.
    let words = [
        0x731d_643f,
        0x0018_5000,
        0x0003_0003,
        0x0000_007f,
        0,
        0x0001_0000,
        0,
        0,
    ];
    let cube = resolve(&words, Use::Sampler);
    assert_eq!((cube.kind, cube.depth), (SurfaceKind::Cube, 6));
    assert_eq!(cube.geometry.levels[0].step_y, 4);

    // Sixteen bytes of constants, and a null target of four samples.
    let words = [
        0x8001_0000,
        0x0019_0000,
        0x0000_000f,
        0,
        0,
        0x0001_0000,
        0,
        0,
    ];
    assert_eq!(resolve(&words, Use::Sampler).buffer_bytes(), 16);
    let words = [0xf31c_4000, 0, 0x00ff_00ff, 0, 0x10, 0x0001_0000, 0, 0];
    let null = resolve(&words, Use::RenderTarget);
    assert_eq!((null.kind, null.samples), (SurfaceKind::Null, 4));
}

/// isl.c `isl_buffer_fill_state`: 2^27 entries less one are 7, 14 and 6 bits.
#[test]
fn buffers_have_their_size_in_three_fields() {
    let size = (1u32 << 27) - 1;
    let words = [
        4 << 29,
        0,
        (size >> 7 & 0x3fff) << 16 | size & 0x7f,
        (size >> 21) << 21 | 3,
    ];
    let desc = surface(&words);
    assert_eq!(
        (desc.entries, desc.pitch, desc.structured),
        (1 << 27, 4, false)
    );
    assert!(desc.depth_field.0 <= desc.depth_field.1);
    let desc = surface(&[5 << 29, 0, 99, 31]);
    assert_eq!(
        (desc.kind, desc.structured),
        (Ok(SurfaceKind::Structured), true)
    );
    assert_eq!((desc.entries, desc.pitch), (100, 32));
}

/// isl.c: eight samples of a pixel are four across and two down where they lie interleaved.
#[test]
fn eight_samples_interleaved_or_in_slices() {
    let mut words = [
        0x331d_643f,
        0x1000,
        0x001f_001f,
        0x0000_03ff,
        3 << 3,
        0,
        0,
        0,
    ];
    let sliced = resolve(&words, Use::Sampler);
    assert_eq!((sliced.samples, sliced.sample_slices), (8, true));
    words[4] |= 1 << 6;
    let interleaved = resolve(&words, Use::Sampler);
    assert_eq!((interleaved.samples, interleaved.sample_slices), (8, false));
    let at = interleaved.sample_address(31, 31, 0, 0, 7);
    // Column 127 and row 63 of bytes of four, in Y tiles of 1024 bytes a row.
    let offset = mem::tiling::offset(Tiling::Y, 1024, 127 * 4, 63);
    assert_eq!(at, GpuAddr(0x1000).offset(offset));
}

#[test]
fn captured_depth_buffers() {
    let words = [0x7805_0005, 0x304c_03ff, 0x0019_0000, 0x03fc_0ff0, 1, 0, 0];
    let depth = depth_buffer(&words);
    assert_eq!(depth.format, Ok(DepthFormat::D24UnormX8));
    assert_eq!((depth.width, depth.height, depth.pitch), (256, 256, 1024));
    assert_eq!((depth.depth_write, depth.stencil_write), (true, false));
    assert_eq!((depth.tiling, depth.base), (Tiling::Y, GpuAddr(0x19_0000)));
    let words = [0x7805_0005, 0x384c_03ff, 0x0019_0000, 0x03fc_0ff0, 1, 0, 0];
    assert!(depth_buffer(&words).stencil_write);
    let words = [0x7805_0005, 0xe004_0000, 0, 0, 1, 0, 0];
    assert_eq!(depth_buffer(&words).kind, Ok(SurfaceKind::Null));
}

/// isl.c on a depth buffer of 64 by 40 with three elements, of which level 1 is drawn to. Stencil: sizes are multiples of 8, elements
/// 40 + 24 + 12 * 8 rows apart, and level 1 begins in row 40. Hierarchical depth: multiples of 16 by 8 places, 40 + 24 + 96 rows, blocks of
/// 8 by 4. D16_UNORM: multiples of 8 by 4, 40 + 20 + 48 rows.
// covers: V-0308, V-0685
#[test]
fn all_levels_lie_beside_depth() {
    let mut state = PipelineState::default();
    let size = 39 << 18 | 63 << 4 | 1;
    state.depth_buffer = vec![
        0x7805_0005,
        1 << 29 | 3 << 27 | 1 << 22 | 5 << 18 | 127,
        0x10_0000,
        size,
        2 << 21,
        0,
        2 << 21,
    ];
    let stencil = vec![0x7806_0001, 127, 0x20_0000];
    let hierarchical = vec![0x7807_0001, 127, 0x30_0000];
    state.kept.insert(CommandId::State3dStencilBuffer, stencil);
    state
        .kept
        .insert(CommandId::State3dHierDepthBuffer, hierarchical);
    let desc = depth_of(&state);
    assert_eq!(desc.samples, 1);
    let buffer = DepthBuffer::resolve(&desc).unwrap();
    assert_eq!(buffer.geometry.levels[0].step_y, 40 + 20 + 48);
    let stencil = buffer.stencil.unwrap();
    let row = 40 + 160 * 2 + 3;
    let want = mem::tiling::w_offset(128, 5, row);
    assert_eq!(stencil.address(5, 3, 2, 0), GpuAddr(0x20_0000).offset(want));
    let mut mem = Memory::new(1 << 22, 1 << 10);
    mem.alloc_mapped(GpuAddr(0x30_0000), 16 * mem::PAGE_SIZE)
        .unwrap();
    let marks = buffer.hierarchical.unwrap();
    marks.mark(&mut mem, (3, 2, 2), Some(9)).unwrap();
    // Row 92 of blocks: the sixth row of tiles, of which each has one tile.
    let row = (40 + 160 * 2) / 4 + 2;
    let at = GpuAddr(0x30_0000).offset(row / 16 * 4096 + (row % 16 * 16 + 3) * 16);
    assert_eq!(mem.read_u64(at).unwrap() >> 32, 9);
    assert_eq!(marks.cleared(&mem, (0, 2, 2)).unwrap()[3], Some(9));
}

#[test]
fn captured_samplers() {
    // Linear filters, LOD up to 14, addresses rounded.
    let linear = sampler(&[0x1002_4000, 0x000e_0000, 0, 0x0007_e000]);
    let s = &linear.sampler;
    assert_eq!(
        (s.min, s.mag, s.lod.filter),
        (Filter::Linear, Filter::Linear, MipFilter::None)
    );
    assert_eq!(
        (s.lod.min, s.lod.max, s.lod.bias, s.lod.preclamp),
        (0.0, 14.0, 0.0, true)
    );
    assert_eq!(s.modes, [Mode::Wrap; 3]);
    // Mip filter nearest; clamped; a comparison that passes texels that are not less.
    let mipped = sampler(&[0x1012_4000, 0x000e_0000, 0, 0x0007_e092]).sampler;
    assert_eq!(
        (mipped.lod.filter, mipped.modes),
        (MipFilter::Nearest, [Mode::Clamp; 3])
    );
    assert_eq!(
        sampler(&[0x1000_0000, 0x000e_0004, 0, 0x90]).sampler.shadow,
        2
    );
    assert_eq!(
        sampler(&[0x1002_4000, 0x000e_000e, 0, 0x0007_e090])
            .sampler
            .shadow,
        7
    );
    // s4.8 and u4.8.
    let biased = sampler(&[0x1fff << 1, 0x180 << 20 | 0x280 << 8, 0x40, 0]);
    let lod = &biased.sampler.lod;
    assert_eq!((lod.bias, lod.min, lod.max), (-1.0 / 256.0, 1.5, 2.5));
    assert_eq!((biased.border, biased.border_bytes), (0x40, false));
    assert!(sampler(&[1 << 29, 0, 0, 0]).border_bytes);
}

/// 3DSTATE_SAMPLER_PALETTE_LOAD0 and 1: 256 entries each, loaded from the first one on, for the formats with the number in their names. An
/// entry has alpha in its upper byte, which formats with an alpha of their own do not take.
// covers: V-0129, V-0136
#[test]
fn each_palette_has_256_entries_and_its_formats() {
    let entry = |n: u32| n << 24 | (255 - n) << 16 | (n ^ 0x55) << 8 | (n ^ 0xaa);
    let all: Vec<u32> = (0..256).map(entry).collect();
    let other: Vec<u32> = all.iter().map(|entry| !entry).collect();
    let mut palettes = Palettes::default();
    palettes.load(false, &all);
    palettes.load(true, &other);
    palettes.load(false, &[0x1020_3040, 0x5060_7080]);
    for (name, second, own) in [
        ("P8_UNORM_PALETTE0", false, false),
        ("P8_UNORM_PALETTE1", true, false),
        ("A8P8_UNORM_PALETTE0", false, true),
        ("P8A8_UNORM_PALETTE1", true, true),
    ] {
        let desc = GEN70.formats.iter().find(|f| f.name == name).unwrap();
        let format = FORMATS.lookup(desc.code).unwrap();
        for n in 0..256 {
            let half = 0.5_f32.to_bits();
            let texel = looked_up(format, &palettes, [n, 0, 0, half]);
            let want = match (second, n) {
                (false, 0) => 0x1020_3040,
                (false, 1) => 0x5060_7080,
                (false, _) => entry(n),
                (true, _) => !entry(n),
            };
            let channel = |shift: u32| ((want >> shift & 255) as f32 / 255.0).to_bits();
            let alpha = if own { half } else { channel(24) };
            let want = [channel(16), channel(8), channel(0), alpha];
            assert_eq!(texel, want, "{name} {n}");
        }
    }
}
