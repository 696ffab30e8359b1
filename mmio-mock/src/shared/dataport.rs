//! Data port: buffer, media and render target accesses of threads.
//!
//! PRM: volume 4, chapter 5. Not modelled: the caches; every access sees memory as it is, so a
//! write commit (5.3) and Flush Render Cache (5.10.7) have nothing to wait for.

pub mod buffer;
pub mod media;
pub mod render;

use eu::{Grf, Message};
use mem::Memory;

use super::binding;
use super::context::{Events, ThreadContext};
use super::error::refuse;
use crate::UnitFault;
use crate::cc::direct;
use crate::surface::Surface;
use crate::surface::state::Use;
use buffer::View;
use render::{CcCache, PixelBackend};

/// Binding table index that selects the stateless model.
const STATELESS: u8 = 255;

/// A render target as its surface state describes it.
#[derive(Clone, Debug)]
pub struct RenderTarget {
    /// Address of the surface state.
    at: u32,
    surface: Surface,
    /// Set when pixels can go straight into it.
    direct: Option<direct::Shifts>,
}

/// The data port: views of surfaces derived from state.
#[derive(Clone, Debug, Default)]
pub struct DataPort {
    /// Buffer views by address of their surface state.
    views: Vec<(u32, View)>,
    /// Render targets by address of their surface state.
    targets: Vec<RenderTarget>,
    cc: CcCache,
    /// Pixels written to render targets since reset.
    pub pixels: u64,
}

impl DataPort {
    /// Forgets everything derived from state in memory.
    pub fn invalidate(&mut self) {
        self.views.clear();
        self.targets.clear();
        self.cc.invalidate();
    }

    fn view(
        &mut self,
        msg: &Message<'_>,
        mem: &Memory,
        ctx: &ThreadContext,
    ) -> Result<View, UnitFault> {
        let index = msg.function_control as u8;
        if index == STATELESS {
            let header = msg
                .payload
                .first()
                .ok_or_else(|| refuse("DP", msg, "no message header (PRM 5.10.1.2)"))?;
            return Ok(View::stateless(&ctx.bases, header));
        }
        let at = binding::surface_address(mem, ctx, index)?;
        if let Some((_, view)) = self.views.iter().find(|(key, _)| *key == at.0) {
            return Ok(*view);
        }
        let state = binding::surface_state(mem, at)?;
        let view = View::new(&state)
            .ok_or_else(|| refuse("DP", msg, "surface is no buffer (PRM 5.10.2)"))?;
        if self.views.len() < 64 {
            self.views.push((at.0, view));
        }
        Ok(view)
    }

    fn media(
        msg: &Message<'_>,
        mem: &Memory,
        ctx: &ThreadContext,
    ) -> Result<regs::gen40::SurfaceState, UnitFault> {
        let index = msg.function_control as u8;
        if index == STATELESS {
            return Err(refuse(
                "DP",
                msg,
                "media block without a surface (PRM 5.10.4)",
            ));
        }
        binding::surface_state(mem, binding::surface_address(mem, ctx, index)?)
    }

    fn render(
        &mut self,
        msg: &Message<'_>,
        mem: &mut Memory,
        ctx: &ThreadContext,
        backend: &PixelBackend,
        events: &mut Events,
    ) -> Result<(), UnitFault> {
        let index = msg.function_control as u8;
        if index == STATELESS {
            return Err(refuse(
                "DP",
                msg,
                "render target without a surface (PRM 5.10.6)",
            ));
        }
        let at = binding::surface_address(mem, ctx, index)?;
        let kept = self.targets.iter().position(|t| t.at == at.0);
        let place = if let Some(place) = kept {
            place
        } else {
            let surface = Surface::load(mem, at, "DP", Use::RenderTarget)?;
            if self.targets.len() >= 16 {
                self.targets.clear();
            }
            self.targets.push(RenderTarget {
                at: at.0,
                direct: direct::shifts(&surface),
                surface,
            });
            self.targets.len() - 1
        };
        // PANIC: the position was just found or made.
        let target = &self.targets[place];
        let written = render::write(target, &mut self.cc, backend, mem, msg, ctx, events)?;
        self.pixels += u64::from(written.count_ones());
        Ok(())
    }

    /// Serves a message to the read port (SFID 4).
    pub fn read(
        &mut self,
        msg: &Message<'_>,
        response: &mut [Grf],
        mem: &Memory,
        ctx: &ThreadContext,
    ) -> Result<(), UnitFault> {
        if msg.eot {
            return Err(refuse(
                "DP",
                msg,
                "end of thread at the read port (PRM 5.10.1)",
            ));
        }
        match msg.function_control >> 12 & 3 {
            0 => buffer::read_block(self.view(msg, mem, ctx)?, mem, msg, response),
            1 => buffer::read_dual(self.view(msg, mem, ctx)?, mem, msg, response),
            2 => media::read(&Self::media(msg, mem, ctx)?, mem, msg, response),
            _ => buffer::read_scattered(self.view(msg, mem, ctx)?, mem, msg, response),
        }
    }

    /// Serves a message to the write port (SFID 5).
    pub fn write(
        &mut self,
        msg: &Message<'_>,
        mem: &mut Memory,
        ctx: &ThreadContext,
        backend: &PixelBackend,
        events: &mut Events,
    ) -> Result<(), UnitFault> {
        match msg.function_control >> 12 & 7 {
            0 => buffer::write_block(self.view(msg, mem, ctx)?, mem, msg),
            1 => buffer::write_dual(self.view(msg, mem, ctx)?, mem, msg),
            2 => {
                let state = Self::media(msg, mem, ctx)?;
                media::write(&state, mem, msg)
            }
            3 => buffer::write_scattered(self.view(msg, mem, ctx)?, mem, msg),
            4 => self.render(msg, mem, ctx, backend, events),
            // Flush Render Cache: memory is always up to date.
            7 => Ok(()),
            _ => Err(refuse("DP", msg, "reserved write message (PRM 5.10.1.1)")),
        }
    }
}

#[cfg(test)]
mod tests;
