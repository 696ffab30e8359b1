//! Which levels eight pixels sample at once.
//!
//! PRM: volume 4, 4.2.1. Each function gives what its namesake of [`super::super::lod`] gives pixel by pixel.

use jit::eight::{Eight, each};

use super::place::floor;
use crate::intel::shared::sampler::lod::{LodControl, MipFilter};

/// The levels of pixels.
#[derive(Clone, Copy)]
pub(super) struct Chosen<E: Eight> {
    pub level: E::I,
    /// Weight of the level behind.
    pub beta: E::F,
    /// All ones where a pixel is magnified.
    pub mag: E::I,
}

/// Applies bounds, crossover and mip filter to LODs that have their bias.
#[inline(always)]
pub(super) fn levels<E: Eight>(e: E, control: &LodControl, lod: E::F) -> Chosen<E> {
    let (min, max) = control.range();
    let mut lod = lod;
    if control.preclamp {
        let (top, bottom) = (
            control.max + control.surface_min,
            control.min + control.surface_min,
        );
        lod = e.max_f(e.min_f(lod, e.all_f(top)), e.all_f(bottom));
    }
    let zero = e.all_f(0.0);
    let mag = e.at_most(e.sub_f(lod, e.all_f(control.base)), zero);
    let bounds = (e.all_f(min.floor()), e.all_f(max.ceil()));
    let finest = whole(e, zero, bounds);
    let (level, beta) = match control.filter {
        MipFilter::None => (finest, zero),
        MipFilter::Nearest => (whole(e, e.add_f(lod, e.all_f(0.5)), bounds), zero),
        MipFilter::Linear => {
            let lod = e.max_f(e.min_f(lod, e.all_f(max)), e.all_f(min));
            let level = floor(e, lod);
            (level, e.sub_f(lod, e.number(level)))
        }
    };
    Chosen {
        level: e.max(e.select(mag, finest, level), e.all(0)),
        beta: e.select_f(mag, zero, beta),
        mag,
    }
}

/// The whole level nearest below, within bounds.
#[inline(always)]
fn whole<E: Eight>(e: E, lod: E::F, (bottom, top): (E::F, E::F)) -> E::I {
    floor(e, e.max_f(e.min_f(lod, top), bottom))
}

/// The square of the way from one place to another, in texels.
#[inline(always)]
fn square<E: Eight>(e: E, from: [E::F; 2], to: [E::F; 2], size: [f32; 2]) -> E::F {
    let x = e.mul_f(e.sub_f(to[0], from[0]), e.all_f(size[0]));
    let y = e.mul_f(e.sub_f(to[1], from[1]), e.all_f(size[1]));
    e.add_f(e.mul_f(x, x), e.mul_f(y, y))
}

/// Logarithms of singles to base 2 as `num::elementary::log2_single` gives them, from those that would be right of normal numbers.
#[inline(always)]
fn log2<E: Eight>(e: E, of: E::F, normal: E::F) -> E::F {
    let zero = e.all_f(0.0);
    let finite = e.less(of, e.all_f(f32::INFINITY));
    let some = e.select_f(finite, normal, of);
    let some = e.select_f(e.same(of, zero), e.all_f(f32::NEG_INFINITY), some);
    e.select_f(e.at_most(zero, of), some, e.all_f(f32::NAN))
}

/// Logarithms to base 2 of numbers that are positive, finite and no denormals.
#[inline(always)]
fn log2_normal<E: Eight>(e: E, of: E::D) -> E::D {
    // The fraction lies between the roots of one half and of two, where the logarithm crosses zero.
    const ROOT: u64 = 0x3fe6_a09e_667f_3bcd;
    const EXPONENT: u64 = 0xfff << 52;
    const BIAS: u64 = 1023;
    // A double of this exponent counts ones.
    const COUNTS: u64 = 0x433 << 52;
    let above = e.add_bits(of, ROOT.wrapping_neg());
    let fraction = e.sub_bits(of, e.and_bits(above, EXPONENT));
    // What is shifted is not negative with the bias.
    let exponent = e.exponent_bits(e.add_bits(above, BIAS << 52), COUNTS);
    let exponent = e.sub_d(exponent, e.all_d(f64::from_bits(COUNTS | BIAS)));
    let one = e.all_d(1.0);
    let s = e.div_d(e.sub_d(fraction, one), e.add_d(fraction, one));
    let z = e.mul_d(s, s);
    let mut series = e.all_d(0.0);
    for coefficient in num::elementary::LOG2_SINGLE {
        series = e.add_d(e.mul_d(series, z), e.all_d(coefficient));
    }
    let natural = e.mul_d(e.mul_d(e.all_d(2.0), s), series);
    let scaled = e.mul_d(natural, e.all_d(std::f64::consts::LOG2_E));
    e.add_d(scaled, exponent)
}

