//! Functions that this library stands before, found behind it.
//!
//! Only for functions that are no plain system calls.
#![expect(unsafe_code, reason = "dlsym gives addresses without types")]

use core::ffi::{CStr, c_void};
use core::ptr::null_mut;
use core::sync::atomic::{AtomicPtr, Ordering};

/// A function of another library, looked for at its first use.
pub struct Next {
    name: &'static CStr,
    /// Libraries that have it when they were loaded apart from the program.
    homes: &'static [&'static CStr],
    found: AtomicPtr<c_void>,
}

impl Next {
    pub const fn new(name: &'static CStr) -> Self {
        Self::at(name, &[])
    }

    pub const fn at(name: &'static CStr, homes: &'static [&'static CStr]) -> Self {
        Next {
            name,
            homes,
            found: AtomicPtr::new(null_mut()),
        }
    }

    /// Its address.
    pub fn address(&self) -> Option<*mut c_void> {
        let mut found = self.found.load(Ordering::Relaxed);
        if found.is_null() {
            found = self.look();
            self.found.store(found, Ordering::Relaxed);
        }
        (!found.is_null()).then_some(found)
    }

    fn look(&self) -> *mut c_void {
        // SAFETY: the name ends with a zero.
        let found = unsafe { libc::dlsym(libc::RTLD_NEXT, self.name.as_ptr()) };
        if !found.is_null() {
            return found;
        }
        for home in self.homes {
            // SAFETY: names end with zeros; nothing is loaded that is not there already. The handle is kept, and with it
            // the library.
            let found = unsafe {
                let flags = libc::RTLD_LAZY | libc::RTLD_NOLOAD;
                let library = libc::dlopen(home.as_ptr(), flags);
                if library.is_null() {
                    continue;
                }
                libc::dlsym(library, self.name.as_ptr())
            };
            if !found.is_null() {
                return found;
            }
        }
        null_mut()
    }
}

/// The function behind a [`Next`] as a type of function.
macro_rules! next {
    ($next:expr, $type:ty) => {
        $next.address().map(|address| {
            // SAFETY: the name is that of a function of this type.
            unsafe { core::mem::transmute::<*mut core::ffi::c_void, $type>(address) }
        })
    };
}
pub(crate) use next;
