//! Block-compressed colours of four channels, and of floats: BC7 and BC6H.
//!
//! ARB_texture_compression_bptc; Khronos Data Format Specification 1.3, chapters 20 and 21.

mod tables;

use num::{f16_to_f32, srgb8_to_linear, unorm8_to_f32};
use tables::{ANCHORS, Lowest, MODES, Mode, THREE, TWO, WHOLE};

/// Weights of the second end point, of 64, by bits of the index.
const fn weight(bits: u32, index: u32) -> i32 {
    const TWO: [i32; 4] = [0, 21, 43, 64];
    const THREE: [i32; 8] = [0, 9, 18, 27, 37, 46, 55, 64];
    const FOUR: [i32; 16] = [0, 4, 9, 13, 17, 21, 26, 30, 34, 38, 43, 47, 51, 55, 60, 64];
    match bits {
        2 => TWO[(index & 3) as usize],
        3 => THREE[(index & 7) as usize],
        _ => FOUR[(index & 15) as usize],
    }
}

const fn between(a: i32, b: i32, weight: i32) -> i32 {
    ((64 - weight) * a + weight * b + 32) >> 6
}

/// Bits of a block, from the lowest on.
struct Bits {
    block: u128,
    at: u32,
}

impl Bits {
    fn take(&mut self, bits: u32) -> u32 {
        let found = self.peek(0, bits);
        self.at += bits;
        found
    }

    fn peek(&self, ahead: u32, bits: u32) -> u32 {
        let at = self.at + ahead;
        // CAST: fewer than 32 bits.
        self.block.checked_shr(at).unwrap_or(0) as u32 & ((1 << bits) - 1)
    }
}

/// How texels belong to subsets.
struct Partition {
    subsets: usize,
    number: usize,
}

impl Partition {
    fn subset(&self, texel: u32) -> usize {
        let table = match self.subsets {
            2 => TWO[self.number & 63],
            3 => THREE[self.number & 63],
            _ => 0,
        };
        (table >> (texel * 2) & 3) as usize
    }

    fn anchors(&self) -> [u32; 2] {
        let anchor = |table: usize| u32::from(ANCHORS[table][self.number & 63]);
        match self.subsets {
            2 => [anchor(0), u32::MAX],
            3 => [anchor(1), anchor(2)],
            _ => [u32::MAX; 2],
        }
    }

    /// The index of a texel, of so many bits each but of the first texels of subsets, which lack one.
    fn index(&self, bits: &Bits, size: u32, texel: u32) -> u32 {
        let anchors = self.anchors();
        let is_anchor = texel == 0 || anchors.contains(&texel);
        // CAST: two at most.
        let before = u32::from(texel > 0) + anchors.iter().filter(|a| **a < texel).count() as u32;
        bits.peek(size * texel - before, size - u32::from(is_anchor))
    }
}

/// Widens so many bits to a byte.
const fn widen(value: u32, bits: u32) -> i32 {
    let top = value << (8 - bits);
    // CAST: a byte.
    (top | top >> bits) as i32
}

