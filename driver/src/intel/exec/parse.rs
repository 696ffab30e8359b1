//! The arguments of EXECBUFFER2: flags, object list, fences, context, engine.
//!
//! i915 `i915_gem_execbuffer.c`: the same checks in the same order. Not modelled: several batches at once.
use alloc::collections::BTreeMap;
use alloc::sync::Arc;
use alloc::vec::Vec;

use kernel::dma::PAGE_SIZE;
use kernel::error::{
    Result, code::E2BIG, code::EINTR, code::EINVAL, code::EIO, code::ENOENT, code::ENOMEM,
    code::EPERM,
};
use kernel::sync::Ordering;

use super::copy::Checked;
use crate::core::account::Permit;
use crate::core::fence::{Fence, Front};
use crate::core::gem::{Claim, Object, Pin};
use crate::core::syncobj::Syncobj;
use crate::core::task::Shared;
use crate::intel::call::Call;
use crate::intel::context::Context;
use crate::intel::extension;
use crate::intel::switch::Held;
use crate::intel::uapi::context::{CLASS_COPY, CLASS_RENDER, CLASS_VIDEO};
use crate::intel::uapi::exec as uapi;

/// Batches that are relocated stay above this address (i915 `BATCH_OFFSET_BIAS`).
pub(super) const BATCH_OFFSET_BIAS: u64 = 256 << 10;
/// Bits of `offset` above the address space: addresses are canonical, sign extended from bit 47.
const ADDRESS_BITS: u32 = 48;

/// Most objects of a list: as many as the address space has pages.
const MOST_OBJECTS: u64 = 1 << 17;
/// Most fences of a submission: Linux keeps 32 bytes for each in one piece of at most 4 MiB (`krealloc`).
const MOST_FENCES: u64 = 1 << 17;
/// Fences that are read between two looks whether the caller still waits.
const CHUNK: u64 = 512;

/// One object of the list.
pub(super) struct Entry {
    pub(super) object: Object,
    /// As user space gave it; `offset` follows the binding.
    pub(super) exec: uapi::Object,
    /// Lowest address.
    pub(super) above: u64,
    /// Whether `offset` has changed.
    pub(super) moved: bool,
    pub(super) pin: Option<Pin>,
}

impl Entry {
    fn writes(&self) -> bool {
        self.exec.flags & uapi::OBJECT_WRITE != 0
    }

    fn is_async(&self) -> bool {
        self.exec.flags & uapi::OBJECT_ASYNC != 0
    }

    /// Whether requests of other timelines have ended that use the object, or that write it when this one only reads; and
    /// whether no submission for another timeline has waited for it since before.
    fn is_ready(&self, context: u64, ticket: u64) -> bool {
        let claim = Claim {
            ticket,
            timeline: context,
            write: self.writes(),
        };
        self.is_async()
            || self.object.state(|state| {
                let mut users = state.users(!claim.write).iter();
                users.all(|fence| fence.is_before(context)) && !state.is_claimed_before(&claim)
            })
    }
}

/// A fence to wait for, to signal, or both.
pub(super) struct ExecFence {
    pub(super) syncobj: Arc<Syncobj>,
    pub(super) signal: bool,
    /// Point to signal, 0 of a binary sync object.
    pub(super) point: u64,
    /// Room for that point.
    permit: Option<Permit>,
}

/// A checked submission.
pub(super) struct Submission {
    pub(super) entries: Vec<Entry>,
    /// Index of an entry by handle; `None` when relocations have indices already.
    handles: Option<BTreeMap<u32, usize>>,
    pub(super) batch: usize,
    pub(super) batch_start: u32,
    pub(super) batch_len: u32,
    pub(super) fences: Vec<ExecFence>,
    /// What has to end before it begins, besides what its objects are used for.
    pub(super) waits: Front,
    /// Row of the engine that it runs on.
    pub(super) engine: usize,
    pub(super) context: Arc<Context>,
    /// Where the device keeps its state, once it is pinned.
    pub(super) image: Option<Arc<Held>>,
    /// Whether relocations are to be looked at.
    pub(super) relocate: bool,
    /// Whether privileged commands of the batch are carried out.
    pub(super) privileged: bool,
    /// Whether offsets of stream output are to begin at 0.
    pub(super) resets_offsets: bool,
    /// What has become of the batch when it was looked through.
    pub(super) checked: Option<Result<Checked>>,
    /// Its number among those that have had to wait for an object; the highest before that.
    ticket: u64,
}

