//! The pixel loop: rows through the raster operation, one after another, for ticks.
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

/// Bytes that a fill or a plain copy moves in a tick, each way. Nothing public gives the part's figure;
/// this is one 64-bit word a clock.
const BYTES_PER_TICK: u64 = 8;
/// Ticks of a row besides its pixels: addresses, and the way to memory.
const ROW_TICKS: u64 = 8;

/// How the pixels of a row are made.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Method {
    /// The same bytes in every row.
    Fill,
    /// The source's bytes as they are.
    Copy,
    /// Pixel by pixel through the raster operation, one a tick.
    Pixels,
}

/// A drawing command in work, row by row. Nothing is drawn twice, and nothing is held over from
/// one row to the next, so that it can be left after any of them.
#[derive(Clone, Debug)]
pub struct Work {
    op: Operation,
    area: Rect,
    method: Method,
    needs_old: bool,
    upwards: bool,
    /// Rows drawn.
    done: i32,
    /// What the destination has, then what it gets; with `Method::Fill` ready from the start.
    old: Vec<u8>,
    src: Vec<u8>,
    bits: Vec<bool>,
    stats: BltStats,
}

impl Work {
    /// Takes up a command.
    pub fn new(op: Operation) -> Result<Work, UnitFault> {
        let mut area = op.clip.map_or(op.rect, |clip| op.rect.intersect(clip));
        if area.is_empty() {
            area = Rect::default();
        } else {
            op.destination.check(area.x1, area.y1)?;
        }
        // Coordinates have 16 bits, so these fit.
        let row_bytes = (area.x2 - area.x1) as usize * op.bytes as usize;
        let all_bits = num::norm::max_unsigned(op.bytes * 8);
        let partial = op.write_bits & all_bits != all_bits;
        let transparent = match (&op.source, &op.pattern) {
            (Source::Mono(m), _) if m.expansion.transparent => true,
            (_, Pattern::Mono(_, e)) => e.transparent,
            _ => false,
        };
        let mut old = vec![0u8; row_bytes];
        let method = match (&op.source, &op.pattern, op.rop) {
            _ if partial || transparent => Method::Pixels,
            (Source::Pixels { .. }, _, 0xcc) => Method::Copy,
            (Source::None, Pattern::Solid(colour), 0xf0) => {
                for pixel in old.chunks_exact_mut(op.bytes as usize) {
                    // PANIC: a pixel has at most four bytes.
                    pixel.copy_from_slice(&colour.to_le_bytes()[..op.bytes as usize]);
                }
                Method::Fill
            }
            _ => Method::Pixels,
        };
        // A copy within one surface that moves down starts at the bottom.
        let upwards = match &op.source {
            Source::Pixels { plane, y, .. } => *plane == op.destination && *y < op.rect.y1,
            _ => false,
        };
        Ok(Work {
            area,
            method,
            needs_old: rop::uses_destination(op.rop) || partial || transparent,
            upwards,
            done: 0,
            src: vec![0u8; row_bytes],
            old,
            bits: Vec::new(),
            stats: BltStats::default(),
            op,
        })
    }

    /// What was done so far.
    pub fn stats(&self) -> BltStats {
        self.stats
    }

    /// Rows drawn, and rows in all.
    pub fn rows(&self) -> (i32, i32) {
        (self.done, self.area.y2 - self.area.y1)
    }

    /// Where the row that was drawn last begins, and its bytes; of tiled rows, 64 lie together at least.
    pub fn last_row(&self, mem: &Memory) -> (mem::GpuAddr, usize) {
        let (done, area) = (self.done - 1, &self.area);
        let y = if self.upwards {
            area.y2 - 1 - done
        } else {
            area.y1 + done
        };
        let x = area.x1.wrapping_mul(self.op.bytes as i32);
        let bytes = (area.x2 - area.x1) as usize * self.op.bytes as usize;
        (self.op.destination.address(mem, x, y), bytes)
    }

    /// Draws the next row and says how many ticks it took; `None` when there is none left. On a fault the
    /// rows before are drawn.
    pub fn row(&mut self, mem: &mut Memory) -> Result<Option<u64>, UnitFault> {
        let (step, rows) = self.rows();
        if step >= rows {
            return Ok(None);
        }
        let (op, area) = (&self.op, self.area);
        let bytes = op.bytes as usize;
        let width = (area.x2 - area.x1) as usize;
        let left = (area.x1 - op.rect.x1) as u32;
        let y = if self.upwards {
            area.y2 - 1 - step
        } else {
            area.y1 + step
        };
        let row = (y - op.rect.y1) as u32;
        let x_bytes = area.x1.wrapping_mul(op.bytes as i32);
        let read_before = self.stats.bytes_read;
        match &op.source {
            Source::Pixels {
                plane,
                x,
                y: source_y,
            } if rop::uses_source(op.rop) => {
                let sx = x.wrapping_add_unsigned(left);
                let sy = source_y.wrapping_add_unsigned(row);
                plane.check(sx, sy)?;
                plane.read(mem, sx.wrapping_mul(op.bytes as i32), sy, &mut self.src)?;
                self.stats.bytes_read += self.src.len() as u64;
            }
            Source::Mono(m) => {
                self.stats.bytes_read += m.row(mem, row, left, width, &mut self.bits)?;
            }
            _ => {}
        }
        match self.method {
            Method::Fill => op.destination.write(mem, x_bytes, y, &self.old)?,
            Method::Copy => op.destination.write(mem, x_bytes, y, &self.src)?,
            Method::Pixels => {
                if self.needs_old {
                    op.destination.read(mem, x_bytes, y, &mut self.old)?;
                    self.stats.bytes_read += self.old.len() as u64;
                }
                self.raster(y);
                self.op.destination.write(mem, x_bytes, y, &self.old)?;
            }
        }
        self.done += 1;
        self.stats.bytes_written += (width * bytes) as u64;
        self.stats.pixels += width as u64;
        let read = self.stats.bytes_read - read_before;
        let moved = (read + (width * bytes) as u64) / BYTES_PER_TICK;
        let pixels = if self.method == Method::Pixels {
            width as u64
        } else {
            0
        };
        Ok(Some(ROW_TICKS + moved + pixels))
    }

    /// Row `y` through the raster operation, in place.
    fn raster(&mut self, y: i32) {
        let op = &self.op;
        let bytes = op.bytes as usize;
        for (i, to) in self.old.chunks_exact_mut(bytes).enumerate() {
            let d = pixel(to, 0, bytes);
            let s = match &op.source {
                Source::None => Some(0),
                Source::Pixels { .. } => Some(pixel(&self.src, i, bytes)),
                Source::Mono(m) => {
                    let bit = self.bits.get(i).copied().unwrap_or(false);
                    m.expansion.colour(bit)
                }
            };
            let column = (self.area.x1 as u32)
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
    }
}
