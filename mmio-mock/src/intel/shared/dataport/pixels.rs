//! Render target writes of pixels that the windower keeps, with header or without.
//!
//! Layout: Mesa 22.3.6 brw_lower_logical_sends.cpp `lower_fb_write_logical_send`; the header is r0 and r1 (or r2) of the thread's
//! payload (SNB PRM volume 4 part 1, render target write; Mesa brw_fs_visitor.cpp). Not modelled: the pixel scoreboard.

use eu::{Grf, Message};
use mem::Memory;

use super::RenderTarget;
use super::fill::one_colour;
use super::made::{How, Making};
use super::render::{self, CcCache, PixelBackend};
use super::request::{Form, PixelWrite};
use super::rules;
use crate::UnitFault;
use crate::intel::cc::pixel::{Planes, writable};
use crate::intel::cc::state::CcRequest;
use crate::intel::cc::whole::{Whole, WholeBlock};
use crate::intel::cc::{
    CcState, DepthBlock, Origins, PixelBlock, alpha_test, control, depth_stencil_test, direct,
    write_block_by, write_constant,
};
use crate::intel::shared::context::{Events, SAMPLES, ThreadContext, ThreadPixels};
use crate::intel::shared::error::refuse;
use crate::intel::shared::reader::FunctionReader;
use crate::intel::surface::{Capability, Class, Surface, SurfaceKind};

/// A message on its way to a target.
pub(super) struct Write<'a> {
    /// The surface.
    pub target: &'a RenderTarget,
    /// What the descriptor says.
    pub request: PixelWrite,
    /// What commands have latched.
    pub backend: &'a PixelBackend,
    /// What is known of the thread.
    pub ctx: &'a ThreadContext,
}

/// What header or windower say of the pixels of a message.
struct Pixels {
    /// Slots that are written.
    mask: u16,
    origins: Origins,
    viewport: u32,
    array_index: u32,
    back_facing: bool,
    /// Entry of BLEND_STATE.
    target: u32,
    /// Alpha of source 0 comes along, for targets beside the first.
    source0_alpha: bool,
}

impl Pixels {
    /// From the header: viewport, slice, facing and parts in M0.0, the render target in M0.2, subspans and pixel enables in M1.
    fn of_header(m0: &Grf, m1: &Grf) -> Self {
        Pixels {
            mask: m1[7] as u16,
            origins: render::origins(m1),
            viewport: m0[0] >> 27 & 0xf,
            array_index: m0[0] >> 16 & 0x7ff,
            back_facing: m0[0] >> 15 & 1 == 1,
            target: m0[2] & 7,
            source0_alpha: m0[0] >> 11 & 1 == 1,
        }
    }

    fn of_thread(kept: &ThreadPixels, first: usize, exec_mask: u16) -> Self {
        let mut origins = Origins::default();
        for (to, from) in origins.iter_mut().zip(kept.origins.iter().skip(first / 4)) {
            *to = *from;
        }
        Pixels {
            // CAST: sixteen channels of the thread.
            mask: (kept.mask >> first) as u16 & exec_mask,
            origins,
            viewport: kept.viewport.into(),
            array_index: kept.array_index.into(),
            back_facing: kept.back_facing,
            target: 0,
            source0_alpha: false,
        }
    }

    /// What they ask of the state of the colour calculator.
    fn asked(&self, backend: &PixelBackend) -> CcRequest {
        CcRequest {
            pointers: backend.pointers,
            viewport: self.viewport,
            target: self.target,
            constant: backend.blend_constant,
        }
    }
}

/// Source 0 of a message by channel and pixel. Of 16 pixels, each channel has two registers, one behind the other (Mesa
/// brw_lower_logical_sends.cpp `setup_color_payload`); the older order has the lower halves of all channels first.
fn planes(form: Form, colours: &[Grf]) -> Planes {
    if form != Form::Single16 {
        return render::planes(form, colours);
    }
    let mut planes = [[0; 16]; 4];
    for (plane, pair) in planes.iter_mut().zip(colours.chunks_exact(2)) {
        for (to, from) in plane.chunks_exact_mut(8).zip(pair) {
            to.copy_from_slice(from);
        }
    }
    planes
}

