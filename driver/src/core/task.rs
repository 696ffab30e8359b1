//! Whoever makes an ioctl: its memory, descriptors, clock, rights.
//!
//! What a kernel takes from `current`; the node implements it for the process at the other end.
use alloc::string::String;
use alloc::sync::Arc;

use kernel::error::Result;
use kernel::time::Ktime;
use kernel::uaccess::UserMemory;

pub use crate::core::account::Origin;
use crate::core::fence::Fence;
use crate::core::gem::Object;
pub use crate::core::groups::Group;
use crate::core::syncobj::Syncobj;

/// What a file descriptor can carry from one file or process to another.
#[derive(Clone)]
pub enum Shared {
    /// A buffer object (dma-buf).
    Object(Object),
    /// A sync object.
    Syncobj(Arc<Syncobj>),
    /// A fence, or several merged into one (sync_file); see [`sync_file`](crate::core::sync_file).
    Fence(Arc<Fence>),
}

/// How a descriptor is opened.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Opening {
    /// It stays open when the process executes another program.
    pub inherit: bool,
    /// What it carries cannot be written through it: a dma-buf that was exported without `O_RDWR`.
    pub read_only: bool,
}

/// The file descriptors of a process.
pub trait FdTable {
    /// Opens a descriptor; `EMFILE` and the like when there is none.
    fn install(&self, what: Shared, how: Opening) -> Result<i32>;

    /// What a descriptor carries; `EBADF` when it is not open, `EINVAL` when it is something else.
    fn get(&self, fd: i32) -> Result<Shared>;
}

/// The caller of an ioctl.
pub trait Task {
    /// Its memory.
    fn memory(&self) -> &dyn UserMemory;

    /// Its descriptors.
    fn fds(&self) -> &dyn FdTable;

    /// Its `CLOCK_MONOTONIC` now, for absolute timeouts.
    fn monotonic(&self) -> Ktime;

    /// Whether it should stop waiting, because a signal is pending or because it is gone. Asked between steps of a
    /// wait, so this is also where a server lets others run.
    fn signal_pending(&self) -> bool {
        false
    }

    /// Whether it is privileged (`CAP_SYS_ADMIN`).
    fn is_admin(&self) -> bool {
        false
    }

    /// Name of the process (`task_struct::comm`), for error states.
    fn name(&self) -> String {
        String::from("unknown")
    }

    /// Its number.
    fn pid(&self) -> u32 {
        0
    }

    /// Which process it is for good: numbers of processes are used again. Unless that is known, the process of its number,
    /// which is a family by itself.
    fn origin(&self) -> Origin {
        Origin {
            process: self.pid().into(),
            family: self.pid().into(),
            group: Group::of_one(self.pid().into()),
        }
    }
}
