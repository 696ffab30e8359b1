//! Ring memory and reservations of an exact number of dwords.
//!
//! PRM vol1 "Ring Buffer Use". A reservation collects its dwords aside and reaches the ring only as a whole in
//! [`Reservation::commit`]; one that is dropped leaves the ring as it was. Not modelled: several writers.
use alloc::vec::Vec;

use kernel::dma::CoherentAllocation;
use kernel::error::{Result, code::EINVAL, code::ENOSPC};

use crate::mi;
use crate::ring::{Placement, Ring};
use crate::tail::Tail;

/// A ring with its memory.
pub struct RingBuffer {
    ring: Ring,
    memory: CoherentAllocation,
}

impl RingBuffer {
    /// A ring over all of `memory`; `EINVAL` when its size is no ring size.
    pub fn new(memory: CoherentAllocation) -> Result<Self> {
        let size = u32::try_from(memory.size()).map_err(|_| EINVAL)?;
        Ok(RingBuffer {
            ring: Ring::new(size)?,
            memory,
        })
    }

    /// The arithmetic state.
    #[must_use]
    pub fn ring(&self) -> &Ring {
        &self.ring
    }

    /// The memory.
    #[must_use]
    pub fn memory(&self) -> &CoherentAllocation {
        &self.memory
    }

    /// Notes how far the hardware has read.
    pub fn set_head(&mut self, head: u32) -> Result {
        self.ring.set_head(head)
    }

    /// Empties the ring.
    pub fn reset(&mut self) {
        self.ring.reset();
    }

    /// The tail to tell the hardware.
    #[must_use]
    pub fn tail(&self) -> Tail {
        Tail::at(self.ring.emit())
    }

    /// Reserves room for exactly `dwords` dwords.
    ///
    /// An odd number gets one NOOP behind it, so that the tail stays qword aligned. `ENOSPC` when the ring is too full
    /// now, `EINVAL` when it would not fit an empty ring.
    pub fn begin(&mut self, dwords: usize) -> Result<Reservation<'_>> {
        let padded = dwords.checked_add(dwords & 1).ok_or(EINVAL)?;
        let bytes = padded
            .checked_mul(4)
            .and_then(|bytes| u32::try_from(bytes).ok())
            .ok_or(EINVAL)?;
        let place = self.ring.place(bytes)?;
        if Ring::needed(&place, bytes) > self.ring.space() {
            return Err(ENOSPC);
        }
        Ok(Reservation {
            buffer: self,
            place,
            reserved: dwords,
            words: Vec::with_capacity(padded),
        })
    }
}

/// Room for an exact number of dwords; see [`RingBuffer::begin`].
#[must_use = "a reservation that is not committed leaves no trace in the ring"]
pub struct Reservation<'a> {
    buffer: &'a mut RingBuffer,
    place: Placement,
    reserved: usize,
    words: Vec<u32>,
}

impl Reservation<'_> {
    /// Appends dwords. Too many are noticed by [`commit`](Self::commit).
    pub fn emit(&mut self, dwords: &[u32]) {
        // One dword too many is enough to fail the commit; more would only take memory.
        let room = (self.reserved + 1).saturating_sub(self.words.len());
        self.words.extend(dwords.iter().take(room));
    }

    /// Dwords that are still to be written.
    #[must_use]
    pub fn remaining(&self) -> usize {
        self.reserved.saturating_sub(self.words.len())
    }

    /// Writes the dwords to the ring, and NOOPs up to the ring's end when they wrap; returns the new tail.
    ///
    /// `EINVAL`, and an unchanged ring, when not exactly the reserved number was written.
    pub fn commit(self) -> Result<Tail> {
        let Reservation {
            buffer,
            place,
            reserved,
            mut words,
        } = self;
        if words.len() != reserved {
            return Err(EINVAL);
        }
        if words.len() % 2 != 0 {
            words.push(mi::NOOP);
        }
        if place.fill > 0 {
            let fill = alloc::vec![mi::NOOP; place.fill as usize / 4];
            write_dwords(&buffer.memory, buffer.ring.emit(), &fill)?;
        }
        write_dwords(&buffer.memory, place.start, &words)?;
        buffer.ring.advance(&place);
        Ok(buffer.tail())
    }
}

fn write_dwords(memory: &CoherentAllocation, offset: u32, dwords: &[u32]) -> Result {
    let bytes: Vec<u8> = dwords.iter().flat_map(|word| word.to_le_bytes()).collect();
    memory.write(offset as usize, &bytes)
}

#[cfg(test)]
mod tests;
