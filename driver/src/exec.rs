//! Execution: a batch in a bound object becomes a request in the ring.
//!
//! i915 `i915_gem_execbuffer.c`, the part behind relocation. Callers inside the kernel bind and
//! relocate themselves and keep what they use; user space comes through [`user`]. Not modelled: the command parser.
mod parse;
mod pin;
mod reloc;
mod submit;

pub(crate) use self::submit::user;

use kernel::error::{Result, code::EINVAL};

use crate::debug::contexts::Which;
use crate::debug::hook::Prologue;
use crate::device::Device;
use crate::gem::Object;
use crate::request::Request;
use crate::timeline::Uses;

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
pub(crate) fn submit(device: &Device, desc: &BatchDesc<'_>, trusted: bool) -> Result<Request> {
    let object = desc.object;
    let address = object.address().ok_or(EINVAL)?;
    let end = u64::from(desc.start) + u64::from(desc.len);
    let fits = desc.len > 0 && desc.start.is_multiple_of(8) && end <= object.size() as u64;
    if !fits || !object.belongs_to(device.ggtt()) {
        return Err(EINVAL);
    }
    let start = address.wrapping_add(desc.start);
    let mut objects = alloc::vec![object.clone()];
    let prologue = device
        .debug_hook()
        .prepare(device, &mut objects, Which::Own, start)?;
    let prologue = Prologue {
        trusted,
        ..prologue
    };
    let uses = Uses {
        objects,
        prologue,
        ..Uses::default()
    };
    let fence = device.engine().submit(&uses, start)?;
    device.debug_hook().queued(&fence);
    Ok(Request::new(device, fence))
}
