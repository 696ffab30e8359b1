//! Squares with stencil, and with depth of any format.
//!
//! PRM: volume 2, windower (early depth and stencil test, depth formats). The same as `depth::test_subspan` makes of each
//! subspan. Not modelled here: linear buffers, and several samples of a pixel; `depth` has them.

use mem::{Access, Memory};

use super::super::depth::Tests;
use super::super::depth_target::DepthTarget;
use super::{DEPTH, N, Rows, all, cases, unorm};
use crate::intel::cc::Compare;
use crate::intel::cc::stencil::Op;
use crate::intel::surface::DepthFormat;

/// Pixels of a square.
const PIXELS: usize = N * N;

/// A byte for each pixel, row by row: of masks all bits are the same.
type Bytes = [u8; PIXELS];

/// Where each pixel's stencil lies in the sixteen bytes of a buffer of its own.
const APART: [usize; PIXELS] = {
    let mut at = [0; PIXELS];
    let mut i = 0;
    while i < PIXELS {
        let (x, y) = (i % N, i / N);
        at[i] = x & 1 | (y & 1) << 1 | (x >> 1) << 2 | (y >> 1) << 3;
        i += 1;
    }
    at
};

/// Tests the pixels of `mask` (four bits a row) of the square at `at`, whose depth is `z`, and writes what passes. Comes back
/// with the pixels that passed; `None`, with nothing done, when the square needs the general way.
#[inline(always)]
pub(super) fn test(
    z: &Rows<f32>,
    target: &DepthTarget,
    mem: &mut Memory,
    at: (u32, u32),
    mask: u16,
    (tests, write): (&Tests, bool),
) -> Option<u16> {
    let format = target.format;
    let pieces = if target.has_depth() {
        Some(target.pieces(at)?)
    } else if tests.depth || tests.depth_write || !target.has_square(at) {
        return None;
    } else {
        None
    };
    let apart = if tests.stencil && target.has_stencil_apart() {
        Some(target.stencil_square(at)?)
    } else {
        None
    };
    if let (Some(pieces), Some(apart)) = (&pieces, apart) {
        // Tests one after another read what those before have written: that counts where both buffers are one.
        let depth = mem.translate(pieces.first(), Access::Read).ok()?;
        let stencil = mem.translate(apart, Access::Read).ok()?;
        if depth >> 12 == stencil >> 12 {
            return None;
        }
    }
    let (low, high) = match &pieces {
        Some(pieces) => pieces.load(mem)?,
        None => ([[0; N]; N], [[0; N]; N]),
    };
    let found: Option<Bytes> = match apart {
        Some(apart) => Some(mem.read_array(apart).ok()?),
        None => None,
    };

    // Depth.
    let mut new = [[0; N]; N];
    for (new, z) in new.iter_mut().zip(z) {
        for i in 0..N {
            new[i] = match format {
                DepthFormat::D32Float | DepthFormat::D32FloatS8X24 => z[i].to_bits(),
                DepthFormat::D24UnormS8 | DepthFormat::D24UnormX8 => unorm::<24>(z[i]),
                DepthFormat::D16Unorm => unorm::<16>(z[i]),
            };
        }
    }
    let field = match format {
        DepthFormat::D24UnormS8 | DepthFormat::D24UnormX8 => DEPTH,
        _ => u32::MAX,
    };
    let mut depth_ok = [0xff; PIXELS];
    if tests.depth {
        depth_ok = depths(tests.function, format, &new, &low, field);
    }

    // Stencil.
    let mut old: Bytes = [0; PIXELS];
    for i in 0..PIXELS {
        let (row, column) = (i / N, i % N);
        old[i] = match (found, format) {
            (Some(found), _) => found[APART[i]],
            // CAST: a byte of the dword.
            (None, DepthFormat::D24UnormS8) => (low[row][column] >> 24) as u8,
            (None, DepthFormat::D32FloatS8X24) => high[row][column] as u8,
            (None, _) => 0,
        };
    }
    let mut stencil_ok = [0xff; PIXELS];
    if tests.stencil {
        stencil_ok = stencils(tests, &old);
    }

    let mut lit = [0; PIXELS];
    let mut passes = [0; PIXELS];
    let mut passed = 0;
    for i in 0..PIXELS {
        lit[i] = byte(mask & 1 << i != 0);
        passes[i] = lit[i] & depth_ok[i] & stencil_ok[i];
        passed |= u16::from(passes[i] & 1) << i;
    }
    if !write {
        return Some(passed);
    }

    // What they leave behind.
    let mut stencil = old;
    if tests.stencil && tests.stencil_write {
        let face = &tests.face;
        let fail = updated(tests, face.fail, &old);
        let depth_fail = updated(tests, face.depth_fail, &old);
        let pass = updated(tests, face.pass, &old);
        for i in 0..PIXELS {
            let tested = depth_ok[i] & pass[i] | !depth_ok[i] & depth_fail[i];
            let new = stencil_ok[i] & tested | !stencil_ok[i] & fail[i];
            stencil[i] = lit[i] & new | !lit[i] & old[i];
        }
    }
    let (mut new_low, mut new_high) = (low, high);
    for i in 0..PIXELS {
        let (row, column) = (i / N, i % N);
        if tests.depth_write {
            let put = all(passes[i] != 0) & field;
            new_low[row][column] = new_low[row][column] & !put | new[row][column] & put;
        }
        if found.is_none() {
            let stencil = u32::from(stencil[i]);
            match format {
                DepthFormat::D24UnormS8 => {
                    new_low[row][column] = new_low[row][column] & DEPTH | stencil << 24;
                }
                DepthFormat::D32FloatS8X24 => {
                    new_high[row][column] = new_high[row][column] & !0xff | stencil;
                }
                _ => {}
            }
        }
    }
    let stores = (new_low, new_high) != (low, high);
    let stencil_stores = apart.filter(|_| stencil != old);
    // Nothing is written unless all can be.
    let stored = pieces.as_ref().filter(|_| stores);
    if stored.is_some_and(|pieces| !pieces.writable(mem))
        || stencil_stores.is_some_and(|at| mem.translate(at, Access::Write).is_err())
    {
        return None;
    }
    if let Some(pieces) = stored {
        pieces.store(mem, (new_low, new_high))?;
    }
    if let Some(at) = stencil_stores {
        let mut bytes = [0; PIXELS];
        for i in 0..PIXELS {
            bytes[APART[i]] = stencil[i];
        }
        mem.write_array(at, bytes).ok()?;
    }
    Some(passed)
}

