//! Media state in commands: front end, loads, objects with a place.
//!
//! genxml gen6; order and units as intel-vaapi-driver i965_post_processing.c has them (`gen6_pp_pipeline_setup`).
use alloc::vec::Vec;

use regs::gen60::{
    InterfaceDescriptorData, MediaCurbeLoad, MediaInterfaceDescriptorLoad, MediaObject,
    MediaVfeState,
};

use crate::batch::{Batch, StateOffset};
use crate::emit::Sink;
use crate::media::{Code, Descriptors, FrontEnd, Kernel, Object};

/// Rows of 256 bits in a unit of 512 bits.
const ROWS: u32 = 2;

/// Interface descriptors.
pub(super) fn descriptors(batch: &mut Batch, kernels: &[Kernel]) -> StateOffset {
    let words = kernels.iter().flat_map(|kernel| {
        let descriptor = InterfaceDescriptorData::default()
            .with_constant_urb_entry_read_length(kernel.constants);
        descriptor.0
    });
    let words: Vec<u32> = words.collect();
    let at = batch.state(32, &words);
    for (index, kernel) in kernels.iter().enumerate() {
        let first = index * InterfaceDescriptorData::LEN;
        match kernel.code {
            Code::State(code) => batch.patch_state(at, first, code, 0),
            Code::Buffer(target, offset) => batch.patch_address(at, first, target, offset),
        }
        if let Some((table, entries)) = kernel.surfaces {
            let low =
                InterfaceDescriptorData::default().with_binding_table_entry_count(entries.min(31));
            batch.patch_state(at, first + 3, table, low.0[3]);
        }
    }
    at
}

/// Front end, URB, constants and descriptors.
pub(super) fn set_up(
    batch: &mut Batch,
    descriptors: Descriptors,
    front_end: &FrontEnd,
    constants: &[u32],
) {
    let state = MediaVfeState::new()
        .with_number_of_urb_entries(front_end.entries)
        .with_maximum_number_of_threads(front_end.threads - 1)
        .with_curbe_allocation_size(front_end.constant_units * ROWS)
        .with_urb_entry_allocation_size(front_end.entry_units * ROWS);
    let words = state.dwords();
    batch.put(&words[..1]);
    match front_end.scratch {
        Some((target, power)) => {
            let low = MediaVfeState::default().with_per_thread_scratch_space(power);
            batch.address(target, low.0[1]);
        }
        None => batch.put(&[0]),
    }
    batch.put(&words[2..]);
    if !constants.is_empty() {
        let bytes = constants.len() as u32 * 4;
        let constants = batch.state(64, constants);
        let load = MediaCurbeLoad::new().with_curbe_total_data_length(bytes);
        batch.put(&load.dwords()[..3]);
        batch.state_address(constants, 0);
    }
    let bytes = descriptors.count * InterfaceDescriptorData::LEN as u32 * 4;
    let load = MediaInterfaceDescriptorLoad::new().with_interface_descriptor_total_length(bytes);
    batch.put(&load.dwords()[..3]);
    batch.state_address(descriptors.first, 0);
}

/// MEDIA_OBJECT in front of the address of indirect data, and behind it; it has the place (0, 0) and waits for no other.
pub(super) fn object(object: &Object<'_>, indirect_bytes: u32) -> [Vec<u32>; 2] {
    let command = MediaObject::new()
        .with_dword_length(4 + object.inline.len() as u32)
        .with_interface_descriptor_offset(object.descriptor)
        .with_indirect_data_length(indirect_bytes)
        .with_thread_synchronization(object.synchronized)
        .with_children_present(object.children);
    let words = command.dwords();
    [words[..3].to_vec(), words[4..6].to_vec()]
}
