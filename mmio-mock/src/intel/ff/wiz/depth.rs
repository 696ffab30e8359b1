//! Depth of a pixel; the depth and stencil tests the windower makes itself.
//!
//! PRM: volume 2, windower (depth interpolation, global depth offset, early depth and stencil).
//! The depth plane comes from the setup thread's result in the URB, as on hardware: the rows at
//! Depth Coefficient URB Read Offset hold d/dx, d/dy and the value at the start vertex in dwords 0,
//! 1 and 3 (the transposed layout of PRM vol4 8.4.2), so a driver's own setup kernel decides.
//!
//! Not modelled: the number of bits of the hardware's interpolator; the plane is evaluated exactly
//! and rounded once.

use eu::Grf;
use mem::{Fault, Memory};

use super::depth_target::DepthTarget;
use crate::intel::cc::Compare;
use crate::intel::cc::stencil::Face;
use crate::intel::ff::payload::interpolation::Plane;
use crate::intel::surface::DepthFormat;

/// What the tests do in one pass over a subspan.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tests {
    /// Compare depth.
    pub depth: bool,
    /// Write depth.
    pub depth_write: bool,
    /// Depth function.
    pub function: Compare,
    /// Compare stencil; the format has it.
    pub stencil: bool,
    /// Write stencil.
    pub stencil_write: bool,
    /// Stencil of the side that is seen.
    pub face: Face,
}

impl Tests {
    /// Whether the depth buffer matters at all.
    pub fn touch(&self) -> bool {
        self.depth || self.depth_write || self.stencil
    }
}

/// The plane that gives a pixel's depth.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct DepthPlane {
    slope: [f64; 2],
    start: [f64; 2],
    base: f64,
    range: Option<(f32, f32)>,
}

impl DepthPlane {
    /// The plane in the coefficient row of a setup entry, with its origin at `start`, clamped to
    /// the range of CC_VIEWPORT if there is one.
    pub fn new(row: &Grf, start: [f32; 2], range: Option<(f32, f32)>) -> DepthPlane {
        let value = |i: usize| f64::from(f32::from_bits(row[i]));
        DepthPlane {
            slope: [value(0), value(1)],
            start: start.map(f64::from),
            base: value(3),
            range,
        }
    }

    /// The plane of a primitive without a setup thread; `origin` is added to a pixel's coordinates to find its sample point.
    pub fn of(plane: &Plane, origin: [f64; 2], range: Option<(f32, f32)>) -> DepthPlane {
        DepthPlane {
            slope: plane.slope,
            start: origin.map(|o| -o),
            base: plane.base,
            range,
        }
    }

    /// The same depth everywhere.
    pub fn constant(depth: f32) -> DepthPlane {
        DepthPlane {
            base: f64::from(depth),
            ..DepthPlane::default()
        }
    }

    /// The plane for a sample that lies so far from the sample point of the pixel.
    #[must_use]
    pub fn moved(&self, by: [f32; 2]) -> DepthPlane {
        DepthPlane {
            start: [
                self.start[0] - f64::from(by[0]),
                self.start[1] - f64::from(by[1]),
            ],
            ..*self
        }
    }

    /// The greater of the two slopes, for the depth offset.
    pub fn max_slope(&self) -> f64 {
        self.slope[0].abs().max(self.slope[1].abs())
    }

    /// Moves the plane by `offset`.
    pub fn offset(&mut self, offset: f64) {
        self.base += offset;
    }

    /// Depth at the sample point of a pixel; a NaN becomes the lower end of the range.
    #[inline]
    pub fn at(&self, x: i32, y: i32) -> f32 {
        let z = self.base
            + self.slope[0] * (f64::from(x) - self.start[0])
            + self.slope[1] * (f64::from(y) - self.start[1]);
        // CAST: the one rounding of the evaluation.
        match self.range {
            Some(range) => within(z as f32, range),
            None => z as f32,
        }
    }

    /// Depth of the four pixels of a subspan.
    #[inline]
    pub fn subspan(&self, x: i32, y: i32) -> [f32; 4] {
        [
            self.at(x, y),
            self.at(x + 1, y),
            self.at(x, y + 1),
            self.at(x + 1, y + 1),
        ]
    }
}

/// A depth within a range; a NaN becomes the lower end, and a zero keeps its sign, which `f32::max` leaves open.
#[inline(always)]
fn within(v: f32, (low, high): (f32, f32)) -> f32 {
    let v = if v.is_nan() || low > v { low } else { v };
    if v.is_nan() || high < v { high } else { v }
}

impl DepthPlane {
    /// Depth of the pixels of four rows of four, as [`Self::at`] gives it.
    #[inline(always)]
    pub fn square(&self, x: i32, y: i32) -> [[f32; 4]; 4] {
        let mut across = [0.0; 4];
        let mut down = [0.0; 4];
        for i in 0..4 {
            let n = i as i32;
            across[i] = self.base + self.slope[0] * (f64::from(x + n) - self.start[0]);
            down[i] = self.slope[1] * (f64::from(y + n) - self.start[1]);
        }
        // A row is a vector; the compiler keeps it in a register.
        let mut z = [[0.0; 4]; 4];
        for (row, down) in z.iter_mut().zip(down) {
            for i in 0..4 {
                // CAST: the one rounding of the evaluation.
                row[i] = (across[i] + down) as f32;
            }
            if let Some(range) = self.range {
                for v in row {
                    *v = within(*v, range);
                }
            }
        }
        z
    }
}

