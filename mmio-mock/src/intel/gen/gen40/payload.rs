//! First registers of the threads of VS, GS, CLIP, SF and the windower.
//!
//! PRM: volume 2, pixel shader thread payload; volume 4, 3.3.5 to 3.3.9, 5.10.6.3 (the parts of r0 and r1 that become the header of
//! a render target write). Clip planes in r0.2: Mesa brw_clip_util.c; r1 and r2 of setup threads: brw_compile_sf.c; order
//! of registers of pixel threads (header, subspans, source depth in two registers for either width, stencil and antialias
//! alpha, destination depth in two registers): brw_fs_thread_payload.
//! Not modelled: r0.2 and the low half of r1.7 of pixel threads, which no known kernel reads.

use eu::Grf;

use crate::intel::ff::payload::pixels::{Payload, PayloadState, PixelGroup};
use crate::intel::ff::payload::{ObjectHeader, PayloadLayout, SetupHeader};
use crate::intel::ff::state::UnitConfig;
use crate::intel::shared::context::MessageHandle;
use crate::intel::urb::UrbHandle;

/// The layout of these devices.
#[derive(Debug)]
pub struct Layout;

/// r0 of a thread with what all units put there: sampler pointer and scratch size in DW3, binding table in DW4,
/// scratch base in DW5, debug dwords in DW6 and DW7.
fn header(unit: &UnitConfig, first: UrbHandle, debug: [u32; 2]) -> Grf {
    let context = &unit.context;
    [
        MessageHandle::from(first).dword(),
        0,
        0,
        (context.sampler_state_pointer & !0x1f) | (unit.scratch_power & 0xf),
        context.binding_table_pointer,
        context.scratch_base & !0x3ff,
        debug[0],
        debug[1],
    ]
}

impl PayloadLayout for Layout {
    fn vertices(
        &self,
        unit: &UnitConfig,
        first: UrbHandle,
        second: Option<UrbHandle>,
        debug: [u32; 2],
    ) -> Grf {
        let mut r0 = header(unit, first, debug);
        r0[1] = second.map_or(0, |handle| MessageHandle::from(handle).dword());
        r0
    }

    fn object(
        &self,
        unit: &UnitConfig,
        entry: UrbHandle,
        object: &ObjectHeader,
        debug: [u32; 2],
    ) -> Grf {
        let mut r0 = header(unit, entry, debug);
        r0[2] = object.topology as u32
            | u32::from(object.edges[0]) << 8
            | u32::from(object.edges[1]) << 9
            | (object.outside.user & 0xff) << 14
            | object.outside.planes << 26;
        r0
    }

    fn setup(
        &self,
        unit: &UnitConfig,
        entry: UrbHandle,
        setup: &SetupHeader,
        debug: [u32; 2],
    ) -> [Grf; 3] {
        let deltas = &setup.deltas;
        let r1 = [
            setup.topology as u32 | u32::from(setup.sprite_points) << 16,
            setup.provoking,
            deltas.det.to_bits(),
            deltas.dx0.to_bits(),
            deltas.dx2.to_bits(),
            deltas.dy0.to_bits(),
            deltas.dy2.to_bits(),
            0,
        ];
        let [a, b, c] = setup.depths;
        let r2 = [a.0, a.1, b.0, b.1, c.0, c.1, 0.0, 0.0].map(f32::to_bits);
        [header(unit, entry, debug), r1, r2]
    }

    fn pixels(&self, payload: &mut Payload<'_>, state: &PayloadState<'_>, group: &PixelGroup) {
        let parts = &state.parts;
        let pixels = group.pixel_mask();
        payload.push([
            pixels << 16 | pixels,
            state.color_calc_state & !63,
            0,
            (state.sampler_state & !31) | (state.scratch_space & 15),
            state.binding_table & !31,
            (state.scratch_base & !1023) | u32::from(state.fftid),
            state.debug[0],
            state.debug[1],
        ]);
        let mut r1 = [0; 8];
        r1[0] = state.start[0].to_bits();
        r1[1] = state.start[1].to_bits();
        for (word, s) in r1[2..6].iter_mut().zip(group.subspans()) {
            *word = u32::from(s.y) << 16 | u32::from(s.x);
        }
        // The data port ignores bits 25:0 (PRM vol4 5.10.6.3), kernels do not: Mesa negates the dword to turn
        // the facing round, which takes one other than zero; the topology sees to that (brw_fs_nir.cpp).
        r1[6] = u32::from(state.back_facing) << 31
            | u32::from(state.topology & 31)
            | u32::from(parts.source_depth_to_target) << 29
            | u32::from(parts.destination_depth) << 28
            | u32::from(parts.destination_stencil) << 27
            | u32::from(state.antialias) << 26;
        r1[7] = u32::from(state.viewport_index & 15) << 27
            | u32::from(state.render_target_array_index & 0x7ff) << 16;
        payload.push(r1);
        if parts.source_depth {
            payload.push_pairs(group, |s| s.depth.map(f32::to_bits));
        }
        if parts.destination_stencil || state.antialias {
            let mut r = [0; 8];
            for (i, s) in group.subspans().iter().enumerate() {
                r[i] = s.destination_stencil;
                r[6 + i / 2] |= u32::from(s.alpha) << (i % 2 * 16);
            }
            payload.push(r);
        }
        if parts.destination_depth {
            payload.push_pairs(group, |s| s.destination_depth);
        }
    }
}

#[cfg(test)]
mod tests;
