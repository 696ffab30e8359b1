//! Calls of the DRM core: version, capabilities, handles, names, PRIME.
//!
//! drm_ioctl.c, drm_gem.c, drm_prime.c. Not modelled: client capabilities, which are all about mode setting.
use kernel::error::{Result, code::EINVAL, code::ENOENT, code::EOPNOTSUPP};

use super::Call;
use crate::core::gem::WeakObject;
use crate::core::task::{Opening, Shared};
use crate::core::uapi::drm::{
    CLOEXEC, GemClose, GemFlink, GemOpen, GetCap, PrimeHandle, RDWR, SetClientCap, Version, cap,
};

/// Copies a text as far as there is room and tells its length (drm_copy_field).
fn field(call: &Call<'_>, text: &str, len: &mut u64, at: u64) -> Result {
    let room = usize::try_from(*len).unwrap_or(usize::MAX);
    let bytes = text.as_bytes();
    let part = bytes.get(..room).unwrap_or(bytes);
    *len = bytes.len() as u64;
    if part.is_empty() || at == 0 {
        return Ok(());
    }
    call.slice(at, part.len() as u64)?.write_bytes(0, part)
}

pub(super) fn version(call: &Call<'_>, arg: &mut Version) -> Result {
    let identity = call.device.identity();
    let info = identity.driver;
    (arg.major, arg.minor, arg.patchlevel) = (info.major, info.minor, info.patchlevel);
    field(call, info.name, &mut arg.name_len, arg.name)?;
    field(call, identity.date, &mut arg.date_len, arg.date)?;
    field(call, info.desc, &mut arg.desc_len, arg.desc)
}

pub(super) fn get_cap(_: &Call<'_>, arg: &mut GetCap) -> Result {
    arg.value = 0;
    arg.value = match arg.capability {
        cap::TIMESTAMP_MONOTONIC | cap::SYNCOBJ | cap::SYNCOBJ_TIMELINE => 1,
        cap::PRIME => 3,
        // The rest is for drivers with mode setting.
        _ => return Err(EOPNOTSUPP),
    };
    Ok(())
}

pub(super) fn set_client_cap(_: &Call<'_>, _: &mut SetClientCap) -> Result {
    Err(EOPNOTSUPP)
}

pub(super) fn gem_close(call: &Call<'_>, arg: &mut GemClose) -> Result {
    call.file.close_object(arg.handle)
}

pub(super) fn gem_flink(call: &Call<'_>, arg: &mut GemFlink) -> Result {
    let object = call.file.object(arg.handle)?;
    let mut names = call.device.user().names.lock();
    arg.name = object.state(|state| -> Result<u32> {
        // The last handle takes the name away: none is given behind it.
        if state.handles == 0 {
            return Err(ENOENT);
        }
        if state.name == 0 {
            state.name = names.insert(object.downgrade())?;
        }
        Ok(state.name)
    })?;
    Ok(())
}

pub(super) fn gem_open(call: &Call<'_>, arg: &mut GemOpen) -> Result {
    let names = call.device.user().names.lock();
    let named = names.get(arg.name).and_then(WeakObject::upgrade);
    // The name stays meanwhile (drm_gem_open_ioctl).
    let opened = named.map(|object| (call.file.open_named(&object), object));
    drop(names);
    let (handle, object) = opened.ok_or(ENOENT)?;
    arg.handle = handle?;
    arg.size = object.size() as u64;
    Ok(())
}

pub(super) fn prime_handle_to_fd(call: &Call<'_>, arg: &mut PrimeHandle) -> Result {
    if arg.flags & !(CLOEXEC | RDWR) != 0 {
        return Err(EINVAL);
    }
    let object = call.file.object(arg.handle)?;
    call.file.exported(arg.handle);
    let how = Opening {
        inherit: arg.flags & CLOEXEC == 0,
        read_only: arg.flags & RDWR == 0,
    };
    arg.fd = call.task.fds().install(Shared::Object(object), how)?;
    Ok(())
}

pub(super) fn prime_fd_to_handle(call: &Call<'_>, arg: &mut PrimeHandle) -> Result {
    let Shared::Object(object) = call.task.fds().get(arg.fd)? else {
        return Err(EINVAL);
    };
    // As i915_gem_dmabuf_attach: an object whose memory another device does not reach, as all that is in the memory of a device
    // of its own.
    if !call.device.owns(&object) {
        return Err(EOPNOTSUPP);
    }
    arg.handle = call.file.import(&object)?;
    Ok(())
}
