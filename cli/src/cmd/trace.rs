//! `--trace`: the events of the device as a file.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

use crestline_cli::link;
use crestline_cli::shown;
use crestline_cli::trace::{Format, Stream, stream};
use kernel::string_helpers::Counted;
use mmio_mock::Model;
use mmio_mock::ModelPlatform;
use mmio_mock::intel::r#gen::DeviceInfo;
use mmio_mock::intel::trace::Trace;

use super::Error;

/// Most text of a trace.
pub const BYTES: usize = 32 << 20;

/// The arguments.
#[derive(clap::Args, Clone, Default)]
#[group(skip)]
pub struct Args {
    /// Write what the device does into a file, event by event
    #[arg(long, value_name = "FILE")]
    pub trace: Option<PathBuf>,
    /// Form of that file
    #[arg(
        long,
        value_name = "FORMAT",
        value_enum,
        default_value_t,
        requires = "trace"
    )]
    pub trace_format: Format,
}

impl Args {
    /// Bytes of text that the device is to keep.
    pub fn text_bytes(&self) -> Option<usize> {
        let text = self.trace.is_some() && self.trace_format == Format::Text;
        text.then_some(BYTES)
    }

    /// Makes the file, with a mode; the trace is for the device.
    pub fn open(&self, device: &'static DeviceInfo, mode: u32) -> Result<(Trace, Tracing), Error> {
        let Some(path) = &self.trace else {
            return Ok((Trace::default(), Tracing(None)));
        };
        let file = link::create(path, mode);
        let file = file.map_err(|error| format!("{}: {error}", shown::path(path)))?;
        let (trace, to) = if self.trace_format == Format::Text {
            (Trace::with_limit(BYTES), To::File(file))
        } else {
            let (trace, stream) = self.stream(device, Box::new(file));
            (trace, To::Stream(stream))
        };
        Ok((trace, Tracing(Some((path.clone(), to)))))
    }

    /// The same into something that is open already; only the device knows of text.
    pub fn stream(
        &self,
        device: &'static DeviceInfo,
        out: Box<dyn Write + Send>,
    ) -> (Trace, Option<Stream>) {
        match stream(self.trace_format, device, out) {
            Some((trace, stream)) => (trace, Some(stream)),
            None => (
                self.text_bytes().map(Trace::with_limit).unwrap_or_default(),
                None,
            ),
        }
    }
}

/// Where the events go.
enum To {
    /// As text, at the end: into the file that was opened, whatever its name stands for then.
    File(File),
    /// As they come.
    Stream(Option<Stream>),
}

/// A file that is being written.
pub struct Tracing(Option<(PathBuf, To)>);

impl Tracing {
    /// Writes what is left; what is missing of it is an error.
    pub fn end(self, platform: &ModelPlatform) -> Result<(), Error> {
        match self.0 {
            None | Some((_, To::Stream(None))) => Ok(()),
            Some((path, To::File(file))) => write(platform, file, &path),
            Some((path, To::Stream(Some(stream)))) => {
                platform.device().set_trace(Trace::default());
                let ended = stream.finish();
                ended.map_err(|error| format!("{}: {error}", shown::path(path)))?;
                Ok(())
            }
        }
    }
}

/// Writes the trace; what is missing of it is an error.
fn write(platform: &ModelPlatform, file: File, path: &Path) -> Result<(), Error> {
    let device = platform.device();
    let trace = device.event_log();
    let (events, _) = trace.digest();
    let written = || -> std::io::Result<()> {
        let mut file = BufWriter::new(file);
        file.write_all(trace.text().as_bytes())?;
        if trace.dropped() > 0 {
            writeln!(file, "cut off: {} more", Counted(trace.dropped(), "event"))?;
        }
        file.flush()
    };
    written().map_err(|error| format!("{}: {error}", shown::path(path)))?;
    match trace.dropped() {
        0 => Ok(()),
        dropped => Err(format!(
            "{}: the trace is cut off after {} MiB, {} of {} in it",
            shown::path(path),
            BYTES >> 20,
            events - dropped,
            Counted(events, "event")
        )
        .into()),
    }
}
