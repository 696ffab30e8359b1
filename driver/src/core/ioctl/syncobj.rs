//! Calls on sync objects.
//!
//! drm_syncobj.c. Not modelled: sleeping; a wait lets time pass in steps.
use alloc::sync::Arc;
use alloc::vec::Vec;

use kernel::error::{Result, code::E2BIG, code::EINVAL, code::ENOENT, code::ENOMEM};
use kernel::time::{Delta, Ktime};

use super::Call;
use crate::core::fence::Fence;
use crate::core::program::Wanted;
use crate::core::syncobj::{Syncobj, Wait};
use crate::core::task::Shared;
use crate::core::uapi::syncobj as uapi;
use crate::core::wait::wait_until;

/// Most handles of an array: Linux keeps a pointer for each in one piece of at most 4 MiB (`kmalloc_array`).
const MOST: u32 = 1 << 19;
/// Most sync objects of a wait: Linux keeps 64 bytes for each in such a piece.
const MOST_WAITED: usize = 1 << 16;

/// How long a transfer waits for a submission (`DRM_SYNCOBJ_WAIT_FOR_SUBMIT_TIMEOUT`).
const SUBMIT_TIMEOUT: Delta = Delta::from_secs(5);

pub(super) fn create(call: &Call<'_>, arg: &mut uapi::Create) -> Result {
    if arg.flags & !uapi::CREATE_SIGNALED != 0 {
        return Err(EINVAL);
    }
    let syncobj = Syncobj::new(arg.flags & uapi::CREATE_SIGNALED != 0);
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
    arg.fd = call.task.fds().install(shared, false)?;
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
    let mut entries: Vec<Option<Wait>> = Vec::new();
    for (syncobj, point) in syncobjs.iter().zip(points) {
        match syncobj.wait(*point) {
            Ok(wait) => entries.push(Some(wait)),
            Err(_) if patient => entries.push(None),
            Err(error) => return Err(error),
        }
    }
    let known = entries.iter().flatten();
    let waits = known.clone().any(|wait| !wait.is_signalled());
    let _waits = waits.then(|| call.waits(Wanted::Any));
    let mut first = u32::MAX;
    let outcome = wait_until(call.device, call.task, timeout, || {
        let mut there = 0;
        for (index, entry) in entries.iter_mut().enumerate() {
            if entry.is_none()
                && let (Some(syncobj), Some(point)) = (syncobjs.get(index), points.get(index))
            {
                *entry = syncobj.wait(*point).ok();
            }
            if entry
                .as_ref()
                .is_some_and(|wait| available || wait.is_signalled())
            {
                if there == 0 {
                    first = index as u32;
                }
                there += 1;
            }
        }
        there == entries.len() || there > 0 && flags & uapi::WAIT_ALL == 0
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
        syncobj.replace(Some(Arc::new(Fence::signalled())));
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
        syncobj.add_free_point(point, &Arc::new(Fence::signalled()))?;
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
        point => to.add_free_point(point, &fence)?,
    }
    Ok(())
}
