//! Render target write: a thread's pixels through the colour calculator.
//!
//! PRM: volume 4, 5.7 and 5.10.6. Not modelled: the pixel scoreboard itself (threads of the model
//! do not overlap; the cleared mask is reported), and field-mode targets.

use eu::{Grf, Message};
use mem::{GpuAddr, Memory};

use super::fill::one_colour;
use super::made::{How, Making};
use super::request::Form;
use super::{RenderTarget, rules};
use crate::UnitFault;
use crate::intel::cc::control::Pass;
use crate::intel::cc::direct;
use crate::intel::cc::pixel::Planes;
use crate::intel::cc::pixel::lanes::Way;
use crate::intel::cc::state::{CcPointers, CcRequest};
use crate::intel::cc::whole::WholeBlock;
use crate::intel::cc::{
    CcState, DepthBlock, Origins, PixelBlock, alpha_test, depth_stencil_test, write_block_by,
    write_constant,
};
use crate::intel::shared::context::{Events, ThreadContext};
use crate::intel::shared::error::{Rule, refuse};
use crate::intel::shared::reader::FunctionReader;
use crate::intel::surface::{Capability, DepthBuffer, Surface, SurfaceKind};

/// Which dual source messages a device has (PRM 5.7.2, 5.10.6.2).
///
/// The manual's tag \[DevCL-B\] heads the chapter of the message, so it stands for that stepping and later ones.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum DualSource {
    /// \[DevBW\]: none.
    Absent,
    /// \[DevCL-B\]: that of subspans 0 and 1.
    Lower,
    /// Both, as the text without tags has it.
    #[default]
    Whole,
}

impl DualSource {
    /// Whether the device has messages of this form.
    fn serves(self, form: Option<Form>) -> bool {
        match form {
            Some(Form::Dual8 { upper: true }) => self == DualSource::Whole,
            Some(Form::Dual8 { upper: false }) => self != DualSource::Absent,
            _ => true,
        }
    }

    /// Refuses a message that the device does not have.
    #[inline]
    pub(super) fn check(self, form: Option<Form>, msg: &Message<'_>) -> Result<(), UnitFault> {
        rules::ask(self.serves(form), msg, rules::DUAL_SOURCE)
    }
}

/// What commands latched for the pixel back end before a draw.
#[derive(Clone, Debug, Default)]
pub struct PixelBackend {
    /// 3DSTATE_DEPTH_BUFFER resolved; `None` when there is none.
    pub depth_buffer: Option<DepthBuffer>,
    /// 3DSTATE_CONSTANT_COLOR: R, G, B, A.
    pub blend_constant: [f32; 4],
    /// Origin of the drawing rectangle, which a depth buffer may ask to be left out.
    pub drawing_origin: (u16, u16),
    /// What the render cache writes in place of every colour of the present message (PRM 3.4.8).
    pub default_color: Option<u32>,
    /// Where the states of the colour calculator lie, when no message says it.
    pub pointers: CcPointers,
    /// Messages have a mask of samples for each pixel, when no header says it.
    pub sample_mask: bool,
    /// Such a mask switches alpha to coverage off.
    pub mask_is_coverage: bool,
    /// Messages have source depth, when no header says it.
    pub source_depth: bool,
    /// Pixels are not drawn, but do this to their target.
    pub pass: Option<Pass>,
}

/// Colour calculator states kept for the messages of a draw, by what asked for them.
#[derive(Clone, Debug, Default)]
pub struct CcCache {
    kept: Option<(CcRequest, CcState)>,
    /// The ways of pixels into targets under that state, by the addresses of the targets' states.
    ways: Vec<(GpuAddr, Option<Way>)>,
    /// Counted up when ways are forgotten.
    number: u64,
}

impl CcCache {
    /// Forgets the state.
    pub fn invalidate(&mut self) {
        self.kept = None;
        self.forget_ways();
    }

    /// Forgets how pixels go into targets.
    pub(super) fn forget_ways(&mut self) {
        self.ways.clear();
        self.number = self.number.wrapping_add(1);
    }

    /// The way of pixels into a target under the state that is kept, if that has been found out, and the number it has.
    pub(super) fn known_way(&self, at: GpuAddr) -> Option<(&Way, u64)> {
        let (_, way) = self.ways.iter().find(|(known, _)| *known == at)?;
        Some((way.as_ref()?, self.number))
    }

    /// Whether the state that is kept has an alpha test.
    pub(super) fn tests_alpha(&self) -> bool {
        let kept = self.kept.as_ref();
        kept.is_some_and(|(_, state)| state.alpha_test.is_some())
    }