/// The same where the registers are the planes as they lie.
#[inline]
fn whole(form: Form, colours: &[Grf]) -> Option<&Planes> {
    let colours: &[Grf; 8] = colours.try_into().ok()?;
    (form == Form::Single16).then(|| zerocopy::transmute_ref!(colours))
}

/// A target that pixels get ready for without more ado.
#[derive(Clone, Copy, Debug)]
pub struct Ready<'a> {
    target: &'a Surface,
    how: How<'a>,
    slice: u32,
    form: Form,
}

impl Ready<'_> {
    /// The slice of the target.
    #[inline]
    pub fn slice(&self) -> u32 {
        self.slice
    }

    /// The pixels of a message of sixteen lit ones; `None` when it is another. `early`: memory, where the target may be read now.
    #[inline]
    pub fn whole(
        &self,
        msg: &Message<'_>,
        origins: &Origins,
        early: Option<&Memory>,
    ) -> Option<Whole> {
        let colour = whole(self.form, msg.payload).filter(|_| msg.exec_mask == 0xffff)?;
        let target = (self.target, self.slice);
        self.how.whole(target, (origins, colour), early)
    }

    /// The pixels of a message; `None` when it is too short, or when they are written one by one.
    #[inline]
    pub fn packed(
        &self,
        msg: &Message<'_>,
        kept: &ThreadPixels,
        making: &mut Making<'_>,
    ) -> Option<direct::Packed> {
        let pixels = Pixels::of_thread(kept, 0, msg.exec_mask);
        let block = PixelBlock {
            origins: &pixels.origins,
            // CAST: sixteen channels.
            mask: pixels.mask & kept.coverage[0] as u16,
            colour: whole(self.form, msg.payload)?,
            source1: None,
            sample: 0,
        };
        self.how.packed((self.target, self.slice), &block, making)
    }
}

