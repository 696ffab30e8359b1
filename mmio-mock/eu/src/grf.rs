//! The register file of a thread: GRF and MRF as one aligned array of dwords.
//!
//! PRM: volume 4, 11.3.2 (GRF), 11.3.3 (MRF). Allocation in blocks (11.3.2) is not modelled:
//! every thread has all 128 registers.

use crate::port::Grf;
use crate::reach::PAIR;
use std::ops::Range;

/// General registers of a thread.
pub const GRF_COUNT: usize = 128;
/// Message registers of a thread at most; a generation says how many it has.
pub const MRF_COUNT: usize = 24;
/// Dwords in one register.
pub const DWORDS: usize = 8;
/// Bytes in one register.
pub const BYTES: usize = 32;

/// First register of the message registers inside the array.
pub(crate) const MRF_BASE: usize = GRF_COUNT;
/// Registers that always read zero: where a source past the end lands.
pub(crate) const ZERO_BASE: usize = MRF_BASE + MRF_COUNT;
/// Registers that nobody reads: where a destination past the end lands.
pub(crate) const SINK_BASE: usize = ZERO_BASE + 3;
/// Registers in the array of a thread: a power of two, so that a masked dword offset is inside of it.
pub const TOTAL: usize = 256;
/// The array.
pub type Registers = [Grf; TOTAL];
const DWORD_MASK: usize = TOTAL * DWORDS - 1;

/// GRF, MRF, and behind them a zero page and a sink so that no lane needs a range check.
#[derive(Clone, Debug, PartialEq, Eq)]
#[repr(align(64))]
pub(crate) struct RegFile {
    regs: Registers,
}

impl RegFile {
    pub(crate) const fn new() -> RegFile {
        RegFile {
            regs: [[0; DWORDS]; TOTAL],
        }
    }

    /// Registers become zero, of which two have a bit.
    #[inline]
    pub(crate) fn clear(&mut self, mut pairs: u128) {
        let (registers, _) = self.regs.as_chunks_mut::<PAIR>();
        for half in registers.chunks_mut(64) {
            // CAST: the lower half of the bits, then the upper one.
            let mut left = pairs as u64;
            pairs >>= 64;
            while left != 0 {
                if let Some(pair) = half.get_mut(left.trailing_zeros() as usize) {
                    *pair = [[0; DWORDS]; PAIR];
                }
                left &= left - 1;
            }
        }
    }

    /// The whole array.
    pub(crate) fn all_mut(&mut self) -> &mut Registers {
        &mut self.regs
    }

    /// General registers.
    pub(crate) fn grf(&self) -> &[Grf] {
        &self.regs[..GRF_COUNT]
    }

    /// General registers, writable.
    pub(crate) fn grf_mut(&mut self) -> &mut [Grf] {
        &mut self.regs[..GRF_COUNT]
    }

    /// Message registers.
    pub(crate) fn mrf(&self) -> &[Grf] {
        &self.regs[MRF_BASE..ZERO_BASE]
    }

    /// Message registers, writable.
    pub(crate) fn mrf_mut(&mut self) -> &mut [Grf] {
        &mut self.regs[MRF_BASE..ZERO_BASE]
    }

    /// Registers of the array; none where they are not in it.
    #[inline(always)]
    pub(crate) fn registers(&self, at: Range<usize>) -> &[Grf] {
        self.regs.get(at).unwrap_or_default()
    }

    /// The same, writable.
    #[inline(always)]
    pub(crate) fn registers_mut(&mut self, at: Range<usize>) -> &mut [Grf] {
        self.regs.get_mut(at).unwrap_or_default()
    }

    /// Registers to read and others to write, at the same time; no register is among both.
    #[inline(always)]
    pub(crate) fn apart(
        &mut self,
        read: Range<usize>,
        written: Range<usize>,
    ) -> (&[Grf], &mut [Grf]) {
        let behind = if read.is_empty() { 0 } else { read.start };
        let split = written.start.max(behind).min(TOTAL);
        let (low, high) = self.regs.split_at_mut(split);
        let (read, written) = if read.start < split || read.is_empty() {
            let written = 0..written.len();
            (low.get(read), high.get_mut(written))
        } else {
            (high.get(..read.len()), low.get_mut(written))
        };
        (read.unwrap_or_default(), written.unwrap_or_default())
    }

