//! What the core asks of a vendor's device, and what all open files of one share.
//!
//! Shape of the kernel's `drm_device` and `drm_driver`.
use alloc::boxed::Box;
use alloc::sync::Arc;
use core::any::Any;

use kernel::drm::DriverInfo;
use kernel::error::Result;
use kernel::sync::{AtomicU32, AtomicU64, Mutex, SpinLock};
use kernel::time::Clock;

use crate::core::account::Ledger;
use crate::core::client::Client;
use crate::core::fence::Fence;
use crate::core::gem::{Object, WeakObject};
use crate::core::handles::Handles;
use crate::core::master::Seat;
use crate::core::mmap::Offsets;
use crate::core::program::Waiting;
use crate::core::shrink::Lru;

/// How user space recognises a device and its driver.
pub struct Identity {
    /// Name and version of the driver.
    pub driver: &'static DriverInfo,
    /// Date of the driver (`DRIVER_DATE`).
    pub date: &'static str,
    /// Name of the device: its place on the bus (drm_pci_set_busid).
    pub bus: &'static str,
    /// Largest width and height of a frame buffer.
    pub largest: u32,
}

/// A device of a vendor, as open files and waits see it.
pub trait Device: Any + Send + Sync {
    /// Names and versions.
    fn identity(&self) -> &'static Identity;

    /// The device's clock; its [`relax`](Clock::relax) is what every wait lets time pass with.
    fn clock(&self) -> &dyn Clock;

    /// `ENODEV` when the device is gone.
    fn check_live(&self) -> Result;

    /// Signals the requests that have ended and lets go of what they used.
    fn retire(&self);

    /// Lets go of what requests used whose end is known already.
    fn tidy(&self);

    /// Looks for hangs when it is time to; asked by everything that waits.
    fn watch(&self);

    /// What open files share.
    fn user(&self) -> &UserState;

    /// Whether an object is in this device's memory.
    fn owns(&self, object: &Object) -> bool;

    /// What the vendor keeps of a file that is being opened.
    fn open_file(&self, client: &Arc<Client>) -> Box<dyn Any + Send + Sync>;
}

/// The one fence that is signalled from the beginning.
pub(crate) struct Stub(pub(crate) Arc<Fence>);

impl Default for Stub {
    fn default() -> Self {
        Stub(Arc::new(Fence::signalled()))
    }
}

/// What all open files of a device share.
#[derive(Default)]
pub struct UserState {
    /// One submission, eviction or change of layout at a time.
    pub(crate) exec: Mutex<()>,
    /// One reset at a time; taken last.
    pub(crate) reset: Mutex<()>,
    pub(crate) lru: Lru,
    pub(crate) mappings: Offsets,
    pub(crate) names: SpinLock<Handles<WeakObject>>,
    pub(crate) resets: AtomicU32,
    pub(crate) stub: Stub,
    /// Numbers of submissions that have had to wait for an object.
    pub(crate) tickets: AtomicU64,
    pub(crate) seat: Seat,
    pub(crate) waiting: Waiting,
    pub(crate) ledger: Ledger,
    /// Files that have been opened so far.
    pub(crate) files: AtomicU64,
}
