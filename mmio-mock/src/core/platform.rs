//! The modelled device as a platform: BAR, PCI configuration, DMA, clock, IRQ.
//!
//! No PRM section: this is the shell around the pure device; it alone knows the `kernel` traits.
//! Waiting on its clock runs the device for that much of its own time.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use kernel::dma::{DmaAddress, DmaAllocator};
use kernel::error::{
    Result,
    code::{EBUSY, EFAULT, ENOMEM},
};
use kernel::io::Io;
use kernel::irq::{Handler, IrqLine, IrqReturn};
use kernel::pci::{ConfigSpace, Resource};
use kernel::time::{Clock, Delta, Ktime};
use mem::PhysAddr;

use crate::intel::device::{Device, SharedMemory, lock};
use crate::intel::r#gen::{DeviceInfo, ResetBy};

/// PCI configuration offset of GDRST (i915 intel_pci_config.h I915_GDRST).
const GDRST: usize = 0xc0;
/// The domain of the video decoder, which the model does not have.
const GDRST_MEDIA: u8 = 3 << 2;
const GDRST_STATUS: u8 = 1 << 1;
const GDRST_ENABLE: u8 = 1 << 0;

/// Handler calls for one assertion of the line; more mean that the handler acknowledges nothing.
const MAX_IRQ_CALLS: usize = 64;

/// A device on its bus.
pub struct ModelPlatform {
    device: Mutex<Device>,
    memory: SharedMemory,
    info: &'static DeviceInfo,
    config: Mutex<[u8; 256]>,
    handler: Mutex<Option<Arc<dyn Handler>>>,
    allocations: Mutex<BTreeMap<DmaAddress, usize>>,
}

impl ModelPlatform {
    /// Powers a device on, with at most `memory_bytes` of system memory.
    pub fn new(info: &'static DeviceInfo, memory_bytes: usize) -> Arc<Self> {
        Self::with_memory(info, mem::Memory::new(memory_bytes, info.gtt_entries))
    }

    /// Powers a device on with a memory that is there already.
    pub fn with_memory(info: &'static DeviceInfo, memory: mem::Memory) -> Arc<Self> {
        let memory = Arc::new(Mutex::new(memory));
        let mut config = [0; 256];
        config[0..2].copy_from_slice(&info.pci.0.to_le_bytes());
        config[2..4].copy_from_slice(&info.pci.1.to_le_bytes());
        config[8] = info.revision;
        config[0x2c..0x2e].copy_from_slice(&info.pci.0.to_le_bytes());
        config[0x2e..0x30].copy_from_slice(&info.pci.1.to_le_bytes());
        // Class 03 00 00: VGA compatible controller.
        config[0x0b] = 0x03;
        Arc::new(ModelPlatform {
            device: Mutex::new(Device::new(info, Arc::clone(&memory))),
            memory,
            info,
            config: Mutex::new(config),
            handler: Mutex::new(None),
            allocations: Mutex::new(BTreeMap::new()),
        })
    }

    /// The device itself, for what no bus shows: statistics, faults, trace.
    pub fn device(&self) -> MutexGuard<'_, Device> {
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
            let handler = guard(&self.handler).clone();
            let Some(handler) = handler else { return };
            if handler.handle() == IrqReturn::None {
                return;
            }
        }
        log::warn!("interrupt line stays asserted after {MAX_IRQ_CALLS} calls of the handler");
    }
}

fn guard<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl kernel::platform::Platform for ModelPlatform {
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

impl Io for ModelPlatform {
    fn read32(&self, offset: usize) -> u32 {
        u32::try_from(offset).map_or(u32::MAX, |offset| self.device().read32(offset))
    }
    fn write32(&self, value: u32, offset: usize) {
        if let Ok(offset) = u32::try_from(offset) {
            self.device().write32(offset, value);
        }
    }
}

impl Clock for ModelPlatform {
    fn now(&self) -> Ktime {
        Ktime::from_nanos(self.device().nanos())
    }
    fn relax(&self, delta: Delta) {
        let ticks = self.device().ticks_of(delta.as_nanos()).max(1);
        self.run(ticks);
    }
}

impl DmaAllocator for ModelPlatform {
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

impl IrqLine for ModelPlatform {
    fn request(&self, handler: Arc<dyn Handler>) -> Result {
        let mut slot = guard(&self.handler);
        if slot.is_some() {
            return Err(EBUSY);
        }
        *slot = Some(handler);
        Ok(())
    }
    fn free(&self) {
        *guard(&self.handler) = None;
    }
}

impl ModelPlatform {
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
            // The first 64 bytes identify the device and are not written here.
            if at < 0x40 {
                continue;
            }
            if let Some(to) = guard(&self.config).get_mut(at) {
                *to = byte;
            }
            let gdrst = self.info.reset.by == ResetBy::ConfigSpace && at == GDRST;
            if gdrst && byte & GDRST_ENABLE != 0 {
                if byte & GDRST_MEDIA != GDRST_MEDIA {
                    self.device().reset();
                }
                // The reset is over at once: enable falls, status says so.
                guard(&self.config)[GDRST] = byte & !(GDRST_ENABLE | GDRST_STATUS) | GDRST_STATUS;
            }
        }
    }
}

impl ConfigSpace for ModelPlatform {
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
        // The register BAR sits at a fixed place; the aperture is not decoded.
        (index == 0).then(|| Resource {
            start: 0xfeb0_0000,
            len: u64::from(self.info.bar_bytes),
        })
    }
}

impl ModelPlatform {
    /// Which device this is.
    pub fn info(&self) -> &'static DeviceInfo {
        self.info
    }
}
