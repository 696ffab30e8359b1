//! Gathers: which channel of which texels.
//!
//! Offsets of each pixel: Mesa 22.3.6 brw_lower_logical_sends.cpp (`SHADER_OPCODE_TG4_OFFSET`); channels: brw_fs_nir.cpp.

use super::Job;
use super::filter::Plan;
use super::message::{self, Op};
use crate::intel::surface::SurfaceKind;

impl Job<'_> {
    /// The plan of a gather, with the texel offsets of its pixel.
    #[inline]
    pub(super) fn gather_plan(&self, slot: usize) -> Plan {
        let mut plan = self.plan;
        let own = matches!(
            self.request.shape.op,
            Op::Gather4Offsets | Op::Gather4OffsetsCompare
        );
        if own && self.texels.surface.kind != SurfaceKind::Cube {
            let order = self.request.order;
            for (to, n) in plan.offsets.iter_mut().zip(order.offsets) {
                *to = message::s5(self.params.bits(n, slot));
            }
        }
        plan
    }

    /// The channel that is gathered. The format that drivers choose for pairs of singles has the second where a third would be
    /// (Mesa 22.3.6 crocus_program.c, "we have to request blue").
    #[inline]
    pub(super) fn channel(&self) -> usize {
        let format = self.texels.surface.format;
        match self.request.channel {
            _ if self.request.shape.compares() => 0,
            2 if message::gathers_second_as_third(format) => 1,
            channel => usize::from(channel & 3),
        }
    }
}
