//! Replays a capture through driver, ring and MMIO on a modelled device.
//!
//! No PRM chapter; the submission order is the driver's. Not modelled: submissions in parallel (each
//! one ends before the next begins), contexts.

mod error;
mod report;

pub use error::{FaultReport, ReplayError};
pub use report::{Report, Snapshot};

use std::collections::BTreeMap;
use std::sync::Arc;

use driver::debug::snapshot::{ArmedSnapshot, PixelTrigger};
use driver::{BatchDesc, Device, Driver, Object};
use kernel::platform::Platform;
use kernel::time::{Delta, Ktime};
use mmio_mock::ModelPlatform;
use mmio_mock::r#gen::DeviceInfo;
use mmio_mock::trace::Trace;

use crate::capture::{Buffer, Capture, Exec};
use crate::picture::{Picture, PictureError, State, last_primitive, last_target};

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
        }
    }
}

/// The model of the device that a capture was made for.
pub fn device_of(capture: &Capture) -> Option<&'static DeviceInfo> {
    let pci = capture.execs.first()?.pci;
    mmio_mock::r#gen::DEVICES.iter().find(|d| d.pci == pci)
}

/// Memory for ring, status page, scratch page and page rounding.
const DRIVER_BYTES: u64 = 1 << 20;
/// A driver bound to a model, and the objects of a capture.
pub struct Session {
    platform: Arc<ModelPlatform>,
    device: Device,
    options: Options,
    objects: BTreeMap<u64, Bound>,
    state: State,
    last: Option<(State, Exec)>,
    armed: Option<ArmedSnapshot>,
    execs: usize,
}

struct Bound {
    object: Object,
    /// Contents at the last submission.
    dumped: Vec<u8>,
}

