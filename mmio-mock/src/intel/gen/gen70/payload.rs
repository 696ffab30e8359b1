//! First registers of threads on ValleyView.
//!
//! Mesa 22.3.6 brw_fs_thread_payload.cpp `setup_fs_payload_gfx6` (pixel shaders, as on Sandy Bridge, with the covered samples behind the
//! offsets), brw_vec4_vs_visitor (r0 of VS threads has the handles of both vertices).

pub mod geometry;
pub mod tessellation;

use eu::Grf;

use crate::intel::ff::payload::pixels::{Payload, PayloadState, PixelGroup};
use crate::intel::ff::payload::{
    DomainHeader, GEOMETRY_REGISTERS, GeometryHeader, ObjectHeader, PATCH_REGISTERS, PatchHeader,
    PayloadLayout, SetupHeader,
};
use crate::intel::ff::state::UnitConfig;
use crate::intel::r#gen::gen60::payload::Layout as Gen60;
use crate::intel::urb::UrbHandle;

/// The layout of these devices.
#[derive(Debug)]
pub struct Layout;

impl PayloadLayout for Layout {
    fn vertices(
        &self,
        unit: &UnitConfig,
        first: UrbHandle,
        second: Option<UrbHandle>,
        debug: [u32; 2],
    ) -> Grf {
        Gen60.vertices(unit, first, second, debug)
    }

    fn object(
        &self,
        unit: &UnitConfig,
        entry: UrbHandle,
        object: &ObjectHeader,
        debug: [u32; 2],
    ) -> Grf {
        Gen60.object(unit, entry, object, debug)
    }

    fn patch(
        &self,
        registers: &mut [Grf; PATCH_REGISTERS],
        unit: &UnitConfig,
        header: &PatchHeader<'_>,
        debug: [u32; 2],
    ) -> usize {
        tessellation::patch(registers, unit, header, debug)
    }

    fn domain(&self, unit: &UnitConfig, header: &DomainHeader, debug: [u32; 2]) -> [Grf; 2] {
        tessellation::domain(unit, header, debug)
    }

    fn geometry(
        &self,
        registers: &mut [Grf; GEOMETRY_REGISTERS],
        header: &GeometryHeader<'_>,
        debug: [u32; 2],
    ) -> usize {
        geometry::geometry(registers, header, debug)
    }

    fn setup(
        &self,
        unit: &UnitConfig,
        entry: UrbHandle,
        setup: &SetupHeader,
        debug: [u32; 2],
    ) -> [Grf; 3] {
        // No unit of these devices starts such threads.
        Gen60.setup(unit, entry, setup, debug)
    }

    fn pixels(&self, payload: &mut Payload<'_>, state: &PayloadState<'_>, group: &PixelGroup) {
        Gen60.pixels(payload, state, group);
    }

    fn whole(
        &self,
        registers: &mut [Grf],
        state: &PayloadState<'_>,
        origins: &[(u16, u16); 4],
    ) -> usize {
        Gen60.whole(registers, state, origins)
    }
}
