//! Pixel blocks into a render target: blend, logic op, dither, masked store.
//!
//! PRM: volume 4 5.10.6 (render target write), volume 2, windower (pixel pipeline order).
//! Not modelled: the render cache, and the hardware's blend precision.

pub mod lanes;

use super::blend::{Colours, blend};
use super::logic::LogicOp;
use super::state::{CcState, ClampRange};
use super::{Origins, pixel_position};
use super::{direct, dither};
use crate::UnitFault;
use crate::intel::surface::format::Codec;
use crate::intel::surface::format::channel::Kind;
use crate::intel::surface::format::codes;
use crate::intel::surface::{Capability, Class, Format, Surface, SurfaceKind};
use lanes::Way;
use mem::{Fault, GpuAddr, Memory};

/// Colours of 16 pixels as register bits: R, G, B, A planes, pixel 4 s + p for pixel p of
/// subspan s.
pub type Planes = [[u32; 16]; 4];

/// Pixels to write.
#[derive(Clone, Copy, Debug)]
pub struct PixelBlock<'a> {
    /// Upper-left pixels of the subspans.
    pub origins: &'a Origins,
    /// Pixels that are written: those that passed all tests.
    pub mask: u16,
    /// Source 0. Floats, or integers for integer targets.
    pub colour: &'a Planes,
    /// Source 1 of a dual-source message.
    pub source1: Option<&'a Planes>,
    /// Sample of the pixels, where they have several.
    pub sample: u32,
}

/// How pixels of one target are treated: decided once per block.
struct Plan<'a> {
    cc: &'a CcState,
    target: &'a Surface,
    blend: bool,
    logic: Option<LogicOp>,
    dither: Option<(u32, u32)>,
    /// Lower and upper bound of the clamp before blending.
    pre: Option<(f32, f32)>,
    /// Blend constant.
    constant: [f32; 4],
    /// Lower and upper bound of the clamp after blending.
    post: Option<(f32, f32)>,
    /// Bits of the element that are written; `None`: all.
    keep: Option<u128>,
    bytes: usize,
    sample: u32,
}

impl<'a> Plan<'a> {
    fn new(cc: &'a CcState, target: &'a Surface, sample: u32) -> Self {
        let format = target.format;
        let unorm = !format.is_block()
            && (0..4).all(|i| matches!(format.channel_kind(i), None | Some(Kind::Unorm)));
        let float = format.class == Class::Float;
        // PRM: blending and logic ops exclude each other; logic ops act on UNORM targets alone.
        let logic = cc.logic_op.filter(|_| unorm);
        let blend = cc.blend.is_some()
            && logic.is_none()
            && target.blend_enable
            && float
            && format.has(Capability::AlphaBlend);
        // The blender holds the colours of a UNORM target as such a target does, whatever the enables say: Mesa clears
        // both on this family, and G41 passes its tests of ARB_color_buffer_float with that.
        let normalised = (0..4).all(|i| {
            matches!(
                format.channel_kind(i),
                None | Some(Kind::Unorm | Kind::Srgb)
            )
        });
        let range = range(cc, format);
        let pre = if cc.pre_clamp {
            range
        } else {
            (blend && normalised).then_some((0.0, 1.0))
        };
        // All that blending reads is clamped: only from Gen8 on can software clamp the source alone
        // (genxml gen8 "Pre-Blend Source Only Clamp Enable"). What a SNORM target holds is in range already.
        let constant = match pre {
            Some(range) if cc.pre_clamp => clamp(cc.constant, range),
            _ if normalised => clamp(cc.constant, (0.0, 1.0)),
            _ => cc.constant,
        };
        let all = format.channel_mask(15);
        let written = format.channel_mask(target.write_channels & !cc.write_disables);
        Plan {
            cc,
            target,
            blend,
            logic,
            dither: cc.dither.filter(|_| unorm && float),
            pre,
            constant,
            post: range.filter(|_| cc.post_clamp),
            keep: (written != all).then_some(written),
            bytes: format.bytes as usize,
            sample,
        }
    }

    fn needs_destination(&self) -> bool {
        self.blend || self.logic.is_some() || self.keep.is_some() || self.target.format.is_block()
    }
}

/// Whether what pixels become depends on what a target holds.
pub(super) fn reads_target(cc: &CcState, target: &Surface) -> bool {
    Plan::new(cc, target, 0).needs_destination()
}

