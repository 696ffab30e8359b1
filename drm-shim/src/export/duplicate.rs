//! `dup2` and `dup3`, also onto numbers that this library uses.

use core::ffi::c_int;

use super::export;
use crate::own;
use crate::sys::{self, Result, ours};

export! {
    [dup2 __dup2] (old: c_int, new: c_int) -> c_int => onto;
    [dup3] (old: c_int, new: c_int, flags: c_int) -> c_int
        => onto_with;
}

unsafe fn onto(old: c_int, new: c_int) -> c_int {
    ours(-1, || {
        if old != new {
            return duplicate(old, new, 0);
        }
        // Nothing changes, and only whether it is open is told.
        if sys::is_open(old) {
            Ok(new)
        } else {
            Err(libc::EBADF)
        }
    })
}

unsafe fn onto_with(old: c_int, new: c_int, flags: c_int) -> c_int {
    ours(-1, || duplicate(old, new, flags))
}

fn duplicate(old: c_int, new: c_int, flags: c_int) -> Result<c_int> {
    let place = || sys::duplicate_onto(old, new, flags);
    let is_ours = || own::is(new) && old != new && sys::is_open(old);
    loop {
        if is_ours() {
            return own::make_way(new, place);
        }
        // A descriptor may have come to the number just now.
        if let Some(result) = own::placing(|| (!is_ours()).then(place)) {
            return result;
        }
    }
}
