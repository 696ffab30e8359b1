//! Vertex fetch: sequence numbers, snapshots, skipped primitives, vertex range.
//!
//! PRM: volume 4, 3.3.4. The internal data of mux value 1 are not published. Mux value 2 is ours: which of the two
//! vertices of its thread the trapped one is, the bit that 3.3.5.3 speaks of.

use regs::any::{fields, reg};

use super::{Counter, DebugRegs, SnapshotUnit};

/// Debug side of one vertex that VF puts out.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct VfVertex {
    /// Vertex sequence number, 24 bits.
    pub sequence: u32,
    /// VF is to capture: output 0 is the id of the thread that shades or shaded the vertex.
    pub capture: bool,
}

impl DebugRegs {
    /// Numbers the next vertex and compares its number or index with the trigger.
    ///
    /// The vertex cache does not matter: every vertex put out has its own sequence number.
    pub fn vf_vertex(&mut self, vertex_index: u32) -> VfVertex {
        let sequence = self.counters.next(Counter::VfVertex, self.global);
        let trigger = self.field(
            reg::VF_STRG_VAL,
            fields::VF_STRG_VAL::VERTEX_SEQUENCE_NUMBER_OR_VERTEX_INDEX,
        );
        let by_index = self.is(reg::VF_CTL, fields::VF_CTL::SNAPSHOT_TYPE);
        let hit = if by_index {
            vertex_index == trigger
        } else {
            sequence == trigger & 0x00ff_ffff
        };
        let verdict = self.judge(SnapshotUnit::Vf, hit);
        VfVertex {
            sequence,
            capture: verdict.capture,
        }
    }

    /// Numbers the next 3DPRIMITIVE; false when it is to be dropped.
    ///
    /// Primitives skipped at the start count toward the maximum (3.3.4.6).
    pub fn vf_primitive(&mut self) -> bool {
        let number = self.counters.next(Counter::VfTopology, self.global);
        let skip = self.is(reg::VF_CTL, fields::VF_CTL::SKIP_INITIAL_PRIMITIVES)
            && number
                < self.field(
                    reg::VF_STR_PSKIP,
                    fields::VF_STR_PSKIP::STARTING_PRIMITIVES_SKIPPED,
                );
        let beyond = self.is(reg::VF_CTL, fields::VF_CTL::MAX_PRIMITIVES_LIMIT_ENABLE)
            && number >= self.field(reg::VF_MAX_PRIM, fields::VF_MAX_PRIM::MAX_PRIMITIVES);
        !(skip || beyond)
    }

    /// Start vertex location and vertex count that replace those of every 3DPRIMITIVE.
    pub fn vf_vertex_range(&self) -> Option<(u32, u32)> {
        self.is(reg::VF_CTL, fields::VF_CTL::VERTEX_RANGE_LIMIT_ENABLE)
            .then(|| {
                (
                    self.field(
                        reg::VF_STR_VL_OVR,
                        fields::VF_STR_VL_OVR::START_VERTEX_LOCATION_OVERRIDE,
                    ),
                    self.field(
                        reg::VF_VC_OVR,
                        fields::VF_VC_OVR::VERTEX_COUNT_PER_INSTANCE_OVERRIDE,
                    ),
                )
            })
    }
}
