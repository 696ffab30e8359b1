//! Surfaces: SURFACE_STATE resolved once, texels addressed and converted.
//!
//! PRM: volume 4 4.7.2 (SURFACE_STATE), volume 1 (surface layout).
//! Not modelled: caches and their invalidation, chroma keys, deinterlace and 8x8 variants.

pub mod address;
pub mod border;
pub mod control;
pub mod depth;
pub mod desc;
pub mod format;
pub mod hierarchical;
pub mod mip;
pub mod range;
pub mod samples;
pub mod shape;
pub mod state;

pub use address::Geometry;
pub use control::Control;
pub use depth::{DepthBuffer, DepthFormat};
pub use desc::{DepthDesc, SurfaceDesc};
pub use format::{Capability, Class, Format};
pub use mip::{Level, MAX_LEVELS};
pub use range::Range;
pub use shape::Disagreement;
pub use state::SurfaceError;

use mem::{Fault, GpuAddr, Memory};

/// Surface type. The numbers are those of the manual, the same for all generations.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum SurfaceKind {
    /// One-dimensional, or an array of them.
    OneD = 0,
    /// Two-dimensional, or an array of them.
    TwoD = 1,
    /// Volume.
    ThreeD = 2,
    /// Six faces, in the order +X -X +Y -Y +Z -Z.
    Cube = 3,
    /// Array of structures in linear memory.
    Buffer = 4,
    /// Array of structures, whose bytes are addressed by structure and offset in it.
    Structured = 5,
    /// Writes go nowhere, reads are zero.
    Null = 7,
}

/// A surface as its state describes it, ready for use.
///
/// Cost: resolving is some hundred operations, so units keep surfaces until their state changes.
#[derive(Clone, Debug)]
pub struct Surface {
    /// Type.
    pub kind: SurfaceKind,
    /// Format of texels.
    pub format: &'static Format,
    /// Width of level 0 in texels; for buffers the number of entries.
    pub width: u32,
    /// Height of level 0 in texels (of the field, when lines are skipped).
    pub height: u32,
    /// Depth of a volume, number of elements of an array, 6 for a cube.
    pub depth: u32,
    /// Where texels lie.
    pub geometry: Geometry,
    /// Samples of a pixel: 1, 4 or 8.
    pub samples: u32,
    /// Samples lie in slices of their own, those of an array's element one after another, rather than interleaved.
    pub sample_slices: bool,
    /// What says which samples are alike, or which blocks are cleared.
    pub control: Option<Control>,
    /// What is cleared, as register bits of R, G, B, A.
    pub clear: [u32; 4],
    /// It is an array, be it of one element.
    pub array: bool,
    /// The least LOD that the resource has, counted from its first level.
    pub resource_min_lod: f32,
    /// Number of mip levels for the sampler.
    pub mip_count: u32,
    /// Level that is rendered to (the same field as the count).
    pub render_lod: u32,
    /// Added to the level of sample_l, ld and resinfo.
    pub min_lod: u32,
    /// Added to array indices; the first slice of a rendered volume.
    pub min_array_element: u32,
    /// Slices of a volume that can be rendered to.
    pub view_extent: u32,
    /// Faces that exist: bit 0 +Z, 1 -Z, 2 +Y, 3 -Y, 4 +X, 5 -X.
    pub cube_faces: u32,
    /// Blending is allowed for this target.
    pub blend_enable: bool,
    /// Channels that are written: bit 0 red .. bit 3 alpha.
    pub write_channels: u32,
    /// The sampler returns S1.14 rather than FLOAT32.
    pub return_s1_14: bool,
    /// A write miss of the render cache allocates a read-write line.
    pub render_cache_read_write: bool,
}

impl Surface {
    /// Its samples as texels of a larger surface: filters see interleaved samples side by side, so that a linear one in the middle
    /// of a pixel is the mean of its four samples (Mesa 22.3.6 blorp_blit.c, `brw_blorp_build_nir_shader`: "all the blending we
    /// need with a single linear-interpolated texture lookup at the center"). Where samples have slices of their own, or are eight,
    /// no filter may look at them, and this one sees the first.
    #[must_use]
    pub fn by_samples(&self) -> Surface {
        if self.sample_slices || self.samples > 4 {
            return self.first_samples();
        }
        // Of odd sizes too: what is normalised is so by pixels (blorp_blit.c, `src_inv_size`), whatever blocks they lie in.
        let by = if self.samples > 1 { 2 } else { 1 };
        Surface {
            width: self.width.wrapping_mul(by),
            height: self.height.wrapping_mul(by),
            samples: 1,
            geometry: Geometry {
                by_samples: self.samples > 1,
                ..self.geometry.clone()
            },
            ..self.clone()
        }
    }

    /// The first sample of each pixel; of interleaved ones as many as there are columns and rows.
    fn first_samples(&self) -> Surface {
        let mut first = Surface {
            samples: 1,
            sample_slices: false,
            control: None,
            ..self.clone()
        };
        if self.sample_slices {
            for level in &mut first.geometry.levels {
                level.step_y = level.step_y.wrapping_mul(self.samples);
            }
        }
        first
    }

    /// Samples of a pixel that lie interleaved.
    #[inline]
    pub fn interleaved(&self) -> u32 {
        if self.sample_slices { 1 } else { self.samples }
    }

    /// Width of a level in texels, at least 1.
    #[inline]
    pub fn level_width(&self, lod: u32) -> u32 {
        minify(self.width, lod)
    }

