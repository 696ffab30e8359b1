//! Data port: buffer, media and render target accesses of threads.
//!
//! PRM: volume 4, chapter 5. Not modelled: the caches; every access sees memory as it is, so a
//! write commit (5.3) and Flush Render Cache (5.10.7) have nothing to wait for.

pub mod access;
pub mod buffer;
pub mod fill;
pub mod made;
pub mod media;
pub mod pixels;
pub mod render;
pub mod request;
pub mod rules;

use std::collections::BTreeMap;

use eu::{Grf, Message};
use mem::{GpuAddr, Memory};

use super::binding;
use super::context::{Events, OneColour, ThreadContext, ThreadPixels};
use super::error::refuse;
use super::reader::FunctionReader;
use crate::UnitFault;
use crate::intel::cc::control;
use crate::intel::cc::direct::{self, Packed};
use crate::intel::cc::pixel::lanes::Mixed;
use crate::intel::cc::whole::{self, Whole, WholeBlock};
use crate::intel::surface::state::Use;
use crate::intel::surface::{
    Capability, DepthBuffer, Disagreement, Surface, SurfaceDesc, SurfaceKind,
};
use buffer::{Lost, View};
use made::Making;
use render::{CcCache, DualSource, PixelBackend, Target};
use request::{Cache, Form, PixelWrite, ReadKind, ReadRequest, WriteKind, WriteRequest};

/// Binding table index that selects the stateless model.
const STATELESS: u8 = 255;

/// Bytes that the base address of a buffer is a multiple of, by message (PRM 5.10.2, 5.10.5).
const OWORD: u32 = 16;
const DWORD: u32 = 4;

/// A render target as its surface state describes it.
#[derive(Clone, Debug)]
pub struct RenderTarget {
    /// Address of the surface state.
    at: GpuAddr,
    surface: Surface,
    /// Set when pixels can go straight into it.
    direct: Option<direct::Shifts>,
}

/// Bytes that messages asked for past the end of a surface: reads got zeros, writes were dropped (PRM 5.10.2, 5.10.4).
///
/// Writes of media blocks count when nothing of the block is inside; reads of media blocks do not count, since what lies
/// outside of an image is its edge.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Outside {
    /// Read.
    pub reads: u64,
    /// Written.
    pub writes: u64,
}

/// The data port: views of surfaces derived from state.
#[derive(Clone, Debug)]
pub struct DataPort {
    reader: &'static dyn FunctionReader,
    /// Buffer views by address of their surface state.
    views: Vec<(GpuAddr, View)>,
    /// Render targets by address of their surface state.
    targets: Vec<RenderTarget>,
    /// Buffers of untyped messages, by address of their surface state.
    raws: Vec<(GpuAddr, access::Raw)>,
    /// Surfaces of typed messages, in the same way.
    texels: Vec<(GpuAddr, access::Texels)>,
    cc: CcCache,
    /// Dual source messages of the device.
    pub dual_source: DualSource,
    /// The part takes stateless accesses only with SVG_WORK_CTL bit 4 (PRM 5.2.2, erratum of DevBW-A,B).
    pub stateless_gated: bool,
    /// Whether that bit is set.
    pub stateless_allowed: bool,
    /// Pixels written to render targets since reset.
    pub pixels: u64,
    /// Render targets since reset that did not go with others or the depth buffer (PRM 4.7.2).
    pub disagreements: u64,
    /// The first of them since the last [`SharedFunctions::take_notes`](super::SharedFunctions::take_notes).
    pub disagreement: Option<Disagreement>,
    /// Accesses past the end of surfaces since reset, by binding table index; few have any.
    pub outside: BTreeMap<u8, Outside>,
}

impl DataPort {
    /// A data port after reset, for the structures of a generation.
    pub fn new(reader: &'static dyn FunctionReader) -> Self {
        DataPort {
            reader,
            views: Vec::new(),
            targets: Vec::new(),
            raws: Vec::new(),
            texels: Vec::new(),
            cc: CcCache::default(),
            dual_source: DualSource::default(),
            stateless_gated: false,
            stateless_allowed: false,
            pixels: 0,
            disagreements: 0,
            disagreement: None,
            outside: BTreeMap::new(),
        }
    }

    /// Forgets everything derived from state in memory.
    pub fn invalidate(&mut self) {
        self.views.clear();
        self.targets.clear();
        self.raws.clear();
        self.texels.clear();
        self.cc.invalidate();
    }

