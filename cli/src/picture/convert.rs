//! Texels of a surface format as 8-bit RGBA.
//!
//! PRM: volume 4 4.7.2.1.1 (surface formats), by the format table. Not modelled: integer formats.

use regs::desc::{ChannelDesc, ChannelKind, SurfaceFormatDesc};

use super::{PictureError, Target};

/// How the texels of one format become colours.
pub struct Texel {
    bytes: usize,
    /// Sources of R, G, B and A.
    channels: [Option<&'static ChannelDesc>; 4],
}

impl Texel {
    /// The conversion for a render target's format, or why there is none.
    pub fn of(target: &Target) -> Result<Self, PictureError> {
        if target.surface.kind == mmio_mock::intel::surface::SurfaceKind::Null {
            let address = target.state;
            return Err(PictureError::Null { address });
        }
        let desc = regs::any::surface_format(target.format);
        let name = desc.map_or_else(|| format!("{:#x}", target.format), |d| d.name.to_owned());
        Self::of_format(desc).map_err(|why| PictureError::Format {
            address: target.state,
            format: name,
            why,
        })
    }

    fn of_format(desc: Option<&'static SurfaceFormatDesc>) -> Result<Self, &'static str> {
        let desc = desc.ok_or("it does not exist")?;
        if desc.channels.is_empty() || desc.block_width != 1 {
            return Err("its texels are packed in blocks");
        }
        let grey = desc.channel(b'L').or(desc.channel(b'I'));
        let channels = [
            desc.channel(b'R').or(grey),
            desc.channel(b'G').or(grey),
            desc.channel(b'B').or(grey),
            desc.channel(b'A').or(desc.channel(b'I')),
        ];
        for channel in channels.iter().flatten() {
            let width = match channel.kind {
                ChannelKind::Unorm | ChannelKind::Srgb => 1..=32,
                ChannelKind::Float => 10..=32,
                _ => return Err("its channels are neither normalised nor floating point"),
            };
            if !width.contains(&channel.bits) {
                return Err("its channels are too wide");
            }
        }
        Ok(Texel {
            bytes: desc.bits_per_element.div_ceil(8) as usize,
            channels,
        })
    }

    /// Bytes of a texel.
    pub fn bytes(&self) -> usize {
        self.bytes
    }

    /// The colour of a texel; missing colours are 0, missing alpha is 255.
    pub fn rgba(&self, element: &[u8]) -> [u8; 4] {
        let mut raw = [0; 16];
        for (to, from) in raw.iter_mut().zip(element) {
            *to = *from;
        }
        let raw = u128::from_le_bytes(raw);
        let mut out = [0, 0, 0, 255];
        for (to, channel) in out.iter_mut().zip(self.channels) {
            if let Some(channel) = channel {
                let mask = (1u128 << channel.bits) - 1;
                *to = byte(*channel, (raw >> (channel.start & 127)) & mask);
            }
        }
        out
    }
}

fn byte(channel: ChannelDesc, raw: u128) -> u8 {
    if channel.kind == ChannelKind::Float {
        // CAST: saturating, and NaN is 0.
        return (float(raw as u32, channel.bits) * 255.0).round() as u8;
    }
    // Also sRGB: a PNG holds encoded values.
    let max = (1u128 << channel.bits) - 1;
    // CAST: at most 255.
    ((raw * 255 + max / 2) / max) as u8
}

/// A float of 32, 16, 11 or 10 bits; the small ones have 5 bits of exponent and no sign below 16.
fn float(raw: u32, bits: u8) -> f32 {
    let mantissa = match bits {
        32 => return f32::from_bits(raw),
        16 => 10,
        _ => u32::from(bits) - 5,
    };
    let exponent = (raw >> mantissa) & 31;
    let fraction = (raw & ((1 << mantissa) - 1)) as f32 / (1u32 << mantissa) as f32;
    let value = match exponent {
        0 => fraction * 2f32.powi(-14),
        31 if fraction == 0.0 => f32::INFINITY,
        31 => f32::NAN,
        e => (1.0 + fraction) * 2f32.powi(e as i32 - 15),
    };
    if bits == 16 && raw >> 15 & 1 == 1 {
        -value
    } else {
        value
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]
    use super::*;
    use regs::any::values::surface_format as f;

    fn texel(code: u32) -> Result<Texel, &'static str> {
        Texel::of_format(regs::any::surface_format(code))
    }

    #[test]
    fn common_formats() {
        // Byte orders as the names say, lowest address first; 565 by hand.
        let rgba = |code, bytes: &[u8]| texel(code).unwrap().rgba(bytes);
        assert_eq!(rgba(f::B8G8R8A8_UNORM, &[1, 2, 3, 4]), [3, 2, 1, 4]);
        assert_eq!(rgba(f::R8G8B8A8_UNORM, &[1, 2, 3, 4]), [1, 2, 3, 4]);
        assert_eq!(rgba(f::B8G8R8X8_UNORM, &[1, 2, 3, 4]), [3, 2, 1, 255]);
        assert_eq!(rgba(f::B5G6R5_UNORM, &[0x00, 0xf8]), [255, 0, 0, 255]);
        assert_eq!(rgba(f::B5G6R5_UNORM, &[0x10, 0x04]), [0, 130, 132, 255]);
        assert_eq!(rgba(f::L8_UNORM, &[9]), [9, 9, 9, 255]);
        // 1.0, 0.5, 2.0 and -1.0 as halves.
        let halves = [0x00, 0x3c, 0x00, 0x38, 0x00, 0x40, 0x00, 0xbc];
        assert_eq!(rgba(f::R16G16B16A16_FLOAT, &halves), [255, 128, 255, 0]);
    }

    #[test]
    fn what_is_no_colour() {
        assert!(texel(f::R32G32B32A32_UINT).is_err());
        assert!(texel(f::BC1_UNORM).is_err());
        assert!(texel(0x1ff).is_err());
    }
}
