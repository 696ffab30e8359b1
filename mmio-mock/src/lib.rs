//! The software device model behind the mock MMIO bus.
#![forbid(unsafe_code)]

pub mod core;
pub mod intel;

pub use crate::core::fault::UnitFault;
pub use crate::core::model::Model;
pub use crate::intel::device::Device;
pub use crate::intel::platform::{LivePlatform, ModelPlatform};
