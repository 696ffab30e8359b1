//! The depth buffer as one primitive sees it: a slice of a level, pixels in pairs.
//!
//! PRM: volume 2 (3DSTATE_DEPTH_BUFFER); volume 1 (tiling). A pair is two pixels of one subspan
//! side by side: in every tiling they are adjacent bytes of one page.
//!
//! Not modelled: software tiled rendering.

use mem::tiling::{self, Tiling};
use mem::{Access, BitSixSwizzle, Fault, GpuAddr, Memory, Square};

use crate::intel::surface::depth::StencilBuffer;
use crate::intel::surface::hierarchical::HierBuffer;
use crate::intel::surface::{DepthBuffer, DepthFormat, SurfaceKind, samples};

/// A slice of the depth buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DepthTarget {
    /// Format.
    pub format: DepthFormat,
    base: GpuAddr,
    pitch: u32,
    tiling: Tiling,
    swizzle: BitSixSwizzle,
    width: u32,
    height: u32,
    left: u32,
    top: u32,
    slice: u32,
    samples: u32,
    sample: u32,
    stencil: Option<StencilBuffer>,
    depthless: bool,
    /// Whether depth and stencil may be written.
    writes: (bool, bool),
    hierarchical: Option<HierBuffer>,
}

impl DepthTarget {
    /// The slice that a render target array index selects; `None` when there is no depth buffer.
    pub fn new(buffer: &DepthBuffer, array_index: u16) -> Option<DepthTarget> {
        if buffer.kind == SurfaceKind::Null {
            return None;
        }
        let geometry = &buffer.geometry;
        let slice = buffer.target_slice(u32::from(array_index));
        let (left, top) = geometry.origin(slice, buffer.lod);
        let (width, height) = buffer.extent();
        Some(DepthTarget {
            format: buffer.format,
            base: geometry.base,
            pitch: geometry.pitch,
            tiling: geometry.tiling,
            swizzle: geometry.swizzle,
            width,
            height,
            left,
            top,
            slice,
            samples: buffer.samples,
            sample: 0,
            stencil: buffer.stencil,
            depthless: buffer.depthless,
            writes: (buffer.depth_write, buffer.stencil_write),
            hierarchical: buffer.hierarchical.filter(|_| !buffer.depthless),
        })
    }

    /// Whether pixels have stencil.
    pub fn has_stencil(&self) -> bool {
        self.stencil.is_some() || self.format.has_stencil()
    }

    /// Whether pixels have depth.
    pub fn has_depth(&self) -> bool {
        !self.depthless
    }

    /// Whether depth may be written, and stencil.
    pub fn writes(&self) -> (bool, bool) {
        self.writes
    }

    /// The buffer as a sample of its pixels sees it.
    #[must_use]
    pub fn of_sample(&self, sample: u32) -> DepthTarget {
        DepthTarget { sample, ..*self }
    }

    /// Address of a pixel's stencil, where it has a buffer of its own.
    #[inline]
    pub fn stencil_address(&self, x: u32, y: u32) -> Option<GpuAddr> {
        let stencil = self.stencil.as_ref()?;
        Some(stencil.address(x, y, self.slice, self.sample))
    }

    /// Address of a pixel; `None` outside the level.
    #[inline]
    pub fn address(&self, x: u32, y: u32) -> Option<GpuAddr> {
        if x >= self.width || y >= self.height {
            return None;
        }
        Some(self.place(samples::place(self.samples, x, y, self.sample)))
    }

    /// Address of a place of the level, where each sample of a pixel has one.
    #[inline]
    fn place(&self, (x, y): (u32, u32)) -> GpuAddr {
        let x = x.wrapping_add(self.left).wrapping_mul(self.format.bytes());
        let at = tiling::offset(self.tiling, self.pitch, x, y.wrapping_add(self.top));
        // A tiled base is page aligned, so folding bits of the offset folds bits of the address.
        let at = match self.tiling {
            Tiling::Linear => at,
            Tiling::X | Tiling::Y => self.swizzle.apply(at),
        };
        self.base.offset(at)
    }

    /// The hierarchical buffer beside it.
    pub fn hierarchical(&self) -> Option<HierBuffer> {
        self.hierarchical
    }

    /// The slice of memory.
    pub fn slice(&self) -> u32 {
        self.slice
    }

    /// Columns and rows of places in the level.
    pub fn extent(&self) -> (u32, u32) {
        samples::extent(self.samples, self.width, self.height)
    }

    /// The first and the last place of a block of pixels at (`x`, `y`), as far as it lies in the level.
    pub fn places(
        &self,
        (x, y): (u32, u32),
        (width, height): (u32, u32),
    ) -> Option<((u32, u32), (u32, u32))> {
        if x >= self.width || y >= self.height {
            return None;
        }
        let last = |at: u32, size: u32, end: u32| at.saturating_add(size - 1).min(end - 1);
        let end = (last(x, width, self.width), last(y, height, self.height));
        let first = samples::place(self.samples, x, y, 0);
        let last = samples::place(self.samples, end.0, end.1, self.samples - 1);
        Some((first, last))
    }

