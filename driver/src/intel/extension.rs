//! Chains of extensions behind an argument.
//!
//! i915 `i915_user_extensions.c`.
use kernel::error::{Result, code::E2BIG, code::EFAULT, code::EINVAL};
use kernel::uaccess::UserPtr;

use crate::intel::call::Call;
use crate::intel::uapi::context::UserExtension;

/// Longest chain.
const DEPTH: usize = 512;

/// Calls `apply` with name and address of every link; it says `EINVAL` for names that it does not know.
pub(crate) fn walk(
    call: &Call<'_>,
    mut at: u64,
    mut apply: impl FnMut(u32, u64) -> Result,
) -> Result {
    for _ in 0..DEPTH {
        if at == 0 {
            return Ok(());
        }
        let link: UserExtension = UserPtr::new(call.task.memory(), at)
            .and_then(|pointer| pointer.read())
            .map_err(|_| EFAULT)?;
        if link.flags != 0 || link.rsvd != [0; 4] {
            return Err(EINVAL);
        }
        apply(link.name, at)?;
        at = link.next_extension;
    }
    if at == 0 { Ok(()) } else { Err(E2BIG) }
}

/// A chain where no name is known.
pub(crate) fn none(call: &Call<'_>, at: u64) -> Result {
    walk(call, at, |_, _| Err(EINVAL))
}

/// The structure of a link.
pub(crate) fn read<T: zerocopy::FromBytes + zerocopy::IntoBytes>(
    call: &Call<'_>,
    at: u64,
) -> Result<T> {
    UserPtr::new(call.task.memory(), at)?.read()
}
