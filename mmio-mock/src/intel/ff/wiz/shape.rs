//! The shape of one primitive and the walk over its blocks.
//!
//! PRM: volume 2, windower. The walk is an explicit cursor, so that a primitive can be left in the
//! middle and taken up again.
//!
//! Not modelled: the hardware's own order of blocks within a primitive.

use super::line::{SharpLine, SmoothLine};
use super::polygon::{BLOCK_HEIGHT, BLOCK_WIDTH, Polygon};
use crate::intel::ff::state::windower::PixelRect;

/// What a primitive covers.
#[derive(Clone, Copy, Debug)]
pub enum Shape {
    /// Triangle, rectangle or point.
    Polygon(Polygon),
    /// Line without antialiasing.
    Sharp(SharpLine),
    /// Antialiased line.
    Smooth(SmoothLine),
}

impl Shape {
    /// Pixels outside this rectangle are not covered.
    pub fn bounds(&self) -> PixelRect {
        match self {
            Shape::Polygon(s) => s.bounds(),
            Shape::Sharp(s) => s.bounds(),
            Shape::Smooth(s) => s.bounds(),
        }
    }

    fn row_range(&self, y: i32) -> (i32, i32) {
        match self {
            Shape::Polygon(s) => s.row_range(y),
            Shape::Sharp(s) => s.row_range(y),
            Shape::Smooth(s) => s.row_range(y),
        }
    }

    /// The column from which on blocks of the row may not be full any more, when the one at (x, y) is.
    fn full_end(&self, x: i32, y: i32) -> i32 {
        match self {
            Shape::Polygon(s) => s.full_end(x, y),
            Shape::Sharp(_) | Shape::Smooth(_) => x + 1,
        }
    }

    /// Coverage of a block: bit `row * 8 + column`.
    #[inline]
    pub fn block(&self, x: i32, y: i32) -> u32 {
        match self {
            Shape::Polygon(s) => s.block(x, y),
            Shape::Sharp(s) => s.block(x, y),
            Shape::Smooth(s) => s.block(x, y),
        }
    }
}

/// A block with at least one covered pixel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Block {
    /// Left column, a multiple of 8.
    pub x: i32,
    /// Upper row, a multiple of 4.
    pub y: i32,
    /// Covered pixels: bit `row * 8 + column`.
    pub mask: u32,
}

/// What the walk came to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Next {
    /// A covered block.
    Block(Block),
    /// The end of the shape.
    End,
    /// The end of the budget.
    Budget,
}

/// The walk over a shape's blocks, row by row from the upper left.
#[derive(Clone, Copy, Debug)]
pub struct Walk {
    shape: Shape,
    clip: PixelRect,
    x: i32,
    x_end: i32,
    /// Up to here blocks of the row are known to be full.
    full_end: i32,
    y: i32,
}

/// Columns of a row that must be left for the end of its full blocks to be worth finding.
const WORTH: i32 = 6 * BLOCK_WIDTH;

const fn align_down(value: i32, to: i32) -> i32 {
    value & -to
}

impl Walk {
    /// A walk over the part of `shape`, and of `more` shapes, inside `clip`; `None` when that part is empty.
    pub fn new(shape: Shape, more: &[Shape], clip: PixelRect) -> Option<Walk> {
        let bounds = more
            .iter()
            .fold(shape.bounds(), |all, shape| all.union(shape.bounds()));
        let clip = clip.intersect(bounds);
        if clip.is_empty() {
            return None;
        }
        let mut walk = Walk {
            shape,
            clip,
            x: 0,
            x_end: -1,
            full_end: i32::MIN,
            y: align_down(clip.y_min, BLOCK_HEIGHT),
        };
        walk.enter_row(more);
        Some(walk)
    }

    fn enter_row(&mut self, more: &[Shape]) {
        let (mut low, mut high) = self.shape.row_range(self.y);
        for shape in more {
            let range = shape.row_range(self.y);
            (low, high) = match (low > high, range.0 > range.1) {
                (true, _) => range,
                (false, true) => (low, high),
                (false, false) => (low.min(range.0), high.max(range.1)),
            };
        }
        self.full_end = i32::MIN;
        self.x = align_down(low.max(self.clip.x_min), BLOCK_WIDTH);
        self.x_end = high.min(self.clip.x_max);
        if low > high {
            self.x_end = self.x - 1;
        }
    }

