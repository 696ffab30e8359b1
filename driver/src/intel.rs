//! Intel's devices: registers, GTT, engine, the user API of i915, debugging.
//!
//! Rows of the generations are in `gen`.

pub mod context;
pub mod debug;
pub mod device;
pub mod dma_buf;
pub mod driver;
pub(crate) mod engine;
pub(crate) mod exec;
pub mod fence;
pub mod file;
pub mod gem;
pub mod r#gen;
pub mod gtt;
pub mod hangcheck;
pub mod ioctl;
mod irq;
pub(crate) mod master;
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
pub mod workarounds;

#[cfg(test)]
mod tests;
