//! Media state in memory: front end, descriptors, constants.
//!
//! PRM vol2 VFE_STATE, MEDIA_STATE_POINTERS, URB_FENCE, CONSTANT_BUFFER; intel-vaapi-driver i965_media.c. The layouts are those that all
//! generations of this kind share.
use alloc::vec::Vec;

use regs::any::{
    ConstantBuffer, CsUrbState, InterfaceDescriptor, MediaObject, MediaStatePointers, UrbFence,
    VfeState, values,
};

use crate::batch::{Batch, StateOffset};
use crate::emit::Sink;
use crate::media::{Code, Descriptors, FrontEnd, Kernel, Object, UNIT};

/// Commands that cross a cache line hang URB_FENCE on these parts (Mesa brw_misc_state.c, crocus_state.c).
const LINE: usize = 16;

/// Interface descriptors.
pub(super) fn descriptors(batch: &mut Batch, kernels: &[Kernel]) -> StateOffset {
    let words = kernels.iter().flat_map(|kernel| {
        let descriptor =
            InterfaceDescriptor::default().with_constant_urb_entry_read_length(kernel.constants);
        descriptor.0
    });
    let words: Vec<u32> = words.collect();
    let at = batch.state(32, &words);
    for (index, kernel) in kernels.iter().enumerate() {
        let first = index * InterfaceDescriptor::LEN;
        let blocks = kernel.registers.div_ceil(8) - 1;
        let low = InterfaceDescriptor::default().with_grf_register_blocks(blocks);
        match kernel.code {
            Code::State(code) => batch.patch_state(at, first, code, low.0[0]),
            Code::Buffer(target, offset) => {
                batch.patch_address(at, first, target, offset | low.0[0]);
            }
        }
        if let Some((table, entries)) = kernel.surfaces {
            // A hint for the prefetch: more entries than the field holds are not prefetched.
            let low =
                InterfaceDescriptor::default().with_binding_table_entry_count(entries.min(31));
            batch.patch_state(at, first + 3, table, low.0[3]);
        }
    }
    at
}

/// Front end, URB and constants.
pub(super) fn set_up(
    batch: &mut Batch,
    descriptors: Descriptors,
    front_end: &FrontEnd,
    constants: &[u32],
) {
    let state = vfe(batch, descriptors.first, front_end);
    batch.put(&MediaStatePointers::new().dwords()[..2]);
    batch.state_address(state, 0);
    urb(batch, front_end);
    let units = (constants.len() / UNIT) as u32;
    if units > 0 {
        let constants = batch.state(64, constants);
        batch.put(&ConstantBuffer::new().with_valid(true).dwords()[..1]);
        batch.state_address(
            constants,
            ConstantBuffer::default().with_buffer_length(units - 1).0[1],
        );
    }
}

/// MEDIA_OBJECT in front of the address of indirect data, and behind it.
pub(super) fn object(object: &Object<'_>, indirect_bytes: u32) -> [Vec<u32>; 2] {
    let command = MediaObject::from_dwords(&[MediaObject::VALUE])
        .with_dword_length(2 + object.inline.len() as u32)
        .with_interface_descriptor_offset(object.descriptor)
        .with_indirect_data_length(indirect_bytes)
        .with_thread_synchronization(object.synchronized);
    [command.dwords()[..3].to_vec(), Vec::new()]
}

/// VFE_STATE of generic mode.
fn vfe(batch: &mut Batch, descriptors: StateOffset, front_end: &FrontEnd) -> StateOffset {
    let state = VfeState::default()
        .with_children_present(front_end.children)
        .with_vfe_mode(values::vfe_mode::GENERIC_MODE)
        .with_number_of_urb_entries(front_end.entries)
        .with_urb_entry_allocation_size(front_end.entry_units - 1)
        .with_maximum_number_of_threads(front_end.threads - 1);
    let at = batch.state(32, state.dwords());
    batch.patch_state(at, 2, descriptors, 0);
    if let Some((target, power)) = front_end.scratch {
        let low = VfeState::default().with_per_thread_scratch_space(power);
        batch.patch_address(at, 0, target, low.0[0]);
    }
    at
}

/// URB_FENCE and CS_URB_STATE: the front end's entries first, the constants behind them.
fn urb(batch: &mut Batch, front_end: &FrontEnd) {
    let vfe = front_end.entries * front_end.entry_units;
    let cs = vfe + front_end.constant_units;
    let fence = UrbFence::new()
        .with_vs_unit_urb_reallocation_request(true)
        .with_gs_unit_urb_reallocation_request(true)
        .with_clip_unit_urb_reallocation_request(true)
        .with_sf_unit_urb_reallocation_request(true)
        .with_vfe_unit_urb_reallocation_request(true)
        .with_cs_unit_urb_reallocation_request(true)
        .with_vfe_fence(vfe)
        .with_cs_fence(cs);
    while batch.command_dwords() % LINE + UrbFence::LEN > LINE {
        batch.noop();
    }
    batch.put(fence.dwords());
    let mut state = CsUrbState::new();
    if let Some(size) = front_end.constant_units.checked_sub(1) {
        state = state
            .with_number_of_urb_entries(1)
            .with_urb_entry_allocation_size(size);
    }
    batch.put(state.dwords());
}
