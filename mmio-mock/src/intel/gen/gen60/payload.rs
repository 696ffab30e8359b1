//! First registers of threads on Sandy Bridge: weights instead of setup planes.
//!
//! Mesa 22.3.6 brw_fs_thread_payload.cpp `setup_fs_payload_gfx6` (order of the registers), brw_fs_generator.cpp `generate_linterp`
//! (weights of eight pixels in a register, those of the second vertex before those of the third), brw_fs.cpp
//! `emit_frontfacing_interpolation` (r0.0, bit 15), `fetch_render_target_array_index` (r0.0, bits 26:16),
//! `emit_sampleid_setup` (r0.0, bits 7:6: the first sample of the thread, in pairs), `emit_samplepos_setup` (offsets: bytes in
//! sixteenths of a pixel, x and y of each slot); gfx6_gs_visitor.cpp (r0.1 and r1 of GS threads).

use eu::Grf;

use crate::intel::ff::payload::interpolation::Weights;
use crate::intel::ff::payload::pixels::{
    Location, Payload, PayloadState, PixelGroup, PixelWeights, Subspan,
};
use crate::intel::ff::payload::{ObjectHeader, PayloadLayout, SetupHeader, StreamIndices};
use crate::intel::ff::state::UnitConfig;
use crate::intel::r#gen::gen40::payload::Layout as Gen40;
use crate::intel::urb::UrbHandle;

/// The layout of these devices.
#[derive(Debug)]
pub struct Layout;

/// Locations in the order of Barycentric Interpolation Mode, which has them for weights with regard to w, then for those without.
const LOCATIONS: [Location; 3] = [Location::Pixel, Location::Centroid, Location::Sample];

/// Pixels of a register.
const PAIR: usize = 8;

/// Subspans of a half: 16 pixels.
const HALF: usize = 4;

impl PayloadLayout for Layout {
    fn vertices(
        &self,
        unit: &UnitConfig,
        first: UrbHandle,
        second: Option<UrbHandle>,
        debug: [u32; 2],
    ) -> Grf {
        Gen40.vertices(unit, first, second, debug)
    }

    fn object(
        &self,
        unit: &UnitConfig,
        entry: UrbHandle,
        object: &ObjectHeader,
        debug: [u32; 2],
    ) -> Grf {
        let mut r0 = Gen40.object(unit, entry, object, debug);
        // Threads ask for their first entry by FF_SYNC.
        r0[0] = 0;
        r0[1] = object.number;
        r0
    }

    fn stream(&self, indices: &StreamIndices) -> Option<Grf> {
        let [a, b, c, d] = indices.index;
        let [e, f, g, h] = indices.maximum;
        Some([a, b, c, d, e, f, g, h])
    }

    fn setup(
        &self,
        unit: &UnitConfig,
        entry: UrbHandle,
        setup: &SetupHeader,
        debug: [u32; 2],
    ) -> [Grf; 3] {
        // No unit of these devices starts such threads.
        Gen40.setup(unit, entry, setup, debug)
    }

    fn pixels(&self, payload: &mut Payload<'_>, state: &PayloadState<'_>, group: &PixelGroup) {
        let subspans = group.subspans();
        let first = subspans.first().and_then(|s| s.sample).unwrap_or(0);
        payload.push(header(state, first));
        let halves = usize::from(state.width).div_ceil(16);
        let half = |n: usize| {
            let start = (n * HALF).min(subspans.len());
            &subspans[start..(start + HALF).min(subspans.len())]
        };
        for n in 0..halves {
            payload.push(places(half(n)));
        }
        let Some(weights) = state.weights else {
            return;
        };
        let registers = usize::from(state.width).min(16) / 8;
        for n in 0..halves {
            jit::vectors(
                #[inline(always)]
                || planes(payload, weights, half(n), registers),
            );
            part(payload, state, weights, half(n), registers);
        }
    }

    fn whole(
        &self,
        registers: &mut [Grf],
        state: &PayloadState<'_>,
        origins: &[(u16, u16); 4],
    ) -> usize {
        let mut payload = Payload::into(registers);
        let more = |weights: &&PixelWeights| {
            let others = weights.w
                || weights.offsets.is_some()
                || weights.coverage
                || state.parts.source_depth;
            weights.one_location() && !others
        };
        let Some(weights) = state.weights.filter(more) else {
            self.pixels(&mut payload, state, &PixelGroup::whole(origins));
            return payload.count();
        };
        payload.push(header(state, 0));
        let mut places = [0; 8];
        for (to, (x, y)) in places[2..].iter_mut().zip(origins) {
            *to = u32::from(*y) << 16 | u32::from(*x);
        }
        places[7] = 0xffff;
        payload.push(places);
        jit::vectors(
            #[inline(always)]
            || whole_planes(&mut payload, weights, origins),
        );
        payload.count()
    }
}

/// r0 of a thread, `first` being the first sample that it is for.
fn header(state: &PayloadState<'_>, first: u8) -> Grf {
    [
        u32::from(state.topology & 31)
            | u32::from(first / 2) << 6
            | u32::from(state.back_facing) << 15
            | u32::from(state.render_target_array_index & 0x7ff) << 16
            | u32::from(state.viewport_index & 15) << 27,
        state.color_calc_state & !63,
        0,
        (state.sampler_state & !31) | (state.scratch_space & 15),
        state.binding_table & !31,
        (state.scratch_base & !1023) | u32::from(state.fftid),
        state.debug[0],
        state.debug[1],
    ]
}

