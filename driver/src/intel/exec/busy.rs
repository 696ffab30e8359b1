//! Objects in use that stop a submission: it waits for them without the lock.
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
    /// It has failed.
    Error(Error),
    /// An object that has to leave its place is in use until this fence is signalled.
    Evicts(Arc<Fence>, Object),
    /// An object that addresses are to be written into is in use until this fence is signalled.
    Relocates(Arc<Fence>),
}

impl From<Error> for Stop {
    fn from(error: Error) -> Self {
        Stop::Error(error)
    }
}

/// The result of a step under the lock.
pub(super) type Step<T = ()> = core::result::Result<T, Stop>;

/// The end of the last request that uses an object, when there is one.
pub(super) fn user_of(call: &Call<'_>, object: &Object) -> Option<Arc<Fence>> {
    awaited(call.device, object, false).filter(|fence| fence.status().is_none())
}
