//! Runs kernels over a grid of threads: driver, ring, media pipeline.
//!
//! PRM: volume 2 (media pipeline, generic mode). One batch holds one object a thread; surfaces are bound in the order
//! that they are given. Not modelled: samplers, indirect data, several submissions.

mod access;
mod format;
mod surface;

pub use access::Kind;
pub use format::Format;
pub use surface::{Shape, Surface, View};

use std::fmt::Write as _;
use std::sync::Arc;

use isa::parse::Assembled;
use kernel::error::{Error, code::ENODEV};
use kernel::time::Delta;
use mmio_mock::intel::r#gen::DeviceInfo;
use mmio_mock::intel::shared::FUNCTIONS;
use mmio_mock::intel::shared::dataport::Outside;
use mmio_mock::intel::td::schedule::Schedule;
use mmio_mock::intel::trace::Trace;
use ringbuf::batch::Batch;
use ringbuf::r#gen::media;
use ringbuf::media::{Code, FrontEnd, Kernel, Media as _, Object};

use crate::capture::{Buffer, Exec, GTT_BYTES};
use crate::replay::{Attendant, FaultReport, Options, ReplayError, Report, Session, TIMEOUT};

/// Most threads of a grid.
pub const MAX_THREADS: u64 = 1 << 20;
/// Most registers of constants: the field of the interface descriptor has six bits.
pub const MAX_CONSTANTS: usize = 63;
/// Most surfaces: the binding table indices that are no special surface (PRM vol4 5.2).
pub const MAX_SURFACES: usize = 255;
/// Interface descriptors that a message can name.
pub const MAX_KERNELS: usize = 32;

/// Graphics address of the batch; what follows it lies at the next multiples, with a hole before each.
const FIRST: u32 = 0x0010_0000;
const STEP: u64 = 0x1_0000;
const PAGE: u64 = 4096;
/// Entries of the URB, and their 512-bit units: inline data is one register.
const ENTRIES: (u32, u32) = (64, 2);
/// The same when there are children: room for their payloads.
const ROOMY_ENTRIES: (u32, u32) = (4, 48);
/// Instructions are fetched ahead of their use.
const PREFETCH: usize = 128;

/// Why nothing was run.
#[derive(Debug, thiserror::Error)]
pub enum MediaError {
    /// A grid without threads.
    #[error("the grid {0}x{1} has no threads")]
    EmptyGrid(u32, u32),
    /// Too many threads.
    #[error("the grid {0}x{1} has more than {MAX_THREADS} threads")]
    Grid(u32, u32),
    /// A kernel without instructions.
    #[error("{0}: no instruction in it")]
    EmptyKernel(String),
    /// Too many kernels.
    #[error("{0} kernels: at most {MAX_KERNELS} are possible")]
    Kernels(usize),
    /// Too many constants.
    #[error("{0} dwords of constants: there is room for {MAX_CONSTANTS} registers of eight dwords")]
    Constants(usize),
    /// Too many surfaces.
    #[error("{0} surfaces: at most {MAX_SURFACES} are possible")]
    Surfaces(usize),
    /// A surface that cannot be.
    #[error("{name}: {error}")]
    Surface {
        /// Its file.
        name: String,
        /// What is wrong with it.
        error: Box<MediaError>,
    },
    /// Sides of an image.
    #[error("{width}x{height} pixels: each side has 1 to {limit}")]
    Side {
        /// Across.
        width: u32,
        /// Down.
        height: u32,
        /// Most of each.
        limit: u32,
    },
    /// Bytes of a surface.
    #[error("{bytes} bytes: a surface has 1 to {limit}, all of its contents")]
    Size {
        /// How many.
        bytes: usize,
        /// The most.
        limit: usize,
    },
    /// A message to a surface that is not there.
    #[error("{place}: surface {surface} is not there: {count} given, inputs first")]
    Unbound {
        /// File and line.
        place: String,
        /// Binding table index.
        surface: u32,
        /// Surfaces there are.
        count: usize,
    },
    /// A message that the surface's view does not go with.
    #[error("{place}: this message needs {needed}, and surface {surface} ({name}) is {seen}")]
    View {
        /// File and line.
        place: String,
        /// Binding table index.
        surface: u32,
        /// Its file.
        name: String,
        /// What the message wants it to be.
        needed: Kind,
        /// What it is.
        seen: Kind,
    },
    /// More than the address space.
    #[error(
        "surfaces and threads need {bytes} bytes of graphics memory: the device has {GTT_BYTES}"
    )]
    Memory {
        /// How many.
        bytes: u64,
    },
    /// The batch could not be built.
    #[error("the batch cannot be built: {0}")]
    Batch(Error),
    /// Driver or device.
    #[error(transparent)]
    Device(#[from] ReplayError),
}

