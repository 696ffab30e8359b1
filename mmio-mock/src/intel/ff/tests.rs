//! Stages on plain state, with kernels of the 965's instruction set: hull shader, tessellation, domain shader.

mod ds;
mod hs;
pub mod machine;
mod rig;
mod te;
