//! Media commands and state of 965 and GM965, and r0 of root threads.
//!
//! PRM: volume 2 (media); volume 4, 3.3.10, 3.3.11. The layout of r0 is that of the kernels of intel-vaapi-driver
//! (shaders/h264: r0.0 URB handle, r0.2 interface descriptor, r0.4 binding table, r0.5 7:0 dispatch ID).

use eu::Grf;
use mem::{Fault, GpuAddr, Memory};
use regs::gen40::{self as table, values::vfe_mode};

use crate::core::fault::UnitFault;
use crate::intel::media::reader::{
    Descriptors, MediaKernel, MediaObject, MediaReader, Place, RootHeader, VfeMode, VfeState,
};
use crate::intel::shared::context::{StateBases, ThreadContext};
use crate::intel::shared::urb_msg::MEDIA_HANDLE_ROWS;
use crate::intel::status::Unit;
use crate::intel::td::KernelState;

/// Dwords of MEDIA_OBJECT in front of the inline data.
const HEADER: usize = 4;
/// Bytes of an interface descriptor.
const DESCRIPTOR: u32 = 16;

/// Greatest power of the scratch space of a thread.
const SCRATCH_POWER: u32 = 11;

/// Bytes of scratch space of a thread: 1 KB times two to a power.
pub fn scratch_bytes(power: u32) -> u32 {
    1024 << power.min(SCRATCH_POWER)
}

/// The reader.
#[derive(Debug)]
pub struct Reader;

impl MediaReader for Reader {
    fn sets_front_end(&self) -> &'static str {
        "MEDIA_STATE_POINTERS"
    }

    fn front_end(
        &self,
        mem: &Memory,
        bases: &StateBases,
        command: &[u32],
    ) -> Result<VfeState, Fault> {
        let pointers = table::MediaStatePointers::from_dwords(command);
        let addr = bases
            .general_state_base
            .wrapping_add(pointers.pointer_to_vfe_state());
        let mut dwords = [0; table::VfeState::LEN];
        mem.read_dwords(GpuAddr::from(addr), &mut dwords)?;
        let s = table::VfeState::from_dwords(&dwords);
        // CAST: fields of at most nine bits.
        Ok(VfeState {
            addr: Some(addr),
            mode: match s.vfe_mode() {
                vfe_mode::GENERIC_MODE => Ok(VfeMode::Generic),
                vfe_mode::VLD_MODE => Ok(VfeMode::Vld),
                vfe_mode::IS_MODE => Ok(VfeMode::Is),
                vfe_mode::AVC_MC_MODE => Ok(VfeMode::AvcMc),
                vfe_mode::AVC_IT_MODE => Ok(VfeMode::AvcIt),
                code => Err(code),
            },
            entries: s.number_of_urb_entries() as u16,
            // Allocation sizes count 512-bit units less one.
            entry_rows: (s.urb_entry_allocation_size() as u16 + 1) * 2,
            threads: s.maximum_number_of_threads() as u8 + 1,
            children: s.children_present(),
            descriptors: s.interface_descriptor_base_pointer(),
            scratch: s.scratch_space_base_pointer(),
            scratch_power: s.per_thread_scratch_space(),
            scratch_bytes: scratch_bytes(s.per_thread_scratch_space()),
            groups: false,
            scoreboard: Ok(None),
            missing: None,
        })
    }

    fn kernel(
        &self,
        mem: &Memory,
        bases: &StateBases,
        _loaded: &Descriptors,
        pointer: u32,
    ) -> Result<MediaKernel, UnitFault> {
        let mut dwords = [0; table::InterfaceDescriptor::LEN];
        let at = GpuAddr::from(bases.general_state_base.wrapping_add(pointer));
        mem.read_dwords(at, &mut dwords)?;
        let d = table::InterfaceDescriptor::from_dwords(&dwords);
        // CAST: fields of at most six bits.
        Ok(MediaKernel {
            kernel: KernelState {
                ip: d.kernel_start_pointer(),
                grf_count: (d.grf_register_blocks() as u8 + 1) * 8,
                alt_float: d.floating_point_mode() != 0,
                single_program_flow: d.single_program_flow(),
                illegal_opcode_exception: d.illegal_opcode_exception_enable(),
                mask_stack_exception: d.mask_stack_exception_enable(),
                software_exception: d.software_exception_enable(),
                high_priority: d.thread_priority() != 0,
                urb_start: 1,
            },
            context: ThreadContext {
                bases: *bases,
                binding_table_pointer: d.binding_table_pointer(),
                sampler_state_pointer: d.sampler_state_pointer(),
                scratch_base: 0,
                scratch_size: 0,
                ffid: Unit::Media.ffid(),
            },
            constant_offset: d.constant_urb_entry_read_offset() as u16,
            constant_rows: d.constant_urb_entry_read_length() as u16,
        })
    }

    fn object<'a>(&self, command: &'a [u32]) -> MediaObject<'a> {
        let c = table::MediaObject::from_dwords(command);
        MediaObject {
            descriptor: c.interface_descriptor_offset() * DESCRIPTOR,
            inline: command.get(HEADER..).unwrap_or_default(),
            indirect: c.indirect_data_start_address(),
            indirect_bytes: c.indirect_data_length(),
            synchronized: c.thread_synchronization(),
            children: false,
            place: Place::default(),
            waits: None,
        }
    }

    fn root(&self, header: &RootHeader) -> Grf {
        let mut r0 = [
            u32::from(header.entry.0 / MEDIA_HANDLE_ROWS),
            0,
            header.descriptor,
            header.context.sampler_state_pointer | header.scratch_power & 0xf,
            header.context.binding_table_pointer,
            header.scratch & !0x3ff | u32::from(header.number),
            header.debug,
            0,
        ];
        if header.flag {
            self.flag(&mut r0);
        }
        r0
    }

    fn flag(&self, r0: &mut Grf) {
        r0[7] |= 1 << 31;
    }

    fn identifier(&self, object: u32, thread: u32) -> u32 {
        let [word, _] = table::R0MediaDebug::default()
            .with_ff_unit_id(u32::from(Unit::Media.ffid()))
            .with_object_id(object & 0xfff)
            .with_thread_id(thread & 0xffff)
            .0;
        word
    }
}
