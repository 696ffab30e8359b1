//! Sixteen pixels at once into tiles: blended, masked, combined, dithered.
//!
//! PRM: volume 4 5.10.6 (render target write), volume 2, windower (pixel pipeline order). What one pixel becomes is decided by
//! [`Plan`]; here it is made of all pixels of a block, in vectors. Not modelled here: linear surfaces, several samples of a pixel, fields wider than 16 bits that are no floats, and pixels at the edge of the surface; `pixel` has them.

mod codes;
mod mixed;
pub mod place;

use mem::Memory;

use super::{PixelBlock, Plan, Planes, clamp_planes, writable};
use crate::intel::cc::blend::{Colours, Equation, blend};
use crate::intel::cc::logic::LogicOp;
use crate::intel::cc::state::CcState;
use crate::intel::cc::{dither, pixel_position};
use crate::intel::surface::{Class, Surface, SurfaceKind};
use codes::{Channel, Words};
pub use mixed::Mixed;
use place::Found;
pub use place::Places;

/// The colours of sixteen pixels by channel.
type Floats = [[f32; 16]; 4];

/// What becomes of the pixels of a target under a state: found out once for many.
#[derive(Clone, Copy, Debug)]
pub struct Way {
    channels: [Channel; 4],
    bytes: u32,
    /// Each pixel has a place of its own, and a dword.
    apart: bool,
    /// Equations of colour and alpha.
    blend: Option<[Equation; 2]>,
    /// Lower and upper bound of the clamp before blending.
    pre: Option<(f32, f32)>,
    /// The same after it.
    post: Option<(f32, f32)>,
    constant: [f32; 4],
    dither: Option<(u32, u32)>,
    logic: Option<LogicOp>,
    /// Bits of an element that are written, where some are not.
    keep: Option<[u32; 4]>,
}

impl Way {
    /// The way of a target's pixels; `None` when they go one by one.
    pub fn new(cc: &CcState, target: &Surface) -> Option<Way> {
        let format = target.format;
        let geometry = &target.geometry;
        let plain = target.kind == SurfaceKind::TwoD
            && target.samples == 1
            && writable(target)
            && place::applies(geometry);
        if !plain {
            return None;
        }
        let channels = codes::channels(format)?;
        let plan = Plan::new(cc, target, 0);
        // Packing clamps what becomes a UNORM, to less than any range has; a NaN is zero both ways.
        let packs = channels.iter().all(Channel::is_normalised);
        // Integers are what they are.
        let clamps = !packs && format.class == Class::Float;
        let words = |bits: u128| [0, 32, 64, 96].map(|at| (bits >> at) as u32);
        Some(Way {
            channels,
            bytes: geometry.bytes,
            apart: geometry.bytes == 4 && apart(target),
            blend: cc
                .blend
                .filter(|_| plan.blend)
                .map(|colour| [colour, cc.blend_alpha]),
            pre: plan.pre.filter(|_| plan.blend || clamps),
            post: plan.post.filter(|_| clamps),
            constant: plan.constant,
            dither: plan.dither,
            logic: plan.logic,
            keep: plan.keep.map(words),
        })
    }

    /// Whether the target is read.
    #[inline]
    fn reads(&self) -> bool {
        self.blend.is_some() || self.logic.is_some() || self.keep.is_some()
    }

    /// Writes the pixels of a block to slice `slice` of the target, of which all lie inside then; `None`, with nothing done, when
    /// they go one by one.
    #[inline]
    pub fn write(
        &self,
        mem: &mut Memory,
        target: &Surface,
        slice: u32,
        block: &PixelBlock<'_>,
    ) -> Option<u16> {
        let places = Places::new(target, slice, block.origins, block.mask)?;
        self.write_at(mem, &places, block)
    }

    /// The same where the places of the pixels are known.
    #[inline]
    pub fn write_at(
        &self,
        mem: &mut Memory,
        places: &Places,
        block: &PixelBlock<'_>,
    ) -> Option<u16> {
        let wide = jit::wide(
            #[inline(always)]
            || match self.bytes {
                1 => self.run::<true, 1, 2>(mem, places, block),
                2 => self.run::<true, 1, 4>(mem, places, block),
                4 => self.run::<true, 1, 8>(mem, places, block),
                8 => self.run::<true, 2, 16>(mem, places, block),
                16 => self.run::<true, 4, 32>(mem, places, block),
                _ => None,
            },
        );
        wide.unwrap_or_else(|| match self.bytes {
            1 => self.run::<false, 1, 2>(mem, places, block),
            2 => self.run::<false, 1, 4>(mem, places, block),
            4 => self.run::<false, 1, 8>(mem, places, block),
            8 => self.run::<false, 2, 16>(mem, places, block),
            16 => self.run::<false, 4, 32>(mem, places, block),
            _ => None,
        })
    }

    /// What the pixels of a block become, before they are written: for elements of a dword each that lie in places of their own.
    #[inline]
    pub fn dwords(
        &self,
        mem: &Memory,
        places: &Places,
        block: &PixelBlock<'_>,
    ) -> Option<[u32; 16]> {
        if !self.apart {
            return None;
        }
        let wide = jit::wide(
            #[inline(always)]
            || self.made::<true, 1, 8>(mem, places, block),
        );
        let made = wide.unwrap_or_else(|| self.made::<false, 1, 8>(mem, places, block));
        made.map(|(_, [dwords])| dwords)
    }

