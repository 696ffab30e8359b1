//! The software device model behind the mock MMIO bus.
#![forbid(unsafe_code)]

pub mod cc;
pub mod debug;
pub mod fault;
pub mod ff;
pub mod shared;
pub mod status;
pub mod surface;
pub mod trace;
pub mod urb;

pub use fault::UnitFault;
