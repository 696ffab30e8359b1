//! Root and child threads: what they are given, and the books kept of them.
//!
//! PRM: volume 4, 1.2 (root and child threads), 3.3.11 (debug fields of r0).

use eu::Grf;

use super::reader::{MediaKernel, Place, RootHeader};
use super::{Constants, FrontEnd, Media, Object};
use crate::core::fault::UnitFault;
use crate::intel::debug::MediaThread;
use crate::intel::machine::Machine;
use crate::intel::shared::spawner::{Child, Member};
use crate::intel::status::Unit;
use crate::intel::td::{ConstantSource, Subject, Td, ThreadRequest, UrbRead, VertexData};
use crate::intel::urb::UrbHandle;

/// A root thread and all that it spawned.
#[derive(Clone, Copy, Debug)]
pub(super) struct Family {
    /// Its URB entry, until a thread gives it back.
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
    /// The place for which the scoreboard has a mark until the root ends.
    pub place: Option<Place>,
}

/// A thread in a slot.
#[derive(Clone, Copy, Debug)]
pub(super) struct Job {
    pub family: u8,
    pub eu: u8,
    pub slot: u8,
    pub kernel: u32,
}

/// What is to be said of a thread that starts.
pub(super) struct Start<'a> {
    pub kernel: MediaKernel,
    pub constants: Option<UrbRead>,
    pub r0: Grf,
    pub data: &'a [UrbRead],
    pub member: Member,
    pub snapshot: bool,
    /// One bit for each channel.
    pub channels: u32,
    pub subject: Subject,
}

/// The constants that a kernel's threads get, if any.
pub(super) fn constants(kernel: &MediaKernel, loaded: Option<Constants>) -> Option<UrbRead> {
    (kernel.constant_rows > 0).then(|| UrbRead {
        handle: loaded.unwrap_or_default().handle,
        offset: kernel.constant_offset,
        rows: kernel.constant_rows,
    })
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
        if self.depends(object) {
            return Ok(false);
        }
        let bases = &front_end.bases;
        let loaded = &self.state.descriptors;
        let kernel = self
            .reader
            .kernel(machine.mem, bases, loaded, object.descriptor)?;
        let flag = machine.debug.vfe_thread(object.debug)
            | machine.debug.ts_thread(&MediaThread {
                child: false,
                r0_6: object.debug,
                r0_7: 0,
                interface_descriptor: object.descriptor >> 4,
            });
        let own = front_end.scratch_bytes.wrapping_mul(number as u32);
        let scratch = front_end.scratch.wrapping_add(own);
        let r0 = self.reader.root(&RootHeader {
            entry: object.entry,
            descriptor: object.descriptor,
            context: kernel.context,
            scratch_power: front_end.scratch_power,
            scratch,
            // CAST: a place among at most 128.
            number: number as u8,
            debug: object.debug,
            place: object.place,
            flag,
        });
        let data = [UrbRead {
            handle: object.entry,
            offset: 0,
            rows: object.rows,
        }];
        let member = Member {
            family: number as u8,
            child: false,
            parent: object.children,
            told: false,
        };
        let start = Start {
            kernel,
            constants: constants(&kernel, object.constants),
            r0,
            data: &data,
            member,
            snapshot: flag,
            channels: 0xffff,
            subject: Subject::Other,
        };
        if self.launch(&start, td, machine).is_none() {
            return Ok(false);
        }
        let entry = if object.children {
            Some(object.entry)
        } else {
            // The payload is in registers now.
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
            place: object.waits.map(|_| object.place),
        });
        Ok(true)
    }

    /// Whether the scoreboard makes an object wait for a root thread that is alive.
    pub(super) fn depends(&self, object: &Object) -> bool {
        let (Some(mask), Ok(Some(board))) = (object.waits, object.front_end.scoreboard) else {
            return false;
        };
        let place = object.place;
        let at = |(dx, dy): (i8, i8)| (i32::from(dx), i32::from(dy));
        let deltas = board.deltas.into_iter().enumerate();
        let mut needed = deltas.filter(|(bit, _)| board.mask & mask & 1 << bit != 0);
        needed.any(|(_, delta)| {
            let (dx, dy) = at(delta);
            let wanted = (i32::from(place.x) + dx, i32::from(place.y) + dy);
            let marks = self
                .families
                .iter()
                .flatten()
                .filter_map(|family| family.place);
            marks
                .filter(|mark| mark.color == place.color)
                .any(|mark| (i32::from(mark.x), i32::from(mark.y)) == wanted)
        })
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
        let loaded = &self.state.descriptors;
        let kernel = self
            .reader
            .kernel(machine.mem, &bases, loaded, child.descriptor)?;
        let flag = machine.debug.ts_thread(&MediaThread {
            child: true,
            r0_6: child.debug[0],
            r0_7: child.debug[1],
            interface_descriptor: child.descriptor >> 4,
        });
        // The parent has put r0 into the first row (PRM 3.3.11).
        let handle = UrbHandle(child.row);
        let mut r0 = machine.urb.row(handle, 0).copied().unwrap_or_default();
        if flag {
            self.reader.flag(&mut r0);
        }
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
        let start = Start {
            kernel,
            constants: constants(&kernel, family.constants),
            r0,
            data: &data,
            member,
            snapshot: flag,
            channels: 0xffff,
            subject: Subject::Other,
        };
        if self.launch(&start, td, machine).is_some()
            && let Some(family) = self.family(child.family)
        {
            family.members += 1;
            family.running += 1;
        }
        Ok(())
    }

    /// Starts a thread: its EU and slot; `None` when there is no slot.
    pub(super) fn launch(
        &mut self,
        start: &Start<'_>,
        td: &mut Td,
        machine: &mut Machine<'_>,
    ) -> Option<(u8, u8)> {
        let (kernel, r0, member) = (&start.kernel, start.r0, start.member);
        let request = ThreadRequest {
            unit: Unit::Media,
            kernel: kernel.kernel,
            context: kernel.context,
            dispatch_mask: start.channels,
            header: &[r0],
            constants: start.constants.map(ConstantSource::Entry),
            data: VertexData::Sequential(start.data),
            pixels: None,
            stream_indices: [0; 4],
            snapshot: start.snapshot,
            subject: start.subject,
        };
        let id = td.launch(&request, &[], machine)?;
        // The dispatch ID is the spawner's or the parent's, not the dispatcher's.
        if let Some(first) = td.thread_mut(id).grf_mut().first_mut() {
            *first = r0;
        }
        let thread = td.thread(id).id();
        machine.shared.spawner.enter(thread.eu, thread.slot, member);
        let at = usize::from(id.0);
        if self.jobs.len() <= at {
            self.jobs.resize(at + 1, None);
        }
        self.jobs[at] = Some(Job {
            family: member.family,
            eu: thread.eu,
            slot: thread.slot,
            kernel: kernel.kernel.ip,
        });
        Some((thread.eu, thread.slot))
    }
}
