//! Calls on descriptors of fences: merge, information.
//!
//! sync_file.c of Linux 6.1: same checks in the same order. Not modelled: `SYNC_IOC_SET_DEADLINE`, which is younger.
use alloc::format;
use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;

use kernel::error::{Result, code::EFAULT, code::EINVAL, code::ENOENT, code::ENOTTY};
use kernel::uaccess::UserSlice;
use zerocopy::IntoBytes;

use crate::core::device::Device;
use crate::core::fence::Fence;
use crate::core::task::{Opening, Shared, Task};
use crate::core::uapi::sync_file::{FILE_INFO, FenceInfo, FileInfo, MERGE, MergeData, NAME};

/// Carries out an ioctl on a descriptor that carries `what`: what a sync file's `unlocked_ioctl` does.
///
/// `ENOTTY` when it carries no fence and for unknown numbers.
pub fn ioctl(
    device: &dyn Device,
    what: &Shared,
    request: u32,
    arg: u64,
    task: &dyn Task,
) -> Result<i32> {
    let Shared::Fence(fence) = what else {
        return Err(ENOTTY);
    };
    // Fences that nobody has looked at since they ended.
    device.retire();
    match request {
        request if request == MERGE.0 => merge(fence, arg, task),
        request if request == FILE_INFO.0 => info(device, fence, arg, task),
        _ => Err(ENOTTY),
    }?;
    Ok(0)
}

fn argument<T>(task: &dyn Task, arg: u64) -> Result<UserSlice<'_>> {
    UserSlice::new(task.memory(), arg, size_of::<T>() as u64)
}

/// A text in a field of fixed size, with its zero (strscpy).
fn field(text: &str) -> [u8; NAME] {
    let mut out = [0; NAME];
    let room = NAME - 1;
    for (to, from) in out.iter_mut().take(room).zip(text.bytes()) {
        *to = from;
    }
    out
}

fn text(field: &[u8; NAME]) -> String {
    let end = field.iter().position(|byte| *byte == 0);
    let bytes = field.get(..end.unwrap_or(NAME - 1)).unwrap_or_default();
    String::from_utf8_lossy(bytes).into_owned()
}

/// sync_file_ioctl_merge.
fn merge(fence: &Arc<Fence>, arg: u64, task: &dyn Task) -> Result {
    let user = argument::<MergeData>(task, arg)?;
    let mut data: MergeData = user.read(0)?;
    if data.flags != 0 || data.pad != 0 {
        return Err(EINVAL);
    }
    let Ok(Shared::Fence(other)) = task.fds().get(data.fd2) else {
        return Err(ENOENT);
    };
    let merged = Fence::merge(&text(&data.name), &[fence, &other]);
    // What cannot be told is noticed before a descriptor is open.
    user.write(0, &data)?;
    data.fence = task
        .fds()
        .install(Shared::Fence(merged), Opening::default())?;
    user.write(0, &data).map_err(|_| EFAULT)
}

/// 0 under way, 1 done, negative errno (dma_fence_get_status).
fn status(fence: &Fence) -> i32 {
    match fence.status() {
        None => 0,
        Some(Ok(())) => 1,
        Some(Err(error)) => error.to_errno(),
    }
}

/// sync_file_get_name.
fn name(fence: &Fence) -> String {
    if !fence.user_name().is_empty() {
        return fence.user_name().into();
    }
    let (driver, timeline) = (fence.driver_name(), fence.timeline_name());
    format!("{driver}-{timeline}1-{}", fence.seqno())
}

/// sync_file_ioctl_fence_info.
fn info(device: &dyn Device, fence: &Arc<Fence>, arg: u64, task: &dyn Task) -> Result {
    let user = argument::<FileInfo>(task, arg)?;
    let mut info: FileInfo = user.read(0)?;
    if info.flags != 0 || info.pad != 0 {
        return Err(EINVAL);
    }
    let parts = fence.parts();
    let count = u32::try_from(parts.len()).map_err(|_| EINVAL)?;
    if info.num_fences == 0 {
        info.status = status(fence);
    } else {
        if info.num_fences < count {
            return Err(EINVAL);
        }
        // The device's clock is not the caller's; the time that has passed is the same.
        let now = device.clock().now();
        let told: Vec<FenceInfo> = parts
            .iter()
            .map(|part| FenceInfo {
                obj_name: field(&part.timeline_name()),
                driver_name: field(part.driver_name()),
                status: status(part),
                flags: 0,
                timestamp_ns: part.signalled_at().map_or(0, |at| {
                    let ago = (now - at).as_nanos();
                    task.monotonic().as_nanos().saturating_sub(ago)
                }),
            })
            .collect();
        info.status = told
            .iter()
            .fold(1, |all, part| if all <= 0 { all } else { part.status });
        let bytes = told.as_bytes();
        UserSlice::new(task.memory(), info.sync_fence_info, bytes.len() as u64)?
            .write_bytes(0, bytes)?;
    }
    info.name = field(&name(fence));
    info.num_fences = count;
    user.write(0, &info)
}
