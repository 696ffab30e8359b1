//! Media block read and write: rectangles of bytes of a 2D surface.
//!
//! PRM: volume 4, 5.6.1 and 5.10.4. Not modelled: cache allocation of field lines.

use eu::{Grf, Message};
use mem::{GpuAddr, Memory, Tiling, tiling};

use super::buffer::Lost;
use super::request::LineOverride;
use super::rules;
use crate::UnitFault;
use crate::intel::shared::error::refuse;
use crate::intel::surface::desc::Boundary;
use crate::intel::surface::format::Codec;
use crate::intel::surface::{Format, SurfaceDesc, SurfaceKind};

/// How a row is extended to the left and right (PRM 5.10.4).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Pixel {
    /// Whole pixels of so many bytes.
    Bytes(i64),
    /// Pairs of two lumas and shared chroma; the first luma is at this byte.
    Pair(usize),
}

impl Pixel {
    /// By surface format: what is neither 8 nor 16 bits wide moves as dwords.
    fn of(format: Option<&Format>) -> Self {
        match format.map(|f| (f.codec, f.bytes)) {
            Some((Codec::Ycrcb { luma, .. }, _)) => Pixel::Pair(usize::from(luma)),
            Some((_, bytes @ (1 | 2))) => Pixel::Bytes(i64::from(bytes)),
            _ => Pixel::Bytes(4),
        }
    }
}

/// A surface as media blocks see it.
#[derive(Clone, Copy, Debug)]
struct Plane {
    base: GpuAddr,
    pitch: u32,
    tiling: Tiling,
    /// Bytes in a row.
    width: i64,
    /// Rows of the frame or field that is addressed.
    height: i64,
    /// Field access: every second row, from `first`.
    field: bool,
    first: i64,
    boundary: Boundary,
    pixel: Pixel,
}

impl Plane {
    fn new(desc: &SurfaceDesc, lines: Option<LineOverride>) -> Option<Self> {
        if desc.kind != Ok(SurfaceKind::TwoD) {
            return None;
        }
        let stored = desc.line_stride;
        let rows = i64::from(desc.height);
        // PRM 5.10.4.1: an override of the line stride also changes the height.
        let lines = lines.unwrap_or(LineOverride {
            stride: stored,
            offset: desc.line_offset,
        });
        let (field, first) = (lines.stride, i64::from(lines.offset));
        let height = match (stored, field) {
            (false, true) => rows / 2,
            (true, false) => rows * 2,
            _ => rows,
        };
        Some(Plane {
            base: desc.base,
            pitch: desc.pitch,
            tiling: desc.tiling,
            width: i64::from(desc.width) * 4,
            height,
            field,
            first: if field { first } else { 0 },
            boundary: desc.boundary,
            pixel: Pixel::of(desc.format),
        })
    }

    /// Row of the frame that answers for row `y` of the block's addressing.
    fn row(&self, y: i64) -> u32 {
        let inside = |y: i64| if self.field { y * 2 + self.first } else { y };
        let last = self.height - 1;
        let row = if (0..=last).contains(&y) {
            inside(y)
        } else {
            match (self.boundary, self.field) {
                (Boundary::Progressive, true) if y < 0 => 0,
                (Boundary::Progressive, true) => last * 2 + 1,
                (Boundary::Interlaced, false) if y < 0 => y & 1,
                (Boundary::Interlaced, false) => (last - 1).max(0) + ((y - self.height) & 1),
                _ => inside(y.clamp(0, last)),
            }
        };
        // CAST: rows are below 2^15 here.
        row as u32
    }

    /// Whether the bytes of a row of the block lie side by side, all of them inside of the surface.
    fn adjacent(&self, block: &Block) -> bool {
        self.tiling == Tiling::Linear && block.x >= 0 && block.x + block.width <= self.width
    }

    /// Whether any byte of the block lies inside of the surface.
    fn meets(&self, block: &Block) -> bool {
        block.x < self.width
            && block.x + block.width > 0
            && block.y < self.height
            && block.y + block.height > 0
    }

    fn address(&self, mem: &Memory, x: u32, row: u32) -> GpuAddr {
        let offset = tiling::offset(self.tiling, self.pitch, x, row);
        let addr = self.base.offset(offset);
        mem.swizzle(self.tiling).apply_to(addr)
    }

    /// The byte at `x` of a row, the row extended at both ends.
    fn byte(&self, mem: &Memory, x: i64, row: u32) -> Result<u8, UnitFault> {
        let at = |x: i64| Ok(mem.read_u8(self.address(mem, x as u32, row))?);
        if (0..self.width).contains(&x) {
            return at(x);
        }
        match self.pixel {
            Pixel::Bytes(size) => {
                let edge = if x < 0 { 0 } else { self.width - size };
                at(edge + x.rem_euclid(size))
            }
            Pixel::Pair(luma) => {
                let edge = if x < 0 { 0 } else { self.width - 4 };
                let byte = x.rem_euclid(4);
                let is_luma = byte as usize % 2 == luma;
                let byte = match (is_luma, x < 0) {
                    (false, _) => byte,
                    (true, true) => luma as i64,
                    (true, false) => luma as i64 + 2,
                };
                at(edge + byte)
            }
        }
    }
}

/// Position and size of a block (PRM 5.10.4.2).
#[derive(Clone, Copy, Debug)]
struct Block {
    x: i64,
    y: i64,
    width: i64,
    height: i64,
    /// Bytes from row to row in the message registers.
    pitch: usize,
}

impl Block {
    /// Registers of data.
    fn registers(&self) -> usize {
        (self.pitch * self.height as usize).div_ceil(32)
    }

