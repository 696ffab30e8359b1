//! Random elements: special values, boundaries, and what lies next to them.
//!
//! PRM: volume 4, 10.2.

use fastrand::Rng;
use isa::operand::Type;

/// One of them.
pub fn pick<T: Copy>(rng: &mut Rng, from: &[T]) -> T {
    from[rng.usize(..from.len())]
}

const SPECIAL: [u32; 22] = [
    0,
    0x8000_0000,
    1,
    0x8000_0001,
    0x007f_ffff,
    0x807f_ffff,
    0x0080_0000,
    0x8080_0000,
    0x7f7f_ffff,
    0xff7f_ffff,
    0x7f80_0000,
    0xff80_0000,
    0x7fc0_0000,
    0xffc0_0001,
    0x7f80_0001,
    0x3f80_0000,
    0xbf80_0000,
    0x3f7f_ffff,
    0x3f80_0001,
    0x3f00_0000,
    0x4b80_0000,
    0x5f00_0000,
];

fn float(rng: &mut Rng) -> u32 {
    match rng.u64(..8) {
        0 => pick(rng, &SPECIAL),
        1 => rng.u32(..),
        // Around a power of two, as an integer limit has it.
        2 => {
            let e = (96 + rng.u64(..64) as u32) << 23;
            let near = e.wrapping_add(rng.u64(..7) as u32).wrapping_sub(3);
            near | rng.u32(..) & 0x8000_0000
        }
        // Halves and thirds of small integers.
        3 => (rng.u64(..2001) as f32 / pick(rng, &[1.0, 2.0, 3.0, 64.0]) - 500.0).to_bits(),
        4 => (rng.u32(..) & 0x80ff_ffff) | pick(rng, &[0x7e80_0000, 0x0080_0000, 0x0100_0000]),
        _ => (rng.u32(..) & 0x87ff_ffff) | 0x3c00_0000,
    }
}

/// An element, zero above its size.
pub fn value(rng: &mut Rng, ty: Type) -> u32 {
    if ty == Type::F {
        return float(rng);
    }
    let bits = 8 * ty.size() as u64;
    let v = match rng.u64(..6) {
        0 => rng.u64(..4) as u32,
        1 => 0u32.wrapping_sub(1 + rng.u64(..4) as u32),
        2 => {
            let k = 1u32.checked_shl(rng.u64(..=bits) as u32).unwrap_or(0);
            k.wrapping_add(rng.u64(..3) as u32).wrapping_sub(1)
        }
        3 => rng.u32(..) >> rng.u64(..32),
        _ => rng.u32(..),
    };
    v & (u32::MAX >> (32 - bits))
}

/// A second element that has something to do with the first.
pub fn partner(rng: &mut Rng, ty: Type, first: u32) -> u32 {
    let v = match rng.u64(..6) {
        0 => first,
        // Around the last place of the first.
        4 | 5 if ty == Type::F => {
            let exp = (first >> 23 & 0xff).saturating_sub(20 + rng.u64(..12) as u32);
            (exp << 23) | rng.u32(..) & 0x807f_ffff
        }
        1 if ty == Type::F => first ^ 0x8000_0000,
        1 => 0u32.wrapping_sub(first),
        2 => first.wrapping_add(1) ^ (rng.u32(..) & 0x8000_0000),
        _ => first.wrapping_sub(1),
    };
    v & (u32::MAX >> (32 - 8 * ty.size()))
}

/// ALT mode expects no infinity, NaN or denormal (PRM 10.3.2).
pub fn tame(v: u32) -> u32 {
    match v & 0x7f80_0000 {
        0 => v & 0x8000_0000,
        0x7f80_0000 => v & !0x0080_0000,
        _ => v,
    }
}
