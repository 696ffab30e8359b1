//! Block-compressed colours of mobile devices: ETC1, ETC2 and EAC.
//!
//! OES_compressed_ETC1_RGB8_texture; OpenGL ES 3.0 annex C (ETC2, EAC).

use num::{srgb8_to_linear, unorm8_to_f32};

/// The modes of a block of colours that are read.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    /// ETC1: sums of colours and differences wrap.
    First,
    /// ETC2: sums beyond the range stand for other modes.
    Second,
    /// ETC2 with texels that are not there: the bit of differences says whether all are opaque.
    PunchThrough,
}

/// The lesser and the greater modifier of a table.
const MODIFIERS: [(i32, i32); 8] = [
    (2, 8),
    (5, 17),
    (9, 29),
    (13, 42),
    (18, 60),
    (24, 80),
    (33, 106),
    (47, 183),
];
/// Distances of paint colours.
const DISTANCES: [i32; 8] = [3, 6, 11, 16, 23, 32, 41, 64];
/// Modifiers of alpha, red or green; of the second half of a table's eight those of the first, less one and without the sign.
const EAC: [[i32; 4]; 16] = [
    [3, 6, 9, 15],
    [3, 7, 10, 13],
    [2, 5, 8, 13],
    [2, 4, 6, 13],
    [3, 6, 8, 12],
    [3, 7, 9, 11],
    [4, 7, 8, 11],
    [3, 5, 8, 11],
    [2, 6, 8, 10],
    [2, 5, 8, 10],
    [2, 4, 8, 10],
    [2, 5, 7, 10],
    [3, 4, 7, 10],
    [1, 2, 3, 10],
    [4, 6, 8, 9],
    [3, 5, 7, 9],
];

type Rgb = [i32; 3];

const fn be32(block: &[u8; 16], at: usize) -> u32 {
    u32::from_be_bytes([block[at], block[at + 1], block[at + 2], block[at + 3]])
}

/// Bits `high:low` of a word.
const fn bits(word: u32, high: u32, low: u32) -> i32 {
    // CAST: fewer than 31 bits.
    (word >> low & ((1 << (high - low + 1)) - 1)) as i32
}

const fn extend4(v: i32) -> i32 {
    v << 4 | v
}

const fn extend5(v: i32) -> i32 {
    v << 3 | v >> 2
}

const fn extend6(v: i32) -> i32 {
    v << 2 | v >> 4
}

const fn extend7(v: i32) -> i32 {
    v << 1 | v >> 6
}

fn byte(v: i32) -> i32 {
    v.clamp(0, 255)
}

/// What a block's first word says of its colours.
enum Mode {
    /// A colour for each half.
    Halves([Rgb; 2]),
    /// Four colours to choose from.
    Paint([Rgb; 4]),
    /// Colours at the origin and at the ends of both axes.
    Planar([Rgb; 3]),
}

/// Mode T.
fn paint_t(word: u32) -> Mode {
    let first = [
        bits(word, 28, 27) << 2 | bits(word, 25, 24),
        bits(word, 23, 20),
        bits(word, 19, 16),
    ];
    let second = [bits(word, 15, 12), bits(word, 11, 8), bits(word, 7, 4)];
    let (first, second) = (first.map(extend4), second.map(extend4));
    // CAST: three bits. PANIC: eight distances.
    let by = DISTANCES[(bits(word, 3, 2) << 1 | bits(word, 0, 0)) as usize & 7];
    Mode::Paint([
        first,
        second.map(|c| byte(c + by)),
        second,
        second.map(|c| byte(c - by)),
    ])
}

/// Mode H.
fn paint_h(word: u32) -> Mode {
    let first = [
        bits(word, 30, 27),
        bits(word, 26, 24) << 1 | bits(word, 20, 20),
        bits(word, 19, 19) << 3 | bits(word, 17, 15),
    ];
    let second = [bits(word, 14, 11), bits(word, 10, 7), bits(word, 6, 3)];
    let order = i32::from(first >= second);
    // CAST: three bits. PANIC: eight distances.
    let by = DISTANCES[(bits(word, 2, 2) << 2 | bits(word, 0, 0) << 1 | order) as usize & 7];
    let (first, second) = (first.map(extend4), second.map(extend4));
    Mode::Paint([
        first.map(|c| byte(c + by)),
        first.map(|c| byte(c - by)),
        second.map(|c| byte(c + by)),
        second.map(|c| byte(c - by)),
    ])
}

