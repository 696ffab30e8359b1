//! Truncated sums and products at the places where they are not the plain ones.

use crate::agree;
use crate::kernels::{self, Kernel, pick};
use eu::{KernelCache, NoObserver, RunStats, Stop, Thread, ThreadInit};
use fastrand::Rng;
use isa::Verx10;
use std::fmt::Write as _;

const THREADS: usize = 20_000;
/// Registers of each source.
const SOURCES: u8 = 8;

/// A float whose last places or exponent are special.
fn float(rng: &mut Rng) -> u32 {
    let exponent = match rng.u32(..5) {
        0 => rng.u32(..256),
        // Around one, where results of two such are in the middle.
        1 => 127 + rng.u32(..40),
        2 => 127 - rng.u32(..70),
        // Around the places where the way of computing changes.
        3 => pick(rng, &[25, 26, 54, 55, 56, 63, 64, 76, 77]),
        _ => 250 + rng.u32(..5),
    };
    let mantissa = match rng.u32(..5) {
        0 => 0,
        1 => 0x7f_ffff,
        2 => 1 << rng.u32(..23),
        3 => 0x7f_ffff ^ 1 << rng.u32(..23),
        _ => rng.u32(..0x80_0000),
    };
    rng.u32(..2) << 31 | exponent << 23 | mantissa
}

#[test]
fn sums_and_products_are_truncated_as_the_interpreter_does() {
    let set = Verx10::from_times_ten(40);
    let mut text = String::new();
    for n in 0..SOURCES {
        let (a, b, sum, product) = (2 + n, 10 + n, 20 + n, 30 + n);
        let _ = write!(
            text,
            "add(8) g{sum}<1>F g{a}<8,8,1>F g{b}<8,8,1>F {{ align1 }};\n\
             mul(8) g{product}<1>F g{a}<8,8,1>F -g{b}<8,8,1>F {{ align1 }};\n"
        );
    }
    let assembled = isa::parse::assemble(set, "truncated", &text).unwrap();
    let words = assembled.insts();
    let words = words.map(|inst| isa::encode(set, inst).unwrap());
    let mut port = Kernel(words.chain([kernels::end(set)]).collect());
    let seed = agree::number("CRESTLINE_SEED").unwrap_or(0x7a0c);
    println!("seed {seed}");
    for (name, compiler) in agree::compilers() {
        let mut rng = Rng::with_seed(seed);
        let mut plain = KernelCache::new(set).unwrap();
        let mut cache = KernelCache::new(set).unwrap();
        cache.set_compiler(Some(compiler), false);
        let mut thread = Thread::of(cache.instructions());
        let mut compiled = 0;
        for _ in 0..THREADS {
            thread.dispatch(&ThreadInit {
                dispatch_mask: 0xffff,
                ..ThreadInit::default()
            });
            for register in thread.load(18).iter_mut().skip(2) {
                *register = std::array::from_fn(|_| float(&mut rng));
            }
            // Sums that cancel, or nearly so.
            for n in 0..SOURCES {
                let a = thread.grf()[2 + usize::from(n)];
                let b = &mut thread.grf_mut()[10 + usize::from(n)];
                for (a, b) in a.into_iter().zip(b) {
                    match rng.u32(..8) {
                        0 => *b = a ^ 0x8000_0000,
                        1 => *b = (a ^ 0x8000_0000).wrapping_add(rng.u32(..5)),
                        _ => {}
                    }
                }
            }
            let mut other = thread.clone();
            let (mut left, mut stats) = (1000, RunStats::default());
            let _: Stop<u32> = thread.run(
                &mut cache,
                &mut port,
                &mut NoObserver,
                &mut left,
                &mut stats,
            );
            compiled += stats.compiled;
            let (mut left, mut stats) = (1000, RunStats::default());
            let _: Stop<u32> = other.run(
                &mut plain,
                &mut port,
                &mut NoObserver,
                &mut left,
                &mut stats,
            );
            for n in 0..SOURCES {
                for (what, first) in [("sum", 20), ("product", 30)] {
                    let of = |t: &Thread, nr: u8| t.grf()[usize::from(nr + n)];
                    let (a, b) = (of(&other, 2), of(&other, 10));
                    for lane in 0..8 {
                        let (is, was) = (of(&thread, first)[lane], of(&other, first)[lane]);
                        let (a, b) = (a[lane], b[lane]);
                        assert_eq!(
                            is, was,
                            "{name}: {what} of {a:#x} and {b:#x}: {is:#x} {was:#x}"
                        );
                    }
                }
            }
        }
        assert!(compiled > THREADS as u64 * u64::from(SOURCES), "{name}");
    }
}
