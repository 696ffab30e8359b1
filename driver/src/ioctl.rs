//! The ioctl dispatcher: argument block and permissions; the table is in `table`.
//!
//! drm_ioctl.c of Linux 6.1: same errors in the same order. Not modelled: mode setting, perf, legacy DRI1.
mod auth;
mod base;
mod context;
mod domain;
pub(crate) mod extension;
mod mmap;
mod mode;
mod object;
mod query;
mod refused;
mod syncobj;
mod table;
mod tiling;

#[cfg(test)]
mod tests;

use alloc::vec;

use kernel::error::{Result, code::EACCES, code::EFAULT, code::EINVAL, code::ENOTTY};
use kernel::error::{code::ENODEV, code::ENOMEM};
use kernel::uaccess::UserSlice;
use zerocopy::{FromBytes, Immutable, IntoBytes};

use crate::device::Device;
use crate::file::File;
use crate::hangcheck::{Program, Waits};
use crate::task::Task;
use crate::uapi::Request;
use table::Known;

/// One call.
pub(crate) struct Call<'a> {
    /// Whose file.
    pub(crate) file: &'a File,
    /// The device.
    pub(crate) device: &'a Device,
    /// The caller.
    pub(crate) task: &'a dyn Task,
}

impl Call<'_> {
    /// Notes that the caller's program waits for the engine, until the guard is dropped.
    pub(crate) fn waits(&self) -> Waits<'_> {
        self.device.user().waiting.enter(self.program())
    }

    /// The caller: its file, and the process.
    pub(crate) fn program(&self) -> Program {
        let account = self.device.user().ledger.account(self.task.origin());
        Program::new(self.file.client(), account)
    }

    /// A range of the caller's memory.
    pub(crate) fn slice(&self, addr: u64, len: u64) -> Result<UserSlice<'_>> {
        UserSlice::new(self.task.memory(), addr, len)
    }

    /// An array in the caller's memory.
    pub(crate) fn array<T>(&self, addr: u64, count: u64) -> Result<UserSlice<'_>> {
        UserSlice::array::<T>(self.task.memory(), addr, count)
    }
}

/// Runs a handler on the typed block. The block is taken over even when the handler fails, as in Linux.
fn with<T: FromBytes + IntoBytes + Immutable>(
    call: &Call<'_>,
    block: &mut [u8],
    run: impl FnOnce(&Call<'_>, &mut T) -> Result,
) -> Result {
    let (mut argument, _) = T::read_from_prefix(block).map_err(|_| EINVAL)?;
    let outcome = run(call, &mut argument);
    argument.write_to_prefix(block).map_err(|_| EINVAL)?;
    outcome
}

/// Carries out an ioctl: what a file's `unlocked_ioctl` does. `arg` is an address in the caller's memory.
///
/// The table is indexed by the number alone. A shorter form of an argument is filled up with zeros, a longer one is cut;
/// what is read or written is what both the request and the table say (drm_ioctl).
///
/// The errors are those of Linux 6.1: `ENOTTY` for numbers of other types, `EINVAL` for unknown ones, `EACCES` for what
/// this file or caller may not do, `EFAULT` for arguments that cannot be read or written, and what the call itself says.
pub fn ioctl(file: &File, request: u32, arg: u64, task: &dyn Task) -> Result<i32> {
    let device = file.device();
    device.check_live().map_err(|_| ENODEV)?;
    let is_master = file.member.was_master();
    let name = || task.name();
    file.client().identify(task.pid(), is_master, name);
    let request = Request(request);
    if request.kind() != Request::DRM {
        return Err(ENOTTY);
    }
    let known = table::find(request.number()).ok_or(EINVAL)?;
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

/// Every request that is carried out, of both nodes.
pub fn requests() -> impl Iterator<Item = Request> {
    table::ROWS.iter().map(|row| row.request)
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
#[must_use]
pub fn standing(request: u32) -> Standing {
    let request = Request(request);
    let drm = request.kind() == Request::DRM;
    match drm.then(|| table::find(request.number())).flatten() {
        Some(Known::Refused(row)) if row.outcome.is_err() => Standing::Refused(row.name),
        Some(_) => Standing::Served,
        None => Standing::Unknown,
    }
}
