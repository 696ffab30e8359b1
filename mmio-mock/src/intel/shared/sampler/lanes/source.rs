//! Reading texels of eight pixels at once, through tables of pages.
#![expect(
    clippy::needless_range_loop,
    reason = "loops over vectors are by number: iterators are functions that are not always inlined"
)]

use jit::eight::{Dwords, Eight, each};
use mem::{Access, GpuAddr, Memory, PAGE_SIZE};

/// Pages whose places are kept while a message is served.
const KEPT: usize = 8;
/// The number of no page.
const NO_PAGE: u64 = u64::MAX;
/// Where no page lies, in a table.
const NOWHERE: u32 = u32::MAX;
/// Pages that a table has at most.
const PAGES: usize = 1 << 14;

/// Where texels come from. Places are bytes behind the first one of a surface.
pub(super) trait Source {
    /// Texels of `1 << size` bytes of the lit pixels, anything for others and for dwords behind a texel; `None` where one cannot be read.
    fn read<E: Eight, const D: usize>(
        &mut self,
        e: E,
        at: E::I,
        lit: u8,
        size: u32,
    ) -> Option<[E::I; D]>;
}

/// Where the pages of a surface lie in memory, as long as no table of pages changes.
#[derive(Clone, Debug)]
pub struct Pages {
    /// Bytes before the surface in its first page.
    in_page: u32,
    kind: Kind,
}

#[derive(Clone, Debug)]
enum Kind {
    /// One behind another: the byte at which the surface begins, and the bytes from there to the end of the last page.
    Run(usize, usize),
    /// The number of the first dword of each, little-endian.
    Table(Vec<[u8; 4]>),
}

impl Pages {
    /// The pages of so many bytes at an address; `None` where there are too many, or a texel might lie in two.
    pub(super) fn new(mem: &Memory, base: GpuAddr, bytes: u64) -> Option<Pages> {
        let in_page = base.in_page();
        // CAST: below a page.
        let count = (in_page as u64)
            .checked_add(bytes)?
            .div_ceil(PAGE_SIZE as u64);
        let count = usize::try_from(count)
            .ok()
            .filter(|&count| count <= PAGES)?;
        if !base.0.is_multiple_of(4) {
            return None;
        }
        let place = |page: usize| {
            let at = GpuAddr((base.0 & !0xfff).wrapping_add((page * PAGE_SIZE) as u64));
            let index = mem.translate(at, Access::Read).ok()?;
            // A dword's number is enough: pages are whole.
            u32::try_from(index / 4).ok()
        };
        let places: Vec<Option<u32>> = (0..count).map(place).collect();
        let first = places.first().copied().flatten();
        let dwords = (PAGE_SIZE / 4) as u32;
        let run = first.filter(|first| {
            // CAST: the number of pages is bounded above.
            let next = |n: usize| first.checked_add(n as u32 * dwords);
            let mut numbered = places.iter().enumerate();
            numbered.all(|(n, place)| place.is_some() && *place == next(n))
        });
        // CAST: below a page.
        let kind = match run {
            Some(first) => Kind::Run(first as usize * 4 + in_page, count * PAGE_SIZE - in_page),
            None => Kind::Table(
                (places.into_iter())
                    .map(|place| place.unwrap_or(NOWHERE).to_le_bytes())
                    .collect(),
            ),
        };
        Some(Pages {
            in_page: in_page as u32,
            kind,
        })
    }

    /// The bytes of the surface, where its pages lie one behind another.
    #[inline(always)]
    pub(super) fn run<'a>(&self, mem: &'a Memory) -> Option<Run<'a>> {
        let Kind::Run(first, bytes) = self.kind else {
            return None;
        };
        let bytes = mem.arena_bytes().get(first..)?.get(..bytes)?;
        Some(Run(Dwords::new(bytes.as_chunks().0)))
    }

    /// The bytes of the surface, page by page.
    #[inline(always)]
    pub(super) fn scattered<'a>(&'a self, mem: &'a Memory) -> Option<Scattered<'a>> {
        let Kind::Table(table) = &self.kind else {
            return None;
        };
        Some(Scattered {
            memory: Dwords::new(mem.arena_bytes().as_chunks().0),
            table: Dwords::new(table),
            in_page: self.in_page,
        })
    }
}