impl Session {
    /// Powers a device on and binds the driver to it; `buffer_bytes` is what objects may need.
    pub fn new(options: Options, buffer_bytes: u64) -> Result<Self, ReplayError> {
        let bytes = usize::try_from(buffer_bytes.saturating_add(DRIVER_BYTES));
        let platform = ModelPlatform::new(options.device, bytes.unwrap_or(usize::MAX));
        if let Some(limit) = options.trace {
            platform.device().set_trace(Trace::with_limit(limit));
        }
        let device = Driver::probe(Arc::clone(&platform) as Arc<dyn Platform>)
            .map_err(ReplayError::Probe)?;
        let mut session = Session {
            platform,
            device,
            options,
            objects: BTreeMap::new(),
            state: State::default(),
            last: None,
            armed: None,
            execs: 0,
        };
        if let Some((x, y)) = options.snapshot {
            let trigger = PixelTrigger {
                x,
                y,
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

    /// The driver's device.
    pub fn device(&self) -> &Device {
        &self.device
    }

    /// Runs one submission to its end.
    pub fn run(&mut self, exec: &Exec) -> Result<(), ReplayError> {
        self.place(exec)?;
        let mut state = self.state;
        let start = exec.batch_address();
        let found = last_primitive(&|address| self.dword(exec, address), start, &mut state);
        self.state = state;
        if let Some(found) = found {
            self.last = Some((found, exec.clone()));
        }
        self.execs += 1;
        self.submit(exec)?;
        let faults = self.faults(exec, None);
        if faults.is_empty() {
            Ok(())
        } else {
            Err(ReplayError::Fault(Box::new(faults)))
        }
    }

    fn submit(&self, exec: &Exec) -> Result<(), ReplayError> {
        let failed = |what| {
            let exec = exec.name.clone();
            move |error| ReplayError::Submit { exec, what, error }
        };
        let batch = exec.buffers.get(exec.batch);
        let object = batch
            .and_then(|b| self.objects.get(&b.bo_id))
            .ok_or_else(|| failed("batch")(kernel::error::code::EINVAL))?;
        let desc = BatchDesc {
            object: &object.object,
            start: exec.batch_start,
            len: exec.batch_len,
        };
        let request = self.device.submit(&desc).map_err(failed("submission"))?;
        request.wait(self.options.timeout).map_err(|error| {
            let what = format!("not done after {}: {error}", self.options.timeout);
            ReplayError::Fault(Box::new(self.faults(exec, Some(what))))
        })
    }

    /// What the device and the driver have to say about things gone wrong.
    fn faults(&self, exec: &Exec, ended: Option<String>) -> FaultReport {
        let state = self.device.error_state();
        let device = self.platform.device();
        FaultReport::new(exec, ended, state.as_ref(), &device)
    }

    /// Brings all buffers of a submission to their addresses, with their contents.
    fn place(&mut self, exec: &Exec) -> Result<(), ReplayError> {
        // Whatever is not where it belongs makes room first.
        let wanted: BTreeMap<u64, u32> =
            exec.buffers.iter().map(|b| (b.bo_id, b.address)).collect();
        for (bo_id, bound) in &self.objects {
            if bound.object.address() != wanted.get(bo_id).copied() {
                bound.object.unbind();
            }
        }
        for (index, buffer) in exec.buffers.iter().enumerate() {
            let failed = |what, error| ReplayError::Buffer {
                exec: exec.name.clone(),
                index,
                file: buffer.file.clone(),
                what,
                error,
            };
            if !self.objects.contains_key(&buffer.bo_id) {
                let object = self
                    .device
                    .create_object(buffer.size as usize, buffer.tiling, buffer.stride)
                    .map_err(|e| failed("creation", e))?;
                let dumped = Vec::new();
                self.objects.insert(buffer.bo_id, Bound { object, dumped });
            }
            let Some(bound) = self.objects.get_mut(&buffer.bo_id) else {
                continue;
            };
            bound.upload(buffer).map_err(|e| failed("upload", e))?;
            if bound.object.address().is_none() {
                self.device
                    .bind_at(&bound.object, buffer.address)
                    .map_err(|e| failed("binding", e))?;
            }
        }
        Ok(())
    }

    /// The dword that the device would read at an address of a submission.
    fn dword(&self, exec: &Exec, address: u32) -> Option<u32> {
        let (index, offset) = exec.find(address)?;
        let buffer = exec.buffers.get(index)?;
        let bound = self.objects.get(&buffer.bo_id)?;
        bound.object.read32(offset as usize).ok()
    }

    /// The render target of the last primitive so far.
    pub fn picture(&self) -> Result<Picture, PictureError> {
        let (state, exec) = self.last.as_ref().ok_or(PictureError::NoPrimitive)?;
        let target = last_target(
            &|address| self.dword(exec, address),
            *state,
            self.options.device.isa,
        )?;
        Picture::read(&target, |address| {
            let (index, _) = exec.find(address)?;
            let buffer = exec.buffers.get(index)?;
            let bound = self.objects.get(&buffer.bo_id)?;
            let mut bytes = vec![0; buffer.size as usize];
            bound.object.read(0, &mut bytes).ok()?;
            Some((buffer.address, bytes))
        })
    }

    /// The contents of a buffer as they are now.
    pub fn contents(&self, buffer: &Buffer) -> Option<Vec<u8>> {
        let bound = self.objects.get(&buffer.bo_id)?;
        let mut bytes = vec![0; buffer.size as usize];
        bound.object.read(0, &mut bytes).ok()?;
        Some(bytes)
    }

    /// What the windower trapped, and the kernel it was about to start.
    pub fn snapshot(&self) -> Option<Snapshot> {
        let armed = self.armed.as_ref()?;
        let (state, exec) = self.last.as_ref()?;
        Some(Snapshot::read(
            armed,
            exec,
            state.general_base,
            self.options.device.isa,
            |address| self.dword(exec, address),
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
            trace: device.trace().digest(),
        }
    }

    /// Text of the trace so far.
    pub fn trace(&self) -> String {
        self.platform.device().trace().text().to_owned()
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

impl Bound {
    /// Writes what the CPU wrote since the submission before: see docs/captures.md.
    fn upload(&mut self, buffer: &Buffer) -> kernel::error::Result {
        if self.dumped.is_empty() {
            self.dumped.clone_from(&buffer.data);
            return self.object.write(0, &buffer.data);
        }
        if self.dumped == buffer.data {
            return Ok(());
        }
        let old = std::mem::take(&mut self.dumped);
        let byte = |data: &[u8], at: usize| data.get(at).copied().unwrap_or(0);
        let longest = old.len().max(buffer.data.len());
        let mut at = 0;
        while at < longest {
            if byte(&old, at) == byte(&buffer.data, at) {
                at += 1;
                continue;
            }
            let start = at;
            while at < longest && byte(&old, at) != byte(&buffer.data, at) {
                at += 1;
            }
            let new: Vec<u8> = (start..at).map(|i| byte(&buffer.data, i)).collect();
            self.object.write(start, &new)?;
        }
        self.dumped.clone_from(&buffer.data);
        Ok(())
    }
}
