//! FXT1: blocks of 8x4 texels in 128 bits, in one of four modes.
//!
//! PRM: volume 4 4.7.2.1.1 (FXT1); the encoding is GL_3DFX_texture_compression_FXT1, appendix.
//! Every mode and flag of the extension is there.

use num::unorm8_to_f32;

/// A colour in bytes: R, G, B, A.
type Rgba = [u32; 4];

const CLEAR: Rgba = [0; 4];

/// A block as the number that the extension numbers the bits of.
#[derive(Clone, Copy)]
struct Block(u128);

impl Block {
    const fn bits(self, low: u32, width: u32) -> u32 {
        (self.0 >> low) as u32 & ((1 << width) - 1)
    }

    /// The five bits at `low`, widened to a byte by their upper three.
    const fn five(self, low: u32) -> u32 {
        let v = self.bits(low, 5);
        v << 3 | v >> 2
    }

    /// Opaque colour whose blue is at `low`, green and red above it.
    const fn rgb555(self, low: u32) -> Rgba {
        [self.five(low + 10), self.five(low + 5), self.five(low), 255]
    }

    /// The same with a sixth bit of green.
    const fn rgb565(self, low: u32, green_low: u32) -> Rgba {
        let green = self.bits(low + 5, 5) << 1 | green_low & 1;
        [
            self.five(low + 10),
            green << 2 | green >> 4,
            self.five(low),
            255,
        ]
    }
}

/// Step `t` of `n` from `a` to `b`, rounded to nearest.
fn lerp(a: Rgba, b: Rgba, t: u32, n: u32) -> Rgba {
    std::array::from_fn(|c| ((n - t) * a[c] + t * b[c] + n / 2) / n)
}

/// Seven steps between two colours, and transparent black.
fn high(block: Block, i: u32) -> Rgba {
    match block.bits(3 * i, 3) {
        7 => CLEAR,
        t => lerp(block.rgb555(96), block.rgb555(111), t, 6),
    }
}

/// Four colours as they are.
fn chroma(block: Block, i: u32) -> Rgba {
    block.rgb555(64 + 15 * block.bits(2 * i, 2))
}

/// Two colours for each half; the lowest bits of green are scattered.
fn mixed(block: Block, i: u32) -> Rgba {
    let right = i / 16;
    let base = 64 + 30 * right;
    let green = block.bits(125 + right, 1);
    let code = block.bits(2 * i, 2);
    let b = block.rgb565(base + 15, green);
    if block.bits(124, 1) == 0 {
        // The upper select bit of the half's first texel carries a bit of green.
        let select = block.bits(32 * right + 1, 1);
        return lerp(block.rgb565(base, select ^ green), b, code, 3);
    }
    let a = block.rgb555(base);
    match code {
        0 => a,
        // Rounded down, unlike all other steps.
        1 => std::array::from_fn(|c| u32::midpoint(a[c], b[c])),
        2 => b,
        _ => CLEAR,
    }
}

/// Three colours with alpha, as they are or with steps between them.
fn alpha(block: Block, i: u32) -> Rgba {
    let colour = |n: u32| {
        let [r, g, b, _] = block.rgb555(64 + 15 * n);
        [r, g, b, block.five(109 + 5 * n)]
    };
    let code = block.bits(2 * i, 2);
    if block.bits(124, 1) == 1 {
        let near = if i < 16 { colour(0) } else { colour(2) };
        return lerp(near, colour(1), code, 3);
    }
    match code {
        3 => CLEAR,
        n => colour(n),
    }
}

/// Texel (`x`, `y`) of a block (0..8, 0..4) as register bits.
pub fn texel(element: &[u8; 16], x: u32, y: u32) -> [u32; 4] {
    let block = Block(u128::from_le_bytes(*element));
    // The left square is texels 0 to 15, the right one 16 to 31.
    let i = (x & 4) * 4 + (y & 3) * 4 + (x & 3);
    let rgba = match block.bits(125, 3) {
        0 | 1 => high(block, i),
        2 => chroma(block, i),
        3 => alpha(block, i),
        _ => mixed(block, i),
    };
    rgba.map(|v| unorm8_to_f32(v as u8).to_bits())
}
