//! Squares of one colour: what one write has found out serves those like it.
//!
//! PRM: volume 4, 5.10.6. See `td::fill` for the threads that would have sent these writes.

use mem::{GpuAddr, Memory};

use super::DataPort;
use crate::intel::cc::direct;
use crate::intel::cc::pixel::Planes;
use crate::intel::shared::binding;
use crate::intel::shared::context::{OneColour, ThreadContext};

/// The colour of a message's sixteen pixels, if it is one. The message's target is not named yet.
pub(super) fn one_colour(
    colour: &Planes,
    shifts: direct::Shifts,
    slice: u32,
    header: bool,
) -> Option<OneColour> {
    Some(OneColour {
        target: GpuAddr::default(),
        index: 0,
        slice,
        dword: direct::one(colour, shifts)?,
        header,
    })
}

impl DataPort {
    /// Whether the binding table still names the target of a colour: the draw may have written over it.
    #[inline]
    #[must_use]
    pub fn is_target(&self, mem: &Memory, ctx: &ThreadContext, colour: &OneColour) -> bool {
        binding::surface_address(mem, ctx, colour.index) == Ok(colour.target)
    }

    /// Fills the square whose upper left pixel is `at`; `false` when that takes a message, with what it would do at most
    /// begun.
    #[inline]
    pub fn fill(&mut self, mem: &mut Memory, colour: &OneColour, at: (u16, u16)) -> bool {
        let kept = self.targets.iter().find(|t| t.at == colour.target);
        let Some(target) = kept else {
            return false;
        };
        let rows = [[colour.dword.to_le(); 4]; 4];
        let rows = zerocopy::transmute!(rows);
        let filled = direct::write_square(mem, &target.surface, colour.slice, at, &rows);
        if filled == Ok(true) {
            self.pixels += 16;
            return true;
        }
        false
    }

    /// Fills squares in a row, of which `at` is the first one's upper left pixel. Comes back with how many were filled: the next one takes
    /// a message.
    pub fn fill_row(
        &mut self,
        mem: &mut Memory,
        colour: &OneColour,
        (x, y): (u16, u16),
        squares: u32,
    ) -> u32 {
        let kept = self.targets.iter().find(|t| t.at == colour.target);
        let Some(target) = kept else {
            return 0;
        };
        let rows = zerocopy::transmute!([[colour.dword.to_le(); 4]; 4]);
        let (surface, slice) = (&target.surface, colour.slice);
        let mut filled = 0;
        while filled < squares {
            // CAST: columns have sixteen bits.
            let at = (x.wrapping_add((4 * filled) as u16), y);
            if direct::write_square(mem, surface, slice, at, &rows) != Ok(true) {
                break;
            }
            filled += 1;
        }
        self.pixels += 16 * u64::from(filled);
        filled
    }
}