    /// The state, if it is kept.
    pub(super) fn known(&self, key: &CcRequest) -> Option<&CcState> {
        let (kept, state) = self.kept.as_ref()?;
        (kept == key).then_some(state)
    }

    pub(super) fn get(
        &mut self,
        mem: &Memory,
        reader: &dyn FunctionReader,
        ctx: &ThreadContext,
        key: CcRequest,
    ) -> Result<&CcState, UnitFault> {
        let stale = self.kept.as_ref().is_none_or(|(kept, _)| *kept != key);
        if stale {
            let state = reader.color_calc(mem, &ctx.bases, &key)?;
            self.forget_ways();
            self.kept = Some((key, state));
        }
        match &self.kept {
            Some((_, state)) => Ok(state),
            // Just filled in.
            None => Err(nothing(&key)),
        }
    }

    /// The state, and the way of pixels into a target under it.
    pub(super) fn get_with_way(
        &mut self,
        mem: &Memory,
        reader: &dyn FunctionReader,
        ctx: &ThreadContext,
        key: CcRequest,
        target: &RenderTarget,
    ) -> Result<(&CcState, Option<&Way>), UnitFault> {
        self.get(mem, reader, ctx, key)?;
        let Some((_, state)) = &self.kept else {
            return Err(nothing(&key));
        };
        if !self.ways.iter().any(|(at, _)| *at == target.at) {
            // As many as there are targets.
            if self.ways.len() >= 16 {
                self.ways.clear();
            }
            self.ways
                .push((target.at, Way::new(state, &target.surface)));
        }
        let way = self.ways.iter().find(|(at, _)| *at == target.at);
        Ok((state, way.and_then(|(_, way)| way.as_ref())))
    }
}

/// The fault of a state that is not there.
#[cold]
fn nothing(key: &CcRequest) -> UnitFault {
    UnitFault::State {
        unit: "CC",
        addr: GpuAddr::from(key.pointers.color_calc),
        what: String::new(),
    }
}

impl Form {
    /// Slots that the message covers.
    pub(super) fn slots(self) -> u16 {
        match self {
            Form::Single16 | Form::Replicated => 0xffff,
            Form::Dual8 { upper: true } => 0xff00,
            Form::Dual8 { upper: false } | Form::Single8 => 0x00ff,
        }
    }

    /// Registers of colour.
    pub(super) fn colours(self) -> usize {
        match self {
            Form::Single16 | Form::Dual8 { .. } => 8,
            Form::Replicated => 1,
            Form::Single8 => 4,
        }
    }

    /// Registers of source (or destination) depth, and the first slot of the first.
    pub(super) fn depth(self) -> (usize, usize) {
        match self {
            Form::Single16 => (2, 0),
            Form::Replicated => (0, 0),
            Form::Dual8 { upper: true } => (1, 8),
            Form::Dual8 { upper: false } | Form::Single8 => (1, 0),
        }
    }
}

/// Where a message's pixels go, and what its descriptor says of them.
#[derive(Clone, Copy, Debug)]
pub struct Target<'a> {
    /// The surface.
    pub target: &'a RenderTarget,
    /// Form of the message.
    pub form: Option<Form>,
    /// The last target of these pixels: depth is written, the scoreboard cleared.
    pub last: bool,
    /// The sender wants an answer.
    pub commit: bool,
}

/// A message taken apart.
struct RenderTargetWrite<'a> {
    form: Form,
    header: [&'a Grf; 2],
    /// Antialias alpha and stencil.
    coverage: Option<&'a Grf>,
    colours: &'a [Grf],
    source_depth: &'a [Grf],
    /// Depth test here (destination depth is in the message).
    test_depth: bool,
    /// Stencil test here.
    test_stencil: bool,
    antialias: bool,
    /// Last render target: depth is written, the scoreboard cleared.
    last: bool,
}

