//! Places and elements of control surfaces.

#![allow(clippy::unwrap_used, reason = "tests")]
use super::*;
use crate::intel::surface::mip::Align;
use crate::intel::surface::state::Use;
use crate::intel::surface::{Format, SurfaceDesc};
use regs::any::values::surface_format as f;

const BASE: u32 = 0x10_0000;
const CONTROL: u32 = 0x4000;

/// A target of 96 by 20 pixels.
fn surface(code: u32, tiling: Tiling, samples: u32) -> Surface {
    let words = [1 << 29 | code << 18, BASE, 19 << 19 | 95 << 6, 2047 << 3];
    let desc = SurfaceDesc {
        format: Format::layout(code),
        tiling,
        pitch: 2048,
        samples,
        sample_slices: true,
        wide_y_tiles: true,
        align: Align {
            rows: 4,
            gap: None,
            ..Align::FIRST
        },
        control: Some(ControlDesc {
            base: GpuAddr::from(CONTROL),
            pitch: 128,
        }),
        ..crate::intel::r#gen::gen40::surface::surface(&words)
    };
    Surface::resolve(&desc, Use::Sampler).unwrap()
}

fn blocks(code: u32, tiling: Tiling) -> Blocks {
    match surface(code, tiling, 1).control {
        Some(Control::Blocks(blocks)) => blocks,
        other => panic!("{other:?}"),
    }
}

fn samples(count: u32) -> Samples {
    match surface(f::R8G8B8A8_UNORM, Tiling::Y, count).control {
        Some(Control::Samples(samples)) => samples,
        other => panic!("{other:?}"),
    }
}

/// isl_format_layout.csv, `GFX7_CCS_32BPP_X` and its kin: width and height of a block.
#[test]
fn a_bit_stands_for_two_lines_of_a_cache() {
    for (code, tiling, size) in [
        (f::R8G8B8A8_UNORM, Tiling::X, [16, 2]),
        (f::R16G16B16A16_UNORM, Tiling::X, [8, 2]),
        (f::R32G32B32A32_FLOAT, Tiling::X, [4, 2]),
        (f::R8G8B8A8_UNORM, Tiling::Y, [8, 4]),
        (f::R16G16B16A16_UNORM, Tiling::Y, [4, 4]),
        (f::R32G32B32A32_FLOAT, Tiling::Y, [2, 4]),
    ] {
        assert_eq!(blocks(code, tiling).size(), size);
    }
    assert_eq!(surface(f::R8G8B8A8_UNORM, Tiling::Linear, 1).control, None);
}

/// blorp_clear.c `get_fast_clear_rect`: of 32 bits in Y tiles a clear of 96 by 20 becomes a rectangle of 2 by 1 (scaled down by 64 and
/// 64, aligned to 128 by 128); `blorp_ccs_resolve`: a resolve one of 24 by 10 (by 4 and 2).
#[test]
fn rectangles_are_scaled_down() {
    let mut mem = Memory::new(1 << 20, 64);
    mem.alloc_mapped(GpuAddr::from(CONTROL), PAGE_SIZE).unwrap();
    let blocks = blocks(f::R8G8B8A8_UNORM, Tiling::Y);
    let count = |mem: &Memory| {
        let marked = blocks.marked(mem, (96, 20)).unwrap();
        let mut mem = mem.clone();
        let found = marked
            .blocks()
            .filter(|&at| blocks.take(&mut mem, at).unwrap());
        found.count()
    };
    assert_eq!(count(&mem), 0);
    blocks.clear(&mut mem, (0, 0)).unwrap();
    // 64 by 64 pixels, of which 20 rows: 8 by 5 blocks.
    assert_eq!(count(&mem), 8 * 5);
    blocks.clear(&mut mem, (1, 0)).unwrap();
    assert_eq!(count(&mem), 12 * 5);
    for y in 0..10 {
        for x in 0..24 {
            let block = blocks.resolves((x, y));
            blocks.take(&mut mem, block).unwrap();
        }
    }
    assert_eq!(count(&mem), 0);
    assert_eq!(blocks.pixels((3, 2)), ([24, 8], [8, 4]));
}

/// blorp_clear.c: eight and two pixels of four samples, two and two of eight. isl: `MCS_4X` has 8 bits a pixel, `MCS_8X` 32; both in Y
/// tiles.
#[test]
fn elements_of_several_samples() {
    let mut mem = Memory::new(1 << 20, 64);
    mem.alloc_mapped(GpuAddr::from(CONTROL), 4 * PAGE_SIZE)
        .unwrap();
    let (four, eight) = (samples(4), samples(8));
    assert_eq!(four.clears((3, 2)), ([24, 4], [8, 2]));
    assert_eq!(eight.clears((3, 2)), ([6, 4], [2, 2]));
    assert_eq!((four.cleared(), eight.cleared()), (0xff, u32::MAX));
    // Row 3 of slice 1, which is 20 rows behind: byte 33 of row 23 lies in the third column of 16 bytes.
    four.write(&mut mem, (33, 3, 1), 0xe4).unwrap();
    let at = GpuAddr::from(CONTROL).offset(2 * 512 + 23 * 16 + 1);
    assert_eq!(mem.read_array::<1>(at).unwrap(), [0xe4]);
    eight.write(&mut mem, (5, 3, 0), 0x7654_3210).unwrap();
    let at = GpuAddr::from(CONTROL).offset(512 + 3 * 16 + 4);
    assert_eq!(mem.read_u32(at).unwrap(), 0x7654_3210);
    assert_eq!(eight.read(&mem, (5, 3, 0)).unwrap(), 0x7654_3210);
    for control in [four, eight] {
        for sample in 0..control.count {
            assert_eq!(control.stored(0, sample), Some(0));
            assert_eq!(control.stored(control.apart(), sample), Some(sample));
            assert_eq!(control.stored(control.cleared(), sample), None);
        }
    }
}

#[test]
fn samples_in_slices_are_read_where_their_element_says() {
    let mut mem = Memory::new(1 << 22, 1 << 10);
    mem.alloc_mapped(GpuAddr::from(CONTROL), PAGE_SIZE).unwrap();
    mem.alloc_mapped(GpuAddr::from(BASE), 96 * PAGE_SIZE)
        .unwrap();
    let mut surface = surface(f::R8G8B8A8_UINT, Tiling::Y, 4);
    surface.clear = [1, 0, 0, 1];
    let Some(Control::Samples(control)) = surface.control else {
        panic!();
    };
    for sample in 0..4 {
        // Slices follow one another: 20 rows each.
        let at = surface.sample_address(7, 5, 0, 0, sample);
        let row = tiling::offset(Tiling::Y, 2048, 28, 5 + 20 * sample);
        assert_eq!(at, GpuAddr::from(BASE).offset(row));
        mem.write_u32(at, 10 + sample).unwrap();
    }
    let all =
        |mem: &Memory| [0, 1, 2, 3].map(|s| surface.fetch_stored(mem, (7, 5, 0), s).unwrap()[0]);
    assert_eq!(all(&mem), [10; 4]);
    control.write(&mut mem, (7, 5, 0), 0xe4).unwrap();
    assert_eq!(all(&mem), [10, 11, 12, 13]);
    control.write(&mut mem, (7, 5, 0), 0b01_01_00_10).unwrap();
    assert_eq!(all(&mem), [12, 10, 11, 11]);
    control.write(&mut mem, (7, 5, 0), 0xff).unwrap();
    assert_eq!(
        surface.fetch_stored(&mem, (7, 5, 0), 3).unwrap(),
        [1, 0, 0, 1]
    );
}
