//! A render target as rows of RGBA, read a page at a time.
//!
//! PRM: volume 4 4.7.2 (surface layout). Not modelled: see the module above.

use std::io::Write;

use super::convert::Texel;
use super::{PictureError, Target};

/// Side of the largest render target (PRM volume 4 4.7.2: 8192).
const MAX_SIDE: u32 = 8192;
/// Bytes of a page.
const PAGE: u32 = 4096;
/// Intervals across and down that a target is sampled at.
const SAMPLES: u32 = 32;
/// Pages kept while rows are read: a row of tiles of the widest surface, so each is read once.
const PAGES: usize = 1024;

/// Fills a page from a page-aligned address; `false` when it lies outside every buffer.
pub trait PageReader {
    /// Reads.
    fn read_page(&self, address: u32, into: &mut [u8; PAGE as usize]) -> bool;
}

impl<F: Fn(u32, &mut [u8; PAGE as usize]) -> bool> PageReader for F {
    fn read_page(&self, address: u32, into: &mut [u8; PAGE as usize]) -> bool {
        self(address, into)
    }
}

/// The first pixel that no buffer holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Outside {
    /// Column.
    pub x: u32,
    /// Row.
    pub y: u32,
    /// Its address.
    pub address: u32,
    /// How many pixels there are of the kind.
    pub pixels: u64,
}

struct Page {
    address: u32,
    mapped: bool,
    bytes: [u8; PAGE as usize],
}

/// A render target being read.
pub struct View<R> {
    /// Pixels across.
    pub width: u32,
    /// Pixels down.
    pub height: u32,
    target: Target,
    texel: Texel,
    reader: R,
    pages: Vec<Option<Box<Page>>>,
    outside: Option<Outside>,
}

impl<R: PageReader> View<R> {
    /// Looks at a render target; `reader` gives the pages.
    pub fn new(target: Target, reader: R) -> Result<Self, PictureError> {
        let surface = &target.surface;
        let lod = surface.render_lod;
        let (width, height) = (surface.level_width(lod), surface.level_height(lod));
        if width > MAX_SIDE || height > MAX_SIDE {
            return Err(PictureError::TooLarge { width, height });
        }
        let texel = Texel::of(&target)?;
        let mut view = View {
            width,
            height,
            target,
            texel,
            reader,
            pages: Vec::new(),
            outside: None,
        };
        view.pages.resize_with(PAGES, || None);
        if !view.is_partly_inside() {
            return Err(PictureError::Unmapped {
                what: "render target",
                address: view.address(0, 0),
            });
        }
        Ok(view)
    }

    /// Whether any of some pixels all over the target lies in a buffer.
    fn is_partly_inside(&mut self) -> bool {
        let steps = |side: u32| (0..=SAMPLES).map(move |i| (side - 1) * i / SAMPLES);
        for y in steps(self.height) {
            for x in steps(self.width) {
                if self.byte(self.address(x, y)).is_some() {
                    return true;
                }
            }
        }
        false
    }

    fn address(&self, x: u32, y: u32) -> u32 {
        let surface = &self.target.surface;
        let slice = surface.target_slice(0);
        surface.address(x, y, slice, surface.render_lod).low()
    }

    fn page(&mut self, address: u32) -> Option<&Page> {
        let start = address & !(PAGE - 1);
        let slot = self.pages.get_mut((start / PAGE) as usize % PAGES)?;
        if slot.as_ref().is_none_or(|page| page.address != start) {
            let mut page = slot.take().unwrap_or_else(|| {
                Box::new(Page {
                    address: 0,
                    mapped: false,
                    bytes: [0; PAGE as usize],
                })
            });
            page.address = start;
            page.mapped = self.reader.read_page(start, &mut page.bytes);
            *slot = Some(page);
        }
        slot.as_deref().filter(|page| page.mapped)
    }

    fn byte(&mut self, address: u32) -> Option<u8> {
        let page = self.page(address)?;
        page.bytes.get((address % PAGE) as usize).copied()
    }

    fn pixel(&mut self, address: u32) -> Option<[u8; 4]> {
        let bytes = self.texel.bytes();
        let at = (address % PAGE) as usize;
        if at + bytes > PAGE as usize {
            // An element across two pages.
            let mut element = [0; 16];
            for (i, to) in element.iter_mut().enumerate().take(bytes) {
                *to = self.byte(address.wrapping_add(i as u32))?;
            }
            return Some(self.texel.rgba(element.get(..bytes)?));
        }
        let mut element = [0; 16];
        let from = self.page(address)?.bytes.get(at..at + bytes)?;
        element.get_mut(..bytes)?.copy_from_slice(from);
        Some(self.texel.rgba(element.get(..bytes)?))
    }

    /// The pixels of row `y`, four bytes each; those outside every buffer are zero and are counted.
    pub fn row(&mut self, y: u32, rgba: &mut [u8]) {
        for (x, to) in rgba
            .chunks_exact_mut(4)
            .enumerate()
            .take(self.width as usize)
        {
            let x = x as u32;
            let address = self.address(x, y);
            if let Some(pixel) = self.pixel(address) {
                to.copy_from_slice(&pixel);
                continue;
            }
            to.fill(0);
            let first = Outside {
                x,
                y,
                address,
                pixels: 0,
            };
            self.outside.get_or_insert(first).pixels += 1;
        }
    }

    /// RGBA of a pixel that lies in the picture and in a buffer.
    pub fn colour(&mut self, x: u32, y: u32) -> Option<[u8; 4]> {
        if x >= self.width || y >= self.height {
            return None;
        }
        self.pixel(self.address(x, y))
    }

    /// Pixels outside every buffer that have been met so far.
    pub fn outside(&self) -> Option<Outside> {
        self.outside
    }

    /// Writes all rows as PNG, the last one first if `flip`.
    pub fn write_png(&mut self, out: impl Write, flip: bool) -> Result<(), png::EncodingError> {
        let mut encoder = png::Encoder::new(out, self.width, self.height);
        encoder.set_color(png::ColorType::Rgba);
        encoder.set_depth(png::BitDepth::Eight);
        let mut writer = encoder.write_header()?;
        let mut rows = writer.stream_writer()?;
        let mut rgba = vec![0; self.width as usize * 4];
        for y in 0..self.height {
            self.row(if flip { self.height - 1 - y } else { y }, &mut rgba);
            rows.write_all(&rgba)?;
        }
        rows.finish()?;
        writer.finish()
    }
}
