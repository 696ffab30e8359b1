//! A process with an open node: flat memory, no descriptors.
//!
//! What libdrm does, without the system calls.
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};

use driver::uapi::{Request, gem};
use driver::{FdTable, File, Shared, Task, ioctl};
use kernel::error::Result;
use kernel::error::code::{EBADF, EFAULT, EOPNOTSUPP};
use kernel::time::Ktime;
use kernel::uaccess::UserMemory;
use zerocopy::{FromBytes, Immutable, IntoBytes};

/// Where the memory begins.
const BASE: u64 = 0x1_0000;

/// The process.
pub struct Client {
    file: File,
    memory: Mutex<Vec<u8>>,
    /// What others do at each look for signals, as while a call waits.
    meanwhile: Mutex<Option<Meanwhile>>,
    /// A signal is pending: what would wait ends with EINTR.
    interrupted: AtomicBool,
}

/// See [`Client::meanwhile`].
pub type Meanwhile = Box<dyn FnMut() + Send>;

impl UserMemory for Client {
    fn read(&self, addr: u64, out: &mut [u8]) -> Result {
        let memory = self.memory.lock().unwrap();
        let at = usize::try_from(addr.checked_sub(BASE).ok_or(EFAULT)?).unwrap();
        let from = memory.get(at..at + out.len()).ok_or(EFAULT)?;
        out.copy_from_slice(from);
        Ok(())
    }

    fn write(&self, addr: u64, data: &[u8]) -> Result {
        let mut memory = self.memory.lock().unwrap();
        let at = usize::try_from(addr.checked_sub(BASE).ok_or(EFAULT)?).unwrap();
        let to = memory.get_mut(at..at + data.len()).ok_or(EFAULT)?;
        to.copy_from_slice(data);
        Ok(())
    }
}

impl FdTable for Client {
    fn install(&self, _: Shared, _: driver::Opening) -> Result<i32> {
        Err(EOPNOTSUPP)
    }
    fn get(&self, _: i32) -> Result<Shared> {
        Err(EBADF)
    }
}

impl Task for Client {
    fn memory(&self) -> &dyn UserMemory {
        self
    }
    fn fds(&self) -> &dyn FdTable {
        self
    }
    fn monotonic(&self) -> Ktime {
        Ktime::from_nanos(0)
    }
    fn signal_pending(&self) -> bool {
        if let Some(meanwhile) = &mut *self.meanwhile.lock().unwrap() {
            meanwhile();
        }
        self.interrupted.load(Ordering::Relaxed)
    }
}

impl Client {
    /// A process that has opened a file.
    pub fn new(file: File) -> Self {
        Client {
            file,
            memory: Mutex::new(Vec::new()),
            meanwhile: Mutex::new(None),
            interrupted: AtomicBool::new(false),
        }
    }

    /// From now on calls that would have to wait end with EINTR.
    pub fn interrupt(&self) {
        self.interrupted.store(true, Ordering::Relaxed);
    }

    /// What others do from now on while a call of this process waits.
    pub fn meanwhile(&self, others: Option<Meanwhile>) {
        *self.meanwhile.lock().unwrap() = others;
    }

    fn alloc(&self, bytes: &[u8]) -> u64 {
        let mut memory = self.memory.lock().unwrap();
        let at = memory.len().next_multiple_of(8);
        memory.resize(at, 0);
        memory.extend_from_slice(bytes);
        BASE + at as u64
    }

    /// Puts values into the memory.
    pub fn place<T: IntoBytes + Immutable>(&self, values: &[T]) -> u64 {
        self.alloc(values.as_bytes())
    }

    /// A value in the memory.
    pub fn get<T: FromBytes + IntoBytes>(&self, at: u64) -> T {
        let mut value = T::new_zeroed();
        self.read(at, value.as_mut_bytes()).unwrap();
        value
    }

    /// Makes an ioctl; the argument comes back.
    pub fn call<T>(&self, request: Request, arg: &mut T) -> Result<i32>
    where
        T: IntoBytes + FromBytes + Immutable,
    {
        let at = self.alloc(arg.as_bytes());
        let outcome = ioctl(&self.file, request.0, at, self);
        *arg = self.get(at);
        outcome
    }

    /// Writes the start of an object.
    pub fn pwrite(&self, handle: u32, data: &[u8]) {
        let mut arg = gem::Transfer {
            handle,
            size: data.len() as u64,
            data_ptr: self.alloc(data),
            ..Default::default()
        };
        self.call(gem::PWRITE, &mut arg).unwrap();
    }

    /// Reads the start of an object.
    pub fn pread(&self, handle: u32, len: usize) -> Vec<u8> {
        let at = self.alloc(&vec![0; len]);
        let mut arg = gem::Transfer {
            handle,
            size: len as u64,
            data_ptr: at,
            ..Default::default()
        };
        self.call(gem::PREAD, &mut arg).unwrap();
        let mut out = vec![0; len];
        self.read(at, &mut out).unwrap();
        out
    }
}
