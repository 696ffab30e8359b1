//! Intermediate Z: where depth and stencil are tested, and what threads carry.
//!
//! PRM: volume 2, windower (early depth test cases); volume 4, 5.10.6.3 (bits 29:27 of M1.6).
//! The rules below reproduce the case table that the public drivers index with these switches
//! (Mesa brw_wm_iz); the tests hold that table row by row.
//!
//! Not modelled: promotion that depends on the pixel's position.

use crate::intel::ff::payload::pixels::PixelParts;

/// Switches that decide the case.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct IzInputs {
    /// The pixel shader or the alpha test kills pixels.
    pub kill: bool,
    /// The pixel shader computes depth.
    pub computed_depth: bool,
    /// Depth is written (there is a depth buffer).
    pub depth_write: bool,
    /// Depth is tested (there is a depth buffer).
    pub depth_test: bool,
    /// Stencil is written.
    pub stencil_write: bool,
    /// Stencil is tested.
    pub stencil_test: bool,
    /// Early Depth Test Enable.
    pub early: bool,
    /// Statistics Enable: pixels that a kernel kills must not be counted.
    pub statistics: bool,
    /// Pixel Shader Uses Source Depth.
    pub uses_source_depth: bool,
}

/// Where the tests are made.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum IzMode {
    /// All in the windower, with the writes.
    #[default]
    Promoted,
    /// Tested in the windower, written with the colour.
    NonPromoted,
    /// Tested and written with the colour.
    Computed,
}

/// The case: what the windower does and what the payload holds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct IzCase {
    /// Where the tests are made.
    pub mode: IzMode,
    /// The payload has source depth.
    pub source_depth: bool,
    /// The render target write has source depth (R1.6 bit 29).
    pub source_depth_to_target: bool,
    /// The payload and the render target write have destination depth (R1.6 bit 28).
    pub destination_depth: bool,
    /// The payload and the render target write have destination stencil (R1.6 bit 27).
    pub destination_stencil: bool,
    /// The render target write counts PS_DEPTH_COUNT, not the windower.
    pub late_count: bool,
}

impl IzCase {
    /// The case of the given switches.
    pub const fn new(i: IzInputs) -> IzCase {
        let mode = if !i.early {
            if i.computed_depth || i.depth_write || i.depth_test || i.stencil_test {
                IzMode::Computed
            } else {
                IzMode::Promoted
            }
        } else if (i.computed_depth && i.depth_test)
            || (i.stencil_test
                && i.stencil_write
                && (i.kill || (i.computed_depth && i.depth_write)))
        {
            IzMode::Computed
        } else if i.depth_write && (i.kill || i.computed_depth) {
            IzMode::NonPromoted
        } else {
            IzMode::Promoted
        };
        let (computed, promoted) = match mode {
            IzMode::Promoted => (false, true),
            IzMode::NonPromoted => (false, false),
            IzMode::Computed => (true, false),
        };
        // A promoted case whose kernel kills pixels is counted behind the kernel.
        let recount = promoted && i.kill && i.statistics;
        let to_target =
            recount || (!promoted && (i.computed_depth || i.depth_write || i.depth_test));
        IzCase {
            mode,
            source_depth: i.uses_source_depth
                || recount
                || (!promoted && to_target && !i.computed_depth),
            source_depth_to_target: to_target,
            destination_depth: computed && i.depth_test,
            destination_stencil: !promoted && i.stencil_test,
            late_count: !promoted || recount,
        }
    }
}

impl IzCase {
    /// What threads get and send on.
    pub const fn parts(&self) -> PixelParts {
        PixelParts {
            source_depth: self.source_depth,
            source_depth_to_target: self.source_depth_to_target,
            destination_depth: self.destination_depth,
            destination_stencil: self.destination_stencil,
        }
    }
}

#[cfg(test)]
mod tests;
