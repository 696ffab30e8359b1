//! Attention of threads: who waits for the host, and letting them go.
//!
//! PRM vol4 3.5. Not modelled: the data bits, which the system routine has no use for.
use crate::intel::r#gen::ThreadPlaces;
use crate::intel::registers::reg::{EU_ATT, EU_ATT_CLR};
use crate::intel::uncore::Uncore;

/// EUs and threads of one that the attention registers have bits for.
pub const EUS: u32 = 8;
/// See [`EUS`].
pub const SLOTS: u32 = 4;

/// Whether a thread may run where the registers do not show it.
#[must_use]
pub const fn is_exceeded(places: ThreadPlaces) -> bool {
    places.eus as u32 > EUS || places.slots as u32 > SLOTS
}

/// How many threads of an EU may run when `wanted` are to (`None`: all that fit) and each has to be shown.
#[must_use]
pub fn shown_slots(places: ThreadPlaces, wanted: Option<u8>) -> Option<u8> {
    if !is_exceeded(places) {
        return wanted;
    }
    let most = SLOTS as u8;
    Some(wanted.map_or(most, |wanted| wanted.min(most)))
}

/// On which EUs threads may run when `wanted` is the mask for it (`None`: on all) and each has to be shown.
#[must_use]
pub fn shown_eus(places: ThreadPlaces, wanted: Option<u16>) -> Option<u16> {
    if !is_exceeded(places) {
        return wanted;
    }
    let most = ((1 << EUS) - 1) as u16;
    Some(wanted.map_or(most, |wanted| wanted & most))
}

/// Where a thread runs.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Hash)]
pub struct Place {
    /// EU.
    pub eu: u8,
    /// Thread slot of it.
    pub slot: u8,
}

impl Place {
    /// The bit of the place, EU 0 thread 0 the lowest.
    const fn bit(self) -> u32 {
        1 << ((self.eu as u32 * SLOTS + self.slot as u32) & 31)
    }
}

/// Threads whose attention signal is up. EU_ATT has EU 0 thread 0 in its highest bit.
pub fn raised(uncore: &Uncore) -> impl Iterator<Item = Place> + use<> {
    let bits = uncore.io().read32(EU_ATT.offset() as usize).reverse_bits();
    (0..EUS * SLOTS)
        .filter(move |n| bits >> n & 1 != 0)
        .map(|n| Place {
            eu: (n / SLOTS) as u8,
            slot: (n % SLOTS) as u8,
        })
}

/// Ends the wait of a thread. EU_ATT_CLR has EU 0 thread 0 in its lowest bit; bits are set, then cleared.
pub fn clear(uncore: &Uncore, place: Place) {
    let offset = EU_ATT_CLR.offset() as usize;
    uncore.io().write32(place.bit(), offset);
    uncore.io().write32(0, offset);
}
