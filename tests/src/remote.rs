//! A device behind a socket as a platform for the driver.
//!
//! Registers go by messages, memory is a file that both sides see.
//! The protocol's client is `vfio::client`. Everything goes through it but the guest's own memory.

use std::collections::BTreeMap;
use std::fs::File;
use std::os::fd::AsFd as _;
use std::os::unix::fs::FileExt as _;
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use kernel::dma::{DmaAddress, DmaAllocator, PAGE_SIZE};
use kernel::error::{
    Result,
    code::{EBUSY, EFAULT, EIO, ENOMEM},
};
use kernel::io::Io;
use kernel::irq::{Handler, IrqLine};
use kernel::pci::{ConfigSpace, Resource};
use kernel::platform::Platform;
use kernel::time::{Clock, Delta, Ktime};
use nix::poll::{PollFd, PollFlags, poll};
use nix::sys::eventfd::{EfdFlags, EventFd};
use nix::sys::memfd::{MFdFlags, memfd_create};
use vfio::client::Client;
use vfio::protocol::{irq, region};

/// Where the guest's memory lies for the device: two ranges with a hole between them, as in a PC with much memory.
const RANGES: [(u64, u64); 2] = [(0x10_0000, 32 << 20), (1 << 32, 96 << 20)];

fn guard<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// How the guest learns of interrupts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Signal {
    /// By the pin.
    Pin,
    /// By a message.
    Message,
}

struct Events {
    count: Mutex<u64>,
    wake: Condvar,
}

/// The platform.
pub struct Remote {
    client: Arc<Mutex<Client>>,
    memory: File,
    /// Bytes of it that have been handed out, from its begin.
    used: Mutex<u64>,
    /// What the driver holds.
    held: Mutex<BTreeMap<DmaAddress, usize>>,
    begun: Instant,
    events: Arc<Events>,
    signal: Signal,
    event: Arc<EventFd>,
    thread: Mutex<Option<(Arc<AtomicBool>, JoinHandle<()>)>>,
    /// Interrupts so far.
    pub interrupts: Arc<AtomicU64>,
}

impl Remote {
    /// Connects to a server and gives its device memory: by ranges, or by pages as behind an IOMMU.
    ///
    /// # Errors
    /// Those of the system and of replies.
    pub fn connect(socket: &Path, signal: Signal, by_pages: bool) -> std::io::Result<Arc<Self>> {
        let mut client = Client::connect(socket)?;
        let memory = File::from(memfd_create(c"guest", MFdFlags::MFD_ALLOW_SEALING)?);
        memory.set_len(RANGES.iter().map(|range| range.1).sum())?;
        let mut offset = 0;
        for (address, size) in RANGES {
            let step = if by_pages { PAGE_SIZE as u64 } else { size };
            for at in (0..size).step_by(step as usize) {
                client.map(Some(memory.as_fd()), offset + at, address + at, step)?;
            }
            offset += size;
        }
        let event = Arc::new(EventFd::from_flags(EfdFlags::EFD_NONBLOCK)?);
        let index = match signal {
            Signal::Pin => irq::INTX,
            Signal::Message => irq::MSI,
        };
        client.set_irq(index, irq::TRIGGER, Some(event.as_fd()))?;
        Ok(Arc::new(Remote {
            client: Arc::new(Mutex::new(client)),
            memory,
            used: Mutex::new(0),
            held: Mutex::default(),
            begun: Instant::now(),
            events: Arc::new(Events {
                count: Mutex::new(0),
                wake: Condvar::new(),
            }),
            signal,
            event,
            thread: Mutex::new(None),
            interrupts: Arc::default(),
        }))
    }

    /// The connection.
    pub fn client(&self) -> MutexGuard<'_, Client> {
        guard(&self.client)
    }

    /// Pages that the driver holds.
    pub fn held_pages(&self) -> usize {
        guard(&self.held).values().sum()
    }

    /// Where bytes at a bus address lie in the file.
    fn place(address: DmaAddress, len: usize) -> Result<u64> {
        let mut offset = 0;
        for (first, size) in RANGES {
            if let Some(inside) = address.checked_sub(first)
                && inside + len as u64 <= size
            {
                return Ok(offset + inside);
            }
            offset += size;
        }
        Err(EFAULT)
    }
}

impl Platform for Remote {
    fn io(&self) -> &dyn Io {
        self
    }
    fn config(&self) -> &dyn ConfigSpace {
        self
    }
    fn dma(&self) -> &dyn DmaAllocator {
        self
    }
    fn clock(&self) -> &dyn Clock {
        self
    }
    fn irq(&self) -> &dyn IrqLine {
        self
    }
}

impl Io for Remote {
    fn read32(&self, offset: usize) -> u32 {
        let value = self.client().read32(region::BAR0, offset as u64);
        value.unwrap_or(u32::MAX)
    }
    fn write32(&self, value: u32, offset: usize) {
        // A bus drops what it cannot deliver.
        let _ = self.client().write32(region::BAR0, offset as u64, value);
    }
}