impl<'a> Write<'a> {
    /// Serves the message; gives the pixels of which at least one sample reached the target.
    pub fn run(
        &self,
        (cache, reader): (&mut CcCache, &dyn FunctionReader),
        mem: &mut Memory,
        msg: &Message<'_>,
        events: &mut Events,
    ) -> Result<u16, UnitFault> {
        let (target, backend) = (&self.target.surface, self.backend);
        let form = self.request.form.ok_or_else(|| {
            let what = "reserved render target message type (PRM 5.10.6.2)";
            refuse("DP", msg, what)
        })?;
        let kept = &events.pixels;
        let first = if self.request.upper { 16 } else { 0 };
        let (pixels, body) = match msg.payload {
            [m0, m1, body @ ..] if self.request.header => (Pixels::of_header(m0, m1), body),
            _ if self.request.header => return Err(refuse("DP", msg, rules::HEADER)),
            body => (Pixels::of_thread(kept, first, msg.exec_mask), body),
        };
        let short = || refuse("DP", msg, rules::LENGTH);
        let halves = form.slots().count_ones() as usize / 8;
        let alphas = if pixels.source0_alpha { halves } else { 0 };
        let (source0_alpha, body) = body.split_at_checked(alphas).ok_or_else(short)?;
        let masks = usize::from(backend.sample_mask);
        let (sample_mask, body) = body.split_at_checked(masks).ok_or_else(short)?;
        let (colours, body) = body.split_at_checked(form.colours()).ok_or_else(short)?;
        let depths = if backend.source_depth {
            form.depth().0
        } else {
            0
        };
        if body.len() != depths {
            return Err(short());
        }
        let cc = cache.get(mem, reader, self.ctx, pixels.asked(backend))?;
        let blends = cc.blend.is_some() && target.kind != SurfaceKind::Null;
        let blendable = !blends
            || target.format.class != Class::Float
            || target.format.has(Capability::AlphaBlend);
        rules::ask(blendable, msg, rules::BLEND_FORMAT)?;

        let slice = target.target_slice(pixels.array_index);
        if let Some(pass) = backend.pass {
            let lit = pixels.mask & form.slots() & lit_in_any(kept, first);
            let passed = control::pass(mem, (target, slice), pass, (&pixels.origins, lit))?;
            if self.request.last {
                events.scoreboard_clear |= lit;
            }
            return Ok(passed);
        }
        if let Some(shifts) = self.target.direct
            && sample_mask.is_empty()
            && self.straight(cc, kept)
        {
            let mask = pixels.mask & form.slots();
            let sent;
            let colour = if let Some(planes) = whole(form, colours) {
                planes
            } else {
                sent = planes(form, colours);
                &sent
            };
            let block = PixelBlock {
                origins: &pixels.origins,
                mask: mask & (kept.coverage[0] >> first) as u16,
                colour,
                source1: None,
                sample: 0,
            };
            let written = direct::write(mem, target, shifts, slice, &block)?;
            if events.watch_colour && written == 0xffff {
                let header = self.request.header;
                events.one_colour = one_colour(colour, shifts, slice, header);
            }
            if self.request.last {
                events.scoreboard_clear |= mask;
            }
            return Ok(written);
        }
        let key = pixels.asked(backend);
        let (cc, way) = cache.get_with_way(mem, reader, self.ctx, key, self.target)?;
        let mut planes = planes(form, colours);
        if let Some(coverage) = &kept.alpha {
            for (alpha, coverage) in planes[3].iter_mut().zip(coverage.iter().skip(first)) {
                // U0.4: fifteen is full coverage.
                let factor = f32::from(*coverage) / 15.0;
                *alpha = (f32::from_bits(*alpha) * factor).to_bits();
            }
        }
        let source1 = render::source1(form, colours);
        let mut alpha = planes[3];
        for (to, from) in alpha
            .iter_mut()
            .skip(form.depth().1)
            .zip(source0_alpha.iter().flatten())
        {
            *to = *from;
        }
        let mut mask = pixels.mask & form.slots();
        mask = alpha_test(cc, &alpha, mask);
        if cc.alpha_to_one {
            planes[3] = [1f32.to_bits(); 16];
        }
        let sent = depths_of(form, body, kept, first);
        let mut written = 0;
        let mut passed_depth = 0;
        let count = self.samples();
        let mut lit_of = [0; SAMPLES];
        for (sample, (sent, to)) in sent.iter().zip(&mut lit_of).enumerate().take(count) {
            // PANIC: eight samples at most.
            let mut lit = mask & (kept.coverage[sample] >> first) as u16;
            if let [register] = sample_mask {
                lit &= named(register, sample);
            }
            let is_covered = backend.mask_is_coverage && !sample_mask.is_empty();
            if cc.alpha_to_coverage && count > 1 && !is_covered {
                lit &= covered(&alpha, (sample, count));
            }
            if kept.late_tests {
                lit = self.late(cc, mem, &pixels, (lit, sample), sent)?;
                passed_depth += lit.count_ones();
            }
            *to = lit;
        }
        // PANIC: as many as there are at most.
        let lit_of = &mut lit_of[..count];
        let mut block = PixelBlock {
            origins: &pixels.origins,
            mask: 0,
            colour: &planes,
            source1: source1.as_ref(),
            sample: 0,
        };
        if let Some(control) = control::of_samples(target).filter(|_| writable(target)) {
            let at = (control, &pixels.origins);
            let together = control::arrange(mem, cc, (target, slice), at, lit_of)?;
            // The first sample's slice has these for all.
            for lit in lit_of.iter_mut().skip(1) {
                *lit &= !together;
            }
        }
        for (sample, lit) in (0..).zip(lit_of.iter()) {
            block.mask = *lit;
            block.sample = sample;
            written |= match backend.default_color {
                Some(value) => write_constant(mem, target, slice, &block, value)?,
                None => write_block_by(mem, (cc, way), target, slice, &block)?,
            };
        }
        if self.request.last {
            if kept.late_tests && kept.count_depth {
                events.depth_count = events.depth_count.wrapping_add(passed_depth);
            }
            events.scoreboard_clear |= mask;
        }
        Ok(written)
    }

