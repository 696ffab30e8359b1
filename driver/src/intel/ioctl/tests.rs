//! Every call: what it does and every error that it can give.
//!
//! Expected numbers are those of Linux 6.1 (i915 and drm sources) and of the libdrm headers. Not covered: what a batch
//! does; that is the device model's business.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "tests")]
extern crate std;

mod auth;
mod complexity;
mod context;
mod dispatch;
mod dma_buf;
mod exec;
mod gen60;
mod gen70;
mod object;
mod pressure;
mod query;
mod races;
mod random;
mod sizes;
mod sync_file;
mod syncobj;

use alloc::sync::Arc;
use std::boxed::Box;
use std::vec::Vec;

use kernel::error::Result;
use kernel::fake::Fake;
use kernel::sync::{Ordering, SpinLock};
use kernel::time::Ktime;
use kernel::uaccess::UserMemory;
use zerocopy::{FromBytes, Immutable, IntoBytes};

use super::TABLE;
use crate::core::tests::Process;
use crate::intel::tests::{fake, finish};
use crate::intel::uapi::{self, Request};
use crate::{Device, Driver, FdTable, File, Node, Shared, Task, ioctl};

/// A device, an open file, a process.
struct Bench {
    fake: Arc<Fake>,
    device: Device,
    file: File,
    process: Process,
}

impl Bench {
    /// With a ring that finishes nothing.
    fn stuck() -> Self {
        Self::on(fake())
    }

    /// On a device.
    fn on(fake: Arc<Fake>) -> Self {
        let device = Driver::probe(fake.clone()).unwrap();
        let file = File::open(&device, Node::Render);
        Bench {
            fake,
            device,
            file,
            process: Process::default(),
        }
    }

    /// With a ring that finishes everything at once.
    fn new() -> Self {
        let bench = Self::stuck();
        bench.fake.on_write(Box::new(finish));
        bench
    }

    /// The same on the primary node.
    fn primary() -> Self {
        let mut bench = Self::new();
        bench.file = File::open(&bench.device, Node::Primary);
        bench
    }

    /// Another process with the same device.
    fn other(&self) -> Self {
        Bench {
            fake: Arc::clone(&self.fake),
            device: self.device.clone(),
            file: File::open(&self.device, self.file.node()),
            process: Process::default(),
        }
    }

    /// A call of the file; the argument is written back.
    fn call<T: IntoBytes + FromBytes + Immutable>(
        &self,
        request: Request,
        arg: &mut T,
    ) -> Result<i32> {
        self.call_of(&self.file, request, arg)
    }

    fn call_of<T: IntoBytes + FromBytes + Immutable>(
        &self,
        file: &File,
        request: Request,
        arg: &mut T,
    ) -> Result<i32> {
        let at = self.process.memory.place(arg);
        let outcome = ioctl(file, request.0, at, &self.process);
        *arg = self.process.memory.get(at).unwrap();
        outcome
    }

    /// A new object.
    fn create(&self, size: u64) -> u32 {
        let mut arg = uapi::gem::Create {
            size,
            ..Default::default()
        };
        assert_eq!(self.call(uapi::gem::CREATE, &mut arg), Ok(0));
        arg.handle
    }

    fn write(&self, handle: u32, offset: u64, dwords: &[u32]) {
        let mut arg = uapi::gem::Transfer {
            handle,
            offset,
            size: size_of_val(dwords) as u64,
            data_ptr: self.process.memory.place(dwords),
            ..Default::default()
        };
        assert_eq!(self.call(uapi::gem::PWRITE, &mut arg), Ok(0));
    }

    fn read(&self, handle: u32, offset: u64) -> u32 {
        let out = self.process.memory.alloc(4);
        let mut arg = uapi::gem::Transfer {
            handle,
            offset,
            size: 4,
            data_ptr: out,
            ..Default::default()
        };
        assert_eq!(self.call(uapi::gem::PREAD, &mut arg), Ok(0));
        self.process.memory.get(out).unwrap()
    }

    /// A batch that ends at once.
    fn batch(&self) -> u32 {
        let handle = self.create(4096);
        self.write(handle, 0, &[0x0500_0000, 0]);
        handle
    }

    /// EXECBUFFER2 with a list of objects, which is written back.
    fn exec_with(
        &self,
        list: &mut Vec<uapi::exec::Object>,
        change: impl FnOnce(&mut uapi::exec::Execbuffer2),
    ) -> Result<uapi::exec::Execbuffer2> {
        let at = self.process.memory.place(list.as_slice());
        let mut arg = uapi::exec::Execbuffer2 {
            buffers_ptr: at,
            buffer_count: list.len() as u32,
            batch_len: 8,
            flags: uapi::exec::RENDER,
            ..Default::default()
        };
        change(&mut arg);
        let outcome = self.call(uapi::exec::EXECBUFFER2_WR, &mut arg);
        for (index, entry) in list.iter_mut().enumerate() {
            *entry = self.process.memory.get(at + index as u64 * 56).unwrap();
        }
        outcome.map(|_| arg)
    }

    /// The same with objects alone; the last is the batch.
    fn exec(&self, handles: &[u32]) -> Result<Vec<uapi::exec::Object>> {
        let mut list = objects(handles);
        self.exec_with(&mut list, |_| ())?;
        Ok(list)
    }
}

fn objects(handles: &[u32]) -> Vec<uapi::exec::Object> {
    let list = handles.iter().map(|handle| uapi::exec::Object {
        handle: *handle,
        ..Default::default()
    });
    list.collect()
}
