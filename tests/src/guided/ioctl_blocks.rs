//! Sequences of ioctls with arbitrary argument blocks.
//!
//! The caller's memory is an array. The driver runs on the model, whose time passes only during waits. The
//! first byte of an input chooses the device. Every input has open files of its own; the device is powered on anew when an input has made it work.

use std::cell::{Cell, RefCell};
use std::sync::Arc;

use arbitrary::Unstructured;
use driver::{Device, Driver, FdTable, File, Node, Shared, Task};
use kernel::error::Result;
use kernel::error::code::{EBADF, EFAULT, EMFILE};
use kernel::platform::Platform as _;
use kernel::time::{Delta, Ktime};
use kernel::uaccess::UserMemory;
use mmio_mock::Model;
use mmio_mock::ModelPlatform;

use super::calls::{BLOCK, Call};
use crate::scenes::{self, DEVICES};

/// Calls of an input.
const CALLS: usize = 32;
/// Bytes of graphics memory.
const GRAPHICS: usize = 8 << 20;
/// Bytes of the caller's memory from [`BLOCK`] on.
const MEMORY: usize = 64 << 10;
/// Descriptors that the caller can have.
const DESCRIPTORS: usize = 16;
/// Looks at the time before a wait is interrupted: 3 ms of the device.
const PATIENCE: u32 = 12;

struct Caller {
    memory: RefCell<Vec<u8>>,
    fds: RefCell<Vec<Shared>>,
    platform: Arc<ModelPlatform>,
    asked: Cell<u32>,
}

impl Caller {
    fn range(addr: u64, len: usize) -> Result<std::ops::Range<usize>> {
        let start = addr.checked_sub(BLOCK).ok_or(EFAULT)?;
        let start = usize::try_from(start).map_err(|_| EFAULT)?;
        let end = start.checked_add(len).filter(|end| *end <= MEMORY);
        Ok(start..end.ok_or(EFAULT)?)
    }
}

impl UserMemory for Caller {
    fn read(&self, addr: u64, out: &mut [u8]) -> Result {
        let range = Self::range(addr, out.len())?;
        out.copy_from_slice(&self.memory.borrow()[range]);
        Ok(())
    }

    fn write(&self, addr: u64, data: &[u8]) -> Result {
        let range = Self::range(addr, data.len())?;
        self.memory.borrow_mut()[range].copy_from_slice(data);
        Ok(())
    }
}

impl FdTable for Caller {
    fn install(&self, what: Shared, _: driver::Opening) -> Result<i32> {
        let mut fds = self.fds.borrow_mut();
        if fds.len() >= DESCRIPTORS {
            return Err(EMFILE);
        }
        fds.push(what);
        Ok(fds.len() as i32 + 2)
    }

    fn get(&self, fd: i32) -> Result<Shared> {
        let index = usize::try_from(fd.wrapping_sub(3)).map_err(|_| EBADF)?;
        self.fds.borrow().get(index).cloned().ok_or(EBADF)
    }
}

impl Task for Caller {
    fn memory(&self) -> &dyn UserMemory {
        self
    }

    fn fds(&self) -> &dyn FdTable {
        self
    }

    fn monotonic(&self) -> Ktime {
        self.platform.clock().now()
    }

    fn signal_pending(&self) -> bool {
        self.asked.set(self.asked.get() + 1);
        self.asked.get() > PATIENCE
    }
}

struct Bench {
    platform: Arc<ModelPlatform>,
    device: Device,
    bound: usize,
    pages: usize,
}

impl Bench {
    fn new(name: &str) -> Self {
        let info = scenes::device(name);
        let platform = ModelPlatform::new(info, GRAPHICS);
        let device = Driver::probe(Arc::clone(&platform) as Arc<dyn kernel::platform::Platform>);
        let device = device.expect("probe");
        Bench {
            bound: device.ggtt().bound(),
            pages: platform.allocated_pages(),
            platform,
            device,
        }
    }
}

thread_local! {
    static BENCHES: RefCell<[Option<Bench>; DEVICES.len()]> = const { RefCell::new([const { None }; DEVICES.len()]) };
}

/// Runs one input.
pub fn run(data: &[u8]) {
    let mut input = Unstructured::new(data);
    let first: u8 = input.arbitrary().unwrap_or_default();
    let which = usize::from(first) % DEVICES.len();
    let kept = BENCHES.with_borrow_mut(|benches| benches[which].take());
    let bench = kept.unwrap_or_else(|| Bench::new(DEVICES[which]));
    let before = bench.platform.device().ticks();
    let caller = Caller {
        memory: RefCell::new(vec![0; MEMORY]),
        fds: RefCell::default(),
        platform: Arc::clone(&bench.platform),
        asked: Cell::new(0),
    };
    let files = [Node::Render, Node::Primary].map(|node| File::open(&bench.device, node));
    for _ in 0..CALLS {
        let Some(call) = Call::take(&mut input) else {
            break;
        };
        let len = call.block.len().min(MEMORY);
        caller.memory.borrow_mut()[..len].copy_from_slice(&call.block[..len]);
        caller.asked.set(0);
        let file = &files[usize::from(call.primary)];
        if let Err(error) = driver::ioctl(file, call.request, BLOCK, &caller) {
            assert!(error.to_errno() < 0);
        }
    }
    drop((files, caller));
    let untouched = bench.platform.device().ticks() == before
        && bench.device.ggtt().bound() == bench.bound
        && bench.platform.allocated_pages() == bench.pages;
    if untouched {
        BENCHES.with_borrow_mut(|benches| benches[which] = Some(bench));
        return;
    }
    // What a batch uses, and the images of contexts, stay for a while; whatever stays goes with the device.
    if bench.device.wait_idle(Delta::ZERO).is_err() {
        bench.device.reset().expect("reset");
    }
    bench.device.remove().expect("removal");
    assert_eq!(bench.platform.allocated_pages(), 0);
}
