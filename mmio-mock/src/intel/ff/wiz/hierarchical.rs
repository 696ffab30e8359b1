//! Clears and resolves of depth that has a hierarchical buffer beside it.
//!
//! Genxml gen6 3DSTATE_WM (Depth Buffer Clear, Depth Buffer Resolve Enable, Hierarchical Depth Buffer Resolve Enable); Mesa 22.3.6
//! blorp.c `blorp_hiz_op`: a rectangle of whole blocks for each of the three operations. A clear marks blocks; the first primitive
//! that may look at the depth buffer, and a resolve of it, write the depth of the marks; a hierarchical resolve takes marks away.

use mem::{Fault, Memory};

use super::depth_target::DepthTarget;
use super::shape::Block;
use super::thread::WizPort;
use super::{Active, BLOCK_TICKS, DepthResolve, Wiz, WizState};
use crate::core::fault::UnitFault;
use crate::intel::surface::hierarchical::{BLOCK, HierBuffer};

/// What a primitive does to the blocks that it lies on.
#[derive(Clone, Copy, Debug)]
pub(super) struct Marking {
    /// The buffer.
    pub buffer: HierBuffer,
    /// The depth field of a clear; `None`: the depth buffer has the blocks.
    pub cleared: Option<u32>,
}

impl Marking {
    /// Marks what a block of pixels lies on. A block that is lit in part is marked whole: hardware wants rectangles of whole blocks.
    pub fn block(
        &self,
        mem: &mut Memory,
        target: &DepthTarget,
        block: &Block,
        origin: (u32, u32),
    ) -> Result<(), Fault> {
        // CAST: the clip rectangle lies within 0..=0xffff.
        let x = (block.x as u32).wrapping_add(origin.0);
        let y = (block.y as u32).wrapping_add(origin.1);
        let Some((from, to)) = target.places((x, y), BLOCK) else {
            return Ok(());
        };
        for row in from.1 / BLOCK.1..=to.1 / BLOCK.1 {
            for column in from.0 / BLOCK.0..=to.0 / BLOCK.0 {
                let at = (column, row, target.slice());
                self.buffer.mark(mem, at, self.cleared)?;
            }
        }
        Ok(())
    }
}

impl Wiz {
    /// The depth buffer may be another one, or have been changed by others.
    pub fn depth_changed(&mut self) {
        self.settled = None;
    }

    /// What a primitive does to the hierarchical buffer. Before one that may look at the depth buffer, that has what the marks say.
    pub(super) fn hierarchical<P: WizPort>(
        &mut self,
        state: &WizState,
        buffer: Option<(DepthTarget, HierBuffer)>,
        port: &mut P,
    ) -> Result<Option<Marking>, UnitFault> {
        let Some((target, buffer)) = buffer else {
            return Ok(None);
        };
        let cleared = match (state.wm.depth_clear, state.wm.depth_resolve) {
            (Some(depth), _) => Some(target.format.encode(depth)),
            (None, Some(DepthResolve::Hierarchical)) => None,
            (None, Some(DepthResolve::Depth) | None) => {
                let depth = &state.cc.depth;
                let looks = depth.test || depth.write || state.wm.depth_resolve.is_some();
                if looks && self.settled != Some(target) {
                    self.ticks += settle(&buffer, port.memory(), &target)? * BLOCK_TICKS;
                    self.settled = Some(target);
                }
                return Ok(None);
            }
        };
        self.settled = None;
        Ok(Some(Marking { buffer, cleared }))
    }
}

impl Active {
    /// Marks a block in the hierarchical depth buffer.
    pub(super) fn mark<P: WizPort>(
        &self,
        state: &WizState,
        block: &Block,
        port: &mut P,
    ) -> Result<(), UnitFault> {
        if let (Some(marking), Some(target)) = (&self.marking, &self.target) {
            marking.block(port.memory(), target, block, self.depth_origin)?;
        }
        if state.wm.unit.statistics && state.wm.depth_clear.is_some() {
            port.count_depth(block.mask.count_ones());
        }
        Ok(())
    }
}

/// Writes to the depth buffer what its marks say, for a whole slice, and takes them away. The number of steps: blocks that were
/// written, and groups of blocks that were looked at.
fn settle(buffer: &HierBuffer, mem: &mut Memory, target: &DepthTarget) -> Result<u64, Fault> {
    let (width, height) = target.extent();
    let columns = width.div_ceil(BLOCK.0);
    let slice = target.slice();
    let mut steps = 0;
    for row in 0..height.div_ceil(BLOCK.1) {
        for first in (0..columns).step_by(HierBuffer::TOGETHER as usize) {
            let found = buffer.cleared(mem, (first, row, slice))?;
            steps += 1;
            for (column, field) in (first..columns).zip(found) {
                if let Some(field) = field {
                    target.fill(mem, (column * BLOCK.0, row * BLOCK.1), BLOCK, field)?;
                    buffer.mark(mem, (column, row, slice), None)?;
                    steps += 1;
                }
            }
        }
    }
    Ok(steps)
}
