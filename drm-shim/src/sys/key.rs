//! One descriptor per thread, closed when the thread ends; what runs around a fork.
//!
//! No PRM chapter. A key of pthreads: unlike a thread-local with a destructor it works again after that has run.
#![expect(unsafe_code, reason = "functions of pthreads")]

use core::ffi::c_void;
use std::os::fd::RawFd;
use std::sync::OnceLock;

fn key() -> Option<libc::pthread_key_t> {
    static KEY: OnceLock<Option<libc::pthread_key_t>> = OnceLock::new();
    *KEY.get_or_init(|| {
        let mut key = 0;
        // SAFETY: the key is written before it is used, and the destructor takes what `put` stores.
        let result = unsafe { libc::pthread_key_create(&raw mut key, Some(ended)) };
        (result == 0).then_some(key)
    })
}

extern "C" fn ended(value: *mut c_void) {
    crate::own::close(value.addr() as RawFd - 1);
}

/// Takes the thread's descriptor: whoever comes while it is out (a handler of a signal) finds none.
pub fn take() -> Option<RawFd> {
    let key = key()?;
    // SAFETY: the key exists; null stands for nothing.
    let value = unsafe {
        let value = libc::pthread_getspecific(key);
        if !value.is_null() {
            libc::pthread_setspecific(key, core::ptr::null());
        }
        value
    };
    (!value.is_null()).then(|| value.addr() as RawFd - 1)
}

/// Puts it back; false when there is another by now, or no room.
pub fn put(fd: RawFd) -> bool {
    let Some(key) = key() else { return false };
    let value = core::ptr::without_provenance::<c_void>((fd + 1) as usize);
    // SAFETY: the key exists; the value is a number and never followed.
    unsafe {
        libc::pthread_getspecific(key).is_null() && libc::pthread_setspecific(key, value) == 0
    }
}

/// Registers what runs in the forking thread: before, after in the parent, after in the child.
pub fn around_fork(before: extern "C" fn(), parent: extern "C" fn(), child: extern "C" fn()) {
    unsafe extern "C" {
        fn pthread_atfork(
            before: Option<extern "C" fn()>,
            parent: Option<extern "C" fn()>,
            child: Option<extern "C" fn()>,
        ) -> i32;
    }
    // SAFETY: functions of this library, which is never unloaded before the process ends.
    unsafe { pthread_atfork(Some(before), Some(parent), Some(child)) };
}