/// What colours are clamped to. A target that holds every value of single precision has no bounds, and keeps NaN too (piglit
/// isinf-and-isnan passes on a real Sandy Bridge).
fn range(cc: &CcState, format: &Format) -> Option<(f32, f32)> {
    Some(match cc.clamp_range {
        ClampRange::Unorm => (0.0, 1.0),
        ClampRange::Snorm => (-1.0, 1.0),
        ClampRange::TargetFormat => match format.channel_kind(0).or(format.channel_kind(3)) {
            Some(Kind::Unorm | Kind::Srgb) => (0.0, 1.0),
            Some(Kind::Snorm) => (-1.0, 1.0),
            Some(Kind::Float) => match format.channel_bits(0) {
                10 | 11 => (0.0, f32::INFINITY),
                16 => (-65504.0, 65504.0),
                _ => return None,
            },
            _ => return None,
        },
    })
}

/// Clamps with NaN becoming the lower bound. A zero keeps its sign, which `f32::max` leaves open.
#[inline]
fn clamp(c: [f32; 4], range: (f32, f32)) -> [f32; 4] {
    c.map(|v| within(v, range))
}

#[inline(always)]
fn within(v: f32, (low, high): (f32, f32)) -> f32 {
    let v = if v.is_nan() || low > v { low } else { v };
    if v > high { high } else { v }
}

#[inline]
fn load(mem: &Memory, addr: GpuAddr, bytes: usize) -> Result<[u8; 16], Fault> {
    let mut out = [0; 16];
    match bytes {
        4 => out[..4].copy_from_slice(&mem.read_array::<4>(addr)?),
        n => mem.read_bytes(addr, &mut out[..n.min(16)])?,
    }
    Ok(out)
}

#[inline]
fn store(mem: &mut Memory, addr: GpuAddr, element: [u8; 16], bytes: usize) -> Result<(), Fault> {
    match bytes {
        4 => mem.write_array(addr, [element[0], element[1], element[2], element[3]]),
        n => mem.write_bytes(addr, &element[..n.min(16)]),
    }
}

/// A pixel's Cr, Y, Cb (in red, green and blue, as they are sampled) in the four bytes that it shares
/// with its neighbour. Chroma is that of the left pixel, which a sampler repeats for both.
fn ycrcb(old: [u8; 16], [cr, luma, cb]: [usize; 3], right: bool, colour: [u32; 4]) -> [u8; 16] {
    let byte = |v: u32| num::f32_to_unorm(f32::from_bits(v), 8) as u8;
    let mut out = old;
    // Places in the element: 0 to 3.
    out[(luma + 2 * usize::from(right)) & 3] = byte(colour[1]);
    if !right {
        out[cr & 3] = byte(colour[0]);
        out[cb & 3] = byte(colour[2]);
    }
    out
}

/// One pixel through blend, logic op, dither, pack and store.
fn write_one(
    mem: &mut Memory,
    plan: &Plan<'_>,
    slice: u32,
    (x, y): (u32, u32),
    colour: [u32; 4],
    source1: [u32; 4],
) -> Result<(), Fault> {
    let (cc, target) = (plan.cc, plan.target);
    let addr = target.sample_address(x, y, slice, target.render_lod, plan.sample);
    let format = target.format;
    let old = if plan.needs_destination() {
        load(mem, addr, plan.bytes)?
    } else {
        [0; 16]
    };
    let mut out = colour;
    if format.class == Class::Float {
        let mut c = colour.map(f32::from_bits);
        let mut c1 = source1.map(f32::from_bits);
        if let Some(range) = plan.pre {
            c = clamp(c, range);
            c1 = clamp(c1, range);
        }
        if plan.blend
            && let Some(equation) = cc.blend
        {
            let lane = |v: [f32; 4]| v.map(|v| [v]);
            let colours = Colours {
                source: lane(c),
                source1: lane(c1),
                destination: lane(format.unpack(&old).map(f32::from_bits)),
                constant: plan.constant,
            };
            c = blend(equation, cc.blend_alpha, &colours).map(|v| v[0]);
        }
        if let Some(range) = plan.post {
            c = clamp(c, range);
        }
        if let Some(offset) = plan.dither {
            let value = dither::value(x, y, offset);
            for (i, v) in c.iter_mut().enumerate() {
                let bits = format.channel_bits(i);
                if bits > 0 && bits < dither::WIDTH_LIMIT {
                    *v = dither::apply(*v, bits, value);
                }
            }
        }
        out = c.map(f32::to_bits);
    }
    let mut element = if let Codec::Ycrcb { luma, cb, cr } = format.codec {
        ycrcb(old, [cr, luma, cb].map(usize::from), x & 1 == 1, out)
    } else {
        format.pack(out)
    };
    if let Some(op) = plan.logic {
        let word = op.apply(u128::from_le_bytes(element), u128::from_le_bytes(old));
        element = word.to_le_bytes();
    }
    if let Some(written) = plan.keep {
        let new = u128::from_le_bytes(element) & written;
        element = (new | u128::from_le_bytes(old) & !written).to_le_bytes();
    }
    store(mem, addr, element, plan.bytes)
}

