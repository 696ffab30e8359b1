//! Intel's devices: registers, GTT, engine, the user API of i915, debugging.
//!
//! Rows of the generations are in `gen`.

mod call;
pub mod context;
mod copies;
pub mod debug;
pub mod device;
pub mod driver;
pub(crate) mod engine;
pub mod error_state;
pub(crate) mod exec;
mod extension;
pub mod file;
pub mod gem;
pub mod r#gen;
pub mod gtt;
pub mod hangcheck;
pub(crate) mod identity;
pub mod ioctl;
mod irq;
mod neutral;
pub mod observe;
mod prologue;
pub mod request;
mod sample;
mod switch;
pub mod tiling;
mod timeline;
pub mod uapi;
pub mod uncore;
pub mod workarounds;

/// The registers of all generations: offsets and typed fields.
pub(crate) use regs::any as registers;

#[cfg(test)]
mod tests;