/// Texel `i` of a BC7 block: bytes of red, green, blue and alpha. The reserved mode has zeros.
fn bytes(block: &[u8; 16], i: u32) -> [i32; 4] {
    let block = u128::from_le_bytes(*block);
    let number = block.trailing_zeros();
    let Some(mode) = WHOLE.get(number as usize) else {
        return [0; 4];
    };
    let mut bits = Bits {
        block,
        at: number + 1,
    };
    let partition = Partition {
        subsets: mode.subsets,
        number: bits.take(mode.partition) as usize,
    };
    let rotation = bits.take(mode.rotation) as usize;
    let selection = bits.take(mode.selection);
    let ends = 2 * mode.subsets;
    let channels = if mode.alpha > 0 { 4 } else { 3 };
    let sizes = [mode.colour, mode.colour, mode.colour, mode.alpha];
    let mut raw = [[0; 4]; 6];
    for (channel, size) in sizes.iter().enumerate().take(channels) {
        for end in raw.iter_mut().take(ends) {
            end[channel] = bits.take(*size);
        }
    }
    let lowest = u32::from(mode.lowest != Lowest::None);
    let mut shared = 0;
    for (n, end) in raw.iter_mut().enumerate().take(ends) {
        if mode.lowest == Lowest::Each || mode.lowest == Lowest::Shared && n % 2 == 0 {
            shared = bits.take(1);
        }
        for value in end.iter_mut().take(channels) {
            *value = *value << lowest | shared;
        }
    }
    let first = partition.index(&bits, mode.index, i);
    let (mut colour, mut alpha) = ((first, mode.index), (first, mode.index));
    if mode.second > 0 {
        bits.at += 16 * mode.index - 1;
        let second = (partition.index(&bits, mode.second, i), mode.second);
        if selection == 1 {
            colour = second;
        } else {
            alpha = second;
        }
    }
    let subset = partition.subset(i);
    let mut out = [255; 4];
    for (channel, to) in out.iter_mut().enumerate().take(channels) {
        let size = sizes[channel] + lowest;
        // PANIC: three subsets.
        let [a, b] = [0, 1].map(|end| widen(raw[(2 * subset + end) % 6][channel], size));
        let (index, size) = if channel == 3 { alpha } else { colour };
        *to = between(a, b, weight(size, index));
    }
    if rotation > 0 {
        // PANIC: two bits.
        out.swap((rotation - 1).min(3), 3);
    }
    out
}

/// Texel `i` of a BC7 block.
pub fn bc7(block: &[u8; 16], i: u32, srgb: bool) -> [u32; 4] {
    // CAST: bytes.
    let [red, green, blue, alpha] = bytes(block, i & 15).map(|v| v as u8);
    let colour = |v| {
        if srgb {
            srgb8_to_linear(v)
        } else {
            unorm8_to_f32(v)
        }
    };
    [
        colour(red),
        colour(green),
        colour(blue),
        unorm8_to_f32(alpha),
    ]
    .map(f32::to_bits)
}

/// Sign-extends so many bits.
const fn extended(value: i32, bits: u32) -> i32 {
    value << (32 - bits) >> (32 - bits)
}

/// What an end point of so many bits is of 16.
const fn unquantized(value: i32, bits: u32, signed: bool) -> i32 {
    if signed {
        if bits >= 16 || value == 0 {
            return value;
        }
        let size = value.abs();
        let size = if size >= (1 << (bits - 1)) - 1 {
            0x7fff
        } else {
            ((size << 15) + 0x4000) >> (bits - 1)
        };
        return if value < 0 { -size } else { size };
    }
    if bits >= 15 || value == 0 {
        value
    } else if value == (1 << bits) - 1 {
        0xffff
    } else {
        ((value << 15) + 0x4000) >> (bits - 1)
    }
}

fn ends(mode: &Mode, bits: &mut Bits, signed: bool) -> [[i32; 3]; 4] {
    let mut ends = [[0; 3]; 4];
    for part in mode.fields {
        let size = u32::from(part.bits);
        let mut value = bits.take(size);
        if part.reversed {
            value = value.reverse_bits() >> (32 - size);
        }
        // PANIC: four end points of three channels. CAST: ten bits.
        ends[usize::from(part.end & 3)][usize::from(part.channel) % 3] |=
            (value << part.lowest) as i32;
    }
    let first = ends[0];
    for (n, end) in ends.iter_mut().enumerate() {
        for (channel, value) in end.iter_mut().enumerate() {
            if n > 0 && mode.moved {
                let by = extended(*value, mode.deltas[channel]);
                *value = (first[channel] + by) & ((1 << mode.endpoint) - 1);
            }
            if signed {
                *value = extended(*value, mode.endpoint);
            }
            *value = unquantized(*value, mode.endpoint, signed);
        }
    }
    ends
}

