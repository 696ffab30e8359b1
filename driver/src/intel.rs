//! Intel's devices: registers, GTT, engine, the user API of i915, debugging.
//!
//! Rows of the generations are in `gen`.

pub mod context;
pub mod debug;
pub mod device;
pub mod driver;
pub(crate) mod engine;
pub(crate) mod exec;
pub mod file;
pub mod gem;
pub mod r#gen;
pub mod gtt;
pub mod hangcheck;
pub mod ioctl;
mod irq;
pub mod observe;
pub mod request;
mod reset;
mod timeline;
pub mod uapi;
pub mod uncore;
pub mod workarounds;

#[cfg(test)]
mod tests;
