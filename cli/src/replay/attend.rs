//! Attendants: callbacks of a replay, which may hold it up or stop it.
//!
//! Not modelled: attendants that change what is submitted.

use mmio_mock::ModelPlatform;
use mmio_mock::intel::r#gen::DeviceInfo;

use crate::capture::Exec;
use crate::picture::Walk;

/// A submission whose buffers are in place, just before the device gets it.
pub struct Placed<'a> {
    /// The submission.
    pub exec: &'a Exec,
    /// What its batch draws.
    pub walk: &'a Walk,
    /// The device that it is for.
    pub device: &'static DeviceInfo,
    /// Reads what lies at a graphics address.
    pub dword: &'a dyn Fn(u32) -> Option<u32>,
}

/// What an attendant answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rest {
    /// The replay goes on.
    GoOn,
    /// The device was held: the time that has passed counts for nothing.
    Held,
    /// The replay stops here.
    Leave,
}

/// Called from the thread that replays; a call that does not return holds the replay up.
pub trait Attendant: Send + Sync {
    /// Before each submission.
    fn placed(&self, placed: &Placed<'_>) -> Rest;

    /// After each stretch of device time.
    fn passed(&self, platform: &ModelPlatform) -> Rest;
}
