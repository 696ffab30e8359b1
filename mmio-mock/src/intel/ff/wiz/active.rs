//! A primitive in work: its subspans, stippled and tested.
//!
//! PRM: volume 2, windower; volume 4, 5.10.6 (what the pixel shader sends on).

use super::depth::{DepthPlane, Destination, Tests, test_subspan};
use super::depth_target::DepthTarget;
use super::hierarchical::Marking;
use super::iz::IzCase;
use super::shape::{self, Block, Walk};
use super::square::{self, Square};
use super::stipple::LineStippleWalk;
use super::thread::WizPort;
use super::{SUBSPAN_ORDER, SetupPrimitive, WizState};
use crate::core::fault::UnitFault;
use crate::intel::ff::payload::pixels::{PixelGroup, PixelWeights, Subspan};
use crate::intel::shared::context::SAMPLES;

/// Pixels of a row of blocks whose depth is fetched together, less one: those of a Y tile.
const AHEAD: i32 = 31;

/// A primitive in work.
#[derive(Clone, Copy, Debug)]
pub(super) struct Active {
    pub(super) primitive: SetupPrimitive,
    pub(super) walk: Walk,
    pub(super) block: Option<Block>,
    /// What each sample covers of it, once that is known.
    pub(super) covered: Option<[u32; SAMPLES]>,
    pub(super) subspan: u32,
    pub(super) case: IzCase,
    pub(super) tests: Tests,
    pub(super) write: bool,
    pub(super) target: Option<DepthTarget>,
    pub(super) plane: Option<DepthPlane>,
    /// What is added to a pixel's coordinates to find it in the depth buffer.
    pub(super) depth_origin: (u32, u32),
    pub(super) start: [f32; 2],
    /// What its threads get of the weights of its vertices.
    pub(super) weights: Option<PixelWeights>,
    pub(super) smooth: bool,
    pub(super) polygon_stipple: bool,
    pub(super) line_stipple: Option<LineStippleWalk>,
    pub(super) group: usize,
    /// Nothing depends on single subspans: four of them may be tested at once.
    pub(super) squares: bool,
    /// The lit subspans of such a square count one by one.
    pub(super) single_counts: bool,
    /// A partly filled payload does not wait for the next block (SVG_WORK_CTL bit 1). The manual does not say
    /// which non-promoted subspans may lock the depth cache against each other (PRM vol4 3.3.3.3): here those
    /// of different 8x4 blocks.
    pub(super) partial: bool,
    /// The square that the present subspan belongs to, when it was tested whole.
    pub(super) square: Option<Square>,
    /// Up to where the depth of which row of blocks has been fetched.
    pub(super) foreseen: (i32, i32),
    /// Blocks are marked, and pixels are left alone.
    pub(super) marking: Option<Marking>,
    /// Its threads can be kept as records.
    pub(super) plain: bool,
    /// Those of whole squares can be kept as runs.
    pub(super) runs: bool,
    /// Nothing is tested, so that rows of squares can be taken at once.
    pub(super) rows: bool,
}

impl Active {
    /// A block has been found: lets the host fetch the depth of its squares and of some to the right, all at once, before the
    /// first is tested.
    #[inline]
    pub(super) fn foresee<P: WizPort>(&mut self, block: &Block, port: &mut P) {
        let Some(target) = self.target.as_ref().filter(|_| self.tests.touch()) else {
            return;
        };
        let (row, end) = self.foreseen;
        if row == block.y && block.x < end {
            return;
        }
        let end = block.x.saturating_add(AHEAD).min(self.walk.row_end());
        self.foreseen = (block.y, end.saturating_add(1));
        // CAST: the clip rectangle lies within 0..=0xffff.
        let x = (block.x as u32).wrapping_add(self.depth_origin.0);
        let y = (block.y as u32).wrapping_add(self.depth_origin.1);
        for right in (0..=(end - block.x).max(0) as u32).step_by(4) {
            if let Some(place) = target.square(x.wrapping_add(right), y) {
                port.memory().foresee(place.first());
            }
        }
    }

    /// Tests four subspans at once if they allow it.
    #[inline]
    pub(super) fn test_square<P: WizPort>(
        &mut self,
        state: &WizState,
        (x, y, dx): (i32, i32, u32),
        mask: u16,
        port: &mut P,
    ) {
        // CAST: the clip rectangle lies within 0..=0xffff.
        let x = x + dx as i32;
        let depth_at = (
            (x as u32).wrapping_add(self.depth_origin.0),
            (y as u32).wrapping_add(self.depth_origin.1),
        );
        let (plane, target) = (self.plane.as_ref(), self.target.as_ref());
        let tests = (&self.tests, self.write);
        self.square = if plane.is_none() && !tests.0.touch() {
            Some(Square::untested(mask))
        } else {
            square::test(plane, target, port.memory(), (x, y), depth_at, mask, tests)
        };
        if state.wm.unit.statistics
            && !self.case.late_count
            && let Some(square) = &self.square
        {
            port.count_depth(u32::from_le_bytes(square.passed).count_ones());
        }
    }

