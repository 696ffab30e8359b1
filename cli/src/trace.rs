//! The events of the device as files: JSON lines, trace events.
//!
//! Events are written as they happen; what is kept in memory is what has begun and not ended.

mod json;
mod lines;
mod members;
mod perfetto;

use std::io::{self, BufWriter, Write};
use std::sync::{Arc, Mutex, PoisonError};

use mmio_mock::intel::r#gen::DeviceInfo;
use mmio_mock::intel::status::Unit;
use mmio_mock::intel::trace::{Event, Sink, Trace};

use perfetto::Perfetto;

/// How a trace is written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub enum Format {
    /// One event per line, without vertices, objects, messages and writes; at most 32 MiB.
    #[default]
    Text,
    /// Every event, one JSON object per line.
    Jsonl,
    /// Chrome's JSON array format, for ui.perfetto.dev and chrome://tracing.
    Perfetto,
}

/// Bytes of a buffer before they are written.
const BUFFER: usize = 1 << 18;

/// How events become bytes.
enum Form {
    Lines,
    Perfetto(Box<Perfetto>),
}

struct State {
    out: BufWriter<Box<dyn Write + Send>>,
    form: Form,
    line: String,
    device: &'static DeviceInfo,
    events: u64,
    error: Option<io::Error>,
}

/// A file that a device writes its events into.
pub struct Stream(Arc<Mutex<State>>);

struct Writer(Arc<Mutex<State>>);

/// A trace for a device, and the file behind it. `None` for [`Format::Text`], which the device keeps.
pub fn stream(
    format: Format,
    device: &'static DeviceInfo,
    out: Box<dyn Write + Send>,
) -> Option<(Trace, Stream)> {
    let form = match format {
        Format::Text => return None,
        Format::Jsonl => Form::Lines,
        Format::Perfetto => Form::Perfetto(Box::default()),
    };
    let state = Arc::new(Mutex::new(State {
        out: BufWriter::with_capacity(BUFFER, out),
        form,
        line: String::new(),
        device,
        events: 0,
        error: None,
    }));
    let trace = Trace::to(Box::new(Writer(Arc::clone(&state))));
    Some((trace, Stream(state)))
}

impl Sink<Event> for Writer {
    fn event(&mut self, ticks: u64, event: &Event) {
        let mut state = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        state.event(ticks, event);
    }
}

impl Stream {
    /// Writes what is left and says how many events there were. The device must not have the trace any more, or what
    /// it does afterwards is lost.
    pub fn finish(self) -> io::Result<u64> {
        let mut state = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let device = state.device;
        let State { form, line, .. } = &mut *state;
        if let Form::Perfetto(perfetto) = form {
            perfetto.finish(device, line);
        }
        state.put();
        match state.error.take() {
            Some(error) => Err(error),
            None => state.out.flush().map(|()| state.events),
        }
    }
}

impl State {
    fn event(&mut self, ticks: u64, event: &Event) {
        if self.error.is_some() {
            return;
        }
        self.events += 1;
        match &mut self.form {
            Form::Lines => lines::event(&mut self.line, self.device, ticks, event),
            Form::Perfetto(perfetto) => perfetto.event(self.device, ticks, event, &mut self.line),
        }
        self.put();
    }

    fn put(&mut self) {
        if let Err(error) = self.out.write_all(self.line.as_bytes()) {
            self.error.get_or_insert(error);
        }
        self.line.clear();
    }
}

/// Nanoseconds of device time.
fn nanos(ticks: u64, device: &DeviceInfo) -> u64 {
    // CAST: 64 bits of nanoseconds are centuries.
    (u128::from(ticks) * 1000 / u128::from(device.core_mhz.max(1))) as u64
}

/// Name of the fixed function with an FFID.
fn unit(ffid: u8) -> &'static str {
    let found = Unit::ALL.iter().find(|unit| unit.ffid() == ffid);
    found.map_or("?", |unit| unit.name())
}

/// Name of a shared function (PRM volume 4, 2.5).
fn function(sfid: u8) -> &'static str {
    const NAMES: [&str; 8] = [
        "null",
        "math",
        "sampler",
        "gateway",
        "data port read",
        "data port write",
        "urb",
        "thread spawner",
    ];
    NAMES.get(usize::from(sfid)).copied().unwrap_or("?")
}
