//! Calls on descriptors of objects.
//!
//! dma-buf.c of Linux 6.1 and i915 i915_gem_dmabuf.c. The beginning of an access waits for the device; the end has
//! nothing to do, as there are no caches to be written back.
use kernel::error::{Result, code::EINVAL, code::ENOTTY};
use kernel::uaccess::UserSlice;

use crate::device::Device;
use crate::gem::Object;
use crate::task::Task;
use crate::uapi::dma_buf::{END, READ, SYNC, Sync, WRITE};
use crate::wait::wait_object;

/// Carries out an ioctl on a descriptor of an object; `ENOTTY` for unknown numbers.
pub fn ioctl(
    device: &Device,
    object: &Object,
    request: u32,
    arg: u64,
    task: &dyn Task,
) -> Result<i32> {
    if request != SYNC.0 {
        return Err(ENOTTY);
    }
    let user = UserSlice::new(task.memory(), arg, size_of::<Sync>() as u64)?;
    let Sync { flags } = user.read(0)?;
    if flags & !(READ | WRITE | END) != 0 || flags & (READ | WRITE) == 0 {
        return Err(EINVAL);
    }
    if flags & END == 0 {
        // Readers wait for writers, writers for everybody.
        wait_object(device, task, object, flags & WRITE == 0, None)?;
    }
    Ok(0)
}
