//! Random words through the validator: no panic, whatever they decode to.
//!
//! PRM: volume 4, chapters 10-14. `ISA_RANDOM_WORDS` sets how many that decode a generation gets; what
//! is found is not judged.

use fastrand::Rng;
use isa::validate::{Part, Placed, validate_kernel_at, validate_on};
use isa::{Inst, Verx10, decode};

#[test]
fn random_words_do_not_panic() {
    let count: u64 = std::env::var("ISA_RANDOM_WORDS").map_or(20_000, |n| n.parse().unwrap());
    for version in [40, 45, 50, 60, 70, 75, 80, 90] {
        let generation = Verx10::from_times_ten(version);
        let mut random = Rng::with_seed(u64::from(version));
        let (mut decoded, mut found) = (0_u64, 0_u64);
        let mut kernel: Vec<Inst> = Vec::new();
        // One in fifty decodes.
        for _ in 0..count.saturating_mul(500) {
            if decoded == count {
                break;
            }
            let Ok(inst) = decode(generation, [0; 4].map(|_: u32| random.u32(..))) else {
                continue;
            };
            decoded += 1;
            for violation in validate_on(Part::low_power(generation), &inst) {
                found += 1;
                if found.is_multiple_of(1000) {
                    assert!(violation.to_string().starts_with(violation.rule.name));
                }
            }
            kernel.push(inst);
            if kernel.len() == 256 {
                // Offsets as compaction leaves them: every other instruction takes half the room.
                let placed = kernel.iter().enumerate().map(|(index, inst)| Placed {
                    offset: (index / 2 * 24 + index % 2 * 16) as u32,
                    inst,
                });
                found += validate_kernel_at(generation, &placed.collect::<Vec<_>>()).len() as u64;
                kernel.clear();
            }
        }
        println!("{version}: {decoded} instructions, {found} violations");
        assert!(decoded == count && found > count);
    }
}
