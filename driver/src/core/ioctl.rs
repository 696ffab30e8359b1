//! The ioctl dispatcher: argument block and permissions; calls of the core.
//!
//! drm_ioctl.c of Linux 6.1: same errors in the same order. Not modelled: mode setting, legacy DRI1.
pub(crate) mod access;
mod auth;
mod base;
mod mode;
pub(crate) mod refused;
mod syncobj;
pub(crate) mod table;

use alloc::vec;

use kernel::error::{Result, code::EACCES, code::EFAULT, code::EINVAL, code::ENOTTY};
use kernel::error::{code::ENODEV, code::ENOMEM};
use kernel::uaccess::UserSlice;
use zerocopy::{FromBytes, Immutable, IntoBytes};

pub(crate) use crate::core::call::Call;
use crate::core::file::File;
use crate::core::task::Task;
use crate::core::uapi::Request;
use table::{Known, Table};

/// Runs a handler on the typed block. The block is taken over even when the handler fails, as in Linux.
pub(crate) fn with<T: FromBytes + IntoBytes + Immutable>(
    call: &Call<'_>,
    block: &mut [u8],
    run: impl FnOnce(&Call<'_>, &mut T) -> Result,
) -> Result {
    let (mut argument, _) = T::read_from_prefix(block).map_err(|_| EINVAL)?;
    let outcome = run(call, &mut argument);
    argument.write_to_prefix(block).map_err(|_| EINVAL)?;
    outcome
}

/// Carries out an ioctl of the core's or of a vendor's `table`: what a file's `unlocked_ioctl` does. `arg` is an address
/// in the caller's memory.
///
/// The table is indexed by the number alone. A shorter form of an argument is filled up with zeros, a longer one is cut;
/// what is read or written is what both the request and the table say (drm_ioctl).
///
/// The errors are those of Linux 6.1: `ENOTTY` for numbers of other types, `EINVAL` for unknown ones, `EACCES` for what
/// this file or caller may not do, `EFAULT` for arguments that cannot be read or written, and what the call itself says.
pub(crate) fn dispatch(
    vendor: &Table,
    file: &File,
    request: u32,
    arg: u64,
    task: &dyn Task,
) -> Result<i32> {
    let device = file.device();
    device.check_live().map_err(|_| ENODEV)?;
    let is_master = file.member.was_master();
    let name = || task.name();
    file.client().identify(task.pid(), is_master, name);
    let request = Request(request);
    if request.kind() != Request::DRM {
        return Err(ENOTTY);
    }
    let known = table::find(vendor, request.number()).ok_or(EINVAL)?;
    let (row, access) = match &known {
        Known::Served(row) => (row.request, row.access),
        Known::Refused(row) => (row.request, row.access),
    };
    let size = |direction| {
        let both = request.both(row, direction);
        if both { request.size() } else { 0 }
    };
    let (read, written) = (size(Request::IN), size(Request::OUT));
    let mut block = vec![0; read.max(written).max(row.size())];
    let memory = task.memory();
    let input = block.get_mut(..read).ok_or(ENOMEM)?;
    UserSlice::new(memory, arg, read as u64)?.read_bytes(0, input)?;
    let outcome = match known {
        _ if !access.permits(file, task.is_admin()) => Err(EACCES),
        Known::Served(row) => (row.run)(&Call { file, device, task }, &mut block),
        Known::Refused(row) => row.outcome,
    };
    let output = block.get(..written).ok_or(ENOMEM)?;
    UserSlice::new(memory, arg, written as u64)
        .and_then(|slice| slice.write_bytes(0, output))
        .map_err(|_| EFAULT)?;
    outcome.map(|()| 0)
}

/// What is behind a request that was refused.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Standing {
    /// It is carried out here.
    Served,
    /// Linux has it, under this name, for devices that have more than this one.
    Refused(&'static str),
    /// No driver has it.
    Unknown,
}

/// Looks a request up.
pub(crate) fn standing(vendor: &Table, request: u32) -> Standing {
    let request = Request(request);
    let drm = request.kind() == Request::DRM;
    match drm.then(|| table::find(vendor, request.number())).flatten() {
        Some(Known::Refused(row)) if row.outcome.is_err() => Standing::Refused(row.name),
        Some(_) => Standing::Served,
        None => Standing::Unknown,
    }
}
