//! Strips and fans: primitive numbers, snapshots, culling, debug clip rectangle.
//!
//! PRM: volume 4, 3.3.8.

use regs::any::{fields, reg};

use super::{Counter, DebugRegs, SnapshotUnit, ThreadDebug};

/// Debug side of one primitive that enters SF.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SfPrimitive {
    /// Setup thread: its id is the primitive sequence number. Mux outputs: tag and relative count
    /// of three vertices, count, kernel pointer.
    pub thread: ThreadDebug,
    /// Snapshot flag that goes down to the windower.
    pub upstream: bool,
    /// Dropped by Cull All or by the primitive range.
    pub culled: bool,
}

/// Inclusive pixel bounds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ClipRectangle {
    /// Least x.
    pub xmin: u32,
    /// Least y.
    pub ymin: u32,
    /// Greatest x.
    pub xmax: u32,
    /// Greatest y.
    pub ymax: u32,
}

impl DebugRegs {
    /// Numbers the next primitive, culled or not, and compares it with the trigger.
    pub fn sf_primitive(&mut self) -> SfPrimitive {
        let id = self.counters.next(Counter::SfPrimitive, self.global);
        let trigger = self.field(reg::SF_STRG_VAL, fields::SF_STRG_VAL::SNAPSHOT_ID);
        let verdict = self.judge(SnapshotUnit::Sf, id == trigger);
        SfPrimitive {
            thread: ThreadDebug {
                id,
                flag: verdict.flag,
                capture: verdict.capture,
                primitive: 0,
            },
            upstream: verdict.local,
            culled: self.is(reg::SF_CTL, fields::SF_CTL::CULL_ALL) || self.outside(id),
        }
    }

    /// The rectangle that replaces the drawing rectangle.
    pub fn sf_clip_rectangle(&self) -> Option<ClipRectangle> {
        use fields::{SF_CLIP_RMAX as MAX, SF_CLIP_RMIN as MIN};
        self.is(reg::SF_CTL, fields::SF_CTL::DEBUG_CLIP_RECTANGLE_ENABLE)
            .then(|| ClipRectangle {
                xmin: self.field(reg::SF_CLIP_RMIN, MIN::DEBUG_CLIP_RECTANGLE_MINIMUM_X),
                ymin: self.field(reg::SF_CLIP_RMIN, MIN::DEBUG_CLIP_RECTANGLE_MINIMUM_Y),
                xmax: self.field(reg::SF_CLIP_RMAX, MAX::DEBUG_CLIP_RECTANGLE_MAXIMUM_X),
                ymax: self.field(reg::SF_CLIP_RMAX, MAX::DEBUG_CLIP_RECTANGLE_MAXIMUM_Y),
            })
    }

    fn outside(&self, number: u32) -> bool {
        self.is(reg::SF_CTL, fields::SF_CTL::MIN_MAX_PRIMITIVE_RANGE_ENABLE)
            && !(self.field(
                reg::SF_MIN_PR_IND,
                fields::SF_MIN_PR_IND::MINIMUM_PRIMITIVE_INDEX,
            )
                ..=self.field(
                    reg::SF_MAX_PR_IND,
                    fields::SF_MAX_PR_IND::MAXIMUM_PRIMITIVE_INDEX,
                ))
                .contains(&number)
    }
}
