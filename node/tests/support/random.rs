//! Numbers that are the same each time.
//!
//! No PRM chapter. xorshift64* (Vigna, "An experimental exploration of Marsaglia's xorshift generators, scrambled").

/// The generator; the seed is not zero.
pub struct Random(u64);

impl Random {
    /// With the seed of CRESTLINE_FUZZ_SEED, or `seed`; it is printed.
    pub fn new(seed: u64) -> Self {
        let given = std::env::var("CRESTLINE_FUZZ_SEED").map(|text| text.parse().unwrap());
        // Generators of one run differ: their own seeds are part of it.
        let seed = given
            .map_or(seed, |given: u64| given ^ seed.rotate_left(32))
            .max(1);
        println!("seed {seed}");
        Random(seed)
    }

    /// 32 bits.
    pub fn next(&mut self) -> u32 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        (self.0.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 32) as u32
    }

    /// A number below a limit.
    pub fn below(&mut self, limit: usize) -> usize {
        self.next() as usize % limit
    }
}
