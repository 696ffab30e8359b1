//! One colour for every pixel: what the render cache puts out for debugging.
//!
//! PRM: volume 4, 3.4.8. Not modelled: targets whose pixels share chroma; they stay as they are.

use super::pixel::{PixelBlock, extent, writable};
use super::pixel_position;
use crate::UnitFault;
use crate::intel::surface::{Format, Surface};
use mem::Memory;

/// The element of a format all of whose channels hold `value`, aligned to its most significant bit: a channel of
/// n bits gets bits 31 to 32 - n.
pub fn element(format: &Format, value: u32) -> u128 {
    (0..4).fold(0, |element, channel| {
        let bits = format.channel_bits(channel).min(32);
        let mask = format.channel_mask(1 << channel);
        if bits == 0 || mask == 0 || mask == u128::MAX {
            return element;
        }
        let top = u128::from(value) >> (32 - bits);
        element | top << mask.trailing_zeros() & mask
    })
}

/// Writes the constant to the pixels of a block; write disables hold, blending and logic ops do not. Comes back
/// with the pixels that were inside.
pub fn write_constant(
    mem: &mut Memory,
    target: &Surface,
    slice: u32,
    block: &PixelBlock<'_>,
    value: u32,
) -> Result<u16, UnitFault> {
    if !writable(target) || target.format.is_block() {
        return Ok(block.mask);
    }
    let format = target.format;
    let keep = !format.channel_mask(target.write_channels);
    let element = element(format, value) & !keep;
    let bytes = usize::from(format.bytes).min(16);
    let (width, height) = extent(target);
    let mut written = 0;
    for i in 0..16 {
        let (x, y) = pixel_position(block.origins, i);
        let y = if height == u32::MAX { 0 } else { y };
        if block.mask >> i & 1 == 0 || x >= width || y >= height {
            continue;
        }
        let at = target.sample_address(x, y, slice, target.render_lod, block.sample);
        let mut old = [0; 16];
        mem.read_bytes(at, &mut old[..bytes])?;
        let new = (element | u128::from_le_bytes(old) & keep).to_le_bytes();
        mem.write_bytes(at, &new[..bytes])?;
        written |= 1 << i;
    }
    Ok(written)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]
    use super::*;
    use crate::intel::surface::format::codes as f;

    /// Layouts of PRM 4.7.2.1.1; the value has a different byte in each place.
    // covers: 3.4.8-01
    #[test]
    fn channels_take_the_most_significant_bits() {
        let value = 0xa1b2_c3d4;
        for (code, expected) in [
            (f::B8G8R8A8_UNORM, 0xa1a1_a1a1),
            (f::R8G8B8A8_UNORM, 0xa1a1_a1a1),
            // Five, six and five bits.
            (f::B5G6R5_UNORM, 0b10100 << 11 | 0b10_1000 << 5 | 0b10100),
            (f::B4G4R4A4_UNORM, 0xaaaa),
            // Two bits and three times ten.
            (
                f::B10G10R10A2_UNORM,
                0b10 << 30 | 0x286 << 20 | 0x286 << 10 | 0x286,
            ),
            (f::R8_UNORM, 0xa1),
            (f::R16_FLOAT, 0xa1b2),
            (f::R16G16B16A16_FLOAT, 0xa1b2_a1b2_a1b2_a1b2),
            (f::R32_FLOAT, 0xa1b2_c3d4),
            (
                f::R32G32B32A32_FLOAT,
                0xa1b2_c3d4_a1b2_c3d4_a1b2_c3d4_a1b2_c3d4,
            ),
        ] {
            let format = Format::layout(code).unwrap();
            assert_eq!(element(format, value), expected, "{format:?}");
        }
    }
}
