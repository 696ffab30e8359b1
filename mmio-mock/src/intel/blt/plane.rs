//! Rows of pixels in linear or X-tiled memory.
//!
//! PRM: volume 1, blitter (pitch in bytes, in dwords when tiled) and tiling.
//! Not modelled: Y tiles, which this blitter does not know.

use crate::UnitFault;
use mem::{GpuAddr, Memory, Tiling, tiling};

/// A surface of the blitter.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Plane {
    /// Address of pixel (0, 0).
    pub base: u32,
    /// Bytes of a row; may be negative when linear.
    pub pitch: i32,
    /// X-tiled.
    pub tiled: bool,
}

impl Plane {
    /// A plane from the pitch field as it stands.
    pub fn new(base: u32, pitch_field: i32, tiled: bool) -> Result<Plane, UnitFault> {
        if !tiled {
            return Ok(Plane {
                base,
                pitch: pitch_field,
                tiled,
            });
        }
        let pitch = pitch_field * 4;
        if pitch <= 0 || pitch % 512 != 0 || base & 0xfff != 0 {
            return Err(UnitFault::Command {
                unit: "BLT",
                what: format!("X-tiled surface at {base:#010x} with a pitch of {pitch} bytes"),
            });
        }
        Ok(Plane { base, pitch, tiled })
    }

    /// Address of byte `x` of row `y`, and how many bytes from there are adjacent.
    fn locate(&self, mem: &Memory, x: i32, y: i32) -> (GpuAddr, usize) {
        if self.tiled {
            let (x, y) = (x as u32, y as u32);
            let at = tiling::offset(Tiling::X, self.pitch as u32, x, y);
            let at = mem.swizzle(Tiling::X).apply(at);
            // The swizzle moves blocks of 64 bytes.
            (GpuAddr::from(self.base).offset(at), 64 - (x as usize & 63))
        } else {
            let row = self.base.wrapping_add_signed(y.wrapping_mul(self.pitch));
            (GpuAddr::from(row.wrapping_add_signed(x)), usize::MAX)
        }
    }

    /// Address of byte `x` of row `y`.
    pub fn address(&self, mem: &Memory, x: i32, y: i32) -> GpuAddr {
        self.locate(mem, x, y).0
    }

    /// A tiled plane has no pixels above or left of its origin.
    pub fn check(&self, x: i32, y: i32) -> Result<(), UnitFault> {
        if self.tiled && (x < 0 || y < 0) {
            return Err(UnitFault::Command {
                unit: "BLT",
                what: format!("pixel ({x}, {y}) of an X-tiled surface"),
            });
        }
        Ok(())
    }

    /// Reads bytes from byte `x` of row `y` on.
    pub fn read(&self, mem: &Memory, x: i32, y: i32, out: &mut [u8]) -> Result<(), UnitFault> {
        let (mut x, mut out) = (x, out);
        while !out.is_empty() {
            let (addr, n) = self.locate(mem, x, y);
            let (now, rest) = out.split_at_mut(n.min(out.len()));
            mem.read_bytes(addr, now)?;
            x = x.wrapping_add(now.len() as i32);
            out = rest;
        }
        Ok(())
    }

    /// Writes bytes from byte `x` of row `y` on.
    pub fn write(&self, mem: &mut Memory, x: i32, y: i32, data: &[u8]) -> Result<(), UnitFault> {
        let (mut x, mut data) = (x, data);
        while !data.is_empty() {
            let (addr, n) = self.locate(mem, x, y);
            let (now, rest) = data.split_at(n.min(data.len()));
            mem.write_bytes(addr, now)?;
            x = x.wrapping_add(now.len() as i32);
            data = rest;
        }
        Ok(())
    }
}
