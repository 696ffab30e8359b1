//! A call on a device of Intel's: the core's call, and the device.
use core::ops::Deref;

use kernel::error::{Result, code::ENODEV};

use crate::core::call::Call as CoreCall;
use crate::intel::device::Device;

/// One call on a device of Intel's.
pub(crate) struct Call<'a> {
    call: CoreCall<'a>,
    /// The device.
    pub(crate) device: &'a Device,
}

impl<'a> Call<'a> {
    /// `ENODEV` for a call on another vendor's device.
    pub(crate) fn of(call: &CoreCall<'a>) -> Result<Self> {
        let device = call.file.device_as().ok_or(ENODEV)?;
        Ok(Call {
            call: *call,
            device,
        })
    }
}

impl<'a> Deref for Call<'a> {
    type Target = CoreCall<'a>;

    fn deref(&self) -> &CoreCall<'a> {
        &self.call
    }
}
