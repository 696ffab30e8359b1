//! First registers of threads on Ironlake: no handle for GS and CLIP.
//!
//! PRM: volume 2, thread payloads; Mesa brw_ff_gs_emit.c `brw_ff_gs_initialize_header` (r0.0 has a handle in generation
//! 4 alone: threads of these units ask for their first entry by FF_SYNC).

use eu::Grf;

use crate::intel::ff::payload::pixels::{Payload, PayloadState, PixelGroup};
use crate::intel::ff::payload::{ObjectHeader, PayloadLayout, SetupHeader};
use crate::intel::ff::state::UnitConfig;
use crate::intel::r#gen::gen40::payload::Layout as Gen40;
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
        Gen40.vertices(unit, first, second, debug)
    }

    fn object(
        &self,
        unit: &UnitConfig,
        entry: UrbHandle,
        object: &ObjectHeader,
        debug: [u32; 2],
    ) -> Grf {
        let mut r0 = Gen40.object(unit, entry, object, debug);
        r0[0] = 0;
        r0
    }

    fn setup(
        &self,
        unit: &UnitConfig,
        entry: UrbHandle,
        setup: &SetupHeader,
        debug: [u32; 2],
    ) -> [Grf; 3] {
        Gen40.setup(unit, entry, setup, debug)
    }

    fn pixels(&self, payload: &mut Payload, state: &PayloadState<'_>, group: &PixelGroup) {
        Gen40.pixels(payload, state, group);
    }
}
