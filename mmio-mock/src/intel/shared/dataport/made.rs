//! Pixels that are made ready for their target before their turn.
//!
//! PRM: volume 4 5.10.6 (render target write), volume 2, windower (pixel pipeline order). Pixels that the target has no part in are
//! packed. Of others, where no pixel lies in the place of another and nothing else is written there meanwhile, what the target
//! holds can be read before; else colours and places are kept for the turn of the thread.

use mem::Memory;

use crate::intel::cc::direct::{self, Packed, Shifts};
use crate::intel::cc::pixel::lanes::{Mixed, Places, Way};
use crate::intel::cc::pixel::{PixelBlock, Planes};
use crate::intel::cc::state::CcState;
use crate::intel::cc::whole::Whole;
use crate::intel::cc::{Origins, alpha_test};
use crate::intel::surface::Surface;

/// How pixels get ready for a target.
#[derive(Clone, Copy, Debug)]
pub(super) enum How<'a> {
    /// They go straight into it.
    Straight(Shifts),
    /// Under this state, by a way that has a number.
    Mixed(&'a CcState, &'a Way, u64),
}

/// Lit pixels of a thread with sixteen channels at most.
#[derive(Clone, Copy, Debug)]
pub struct Lit {
    /// Upper left pixels of the subspans.
    pub origins: Origins,
    /// One bit for each pixel.
    pub mask: u16,
}

impl Lit {
    /// Whether all pixels of a block are among them, at the same places.
    #[inline]
    fn has(&self, block: &PixelBlock<'_>) -> bool {
        block.mask & !self.mask == 0 && self.origins == *block.origins
    }
}

/// Where pixels are made ready.
#[derive(Debug)]
pub struct Making<'a> {
    /// Memory and the pixels of the thread, where the target may be read before its turn.
    pub early: Option<(&'a Memory, Lit)>,
    /// For pixels that are mixed with the target's at the turn of the thread.
    pub mixed: &'a mut Mixed,
}

/// Every pixel's alpha as one.
fn opaque(colour: &Planes) -> Planes {
    let [red, green, blue, _] = *colour;
    [red, green, blue, [1f32.to_bits(); 16]]
}

impl How<'_> {
    /// Makes the pixels of a block ready for a slice of the target.
    #[inline]
    pub(super) fn packed(
        self,
        (target, slice): (&Surface, u32),
        block: &PixelBlock<'_>,
        making: &mut Making<'_>,
    ) -> Option<Packed> {
        let (cc, way, number) = match self {
            How::Straight(shifts) => {
                let dwords = direct::dwords(block.colour, shifts);
                return Some(Packed::new(target, slice, block, &dwords));
            }
            How::Mixed(cc, way, number) => (cc, way, number),
        };
        let other;
        let colour = if cc.alpha_to_one {
            other = opaque(block.colour);
            &other
        } else {
            block.colour
        };
        let block = PixelBlock {
            mask: alpha_test(cc, &block.colour[3], block.mask),
            colour,
            ..*block
        };
        let places = Places::new(target, slice, block.origins, block.mask)?;
        // A header may name any pixels.
        if let Some((mem, lit)) = &making.early
            && lit.has(&block)
            && let Some(dwords) = way.dwords(mem, &places, &block)
        {
            return Some(Packed::new(target, slice, &block, &dwords));
        }
        making.mixed.set(number, places, &block);
        Some(Packed::Mixed)
    }

    /// The pixels of a thread of sixteen lit ones, as a slice of the target will have them.
    #[inline]
    pub(super) fn whole(
        self,
        (target, slice): (&Surface, u32),
        (origins, colour): (&Origins, &Planes),
        early: Option<&Memory>,
    ) -> Option<Whole> {
        let (cc, way) = match self {
            How::Straight(shifts) => return Some(direct::dwords(colour, shifts)),
            How::Mixed(cc, way, _) => (cc, way),
        };
        let other;
        let colour = if cc.alpha_to_one {
            other = opaque(colour);
            &other
        } else {
            colour
        };
        let block = PixelBlock {
            origins,
            mask: 0xffff,
            colour,
            source1: None,
            sample: 0,
        };
        if cc.alpha_test.is_some() {
            return None;
        }
        let places = Places::new(target, slice, origins, block.mask)?;
        way.dwords(early?, &places, &block)
    }
}
