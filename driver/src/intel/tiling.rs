//! How objects can lie in memory: linear, or in tiles.
//!
//! PRM vol1, "Tiling"; uAPI names of i915.

/// Layout of an object (uAPI `I915_TILING_*`).
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Tiling {
    /// Linear.
    #[default]
    None,
    /// X-major tiles of 512 bytes by 8 rows.
    X,
    /// Y-major tiles of 128 bytes by 32 rows.
    Y,
}

impl Tiling {
    /// Width and height of a tile in bytes and rows; linear memory has no tiles.
    #[must_use]
    pub const fn tile(self) -> Option<(u32, u32)> {
        match self {
            Tiling::None => None,
            Tiling::X => Some((512, 8)),
            Tiling::Y => Some((128, 32)),
        }
    }
}