/// The objects of a submission that has had to wait for one of them, until it is queued or given up.
pub(super) struct Claims {
    objects: Vec<Object>,
    ticket: u64,
}

impl Claims {
    /// The same for an object that has to leave its place: others do not queue it again meanwhile.
    pub(super) fn add(&mut self, object: Object, timeline: u64) -> Result {
        self.objects.try_reserve(1).map_err(|_| ENOMEM)?;
        object.state(|state| {
            state.claim(Claim {
                ticket: self.ticket,
                timeline,
                write: true,
            });
        });
        self.objects.push(object);
        Ok(())
    }
}

impl Drop for Claims {
    fn drop(&mut self) {
        for object in &self.objects {
            object.state(|state| state.give_up(self.ticket));
        }
    }
}

impl Submission {
    /// Whether the fences have ended that it has to wait for, but for those on its own timeline.
    pub(super) fn has_waited(&self, context: u64) -> bool {
        self.waits.iter().all(|fence| fence.is_before(context))
    }

    /// Whether its objects are not in use on other timelines (eb_move_to_gpu, `i915_request_await_object`), and no submission for
    /// one of these has waited for one of them since before this one.
    pub(super) fn is_ready(&self, context: u64) -> bool {
        let mut entries = self.entries.iter();
        entries.all(|entry| entry.is_ready(context, self.ticket))
    }

    /// From now on later submissions for other timelines wait behind this one where they share an object with it. Linux takes
    /// the fences of objects, and adds the request's own, when a submission comes (`eb_move_to_gpu`): none that comes later is waited for.
    pub(super) fn claim(&mut self, call: &Call<'_>, context: u64) -> Result<Claims> {
        let entries = || self.entries.iter().filter(|entry| !entry.is_async());
        let mut objects = Vec::new();
        let count = entries().count();
        objects.try_reserve_exact(count).map_err(|_| ENOMEM)?;
        let ticket = call.device.user().tickets.fetch_add(1, Ordering::Relaxed);
        for entry in entries() {
            let claim = Claim {
                ticket,
                timeline: context,
                write: entry.writes(),
            };
            entry.object.state(|state| state.claim(claim));
            objects.push(entry.object.clone());
        }
        self.ticket = ticket;
        Ok(Claims { objects, ticket })
    }

    /// Lets its objects and its image move again.
    pub(super) fn let_go(&mut self) {
        for entry in &mut self.entries {
            entry.pin = None;
        }
        self.image = None;
        self.checked = None;
    }

    /// Index of the entry that a relocation names (eb_get_vma).
    pub(super) fn target(&self, handle: u32) -> Option<usize> {
        if let Some(handles) = &self.handles {
            return handles.get(&handle).copied();
        }
        let index = handle as usize;
        (index < self.entries.len()).then_some(index)
    }
}

/// The address that a canonical one stands for (gen8_noncanonical_addr).
fn noncanonical(address: u64) -> u64 {
    address & ((1 << ADDRESS_BITS) - 1)
}

fn canonical(address: u64) -> u64 {
    let shift = 64 - ADDRESS_BITS;
    (((address << shift) as i64) >> shift) as u64
}

