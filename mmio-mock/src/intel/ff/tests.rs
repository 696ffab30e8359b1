//! Stages on plain state, with kernels of older instruction sets: hull shader, tessellation, domain shader.

mod ds;
mod hs;
pub mod machine;
mod rig;
mod te;