    /// The subspans of the square that was tested whole, from the present one on, join `pending`, as long as they fit into the
    /// thread.
    #[inline]
    pub(super) fn gather(&mut self, block: &Block, pending: &mut PixelGroup) {
        let Some(square) = &self.square else {
            return;
        };
        let order = SUBSPAN_ORDER.iter().skip(self.subspan as usize);
        let tested = square.passed.iter().zip(&square.depth);
        let tested = tested.skip(self.subspan as usize & 3);
        let mut looked = 0;
        for (&(dx, dy), (&mask, depth)) in order.zip(tested) {
            looked += 1;
            if mask == 0 || self.group == 0 {
                continue;
            }
            if let Some(subspan) = pending.slot() {
                // CAST: the clip rectangle lies within 0..=0xffff.
                let at = ((block.x as u32 + dx) as u16, (block.y as u32 + dy) as u16);
                subspan.set(at, mask, *depth);
                pending.keep();
            }
            if pending.subspans().len() >= self.group {
                break;
            }
        }
        self.subspan += looked;
        if self.subspan.is_multiple_of(4) {
            self.square = None;
        }
    }

    /// The square that was tested whole is done with.
    #[inline]
    pub(super) fn pass_square(&mut self) {
        self.square = None;
        self.subspan = (self.subspan & !3) + 4;
    }

    /// So many squares have been taken, of blocks in a row of which this is the first.
    #[inline]
    pub(super) fn pass_row(&mut self, first: &Block, squares: u32) {
        // CAST: columns of the clip rectangle.
        let column = |square: u32| first.x + 4 * square as i32;
        if squares.is_multiple_of(2) {
            self.block = None;
            self.walk.go_to(column(squares));
            return;
        }
        let x = column(squares - 1);
        self.block = Some(Block { x, ..*first });
        self.subspan = 4;
        self.walk.go_to(x + 8);
    }

    /// The pixels of a mask that polygon and line stipple leave on.
    #[inline]
    pub(super) fn stippled(&self, state: &WizState, (x, y): (u32, u32), mut mask: u8) -> u8 {
        if self.polygon_stipple {
            mask &= state.poly_stipple.subspan(x, y);
        }
        if let Some(stipple) = &self.line_stipple {
            // CAST: coordinates are below 2^16.
            mask &= stipple.subspan(x as i32, y as i32);
        }
        mask
    }

    /// Stipple and early tests of one subspan; what is left of it joins `pending`.
    #[inline]
    pub(super) fn subspan<P: WizPort>(
        &self,
        state: &WizState,
        (x, y): (u32, u32),
        mut mask: u8,
        pending: &mut PixelGroup,
        port: &mut P,
    ) -> Result<(), UnitFault> {
        // CAST: coordinates are below 2^16.
        let (px, py) = (x as i32, y as i32);
        mask = self.stippled(state, (x, y), mask);
        if state.wm.samples.mask & 1 == 0 || mask == 0 {
            return Ok(());
        }
        let z = match &self.plane {
            Some(plane) => plane.subspan(px, py),
            None => [0.0; 4],
        };
        let depth_at = (
            x.wrapping_add(self.depth_origin.0),
            y.wrapping_add(self.depth_origin.1),
        );
        if self.tests.touch()
            && let Some(target) = &self.target
        {
            mask = test_subspan(
                target,
                port.memory(),
                depth_at,
                mask,
                &z,
                &self.tests,
                self.write,
            )?;
        }
        if state.wm.unit.statistics && !self.case.late_count {
            port.count_depth(u32::from(mask).count_ones());
        }
        if mask == 0 || self.group == 0 {
            return Ok(());
        }
        let Some(subspan) = pending.slot() else {
            return Ok(());
        };
        // CAST: the clip rectangle lies within 0..=0xffff.
        *subspan = Subspan {
            x: x as u16,
            y: y as u16,
            mask,
            depth: z,
            ..Subspan::default()
        };
        let case = &self.case;
        if (case.destination_depth || case.destination_stencil)
            && let Some(target) = &self.target
        {
            let found = Destination::load(target, port.memory(), depth_at.0, depth_at.1)?;
            subspan.destination_depth = found.depth;
            subspan.destination_stencil = u32::from_le_bytes(found.stencil);
        }
        if self.smooth
            && let shape::Shape::Smooth(line) = self.walk.shape()
        {
            for (i, (dx, dy)) in [(0, 0), (1, 0), (0, 1), (1, 1)].into_iter().enumerate() {
                subspan.alpha |= u16::from(line.alpha(px + dx, py + dy)) << (i * 4);
            }
        }
        pending.keep();
        Ok(())
    }
}
