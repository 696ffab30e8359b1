//! Execution: a batch in a bound object becomes a request in the ring.
//!
//! i915 `i915_gem_execbuffer.c`, the part behind relocation. Not modelled: the execbuffer uAPI, relocation by the
//! kernel, lists of objects kept alive (the batch is; the caller keeps what it uses until the request has ended).
use kernel::error::{Result, code::EINVAL};

use crate::device::Device;
use crate::gem::Object;
use crate::request::Request;

/// A batch to run.
#[derive(Clone, Copy, Debug)]
pub struct BatchDesc<'a> {
    /// The bound object that holds the batch.
    pub object: &'a Object,
    /// Byte offset of the first command, a multiple of 8.
    pub start: u32,
    /// Length in bytes; the batch ends by its own MI_BATCH_BUFFER_END.
    pub len: u32,
}

/// Queues a batch.
///
/// `EINVAL` when the object is not bound, of another device, or the range is empty, misaligned or leaves the object.
pub(crate) fn submit(device: &Device, desc: &BatchDesc<'_>) -> Result<Request> {
    let object = desc.object;
    let address = object.address().ok_or(EINVAL)?;
    let end = u64::from(desc.start) + u64::from(desc.len);
    let fits = desc.len > 0 && desc.start.is_multiple_of(8) && end <= object.size() as u64;
    if !fits || !object.belongs_to(device.ggtt()) {
        return Err(EINVAL);
    }
    let fence = device
        .engine()
        .submit(object, address.wrapping_add(desc.start))?;
    Ok(Request::new(device, fence))
}
