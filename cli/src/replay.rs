//! Replays a capture through driver, ring and MMIO on a modelled device.
//!
//! The submission order is the driver's. Not modelled: submissions in parallel (each
//! one ends before the next begins), contexts.

mod attend;
pub mod board;
mod contradiction;
mod error;
mod finder;
mod objects;
mod patience;
mod report;
mod threads;
mod upload;

pub use attend::{Attendant, Placed, Rest};
pub use contradiction::Contradiction;
pub use error::{FaultReport, ReplayError};
pub use report::{Report, Snapshot};

use std::sync::Arc;

use driver::debug::snapshot::{ArmedSnapshot, PixelTrigger};
use driver::{BatchDesc, Device, Driver};
use kernel::platform::Platform;
use kernel::time::{Delta, Ktime};
use mmio_mock::Model;
use mmio_mock::ModelPlatform;
use mmio_mock::intel::ff::state::PipelineState;
use mmio_mock::intel::r#gen::DeviceInfo;
use mmio_mock::intel::trace::Trace;

use crate::capture::{Buffer, Capture, Contents, Exec, Reader, Submission};
use crate::picture::{PageReader, Picture, PictureError, State, View, walk};
use objects::Objects;
use patience::Patience;

/// How to replay.
#[derive(Clone, Copy, Debug)]
pub struct Options {
    /// The device.
    pub device: &'static DeviceInfo,
    /// Device time that each submission may take.
    pub timeout: Delta,
    /// Bytes of trace text to keep; `None` keeps no trace.
    pub trace: Option<usize>,
    /// Pixel whose thread dispatch is trapped.
    pub snapshot: Option<(u16, u16)>,
    /// Which occurrence of the pixel's subspan is trapped: the first unless said; 0 traps none and counts them.
    pub instance: Option<u8>,
}

/// TIMEOUT: a second of device time. A frame takes milliseconds, and a thread that never ends keeps
/// the host busy for some seconds until it is told.
pub const TIMEOUT: Delta = Delta::from_secs(1);

impl Options {
    /// The defaults on a device.
    pub fn new(device: &'static DeviceInfo) -> Self {
        Options {
            device,
            timeout: TIMEOUT,
            trace: None,
            snapshot: None,
            instance: None,
        }
    }
}

/// The model of the device that a capture was made for.
pub fn device_of(capture: &Capture) -> Option<&'static DeviceInfo> {
    let pci = capture.execs.first()?.pci;
    mmio_mock::intel::r#gen::DEVICES
        .iter()
        .find(|d| d.pci == pci)
}

/// The same for a capture that is being read.
pub fn device_of_reader(reader: &Reader) -> Option<&'static DeviceInfo> {
    mmio_mock::intel::r#gen::DEVICES
        .iter()
        .find(|d| d.pci == reader.pci())
}

/// Primitives looked at for one whose target can be shown.
const MAX_FALLBACKS: usize = 256;
/// Memory for ring, status page, scratch page and page rounding.
const DRIVER_BYTES: u64 = 1 << 20;
/// A driver bound to a model, and the objects of a capture.
pub struct Session {
    platform: Arc<ModelPlatform>,
    device: Device,
    options: Options,
    objects: Objects,
    state: PipelineState,
    /// The last primitive that ran.
    last: Option<(State, Arc<Exec>)>,
    /// The last one before it with a render target that can be shown, if it is another.
    before: Option<(State, Arc<Exec>)>,
    armed: Option<ArmedSnapshot>,
    attendant: Option<Arc<dyn Attendant>>,
    execs: usize,
}

impl Session {
    /// Powers a device on and binds the driver to it; `buffer_bytes` is what objects may need.
    pub fn new(options: Options, buffer_bytes: u64) -> Result<Self, ReplayError> {
        let trace = options.trace.map(Trace::with_limit).unwrap_or_default();
        Self::with_trace(options, buffer_bytes, trace)
    }