impl<'a> RenderTargetWrite<'a> {
    fn decode(target: &Target<'_>, msg: &Message<'a>) -> Result<Self, Rule> {
        let form = target
            .form
            .ok_or("reserved render target message type (PRM 5.10.6.2)")?;
        let [m0, m1, body @ ..] = msg.payload else {
            return Err(rules::HEADER);
        };
        let present = |bit: u32| m1[6] & 1 << bit != 0;
        let (source, destination, stencil, antialias) =
            (present(29), present(28), present(27), present(26));
        if destination && !source {
            return Err("destination depth without source depth (PRM 5.10.6.3)".into());
        }
        if form == Form::Replicated && (source || stencil || antialias) {
            return Err(
                "replicated data with depth, stencil or antialias alpha (PRM 5.10.6.6)".into(),
            );
        }
        let dual = matches!(form, Form::Dual8 { .. });
        if dual && antialias {
            return Err("dual source with antialias alpha (PRM 5.10.6)".into());
        }
        // The table has stencil and antialias alpha only with source depth beside them. Alone, with a
        // single source, the windower asks for stencil when the kernel kills pixels and depth is off
        // (volume 2; case 0x31 of Mesa's brw_wm_iz), and drivers for antialias alpha of smooth lines.
        if stencil && dual && (!source || destination) {
            return Err("parts in no sequence of the table (PRM 5.10.6.9)".into());
        }
        let (coverage, body) = if stencil || antialias {
            let (first, rest) = body.split_first().ok_or(SHORT)?;
            (Some(first), rest)
        } else {
            (None, body)
        };
        let (colours, body) = body.split_at_checked(form.colours()).ok_or(SHORT)?;
        let depth = if source { form.depth().0 } else { 0 };
        let (source_depth, body) = body.split_at_checked(depth).ok_or(SHORT)?;
        // The colour calculator reads the buffer itself, which holds what was sent along.
        let rest = if destination { form.depth().0 } else { 0 };
        if body.len() != rest {
            return Err(SHORT);
        }
        Ok(RenderTargetWrite {
            form,
            header: [m0, m1],
            coverage,
            colours,
            source_depth,
            test_depth: destination,
            test_stencil: stencil,
            antialias,
            last: target.last,
        })
    }

    /// Source 0 by channel and pixel, antialias alpha applied.
    fn planes(&self) -> Planes {
        let mut planes = planes(self.form, self.colours);
        if let Some(coverage) = self.coverage.filter(|_| self.antialias) {
            for (slot, alpha) in planes[3].iter_mut().enumerate() {
                // U0.4: fifteen is full coverage.
                let factor = (coverage[6 + slot / 8] >> (slot % 8 * 4) & 0xf) as f32 / 15.0;
                *alpha = (f32::from_bits(*alpha) * factor).to_bits();
            }
        }
        planes
    }

    fn depth(&self) -> [f32; 16] {
        depths(self.form, self.source_depth)
    }
}

/// Source 0 of a message by channel and pixel, as it was sent.
pub(super) fn planes(form: Form, colours: &[Grf]) -> Planes {
    let mut planes = [[0; 16]; 4];
    match form {
        Form::Single16 => {
            let (low, high) = colours.split_at(colours.len() / 2);
            for ((plane, low), high) in planes.iter_mut().zip(low).zip(high) {
                plane[..8].copy_from_slice(low);
                plane[8..].copy_from_slice(high);
            }
        }
        Form::Replicated => {
            for (plane, value) in planes.iter_mut().zip(colours.iter().flatten()) {
                plane.fill(*value);
            }
        }
        Form::Dual8 { .. } | Form::Single8 => half(form, &mut planes, colours),
    }
    planes
}

/// Four registers into the half of the planes that a SIMD8 message covers.
fn half(form: Form, planes: &mut Planes, colours: &[Grf]) {
    let at = form.depth().1;
    for (plane, register) in planes.iter_mut().zip(colours) {
        plane[at..at + 8].copy_from_slice(register);
    }
}

/// Source 1 of a message that has two colours a pixel.
pub(super) fn source1(form: Form, colours: &[Grf]) -> Option<Planes> {
    matches!(form, Form::Dual8 { .. }).then(|| {
        let mut planes = [[0; 16]; 4];
        half(form, &mut planes, colours.get(4..).unwrap_or_default());
        planes
    })
}

/// Source depth of a message by pixel.
pub(super) fn depths(form: Form, registers: &[Grf]) -> [f32; 16] {
    let mut depth = [0.0; 16];
    let values = registers.iter().flatten();
    for (to, from) in depth.iter_mut().skip(form.depth().1).zip(values) {
        *to = f32::from_bits(*from);
    }
    depth
}

/// What a header says of the state of the colour calculator.
fn asked(m0: &Grf, m1: &Grf, backend: &PixelBackend) -> CcRequest {
    CcRequest {
        pointers: CcPointers {
            color_calc: m0[1] & !0x3f,
            ..CcPointers::default()
        },
        viewport: m1[7] >> 27 & 0xf,
        target: 0,
        constant: backend.blend_constant,
    }
}