    fn new(msg: &Message<'_>, header: &Grf) -> Result<Self, UnitFault> {
        let width = (header[2] & 0x1f) + 1;
        let height = (header[2] >> 16 & 0x3f) + 1;
        let limit = match width {
            1..=4 => 64,
            5..=8 => 32,
            9..=16 => 16,
            _ => 8,
        };
        rules::ask(height <= limit, msg, rules::BLOCK_SIZE)?;
        let dwords = header[0].is_multiple_of(4) && width.is_multiple_of(4);
        rules::ask(dwords, msg, rules::ALIGNMENT)?;
        Ok(Block {
            x: i64::from(header[0] as i32),
            y: i64::from(header[1] as i32),
            width: i64::from(width),
            height: i64::from(height),
            pitch: width.next_power_of_two() as usize,
        })
    }
}

/// The surface of a block; `None` for a null surface.
fn plane(
    desc: &SurfaceDesc,
    lines: Option<LineOverride>,
    msg: &Message<'_>,
) -> Result<Option<Plane>, UnitFault> {
    if desc.kind == Ok(SurfaceKind::Null) {
        return Ok(None);
    }
    let plane = Plane::new(desc, lines);
    let plane = plane.ok_or_else(|| refuse("DP", msg, rules::SURFACE))?;
    let base = plane.base.0.is_multiple_of(32);
    rules::ask(base, msg, rules::ALIGNMENT)?;
    Ok(Some(plane))
}

/// Most bytes in a row of a block.
const ROW: usize = 32;

/// The dwords of the registers from a byte on.
fn row_of(registers: &mut [Grf], byte: usize) -> impl Iterator<Item = &mut u32> {
    registers.as_flattened_mut().iter_mut().skip(byte / 4)
}

/// Media Block Read (PRM 5.10.4).
pub fn read(
    desc: &SurfaceDesc,
    lines: Option<LineOverride>,
    mem: &Memory,
    msg: &Message<'_>,
    response: &mut [Grf],
) -> Result<(), UnitFault> {
    let mut header = *super::buffer::header(msg)?;
    // The text (5.10.4) asks for whole dwords. The part reads those that hold the column: the motion compensation of the X
    // driver (xvmc/shader/mc/read_frame_x0y0_y.g4i) sends any column and skips its remainder by four in the registers.
    header[0] &= !3;
    let block = Block::new(msg, &header)?;
    rules::lengths(msg, 1, block.registers())?;
    let Some(plane) = plane(desc, lines, msg)? else {
        response.fill([0; 8]);
        return Ok(());
    };
    for dy in 0..block.height {
        let row = plane.row(block.y + dy);
        if plane.adjacent(&block) {
            let mut bytes = [0; ROW];
            let bytes = &mut bytes[..block.width as usize];
            mem.read_bytes(plane.address(mem, block.x as u32, row), bytes)?;
            let dwords = bytes.as_chunks::<4>().0.iter();
            for (dword, to) in dwords.zip(row_of(response, dy as usize * block.pitch)) {
                *to = u32::from_le_bytes(*dword);
            }
            continue;
        }
        for dx in 0..block.width {
            let byte = plane.byte(mem, block.x + dx, row)?;
            let at = dy as usize * block.pitch + dx as usize;
            if let Some(w) = response.get_mut(at / 32) {
                let shift = at % 4 * 8;
                let dword = &mut w[at % 32 / 4];
                *dword = *dword & !(0xff << shift) | u32::from(byte) << shift;
            }
        }
    }
    Ok(())
}

/// Media Block Write (PRM 5.10.4): bytes outside the surface are dropped. Tells the bytes of a block all of which are.
pub fn write(
    desc: &SurfaceDesc,
    lines: Option<LineOverride>,
    answer: usize,
    mem: &mut Memory,
    msg: &Message<'_>,
) -> Result<Lost, UnitFault> {
    let block = Block::new(msg, super::buffer::header(msg)?)?;
    rules::lengths(msg, 1 + block.registers(), answer)?;
    let Some(plane) = plane(desc, lines, msg)? else {
        return Ok(Lost::default());
    };
    if !plane.meets(&block) {
        return Ok(Lost((block.width * block.height) as u32));
    }
    for dy in 0..block.height {
        let y = block.y + dy;
        if !(0..plane.height).contains(&y) {
            continue;
        }
        let row = plane.row(y);
        if plane.adjacent(&block) {
            let at = dy as usize * block.pitch / 4;
            let dwords = msg.payload.get(1..).unwrap_or_default().as_flattened();
            let Some(dwords) = dwords.get(at..at + block.width as usize / 4) else {
                return Err(refuse("DP", msg, rules::LENGTH));
            };
            let mut bytes = [0; ROW];
            for (to, dword) in bytes.as_chunks_mut::<4>().0.iter_mut().zip(dwords) {
                *to = dword.to_le_bytes();
            }
            let to = plane.address(mem, block.x as u32, row);
            mem.write_bytes(to, &bytes[..block.width as usize])?;
            continue;
        }
        for dx in 0..block.width {
            let x = block.x + dx;
            if !(0..plane.width).contains(&x) {
                continue;
            }
            let at = dy as usize * block.pitch + dx as usize;
            let Some(data) = msg.payload.get(1 + at / 32) else {
                return Err(refuse("DP", msg, rules::LENGTH));
            };
            let byte = (data[at % 32 / 4] >> (at % 4 * 8)) as u8;
            let addr = plane.address(mem, x as u32, row);
            mem.write_u8(addr, byte)?;
        }
    }
    Ok(Lost::default())
}
