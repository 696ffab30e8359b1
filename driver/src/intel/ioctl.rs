//! The calls of i915; the dispatcher is in `core::ioctl`.
//!
//! i915 `i915_driver.c` of Linux 6.1. Not modelled: perf, legacy DRI1.
mod context;
mod domain;
mod mmap;
mod object;
mod query;
mod refused;
mod table;
mod tiling;

#[cfg(test)]
mod tests;

use kernel::error::Result;

use crate::core::file::File;
use crate::core::ioctl;
pub use crate::core::ioctl::Standing;
use crate::core::ioctl::table::Table;
use crate::core::task::Task;
use crate::intel::call::Call;
use crate::intel::uapi::Request;

/// The calls of i915.
static TABLE: Table = Table {
    rows: table::ROWS,
    refused: refused::REFUSED,
};

/// Carries out an ioctl of a file: what its `unlocked_ioctl` does. `arg` is an address in the caller's memory.
///
/// The table is indexed by the number alone. A shorter form of an argument is filled up with zeros, a longer one is cut;
/// what is read or written is what both the request and the table say (drm_ioctl).
///
/// The errors are those of Linux 6.1: `ENOTTY` for numbers of other types, `EINVAL` for unknown ones, `EACCES` for what
/// this file or caller may not do, `EFAULT` for arguments that cannot be read or written, and what the call itself says.
pub fn ioctl(file: &File, request: u32, arg: u64, task: &dyn Task) -> Result<i32> {
    ioctl::dispatch(&TABLE, file, request, arg, task)
}

/// Every request that is carried out, of both nodes.
pub fn requests() -> impl Iterator<Item = Request> {
    TABLE.served().map(|row| row.request)
}

/// Looks a request up.
#[must_use]
pub fn standing(request: u32) -> Standing {
    ioctl::standing(&TABLE, request)
}
