//! The ioctl dispatcher: table, argument block, permissions.
//!
//! drm_ioctl.c and i915 `i915_driver.c` of Linux 6.1: same tables, same errors in the same order. Not modelled: mode
//! setting, perf, legacy DRI1.
mod base;
mod context;
mod domain;
pub(crate) mod extension;
mod mmap;
mod object;
mod query;
mod syncobj;
mod tiling;

#[cfg(test)]
mod tests;

use alloc::vec;

use kernel::error::{Error, Result, code::EACCES, code::EFAULT, code::EINVAL, code::ENOTTY};
use kernel::error::{code::ENODEV, code::ENOMEM};
use kernel::uaccess::UserSlice;
use zerocopy::{FromBytes, Immutable, IntoBytes};

use crate::context::Who;
use crate::device::Device;
use crate::exec;
use crate::file::{File, Node};
use crate::task::Task;
use crate::uapi::drm::{COMMAND_BASE, COMMAND_END};
use crate::uapi::{self, Request};

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
    /// A range of the caller's memory.
    pub(crate) fn slice(&self, addr: u64, len: u64) -> Result<UserSlice<'_>> {
        UserSlice::new(self.task.memory(), addr, len)
    }

    /// An array in the caller's memory.
    pub(crate) fn array<T>(&self, addr: u64, count: u64) -> Result<UserSlice<'_>> {
        UserSlice::array::<T>(self.task.memory(), addr, count)
    }
}

