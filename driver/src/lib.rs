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

pub mod core;
pub mod intel;

pub use crate::core::dma_buf;
pub use crate::core::fence;
pub use crate::core::fence::Fence;
pub use crate::core::file;
pub use crate::core::file::File;
pub use crate::core::gem;
pub use crate::core::gem::Object;
pub use crate::core::gem::Shown;
pub use crate::core::gem::WeakObject;
pub use crate::core::limits::TimeLimits;
pub use crate::core::master::Node;
pub use crate::core::master::Opener;
pub use crate::core::mmap;
pub use crate::core::range;
pub use crate::core::sync_file;
pub use crate::core::syncobj;
pub use crate::core::task;
pub use crate::core::task::FdTable;
pub use crate::core::task::Group;
pub use crate::core::task::Opening;
pub use crate::core::task::Origin;
pub use crate::core::task::Shared;
pub use crate::core::task::Task;
pub use crate::intel::context;
pub use crate::intel::debug;
pub use crate::intel::device;
pub use crate::intel::device::Device;
pub use crate::intel::device::NO_ERROR;
pub use crate::intel::driver;
pub use crate::intel::driver::Driver;
pub use crate::intel::error_state::ErrorState;
pub use crate::intel::exec::BatchDesc;
pub use crate::intel::gem::Tiling;
pub use crate::intel::r#gen;
pub use crate::intel::r#gen::Model;
pub use crate::intel::gtt;
pub use crate::intel::hangcheck;
pub use crate::intel::ioctl;
pub use crate::intel::ioctl::ioctl;
pub use crate::intel::observe;
pub use crate::intel::request;
pub use crate::intel::request::Request;
pub use crate::intel::uapi;
pub use crate::intel::uncore;
pub use crate::intel::workarounds;
