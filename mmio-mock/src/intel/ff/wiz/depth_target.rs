//! The depth buffer as one primitive sees it: a slice of a level, pixels in pairs.
//!
//! PRM: volume 2 (3DSTATE_DEPTH_BUFFER); volume 1 (tiling). A pair is two pixels of one subspan
//! side by side: in every tiling they are adjacent bytes of one page.
//!
//! Not modelled: software tiled rendering, hierarchical depth.

use mem::tiling::{self, Tiling};
use mem::{BitSixSwizzle, Fault, GpuAddr, Memory, Square};

use crate::intel::surface::depth::StencilBuffer;
use crate::intel::surface::{DepthBuffer, DepthFormat, SurfaceKind, samples};

/// A slice of the depth buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DepthTarget {
    /// Format.
    pub format: DepthFormat,
    base: GpuAddr,
    pitch: u32,
    tiling: Tiling,
    swizzle: BitSixSwizzle,
    width: u32,
    height: u32,
    left: u32,
    top: u32,
    slice: u32,
    samples: u32,
    sample: u32,
    stencil: Option<StencilBuffer>,
    depthless: bool,
}

impl DepthTarget {
    /// The slice that a render target array index selects; `None` when there is no depth buffer.
    pub fn new(buffer: &DepthBuffer, array_index: u16) -> Option<DepthTarget> {
        if buffer.kind == SurfaceKind::Null {
            return None;
        }
        let geometry = &buffer.geometry;
        let slice = buffer.target_slice(u32::from(array_index));
        let (left, top) = geometry.origin(slice, buffer.lod);
        let (width, height) = buffer.extent();
        Some(DepthTarget {
            format: buffer.format,
            base: geometry.base,
            pitch: geometry.pitch,
            tiling: geometry.tiling,
            swizzle: geometry.swizzle,
            width,
            height,
            left,
            top,
            slice,
            samples: buffer.samples,
            sample: 0,
            stencil: buffer.stencil,
            depthless: buffer.depthless,
        })
    }

    /// Whether pixels have stencil.
    pub fn has_stencil(&self) -> bool {
        self.stencil.is_some() || self.format.has_stencil()
    }

    /// Whether pixels have depth.
    pub fn has_depth(&self) -> bool {
        !self.depthless
    }

    /// The buffer as a sample of its pixels sees it.
    #[must_use]
    pub fn of_sample(&self, sample: u32) -> DepthTarget {
        DepthTarget { sample, ..*self }
    }

    /// Address of a pixel's stencil, where it has a buffer of its own.
    #[inline]
    pub fn stencil_address(&self, x: u32, y: u32) -> Option<GpuAddr> {
        let stencil = self.stencil.as_ref()?;
        Some(stencil.address(x, y, self.slice, self.sample))
    }

    /// Address of a pixel; `None` outside the level.
    #[inline]
    pub fn address(&self, x: u32, y: u32) -> Option<GpuAddr> {
        if x >= self.width || y >= self.height {
            return None;
        }
        let (x, y) = samples::place(self.samples, x, y, self.sample);
        let x = x.wrapping_add(self.left).wrapping_mul(self.format.bytes());
        let at = tiling::offset(self.tiling, self.pitch, x, y.wrapping_add(self.top));
        // A tiled base is page aligned, so folding bits of the offset folds bits of the address.
        let at = match self.tiling {
            Tiling::Linear => at,
            Tiling::X | Tiling::Y => self.swizzle.apply(at),
        };
        Some(self.base.offset(at))
    }

    /// Where the square of four by four pixels at (x, y) lies, if its pixels have four bytes; `None` outside the level and
    /// where it does not lie in one tile.
    #[inline]
    pub fn square(&self, x: u32, y: u32) -> Option<Square> {
        let inside = x.checked_add(4)? <= self.width && y.checked_add(4)? <= self.height;
        if !inside || self.format.bytes() != 4 || self.samples > 1 {
            return None;
        }
        let column = x.wrapping_add(self.left).wrapping_mul(4);
        Square::new(
            (self.tiling, self.swizzle),
            (self.base, self.pitch),
            (column, y.wrapping_add(self.top)),
        )
    }

    /// Raw bits of the pixel at `at` and of its right neighbour.
    #[inline]
    pub fn load(&self, mem: &Memory, at: GpuAddr) -> Result<[u64; 2], Fault> {
        if self.depthless {
            return Ok([0; 2]);
        }
        Ok(match self.format.bytes() {
            2 => {
                let raw = mem.read_u32(at)?;
                [u64::from(raw & 0xffff), u64::from(raw >> 16)]
            }
            4 => {
                let raw = mem.read_u64(at)?;
                [raw & 0xffff_ffff, raw >> 32]
            }
            _ => [mem.read_u64(at)?, mem.read_u64(at.offset(8))?],
        })
    }

    /// Stores the raw bits of the pixel at `at`.
    #[inline]
    pub fn store(&self, mem: &mut Memory, at: GpuAddr, raw: u64) -> Result<(), Fault> {
        match self.format.bytes() {
            2 => mem.write_u16(at, raw as u16),
            4 => mem.write_u32(at, raw as u32),
            _ => mem.write_u64(at, raw),
        }
    }
}

/// Smallest step of depth near `z`: what a Global Depth Offset Constant of 1 adds.
pub fn resolution(format: DepthFormat, z: f32) -> f64 {
    match format {
        DepthFormat::D24UnormS8 | DepthFormat::D24UnormX8 => 2f64.powi(-24),
        DepthFormat::D16Unorm => 2f64.powi(-16),
        DepthFormat::D32FloatS8X24 | DepthFormat::D32Float => {
            let exponent = i32::from((z.abs().to_bits() >> 23) as u8);
            2f64.powi(exponent - 127 - 23)
        }
    }
}