/// Checks of the argument alone (i915_gem_check_execbuffer).
fn check(arg: &uapi::Execbuffer2) -> Result {
    const ILLEGAL: u64 = uapi::UNKNOWN_FLAGS | uapi::CONSTANTS_MASK | uapi::RESOURCE_STREAMER;
    if arg.buffer_count == 0 || arg.buffer_count > i32::MAX as u32 {
        return Err(EINVAL);
    }
    if arg.flags & ILLEGAL != 0 {
        return Err(EINVAL);
    }
    let cliprects = arg.num_cliprects != 0 || arg.cliprects_ptr != 0;
    if arg.flags & (uapi::FENCE_ARRAY | uapi::USE_EXTENSIONS) == 0 && cliprects {
        return Err(EINVAL);
    }
    // An old driver left garbage there, always the same.
    if arg.dr1 != 0 || arg.dr4 != 0 && arg.dr4 != u32::MAX {
        return Err(EINVAL);
    }
    if (arg.batch_start_offset | arg.batch_len) & 7 != 0 {
        return Err(EINVAL);
    }
    Ok(())
}

/// Reads and checks everything that does not depend on where objects are.
pub(super) fn parse(call: &Call<'_>, arg: &uapi::Execbuffer2) -> Result<Submission> {
    check(arg)?;
    let count = u64::from(arg.buffer_count);
    // kvmalloc_array comes before the caller's memory.
    if count * size_of::<uapi::Object>() as u64 > i32::MAX as u64 {
        return Err(ENOMEM);
    }
    let list = call.array::<uapi::Object>(arg.buffers_ptr, count)?;
    if count > MOST_OBJECTS {
        return Err(ENOMEM);
    }
    let list: Vec<uapi::Object> = list
        .read_array()
        .map_err(|error| if error == E2BIG { ENOMEM } else { error })?;
    if arg.flags & uapi::SECURE != 0 && !may_be_privileged(call) {
        return Err(EPERM);
    }
    let mut fences = Fences::default();
    if arg.flags & uapi::USE_EXTENSIONS != 0 {
        timeline_extensions(call, arg, &mut fences)?;
    }
    if arg.flags & uapi::FENCE_ARRAY != 0 {
        fence_array(call, arg, &mut fences)?;
    }
    in_fence(call, arg, &mut fences.waits)?;
    let context = call.file.context(arg.rsvd1 as u32)?;
    let engine = engine(call, &context, arg.flags).ok_or(EINVAL)?;
    if call.device.is_wedged() {
        return Err(EIO);
    }
    let submission = lookup(call, arg, list, fences, (context, engine))?;
    // eb_pin_engine comes after the objects.
    if submission.context.is_banned() || call.program().is_banned() {
        return Err(EIO);
    }
    Ok(submission)
}

/// Whether the call may bring a batch whose privileged commands are carried out (i915 `i915_gem_do_execbuffer`).
fn may_be_privileged(call: &Call<'_>) -> bool {
    let seat = &call.device.user().seat;
    call.device.info().privileged_batches
        && call.file.member.is_master(seat)
        && call.task.is_admin()
}

/// Row of the engine: a slot of the context's map, or a legacy ring number (eb_select_legacy_ring); `None` for an engine
/// that the device lacks. With one video engine the bits that choose one of two mean nothing.
fn engine(call: &Call<'_>, context: &Context, flags: u64) -> Option<usize> {
    let ring = flags & uapi::RING_MASK;
    if context.parameters().engines.is_some() {
        return context.engine(usize::try_from(ring).ok()?);
    }
    if ring != uapi::BSD && flags & uapi::BSD_MASK != 0 {
        return None;
    }
    let class = match ring {
        uapi::DEFAULT | uapi::RENDER => CLASS_RENDER,
        uapi::BSD => CLASS_VIDEO,
        uapi::BLT => CLASS_COPY,
        _ => return None,
    };
    call.device.info().engine(class)
}

/// Fences that a submission names.
#[derive(Default)]
struct Fences {
    /// Those to wait for.
    waits: Front,
    /// Sync objects to signal.
    listed: Vec<ExecFence>,
}

impl Fences {
    /// A point to wait for must be there.
    fn wait(&mut self, syncobj: &Syncobj, point: u64) -> Result {
        self.waits.join(&syncobj.wait(point)?.into_front());
        Ok(())
    }
}