type Handler = fn(&Call<'_>, &mut [u8]) -> Result;

/// One row of the table.
struct Row {
    request: Request,
    /// Allowed on a render node.
    render: bool,
    run: Handler,
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

macro_rules! rows {
    ($($request:path: $argument:ty => $handler:path;)*) => {
        &[$(Row {
            request: $request,
            render: true,
            run: |call, block| with::<$argument>(call, block, $handler),
        }),*]
    };
}

static ROWS: &[Row] = rows! {
    uapi::drm::VERSION: uapi::drm::Version => base::version;
    uapi::drm::GET_CAP: uapi::drm::GetCap => base::get_cap;
    uapi::drm::GEM_CLOSE: uapi::drm::GemClose => base::gem_close;
    uapi::drm::PRIME_HANDLE_TO_FD: uapi::drm::PrimeHandle => base::prime_handle_to_fd;
    uapi::drm::PRIME_FD_TO_HANDLE: uapi::drm::PrimeHandle => base::prime_fd_to_handle;
    uapi::syncobj::CREATE: uapi::syncobj::Create => syncobj::create;
    uapi::syncobj::DESTROY: uapi::syncobj::Destroy => syncobj::destroy;
    uapi::syncobj::HANDLE_TO_FD: uapi::syncobj::Handle => syncobj::handle_to_fd;
    uapi::syncobj::FD_TO_HANDLE: uapi::syncobj::Handle => syncobj::fd_to_handle;
    uapi::syncobj::WAIT: uapi::syncobj::Wait => syncobj::wait;
    uapi::syncobj::RESET: uapi::syncobj::Array => syncobj::reset;
    uapi::syncobj::SIGNAL: uapi::syncobj::Array => syncobj::signal;
    uapi::syncobj::TIMELINE_WAIT: uapi::syncobj::TimelineWait => syncobj::timeline_wait;
    uapi::syncobj::QUERY: uapi::syncobj::TimelineArray => syncobj::query;
    uapi::syncobj::TRANSFER: uapi::syncobj::Transfer => syncobj::transfer;
    uapi::syncobj::TIMELINE_SIGNAL: uapi::syncobj::TimelineArray => syncobj::timeline_signal;
    uapi::query::GETPARAM: uapi::query::Getparam => query::getparam;
    uapi::query::QUERY: uapi::query::Query => query::query;
    uapi::query::REG_READ: uapi::query::RegRead => query::reg_read;
    uapi::gem::CREATE: uapi::gem::Create => object::create;
    uapi::gem::CREATE_EXT: uapi::gem::CreateExt => object::create_ext;
    uapi::gem::PREAD: uapi::gem::Transfer => object::pread;
    uapi::gem::PWRITE: uapi::gem::Transfer => object::pwrite;
    uapi::gem::MADVISE: uapi::gem::Madvise => object::madvise;
    uapi::gem::USERPTR: uapi::gem::Userptr => object::userptr;
    uapi::gem::GET_APERTURE: uapi::gem::GetAperture => object::get_aperture;
    uapi::gem::MMAP: uapi::gem::Mmap => mmap::mmap;
    uapi::gem::MMAP_OFFSET: uapi::gem::MmapOffset => mmap::mmap_offset;
    uapi::gem::SET_DOMAIN: uapi::gem::SetDomain => domain::set_domain;
    uapi::gem::SW_FINISH: uapi::gem::SwFinish => domain::sw_finish;
    uapi::gem::SET_CACHING: uapi::gem::Caching => domain::set_caching;
    uapi::gem::GET_CACHING: uapi::gem::Caching => domain::get_caching;
    uapi::gem::BUSY: uapi::gem::Busy => domain::busy;
    uapi::gem::WAIT: uapi::gem::Wait => domain::wait;
    uapi::gem::THROTTLE: [u8; 0] => domain::throttle;
    uapi::gem::SET_TILING: uapi::gem::SetTiling => tiling::set_tiling;
    uapi::gem::GET_TILING: uapi::gem::GetTiling => tiling::get_tiling;
    uapi::context::CREATE_EXT: uapi::context::CreateExt => context::create;
    uapi::context::DESTROY: uapi::context::Destroy => context::destroy;
    uapi::context::GETPARAM: uapi::context::Param => context::getparam;
    uapi::context::SETPARAM: uapi::context::Param => context::setparam;
    uapi::context::GET_RESET_STATS: uapi::context::ResetStats => context::reset_stats;
    uapi::context::VM_CREATE: uapi::context::VmControl => context::vm_create;
    uapi::context::VM_DESTROY: uapi::context::VmControl => context::vm_destroy;
    uapi::exec::EXECBUFFER2_WR: uapi::exec::Execbuffer2 => exec::user;
};

static PRIMARY_ROWS: &[Row] = &[
    Row {
        request: uapi::drm::GEM_FLINK,
        render: false,
        run: |call, block| with(call, block, base::gem_flink),
    },
    Row {
        request: uapi::drm::GEM_OPEN,
        render: false,
        run: |call, block| with(call, block, base::gem_open),
    },
    Row {
        request: uapi::drm::SET_CLIENT_CAP,
        render: false,
        run: |call, block| with(call, block, base::set_client_cap),
    },
    // Does nothing any more (i915: `drm_noop`).
    Row {
        request: uapi::query::SETPARAM,
        render: false,
        run: |_, _| Ok(()),
    },
];

/// Numbers that Linux knows, that a render node refuses, and that do nothing here (drm_ioctl.c, i915_driver.c).
const KNOWN: &[(u32, u32)] = &[
    (0x01, 0x08),
    (0x10, 0x2c),
    (0x30, 0x3c),
    (0x3f, 0x3f),
    (0x40, 0x4f),
    (0x51, 0x51),
    (0x53, 0x56),
    (0x59, 0x5a),
    (0x65, 0x65),
    (0x67, 0x68),
    (0x6a, 0x6b),
    (0xa0, 0xbe),
    (0xc6, 0xc9),
    (0xce, 0xce),
];

/// Driver numbers up to and including this one exist (`DRM_I915_GEM_CREATE_EXT`).
const LAST_COMMAND: u32 = COMMAND_BASE + 0x3c;
/// `-ENOTSUPP` of the kernel, which perf answers where the hardware has none (i915 `i915_perf.c`).
const ENOTSUPP: i32 = -524;
/// `DRM_I915_PERF_OPEN` to `DRM_I915_PERF_REMOVE_CONFIG`.
const PERF: core::ops::RangeInclusive<u32> = COMMAND_BASE + 0x36..=COMMAND_BASE + 0x38;

/// Carries out an ioctl: what a file's `unlocked_ioctl` does. `arg` is an address in the caller's memory.
///
/// The errors are those of Linux 6.1: `ENOTTY` for numbers of other types, `EINVAL` for unknown ones, `EACCES` for what
/// a render node may not do, `EFAULT` for arguments that cannot be read or written, and what the call itself says.
pub fn ioctl(file: &File, request: u32, arg: u64, task: &dyn Task) -> Result<i32> {
    let device = file.device();
    device.check_live().map_err(|_| ENODEV)?;
    file.client().identify(|| Who {
        name: task.name(),
        pid: task.pid(),
    });
    let request = Request(request);
    if request.kind() != Request::DRM {
        return Err(ENOTTY);
    }
    let number = request.number();
    let row = ROWS
        .iter()
        .chain(PRIMARY_ROWS)
        .find(|row| row.request.number() == number);
    let Some(row) = row else {
        return Err(unknown(file, number));
    };
    let size = request.size();
    let read = if request.both(row.request, Request::IN) {
        size
    } else {
        0
    };
    let written = if request.both(row.request, Request::OUT) {
        size
    } else {
        0
    };
    // A shorter form of a call leaves the rest zero, a longer one is cut.
    let mut block = vec![0; read.max(written).max(row.request.size())];
    let memory = task.memory();
    let input = block.get_mut(..read).ok_or(ENOMEM)?;
    UserSlice::new(memory, arg, read as u64)?.read_bytes(0, input)?;
    let outcome = if row.render || file.node() == Node::Primary {
        let call = Call { file, device, task };
        (row.run)(&call, &mut block)
    } else {
        Err(EACCES)
    };
    let output = block.get(..written).ok_or(ENOMEM)?;
    UserSlice::new(memory, arg, written as u64)
        .and_then(|slice| slice.write_bytes(0, output))
        .map_err(|_| EFAULT)?;
    outcome.map(|()| 0)
}

/// Every request that is carried out, of both nodes.
pub fn requests() -> impl Iterator<Item = Request> {
    ROWS.iter().chain(PRIMARY_ROWS).map(|row| row.request)
}

/// Whether a request has a row, or is one that Linux knows and refuses here.
#[must_use]
pub fn is_known(request: u32) -> bool {
    let request = Request(request);
    let number = request.number();
    let rows = ROWS.iter().chain(PRIMARY_ROWS);
    let mut known = KNOWN.iter();
    request.kind() == Request::DRM
        && (rows
            .map(|row| row.request.number())
            .any(|row| row == number)
            || PERF.contains(&number)
            || known.any(|(first, last)| (*first..=*last).contains(&number)))
}

fn unknown(file: &File, number: u32) -> Error {
    if PERF.contains(&number) {
        return Error::from_errno(ENOTSUPP);
    }
    let driver = (COMMAND_BASE..COMMAND_END).contains(&number);
    if driver && number > LAST_COMMAND {
        return EINVAL;
    }
    let known = KNOWN
        .iter()
        .any(|(first, last)| (*first..=*last).contains(&number));
    match (known, file.node()) {
        (true, Node::Render) => EACCES,
        (true, Node::Primary) if driver => ENODEV,
        _ => EINVAL,
    }
}
