//! Allocation of graphics address ranges: chosen, lowest fit, highest fit.
//!
//! Pure bookkeeping in bytes, page granular by its callers. Eviction is its callers' business as well.
mod gaps;

use alloc::collections::BTreeMap;
use alloc::string::String;
use core::fmt;

use kernel::error::{Error, code::EINVAL, code::ENOSPC};

pub use self::gaps::Gaps;

/// A named range of graphics addresses, end exclusive.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Range {
    /// Whose range it is.
    pub owner: String,
    /// First address.
    pub start: u64,
    /// First address behind it.
    pub end: u64,
}

impl fmt::Display for Range {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} at {:#x}..{:#x}", self.owner, self.start, self.end)
    }
}

/// Why a range could not be had.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum RangeError {
    /// The chosen range overlaps another one.
    Overlap {
        /// What was asked for.
        wanted: Range,
        /// What is there.
        existing: Range,
    },
    /// The chosen range leaves the address space.
    Outside {
        /// What was asked for.
        wanted: Range,
        /// Size of the address space.
        limit: u64,
    },
    /// No gap is large enough.
    Full {
        /// Who asked.
        owner: String,
        /// How many bytes.
        size: u64,
    },
    /// Zero size, or an alignment that is no power of two.
    Invalid,
}

impl fmt::Display for RangeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            RangeError::Overlap { wanted, existing } => {
                write!(f, "{wanted} overlaps {existing}")
            }
            RangeError::Outside { wanted, limit } => {
                write!(f, "{wanted} leaves the address space of {limit:#x} bytes")
            }
            RangeError::Full { owner, size } => {
                write!(f, "no room for {owner} of {size:#x} bytes")
            }
            RangeError::Invalid => f.write_str("invalid size or alignment"),
        }
    }
}

impl From<RangeError> for Error {
    fn from(error: RangeError) -> Self {
        match error {
            RangeError::Overlap { .. } | RangeError::Full { .. } => ENOSPC,
            RangeError::Outside { .. } | RangeError::Invalid => EINVAL,
        }
    }
}

/// Where to look first.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Search {
    /// The lowest gap that fits.
    Low,
    /// The highest gap that fits.
    High,
}

/// The allocator.
#[derive(Clone, Debug)]
pub struct RangeAllocator {
    first: u64,
    limit: u64,
    nodes: BTreeMap<u64, (u64, String)>,
    gaps: Gaps,
    /// Bytes of all ranges.
    taken: u64,
}

impl RangeAllocator {
    /// An empty space of `limit` bytes; searches leave out what lies below `first`.
    #[must_use]
    pub fn new(first: u64, limit: u64) -> Self {
        RangeAllocator {
            first,
            limit,
            nodes: BTreeMap::new(),
            gaps: Gaps::new(0, limit),
            taken: 0,
        }
    }

    /// Number of ranges.
    #[must_use]
    pub fn len(&self) -> usize {
        self.nodes.len()
    }

    /// Whether there are no ranges.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.nodes.is_empty()
    }

    /// Bytes of all ranges.
    #[must_use]
    pub const fn taken(&self) -> u64 {
        self.taken
    }

    /// What is free; a copy costs nothing.
    #[must_use]
    pub const fn gaps(&self) -> &Gaps {
        &self.gaps
    }

    /// Where the ranges start that lie in `start..end` in part, in rising order.
    pub fn starts_in(&self, start: u64, end: u64) -> impl Iterator<Item = u64> + '_ {
        let before = self.nodes.range(..start).next_back();
        let before = before.filter(move |(_, (stop, _))| *stop > start);
        let within = self.nodes.range(start..end.max(start));
        before.into_iter().chain(within).map(|(start, _)| *start)
    }

    /// First address behind the space.
    #[must_use]
    pub const fn limit(&self) -> u64 {
        self.limit
    }

    /// The ranges in rising order.
    pub fn iter(&self) -> impl Iterator<Item = Range> + '_ {
        self.nodes.iter().map(|(start, (end, owner))| Range {
            owner: owner.clone(),
            start: *start,
            end: *end,
        })
    }

    /// Bytes of the range that starts at an address, 0 when there is none.
    #[must_use]
    pub fn size_at(&self, start: u64) -> u64 {
        self.nodes.get(&start).map_or(0, |(end, _)| end - start)
    }

    /// Takes the chosen range.
    pub fn insert_at(&mut self, owner: &str, start: u64, size: u64) -> Result<u64, RangeError> {
        if size == 0 {
            return Err(RangeError::Invalid);
        }
        let end = start.saturating_add(size);
        let wanted = || Range {
            owner: owner.into(),
            start,
            end,
        };
        if end > self.limit {
            return Err(RangeError::Outside {
                wanted: wanted(),
                limit: self.limit,
            });
        }
        // Ranges do not overlap, so the last one that starts before our end is the only candidate.
        if let Some((other, (other_end, name))) = self.nodes.range(..end).next_back()
            && *other_end > start
        {
            return Err(RangeError::Overlap {
                wanted: wanted(),
                existing: Range {
                    owner: name.clone(),
                    start: *other,
                    end: *other_end,
                },
            });
        }
        self.gaps.take(start, end);
        self.taken += size;
        self.nodes.insert(start, (end, owner.into()));
        Ok(start)
    }

    /// Takes the first gap that fits, in the order of `search`.
    pub fn insert(
        &mut self,
        owner: &str,
        size: u64,
        align: u64,
        search: Search,
    ) -> Result<u64, RangeError> {
        if size == 0 || !align.is_power_of_two() {
            return Err(RangeError::Invalid);
        }
        let start = match search {
            Search::Low => self.lowest(size, align, 0),
            Search::High => self.highest(size, align),
        };
        let start = start.ok_or_else(|| RangeError::Full {
            owner: owner.into(),
            size,
        })?;
        self.insert_at(owner, start, size)
    }

    /// Takes the lowest gap that fits at or above an address.
    pub fn insert_above(
        &mut self,
        owner: &str,
        size: u64,
        align: u64,
        above: u64,
    ) -> Result<u64, RangeError> {
        if size == 0 || !align.is_power_of_two() {
            return Err(RangeError::Invalid);
        }
        let start = self.lowest(size, align, above);
        let start = start.ok_or_else(|| RangeError::Full {
            owner: owner.into(),
            size,
        })?;
        self.insert_at(owner, start, size)
    }

    /// The lowest gap that fits at or above an address, without taking it.
    #[must_use]
    pub fn lowest(&self, size: u64, align: u64, above: u64) -> Option<u64> {
        self.gaps.lowest(size, align, self.first.max(above))
    }

    fn highest(&self, size: u64, align: u64) -> Option<u64> {
        self.gaps.highest(size, align, self.first)
    }

    /// Gives a range back; returns its end when there was one at `start`.
    pub fn remove(&mut self, start: u64) -> Option<u64> {
        let (end, _) = self.nodes.remove(&start)?;
        self.gaps.give(start, end);
        self.taken -= end - start;
        Some(end)
    }
}

#[cfg(test)]
mod tests;
