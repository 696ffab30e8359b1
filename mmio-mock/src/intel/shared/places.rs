//! What a shared function knows of each thread, by EU and slot.
//!
//! PRM: volume 4, 2.2 (EU array). How many places there are is the device's row.

/// Places for threads of a device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Places {
    /// Execution units.
    pub eus: u16,
    /// Hardware threads of one EU.
    pub threads_per_eu: u16,
}

/// A value for each thread that has one.
#[derive(Clone, Debug)]
pub struct ByThread<T> {
    values: Vec<Option<T>>,
    threads_per_eu: usize,
}

impl<T: Copy> ByThread<T> {
    /// No thread has a value.
    pub fn new(places: Places) -> Self {
        let count = usize::from(places.eus) * usize::from(places.threads_per_eu);
        ByThread {
            values: vec![None; count],
            threads_per_eu: places.threads_per_eu.into(),
        }
    }

    /// The value of a thread; `None` also for a place that the device does not have, which a message may name.
    pub fn get(&self, eu: u8, slot: u8) -> Option<T> {
        *self.values.get(self.index(eu, slot)?)?
    }

    /// Sets or takes the value of a thread, and returns the one before.
    pub fn replace(&mut self, eu: u8, slot: u8, value: Option<T>) -> Option<T> {
        let index = self.index(eu, slot)?;
        let place = self.values.get_mut(index)?;
        std::mem::replace(place, value)
    }

    fn index(&self, eu: u8, slot: u8) -> Option<usize> {
        let slot = usize::from(slot);
        (slot < self.threads_per_eu).then(|| usize::from(eu) * self.threads_per_eu + slot)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_beside_the_device_s_has_no_value() {
        let mut threads = ByThread::new(Places {
            eus: 2,
            threads_per_eu: 3,
        });
        assert_eq!(threads.replace(1, 2, Some('a')), None);
        for (eu, slot) in [(0, 3), (2, 0), (1, 3), (15, 7), (255, 255)] {
            assert_eq!(threads.replace(eu, slot, Some('b')), None);
            assert_eq!(threads.get(eu, slot), None, "{eu} {slot}");
        }
        assert_eq!(threads.get(1, 2), Some('a'));
        assert_eq!(threads.get(1, 0), None);
        assert_eq!(threads.replace(1, 2, None), Some('a'));
        assert_eq!(threads.get(1, 2), None);
    }
}
