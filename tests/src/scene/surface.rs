//! Surfaces of synthetic frames and their contents as the host sees them.
//!
//! PRM: volume 1, tiling (X tiles of 512 bytes by 8 rows, Y tiles of 128 bytes by 32 rows in columns of 16 bytes).
//! Not covered: W tiles.

use std::ops::Range;

use driver::Object;
use regs::gen40::values::{surface_format, surftype};
use regs::gen40::{State3dDepthBuffer, SurfaceState};

/// SURFACE_STATE of a buffer of so many 16-byte elements.
#[must_use]
pub fn buffer(address: u32, elements: u32) -> SurfaceState {
    let n = elements - 1;
    let mut state = SurfaceState::new();
    state
        .set_surface_type(surftype::SURFTYPE_BUFFER)
        .set_surface_format(surface_format::R32G32B32A32_FLOAT)
        .set_surface_base_address(address)
        .set_width(n & 0x7f)
        .set_height(n >> 7)
        .set_surface_pitch(15);
    state
}

/// The pixels of some columns and rows, row after row.
#[must_use]
pub fn block(x: Range<u32>, y: Range<u32>) -> Vec<(u32, u32)> {
    y.flat_map(|y| x.clone().map(move |x| (x, y))).collect()
}

/// Layout in memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Layout {
    /// Row after row.
    Linear,
    /// X-major tiles.
    X,
    /// Y-major tiles.
    Y,
}

impl Layout {
    /// Byte offset of byte `x` in row `y`.
    #[must_use]
    pub fn offset(self, pitch: usize, x: usize, y: usize) -> usize {
        match self {
            Layout::Linear => y * pitch + x,
            Layout::X => {
                let tile = y / 8 * (pitch / 512) + x / 512;
                tile * 4096 + y % 8 * 512 + x % 512
            }
            Layout::Y => {
                let tile = y / 32 * (pitch / 128) + x / 128;
                tile * 4096 + x % 128 / 16 * 512 + y % 32 * 16 + x % 16
            }
        }
    }
}

/// A two-dimensional surface in an object of its own.
#[derive(Clone, Debug)]
pub struct Surface {
    /// Contents.
    pub object: Object,
    /// Graphics address.
    pub address: u32,
    /// SURFACE_FORMAT code.
    pub format: u32,
    /// Bytes of a pixel.
    pub bytes: usize,
    /// Pixels across.
    pub width: u32,
    /// Pixels down.
    pub height: u32,
    /// Bytes of a row.
    pub pitch: usize,
    /// Tiling.
    pub layout: Layout,
}

impl Surface {
    /// 3DSTATE_DEPTH_BUFFER of the whole surface, in one of the depth formats.
    #[must_use]
    pub fn depth_buffer(&self, format: u32) -> State3dDepthBuffer {
        let mut state = State3dDepthBuffer::new();
        state
            .set_surface_type(1)
            .set_surface_format(format)
            .set_surface_pitch(self.pitch as u32 - 1)
            .set_surface_base_address(self.address)
            .set_tiled_surface(self.layout != Layout::Linear)
            .set_tile_walk(u32::from(self.layout == Layout::Y))
            .set_width(self.width - 1)
            .set_height(self.height - 1);
        state
    }

    /// SURFACE_STATE of the whole surface as a 2D target or texture.
    #[must_use]
    pub fn state(&self) -> SurfaceState {
        let mut state = SurfaceState::new();
        state
            .set_surface_type(1)
            .set_surface_format(self.format)
            .set_surface_base_address(self.address)
            .set_width(self.width - 1)
            .set_height(self.height - 1)
            .set_surface_pitch(self.pitch as u32 - 1)
            .set_tiled_surface(self.layout != Layout::Linear)
            .set_tile_walk(u32::from(self.layout == Layout::Y));
        state
    }

    /// Bytes of the pixel at column `x` of row `y`; rows may lie below the first level.
    #[must_use]
    pub fn pixel(&self, x: u32, y: u32) -> Vec<u8> {
        let mut bytes = vec![0; self.bytes];
        let at = self
            .layout
            .offset(self.pitch, x as usize * self.bytes, y as usize);
        self.object.read(at, &mut bytes).expect("inside");
        bytes
    }

    /// Pixel of four bytes or less as a number.
    #[must_use]
    pub fn word(&self, x: u32, y: u32) -> u32 {
        let mut all = [0; 4];
        all[..self.bytes].copy_from_slice(&self.pixel(x, y));
        u32::from_le_bytes(all)
    }

    /// The four dwords of a pixel of sixteen bytes.
    #[must_use]
    pub fn bits(&self, x: u32, y: u32) -> [u32; 4] {
        let bytes = self.pixel(x, y);
        std::array::from_fn(|i| u32::from_le_bytes(std::array::from_fn(|b| bytes[i * 4 + b])))
    }

    /// Which pixels of four bytes or less are not zero, row after row.
    #[must_use]
    pub fn lit(&self) -> Vec<(u32, u32)> {
        (0..self.height)
            .flat_map(|y| (0..self.width).map(move |x| (x, y)))
            .filter(|&(x, y)| self.word(x, y) != 0)
            .collect()
    }

    /// Writes a pixel.
    pub fn set(&self, x: u32, y: u32, pixel: &[u8]) {
        let at = self
            .layout
            .offset(self.pitch, x as usize * self.bytes, y as usize);
        self.object.write(at, pixel).expect("inside");
    }

    /// Fills everything, padding too, with a pattern of whole pixels.
    pub fn fill(&self, pixel: &[u8]) {
        let all: Vec<u8> = pixel
            .iter()
            .copied()
            .cycle()
            .take(self.object.size())
            .collect();
        self.object.write(0, &all).expect("inside");
    }

    /// All pixels of four bytes or less, row after row.
    #[must_use]
    pub fn words(&self) -> Vec<u32> {
        let mut raw = vec![0; self.object.size()];
        self.object.read(0, &mut raw).expect("inside");
        let at = |x: u32, y: u32| {
            let from = self
                .layout
                .offset(self.pitch, x as usize * self.bytes, y as usize);
            let mut all = [0; 4];
            all[..self.bytes].copy_from_slice(&raw[from..from + self.bytes]);
            u32::from_le_bytes(all)
        };
        (0..self.height)
            .flat_map(|y| (0..self.width).map(move |x| (x, y)))
            .map(|(x, y)| at(x, y))
            .collect()
    }
}