    /// The target, where messages without a header like this one do nothing but write pixels into it, from threads of the
    /// primitive that these pixels are of.
    pub fn ready(&self, cc: &'a CcCache, kept: &ThreadPixels) -> Option<Ready<'a>> {
        let (target, backend) = (&self.target.surface, self.backend);
        let pixels = Pixels::of_thread(kept, 0, 0);
        let plain = !(self.request.header
            || self.request.upper
            || backend.sample_mask
            || backend.source_depth);
        Some(Ready {
            target,
            how: self.how(cc, &pixels, kept).filter(|_| plain)?,
            slice: target.target_slice(pixels.array_index),
            form: self.request.form?,
        })
    }

    /// How pixels get ready; `None` for those that take [`run`](Self::run).
    fn how<'c>(&self, cc: &'c CcCache, pixels: &Pixels, kept: &ThreadPixels) -> Option<How<'c>> {
        if self.backend.pass.is_some() {
            return None;
        }
        let state = cc.known(&pixels.asked(self.backend))?;
        if let Some(shifts) = self.target.direct
            && self.straight(state, kept)
        {
            return Some(How::Straight(shifts));
        }
        let format = self.target.surface.format;
        let plain = self.backend.default_color.is_none() && !kept.late_tests;
        let blends = state.blend.is_none() || format.has(Capability::AlphaBlend);
        if !plain || !blends || kept.alpha.is_some() {
            return None;
        }
        let (way, number) = cc.known_way(self.target.at)?;
        Some(How::Mixed(state, way, number))
    }

    /// The pixels of a message that does nothing but write them into its target, with the slice of that and how they get ready;
    /// `None` for a message that takes [`run`](Self::run).
    fn plain<'m, 'c>(
        &self,
        cc: &'c CcCache,
        msg: &'m Message<'_>,
        kept: &ThreadPixels,
    ) -> Option<(Pixels, &'m Planes, (u32, How<'c>))> {
        let (target, backend) = (&self.target.surface, self.backend);
        if self.request.upper || backend.sample_mask || backend.source_depth {
            return None;
        }
        let (mut pixels, colours) = match msg.payload {
            [m0, m1, body @ ..] if self.request.header => (Pixels::of_header(m0, m1), body),
            body if !self.request.header => (Pixels::of_thread(kept, 0, msg.exec_mask), body),
            _ => return None,
        };
        // CAST: sixteen channels.
        pixels.mask &= kept.coverage[0] as u16;
        let colour = whole(self.request.form?, colours)?;
        let how = self.how(cc, &pixels, kept)?;
        if pixels.source0_alpha {
            return None;
        }
        let slice = target.target_slice(pixels.array_index);
        Some((pixels, colour, (slice, how)))
    }

    /// Such pixels, ready for their turn.
    pub fn packed(
        &self,
        cc: &CcCache,
        msg: &Message<'_>,
        kept: &ThreadPixels,
        making: &mut Making<'_>,
    ) -> Option<direct::Packed> {
        let (pixels, colour, (slice, how)) = self.plain(cc, msg, kept)?;
        let block = PixelBlock {
            origins: &pixels.origins,
            mask: pixels.mask,
            colour,
            source1: None,
            sample: 0,
        };
        how.packed((&self.target.surface, slice), &block, making)
    }

    /// Such pixels of a message of sixteen lit ones.
    pub fn whole(
        &self,
        cc: &CcCache,
        msg: &Message<'_>,
        (kept, early): (&ThreadPixels, Option<&Memory>),
    ) -> Option<WholeBlock> {
        let (pixels, colour, (slice, how)) = self.plain(cc, msg, kept)?;
        if pixels.mask != 0xffff {
            return None;
        }
        let target = (&self.target.surface, slice);
        Some(WholeBlock {
            slice,
            origins: pixels.origins,
            pixels: how.whole(target, (&pixels.origins, colour), early)?,
        })
    }

    /// Whether colours go into the target as they are, once for each pixel.
    fn straight(&self, cc: &CcState, kept: &ThreadPixels) -> bool {
        self.backend.default_color.is_none()
            && !kept.late_tests
            && kept.alpha.is_none()
            && cc.alpha_test.is_none()
            && !cc.alpha_to_one
            && direct::applies(cc, &self.target.surface)
    }

    /// Samples of the target's pixels; those of the depth buffer when there is no target.
    fn samples(&self) -> usize {
        let depth = self.backend.depth_buffer.as_ref();
        let surface = &self.target.surface;
        let count = match surface.kind {
            SurfaceKind::Null => depth.map_or(1, |depth| depth.samples),
            _ => surface.samples,
        };
        (count as usize).clamp(1, SAMPLES)
    }

    /// The tests that the windower has left to the message.
    fn late(
        &self,
        cc: &CcState,
        mem: &mut Memory,
        pixels: &Pixels,
        (mask, sample): (u16, usize),
        depth: &[f32; 16],
    ) -> Result<u16, UnitFault> {
        let Some(buffer) = &self.backend.depth_buffer else {
            return Ok(mask);
        };
        let block = DepthBlock {
            origins: &pixels.origins,
            mask,
            depth,
            back_facing: pixels.back_facing,
            slice: buffer.target_slice(pixels.array_index),
            // CAST: eight samples at most.
            sample: sample as u32,
            test_depth: true,
            test_stencil: true,
            write: self.request.last,
        };
        Ok(depth_stencil_test(mem, cc, buffer, &block)?.passed)
    }
}