/// The larger one of the squares along x and along y.
#[inline(always)]
pub(super) fn longer<E: Eight>(e: E, x: E::F, y: E::F) -> E::F {
    // Of a number and a NaN it is the number.
    e.select_f(e.same(y, y), e.max_f(x, y), x)
}

/// The LOD of each subspan, for all of its pixels: how far texels are apart from its first pixel to its right and its lower neighbour.
#[inline(always)]
pub(super) fn base_lods<E: Eight, const H: usize>(
    e: E,
    coords: &[[E::F; 2]; H],
    size: [f32; 2],
) -> [E::F; H] {
    let squares = each(
        coords,
        e.all_f(0.0),
        #[inline(always)]
        |[u, v]| {
            let first = [e.of_four::<0>(u), e.of_four::<0>(v)];
            let right = [e.of_four::<1>(u), e.of_four::<1>(v)];
            let lower = [e.of_four::<2>(u), e.of_four::<2>(v)];
            let right = square(e, first, right, size);
            let lower = square(e, first, lower, size);
            longer(e, right, lower)
        },
    );
    subspan_lods(e, &squares)
}

/// LODs by the squares of the longer gradients, which are the same for all pixels of a subspan.
#[inline(always)]
pub(super) fn subspan_lods<E: Eight, const H: usize>(e: E, squares: &[E::F; H]) -> [E::F; H] {
    let mut longest = [0.0; 4];
    for half in 0..H {
        [longest[half * 2], longest[half * 2 + 1]] = e.firsts(squares[half]);
    }
    let logarithms = e.singles(log2_normal(e, e.doubles(longest)));
    let mut lods = [e.all_f(0.0); H];
    for half in 0..H {
        // PANIC: there are two halves at most.
        let pair = [logarithms[half * 2], logarithms[half * 2 + 1]];
        let logarithm = log2(e, squares[half], e.fours(pair));
        lods[half] = e.mul_f(e.all_f(0.5), logarithm);
    }
    lods
}

/// LODs by the squares of the longer gradients of each pixel.
#[inline(always)]
pub(super) fn pixel_lods<E: Eight>(e: E, squares: E::F) -> E::F {
    let of = e.array(e.bits(squares));
    let mut normal = [0; 8];
    let mut n = 0;
    while n < 8 {
        // PANIC: fours of eight.
        let four = [of[n], of[n + 1], of[n + 2], of[n + 3]];
        let four = each(&four, 0.0, f32::from_bits);
        let logarithms = e.singles(log2_normal(e, e.doubles(four)));
        let mut i = 0;
        while i < 4 {
            normal[n + i] = logarithms[i].to_bits();
            i += 1;
        }
        n += 4;
    }
    let logarithm = log2(e, squares, e.float(e.load(&normal)));
    e.mul_f(e.all_f(0.5), logarithm)
}

#[cfg(test)]
mod tests {
    use super::*;
    use jit::eight::{Loops, Plain, eight};

    struct Logarithms([f32; 4]);

    impl Loops for Logarithms {
        type Out = [u32; 4];

        #[inline(always)]
        fn run<E: Eight>(self, e: E) -> [u32; 4] {
            let normal = e.singles(log2_normal(e, e.doubles(self.0)));
            let mut out = [0; 4];
            for n in [0, 2] {
                let [of, normal] = [self.0, normal].map(|four| e.fours([four[n], four[n + 1]]));
                let [first, second] = e.firsts(log2(e, of, normal)).map(f32::to_bits);
                (out[n], out[n + 1]) = (first, second);
            }
            out
        }
    }

    #[test]
    fn logarithms_are_those_of_single_pixels() {
        let mut seed = 1u32;
        let mut random = || {
            seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            f32::from_bits(seed)
        };
        let strange = [
            [0.0, -0.0, f32::INFINITY, f32::NEG_INFINITY],
            [f32::NAN, -1.0, 1.0, f32::from_bits(1)],
            [f32::MAX, f32::MIN_POSITIVE, 2.0, 0.5],
        ];
        let near = (0..2000u32).map(|n| {
            std::array::from_fn(|i| f32::from_bits(0x3f80_0000 - 4000 + 4 * n + i as u32))
        });
        let random = (0..300_000).map(|_| std::array::from_fn(|_| random()));
        for four in strange
            .into_iter()
            .chain(near)
            .chain(random.collect::<Vec<_>>())
        {
            let want = four.map(|x: f32| num::elementary::log2_single(x).to_bits());
            assert_eq!(eight(Logarithms(four)), want, "{four:?}");
            assert_eq!(Logarithms(four).run(Plain), want, "{four:?}");
        }
    }
}
