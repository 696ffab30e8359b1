//! Pixels that are ready to be mixed with those of their target.
//!
//! PRM: volume 4 5.10.6. What a pixel becomes depends on what the target holds, so that this much is left for the turn of its
//! thread; colours and places are known before.

use mem::Memory;

use super::{PixelBlock, Places, Planes, Way};
use crate::intel::cc::Origins;

/// Four subspans on their way into a target that is read.
#[derive(Clone, Debug, Default)]
pub struct Mixed {
    /// Which state they are for, by a number that its keeper counts up.
    state: u64,
    places: Places,
    origins: Origins,
    /// Those that are written.
    mask: u16,
    colour: Planes,
}

impl Mixed {
    /// Takes the pixels of a block with one source, whose places are known.
    #[inline]
    pub fn set(&mut self, state: u64, places: Places, block: &PixelBlock<'_>) {
        self.places = places;
        self.state = state;
        self.origins = *block.origins;
        self.mask = block.mask;
        self.colour = *block.colour;
    }

    /// Which state they are for.
    #[inline]
    pub fn state(&self) -> u64 {
        self.state
    }

    /// Writes them by the way of their target. Comes back with those that were written; `None`, with nothing done, when they go one
    /// by one.
    #[inline]
    pub fn write(&self, mem: &mut Memory, way: &Way) -> Option<u16> {
        let block = PixelBlock {
            origins: &self.origins,
            mask: self.mask,
            colour: &self.colour,
            source1: None,
            sample: 0,
        };
        way.write_at(mem, &self.places, &block)
    }
}
