//! What a submission finds under the lock that it has to wait for without it.
//!
//! i915 waits with its locks held (`i915_vma_unbind`, `i915_gem_object_wait`); there engines do not share one lock.
use alloc::sync::Arc;

use kernel::error::Error;

use crate::core::fence::Fence;
use crate::core::gem::Object;
use crate::core::wait::awaited;
use crate::intel::call::Call;

/// Why a submission cannot be placed now.
pub(super) enum Stop {
    /// It never can.
    Error(Error),
    /// An object that has to leave its place is in use until then.
    Evicts(Arc<Fence>),
    /// An object that addresses are to be written into is.
    Relocates(Arc<Fence>),
}

impl From<Error> for Stop {
    fn from(error: Error) -> Self {
        Stop::Error(error)
    }
}

/// What comes of a step under the lock.
pub(super) type Step<T = ()> = core::result::Result<T, Stop>;

/// The end of the last request that uses an object, when there is one.
pub(super) fn user_of(call: &Call<'_>, object: &Object) -> Option<Arc<Fence>> {
    awaited(call.device, object, false).filter(|fence| fence.status().is_none())
}
