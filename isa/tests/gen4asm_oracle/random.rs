//! Pseudo-random numbers with a seed: the same sequence everywhere.
//! No PRM chapter. Not for anything that has to be unpredictable.

/// A 64-bit linear congruential generator; the upper half of its state is the output.
pub struct Random(u64);

impl Random {
    pub fn new(seed: u64) -> Random {
        let mut random = Random(seed ^ 0x9e37_79b9_7f4a_7c15);
        random.word();
        random
    }

    pub fn word(&mut self) -> u32 {
        let mut half = || {
            self.0 = self
                .0
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            (self.0 >> 48) as u32
        };
        half() << 16 | half()
    }

    pub fn below(&mut self, limit: u32) -> u32 {
        self.word() % limit.max(1)
    }

    /// True once in `n` times.
    pub fn one_in(&mut self, n: u32) -> bool {
        self.below(n) == 0
    }

    pub fn pick<T: Copy>(&mut self, list: &[T]) -> T {
        list[self.below(list.len() as u32) as usize]
    }
}
