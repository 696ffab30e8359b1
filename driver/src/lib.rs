//! The DRM driver core: probe, GTT, GEM, rings, requests, fences, reset, debug.
//!
//! Written against the `kernel` crate alone; register layouts and orders follow PRM vol1 and the i915 driver's
//! documented behaviour. Not modelled: display, power management.
//!
//! ```no_run
//! # fn demo(platform: std::sync::Arc<dyn kernel::platform::Platform>, words: &[u8]) -> kernel::error::Result {
//! use driver::{BatchDesc, Driver, Tiling};
//! use kernel::time::Delta;
//!
//! let dev = Driver::probe(platform)?;
//! let batch = dev.create_object(words.len(), Tiling::None, 0)?;
//! batch.write(0, words)?;
//! dev.bind(&batch)?;
//! let request = dev.submit(&BatchDesc { object: &batch, start: 0, len: words.len() as u32 })?;
//! request.wait(Delta::from_millis(100))?;
//! dev.remove()
//! # }
//! ```
#![no_std]
#![forbid(unsafe_code)]
extern crate alloc;

pub mod context;
pub mod debug;
pub mod device;
pub mod dma_buf;
pub mod driver;
mod engine;
mod exec;
pub mod fence;
pub mod file;
pub mod gem;
pub mod r#gen;
pub mod gtt;
pub mod hangcheck;
pub mod ioctl;
mod irq;
mod master;
pub mod mmap;
pub mod observe;
pub mod request;
mod reset;
mod shrink;
pub mod sync_file;
pub mod syncobj;
pub mod task;
mod timeline;
pub mod uapi;
pub mod uncore;
mod wait;
mod work;
pub mod workarounds;

#[cfg(test)]
mod tests;

pub use crate::debug::error_state::ErrorState;
pub use crate::device::{Device, NO_ERROR};
pub use crate::driver::{Driver, Model};
pub use crate::exec::BatchDesc;
pub use crate::fence::Fence;
pub use crate::file::{File, Node};
pub use crate::gem::{Object, Tiling, WeakObject};
pub use crate::hangcheck::TimeLimits;
pub use crate::ioctl::ioctl;
pub use crate::master::Opener;
pub use crate::request::Request;
pub use crate::task::{FdTable, Shared, Task};
