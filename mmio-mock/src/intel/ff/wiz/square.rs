//! Squares of four by four pixels: the early depth test of four subspans at once.
//!
//! PRM: volume 2, windower (early depth test). The same arithmetic as `depth`, a row an access,
//! for the case that frames are made of. Not modelled here: stencil, depth formats of other than
//! 24 bits, stipple, antialiased lines, tests that the thread repeats; `depth` has them.

use mem::Memory;

use super::depth::{DepthPlane, Tests};
use super::depth_target::DepthTarget;
use crate::intel::cc::Compare;
use crate::intel::surface::DepthFormat;

/// Pixels of a row.
const N: usize = 4;
/// The depth bits of a pixel.
const DEPTH: u32 = 0x00ff_ffff;

/// A square after its tests, by subspans: left and right above, left and right below.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Square {
    /// Pixels that passed.
    pub passed: [u8; 4],
    /// Source depth.
    pub depth: [[f32; 4]; 4],
}

/// The masks of the four subspans of rows of four pixels.
#[inline]
fn by_subspan(mask: u16) -> [u8; 4] {
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

/// Whether the tests of a primitive are those that [`test`] makes, or none.
pub fn applies(tests: &Tests, target: Option<&DepthTarget>) -> bool {
    let depth24 =
        |t: &DepthTarget| matches!(t.format, DepthFormat::D24UnormS8 | DepthFormat::D24UnormX8);
    let untested = !tests.touch() || target.is_none();
    untested || !tests.stencil && target.is_some_and(depth24)
}

impl Square {
    /// A square of which nothing is tested, by the pixels that are lit: four bits a row.
    #[inline]
    #[must_use]
    pub fn untested(mask: u16) -> Square {
        Square {
            passed: by_subspan(mask),
            ..Square::default()
        }
    }
}

/// Tests the pixels of `mask` (four bits a row) in the square at (x, y), writes what passes, and
/// gives the depth of all; `None`, with nothing done, when the square needs the general way. Only
/// for tests that [`applies`] accepted.
#[inline(always)]
pub fn test(
    plane: Option<&DepthPlane>,
    target: Option<&DepthTarget>,
    mem: &mut Memory,
    (x, y): (i32, i32),
    depth_at: (u32, u32),
    mask: u16,
    (tests, write): (&Tests, bool),
) -> Option<Square> {
    let mut square = Square::untested(mask);
    let z = match plane {
        Some(plane) => plane.square(x, y),
        None => [[0.0; N]; N],
    };
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
    let Some(target) = target.filter(|_| tests.touch()) else {
        return Some(square);
    };
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
            new[i] = unorm24(z[row][i]);
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
    square.passed = by_subspan(passed as u16);
    Some(square)
}

/// `num::f32_to_unorm` of 24 bits in a form that vectorises: exact product, nearest even.
#[inline(always)]
fn unorm24(v: f32) -> u32 {
    const MAGIC: f64 = 4_503_599_627_370_496.0;
    let v = if v > 0.0 { v } else { 0.0 };
    let v = if v < 1.0 { v } else { 1.0 };
    (f64::from(v) * 16_777_215.0 + MAGIC).to_bits() as u32
}

#[cfg(test)]
mod tests;
