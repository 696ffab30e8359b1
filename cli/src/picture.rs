//! The picture: the render target of the last primitive, as RGBA.
//!
//! PRM: volume 4 4.7.2 (SURFACE_STATE), 5.10.6 (render target write). Not modelled: integer and
//! block-compressed formats, array slices beyond the first of the view.

mod convert;
mod target;
mod view;
mod walk;

pub use target::{State, Target, last_target, sampled};
pub use view::{Outside, PageReader, View};
pub use walk::{Draw, End, Walk, walk};

use std::io::Write;

use mmio_mock::intel::surface::SurfaceError;

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
    /// Part of the render target lies outside every buffer.
    #[error(
        "{} pixels of the render target lie outside every buffer, the first at {},{} ({:#010x})",
        .0.pixels, .0.x, .0.y, .0.address
    )]
    Outside(Outside),
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

impl Picture {
    /// Reads all pixels of a render target; each must lie in a buffer.
    pub fn read<R: PageReader>(mut view: View<R>) -> Result<Self, PictureError> {
        let (width, height) = (view.width, view.height);
        let row = width as usize * 4;
        let mut rgba = vec![0; row * height as usize];
        for (y, row) in (0..height).zip(rgba.chunks_mut(row.max(1))) {
            view.row(y, row);
        }
        if let Some(outside) = view.outside() {
            return Err(PictureError::Outside(outside));
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
