//! First registers of the threads of HS and DS.
//!
//! Mesa 22.3.6 brw_vec4_generator.cpp: `generate_tcs_get_instance_id` and `generate_tcs_create_barrier_header` (r0.2 of HS threads), `generate_tcs_get_primitive_id`
//! (r0.1), `generate_tcs_output_urb_offsets` (r0.0), `generate_tcs_input_urb_offsets` (handles from r1 on); `generate_tes_create_input_read_header` (r1.3 of DS threads),
//! `generate_tes_get_primitive_id` (r1.7); brw_vec4_tes.cpp, `nir_intrinsic_load_tess_coord` (r1). What lies in r0.3 to r0.7 is the same for all units.

use eu::Grf;

use crate::intel::ff::payload::{DomainHeader, PATCH_REGISTERS, PatchHeader};
use crate::intel::ff::state::UnitConfig;

/// Handles in a register.
const HANDLES: usize = 8;

/// r0 with what all units put there.
fn header(unit: &UnitConfig, debug: [u32; 2]) -> Grf {
    let context = &unit.context;
    [
        0,
        0,
        0,
        (context.sampler_state_pointer & !0x1f) | (unit.scratch_power & 0xf),
        context.binding_table_pointer & !0x1f,
        context.scratch_base & !0x3ff,
        debug[0],
        debug[1],
    ]
}

/// The registers of an HS thread before its constants; comes back with how many they are.
pub fn patch(
    registers: &mut [Grf; PATCH_REGISTERS],
    unit: &UnitConfig,
    patch: &PatchHeader<'_>,
    debug: [u32; 2],
) -> usize {
    let [r0, handles @ ..] = registers;
    *r0 = header(unit, debug);
    r0[0] = patch.entry.0.into();
    r0[1] = patch.number;
    r0[2] = u32::from(patch.instance & 0x7f) << 16 | u32::from(patch.barrier & 0xf) << 12;
    let places = handles.as_flattened_mut().iter_mut();
    for (to, handle) in places.zip(patch.vertices) {
        *to = handle.0.into();
    }
    1 + patch.vertices.len().div_ceil(HANDLES).min(handles.len())
}

/// r0 and r1 of a DS thread.
pub fn domain(unit: &UnitConfig, domain: &DomainHeader, debug: [u32; 2]) -> [Grf; 2] {
    let mut r0 = header(unit, debug);
    let mut r1 = [0; 8];
    let halves = domain.entries.iter().zip(&domain.points).enumerate();
    for (half, (entry, point)) in halves.take(domain.count) {
        let [u, v] = point.uv();
        let w = if domain.third { point.w() } else { 0.0 };
        // PANIC: two halves.
        r0[half] = entry.0.into();
        let places = &mut r1[half * 4..half * 4 + 3];
        for (to, coordinate) in places.iter_mut().zip([u, v, w]) {
            *to = coordinate.to_bits();
        }
    }
    r1[3] = domain.patch.0.into();
    r1[7] = domain.number;
    [r0, r1]
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests;
