//! Pixels straight into four-byte UNORM targets: nothing blended or kept.
//!
//! PRM: volume 4 5.10.6 (render target write). The commonest case by far, and only a faster way of
//! what `pixel` does. Not modelled here: all that `pixel` does beyond it.

use super::Origins;
use super::pixel::PixelBlock;
use super::pixel::lanes::{Places, place};
use super::state::CcState;
use crate::intel::surface::format::codes;
use crate::intel::surface::{Surface, SurfaceKind};
use mem::{Fault, Memory, Square};

/// Where the channels of a target's pixels lie: the shift of R, G, B, A in the dword.
pub type Shifts = [u32; 4];

/// The channel order of a target that can be written directly: what of the test depends on the
/// surface alone, so that it is made once.
pub fn shifts(target: &Surface) -> Option<Shifts> {
    let shifts = match target.format.code as u32 {
        codes::R8G8B8A8_UNORM => [0, 8, 16, 24],
        codes::B8G8R8A8_UNORM => [16, 8, 0, 24],
        _ => return None,
    };
    let plain = target.kind == SurfaceKind::TwoD
        && target.write_channels == 15
        && !target.geometry.buffer
        && target.geometry.bytes == 4
        && target.samples == 1;
    plain.then_some(shifts)
}

/// Whether the colour calculator leaves colours alone on their way into an eight-bit target:
/// dither has nothing to do there, and the clamps do what packing does anyway.
#[inline]
pub fn applies(cc: &CcState, target: &Surface) -> bool {
    cc.logic_op.is_none() && cc.write_disables == 0 && !(cc.blend.is_some() && target.blend_enable)
}

/// A float as UNORM8, nearest even, NaN as zero. `num::f32_to_unorm` in a form that vectorises.
#[inline(always)]
fn unorm8(bits: u32) -> u32 {
    const MAGIC: f64 = 4_503_599_627_370_496.0;
    let v = f32::from_bits(bits);
    let v = if v > 0.0 { v } else { 0.0 };
    let v = if v < 1.0 { v } else { 1.0 };
    // Exact in double precision; adding 2^52 rounds to an integer in the low bits.
    (f64::from(v) * 255.0 + MAGIC).to_bits() as u32
}

/// The same by one rounding of a product and a sum: 2^23 leaves no room for a fraction. Quick where the host has an instruction for it.
#[inline(always)]
fn unorm8_fused(bits: u32) -> u32 {
    const MAGIC: f32 = 8_388_608.0;
    let v = f32::from_bits(bits);
    let v = if v > 0.0 { v } else { 0.0 };
    let v = if v < 1.0 { v } else { 1.0 };
    v.mul_add(255.0, MAGIC).to_bits() & 0xff
}

/// Whether all pixels have the same value.
#[inline(always)]
fn even(plane: &[u32; 16]) -> bool {
    let mut differs = 0;
    for i in 0..16 {
        differs |= plane[i] ^ plane[0];
    }
    differs == 0
}

/// The dwords of sixteen pixels.
#[inline(always)]
pub fn pack(colour: &super::pixel::Planes, shifts: Shifts) -> [u32; 16] {
    let mut out = [0; 16];
    for (plane, shift) in colour.iter().zip(shifts) {
        // Alpha, clears and flat colours.
        if even(plane) {
            let value = unorm8(plane[0]) << shift;
            for dword in &mut out {
                *dword |= value;
            }
            continue;
        }
        for i in 0..16 {
            out[i] |= unorm8(plane[i]) << shift;
        }
    }
    out
}

/// [`pack`] on hosts with FMA.
#[inline(always)]
fn pack_fused(colour: &super::pixel::Planes, shifts: Shifts) -> [u32; 16] {
    let mut out = [0; 16];
    for (plane, shift) in colour.iter().zip(shifts) {
        for i in 0..16 {
            out[i] |= unorm8_fused(plane[i]) << shift;
        }
    }
    out
}

/// [`pack`] in the way that is quickest on this host.
#[inline]
pub fn dwords(colour: &super::pixel::Planes, shifts: Shifts) -> [u32; 16] {
    let wide = jit::wide(
        #[inline(always)]
        || pack_fused(colour, shifts),
    );
    wide.unwrap_or_else(|| pack(colour, shifts))
}

