//! The user API of i915: numbers and structures of `i915_drm.h`.
//!
//! Facts from the headers of libdrm 2.4.114; names without their `drm_i915_` prefix. Not modelled: perf.
pub mod context;
pub mod exec;
pub mod gem;
pub mod query;

pub(crate) use crate::core::uapi::structures;
pub use crate::core::uapi::{Request, dma_buf, drm, mode, sync_file, syncobj};

#[cfg(test)]
mod tests;