/// Slots that are lit in at least one sample.
fn lit_in_any(kept: &ThreadPixels, first: usize) -> u16 {
    let any = kept.coverage.iter().fold(0, |any, lit| any | lit);
    // CAST: sixteen channels of the thread.
    (any >> first) as u16
}

/// Depths by sample and slot: what the message has, for all samples, or what the windower has computed.
fn depths_of(
    form: super::request::Form,
    registers: &[Grf],
    kept: &ThreadPixels,
    first: usize,
) -> [[f32; 16]; SAMPLES] {
    if !registers.is_empty() {
        return [render::depths(form, registers); SAMPLES];
    }
    let mut out = [[0.0; 16]; SAMPLES];
    for (to, from) in out.iter_mut().zip(&kept.depth) {
        for (to, from) in to.iter_mut().zip(from.iter().skip(first)) {
            *to = *from;
        }
    }
    out
}

/// The slots whose sample mask has a sample: a word a slot.
fn named(register: &Grf, sample: usize) -> u16 {
    let slot = |slot: usize| (register[slot / 2] >> (slot % 2 * 16 + sample) & 1) as u16;
    (0..16).fold(0, |mask, n| mask | slot(n) << n)
}

/// The slots whose alpha is enough for a sample of so many: with n of four quarters, n of four samples are written.
fn covered(alpha: &[u32; 16], (sample, count): (usize, usize)) -> u16 {
    let enough = (sample as f32 + 0.5) / count as f32;
    let lit = alpha.iter().map(|&alpha| f32::from_bits(alpha) >= enough);
    (0..)
        .zip(lit)
        .fold(0, |mask, (n, lit)| mask | u16::from(lit) << n)
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests;