    /// Height of a level in texels, at least 1.
    #[inline]
    pub fn level_height(&self, lod: u32) -> u32 {
        minify(self.height, lod)
    }

    /// The slice of an array index or cube face: the nearest one that there is, behind the first that counts.
    #[inline]
    #[must_use]
    pub fn array_slice(&self, index: f32) -> i32 {
        let last = self.depth.saturating_sub(1) as f32;
        // CAST: clamped to the surface's depth.
        let index = (index + 0.5).floor().max(0.0).min(last) as i32;
        index + self.min_array_element as i32
    }

    /// Slices of a level: a volume's shrink, an array's and a cube's do not.
    #[inline]
    pub fn level_depth(&self, lod: u32) -> u32 {
        if self.kind == SurfaceKind::ThreeD {
            minify(self.depth, lod)
        } else {
            self.depth
        }
    }

    /// Bytes of a buffer surface from its first byte to the end of its last entry.
    pub fn buffer_bytes(&self) -> u64 {
        self.width as u64 * self.geometry.pitch as u64
    }

    /// Whether the face (+X 0, -X 1, +Y 2, -Y 3, +Z 4, -Z 5) is enabled.
    #[inline]
    pub fn face_enabled(&self, face: u32) -> bool {
        // Bits run from +Z up to -X: face f has bit (5 - f) with its pair swapped.
        let bit = [4, 5, 2, 3, 0, 1][(face % 6) as usize];
        self.cube_faces >> bit & 1 == 1
    }

    /// Address of the element that holds texel (`x`, `y`) of a slice of a level.
    ///
    /// Coordinates are not checked against the surface. A buffer's entry is `x`.
    #[inline]
    pub fn address(&self, x: u32, y: u32, slice: u32, lod: u32) -> GpuAddr {
        self.geometry.address(x, y, slice, lod)
    }

    /// Address of a sample of pixel (`x`, `y`) of a slice of a level.
    ///
    /// Numbers of samples and coordinates are not checked against the surface.
    #[inline]
    pub fn sample_address(&self, x: u32, y: u32, slice: u32, lod: u32, sample: u32) -> GpuAddr {
        if self.sample_slices {
            let slice = slice.wrapping_mul(self.samples).wrapping_add(sample);
            return self.geometry.address(x, y, slice, lod);
        }
        let (x, y) = samples::place(self.samples, x, y, sample);
        self.geometry.address(x, y, slice, lod)
    }

    /// The slice of memory for a render target array index: indices outside the view become the
    /// minimum (PRM volume 4 5.10.6.3, render target array index).
    #[inline]
    pub fn target_slice(&self, index: u32) -> u32 {
        let extent = match self.kind {
            SurfaceKind::ThreeD => self.view_extent,
            SurfaceKind::Cube | SurfaceKind::OneD | SurfaceKind::TwoD => self.depth,
            SurfaceKind::Buffer | SurfaceKind::Structured | SurfaceKind::Null => return 0,
        };
        let index = if index < extent { index } else { 0 };
        index.wrapping_add(self.min_array_element)
    }

    /// Reads texel (`x`, `y`) of a slice of a level: register bits of R, G, B, A.
    ///
    /// A null surface reads as zero. Coordinates are not checked against the surface. Of several samples it is the first.
    #[inline]
    pub fn fetch(
        &self,
        mem: &Memory,
        x: u32,
        y: u32,
        slice: u32,
        lod: u32,
    ) -> Result<[u32; 4], Fault> {
        self.fetch_sample(mem, x, y, slice, lod, 0)
    }

    /// [`Self::fetch`] for a sample of a pixel, wherever its control surface says that it is.
    pub fn fetch_stored(
        &self,
        mem: &Memory,
        (x, y, slice): (u32, u32, u32),
        sample: u32,
    ) -> Result<[u32; 4], Fault> {
        let Some(Control::Samples(control)) = &self.control else {
            return self.fetch_sample(mem, x, y, slice, 0, sample);
        };
        match control.stored(control.read(mem, (x, y, slice))?, sample) {
            Some(sample) => self.fetch_sample(mem, x, y, slice, 0, sample),
            None => Ok(self.clear),
        }
    }

    /// [`Self::fetch`] for a sample of a pixel, as memory has it.
    #[inline]
    pub fn fetch_sample(
        &self,
        mem: &Memory,
        x: u32,
        y: u32,
        slice: u32,
        lod: u32,
        sample: u32,
    ) -> Result<[u32; 4], Fault> {
        if self.kind == SurfaceKind::Null {
            return Ok([0; 4]);
        }
        let at = self.sample_address(x, y, slice, lod, sample);
        let mut element = [0u8; 16];
        match self.format.bytes {
            1 => element[..1].copy_from_slice(&mem.read_array::<1>(at)?),
            2 => element[..2].copy_from_slice(&mem.read_array::<2>(at)?),
            4 => element[..4].copy_from_slice(&mem.read_array::<4>(at)?),
            8 => element[..8].copy_from_slice(&mem.read_array::<8>(at)?),
            16 => element = mem.read_array::<16>(at)?,
            n => {
                let n = (n as usize).min(16);
                mem.read_bytes(at, &mut element[..n])?;
            }
        }
        Ok(if self.format.is_block() {
            self.format.unpack_block(&element, x, y)
        } else {
            self.format.unpack(&element)
        })
    }
}

/// `size >> lod`, at least 1.
#[inline]
pub const fn minify(size: u32, lod: u32) -> u32 {
    let s = if lod < 32 { size >> lod } else { 0 };
    if s == 0 { 1 } else { s }
}

#[cfg(test)]
mod tests;
