//! A capture of the command line, and how it is replayed.
//!
//! No PRM chapter.

use std::path::Path;

use crestline_cli::capture::Capture;
use crestline_cli::replay::{self, Options};
use kernel::time::Delta;
use mmio_mock::r#gen::DeviceInfo;

use super::{Error, device};

/// A whole capture, and how it is replayed on the device of a name, else on the one it was captured for.
pub fn load(
    path: &Path,
    device: Option<&str>,
    timeout_ms: u64,
) -> Result<(Capture, Options), Error> {
    // A wrong device name is found before a large capture is read.
    let named = device.map(device::modelled).transpose()?;
    let capture = Capture::load(path)?;
    let options = options(named.or_else(|| replay::device_of(&capture)), timeout_ms)?;
    Ok((capture, options))
}

/// How a capture is replayed on a device, if there is one for it.
pub fn options(device: Option<&'static DeviceInfo>, timeout_ms: u64) -> Result<Options, Error> {
    let device = device.ok_or("no device of the capture's PCI id is modelled")?;
    Ok(on(device, timeout_ms))
}

/// How anything is replayed on a device.
pub fn on(device: &'static DeviceInfo, timeout_ms: u64) -> Options {
    Options {
        timeout: Delta::from_millis(timeout_ms),
        ..Options::new(device)
    }
}
