//! Root and child threads: what they are given, and the books kept of them.
//!
//! PRM: volume 4, 1.2 (root and child threads), 3.3.11 (debug fields of r0). The layout of r0 is that of the kernels of
//! intel-vaapi-driver (shaders/h264: r0.0 URB handle, r0.2 interface descriptor, r0.4 binding table, r0.5 7:0 dispatch ID).

use eu::Grf;
use mem::GpuAddr;
use regs::gen40::InterfaceDescriptor;

use super::{Constants, FrontEnd, Media, Object};
use crate::debug::MediaThread;
use crate::fault::UnitFault;
use crate::machine::Machine;
use crate::shared::context::{StateBases, ThreadContext};
use crate::shared::spawner::{Child, Member};
use crate::shared::urb_msg::MEDIA_HANDLE_ROWS;
use crate::status::Unit;
use crate::td::{KernelState, Subject, Td, ThreadRequest, UrbRead, VertexData};
use crate::urb::UrbHandle;

/// A root thread and all that it spawned.
#[derive(Clone, Copy, Debug)]
pub(super) struct Family {
    /// Its URB entry, until somebody gives it back.
    pub entry: Option<UrbHandle>,
    /// Threads that have not told their end.
    pub members: u32,
    /// Threads that occupy a slot.
    pub running: u32,
    /// Threads that ended without telling.
    pub silent: u32,
    /// Kernel, EU and thread of the last of these.
    pub last_silent: (u32, u8, u8),
    /// Front end state of the root.
    pub front_end: FrontEnd,
    /// Constants of the root.
    pub constants: Option<Constants>,
}

/// A thread in a slot.
#[derive(Clone, Copy, Debug)]
pub(super) struct Job {
    pub family: u8,
    pub eu: u8,
    pub slot: u8,
    pub kernel: u32,
}

/// Scratch space of a thread is 1 KB times a power of two up to this one.
const SCRATCH_POWER: u32 = 11;

/// A kernel as an interface descriptor names it.
struct Kernel {
    state: KernelState,
    context: ThreadContext,
    /// r0.3 without the scratch size: sampler state pointer.
    samplers: u32,
    constants: Option<UrbRead>,
}

impl Kernel {
    fn fetch(
        pointer: u32,
        bases: &StateBases,
        constants: Option<Constants>,
        machine: &Machine<'_>,
    ) -> Result<Self, UnitFault> {
        let mut dwords = [0; InterfaceDescriptor::LEN];
        let at = GpuAddr(bases.general_state_base.wrapping_add(pointer));
        machine.mem.read_dwords(at, &mut dwords)?;
        let d = InterfaceDescriptor::from_dwords(&dwords);
        // CAST: fields of at most six bits.
        let rows = d.constant_urb_entry_read_length() as u16;
        let loaded = constants.unwrap_or_default();
        Ok(Kernel {
            state: KernelState {
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
            samplers: d.sampler_state_pointer(),
            constants: (rows > 0).then_some(UrbRead {
                handle: loaded.handle,
                offset: d.constant_urb_entry_read_offset() as u16,
                rows,
            }),
        })
    }
}

impl Media {
    /// Starts a root thread; `Ok(false)` when as many as VFE_STATE allows are alive.
    pub(super) fn start_root(
        &mut self,
        object: &Object,
        td: &mut Td,
        machine: &mut Machine<'_>,
    ) -> Result<bool, UnitFault> {
        let front_end = object.front_end;
        // The number of a family is its dispatch ID, and its place in the scratch space.
        let places = usize::from(front_end.threads);
        if self.families.len() < places {
            self.families.resize(places, None);
        }
        let free = |place: &Option<Family>| place.is_none();
        let Some(number) = self.families.iter().take(places).position(free) else {
            return Ok(false);
        };
        let kernel = Kernel::fetch(
            object.descriptor,
            &front_end.bases,
            object.constants,
            machine,
        )?;
        let flag = machine.debug.vfe_thread(object.debug)
            | machine.debug.ts_thread(&MediaThread {
                child: false,
                r0_6: object.debug,
                r0_7: 0,
                interface_descriptor: object.descriptor >> 4,
            });
        let power = front_end.scratch_power.min(SCRATCH_POWER);
        let scratch = front_end
            .scratch
            .wrapping_add((number as u32) << 10 << power);
        let r0 = [
            u32::from(object.entry.0 / MEDIA_HANDLE_ROWS),
            0,
            object.descriptor,
            kernel.samplers | front_end.scratch_power & 0xf,
            kernel.context.binding_table_pointer,
            // CAST: a place among at most 128.
            scratch & !0x3ff | number as u32,
            object.debug,
            u32::from(flag) << 31,
        ];
        let data = [UrbRead {
            handle: object.entry,
            offset: 0,
            rows: object.rows,
        }];
        let member = Member {
            family: number as u8,
            child: false,
            parent: front_end.children,
            told: false,
        };
        if !self.launch(&kernel, r0, &data, member, flag, td, machine) {
            return Ok(false);
        }
        let entry = if front_end.children {
            Some(object.entry)
        } else {
            // Nobody needs the payload any more.
            machine.urb.release(object.entry);
            None
        };
        self.living += 1;
        self.families[number] = Some(Family {
            entry,
            members: 1,
            running: 1,
            silent: 0,
            last_silent: (0, 0, 0),
            front_end,
            constants: object.constants,
        });
        Ok(true)
    }