/// Texel `i` of a BC6H block; reserved modes are black.
pub fn bc6h(block: &[u8; 16], i: u32, signed: bool) -> [u32; 4] {
    let block = u128::from_le_bytes(*block);
    let one = 1f32.to_bits();
    let i = i & 15;
    let is = |mode: &&Mode| block & ((1 << mode.bits) - 1) == u128::from(mode.code);
    let Some(mode) = MODES.iter().find(is) else {
        return [0, 0, 0, one];
    };
    let mut bits = Bits {
        block,
        at: mode.bits,
    };
    let ends = ends(mode, &mut bits, signed);
    let (subsets, size) = if mode.pair { (2, 3) } else { (1, 4) };
    let partition = Partition {
        subsets,
        number: bits.take(if mode.pair { 5 } else { 0 }) as usize,
    };
    let weight = weight(size, partition.index(&bits, size, i));
    let subset = partition.subset(i);
    let channel = |channel: usize| {
        // PANIC: two subsets.
        let [a, b] = [0, 1].map(|end| ends[(2 * subset + end) & 3][channel]);
        let value = between(a, b, weight);
        // CAST: a half.
        let half = if !signed {
            (value * 31 / 64) as u16
        } else if value < 0 {
            (-value * 31 / 32) as u16 | 0x8000
        } else {
            (value * 31 / 32) as u16
        };
        f16_to_f32(half).to_bits()
    };
    [channel(0), channel(1), channel(2), one]
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Puts values of so many bits one behind the other.
    fn block(parts: &[(u128, u32)]) -> [u8; 16] {
        let mut at = 0;
        let mut out = 0;
        for (value, bits) in parts {
            out |= value << at;
            at += bits;
        }
        out.to_le_bytes()
    }

    /// By hand from the text of the extension: mode 6 has one subset, seven bits a channel and a lowest bit an end point, and indices
    /// of four bits, the first of three.
    #[test]
    fn mode_6_of_bc7() {
        let b = block(&[
            (1 << 6, 7),
            (127, 7),
            (0, 7),
            (0, 7),
            (127, 7),
            (64, 7),
            (64, 7),
            (127, 7),
            (127, 7),
            (1, 1),
            (0, 1),
            (0, 3),
            (15, 4),
            (7, 4),
        ]);
        assert_eq!(bytes(&b, 0), [255, 1, 129, 255]);
        assert_eq!(bytes(&b, 1), [0, 254, 128, 254]);
        // 30 of 64.
        let mix = |a: i32, b: i32| (34 * a + 30 * b + 32) >> 6;
        assert_eq!(
            bytes(&b, 2),
            [mix(255, 0), mix(1, 254), mix(129, 128), mix(255, 254)]
        );
        assert_eq!(bytes(&[0; 16], 5), [0; 4]);
    }

    /// Mode 5 turns alpha and a colour round, and has indices for each.
    #[test]
    fn rotations_of_bc7() {
        let b = block(&[
            (1 << 5, 6),
            (1, 2),
            (127, 7),
            (0, 7),
            (0, 7),
            (0, 7),
            (0, 7),
            (0, 7),
            (10, 8),
            (200, 8),
            (0, 1),
            (3, 2),
            (0, 28),
            (1, 1),
        ]);
        // Texel 0: colour the first end, alpha's index 1 of 2 bits: 21 of 64. Red and alpha change places.
        let alpha = (43 * 10 + 21 * 200 + 32) >> 6;
        assert_eq!(bytes(&b, 0), [alpha, 0, 0, 255]);
        assert_eq!(bytes(&b, 1), [10, 0, 0, 0]);
    }

    /// Mode 11 of BC6H (code 00011): ten bits an end point, no differences. 1023 of 1023 is the greatest half.
    #[test]
    fn plain_floats_of_bc6h() {
        let b = block(&[
            (0b00011, 5),
            (1023, 10),
            (0, 10),
            (512, 10),
            (0, 10),
            (1023, 10),
            (512, 10),
            (0, 3),
            (15, 4),
        ]);
        let texel = |i| bc6h(&b, i, false).map(f32::from_bits);
        let half = |v: i32| f16_to_f32((v * 31 / 64) as u16);
        let middle = half(((512 << 15) + 0x4000) >> 9);
        assert_eq!(texel(0), [65504.0, 0.0, middle, 1.0]);
        assert_eq!(texel(1), [0.0, 65504.0, middle, 1.0]);
        // As signed numbers 1023 is -1 of 511, and 512 the least of all.
        let signed = bc6h(&b, 0, true).map(f32::from_bits);
        assert!(signed[0] < 0.0 && signed[0] > -1.0);
        assert_eq!(signed[2], -65504.0);
        assert_eq!(bc6h(&[0x13; 16], 0, false), [0, 0, 0, 1f32.to_bits()]);
    }
}
