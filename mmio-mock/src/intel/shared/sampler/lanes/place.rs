//! Where texels lie: address modes and offsets of eight pixels at once.
//!
//! PRM: volume 4, 4.2.3.1, 4.2.3.2. Each function gives what its namesake of [`super::super::address`] gives pixel by pixel.

use jit::eight::{Eight, each};
use mem::{BitSixSwizzle, Tiling};

use crate::intel::shared::sampler::address::Mode;
use crate::intel::surface::Geometry;

/// Numbers rounded down, as integers.
#[inline(always)]
pub(super) fn floor<E: Eight>(e: E, x: E::F) -> E::I {
    let whole = e.whole(x);
    // All ones are minus one.
    e.add(whole, e.less(x, e.number(whole)))
}

/// Coordinates in texels.
#[inline(always)]
fn texels<E: Eight>(e: E, mode: Mode, coord: E::F, scale: E::F) -> E::F {
    let folded = match mode {
        Mode::Wrap => e.sub_f(coord, e.number(floor(e, coord))),
        Mode::Mirror => {
            let period = floor(e, e.mul_f(coord, e.all_f(0.5)));
            let t = e.sub_f(coord, e.mul_f(e.all_f(2.0), e.number(period)));
            let back = e.less(e.all_f(1.0), t);
            e.select_f(back, e.sub_f(e.all_f(2.0), t), t)
        }
        Mode::MirrorOnce => {
            let positive = e.float(e.and(e.bits(coord), e.all(0x7fff_ffff)));
            e.min_f(positive, e.all_f(1.0))
        }
        Mode::Clamp | Mode::Cube | Mode::ClampBorder => coord,
    };
    e.mul_f(folded, scale)
}

/// Numbers of texels brought back into the map; negative ones are texels of the border.
#[inline(always)]
fn fold<E: Eight>(e: E, mode: Mode, texel: E::I, size: E::I) -> E::I {
    let last = e.sub(size, e.all(1));
    match mode {
        Mode::Wrap => {
            let low = e.select(texel, last, texel);
            e.and_not(e.more(low, last), low)
        }
        Mode::ClampBorder => e.or(texel, e.more(texel, last)),
        _ => e.min(e.max(texel, e.all(0)), last),
    }
}

/// The texels nearest to coordinates; negative ones are texels of the border.
#[inline(always)]
pub(super) fn nearest<E: Eight>(
    e: E,
    mode: Mode,
    coord: E::F,
    (size, scale): (E::I, E::F),
) -> E::I {
    let texel = floor(e, texels(e, mode, coord, scale));
    match mode {
        Mode::Wrap => fold(e, Mode::Clamp, texel, size),
        _ => fold(e, mode, texel, size),
    }
}

/// First texels, second texels, weights of the second; negative texels are of the border, in cube mode beyond an edge of their face.
#[inline(always)]
pub(super) fn linear<E: Eight>(
    e: E,
    mode: Mode,
    coord: E::F,
    (size, scale): (E::I, E::F),
) -> ([E::I; 2], E::F) {
    let at = e.sub_f(texels(e, mode, coord, scale), e.all_f(0.5));
    let first = floor(e, at);
    let weight = e.sub_f(at, e.number(first));
    let weight = e.min_f(e.max_f(weight, e.all_f(0.0)), e.all_f(1.0));
    // The largest number stays.
    let second = e.add(e.min(first, e.all(i32::MAX as u32 - 1)), e.all(1));
    if mode == Mode::Cube {
        // What lies beyond an edge is looked for on the next face.
        let within = each(
            &[first, second],
            size,
            #[inline(always)]
            |texel| e.min(e.max(texel, e.all(u32::MAX)), size),
        );
        return (within, weight);
    }
    let folded = [fold(e, mode, first, size), fold(e, mode, second, size)];
    (folded, weight)
}

/// What columns add to offsets; of `odd` surfaces pixel by pixel.
#[inline(always)]
pub(super) fn columns<E: Eight>(
    e: E,
    (geometry, odd): (&Geometry, bool),
    size: u32,
    x: E::I,
) -> E::I {
    if odd {
        return e.load(&geometry.columns(&e.array(x)));
    }
    let x = e.shl(x, size);
    // Tiles, or columns in them, that are 2^`shift` times as far apart as they are wide.
    let (below, shift) = match geometry.tiling {
        Tiling::Linear => return x,
        Tiling::X => (511, 3),
        // Columns of sixteen bytes are 512 bytes apart, in a tile and from tile to tile.
        Tiling::Y => (15, 5),
    };
    let inside = e.all(below);
    e.add(e.shl(e.and_not(inside, x), shift), e.and(x, inside))
}

/// What rows add to offsets; of `odd` surfaces pixel by pixel.
#[inline(always)]
pub(super) fn rows<E: Eight>(e: E, (geometry, odd): (&Geometry, bool), y: E::I) -> E::I {
    if odd {
        return e.load(&geometry.rows(&e.array(y)));
    }
    let pitch = e.all(geometry.pitch);
    // Rows of a tile, and bytes from one to the next as a power of two.
    let (below, shift) = match geometry.tiling {
        Tiling::Linear => return e.mul(y, pitch),
        Tiling::X => (7, 9),
        Tiling::Y => (31, 4),
    };
    let inside = e.all(below);
    let tiles = e.mul(e.and_not(inside, y), pitch);
    e.add(tiles, e.shl(e.and(y, inside), shift))
}

/// Offsets from the first byte of the surface.
#[inline(always)]
pub(super) fn offsets<E: Eight>(e: E, geometry: &Geometry, columns: E::I, rows: E::I) -> E::I {
    let at = e.add(columns, rows);
    if geometry.tiling == Tiling::Linear {
        return at;
    }
    // Those bits, moved to bit 6.
    let [nine, ten, eleven] = match geometry.swizzle {
        BitSixSwizzle::None => return at,
        BitSixSwizzle::Nine => [64, 0, 0],
        BitSixSwizzle::NineTen => [64, 64, 0],
        BitSixSwizzle::NineEleven => [64, 0, 64],
        BitSixSwizzle::NineTenEleven => [64, 64, 64],
    };
    let fold = e.and(e.shr(at, 3), e.all(nine));
    let fold = e.xor(fold, e.and(e.shr(at, 4), e.all(ten)));
    e.xor(at, e.xor(fold, e.and(e.shr(at, 5), e.all(eleven))))
}
