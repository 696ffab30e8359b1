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

    /// The number in its name: 4 for 965 and G45.
    pub const fn major(self) -> u8 {
        self.0 / 10
    }

    /// As people write it: `4`, `4.5`.
    pub const fn dotted(self) -> Dotted {
        Dotted(self)
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

/// A generation as people write it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Dotted(Verx10);

impl fmt::Display for Dotted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Dotted(Verx10(number)) = self;
        write!(f, "{}", number / 10)?;
        match number % 10 {
            0 => Ok(()),
            minor => write!(f, ".{minor}"),
        }
    }
}
