//! What a device offers a debugger.
//!
//! PRM vol4 3.
use kernel::error::{Result, code::ENODEV};
use regs::ids::RegId;

use super::DebugSession;
use super::snapshot::limits::{self, ContextBases, Limits};
use super::snapshot::{ArmedSnapshot, PixelTrigger, Snapshot, Unit};
use crate::intel::device::Device;

impl Device {
    /// `ENODEV` when the device has gone, or has no debug registers: later generations have others, which are not public.
    fn check_debug(&self) -> Result {
        self.check_live()?;
        let attention = self.info().register(RegId::EuAtt);
        attention.map(drop).ok_or(ENODEV)
    }

    /// Begins a debugging session. `EBUSY` when there is one.
    pub fn debug(&self) -> Result<DebugSession> {
        self.check_debug()?;
        DebugSession::new(self)
    }

    /// Arms the snapshot of a unit: `device.arm_snapshot::<units::Sf>(&trigger)`.
    pub fn arm_snapshot<U: Unit>(&self, trigger: &U::Trigger) -> Result<Snapshot<U>> {
        self.check_debug()?;
        Snapshot::arm(self, trigger)
    }

    /// Limits what vertex fetch and SF let through, while the global debug enable is on: as long as a unit is armed or
    /// a session lasts.
    pub fn set_debug_limits(&self, limits: &Limits) -> Result {
        self.check_debug()?;
        limits::set(self.uncore(), limits);
        Ok(())
    }

    /// Base addresses of the context that is debugged.
    pub fn debug_bases(&self) -> Result<ContextBases> {
        self.check_debug()?;
        Ok(limits::bases(self.uncore()))
    }

    /// Arms the windower's snapshot of a pixel.
    pub fn arm_pixel_snapshot(&self, trigger: PixelTrigger) -> Result<ArmedSnapshot> {
        self.check_debug()?;
        ArmedSnapshot::arm(self, trigger)
    }
}
