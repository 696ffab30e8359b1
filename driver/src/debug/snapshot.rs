//! The windower's pixel snapshot: arm, poll, read.
//!
//! PRM vol4 3.2, 3.3.9: the subspan at a pixel is trapped and its data read through an output multiplexer.
//! Not modelled: snapshots of the other units, combinations with an upstream flag.
use kernel::error::{Result, code::EAGAIN, code::ENODEV};
use kernel::tock_registers::interfaces::{ReadWriteable, Readable, Writeable};

use crate::device::Device;
use crate::r#gen::registers::fields::{
    INSTPM as InstPm, WIZ_CTL as WizCtl, WIZ_STRG_VAL as WizTrigger,
};
use crate::r#gen::registers::reg::{INSTPM, WIZ_CTL, WIZ_RDATA, WIZ_STRG_VAL};
use crate::uncore::Uncore;

/// What to trap.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct PixelTrigger {
    /// Pixel column; the subspan of 2x2 pixels that holds it is meant.
    pub x: u16,
    /// Pixel row.
    pub y: u16,
    /// Which occurrence of the subspan (1 to 255), or the first; 0 comes never, and only counts.
    pub instance: Option<u8>,
    /// Whether the pixel shader thread of the subspan gets the snapshot flag, which can arm its breakpoint.
    pub flag_thread: bool,
}

/// What the windower trapped.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct PixelSnapshot {
    /// Kernel start pointer of the pixel shader.
    pub kernel_pointer: u32,
    /// How often the subspan had come by.
    pub subspan_instances: u32,
    /// Number of the primitive, counted by SF.
    pub primitive: u32,
}

/// An armed snapshot. Dropping it leaves the hardware armed; see [`disarm`](Self::disarm).
pub struct ArmedSnapshot {
    device: Device,
}

impl ArmedSnapshot {
    /// Arms the windower. `ENODEV` when the device has gone.
    pub(crate) fn arm(device: &Device, trigger: PixelTrigger) -> Result<Self> {
        if !device.ggtt().is_live() {
            return Err(ENODEV);
        }
        let uncore = device.uncore();
        uncore
            .reg(INSTPM)
            .write_masked(InstPm::GLOBAL_DEBUG_ENABLE::SET);
        uncore.reg(WIZ_STRG_VAL).write(
            WizTrigger::PIXEL_Y_COMPARE_VALUE.val(trigger.y.into())
                + WizTrigger::PIXEL_X_COMPARE_VALUE.val(trigger.x.into()),
        );
        let mut control = WizCtl::SNAPSHOT_ENABLE::SET;
        if trigger.flag_thread {
            control += WizCtl::THREAD_SNAPSHOT_ENABLE::SET;
        }
        if let Some(instance) = trigger.instance {
            control += WizCtl::ENABLE_SUBSPAN_INSTANCE_COMPARE::SET
                + WizCtl::SUBSPAN_INSTANCE_NUMBER.val(instance.into());
        }
        control_register(uncore).write(control);
        Ok(ArmedSnapshot {
            device: device.clone(),
        })
    }

    /// Whether the subspan has come by.
    #[must_use]
    pub fn is_complete(&self) -> bool {
        control_register(self.device.uncore()).is_set(WizCtl::SNAPSHOT_COMPLETE)
    }

    /// Reads what was trapped, through every setting of the multiplexer; `EAGAIN` when nothing has been yet.
    pub fn read(&self) -> Result<PixelSnapshot> {
        if !self.is_complete() {
            return Err(EAGAIN);
        }
        let uncore = self.device.uncore();
        let read = |output| {
            control_register(uncore).modify(output);
            uncore.read(WIZ_RDATA)
        };
        Ok(PixelSnapshot {
            kernel_pointer: read(WizCtl::SNAPSHOT_OUTPUT_MUX_SELECT::KernelPointer),
            subspan_instances: read(WizCtl::SNAPSHOT_OUTPUT_MUX_SELECT::SubspanInstanceCount),
            primitive: read(WizCtl::SNAPSHOT_OUTPUT_MUX_SELECT::PrimitiveSequenceNumber),
        })
    }

    /// How often the subspan has come by; once the snapshot is complete, at that moment.
    #[must_use]
    pub fn instances(&self) -> u32 {
        let uncore = self.device.uncore();
        control_register(uncore).modify(WizCtl::SNAPSHOT_OUTPUT_MUX_SELECT::SubspanInstanceCount);
        uncore.read(WIZ_RDATA)
    }

    /// Clears the completion, so that the next match is trapped again.
    pub fn rearm(&self) {
        control_register(self.device.uncore()).modify(WizCtl::SNAPSHOT_COMPLETE::CLEAR);
    }

    /// Switches the snapshot and the global debug enable off.
    pub fn disarm(self) {
        let uncore = self.device.uncore();
        control_register(uncore).set(0);
        uncore
            .reg(INSTPM)
            .write_masked(InstPm::GLOBAL_DEBUG_ENABLE::CLEAR);
    }
}

fn control_register(uncore: &Uncore) -> kernel::io::RegProxy<'_, WizCtl::Register> {
    uncore.reg(WIZ_CTL)
}
