//! `--trace`: the events of the device as text.
//!
//! No PRM chapter.

use std::fs::File;
use std::io::{BufWriter, Write as _};
use std::path::Path;

use mmio_mock::platform::ModelPlatform;

use super::Error;

/// Most text of a trace.
pub const BYTES: usize = 32 << 20;

/// Writes the trace; what is missing of it is an error.
pub fn write(platform: &ModelPlatform, path: &Path) -> Result<(), Error> {
    let device = platform.device();
    let trace = device.trace();
    let (events, _) = trace.digest();
    let written = || -> std::io::Result<()> {
        let mut file = BufWriter::new(File::create(path)?);
        file.write_all(trace.text().as_bytes())?;
        if trace.dropped() > 0 {
            writeln!(file, "cut off: {} events more", trace.dropped())?;
        }
        file.flush()
    };
    written().map_err(|error| format!("{}: {error}", path.display()))?;
    match trace.dropped() {
        0 => Ok(()),
        dropped => Err(format!(
            "{}: the trace is cut off after {} MiB, {} of {events} events are in it",
            path.display(),
            BYTES >> 20,
            events - dropped
        )
        .into()),
    }
}
