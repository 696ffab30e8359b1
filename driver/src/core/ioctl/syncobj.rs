//! Calls on sync objects.
//!
//! drm_syncobj.c. Not modelled: sleeping; a wait lets time pass in steps.
use alloc::sync::Arc;
use alloc::vec::Vec;

use core::cmp::Ordering as Order;

use kernel::error::{Result, code::E2BIG, code::EINTR, code::EINVAL, code::ENOENT, code::ENOMEM};
use kernel::time::{Delta, Ktime};

use super::Call;
use crate::core::fence::{Fence, Front};
use crate::core::program::Wanted;
use crate::core::syncobj::Syncobj;
use crate::core::task::{Opening, Shared};
use crate::core::uapi::syncobj as uapi;
use crate::core::wait::wait_until;
use crate::core::work;

/// Most handles of an array: Linux keeps a pointer for each in one piece of at most 4 MiB (`kmalloc_array`).
const MOST: u32 = 1 << 19;
/// Most sync objects of a wait: Linux keeps 64 bytes for each in such a piece.
const MOST_WAITED: usize = 1 << 16;
/// Sync objects of a wait that are looked at between two looks whether the caller still waits.
const CHUNK: u32 = 1 << 12;

/// How long a transfer waits for a submission (`DRM_SYNCOBJ_WAIT_FOR_SUBMIT_TIMEOUT`).
const SUBMIT_TIMEOUT: Delta = Delta::from_secs(5);

/// The fence of everything that is signalled by hand.
fn stub(call: &Call<'_>) -> Arc<Fence> {
    Arc::clone(&call.device.user().stub.0)
}

pub(super) fn create(call: &Call<'_>, arg: &mut uapi::Create) -> Result {
    if arg.flags & !uapi::CREATE_SIGNALED != 0 {
        return Err(EINVAL);
    }
    let stub = (arg.flags & uapi::CREATE_SIGNALED != 0).then(|| stub(call));
    let syncobj = Syncobj::new(stub, call.program().account().points());
    arg.handle = call.file.syncobjs.lock().insert(Arc::new(syncobj))?;
    Ok(())
}

pub(super) fn destroy(call: &Call<'_>, arg: &mut uapi::Destroy) -> Result {
    if arg.pad != 0 {
        return Err(EINVAL);
    }
    let removed = call.file.syncobjs.lock().remove(arg.handle);
    removed.map(drop).ok_or(EINVAL)
}

pub(super) fn handle_to_fd(call: &Call<'_>, arg: &mut uapi::Handle) -> Result {
    if arg.pad != 0 || arg.flags & !uapi::SYNC_FILE != 0 {
        return Err(EINVAL);
    }
    let sync_file = arg.flags == uapi::SYNC_FILE;
    let shared = match call.file.syncobj(arg.handle) {
        Ok(syncobj) if sync_file => Shared::Fence(syncobj.wait(0)?.fence()),
        Ok(syncobj) => Shared::Syncobj(syncobj),
        // drm_syncobj_handle_to_fd says EINVAL, drm_syncobj_find_fence ENOENT.
        Err(_) => return Err(if sync_file { ENOENT } else { EINVAL }),
    };
    arg.fd = call.task.fds().install(shared, Opening::default())?;
    Ok(())
}

pub(super) fn fd_to_handle(call: &Call<'_>, arg: &mut uapi::Handle) -> Result {
    if arg.pad != 0 || arg.flags & !uapi::SYNC_FILE != 0 {
        return Err(EINVAL);
    }
    let shared = call.task.fds().get(arg.fd).map_err(|_| EINVAL)?;
    match shared {
        Shared::Fence(fence) if arg.flags == uapi::SYNC_FILE => {
            call.file.syncobj(arg.handle)?.replace(Some(fence));
        }
        Shared::Syncobj(syncobj) if arg.flags == 0 => {
            arg.handle = call.file.syncobjs.lock().insert(syncobj)?;
        }
        _ => return Err(EINVAL),
    }
    Ok(())
}

/// The sync objects of an array of handles (drm_syncobj_array_find).
fn find(call: &Call<'_>, handles: u64, count: u32) -> Result<Vec<Arc<Syncobj>>> {
    if count == 0 {
        return Err(EINVAL);
    }
    if count > MOST {
        return Err(ENOMEM);
    }
    let handles = call.array::<u32>(handles, u64::from(count))?;
    let handles: Vec<u32> = handles.read_array().map_err(no_room)?;
    let found = handles.iter().map(|handle| call.file.syncobj(*handle));
    found.collect()
}

