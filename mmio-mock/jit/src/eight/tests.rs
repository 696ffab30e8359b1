//! Both kinds of hosts beside one another, and quotients by constants.

use super::*;

/// One operation after another on words that are edge cases as floats or integers, or random.
struct All<'a> {
    a: [u32; 8],
    b: [u32; 8],
    c: [u32; 8],
    dwords: &'a [[u8; 4]],
    table: &'a [f32; 256],
}

impl Loops for All<'_> {
    type Out = Vec<[u32; 8]>;

    #[inline(always)]
    fn run<E: Eight>(self, e: E) -> Self::Out {
        let [a, b, c] = [&self.a, &self.b, &self.c].map(|words| e.load(words));
        let [x, y] = [a, b].map(|words| e.float(words));
        let by = self.c[0] % 40;
        let whole = [
            e.whole(x),
            e.add(a, b),
            e.sub(a, b),
            e.mul(a, b),
            e.and(a, b),
            e.and_not(a, b),
            e.or(a, b),
            e.xor(a, b),
            e.shl(a, by),
            e.shr(a, by),
            e.shr_each(a, b),
            e.shr_each(a, e.and(b, e.all(31))),
            e.min(a, b),
            e.max(a, b),
            e.more(a, b),
            e.equal(a, b),
            e.equal(a, a),
            e.select(c, a, b),
            e.pick(a, b),
            e.gather(Dwords::new(self.dwords), a),
            e.gather(Dwords::new(self.dwords), e.and(a, e.all(15))),
            e.gather(Dwords::new(&[]), a),
            e.less(x, y),
            e.at_most(x, y),
            e.at_most(x, x),
            e.same(x, y),
            e.same(x, x),
            e.all(u32::from(e.mask(a))),
        ];
        let floats = [
            e.add_f(x, y),
            e.sub_f(x, y),
            e.mul_f(x, y),
            e.div_f(x, y),
            e.number(a),
            e.look_up(self.table, a),
        ];
        // These choose one of their arguments, NaNs with all of their bits.
        let chosen = [
            e.min_f(x, y),
            e.max_f(x, y),
            e.all_f(0.5),
            e.of_four::<0>(x),
            e.of_four::<1>(x),
            e.of_four::<2>(x),
            e.of_four::<3>(x),
            e.select_f(c, x, y),
            e.fours(e.firsts(x)),
        ];
        // Which NaN it is differs from host to host.
        let some = |value: f32| if value.is_nan() { f32::NAN } else { value };
        let floats = floats.map(|v| {
            e.array(e.bits(v))
                .map(|v| some(f32::from_bits(v)).to_bits())
        });
        let rest = whole.into_iter().chain(chosen.map(|v| e.bits(v)));
        let mut out: Vec<_> = rest.map(|v| e.array(v)).chain(floats).collect();
        let [p, q] = [0, 4].map(|from| {
            let four = std::array::from_fn(|n| f32::from_bits(self.a[from + n]));
            e.doubles(four)
        });
        let doubles = [
            e.add_d(p, q),
            e.sub_d(p, q),
            e.mul_d(p, q),
            e.div_d(p, q),
            e.all_d(0.1),
            e.add_d(e.add_bits(p, 0x10_0000_0001), q),
            e.sub_bits(p, e.and_bits(p, 0x8000_0fff_0000_0000)),
            e.sub_d(
                e.exponent_bits(p, 0x4330 << 48),
                e.all_d(4_503_599_627_370_496.0),
            ),
        ];
        for four in doubles.map(|four| e.singles(four)) {
            let [a, b, c, d] = four.map(|v| some(v).to_bits());
            out.push([a, b, c, d, 0, 0, 0, 0]);
        }
        out
    }
}

const EDGES: [u32; 20] = [
    0,
    1,
    7,
    31,
    32,
    0x8000_0000,
    0x7fff_ffff,
    0xffff_ffff,
    0x3f80_0000,
    0xbf80_0000,
    0x3f00_0000,
    0x4f00_0000,
    0x4eff_ffff,
    0xcf00_0000,
    0xcf00_0001,
    0x7f80_0000,
    0xff80_0000,
    0x7fc0_0000,
    0x007f_ffff,
    0x7149_f2ca,
];

#[test]
fn vectors_give_what_single_numbers_give() {
    let seed = 3;
    let mut rng = fastrand::Rng::with_seed(seed);
    let dwords: [[u8; 4]; 13] = std::array::from_fn(|_| rng.u32(..).to_le_bytes());
    let table: [f32; 256] = std::array::from_fn(|n| n as f32 - 20.5);
    for case in 0..20_000 {
        let mut words = || -> [u32; 8] {
            std::array::from_fn(|_| match rng.u32(..4) {
                0 => EDGES[rng.usize(..EDGES.len())],
                1 => (rng.f32() * 400.0 - 200.0).to_bits(),
                2 => rng.u32(..64),
                _ => rng.u32(..),
            })
        };
        let (a, b, c) = (words(), words(), words());
        let of = || All {
            a,
            b,
            c,
            dwords: &dwords,
            table: &table,
        };
        let (vectors, alone) = (eight(of()), of().run(Plain));
        for (number, (vectors, alone)) in vectors.iter().zip(&alone).enumerate() {
            assert_eq!(
                vectors, alone,
                "seed {seed} case {case} operation {number}: {a:x?} {b:x?} {c:x?}"
            );
        }
    }
}

struct Quotients {
    first: u32,
    by: f32,
}

impl Loops for Quotients {
    type Out = [u32; 8];

    #[inline(always)]
    fn run<E: Eight>(self, e: E) -> [u32; 8] {
        let words: [u32; 8] = std::array::from_fn(|n| self.first.wrapping_add(n as u32));
        let a = e.float(e.load(&words));
        e.array(e.bits(e.quotient(a, (self.by, 1.0 / self.by))))
    }
}

fn check(first: u32, by: f32) {
    let words = eight(Quotients { first, by });
    for (n, word) in words.into_iter().enumerate() {
        let a = f32::from_bits(first + n as u32);
        assert_eq!(word, (a / by).to_bits(), "{a:e} by {by}");
    }
}

/// What blends of bytes can be: every float of one exponent by 255, and some of all others, of both signs.
#[test]
fn quotients_are_the_nearest_floats() {
    for first in (0x4300_0000..0x4380_0000).step_by(8) {
        check(first, 255.0);
    }
    let zeros = eight(Quotients {
        first: 0,
        by: 255.0,
    });
    assert_eq!(zeros[0], 0);
    let sampled = (0u32..0x80_0000).step_by(65_521);
    for by in (1..=24).map(|bits| ((1u32 << bits) - 1) as f32) {
        for sign in [0, 0x8000_0000u32] {
            // From 2^-107 to 2^127.
            for exponent in 20..254 {
                for mantissa in sampled.clone() {
                    check(sign | exponent << 23 | mantissa & !7, by);
                }
            }
        }
    }
}