    /// Gives all places of a block at (`x`, `y`), as far as it lies in the level, a depth field; their stencil stays.
    pub fn fill(
        &self,
        mem: &mut Memory,
        (x, y): (u32, u32),
        (width, height): (u32, u32),
        field: u32,
    ) -> Result<(), Fault> {
        let end = self.extent();
        // CAST: formats of four bytes, whose fields are bits of the dword: what stays of it, and what is put in.
        let (_, stencil) = self.format.split(0xffff_ffff);
        let keep = (self.format.join(0xffff_ffff, 0, stencil) as u32).to_le();
        let put = (self.format.join(0, field, 0) as u32).to_le();
        for (row, column) in (y..y.saturating_add(height)).step_by(4).flat_map(|row| {
            (x..x.saturating_add(width))
                .step_by(4)
                .map(move |x| (row, x))
        }) {
            let inside = column + 4 <= end.0 && row + 4 <= end.1;
            if inside && let Some(square) = self.square_of_places((column, row)) {
                let rows = mem.read_square(&square)?;
                let mut raw: [[u32; 4]; 4] = zerocopy::transmute!(rows);
                for dword in raw.as_flattened_mut() {
                    *dword = *dword & keep | put;
                }
                mem.write_square(&square, &zerocopy::transmute!(raw))?;
                continue;
            }
            for y in row..(row + 4).min(end.1) {
                for x in column..(column + 4).min(end.0) {
                    let at = self.place((x, y));
                    let [old, _] = self.load(mem, at)?;
                    let (_, stencil) = self.format.split(old);
                    self.store(mem, at, self.format.join(old, field, stencil))?;
                }
            }
        }
        Ok(())
    }

    /// Where a square of four by four places lies, if each has four bytes and they lie in one tile.
    #[inline]
    fn square_of_places(&self, (x, y): (u32, u32)) -> Option<Square> {
        if self.format.bytes() != 4 {
            return None;
        }
        let column = x.wrapping_add(self.left).wrapping_mul(4);
        Square::new(
            (self.tiling, self.swizzle),
            (self.base, self.pitch),
            (column, y.wrapping_add(self.top)),
        )
    }

    /// Where the square of four by four pixels at (x, y) lies, if its pixels have four bytes; `None` outside the level and
    /// where it does not lie in one tile.
    #[inline]
    pub fn square(&self, x: u32, y: u32) -> Option<Square> {
        let inside = x.checked_add(4)? <= self.width && y.checked_add(4)? <= self.height;
        if !inside || self.samples > 1 {
            return None;
        }
        self.square_of_places((x, y))
    }

    /// Whether the square of four by four pixels at (x, y) lies in the level.
    #[inline]
    pub fn has_square(&self, (x, y): (u32, u32)) -> bool {
        let ends = |at: u32, end: u32| at.checked_add(4).is_some_and(|at| at <= end);
        self.samples <= 1 && ends(x, self.width) && ends(y, self.height)
    }

    /// Where the depth of the square of four by four pixels at (x, y) lies, whatever the format; `None` as for
    /// [`Self::square`].
    #[inline(always)]
    pub fn pieces(&self, (x, y): (u32, u32)) -> Option<Pieces> {
        if !self.has_square((x, y)) {
            return None;
        }
        let bytes = self.format.bytes();
        let column = x.wrapping_add(self.left).wrapping_mul(bytes);
        let within = column & 15;
        let row = y.wrapping_add(self.top);
        let square = |column| {
            let how = (self.tiling, self.swizzle);
            Square::new(how, (self.base, self.pitch), (column, row))
        };
        Some(match bytes {
            2 if within == 0 || within == 8 => Pieces::Half(square(column & !15)?, within != 0),
            4 => Pieces::One(square(column)?),
            8 => Pieces::Two([square(column)?, square(column.wrapping_add(16))?]),
            _ => return None,
        })
    }

    /// Whether stencil has a buffer of its own.
    #[inline]
    pub fn has_stencil_apart(&self) -> bool {
        self.stencil.is_some()
    }

    /// Where such a buffer has the stencil of the square of four by four pixels at (x, y): sixteen bytes, first the subspan
    /// above on the left, then that on its right.
    #[inline(always)]
    pub fn stencil_square(&self, (x, y): (u32, u32)) -> Option<GpuAddr> {
        let at = self.stencil.as_ref()?.square(x, y, self.slice)?;
        self.has_square((x, y)).then_some(at)
    }

    /// Raw bits of the pixel at `at` and of its right neighbour.
    #[inline]
    pub fn load(&self, mem: &Memory, at: GpuAddr) -> Result<[u64; 2], Fault> {
        if self.depthless {
            return Ok([0; 2]);
        }
        Ok(match self.format.bytes() {
            2 => {
                let raw = mem.read_u32(at)?;
                [u64::from(raw & 0xffff), u64::from(raw >> 16)]
            }
            4 => {
                let raw = mem.read_u64(at)?;
                [raw & 0xffff_ffff, raw >> 32]
            }
            _ => [mem.read_u64(at)?, mem.read_u64(at.offset(8))?],
        })
    }

