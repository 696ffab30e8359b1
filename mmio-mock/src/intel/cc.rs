//! The colour calculator: alpha, stencil, depth, blend, logic ops, pixel stores.
//!
//! PRM: volume 4 1.2 (the colour calculator lives in the data port), 5.10.6 (render target
//! write); volume 2, windower (colour buffer blending, logic ops, dithering, depth and stencil).
//! Not modelled: the render cache, the hardware's blend precision (floats here), chroma keys.
//!
//! A render target write goes [`alpha::test_block`], then [`depth::test_block`] when the message
//! carries depth, then [`pixel::write_block`]. Early tests of the windower use
//! [`depth::test_block`] alone. The unit of work is the hardware's: up to four 2x2 subspans.

pub mod alpha;
pub mod blend;
pub mod compare;
pub mod constant;
pub mod control;
pub mod depth;
pub mod direct;
pub mod dither;
pub mod logic;
pub mod pixel;
pub mod state;
pub mod stencil;
pub mod whole;

pub use alpha::test_block as alpha_test;
pub use compare::Compare;
pub use constant::write_constant;
pub use depth::{DepthBlock, DepthOutcome, test_block as depth_stencil_test};
pub use pixel::{PixelBlock, write_block, write_block_by, write_pixels};
pub use state::{CcError, CcState};

/// Upper-left pixels of four subspans, in screen coordinates.
pub type Origins = [(u16, u16); 4];

/// Screen position of pixel `i` (0..16) of a block: subspan `i / 4`, within it upper left, upper
/// right, lower left, lower right (PRM volume 4 5.10.6.1).
#[inline]
pub fn pixel_position(origins: &Origins, i: usize) -> (u32, u32) {
    let (x, y) = origins[(i / 4) & 3];
    (x as u32 + (i as u32 & 1), y as u32 + (i as u32 >> 1 & 1))
}
