//! Generations as values. Their number is read in tables alone.
//!
//! PRM: volume 4, 1.0 (devices).

use core::fmt;

use super::Table;
use super::features::Features;

/// Generation as version times ten: 40 Gen4, 45 G45, 50 Ironlake, 60 Sandybridge, 70 Ivybridge, 75
/// Haswell, 80 Broadwell, 90 Skylake and Broxton.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Verx10(pub u8);

impl Verx10 {
    /// 965, G35, GM965.
    pub const GEN40: Verx10 = Verx10(40);

    /// The generation with this version times ten.
    pub const fn new(times_ten: u8) -> Self {
        Verx10(times_ten)
    }

    /// What its instructions have; nothing when there is no table of it.
    pub(crate) const fn has(self) -> &'static Features {
        match Table::of(self) {
            Some(table) => &table.features,
            None => &Features::NONE,
        }
    }
}

/// The version times ten.
impl fmt::Display for Verx10 {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}