fn planar(word: u32, low: u32) -> Mode {
    let origin = [
        extend6(bits(word, 30, 25)),
        extend7(bits(word, 24, 24) << 6 | bits(word, 22, 17)),
        extend6(bits(word, 16, 16) << 5 | bits(word, 12, 11) << 3 | bits(word, 9, 7)),
    ];
    let across = [
        extend6(bits(word, 6, 2) << 1 | bits(word, 0, 0)),
        extend7(bits(low, 31, 25)),
        extend6(bits(low, 24, 19)),
    ];
    let down = [
        extend6(bits(low, 18, 13)),
        extend7(bits(low, 12, 6)),
        extend6(bits(low, 5, 0)),
    ];
    Mode::Planar([origin, across, down])
}

fn mode(word: u32, low: u32, kind: Kind) -> Mode {
    let channels = [24, 16, 8];
    if kind != Kind::PunchThrough && bits(word, 1, 1) == 0 {
        let half = |shift: u32| channels.map(|at| extend4(bits(word, at + shift + 3, at + shift)));
        return Mode::Halves([half(4), half(0)]);
    }
    let first = channels.map(|at| bits(word, at + 7, at + 3));
    let sums = channels.map(|at| {
        let difference = (bits(word, at + 2, at) ^ 4) - 4;
        bits(word, at + 7, at + 3) + difference
    });
    let beyond = |sum: i32| kind != Kind::First && !(0..32).contains(&sum);
    match sums {
        [red, ..] if beyond(red) => paint_t(word),
        [_, green, _] if beyond(green) => paint_h(word),
        [.., blue] if beyond(blue) => planar(word, low),
        sums => Mode::Halves([first.map(extend5), sums.map(|sum| extend5(sum & 31))]),
    }
}

/// Red, green and blue bytes of a texel of the block at byte `at`; `None` for a texel that is not there.
fn colour(block: &[u8; 16], at: usize, (x, y): (u32, u32), kind: Kind) -> Option<Rgb> {
    let (word, low) = (be32(block, at), be32(block, at + 4));
    let bit = x * 4 + y;
    let code = (low >> (16 + bit) & 1) << 1 | low >> bit & 1;
    let holes = kind == Kind::PunchThrough && bits(word, 1, 1) == 0;
    let mode = mode(word, low, kind);
    if holes && code == 2 && !matches!(mode, Mode::Planar(_)) {
        return None;
    }
    Some(match mode {
        Mode::Halves(colours) => {
            let second = if bits(word, 0, 0) == 1 {
                y >= 2
            } else {
                x >= 2
            };
            let (colour, table) = if second {
                (colours[1], bits(word, 4, 2))
            } else {
                (colours[0], bits(word, 7, 5))
            };
            // CAST: three bits. PANIC: eight tables.
            let (less, more) = MODIFIERS[table as usize & 7];
            let by = match code {
                0 | 2 if holes => 0,
                0 => less,
                1 => more,
                2 => -less,
                _ => -more,
            };
            colour.map(|c| byte(c + by))
        }
        // CAST: two bits.
        Mode::Paint(colours) => colours[code as usize & 3],
        Mode::Planar([origin, across, down]) => std::array::from_fn(|c| {
            // CAST: less than four.
            let (x, y) = (x as i32, y as i32);
            let sum = x * (across[c] - origin[c]) + y * (down[c] - origin[c]);
            byte((sum + 4 * origin[c] + 2) >> 2)
        }),
    })
}

/// The modifier of a texel in the half of a block at byte `at`, its base and its multiplier.
fn modifier(block: &[u8; 16], at: usize, (x, y): (u32, u32)) -> (i32, u8, i32) {
    let at = at & 8;
    let codes = u64::from(be32(block, at)) << 32 | u64::from(be32(block, at + 4));
    // CAST: three bits.
    let code = (codes >> (45 - 3 * (x * 4 + y)) & 7) as usize;
    let [base, second] = [block[at], block[at + 1]];
    // PANIC: sixteen tables of four.
    let size = EAC[usize::from(second & 15)][code & 3];
    let modifier = if code < 4 { -size } else { size - 1 };
    (modifier, base, i32::from(second >> 4))
}

/// Texel (`x`, `y`) of a block of colours at byte `at`, with alpha in bytes 0 to 7 where colours are behind it.
pub fn texel(
    block: &[u8; 16],
    (x, y): (u32, u32),
    (kind, alpha, srgb): (Kind, bool, bool),
) -> [u32; 4] {
    let place = (x & 3, y & 3);
    let Some(colour) = colour(block, if alpha { 8 } else { 0 }, place, kind) else {
        return [0; 4];
    };
    let alpha = if alpha {
        let (modifier, base, multiplier) = modifier(block, 0, place);
        byte(i32::from(base) + modifier * multiplier)
    } else {
        255
    };
    // CAST: bytes.
    let [red, green, blue] = colour.map(|c| {
        if srgb {
            srgb8_to_linear(c as u8).to_bits()
        } else {
            unorm8_to_f32(c as u8).to_bits()
        }
    });
    [red, green, blue, unorm8_to_f32(alpha as u8).to_bits()]
}

