//! Calls on descriptors of objects: access by the processor, fences, names.
//!
//! dma-buf.c of Linux 6.1 and i915 i915_gem_dmabuf.c. The beginning of an access waits for the device; the end has
//! nothing to do, as there are no caches to be written back. A name is checked and forgotten: where Linux shows it
//! (`/proc/PID/fdinfo`), the system shows its own file.
use alloc::sync::Arc;

use kernel::error::{Result, code::EFAULT, code::EINVAL, code::ENOTTY};
use kernel::uaccess::UserSlice;

use crate::core::device::Device;
use crate::core::fence::Fence;
use crate::core::gem::Object;
use crate::core::task::{Opening, Shared, Task};
use crate::core::uapi::dma_buf::{
    END, EXPORT_SYNC_FILE, IMPORT_SYNC_FILE, NAME_LEN, READ, SET_NAME_A, SET_NAME_B, SYNC, Sync,
    SyncFile, WRITE,
};
use crate::core::wait::wait_shared_object;

/// Carries out an ioctl on a descriptor of an object; `ENOTTY` for unknown numbers.
pub fn ioctl(
    device: &dyn Device,
    object: &Object,
    request: u32,
    arg: u64,
    task: &dyn Task,
) -> Result<i32> {
    match request {
        request if request == SYNC.0 => sync(device, object, arg, task),
        request if request == EXPORT_SYNC_FILE.0 => export(device, object, arg, task),
        request if request == IMPORT_SYNC_FILE.0 => import(device, object, arg, task),
        request if is_set_name(request) => set_name(arg, task),
        _ => Err(ENOTTY),
    }?;
    Ok(0)
}

/// Whether a request is one whose argument is a text and not a block of the size that the request tells.
#[must_use]
pub fn is_set_name(request: u32) -> bool {
    request == SET_NAME_A.0 || request == SET_NAME_B.0
}

fn sync(device: &dyn Device, object: &Object, arg: u64, task: &dyn Task) -> Result {
    let user = UserSlice::new(task.memory(), arg, size_of::<Sync>() as u64)?;
    let Sync { flags } = user.read(0)?;
    if flags & !(READ | WRITE | END) != 0 || flags & (READ | WRITE) == 0 {
        return Err(EINVAL);
    }
    if flags & END == 0 {
        // Readers wait for writers, writers for all others.
        wait_shared_object(device, task, object, flags & WRITE == 0)?;
    }
    Ok(())
}

/// The argument of a call about fences, and whether it is about writing.
fn sync_file(arg: u64, task: &dyn Task) -> Result<(UserSlice<'_>, SyncFile, bool)> {
    let user = UserSlice::new(task.memory(), arg, size_of::<SyncFile>() as u64)?;
    let data: SyncFile = user.read(0)?;
    let flags = u64::from(data.flags);
    if flags & !(READ | WRITE) != 0 || flags == 0 {
        return Err(EINVAL);
    }
    Ok((user, data, flags & WRITE != 0))
}

/// Gives out what the next reader, or the next writer, has to wait for (dma_buf_export_sync_file).
fn export(device: &dyn Device, object: &Object, arg: u64, task: &dyn Task) -> Result {
    let (user, mut data, write) = sync_file(arg, task)?;
    // Requests that have ended since the last look.
    device.retire();
    let fence = object.state(|state| state.active(!write));
    let fence = fence.unwrap_or_else(|| Arc::new(Fence::signalled()));
    // What cannot be told is noticed before a descriptor is open.
    user.write(0, &data)?;
    data.fd = task
        .fds()
        .install(Shared::Fence(fence), Opening::default())?;
    user.write(0, &data).map_err(|_| EFAULT)
}

/// Lets the next users wait for a fence as well (dma_buf_import_sync_file).
fn import(device: &dyn Device, object: &Object, arg: u64, task: &dyn Task) -> Result {
    let (_, data, write) = sync_file(arg, task)?;
    let Ok(Shared::Fence(fence)) = task.fds().get(data.fd) else {
        return Err(EINVAL);
    };
    device.retire();
    for part in fence.parts() {
        object.state(|state| state.await_also(&part, write));
    }
    Ok(())
}

/// Looks at a text as strndup_user does: `EINVAL` when it does not end within its room.
fn set_name(arg: u64, task: &dyn Task) -> Result {
    for at in 0..NAME_LEN {
        let at = arg.checked_add(at).ok_or(EFAULT)?;
        let byte: u8 = UserSlice::new(task.memory(), at, 1)?.read(0)?;
        if byte == 0 {
            return Ok(());
        }
    }
    Err(EINVAL)
}
