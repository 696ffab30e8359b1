//! Hull shader, tessellation and domain shader on plain state.
//!
//! Kernels are of the 965's instruction set.

mod ds;
mod hs;
mod rig;
mod te;
