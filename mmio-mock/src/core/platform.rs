//! The modelled device as a platform: BAR, PCI configuration, DMA, clock, IRQ.
//!
//! This is the shell around the pure device; it and `live` alone know the `kernel` traits.
//! Waiting on its clock runs the device for that much of its own time.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use kernel::dma::{DmaAddress, DmaAllocator};
use kernel::error::{
    Result,
    code::{EFAULT, ENOMEM},
};
use kernel::io::Io;
use kernel::irq::{Handler, IrqLine, IrqReturn};
use kernel::pci::{ConfigSpace, Resource};
use kernel::platform::Platform;
use kernel::time::{Clock, Delta, Ktime};
use mem::PhysAddr;

use super::line::Line;
use super::memory::{SharedMemory, lock};
use super::model::{Identity, Model};

/// Bytes of configuration space.
const CONFIG: usize = 256;
/// Bytes of its header, which identify the device and are not written here.
const HEADER: usize = 0x40;
/// Where BAR 0 sits; the others follow at equal distances. No bridge decodes them.
const BARS: u64 = 0xfeb0_0000;
const BAR_DISTANCE: u64 = 1 << 32;

/// Handler calls for one assertion of the line; more mean that the handler acknowledges nothing.
const MAX_IRQ_CALLS: usize = 64;

/// A device on its bus.
pub struct ModelPlatform<M> {
    device: Mutex<M>,
    memory: SharedMemory,
    identity: Identity,
    config: Mutex<[u8; CONFIG]>,
    line: Line,
    allocations: Mutex<BTreeMap<DmaAddress, usize>>,
}

impl<M: Model> ModelPlatform<M> {
    /// Powers a device on, on the memory that it works in.
    pub fn over(device: M, memory: SharedMemory) -> Arc<Self> {
        let identity = device.identity();
        let mut config = [0; CONFIG];
        config[0..2].copy_from_slice(&identity.pci.0.to_le_bytes());
        config[2..4].copy_from_slice(&identity.pci.1.to_le_bytes());
        config[8] = identity.revision;
        config[0x2c..0x2e].copy_from_slice(&identity.pci.0.to_le_bytes());
        config[0x2e..0x30].copy_from_slice(&identity.pci.1.to_le_bytes());
        // Class 03 00 00: VGA compatible controller.
        config[0x0b] = 0x03;
        for (at, value) in identity.config {
            config[usize::from(*at)] = *value;
        }
        Arc::new(ModelPlatform {
            device: Mutex::new(device),
            memory,
            identity,
            config: Mutex::new(config),
            line: Line::default(),
            allocations: Mutex::new(BTreeMap::new()),
        })
    }

    /// The device itself, for what no bus shows: statistics, faults, trace.
    pub fn device(&self) -> MutexGuard<'_, M> {
        guard(&self.device)
    }

    /// Graphics memory as the device sees it.
    pub fn memory(&self) -> &SharedMemory {
        &self.memory
    }

    /// Pages that the driver holds.
    pub fn allocated_pages(&self) -> usize {
        guard(&self.allocations).values().sum()
    }

    /// Lets the device run for some of its time and delivers interrupts.
    pub fn run(&self, ticks: u64) -> u64 {
        let used = self.device().run(ticks);
        self.deliver();
        used
    }

    /// Calls the handler while the line is asserted and it does something about it.
    fn deliver(&self) {
        for _ in 0..MAX_IRQ_CALLS {
            if !self.device().irq_line() {
                return;
            }
            if self.line.call() != Some(IrqReturn::Handled) {
                return;
            }
        }
        log::warn!("interrupt line stays asserted after {MAX_IRQ_CALLS} calls of the handler");
    }
}

fn guard<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl<M: Model + 'static> Platform for ModelPlatform<M> {
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

impl<M: Model> Io for ModelPlatform<M> {
    fn read32(&self, offset: usize) -> u32 {
        u32::try_from(offset).map_or(u32::MAX, |offset| self.device().read32(offset))
    }
    fn write32(&self, value: u32, offset: usize) {
        if let Ok(offset) = u32::try_from(offset) {
            self.device().write32(offset, value);
        }
    }
}

