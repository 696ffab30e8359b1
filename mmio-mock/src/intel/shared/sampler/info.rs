//! `ld`, `resinfo` and their kin: messages without a sampler.
//!
//! PRM: volume 4, 4.8.1.4, 4.8.1.5. Not modelled: the refusal of cube maps and MONO8, which software
//! has to see to.

use eu::Grf;
use mem::{Fault, Memory};

use super::gamma::Curve;
use super::message::{Op, Params, Request, write_back};
use super::quirks::Quirks;
use super::slots;
use super::state::Palettes;
use super::texel::{looked_up, outside, own_chroma};
use crate::UnitFault;
use crate::intel::surface::control::{self, Control};
use crate::intel::surface::{Format, Surface, SurfaceKind};

/// A message without a sampler.
pub(super) struct Unfiltered<'a> {
    /// What it asks for.
    pub request: &'a Request,
    /// Its parameters.
    pub params: &'a Params<'a>,
    /// Surface.
    pub surface: &'a Surface,
    /// Palette of the formats that use it.
    pub palettes: &'a Palettes,
    /// Conversion of colours, for sRGB formats.
    pub gamma: Option<Curve>,
    /// Errata in force.
    pub quirks: &'a Quirks,
    /// Texels without chrominance get the mean of their neighbours'.
    pub interpolate_chroma: bool,
}

impl Unfiltered<'_> {
    /// Fills the response.
    pub fn run(&self, mem: &Memory, active: u16, response: &mut [Grf]) -> Result<(), UnitFault> {
        for slot in slots(active) {
            let lod = self.params.bits(self.request.order.lod, slot);
            let rgba = match self.request.shape.op {
                Op::Ld => self.load(mem, slot)?,
                Op::LdControl => [self.control(mem, slot)?, 0, 0, 0],
                Op::LdSample | Op::LdSlice => self.stored(mem, slot)?,
                Op::Sampleinfo => [self.surface.samples, 0, 0, 0],
                _ if self.request.integer => size(self.surface, lod),
                _ => size(self.surface, lod).map(|n| (n as f32).to_bits()),
            };
            write_back(self.request, slot, rgba, response);
        }
        Ok(())
    }

    fn load(&self, mem: &Memory, slot: usize) -> Result<[u32; 4], UnitFault> {
        let order = self.request.order;
        let mut parameters =
            [order.u, order.v, order.r, order.lod].map(|n| self.params.bits(n, slot));
        if !self.request.indexed && self.surface.depth <= 1 {
            match self.surface.kind {
                SurfaceKind::OneD => parameters[1] = 0,
                SurfaceKind::TwoD => parameters[2] = 0,
                _ => {}
            }
        }
        let offsets = self.request.offsets;
        let chroma = self.interpolate_chroma;
        let sample = self.params.bits(order.sample, slot);
        let mut texel = if self.surface.samples > 1 {
            self.sample(mem, offsets, parameters, sample)?
        } else {
            load(
                mem,
                self.surface,
                self.palettes,
                offsets,
                parameters,
                chroma,
            )?
        };
        texel = self.converted(texel);
        if self.quirks.ld_without_alpha && eight_bits_without_alpha(self.surface.format) {
            texel[3] = 0;
        }
        Ok(texel)
    }
}

impl Unfiltered<'_> {
    fn converted(&self, texel: [u32; 4]) -> [u32; 4] {
        match &self.gamma {
            Some(gamma) => gamma.convert(texel.map(f32::from_bits)).map(f32::to_bits),
            None => texel,
        }
    }

    /// The pixel that a message about samples means: column, row and slice; `None` outside the map.
    fn pixel(&self, slot: usize) -> Option<(u32, u32, u32)> {
        let (surface, order) = (self.surface, self.request.order);
        let [x, y, r] = [order.u, order.v, order.r].map(|n| self.params.bits(n, slot));
        let r = if surface.array { r } else { 0 };
        let inside = x < surface.width && y < surface.height && r < surface.depth;
        inside.then(|| (x, y, r.wrapping_add(surface.min_array_element)))
    }

    /// What the control surface says of a pixel: each sample for itself where there is none.
    fn control(&self, mem: &Memory, slot: usize) -> Result<u32, Fault> {
        match (&self.surface.control, self.pixel(slot)) {
            (_, None) => Ok(0),
            (Some(Control::Samples(control)), Some(at)) => control.read(mem, at),
            _ => Ok(control::apart(self.surface.samples)),
        }
    }

    /// A sample of a pixel: in the slice of its number, or where the message says that it is stored.
    fn stored(&self, mem: &Memory, slot: usize) -> Result<[u32; 4], Fault> {
        let (surface, order) = (self.surface, self.request.order);
        let sample = self.params.bits(order.sample, slot);
        let Some((x, y, slice)) = self.pixel(slot).filter(|_| sample < surface.samples) else {
            return Ok(outside(surface.format));
        };
        let from = match &surface.control {
            Some(Control::Samples(control)) if self.request.shape.op == Op::LdSample => {
                control.stored(self.params.bits(order.control, slot), sample)
            }
            _ => Some(sample),
        };
        let texel = match from {
            Some(from) => surface.fetch_sample(mem, x, y, slice, 0, from)?,
            None => surface.clear,
        };
        Ok(self.converted(texel))
    }

    /// A sample of a pixel, which has one level; zero outside the map.
    fn sample(
        &self,
        mem: &Memory,
        offsets: [i8; 3],
        [u, v, r, _]: [u32; 4],
        sample: u32,
    ) -> Result<[u32; 4], Fault> {
        let surface = self.surface;
        let moved = |n: u32, d: usize| n.wrapping_add_signed(i32::from(offsets[d]));
        let (x, y) = (moved(u, 0), moved(v, 1));
        let inside = x < surface.width && y < surface.height && r < surface.depth;
        if !inside || sample >= surface.samples {
            return Ok(outside(surface.format));
        }
        let slice = r.wrapping_add(surface.min_array_element);
        surface.fetch_sample(mem, x, y, slice, 0, sample)
    }
}

