//! A platform whose writes are told to somebody, before they are made.
//!
//! Under it is any other platform.

use std::sync::Arc;

use kernel::dma::DmaAllocator;
use kernel::io::Io;
use kernel::irq::IrqLine;
use kernel::pci::{ConfigSpace, Resource};
use kernel::platform::Platform;
use kernel::time::Clock;

/// A write.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Write {
    /// To a register: offset in BAR 0, value.
    Register(usize, u32),
    /// To the aperture: offset in BAR 2, value.
    Aperture(usize, u32),
    /// To configuration space: offset, bytes, value.
    Config(usize, u8, u32),
}

type Tell = dyn Fn(Write) + Send + Sync;

/// The platform.
pub struct Recorded {
    inner: Arc<dyn Platform>,
    registers: Registers,
    aperture: Registers,
    tell: Arc<Tell>,
}

/// One of its two BARs.
struct Registers {
    inner: Arc<dyn Platform>,
    tell: Arc<Tell>,
    is_aperture: bool,
}

impl Recorded {
    /// Puts it before a platform; `tell` is called from every thread that writes.
    #[must_use]
    pub fn new(inner: Arc<dyn Platform>, tell: Arc<Tell>) -> Arc<Self> {
        let registers = |is_aperture| Registers {
            inner: Arc::clone(&inner),
            tell: Arc::clone(&tell),
            is_aperture,
        };
        Arc::new(Recorded {
            registers: registers(false),
            aperture: registers(true),
            inner,
            tell,
        })
    }

    fn config(&self, offset: usize, bytes: u8, value: u32) {
        (self.tell)(Write::Config(offset, bytes, value));
    }
}

impl Registers {
    fn io(&self) -> Option<&dyn Io> {
        if self.is_aperture {
            self.inner.aperture()
        } else {
            Some(self.inner.io())
        }
    }
}

impl Io for Registers {
    fn read32(&self, offset: usize) -> u32 {
        self.io().map_or(u32::MAX, |io| io.read32(offset))
    }

    fn write32(&self, value: u32, offset: usize) {
        (self.tell)(if self.is_aperture {
            Write::Aperture(offset, value)
        } else {
            Write::Register(offset, value)
        });
        if let Some(io) = self.io() {
            io.write32(value, offset);
        }
    }

    fn posting_read(&self, offset: usize) {
        if let Some(io) = self.io() {
            io.posting_read(offset);
        }
    }
}

impl ConfigSpace for Recorded {
    fn read8(&self, offset: usize) -> u8 {
        self.inner.config().read8(offset)
    }
    fn read16(&self, offset: usize) -> u16 {
        self.inner.config().read16(offset)
    }
    fn read32(&self, offset: usize) -> u32 {
        self.inner.config().read32(offset)
    }
    fn write8(&self, value: u8, offset: usize) {
        self.config(offset, 1, value.into());
        self.inner.config().write8(value, offset);
    }
    fn write16(&self, value: u16, offset: usize) {
        self.config(offset, 2, value.into());
        self.inner.config().write16(value, offset);
    }
    fn write32(&self, value: u32, offset: usize) {
        self.config(offset, 4, value);
        self.inner.config().write32(value, offset);
    }
    fn bar(&self, index: usize) -> Option<Resource> {
        self.inner.config().bar(index)
    }
}

impl Platform for Recorded {
    fn io(&self) -> &dyn Io {
        &self.registers
    }
    fn aperture(&self) -> Option<&dyn Io> {
        self.inner
            .aperture()
            .is_some()
            .then_some(&self.aperture as &dyn Io)
    }
    fn config(&self) -> &dyn ConfigSpace {
        self
    }
    fn dma(&self) -> &dyn DmaAllocator {
        self.inner.dma()
    }
    fn clock(&self) -> &dyn Clock {
        self.inner.clock()
    }
    fn irq(&self) -> &dyn IrqLine {
        self.inner.irq()
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]
    use super::*;
    use kernel::fake::Fake;
    use std::sync::Mutex;

    #[test]
    fn writes_are_told_and_made() {
        let fake = Fake::new(0x8086, 0x2a02);
        let told: Arc<Mutex<Vec<Write>>> = Arc::default();
        let list = Arc::clone(&told);
        let tell = move |write| list.lock().unwrap().push(write);
        let platform = Recorded::new(fake.clone(), Arc::new(tell));
        platform.io().write32(7, 0x2030);
        let config: &dyn ConfigSpace = Platform::config(platform.as_ref());
        config.write16(6, 4);
        config.write8(1, 0xc0);
        assert_eq!(platform.io().read32(0x2030), 7);
        assert_eq!(config.read16(4), 6);
        assert!(platform.aperture().is_none());
        assert_eq!(
            *told.lock().unwrap(),
            [
                Write::Register(0x2030, 7),
                Write::Config(4, 2, 6),
                Write::Config(0xc0, 1, 1)
            ]
        );
        assert_eq!(fake.peek(0x2030), 7);
    }
}
