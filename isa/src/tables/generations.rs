//! Runs of generations, a column of restrictions, and parts of a generation.
//!
//! PRM: volume 4, 1.0 (devices); parts from Mesa 22.3.6 `intel_device_info.h`.

use core::fmt;

use super::Verx10;

/// Generations that a rule holds for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Generations {
    /// First one.
    pub first: Verx10,
    /// Last one; 255 when no end is known.
    pub last: Verx10,
    /// Only the low-power parts (Cherryview, Broxton).
    pub low_power: bool,
}

impl Generations {
    pub(crate) const ALL: Generations = Generations::since(0);

    pub(crate) const fn since(first: u8) -> Generations {
        Generations::between(first, u8::MAX)
    }

    pub(crate) const fn until(last: u8) -> Generations {
        Generations::between(0, last)
    }

    pub(crate) const fn between(first: u8, last: u8) -> Generations {
        Generations {
            first: Verx10(first),
            last: Verx10(last),
            low_power: false,
        }
    }

    pub(crate) const fn low_power(first: u8) -> Generations {
        Generations {
            low_power: true,
            ..Generations::since(first)
        }
    }

    /// Whether the rule holds for a part.
    pub const fn contains(self, part: Part) -> bool {
        let version = part.generation.0;
        self.first.0 <= version && version <= self.last.0 && (!self.low_power || part.low_power)
    }
}

impl fmt::Display for Generations {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = |version: u8| (version / 10, version % 10);
        let (first, last) = (name(self.first.0), name(self.last.0));
        match (self.first.0, self.last.0) {
            (0, u8::MAX) => f.write_str("all")?,
            (_, u8::MAX) => write!(f, "from {}.{}", first.0, first.1)?,
            (0, _) => write!(f, "up to {}.{}", last.0, last.1)?,
            (from, to) if from == to => write!(f, "{}.{}", first.0, first.1)?,
            _ => write!(f, "{}.{} to {}.{}", first.0, first.1, last.0, last.1)?,
        }
        if self.low_power {
            f.write_str(", low power only")?;
        }
        Ok(())
    }
}

/// A member of a generation, where its parts differ.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Part {
    /// Generation.
    pub generation: Verx10,
    /// Cherryview or Broxton.
    pub low_power: bool,
}

impl Part {
    /// What all parts of a generation share.
    pub const fn common(generation: Verx10) -> Part {
        Part {
            generation,
            low_power: false,
        }
    }

    /// The low-power part of a generation.
    pub const fn low_power(generation: Verx10) -> Part {
        Part {
            generation,
            low_power: true,
        }
    }
}