/// One texel by integer address, with interpolated chrominance if `chroma` says so; zero outside the map or its levels.
pub fn load(
    mem: &Memory,
    surface: &Surface,
    palettes: &Palettes,
    offsets: [i8; 3],
    [u, v, r, lod]: [u32; 4],
    chroma: bool,
) -> Result<[u32; 4], Fault> {
    let level = match lod.checked_add(surface.min_lod) {
        // A buffer has no levels, and compilers leave anything in the parameter (Mesa 22.3.6, `VS_OPCODE_PULL_CONSTANT_LOAD_GFX7`).
        // That 965 and GM965 ask for zero (PRM 4.8.1.4) is a rule for software.
        _ if surface.kind == SurfaceKind::Buffer => 0,
        Some(level) if lod < surface.mip_count => level,
        _ => return Ok(outside(surface.format)),
    };
    // Offsets wrap as 32-bit numbers: what goes below zero is far outside.
    let moved = |n: u32, d: usize| n.wrapping_add_signed(i32::from(offsets[d]));
    let (x, y, z) = match surface.kind {
        SurfaceKind::Structured | SurfaceKind::Null => return Ok([0; 4]),
        SurfaceKind::Buffer => (u, 0, 0),
        SurfaceKind::OneD => (moved(u, 0), 0, v),
        SurfaceKind::TwoD => (moved(u, 0), moved(v, 1), r),
        SurfaceKind::ThreeD => (moved(u, 0), moved(v, 1), moved(r, 2)),
        SurfaceKind::Cube => (u, v, r),
    };
    let inside = match surface.kind {
        SurfaceKind::Buffer => x < surface.width,
        _ => {
            x < surface.level_width(level)
                && y < surface.level_height(level)
                && z < surface.level_depth(level)
        }
    };
    if !inside {
        return Ok(outside(surface.format));
    }
    let slice = match surface.kind {
        SurfaceKind::OneD | SurfaceKind::TwoD => z.wrapping_add(surface.min_array_element),
        _ => z,
    };
    let texel = surface.fetch(mem, x, y, slice, level)?;
    let texel = looked_up(surface.format, palettes, texel);
    if chroma && x & 1 == 1 {
        let own = own_chroma(
            mem,
            surface,
            texel.map(f32::from_bits),
            [x, y, slice],
            level,
        )?;
        return Ok(own.map(f32::to_bits));
    }
    Ok(texel)
}

/// Whether the erratum of `ld` concerns a format: colours of eight bits and no alpha.
#[must_use]
pub fn eight_bits_without_alpha(format: &Format) -> bool {
    format.channel_bits(0) == 8 && format.channel_bits(3) == 0
}

/// Width, height, depth and number of levels, the sizes of level `lod`.
///
/// What "width, height, depth" (PRM 4.8.1.4) are of arrays is not printed. As in the table of later parts and in
/// Direct3D 10: slices follow the dimensions of the map itself, do not shrink, and are 0 where there is but one.
/// A G41 passes piglit's `textureSize-*1DArray`, and Mesa corrects the 0 on Gen4 to 6.
#[must_use]
pub fn size(surface: &Surface, lod: u32) -> [u32; 4] {
    if surface.kind == SurfaceKind::Null {
        return [0; 4];
    }
    if lod >= surface.mip_count {
        return [0, 0, 0, surface.mip_count];
    }
    let level = lod.saturating_add(surface.min_lod);
    let (width, height) = (surface.level_width(level), surface.level_height(level));
    let slices = if surface.array { surface.depth } else { 0 };
    match surface.kind {
        SurfaceKind::OneD => [width, slices, 0, surface.mip_count],
        SurfaceKind::TwoD => [width, height, slices, surface.mip_count],
        // Arrays of cubes count cubes, as Depth does: Mesa's compiler takes the number for that of layers on all parts
        // (`nir_texop_txs` in brw_fs_nir.cpp and brw_vec4_nir.cpp; only AMD's drivers set `lower_txs_cube_array`).
        SurfaceKind::Cube if slices >= 6 => [width, height, slices / 6, surface.mip_count],
        SurfaceKind::Cube => [width, height, 0, surface.mip_count],
        _ => [width, height, surface.level_depth(level), surface.mip_count],
    }
}