    /// The same with a trace of the caller's.
    pub fn with_trace(
        options: Options,
        buffer_bytes: u64,
        trace: Trace,
    ) -> Result<Self, ReplayError> {
        let bytes = usize::try_from(buffer_bytes.saturating_add(DRIVER_BYTES));
        let platform = ModelPlatform::new(options.device, bytes.unwrap_or(usize::MAX));
        platform.device().set_trace(trace);
        let device = Driver::probe(Arc::clone(&platform) as Arc<dyn Platform>)
            .map_err(ReplayError::Probe)?;
        let mut session = Session {
            platform,
            device,
            options,
            objects: Objects::default(),
            state: PipelineState::default(),
            last: None,
            before: None,
            armed: None,
            attendant: None,
            execs: 0,
        };
        if let Some((x, y)) = options.snapshot {
            let trigger = PixelTrigger {
                x,
                y,
                instance: options.instance,
                ..PixelTrigger::default()
            };
            let armed = session.device.arm_pixel_snapshot(trigger);
            session.armed = Some(armed.map_err(ReplayError::Snapshot)?);
        }
        Ok(session)
    }

    /// The modelled device's platform.
    pub fn platform(&self) -> &Arc<ModelPlatform> {
        &self.platform
    }

    /// Sets an attendant that sees each submission from now on, and may hold it up.
    pub fn attend(&mut self, attendant: Arc<dyn Attendant>) {
        self.attendant = Some(attendant);
    }

    /// Removes the attendant.
    pub fn dismiss(&mut self) {
        self.attendant = None;
    }

    /// The driver's device.
    pub fn device(&self) -> &Device {
        &self.device
    }

    /// Runs one submission to its end.
    pub fn run(&mut self, exec: &Exec) -> Result<(), ReplayError> {
        self.run_watched(exec, &|| ())
    }

    /// Runs one submission to its end; `during` is called again and again meanwhile.
    pub fn run_watched(&mut self, exec: &Exec, during: &dyn Fn()) -> Result<(), ReplayError> {
        let held = exec.buffers.iter().map(|b| Contents::held(&b.data));
        self.run_with(exec, held.collect(), during)
    }

    /// Runs one submission to its end, with contents that still lie in the capture.
    pub fn run_submission(&mut self, submission: Submission) -> Result<(), ReplayError> {
        self.run_with(&submission.exec, submission.contents, &|| ())
    }

    fn run_with(
        &mut self,
        exec: &Exec,
        contents: Vec<Contents>,
        during: &dyn Fn(),
    ) -> Result<(), ReplayError> {
        self.objects.place(&self.device, exec, contents)?;
        let mut state = self.state.clone();
        let find = self.objects.finder(exec);
        let followed = walk(
            self.options.device,
            &|at| find.dword(at),
            exec.batch_address(),
            &mut state,
        );
        if let Some(attendant) = self.attendant.clone() {
            let placed = Placed {
                exec,
                walk: &followed,
                device: self.options.device,
                dword: &|at| find.dword(at),
            };
            if attendant.placed(&placed) == Rest::Leave {
                return Err(ReplayError::Left);
            }
        }
        let contradiction =
            contradiction::of(exec, &followed, |at| find.dword(at), self.options.device);
        self.state = state;
        self.execs += 1;
        let drawn = self.platform.device().status().activity.draws;
        let outcome = self.submit(exec, followed.circle, during);
        let drawn = self.platform.device().status().activity.draws - drawn;
        self.note_draws(exec, &followed, drawn);
        outcome?;
        let faults = self.faults(exec, None);
        if !faults.is_empty() {
            return Err(ReplayError::Fault(Box::new(faults)));
        }
        // A frame that contradicts itself has run as far as it goes: its picture may show why.
        contradiction.map_or(Ok(()), |what| Err(ReplayError::Contradiction(what)))
    }

    /// Remembers the last primitive that ran, and the last whose target can be shown.
    fn note_draws(&mut self, exec: &Exec, followed: &crate::picture::Walk, drawn: u64) {
        let ran = followed.draws.iter().rev();
        let mut ran = ran.skip_while(|draw| draw.ordinal >= drawn).peekable();
        if ran.peek().is_none() {
            return;
        }
        let exec = Arc::new(exec.outline());
        let mut ran = ran.map(|draw| (draw.state, Arc::clone(&exec)));
        let (last, old) = (ran.next(), self.last.take());
        if last.as_ref().is_some_and(|last| self.view_of(last).is_ok()) {
            self.before = None;
        } else {
            let mut earlier = ran.take(MAX_FALLBACKS).chain(old);
            if let Some(found) = earlier.find(|draw| self.view_of(draw).is_ok()) {
                self.before = Some(found);
            }
        }
        self.last = last;
    }

