//! Reading texels of four bytes for many pixels at once.

use mem::{Access, GpuAddr, Memory, PAGE_SIZE};

use super::Colours;
use crate::intel::shared::sampler::address::lanes;
use crate::intel::surface::Geometry;

/// Pages whose places are kept while a message is served.
const PAGES: usize = 8;
/// The number of no page.
const NO_PAGE: u64 = u64::MAX;

/// The texels of a surface.
pub(super) struct Texels<'a> {
    mem: &'a Memory,
    geometry: &'a Geometry,
    linearize: bool,
    /// Numbers of pages, and where they lie in memory.
    pages: [(u64, usize); PAGES],
}

impl<'a> Texels<'a> {
    pub(super) fn new(mem: &'a Memory, geometry: &'a Geometry, linearize: bool) -> Self {
        Texels {
            mem,
            geometry,
            linearize,
            pages: [(NO_PAGE, 0); PAGES],
        }
    }

    /// What columns add to an offset.
    #[inline(always)]
    pub(super) fn columns<const N: usize>(&self, x: &[u32; N]) -> [u32; N] {
        self.geometry.columns(x)
    }

    /// What rows add to it.
    #[inline(always)]
    pub(super) fn rows<const N: usize>(&self, y: &[u32; N]) -> [u32; N] {
        self.geometry.rows(y)
    }

    /// Offsets from the first byte of the surface.
    #[inline(always)]
    pub(super) fn places<const N: usize>(&self, columns: &[u32; N], rows: &[u32; N]) -> [u32; N] {
        self.geometry.offsets(columns, rows)
    }

    /// Index into memory of the byte at an address, good up to the end of its page.
    #[inline(always)]
    fn index(&mut self, at: GpuAddr) -> Option<usize> {
        let number = at.0 >> 12;
        // CAST: three bits.
        let kept = &mut self.pages[number as usize & (PAGES - 1)];
        if kept.0 != number {
            let first = GpuAddr(number << 12);
            *kept = (number, self.mem.translate(first, Access::Read).ok()?);
        }
        Some(kept.1 + at.in_page())
    }

    /// `T` bytes at an offset; `None` where they cannot be read, or lie in two pages.
    #[inline(always)]
    fn bytes<const T: usize>(&mut self, offset: u32) -> Option<[u8; T]> {
        let at = self.geometry.base.offset(offset);
        if at.in_page() + T > PAGE_SIZE {
            return None;
        }
        let index = self.index(at)?;
        self.mem
            .arena_bytes()
            .get(index..)?
            .first_chunk::<T>()
            .copied()
    }

    /// The texels of the lit pixels; zero for others.
    #[inline(always)]
    pub(super) fn read<const N: usize>(&mut self, at: &[u32; N], lit: u16) -> Option<[u32; N]> {
        let mut texels = [0; N];
        for (i, (texel, &at)) in texels.iter_mut().zip(at).enumerate() {
            if lit >> i & 1 != 0 {
                *texel = u32::from_le_bytes(self.bytes(at)?);
            }
        }
        Some(texels)
    }

    /// Two texels of the lit pixels, nearly always neighbours.
    #[inline(always)]
    pub(super) fn read_pairs<const N: usize>(
        &mut self,
        [left, right]: &[[u32; N]; 2],
        lit: u16,
    ) -> Option<[[u32; N]; 2]> {
        let mut texels = [[0; N]; 2];
        for i in 0..N {
            if lit >> i & 1 == 0 {
                continue;
            }
            let at = left[i];
            if right[i] == at.wrapping_add(4)
                && let Some(both) = self.bytes::<8>(at)
            {
                let both = u64::from_le_bytes(both);
                // CAST: both halves.
                (texels[0][i], texels[1][i]) = (both as u32, (both >> 32) as u32);
            } else {
                texels[0][i] = u32::from_le_bytes(self.bytes(at)?);
                texels[1][i] = u32::from_le_bytes(self.bytes(right[i])?);
            }
        }
        Some(texels)
    }

    /// Texels as they are blended: bytes as numbers, or linear colours beside the byte of alpha.
    #[inline(always)]
    pub(super) fn numbers<const N: usize>(&self, texels: &[u32; N]) -> Colours<N> {
        // CAST: a byte; through i32, which converts in vectors on any x86-64.
        let byte = |shift: u32| lanes::<_, N>(|i| (texels[i] >> shift & 0xff) as i32 as f32);
        if self.linearize {
            let linear = |shift: u32| {
                lanes::<_, N>(|i| num::srgb::srgb8_to_linear((texels[i] >> shift) as u8))
            };
            return [linear(0), linear(8), linear(16), byte(24)];
        }
        [byte(0), byte(8), byte(16), byte(24)]
    }
}
