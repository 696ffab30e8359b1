//! Pictures of `crestline media run`: PNG in and out.
//!
//! Pictures have eight bits a channel; a PNG of another depth is converted.

use std::io::Write;

use crestline_cli::media::{Format, Shape};

use crate::cmd::{Error, source};

/// Writes eight bits a channel.
pub fn write(out: &mut dyn Write, shape: Shape, bytes: &[u8]) -> Result<(), Error> {
    let mut encoder = png::Encoder::new(out, shape.width, shape.height);
    encoder.set_depth(png::BitDepth::Eight);
    encoder.set_color(match shape.format {
        Format::R8 => png::ColorType::Grayscale,
        _ => png::ColorType::Rgba,
    });
    let mut writer = encoder.write_header()?;
    if shape.format == Format::Bgra8 {
        writer.write_image_data(&swapped(bytes))?;
    } else {
        writer.write_image_data(bytes)?;
    }
    Ok(writer.finish()?)
}

/// Red and blue of four-byte pixels change places.
fn swapped(bytes: &[u8]) -> Vec<u8> {
    let mut out = bytes.to_vec();
    for pixel in out.chunks_exact_mut(4) {
        pixel.swap(0, 2);
    }
    out
}

/// The pixels of a picture: grey ones as r8, others as rgba8, unless a format is asked for.
pub fn read(bytes: &[u8], wanted: Option<Format>) -> Result<(Shape, Vec<u8>), String> {
    let mut decoder = png::Decoder::new(std::io::Cursor::new(bytes));
    decoder.set_transformations(png::Transformations::EXPAND);
    let mut reader = decoder
        .read_info()
        .map_err(|e| format!("it is not a PNG that can be read: {e}"))?;
    let size = reader
        .output_buffer_size()
        .filter(|size| *size <= source::LIMIT as usize * 4)
        .ok_or("the picture is too large")?;
    let mut pixels = vec![0; size];
    let frame = reader
        .next_frame(&mut pixels)
        .map_err(|e| format!("the picture is damaged: {e}"))?;
    pixels.truncate(frame.buffer_size());
    if frame.bit_depth == png::BitDepth::Sixteen {
        pixels = pixels.as_chunks().0.iter().map(|b| byte(*b)).collect();
    }
    let channels = match frame.color_type {
        png::ColorType::Grayscale => 1,
        png::ColorType::GrayscaleAlpha => 2,
        png::ColorType::Rgb | png::ColorType::Indexed => 3,
        png::ColorType::Rgba => 4,
    };
    let format = wanted.unwrap_or(if channels == 1 {
        Format::R8
    } else {
        Format::Rgba8
    });
    let all = pixels.chunks_exact(channels).map(|p| match *p {
        [l] => [l, l, l, 255],
        [l, a] => [l, l, l, a],
        [r, g, b] => [r, g, b, 255],
        [r, g, b, a] => [r, g, b, a],
        _ => [0; 4],
    });
    let out: Vec<u8> = match format {
        Format::R8 => all.map(luma).collect(),
        Format::Rgba8 => all.flatten().collect(),
        Format::Bgra8 => all.flat_map(|[r, g, b, a]| [b, g, r, a]).collect(),
        other => {
            return Err(format!(
                "a picture gives r8, rgba8 or bgra8, not {}",
                other.name()
            ));
        }
    };
    let shape = Shape {
        width: frame.width,
        height: frame.height,
        format,
    };
    Ok((shape, out))
}

/// Eight bits of sixteen, rounded: 65535 is 257 times 255.
fn byte(sample: [u8; 2]) -> u8 {
    ((u32::from(u16::from_be_bytes(sample)) + 128) / 257) as u8
}

/// Brightness with the weights of ITU-R BT.601 in 256ths, rounded; grey stays what it is.
fn luma([r, g, b, _]: [u8; 4]) -> u8 {
    let sum = 77 * u32::from(r) + 150 * u32::from(g) + 29 * u32::from(b);
    ((sum + 128) >> 8) as u8
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sixteen_bits_are_rounded() {
        for sample in 0..=u16::MAX {
            let exact = f64::from(sample) / 257.0;
            let rounded = f64::from(byte(sample.to_be_bytes()));
            assert!((exact - rounded).abs() <= 0.5, "{sample}");
        }
    }

    #[test]
    fn grey_is_its_own_brightness() {
        for l in 0..=255 {
            assert_eq!(luma([l, l, l, 0]), l);
        }
        assert_eq!(luma([255, 0, 0, 0]), 77);
    }
}
