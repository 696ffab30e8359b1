//! A device of no vendor: no registers, an engine that takes its time.
//!
//! A request ends `TAKES` after the one before it: the device then stores its number in the timeline's page. An object
//! has an address in a space of 1 MiB. One call of the device's own submits an object.
extern crate std;

use alloc::boxed::Box;
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::any::Any;
use core::ops::Deref;

use kernel::dma::{DmaAllocator, PAGE_SIZE};
use kernel::drm::DriverInfo;
use kernel::error::{Result, code::EINVAL, code::ENODEV};
use kernel::fake::Fake;
use kernel::platform::Platform;
use kernel::sync::{AtomicBool, AtomicU32, Ordering, SpinLock};
use kernel::time::{Clock, Delta, Ktime};

use crate::core::account::Account;
use crate::core::client::Client;
use crate::core::device::{Device, Identity, UserState};
use crate::core::fence::Fence;
use crate::core::file::File;
use crate::core::gem::{Object, Part};
use crate::core::ioctl::table::{Table, rows};
use crate::core::ioctl::{Call, dispatch};
use crate::core::program::Program;
use crate::core::range::{RangeAllocator, Search};
use crate::core::task::Task;
use crate::core::timeline::{Pending, Timeline, Work};
use crate::core::uapi::{Request, drm::COMMAND_BASE, structures};

/// How long a request takes.
pub(super) const TAKES: Delta = Delta::from_micros(500);
/// Where the device stores numbers.
const NUMBER: u32 = 16;

static IDENTITY: Identity = Identity {
    driver: &DriverInfo {
        major: 7,
        minor: 3,
        patchlevel: 1,
        name: "toy",
        desc: "A device of no vendor",
    },
    date: "20000101",
    bus: "toy:1",
    largest: 64,
};

structures! {
    /// A submission.
    Submit {
        /// The object that the request uses.
        handle: u32,
        /// Whether the device writes it.
        write: u32,
        /// A sync object that is to hold the request's fence, 0 for none.
        syncobj: u32,
        /// The request's number.
        seqno: u32,
    }
}

/// Submits an object.
pub(super) const SUBMIT: Request = Request::iowr::<Submit>(COMMAND_BASE + 1);

static TABLE: Table = Table {
    rows: rows! {
        called;
        [RENDER]
        SUBMIT: Submit => submit;
    },
    refused: &[],
};

/// What a request uses, and how often resets have met it.
#[derive(Clone, Default)]
pub(super) struct Job {
    #[expect(dead_code, reason = "kept until the request has ended")]
    pub(super) objects: Vec<Object>,
    pub(super) client: Option<Arc<Client>>,
    pub(super) account: Option<Arc<Account>>,
    pub(super) ended: Arc<AtomicU32>,
    pub(super) guilty: Arc<AtomicU32>,
    pub(super) innocent: Arc<AtomicU32>,
}

impl Work for Job {
    type Left = ();

    fn left(&self) {}

    fn program(&self) -> Option<Program> {
        Some(Program::new(self.client.as_ref()?, self.account.clone()))
    }

    fn ended(&self) {
        self.ended.fetch_add(1, Ordering::Relaxed);
    }

    fn is_banned(&self) -> bool {
        self.client
            .as_ref()
            .is_some_and(|client| client.is_banned())
    }

    fn mark_guilty(&self, now: Ktime) {
        self.guilty.fetch_add(1, Ordering::Relaxed);
        if let Some(client) = &self.client {
            client.mark_guilty(now, true);
        }
    }

    fn mark_innocent(&self) {
        self.innocent.fetch_add(1, Ordering::Relaxed);
    }
}

/// Addresses that objects have.
pub(super) type Space = Arc<SpinLock<RangeAllocator>>;

struct Bound(Space);

impl Part for Bound {
    fn unbind(&self, address: u64) {
        self.0.lock().remove(address);
    }
}

/// The device.
pub(super) struct Inner {
    pub(super) fake: Arc<Fake>,
    platform: Arc<dyn Platform>,
    pub(super) timeline: Timeline<Job>,
    pub(super) space: Space,
    user: UserState,
    pub(super) removed: AtomicBool,
    /// It makes no progress.
    pub(super) stuck: AtomicBool,
    /// How often a wait has looked for hangs.
    pub(super) looks: AtomicU32,
    /// When it began the request that it is at.
    began: SpinLock<Ktime>,
}

#[derive(Clone)]
pub(super) struct Toy(Arc<Inner>);

impl Deref for Toy {
    type Target = Inner;

    fn deref(&self) -> &Inner {
        &self.0
    }
}

