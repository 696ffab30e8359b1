//! Limits and parities of factors.
//!
//! Microsoft's tessellator.cpp, `QuadProcessTessFactors` and its like; genxml gen7, 3DSTATE_TE (maxima).

use crate::axis::Axis;
use crate::{Limits, Partitioning};

/// Least fraction of a factor.
const EPSILON: f32 = 1.0 / 65536.0;

/// The range of factors of a partitioning.
#[derive(Clone, Copy, Debug)]
pub struct Range {
    partitioning: Partitioning,
    least: f32,
    most: f32,
}

impl Range {
    /// Between the least factor of a partitioning and its limit.
    pub fn new(partitioning: Partitioning, limits: Limits) -> Self {
        let (least, limit, most) = match partitioning {
            Partitioning::Integer => (1.0, limits.not_odd, 64.0),
            Partitioning::OddFractional => (1.0, limits.odd, 63.0),
            Partitioning::EvenFractional => (2.0, limits.not_odd, 64.0),
        };
        // A limit that is no number is none.
        let most = f32::min(limit, most).max(least);
        Range {
            partitioning,
            least,
            most,
        }
    }

    fn clamp(&self, factor: f32, least: f32) -> f32 {
        // What is no number becomes the least.
        let factor = least.max(factor).min(self.most);
        match self.partitioning {
            Partitioning::Integer => factor.ceil().min(self.most.floor()),
            Partitioning::OddFractional | Partitioning::EvenFractional => factor,
        }
    }

    fn odd(&self, factor: f32) -> bool {
        match self.partitioning {
            // CAST: an integer from 1 to 64.
            Partitioning::Integer => factor as u32 % 2 == 1,
            Partitioning::OddFractional => true,
            Partitioning::EvenFractional => false,
        }
    }

    /// The points of an edge with this factor.
    pub fn edge(&self, factor: f32) -> Axis {
        let factor = self.clamp(factor, self.least);
        Axis::new(factor, self.odd(factor))
    }

    /// The points of a direction of the inside. A frame keeps it apart from the edges when one of them has more than one segment.
    pub fn inside(&self, factor: f32, framed: bool) -> Axis {
        let frame = framed && self.partitioning == Partitioning::OddFractional;
        let least = if frame {
            self.least + EPSILON
        } else {
            self.least
        };
        let factor = self.clamp(factor, least);
        Axis::new(factor, self.odd(factor) && factor != self.one())
    }

    /// The factor that counts as even inside.
    fn one(&self) -> f32 {
        match self.partitioning {
            Partitioning::Integer => 1.0,
            Partitioning::OddFractional | Partitioning::EvenFractional => 0.0,
        }
    }

    /// Whether a factor is that of more than one segment.
    pub fn divides(&self, factor: f32) -> bool {
        self.least.max(factor).min(self.most) > 1.0 + EPSILON / 2.0
    }
}

/// Whether factors of edges cull their patch.
pub fn cull(edges: &[f32]) -> bool {
    !edges.iter().all(|&factor| factor > 0.0)
}
