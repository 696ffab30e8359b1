//! A platform of plain memory for unit tests, with a log and virtual time.
//!
//! Behaviour of a device is what a test puts into [`Fake::on_write`]. Not modelled: any device.
use alloc::boxed::Box;
use alloc::collections::BTreeMap;
use alloc::sync::Arc;
use alloc::vec::Vec;

use crate::dma::{DmaAddress, DmaAllocator, PAGE_SIZE};
use crate::error::{Result, code::EBUSY, code::EFAULT, code::EINVAL, code::ENOMEM};
use crate::io::Io;
use crate::irq::{Handler, IrqLine, IrqReturn};
use crate::pci::{ConfigSpace, Resource};
use crate::platform::Platform;
use crate::sync::SpinLock;
use crate::time::{Clock, Delta, Ktime};

/// Called after a register write with the platform, the offset and the value written.
pub type WriteHook = Box<dyn Fn(&Fake, usize, u32) + Send + Sync>;

/// One logged access.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Access {
    /// A register read and its value.
    Read(usize, u32),
    /// A register write and its value.
    Write(usize, u32),
    /// A configuration space write and its value.
    Config(usize, u32),
}

/// First bus address of the fake's memory.
const MEMORY_BASE: DmaAddress = 0x1000_0000;

/// The fake platform.
pub struct Fake {
    registers: SpinLock<BTreeMap<usize, u32>>,
    masked: SpinLock<Vec<usize>>,
    write_one_to_clear: SpinLock<Vec<usize>>,
    log: SpinLock<Vec<Access>>,
    hook: SpinLock<Option<Arc<WriteHook>>>,
    config_hook: SpinLock<Option<Arc<WriteHook>>>,
    config: SpinLock<[u8; 256]>,
    bar: SpinLock<u64>,
    memory: SpinLock<Vec<Option<Box<[u8]>>>>,
    room: SpinLock<usize>,
    now: SpinLock<u64>,
    handler: SpinLock<Option<Arc<dyn Handler>>>,
}

impl Fake {
    /// A platform with the given PCI ids; all registers read 0.
    #[must_use]
    pub fn new(vendor: u16, device: u16) -> Arc<Self> {
        let fake = Fake {
            registers: SpinLock::new(BTreeMap::new()),
            masked: SpinLock::new(Vec::new()),
            write_one_to_clear: SpinLock::new(Vec::new()),
            log: SpinLock::new(Vec::new()),
            hook: SpinLock::new(None),
            config_hook: SpinLock::new(None),
            config: SpinLock::new([0; 256]),
            bar: SpinLock::new(0x10_0000),
            memory: SpinLock::new(Vec::new()),
            room: SpinLock::new(usize::MAX),
            now: SpinLock::new(0),
            handler: SpinLock::new(None),
        };
        fake.write16(vendor, 0);
        fake.write16(device, 2);
        fake.log.lock().clear();
        Arc::new(fake)
    }

    /// Presets a register without logging.
    pub fn set(&self, offset: usize, value: u32) {
        self.registers.lock().insert(offset, value);
    }

    /// Looks at a register without logging.
    pub fn peek(&self, offset: usize) -> u32 {
        self.registers.lock().get(&offset).copied().unwrap_or(0)
    }

    /// Makes a register masked: bits 31:16 of a write select which of bits 15:0 change.
    pub fn mask(&self, offset: usize) {
        self.masked.lock().push(offset);
    }

    /// Makes a register clear the bits that are written as 1.
    pub fn clear_on_one(&self, offset: usize) {
        self.write_one_to_clear.lock().push(offset);
    }

    /// Sets what happens after a register write.
    pub fn on_write(&self, hook: WriteHook) {
        *self.hook.lock() = Some(Arc::new(hook));
    }

    /// Sets what happens after a byte was written to configuration space.
    pub fn on_config_write(&self, hook: WriteHook) {
        *self.config_hook.lock() = Some(Arc::new(hook));
    }

    /// Presets a byte of configuration space without logging.
    pub fn set_config(&self, offset: usize, value: u8) {
        if let Some(byte) = self.config.lock().get_mut(offset) {
            *byte = value;
        }
    }

    /// Sets the length of the register BAR, which has 1 MiB otherwise.
    pub fn set_bar(&self, len: u64) {
        *self.bar.lock() = len;
    }

    /// Sets how many pages of memory there are.
    pub fn set_room(&self, pages: usize) {
        *self.room.lock() = pages;
    }

    /// Takes the log.
    pub fn take_log(&self) -> Vec<Access> {
        core::mem::take(&mut self.log.lock())
    }

    /// Calls the interrupt handler, if there is one.
    pub fn interrupt(&self) -> Option<IrqReturn> {
        let handler = self.handler.lock().clone();
        handler.map(|handler| handler.handle())
    }

    /// Whether an interrupt handler is registered.
    pub fn has_handler(&self) -> bool {
        self.handler.lock().is_some()
    }

    /// Number of pages that have not been freed.
    pub fn pages(&self) -> usize {
        pages_of(&self.memory.lock())
    }

    /// Number of allocations that have not been freed.
    pub fn allocations(&self) -> usize {
        self.memory.lock().iter().flatten().count()
    }

