//! Snapshots: arm a unit, poll, read what it has trapped.
//!
//! PRM vol4 3.2, 3.3: trigger values first, then the control register (3.3.1). Not modelled: outputs that the manual
//! leaves to other documents; [`Snapshot::output`] reads them all the same.
pub mod limits;
pub mod units;

use alloc::vec::Vec;
use core::marker::PhantomData;

use kernel::error::{Result, code::EAGAIN, code::ENODEV};

use crate::intel::device::Device;
use crate::intel::uncore::Uncore;
use units::Wiz;

/// Bits that the control registers of all units have in the same place: complete, and the multiplexer.
const COMPLETE: u32 = 1 << 31;
const MUX_SHIFT: u32 = 8;
const MUX: u32 = 0xff << MUX_SHIFT;

/// Which threads get the snapshot flag, which can arm their breakpoints.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Flag {
    /// None.
    #[default]
    None,
    /// That of the trapped element.
    Trapped,
    /// All of the unit; the data are then those of the last one.
    All,
}

/// What arming a unit writes.
pub struct Arming {
    /// Registers and their values, in order.
    pub triggers: Vec<(u32, u32)>,
    /// The control register.
    pub control: u32,
    /// Bits of it that stay as they are: they limit what the unit lets through.
    pub keep: u32,
}

/// A unit that takes snapshots.
pub trait Unit {
    /// What to trap.
    type Trigger: Copy;
    /// What was trapped.
    type Data;
    /// Offset of the control register.
    const CONTROL: u32;
    /// Offset of the register with the data.
    const DATA: u32;

    /// What arming writes.
    fn arming(trigger: &Self::Trigger) -> Arming;

    /// Reads the outputs that the manual defines.
    fn gather(output: &mut dyn FnMut(u8) -> u32) -> Self::Data;
}

/// An armed unit. Dropping it leaves the hardware armed; see [`disarm`](Self::disarm).
pub struct Snapshot<U: Unit> {
    device: Device,
    keep: u32,
    unit: PhantomData<fn() -> U>,
}

impl<U: Unit> Snapshot<U> {
    /// Arms the unit. `ENODEV` when the device has gone.
    pub(crate) fn arm(device: &Device, trigger: &U::Trigger) -> Result<Self> {
        if !device.ggtt().is_live() {
            return Err(ENODEV);
        }
        let uncore = device.uncore();
        let arming = U::arming(trigger);
        device.debug_hook().enable(uncore);
        for (offset, value) in arming.triggers {
            uncore.io().write32(value, offset as usize);
        }
        let kept = match arming.keep {
            0 => 0,
            keep => control::<U>(uncore) & keep,
        };
        set_control::<U>(uncore, arming.control | kept);
        Ok(Snapshot {
            device: device.clone(),
            keep: arming.keep,
            unit: PhantomData,
        })
    }

    /// Whether the unit has trapped something.
    #[must_use]
    pub fn is_complete(&self) -> bool {
        control::<U>(self.device.uncore()) & COMPLETE != 0
    }

    /// Reads what was trapped, through every setting of the multiplexer; `EAGAIN` when nothing has been yet.
    pub fn read(&self) -> Result<U::Data> {
        if !self.is_complete() {
            return Err(EAGAIN);
        }
        Ok(self.latest())
    }

    /// Reads what was latched last, trapped or not: under [`Flag::All`] the last thread of the unit.
    #[must_use]
    pub fn latest(&self) -> U::Data {
        U::gather(&mut |mux| self.output(mux))
    }

    /// What one setting of the multiplexer shows.
    #[must_use]
    pub fn output(&self, mux: u8) -> u32 {
        let uncore = self.device.uncore();
        let now = control::<U>(uncore) & !MUX;
        set_control::<U>(uncore, now | u32::from(mux) << MUX_SHIFT);
        uncore.io().read32(U::DATA as usize)
    }

    /// Clears the completion, so that the next match is trapped again.
    pub fn rearm(&self) {
        let uncore = self.device.uncore();
        set_control::<U>(uncore, control::<U>(uncore) & !COMPLETE);
    }

    /// Switches the snapshot off, and the global debug enable when nobody else needs it.
    pub fn disarm(self) {
        let uncore = self.device.uncore();
        let kept = match self.keep {
            0 => 0,
            keep => control::<U>(uncore) & keep,
        };
        set_control::<U>(uncore, kept);
        self.device.debug_hook().disable(uncore);
    }
}

fn control<U: Unit>(uncore: &Uncore) -> u32 {
    uncore.io().read32(U::CONTROL as usize)
}

fn set_control<U: Unit>(uncore: &Uncore, value: u32) {
    uncore.io().write32(value, U::CONTROL as usize);
}

/// What to trap at a pixel.
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

/// An armed snapshot of a pixel. Dropping it leaves the hardware armed; see [`disarm`](Self::disarm).
pub struct ArmedSnapshot(Snapshot<Wiz>);

impl ArmedSnapshot {
    /// Arms the windower. `ENODEV` when the device has gone.
    pub(crate) fn arm(device: &Device, trigger: PixelTrigger) -> Result<Self> {
        let trigger = units::Subspan {
            x: trigger.x,
            y: trigger.y,
            instance: trigger.instance,
            flag: if trigger.flag_thread {
                Flag::Trapped
            } else {
                Flag::None
            },
            ..units::Subspan::default()
        };
        Snapshot::arm(device, &trigger).map(ArmedSnapshot)
    }

    /// Whether the subspan has come by.
    #[must_use]
    pub fn is_complete(&self) -> bool {
        self.0.is_complete()
    }

    /// Reads what was trapped, through every setting of the multiplexer; `EAGAIN` when nothing has been yet.
    pub fn read(&self) -> Result<PixelSnapshot> {
        self.0.read()
    }

    /// How often the subspan has come by; once the snapshot is complete, at that moment.
    #[must_use]
    pub fn instances(&self) -> u32 {
        self.0.output(units::WIZ_INSTANCES)
    }

    /// Clears the completion, so that the next match is trapped again.
    pub fn rearm(&self) {
        self.0.rearm();
    }

    /// Switches the snapshot off, and the global debug enable when nobody else needs it.
    pub fn disarm(self) {
        self.0.disarm();
    }
}