#[inline(always)]
fn byte(on: bool) -> u8 {
    0u8.wrapping_sub(u8::from(on))
}

/// Which pixels pass the depth test.
#[inline(always)]
fn depths(
    function: Compare,
    format: DepthFormat,
    new: &Rows<u32>,
    low: &Rows<u32>,
    field: u32,
) -> Bytes {
    let [less, equal, greater] = cases(function);
    let mut ok = [0; PIXELS];
    if matches!(format, DepthFormat::D32Float | DepthFormat::D32FloatS8X24) {
        let unordered = all(function.test(f32::NAN, 0.0));
        for i in 0..PIXELS {
            let new = f32::from_bits(new[i / N][i % N]);
            let old = f32::from_bits(low[i / N][i % N]);
            let ordered =
                all(new < old) & less | all(new == old) & equal | all(new > old) & greater;
            // CAST: all bits are the same.
            ok[i] = (ordered | all(new.is_nan() | old.is_nan()) & unordered) as u8;
        }
    } else {
        for i in 0..PIXELS {
            // CAST: 24 bits; signed comparisons are the cheap ones.
            let new = new[i / N][i % N] as i32;
            let old = (low[i / N][i % N] & field) as i32;
            let ok_here =
                all(new < old) & less | all(new == old) & equal | all(new > old) & greater;
            // CAST: all bits are the same.
            ok[i] = ok_here as u8;
        }
    }
    ok
}

/// Which pixels pass the stencil test.
#[inline(always)]
fn stencils(tests: &Tests, old: &Bytes) -> Bytes {
    let face = &tests.face;
    // CAST: all bits are the same.
    let [less, equal, greater] = cases(face.function).map(|case| case as u8);
    let reference = face.reference & face.test_mask;
    let mut ok = [0; PIXELS];
    for i in 0..PIXELS {
        let old = old[i] & face.test_mask;
        ok[i] = byte(reference < old) & less
            | byte(reference == old) & equal
            | byte(reference > old) & greater;
    }
    ok
}

/// All stencils after an operation.
#[inline(always)]
fn updated(tests: &Tests, op: Op, old: &Bytes) -> Bytes {
    let face = &tests.face;
    // One loop for each operation, of which the compiler makes vectors.
    macro_rules! loops {
        ($($op:ident)*) => {
            match op {
                $(Op::$op => {
                    let mut new = *old;
                    for stencil in &mut new {
                        *stencil = face.update(Op::$op, *stencil);
                    }
                    new
                })*
            }
        };
    }
    loops!(Keep Zero Replace IncrementSaturate DecrementSaturate Increment Decrement Invert)
}
