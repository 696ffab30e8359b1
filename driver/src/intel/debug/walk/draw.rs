//! Which 3DPRIMITIVE a vertex belongs to, by VF's limit of primitives.
//!
//! PRM vol4 3.3.4.6: VF drops the 3DPRIMITIVEs behind as many as VF_MAX_PRIM says, so that a vertex comes if and only if
//! its own is not dropped. What the commands say is tried first. Not modelled: primitives without vertices.

use super::ask::Questions;
use super::{Rerun, WalkError, Walker};
use crate::intel::debug::snapshot::limits::Limits;

/// VF counts primitives with so many bits (PRM vol4 3.3.4.6).
const PRIMITIVES: u32 = (1 << 24) - 1;

impl<R: Rerun> Walker<'_, R> {
    /// What the commands say: the draw, and how many vertices of it come before.
    pub(super) fn expected(&self, submission: usize, sequence: u32) -> Option<(u32, u32)> {
        let mut first = 0u32;
        for draw in 0..self.commands.draws(submission) {
            let vertices = self.commands.vertices(submission, draw);
            let position = sequence - first;
            if position < vertices {
                return Some((draw, position));
            }
            // The sum stays at or below `sequence`.
            first += vertices;
        }
        None
    }

    /// The draw of a vertex; `within` says that it comes up to the draw that the commands name.
    pub(super) fn draw_of(
        &mut self,
        submission: usize,
        sequence: u32,
        within: bool,
    ) -> Result<u32, WalkError<R::Error>> {
        if let Some((draw, _)) = self.expected(submission, sequence)
            && (within || self.comes(submission, sequence, draw + 1)?)
            && !self.comes(submission, sequence, draw)?
        {
            return Ok(draw);
        }
        // The number of primitives that must not be dropped.
        let (mut low, mut high) = (1, PRIMITIVES);
        if !self.comes(submission, sequence, high)? {
            return Err(WalkError::Draw { sequence });
        }
        while low < high {
            let middle = low + (high - low) / 2;
            if self.comes(submission, sequence, middle)? {
                high = middle;
            } else {
                low = middle + 1;
            }
        }
        Ok(low - 1)
    }

    /// Whether a vertex comes when VF drops all but the first primitives.
    fn comes(
        &mut self,
        submission: usize,
        sequence: u32,
        limit: u32,
    ) -> Result<bool, WalkError<R::Error>> {
        let questions = Questions {
            vf: Some(sequence),
            limits: Limits {
                most: Some(limit),
                ..Limits::default()
            },
            ..Questions::default()
        };
        Ok(self.ask(submission, questions)?.vf.is_some())
    }
}