/// The weights of sixteen lit pixels that have one location each, in the order of their modes.
#[inline(always)]
fn whole_planes(payload: &mut Payload<'_>, weights: &PixelWeights, origins: &[(u16, u16); 4]) {
    let mut points = [[[0.0; PAIR]; 2]; 2];
    let (pairs, _) = origins.as_chunks::<2>();
    for ([x, y], pair) in points.iter_mut().zip(pairs) {
        let (columns, _) = x.as_chunks_mut::<4>();
        let (rows, _) = y.as_chunks_mut::<4>();
        for ((x, y), at) in columns.iter_mut().zip(rows).zip(pair) {
            (*x, *y) = weights.corners(*at);
        }
    }
    for mode in (0..6).filter(|mode| weights.modes >> mode & 1 != 0) {
        for points in &points {
            let chosen = if mode < 3 {
                weights.planes.perspective(points)
            } else {
                weights.planes.linear(points)
            };
            for weight in &chosen {
                payload.push(weight.map(f32::to_bits));
            }
        }
    }
}

/// Subspans and lit pixels of a half.
fn places(subspans: &[Subspan]) -> Grf {
    let mut register = [0; 8];
    for (i, s) in subspans.iter().enumerate() {
        register[2 + i] = u32::from(s.y) << 16 | u32::from(s.x);
        register[7] |= u32::from(s.mask & 15) << (i * 4);
    }
    register
}

/// Registers of a value of each pixel.
fn push_values(
    payload: &mut Payload<'_>,
    subspans: &[Subspan],
    registers: usize,
    value: impl Fn(&Subspan, usize) -> f32,
) {
    for n in 0..registers {
        payload.push(eight(subspans, n, &value));
    }
}

/// A value of the eight pixels of two subspans.
fn eight(subspans: &[Subspan], pair: usize, value: &impl Fn(&Subspan, usize) -> f32) -> Grf {
    let mut register = [0; 8];
    let places = register.chunks_exact_mut(4);
    for (to, s) in places.zip(subspans.iter().skip(pair * 2)) {
        for (pixel, to) in to.iter_mut().enumerate() {
            *to = value(s, pixel).to_bits();
        }
    }
    register
}

/// The weights of a half of the pixels, in the order of their modes.
#[inline(always)]
fn planes(
    payload: &mut Payload<'_>,
    weights: &PixelWeights,
    subspans: &[Subspan],
    registers: usize,
) {
    let one_location = weights.one_location();
    let (first, second) = subspans.split_at(subspans.len().min(2));
    let pairs = [first, second];
    let mut points = [[[0.0; PAIR]; 2]; 2];
    for mode in (0..6).filter(|mode| weights.modes >> mode & 1 != 0) {
        // Where each pixel has one location, all modes share the points: those of the first of them.
        if !one_location || weights.modes & ((1 << mode) - 1) == 0 {
            for (points, pair) in points.iter_mut().zip(pairs).take(registers) {
                // PANIC: a remainder of three.
                weights.points(pair, LOCATIONS[mode % 3], points);
            }
        }
        for (points, pair) in points.iter().zip(pairs).take(registers) {
            let chosen = if mode < 3 {
                weights.planes.perspective(points)
            } else {
                weights.planes.linear(points)
            };
            for weight in &chosen {
                let mut register = [0; PAIR];
                for (to, weight) in register.iter_mut().zip(weight) {
                    *to = weight.to_bits();
                }
                // A subspan that is not there has zeros.
                if let Some(rest) = register.get_mut(pair.len() * 4..) {
                    rest.fill(0);
                }
                payload.push(register);
            }
        }
    }
}

/// What a half of the pixels has behind the weights.
fn part(
    payload: &mut Payload<'_>,
    state: &PayloadState<'_>,
    weights: &PixelWeights,
    subspans: &[Subspan],
    registers: usize,
) {
    let at = |s: &Subspan, pixel: usize, location| -> Weights {
        let [x, y] = weights.point(s, pixel, location);
        weights.planes.weights(x, y)
    };
    if state.parts.source_depth {
        push_values(payload, subspans, registers, |s, pixel| {
            // PANIC: a subspan has four pixels.
            match weights.depth_location {
                Location::Pixel => s.depth[pixel],
                location => {
                    let [x, y] = weights.point(s, pixel, location);
                    // CAST: the one rounding.
                    weights.planes.depth.at(x, y) as f32
                }
            }
        });
    }
    if weights.w {
        push_values(payload, subspans, registers, |s, pixel| {
            at(s, pixel, weights.depth_location).w
        });
    }
    if let Some(location) = weights.offsets {
        let mut register = [0; 8];
        for (i, s) in subspans.iter().enumerate() {
            for pixel in 0..4 {
                let [x, y] = weights.place(s, pixel, location);
                // CAST: sixteenths of a pixel.
                let bytes = [x, y].map(|v| (v * 16.0) as u32 & 0xff);
                let slot = i * 4 + pixel;
                register[slot / 2] |= (bytes[0] | bytes[1] << 8) << (slot % 2 * 16);
            }
        }
        payload.push(register);
    }
    if weights.coverage {
        for n in 0..registers {
            let mut register = [0; 8];
            let places = register.chunks_exact_mut(4);
            for (to, s) in places.zip(subspans.iter().skip(n * 2)) {
                for (pixel, to) in to.iter_mut().enumerate() {
                    *to = s.lit_samples(pixel);
                }
            }
            payload.push(register);
        }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests;
