//! Calls about use: domains, caching, busy, wait, throttle.
//!
//! i915 `i915_gem_domain.c`, `i915_gem_busy.c`, `i915_gem_wait.c`, `i915_gem_throttle.c`. Not modelled: cache flushes;
//! memory is coherent, so that domains are bookkeeping.
use alloc::sync::Arc;

use kernel::error::{
    Result, code::EAGAIN, code::EBUSY, code::EINVAL, code::EIO, code::ENODEV, code::ETIME,
};
use kernel::time::{Delta, Ktime};

use super::Call;
use crate::core::fence::Fence;
use crate::core::wait::{wait_fence, wait_object};
use crate::intel::uapi::gem::{
    Busy, CACHING_CACHED, CACHING_DISPLAY, CACHING_NONE, Caching, SetDomain, SwFinish, Wait, domain,
};

/// Requests of the last 20 ms need not be waited for (i915 `DRM_I915_THROTTLE_JIFFIES`).
const RECENT: Delta = Delta::from_millis(20);
/// BUSY of an engine's class: a reader's bit, and the same with the writer's number (i915 `__busy_read_flag`,
/// `__busy_write_id`). Fences of other devices are of no engine.
fn busy_read(class: u16) -> u32 {
    0x1_0000 << class
}

/// See [`busy_read`].
fn busy_write(class: u16) -> u32 {
    u32::from(class + 1) | busy_read(class)
}

pub(super) fn set_domain(call: &Call<'_>, arg: &mut SetDomain) -> Result {
    let (read, write) = (arg.read_domains, arg.write_domain);
    if (read | write) & domain::GPU != 0 || write != 0 && read != write {
        return Err(EINVAL);
    }
    if read == 0 {
        return Ok(());
    }
    let object = call.file.object(arg.handle)?;
    wait_object(call, &object, write == 0, None)?;
    object.state(|state| {
        state.touched = true;
        state.pages().map(drop)
    })?;
    object.layout(|layout| {
        if layout.write_domain != read {
            layout.read_domains = if write == 0 {
                layout.read_domains & !domain::GPU | read
            } else {
                read
            };
            layout.write_domain = write;
        }
    });
    Ok(())
}

pub(super) fn sw_finish(call: &Call<'_>, arg: &mut SwFinish) -> Result {
    call.file.object(arg.handle).map(drop)
}

pub(super) fn set_caching(call: &Call<'_>, arg: &mut Caching) -> Result {
    let cached = match arg.caching {
        // A display engine that writes through is of later generations (i915 `HAS_WT`).
        CACHING_NONE | CACHING_DISPLAY => false,
        CACHING_CACHED if call.device.info().llc || call.device.info().snoops => true,
        // Neither LLC nor snooping.
        CACHING_CACHED => return Err(ENODEV),
        _ => return Err(EINVAL),
    };
    let object = call.file.object(arg.handle)?;
    if object.is_cached() == cached {
        return Ok(());
    }
    wait_object(call, &object, false, None)?;
    let _lock = (call.device.user().exec).lock(call.device.uncore().clock());
    if object.is_pinned() || object.is_busy(false) {
        return Err(EBUSY);
    }
    // It is bound again with the entries that it needs (i915 `i915_gem_object_set_cache_level`).
    object.unbind();
    object.set_cached(cached);
    Ok(())
}

pub(super) fn get_caching(call: &Call<'_>, arg: &mut Caching) -> Result {
    let object = call.file.object(arg.handle)?;
    arg.caching = if object.is_cached() {
        CACHING_CACHED
    } else {
        CACHING_NONE
    };
    Ok(())
}

pub(super) fn busy(call: &Call<'_>, arg: &mut Busy) -> Result {
    let object = call.file.object(arg.handle)?;
    if object.is_busy(false) {
        call.device.retire();
    } else {
        // Interrupts have told so. To look at the device's memory can mean to wait for the device.
        call.device.tidy();
    }
    let class = |fence: &Fence| call.device.engine_of(fence).info().class;
    let bits = |fences: &[Arc<Fence>], bits: fn(u16) -> u32| {
        let classes = fences.iter().map(|fence| bits(class(fence)));
        classes.fold(0, |all, bits| all | bits)
    };
    arg.busy = object.state(|state| {
        let read = bits(state.users(false), busy_read);
        // One engine writes at a time.
        let last = state.users(true).last().map(|fence| class(fence));
        read | last.map_or(0, busy_write)
    });
    Ok(())
}

pub(super) fn wait(call: &Call<'_>, arg: &mut Wait) -> Result {
    if arg.flags != 0 {
        return Err(EINVAL);
    }
    let object = call.file.object(arg.bo_handle)?;
    let clock = call.device.uncore().clock();
    let start = clock.now();
    let timeout = u64::try_from(arg.timeout_ns).ok().map(Delta::from_nanos);
    let outcome = wait_object(call, &object, false, timeout);
    if arg.timeout_ns > 0 {
        let waited = i64::try_from((clock.now() - start).as_nanos()).unwrap_or(i64::MAX);
        arg.timeout_ns = arg.timeout_ns.saturating_sub(waited).max(0);
        if outcome == Err(ETIME) && arg.timeout_ns != 0 {
            return Err(EAGAIN);
        }
    }
    outcome
}

pub(super) fn throttle(call: &Call<'_>, _: &mut [u8; 0]) -> Result {
    if call.device.is_wedged() {
        return Err(EIO);
    }
    let now = call.device.uncore().clock().now().as_nanos();
    let Some(before) = now.checked_sub(RECENT.as_nanos()) else {
        return Ok(());
    };
    match call.file.oldest_wait(Ktime::from_nanos(before)) {
        Some(fence) => wait_fence(call, &fence, None),
        None => Ok(()),
    }
}
