//! The pixel loop: destination, source and pattern rows through the raster op.
//!
//! PRM: volume 1, blitter (functional description, overlapping source and destination).
//! Not modelled: the order of bytes within a row, which no result shows.

use super::mono::{Expansion, MonoSource, pattern_bit};
use super::plane::Plane;
use super::{BltStats, Rect, rop};
use crate::UnitFault;
use mem::Memory;

/// The source operand.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Source {
    /// The raster operation uses none (it reads as 0).
    None,
    /// Pixels of a plane; (x, y) goes to the rectangle's upper left.
    Pixels {
        /// The plane.
        plane: Plane,
        /// Left.
        x: i32,
        /// Top.
        y: i32,
    },
    /// A mono picture; its first pixel goes to the rectangle's upper left.
    Mono(MonoSource),
}

/// The pattern operand.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Pattern {
    /// One colour.
    Solid(u32),
    /// 8x8 pixels.
    Pixels(Box<[u32; 64]>),
    /// 8x8 bits.
    Mono(u64, Expansion),
}

/// A decoded drawing command.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Operation {
    /// Destination.
    pub destination: Plane,
    /// Bytes of a pixel: 1, 2 or 4.
    pub bytes: u32,
    /// Raster operation.
    pub rop: u8,
    /// Bits of a pixel that are written.
    pub write_bits: u32,
    /// Pixels to draw.
    pub rect: Rect,
    /// Clip rectangle, when in force.
    pub clip: Option<Rect>,
    /// Source operand.
    pub source: Source,
    /// Pattern operand.
    pub pattern: Pattern,
    /// Pattern column and row at destination (0, 0).
    pub seed: (u32, u32),
}

/// The pixel of `bytes` bytes at index `i` of a row.
#[inline]
fn pixel(row: &[u8], i: usize, bytes: usize) -> u32 {
    match (bytes, row.get(i * bytes..)) {
        (1, Some([a, ..])) => *a as u32,
        (2, Some([a, b, ..])) => u16::from_le_bytes([*a, *b]) as u32,
        (4, Some([a, b, c, d, ..])) => u32::from_le_bytes([*a, *b, *c, *d]),
        _ => 0,
    }
}

/// Draws. On a fault, earlier rows are drawn.
pub fn run(op: &Operation, mem: &mut Memory) -> Result<BltStats, UnitFault> {
    let mut stats = BltStats::default();
    let area = op.clip.map_or(op.rect, |clip| op.rect.intersect(clip));
    if area.is_empty() {
        return Ok(stats);
    }
    op.destination.check(area.x1, area.y1)?;
    let bytes = op.bytes as usize;
    // Coordinates have 16 bits, so these fit.
    let width = (area.x2 - area.x1) as usize;
    let left = (area.x1 - op.rect.x1) as u32;
    let all_bits = num::norm::max_unsigned(op.bytes * 8);
    let partial = op.write_bits & all_bits != all_bits;
    let uses_source = rop::uses_source(op.rop);
    let transparent = match (&op.source, &op.pattern) {
        (Source::Mono(m), _) if m.expansion.transparent => true,
        (_, Pattern::Mono(_, e)) => e.transparent,
        _ => false,
    };
    let needs_old = rop::uses_destination(op.rop) || partial || transparent;
    let plain_copy = op.rop == 0xcc && !partial && !transparent;
    let mut old = vec![0u8; width * bytes];
    let mut src = vec![0u8; width * bytes];
    let mut bits = Vec::new();
    // A copy within one surface that moves down starts at the bottom.
    let upwards = match &op.source {
        Source::Pixels { plane, y, .. } => *plane == op.destination && *y < op.rect.y1,
        _ => false,
    };
    for step in 0..area.y2 - area.y1 {
        let y = if upwards {
            area.y2 - 1 - step
        } else {
            area.y1 + step
        };
        let row = (y - op.rect.y1) as u32;
        let x_bytes = area.x1.wrapping_mul(op.bytes as i32);
        match &op.source {
            Source::Pixels {
                plane,
                x,
                y: source_y,
            } if uses_source => {
                let sx = x.wrapping_add_unsigned(left);
                let sy = source_y.wrapping_add_unsigned(row);
                plane.check(sx, sy)?;
                plane.read(mem, sx.wrapping_mul(op.bytes as i32), sy, &mut src)?;
                stats.bytes_read += src.len() as u64;
            }
            Source::Mono(m) => stats.bytes_read += m.row(mem, row, left, width, &mut bits)?,
            _ => {}
        }
        if plain_copy && matches!(op.source, Source::Pixels { .. }) {
            op.destination.write(mem, x_bytes, y, &src)?;
        } else {
            if needs_old {
                op.destination.read(mem, x_bytes, y, &mut old)?;
                stats.bytes_read += old.len() as u64;
            }
            for (i, to) in old.chunks_exact_mut(bytes).enumerate() {
                let d = pixel(to, 0, bytes);
                let s = match &op.source {
                    Source::None => Some(0),
                    Source::Pixels { .. } => Some(pixel(&src, i, bytes)),
                    Source::Mono(m) => {
                        let bit = bits.get(i).copied().unwrap_or(false);
                        m.expansion.colour(bit)
                    }
                };
                let column = (area.x1 as u32)
                    .wrapping_add(i as u32)
                    .wrapping_add(op.seed.0)
                    & 7;
                let line = (y as u32).wrapping_add(op.seed.1) & 7;
                let p = match &op.pattern {
                    Pattern::Solid(colour) => Some(*colour),
                    Pattern::Pixels(pixels) => Some(pixels[(line * 8 + column) as usize]),
                    Pattern::Mono(pattern, e) => e.colour(pattern_bit(*pattern, column, line)),
                };
                // A transparent pixel keeps what was there.
                let (Some(s), Some(p)) = (s, p) else { continue };
                let result = rop::apply(op.rop, p, s, d);
                let out = (result & op.write_bits) | (d & !op.write_bits);
                to.copy_from_slice(&out.to_le_bytes()[..bytes]);
            }
            op.destination.write(mem, x_bytes, y, &old)?;
        }
        stats.bytes_written += (width * bytes) as u64;
        stats.pixels += width as u64;
    }
    Ok(stats)
}
