//! One device of a node: its model, its driver, its memory, its counters.
//!
//! Devices share the connections and the descriptors of the clients, and nothing else.

use std::fmt;
use std::io;
use std::os::fd::OwnedFd;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use driver::observe::{Observer, Queued};
use driver::{Device, Driver, Object};
use kernel::platform::Platform;
use kernel::time::{Clock as _, Delta};
use mmio_mock::LivePlatform;
use mmio_mock::Model;
use mmio_mock::ModelPlatform;
use mmio_mock::intel::r#gen::DeviceInfo;

use crate::errors::{Access, ErrorFiles};
use crate::report::Work;
use crate::view::Views;
use crate::{Error, Options, edge};

/// Device time that a device in step may take after each request, and that passes while it waits for its clients.
const STEP: Delta = Delta::from_millis(100);
const POLL: Delta = Delta::from_micros(100);

/// A device that a node serves.
pub struct Card {
    number: usize,
    info: &'static DeviceInfo,
    device: Device,
    model: Arc<ModelPlatform>,
    live: Arc<LivePlatform>,
    pub(crate) memory: OwnedFd,
    pub(crate) views: Views,
    errors: ErrorFiles,
    submissions: AtomicU64,
    opened: AtomicU64,
}

/// Its number and its name: `card1 (ironlake)`.
impl fmt::Display for Card {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "card{} ({})", self.number, self.info.name)
    }
}

/// What the driver shows of each submission: it is counted, and linear views are brought up to date.
struct Submissions {
    card: std::sync::Weak<Card>,
    next: Option<Arc<dyn Observer>>,
}

impl Observer for Submissions {
    fn arrives(&self, objects: &mut dyn Iterator<Item = &Object>) {
        if let Some(card) = self.card.upgrade() {
            card.views.before(&card.live, objects);
        }
    }

    fn before(&self, queued: &Queued<'_>) {
        let Some(card) = self.card.upgrade() else {
            return;
        };
        card.submissions.fetch_add(1, Ordering::Relaxed);
        if let Some(next) = &self.next {
            next.before(queued);
        }
    }

    fn after(&self, queued: &Queued<'_>) {
        if let Some(card) = self.card.upgrade() {
            let objects = queued.objects.iter().map(|placed| placed.object);
            card.views.after(objects);
        }
    }
}

/// Bytes of graphics memory that the driver keeps for itself: rings, images of contexts, tables. Programs do not map them.
fn own_part(memory: usize) -> usize {
    const LEAST: usize = 4 << 20;
    let own = (memory / 16).max(LEAST).min(memory / 2);
    own - own % mem::PAGE_SIZE
}

impl Card {
    /// Powers the device on and binds the driver.
    pub(crate) fn start(
        number: usize,
        info: &'static DeviceInfo,
        options: &Options,
    ) -> Result<Arc<Self>, Error> {
        let memory = edge::create(c"crestline-memory", options.memory)
            .map_err(Error::system("graphics memory"))?;
        let own = own_part(options.memory);
        let block =
            edge::map_with_own(&memory, own).map_err(Error::system("mapping graphics memory"))?;
        let block = mem::Memory::over((block, own), info.gtt_format, info.gtt_entries);
        let model = ModelPlatform::with_memory(info, block);
        let live = if options.deterministic {
            LivePlatform::in_step(Arc::clone(&model))
        } else {
            LivePlatform::new(Arc::clone(&model))
        };
        let device = Driver::probe(Arc::clone(&live) as Arc<dyn Platform>).map_err(Error::Probe)?;
        if let Some(period) = options.hang_check {
            device.set_hang_check_period(period);
        }
        let errors = ErrorFiles::new().map_err(Error::system("error files"))?;
        let card = Arc::new(Card {
            number,
            info,
            device,
            model,
            live,
            memory,
            views: Views::new().map_err(Error::system("memory of linear views"))?,
            errors,
            submissions: AtomicU64::new(0),
            opened: AtomicU64::new(0),
        });
        card.show_submissions(None);
        Ok(card)
    }

    fn show_submissions(self: &Arc<Self>, next: Option<Arc<dyn Observer>>) {
        let card = Arc::downgrade(self);
        let submissions = Submissions { card, next };
        self.device.observe(Some(Arc::new(submissions)));
    }

    /// Which of the node's devices it is; its minor numbers are this one and 128 more.
    #[must_use]
    pub fn number(&self) -> usize {
        self.number
    }

    /// The device that is modelled.
    #[must_use]
    pub fn info(&self) -> &'static DeviceInfo {
        self.info
    }

    /// Number and name in one word: `card1-ironlake`.
    #[must_use]
    pub fn label(&self) -> String {
        format!("card{}-{}", self.number, self.info.name)
    }

    /// The driver's device.
    #[must_use]
    pub fn device(&self) -> &Device {
        &self.device
    }

    /// The modelled device's platform.
    #[must_use]
    pub fn platform(&self) -> &Arc<ModelPlatform> {
        &self.model
    }

    /// The same as it runs by itself: code that changes the device while clients use it goes through this one.
    #[must_use]
    pub fn live(&self) -> &Arc<LivePlatform> {
        &self.live
    }

    /// Shows every submission to an observer before the device gets it.
    pub fn observe(self: &Arc<Self>, observer: Arc<dyn Observer>) {
        self.show_submissions(Some(observer));
    }

    /// Counters so far.
    #[must_use]
    pub fn work(&self) -> Work {
        let device = self.model.device();
        let activity = device.status().activity;
        let done = device.done_by_engine();
        Work {
            submissions: self.submissions.load(Ordering::Relaxed),
            opened: self.opened.load(Ordering::Relaxed),
            draws: activity.draws,
            objects: activity.objects,
            threads: activity.threads.iter().sum(),
            instructions: activity.instructions.iter().sum(),
            compiled: done.compiled,
            waves: done.ran.waves,
            device_nanos: device.nanos(),
            busy: self.live.activity().busy,
            resets: self.device.reset_count(),
        }
    }

    /// Where machine code has done something else than the interpreter, when the engine compares them.
    #[must_use]
    pub fn engine_difference(&self) -> Option<String> {
        self.model.device().done_by_engine().difference
    }

    /// One of its nodes has been opened.
    pub(crate) fn note_opened(&self) {
        self.opened.fetch_add(1, Ordering::Relaxed);
    }

    /// After a request: a device that is in step gets on.
    pub(crate) fn end_request(&self) {
        if !self.live.is_in_step() {
            return;
        }
        self.live.settle(STEP);
        if !self.device.is_idle() {
            self.live.relax(POLL);
        }
        self.device.watch();
    }

    /// Clears the error state when a client has written to one of the files that show it.
    pub(crate) fn look_at_errors(&self) {
        self.errors.look(|| drop(self.device.take_error_state()));
    }

    /// A file for a client that shows the error state, and clears it once it is written to.
    pub(crate) fn error_file(&self, access: Access) -> io::Result<OwnedFd> {
        self.look_at_errors();
        self.errors.open(self.device.error_state().as_ref(), access)
    }

    /// The node ends.
    pub(crate) fn stop(&self) {
        self.device.observe(None);
    }
}
