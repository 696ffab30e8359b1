//! What the shared functions ask of a generation: structures as plain state.
//!
//! A function asks once for each structure and keeps what it got until state changes.

use std::fmt::Debug;

use mem::{Fault, GpuAddr, Memory};

use super::context::StateBases;
use super::sampler::{BlockReader, SamplerDesc};
use crate::core::fault::UnitFault;
use crate::intel::cc::state::{CcRequest, CcState};
use crate::intel::surface::border::BorderColor;
use crate::intel::surface::{DepthDesc, SurfaceDesc};

/// Reads the structures of a generation.
pub trait FunctionReader: Debug + Sync {
    /// A SURFACE_STATE; missing dwords are zero.
    fn surface(&self, words: &[u32]) -> SurfaceDesc;

    /// The SURFACE_STATE at an address.
    fn surface_at(&self, mem: &Memory, at: GpuAddr) -> Result<SurfaceDesc, Fault>;

    /// A 3DSTATE_DEPTH_BUFFER, header included; missing dwords are zero.
    fn depth_buffer(&self, command: &[u32]) -> DepthDesc;

    /// The SAMPLER_STATE of a number in the table at an address.
    fn sampler(&self, mem: &Memory, table: GpuAddr, number: u8) -> Result<SamplerDesc, Fault>;

    /// What the sampler's messages of SIMD32/64 have for themselves; `None`: there are no such messages.
    fn blocks(&self) -> Option<&'static dyn BlockReader> {
        None
    }

    /// The border colour at an address.
    fn border(&self, mem: &Memory, at: GpuAddr) -> Result<BorderColor, Fault>;

    /// State of the colour calculator with one of its viewports.
    fn color_calc(
        &self,
        mem: &Memory,
        bases: &StateBases,
        request: &CcRequest,
    ) -> Result<CcState, UnitFault>;
}
