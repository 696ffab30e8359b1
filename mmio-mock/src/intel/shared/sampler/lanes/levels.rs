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
            // Of a number and a NaN it is the number.
            e.select_f(e.same(lower, lower), e.max_f(right, lower), right)
        },
    );
    let mut longest = [0.0; 4];
    for (to, square) in longest.as_chunks_mut::<2>().0.iter_mut().zip(squares) {
        *to = e.firsts(square);
    }
    let mut logarithms = num::elementary::log2_singles(longest);
    for logarithm in &mut logarithms {
        *logarithm *= 0.5;
    }
    let mut lods = [e.all_f(0.0); H];
    for (to, logarithms) in lods.iter_mut().zip(logarithms.as_chunks::<2>().0) {
        *to = e.fours(*logarithms);
    }
    lods
}