/// Dwords of texels that begin with a dword of a number.
#[inline(always)]
fn dwords<E: Eight, const D: usize>(
    e: E,
    from: Dwords<'_>,
    (at, size): (E::I, u32),
    first: E::I,
) -> [E::I; D] {
    let mut texel = [first; D];
    for n in 0..D {
        if n > 0 && n >= 1 << size.saturating_sub(2) {
            break;
        }
        // CAST: below four.
        let number = if n == 0 {
            first
        } else {
            e.add(first, e.all(n as u32))
        };
        texel[n] = e.gather(from, number);
        if size < 2 {
            let shift = e.shl(e.and(at, e.all(3)), 3);
            texel[n] = e.shr_each(texel[n], shift);
        }
    }
    texel
}

/// A surface whose pages lie one behind another.
#[derive(Clone, Copy)]
pub(super) struct Run<'a>(Dwords<'a>);

impl Source for Run<'_> {
    #[inline(always)]
    fn read<E: Eight, const D: usize>(
        &mut self,
        e: E,
        at: E::I,
        _lit: u8,
        size: u32,
    ) -> Option<[E::I; D]> {
        Some(dwords(e, self.0, (at, size), e.shr(at, 2)))
    }
}

/// A surface whose pages lie anywhere, or of which some are not there.
#[derive(Clone, Copy)]
pub(super) struct Scattered<'a> {
    memory: Dwords<'a>,
    table: Dwords<'a>,
    in_page: u32,
}

impl Source for Scattered<'_> {
    #[inline(always)]
    fn read<E: Eight, const D: usize>(
        &mut self,
        e: E,
        at: E::I,
        lit: u8,
        size: u32,
    ) -> Option<[E::I; D]> {
        let at = e.add(at, e.all(self.in_page));
        let page = e.gather(self.table, e.shr(at, 12));
        let nowhere = e.mask(e.equal(page, e.all(NOWHERE)));
        if nowhere & lit != 0 {
            return None;
        }
        let inside = e.shr(e.and(at, e.all(0xfff)), 2);
        let first = e.add(page, inside);
        Some(dwords(e, self.memory, (at, size), first))
    }
}

/// A surface that a single message reads: pages are looked up as they are met.
pub(super) struct Once<'a> {
    mem: &'a Memory,
    base: GpuAddr,
    /// Numbers of pages, and where they lie in memory.
    pages: [(u64, usize); KEPT],
}

impl<'a> Once<'a> {
    pub fn new(mem: &'a Memory, base: GpuAddr) -> Self {
        Once {
            mem,
            base,
            pages: [(NO_PAGE, 0); KEPT],
        }
    }

    /// `B` bytes; `None` where they cannot be read, or lie in two pages.
    #[inline(always)]
    fn bytes<const B: usize>(&mut self, offset: u32) -> Option<[u8; B]> {
        let at = self.base.offset(offset);
        if at.in_page() + B > PAGE_SIZE {
            return None;
        }
        let number = at.0 >> 12;
        // CAST: three bits.
        let kept = &mut self.pages[number as usize & (KEPT - 1)];
        if kept.0 != number {
            let first = GpuAddr(number << 12);
            *kept = (number, self.mem.translate(first, Access::Read).ok()?);
        }
        let memory = self.mem.arena_bytes().get(kept.1 + at.in_page()..)?;
        memory.first_chunk::<B>().copied()
    }
}

impl Source for Once<'_> {
    #[inline(always)]
    fn read<E: Eight, const D: usize>(
        &mut self,
        e: E,
        at: E::I,
        lit: u8,
        size: u32,
    ) -> Option<[E::I; D]> {
        let at = e.array(at);
        let mut texels = [[0; 8]; D];
        for (pixel, at) in at.into_iter().enumerate() {
            if lit >> pixel & 1 == 0 {
                continue;
            }
            match size {
                0 => texels[0][pixel] = u32::from(u8::from_le_bytes(self.bytes(at)?)),
                1 => texels[0][pixel] = u32::from(u16::from_le_bytes(self.bytes(at)?)),
                2 => texels[0][pixel] = u32::from_le_bytes(self.bytes(at)?),
                _ => {
                    let dwords = (0..1 << size.min(4)).step_by(4);
                    for (dword, texel) in dwords.zip(&mut texels) {
                        let at = at.wrapping_add(dword);
                        texel[pixel] = u32::from_le_bytes(self.bytes(at)?);
                    }
                }
            }
        }
        Some(each(
            &texels,
            e.all(0),
            #[inline(always)]
            |dword| e.load(&dword),
        ))
    }
}