impl Clock for Remote {
    fn now(&self) -> Ktime {
        Ktime::from_nanos(self.begun.elapsed().as_nanos() as u64)
    }
    fn relax(&self, span: Delta) {
        let count = guard(&self.events.count);
        let span = Duration::from_nanos(span.as_nanos()).min(Duration::from_millis(1));
        drop(self.events.wake.wait_timeout(count, span));
    }
}

impl DmaAllocator for Remote {
    fn alloc(&self, pages: usize) -> Result<DmaAddress> {
        let bytes = (pages * PAGE_SIZE) as u64;
        let mut used = guard(&self.used);
        let mut first = 0;
        for (address, size) in RANGES {
            // What does not fit below the hole lies behind it.
            let at = used.max(first);
            if at + bytes <= first + size {
                *used = at + bytes;
                let address = address + (at - first);
                guard(&self.held).insert(address, pages);
                return Ok(address);
            }
            first += size;
        }
        Err(ENOMEM)
    }
    fn free(&self, address: DmaAddress, pages: usize) {
        let held = guard(&self.held).remove(&address);
        assert_eq!(held, Some(pages), "free of what is not held");
    }
    fn read(&self, address: DmaAddress, bytes: &mut [u8]) -> Result {
        let at = Self::place(address, bytes.len())?;
        self.memory.read_exact_at(bytes, at).map_err(|_| EIO)
    }
    fn write(&self, address: DmaAddress, bytes: &[u8]) -> Result {
        let at = Self::place(address, bytes.len())?;
        self.memory.write_all_at(bytes, at).map_err(|_| EIO)
    }
}

impl ConfigSpace for Remote {
    fn read8(&self, offset: usize) -> u8 {
        let mut bytes = [0xff];
        let _ = self
            .client()
            .read(region::CONFIG, offset as u64, &mut bytes);
        bytes[0]
    }
    fn read16(&self, offset: usize) -> u16 {
        let mut bytes = [0xff; 2];
        let _ = self
            .client()
            .read(region::CONFIG, offset as u64, &mut bytes);
        u16::from_le_bytes(bytes)
    }
    fn read32(&self, offset: usize) -> u32 {
        let value = self.client().read32(region::CONFIG, offset as u64);
        value.unwrap_or(u32::MAX)
    }
    fn write8(&self, value: u8, offset: usize) {
        let _ = self.client().write(region::CONFIG, offset as u64, &[value]);
    }
    fn write16(&self, value: u16, offset: usize) {
        let bytes = value.to_le_bytes();
        let _ = self.client().write(region::CONFIG, offset as u64, &bytes);
    }
    fn write32(&self, value: u32, offset: usize) {
        let _ = self.client().write32(region::CONFIG, offset as u64, value);
    }
    fn bar(&self, index: usize) -> Option<Resource> {
        let info = self.client().region(index as u32).ok()?;
        (info.size > 0).then_some(Resource {
            start: 0xc000_0000,
            len: info.size,
        })
    }
}

impl IrqLine for Remote {
    fn request(&self, handler: Arc<dyn Handler>) -> Result {
        let mut slot = guard(&self.thread);
        if slot.is_some() {
            return Err(EBUSY);
        }
        let stop = Arc::new(AtomicBool::new(false));
        let run = Interrupts {
            stop: Arc::clone(&stop),
            event: Arc::clone(&self.event),
            client: Arc::clone(&self.client),
            signal: self.signal,
            events: Arc::clone(&self.events),
            count: Arc::clone(&self.interrupts),
        };
        let thread = std::thread::spawn(move || run.run(&*handler));
        *slot = Some((stop, thread));
        Ok(())
    }
    fn free(&self) {
        let slot = guard(&self.thread).take();
        if let Some((stop, thread)) = slot {
            stop.store(true, Ordering::SeqCst);
            let _ = thread.join();
        }
    }
}

impl Drop for Remote {
    fn drop(&mut self) {
        IrqLine::free(self);
    }
}

/// The thread that waits for interrupts.
struct Interrupts {
    stop: Arc<AtomicBool>,
    event: Arc<EventFd>,
    client: Arc<Mutex<Client>>,
    signal: Signal,
    events: Arc<Events>,
    count: Arc<AtomicU64>,
}

impl Interrupts {
    fn run(&self, handler: &dyn Handler) {
        while !self.stop.load(Ordering::SeqCst) {
            let mut fds = [PollFd::new(self.event.as_fd(), PollFlags::POLLIN)];
            if !poll(&mut fds, 20_u8).is_ok_and(|n| n > 0) || self.event.read().is_err() {
                continue;
            }
            self.count.fetch_add(1, Ordering::SeqCst);
            handler.handle();
            if self.signal == Signal::Pin {
                // As the VMM does at the end of the interrupt: it is signalled again while it is asserted.
                let _ = guard(&self.client).set_irq(irq::INTX, irq::UNMASK, None);
            }
            *guard(&self.events.count) += 1;
            self.events.wake.notify_all();
        }
    }
}
