//! Register access of one device.
//!
//! Everything goes through `kernel::io`; [`forcewake`] stands before it where the GT sleeps.
pub mod forcewake;

use alloc::sync::Arc;

use kernel::error::Result;
use kernel::io::{Io, RegProxy};
use kernel::pci::ConfigSpace;
use kernel::platform::Platform;
use kernel::time::{Clock, Delta, read_poll_timeout};
use kernel::tock_registers::RegisterLongName;
use regs::field::Reg;

use self::forcewake::{Awake, Forcewake, ForcewakeInfo};

/// Handle on the registers of one device; cheap to clone.
#[derive(Clone)]
pub struct Uncore {
    platform: Arc<dyn Platform>,
    forcewake: Option<Arc<Forcewake>>,
}

impl Uncore {
    /// A handle on the platform's registers, with what keeps its GT awake where that sleeps.
    #[must_use]
    pub fn new(platform: &Arc<dyn Platform>, sleeps: Option<&'static ForcewakeInfo>) -> Self {
        Uncore {
            platform: Arc::clone(platform),
            forcewake: sleeps.map(|info| Arc::new(Forcewake::new(platform, info))),
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
        match &self.forcewake {
            Some(forcewake) => &**forcewake,
            None => self.platform.io(),
        }
    }

    /// Keeps the GT awake meanwhile: for several reads one after another.
    pub fn awake(&self) -> Awake<'_> {
        let forcewake = self.forcewake.as_deref();
        if let Some(forcewake) = forcewake {
            forcewake.get_all();
        }
        Awake(forcewake)
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

    /// A typed handle on a register.
    #[must_use]
    pub fn reg<R: RegisterLongName>(&self, reg: Reg<u32, R>) -> RegProxy<'_, R> {
        reg.on(self.io())
    }

    /// Reads a register.
    #[must_use]
    pub fn read<R: RegisterLongName>(&self, reg: Reg<u32, R>) -> u32 {
        self.io().read32(reg.offset() as usize)
    }

    /// Writes a register.
    pub fn write<R: RegisterLongName>(&self, reg: Reg<u32, R>, value: u32) {
        self.io().write32(value, reg.offset() as usize);
    }

    /// Reads a register only to push earlier writes to the device.
    pub fn posting_read<R: RegisterLongName>(&self, reg: Reg<u32, R>) {
        self.io().posting_read(reg.offset() as usize);
    }

    /// Waits until `(register & mask) == value`; `ETIMEDOUT` when that does not happen in time.
    pub fn wait_for_register<R: RegisterLongName>(
        &self,
        reg: Reg<u32, R>,
        mask: u32,
        value: u32,
        timeout: Delta,
    ) -> Result<u32> {
        read_poll_timeout(
            self.clock(),
            || Ok(self.read(reg)),
            |now| now & mask == value,
            POLL,
            timeout,
        )
    }
}

/// The registers of an engine: those of the render engine at another base (i915 `ENGINE_READ`).
#[derive(Clone)]
pub struct EngineRegisters {
    uncore: Uncore,
    base: u32,
}

impl EngineRegisters {
    /// Registers so many bytes above those of the render engine.
    #[must_use]
    pub fn new(uncore: &Uncore, base: u32) -> Self {
        EngineRegisters {
            uncore: uncore.clone(),
            base,
        }
    }

    /// The device's registers.
    #[must_use]
    pub fn uncore(&self) -> &Uncore {
        &self.uncore
    }

    /// A typed handle on a register.
    #[must_use]
    pub fn reg<R: RegisterLongName>(&self, reg: Reg<u32, R>) -> RegProxy<'_, R> {
        self.uncore.reg(reg.above(self.base))
    }

    /// MMIO byte offset of a register.
    #[must_use]
    pub fn offset<R: RegisterLongName>(&self, reg: Reg<u32, R>) -> usize {
        reg.above(self.base).offset() as usize
    }

    /// Reads a register.
    #[must_use]
    pub fn read<R: RegisterLongName>(&self, reg: Reg<u32, R>) -> u32 {
        self.uncore.read(reg.above(self.base))
    }

    /// Writes a register.
    pub fn write<R: RegisterLongName>(&self, reg: Reg<u32, R>, value: u32) {
        self.uncore.write(reg.above(self.base), value);
    }

    /// Reads a register only to push earlier writes to the device.
    pub fn posting_read<R: RegisterLongName>(&self, reg: Reg<u32, R>) {
        self.uncore.posting_read(reg.above(self.base));
    }

    /// See [`Uncore::wait_for_register`].
    pub fn wait_for_register<R: RegisterLongName>(
        &self,
        reg: Reg<u32, R>,
        mask: u32,
        value: u32,
        timeout: Delta,
    ) -> Result<u32> {
        (self.uncore).wait_for_register(reg.above(self.base), mask, value, timeout)
    }
}

/// Time between two looks at a register that is waited for.
pub const POLL: Delta = Delta::from_micros(2);
