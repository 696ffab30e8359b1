//! Media and GPGPU commands of ValleyView, and r0 of the threads that they start.
//!
//! genxml gen7 MEDIA_VFE_STATE, INTERFACE_DESCRIPTOR_DATA, GPGPU_WALKER, MEDIA_OBJECT_PRT, beside genxml gen6 for what stays. r0 of a thread of a
//! group: Mesa 22.3.6 brw_fs.cpp `emit_work_group_id_setup` (r0.1, r0.6, r0.7), brw_fs_visitor.cpp `emit_barrier` (r0.2 27:24); units of
//! sizes: crocus_state.c `crocus_upload_compute_state`. Not modelled: a gateway that is bypassed (messages to closed gateways are refused), its timer and
//! its way to registers, fences of MEDIA_OBJECT_PRT, the scoreboard that does not stall.

use eu::Grf;
use mem::{Fault, Memory};
use regs::gen70 as table;

use crate::core::fault::UnitFault;
use crate::intel::r#gen::gen60::media::Reader as Gen60;
use crate::intel::media::reader::{
    Descriptors, GroupHeader, GroupKernel, GroupWalker, Load, MediaKernel, MediaObject,
    MediaReader, Missing, Place, RootHeader, Sections, VfeState,
};
use crate::intel::media::walker::Walker;
use crate::intel::shared::context::StateBases;

/// Dwords of MEDIA_OBJECT_PRT in front of the inline data.
const PERSISTENT_HEADER: usize = 4;
/// Bytes of an interface descriptor.
const DESCRIPTOR: u32 = 32;
/// Bytes that a unit of shared local memory has.
const LOCAL_UNIT: u32 = 4 << 10;
/// Bits of the binding table pointer in an interface descriptor.
const BINDING_TABLE: u32 = 0xffe0;

/// The reader.
#[derive(Debug)]
pub struct Reader;

impl MediaReader for Reader {
    fn sets_front_end(&self) -> &'static str {
        Gen60.sets_front_end()
    }

    fn front_end(
        &self,
        mem: &Memory,
        bases: &StateBases,
        command: &[u32],
    ) -> Result<VfeState, Fault> {
        let c = table::MediaVfeState::from_dwords(command);
        let first = Gen60.front_end(mem, bases, command)?;
        Ok(VfeState {
            // 1 KB to 12 KB, and not a power of two.
            scratch_bytes: (first.scratch_power + 1) * 1024,
            groups: c.gpgpu_mode(),
            missing: None,
            ..first
        })
    }

    fn sections(&self, command: &[u32]) -> Sections {
        Gen60.sections(command)
    }

    fn constants_load(&self, command: &[u32]) -> Load {
        Gen60.constants_load(command)
    }

    fn descriptors_load(&self, command: &[u32]) -> Load {
        Gen60.descriptors_load(command)
    }

    fn kernel(
        &self,
        mem: &Memory,
        bases: &StateBases,
        loaded: &Descriptors,
        pointer: u32,
    ) -> Result<MediaKernel, UnitFault> {
        let mut kernel = Gen60.kernel(mem, bases, loaded, pointer)?;
        kernel.context.binding_table_pointer &= BINDING_TABLE;
        Ok(kernel)
    }

    fn object<'a>(&self, command: &'a [u32]) -> MediaObject<'a> {
        Gen60.object(command)
    }

    fn walker<'a>(&self, command: &'a [u32]) -> Result<(MediaObject<'a>, Walker), Missing> {
        Gen60.walker(command)
    }

    fn persistent<'a>(&self, command: &'a [u32]) -> Option<MediaObject<'a>> {
        let c = table::MediaObjectPrt::from_dwords(command);
        Some(MediaObject {
            descriptor: c.interface_descriptor_offset() * DESCRIPTOR,
            inline: command.get(PERSISTENT_HEADER..).unwrap_or_default(),
            indirect: 0,
            indirect_bytes: 0,
            synchronized: false,
            children: c.children_present(),
            place: Place::default(),
            waits: None,
        })
    }

    fn grid(&self, command: &[u32]) -> GroupWalker {
        let c = table::GpgpuWalker::from_dwords(command);
        GroupWalker {
            descriptor: c.interface_descriptor_offset() * DESCRIPTOR,
            channels: match c.simd_size() {
                0 => 8,
                1 => 16,
                _ => 32,
            },
            threads: [
                c.thread_width_counter_maximum() + 1,
                c.thread_height_counter_maximum() + 1,
                c.thread_depth_counter_maximum() + 1,
            ],
            first: [
                c.thread_group_id_starting_x(),
                c.thread_group_id_starting_y(),
                c.thread_group_id_starting_z(),
            ],
            end: [
                c.thread_group_id_x_dimension(),
                c.thread_group_id_y_dimension(),
                c.thread_group_id_z_dimension(),
            ],
            right: c.right_execution_mask(),
            bottom: c.bottom_execution_mask(),
            indirect: c.indirect_parameter_enable(),
            predicated: c.predicate_enable(),
        }
    }

    fn group_kernel(
        &self,
        mem: &Memory,
        bases: &StateBases,
        loaded: &Descriptors,
        pointer: u32,
    ) -> Result<GroupKernel, UnitFault> {
        let kernel = self.kernel(mem, bases, loaded, pointer)?;
        let words = loaded.at(pointer, table::InterfaceDescriptorData::LEN);
        let d = table::InterfaceDescriptorData::from_dwords(words.unwrap_or_default());
        // CAST: eight bits.
        let threads = d.number_of_threads_in_gpgpu_thread_group() as u16;
        Ok(GroupKernel {
            kernel,
            local: d.shared_local_memory_size() * LOCAL_UNIT,
            barrier: d.barrier_enable().then_some(threads),
        })
    }

    fn group_root(&self, header: &GroupHeader) -> Grf {
        let [x, y, z] = header.group;
        [
            0,
            x,
            u32::from(header.barrier) << 24,
            header.context.sampler_state_pointer | header.scratch_power & 0xf,
            header.context.binding_table_pointer,
            header.scratch & !0x3ff | u32::from(header.number),
            y,
            z,
        ]
    }

    fn root(&self, header: &RootHeader) -> Grf {
        Gen60.root(header)
    }

    fn flag(&self, r0: &mut Grf) {
        Gen60.flag(r0);
    }

    fn identifier(&self, object: u32, thread: u32) -> u32 {
        Gen60.identifier(object, thread)
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests;
