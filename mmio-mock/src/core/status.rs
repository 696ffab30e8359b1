//! Faults that a device has met: the first ones with places, the rest counted.
//!
//! No guest sees these records. What a guest sees is in the vendor's error registers.

use super::fault::UnitFault;

/// One fault with the place where it happened.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FaultRecord {
    /// What happened.
    pub fault: UnitFault,
    /// Which client of memory met it; the names are the vendor's.
    pub client: &'static str,
    /// Where: command address, kernel and instruction, or register.
    pub place: String,
}

/// How many faults are kept; the first ones name the cause, later ones repeat it.
const KEPT: usize = 32;

/// The faults of a device.
#[derive(Clone, Debug, Default)]
pub struct FaultLog {
    kept: Vec<FaultRecord>,
    dropped: u64,
}

impl FaultLog {
    /// Notes a fault; `place` is asked only when there is room.
    pub fn note(&mut self, client: &'static str, fault: UnitFault, place: impl FnOnce() -> String) {
        if self.kept.len() < KEPT {
            let record = FaultRecord {
                fault,
                client,
                place: place(),
            };
            log::debug!("{}: {}", record.place, record.fault);
            self.kept.push(record);
        } else {
            self.dropped += 1;
        }
    }

    /// The faults so far, oldest first.
    pub fn kept(&self) -> &[FaultRecord] {
        &self.kept
    }

    /// Faults beyond those kept.
    pub fn dropped(&self) -> u64 {
        self.dropped
    }

    /// Takes all faults, making room for others, and the number of those that there was no room for.
    pub fn take(&mut self) -> (Vec<FaultRecord>, u64) {
        (
            std::mem::take(&mut self.kept),
            std::mem::take(&mut self.dropped),
        )
    }
}
