//! Register access of one device.
//!
//! Everything goes through `kernel::io`. Not modelled: forcewake, which begins with later generations.
use alloc::sync::Arc;

use kernel::error::Result;
use kernel::io::{Io, RegProxy};
use kernel::pci::ConfigSpace;
use kernel::platform::Platform;
use kernel::time::{Clock, Delta, read_poll_timeout};
use kernel::tock_registers::RegisterLongName;

/// Handle on the registers of one device; cheap to clone.
#[derive(Clone)]
pub struct Uncore {
    platform: Arc<dyn Platform>,
}

impl Uncore {
    /// A handle on the platform's registers.
    #[must_use]
    pub fn new(platform: &Arc<dyn Platform>) -> Self {
        Uncore {
            platform: Arc::clone(platform),
        }
    }

    /// The platform.
    #[must_use]
    pub fn platform(&self) -> &Arc<dyn Platform> {
        &self.platform
    }

    /// The register block.
    #[must_use]
    pub fn io(&self) -> &dyn Io {
        self.platform.io()
    }

    /// The configuration space.
    #[must_use]
    pub fn config(&self) -> &dyn ConfigSpace {
        self.platform.config()
    }

    /// The clock.
    #[must_use]
    pub fn clock(&self) -> &dyn Clock {
        self.platform.clock()
    }

    /// A typed handle on the register at `offset`.
    #[must_use]
    pub fn reg<R: RegisterLongName>(&self, offset: usize) -> RegProxy<'_, R> {
        RegProxy::new(self.io(), offset)
    }

    /// Reads a register.
    #[must_use]
    pub fn read(&self, offset: usize) -> u32 {
        self.io().read32(offset)
    }

    /// Writes a register.
    pub fn write(&self, offset: usize, value: u32) {
        self.io().write32(value, offset);
    }

    /// Reads a register only to push earlier writes to the device.
    pub fn posting_read(&self, offset: usize) {
        self.io().posting_read(offset);
    }

    /// Waits until `(register & mask) == value`; `ETIMEDOUT` when that does not happen in time.
    pub fn wait_for_register(
        &self,
        offset: usize,
        mask: u32,
        value: u32,
        timeout: Delta,
    ) -> Result<u32> {
        read_poll_timeout(
            self.clock(),
            || Ok(self.read(offset)),
            |now| now & mask == value,
            POLL,
            timeout,
        )
    }
}

/// Time between two looks at a register that is waited for.
pub const POLL: Delta = Delta::from_micros(2);