/// Contents of the depth buffer under a subspan.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Destination {
    /// Depth in the buffer's format.
    pub depth: [u32; 4],
    /// Stencil; zero when the format has none.
    pub stencil: [u8; 4],
}

impl Destination {
    /// Reads the destination of the subspan at (x, y); pixels outside the buffer read zero.
    #[inline]
    pub fn load(target: &DepthTarget, mem: &Memory, x: u32, y: u32) -> Result<Self, Fault> {
        let mut out = Destination::default();
        for row in 0..2 {
            let Some(at) = target.address(x, y.wrapping_add(row)) else {
                continue;
            };
            let at_row = row as usize * 2;
            for (i, raw) in (at_row..).zip(target.load(mem, at)?) {
                (out.depth[i], out.stencil[i]) = target.format.split(raw);
            }
        }
        Ok(out)
    }
}

/// Tests the pixels of `mask` in the subspan at (x, y) and writes what passes; the pixels that
/// passed come back. With `write` off nothing is written; pixels outside the buffer do not pass.
///
/// The same test as [`crate::intel::cc::depth::test_block`] makes behind the kernels, two pixels an
/// access; the tests hold them against each other.
#[inline]
pub fn test_subspan(
    target: &DepthTarget,
    mem: &mut Memory,
    (x, y): (u32, u32),
    mask: u8,
    z: &[f32; 4],
    tests: &Tests,
    write: bool,
) -> Result<u8, Fault> {
    let format = target.format;
    if !tests.stencil && matches!(format, DepthFormat::D24UnormS8 | DepthFormat::D24UnormX8) {
        return test_depth24(target, mem, (x, y), mask, z, tests, write);
    }
    let float = matches!(format, DepthFormat::D32Float | DepthFormat::D32FloatS8X24);
    let stencil_test = tests.stencil;
    let mut passed = 0;
    for row in 0..2u32 {
        let bits = (mask >> (row * 2)) & 3;
        if bits == 0 {
            continue;
        }
        let Some(at) = target.address(x, y.wrapping_add(row)) else {
            continue;
        };
        let pair = target.load(mem, at)?;
        for (column, raw) in (0u32..).zip(pair) {
            if bits >> column & 1 == 0 {
                continue;
            }
            let pixel = row * 2 + column;
            let source = format.encode(z[pixel as usize]);
            let (old_depth, beside) = format.split(raw);
            let apart = if stencil_test {
                target.stencil_address(x.wrapping_add(column), y.wrapping_add(row))
            } else {
                None
            };
            let old_stencil = match apart {
                Some(at) => mem.read_u8(at)?,
                None => beside,
            };
            let stencil_ok = !stencil_test || tests.face.test(old_stencil);
            let depth_ok = !tests.depth
                || if float {
                    let (s, d) = (f32::from_bits(source), f32::from_bits(old_depth));
                    tests.function.test(s, d)
                } else {
                    tests.function.test(source, old_depth)
                };
            let pass = stencil_ok && depth_ok;
            passed |= u8::from(pass) << pixel;
            if !write {
                continue;
            }
            let mut stencil = old_stencil;
            if stencil_test && tests.stencil_write {
                let op = match (stencil_ok, depth_ok) {
                    (false, _) => tests.face.fail,
                    (true, false) => tests.face.depth_fail,
                    (true, true) => tests.face.pass,
                };
                stencil = tests.face.update(op, old_stencil);
            }
            let depth = if pass && tests.depth_write {
                source
            } else {
                old_depth
            };
            let beside = match apart {
                Some(at) if stencil != old_stencil => {
                    mem.write_bytes(at, &[stencil])?;
                    beside
                }
                Some(_) => beside,
                None => stencil,
            };
            let unchanged = (depth, beside) == format.split(raw);
            if !unchanged {
                let at = at.offset(column * format.bytes());
                target.store(mem, at, format.join(raw, depth, beside))?;
            }
        }
    }
    Ok(passed)
}

/// The same for 24-bit depth without stencil test, the case that frames are made of: a row of two
/// pixels is one load, one comparison and at most one store.
#[inline]
fn test_depth24(
    target: &DepthTarget,
    mem: &mut Memory,
    (x, y): (u32, u32),
    mask: u8,
    z: &[f32; 4],
    tests: &Tests,
    write: bool,
) -> Result<u8, Fault> {
    const DEPTH: u64 = 0x00ff_ffff_00ff_ffff;
    let format = target.format;
    let function = if tests.depth {
        tests.function
    } else {
        Compare::Always
    };
    let mut passed = 0;
    for row in 0..2u32 {
        let bits = (mask >> (row * 2)) & 3;
        let Some(at) = target.address(x, y.wrapping_add(row)) else {
            continue;
        };
        if bits == 0 {
            continue;
        }
        let [left, right] = [row as usize * 2, row as usize * 2 + 1].map(|i| format.encode(z[i]));
        let raw = mem.read_u64(at)?;
        let old = [raw as u32 & 0xff_ffff, (raw >> 32) as u32 & 0xff_ffff];
        let pass =
            u8::from(function.test(left, old[0])) | u8::from(function.test(right, old[1])) << 1;
        let pass = pass & bits;
        passed |= pass << (row * 2);
        if pass != 0 && write && tests.depth_write {
            // Ones in the bytes of the pixels that passed.
            let lanes =
                [0, 0xffff_ffff, 0xffff_ffff_0000_0000, u64::MAX][usize::from(pass)] & DEPTH;
            let new = u64::from(left) | u64::from(right) << 32;
            mem.write_u64(at, (raw & !lanes) | (new & lanes))?;
        }
    }
    Ok(passed)
}

#[cfg(test)]
mod tests;