/// A channel of eleven bits of texel (`x`, `y`), of the half of a block at byte 0 or 8.
pub fn eleven(block: &[u8; 16], at: usize, (x, y): (u32, u32), signed: bool) -> u32 {
    let (modifier, base, multiplier) = modifier(block, at, (x & 3, y & 3));
    let by = match multiplier {
        0 => modifier,
        multiplier => modifier * multiplier * 8,
    };
    let value = if signed {
        let base = i32::from(base.cast_signed()).max(-127);
        (base * 8 + by).clamp(-1023, 1023) as f32 / 1023.0
    } else {
        (i32::from(base) * 8 + 4 + by).clamp(0, 2047) as f32 / 2047.0
    };
    value.to_bits()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn block(bytes: &[u8]) -> [u8; 16] {
        let mut out = [0; 16];
        out[..bytes.len()].copy_from_slice(bytes);
        out
    }

    fn rgba(bits: [u32; 4]) -> [u32; 4] {
        bits.map(|b| (f32::from_bits(b) * 255.0 + 0.5) as u32)
    }

    /// By hand from the text of the extension: colours 0x8 and 0x4 of red in two halves side by side, tables 0 and 1, texel (0, 0)
    /// with the first and texel (3, 3) with the last modifier.
    #[test]
    fn halves_and_modifiers() {
        let b = block(&[0x84, 0, 0, 0b0000_0100, 0x80, 0, 0x80, 0]);
        let texel = |x, y| rgba(texel(&b, (x, y), (Kind::First, false, false)));
        assert_eq!(texel(0, 0), [0x88 + 2, 2, 2, 255]);
        assert_eq!(texel(3, 3), [0x44 - 17, 0, 0, 255]);
        // Differences: 16 and 16 - 1, widened from five bits.
        let b = block(&[16 << 3 | 7, 0, 0, 2, 0, 0, 0, 0]);
        let texel = |x, y| rgba(super::texel(&b, (x, y), (Kind::Second, false, false)));
        assert_eq!(texel(0, 0)[0], 132 + 2);
        assert_eq!(texel(2, 0)[0], 123 + 2);
    }

    /// A plane: 0 at the origin, red 63 of 63 at the end of the row, green 127 of 127 at the end of the column.
    #[test]
    fn planes() {
        // Blue's sum is beyond the range: 0 - 4 with the bits that stand for nothing.
        let word: u32 = 0b1_1111 << 2 | 1 | 1 << 1 | 1 << 10;
        let low: u32 = 127 << 6;
        let mut bytes = [0; 8];
        bytes[..4].copy_from_slice(&word.to_be_bytes());
        bytes[4..].copy_from_slice(&low.to_be_bytes());
        let b = block(&bytes);
        let texel = |x, y| rgba(texel(&b, (x, y), (Kind::Second, false, false)));
        assert_eq!(texel(0, 0), [0, 0, 0, 255]);
        assert_eq!(texel(3, 0), [191, 0, 0, 255]);
        assert_eq!(texel(1, 2), [64, 128, 0, 255]);
    }

    /// Codes without the bit of differences: the third is a hole, the first has no modifier.
    #[test]
    fn holes() {
        let b = block(&[16 << 3, 0, 0, 0, 0, 1, 0, 0]);
        let texel = |x, y| rgba(texel(&b, (x, y), (Kind::PunchThrough, false, false)));
        assert_eq!(texel(0, 0), [0; 4]);
        assert_eq!(texel(1, 0), [132, 0, 0, 255]);
    }

    /// OpenGL ES 3.0, C.1.3 and C.1.5: base 0x80, multiplier 1, table 0; the first texel has code 0 (-3), the last 7 (14).
    #[test]
    fn alpha_and_eleven_bits() {
        let b = block(&[0x80, 0x10, 0, 0, 0, 0, 0, 7]);
        let value = |at, signed| f32::from_bits(eleven(&b, 0, at, signed));
        assert_eq!(value((0, 0), false), (0x80 * 8 + 4 - 24) as f32 / 2047.0);
        assert_eq!(
            value((3, 3), false),
            (0x80 * 8 + 4 + 14 * 8) as f32 / 2047.0
        );
        // -128 counts as -127.
        assert_eq!(value((0, 0), true), -1.0);
        assert_eq!(value((3, 3), true), (-127 * 8 + 14 * 8) as f32 / 1023.0);
        let alpha = texel(&b, (3, 3), (Kind::Second, true, false))[3];
        assert_eq!((f32::from_bits(alpha) * 255.0).round(), 142.0);
    }
}
