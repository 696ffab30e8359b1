//! The software device model behind the mock MMIO bus.
#![forbid(unsafe_code)]

pub mod fault;
pub mod shared;
pub mod urb;

pub use fault::UnitFault;