/// The dword of each pixel when all have the same.
pub fn one(colour: &super::pixel::Planes, shifts: Shifts) -> Option<u32> {
    let same = colour.iter().all(even);
    same.then(|| pack(colour, shifts)[0])
}

/// The little-endian dwords of four rows, from those of four subspans.
#[inline(always)]
pub(super) fn by_row(packed: &[u32; 16]) -> [[u32; 4]; 4] {
    let row = |i: usize| {
        [
            packed[i].to_le(),
            packed[i + 1].to_le(),
            packed[i + 4].to_le(),
            packed[i + 5].to_le(),
        ]
    };
    [row(0), row(2), row(8), row(10)]
}

/// Whether a block is a full square of four by four pixels.
#[inline]
fn full(block: &PixelBlock<'_>) -> bool {
    let [a, b, c, d] = *block.origins;
    block.mask == 0xffff
        && b == (a.0.wrapping_add(2), a.1)
        && c == (a.0, a.1.wrapping_add(2))
        && d == (b.0, c.1)
}

/// Where the square of four by four pixels lies whose upper left one is (`x`, `y`); `None` where it reaches over the target's edge,
/// and where it lies across what is written at once.
#[inline(always)]
pub(super) fn place(target: &Surface, slice: u32, (x, y): (u16, u16)) -> Option<Square> {
    let lod = target.render_lod;
    let (x, y) = (u32::from(x), u32::from(y));
    if x + 4 > target.level_width(lod) || y + 4 > target.level_height(lod) {
        return None;
    }
    let (left, top) = target.geometry.origin(slice, lod);
    let geometry = &target.geometry;
    geometry.square(left.wrapping_add(x), top.wrapping_add(y))
}

/// Pixels as their target has them, with their places there.
#[derive(Clone, Copy, Debug)]
pub enum Packed {
    /// A full square.
    Square {
        /// Where it lies.
        place: Square,
        /// Its rows.
        rows: [[u8; 16]; 4],
    },
    /// Any others.
    Pixels(Pixels),
    /// Those that are mixed with the target's: [`Mixed`](super::pixel::lanes::Mixed) has them.
    Mixed,
}

/// Four subspans on their way into a target.
#[derive(Clone, Copy, Debug)]
pub struct Pixels {
    slice: u32,
    origins: Origins,
    /// Those that are written.
    mask: u16,
    dwords: [u32; 16],
    /// Where they lie, if all lie inside and in tiles.
    places: Option<Places>,
}

impl Packed {
    /// The pixels of a block as a target of a dword a pixel will have them.
    #[inline]
    pub fn new(target: &Surface, slice: u32, block: &PixelBlock<'_>, dwords: &[u32; 16]) -> Packed {
        if full(block)
            && let Some(place) = place(target, slice, block.origins[0])
        {
            let rows = zerocopy::transmute!(by_row(dwords));
            return Packed::Square { place, rows };
        }
        Packed::Pixels(Pixels::new(target, slice, block, dwords))
    }
}

impl Pixels {
    /// Pixels that have been packed already.
    #[inline]
    pub(super) fn new(
        target: &Surface,
        slice: u32,
        block: &PixelBlock<'_>,
        dwords: &[u32; 16],
    ) -> Pixels {
        let places = place::applies(&target.geometry)
            .then(|| Places::new(target, slice, block.origins, block.mask));
        Pixels {
            slice,
            origins: *block.origins,
            mask: block.mask,
            dwords: *dwords,
            places: places.flatten(),
        }
    }

