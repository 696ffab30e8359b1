//! Generations as values. Their number is read in tables alone.
//! They have no order: what differs is a column.
//!
//! PRM: volume 4, 1.0 (devices).

use core::fmt;

use super::Table;
use super::features::Features;

/// Generation as version times ten: 40 Gen4, 45 G45, 50 Ironlake, 60 Sandybridge, 70 Ivybridge, 75
/// Haswell, 80 Broadwell, 90 Skylake and Broxton.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Verx10(pub(super) u8);

impl Verx10 {
    /// 965, G35, GM965.
    pub const GEN40: Verx10 = Verx10(40);

    /// The generation with this version times ten: for rows of devices and for tests.
    pub const fn from_times_ten(times_ten: u8) -> Self {
        Verx10(times_ten)
    }

    /// Its version times ten: for tables, rows and tests. Everything else asks for a column.
    pub const fn times_ten(self) -> u8 {
        self.0
    }

    /// The number in its name, for people: `4` for 965 and G45.
    pub const fn whole(self) -> Whole {
        Whole(self)
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

/// The number in a generation's name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Whole(Verx10);

impl fmt::Display for Whole {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Whole(Verx10(number)) = self;
        (number / 10).fmt(f)
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
