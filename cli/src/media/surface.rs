//! A file as a surface: what the kernel sees of it, and how it lies in memory.
//!
//! PRM: volume 4, 4.7.2 (SURFACE_STATE), 5.6.1 (media blocks), 5.10.2 (OWord blocks). Not modelled: tiled surfaces,
//! surfaces for the sampler.

use ringbuf::media;

use super::{Format, MediaError};

/// Rows of an image begin at multiples of this many bytes in memory.
const ROW: usize = 64;
/// Elements of buffers: OWords (PRM vol4 5.10.2).
const OWORD: usize = 16;
/// Most pixels across and down, and most bytes of a surface.
const MAX_SIDE: u32 = 8192;
const MAX_BYTES: usize = 128 << 20;

/// Width, height and format of an image.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Shape {
    /// Pixels across.
    pub width: u32,
    /// Pixels down.
    pub height: u32,
    /// Their format.
    pub format: Format,
}

impl Shape {
    /// Bytes of the pixels of a row.
    pub fn row(&self) -> usize {
        self.width as usize * self.format.bytes()
    }

    /// Bytes of all pixels, row after row.
    pub fn bytes(&self) -> usize {
        self.row() * self.height as usize
    }

    /// Checks the sides.
    pub fn check(&self) -> Result<(), MediaError> {
        let side = 1..=MAX_SIDE;
        if side.contains(&self.width) && side.contains(&self.height) {
            return Ok(());
        }
        Err(MediaError::Side {
            width: self.width,
            height: self.height,
            limit: MAX_SIDE,
        })
    }
}

/// What a kernel sees of a surface.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum View {
    /// Bytes, for OWord and scattered messages.
    Buffer(usize),
    /// Rows of pixels, for media blocks.
    Image(Shape),
}

/// A surface: entry of the binding table, and its contents.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Surface {
    /// File that it comes from or goes to, for messages.
    pub name: String,
    /// How it is seen.
    pub view: View,
    /// Contents, without room between rows; shorter ones go on with zeros.
    pub bytes: Vec<u8>,
}

impl Surface {
    /// Checks that the surface can be described.
    pub(super) fn check(&self) -> Result<(), MediaError> {
        if let View::Image(shape) = &self.view {
            shape.check()?;
        }
        let bytes = self.size();
        if bytes == 0 || bytes > MAX_BYTES || self.bytes.len() > bytes {
            return Err(MediaError::Size {
                bytes: self.bytes.len().max(bytes),
                limit: MAX_BYTES,
            });
        }
        Ok(())
    }

    /// Bytes without room between rows.
    pub fn size(&self) -> usize {
        match &self.view {
            View::Buffer(bytes) => *bytes,
            View::Image(shape) => shape.bytes(),
        }
    }

    /// Bytes from row to row in memory.
    fn pitch(shape: &Shape) -> usize {
        shape.row().next_multiple_of(ROW)
    }

    /// Bytes of memory.
    pub(super) fn memory_size(&self) -> usize {
        match &self.view {
            View::Buffer(bytes) => bytes.next_multiple_of(OWORD),
            View::Image(shape) => Self::pitch(shape) * shape.height as usize,
        }
    }

    /// What its SURFACE_STATE says.
    pub(super) fn state(&self) -> media::Surface {
        // CAST: checked against MAX_BYTES.
        match &self.view {
            View::Buffer(_) => media::Surface::Buffer {
                entries: (self.memory_size() / OWORD) as u32,
                pitch: OWORD as u32,
                format: Format::Rgba8.code(),
            },
            View::Image(shape) => media::Surface::Image {
                // Media blocks count the width in dwords (PRM vol4 5.6.1).
                width: shape.row().div_ceil(4) as u32,
                height: shape.height,
                pitch: Self::pitch(shape) as u32,
                format: shape.format.code(),
            },
        }
    }

    /// Its contents as they lie in memory.
    ///
    /// A media block repeats the last pixel of the last dword of a row, so what is missing up to it is the last pixel.
    pub(super) fn memory(&self) -> Vec<u8> {
        let View::Image(shape) = &self.view else {
            return self.bytes.clone();
        };
        let (row, pitch, pixel) = (shape.row(), Self::pitch(shape), shape.format.bytes());
        let mut out = vec![0; self.memory_size()];
        for (to, from) in out.chunks_exact_mut(pitch).zip(self.bytes.chunks(row)) {
            to[..from.len()].copy_from_slice(from);
            for at in row..row.next_multiple_of(4) {
                to[at] = to[at - pixel];
            }
        }
        out
    }

    /// Takes the contents from memory.
    pub(super) fn take(&mut self, memory: &[u8]) {
        match &self.view {
            View::Buffer(bytes) => {
                self.bytes = memory.get(..*bytes).unwrap_or(memory).to_vec();
            }
            View::Image(shape) => {
                let rows = memory.chunks_exact(Self::pitch(shape));
                let rows = rows.take(shape.height as usize);
                self.bytes = Vec::with_capacity(rows.len() * shape.row());
                for memory in rows {
                    self.bytes.extend_from_slice(&memory[..shape.row()]);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn image(width: u32, height: u32, format: Format) -> Surface {
        let shape = Shape {
            width,
            height,
            format,
        };
        Surface {
            name: "test".into(),
            view: View::Image(shape),
            bytes: (1..=shape.bytes()).map(|i| i as u8).collect(),
        }
    }

    #[test]
    fn rows_end_with_their_last_pixel() {
        let mut surface = image(5, 2, Format::R8);
        let memory = surface.memory();
        assert_eq!(memory.len(), 128);
        assert_eq!(memory[..9], [1, 2, 3, 4, 5, 5, 5, 5, 0]);
        assert_eq!(memory[64..72], [6, 7, 8, 9, 10, 10, 10, 10]);
        let before = surface.clone();
        surface.take(&memory);
        assert_eq!(surface, before);
        let memory = image(3, 1, Format::Rg8).memory();
        assert_eq!(memory[..9], [1, 2, 3, 4, 5, 6, 5, 6, 0]);
    }

    #[test]
    fn states_count_dwords_and_entries() {
        let image = media::Surface::Image {
            width: 5,
            height: 9,
            pitch: 64,
            format: Format::R8.code(),
        };
        assert_eq!(self::image(17, 9, Format::R8).state(), image);
        let buffer = Surface {
            name: "test".into(),
            view: View::Buffer(16 * (1 << 20 | 3 << 7 | 5) + 1),
            bytes: Vec::new(),
        };
        let entries = (1 << 20 | 3 << 7 | 5) + 1;
        let begun = "an entry begun counts";
        assert!(
            matches!(buffer.state(), media::Surface::Buffer { entries: n, .. } if n == entries),
            "{begun}"
        );
    }

    #[test]
    fn sizes_have_limits() {
        assert!(image(16, 16, Format::R8).check().is_ok());
        for (width, height) in [(0, 1), (1, 0), (8193, 1), (1, 8193)] {
            let mut surface = image(1, 1, Format::R8);
            surface.view = View::Image(Shape {
                width,
                height,
                format: Format::R8,
            });
            assert!(surface.check().is_err());
        }
        let mut surface = image(1, 1, Format::R8);
        surface.view = View::Buffer(0);
        assert!(surface.check().is_err());
        surface.bytes = vec![0; 17];
        surface.view = View::Buffer(16);
        assert!(surface.check().is_err());
    }
}