    /// Starts a child; there must be a slot for it.
    pub(super) fn start_child(
        &mut self,
        child: &Child,
        td: &mut Td,
        machine: &mut Machine<'_>,
    ) -> Result<(), UnitFault> {
        let Some(&family) = self.family(child.family).as_deref() else {
            return Ok(());
        };
        let bases = family.front_end.bases;
        let kernel = Kernel::fetch(child.descriptor, &bases, family.constants, machine)?;
        let flag = machine.debug.ts_thread(&MediaThread {
            child: true,
            r0_6: child.debug[0],
            r0_7: child.debug[1],
            interface_descriptor: child.descriptor >> 4,
        });
        // The parent has put r0 into the first row (PRM 3.3.11).
        let handle = UrbHandle(child.row);
        let mut r0 = machine.urb.row(handle, 0).copied().unwrap_or_default();
        r0[7] |= u32::from(flag) << 31;
        let data = [UrbRead {
            handle,
            offset: 1,
            rows: child.rows - 1,
        }];
        let member = Member {
            family: child.family,
            child: true,
            parent: true,
            told: false,
        };
        if self.launch(&kernel, r0, &data, member, flag, td, machine)
            && let Some(family) = self.family(child.family)
        {
            family.members += 1;
            family.running += 1;
        }
        Ok(())
    }

    #[expect(clippy::too_many_arguments, reason = "a thread has many sides")]
    fn launch(
        &mut self,
        kernel: &Kernel,
        r0: Grf,
        data: &[UrbRead],
        member: Member,
        snapshot: bool,
        td: &mut Td,
        machine: &mut Machine<'_>,
    ) -> bool {
        let request = ThreadRequest {
            unit: Unit::Media,
            kernel: kernel.state,
            context: kernel.context,
            dispatch_mask: 0xffff,
            header: &[r0],
            constants: kernel.constants,
            data: VertexData::Sequential(data),
            snapshot,
            subject: Subject::Other,
        };
        let Some(id) = td.launch(&request, &[], machine) else {
            return false;
        };
        // The dispatch ID is the spawner's or the parent's, not the dispatcher's.
        if let Some(first) = td.thread_mut(id).grf_mut().first_mut() {
            *first = r0;
        }
        let who = td.thread(id).id();
        machine.shared.spawner.enter(who.eu, who.slot, member);
        let at = usize::from(id.0);
        if self.jobs.len() <= at {
            self.jobs.resize(at + 1, None);
        }
        self.jobs[at] = Some(Job {
            family: member.family,
            eu: who.eu,
            slot: who.slot,
            kernel: kernel.state.ip,
        });
        true
    }
}
