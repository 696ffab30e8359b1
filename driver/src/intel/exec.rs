//! Execution: a batch in a bound object becomes a request in the ring.
//!
//! i915 `i915_gem_execbuffer.c`, the part behind relocation. Callers inside the kernel bind and
//! relocate themselves and keep what they use; user space comes through [`user`].
mod busy;
mod check;
mod copy;
mod parse;
mod pin;
mod reloc;
mod submit;

pub(crate) use self::submit::user;

use alloc::sync::Arc;

use kernel::error::{Result, code::EBUSY, code::EINVAL, code::EIO, code::ENOSPC};

use self::copy::Checked;
use crate::core::fence::Fence;
use crate::core::gem::Object;
use crate::core::wait::{Patience, wait};
use crate::intel::debug::contexts::Which;
use crate::intel::device::Device;
use crate::intel::engine::Engine;
use crate::intel::r#gen::checks::Checks;
use crate::intel::prologue::Prologue;
use crate::intel::request::Request;
use crate::intel::timeline::Uses;

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

impl Device {
    /// Queues a batch; see [`BatchDesc`].
    ///
    /// `EINVAL` for a batch that is not bound, misaligned or outside its object, and for one that cannot be read where it has to be looked
    /// through; `EBUSY` when it would have to be looked through while the device writes it, `EIO` when the engine takes no more.
    pub fn submit(&self, batch: &BatchDesc<'_>) -> Result<Request> {
        self.check_live()?;
        submit(self, batch, false)
    }

    /// The same for a batch of the kernel's own, whose privileged commands are carried out: debug sequences that write
    /// registers, for example.
    pub fn submit_trusted(&self, batch: &BatchDesc<'_>) -> Result<Request> {
        self.check_live()?;
        submit(self, batch, true)
    }
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
    let mut uses = Uses {
        objects,
        prologue,
        ..Uses::default()
    };
    let mut start = start;
    let checks = device.engine().info().checks;
    let checked = match checks.filter(|_| !trusted) {
        None => None,
        Some(checks) => Some(looked_through(device, desc, address, checks)?),
    };
    if let Some(checked) = &checked {
        start = checked.run(&mut uses);
    }
    let patience = Patience {
        timeout: None,
        task: None,
        watches: true,
    };
    let fence = queue((device, device.engine()), &patience, &uses, start)?;
    if let Some(checked) = &checked {
        checked.queued(device, &fence);
    }
    Ok(Request::new(device, fence))
}

/// Looks through a batch that the driver does not trust, when the device has ended what writes it.
fn looked_through(
    device: &Device,
    desc: &BatchDesc<'_>,
    address: u32,
    checks: &Checks,
) -> Result<Checked> {
    let wanted = copy::Wanted {
        device,
        call: None,
        object: desc.object,
        address,
        range: (desc.start, desc.len),
    };
    match copy::look_through(&wanted, checks) {
        Ok(checked) => Ok(checked),
        Err(busy::Stop::Error(error)) => Err(error),
        Err(busy::Stop::Evicts(..) | busy::Stop::Relocates(_)) => Err(EBUSY),
    }
}

/// The one way into a ring: waits until there is room, and looks for hangs meanwhile, as an engine that does not make
/// any hangs. `EIO` when the engine is wedged or the context banned.
fn queue(
    (device, engine): (&Device, &Engine),
    patience: &Patience<'_>,
    uses: &Uses,
    start: u32,
) -> Result<Arc<Fence>> {
    let mut queued = Err(EIO);
    wait(device, patience, || {
        queued = if uses.is_banned() {
            // Since it was looked at.
            Err(EIO)
        } else {
            engine.submit(uses, start)
        };
        !matches!(queued, Err(ENOSPC))
    })?;
    let fence = queued?;
    if engine.info().has_images {
        device.debug_hook().queued(&fence);
    }
    Ok(fence)
}
