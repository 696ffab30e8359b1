//! The functions that programs find here in place of libc's.
//!
//! Functions of C with a variable number of arguments (`open`, `ioctl`, `mremap`) are defined with the
//! most they take: on x86-64 and aarch64 integers are passed alike either way. Not points of cancellation; asynchronous
//! cancellation waits until a function is over, because it unwinds the stack, which Rust code does not allow at every
//! instruction.
#![expect(
    unsafe_code,
    reason = "exported functions of C take addresses from programs"
)]

mod attributes;
mod close;
mod control;
mod cwd;
mod directory;
mod duplicate;
mod frames;
mod link;
mod map;
mod open;
mod seek;
mod stat;

use core::ffi::{CStr, c_char, c_int};

use crate::buffer::Buffer;
use crate::path::{self, Place};
use crate::sys::Result;
use crate::{config, fork};

/// Defines functions of C by the names that programs know them by.
macro_rules! export {
    ($([$($name:ident)+] $params:tt -> $ret:ty => $body:expr;)+) => {
        $(export!(@each [$($name)+] $params -> $ret => $body);)+
    };
    (@each [$($name:ident)+] $params:tt -> $ret:ty => $body:expr) => {
        $(export!(@one $name $params -> $ret => $body);)+
    };
    (@one $name:ident ($($arg:ident: $ty:ty),*) -> $ret:ty => $body:expr) => {
        // Has nothing to clean up, so that it can be unwound at any instruction.
        #[unsafe(no_mangle)]
        unsafe extern "C-unwind" fn $name($($arg: $ty),*) -> $ret {
            #[inline(never)]
            unsafe extern "C" fn within($($arg: $ty),*) -> $ret {
                // SAFETY: the arguments are those that a program gives the function of C that it stands for.
                unsafe { $body($($arg),*) }
            }
            let before = $crate::export::defer_cancellation();
            // SAFETY: as above.
            let result = unsafe { within($($arg),*) };
            $crate::export::allow_cancellation(before);
            result
        }
    };
}
use export;

#[used]
#[unsafe(link_section = ".init_array")]
static LOADED: extern "C" fn() = fork::loaded;

// pthread.h; a thread that has been cancelled meanwhile ends in here.
unsafe extern "C-unwind" {
    fn pthread_setcanceltype(kind: c_int, before: *mut c_int) -> c_int;
}
const DEFERRED: c_int = 0;

/// From here on the thread is not cancelled at any instruction; how it was before.
#[inline]
fn defer_cancellation() -> c_int {
    let mut before = DEFERRED;
    // SAFETY: writes one integer.
    unsafe { pthread_setcanceltype(DEFERRED, &raw mut before) };
    before
}

/// Puts back what [`defer_cancellation`] gave.
#[inline]
fn allow_cancellation(before: c_int) {
    if before != DEFERRED {
        // SAFETY: sets what was set before.
        unsafe { pthread_setcanceltype(before, core::ptr::null_mut()) };
    }
}

/// A path that a program gave; `None` for the null address.
///
/// # Safety
///
/// The address is null or that of bytes that end with a zero.
unsafe fn text<'a>(path: *const c_char) -> Option<&'a CStr> {
    // SAFETY: as the caller promises.
    (!path.is_null()).then(|| unsafe { CStr::from_ptr(path) })
}

/// Runs `elsewhere` for a path that is not the device's, and `tree` with where it lies for one that is.
///
/// # Safety
///
/// As [`text`].
unsafe fn at<T>(
    dir: c_int,
    path: *const c_char,
    elsewhere: impl FnOnce() -> Result<T>,
    tree: impl FnOnce(&Buffer) -> Result<T>,
) -> Result<T> {
    // SAFETY: as the caller promises.
    let Some(given) = (unsafe { text(path) }) else {
        return elsewhere();
    };
    let config = config::get();
    if !path::is_suspect(config, dir, given) {
        return elsewhere();
    }
    at_suspect(config, dir, given, elsewhere, tree)
}

/// The rest of [`at`], apart from it: most calls are about something else, on stacks that may be small.
#[inline(never)]
fn at_suspect<T>(
    config: &config::Config,
    dir: c_int,
    given: &CStr,
    elsewhere: impl FnOnce() -> Result<T>,
    tree: impl FnOnce(&Buffer) -> Result<T>,
) -> Result<T> {
    match path::place(config, dir, given)? {
        Place::Elsewhere => elsewhere(),
        Place::Nowhere => {
            path::nowhere();
            Err(libc::ENOENT)
        }
        Place::Tree(place) => {
            let result = tree(&place);
            if matches!(result, Err(libc::ENOENT)) {
                path::missing(config, &place);
            }
            result
        }
    }
}
