//! The picture: the render target of the last primitive, as RGBA.
//!
//! PRM: volume 4 4.7.2 (SURFACE_STATE), 5.10.6 (render target write). Not modelled: integer and
//! block-compressed formats, array slices beyond the first of the view.

mod convert;
mod target;

pub use target::{State, Target, last_primitive, last_target};

use std::io::Write;

use mmio_mock::surface::SurfaceError;

/// Why there is no picture.
#[derive(Debug, thiserror::Error)]
pub enum PictureError {
    /// Nothing was drawn.
    #[error("no 3DPRIMITIVE in the batch, so no render target")]
    NoPrimitive,
    /// A state structure lies outside every buffer.
    #[error("{what} at {address:#010x} lies outside every buffer")]
    Unmapped {
        /// Which structure.
        what: &'static str,
        /// Where it should be.
        address: u32,
    },
    /// SURFACE_STATE describes no render target.
    #[error("SURFACE_STATE at {address:#010x} (dword 0: {dword:#010x}): {error}")]
    Surface {
        /// Where it stands.
        address: u32,
        /// Its first dword.
        dword: u32,
        /// What is wrong.
        error: SurfaceError,
    },
    /// A format that is no colour on a screen.
    #[error("SURFACE_STATE at {address:#010x}: format {format} cannot be shown: {why}")]
    Format {
        /// Where it stands.
        address: u32,
        /// Name or number of the format.
        format: String,
        /// Why not.
        why: &'static str,
    },
    /// The render target is the null surface.
    #[error("SURFACE_STATE at {address:#010x} is the null surface")]
    Null {
        /// Where it stands.
        address: u32,
    },
    /// Larger than a render target can be.
    #[error("{width}x{height} pixels are too many")]
    TooLarge {
        /// Pixels across.
        width: u32,
        /// Pixels down.
        height: u32,
    },
}

/// A picture of 8-bit RGBA, row 0 of the surface first.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Picture {
    /// Pixels across.
    pub width: u32,
    /// Pixels down.
    pub height: u32,
    /// Four bytes a pixel.
    pub rgba: Vec<u8>,
}

/// Side of the largest render target (PRM volume 4 4.7.2: 8192).
const MAX_SIDE: u32 = 8192;

impl Picture {
    /// Reads a render target; `object` gives all bytes of the buffer at an address and its start.
    pub fn read(
        target: &Target,
        buffer: impl FnOnce(u32) -> Option<(u32, Vec<u8>)>,
    ) -> Result<Self, PictureError> {
        let surface = &target.surface;
        let lod = surface.render_lod;
        let (width, height) = (surface.level_width(lod), surface.level_height(lod));
        if width > MAX_SIDE || height > MAX_SIDE {
            return Err(PictureError::TooLarge { width, height });
        }
        let texel = convert::Texel::of(target)?;
        let slice = surface.target_slice(0);
        let outside = |address| PictureError::Unmapped {
            what: "pixel of the render target",
            address,
        };
        let first = surface.address(0, 0, slice, lod).0;
        let (start, bytes) = buffer(first).ok_or_else(|| outside(first))?;
        let mut rgba = Vec::with_capacity(width as usize * height as usize * 4);
        for y in 0..height {
            for x in 0..width {
                let at = surface.address(x, y, slice, lod).0;
                let offset = at.checked_sub(start).ok_or_else(|| outside(at))? as usize;
                let element = bytes
                    .get(offset..offset + texel.bytes())
                    .ok_or_else(|| outside(at))?;
                rgba.extend_from_slice(&texel.rgba(element));
            }
        }
        Ok(Picture {
            width,
            height,
            rgba,
        })
    }

    /// The picture upside down: GL's row 0 is the bottom.
    #[must_use]
    pub fn flipped(&self) -> Self {
        let row = self.width as usize * 4;
        let rgba = self.rgba.chunks(row.max(1)).rev().flatten().copied();
        Picture {
            rgba: rgba.collect(),
            ..*self
        }
    }

    /// RGBA of a pixel.
    pub fn pixel(&self, x: u32, y: u32) -> Option<[u8; 4]> {
        if x >= self.width || y >= self.height {
            return None;
        }
        let at = (y as usize * self.width as usize + x as usize) * 4;
        self.rgba.get(at..at + 4)?.try_into().ok()
    }

    /// Writes the picture as PNG.
    pub fn write_png(&self, out: impl Write) -> Result<(), png::EncodingError> {
        let mut encoder = png::Encoder::new(out, self.width, self.height);
        encoder.set_color(png::ColorType::Rgba);
        encoder.set_depth(png::BitDepth::Eight);
        let mut writer = encoder.write_header()?;
        writer.write_image_data(&self.rgba)?;
        writer.finish()
    }
}
