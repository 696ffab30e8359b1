//! Monochrome sources and patterns: one bit a pixel, most significant bit first.
//!
//! PRM: volume 1, blitter (colour expansion of monochrome data; text packing).
//! Not modelled: the hang that an odd number of immediate dwords causes.

use crate::UnitFault;
use mem::{GpuAddr, Memory};

/// Colours that bits expand to.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Expansion {
    /// For ones.
    pub foreground: u32,
    /// For zeros.
    pub background: u32,
    /// Zeros are not written.
    pub transparent: bool,
}

impl Expansion {
    /// The colour of a bit, or `None` for a pixel that is not written.
    #[inline]
    pub const fn colour(&self, bit: bool) -> Option<u32> {
        if bit {
            Some(self.foreground)
        } else if self.transparent {
            None
        } else {
            Some(self.background)
        }
    }
}

/// Where the bits of a mono source are.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Bits {
    /// In memory from this address on.
    Memory(GpuAddr),
    /// In the command.
    Immediate(Vec<u8>),
}

/// A mono source.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct MonoSource {
    /// The bits.
    pub bits: Bits,
    /// Bit of the first pixel of the first row.
    pub first: u64,
    /// Bits from row to row.
    pub row_bits: u64,
    /// Colours.
    pub expansion: Expansion,
}

impl MonoSource {
    /// Bits from row to row of a picture `width` pixels wide when rows begin on units of `unit`
    /// bits (16 for pictures, 8 for byte-packed and 1 for bit-packed text).
    pub const fn stride(width: u32, first: u32, unit: u32) -> u64 {
        (width as u64 + first as u64).div_ceil(unit as u64) * unit as u64
    }

    /// Reads the bits of pixels `from..from + count` of a row into `out` (one bool a pixel).
    /// Immediate bits past the end of the command are 0. Comes back with the bytes read.
    pub fn row(
        &self,
        mem: &Memory,
        row: u32,
        from: u32,
        count: usize,
        out: &mut Vec<bool>,
    ) -> Result<u64, UnitFault> {
        out.clear();
        let start = self
            .first
            .wrapping_add(self.row_bits.wrapping_mul(row as u64))
            .wrapping_add(from as u64);
        let first_byte = start / 8;
        let bytes = ((start % 8) as usize + count).div_ceil(8);
        let mut fetched = vec![0u8; bytes];
        match &self.bits {
            Bits::Memory(addr) => {
                mem.read_bytes(addr.offset(first_byte as u32), &mut fetched)?;
            }
            Bits::Immediate(data) => {
                for (to, i) in fetched.iter_mut().zip(first_byte..) {
                    let i = usize::try_from(i).unwrap_or(usize::MAX);
                    *to = data.get(i).copied().unwrap_or(0);
                }
            }
        }
        let skip = (start % 8) as usize;
        out.extend((skip..skip + count).map(|i| fetched[i / 8] >> (7 - (i & 7)) & 1 == 1));
        Ok(bytes as u64)
    }
}

/// Bit (`column`, `row`) of an 8x8 mono pattern: byte `row`, most significant bit first.
#[inline]
pub const fn pattern_bit(pattern: u64, column: u32, row: u32) -> bool {
    pattern >> (8 * (row & 7) + 7 - (column & 7)) & 1 == 1
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]
    use super::*;

    #[test]
    fn strides_by_packing() {
        assert_eq!(MonoSource::stride(10, 0, 16), 16);
        assert_eq!(MonoSource::stride(10, 7, 16), 32);
        assert_eq!(MonoSource::stride(10, 0, 8), 16);
        assert_eq!(MonoSource::stride(10, 0, 1), 10);
    }

    #[test]
    fn rows_are_msb_first() {
        let m = MonoSource {
            bits: Bits::Immediate(vec![0b1000_0001, 0b0100_0000, 0xff]),
            first: 0,
            row_bits: 10,
            expansion: Expansion {
                foreground: 1,
                background: 2,
                transparent: false,
            },
        };
        let mem = Memory::new(4096, 1);
        let mut out = Vec::new();
        m.row(&mem, 0, 6, 4, &mut out).unwrap();
        assert_eq!(out, [false, true, false, true]);
        m.row(&mem, 1, 5, 12, &mut out).unwrap();
        assert_eq!(
            out[..9],
            [false, true, true, true, true, true, true, true, true]
        );
        assert_eq!(out[9..], [false; 3], "past the end");
        assert!(pattern_bit(0x80, 0, 0) && !pattern_bit(0x80, 1, 0));
        assert!(pattern_bit(0x01 << 56, 7, 7));
    }
}