    /// The buffer that a message of elements of `unit` bytes goes to.
    fn view(
        &mut self,
        index: u8,
        msg: &Message<'_>,
        mem: &Memory,
        ctx: &ThreadContext,
        unit: u32,
    ) -> Result<View, UnitFault> {
        if index == STATELESS {
            // The manual leaves open what happens otherwise; the error word has a bit for it.
            let kept = self.stateless_allowed || !self.stateless_gated;
            rules::ask(kept, msg, rules::STATELESS)?;
            return Ok(View::stateless(&ctx.bases, buffer::header(msg)?));
        }
        let at = binding::surface_address(mem, ctx, index)?;
        let view = if let Some(view) = self.kept_view(at) {
            view
        } else {
            let desc = self.reader.surface_at(mem, at)?;
            let view = View::new(&desc).map_err(|rule| refuse("DP", msg, rule))?;
            if self.views.len() < 64 {
                self.views.push((at, view));
            }
            view
        };
        rules::ask(view.aligned(unit), msg, rules::ALIGNMENT)?;
        Ok(view)
    }

    /// The view that is kept of a surface state.
    #[must_use]
    pub fn kept_view(&self, at: GpuAddr) -> Option<View> {
        let known = self.views.iter().find(|(key, _)| *key == at);
        known.map(|&(_, view)| view)
    }

    fn media(
        &self,
        index: u8,
        msg: &Message<'_>,
        mem: &Memory,
        ctx: &ThreadContext,
    ) -> Result<SurfaceDesc, UnitFault> {
        rules::ask(index != STATELESS, msg, rules::STATELESS)?;
        let at = binding::surface_address(mem, ctx, index)?;
        Ok(self.reader.surface_at(mem, at)?)
    }

    /// The render target that is kept of a surface state.
    #[must_use]
    pub fn kept(&self, at: GpuAddr) -> Option<&Surface> {
        let mut kept = self.targets.iter();
        kept.find(|target| target.at == at)
            .map(|target| &target.surface)
    }

    /// The place of a message's render target among those that are kept.
    fn target(
        &mut self,
        index: u8,
        msg: &Message<'_>,
        mem: &mut Memory,
        ctx: &ThreadContext,
        backend: &PixelBackend,
    ) -> Result<usize, UnitFault> {
        rules::ask(index != STATELESS, msg, rules::STATELESS)?;
        let at = binding::surface_address(mem, ctx, index)?;
        let kept = self.targets.iter().position(|t| t.at == at);
        if let Some(place) = kept {
            return Ok(place);
        }
        let desc = self.reader.surface_at(mem, at)?;
        let renders = desc.format.is_some_and(|f| f.has(Capability::RenderTarget));
        let null = desc.kind == Ok(SurfaceKind::Null);
        rules::ask(renders || null, msg, rules::FORMAT)?;
        let surface = Surface::new(mem, &desc, Use::RenderTarget);
        let surface = surface.map_err(|e| e.at("DP", at))?;
        // PRM 5.10.6: no surface in field mode.
        rules::ask(surface.geometry.line_stride == 0, msg, rules::SURFACE)?;
        if self.targets.len() >= 16 {
            self.targets.clear();
            self.cc.forget_ways();
        }
        self.compare(&surface, backend);
        if backend.pass.is_none() {
            control::settle(mem, &surface)?;
        }
        self.targets.push(RenderTarget {
            at,
            direct: direct::shifts(&surface),
            surface,
        });
        Ok(self.targets.len() - 1)
    }

