//! Lane addresses of operand regions.
//!
//! PRM: volume 4, 11.3.6 to 11.3.8, 11.3.11, 11.5. Region restrictions (11.3.10) are not
//! enforced: a region that hardware forbids reads what the formula gives.

use crate::grf::{BYTES, MRF_BASE, SINK_BASE, ZERO_BASE};
use isa::operand::Region;

/// Byte offsets of sixteen lanes relative to the operand's first register.
pub(crate) type Rel = [i32; 16];

/// How the sixteen channels of an instruction map to two halves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Shape {
    /// Channels.
    pub(crate) exec: usize,
    /// Executes as two halves on consecutive registers.
    pub(crate) compressed: bool,
}

impl Shape {
    /// Half and channel inside the half. Elements narrower than a dword do not advance the
    /// register: both halves lie in one region of sixteen (packed words fill one register).
    fn split(self, lane: usize, size: usize) -> (i32, i32) {
        if self.compressed && size == 4 {
            ((lane / 8) as i32, (lane % 8) as i32)
        } else {
            (0, lane as i32)
        }
    }
}

/// Lanes of an align1 source region: row by row, `<vstride;width,hstride>` in elements.
pub(crate) fn align1_src(subnr: u8, size: usize, region: Region, shape: Shape) -> Rel {
    let base = i32::from(subnr) & !(size as i32 - 1);
    let scalar = region.vstride == 0 && region.hstride == 0;
    let width = i32::from(region.width.max(1));
    // A VxH stride has no meaning in direct addressing; it reads as zero.
    let vstride = match region.vstride {
        Region::VXH => 0,
        n => i32::from(n),
    };
    let mut out = [0; 16];
    for (lane, o) in out.iter_mut().enumerate() {
        let (half, chan) = shape.split(lane, size);
        let half = if scalar { 0 } else { half };
        let elem = (chan / width) * vstride + (chan % width) * i32::from(region.hstride);
        *o = base + half * BYTES as i32 + elem * size as i32;
    }
    out
}

/// Lanes of an align16 source: groups of four channels, swizzled, `vstride` elements apart.
pub(crate) fn align16_src(
    subnr: u8,
    size: usize,
    vstride: u8,
    swizzle: [u8; 4],
    shape: Shape,
) -> Rel {
    let base = i32::from(subnr) & !15;
    let vstride = match vstride {
        Region::VXH => 0,
        n => i32::from(n),
    };
    let mut out = [0; 16];
    for (lane, o) in out.iter_mut().enumerate() {
        let (half, chan) = shape.split(lane, size);
        let half = if vstride == 0 { 0 } else { half };
        let elem = (chan / 4) * vstride + i32::from(swizzle[(chan % 4) as usize] & 3);
        *o = base + half * BYTES as i32 + elem * size as i32;
    }
    out
}

/// Lanes of a destination: one row with a horizontal stride. `half_regs` is the register
/// distance of the second half of a compressed instruction.
pub(crate) fn dst(base: i32, size: usize, hstride: u8, half_regs: i32, shape: Shape) -> Rel {
    let hstride = i32::from(hstride.max(1));
    let mut out = [0; 16];
    for (lane, o) in out.iter_mut().enumerate() {
        let (half, chan) = shape.split(lane, size);
        *o = base + half * half_regs * BYTES as i32 + chan * hstride * size as i32;
    }
    out
}

/// Places a GRF source: a lane outside r0..r127 reads zero.
pub(crate) fn grf_src(nr: u8, rel: Rel) -> [u16; 16] {
    rel.map(|r| grf_offset(i32::from(nr) * BYTES as i32 + r, ZERO_BASE))
}

/// Places a GRF destination: a lane outside r0..r127 is dropped.
pub(crate) fn grf_dst(nr: u8, rel: Rel) -> [u16; 16] {
    rel.map(|r| grf_offset(i32::from(nr) * BYTES as i32 + r, SINK_BASE))
}

/// Places an MRF destination: a lane outside of the generation's `count` registers is dropped.
pub(crate) fn mrf_dst(nr: u8, rel: Rel, count: u8) -> [u16; 16] {
    rel.map(|r| {
        let byte = i32::from(nr) * BYTES as i32 + r;
        if (0..i32::from(count) * BYTES as i32).contains(&byte) {
            ((MRF_BASE * BYTES) as i32 + byte) as u16
        } else {
            (SINK_BASE * BYTES) as u16
        }
    })
}

/// Offsets inside the image of one architecture register; past its end they find nothing.
pub(crate) fn arf_image(rel: Rel) -> [u16; 16] {
    rel.map(|r| u16::try_from(r).unwrap_or(u16::MAX))
}

/// A byte address inside r0..r127, or the register `outside`.
#[inline(always)]
pub(crate) fn grf_offset(byte: i32, outside: usize) -> u16 {
    if (0..(MRF_BASE * BYTES) as i32).contains(&byte) {
        byte as u16
    } else {
        (outside * BYTES) as u16
    }
}

/// A placed source lane `distance` bytes on; past r127 it reads zero.
pub(crate) fn advance(byte: u16, distance: u16) -> u16 {
    if usize::from(byte) < ZERO_BASE * BYTES {
        grf_offset(i32::from(byte) + i32::from(distance), ZERO_BASE)
    } else {
        byte
    }
}

/// Whether the first `exec` lanes are consecutive dwords of one register file.
pub(crate) fn contiguous(table: &[u16; 16], exec: usize) -> bool {
    let inside = table[0].is_multiple_of(4) && usize::from(table[0]) < ZERO_BASE * BYTES;
    inside
        && table[..exec]
            .iter()
            .enumerate()
            .all(|(i, &o)| usize::from(o) == usize::from(table[0]) + 4 * i)
}

/// Whether the first `exec` lanes are the same element.
pub(crate) fn uniform(table: &[u16; 16], exec: usize) -> bool {
    table[..exec].iter().all(|&o| o == table[0])
}