/// A kernel and the text it came from.
#[derive(Clone, Debug)]
pub struct Source {
    /// File.
    pub name: String,
    /// The program.
    pub program: Assembled,
}

/// A kernel over a grid.
#[derive(Clone, Debug)]
pub struct Job {
    /// The device.
    pub device: &'static DeviceInfo,
    /// The kernel of the grid; those of children behind it.
    pub kernels: Vec<Source>,
    /// Surfaces by binding table index.
    pub surfaces: Vec<Surface>,
    /// Threads across and down.
    pub grid: (u32, u32),
    /// Constants, from r1 on.
    pub constants: Vec<u32>,
    /// Threads may have children, also without kernels of their own.
    pub children: bool,
    /// Device time.
    pub timeout: Delta,
    /// Order in which threads take turns.
    pub schedule: Schedule,
    /// Bytes of trace text to keep; `None` keeps no trace.
    pub trace: Option<usize>,
}

impl Job {
    /// A job with nothing but a device.
    pub fn new(device: &'static DeviceInfo) -> Self {
        Job {
            device,
            kernels: Vec::new(),
            surfaces: Vec::new(),
            grid: (1, 1),
            constants: Vec::new(),
            children: false,
            timeout: TIMEOUT,
            schedule: Schedule::default(),
            trace: None,
        }
    }

    /// Runs to the end. The surfaces have their new contents then, also after a fault, of which the outcome tells.
    pub fn run(&mut self) -> Result<Outcome, MediaError> {
        let trace = self.trace.map(Trace::with_limit).unwrap_or_default();
        self.run_with(trace)
    }

    /// The same with a trace of the caller's.
    pub fn run_with(&mut self, trace: Trace) -> Result<Outcome, MediaError> {
        self.run_attended(trace, None)
    }

    /// The same with an attendant of the run.
    pub fn run_attended(
        &mut self,
        trace: Trace,
        attendant: Option<Arc<dyn Attendant>>,
    ) -> Result<Outcome, MediaError> {
        self.check()?;
        let exec = self.exec()?;
        let options = Options {
            timeout: self.timeout,
            trace: self.trace,
            ..Options::new(self.device)
        };
        let bytes = exec.buffers.iter().map(|b| u64::from(b.size)).sum();
        let mut session = Session::with_trace(options, bytes, trace)?;
        session.platform().device().set_schedule(self.schedule);
        if let Some(attendant) = attendant {
            session.attend(attendant);
        }
        let fault = match session.run(&exec) {
            Ok(()) => None,
            Err(ReplayError::Fault(report)) => Some(self.told(&report)),
            Err(error) => return Err(error.into()),
        };
        let first = 1 + self.kernels.len();
        for (surface, buffer) in self.surfaces.iter_mut().zip(&exec.buffers[first..]) {
            if let Some(memory) = session.contents(buffer) {
                surface.take(&memory);
            }
        }
        let device = session.platform().device();
        let messages = device.messages();
        let outside = device.outside();
        let outside = (0..=u8::MAX)
            .map_while(|index| Some((self.surfaces.get(usize::from(index))?, index)))
            .filter_map(|(surface, index)| Some((surface, outside.get(&index)?)))
            .map(|(surface, outside)| (surface.name.clone(), *outside))
            .collect();
        drop(device);
        let outcome = Outcome {
            report: session.report(),
            messages,
            outside,
            fault,
            trace: self.trace.map(|_| session.trace()).unwrap_or_default(),
        };
        if outcome.fault.is_none() {
            session.finish()?;
        }
        Ok(outcome)
    }