/// A SIMD16 message of nothing but colours, which needs no taking apart.
struct Plain<'a> {
    m0: &'a Grf,
    m1: &'a Grf,
    colours: &'a [Grf; 8],
}

impl<'a> Plain<'a> {
    #[inline]
    fn of(form: Option<Form>, msg: &Message<'a>) -> Option<Self> {
        let [m0, m1, body @ ..] = msg.payload else {
            return None;
        };
        let parts = m1[6] >> 26 & 15;
        let colours = body.try_into().ok()?;
        let plain = parts == 0 && form == Some(Form::Single16);
        plain.then_some(Plain { m0, m1, colours })
    }

    /// Pixels that are lit.
    fn mask(&self) -> u16 {
        self.m0[0] as u16
    }

    #[inline]
    fn colour(&self) -> Planes {
        let mut colour = [[0; 16]; 4];
        for (i, plane) in colour.iter_mut().enumerate() {
            plane[..8].copy_from_slice(&self.colours[i]);
            plane[8..].copy_from_slice(&self.colours[i + 4]);
        }
        colour
    }

    fn slice(&self, target: &Surface) -> u32 {
        target.target_slice(self.m1[7] >> 16 & 0x7ff)
    }

    fn write(
        &self,
        (target, last): (&Surface, bool),
        shifts: direct::Shifts,
        mem: &mut Memory,
        events: &mut Events,
    ) -> Result<u16, UnitFault> {
        let mask = self.mask();
        if last {
            events.scoreboard_clear |= (self.m0[0] >> 16) as u16;
        }
        if mask == 0 {
            return Ok(0);
        }
        let colour = self.colour();
        let block = PixelBlock {
            origins: &origins(self.m1),
            mask,
            colour: &colour,
            source1: None,
            sample: 0,
        };
        let slice = self.slice(target);
        let written = direct::write(mem, target, shifts, slice, &block)?;
        if events.watch_colour && written == 0xffff {
            events.one_colour = one_colour(&colour, shifts, slice, true);
        }
        Ok(written)
    }
}

/// A message that does nothing but write its pixels into its target, and how they get ready; `None` for one that takes [`write`].
fn plain<'m, 'c>(
    (target, form): (&RenderTarget, Option<Form>),
    cc: &'c CcCache,
    backend: &PixelBackend,
    msg: &'m Message<'_>,
) -> Option<(Plain<'m>, How<'c>)> {
    let plain = Plain::of(form, msg)?;
    if backend.default_color.is_some() {
        return None;
    }
    let state = cc.known(&asked(plain.m0, plain.m1, backend))?;
    let surface = &target.surface;
    if let Some(shifts) = target.direct
        && state.alpha_test.is_none()
        && direct::applies(state, surface)
    {
        return Some((plain, How::Straight(shifts)));
    }
    let blends = state.blend.is_some() && surface.blend_enable;
    if blends && !surface.format.has(Capability::AlphaBlend) {
        return None;
    }
    let (way, number) = cc.known_way(target.at)?;
    Some((plain, How::Mixed(state, way, number)))
}

/// The pixels of such a message, ready for their turn.
pub(super) fn packed(
    target: (&RenderTarget, Option<Form>),
    cc: &CcCache,
    backend: &PixelBackend,
    msg: &Message<'_>,
    making: &mut Making<'_>,
) -> Option<direct::Packed> {
    let (plain, how) = plain(target, cc, backend, msg)?;
    let surface = &target.0.surface;
    let block = PixelBlock {
        origins: &origins(plain.m1),
        mask: plain.mask(),
        colour: &plain.colour(),
        source1: None,
        sample: 0,
    };
    how.packed((surface, plain.slice(surface)), &block, making)
}

/// The same of a message of sixteen lit pixels. `early`: memory, where the target may be read now.
pub(super) fn whole(
    target: (&RenderTarget, Option<Form>),
    cc: &CcCache,
    backend: &PixelBackend,
    msg: &Message<'_>,
    early: Option<&Memory>,
) -> Option<WholeBlock> {
    let (plain, how) = plain(target, cc, backend, msg)?;
    if plain.mask() != 0xffff {
        return None;
    }
    let surface = &target.0.surface;
    let (slice, origins) = (plain.slice(surface), origins(plain.m1));
    let pixels = how.whole((surface, slice), (&origins, &plain.colour()), early)?;
    Some(WholeBlock {
        slice,
        origins,
        pixels,
    })
}

