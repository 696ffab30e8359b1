//! The device's clock: ticks of its core, and what they are in nanoseconds.
//!
//! Ticks pass only when the device works or is told to let them pass; nothing here reads a wall clock.

/// Device time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Clock {
    ticks: u64,
    mhz: u32,
}

impl Clock {
    /// A clock at 0 of a core with so many MHz; 0 counts as 1.
    pub fn new(mhz: u32) -> Self {
        Clock { ticks: 0, mhz }
    }

    /// Ticks since power-on.
    #[inline]
    pub fn ticks(&self) -> u64 {
        self.ticks
    }

    /// Nanoseconds since power-on.
    pub fn nanos(&self) -> u64 {
        self.ticks.saturating_mul(1000) / u64::from(self.mhz.max(1))
    }

    /// Nanoseconds to ticks, rounded up.
    pub fn ticks_of(&self, nanos: u64) -> u64 {
        nanos.saturating_mul(u64::from(self.mhz)).div_ceil(1000)
    }

    /// Lets ticks pass.
    #[inline]
    pub fn pass(&mut self, ticks: u64) {
        self.ticks = self.ticks.saturating_add(ticks);
    }

    /// Lets time pass until an instant, if it is not past already.
    pub fn pass_to(&mut self, nanos: u64) {
        self.ticks = self.ticks.max(self.ticks_of(nanos));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nanoseconds_are_whole_and_ticks_are_rounded_up() {
        let mut clock = Clock::new(533);
        clock.pass(533);
        assert_eq!((clock.ticks(), clock.nanos()), (533, 1000));
        assert_eq!(clock.ticks_of(1), 1);
        assert_eq!(clock.ticks_of(1001), 534);
        clock.pass_to(2000);
        assert_eq!(clock.ticks(), 1066);
        clock.pass_to(10);
        assert_eq!(clock.ticks(), 1066, "never backwards");
        clock.pass(u64::MAX);
        assert_eq!(clock.ticks(), u64::MAX);
    }
}