    /// Checks what can be before anything runs; [`Job::run`] does it too.
    pub fn check(&self) -> Result<(), MediaError> {
        let (width, height) = self.grid;
        match u64::from(width) * u64::from(height) {
            0 => return Err(MediaError::EmptyGrid(width, height)),
            1..=MAX_THREADS => {}
            _ => return Err(MediaError::Grid(width, height)),
        }
        if self.kernels.is_empty() || self.kernels.len() > MAX_KERNELS {
            return Err(MediaError::Kernels(self.kernels.len()));
        }
        if let Some(empty) = self.kernels.iter().find(|k| k.program.items.is_empty()) {
            return Err(MediaError::EmptyKernel(empty.name.clone()));
        }
        if self.constants.len() > MAX_CONSTANTS * 8 {
            return Err(MediaError::Constants(self.constants.len()));
        }
        if self.surfaces.len() > MAX_SURFACES {
            return Err(MediaError::Surfaces(self.surfaces.len()));
        }
        for surface in &self.surfaces {
            surface.check().map_err(|error| MediaError::Surface {
                name: surface.name.clone(),
                error: error.into(),
            })?;
        }
        for kernel in &self.kernels {
            kernel.check(&self.surfaces, self.device)?;
        }
        Ok(())
    }

    /// The batch with everything that it refers to, as one submission.
    fn exec(&self) -> Result<Exec, MediaError> {
        let batch = self.batch().map_err(MediaError::Batch)?;
        let mut place = Placer {
            next: u64::from(FIRST),
            buffers: Vec::new(),
        };
        // The batch is first; its contents follow when the addresses are known.
        place.put("batch", batch.size(), Vec::new())?;
        for kernel in &self.kernels {
            let mut code = kernel.program.bytes();
            code.resize(code.len() + PREFETCH, 0);
            place.put(&kernel.name, code.len(), code)?;
        }
        for surface in &self.surfaces {
            place.put(&surface.name, surface.memory_size(), surface.memory())?;
        }
        let mut buffers = place.buffers;
        let addresses: Vec<u32> = buffers.iter().map(|buffer| buffer.address).collect();
        let built = batch
            .build(FIRST, &addresses[1..])
            .map_err(MediaError::Batch)?;
        buffers[0].data = built.bytes;
        Ok(Exec {
            name: self.kernels[0].name.clone(),
            pci: self.device.pci,
            buffers,
            batch: 0,
            batch_start: 0,
            batch_len: built.commands,
            complete: false,
        })
    }

    fn batch(&self) -> Result<Batch, Error> {
        let ops = media::of(self.device.tables).ok_or(ENODEV)?;
        let mut batch = Batch::new();
        let code: Vec<_> = self.kernels.iter().map(|_| batch.buffer()).collect();
        let mut surfaces = Vec::new();
        for surface in &self.surfaces {
            let target = batch.buffer();
            surfaces.push(batch.surface(ops, &surface.state(), target, 0));
        }
        let table = batch.binding_table(&surfaces);
        // Threads find their place behind the constants: one register of them there always is.
        let rows = self.constants.len().div_ceil(8).max(1);
        let kernels: Vec<Kernel> = code
            .into_iter()
            .map(|code| Kernel {
                code: Code::Buffer(code, 0),
                registers: 128,
                constants: rows as u32,
                surfaces: (!surfaces.is_empty()).then_some((table, surfaces.len() as u32)),
            })
            .collect();
        let descriptors = batch.descriptors(ops, &kernels)?;
        let threads = u32::from(self.device.eus) * u32::from(self.device.threads_per_eu);
        let children = self.children || kernels.len() > 1;
        let (entries, entry_units) = if children { ROOMY_ENTRIES } else { ENTRIES };
        let front_end = FrontEnd {
            threads,
            entries,
            entry_units,
            constant_units: rows.div_ceil(2) as u32,
            children,
            scratch: None,
        };
        let mut constants = self.constants.clone();
        constants.resize(rows * 8, 0);
        batch.begin(ops, descriptors, &front_end, &constants)?;
        let (width, height) = self.grid;
        for y in 0..height {
            for x in 0..width {
                let object = Object {
                    inline: &[x, y, width, height, y * width + x, 0, 0, 0],
                    children,
                    ..Object::default()
                };
                batch.root(ops, &object)?;
            }
        }
        batch.end(ops);
        Ok(batch)
    }

