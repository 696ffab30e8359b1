//! 3DSTATE_HS, TE and DS as plain state of the units.
//!
//! genxml gen7; where factors lie in a patch: Mesa 22.3.6 brw_nir.c, `remap_tess_levels`. Not modelled: limits on the number of threads, and the
//! semaphore of HS, by which threads on hardware take turns.

use regs::gen70 as table;
use tess::{Domain, Limits, Output, Partitioning, Setting};

use crate::intel::ff::state::tessellation::FactorPlaces;
use crate::intel::ff::state::{DsState, HsState, TeState, UnitConfig};
use crate::intel::r#gen::gen60::units::REGISTERS;
use crate::intel::shared::context::ThreadContext;
use crate::intel::td::{KernelState, Pushed};

/// Rows of 256 bits in the 64 bytes that entry sizes count.
const ROWS_PER_UNIT: u16 = 2;

/// Reads a 3DSTATE_HS and a 3DSTATE_URB_HS, headers included; `None` while the unit is switched off. `context` gives what
/// threads know besides their registers, from the base and the size of the scratch space.
pub fn hs(
    hs: &[u32],
    urb: &[u32],
    context: impl FnOnce((u32, u32)) -> ThreadContext,
    pushed: Option<Pushed>,
) -> Option<HsState> {
    let s = table::State3dHs::from_dwords(hs);
    let urb = table::State3dUrbHs::from_dwords(urb);
    let scratch = (s.scratch_space_base_pointer(), s.per_thread_scratch_space());
    // CAST: fields of at most sixteen bits.
    s.enable().then(|| HsState {
        unit: UnitConfig {
            kernel: KernelState {
                ip: s.kernel_start_pointer(),
                grf_count: REGISTERS,
                alt_float: s.floating_point_mode() != 0,
                single_program_flow: s.single_program_flow(),
                illegal_opcode_exception: s.illegal_opcode_exception_enable(),
                software_exception: s.software_exception_enable(),
                urb_start: s.dispatch_grf_start_register_for_urb_data() as u8,
                ..KernelState::default()
            },
            context: context(scratch),
            read_offset: s.vertex_urb_entry_read_offset() as u16,
            read_rows: s.vertex_urb_entry_read_length() as u16,
            pushed,
            urb_entries: urb.hs_number_of_urb_entries() as u16,
            urb_entry_rows: (urb.hs_urb_entry_allocation_size() as u16 + 1) * ROWS_PER_UNIT,
            scratch_power: s.per_thread_scratch_space(),
            statistics: s.statistics_enable(),
            ..UnitConfig::default()
        },
        instances: s.instance_count() as u8 + 1,
        vertex_handles: s.include_vertex_handles(),
    })
}

/// Reads a 3DSTATE_TE, header included; `None` while the unit is switched off.
pub fn te(te: &[u32]) -> Option<TeState> {
    let s = table::State3dTe::from_dwords(te);
    let domain = match s.te_domain() {
        0 => Domain::Quad,
        1 => Domain::Triangle,
        _ => Domain::Isoline,
    };
    s.te_enable().then(|| TeState {
        setting: Setting {
            domain,
            partitioning: match s.partitioning() {
                1 => Partitioning::OddFractional,
                2 => Partitioning::EvenFractional,
                _ => Partitioning::Integer,
            },
            output: match s.output_topology() {
                0 => Output::Points,
                1 => Output::Lines,
                2 => Output::Clockwise,
                _ => Output::CounterClockwise,
            },
            limits: Limits {
                odd: s.maximum_tessellation_factor_odd(),
                not_odd: s.maximum_tessellation_factor_not_odd(),
            },
        },
        places: places(domain),
        software: s.te_mode() != 0,
    })
}

/// The dwords of a patch that have its factors: the edges of quadrilaterals and triangles from the last dword of the header down.
const fn places(domain: Domain) -> FactorPlaces {
    match domain {
        Domain::Quad => FactorPlaces {
            outside: [7, 6, 5, 4],
            inside: [3, 2],
        },
        Domain::Triangle => FactorPlaces {
            outside: [7, 6, 5, 4],
            inside: [4, 4],
        },
        // The number of lines, and their segments.
        Domain::Isoline => FactorPlaces {
            outside: [6, 7, 7, 7],
            inside: [7, 7],
        },
    }
}

/// Reads a 3DSTATE_DS and a 3DSTATE_URB_DS as [`hs`] reads theirs.
pub fn ds(
    ds: &[u32],
    urb: &[u32],
    context: impl FnOnce((u32, u32)) -> ThreadContext,
    pushed: Option<Pushed>,
) -> Option<DsState> {
    let s = table::State3dDs::from_dwords(ds);
    let urb = table::State3dUrbDs::from_dwords(urb);
    let scratch = (s.scratch_space_base_pointer(), s.per_thread_scratch_space());
    // CAST: fields of at most sixteen bits.
    s.enable().then(|| DsState {
        unit: UnitConfig {
            kernel: KernelState {
                ip: s.kernel_start_pointer(),
                grf_count: REGISTERS,
                alt_float: s.floating_point_mode() != 0,
                illegal_opcode_exception: s.illegal_opcode_exception_enable(),
                software_exception: s.software_exception_enable(),
                urb_start: s.dispatch_grf_start_register_for_urb_data() as u8,
                ..KernelState::default()
            },
            context: context(scratch),
            read_offset: s.patch_urb_entry_read_offset() as u16,
            read_rows: s.patch_urb_entry_read_length() as u16,
            pushed,
            urb_entries: urb.ds_number_of_urb_entries() as u16,
            urb_entry_rows: (urb.ds_urb_entry_allocation_size() as u16 + 1) * ROWS_PER_UNIT,
            scratch_power: s.per_thread_scratch_space(),
            statistics: s.statistics_enable(),
            ..UnitConfig::default()
        },
        third: s.compute_w_coordinate_enable(),
        cache_disable: s.ds_cache_disable(),
        single: s.single_domain_point_dispatch(),
    })
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests;
