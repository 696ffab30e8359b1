//! Pictures of the scenes: read, compared, written.
//! Red, green and blue; the scenes' program writes no alpha.

use std::fs::File;
use std::io::{self, BufWriter};
use std::path::Path;

/// Rows of three bytes a pixel, the first on top.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Picture {
    pub width: usize,
    pub height: usize,
    pub bytes: Vec<u8>,
}

/// How two pictures differ.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Difference {
    /// Percent of the pixels that are equal.
    pub exact: f64,
    /// Percent of the pixels whose channels differ by 2 at most.
    pub near: f64,
    /// The largest difference of a channel.
    pub largest: u8,
}

impl Picture {
    /// A binary PPM of one byte a channel.
    pub fn from_ppm(file: &[u8]) -> Option<Picture> {
        let mut rest = file.strip_prefix(b"P6\n")?;
        let mut line = || {
            let end = rest.iter().position(|&byte| byte == b'\n')?;
            let text = str::from_utf8(rest.get(..end)?).ok()?;
            rest = rest.get(end + 1..)?;
            Some(text)
        };
        let (width, height) = line()?.split_once(' ')?;
        let (width, height): (usize, usize) = (width.parse().ok()?, height.parse().ok()?);
        let whole = line()? == "255" && rest.len() == width.checked_mul(height)?.checked_mul(3)?;
        whole.then(|| Picture {
            width,
            height,
            bytes: rest.to_vec(),
        })
    }

    /// Pixel by pixel; nothing for pictures of different sizes.
    pub fn compare(&self, other: &Picture) -> Option<Difference> {
        if (self.width, self.height) != (other.width, other.height) {
            return None;
        }
        let (mut exact, mut near, mut largest) = (0, 0, 0);
        let pixels = self.bytes.chunks_exact(3).zip(other.bytes.chunks_exact(3));
        for (a, b) in pixels {
            let apart = a.iter().zip(b).map(|(a, b)| a.abs_diff(*b)).max();
            let apart = apart.unwrap_or(0);
            exact += usize::from(apart == 0);
            near += usize::from(apart <= 2);
            largest = largest.max(apart);
        }
        let all = (self.width * self.height).max(1) as f64;
        Some(Difference {
            exact: 100.0 * exact as f64 / all,
            near: 100.0 * near as f64 / all,
            largest,
        })
    }

    /// Where they differ: black where equal, 16 times the difference elsewhere.
    pub fn apart(&self, other: &Picture) -> Picture {
        let pairs = self.bytes.iter().zip(&other.bytes);
        let bytes = pairs.map(|(a, b)| a.abs_diff(*b).saturating_mul(16));
        Picture {
            bytes: bytes.collect(),
            ..*self
        }
    }

    /// Writes a PNG.
    pub fn write(&self, path: &Path) -> io::Result<()> {
        let size = |pixels: usize| u32::try_from(pixels).map_err(io::Error::other);
        let file = BufWriter::new(File::create(path)?);
        let mut encoder = png::Encoder::new(file, size(self.width)?, size(self.height)?);
        encoder.set_color(png::ColorType::Rgb);
        encoder.set_depth(png::BitDepth::Eight);
        let mut writer = encoder.write_header()?;
        writer.write_image_data(&self.bytes)?;
        Ok(writer.finish()?)
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]

    use super::*;

    fn picture(bytes: &[u8]) -> Picture {
        let head = format!("P6\n{} 1\n255\n", bytes.len() / 3);
        Picture::from_ppm(&[head.as_bytes(), bytes].concat()).unwrap()
    }

    #[test]
    fn ppm() {
        let two = picture(b"abcdef");
        assert_eq!((two.width, two.height, two.bytes.len()), (2, 1, 6));
        for wrong in [
            &b"P6\n2 1\n255\nabcde"[..],
            b"P5\n2 1\n255\nabcdef",
            b"P6\n2 1\n65535\nabcdef",
            b"P6\n18446744073709551615 2\n255\n",
            b"P6\n2",
        ] {
            assert_eq!(Picture::from_ppm(wrong), None);
        }
    }

    #[test]
    fn differences() {
        let a = picture(&[0, 0, 0, 10, 10, 10, 20, 20, 20, 30, 30, 30]);
        let b = picture(&[0, 0, 0, 10, 12, 10, 20, 20, 17, 30, 30, 30]);
        let difference = Difference {
            exact: 50.0,
            near: 75.0,
            largest: 3,
        };
        assert_eq!(a.compare(&b), Some(difference));
        assert_eq!(a.compare(&picture(&[0, 0, 0])), None);
        assert_eq!(a.apart(&b).bytes, [0, 0, 0, 0, 32, 0, 0, 0, 48, 0, 0, 0]);
    }
}