    fn submit(
        &self,
        exec: &Exec,
        circle: Option<u64>,
        during: &dyn Fn(),
    ) -> Result<(), ReplayError> {
        let failed = |what| {
            let exec = exec.name.clone();
            move |error| ReplayError::Submit { exec, what, error }
        };
        let batch = exec.buffers.get(exec.batch);
        let object = batch
            .and_then(|batch| self.objects.of(batch))
            .ok_or_else(|| failed("batch")(kernel::error::code::EINVAL))?;
        let desc = BatchDesc {
            object,
            start: exec.batch_start,
            len: exec.batch_len,
        };
        let request = self.device.submit(&desc).map_err(failed("submission"))?;
        let size: u64 = exec.buffers.iter().map(|b| u64::from(b.size)).sum();
        let patience = Patience::new(self.options.timeout, size / 4, circle);
        let attendant = self.attendant.as_deref();
        let waited = patience.wait(&self.platform, attendant, || {
            during();
            request.is_complete()
        });
        let Some((left, why)) = waited else {
            return Err(ReplayError::Left);
        };
        request.wait(left).map_err(|error| {
            let mut what = format!("not done {why}");
            // ETIME is what the sentence says already.
            if error != kernel::error::code::ETIME {
                what = format!("{what}: {error}");
            }
            ReplayError::Fault(Box::new(self.faults(exec, Some(what))))
        })
    }

    /// What the device and the driver have to say about things gone wrong.
    fn faults(&self, exec: &Exec, ended: Option<String>) -> FaultReport {
        let state = self.device.error_state();
        let device = self.platform.device();
        let find = self.objects.finder(exec);
        let isa = self.options.device.isa;
        FaultReport::new(exec, ended, state.as_deref(), &device, |kernel| {
            threads::instruction(isa, kernel, |at| find.dword(at))
        })
    }

    /// The render target of the last primitive so far, pixel by pixel; each lies in a buffer.
    pub fn picture(&self) -> Result<Picture, PictureError> {
        Picture::read(self.view()?)
    }

    /// The render target of the last primitive so far, to be read row by row.
    pub fn view(&self) -> Result<View<impl PageReader>, PictureError> {
        self.view_of(self.last.as_ref().ok_or(PictureError::NoPrimitive)?)
    }

    /// The last render target before it that can be shown, when that of the last primitive cannot.
    pub fn view_before(&self) -> Option<View<impl PageReader>> {
        self.view_of(self.before.as_ref()?).ok()
    }

    fn view_of(
        &self,
        (state, exec): &(State, Arc<Exec>),
    ) -> Result<View<impl PageReader>, PictureError> {
        self.objects.view(*state, exec, self.options.device)
    }

    /// The contents of a buffer as they are now.
    pub fn contents(&self, buffer: &Buffer) -> Option<Vec<u8>> {
        self.objects.contents(buffer)
    }

    /// What the windower trapped, and the kernel it was about to start.
    pub fn snapshot(&self) -> Option<Snapshot> {
        let armed = self.armed.as_ref()?;
        let (state, exec) = self.last.as_ref()?;
        let find = self.objects.finder(exec);
        Some(Snapshot::read(
            armed,
            exec,
            state.kernel_base,
            self.options.device.isa,
            |address| find.dword(address),
        ))
    }

    /// Counters so far.
    pub fn report(&self) -> Report {
        let device = self.platform.device();
        Report {
            execs: self.execs,
            activity: device.status().activity,
            statistics: device.status().statistics,
            nanos: Ktime::from_nanos(device.nanos()).as_nanos(),
            trace: device.event_log().digest(),
        }
    }

    /// How often the subspan of the snapshot's pixel has come by.
    pub fn snapshot_instances(&self) -> Option<u32> {
        self.armed.as_ref().map(ArmedSnapshot::instances)
    }

    /// Text of the trace so far.
    pub fn trace(&self) -> String {
        self.platform.device().event_log().text().to_owned()
    }

    /// Proves the device idle, gives everything back and unbinds the driver.
    pub fn finish(self) -> Result<(), ReplayError> {
        let Session {
            platform,
            device,
            objects,
            armed,
            ..
        } = self;
        if let Some(armed) = armed {
            armed.disarm();
        }
        if device.wait_idle(Delta::from_millis(1)).is_err() || !platform.device().idle() {
            return Err(ReplayError::NotIdle);
        }
        drop(objects);
        device.remove().map_err(ReplayError::Remove)?;
        match platform.allocated_pages() {
            0 => Ok(()),
            pages => Err(ReplayError::Leak { pages }),
        }
    }
}