/// As many points as there are sync objects; zeros when there is no array.
fn points(call: &Call<'_>, at: u64, count: usize) -> Result<Vec<u64>> {
    if at == 0 {
        return Ok(alloc::vec![0; count]);
    }
    let points = call.array::<u64>(at, count as u64)?;
    points.read_array().map_err(no_room)
}

fn no_room(error: kernel::error::Error) -> kernel::error::Error {
    if error == E2BIG { ENOMEM } else { error }
}

/// What is left until an absolute time of the caller's clock; 0 means now (drm_timeout_abs_to_jiffies).
fn left(call: &Call<'_>, absolute: i64) -> Option<Delta> {
    let until = Ktime::from_nanos(u64::try_from(absolute).unwrap_or(0));
    if absolute == i64::MAX {
        return None;
    }
    Some(until - call.task.monotonic())
}

/// What a wait still waits for.
enum Missing<'a> {
    /// That somebody submits a point.
    Point(&'a Arc<Syncobj>, u64),
    /// That what was submitted ends.
    End(Front),
}

impl Missing<'_> {
    /// Whether it is there now.
    fn has_come(&mut self, available: bool) -> bool {
        work::one();
        let front = match self {
            Missing::End(front) => return front.is_done(),
            Missing::Point(syncobj, point) => match syncobj.wait(*point) {
                Ok(wait) => wait.into_front(),
                Err(_) => return false,
            },
        };
        if available || front.is_done() {
            return true;
        }
        *self = Missing::End(front);
        false
    }

    /// Places those side by side that come at the same time.
    fn compare(&self, other: &Self) -> Order {
        work::one();
        match (self, other) {
            (Missing::End(one), Missing::End(other)) => one.key().cmp(other.key()),
            (Missing::Point(one, point), Missing::Point(other, of_other)) => {
                let addresses = Arc::as_ptr(one).addr().cmp(&Arc::as_ptr(other).addr());
                addresses.then(point.cmp(of_other))
            }
            (Missing::End(_), Missing::Point(..)) => Order::Less,
            (Missing::Point(..), Missing::End(_)) => Order::Greater,
        }
    }
}