impl Toy {
    pub(super) fn new() -> Result<Self> {
        let fake = Fake::new(1, 1);
        let platform: Arc<dyn Platform> = fake.clone();
        let space = RangeAllocator::new(PAGE_SIZE as u64, 1 << 20);
        Ok(Toy(Arc::new(Inner {
            timeline: Timeline::new(&platform, NUMBER)?,
            fake,
            platform,
            space: Arc::new(SpinLock::new(space)),
            user: UserState::default(),
            removed: AtomicBool::new(false),
            stuck: AtomicBool::new(false),
            looks: AtomicU32::new(0),
            began: SpinLock::new(Ktime::from_nanos(0)),
        })))
    }

    /// A new object with an address.
    pub(super) fn object(&self, size: usize) -> Result<Object> {
        let part = Box::new(Bound(Arc::clone(&self.space)));
        let object = Object::with(&self.platform, "toy".into(), size, part)?;
        let mut space = self.space.lock();
        object.bind_with(|name, pages| {
            let page = PAGE_SIZE as u64;
            Ok(space.insert(name, pages.size() as u64, page, Search::Low)?)
        })?;
        Ok(object)
    }

    /// Queues a request.
    pub(super) fn queue(&self, work: Job) -> Arc<Fence> {
        if self.timeline.pending() == 0 {
            *self.began.lock() = self.clock().now();
        }
        let seqno = self.timeline.next();
        let fence = Arc::new(Fence::new(IDENTITY.driver.name, seqno, work.client.clone()));
        self.timeline.push(Pending {
            fence: Arc::clone(&fence),
            seqno,
            head: 0,
            tail: 0,
            work,
        });
        fence
    }

    /// What the hardware does by itself: it stores the numbers of requests that have had their time.
    fn work(&self) {
        if self.stuck.load(Ordering::Relaxed) {
            return;
        }
        let Ok(mut done) = self.timeline.completed() else {
            return;
        };
        let mut began = self.began.lock();
        while done != self.timeline.submitted() && self.clock().now() >= *began + TAKES {
            *began = *began + TAKES;
            done = done.wrapping_add(1);
        }
        let at = self.timeline.status_page() + u64::from(NUMBER);
        assert_eq!(
            DmaAllocator::write(&*self.fake, at, &done.to_le_bytes()),
            Ok(())
        );
    }
}

impl Device for Toy {
    fn identity(&self) -> &'static Identity {
        &IDENTITY
    }

    fn clock(&self) -> &dyn Clock {
        self.platform.clock()
    }

    fn check_live(&self) -> Result {
        if self.removed.load(Ordering::Relaxed) {
            return Err(ENODEV);
        }
        Ok(())
    }

    fn retire(&self) {
        self.work();
        self.timeline.retire();
    }

    fn tidy(&self) {
        self.timeline.tidy();
    }

    fn watch(&self) {
        self.looks.fetch_add(1, Ordering::Relaxed);
    }

    fn user(&self) -> &UserState {
        &self.user
    }

    fn owns(&self, object: &Object) -> bool {
        let part = object.part::<Bound>();
        part.is_some_and(|part| Arc::ptr_eq(&part.0, &self.space))
    }

    fn open_file(&self, _: &Arc<Client>) -> Box<dyn Any + Send + Sync> {
        Box::new(())
    }
}

struct ToyCall<'a> {
    call: Call<'a>,
    device: &'a Toy,
}

fn called<'a>(call: &Call<'a>) -> Result<ToyCall<'a>> {
    let device = call.file.device_as().ok_or(ENODEV)?;
    Ok(ToyCall {
        call: *call,
        device,
    })
}

fn submit(call: &ToyCall<'_>, arg: &mut Submit) -> Result {
    let file = call.call.file;
    let object = file.object(arg.handle)?;
    let syncobj = match arg.syncobj {
        0 => None,
        handle => Some(file.syncobj(handle)?),
    };
    if arg.write > 1 {
        return Err(EINVAL);
    }
    let fence = call.device.queue(Job {
        objects: std::vec![object.clone()],
        client: Some(Arc::clone(file.client())),
        account: Some(call.call.program().account()),
        ..Job::default()
    });
    object.state(|state| state.mark_active(&fence, arg.write == 1));
    if let Some(syncobj) = syncobj {
        syncobj.replace(Some(Arc::clone(&fence)));
    }
    arg.seqno = fence.seqno();
    Ok(())
}

/// An ioctl of a file.
pub(super) fn ioctl(file: &File, request: u32, arg: u64, task: &dyn Task) -> Result<i32> {
    dispatch(&TABLE, file, request, arg, task)
}