/// Makes room for so many fences beside those that are there already.
fn room(fences: &mut Vec<ExecFence>, more: u64) -> Result {
    if more > MOST_FENCES.saturating_sub(fences.len() as u64) {
        return Err(ENOMEM);
    }
    // CAST: at most MOST_FENCES.
    fences.try_reserve(more as usize).map_err(|_| ENOMEM)
}

/// An array takes as long as the caller's memory does: `EINTR` when nobody waits for it any more.
fn still_waits(call: &Call<'_>, index: u64) -> Result {
    if index.is_multiple_of(CHUNK) && call.task.signal_pending() {
        return Err(EINTR);
    }
    Ok(())
}

fn fence_array(call: &Call<'_>, arg: &uapi::Execbuffer2, fences: &mut Fences) -> Result {
    let count = u64::from(arg.num_cliprects);
    let user = call.array::<uapi::Fence>(arg.cliprects_ptr, count)?;
    room(&mut fences.listed, count)?;
    for index in 0..count {
        still_waits(call, index)?;
        let fence: uapi::Fence = user.read(index * size_of::<uapi::Fence>() as u64)?;
        if fence.flags & uapi::FENCE_UNKNOWN_FLAGS != 0 {
            return Err(EINVAL);
        }
        let syncobj = call.file.syncobj(fence.handle)?;
        if fence.flags & uapi::FENCE_WAIT != 0 {
            fences.wait(&syncobj, 0)?;
        }
        fences.listed.push(ExecFence {
            syncobj,
            signal: fence.flags & uapi::FENCE_SIGNAL != 0,
            point: 0,
            permit: None,
        });
    }
    Ok(())
}

/// parse_execbuf2_extensions.
fn timeline_extensions(call: &Call<'_>, arg: &uapi::Execbuffer2, fences: &mut Fences) -> Result {
    // The pointer is used by one of the two.
    if arg.flags & uapi::FENCE_ARRAY != 0 || arg.num_cliprects != 0 {
        return Err(EINVAL);
    }
    extension::walk(call, arg.cliprects_ptr, |name, at| {
        if name != uapi::EXT_TIMELINE_FENCES {
            return Err(EINVAL);
        }
        let link: uapi::TimelineFences = extension::read(call, at)?;
        timeline_fences(call, &link, fences)
    })
}

/// add_timeline_fence_array.
fn timeline_fences(call: &Call<'_>, link: &uapi::TimelineFences, fences: &mut Fences) -> Result {
    let handles = call.array::<uapi::Fence>(link.handles_ptr, link.fence_count)?;
    let values = call.array::<u64>(link.values_ptr, link.fence_count)?;
    room(&mut fences.listed, link.fence_count)?;
    for index in 0..link.fence_count {
        still_waits(call, index)?;
        let fence: uapi::Fence = handles.read(index * size_of::<uapi::Fence>() as u64)?;
        if fence.flags & uapi::FENCE_UNKNOWN_FLAGS != 0 {
            return Err(EINVAL);
        }
        let point: u64 = values.read(index * 8)?;
        let syncobj = call.file.syncobj(fence.handle)?;
        let signal = fence.flags & uapi::FENCE_SIGNAL != 0;
        if !signal {
            // Without flags an empty sync object is as good as none.
            if syncobj.has_fence() || fence.flags != 0 {
                fences.wait(&syncobj, point)?;
            }
            continue;
        }
        if point != 0 && fence.flags & uapi::FENCE_WAIT != 0 {
            return Err(EINVAL);
        }
        let permit = match point {
            0 => None,
            _ => Some(syncobj.permit()?),
        };
        fences.listed.push(ExecFence {
            syncobj,
            signal,
            point,
            permit,
        });
    }
    Ok(())
}

/// A fence descriptor to wait for, or one whose request has to have been begun: that is so as soon as it is in a ring.
fn in_fence(call: &Call<'_>, arg: &uapi::Execbuffer2, waits: &mut Front) -> Result {
    const BOTH: u64 = uapi::FENCE_IN | uapi::FENCE_SUBMIT;
    if arg.flags & BOTH == 0 {
        return Ok(());
    }
    if arg.flags & BOTH == BOTH {
        return Err(EINVAL);
    }
    match call.task.fds().get(arg.rsvd2 as u32 as i32) {
        Ok(Shared::Fence(fence)) => {
            if arg.flags & uapi::FENCE_IN != 0 {
                waits.add(&fence);
            }
            Ok(())
        }
        _ => Err(EINVAL),
    }
}

