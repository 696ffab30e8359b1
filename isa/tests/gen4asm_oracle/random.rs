//! Pseudo-random numbers with a seed, as the instruction generators ask for them.
//! Not for anything that has to be unpredictable.

/// The generator.
pub struct Random(fastrand::Rng);

impl Random {
    pub fn new(seed: u64) -> Random {
        Random(fastrand::Rng::with_seed(seed))
    }

    pub fn word(&mut self) -> u32 {
        self.0.u32(..)
    }

    pub fn below(&mut self, limit: u32) -> u32 {
        self.0.u32(..limit.max(1))
    }

    /// True once in `n` times.
    pub fn one_in(&mut self, n: u32) -> bool {
        self.below(n) == 0
    }

    pub fn pick<T: Copy>(&mut self, list: &[T]) -> T {
        list[self.0.usize(..list.len())]
    }
}