/// Waits for one or all; the index of the first that is there (drm_syncobj_array_wait_timeout).
fn wait_for(
    call: &Call<'_>,
    syncobjs: &[Arc<Syncobj>],
    points: &[u64],
    flags: u32,
    timeout: Option<Delta>,
) -> Result<u32> {
    if syncobjs.len() > MOST_WAITED {
        return Err(ENOMEM);
    }
    let available = flags & uapi::WAIT_AVAILABLE != 0;
    let patient = flags & (uapi::WAIT_FOR_SUBMIT | uapi::WAIT_AVAILABLE) != 0;
    let mut first = u32::MAX;
    let mut missing: Vec<(Missing<'_>, u32)> = Vec::new();
    for (index, (syncobj, point)) in (0..).zip(syncobjs.iter().zip(points)) {
        if index % CHUNK == CHUNK - 1 && call.task.signal_pending() {
            return Err(EINTR);
        }
        let entry = match syncobj.wait(*point) {
            Ok(wait) if available || wait.is_signalled() => {
                first = first.min(index);
                continue;
            }
            Ok(wait) => Missing::End(wait.into_front()),
            Err(_) if patient => Missing::Point(syncobj, *point),
            Err(error) => return Err(error),
        };
        let alike = |(known, _): &(Missing<'_>, u32)| known.compare(&entry).is_eq();
        if !missing.last().is_some_and(alike) {
            missing.try_reserve(1).map_err(|_| ENOMEM)?;
            missing.push((entry, index));
        }
    }
    // What comes at the same time is looked at once, for its lowest index.
    missing.sort_unstable_by(|(one, a), (other, b)| one.compare(other).then(a.cmp(b)));
    missing.dedup_by(|(next, _), (known, _)| known.compare(next).is_eq());
    let all = flags & uapi::WAIT_ALL != 0;
    let mut ends = (missing.iter()).filter(|(entry, _)| matches!(entry, Missing::End(_)));
    let _waits = (ends.next().is_some()).then(|| call.waits(Wanted::Any));
    let outcome = wait_until(call.device, call.task, timeout, || {
        if all || first == u32::MAX {
            missing.retain_mut(|(entry, index)| {
                let there = entry.has_come(available);
                if there {
                    first = first.min(*index);
                }
                !there
            });
        }
        missing.is_empty() || !all && first != u32::MAX
    });
    outcome.map(|()| first)
}

pub(super) fn wait(call: &Call<'_>, arg: &mut uapi::Wait) -> Result {
    if arg.flags & !(uapi::WAIT_ALL | uapi::WAIT_FOR_SUBMIT) != 0 {
        return Err(EINVAL);
    }
    let syncobjs = find(call, arg.handles, arg.count_handles)?;
    let points = alloc::vec![0; syncobjs.len()];
    let timeout = left(call, arg.timeout_nsec);
    arg.first_signaled = wait_for(call, &syncobjs, &points, arg.flags, timeout)?;
    Ok(())
}

pub(super) fn timeline_wait(call: &Call<'_>, arg: &mut uapi::TimelineWait) -> Result {
    if arg.flags & !(uapi::WAIT_ALL | uapi::WAIT_FOR_SUBMIT | uapi::WAIT_AVAILABLE) != 0 {
        return Err(EINVAL);
    }
    let syncobjs = find(call, arg.handles, arg.count_handles)?;
    let points = points(call, arg.points, syncobjs.len())?;
    let timeout = left(call, arg.timeout_nsec);
    arg.first_signaled = wait_for(call, &syncobjs, &points, arg.flags, timeout)?;
    Ok(())
}

pub(super) fn reset(call: &Call<'_>, arg: &mut uapi::Array) -> Result {
    if arg.pad != 0 {
        return Err(EINVAL);
    }
    for syncobj in find(call, arg.handles, arg.count_handles)? {
        syncobj.replace(None);
    }
    Ok(())
}

pub(super) fn signal(call: &Call<'_>, arg: &mut uapi::Array) -> Result {
    if arg.pad != 0 {
        return Err(EINVAL);
    }
    for syncobj in find(call, arg.handles, arg.count_handles)? {
        syncobj.replace(Some(stub(call)));
    }
    Ok(())
}

pub(super) fn timeline_signal(call: &Call<'_>, arg: &mut uapi::TimelineArray) -> Result {
    if arg.flags != 0 {
        return Err(EINVAL);
    }
    let syncobjs = find(call, arg.handles, arg.count_handles)?;
    let points = points(call, arg.points, syncobjs.len())?;
    for (syncobj, point) in syncobjs.iter().zip(points) {
        syncobj.add_point(point, &stub(call), syncobj.permit()?);
    }
    Ok(())
}

pub(super) fn query(call: &Call<'_>, arg: &mut uapi::TimelineArray) -> Result {
    if arg.flags & !uapi::QUERY_LAST_SUBMITTED != 0 {
        return Err(EINVAL);
    }
    let syncobjs = find(call, arg.handles, arg.count_handles)?;
    call.device.retire();
    let out = call.array::<u64>(arg.points, syncobjs.len() as u64)?;
    let submitted = arg.flags & uapi::QUERY_LAST_SUBMITTED != 0;
    for (index, syncobj) in syncobjs.iter().enumerate() {
        out.write(index as u64 * 8, &syncobj.query(submitted))?;
    }
    Ok(())
}

pub(super) fn transfer(call: &Call<'_>, arg: &mut uapi::Transfer) -> Result {
    if arg.pad != 0 {
        return Err(EINVAL);
    }
    let to = call.file.syncobj(arg.dst_handle)?;
    let from = call.file.syncobj(arg.src_handle)?;
    let mut found = from.wait(arg.src_point);
    if found.is_err() && arg.flags & uapi::WAIT_FOR_SUBMIT != 0 {
        wait_until(call.device, call.task, Some(SUBMIT_TIMEOUT), || {
            found = from.wait(arg.src_point);
            found.is_ok()
        })?;
    }
    let fence = found?.fence();
    match arg.dst_point {
        0 => to.replace(Some(fence)),
        point => to.add_point(point, &fence, to.permit()?),
    }
    Ok(())
}
