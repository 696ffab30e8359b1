//! State against hand-made words.
//!
//! Bits: genxml gen45.

use super::*;
use crate::intel::r#gen::gen45::functions;
use crate::intel::surface::state::Use;
use crate::intel::surface::{DepthBuffer, Surface};

/// X-tiled B8G8R8A8 of 64x32 texels, pitch 512, 8 texels and 4 rows into the tile: dword 5 counts 4 texels in 31:25 and 2
/// rows in 23:20.
#[test]
fn a_surface_may_begin_inside_of_a_tile() {
    let words = [
        1 << 29 | 0x0c0 << 18,
        0x0010_0000,
        31 << 19 | 63 << 6,
        511 << 3 | 1 << 1,
        0,
        2 << 25 | 2 << 20,
    ];
    let desc = functions::surface(&words);
    assert_eq!(desc.offset, (8, 4));
    let surface = Surface::resolve(&desc, Use::RenderTarget).unwrap();
    // Row 4 of an X tile begins 4 * 512 bytes into it.
    let at = surface.geometry.address(0, 0, 0, 0);
    assert_eq!(at.0, 0x0010_0000 + 4 * 512 + 8 * 4);
}

/// Y-tiled D24S8 of 64x32 pixels, coordinates moved by (16, 8).
#[test]
fn depth_coordinates_are_moved() {
    let command = [
        0x7905_0004,
        1 << 29 | 1 << 27 | 1 << 26 | 2 << 18 | 511,
        0x0020_0000,
        39 << 19 | 79 << 6,
        0,
        8 << 16 | 16,
    ];
    let desc = functions::depth_buffer(&command);
    assert_eq!(desc.offset, (16, 8));
    let buffer = DepthBuffer::resolve(&desc).unwrap();
    // Y tiles: columns of 16 bytes and 32 rows.
    let at = buffer.geometry.address(0, 0, 0, 0);
    assert_eq!(at.0, 0x0020_0000 + 4 * 512 + 8 * 16);
}

#[test]
fn contiguous_dispatch_is_told() {
    let mut mem = Memory::new(1 << 20, 512);
    mem.alloc_mapped(mem::GpuAddr(0x1000), 4096).unwrap();
    let mut wm = [0; 8];
    // Thread Dispatch Enable is bit 19, Contiguous 32 Pixel Dispatch Enable bit 3 of dword 5.
    wm[5] = 1 << 19 | 1 << 3;
    mem.write_dwords(mem::GpuAddr(0x1000), &wm).unwrap();
    let mut state = PipelineState::default();
    state.pointers[4] = 0x1000;
    let refused = Reader.windower(&mem, &state);
    assert!(matches!(refused, Err(UnitFault::Unimplemented { .. })));
}
