//! Graphics memory: pages, GTT, fences and tiling.
//!
//! PRM: Intel 965 Express Chipset Family, volume 1 (memory interface, GTT, tiling).
#![forbid(unsafe_code)]

pub mod addr;

pub use addr::{Access, Fault, FaultKind, GpuAddr, PhysAddr};
