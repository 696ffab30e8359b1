//! Calls on objects: create, read, write, advise; the aperture's size.
//!
//! i915 `i915_gem.c`, `i915_gem_create.c`, `i915_gem_userptr.c`. Not modelled: objects over user memory, which
//! devices with LLC have; placements other than system memory.
use alloc::vec;

use kernel::dma::PAGE_SIZE;
use kernel::error::{Result, code::E2BIG, code::EINTR, code::EINVAL, code::ENODEV, code::ENOENT};
use kernel::uaccess::UserSlice;

use super::Call;
use crate::core::gem::state::Madvise;
use crate::core::wait;
use crate::intel::extension;
use crate::intel::gem::Tiling;
use crate::intel::uapi::gem::{
    Create, CreateExt, CreateExtMemoryRegions, GetAperture, MADV_DONTNEED, MADV_WILLNEED,
    NEEDS_CPU_ACCESS, Transfer, Userptr,
};
use crate::intel::uapi::query::MemoryClassInstance;

/// Bytes that are copied at a time.
const CHUNK: usize = 64 << 10;
/// `I915_GEM_CREATE_EXT_MEMORY_REGIONS` and `_PROTECTED_CONTENT`.
const EXT_MEMORY_REGIONS: u32 = 0;
const EXT_PROTECTED_CONTENT: u32 = 1;

fn new_object(call: &Call<'_>, size: &mut u64, handle: &mut u32) -> Result {
    // round_up wraps to zero, as in C.
    let rounded = size.wrapping_add(PAGE_SIZE as u64 - 1) & !(PAGE_SIZE as u64 - 1);
    if rounded == 0 {
        return Err(EINVAL);
    }
    if rounded / PAGE_SIZE as u64 > i32::MAX as u64 {
        return Err(E2BIG);
    }
    let bytes = usize::try_from(rounded).map_err(|_| E2BIG)?;
    let object = call.device.create_object(bytes, Tiling::None, 0)?;
    *handle = call.file.add_object(&object)?;
    *size = rounded;
    Ok(())
}

pub(super) fn create(call: &Call<'_>, arg: &mut Create) -> Result {
    new_object(call, &mut arg.size, &mut arg.handle)
}

pub(super) fn create_ext(call: &Call<'_>, arg: &mut CreateExt) -> Result {
    if arg.flags & !NEEDS_CPU_ACCESS != 0 {
        return Err(EINVAL);
    }
    extension::walk(call, arg.extensions, |name, at| match name {
        EXT_MEMORY_REGIONS => placements(call, &extension::read(call, at)?),
        // i915 ext_set_protected: EINVAL for flags, ENODEV where there is no PXP.
        EXT_PROTECTED_CONTENT => {
            let flags = extension::read::<[u32; 9]>(call, at)?;
            Err(if flags[8] == 0 { ENODEV } else { EINVAL })
        }
        _ => Err(EINVAL),
    })?;
    // Needs more than one placement, and there is one.
    if arg.flags & NEEDS_CPU_ACCESS != 0 {
        return Err(EINVAL);
    }
    new_object(call, &mut arg.size, &mut arg.handle)
}

/// System memory, once (i915 `set_placements`).
fn placements(call: &Call<'_>, arg: &CreateExtMemoryRegions) -> Result {
    if arg.pad != 0 || arg.num_regions != 1 {
        return Err(EINVAL);
    }
    let at = call.array::<MemoryClassInstance>(arg.regions, 1)?;
    let region: MemoryClassInstance = at.read(0)?;
    if region == MemoryClassInstance::default() {
        Ok(())
    } else {
        Err(EINVAL)
    }
}

pub(super) fn userptr(_: &Call<'_>, _: &mut Userptr) -> Result {
    // As without LLC and snooping: the objects of this driver have pages of their own.
    Err(ENODEV)
}

/// Checks of both directions; `None` when there is nothing to do.
fn transfer<'a>(
    call: &'a Call<'_>,
    arg: &Transfer,
) -> Result<Option<(crate::Object, usize, UserSlice<'a>)>> {
    if arg.size == 0 {
        return Ok(None);
    }
    let user = call.slice(arg.data_ptr, arg.size)?;
    let object = call.file.object(arg.handle)?;
    let end = arg.offset.checked_add(arg.size).ok_or(EINVAL)?;
    if end > object.size() as u64 {
        return Err(EINVAL);
    }
    let offset = usize::try_from(arg.offset).map_err(|_| EINVAL)?;
    Ok(Some((object, offset, user)))
}

pub(super) fn pread(call: &Call<'_>, arg: &mut Transfer) -> Result {
    let Some((object, offset, user)) = transfer(call, arg)? else {
        return Ok(());
    };
    wait::wait_object(call, &object, true, None)?;
    let mut chunk = vec![0; CHUNK.min(user.len() as usize)];
    let mut done = 0;
    while done < user.len() {
        if call.task.signal_pending() {
            return Err(EINTR);
        }
        let len = chunk.len().min((user.len() - done) as usize);
        let part = chunk.get_mut(..len).ok_or(EINVAL)?;
        object.read(offset.wrapping_add(done as usize), part)?;
        user.write_bytes(done, part)?;
        done += len as u64;
    }
    Ok(())
}

pub(super) fn pwrite(call: &Call<'_>, arg: &mut Transfer) -> Result {
    let Some((object, offset, user)) = transfer(call, arg)? else {
        return Ok(());
    };
    wait::wait_object(call, &object, false, None)?;
    let mut chunk = vec![0; CHUNK.min(user.len() as usize)];
    let mut done = 0;
    while done < user.len() {
        if call.task.signal_pending() {
            return Err(EINTR);
        }
        let len = chunk.len().min((user.len() - done) as usize);
        let part = chunk.get_mut(..len).ok_or(EINVAL)?;
        user.read_bytes(done, part)?;
        object.write(offset.wrapping_add(done as usize), part)?;
        done += len as u64;
    }
    Ok(())
}

pub(super) fn madvise(call: &Call<'_>, arg: &mut crate::intel::uapi::gem::Madvise) -> Result {
    let advice = match arg.madv {
        MADV_WILLNEED => Madvise::WillNeed,
        MADV_DONTNEED => Madvise::DontNeed,
        _ => return Err(EINVAL),
    };
    let object = call.file.object(arg.handle).map_err(|_| ENOENT)?;
    let retained = object.state(|state| {
        if state.madvise != Madvise::Purged {
            state.madvise = advice;
        }
        state.madvise != Madvise::Purged
    });
    let mut retained = retained;
    if retained && advice == Madvise::DontNeed {
        // What Linux has no pages of goes at once (i915_gem_object_truncate).
        retained = object.state(|state| state.touched) || !object.purge().0;
        if retained {
            call.device.user().lru.dont_need(&object);
        }
    }
    arg.retained = u32::from(retained);
    Ok(())
}

#[expect(clippy::unnecessary_wraps, reason = "a handler's shape")]
pub(super) fn get_aperture(call: &Call<'_>, arg: &mut GetAperture) -> Result {
    let ggtt = call.device.ggtt();
    arg.aper_size = (ggtt.entries() * PAGE_SIZE) as u64;
    let evictable = call.device.user().lru.evictable();
    let evictable: u64 = evictable.iter().map(crate::Object::bound_size).sum();
    let pinned = ggtt.taken().saturating_sub(evictable);
    arg.aper_available_size = arg.aper_size.saturating_sub(pinned);
    Ok(())
}
