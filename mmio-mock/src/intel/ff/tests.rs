//! Hull shader, tessellation and domain shader on plain state; a machine for tests.
//!
//! Kernels are of older instruction sets.

mod ds;
mod hs;
pub mod machine;
mod rig;
mod te;