    /// Writes them to the target that they were made for. Comes back with those that were inside.
    #[inline]
    pub fn write(&self, mem: &mut Memory, target: &Surface) -> Result<u16, Fault> {
        if let Some(places) = &self.places
            && let Some(found) = places.find(mem, self.mask)
        {
            found.store::<1, 8>(mem, self.mask, &[self.dwords]);
            return Ok(self.mask);
        }
        let geometry = &target.geometry;
        let (left, top) = geometry.origin(self.slice, target.render_lod);
        let width = target.level_width(target.render_lod);
        let height = target.level_height(target.render_lod);
        let mut written = 0;
        for (s, &(x, y)) in self.origins.iter().enumerate() {
            let (x, y) = (u32::from(x), u32::from(y));
            let lit = self.mask >> (4 * s) & 15;
            if lit == 0 {
                continue;
            }
            for row in 0..2u32 {
                let first = 4 * s + 2 * row as usize;
                let mut lanes = self.mask >> first & 3;
                if x + 1 >= width {
                    lanes &= 1;
                }
                if lanes == 0 || x >= width || y + row >= height {
                    continue;
                }
                let column = left.wrapping_add(x);
                let at = top.wrapping_add(y + row);
                let (a, b) = (self.dwords[first], self.dwords[first + 1]);
                // An even pair shares its OWord, so it stays adjacent under every tiling.
                if lanes == 3 && column & 1 == 0 {
                    let both = u64::from(b) << 32 | u64::from(a);
                    mem.write_u64(geometry.element(column, at), both)?;
                } else {
                    if lanes & 1 != 0 {
                        mem.write_u32(geometry.element(column, at), a)?;
                    }
                    if lanes & 2 != 0 {
                        mem.write_u32(geometry.element(column.wrapping_add(1), at), b)?;
                    }
                }
                written |= lanes << first;
            }
        }
        Ok(written)
    }
}

/// Writes the rows of a full square to a target that [`shifts`] accepted; `false`, with nothing done, when it reaches over the
/// target's edge or lies across what is written at once.
#[inline]
pub fn write_square(
    mem: &mut Memory,
    target: &Surface,
    slice: u32,
    (x, y): (u16, u16),
    rows: &[[u8; 16]; 4],
) -> Result<bool, Fault> {
    if let Some(place) = place(target, slice, (x, y)) {
        mem.write_square(&place, rows)?;
        return Ok(true);
    }
    let geometry = &target.geometry;
    let (x, y) = (u32::from(x), u32::from(y));
    let lod = target.render_lod;
    if x + 4 > target.level_width(lod) || y + 4 > target.level_height(lod) {
        return Ok(false);
    }
    let (left, top) = geometry.origin(slice, lod);
    let (column, row) = (left.wrapping_add(x), top.wrapping_add(y));
    // A row of an aligned square lies in one OWord under every tiling.
    if !column.is_multiple_of(4) {
        return Ok(false);
    }
    for (n, bytes) in (0..).zip(rows) {
        mem.write_array(geometry.element(column, row.wrapping_add(n)), *bytes)?;
    }
    Ok(true)
}

/// Writes a block to a target that [`shifts`] accepted, under a state that [`applies`] accepted.
/// Comes back with the pixels that were inside, as `pixel::write_block` does.
pub fn write(
    mem: &mut Memory,
    target: &Surface,
    shifts: Shifts,
    slice: u32,
    block: &PixelBlock<'_>,
) -> Result<u16, Fault> {
    let packed = pack(block.colour, shifts);
    if full(block) {
        let rows = zerocopy::transmute!(by_row(&packed));
        if write_square(mem, target, slice, block.origins[0], &rows)? {
            return Ok(0xffff);
        }
    }
    Pixels::new(target, slice, block, &packed).write(mem, target)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn eight_bits_are_those_of_the_general_conversion() {
        let mut seed = 7u32;
        let check = |bits: u32| {
            let want = num::f32_to_unorm(f32::from_bits(bits), 8);
            assert_eq!(unorm8(bits), want, "{bits:08x}");
            assert_eq!(unorm8_fused(bits), want, "{bits:08x}");
        };
        for step in 0..=255u32 {
            // Around every value that lies half-way between two results.
            let tie = ((f64::from(step) + 0.5) / 255.0) as f32;
            for near in tie.to_bits() - 4..tie.to_bits() + 4 {
                check(near);
            }
        }
        for special in [
            0,
            1,
            0x8000_0000,
            0x7f80_0000,
            0xff80_0000,
            0x7fc0_0000,
            0xffff_ffff,
        ] {
            check(special);
        }
        for _ in 0..200_000 {
            seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            check(seed);
        }
    }
}
