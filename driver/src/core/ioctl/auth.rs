//! Calls about masters, magic numbers and the name of the device.
//!
//! drm_auth.c, drm_ioctl.c of Linux 6.1. Not modelled: statistics, which Linux has hollowed out too.
use kernel::error::{Result, code::EINVAL};

use super::Call;
use crate::core::master::Opener;
use crate::core::uapi::drm::{Auth, Client, SetVersion, Stats, Unique};

/// Version of the interface (`DRM_IF_MAJOR`, `DRM_IF_MINOR`).
const INTERFACE: (i32, i32) = (1, 4);
/// A user that cannot be named (`overflowuid`).
const NOBODY: u64 = 65534;

fn caller(call: &Call<'_>) -> Opener {
    Opener {
        pid: call.task.pid(),
        admin: call.task.is_admin(),
    }
}

/// drm_getunique: nothing until SET_VERSION has tied the master to the device; drmOpenByName relies on that.
pub(super) fn get_unique(call: &Call<'_>, arg: &mut Unique) -> Result {
    let name = if call.file.member.is_named()? {
        call.device.identity().bus
    } else {
        ""
    };
    let len = name.len() as u64;
    if !name.is_empty() && arg.len >= len {
        call.slice(arg.name, len)?.write_bytes(0, name.as_bytes())?;
    }
    arg.len = len;
    Ok(())
}

pub(super) fn get_magic(call: &Call<'_>, arg: &mut Auth) -> Result {
    arg.magic = call.file.member.magic()?;
    Ok(())
}

pub(super) fn auth_magic(call: &Call<'_>, arg: &mut Auth) -> Result {
    call.file.member.vouch(arg.magic)
}

/// drm_getclient: the caller itself, for those who ask whether they are authenticated.
pub(super) fn get_client(call: &Call<'_>, arg: &mut Client) -> Result {
    if arg.idx != 0 {
        return Err(EINVAL);
    }
    *arg = Client {
        idx: 0,
        auth: i32::from(call.file.member.is_authenticated()),
        pid: u64::from(call.task.pid()),
        uid: NOBODY,
        magic: 0,
        iocs: 0,
    };
    Ok(())
}

#[expect(clippy::unnecessary_wraps, reason = "a handler")]
pub(super) fn get_stats(_: &Call<'_>, arg: &mut Stats) -> Result {
    *arg = Stats::default();
    Ok(())
}

/// drm_setversion.
pub(super) fn set_version(call: &Call<'_>, arg: &mut SetVersion) -> Result {
    let driver = call.device.identity().driver;
    let driver = (driver.major, driver.minor);
    let wanted = *arg;
    *arg = SetVersion {
        interface_major: INTERFACE.0,
        interface_minor: INTERFACE.1,
        driver_major: driver.0,
        driver_minor: driver.1,
    };
    let fits = |major, minor, have: (i32, i32)| major == have.0 && (0..=have.1).contains(&minor);
    if wanted.interface_major != -1 {
        if !fits(wanted.interface_major, wanted.interface_minor, INTERFACE) {
            return Err(EINVAL);
        }
        if wanted.interface_minor >= 1 {
            call.file.member.name_master()?;
        }
    }
    if wanted.driver_major != -1 && !fits(wanted.driver_major, wanted.driver_minor, driver) {
        return Err(EINVAL);
    }
    Ok(())
}

pub(super) fn set_master(call: &Call<'_>, _: &mut [u8; 0]) -> Result {
    let seat = &call.device.user().seat;
    call.file.member.set_master(seat, caller(call))
}

pub(super) fn drop_master(call: &Call<'_>, _: &mut [u8; 0]) -> Result {
    let seat = &call.device.user().seat;
    call.file.member.drop_master(seat, caller(call))
}