    /// Stores the raw bits of the pixel at `at`.
    #[inline]
    pub fn store(&self, mem: &mut Memory, at: GpuAddr, raw: u64) -> Result<(), Fault> {
        match self.format.bytes() {
            2 => mem.write_u16(at, raw as u16),
            4 => mem.write_u32(at, raw as u32),
            _ => mem.write_u64(at, raw),
        }
    }
}

/// The parts of tiles that have the pixels of a square of four by four.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pieces {
    /// Two bytes a pixel: the first or the second half of each row.
    Half(Square, bool),
    /// Four bytes a pixel.
    One(Square),
    /// Eight bytes a pixel: those of two columns each.
    Two([Square; 2]),
}

/// The first and the second dword of the pixels of four rows of four.
pub type RawSquare = ([[u32; 4]; 4], [[u32; 4]; 4]);

impl Pieces {
    /// Address of the first byte.
    #[inline]
    pub fn first(&self) -> GpuAddr {
        let (Pieces::Half(first, _) | Pieces::One(first) | Pieces::Two([first, _])) = self;
        first.first()
    }

    /// Raw bits of the pixels; `None` when they cannot be read.
    #[inline(always)]
    pub fn load(&self, mem: &Memory) -> Option<RawSquare> {
        let (mut low, mut high) = ([[0; 4]; 4], [[0; 4]; 4]);
        match self {
            Pieces::Half(square, right) => {
                let rows = mem.read_square(square).ok()?;
                for (low, row) in low.iter_mut().zip(&rows) {
                    let from = if *right { &row[8..] } else { &row[..8] };
                    for (low, from) in low.iter_mut().zip(from.as_chunks::<2>().0) {
                        *low = u16::from_le_bytes(*from).into();
                    }
                }
            }
            Pieces::One(square) => {
                low = zerocopy::transmute!(mem.read_square(square).ok()?);
                for dword in low.as_flattened_mut() {
                    *dword = u32::from_le(*dword);
                }
            }
            Pieces::Two(squares) => {
                for (n, square) in squares.iter().enumerate() {
                    let rows: [[u32; 4]; 4] = zerocopy::transmute!(mem.read_square(square).ok()?);
                    for (row, raw) in rows.iter().enumerate() {
                        for pixel in 0..2 {
                            low[row][2 * n + pixel] = u32::from_le(raw[2 * pixel]);
                            high[row][2 * n + pixel] = u32::from_le(raw[2 * pixel + 1]);
                        }
                    }
                }
            }
        }
        Some((low, high))
    }

    /// Whether they can be written.
    #[inline]
    pub fn writable(&self, mem: &Memory) -> bool {
        let can = |square: &Square| mem.translate(square.first(), Access::Write).is_ok();
        match self {
            Pieces::Half(square, _) | Pieces::One(square) => can(square),
            Pieces::Two(squares) => squares.iter().all(can),
        }
    }

    /// Stores the raw bits of the pixels; `None` when they cannot be written.
    #[inline(always)]
    pub fn store(&self, mem: &mut Memory, (low, high): RawSquare) -> Option<()> {
        match self {
            Pieces::Half(square, right) => {
                let mut rows = mem.read_square(square).ok()?;
                for (low, row) in low.iter().zip(&mut rows) {
                    let to = if *right { &mut row[8..] } else { &mut row[..8] };
                    for (low, to) in low.iter().zip(to.as_chunks_mut::<2>().0) {
                        // CAST: two bytes a pixel.
                        *to = (*low as u16).to_le_bytes();
                    }
                }
                mem.write_square(square, &rows).ok()
            }
            Pieces::One(square) => {
                let rows = low.map(|row| row.map(u32::to_le));
                mem.write_square(square, &zerocopy::transmute!(rows)).ok()
            }
            Pieces::Two(squares) => {
                for (n, square) in squares.iter().enumerate() {
                    let mut rows = [[0; 4]; 4];
                    for (row, raw) in rows.iter_mut().enumerate() {
                        for pixel in 0..2 {
                            raw[2 * pixel] = low[row][2 * n + pixel].to_le();
                            raw[2 * pixel + 1] = high[row][2 * n + pixel].to_le();
                        }
                    }
                    mem.write_square(square, &zerocopy::transmute!(rows)).ok()?;
                }
                Some(())
            }
        }
    }
}

/// Smallest step of depth near `z`: what a Global Depth Offset Constant of 1 adds.
pub fn resolution(format: DepthFormat, z: f32) -> f64 {
    match format {
        DepthFormat::D24UnormS8 | DepthFormat::D24UnormX8 => 2f64.powi(-24),
        DepthFormat::D16Unorm => 2f64.powi(-16),
        DepthFormat::D32FloatS8X24 | DepthFormat::D32Float => {
            let exponent = i32::from((z.abs().to_bits() >> 23) as u8);
            2f64.powi(exponent - 127 - 23)
        }
    }
}
