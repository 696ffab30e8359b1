//! Numbers that are the same each time.

/// The generator.
pub struct Random(fastrand::Rng);

impl Random {
    /// With the seed of CRESTLINE_FUZZ_SEED, or `seed`; it is printed.
    pub fn new(seed: u64) -> Self {
        let given = std::env::var("CRESTLINE_FUZZ_SEED").map(|text| text.parse().unwrap());
        // Generators of one run differ: their own seeds are part of it.
        let seed = given.map_or(seed, |given: u64| given ^ seed.rotate_left(32));
        println!("seed {seed}");
        Random(fastrand::Rng::with_seed(seed))
    }

    /// 32 bits.
    pub fn next(&mut self) -> u32 {
        self.0.u32(..)
    }

    /// A number below a limit.
    pub fn below(&mut self, limit: usize) -> usize {
        self.0.usize(..limit)
    }
}
