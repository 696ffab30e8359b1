//! Squares of four by four pixels: the early depth test of four subspans at once.
//!
//! PRM: volume 2, windower (early depth test). The same arithmetic as `depth`, a row an access: here for 24 bits without
//! stencil, in `any` for the rest. Not modelled here: stipple, antialiased lines, linear buffers, several samples of a
//! pixel, tests that the thread repeats; `depth` has them.

mod any;

use mem::Memory;

use super::depth::{DepthPlane, Tests};
use super::depth_target::DepthTarget;
use crate::intel::cc::Compare;
use crate::intel::surface::DepthFormat;

/// Pixels of a row.
const N: usize = 4;
/// Four rows of four pixels.
type Rows<T> = [[T; N]; N];
/// The depth bits of a pixel.
const DEPTH: u32 = 0x00ff_ffff;

/// A square after its tests, by subspans: left and right above, left and right below.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Square {
    /// Pixels that were tested.
    pub lit: [u8; 4],
    /// Pixels that passed.
    pub passed: [u8; 4],
    /// Source depth.
    pub depth: [[f32; 4]; 4],
}

/// The masks of the four subspans of rows of four pixels.
#[inline]
pub fn by_subspan(mask: u16) -> [u8; 4] {
    [0, 2, 8, 10].map(|at| (mask >> at & 3 | (mask >> (at + 4) & 3) << 2) as u8)
}

#[inline(always)]
fn all(on: bool) -> u32 {
    0u32.wrapping_sub(u32::from(on))
}

/// What the masks of a comparison are made of: pixels for which it passes when the new value is
/// less, equal, greater.
fn cases(function: Compare) -> [u32; 3] {
    // Any three ordered values tell the cases apart.
    [0, 1, 2].map(|new| 0u32.wrapping_sub(u32::from(function.test(new, 1))))
}

/// Whether the tests of a primitive are made, if it has any, in 24 bits of depth alone. Such a square takes the ticks of two
/// subspans, whatever is lit of it; of any other each lit subspan counts.
pub fn counts_as_two(tests: &Tests, target: Option<&DepthTarget>) -> bool {
    let untested = !tests.touch() || target.is_none();
    untested || target.is_some_and(|target| is_depth24(tests, target))
}

impl Square {
    /// A square of which nothing is tested, by the pixels that are lit: four bits a row.
    #[inline]
    #[must_use]
    pub fn untested(mask: u16) -> Square {
        Square {
            lit: by_subspan(mask),
            passed: by_subspan(mask),
            ..Square::default()
        }
    }
}

#[inline(always)]
fn is_depth24(tests: &Tests, target: &DepthTarget) -> bool {
    !tests.stencil
        && matches!(
            target.format,
            DepthFormat::D24UnormS8 | DepthFormat::D24UnormX8
        )
}

/// A square before its tests: the depth of all pixels, and those of `mask` (four bits a row) are lit.
#[inline(always)]
fn untested(plane: Option<&DepthPlane>, (x, y): (i32, i32), mask: u16) -> (Square, Rows<f32>) {
    let mut square = Square::untested(mask);
    let Some(plane) = plane else {
        return (square, [[0.0; N]; N]);
    };
    let z = plane.square(x, y);
    for (s, depth) in square.depth.iter_mut().enumerate() {
        let (column, row) = (s % 2 * 2, s / 2 * 2);
        let (above, below) = (&z[row], &z[row + 1]);
        *depth = [
            above[column],
            above[column + 1],
            below[column],
            below[column + 1],
        ];
    }
    (square, z)
}

/// Tests the pixels of `mask` (four bits a row) in the square at (x, y), writes what passes, and
/// gives the depth of all; `None`, with nothing done, when the square needs the general way.
#[inline]
pub fn test(
    plane: Option<&DepthPlane>,
    target: Option<&DepthTarget>,
    mem: &mut Memory,
    at: (i32, i32),
    depth_at: (u32, u32),
    mask: u16,
    (tests, write): (&Tests, bool),
) -> Option<Square> {
    let Some(target) = target.filter(|_| tests.touch()) else {
        return Some(untested(plane, at, mask).0);
    };
    // A function of its own for each: what the rare one needs does not weigh on the other.
    if is_depth24(tests, target) {
        return jit::vectors(
            #[inline(always)]
            || {
                let (mut square, z) = untested(plane, at, mask);
                let passed = test24(&z, target, mem, depth_at, mask, (tests, write))?;
                square.passed = by_subspan(passed);
                Some(square)
            },
        );
    }
    jit::vectors(
        #[inline(always)]
        || {
            let (mut square, z) = untested(plane, at, mask);
            let passed = any::test(&z, target, mem, depth_at, mask, (tests, write))?;
            square.passed = by_subspan(passed);
            Some(square)
        },
    )
}

/// The pixels that pass in 24 bits of depth, without stencil test.
#[inline(always)]
fn test24(
    z: &Rows<f32>,
    target: &DepthTarget,
    mem: &mut Memory,
    depth_at: (u32, u32),
    mask: u16,
    (tests, write): (&Tests, bool),
) -> Option<u16> {
    let place = target.square(depth_at.0, depth_at.1)?;
    let rows = mem.read_square(&place).ok()?;
    let mut raw: [[u32; N]; N] = zerocopy::transmute!(rows);
    for dword in raw.as_flattened_mut() {
        *dword = u32::from_le(*dword);
    }
    let [less, equal, greater] = cases(if tests.depth {
        tests.function
    } else {
        Compare::Always
    });
    let mut passed = 0u32;
    let write = write && tests.depth_write;
    for row in 0..N {
        let lit = u32::from(mask) >> (4 * row) & 15;
        if lit == 0 {
            continue;
        }
        let mut lanes = [0u32; N];
        let mut new = [0u32; N];
        for i in 0..N {
            new[i] = unorm::<24>(z[row][i]);
        }
        for i in 0..N {
            // CAST: 24 bits; signed comparisons are the cheap ones.
            let (new, old) = (new[i] as i32, (raw[row][i] & DEPTH) as i32);
            let lit = lit & 1 << i != 0;
            lanes[i] = (all(new < old) & less | all(new == old) & equal | all(new > old) & greater)
                & all(lit);
        }
        let mut bits = 0;
        for (i, lane) in lanes.iter().enumerate() {
            bits |= lane & 1 << i;
        }
        passed |= bits << (4 * row);
        if write {
            for i in 0..N {
                let keep = !(lanes[i] & DEPTH);
                raw[row][i] = raw[row][i] & keep | new[i] & !keep;
            }
        }
    }
    if passed != 0 && write {
        for dword in raw.as_flattened_mut() {
            *dword = dword.to_le();
        }
        // The square was read, so that it can be written.
        mem.write_square(&place, &zerocopy::transmute!(raw)).ok()?;
    }
    // CAST: sixteen pixels.
    Some(passed as u16)
}

/// `num::f32_to_unorm` of so many bits, 24 at most, in a form that vectorises: exact product, nearest even.
#[inline(always)]
fn unorm<const BITS: u32>(v: f32) -> u32 {
    const MAGIC: f64 = 4_503_599_627_370_496.0;
    let v = if v > 0.0 { v } else { 0.0 };
    let v = if v < 1.0 { v } else { 1.0 };
    let largest = f64::from((1u32 << BITS) - 1);
    (f64::from(v) * largest + MAGIC).to_bits() as u32
}

#[cfg(test)]
mod tests;