/// Upper-left pixels of the subspans, from the second header register.
#[inline]
pub(super) fn origins(m1: &Grf) -> Origins {
    std::array::from_fn(|subspan| {
        let word = m1[2 + subspan];
        (word as u16, (word >> 16) as u16)
    })
}

const SHORT: Rule = rules::LENGTH;

/// Serves a Render Target Write; gives the pixels that reached the target.
pub fn write(
    request: &Target<'_>,
    (cc, reader): (&mut CcCache, &dyn FunctionReader),
    backend: &PixelBackend,
    mem: &mut Memory,
    msg: &Message<'_>,
    ctx: &ThreadContext,
    events: &mut Events,
) -> Result<u16, UnitFault> {
    let (target, cache) = (request.target, cc);
    let response = usize::from(msg.response_length) == rules::commit(request.commit);
    rules::ask(response, msg, rules::RESPONSE)?;
    if let Some(plain) = Plain::of(request.form, msg)
        && let Some(shifts) = target.direct
        && backend.default_color.is_none()
    {
        let cc = cache.get(mem, reader, ctx, asked(plain.m0, plain.m1, backend))?;
        if cc.alpha_test.is_none() && direct::applies(cc, &target.surface) {
            return plain.write((&target.surface, request.last), shifts, mem, events);
        }
    }
    let rt = RenderTargetWrite::decode(request, msg).map_err(|rule| refuse("DP", msg, rule))?;
    let [m0, m1] = rt.header;
    let key = asked(m0, m1, backend);
    let (cc, way) = cache.get_with_way(mem, reader, ctx, key, target)?;
    let target = &target.surface;
    // PRM 5.10.6: formats of targets that blend are fewer.
    let blends = cc.blend.is_some() && target.blend_enable && target.kind != SurfaceKind::Null;
    let blendable = !blends || target.format.has(Capability::AlphaBlend);
    rules::ask(blendable, msg, rules::BLEND_FORMAT)?;
    let origins = origins(m1);
    let planes = rt.planes();
    let index = m1[7] >> 16 & 0x7ff;
    let mut mask = m0[0] as u16 & rt.form.slots();
    let source1 = source1(rt.form, rt.colours);
    let dual = "dual source with the alpha test (PRM 5.10.6)";
    rules::ask(source1.is_none() || cc.alpha_test.is_none(), msg, dual)?;
    if cc.alpha_test.is_some() {
        mask = alpha_test(cc, &planes[3], mask);
    }
    if !rt.source_depth.is_empty() || rt.test_stencil {
        mask = late_depth(&rt, cc, backend, mem, (mask, index), origins)?;
        if rt.last && cc.statistics {
            events.depth_count = events.depth_count.wrapping_add(mask.count_ones());
        }
    }
    if rt.last {
        events.scoreboard_clear |= (m0[0] >> 16) as u16 & rt.form.slots();
    }
    let block = PixelBlock {
        origins: &origins,
        mask,
        colour: &planes,
        source1: source1.as_ref(),
        sample: 0,
    };
    let slice = target.target_slice(index);
    match backend.default_color {
        Some(value) => write_constant(mem, target, slice, &block, value),
        None => write_block_by(mem, (cc, way), target, slice, &block),
    }
}

/// The tests that the windower left to the message (PRM 5.10.6.3, M1.6): depth is compared only
/// with destination depth present, and written only by the last render target's message.
fn late_depth(
    rt: &RenderTargetWrite<'_>,
    cc: &CcState,
    backend: &PixelBackend,
    mem: &mut Memory,
    (mask, index): (u16, u32),
    mut origins: Origins,
) -> Result<u16, UnitFault> {
    let Some(buffer) = &backend.depth_buffer else {
        return Ok(mask);
    };
    if buffer.coordinate_offset_disable {
        let (left, top) = backend.drawing_origin;
        for (x, y) in &mut origins {
            (*x, *y) = (x.wrapping_sub(left), y.wrapping_sub(top));
        }
    }
    let depth = rt.depth();
    let outcome = depth_stencil_test(
        mem,
        cc,
        buffer,
        &DepthBlock {
            origins: &origins,
            mask,
            depth: &depth,
            back_facing: rt.header[1][6] & 1 << 31 != 0,
            slice: buffer.target_slice(index),
            sample: 0,
            test_depth: rt.test_depth,
            test_stencil: rt.test_stencil,
            write: rt.last,
        },
    )?;
    Ok(outcome.passed)
}

#[cfg(test)]
mod tests;