/// Whether anything of the target can be written; a null surface swallows everything.
pub fn writable(target: &Surface) -> bool {
    target.kind != SurfaceKind::Null && target.write_channels != 0
}

/// Size of what can be written: the level's, or one row for buffers and 1D.
pub(super) fn extent(target: &Surface) -> (u32, u32) {
    match target.kind {
        SurfaceKind::Buffer => (target.width, u32::MAX),
        SurfaceKind::OneD => (target.level_width(target.render_lod), u32::MAX),
        _ => (
            target.level_width(target.render_lod),
            target.level_height(target.render_lod),
        ),
    }
}

/// Writes a block of four subspans to slice `slice` ([`Surface::target_slice`]) of the target's
/// render level. The alpha, stencil and depth tests come before, by the caller.
///
/// Pixels outside the surface are dropped. Comes back with the pixels that were inside.
pub fn write_block(
    mem: &mut Memory,
    cc: &CcState,
    target: &Surface,
    slice: u32,
    block: &PixelBlock<'_>,
) -> Result<u16, UnitFault> {
    let way = Way::new(cc, target);
    write_block_by(mem, (cc, way.as_ref()), target, slice, block)
}

/// The same where the way of the target's pixels under that state is known.
pub fn write_block_by(
    mem: &mut Memory,
    (cc, way): (&CcState, Option<&Way>),
    target: &Surface,
    slice: u32,
    block: &PixelBlock<'_>,
) -> Result<u16, UnitFault> {
    if !writable(target) || block.mask == 0 {
        return Ok(block.mask);
    }
    if let Some(shifts) = direct::shifts(target).filter(|_| direct::applies(cc, target)) {
        return Ok(direct::write(mem, target, shifts, slice, block)?);
    }
    if let Some(way) = way
        && let Some(written) = way.write(mem, target, slice, block)
    {
        return Ok(written);
    }
    let plan = Plan::new(cc, target, block.sample);
    let bytes = match target.format.code as u32 {
        codes::R8G8B8A8_UNORM => Some([0, 1, 2, 3]),
        codes::B8G8R8A8_UNORM => Some([2, 1, 0, 3]),
        _ => None,
    };
    if let Some(order) = bytes
        && plan.logic.is_none()
        && plan.keep.is_none()
        && !target.geometry.buffer
        && target.samples == 1
    {
        return write_bytes4(mem, &plan, slice, block, order);
    }
    let (width, height) = extent(target);
    let one_row = height == u32::MAX;
    let mut written = 0;
    for i in 0..16 {
        if block.mask >> i & 1 == 0 {
            continue;
        }
        let (x, y) = pixel_position(block.origins, i);
        let y = if one_row { 0 } else { y };
        if x >= width || y >= height {
            continue;
        }
        let pick = |p: &Planes| [p[0][i], p[1][i], p[2][i], p[3][i]];
        let colour = pick(block.colour);
        let source1 = block.source1.map_or(colour, pick);
        write_one(mem, &plan, slice, (x, y), colour, source1)?;
        written |= 1 << i;
    }
    Ok(written)
}

/// A row of a subspan that is inside the target.
#[derive(Clone, Copy, Default)]
struct Pair {
    /// Which of the two pixels are written.
    lanes: u16,
    /// Index of the left pixel in the block.
    first: usize,
    /// Their addresses.
    at: [GpuAddr; 2],
}

/// The rows of a block's subspans that have something to write; the number of them.
fn pairs(target: &Surface, slice: u32, block: &PixelBlock<'_>) -> ([Pair; 8], usize) {
    let (width, height) = extent(target);
    let one_row = height == u32::MAX;
    let (left, top) = target.geometry.origin(slice, target.render_lod);
    let mut out = [Pair::default(); 8];
    let mut count = 0;
    for (s, &(x, y)) in block.origins.iter().enumerate() {
        let (x, y) = (x as u32, y as u32);
        for row in 0..2u32 {
            let first = 4 * s + 2 * row as usize;
            let lanes = block.mask >> first & 3;
            let y = if one_row { 0 } else { y + row };
            if lanes == 0 || x >= width || y >= height {
                continue;
            }
            let column = left.wrapping_add(x);
            let row_at = top.wrapping_add(y);
            let a = target.geometry.element(column, row_at);
            // An even pair shares its OWord, so it stays adjacent under every tiling.
            let b = if column & 1 == 0 {
                a.offset(target.geometry.bytes)
            } else {
                target.geometry.element(column.wrapping_add(1), row_at)
            };
            out[count] = Pair {
                lanes: if x + 1 >= width { lanes & 1 } else { lanes },
                first,
                at: [a, b],
            };
            count += 1;
        }
    }
    (out, count)
}