    /// The same for elements of so many dwords, of which two have so many bytes.
    #[inline(always)]
    fn run<const FUSED: bool, const WORDS: usize, const PAIR: usize>(
        &self,
        mem: &mut Memory,
        places: &Places,
        block: &PixelBlock<'_>,
    ) -> Option<u16> {
        let (found, new) = self.made::<FUSED, WORDS, PAIR>(mem, places, block)?;
        found.store::<WORDS, PAIR>(mem, block.mask, &new);
        Some(block.mask)
    }

    /// The elements that the pixels become, and where these are.
    #[inline(always)]
    fn made<const FUSED: bool, const WORDS: usize, const PAIR: usize>(
        &self,
        mem: &Memory,
        places: &Places,
        block: &PixelBlock<'_>,
    ) -> Option<(Found, Words<WORDS>)> {
        let mask = block.mask;
        let found = places.find(mem, mask)?;
        let mut old = [[0; 16]; WORDS];
        if self.reads() {
            if found.overlap(mask) {
                return None;
            }
            found.load::<WORDS, PAIR>(mem, mask, &mut old);
        }
        let mut new = self.colours::<FUSED, WORDS>(block, &old);
        if let Some(op) = self.logic {
            combine(op, &mut new, &old);
        }
        if let Some(keep) = self.keep {
            for ((new, old), written) in new.iter_mut().zip(&old).zip(keep) {
                for i in 0..16 {
                    new[i] = new[i] & written | old[i] & !written;
                }
            }
        }
        Some((found, new))
    }

    /// The elements of the colours, after blending and dither.
    #[inline(always)]
    fn colours<const FUSED: bool, const WORDS: usize>(
        &self,
        block: &PixelBlock<'_>,
        old: &Words<WORDS>,
    ) -> Words<WORDS> {
        let mut colour = floats(block.colour);
        if let Some(range) = self.pre {
            clamp_planes(&mut colour, range);
        }
        if let Some([equation, alpha]) = self.blend {
            let mut source1 = colour;
            if let Some(second) = block.source1 {
                source1 = floats(second);
                if let Some(range) = self.pre {
                    clamp_planes(&mut source1, range);
                }
            }
            let mut destination = [[0.0; 16]; 4];
            for (plane, channel) in destination.iter_mut().zip(&self.channels) {
                channel.decode::<FUSED, WORDS>(old, plane);
            }
            let colours = Colours {
                source: colour,
                source1,
                destination,
                constant: self.constant,
            };
            colour = blend(equation, alpha, &colours);
        }
        if let Some(range) = self.post {
            clamp_planes(&mut colour, range);
        }
        if let Some(offset) = self.dither {
            self.dither(&mut colour, block, offset);
        }
        let mut new = [[0; 16]; WORDS];
        for (plane, channel) in colour.iter().zip(&self.channels) {
            channel.encode::<FUSED, WORDS>(plane, &mut new);
        }
        new
    }

    #[inline(always)]
    fn dither(&self, colour: &mut Floats, block: &PixelBlock<'_>, offset: (u32, u32)) {
        let mut values = [0; 16];
        for (i, value) in values.iter_mut().enumerate() {
            let (x, y) = pixel_position(block.origins, i);
            *value = dither::value(x, y, offset);
        }
        for (plane, channel) in colour.iter_mut().zip(&self.channels) {
            let bits = channel.bits();
            if bits > 0 && bits < dither::WIDTH_LIMIT {
                for i in 0..16 {
                    plane[i] = dither::apply(plane[i], bits, values[i]);
                }
            }
        }
    }
}

/// Whether no pixel of a slice lies in the place of another, as far as addresses tell.
fn apart(target: &Surface) -> bool {
    let geometry = &target.geometry;
    let (left, _) = geometry.origin(0, target.render_lod);
    let columns = u64::from(left) + u64::from(target.level_width(target.render_lod));
    columns * u64::from(geometry.bytes) <= u64::from(geometry.pitch)
}

#[inline(always)]
fn floats(planes: &Planes) -> Floats {
    let mut out = [[0.0; 16]; 4];
    for (out, plane) in out.iter_mut().zip(planes) {
        for i in 0..16 {
            out[i] = f32::from_bits(plane[i]);
        }
    }
    out
}

/// A logic op of all bits, by its truth table.
#[inline(always)]
fn combine<const WORDS: usize>(op: LogicOp, new: &mut Words<WORDS>, old: &Words<WORDS>) {
    let case = |s: u128, d: u128| 0u32.wrapping_sub((op.apply(s, d) & 1) as u32);
    let [neither, second, first, both] = [case(0, 0), case(0, 1), case(1, 0), case(1, 1)];
    for (new, old) in new.iter_mut().zip(old) {
        for i in 0..16 {
            let (s, d) = (new[i], old[i]);
            new[i] = !s & !d & neither | !s & d & second | s & !d & first | s & d & both;
        }
    }
}

#[cfg(test)]
mod tests;
