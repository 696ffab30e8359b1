//! One call of a user: its file, its device, its process.
use kernel::error::Result;
use kernel::uaccess::UserSlice;

use crate::core::device::Device;
use crate::core::file::File;
use crate::core::program::{Program, Waits, Wanted};
use crate::core::task::Task;

/// One call.
#[derive(Clone, Copy)]
pub(crate) struct Call<'a> {
    /// Whose file.
    pub(crate) file: &'a File,
    /// The device.
    pub(crate) device: &'a dyn Device,
    /// The caller.
    pub(crate) task: &'a dyn Task,
}

impl<'a> Call<'a> {
    /// Notes that the caller's program waits for an engine, until the guard is dropped.
    pub(crate) fn waits(&self, wanted: Wanted) -> Waits<'a> {
        self.device.user().waiting.enter(self.program(), wanted)
    }

    /// The caller: its file, and the process.
    pub(crate) fn program(&self) -> Program {
        let account = self.device.user().ledger.account(self.task.origin());
        Program::new(self.file.client(), account)
    }

    /// A range of the caller's memory.
    pub(crate) fn slice(&self, addr: u64, len: u64) -> Result<UserSlice<'a>> {
        UserSlice::new(self.task.memory(), addr, len)
    }

    /// An array in the caller's memory.
    pub(crate) fn array<T>(&self, addr: u64, count: u64) -> Result<UserSlice<'a>> {
        UserSlice::array::<T>(self.task.memory(), addr, count)
    }
}