/// Four-byte UNORM targets without logic op and channel masks: all pixels at once.
fn write_bytes4(
    mem: &mut Memory,
    plan: &Plan<'_>,
    slice: u32,
    block: &PixelBlock<'_>,
    order: [usize; 4],
) -> Result<u16, UnitFault> {
    let cc = plan.cc;
    let (pairs, count) = pairs(plan.target, slice, block);
    let pairs = &pairs[..count];
    let mut packed = [[0u8; 4]; 16];
    let equation = cc.blend.filter(|_| plan.blend);
    if let Some(equation) = equation {
        let floats = |p: &Planes| p.map(|plane| plane.map(f32::from_bits));
        let mut colour = floats(block.colour);
        let mut source1 = block.source1.map_or(colour, floats);
        if let Some(range) = plan.pre {
            clamp_planes(&mut colour, range);
            clamp_planes(&mut source1, range);
        }
        let mut destination = [[0f32; 16]; 4];
        for pair in pairs {
            for lane in 0..2 {
                if pair.lanes >> lane & 1 == 1 {
                    let old = mem.read_array::<4>(pair.at[lane])?;
                    for (&plane, v) in order.iter().zip(old) {
                        destination[plane][pair.first + lane] = num::unorm8_to_f32(v);
                    }
                }
            }
        }
        let colours = Colours {
            source: colour,
            source1,
            destination,
            constant: plan.constant,
        };
        // The clamp after blending is that of packing, whatever its range.
        let blended = blend(equation, cc.blend_alpha, &colours);
        for (byte, &plane) in order.iter().enumerate() {
            for (p, &v) in packed.iter_mut().zip(&blended[plane]) {
                p[byte] = num::f32_to_unorm(v, 8) as u8;
            }
        }
    } else {
        for (byte, &plane) in order.iter().enumerate() {
            for (p, &v) in packed.iter_mut().zip(&block.colour[plane]) {
                p[byte] = num::f32_to_unorm(f32::from_bits(v), 8) as u8;
            }
        }
    }
    let mut written = 0;
    for pair in pairs {
        let (a, b) = (packed[pair.first], packed[pair.first + 1]);
        if pair.lanes == 3 && pair.at[1] == pair.at[0].offset(4) {
            let both = [a[0], a[1], a[2], a[3], b[0], b[1], b[2], b[3]];
            mem.write_array(pair.at[0], both)?;
        } else {
            if pair.lanes & 1 == 1 {
                mem.write_array(pair.at[0], a)?;
            }
            if pair.lanes & 2 == 2 {
                mem.write_array(pair.at[1], b)?;
            }
        }
        written |= pair.lanes << pair.first;
    }
    Ok(written)
}

#[inline(always)]
fn clamp_planes(planes: &mut [[f32; 16]; 4], range: (f32, f32)) {
    for plane in planes {
        for v in plane {
            *v = within(*v, range);
        }
    }
}

/// Writes pixels at any positions of slice 0 (`xs` and `rgba` in step; bit i of `mask` for the
/// first 64 of them): alpha test, blend, logic op, dither, store. Negative or outside positions
/// are dropped. Comes back with the number of pixels written.
pub fn write_pixels(
    mem: &mut Memory,
    cc: &CcState,
    target: &Surface,
    xs: &[(i32, i32)],
    rgba: &[[f32; 4]],
    mask: u64,
) -> Result<usize, UnitFault> {
    if !writable(target) {
        return Ok(0);
    }
    let plan = Plan::new(cc, target, 0);
    let (width, height) = extent(target);
    let slice = target.target_slice(0);
    let mut written = 0;
    for (i, (&(x, y), &c)) in xs.iter().zip(rgba).enumerate().take(64) {
        let (Ok(x), Ok(y)) = (u32::try_from(x), u32::try_from(y)) else {
            continue;
        };
        let passes = cc
            .alpha_test
            .as_ref()
            .is_none_or(|t| super::alpha::test(c[3], t));
        if mask >> i & 1 == 0 || x >= width || y >= height || !passes {
            continue;
        }
        let y = if height == u32::MAX { 0 } else { y };
        let bits = c.map(f32::to_bits);
        write_one(mem, &plan, slice, (x, y), bits, bits)?;
        written += 1;
    }
    Ok(written)
}

#[cfg(test)]
mod tests;
