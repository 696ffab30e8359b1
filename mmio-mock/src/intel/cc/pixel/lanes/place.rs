//! Where the pixels of four subspans lie in the tiles of a surface.
//!
//! PRM: volume 1 (memory tiling). Two pixels side by side in a subspan are adjacent bytes of a tile, and both rows of it lie in
//! that tile, which is a page. Not modelled here: linear surfaces.

use mem::tiling::{self, Tiling};
use mem::{Access, GpuAddr, Memory, PAGE_SIZE};

use super::codes::Words;
use crate::intel::cc::Origins;
use crate::intel::surface::{Geometry, Surface};

/// Whether places of a surface can be found here.
pub fn applies(geometry: &Geometry) -> bool {
    let pairs = match geometry.tiling {
        Tiling::Linear => false,
        Tiling::X => matches!(geometry.bytes, 1 | 2 | 4 | 8 | 16),
        // A row of a subspan lies in sixteen bytes.
        Tiling::Y => matches!(geometry.bytes, 1 | 2 | 4 | 8),
    };
    pairs
        && geometry.base.in_page() == 0
        && geometry.line_stride == 0
        && geometry.line_offset == 0
        && !geometry.by_samples
        && !geometry.buffer
}

/// Whether a pixel of a subspan is lit.
#[inline(always)]
fn is_lit(mask: u16, subspan: usize) -> bool {
    let pixels = mask >> (4 * subspan) & 15;
    pixels != 0
}

/// Two by two pixels in a page.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Quad {
    page: GpuAddr,
    /// Where both rows begin.
    rows: [u16; 2],
}

/// The places of four subspans, those that have lit pixels.
#[derive(Clone, Copy, Debug, Default)]
pub struct Places([Quad; 4]);

impl Places {
    /// The places of the lit pixels in a slice of the target, of which [`applies`] has said so; `None` when some reach over the
    /// edge of it or begin in an odd row or column.
    #[inline(always)]
    pub fn new(target: &Surface, slice: u32, origins: &Origins, mask: u16) -> Option<Places> {
        let geometry = &target.geometry;
        let lod = target.render_lod;
        let (left, top) = geometry.origin(slice, lod);
        let (width, height) = (target.level_width(lod), target.level_height(lod));
        let mut places = Places::default();
        for (s, (quad, &(x, y))) in places.0.iter_mut().zip(origins).enumerate() {
            if !is_lit(mask, s) {
                continue;
            }
            let (x, y) = (u32::from(x), u32::from(y));
            let (column, row) = (left.wrapping_add(x), top.wrapping_add(y));
            if (column | row) & 1 != 0 || x + 2 > width || y + 2 > height {
                return None;
            }
            let at = column.wrapping_mul(geometry.bytes);
            let at = tiling::offset(geometry.tiling, geometry.pitch, at, row);
            let below = match geometry.tiling {
                Tiling::X => 512,
                _ => 16,
            };
            let swizzle = geometry.swizzle;
            let offsets = [at, at.wrapping_add(below)].map(|at| swizzle.apply(at));
            *quad = Quad {
                page: geometry.base.offset(at & !(PAGE_SIZE as u32 - 1)),
                // CAST: within a page.
                rows: offsets.map(|at| at as u16 & (PAGE_SIZE as u16 - 1)),
            };
        }
        Some(places)
    }

    /// Finds the bytes of the lit pixels in system memory; `None` when some of them cannot be written.
    #[inline(always)]
    pub fn find(&self, mem: &Memory, mask: u16) -> Option<Found> {
        let mut found = Found([[0; 2]; 4]);
        let mut last = None;
        for (s, (found, quad)) in found.0.iter_mut().zip(&self.0).enumerate() {
            if !is_lit(mask, s) {
                continue;
            }
            let page = match last {
                Some((page, index)) if page == quad.page => index,
                _ => mem.translate(quad.page, Access::Write).ok()?,
            };
            last = Some((quad.page, page));
            *found = quad.rows.map(|row| page + usize::from(row));
        }
        Some(found)
    }
}

/// The bytes of four subspans in system memory: where both rows of each begin.
#[derive(Clone, Copy, Debug)]
pub struct Found([[usize; 2]; 4]);

impl Found {
    /// Whether lit subspans lie in the same place.
    #[inline(always)]
    pub fn overlap(&self, mask: u16) -> bool {
        let lit = |s: usize| is_lit(mask, s);
        let mut same = false;
        for a in 0..4 {
            for b in a + 1..4 {
                same |= lit(a) && lit(b) && self.0[a][0] == self.0[b][0];
            }
        }
        same
    }

    /// Reads the elements of the lit subspans, of which two side by side have `PAIR` bytes.
    #[inline(always)]
    pub fn load<const WORDS: usize, const PAIR: usize>(
        &self,
        mem: &Memory,
        mask: u16,
        words: &mut Words<WORDS>,
    ) {
        let memory = mem.arena_bytes();
        for (s, rows) in self.0.iter().enumerate() {
            if !is_lit(mask, s) {
                continue;
            }
            for (n, &at) in rows.iter().enumerate() {
                let pair = memory.get(at..).and_then(<[u8]>::first_chunk::<PAIR>);
                let (left, right) = pair.unwrap_or(&[0; PAIR]).split_at(PAIR / 2);
                let i = 4 * s + 2 * n;
                for (word, plane) in words.iter_mut().enumerate() {
                    plane[i] = dword(left, word);
                    plane[i + 1] = dword(right, word);
                }
            }
        }
    }

    /// Writes the elements of lit pixels.
    #[inline(always)]
    pub fn store<const WORDS: usize, const PAIR: usize>(
        &self,
        mem: &mut Memory,
        mask: u16,
        words: &Words<WORDS>,
    ) {
        let memory = mem.arena_bytes_mut();
        for (s, rows) in self.0.iter().enumerate() {
            if !is_lit(mask, s) {
                continue;
            }
            for (n, &at) in rows.iter().enumerate() {
                let to = memory.get_mut(at..);
                let Some(to) = to.and_then(<[u8]>::first_chunk_mut::<PAIR>) else {
                    continue;
                };
                let i = 4 * s + 2 * n;
                let mut pair = [0; PAIR];
                let (left, right) = pair.split_at_mut(PAIR / 2);
                for (word, plane) in words.iter().enumerate() {
                    put(left, word, plane[i]);
                    put(right, word, plane[i + 1]);
                }
                match mask >> i & 3 {
                    3 => *to = pair,
                    1 => to[..PAIR / 2].copy_from_slice(&pair[..PAIR / 2]),
                    2 => to[PAIR / 2..].copy_from_slice(&pair[PAIR / 2..]),
                    _ => {}
                }
            }
        }
    }
}

/// A dword of an element, which may have less than one.
#[inline(always)]
fn dword(element: &[u8], word: usize) -> u32 {
    match *element {
        [byte] => byte.into(),
        [low, high] => u16::from_le_bytes([low, high]).into(),
        _ => {
            let dwords = element.as_chunks::<4>().0;
            dwords
                .get(word)
                .map_or(0, |dword| u32::from_le_bytes(*dword))
        }
    }
}

#[inline(always)]
fn put(element: &mut [u8], word: usize, value: u32) {
    // CAST: an element that has less than a dword has the low bytes of it.
    match element {
        [byte] => *byte = value as u8,
        [low, high] => [*low, *high] = (value as u16).to_le_bytes(),
        _ => {
            if let Some(dword) = element.as_chunks_mut::<4>().0.get_mut(word) {
                *dword = value.to_le_bytes();
            }
        }
    }
}
