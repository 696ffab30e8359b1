//! What serves messages of threads that are computed aside.
//!
//! Nothing of the engine changes.

use eu::{Grf, Message};
use mem::{GpuAddr, Memory};

use super::lanes::{Class, Fetch, Lanes, Pages};
use super::message::{Params, Request, SamplerRequest};
use super::{SamplingEngine, kill_mask};
use crate::intel::shared::binding;
use crate::intel::shared::context::ThreadContext;

/// What serves a message, and others that differ in their pixels alone: where there is a header, in that, too.
#[derive(Clone, Debug)]
pub struct Ready<'a> {
    request: Request,
    header: bool,
    surface: GpuAddr,
    by: By<'a>,
    pub(super) pages: Option<Pages>,
}

/// What serves it.
#[derive(Clone, Debug)]
enum By<'a> {
    /// All pixels at once, under a sampler.
    Lanes(&'a Lanes),
    /// All pixels at once, without one.
    Fetch(&'a Fetch),
    /// Pixel by pixel without a sampler: a surface by its place.
    Alone(&'a SamplingEngine, usize),
}

impl SamplingEngine {
    /// What serves messages like this one with what is kept, and changes nothing of the engine. `None`: that is not possible, and
    /// [`execute`](Self::execute) has to serve it.
    pub fn ready(
        &self,
        request: &SamplerRequest,
        msg: &Message<'_>,
        mem: &Memory,
        ctx: &ThreadContext,
    ) -> Option<Ready<'_>> {
        let header = request.header;
        let request = Request::decode(request, msg, ctx.sampler_state_pointer).ok()?;
        let at = binding::surface_address(mem, ctx, request.surface).ok()?;
        let surface = self.surfaces.iter().position(|(key, ..)| *key == at)?;
        let (by, pages) = if request.shape.op.is_unfiltered() {
            self.unsampled(&request, surface, mem)
        } else {
            let lanes = self.sampled(&request, surface, mem, ctx)?;
            (By::Lanes(lanes), lanes.pages(mem))
        };
        Some(Ready {
            request,
            header,
            surface: at,
            by,
            pages,
        })
    }

    /// What serves a message without a sampler.
    fn unsampled(
        &self,
        request: &Request,
        surface: usize,
        mem: &Memory,
    ) -> (By<'_>, Option<Pages>) {
        let mut known = self.fetches.iter();
        if Fetch::serves(request, &self.quirks)
            && let Some((_, Some(fetch))) = known.find(|(key, _)| *key == surface)
            && self.converts(fetch.linearize)
        {
            return (By::Fetch(fetch), fetch.pages(mem));
        }
        (By::Alone(self, surface), None)
    }

    /// What serves a message under a sampler.
    fn sampled(
        &self,
        request: &Request,
        surface: usize,
        mem: &Memory,
        ctx: &ThreadContext,
    ) -> Option<&Lanes> {
        if !Lanes::serves(request, &self.quirks) {
            return None;
        }
        let table = GpuAddr::from(ctx.bases.dynamic()).offset(request.sampler_pointer);
        let sampler = (mem.on_bus(table), request.sampler);
        let sampler = self.samplers.iter().position(|(key, _)| *key == sampler)?;
        let pair = (surface, sampler, Class::of(request));
        let (_, lanes) = self.lanes.iter().find(|(key, _)| *key == pair)?;
        let lanes = lanes.as_deref()?;
        (self.converts(lanes.linearize) && lanes.takes(request)).then_some(lanes)
    }
}

impl Ready<'_> {
    /// Whether the next message may differ: it has a header.
    pub fn has_header(&self) -> bool {
        self.header
    }

    /// Address of the state of the surface that is sampled.
    pub fn surface(&self) -> GpuAddr {
        self.surface
    }

    /// Serves a message. Comes back with how many pixels there were; `None`: a texel cannot be read, and what has been written is of no account.
    pub fn serve(&self, msg: &Message<'_>, mem: &Memory, response: &mut [Grf]) -> Option<u32> {
        let params = Params::new(msg, self.request.shape, self.header);
        let active = self.request.shape.active(msg.exec_mask);
        let message = (&self.request, &params);
        let from = (mem, self.pages.as_ref());
        match &self.by {
            By::Lanes(lanes) => {
                lanes.run(message, active, from, response)?;
                kill_mask(&self.request, 0, response);
            }
            By::Fetch(fetch) => fetch.run(message, active, from, response)?,
            By::Alone(engine, surface) => {
                let job = engine.unfiltered(*surface, message);
                job.run(mem, active, response).ok()?;
            }
        }
        Some(active.count_ones())
    }
}