    #[expect(
        clippy::too_many_arguments,
        reason = "a pixel meets all state there is"
    )]
    fn render(
        &mut self,
        request: WriteRequest,
        (form, last): (Option<Form>, bool),
        msg: &Message<'_>,
        mem: &mut Memory,
        ctx: &ThreadContext,
        backend: &PixelBackend,
        events: &mut Events,
    ) -> Result<(), UnitFault> {
        self.dual_source.check(form, msg)?;
        let place = self.target(request.surface, msg, mem, ctx, backend)?;
        // PANIC: the position was just found or made.
        let target = &self.targets[place];
        let target = Target {
            target,
            form,
            last,
            commit: request.commit,
        };
        let cc = (&mut self.cc, self.reader);
        let written = render::write(&target, cc, backend, mem, msg, ctx, events)?;
        self.written(written, (place, request.surface), events);
        Ok(())
    }

    #[expect(
        clippy::too_many_arguments,
        reason = "a pixel meets all state there is"
    )]
    fn pixels(
        &mut self,
        request: WriteRequest,
        pixels: PixelWrite,
        msg: &Message<'_>,
        mem: &mut Memory,
        ctx: &ThreadContext,
        backend: &PixelBackend,
        events: &mut Events,
    ) -> Result<(), UnitFault> {
        self.dual_source.check(pixels.form, msg)?;
        let answer = rules::commit(request.commit);
        rules::ask(
            usize::from(msg.response_length) == answer,
            msg,
            rules::RESPONSE,
        )?;
        let place = self.target(request.surface, msg, mem, ctx, backend)?;
        let write = pixels::Write {
            // PANIC: the position was just found or made.
            target: &self.targets[place],
            request: pixels,
            backend,
            ctx,
        };
        let written = write.run((&mut self.cc, self.reader), mem, msg, events)?;
        if backend.pass.is_some() {
            // Whoever draws to it next looks whether blocks are cleared.
            self.targets.clear();
            self.cc.forget_ways();
            return Ok(());
        }
        self.written(written, (place, request.surface), events);
        Ok(())
    }

    /// The target whose state is at an address, where messages without a header like this one do nothing but write pixels straight into
    /// it, from threads of the primitive that these pixels are of.
    #[must_use]
    pub fn ready<'a>(
        &'a self,
        (request, at): (WriteRequest, GpuAddr),
        ctx: &'a ThreadContext,
        backend: &'a PixelBackend,
        kept: &ThreadPixels,
    ) -> Option<pixels::Ready<'a>> {
        let WriteKind::Pixels(pixels) = request.kind else {
            return None;
        };
        let write = pixels::Write {
            target: self.targets.iter().find(|target| target.at == at)?,
            request: pixels,
            backend,
            ctx,
        };
        write.ready(&self.cc, kept).filter(|_| !request.commit)
    }

    /// The pixels of a message that does nothing but write them into the target whose state is at an address; `None` for a
    /// message that takes [`write`](Self::write). Nobody waits for an answer to it.
    #[must_use]
    pub fn packed(
        &self,
        (request, at): (WriteRequest, GpuAddr),
        msg: &Message<'_>,
        ctx: &ThreadContext,
        backend: &PixelBackend,
        (kept, making): (Option<&ThreadPixels>, &mut Making<'_>),
    ) -> Option<(GpuAddr, Packed)> {
        let target = self.targets.iter().find(|target| target.at == at)?;
        if request.commit {
            return None;
        }
        let packed = match request.kind {
            WriteKind::RenderTarget { form, .. } => {
                render::packed((target, form), &self.cc, backend, msg, making)
            }
            WriteKind::Pixels(request) => {
                let write = pixels::Write {
                    target,
                    request,
                    backend,
                    ctx,
                };
                write.packed(&self.cc, msg, kept?, making)
            }
            _ => None,
        };
        Some((at, packed?))
    }

    /// Whether the state that is kept has an alpha test.
    #[must_use]
    pub fn tests_alpha(&self) -> bool {
        self.cc.tests_alpha()
    }

    /// The same of a message of sixteen lit pixels.
    #[must_use]
    pub fn whole(
        &self,
        (request, at): (WriteRequest, GpuAddr),
        msg: &Message<'_>,
        ctx: &ThreadContext,
        backend: &PixelBackend,
        (kept, early): (Option<&ThreadPixels>, Option<&Memory>),
    ) -> Option<WholeBlock> {
        let target = self.targets.iter().find(|target| target.at == at)?;
        if request.commit {
            return None;
        }
        match request.kind {
            WriteKind::RenderTarget { form, .. } => {
                render::whole((target, form), &self.cc, backend, msg, early)
            }
            WriteKind::Pixels(request) => {
                let write = pixels::Write {
                    target,
                    request,
                    backend,
                    ctx,
                };
                write.whole(&self.cc, msg, (kept?, early))
            }
            _ => None,
        }
    }

    /// Writes the pixels of threads of a row, of which the first begins with a subspan of the square at a pixel, to a slice of the
    /// target whose state is at an address. Comes back with how many threads' pixels were written before one could not be.
    pub fn write_row(
        &mut self,
        mem: &mut Memory,
        (at, slice): (GpuAddr, u32),
        first: ((u16, u16), u8),
        threads: &[Whole],
    ) -> usize {
        let Some(target) = self.targets.iter().find(|target| target.at == at) else {
            return 0;
        };
        let row = whole::Row {
            target: &target.surface,
            slice,
            at: first.0,
            first: first.1.into(),
        };
        let (written, pixels) = row.write(mem, threads);
        self.pixels += pixels;
        written
    }

    /// Writes such pixels; `false`, with nothing done, when the target or the state is not kept any more, and when mixed ones are
    /// written one by one.
    #[inline]
    pub fn write_packed(
        &mut self,
        mem: &mut Memory,
        (at, packed): &(GpuAddr, Packed),
        mixed: &Mixed,
    ) -> Result<bool, UnitFault> {
        self.pixels += match packed {
            Packed::Square { place, rows } => {
                mem.write_square(place, rows)?;
                16
            }
            Packed::Pixels(pixels) => {
                let Some(target) = self.targets.iter().find(|target| target.at == *at) else {
                    return Ok(false);
                };
                u64::from(pixels.write(mem, &target.surface)?.count_ones())
            }
            Packed::Mixed => {
                let way = self.cc.known_way(*at);
                let way = way.filter(|(_, number)| *number == mixed.state());
                let Some(written) = way.and_then(|(way, _)| mixed.write(mem, way)) else {
                    return Ok(false);
                };
                u64::from(written.count_ones())
            }
        };
        Ok(true)
    }

    /// Counts pixels, and says where a square of one colour went: the place of its target, and the index in the binding table.
    #[inline]
    fn written(&mut self, pixels: u16, (place, index): (usize, u8), events: &mut Events) {
        // Most have all, and few hosts are built for with an instruction that counts.
        self.pixels += match pixels {
            0xffff => 16,
            some => u64::from(some.count_ones()),
        };
        if events.watch_colour {
            let target = self.targets.get(place).map(|t| t.at);
            let colour = events.one_colour.zip(target);
            events.one_colour = colour.map(|(colour, target)| OneColour {
                target,
                index,
                ..colour
            });
        }
    }

    /// Tells of a target that does not go with the others of the draw and the depth buffer. The manual does not say what becomes of
    /// it; it is rendered by its own state.
    fn compare(&mut self, surface: &Surface, backend: &PixelBackend) {
        let shape = surface.shape();
        let depth = backend.depth_buffer.as_ref().and_then(DepthBuffer::shape);
        let others = self.targets.iter().map(|t| t.surface.shape());
        let differs = |other| shape.disagreement(&other);
        let Some(what) = depth.into_iter().chain(others).find_map(differs) else {
            return;
        };
        self.disagreement.get_or_insert(what);
        self.disagreements += 1;
    }

    /// Serves a message to the read port (SFID 4).
    pub fn read(
        &mut self,
        request: ReadRequest,
        msg: &Message<'_>,
        response: &mut [Grf],
        mem: &Memory,
        ctx: &ThreadContext,
    ) -> Result<(), UnitFault> {
        rules::ask(!msg.eot, msg, rules::EOT)?;
        rules::ask(request.cache != Cache::Reserved, msg, rules::CACHE)?;
        let index = request.surface;
        if let ReadKind::Media(lines) = request.kind {
            // PRM 5.10.4: the data cache has no rectangles.
            rules::ask(request.cache != Cache::Data, msg, rules::CACHE)?;
            let desc = self.media(index, msg, mem, ctx)?;
            return media::read(&desc, lines, mem, msg, response);
        }
        let Some(unit) = unit(request.kind) else {
            return Err(refuse("DP", msg, "reserved read message (PRM 5.10.1.1)"));
        };
        let view = self.view(index, msg, mem, ctx, unit)?;
        let lost = read_buffer(view, request, mem, msg, response)?;
        if lost != Lost::default() {
            self.lose(index, lost);
        }
        Ok(())
    }

    /// Serves a message to the read port without a count of what lies past the end, when a view of the buffer is kept: the
    /// address of the surface state, and the bytes to count. `None` for any other message.
    pub fn read_kept(
        &self,
        request: ReadRequest,
        msg: &Message<'_>,
        response: &mut [Grf],
        mem: &Memory,
        ctx: &ThreadContext,
    ) -> Option<(GpuAddr, Lost)> {
        let unit = unit(request.kind).filter(|_| !msg.eot)?;
        if request.surface == STATELESS || request.cache == Cache::Reserved {
            return None;
        }
        let at = binding::surface_address(mem, ctx, request.surface).ok()?;
        let view = self.kept_view(at).filter(|view| view.aligned(unit))?;
        let lost = read_buffer(view, request, mem, msg, response).ok()?;
        Some((at, lost))
    }

    /// Counts bytes that were read past the end of the surface of an index.
    #[cold]
    pub fn lose(&mut self, index: u8, lost: Lost) {
        self.outside(index).reads += u64::from(lost.0);
    }

    /// Serves a message to the write port (SFID 5).
    pub fn write(
        &mut self,
        request: WriteRequest,
        msg: &Message<'_>,
        mem: &mut Memory,
        ctx: &ThreadContext,
        backend: &PixelBackend,
        events: &mut Events,
    ) -> Result<(), UnitFault> {
        match request.kind {
            WriteKind::RenderTarget { form, last } => {
                return self.render(request, (form, last), msg, mem, ctx, backend, events);
            }
            WriteKind::Pixels(pixels) => {
                return self.pixels(request, pixels, msg, mem, ctx, backend, events);
            }
            _ => {}
        }
        rules::ask(!msg.eot, msg, rules::EOT)?;
        let index = request.surface;
        let answer = rules::commit(request.commit);
        let counted = |view: View, unit| view.counting(if request.elements { unit } else { 1 });
        let lost = match request.kind {
            WriteKind::Block(size) => {
                let view = counted(self.view(index, msg, mem, ctx, OWORD)?, OWORD);
                buffer::write_block(view, size, answer, mem, msg)?
            }
            WriteKind::DualBlock(count) => {
                let view = counted(self.view(index, msg, mem, ctx, OWORD)?, OWORD);
                buffer::write_dual(view, count, answer, mem, msg)?
            }
            WriteKind::Media(lines) => {
                let desc = self.media(index, msg, mem, ctx)?;
                media::write(&desc, lines, answer, mem, msg)?
            }
            WriteKind::Scattered(registers) => {
                let view = counted(self.view(index, msg, mem, ctx, DWORD)?, DWORD);
                buffer::write_scattered(view, registers, answer, mem, msg)?
            }
            WriteKind::Stream => {
                let desc = self.media(index, msg, mem, ctx)?;
                buffer::write_element(&desc, answer, mem, msg)?
            }
            // Memory is always up to date.
            WriteKind::Flush => return rules::lengths(msg, 1, answer),
            WriteKind::RenderTarget { .. } | WriteKind::Pixels(_) | WriteKind::Reserved => {
                return Err(refuse("DP", msg, "reserved write message (PRM 5.10.1.1)"));
            }
        };
        if lost != Lost::default() {
            self.outside(index).writes += u64::from(lost.0);
        }
        Ok(())
    }

    /// The counters of the surface of an index.
    #[cold]
    fn outside(&mut self, index: u8) -> &mut Outside {
        self.outside.entry(index).or_default()
    }
}

/// Bytes that the base of the buffer is a multiple of that a message reads, and that its offsets may count; `None` where it
/// reads none.
const fn unit(kind: ReadKind) -> Option<u32> {
    match kind {
        ReadKind::Block(_) | ReadKind::DualBlock(_) => Some(OWORD),
        ReadKind::Scattered(_) => Some(DWORD),
        ReadKind::Media(_) | ReadKind::Reserved => None,
    }
}

/// Reads from a buffer; nothing for a message that reads none.
fn read_buffer(
    view: View,
    request: ReadRequest,
    mem: &Memory,
    msg: &Message<'_>,
    response: &mut [Grf],
) -> Result<Lost, UnitFault> {
    let unit = unit(request.kind).filter(|_| request.elements);
    let view = view.counting(unit.unwrap_or(1));
    match request.kind {
        ReadKind::Block(size) => buffer::read_block(view, size, mem, msg, response),
        ReadKind::DualBlock(count) => buffer::read_dual(view, count, mem, msg, response),
        ReadKind::Scattered(registers) => {
            buffer::read_scattered(view, registers, mem, msg, response)
        }
        ReadKind::Media(_) | ReadKind::Reserved => Ok(Lost::default()),
    }
}

#[cfg(test)]
mod tests;