    fn with_memory<T>(
        &self,
        address: DmaAddress,
        len: usize,
        act: impl FnOnce(&mut [u8]) -> T,
    ) -> Result<T> {
        // Each allocation has 16 MiB of bus addresses to itself.
        let offset = address.checked_sub(MEMORY_BASE).ok_or(EFAULT)?;
        let (slot, at) = ((offset >> 24) as usize, (offset & 0xff_ffff) as usize);
        let mut memory = self.memory.lock();
        let pages = memory
            .get_mut(slot)
            .and_then(Option::as_mut)
            .ok_or(EFAULT)?;
        let bytes = pages.get_mut(at..at + len).ok_or(EFAULT)?;
        Ok(act(bytes))
    }
}

impl Io for Fake {
    fn read32(&self, offset: usize) -> u32 {
        let value = self.peek(offset);
        self.log.lock().push(Access::Read(offset, value));
        value
    }

    fn write32(&self, value: u32, offset: usize) {
        self.log.lock().push(Access::Write(offset, value));
        let old = self.peek(offset);
        let new = if self.masked.lock().contains(&offset) {
            (old & !(value >> 16)) | (value & (value >> 16))
        } else if self.write_one_to_clear.lock().contains(&offset) {
            old & !value
        } else {
            value
        };
        self.set(offset, new);
        let hook = self.hook.lock().clone();
        if let Some(hook) = hook {
            hook(self, offset, value);
        }
    }
}

impl ConfigSpace for Fake {
    fn read8(&self, offset: usize) -> u8 {
        self.config.lock().get(offset).copied().unwrap_or(u8::MAX)
    }
    fn read16(&self, offset: usize) -> u16 {
        u16::from_le_bytes([self.read8(offset), self.read8(offset + 1)])
    }
    fn read32(&self, offset: usize) -> u32 {
        u32::from(self.read16(offset)) | u32::from(self.read16(offset + 2)) << 16
    }
    fn write8(&self, value: u8, offset: usize) {
        self.log
            .lock()
            .push(Access::Config(offset, u32::from(value)));
        self.set_config(offset, value);
        let hook = self.config_hook.lock().clone();
        if let Some(hook) = hook {
            hook(self, offset, value.into());
        }
    }
    fn write16(&self, value: u16, offset: usize) {
        let [low, high] = value.to_le_bytes();
        self.write8(low, offset);
        self.write8(high, offset + 1);
    }
    fn write32(&self, value: u32, offset: usize) {
        self.write16(value as u16, offset);
        self.write16((value >> 16) as u16, offset + 2);
    }
    fn bar(&self, index: usize) -> Option<Resource> {
        match index {
            0 => Some(Resource {
                start: 0xfe00_0000,
                len: *self.bar.lock(),
            }),
            2 => Some(Resource {
                start: 0xd000_0000,
                len: 0x1000_0000,
            }),
            _ => None,
        }
    }
}

/// Pages of all allocations.
fn pages_of(memory: &[Option<Box<[u8]>>]) -> usize {
    let sizes = memory.iter().flatten().map(|bytes| bytes.len());
    sizes.sum::<usize>() / PAGE_SIZE
}

impl DmaAllocator for Fake {
    fn alloc(&self, pages: usize) -> Result<DmaAddress> {
        if pages == 0 || pages > 4096 {
            return Err(if pages == 0 { EINVAL } else { ENOMEM });
        }
        let mut memory = self.memory.lock();
        if pages_of(&memory) + pages > *self.room.lock() {
            return Err(ENOMEM);
        }
        memory.push(Some(alloc::vec![0; pages * PAGE_SIZE].into_boxed_slice()));
        Ok(MEMORY_BASE + ((memory.len() as u64 - 1) << 24))
    }

    fn free(&self, address: DmaAddress, pages: usize) {
        let slot = (address.wrapping_sub(MEMORY_BASE) >> 24) as usize;
        if let Some(entry) = self.memory.lock().get_mut(slot)
            && entry.as_ref().map(|bytes| bytes.len()) == Some(pages * PAGE_SIZE)
        {
            *entry = None;
        }
    }

    fn read(&self, address: DmaAddress, bytes: &mut [u8]) -> Result {
        self.with_memory(address, bytes.len(), |from| bytes.copy_from_slice(from))
    }

    fn write(&self, address: DmaAddress, bytes: &[u8]) -> Result {
        self.with_memory(address, bytes.len(), |to| to.copy_from_slice(bytes))
    }
}

impl Clock for Fake {
    fn now(&self) -> Ktime {
        Ktime::from_nanos(*self.now.lock())
    }
    fn relax(&self, span: Delta) {
        *self.now.lock() += span.as_nanos();
    }
}

impl IrqLine for Fake {
    fn request(&self, handler: Arc<dyn Handler>) -> Result {
        let mut slot = self.handler.lock();
        if slot.is_some() {
            return Err(EBUSY);
        }
        *slot = Some(handler);
        Ok(())
    }
    fn free(&self) {
        *self.handler.lock() = None;
    }
}

impl Platform for Fake {
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

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]
    use super::*;
    use crate::dma::CoherentAllocation;

    #[test]
    fn coherent_memory_is_bounded_and_freed() {
        let fake = Fake::new(0x8086, 0x2a02);
        let platform: Arc<dyn Platform> = fake.clone();
        let memory = CoherentAllocation::alloc_coherent(&platform, 2).unwrap();
        memory.write32(8188, 7).unwrap();
        assert_eq!(memory.read32(8188), Ok(7));
        assert_eq!(memory.write32(8189, 7), Err(EINVAL));
        assert_eq!(memory.read32(usize::MAX), Err(EINVAL));
        assert_eq!(fake.allocations(), 1);
        drop(memory);
        assert_eq!(fake.allocations(), 0);
    }
}
