//! Kernel-style crate shim: what the driver may ask of a kernel.
//!
//! Names and shapes follow the `kernel` crate of Rust-for-Linux where it has them, so that the driver moves into a
//! kernel tree by changing its imports. Not modelled: power management, module loading.
#![no_std]
#![cfg_attr(not(feature = "bar"), forbid(unsafe_code))]
#![deny(unsafe_code)]
extern crate alloc;
#[cfg(feature = "std")]
extern crate std;

#[cfg(feature = "bar")]
pub mod bar;
pub mod dma;
pub mod drm;
pub mod error;
#[cfg(any(test, feature = "fake"))]
pub mod fake;
pub mod io;
pub mod irq;
pub mod pci;
pub mod platform;
pub mod print;
pub mod string_helpers;
pub mod sync;
pub mod time;
pub mod uaccess;

#[doc(hidden)]
pub use log;
pub use tock_registers;

/// The names that nearly every driver file needs.
pub mod prelude {
    pub use crate::error::{Error, Result, code::*};
    pub use crate::{dev_dbg, dev_err, dev_info, dev_warn, pr_debug, pr_err, pr_info, pr_warn};
}