impl<M: Model> Clock for ModelPlatform<M> {
    fn now(&self) -> Ktime {
        Ktime::from_nanos(self.device().nanos())
    }
    fn relax(&self, delta: Delta) {
        let ticks = self.device().ticks_of(delta.as_nanos()).max(1);
        self.run(ticks);
    }
}

impl<M: Model> DmaAllocator for ModelPlatform<M> {
    fn alloc(&self, pages: usize) -> Result<DmaAddress> {
        let address = lock(&self.memory).alloc_pages(pages).ok_or(ENOMEM)?;
        guard(&self.allocations).insert(address.0, pages);
        Ok(address.0)
    }
    fn free(&self, address: DmaAddress, pages: usize) {
        if guard(&self.allocations).remove(&address).is_some()
            && lock(&self.memory)
                .free_pages(PhysAddr(address), pages)
                .is_err()
        {
            log::error!("free of {pages} pages at {address:#x}: not allocated");
        }
    }
    fn alloc_guarded(&self, pages: usize) -> Result<DmaAddress> {
        let address = lock(&self.memory).alloc_guarded(pages).ok_or(ENOMEM)?;
        guard(&self.allocations).insert(address.0, pages);
        Ok(address.0)
    }
    fn guarded_pages(&self) -> Option<usize> {
        lock(&self.memory).own_pages()
    }
    fn read(&self, address: DmaAddress, bytes: &mut [u8]) -> Result {
        lock(&self.memory)
            .phys_read(PhysAddr(address), bytes)
            .map_err(|_| EFAULT)
    }
    fn write(&self, address: DmaAddress, bytes: &[u8]) -> Result {
        lock(&self.memory)
            .phys_write(PhysAddr(address), bytes)
            .map_err(|_| EFAULT)
    }
}

impl<M: Model> IrqLine for ModelPlatform<M> {
    fn request(&self, handler: Arc<dyn Handler>) -> Result {
        self.line.request(handler)
    }
    fn free(&self) {
        self.line.free();
    }
}

impl<M: Model> ModelPlatform<M> {
    fn config_bytes<const N: usize>(&self, offset: usize) -> [u8; N] {
        let config = guard(&self.config);
        let mut out = [0xff; N];
        for (i, to) in out.iter_mut().enumerate() {
            if let Some(byte) = config.get(offset + i) {
                *to = *byte;
            }
        }
        out
    }

    fn set_config(&self, offset: usize, bytes: &[u8]) {
        for (i, &byte) in bytes.iter().enumerate() {
            let at = offset + i;
            // CAST: below 256.
            if (HEADER..CONFIG).contains(&at) {
                let reads = self.device().write_config(at as u8, byte);
                guard(&self.config)[at] = reads;
            }
        }
    }
}

impl<M: Model> ConfigSpace for ModelPlatform<M> {
    fn read8(&self, offset: usize) -> u8 {
        self.config_bytes::<1>(offset)[0]
    }
    fn read16(&self, offset: usize) -> u16 {
        u16::from_le_bytes(self.config_bytes(offset))
    }
    fn read32(&self, offset: usize) -> u32 {
        u32::from_le_bytes(self.config_bytes(offset))
    }
    fn write8(&self, value: u8, offset: usize) {
        self.set_config(offset, &[value]);
    }
    fn write16(&self, value: u16, offset: usize) {
        self.set_config(offset, &value.to_le_bytes());
    }
    fn write32(&self, value: u32, offset: usize) {
        self.set_config(offset, &value.to_le_bytes());
    }
    fn bar(&self, index: usize) -> Option<Resource> {
        let len = *self.identity.bars.get(index).filter(|len| **len != 0)?;
        let start = BARS + index as u64 * BAR_DISTANCE;
        Some(Resource { start, len })
    }
}
