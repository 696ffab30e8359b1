//! Every generated accessor against the run-time descriptor of its field.
//! Where a field lies is the vectors' business, not this test's.

use super::{gen40, gen45, gen50, gen60, gen70};
use crate::desc::PackedField;
use alloc::vec::Vec;

/// Words that differ in every bit position over a few seeds.
fn words(seed: u32) -> Vec<u32> {
    let mut x = seed.wrapping_mul(0x9e37_79b9) | 1;
    // As many as the longest command has, and some more.
    (0..128)
        .map(|_| {
            x ^= x << 13;
            x ^= x >> 17;
            x ^= x << 5;
            x
        })
        .collect()
}

fn bits(f: &PackedField, dwords: &[u32]) -> Vec<bool> {
    let inside = |i: usize| i >= f.start as usize && i < (f.start + f.width) as usize;
    (0..dwords.len() * 32)
        .filter(|i| !inside(*i))
        .map(|i| dwords[i / 32] >> (i % 32) & 1 == 1)
        .collect()
}

/// A field's structure, all fields of that, its name, and a step that moves it.
type RoundTrip = (
    &'static str,
    &'static [PackedField],
    &'static str,
    fn(&[u32], &[u32], &mut [u32]),
);

/// Each generation's steps and how many fields it has.
fn generations() -> [(&'static [RoundTrip], usize); 5] {
    use crate::platform::{GEN40, GEN45, GEN50, GEN60, GEN70, Generation};
    let fields = |g: &Generation| {
        let structures: usize = g.structures.iter().map(|s| s.fields.len()).sum();
        let commands: usize = g.commands.iter().map(|c| c.fields.len()).sum();
        structures + commands
    };
    [
        (gen40::ROUND_TRIPS, fields(&GEN40)),
        (gen45::ROUND_TRIPS, fields(&GEN45)),
        (gen50::ROUND_TRIPS, fields(&GEN50)),
        (gen60::ROUND_TRIPS, fields(&GEN60)),
        (gen70::ROUND_TRIPS, fields(&GEN70)),
    ]
}

#[test]
fn setting_a_field_changes_it_and_nothing_else() {
    for seed in 1..9 {
        let (from, to) = (words(seed), words(seed + 100));
        for (owner, fields, name, step) in generations().iter().flat_map(|g| g.0) {
            let f = fields.iter().find(|f| f.name == *name);
            let Some(f) = f else {
                panic!("{owner}.{name} has no descriptor");
            };
            let mut out = to.clone();
            step(&from, &to, &mut out);
            assert_eq!(f.raw(&out), f.raw(&from), "{owner}.{name}");
            assert_eq!(
                bits(f, &out),
                bits(f, &to),
                "{owner}.{name} changed its surroundings"
            );
        }
    }
}

#[test]
fn every_field_has_a_round_trip() {
    for (steps, fields) in generations() {
        assert_eq!(steps.len(), fields);
    }
}

#[test]
fn headers_find_their_command() {
    for g in crate::platform::GENERATIONS {
        for c in g.commands {
            assert_eq!((g.command)(c.header).map(|d| d.id), Some(c.id));
        }
    }
}