    /// `N` dwords from dword offset `off`.
    #[inline(always)]
    pub(crate) fn vec<const N: usize>(&self, off: u16) -> [u32; N] {
        let off = usize::from(off);
        let mut out = [0; N];
        // PANIC: lowering accepts contiguous operands only inside GRF or MRF; two registers of
        // any such start lie inside the array.
        out.copy_from_slice(&self.regs.as_flattened()[off..off + N]);
        out
    }

    /// One dword.
    #[inline(always)]
    pub(crate) fn dword(&self, off: u16) -> u32 {
        let off = usize::from(off) & DWORD_MASK;
        self.regs[off / DWORDS][off % DWORDS]
    }

    /// Writes one dword.
    #[inline(always)]
    pub(crate) fn set_dword(&mut self, off: u16, val: u32) {
        let off = usize::from(off) & DWORD_MASK;
        self.regs[off / DWORDS][off % DWORDS] = val;
    }

    /// The `size`-byte element at byte offset `byte`, zero-extended.
    #[inline(always)]
    pub(crate) fn elem(&self, byte: u16, size: u8) -> u32 {
        elem(self.regs.as_flattened(), byte, size)
    }

    /// Sixteen bytes from byte offset `byte`; 0 past the end.
    #[inline(always)]
    pub(crate) fn bytes16(&self, byte: u16) -> [u8; 16] {
        let flat = self.regs.as_flattened();
        let at = usize::from(byte >> 2);
        let mut words = [0u32; 5];
        if let Some(from) = flat.get(at..at + 5) {
            words.copy_from_slice(from);
        } else {
            for (word, from) in words.iter_mut().zip(flat.iter().skip(at)) {
                *word = *from;
            }
        }
        // One load at any byte, which the compiler makes of a slice of an array.
        let bytes = words.map(u32::to_le_bytes);
        let at = usize::from(byte & 3);
        let mut out = [0; 16];
        out.copy_from_slice(&bytes.as_flattened()[at..at + 16]);
        out
    }

    /// Writes the lanes of `mask` to contiguous dwords.
    #[inline(always)]
    pub(crate) fn set_vec<const N: usize>(&mut self, off: u16, mask: u16, vals: &[u32; N]) {
        let off = usize::from(off);
        // PANIC: as in `vec`.
        let out = &mut self.regs.as_flattened_mut()[off..off + N];
        if u32::from(mask) == (1u32 << N) - 1 {
            out.copy_from_slice(vals);
        } else {
            for i in 0..N {
                let keep = 0u32.wrapping_sub(u32::from(mask >> i) & 1);
                out[i] = (out[i] & !keep) | (vals[i] & keep);
            }
        }
    }

    /// Writes one element of `size` bytes at byte offset `byte`.
    #[inline(always)]
    pub(crate) fn set_elem(&mut self, byte: u16, size: u8, val: u32) {
        set_elem(self.regs.as_flattened_mut(), byte, size, val);
    }
}

/// The `size`-byte element at byte offset `byte` of an image, zero-extended; 0 past its end.
#[inline(always)]
pub(crate) fn elem(image: &[u32], byte: u16, size: u8) -> u32 {
    let dw = image.get(usize::from(byte >> 2)).copied().unwrap_or(0);
    match size {
        1 => (dw >> ((byte & 3) * 8)) & 0xff,
        2 => (dw >> ((byte & 2) * 8)) & 0xffff,
        _ => dw,
    }
}

/// Writes one element of `size` bytes at byte offset `byte` of an image; dropped past its end.
#[inline(always)]
pub(crate) fn set_elem(image: &mut [u32], byte: u16, size: u8, val: u32) {
    let (shift, mask) = match size {
        1 => ((byte & 3) * 8, 0xff),
        2 => ((byte & 2) * 8, 0xffff),
        _ => (0, u32::MAX),
    };
    if let Some(dw) = image.get_mut(usize::from(byte >> 2)) {
        *dw = (*dw & !(mask << shift)) | ((val & mask) << shift);
    }
}
