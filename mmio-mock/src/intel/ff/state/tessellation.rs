//! Plain state of the hull shader, the tessellation engine and the domain shader.
//!
//! Intel's manual of Gen7, volume 2 part 1 (HS, TE and DS stages); genxml gen7 (3DSTATE_HS, TE, DS).

use crate::intel::ff::state::UnitConfig;

/// Most threads of a patch: Instance Count has four bits.
pub const INSTANCES: usize = 16;

/// Hull shader.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct HsState {
    /// Threads and URB.
    pub unit: UnitConfig,
    /// Threads of a patch, 1 to 16.
    pub instances: u8,
    /// Threads find the handles of their patch's vertices in their registers.
    pub vertex_handles: bool,
}

/// Which dwords of a patch have its factors.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FactorPlaces {
    /// Those of the edges; of isolines their number, and the segments of each.
    pub outside: [u8; 4],
    /// Those of the inside.
    pub inside: [u8; 2],
}

/// Tessellation engine.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct TeState {
    /// How patches are cut.
    pub setting: tess::Setting,
    /// Where their factors lie.
    pub places: FactorPlaces,
    /// Points are not computed but read from memory.
    pub software: bool,
}

/// Domain shader.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct DsState {
    /// Threads and URB.
    pub unit: UnitConfig,
    /// Threads get the third coordinate of a triangle.
    pub third: bool,
    /// Every point is shaded anew.
    pub cache_disable: bool,
    /// Threads have one point each.
    pub single: bool,
}