    /// The shape.
    pub fn shape(&self) -> &Shape {
        &self.shape
    }

    /// The last column of the present row of blocks that may be covered.
    #[inline]
    pub fn row_end(&self) -> i32 {
        self.x_end
    }

    /// How many blocks of the present row follow the one at a column that are covered whole and inside, looking at no more than `most`;
    /// `more` as for [`Self::new`].
    #[inline]
    pub fn full_behind(&self, column: i32, more: &[Shape], most: u32) -> u32 {
        let (top, bottom) = (self.y, self.y + BLOCK_HEIGHT - 1);
        if top < self.clip.y_min || bottom > self.clip.y_max || !more.is_empty() {
            return 0;
        }
        let last = self.x_end.min(self.clip.x_max) + 1 - BLOCK_WIDTH;
        let mut x = column + BLOCK_WIDTH;
        if let Shape::Polygon(polygon) = &self.shape {
            let last = last.min(polygon.full_end(column, self.y) - 1);
            // CAST: not negative.
            return ((last - x).div_euclid(BLOCK_WIDTH) + 1).clamp(0, most as i32) as u32;
        }
        let mut count = 0;
        while count < most && x <= last && self.shape.block(x, self.y) == u32::MAX {
            count += 1;
            x += BLOCK_WIDTH;
        }
        count
    }

    /// The next block is that at a column of the present row.
    #[inline]
    pub fn go_to(&mut self, column: i32) {
        self.x = column;
    }

    fn clip_mask(&self, x: i32, y: i32) -> u32 {
        let left = (self.clip.x_min - x).clamp(0, BLOCK_WIDTH) as u32;
        let right = (self.clip.x_max - x + 1).clamp(0, BLOCK_WIDTH) as u32;
        let top = (self.clip.y_min - y).clamp(0, BLOCK_HEIGHT) as u32;
        let bottom = (self.clip.y_max - y + 1).clamp(0, BLOCK_HEIGHT) as u32;
        let columns = (0xffu32 << left) & 0xff & ((1u32 << right) - 1);
        let mut mask = 0;
        for row in top..bottom {
            mask |= columns << (row * 8);
        }
        mask
    }

    /// Coverage of a block by all shapes.
    #[inline]
    fn covered(&mut self, more: &[Shape], (x, y): (i32, i32)) -> u32 {
        let mut mask = self.shape.block(x, y);
        if mask == u32::MAX && self.x_end - x > WORTH {
            self.full_end = self.shape.full_end(x, y);
        }
        for shape in more {
            mask |= shape.block(x, y);
        }
        mask
    }

    /// The next covered block, looking at no more than `budget` blocks and rows of blocks; `more` as for [`Self::new`].
    #[inline]
    pub fn next_block(&mut self, more: &[Shape], budget: &mut u32) -> Next {
        loop {
            while self.x <= self.x_end {
                if *budget == 0 {
                    return Next::Budget;
                }
                *budget -= 1;
                let (x, y) = (self.x, self.y);
                self.x += BLOCK_WIDTH;
                let mut mask = u32::MAX;
                if x >= self.full_end {
                    mask = self.covered(more, (x, y));
                }
                if mask != 0
                    && (x < self.clip.x_min
                        || x + BLOCK_WIDTH - 1 > self.clip.x_max
                        || y < self.clip.y_min
                        || y + BLOCK_HEIGHT - 1 > self.clip.y_max)
                {
                    mask &= self.clip_mask(x, y);
                }
                if mask != 0 {
                    return Next::Block(Block { x, y, mask });
                }
            }
            if self.y + BLOCK_HEIGHT > self.clip.y_max {
                return Next::End;
            }
            if *budget == 0 {
                return Next::Budget;
            }
            *budget -= 1;
            self.y += BLOCK_HEIGHT;
            self.enter_row(more);
        }
    }
}

#[cfg(test)]
mod tests;