    /// A report of the device for people who know their kernels.
    fn told(&self, report: &FaultReport) -> String {
        let mut text = report.to_string();
        let mut past = String::new();
        for (index, kernel) in self.kernels.iter().enumerate() {
            let end = kernel.program.bytes().len();
            let behind = format!("buffer {} ({}) + {end:#x}]", index + 1, kernel.name);
            let last = kernel.program.items.last();
            if let (true, Some(last)) = (text.contains(&behind), last) {
                // Writing to a String cannot fail.
                let _ = write!(
                    past,
                    "\n  the thread ran past the last instruction ({}): a media kernel ends with a message to thread_spawner \
                     that carries EOT (docs/media.md)",
                    kernel.line(last.offset)
                );
            }
        }
        // Before the registers, which are many lines.
        let at = text.find("\n  error state:").unwrap_or(text.len());
        text.insert_str(at, &past);
        self.placed(&text)
    }

    /// A text of the device, with the lines of the kernels instead of offsets.
    fn placed(&self, text: &str) -> String {
        let mut text = text.to_owned();
        for (index, kernel) in self.kernels.iter().enumerate() {
            let pattern = format!("buffer {} ({}) + 0x", index + 1, kernel.name);
            let mut out = String::with_capacity(text.len());
            let mut rest = text.as_str();
            while let Some(at) = rest.find(&pattern) {
                out.push_str(&rest[..at]);
                let digits = &rest[at + pattern.len()..];
                let end = digits.find(|c: char| !c.is_ascii_hexdigit());
                let (digits, behind) = digits.split_at(end.unwrap_or(digits.len()));
                out.push_str(&kernel.line(u32::from_str_radix(digits, 16).unwrap_or(u32::MAX)));
                rest = behind;
            }
            out.push_str(rest);
            text = out;
        }
        text
    }
}

impl Source {
    /// Checks the messages whose descriptors tell it against the surfaces that they name.
    fn check(&self, surfaces: &[Surface], device: &'static DeviceInfo) -> Result<(), MediaError> {
        let messages = self.program.items.iter().filter_map(|item| {
            let request = device.request(&item.inst()?.send?)?;
            Some((item.offset, access::of(request)?))
        });
        for (offset, (index, needed)) in messages {
            let Some(surface) = surfaces.get(index as usize) else {
                return Err(MediaError::Unbound {
                    place: self.line(offset),
                    surface: index,
                    count: surfaces.len(),
                });
            };
            let seen = match surface.view {
                View::Buffer(_) => Kind::Buffer,
                View::Image(_) => Kind::Image,
            };
            if let Some(needed) = needed.filter(|needed| *needed != seen) {
                return Err(MediaError::View {
                    place: self.line(offset),
                    surface: index,
                    name: surface.name.clone(),
                    needed,
                    seen,
                });
            }
        }
        Ok(())
    }

    /// `file:line` of the instruction at an offset.
    fn line(&self, offset: u32) -> String {
        let items = &self.program.items;
        match items.binary_search_by_key(&offset, |item| item.offset) {
            Ok(index) => format!("{}:{}", self.name, items[index].span.line),
            Err(_) => format!("{} + {offset:#x}, outside of the kernel", self.name),
        }
    }
}

/// What became of a job.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// Counters.
    pub report: Report,
    /// Messages by shared function.
    pub messages: [u64; FUNCTIONS],
    /// Surfaces with accesses past their end, by name, in order.
    pub outside: Vec<(String, Outside)>,
    /// What the device had to complain of.
    pub fault: Option<String>,
    /// Text of the trace.
    pub trace: String,
}

/// Lays buffers out in the graphics address space.
struct Placer {
    next: u64,
    buffers: Vec<Buffer>,
}

impl Placer {
    fn put(&mut self, name: &str, size: usize, data: Vec<u8>) -> Result<(), MediaError> {
        let size = (size as u64).next_multiple_of(PAGE);
        let end = self.next + size;
        if end > GTT_BYTES {
            return Err(MediaError::Memory { bytes: end });
        }
        // CAST: both are below GTT_BYTES.
        self.buffers.push(Buffer {
            bo_id: self.buffers.len() as u64,
            size: size as u32,
            address: self.next as u32,
            tiling: driver::Tiling::None,
            stride: 0,
            file: name.to_owned(),
            data,
        });
        self.next = (end + PAGE).next_multiple_of(STEP);
        Ok(())
    }
}
