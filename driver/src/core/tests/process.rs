//! A process that makes calls: memory, descriptors, a clock that stands.
extern crate std;

use std::vec::Vec;

use kernel::error::{Result, code::EBADF};
use kernel::sync::{AtomicBool, AtomicU64, Ordering, SpinLock};
use kernel::time::Ktime;
use kernel::uaccess::{FakeMemory, UserMemory};

use crate::core::task::{FdTable, Opening, Shared, Task};

/// A process.
#[derive(Default)]
pub(crate) struct Process {
    pub(crate) memory: FakeMemory,
    pub(crate) fds: SpinLock<Vec<(Shared, Opening)>>,
    pub(crate) now: AtomicU64,
    pub(crate) signal: AtomicBool,
    pub(crate) admin: AtomicBool,
}

impl FdTable for Process {
    fn install(&self, what: Shared, how: Opening) -> Result<i32> {
        let mut fds = self.fds.lock();
        fds.push((what, how));
        Ok(fds.len() as i32 + 2)
    }
    fn get(&self, fd: i32) -> Result<Shared> {
        let fds = self.fds.lock();
        let index = usize::try_from(fd.wrapping_sub(3)).map_err(|_| EBADF)?;
        fds.get(index).map(|fd| fd.0.clone()).ok_or(EBADF)
    }
}

impl Task for Process {
    fn memory(&self) -> &dyn UserMemory {
        &self.memory
    }
    fn fds(&self) -> &dyn FdTable {
        self
    }
    fn monotonic(&self) -> Ktime {
        Ktime::from_nanos(self.now.load(Ordering::Relaxed))
    }
    fn signal_pending(&self) -> bool {
        self.signal.load(Ordering::Relaxed)
    }
    fn is_admin(&self) -> bool {
        self.admin.load(Ordering::Relaxed)
    }
}