/// eb_lookup_vmas.
fn lookup(
    call: &Call<'_>,
    arg: &uapi::Execbuffer2,
    list: Vec<uapi::Object>,
    fences: Fences,
    (context, engine): (Arc<Context>, usize),
) -> Result<Submission> {
    let lut = arg.flags & uapi::HANDLE_LUT != 0;
    let batch = match arg.flags & uapi::BATCH_FIRST {
        0 => list.len().saturating_sub(1),
        _ => 0,
    };
    let mut handles = BTreeMap::new();
    let mut entries = Vec::new();
    entries.try_reserve_exact(list.len()).map_err(|_| ENOMEM)?;
    for (index, mut exec) in list.into_iter().enumerate() {
        let object = call.file.object(exec.handle).map_err(|_| ENOENT)?;
        validate(&mut exec)?;
        handles.insert(exec.handle, index);
        let mut above = 0;
        if index == batch {
            if exec.relocation_count != 0 && exec.flags & uapi::OBJECT_PINNED == 0 {
                above = BATCH_OFFSET_BIAS;
            }
            check_batch(arg, &exec, &object)?;
        }
        entries.push(Entry {
            object,
            exec,
            above,
            moved: false,
            pin: None,
        });
    }
    Ok(Submission {
        entries,
        handles: (!lut).then_some(handles),
        batch,
        batch_start: arg.batch_start_offset,
        batch_len: arg.batch_len,
        fences: fences.listed,
        waits: fences.waits,
        engine,
        context,
        image: None,
        relocate: arg.flags & uapi::NO_RELOC == 0,
        privileged: arg.flags & uapi::SECURE != 0,
        resets_offsets: arg.flags & uapi::SOL_RESET != 0,
        checked: None,
        ticket: u64::MAX,
    })
}

/// eb_validate_vma.
fn validate(exec: &mut uapi::Object) -> Result {
    if exec.flags & uapi::OBJECT_UNKNOWN_FLAGS != 0 {
        return Err(EINVAL);
    }
    if exec.alignment != 0 && !exec.alignment.is_power_of_two() {
        return Err(EINVAL);
    }
    let page = exec.offset & !(PAGE_SIZE as u64 - 1);
    if exec.flags & uapi::OBJECT_PINNED != 0 && exec.offset != canonical(page) {
        return Err(EINVAL);
    }
    if exec.flags & uapi::OBJECT_PAD_TO_SIZE == 0 {
        exec.pad_to_size = 0;
    } else if !exec.pad_to_size.is_multiple_of(PAGE_SIZE as u64) {
        return Err(EINVAL);
    }
    exec.offset = noncanonical(exec.offset);
    Ok(())
}

/// The part of eb_add_vma that is about the batch.
fn check_batch(arg: &uapi::Execbuffer2, exec: &uapi::Object, object: &Object) -> Result {
    if exec.flags & uapi::OBJECT_WRITE != 0 {
        return Err(EINVAL);
    }
    let size = object.size() as u64;
    let start = u64::from(arg.batch_start_offset);
    // range_overflows: a start at the end is outside even for nothing.
    if start >= size || u64::from(arg.batch_len) > size - start {
        return Err(EINVAL);
    }
    Ok(())
}

/// What the sync objects of a submission hold from now on (signal_fence_array).
pub(super) fn signal(fences: Vec<ExecFence>, fence: &Arc<Fence>) {
    for entry in fences.into_iter().filter(|entry| entry.signal) {
        match entry.permit {
            None => entry.syncobj.replace(Some(Arc::clone(fence))),
            Some(permit) => entry.syncobj.add_point(entry.point, fence, permit),
        }
    }
}
